//! Agreement with `ct-merkle`, `tlog_tiles` and `signed_note`.

use ct_merkle::mem_backed_tree::MemoryBackedTree;
use ledger::{
    checkpoint::{Checkpoint, SignedCheckpoint},
    hash::Hash,
    key::LogSigner,
    note::Note,
    proof,
    tree::{Subtree, TreeHead},
    verify,
};
use sha2::Sha256;
use signed_note::{StandardSigner, StandardVerifier, VerifierList};
use tlog_tiles::{HashReader, Tile, prove_record, prove_tree, stored_hash_index, stored_hashes, tree_hash};

use crate::{Log, ORIGIN, signer};

const SIZE_MAX: u64 = 256;

fn bytes(proof: &[Hash]) -> Vec<u8> {
    proof.iter().flat_map(|hash| *hash.as_bytes()).collect()
}

fn event(index: u64) -> Vec<u8> {
    format!("{{\"call\":{index}}}").into_bytes()
}

/// Grows our log and theirs side by side and compares at each size.
fn for_all_sizes(mut compare: impl FnMut(&Log, &MemoryBackedTree<Sha256, Vec<u8>>, &[TreeHead])) {
    let mut log = Log::default();
    let mut oracle = MemoryBackedTree::new();
    let mut heads = vec![log.tree.head()];
    for size in 1..=SIZE_MAX {
        log.append(event(size - 1));
        oracle.push(event(size - 1));
        heads.push(log.tree.head());
        assert_eq!(oracle.root().as_bytes()[..], log.tree.root().as_bytes()[..]);
        compare(&log, &oracle, &heads);
    }
}

#[test]
fn all_inclusion_proofs_of_all_trees_to_256_leaves_are_those_of_ct_merkle() {
    for_all_sizes(|log, oracle, _| {
        let TreeHead { size, root } = log.tree.head();
        for index in 0..size {
            let path = proof::inclusion_proof(index, size, |subtree| log.find(subtree)).unwrap();
            let theirs = oracle.prove_inclusion(usize::try_from(index).unwrap());
            assert_eq!(bytes(&path), theirs.as_bytes(), "leaf {index} of {size}");
            let leaf = log.find(Subtree { level: 0, index }).unwrap();
            assert_eq!(verify::inclusion(&leaf, index, size, &root, &path), Ok(()), "leaf {index} of {size}");
        }
    });
}

#[test]
fn all_consistency_proofs_of_all_trees_to_256_leaves_are_those_of_ct_merkle() {
    for_all_sizes(|log, oracle, heads| {
        let new = log.tree.head();
        for old in &heads[1..] {
            let proof = proof::consistency_proof(old.size, new.size, |subtree| log.find(subtree)).unwrap();
            let theirs = oracle.prove_consistency(usize::try_from(new.size - old.size).unwrap());
            assert_eq!(bytes(&proof), theirs.as_bytes(), "{} to {}", old.size, new.size);
            assert_eq!(verify::consistency(old, &new, &proof), Ok(()), "{} to {}", old.size, new.size);
        }
        if new.size == SIZE_MAX {
            let earlier = |size| proof::root_at(size, |subtree| log.find(subtree)).unwrap();
            assert!(heads.iter().all(|head| earlier(head.size) == head.root));
        }
    });
}

#[test]
fn a_proof_is_computed_from_the_subtrees_it_asks_for() {
    let mut log = Log::default();
    for index in 0..100 {
        log.append(event(index));
    }
    let log = &log;
    let only = |needed: Vec<Subtree>| move |subtree| log.find(subtree).filter(|_| needed.contains(&subtree));
    for (index, size) in [(0, 1), (0, 100), (63, 100), (64, 99), (99, 100), (37, 77)] {
        let needed = proof::subtrees_for_inclusion(index, size).unwrap();
        assert!(proof::inclusion_proof(index, size, only(needed)).is_ok());
        let needed = proof::subtrees_for_consistency(index, size).unwrap();
        assert!(proof::consistency_proof(index, size, only(needed)).is_ok());
        assert!(proof::frontier_at(size, only(proof::subtrees_for_root(size))).is_ok());
    }
}

/// The hashes in the order in which `tlog_tiles` stores them.
struct Stored(Vec<tlog_tiles::Hash>);

impl HashReader for Stored {
    fn read_hashes(&self, indexes: &[u64]) -> Result<Vec<tlog_tiles::Hash>, tlog_tiles::Error> {
        Ok(indexes.iter().map(|index| self.0[usize::try_from(*index).unwrap()]).collect())
    }
}

