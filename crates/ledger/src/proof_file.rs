//! The proof of one event as a file (C2SP tlog-proof, `c2sp.org/tlog-proof@v1`): index, path and checkpoint.
//!
//! Together with the event's bytes and a [`Policy`] it can be checked offline, years later, without the log.

use std::fmt;

use crate::{
    checkpoint::{CheckpointError, SignedCheckpoint},
    hash::{Hash, HashError},
    note::NOTE_BYTES_MAX,
    policy::{Distrust, Policy, Trusted},
    text::{decode_base64, encode_base64, parse_decimal},
    verify::{self, VerifyError},
};

pub const FILE_EXTENSION: &str = "tlog-proof";

/// No path is longer: a tree has at most 2^64 leaves.
pub const PATH_HASHES_MAX: usize = 64;

pub const EXTRA_BYTES_MAX: usize = 64 * 1024;

/// The largest file worth reading: the note, the extra data in base64, the path.
pub const FILE_BYTES_MAX: usize = NOTE_BYTES_MAX + 2 * EXTRA_BYTES_MAX;

const FIRST_LINE: &str = "c2sp.org/tlog-proof@v1";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofFileError {
    #[error("the proof has {0} bytes, at most {FILE_BYTES_MAX} are read")]
    TooLong(usize),
    #[error("the proof is not UTF-8")]
    NotUtf8,
    #[error("the proof does not begin with the line `{FIRST_LINE}`")]
    FirstLine,
    #[error("the proof has no empty line before the checkpoint")]
    NoCheckpoint,
    #[error("the extra data are not base64 of 1 to {EXTRA_BYTES_MAX} bytes")]
    Extra,
    #[error("the proof has no line `index NUMBER`")]
    Index,
    #[error("a path has at most {PATH_HASHES_MAX} hashes")]
    TooManyHashes,
    #[error("hash {number} of the path is not a hash")]
    Hash {
        number: usize,
        #[source]
        error: HashError,
    },
    #[error("the proof ends with something else than a checkpoint")]
    Checkpoint(#[source] CheckpointError),
}

/// Why a proof does not convince.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unproven {
    #[error("the checkpoint is not to be trusted")]
    Distrust(#[source] Distrust),
    #[error("the event is not shown to be in the log at index {index}")]
    NotIncluded {
        index: u64,
        #[source]
        error: VerifyError,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProofFile {
    extra: Option<Vec<u8>>,
    index: u64,
    path: Vec<Hash>,
    checkpoint: SignedCheckpoint,
}

/// An event that is in the log, as a trusted checkpoint says. Only [`ProofFile::verify`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Proven {
    pub index: u64,
    pub trusted: Trusted,
}

impl ProofFile {
    pub fn new(index: u64, path: Vec<Hash>, checkpoint: SignedCheckpoint) -> Result<ProofFile, ProofFileError> {
        if path.len() > PATH_HASHES_MAX {
            return Err(ProofFileError::TooManyHashes);
        }
        Ok(ProofFile { extra: None, index, path, checkpoint })
    }

    /// Adds data that travel along. Nothing signs them: whoever reads them must not believe them.
    pub fn with_extra(mut self, extra: Vec<u8>) -> Result<ProofFile, ProofFileError> {
        if extra.is_empty() || extra.len() > EXTRA_BYTES_MAX {
            return Err(ProofFileError::Extra);
        }
        self.extra = Some(extra);
        Ok(self)
    }

    pub fn parse(bytes: &[u8]) -> Result<ProofFile, ProofFileError> {
        if bytes.len() > FILE_BYTES_MAX {
            return Err(ProofFileError::TooLong(bytes.len()));
        }
        let text = str::from_utf8(bytes).map_err(|_| ProofFileError::NotUtf8)?;
        let rest = text.strip_prefix(FIRST_LINE).and_then(|rest| rest.strip_prefix('\n'));
        let rest = rest.ok_or(ProofFileError::FirstLine)?;
        let (lines, checkpoint) = rest.split_once("\n\n").ok_or(ProofFileError::NoCheckpoint)?;
        let mut lines = lines.split('\n').peekable();
        let extra = lines.next_if_map(|line| line.strip_prefix("extra ").ok_or(line));
        let index = lines.next().and_then(|line| line.strip_prefix("index ")).and_then(parse_decimal);
        let index = index.ok_or(ProofFileError::Index)?;
        if lines.clone().count() > PATH_HASHES_MAX {
            return Err(ProofFileError::TooManyHashes);
        }
        let parse = |(at, line)| Hash::parse(line).map_err(|error| ProofFileError::Hash { number: at + 1, error });
        let path = lines.enumerate().map(parse).collect::<Result<_, _>>()?;
        let checkpoint = SignedCheckpoint::parse(checkpoint.as_bytes()).map_err(ProofFileError::Checkpoint)?;
        let file = ProofFile { extra: None, index, path, checkpoint };
        match extra {
            Some(extra) => file.with_extra(decode_base64(extra).ok_or(ProofFileError::Extra)?),
            None => Ok(file),
        }
    }

    /// Whether exactly these bytes are the event at the index, in a log that the policy trusts.
    pub fn verify(&self, event: &[u8], policy: &Policy) -> Result<Proven, Unproven> {
        let trusted = policy.check(&self.checkpoint).map_err(Unproven::Distrust)?;
        let (index, head) = (self.index, trusted.checkpoint.head());
        verify::inclusion(&Hash::leaf(event), index, head.size, &head.root, &self.path)
            .map_err(|error| Unproven::NotIncluded { index, error })?;
        Ok(Proven { index, trusted })
    }

    pub fn index(&self) -> u64 {
        self.index
    }

    pub fn path(&self) -> &[Hash] {
        &self.path
    }

    pub fn extra(&self) -> Option<&[u8]> {
        self.extra.as_deref()
    }

    pub fn checkpoint(&self) -> &SignedCheckpoint {
        &self.checkpoint
    }
}

impl fmt::Display for ProofFile {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(formatter, "{FIRST_LINE}")?;
        if let Some(extra) = &self.extra {
            writeln!(formatter, "extra {}", encode_base64(extra))?;
        }
        writeln!(formatter, "index {}", self.index)?;
        self.path.iter().try_for_each(|hash| writeln!(formatter, "{hash}"))?;
        write!(formatter, "\n{}", self.checkpoint)
    }
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

    fn signer() -> LogSigner {
        LogSigner::generate("log.example", [1; 32]).unwrap()
    }

    fn policy() -> Policy {
        Policy::new(vec![signer().verifier()], vec![], 0).unwrap()
    }

    fn file(events: &[&str], index: u64) -> ProofFile {
        let mut tree = Frontier::new();
        let nodes = events.iter().flat_map(|event| tree.append(Hash::leaf(event.as_bytes())));
        let nodes: HashMap<Subtree, Hash> = nodes.map(|node| (node.subtree, node.hash)).collect();
        let path = proof::inclusion_proof(index, tree.size(), |subtree| nodes.get(&subtree).copied()).unwrap();
        let signed = Checkpoint::new("log.example", tree.size(), tree.root()).unwrap().sign(&[&signer()]).unwrap();
        ProofFile::new(index, path, signed).unwrap()
    }

    #[test]
    fn a_proof_file_is_the_text_of_the_specification() {
        let file = file(&["a"], 0).with_extra(b"hi".to_vec()).unwrap();
        let start = "c2sp.org/tlog-proof@v1\nextra aGk=\nindex 0\n\nlog.example\n1\n";
        assert!(file.to_string().starts_with(start), "{file}");
        assert_eq!(ProofFile::parse(file.to_string().as_bytes()), Ok(file));
    }

    #[test]
    fn a_proof_convinces_for_its_event_and_no_other() {
        let file = file(&["a", "b", "c", "d", "e"], 2);
        let proven = file.verify(b"c", &policy()).unwrap();
        assert_eq!((proven.index, proven.trusted.checkpoint.size()), (2, 5));
        for event in ["a", "b", "d", "", "c\n", "C"] {
            let unproven = file.verify(event.as_bytes(), &policy()).unwrap_err();
            assert_eq!(unproven, Unproven::NotIncluded { index: 2, error: VerifyError::RootDiffers });
        }
        let stranger = LogSigner::generate("log.example", [2; 32]).unwrap();
        let other = Policy::new(vec![stranger.verifier()], vec![], 0).unwrap();
        let distrust = Distrust::NotSignedByLog("log.example".to_owned());
        assert_eq!(file.verify(b"c", &other), Err(Unproven::Distrust(distrust)));
    }

    #[test]
    fn files_of_another_form_are_refused() {
        let text = file(&["a", "b", "c"], 0).to_string();
        let hash = text.lines().nth(2).unwrap();
        for text in [
            String::new(),
            text.replace("@v1", "@v2"),
            text.replace("index 0\n", ""),
            text.replace("index 0", "index 00"),
            text.replace("index 0", "index -1"),
            text.replace("index 0", "extra \nindex 0"),
            text.replace("index 0", "extra aGk\nindex 0"),
            text.replace("index 0", "extra aGk=\nextra aGk=\nindex 0"),
            text.replace("index 0", "index 0\nextra aGk="),
            text.replace("index 0", &format!("index 0\n{}", [hash; 63].join("\n"))),
            text.replace(hash, "AAAA"),
            text.replace(hash, ""),
            text.replace('\n', "\r\n"),
            format!("{text}\n"),
            text.trim_end().to_owned(),
        ] {
            assert!(ProofFile::parse(text.as_bytes()).is_err(), "{text:?}");
        }
    }

    proptest! {
        #[test]
        fn any_changed_byte_of_a_proof_is_noticed(position in any::<prop::sample::Index>(), change in 1_u8..) {
            let file = file(&["a", "b", "c", "d", "e"], 2);
            let mut bytes = file.to_string().into_bytes();
            let position = position.index(bytes.len());
            bytes[position] ^= change;
            let found = ProofFile::parse(&bytes).map(|file| file.verify(b"c", &policy()));
            prop_assert!(!matches!(found, Ok(Ok(_))));
        }

        #[test]
        fn no_bytes_make_the_parser_panic_and_what_parses_prints_back(
            text in "(c2sp.org/tlog-proof@v1\n)?(extra [a-zA-Z]{0,4}\n)?(index [0-9]{0,3}\n)?([A-Za-z0-9+/=]{0,44}\n){0,3}\n?(.{0,9}\n){0,6}"
        ) {
            if let Ok(file) = ProofFile::parse(text.as_bytes()) {
                prop_assert_eq!(file.to_string(), text);
            }
        }
    }
}
