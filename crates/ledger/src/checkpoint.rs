//! Checkpoints (C2SP tlog-checkpoint): a log's origin, size and root, and the same as a signed note.

use std::fmt;

use crate::{
    hash::{Hash, HashError},
    key::{LogSigner, NAME_BYTES_MAX, WitnessVerifier, is_name},
    note::{Note, NoteError, NoteSignature, parse_signature_lines},
    text::{is_free_of_controls, parse_decimal},
    tree::TreeHead,
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CheckpointError {
    #[error("`{0}` is not an origin; expected a name like `example.org/log`")]
    Origin(String),
    #[error("a checkpoint has at least three lines, none of them empty")]
    Lines,
    #[error("the size of the checkpoint is not a decimal without leading zeroes")]
    Size,
    #[error("the root of the checkpoint is not a hash")]
    Root(#[source] HashError),
    #[error("an extension line is empty or has a control character")]
    Extension,
    #[error("the checkpoint is not a signed note")]
    Note(#[source] NoteError),
    #[error("the key `{name}` cannot sign for the log `{origin}`")]
    ForeignKey { name: String, origin: String },
    #[error("a cosignature does not fit the checkpoint")]
    Cosignature(#[source] NoteError),
}

/// Begins the extension line with the number of a checkpoint.
const NUMBER: &str = "checkpoint ";

/// What a log commits to. Its text is the text of the signed note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    origin: String,
    head: TreeHead,
    extensions: Vec<String>,
}

impl Checkpoint {
    /// The origin is also the name of the log's keys, so it keeps to their rules.
    pub fn new(origin: &str, size: u64, root: Hash) -> Result<Checkpoint, CheckpointError> {
        if !is_name(origin) || origin.len() > NAME_BYTES_MAX {
            return Err(CheckpointError::Origin(origin.to_owned()));
        }
        Ok(Checkpoint { origin: origin.to_owned(), head: TreeHead { size, root }, extensions: Vec::new() })
    }

    /// Adds opaque lines. C2SP advises against them: no monitor can check what they say.
    pub fn with_extensions(mut self, lines: Vec<String>) -> Result<Checkpoint, CheckpointError> {
        let is_line = |line: &String| !line.is_empty() && !line.contains('\n') && is_free_of_controls(line);
        if !lines.iter().all(is_line) {
            return Err(CheckpointError::Extension);
        }
        self.extensions = lines;
        Ok(self)
    }

    /// Says which of the checkpoints that the log keeps this is, counted from one: who has them all sees a missing one.
    pub fn with_number(mut self, number: u64) -> Checkpoint {
        self.extensions.push(format!("{NUMBER}{number}"));
        self
    }

    /// Reads the text of a note. The origin may be any line: only a log's own keys decide whether it is known.
    pub fn parse(text: &str) -> Result<Checkpoint, CheckpointError> {
        let lines = text.strip_suffix('\n').ok_or(CheckpointError::Lines)?;
        if lines.split('\n').any(str::is_empty) || !is_free_of_controls(lines) {
            return Err(CheckpointError::Lines);
        }
        let mut lines = lines.split('\n');
        let (Some(origin), Some(size), Some(root)) = (lines.next(), lines.next(), lines.next()) else {
            return Err(CheckpointError::Lines);
        };
        let size = parse_decimal(size).ok_or(CheckpointError::Size)?;
        let root = Hash::parse(root).map_err(CheckpointError::Root)?;
        let extensions = lines.map(str::to_owned).collect();
        Ok(Checkpoint { origin: origin.to_owned(), head: TreeHead { size, root }, extensions })
    }

    /// Signs with each of the keys: one, or two while a rotation overlaps.
    pub fn sign(self, signers: &[&LogSigner]) -> Result<SignedCheckpoint, CheckpointError> {
        if let Some(foreign) = signers.iter().find(|signer| signer.name() != self.origin) {
            return Err(CheckpointError::ForeignKey { name: foreign.name().to_owned(), origin: self.origin });
        }
        let note = Note::sign(&self.to_string(), signers).map_err(CheckpointError::Note)?;
        Ok(SignedCheckpoint { checkpoint: self, note })
    }

    pub fn origin(&self) -> &str {
        &self.origin
    }

    pub fn head(&self) -> TreeHead {
        self.head
    }

    pub fn size(&self) -> u64 {
        self.head.size
    }

    pub fn root(&self) -> Hash {
        self.head.root
    }

    pub fn extensions(&self) -> &[String] {
        &self.extensions
    }

    /// Absent where the checkpoint is none of a row, or was signed by a program that did not count.
    pub fn number(&self) -> Option<u64> {
        self.extensions.iter().find_map(|line| parse_decimal(line.strip_prefix(NUMBER)?))
    }
}

impl fmt::Display for Checkpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\n{}\n{}\n", self.origin, self.head.size, self.head.root)?;
        self.extensions.iter().try_for_each(|line| writeln!(formatter, "{line}"))
    }
}

/// A checkpoint with its signatures. Its text is the signed note.
///
/// Invariant: the note's text is the checkpoint's. Who may be believed is for `Policy` or `witness::decide` to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedCheckpoint {
    checkpoint: Checkpoint,
    note: Note,
}

