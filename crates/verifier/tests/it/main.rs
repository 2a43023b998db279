//! The verifier against the ledger it checks but shares no code with.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests, where a panic is the failure report"
)]

mod agreement;
mod program;

use std::collections::HashMap;

use ledger::{
    checkpoint::{Checkpoint, SignedCheckpoint},
    hash::Hash,
    key::{LogSigner, WitnessSigner},
    proof,
    proof_file::ProofFile,
    tree::{Frontier, Subtree, TreeHead},
    witness::AddCheckpoint,
};

const ORIGIN: &str = "log.example/materia";

fn log_key(seed: u8) -> LogSigner {
    LogSigner::generate(ORIGIN, [seed; 32]).unwrap()
}

fn witness_key(seed: u8) -> WitnessSigner {
    WitnessSigner::generate(&format!("witness.example/{seed}"), [seed; 32]).unwrap()
}

/// A log as a store would hold it.
#[derive(Default)]
struct Log {
    events: Vec<String>,
    tree: Frontier,
    nodes: HashMap<Subtree, Hash>,
}

impl Log {
    fn of(n_events: u64) -> Log {
        let mut log = Log::default();
        for index in 0..n_events {
            // Quotes and a letter of three bytes: what JSON may escape and a careless reader may spell another way.
            log.append(format!("{{\"call\":{index},\"name\":\"ยา\"}}"));
        }
        log
    }

    fn append(&mut self, event: String) {
        let nodes = self.tree.append(Hash::leaf(event.as_bytes()));
        self.nodes.extend(nodes.into_iter().map(|node| (node.subtree, node.hash)));
        self.events.push(event);
    }

    fn find(&self, subtree: Subtree) -> Option<Hash> {
        self.nodes.get(&subtree).copied()
    }

    fn head(&self, size: u64) -> TreeHead {
        TreeHead { size, root: proof::root_at(size, |subtree| self.find(subtree)).unwrap() }
    }

    /// The heads of all sizes, from 0.
    fn heads(&self) -> Vec<TreeHead> {
        (0..=self.tree.size()).map(|size| self.head(size)).collect()
    }

    fn checkpoint(&self, size: u64) -> SignedCheckpoint {
        Checkpoint::new(ORIGIN, size, self.head(size).root).unwrap().sign(&[&log_key(1)]).unwrap()
    }

    fn consistency(&self, old_size: u64, size: u64) -> Vec<Hash> {
        proof::consistency_proof(old_size, size, |subtree| self.find(subtree)).unwrap()
    }

    fn request(&self, old_size: u64, size: u64) -> AddCheckpoint {
        AddCheckpoint::new(old_size, self.consistency(old_size, size), self.checkpoint(size)).unwrap()
    }

    fn path(&self, index: u64, size: u64) -> Vec<Hash> {
        proof::inclusion_proof(index, size, |subtree| self.find(subtree)).unwrap()
    }

    fn proof_file(&self, index: u64, checkpoint: SignedCheckpoint) -> ProofFile {
        ProofFile::new(index, self.path(index, checkpoint.unverified().size()), checkpoint).unwrap()
    }

    fn export(&self) -> String {
        self.events.iter().enumerate().map(|(index, event)| export_line(index, event)).collect()
    }
}

fn export_line(index: usize, event: &str) -> String {
    format!("{{\"leaf_index\":{index},\"event\":{}}}\n", serde_json::Value::from(event))
}
