//! Signed notes (C2SP signed-note): a text, an empty line, and one line per signature.
//!
//! A note has one spelling: what parses prints back byte for byte. A parsed note is not yet to be believed; only
//! [`Note::signed_by`] says who signed it.

use std::fmt;

use ed25519_dalek::Signer as _;

use crate::{
    key::{KeyId, Kind, Log, Signer, Verifier, is_name, sealed},
    text::{decode_base64, encode_base64, is_free_of_controls},
};

/// Sixteen signatures of the largest post-quantum kind fit twice.
pub const NOTE_BYTES_MAX: usize = 256 * 1024;

/// More than the sixteen that every verifier must accept.
pub const SIGNATURES_MAX: usize = 64;

const SIGNATURE_START: &str = "— ";
const KEY_ID_BYTES: usize = 4;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum NoteError {
    #[error("the note has {0} bytes, at most {NOTE_BYTES_MAX} are read")]
    TooLong(usize),
    #[error("the note is not UTF-8")]
    NotUtf8,
    #[error("the note has a control character other than the newline")]
    ControlCharacter,
    #[error("the note does not end with an empty line and signature lines")]
    NoSignatures,
    #[error("the text of the note does not end with a newline")]
    UnfinishedText,
    #[error("the note has more than {SIGNATURES_MAX} signatures")]
    TooManySignatures,
    #[error("signature line {0} of the note is not `— NAME BASE64`")]
    SignatureLine(usize),
    #[error("the signature by the known key `{name}` ({id}) is wrong")]
    WrongSignature { name: String, id: KeyId },
}

/// A line under a note. The bytes are what the key's kind makes of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NoteSignature {
    name: String,
    id: KeyId,
    bytes: Vec<u8>,
}

impl NoteSignature {
    pub(crate) fn new<K: Kind>(signer: &Signer<K>, bytes: Vec<u8>) -> NoteSignature {
        NoteSignature { name: signer.name().to_owned(), id: signer.id(), bytes }
    }

    fn parse(line: &str) -> Option<NoteSignature> {
        let (name, signature) = line.strip_prefix(SIGNATURE_START)?.split_once(' ')?;
        let bytes = decode_base64(signature)?;
        let (id, bytes) = bytes.split_first_chunk::<KEY_ID_BYTES>()?;
        let is_valid = is_name(name) && !bytes.is_empty();
        is_valid.then(|| NoteSignature { name: name.to_owned(), id: KeyId::from_bytes(*id), bytes: bytes.to_vec() })
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn id(&self) -> KeyId {
        self.id
    }

    fn is_by<K: Kind>(&self, key: &Verifier<K>) -> bool {
        self.name == key.name() && self.id == key.id()
    }
}

/// The line without its newline.
impl fmt::Display for NoteSignature {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = [&self.id.to_bytes()[..], &self.bytes].concat();
        write!(formatter, "{SIGNATURE_START}{} {}", self.name, encode_base64(&bytes))
    }
}

/// The signature lines alone, as a witness answers them.
pub fn signature_lines(signatures: &[NoteSignature]) -> String {
    signatures.iter().map(|signature| format!("{signature}\n")).collect()
}

/// The keys that signed, each with what its signature says: nothing more for a log, the time for a witness.
pub type SignedBy<'k, K> = Vec<(&'k Verifier<K>, <K as sealed::Kind>::Statement)>;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    text: String,
    signatures: Vec<NoteSignature>,
}

impl Note {
    /// Signs a text that ends with a newline, with each of the keys. Without a key there is no note.
    pub fn sign(text: &str, signers: &[&Signer<Log>]) -> Result<Note, NoteError> {
        check_text(text)?;
        let sign =
            |signer: &&Signer<Log>| NoteSignature::new(signer, signer.secret.sign(text.as_bytes()).to_bytes().to_vec());
        let note = Note { text: text.to_owned(), signatures: signers.iter().map(sign).collect() };
        note.check_limits()?;
        Ok(note)
    }

    pub fn parse(bytes: &[u8]) -> Result<Note, NoteError> {
        if bytes.len() > NOTE_BYTES_MAX {
            return Err(NoteError::TooLong(bytes.len()));
        }
        let note = str::from_utf8(bytes).map_err(|_| NoteError::NotUtf8)?;
        // The last empty line separates: the text may have empty lines of its own.
        let (text, lines) = note.rsplit_once("\n\n").ok_or(NoteError::NoSignatures)?;
        let lines = lines.strip_suffix('\n').ok_or(NoteError::NoSignatures)?;
        let text = format!("{text}\n");
        check_text(&text)?;
        let signatures = parse_signatures(lines)?;
        Ok(Note { text, signatures })
    }

