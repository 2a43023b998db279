//! Neither of the two accepts what the other refuses.

use ledger::{hash::Hash, policy::Policy, proof_file::ProofFile, tree::TreeHead, verify};
use proptest::prelude::*;
use verifier::{
    checkpoint::Checkpoint,
    export, merkle,
    trust::{Trust, Trusted},
    verdict::Place,
};

use crate::{Log, ORIGIN, log_key, witness_key};

const SIZE_MAX: u64 = 64;

fn raw(hashes: &[Hash]) -> Vec<merkle::Hash> {
    hashes.iter().map(|hash| *hash.as_bytes()).collect()
}

/// The proof itself and what a forger may make of it.
fn variants(proof: &[Hash]) -> Vec<Vec<Hash>> {
    let mut variants =
        vec![proof.to_vec(), [proof, &[Hash::EMPTY_TREE]].concat(), [&[Hash::EMPTY_TREE], proof].concat()];
    if let Some((last, rest)) = proof.split_last() {
        variants.push(rest.to_vec());
        variants.push(proof[1..].to_vec());
        variants.push([rest, &[Hash::node(last, last)]].concat());
        let mut turned = proof.to_vec();
        turned.reverse();
        variants.push(turned);
    }
    variants
}

#[test]
fn both_agree_on_consistency_of_all_pairs_of_sizes_to_64() {
    let (log, mut other) = (Log::of(SIZE_MAX), Log::of(0));
    for (index, event) in log.events.iter().enumerate() {
        other.append(if index == 5 { "changed".to_owned() } else { event.clone() });
    }
    let (heads, others) = (log.heads(), other.heads());
    let (mut n_accepted, mut n_refused) = (0, 0);
    for new in &heads {
        for (old, fork) in heads.iter().zip(&others).filter(|(old, _)| old.size <= new.size) {
            let honest = log.consistency(old.size, new.size);
            assert_eq!(verify::consistency(old, new, &honest), Ok(()), "{} to {}", old.size, new.size);
            // The honest proof and forged ones for the log, and the honest one for a fork.
            let forged = variants(&honest).into_iter().map(|proof| (old, proof));
            // The old root too much: it is known, so a proof that repeats it is another spelling of the same.
            let repeated = (old, [&[old.root], honest.as_slice()].concat());
            for (old, proof) in forged.chain([(fork, honest.clone()), repeated]) {
                let ours = verify::consistency(old, new, &proof).is_ok();
                let (old_root, new_root) = (*old.root.as_bytes(), *new.root.as_bytes());
                let theirs = merkle::is_consistent(old.size, old_root, new.size, new_root, &raw(&proof));
                assert_eq!(ours, theirs, "{} to {}: {proof:?}", old.size, new.size);
                *(if ours { &mut n_accepted } else { &mut n_refused }) += 1;
            }
        }
    }
    assert!(n_accepted >= 65 * 66 / 2 && n_refused > 5_000, "{n_accepted} accepted, {n_refused} refused");
}

#[test]
fn both_agree_on_inclusion_in_all_trees_to_64_leaves() {
    let log = Log::of(SIZE_MAX);
    for size in 1..=SIZE_MAX {
        let root = log.head(size).root;
        for index in 0..size {
            let leaf = Hash::leaf(log.events[usize::try_from(index).unwrap()].as_bytes());
            let honest = log.path(index, size);
            let forged = variants(&honest).into_iter().map(|path| (index, path));
            for (at, path) in forged.chain([(index + 1, honest.clone()), (index ^ 1, honest.clone())]) {
                let ours = verify::inclusion(&leaf, at, size, &root, &path).is_ok();
                let theirs = merkle::root_from_path(*leaf.as_bytes(), at, size, &raw(&path));
                assert_eq!(ours, theirs == Some(*root.as_bytes()), "{at} of {size}: {path:?}");
            }
            assert_eq!(verify::inclusion(&leaf, index, size, &root, &honest), Ok(()));
        }
    }
}

fn trusted(head: TreeHead) -> Trusted {
    let checkpoint = Checkpoint { origin: ORIGIN.to_owned(), size: head.size, root: *head.root.as_bytes() };
    Trusted { checkpoint, signed_by: vec![], cosigned_by: vec![] }
}

