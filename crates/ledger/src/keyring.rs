//! The private keys of a log: one, or two while a new key takes over from an old one.
//!
//! During the overlap every checkpoint carries both signatures, so that whoever still trusts only the old key, and
//! whoever already trusts only the new one, can check it.

use sha2::{Digest, Sha256};

use crate::{
    checkpoint::{Checkpoint, CheckpointError, SignedCheckpoint},
    key::{KeyError, LogSigner, LogVerifier},
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyringError {
    #[error("a key file has one line, or two while keys overlap, found {0}")]
    Lines(usize),
    #[error("line {line} of the key file is not a key")]
    Key {
        line: usize,
        #[source]
        error: KeyError,
    },
    #[error("the keys of a log have one name, found `{0}` and `{1}`")]
    Names(String, String),
    #[error("the new key is the one in use")]
    SameKey,
    #[error("a key already overlaps with another; end that overlap first")]
    OverlapNotEnded,
}

#[derive(Debug)]
pub struct Keyring {
    current: LogSigner,
    outgoing: Option<LogSigner>,
}

impl Keyring {
    pub fn new(key: LogSigner) -> Keyring {
        Keyring { current: key, outgoing: None }
    }

    /// Reads a key file: the current key on the first line, the outgoing one on the second if there is an overlap.
    pub fn parse(text: &str) -> Result<Keyring, KeyringError> {
        let lines: Vec<&str> = text.lines().collect();
        let parse = |(index, line): (usize, &&str)| {
            LogSigner::parse(line).map_err(|error| KeyringError::Key { line: index + 1, error })
        };
        let mut keys = lines.iter().enumerate().take(2).map(parse).collect::<Result<Vec<_>, _>>()?.into_iter();
        match (keys.next(), keys.next(), lines.len()) {
            (Some(current), None, _) => Ok(Keyring::new(current)),
            // Read as a rotation, so that a file cannot hold what a rotation would refuse.
            (Some(current), Some(outgoing), 2) => Keyring::new(outgoing).rotate(current),
            (None | Some(_), _, n_lines) => Err(KeyringError::Lines(n_lines)),
        }
    }

    /// The secrets as text, for a file that only its owner may read.
    pub fn to_private_text(&self) -> String {
        self.signers().iter().map(|signer| format!("{}\n", signer.to_private_text())).collect()
    }

    /// Starts an overlap: from here on both keys sign.
    pub fn rotate(self, new: LogSigner) -> Result<Keyring, KeyringError> {
        if self.outgoing.is_some() {
            return Err(KeyringError::OverlapNotEnded);
        }
        if new.name() != self.current.name() {
            return Err(KeyringError::Names(self.current.name().to_owned(), new.name().to_owned()));
        }
        if new.verifier() == self.current.verifier() {
            return Err(KeyringError::SameKey);
        }
        Ok(Keyring { current: new, outgoing: Some(self.current) })
    }

    /// Ends the overlap: the old key signs no more. Without an overlap nothing changes.
    pub fn retire(self) -> Keyring {
        Keyring { current: self.current, outgoing: None }
    }

    pub fn is_overlapping(&self) -> bool {
        self.outgoing.is_some()
    }

    /// The origin of the log that the keys sign for.
    pub fn origin(&self) -> &str {
        self.current.name()
    }

    /// The public keys that verify what is signed here, the current one first.
    pub fn verifiers(&self) -> Vec<LogVerifier> {
        self.signers().iter().map(|signer| signer.verifier()).collect()
    }

    pub fn sign(&self, checkpoint: Checkpoint) -> Result<SignedCheckpoint, CheckpointError> {
        checkpoint.sign(&self.signers())
    }

    /// A secret for another purpose from each key, the current one first. It tells nothing of the key.
    pub fn secrets(&self, purpose: &str) -> Vec<[u8; 32]> {
        let secret = |signer: &&LogSigner| {
            // The purpose ends before the first line break, and no two purposes give the same bytes.
            Sha256::digest(format!("{purpose}\n{}", signer.to_private_text())).into()
        };
        self.signers().iter().map(secret).collect()
    }

    fn signers(&self) -> Vec<&LogSigner> {
        std::iter::once(&self.current).chain(&self.outgoing).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::Hash;

    fn key(seed: u8) -> LogSigner {
        LogSigner::generate("log.example", [seed; 32]).unwrap()
    }

    #[test]
    fn both_keys_sign_until_the_old_one_retires() {
        let signed = |keyring: &Keyring| {
            let signed = keyring.sign(Checkpoint::new("log.example", 0, Hash::EMPTY_TREE).unwrap()).unwrap();
            signed.note().signatures().iter().map(crate::note::NoteSignature::id).collect::<Vec<_>>()
        };
        let keyring = Keyring::new(key(1));
        assert_eq!(signed(&keyring), [key(1).id()]);
        let keyring = keyring.rotate(key(2)).unwrap();
        assert!(keyring.is_overlapping());
        assert_eq!(signed(&keyring), [key(2).id(), key(1).id()]);
        assert_eq!(keyring.verifiers(), [key(2).verifier(), key(1).verifier()]);
        let keyring = Keyring::parse(&keyring.to_private_text()).unwrap();
        assert_eq!(signed(&keyring), [key(2).id(), key(1).id()]);
        let keyring = keyring.retire();
        assert_eq!(signed(&keyring), [key(2).id()]);
        assert!(keyring.rotate(key(3)).is_ok());
    }

    #[test]
    fn a_rotation_that_makes_no_sense_is_refused() {
        assert_eq!(Keyring::new(key(1)).rotate(key(1)).unwrap_err(), KeyringError::SameKey);
        let overlapping = Keyring::new(key(1)).rotate(key(2)).unwrap();
        assert_eq!(overlapping.rotate(key(3)).unwrap_err(), KeyringError::OverlapNotEnded);
        let other = LogSigner::generate("other.example", [2; 32]).unwrap();
        let names = KeyringError::Names("log.example".to_owned(), "other.example".to_owned());
        assert_eq!(Keyring::new(key(1)).rotate(other).unwrap_err(), names);
    }

    #[test]
    fn a_key_file_of_another_form_is_refused() {
        let line = |seed| format!("{}\n", key(seed).to_private_text());
        assert!(Keyring::parse(&line(1)).is_ok());
        assert_eq!(Keyring::parse("").unwrap_err(), KeyringError::Lines(0));
        assert_eq!(Keyring::parse(&format!("{}{}{}", line(1), line(2), line(3))).unwrap_err(), KeyringError::Lines(3));
        assert_eq!(Keyring::parse(&format!("{}{}", line(1), line(1))).unwrap_err(), KeyringError::SameKey);
        let not_a_key = KeyringError::Key { line: 2, error: KeyError::SignerForm };
        assert_eq!(Keyring::parse(&format!("{}\n", line(1))).unwrap_err(), not_a_key);
    }
}
