//! The witness protocol (C2SP tlog-witness, `add-checkpoint`): the request as text, and the decision as a function.
//!
//! A witness serves a request so: parse the body (400 if that fails); in one transaction read what it last cosigned for
//! the origin, [`decide`], and store the new head; then cosign and answer. Reading and storing must be one atomic step,
//! or two requests could roll the log back.

use std::fmt;

use crate::{
    checkpoint::{CheckpointError, SignedCheckpoint},
    hash::{Hash, HashError},
    key::LogVerifier,
    note::{NOTE_BYTES_MAX, NoteError},
    text::parse_decimal,
    tree::TreeHead,
    verify::{self, VerifyError},
};

/// The most hashes that a client may send.
pub const PROOF_HASHES_MAX: usize = 63;

/// The largest body worth reading.
pub const REQUEST_BYTES_MAX: usize = NOTE_BYTES_MAX + 4 * 1024;

/// The content type of a 409's body.
pub const SIZE_CONTENT_TYPE: &str = "text/x.tlog.size";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    #[error("the request has {0} bytes, at most {REQUEST_BYTES_MAX} are read")]
    TooLong(usize),
    #[error("the request is not UTF-8")]
    NotUtf8,
    #[error("the request has no empty line before the checkpoint")]
    NoCheckpoint,
    #[error("the first line of the request is not `old SIZE`")]
    OldSize,
    #[error("a proof has at most {PROOF_HASHES_MAX} hashes")]
    TooManyHashes,
    #[error("line {line} of the request is not a hash")]
    Hash {
        line: usize,
        #[source]
        error: HashError,
    },
    #[error("the request ends with something else than a checkpoint")]
    Checkpoint(#[source] CheckpointError),
}

/// The body of an `add-checkpoint` request. Its text is the body; it is also how a consistency proof is handed on as a
/// file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddCheckpoint {
    old_size: u64,
    proof: Vec<Hash>,
    checkpoint: SignedCheckpoint,
}

impl AddCheckpoint {
    pub fn new(old_size: u64, proof: Vec<Hash>, checkpoint: SignedCheckpoint) -> Result<AddCheckpoint, RequestError> {
        if proof.len() > PROOF_HASHES_MAX {
            return Err(RequestError::TooManyHashes);
        }
        Ok(AddCheckpoint { old_size, proof, checkpoint })
    }

    pub fn parse(body: &[u8]) -> Result<AddCheckpoint, RequestError> {
        if body.len() > REQUEST_BYTES_MAX {
            return Err(RequestError::TooLong(body.len()));
        }
        let text = str::from_utf8(body).map_err(|_| RequestError::NotUtf8)?;
        let (lines, checkpoint) = text.split_once("\n\n").ok_or(RequestError::NoCheckpoint)?;
        let mut lines = lines.split('\n');
        let old_size = lines.next().and_then(|line| line.strip_prefix("old ")).and_then(parse_decimal);
        let old_size = old_size.ok_or(RequestError::OldSize)?;
        if lines.clone().count() > PROOF_HASHES_MAX {
            return Err(RequestError::TooManyHashes);
        }
        let parse = |(index, line)| Hash::parse(line).map_err(|error| RequestError::Hash { line: index + 2, error });
        let proof = lines.enumerate().map(parse).collect::<Result<_, _>>()?;
        let checkpoint = SignedCheckpoint::parse(checkpoint.as_bytes()).map_err(RequestError::Checkpoint)?;
        Ok(AddCheckpoint { old_size, proof, checkpoint })
    }

    pub fn old_size(&self) -> u64 {
        self.old_size
    }

    pub fn proof(&self) -> &[Hash] {
        &self.proof
    }

    pub fn checkpoint(&self) -> &SignedCheckpoint {
        &self.checkpoint
    }
}

impl fmt::Display for AddCheckpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "old {}", self.old_size)?;
        self.proof.iter().try_for_each(|hash| writeln!(formatter, "{hash}"))?;
        write!(formatter, "\n{}", self.checkpoint)
    }
}

