//! Who is believed: the keys of logs, the keys of witnesses, and how many of these must have cosigned.

use crate::{
    checkpoint::{Checkpoint, SignedCheckpoint},
    key::{KeyId, LogVerifier, WitnessVerifier},
    note::NoteError,
};

/// As many as C2SP tlog-policy asks implementations to support.
pub const KEYS_MAX: usize = 32;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    #[error("a policy needs the key of a log")]
    NoLog,
    #[error("a policy has at most {KEYS_MAX} logs and {KEYS_MAX} witnesses")]
    TooManyKeys,
    #[error("the public key of `{0}` stands twice in the policy")]
    KeyTwice(String),
    #[error("{n_cosignatures_min} cosignatures are asked of {n_witnesses} witnesses")]
    Unreachable { n_cosignatures_min: usize, n_witnesses: usize },
}

/// Why a checkpoint is not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Distrust {
    #[error("no key is trusted for the log `{0}`")]
    UnknownOrigin(String),
    #[error("the checkpoint is not signed by a trusted key of `{0}`")]
    NotSignedByLog(String),
    #[error("{found} trusted witnesses cosigned, expected at least {expected}")]
    TooFewCosignatures { found: usize, expected: usize },
    #[error("the checkpoint carries a wrong signature")]
    WrongSignature(#[source] NoteError),
}

/// A log may have several keys, all named after its origin: that is how one key takes over from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    logs: Vec<LogVerifier>,
    witnesses: Vec<WitnessVerifier>,
    n_cosignatures_min: usize,
}

/// A checkpoint that the policy believes, and why. Only [`Policy::check`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trusted {
    pub checkpoint: Checkpoint,
    /// The keys of the log that signed it.
    pub log_keys: Vec<KeyId>,
    pub cosignatures: Vec<Cosigned>,
}

/// That a trusted witness cosigned, and when it says it did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Cosigned {
    pub witness: String,
    pub time_s: u64,
}

impl Policy {
    /// No public key may stand twice, under whatever name: one owner would count as two.
    pub fn new(
        logs: Vec<LogVerifier>,
        witnesses: Vec<WitnessVerifier>,
        n_cosignatures_min: usize,
    ) -> Result<Policy, PolicyError> {
        if logs.is_empty() {
            return Err(PolicyError::NoLog);
        }
        if logs.len() > KEYS_MAX || witnesses.len() > KEYS_MAX {
            return Err(PolicyError::TooManyKeys);
        }
        let log_keys = logs.iter().map(|log| (log.name(), log.key));
        let mut seen = Vec::new();
        for (name, key) in log_keys.chain(witnesses.iter().map(|witness| (witness.name(), witness.key))) {
            if seen.contains(&key) {
                return Err(PolicyError::KeyTwice(name.to_owned()));
            }
            seen.push(key);
        }
        if n_cosignatures_min > witnesses.len() {
            return Err(PolicyError::Unreachable { n_cosignatures_min, n_witnesses: witnesses.len() });
        }
        Ok(Policy { logs, witnesses, n_cosignatures_min })
    }

    /// Any wrong signature by a key of the policy refuses the checkpoint, however many right ones it has.
    pub fn check(&self, signed: &SignedCheckpoint) -> Result<Trusted, Distrust> {
        let checkpoint = signed.unverified();
        let origin = checkpoint.origin();
        if !self.logs.iter().any(|log| log.name() == origin) {
            return Err(Distrust::UnknownOrigin(origin.to_owned()));
        }
        let signed_by = signed.note().signed_by(&self.logs).map_err(Distrust::WrongSignature)?;
        // A trusted key of another log says nothing about this one.
        let log_keys: Vec<KeyId> =
            signed_by.iter().filter(|(key, ())| key.name() == origin).map(|(key, ())| key.id()).collect();
        if log_keys.is_empty() {
            return Err(Distrust::NotSignedByLog(origin.to_owned()));
        }
        let cosigned_by = signed.note().signed_by(&self.witnesses).map_err(Distrust::WrongSignature)?;
        let (found, expected) = (cosigned_by.len(), self.n_cosignatures_min);
        if found < expected {
            return Err(Distrust::TooFewCosignatures { found, expected });
        }
        let cosignatures = cosigned_by
            .into_iter()
            .map(|(witness, time_s)| Cosigned { witness: witness.name().to_owned(), time_s })
            .collect();
        Ok(Trusted { checkpoint: checkpoint.clone(), log_keys, cosignatures })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        hash::Hash,
        key::{LogSigner, WitnessSigner},
    };

    fn log(name: &str, seed: u8) -> LogSigner {
        LogSigner::generate(name, [seed; 32]).unwrap()
    }

    fn witness(seed: u8) -> WitnessSigner {
        WitnessSigner::generate(&format!("witness{seed}.example"), [seed; 32]).unwrap()
    }

    fn signed(signers: &[&LogSigner], witnesses: &[u8]) -> SignedCheckpoint {
        let mut signed = Checkpoint::new("log.example", 3, Hash::leaf(b"x")).unwrap().sign(signers).unwrap();
        for seed in witnesses {
            signed.add(witness(*seed).cosign(&signed, u64::from(*seed)).unwrap()).unwrap();
        }
        signed
    }