impl SignedCheckpoint {
    pub fn parse(bytes: &[u8]) -> Result<SignedCheckpoint, CheckpointError> {
        let note = Note::parse(bytes).map_err(CheckpointError::Note)?;
        Ok(SignedCheckpoint { checkpoint: Checkpoint::parse(note.text())?, note })
    }

    /// What the note says, whoever says it.
    pub fn unverified(&self) -> &Checkpoint {
        &self.checkpoint
    }

    /// What the signatures cover.
    pub fn text(&self) -> &str {
        self.note.text()
    }

    pub fn note(&self) -> &Note {
        &self.note
    }

    /// Adds a signature, for instance a cosignature just made; one by the same key is replaced.
    pub fn add(&mut self, signature: NoteSignature) -> Result<(), CheckpointError> {
        self.note.add(signature).map_err(CheckpointError::Cosignature)
    }

    /// Takes over the cosignatures that a witness answered, as far as they are by these witnesses, and says how many.
    /// Lines by unknown keys are ignored; a wrong line by a known key refuses all.
    pub fn add_cosignatures(&mut self, answer: &[u8], keys: &[WitnessVerifier]) -> Result<usize, CheckpointError> {
        let answered = parse_signature_lines(answer).map_err(CheckpointError::Cosignature)?;
        let mut cosigned = self.note.clone();
        let mut n_added = 0;
        for signature in answered {
            if keys.iter().any(|key| (key.name(), key.id()) == (signature.name(), signature.id())) {
                cosigned.add(signature).map_err(CheckpointError::Cosignature)?;
                n_added += 1;
            }
        }
        cosigned.signed_by(keys).map_err(CheckpointError::Cosignature)?;
        self.note = cosigned;
        Ok(n_added)
    }
}

