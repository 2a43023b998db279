//! A log of a thousand events against everyone who changes it: each change is noticed, however small.
//!
//! `MATERIA_PROVE=1` changes every byte of every event; without it, a sample.

use ledger::{
    checkpoint::{Checkpoint, SignedCheckpoint},
    hash::Hash,
    key::LogSigner,
    note::Note,
    policy::Distrust,
    proof,
    proof_file::ProofFile,
    tree::{Frontier, TreeHead},
    verify,
    witness::{AddCheckpoint, decide},
};
use proptest::prelude::*;

use crate::{Log, ORIGIN, policy, signer};

const N_EVENTS: u64 = 1_000;
const N_SAMPLED: usize = 4_000;

fn is_full_proof() -> bool {
    std::env::var("MATERIA_PROVE").is_ok_and(|value| value == "1")
}

/// SplitMix64: a fixed sequence, so that a failure shows itself again.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(end).unwrap()).unwrap()
    }
}

/// Events of the form and size of the real ones.
fn event(index: u64, random: &mut Random) -> Vec<u8> {
    let (call, input, output) = (random.next(), random.next(), random.next());
    format!(
        "{{\"actor\":{{\"id\":\"user-{index}\",\"kind\":\"human\"}},\"call_id\":\"0198{call:016x}\",\
         \"in_hash\":\"{input:064x}\",\"latency_ms\":{},\"operation\":\"add_note\",\"organisation_id\":\"clinic\",\
         \"out_hash\":\"{output:064x}\",\"outcome\":\"ok\"}}",
        index % 97,
    )
    .into_bytes()
}

fn log() -> Log {
    let mut random = Random(42);
    let mut log = Log::default();
    for index in 0..N_EVENTS {
        log.append(event(index, &mut random));
    }
    log
}

/// What was tried, and how much of it was noticed.
#[derive(Default)]
struct Count {
    mutations: u64,
    detected: u64,
}

impl Count {
    fn note(&mut self, is_detected: bool) {
        self.mutations += 1;
        self.detected += u64::from(is_detected);
    }
}

/// Whether the leaves, in parts one after the other, are told from those of the log.
fn is_noticed(parts: &[&[Hash]], trusted: &TreeHead) -> bool {
    let mut tree = Frontier::new();
    parts.iter().copied().flatten().for_each(|leaf| tree.push(*leaf));
    tree.head() != *trusted
}

/// Each byte of the events, or a sample of them, replaced by another.
fn change_bytes(log: &Log, trusted: &TreeHead, count: &mut Count) {
    let mut random = Random(7);
    let n_bytes: usize = log.events.iter().map(Vec::len).sum();
    let step = if is_full_proof() { 1 } else { n_bytes / N_SAMPLED };
    let mut position = 0;
    for (index, event) in (0..N_EVENTS).zip(&log.events) {
        let path = proof::inclusion_proof(index, N_EVENTS, |subtree| log.find(subtree)).unwrap();
        let leaf_passes =
            |event: &[u8]| verify::inclusion(&Hash::leaf(event), index, trusted.size, &trusted.root, &path);
        assert_eq!(leaf_passes(event), Ok(()));
        let mut changed = event.clone();
        for at in 0..event.len() {
            if (position + at) % step == 0 {
                // With the path of the whole log, the root over the changed event is the root of the changed log.
                changed[at] ^= u8::try_from(1 + random.below(255)).unwrap();
                count.note(leaf_passes(&changed).is_err());
                changed[at] = event[at];
            }
        }
        position += event.len();
    }
}

/// Deletions, duplications, insertions, swaps and truncations at every place.
fn change_order(log: &Log, trusted: &TreeHead, count: &mut Count) {
    let leaves: Vec<Hash> = log.events.iter().map(|event| Hash::leaf(event)).collect();
    let inserted = [Hash::leaf(b"{\"operation\":\"approve\"}")];
    let step = if is_full_proof() { 1 } else { 97 };
    for at in (0..leaves.len()).step_by(step) {
        let (before, after) = leaves.split_at(at);
        let (event, rest) = after.split_at(1);
        count.note(is_noticed(&[before, rest], trusted));
        count.note(is_noticed(&[before, event, after], trusted));
        count.note(is_noticed(&[before, &inserted, after], trusted));
        count.note(is_noticed(&[before], trusted));
        for other in [at + 1, leaves.len() - 1] {
            if at < other && other < leaves.len() {
                let mut swapped = leaves.clone();
                swapped.swap(at, other);
                count.note(is_noticed(&[&swapped], trusted));
            }
        }
    }
    count.note(is_noticed(&[&leaves, &inserted], trusted));
}

/// Whole logs, from the bytes of their events.
fn change_whole_logs(log: &Log, trusted: &TreeHead, count: &mut Count) {
    let is_valid = |events: &[Vec<u8>]| verify::log(events.iter().map(Vec::as_slice), trusted).is_ok();
    assert!(is_valid(&log.events));
    let mut random = Random(9);
    for _ in 0..if is_full_proof() { 1_000 } else { 10 } {
        let mut events = log.events.clone();
        let (at, other) = (random.below(events.len()), random.below(events.len()));
        match random.below(5) {
            0 => drop(events.remove(at)),
            1 => events.insert(at, b"{}".to_vec()),
            2 => events.truncate(at),
            3 if at != other => events.swap(at, other),
            _ => {
                let byte = random.below(events[at].len());
                events[at][byte] ^= 1;
            }
        }
        count.note(!is_valid(&events));
    }
}