    #[test]
    fn enough_cosignatures_of_trusted_witnesses_are_needed() {
        let log = log("log.example", 1);
        let witnesses: Vec<WitnessVerifier> = [11, 12, 13].map(|seed| witness(seed).verifier()).to_vec();
        let policy = Policy::new(vec![log.verifier()], witnesses, 2).unwrap();
        let check =
            |witnesses: &[u8]| policy.check(&signed(&[&log], witnesses)).map(|trusted| trusted.cosignatures.len());
        assert_eq!(check(&[11, 13]), Ok(2));
        assert_eq!(check(&[11, 12, 13, 14]), Ok(3));
        assert_eq!(check(&[11, 14, 15]), Err(Distrust::TooFewCosignatures { found: 1, expected: 2 }));
        assert_eq!(check(&[]), Err(Distrust::TooFewCosignatures { found: 0, expected: 2 }));
    }

    #[test]
    fn the_log_itself_must_have_signed() {
        let (ours, other) = (log("log.example", 1), log("other.example", 2));
        let policy = Policy::new(vec![ours.verifier(), other.verifier()], vec![], 0).unwrap();
        assert_eq!(policy.check(&signed(&[&ours], &[])).unwrap().log_keys, [ours.id()]);

        let stranger = log("log.example", 3);
        let refused = Distrust::NotSignedByLog("log.example".to_owned());
        assert_eq!(policy.check(&signed(&[&stranger], &[])), Err(refused.clone()));

        // The other log's key is trusted, but not for this origin.
        let text = signed(&[&ours], &[]).text().to_owned();
        let by_other = crate::note::Note::sign(&text, &[&other]).unwrap();
        let by_other = SignedCheckpoint::parse(by_other.to_string().as_bytes()).unwrap();
        assert_eq!(policy.check(&by_other), Err(refused));

        let only_other = Policy::new(vec![other.verifier()], vec![], 0).unwrap();
        let unknown = Distrust::UnknownOrigin("log.example".to_owned());
        assert_eq!(only_other.check(&signed(&[&ours], &[])), Err(unknown));
    }

    #[test]
    fn a_key_takes_over_from_another_through_an_overlap() {
        let (old, new) = (log("log.example", 1), log("log.example", 2));
        let before = Policy::new(vec![old.verifier()], vec![], 0).unwrap();
        let after = Policy::new(vec![new.verifier()], vec![], 0).unwrap();
        let overlap = signed(&[&new, &old], &[]);
        assert!(before.check(&overlap).is_ok() && after.check(&overlap).is_ok());
        assert!(before.check(&signed(&[&new], &[])).is_err());
        assert!(after.check(&signed(&[&old], &[])).is_err());
        let both = Policy::new(vec![old.verifier(), new.verifier()], vec![], 0).unwrap();
        assert_eq!(both.check(&overlap).unwrap().log_keys, [new.id(), old.id()]);
    }

    #[test]
    fn a_wrong_signature_of_a_known_key_outweighs_the_right_ones() {
        let (old, new) = (log("log.example", 1), log("log.example", 2));
        let both = Policy::new(vec![old.verifier(), new.verifier()], vec![], 0).unwrap();
        let wrong = log("log.example", 1);
        let forged = Checkpoint::new("log.example", 4, Hash::leaf(b"y")).unwrap().sign(&[&wrong]).unwrap();
        let mixed = format!("{}{}\n", signed(&[&new], &[]), forged.note().signatures()[0]);
        let mixed = SignedCheckpoint::parse(mixed.as_bytes()).unwrap();
        assert!(matches!(both.check(&mixed), Err(Distrust::WrongSignature(_))));
    }

    #[test]
    fn policies_that_cannot_mean_what_they_say_are_refused() {
        let log_key = || log("log.example", 1).verifier();
        assert_eq!(Policy::new(vec![], vec![], 0), Err(PolicyError::NoLog));
        let twice = PolicyError::KeyTwice("log.example".to_owned());
        assert_eq!(Policy::new(vec![log_key(), log_key()], vec![], 0), Err(twice));
        // The same key under two names would be one witness that counts twice.
        let same = WitnessSigner::generate("alias.example", [11; 32]).unwrap().verifier();
        let twice = PolicyError::KeyTwice("alias.example".to_owned());
        assert_eq!(Policy::new(vec![log_key()], vec![witness(11).verifier(), same], 1), Err(twice));
        let as_witness = PolicyError::KeyTwice("witness1.example".to_owned());
        assert_eq!(Policy::new(vec![log_key()], vec![witness(1).verifier()], 1), Err(as_witness));
        let unreachable = PolicyError::Unreachable { n_cosignatures_min: 2, n_witnesses: 1 };
        assert_eq!(Policy::new(vec![log_key()], vec![witness(11).verifier()], 2), Err(unreachable));
        let many = (2..=34).map(|seed| log("log.example", seed).verifier()).collect();
        assert_eq!(Policy::new(many, vec![], 0), Err(PolicyError::TooManyKeys));
    }
}