impl fmt::Display for SignedCheckpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.note.fmt(formatter)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{LogVerifier, WitnessSigner};

    /// The example of C2SP tlog-cosignature, which also shows a log's signature.
    const EXAMPLE: &str = "example.com/behind-the-sofa\n20852163\nCsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=\n\n\
        — example.com/behind-the-sofa Az3grlgtzPICa5OS8npVmf1Myq/5IZniMp+ZJurmRDeOoRDe4URYN7u5/Zhcyv2q1gGzGku9nTo+zyWE+xeMcTOAYQ8=\n\
        — witness.example.com/w1 jWbPPwAAAABkGFDLEZMHwSRaJNiIDoe9DYn/zXcrtPHeolMI5OWXEhZCB9dlrDJsX3b2oyin1nPZqhf5nNo0xUe+mbIUBkBIfZ+qnA==\n";

    fn log(seed: u8) -> LogSigner {
        LogSigner::generate("example.org/log", [seed; 32]).unwrap()
    }

    fn signed() -> SignedCheckpoint {
        Checkpoint::new("example.org/log", 3, Hash::leaf(b"x")).unwrap().sign(&[&log(1)]).unwrap()
    }

    #[test]
    fn the_example_of_the_specification_parses_and_prints_back() {
        let signed = SignedCheckpoint::parse(EXAMPLE.as_bytes()).unwrap();
        assert_eq!(signed.to_string(), EXAMPLE);
        assert_eq!(signed.unverified().origin(), "example.com/behind-the-sofa");
        assert_eq!(signed.unverified().size(), 20_852_163);
        let names: Vec<&str> = signed.note().signatures().iter().map(NoteSignature::name).collect();
        assert_eq!(names, ["example.com/behind-the-sofa", "witness.example.com/w1"]);
    }

    #[test]
    fn the_test_vector_of_sigsum_is_signed_alike() {
        // C2SP/C2SP issue 99, the corrected one: the secret is 0x11 and 31 zero bytes.
        const ORIGIN: &str = "sigsum.org/v1/tree/e796172b92befd62d9dc67e41c2f5bc9d3100a3023b20b1ca40288dd1c679e69";
        let secret = [&[0x11][..], &[0; 31]].concat().try_into().unwrap();
        let root = Hash::parse("HA5HAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").unwrap();
        let signer = LogSigner::generate(ORIGIN, secret).unwrap();
        let signed = Checkpoint::new(ORIGIN, 10, root).unwrap().sign(&[&signer]).unwrap();
        let signature = "gJ2ho0n8F8olcerUF1FFdv235A/5as/coWrpLrtE7ovMeP5whgwouYExowG/lTznxu6OUGjjt5yJQ6bXtTcf718MqAQ=";
        assert_eq!(signed.to_string(), format!("{ORIGIN}\n10\n{root}\n\n— {ORIGIN} {signature}\n"));
    }

    #[test]
    fn checkpoints_of_another_form_are_refused() {
        const ROOT: &str = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I=";
        for text in [
            String::new(),
            "\n".to_owned(),
            "a\n1\n".to_owned(),
            format!("a\n1\n{ROOT}"),
            format!("\n1\n{ROOT}\n"),
            format!("a\n01\n{ROOT}\n"),
            format!("a\n-1\n{ROOT}\n"),
            format!("a\n18446744073709551616\n{ROOT}\n"),
            "a\n1\nAAAA\n".to_owned(),
            format!("a\n1\n{ROOT}\n\n"),
            format!("a\n1\n{ROOT}\nx\n\ny\n"),
            format!("a\n1\n{ROOT}\nx\ty\n"),
            format!("a\r\n1\r\n{ROOT}\r\n"),
        ] {
            assert!(Checkpoint::parse(&text).is_err(), "{text:?}");
        }
        for text in [format!("a b\n0\n{ROOT}\n"), format!("a\n1\n{ROOT}\nx\ny\n")] {
            assert_eq!(Checkpoint::parse(&text).unwrap().to_string(), text);
        }
    }

    #[test]
    fn an_origin_that_cannot_name_a_key_is_refused() {
        for origin in ["", "a b", "a+b", "a\nb"] {
            assert!(Checkpoint::new(origin, 0, Hash::EMPTY_TREE).is_err(), "{origin:?}");
        }
        let other = Checkpoint::new("example.org/other", 0, Hash::EMPTY_TREE).unwrap();
        let error = other.sign(&[&log(1)]).unwrap_err();
        assert_eq!(error.to_string(), "the key `example.org/log` cannot sign for the log `example.org/other`");
    }

    #[test]
    fn extension_lines_are_signed_too() {
        let extended = Checkpoint::new("example.org/log", 3, Hash::leaf(b"x")).unwrap();
        let extended = extended.with_extensions(vec!["note 1".to_owned()]).unwrap().sign(&[&log(1)]).unwrap();
        assert_eq!(SignedCheckpoint::parse(extended.to_string().as_bytes()), Ok(extended.clone()));
        let changed = SignedCheckpoint::parse(extended.to_string().replace("note 1", "note 2").as_bytes()).unwrap();
        assert!(changed.note().signed_by(&[log(1).verifier()]).is_err());
        for line in ["", "a\nb", "a\tb"] {
            let plain = Checkpoint::new("example.org/log", 3, Hash::leaf(b"x")).unwrap();
            assert_eq!(plain.with_extensions(vec![line.to_owned()]), Err(CheckpointError::Extension), "{line:?}");
        }
    }

    #[test]
    fn the_number_of_a_checkpoint_is_signed_and_has_one_spelling() {
        let numbered = Checkpoint::new("example.org/log", 3, Hash::leaf(b"x")).unwrap().with_number(18);
        let numbered = numbered.sign(&[&log(1)]).unwrap();
        assert!(numbered.text().ends_with("\ncheckpoint 18\n"), "{}", numbered.text());
        assert_eq!(numbered.unverified().number(), Some(18));
        let changed = SignedCheckpoint::parse(numbered.to_string().replace(" 18\n", " 19\n").as_bytes()).unwrap();
        assert!(changed.note().signed_by(&[log(1).verifier()]).is_err());
        for line in ["checkpoint", "checkpoint 018", "checkpoint -1", "checkpoint 1 2", "Checkpoint 1"] {
            let plain = Checkpoint::new("example.org/log", 3, Hash::leaf(b"x")).unwrap();
            assert_eq!(plain.with_extensions(vec![line.to_owned()]).unwrap().number(), None, "{line:?}");
        }
    }

    #[test]
    fn cosignatures_of_known_witnesses_are_taken_over_and_others_left() {
        let (known, unknown) = ("example.org/known", "example.org/unknown");
        let (known, unknown) =
            (WitnessSigner::generate(known, [2; 32]).unwrap(), WitnessSigner::generate(unknown, [3; 32]).unwrap());
        let mut signed = signed();
        let answer = format!("{}\n{}\n", known.cosign(&signed, 7).unwrap(), unknown.cosign(&signed, 7).unwrap());
        assert_eq!(signed.add_cosignatures(answer.as_bytes(), &[known.verifier()]), Ok(1));
        assert_eq!(signed.note().signatures().len(), 2);
        // A later cosignature by the same witness replaces the earlier one.
        let answer = format!("{}\n", known.cosign(&signed, 9).unwrap());
        assert_eq!(signed.add_cosignatures(answer.as_bytes(), &[known.verifier()]), Ok(1));
        let keys = [known.verifier()];
        assert_eq!(signed.note().signed_by(&keys), Ok(vec![(&keys[0], 9)]));
        assert_eq!(signed.note().signatures().len(), 2);
    }

    #[test]
    fn a_wrong_cosignature_changes_nothing() {
        let witness = WitnessSigner::generate("example.org/witness", [2; 32]).unwrap();
        let other = Checkpoint::new("example.org/log", 4, Hash::leaf(b"y")).unwrap().sign(&[&log(1)]).unwrap();
        let mut changed = signed();
        let answer = format!("{}\n", witness.cosign(&other, 7).unwrap());
        assert!(changed.add_cosignatures(answer.as_bytes(), &[witness.verifier()]).is_err());
        assert!(changed.add_cosignatures(b"", &[witness.verifier()]).is_err());
        assert!(changed.add_cosignatures(b"Not Found\n", &[witness.verifier()]).is_err());
        assert_eq!(changed, signed());
    }

    #[test]
    fn in_an_overlap_either_key_verifies() {
        let (old, new) = (log(1), log(2));
        let both = Checkpoint::new("example.org/log", 3, Hash::leaf(b"x")).unwrap().sign(&[&old, &new]).unwrap();
        for keys in [[old.verifier()], [new.verifier()]] {
            let found: Vec<&LogVerifier> =
                both.note().signed_by(&keys).unwrap().into_iter().map(|(key, ())| key).collect();
            assert_eq!(found, [&keys[0]]);
        }
    }
}