#[test]
fn every_change_of_a_log_is_noticed() {
    let log = log();
    let trusted = policy().check(&log.checkpoint()).unwrap().checkpoint.head();
    let mut count = Count::default();
    change_bytes(&log, &trusted, &mut count);
    change_order(&log, &trusted, &mut count);
    change_whole_logs(&log, &trusted, &mut count);
    println!("proof: ledger mutations={} detected={}", count.mutations, count.detected);
    assert_eq!(count.detected, count.mutations);
    let n_expected = if is_full_proof() { 200_000 } else { 4_000 };
    assert!(count.mutations >= n_expected, "only {} mutations", count.mutations);
}

#[test]
fn every_changed_byte_of_a_checkpoint_is_noticed() {
    let text = log().checkpoint().to_string();
    let mut random = Random(3);
    for at in 0..text.len() {
        let mut bytes = text.clone().into_bytes();
        bytes[at] ^= u8::try_from(1 + random.below(255)).unwrap();
        let trusted = SignedCheckpoint::parse(&bytes).ok().and_then(|signed| policy().check(&signed).ok());
        assert_eq!(trusted, None, "byte {at}");
    }
}

#[test]
fn a_log_signed_again_with_a_wrong_key_is_not_believed() {
    let log = log();
    let thief = LogSigner::generate(ORIGIN, [66; 32]).unwrap();
    let forged = Checkpoint::new(ORIGIN, N_EVENTS, log.tree.root()).unwrap().sign(&[&thief]).unwrap();
    assert_eq!(policy().check(&forged), Err(Distrust::NotSignedByLog(ORIGIN.to_owned())));
    // The thief's signature under the id of the real key.
    let line = Note::sign(forged.text(), &[&signer()]).unwrap().signatures()[0].to_string();
    let (name_and_id, _) = line.split_at(line.rfind(' ').unwrap() + 1 + 5);
    let forged_line = forged.note().signatures()[0].to_string();
    let borrowed = format!("{name_and_id}{}", &forged_line[name_and_id.len()..]);
    let borrowed = forged.to_string().replace(&forged_line, &borrowed);
    let borrowed = SignedCheckpoint::parse(borrowed.as_bytes()).unwrap();
    assert!(policy().check(&borrowed).is_err());
}

#[test]
fn a_fork_and_a_rollback_are_refused_by_the_witness() {
    let (ours, mut fork) = (log(), Log::default());
    for (index, event) in ours.events.iter().enumerate() {
        fork.append(if index == 400 { b"{\"operation\":\"erase\"}".to_vec() } else { event.clone() });
    }
    let head = |log: &Log, size| TreeHead { size, root: proof::root_at(size, |subtree| log.find(subtree)).unwrap() };
    let request = |log: &Log, old_size, size| {
        let proof = proof::consistency_proof(old_size, size, |subtree| log.find(subtree)).unwrap();
        let head = head(log, size);
        let signed = Checkpoint::new(ORIGIN, head.size, head.root).unwrap().sign(&[&signer()]).unwrap();
        AddCheckpoint::new(old_size, proof, signed).unwrap()
    };
    let status = |request: &AddCheckpoint| {
        let found = decide(request, &[signer().verifier()], Some(head(&ours, 700)));
        found.map_or_else(|refusal| refusal.status(), |_| 200)
    };
    assert_eq!(status(&request(&ours, 700, 1_000)), 200);
    assert_eq!(status(&request(&ours, 700, 700)), 200);
    assert_eq!(status(&request(&fork, 700, 1_000)), 422);
    assert_eq!(status(&request(&fork, 700, 700)), 422);
    assert_eq!(status(&request(&ours, 300, 500)), 409);
    assert_eq!(status(&request(&fork, 0, 1_000)), 409);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn any_log_verifies_and_any_change_breaks_it(
        events in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..40),
        at in any::<prop::sample::Index>(),
        other in prop::collection::vec(any::<u8>(), 0..40),
        kind in 0..4,
    ) {
        let mut log = Log::default();
        events.iter().for_each(|event| log.append(event.clone()));
        let trusted = policy().check(&log.checkpoint()).unwrap().checkpoint.head();
        prop_assert!(verify::log(events.iter().map(Vec::as_slice), &trusted).is_ok());

        let mut changed = events.clone();
        let at = at.index(events.len());
        match kind {
            0 => changed[at] = other,
            1 => drop(changed.remove(at)),
            2 => changed.insert(at, other),
            _ => changed.rotate_left(at),
        }
        let is_valid = verify::log(changed.iter().map(Vec::as_slice), &trusted).is_ok();
        prop_assert_eq!(is_valid, changed == events);
    }

    #[test]
    fn any_event_of_any_log_has_a_proof_file_that_convinces(
        events in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 1..80),
        at in any::<prop::sample::Index>(),
    ) {
        let mut log = Log::default();
        events.iter().for_each(|event| log.append(event.clone()));
        let at = at.index(events.len());
        let index = u64::try_from(at).unwrap();
        let path = proof::inclusion_proof(index, log.tree.size(), |subtree| log.find(subtree)).unwrap();
        let file = ProofFile::new(index, path, log.checkpoint()).unwrap();
        let file = ProofFile::parse(file.to_string().as_bytes()).unwrap();
        prop_assert!(file.verify(&events[at], &policy()).is_ok());
        let changed = [&events[at][..], b" "].concat();
        prop_assert!(file.verify(&changed, &policy()).is_err());
    }
}