#[test]
fn an_export_is_checked_against_all_pairs_of_checkpoints_to_64() {
    let mut log = Log::default();
    let mut heads = vec![log.head(0)];
    for size in 1..=SIZE_MAX {
        log.append(format!("{{\"call\":{size}}}"));
        heads.push(log.tree.head());
        let export = log.export();
        let head = log.tree.head();
        for old in &heads {
            let check = |previous| export::check(export.as_bytes(), trusted(head), Some(&previous)).unwrap();
            assert!(check(trusted(*old)).is_ok(), "{} to {size}", old.size);
            // Not at every pair: this test is the slowest of its crate.
            if (old.size + size) % 4 != 0 {
                continue;
            }
            let fork = TreeHead { root: Hash::leaf(b"fork"), ..*old };
            let invalid = check(trusted(fork)).unwrap_err();
            assert_eq!((invalid.code, invalid.place), ("REWRITTEN", Place::Between(0, old.size)));
        }
    }
}

fn policy_and_trust(n_cosignatures_min: usize) -> (Policy, Trust) {
    let (log, witnesses) = (log_key(1).verifier(), [11, 12].map(|seed| witness_key(seed).verifier()));
    let texts: Vec<String> = witnesses.iter().map(ToString::to_string).collect();
    let trust = Trust::new(&[log.to_string()], &texts, Some(n_cosignatures_min)).unwrap();
    (Policy::new(vec![log], witnesses.to_vec(), n_cosignatures_min).unwrap(), trust)
}

#[test]
fn both_agree_on_who_signed_and_cosigned() {
    let log = Log::of(5);
    for witnesses in [&[][..], &[11], &[12], &[11, 12], &[13], &[11, 13]] {
        let mut signed = log.checkpoint(5);
        for seed in witnesses {
            signed.add(witness_key(*seed).cosign(&signed, 1_679_315_147).unwrap()).unwrap();
        }
        for n_cosignatures_min in 0..=2 {
            let (policy, trust) = policy_and_trust(n_cosignatures_min);
            let (ours, theirs) = (policy.check(&signed), trust.check(&signed.to_string()));
            assert_eq!(ours.is_ok(), theirs.is_ok(), "{witnesses:?} {n_cosignatures_min}: {ours:?} {theirs:?}");
            if let (Ok(ours), Ok(theirs)) = (ours, theirs) {
                let names: Vec<(String, u64)> =
                    ours.cosignatures.into_iter().map(|cosigned| (cosigned.witness, cosigned.time_s)).collect();
                let others: Vec<(String, u64)> =
                    theirs.cosigned_by.into_iter().map(|cosigned| (cosigned.name, cosigned.time_s)).collect();
                assert_eq!(names, others);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// Any byte of a proof file changed to one that is likely to matter.
    #[test]
    fn both_agree_on_damaged_proof_files(
        at in any::<prop::sample::Index>(),
        byte in prop::sample::select(b"\n\0 +=0123AZaz\xe2\xff".as_slice()),
        kind in 0..3,
    ) {
        let log = Log::of(5);
        let mut bytes = log.proof_file(2, log.checkpoint(5)).to_string().into_bytes();
        let at = at.index(bytes.len());
        match kind {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            _ => drop(bytes.remove(at)),
        }
        let (policy, trust) = policy_and_trust(0);
        let event = log.events[2].as_bytes();
        let ours = ProofFile::parse(&bytes).is_ok_and(|file| file.verify(event, &policy).is_ok());
        let theirs = str::from_utf8(&bytes).is_ok_and(|text| verifier::proof::check(event, text, &trust).is_ok());
        prop_assert_eq!(ours, theirs);
    }

    #[test]
    fn no_text_makes_the_verifier_panic(text in "(c2sp.org/tlog-proof@v1\n|old 3\n)?(index [0-9]{1,3}\n)?(.{0,9}\n){0,8}") {
        let (_, trust) = policy_and_trust(0);
        prop_assert!(verifier::proof::check(b"x", &text, &trust).is_err());
        prop_assert!(verifier::consistency::check(&text, &text, &trust).is_err());
        let head = TreeHead { size: 3, root: Hash::EMPTY_TREE };
        prop_assert!(export::check(text.as_bytes(), trusted(head), None).unwrap().is_err());
    }
}