/// Why a witness does not cosign.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    #[error("the log `{0}` is not known here")]
    UnknownOrigin(String),
    #[error("the checkpoint is not signed by a known key of `{0}`")]
    NotSigned(String),
    #[error("the checkpoint carries a wrong signature by a known key")]
    WrongSignature(#[source] NoteError),
    #[error("the old size {old_size} is larger than the {size} of the checkpoint")]
    OldSizeBeyondNew { old_size: u64, size: u64 },
    #[error("the old size is {old_size}, but the last cosigned is {known_size}")]
    StaleOldSize { old_size: u64, known_size: u64 },
    #[error("the root is not the one that was cosigned for this size")]
    RootDiffers,
    #[error("the checkpoint is not shown to continue the last cosigned one")]
    Inconsistent(#[source] VerifyError),
}

impl Refusal {
    /// The HTTP status.
    pub fn status(&self) -> u16 {
        match self {
            Refusal::OldSizeBeyondNew { .. } => 400,
            Refusal::NotSigned(_) | Refusal::WrongSignature(_) => 403,
            Refusal::UnknownOrigin(_) => 404,
            Refusal::StaleOldSize { .. } => 409,
            Refusal::RootDiffers | Refusal::Inconsistent(_) => 422,
        }
    }

    /// The body: for a 409 the last cosigned size as [`SIZE_CONTENT_TYPE`], else the reason as plain text.
    pub fn body(&self) -> String {
        match self {
            Refusal::StaleOldSize { known_size, .. } => format!("{known_size}\n"),
            Refusal::UnknownOrigin(_)
            | Refusal::NotSigned(_)
            | Refusal::WrongSignature(_)
            | Refusal::OldSizeBeyondNew { .. }
            | Refusal::RootDiffers
            | Refusal::Inconsistent(_) => format!("{self}\n"),
        }
    }

    /// Whether the log signed something that contradicts what it signed before, or at least could not show that it does
    /// not. A witness should keep such a request.
    pub fn is_evidence(&self) -> bool {
        self.status() == 422
    }
}

/// Decides whether to cosign, with the checks and in the order of C2SP tlog-witness. `Ok` is the head to store.
///
/// `logs` are all the log keys that the witness knows; a log is known by the name of its keys. `known` is the head last
/// cosigned for the request's origin.
pub fn decide(request: &AddCheckpoint, logs: &[LogVerifier], known: Option<TreeHead>) -> Result<TreeHead, Refusal> {
    let checkpoint = request.checkpoint.unverified();
    let origin = checkpoint.origin();
    let keys: Vec<LogVerifier> = logs.iter().filter(|key| key.name() == origin).cloned().collect();
    if keys.is_empty() {
        return Err(Refusal::UnknownOrigin(origin.to_owned()));
    }
    if request.checkpoint.note().signed_by(&keys).map_err(Refusal::WrongSignature)?.is_empty() {
        return Err(Refusal::NotSigned(origin.to_owned()));
    }
    let (old_size, new) = (request.old_size, checkpoint.head());
    if old_size > new.size {
        return Err(Refusal::OldSizeBeyondNew { old_size, size: new.size });
    }
    let known = known.unwrap_or(TreeHead { size: 0, root: Hash::EMPTY_TREE });
    if old_size != known.size {
        return Err(Refusal::StaleOldSize { old_size, known_size: known.size });
    }
    if new.size == known.size && new.root != known.root {
        return Err(Refusal::RootDiffers);
    }
    verify::consistency(&known, &new, &request.proof).map_err(Refusal::Inconsistent)?;
    Ok(new)
}

/// The size in the body of a 409, from which a client starts again.
pub fn parse_known_size(body: &[u8]) -> Option<u64> {
    parse_decimal(str::from_utf8(body).ok()?.strip_suffix('\n')?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checkpoint::Checkpoint,
        key::LogSigner,
        proof,
        tree::{Frontier, Subtree},
    };
    use proptest::prelude::*;
    use std::collections::HashMap;

    const ORIGIN: &str = "log.example";

    struct History {
        nodes: HashMap<Subtree, Hash>,
    }

    /// A log of the given events, one letter each.
    fn history(events: &str) -> History {
        let mut tree = Frontier::new();
        let leaves = events.bytes().flat_map(|event| tree.append(Hash::leaf(&[event])));
        History { nodes: leaves.map(|node| (node.subtree, node.hash)).collect() }
    }

    impl History {
        fn head(&self, size: u64) -> TreeHead {
            TreeHead { size, root: proof::root_at(size, |subtree| self.nodes.get(&subtree).copied()).unwrap() }
        }

        fn proof(&self, old_size: u64, size: u64) -> Vec<Hash> {
            proof::consistency_proof(old_size, size, |subtree| self.nodes.get(&subtree).copied()).unwrap()
        }

        fn request(&self, old_size: u64, size: u64) -> AddCheckpoint {
            let proof = if old_size <= size { self.proof(old_size, size) } else { vec![] };
            request(old_size, proof, self.head(size))
        }
    }

    fn key() -> LogSigner {
        LogSigner::generate(ORIGIN, [1; 32]).unwrap()
    }

    fn request(old_size: u64, proof: Vec<Hash>, head: TreeHead) -> AddCheckpoint {
        let signed = Checkpoint::new(ORIGIN, head.size, head.root).unwrap().sign(&[&key()]).unwrap();
        AddCheckpoint::new(old_size, proof, signed).unwrap()
    }

    fn answer(request: &AddCheckpoint, known: Option<TreeHead>) -> (u16, String) {
        // The request goes through its text, as it would over the network.
        let parsed = AddCheckpoint::parse(request.to_string().as_bytes()).unwrap();
        assert_eq!(&parsed, request);
        match decide(&parsed, &[key().verifier()], known) {
            Ok(head) => (200, format!("{} {}", head.size, head.root)),
            Err(refusal) => (refusal.status(), refusal.body()),
        }
    }

    fn accepted(head: TreeHead) -> (u16, String) {
        (200, format!("{} {}", head.size, head.root))
    }

    #[test]
    fn a_log_that_only_grows_is_cosigned() {
        let log = history("abcdefghijk");
        assert_eq!(answer(&log.request(0, 0), None), accepted(log.head(0)));
        assert_eq!(answer(&log.request(0, 5), None), accepted(log.head(5)));
        assert_eq!(answer(&log.request(0, 5), Some(log.head(0))), accepted(log.head(5)));
        assert_eq!(answer(&log.request(5, 11), Some(log.head(5))), accepted(log.head(11)));
        assert_eq!(answer(&log.request(5, 5), Some(log.head(5))), accepted(log.head(5)));
    }

    #[test]
    fn an_old_size_that_is_not_the_last_cosigned_is_a_409_with_the_size() {
        let log = history("abcdefghijk");
        for (old_size, size) in [(0, 11), (4, 11), (6, 11), (0, 3), (3, 4)] {
            let found = answer(&log.request(old_size, size), Some(log.head(5)));
            assert_eq!(found, (409, "5\n".to_owned()), "{old_size} to {size}");
        }
        assert_eq!(answer(&log.request(3, 5), None), (409, "0\n".to_owned()));
        assert_eq!(parse_known_size(b"5\n"), Some(5));
        for body in [&b"5"[..], b"05\n", b"5\n\n", b"", b"five\n"] {
            assert_eq!(parse_known_size(body), None);
        }
    }

    #[test]
    fn a_fork_is_never_cosigned() {
        let (ours, fork) = (history("abcdefghijk"), history("abXdefghijk"));
        for size in 5..=11 {
            // The other history, from the size that the witness knows; an honest proof of a dishonest log.
            let (status, _) = answer(&fork.request(5, size), Some(ours.head(5)));
            assert_eq!(status, 422, "fork at size {size}");
            // Its head with the proof of ours.
            let (status, _) = answer(&request(5, ours.proof(5, size), fork.head(size)), Some(ours.head(5)));
            assert_eq!(status, 422, "fork at size {size} with our proof");
        }
        assert!(decide(&fork.request(5, 5), &[key().verifier()], Some(ours.head(5))).unwrap_err().is_evidence());
        // Rolled back, and as if for the first time.
        assert_eq!(answer(&fork.request(0, 3), Some(ours.head(5))).0, 409);
        assert_eq!(answer(&fork.request(5, 3), Some(ours.head(5))).0, 400);
    }

    #[test]
    fn a_proof_that_does_not_fit_is_a_422() {
        let log = history("abcdefghijk");
        let known = Some(log.head(5));
        let mut proof = log.proof(5, 11);
        assert_eq!(answer(&request(5, vec![], log.head(11)), known).0, 422);
        assert_eq!(answer(&request(5, proof[1..].to_vec(), log.head(11)), known).0, 422);
        proof.swap(0, 1);
        assert_eq!(answer(&request(5, proof.clone(), log.head(11)), known).0, 422);
        // From size zero, and between equal sizes, the proof is empty.
        assert_eq!(answer(&request(0, proof.clone(), log.head(11)), None).0, 422);
        assert_eq!(answer(&request(5, proof, log.head(5)), known).0, 422);
        let not_empty = TreeHead { size: 0, root: Hash::leaf(b"a") };
        assert_eq!(answer(&request(0, vec![], not_empty), None).0, 422);
    }

    #[test]
    fn unknown_logs_and_wrong_keys_are_refused_first() {
        let log = history("abcde");
        let request = log.request(9, 5);
        let status = |keys: &[LogVerifier]| decide(&request, keys, None).unwrap_err().status();
        assert_eq!(status(&[]), 404);
        assert_eq!(status(&[LogSigner::generate("other.example", [1; 32]).unwrap().verifier()]), 404);
        assert_eq!(status(&[LogSigner::generate(ORIGIN, [2; 32]).unwrap().verifier()]), 403);
        assert_eq!(status(&[key().verifier()]), 400);
        let changed = request.to_string().replace("\n5\n", "\n6\n");
        let changed = AddCheckpoint::parse(changed.as_bytes()).unwrap();
        assert_eq!(decide(&changed, &[key().verifier()], None).unwrap_err().status(), 403);
    }

    #[test]
    fn the_example_of_the_specification_parses_and_prints_back() {
        let body = "old 20852014\n\
            PlRNCrwHpqhGrupue0L7gxbjbMiKA9temvuZZDDpkaw=\njrJZDmY8Y7SyJE0MWLpLozkIVMSMZcD5kvuKxPC3swk=\n\
            5+pKlUdi2LeF/BcMHBn+Ku6yhPGNCswZZD1X/6QgPd8=\n/6WVhPs2CwSsb5rYBH5cjHV/wSmA79abXAwhXw3Kj/0=\n\n\
            example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
            — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n\
            — example.com/behind-the-sofa opLqBQsREYCgu6xQkYQwJr9fo45a62DN9EdmHXnZdXNqlcVGlCum2Wks+49/V6267UEjw6QUXTS5Rovnzv++qbSzm9Q=\n";
        let request = AddCheckpoint::parse(body.as_bytes()).unwrap();
        assert_eq!((request.old_size(), request.proof().len()), (20_852_014, 4));
        assert_eq!(request.to_string(), body);
    }

    #[test]
    fn requests_of_another_form_are_refused() {
        let body = history("abcdefghijk").request(5, 11).to_string();
        let (first, rest) = body.split_once('\n').unwrap();
        assert_eq!(first, "old 5");
        let hash = Hash::EMPTY_TREE;
        for body in [
            String::new(),
            rest.to_owned(),
            format!("old 05\n{rest}"),
            format!("old  5\n{rest}"),
            format!("old 5 \n{rest}"),
            format!("Old 5\n{rest}"),
            format!("old 5\r\n{rest}"),
            format!("old 5\nAAAA\n{rest}"),
            format!("old 5\n\n{rest}"),
            format!("old 5\n{}{rest}", format!("{hash}\n").repeat(63)),
            body.trim_end().to_owned(),
            format!("{body}\n"),
            "old 5\n\n".to_owned(),
        ] {
            assert!(AddCheckpoint::parse(body.as_bytes()).is_err(), "{body:?}");
        }
        assert_eq!(AddCheckpoint::parse(&[0xff, b'\n', b'\n']), Err(RequestError::NotUtf8));
        let signed = history("a").request(0, 1).checkpoint;
        assert_eq!(AddCheckpoint::new(5, vec![hash; 64], signed), Err(RequestError::TooManyHashes));
    }

    proptest! {
        // A signature costs milliseconds without optimisation.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_bytes_make_the_parser_panic(text in "(old [0-9]{0,3}\n)?([A-Za-z0-9+/=]{0,44}\n){0,4}\n?(.{0,9}\n){0,5}") {
            if let Ok(request) = AddCheckpoint::parse(text.as_bytes()) {
                prop_assert_eq!(request.to_string(), text);
            }
        }

        #[test]
        fn only_a_continuation_is_cosigned(events in "[a-c]{1,12}", others in "[a-c]{1,12}", known in 0_u64..12) {
            let (ours, theirs) = (history(&events), history(&others));
            let (n_ours, n_theirs) = (events.len() as u64, others.len() as u64);
            let known_size = known.min(n_ours);
            prop_assume!(known_size <= n_theirs);
            let is_continuation = events.bytes().zip(others.bytes()).take(usize::try_from(known_size).unwrap()).all(|(a, b)| a == b);
            let request = theirs.request(known_size, n_theirs);
            let found = decide(&request, &[key().verifier()], Some(ours.head(known_size)));
            prop_assert_eq!(found.is_ok(), is_continuation);
        }
    }
}
