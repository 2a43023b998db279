//! Cosignatures of witnesses (C2SP tlog-cosignature, Ed25519, `cosignature/v1`).
//!
//! A cosignature says: at this time, the largest tree of this log that I saw, consistent with all before it, had this
//! root. The time is part of what is signed and travels in front of the signature.

use ed25519_dalek::Signer as _;

use crate::{
    checkpoint::SignedCheckpoint,
    key::{Signer, Witness, sealed},
    note::NoteSignature,
};

/// Seconds since 1970; C2SP keeps to what a signed integer holds.
pub const TIME_S_MAX: u64 = i64::MAX.unsigned_abs();

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the time {0} is after the largest that a cosignature can hold")]
pub struct TimeTooLarge(u64);

impl Signer<Witness> {
    /// Cosigns a checkpoint. Only for a request that `witness::decide` accepted, after the new state was stored.
    pub fn cosign(&self, checkpoint: &SignedCheckpoint, time_s: u64) -> Result<NoteSignature, TimeTooLarge> {
        if time_s > TIME_S_MAX {
            return Err(TimeTooLarge(time_s));
        }
        let signature = self.secret.sign(message(checkpoint.text(), time_s).as_bytes());
        Ok(NoteSignature::new(self, [&time_s.to_be_bytes()[..], &signature.to_bytes()].concat()))
    }
}

impl sealed::Kind for Witness {
    const TYPE: u8 = 0x04;
    const PURPOSE: &'static str = "a witness' key";
    /// The time in seconds since 1970.
    type Statement = u64;

    fn open(key: &ed25519_dalek::VerifyingKey, text: &str, signature: &[u8]) -> Option<u64> {
        let (time, signature) = signature.split_first_chunk()?;
        let time_s = Some(u64::from_be_bytes(*time)).filter(|time_s| *time_s <= TIME_S_MAX)?;
        let signature = ed25519_dalek::Signature::from_slice(signature).ok()?;
        key.verify_strict(message(text, time_s).as_bytes(), &signature).ok()?;
        Some(time_s)
    }
}

fn message(checkpoint_text: &str, time_s: u64) -> String {
    format!("cosignature/v1\ntime {time_s}\n{checkpoint_text}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        checkpoint::Checkpoint,
        hash::Hash,
        key::{LogSigner, WitnessSigner},
        note::{Note, NoteError},
    };

    fn cosigned(time_s: u64) -> (Note, WitnessSigner) {
        let log = LogSigner::generate("example.org/log", [1; 32]).unwrap();
        let witness = WitnessSigner::generate("example.org/witness", [2; 32]).unwrap();
        let mut signed = Checkpoint::new("example.org/log", 3, Hash::leaf(b"x")).unwrap().sign(&[&log]).unwrap();
        signed.add(witness.cosign(&signed, time_s).unwrap()).unwrap();
        (Note::parse(signed.to_string().as_bytes()).unwrap(), witness)
    }

    #[test]
    fn a_cosignature_tells_its_time() {
        let (note, witness) = cosigned(1_679_315_147);
        let keys = [witness.verifier()];
        assert_eq!(note.signed_by(&keys), Ok(vec![(&keys[0], 1_679_315_147)]));
    }

    #[test]
    fn another_time_or_text_is_a_wrong_signature() {
        let (note, witness) = cosigned(1_679_315_147);
        let keys = [witness.verifier()];
        let wrong = NoteError::WrongSignature { name: "example.org/witness".to_owned(), id: witness.id() };
        let line = note.signatures()[1].to_string();
        // In base64 the time 1679315147 shows as `AAAABkGFDL`.
        let changed = note.to_string().replace(&line, &line.replace("AAAABkGFDL", "AAAABkGFDM"));
        assert_ne!(changed, note.to_string());
        assert_eq!(Note::parse(changed.as_bytes()).unwrap().signed_by(&keys), Err(wrong.clone()));
        let changed = note.to_string().replace("\n3\n", "\n4\n");
        assert_eq!(Note::parse(changed.as_bytes()).unwrap().signed_by(&keys), Err(wrong));
    }

    #[test]
    fn a_time_beyond_a_signed_integer_is_refused() {
        let (note, witness) = cosigned(TIME_S_MAX);
        assert!(note.signed_by(&[witness.verifier()]).is_ok());
        let signed = SignedCheckpoint::parse(note.to_string().as_bytes()).unwrap();
        assert_eq!(witness.cosign(&signed, TIME_S_MAX + 1), Err(TimeTooLarge(TIME_S_MAX + 1)));
    }

    #[test]
    fn the_message_is_the_one_of_the_specification() {
        let text = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
        let expected = "cosignature/v1\ntime 1679315147\nexample.com/behind-the-sofa\n20852163\n\
                        CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n";
        assert_eq!(message(text, 1_679_315_147), expected);
    }
}