    /// Includes the final newline.
    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn signatures(&self) -> &[NoteSignature] {
        &self.signatures
    }

    /// Which of the keys signed the note, each once. Signatures by other keys are ignored;
    /// a wrong one by a known key spoils the note.
    pub fn signed_by<'k, K: Kind>(&self, keys: &'k [Verifier<K>]) -> Result<SignedBy<'k, K>, NoteError> {
        let mut found: SignedBy<K> = Vec::new();
        for signature in &self.signatures {
            let Some(key) = keys.iter().find(|key| signature.is_by(key)) else { continue };
            let Some(statement) = K::open(&key.key, &self.text, &signature.bytes) else {
                return Err(NoteError::WrongSignature { name: key.name().to_owned(), id: key.id() });
            };
            if !found.iter().any(|(other, _)| *other == key) {
                found.push((key, statement));
            }
        }
        Ok(found)
    }

    /// Adds a signature; one by the same key is replaced.
    pub(crate) fn add(&mut self, signature: NoteSignature) -> Result<(), NoteError> {
        self.signatures.retain(|other| (&other.name, other.id) != (&signature.name, signature.id));
        self.signatures.push(signature);
        self.check_limits()
    }

    fn check_limits(&self) -> Result<(), NoteError> {
        match self.signatures.len() {
            0 => Err(NoteError::NoSignatures),
            1..=SIGNATURES_MAX => Ok(()),
            _ => Err(NoteError::TooManySignatures),
        }
    }
}

impl fmt::Display for Note {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}\n{}", self.text, signature_lines(&self.signatures))
    }
}

/// The lines that a witness answers, each ended by a newline.
pub(crate) fn parse_signature_lines(bytes: &[u8]) -> Result<Vec<NoteSignature>, NoteError> {
    if bytes.len() > NOTE_BYTES_MAX {
        return Err(NoteError::TooLong(bytes.len()));
    }
    let lines = str::from_utf8(bytes).map_err(|_| NoteError::NotUtf8)?;
    parse_signatures(lines.strip_suffix('\n').ok_or(NoteError::NoSignatures)?)
}

fn parse_signatures(lines: &str) -> Result<Vec<NoteSignature>, NoteError> {
    if lines.split('\n').count() > SIGNATURES_MAX {
        return Err(NoteError::TooManySignatures);
    }
    let parse = |(index, line)| NoteSignature::parse(line).ok_or(NoteError::SignatureLine(index + 1));
    lines.split('\n').enumerate().map(parse).collect()
}

