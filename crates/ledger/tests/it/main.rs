//! The ledger against three foreign implementations, and against everyone who changes a log.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests, where a panic is the failure report"
)]

mod mutations;
mod oracles;

use std::collections::HashMap;

use ledger::{
    checkpoint::{Checkpoint, SignedCheckpoint},
    hash::Hash,
    key::LogSigner,
    policy::Policy,
    tree::{Frontier, Subtree},
};

const ORIGIN: &str = "log.example/materia";

fn signer() -> LogSigner {
    LogSigner::generate(ORIGIN, [1; 32]).unwrap()
}

fn policy() -> Policy {
    Policy::new(vec![signer().verifier()], vec![], 0).unwrap()
}

/// A log as a store would hold it: the events, and the hashes of complete subtrees.
#[derive(Default)]
struct Log {
    events: Vec<Vec<u8>>,
    tree: Frontier,
    nodes: HashMap<Subtree, Hash>,
}

impl Log {
    fn append(&mut self, event: Vec<u8>) {
        let nodes = self.tree.append(Hash::leaf(&event));
        self.nodes.extend(nodes.into_iter().map(|node| (node.subtree, node.hash)));
        self.events.push(event);
    }

    fn find(&self, subtree: Subtree) -> Option<Hash> {
        self.nodes.get(&subtree).copied()
    }

    fn checkpoint(&self) -> SignedCheckpoint {
        Checkpoint::new(ORIGIN, self.tree.size(), self.tree.root()).unwrap().sign(&[&signer()]).unwrap()
    }
}