#[test]
fn stored_subtrees_and_proofs_are_those_of_tlog_tiles() {
    let mut log = Log::default();
    let mut stored = Stored(Vec::new());
    for index in 0..600 {
        let theirs = stored_hashes(index, &event(index), &stored).unwrap();
        assert_eq!(stored.0.len() as u64, stored_hash_index(0, index));
        stored.0.extend(theirs);
        log.append(event(index));
    }
    for (subtree, hash) in &log.nodes {
        let theirs = stored_hash_index(u8::try_from(subtree.level).unwrap(), subtree.index);
        assert_eq!(stored.0[usize::try_from(theirs).unwrap()].0, *hash.as_bytes(), "{subtree:?}");
    }
    let find = |subtree| log.find(subtree);
    for size in [1, 2, 3, 255, 256, 257, 511, 512, 513, 600] {
        assert_eq!(tree_hash(size, &stored).unwrap().0, *proof::root_at(size, find).unwrap().as_bytes());
        for other in [0, 1, size / 3, size / 2, size - 1] {
            if other < size {
                let theirs = prove_record(size, other, &stored).unwrap();
                let ours = proof::inclusion_proof(other, size, find).unwrap();
                assert_eq!(theirs.iter().flat_map(|hash| hash.0).collect::<Vec<u8>>(), bytes(&ours));
            }
            if other > 0 {
                let theirs = prove_tree(size, other, &stored).unwrap();
                let ours = proof::consistency_proof(other, size, find).unwrap();
                assert_eq!(theirs.iter().flat_map(|hash| hash.0).collect::<Vec<u8>>(), bytes(&ours));
            }
        }
    }
    // A full tile of leaves is the subtree of level 8 at the tile's index.
    for index in 0..2 {
        let tile = Tile::new(8, 0, index, 256, false).read_data(&stored).unwrap();
        assert_eq!(Tile::subtree_hash(&tile).0, *find(Subtree { level: 8, index }).unwrap().as_bytes());
    }
}

#[test]
fn our_checkpoints_are_read_by_signed_note_and_tlog_tiles() {
    let mut log = Log::default();
    log.append(event(0));
    let (old, new) = (signer(), LogSigner::generate(ORIGIN, [2; 32]).unwrap());
    let head = log.tree.head();
    let checkpoint = Checkpoint::new(ORIGIN, head.size, head.root).unwrap();
    let checkpoint = checkpoint.with_extensions(vec!["one more line".to_owned()]).unwrap().with_number(7);
    let ours = checkpoint.sign(&[&new, &old]).unwrap().to_string();

    let note = signed_note::Note::from_bytes(ours.as_bytes()).unwrap();
    assert_eq!(note.to_bytes(), ours.as_bytes());
    for key in [&old, &new] {
        let verifier = StandardVerifier::new(&key.verifier().to_string()).unwrap();
        let (verified, ignored) = note.verify(&VerifierList::new(vec![Box::new(verifier)])).unwrap();
        assert_eq!((verified.len(), ignored.len()), (1, 1));
        assert_eq!(format!("{:08x}", verified[0].id()), key.id().to_string());
    }
    let theirs = tlog_tiles::Checkpoint::from_bytes(note.text()).unwrap();
    assert_eq!((theirs.origin(), theirs.size(), theirs.hash().0), (ORIGIN, head.size, *head.root.as_bytes()));
    assert_eq!(theirs.extension(), "one more line\ncheckpoint 7\n");
}

#[test]
fn their_checkpoints_are_read_by_us() {
    let root = tlog_tiles::record_hash(b"x");
    let theirs = tlog_tiles::Checkpoint::new(ORIGIN, 1, root, "").unwrap();
    let mut note = signed_note::Note::new(&theirs.to_bytes(), &[]).unwrap();
    let key = StandardSigner::new(&signer().to_private_text()).unwrap();
    note.add_sigs(&[&key]).unwrap();

    let ours = SignedCheckpoint::parse(&note.to_bytes()).unwrap();
    let trusted = crate::policy().check(&ours).unwrap();
    assert_eq!(trusted.checkpoint.head(), TreeHead { size: 1, root: Hash::leaf(b"x") });
    // Ed25519 is deterministic, so the two sign alike to the byte.
    let signed = Checkpoint::new(ORIGIN, 1, Hash::leaf(b"x")).unwrap().sign(&[&signer()]).unwrap();
    assert_eq!(signed.to_string().as_bytes(), note.to_bytes());
}

#[test]
fn notes_are_accepted_and_refused_by_both_alike() {
    let signed = Note::sign("a\n\nb\n", &[&signer()]).unwrap().to_string();
    let variants = [
        signed.clone(),
        signed.replace("a\n", "a\r\n"),
        signed.replace("a\n", "a\t\n"),
        signed.replace("— ", "-- "),
        signed.replace("— ", "—  "),
        signed.replace('=', ""),
        signed.trim_end().to_owned(),
        format!("{signed}\n"),
        format!("{signed}— x AAAAAAA=\n"),
        format!("{signed}— x AAAAAAA=\n— y AAAAAAA=\n"),
        format!("{signed}— x+y AAAAAAA=\n"),
        format!("{signed}— x AAAAAA==\n"),
        format!("{signed}— x AAAAAAB=\n"),
        String::new(),
    ];
    for variant in variants {
        let (ours, theirs) = (Note::parse(variant.as_bytes()), signed_note::Note::from_bytes(variant.as_bytes()));
        assert_eq!(ours.is_ok(), theirs.is_ok(), "{variant:?}: {ours:?} {theirs:?}");
    }
}