fn check_text(text: &str) -> Result<(), NoteError> {
    if !is_free_of_controls(text) {
        return Err(NoteError::ControlCharacter);
    }
    if text.ends_with('\n') { Ok(()) } else { Err(NoteError::UnfinishedText) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::{LogSigner, LogVerifier};
    use proptest::prelude::*;

    const TEXT: &str = "If you think cryptography is the answer to your problem,\n\
                        then you don't know what your problem is.\n";
    const SIGNED: &str = "If you think cryptography is the answer to your problem,\n\
                          then you don't know what your problem is.\n\
                          \n\
                          — PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";

    fn peter() -> LogSigner {
        LogSigner::parse("PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz").unwrap()
    }

    fn enoch() -> LogSigner {
        LogSigner::generate("EnochRoot", [0; 32]).unwrap()
    }

    fn signers(note: &Note, keys: &[LogVerifier]) -> Result<Vec<String>, NoteError> {
        Ok(note.signed_by(keys)?.iter().map(|(key, ())| key.name().to_owned()).collect())
    }

    #[test]
    fn the_example_of_the_go_package_signs_and_verifies() {
        assert_eq!(Note::sign(TEXT, &[&peter()]).unwrap().to_string(), SIGNED);
        let note = Note::parse(SIGNED.as_bytes()).unwrap();
        assert_eq!(note.text(), TEXT);
        assert_eq!(signers(&note, &[peter().verifier()]), Ok(vec!["PeterNeumann".to_owned()]));
    }

    #[test]
    fn signatures_by_unknown_keys_are_ignored() {
        let note = Note::sign(TEXT, &[&peter(), &enoch()]).unwrap();
        assert_eq!(signers(&note, &[enoch().verifier()]), Ok(vec!["EnochRoot".to_owned()]));
        assert_eq!(signers(&note, &[]), Ok(vec![]));
        // The same name with another key is another key.
        let other = LogSigner::generate("EnochRoot", [1; 32]).unwrap();
        assert_eq!(signers(&note, &[other.verifier()]), Ok(vec![]));
    }

    #[test]
    fn a_wrong_signature_by_a_known_key_spoils_the_note() {
        let note = Note::sign(TEXT, &[&peter(), &enoch()]).unwrap();
        let changed = Note::parse(note.to_string().replace("think", "thank").as_bytes()).unwrap();
        let wrong = signers(&changed, &[peter().verifier()]).unwrap_err();
        assert_eq!(wrong.to_string(), "the signature by the known key `PeterNeumann` (c74f20a3) is wrong");
    }

    #[test]
    fn a_key_that_signed_twice_counts_once() {
        let twice = SIGNED.replacen("— ", &format!("{}\n— ", Note::sign(TEXT, &[&peter()]).unwrap().signatures[0]), 1);
        let note = Note::parse(twice.as_bytes()).unwrap();
        assert_eq!(note.signatures().len(), 2);
        assert_eq!(signers(&note, &[peter().verifier()]), Ok(vec!["PeterNeumann".to_owned()]));
    }

    #[test]
    fn notes_of_another_form_are_refused() {
        let (text, line) = SIGNED.split_once("\n\n").unwrap();
        check(b"", &NoteError::NoSignatures);
        check(b"\xff\n\n", &NoteError::NotUtf8);
        check(format!("{text}\n").as_bytes(), &NoteError::NoSignatures);
        check(format!("{text}\n\n").as_bytes(), &NoteError::NoSignatures);
        check(SIGNED.trim_end().as_bytes(), &NoteError::NoSignatures);
        check(format!("{SIGNED}\n").as_bytes(), &NoteError::NoSignatures);
        check(SIGNED.replace("think", "th\tnk").as_bytes(), &NoteError::ControlCharacter);
        check(SIGNED.replace('\n', "\r\n").as_bytes(), &NoteError::NoSignatures);
        check(SIGNED.replace("— ", "- ").as_bytes(), &NoteError::SignatureLine(1));
        check(SIGNED.replace("— Peter", "— Peter+").as_bytes(), &NoteError::SignatureLine(1));
        check(SIGNED.replace("Neumann x", "Neumann  x").as_bytes(), &NoteError::SignatureLine(1));
        check(SIGNED.replace("AM=\n", "AM\n").as_bytes(), &NoteError::SignatureLine(1));
        check(format!("{SIGNED}— Short AAAAAA==\n").as_bytes(), &NoteError::SignatureLine(2));
        check(format!("{SIGNED}{}", line.repeat(64)).as_bytes(), &NoteError::TooManySignatures);
        check(&vec![b'\n'; NOTE_BYTES_MAX + 1], &NoteError::TooLong(NOTE_BYTES_MAX + 1));
    }

    fn check(bytes: &[u8], expected: &NoteError) {
        assert_eq!(&Note::parse(bytes).unwrap_err(), expected, "{}", String::from_utf8_lossy(bytes));
    }

    #[test]
    fn sixteen_signatures_of_the_largest_kind_are_accepted() {
        let line = format!("— pq.example {}\n", encode_base64(&[7; 5_000]));
        let note = format!("{SIGNED}{}", line.repeat(15));
        assert_eq!(Note::parse(note.as_bytes()).unwrap().to_string(), note);
    }

    #[test]
    fn the_text_may_have_empty_lines_but_must_end() {
        let note = Note::sign("a\n\nb\n", &[&peter()]).unwrap();
        assert_eq!(Note::parse(note.to_string().as_bytes()), Ok(note));
        assert_eq!(Note::sign("a", &[&peter()]), Err(NoteError::UnfinishedText));
        assert_eq!(Note::sign("a\n", &[]), Err(NoteError::NoSignatures));
    }

    proptest! {
        #[test]
        fn what_parses_prints_back(text in "([^\\x00-\\x1f]{0,12}\n){1,4}", seed in any::<[u8; 32]>()) {
            let signer = LogSigner::generate("example.org/log", seed).unwrap();
            let note = Note::sign(&text, &[&signer, &peter()]).unwrap();
            prop_assert_eq!(Note::parse(note.to_string().as_bytes()), Ok(note));
        }

        #[test]
        fn no_bytes_make_the_parser_panic_and_what_parses_prints_back(
            bytes in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(SIGNED.as_bytes())], 0..300)
        ) {
            if let Ok(note) = Note::parse(&bytes) {
                prop_assert_eq!(note.to_string().into_bytes(), bytes);
            }
        }

        #[test]
        fn any_changed_byte_is_noticed(position in 0..SIGNED.len(), change in 1_u8..) {
            let mut bytes = SIGNED.as_bytes().to_vec();
            bytes[position] ^= change;
            let found = Note::parse(&bytes).map(|note| signers(&note, &[peter().verifier()]));
            prop_assert!(!matches!(found, Ok(Ok(names)) if !names.is_empty()));
        }
    }
}
