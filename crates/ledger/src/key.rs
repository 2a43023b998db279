//! Keys and their text forms: `name+id+base64` for verifying, `PRIVATE+KEY+name+id+base64` for signing.
//!
//! A log and a witness both use Ed25519, but they sign different messages. The type byte in the key says which, and
//! [`Kind`] carries it into the type system: a witness key cannot sign a checkpoint as its log, nor the other way.

use std::{fmt, marker::PhantomData};

use ed25519_dalek::{PUBLIC_KEY_LENGTH, SECRET_KEY_LENGTH};
use sha2::{Digest, Sha256};

use crate::text::{decode_base64, encode_base64, is_free_of_controls};

/// As long as the names that C2SP tlog-cosignature can carry in its ML-DSA messages.
pub const NAME_BYTES_MAX: usize = 255;

pub(crate) const PRIVATE: &str = "PRIVATE+KEY+";

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    #[error("`{0}` is not a key name; expected 1 to {NAME_BYTES_MAX} bytes without spaces, `+` and control characters")]
    Name(String),
    #[error("not a verifier key; expected `NAME+ID+BASE64`")]
    VerifierForm,
    #[error("not a signer key; expected `PRIVATE+KEY+NAME+ID+BASE64`")]
    SignerForm,
    #[error("the key of `{name}` has the type {found:#04x}, expected {expected:#04x} ({purpose})")]
    Type { name: String, found: u8, expected: u8, purpose: &'static str },
    #[error("the key of `{name}` has the id {found}, but its bytes have {expected}")]
    Id { name: String, found: KeyId, expected: KeyId },
    #[error("the key of `{0}` is not a usable Ed25519 public key")]
    Point(String),
}

/// The first four bytes of SHA-256 over name and key; names a key, proves nothing. Its text is eight hex digits.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(u32);

impl KeyId {
    pub(crate) fn from_bytes(bytes: [u8; 4]) -> KeyId {
        KeyId(u32::from_be_bytes(bytes))
    }

    pub(crate) fn to_bytes(self) -> [u8; 4] {
        self.0.to_be_bytes()
    }

    fn parse(text: &str) -> Option<KeyId> {
        let is_hex = text.len() == 8 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u32::from_str_radix(text, 16).ok().map(KeyId)).flatten()
    }

    fn of(name: &str, key_type: u8, key: &[u8; PUBLIC_KEY_LENGTH]) -> KeyId {
        let digest = Sha256::new_with_prefix(name).chain_update([b'\n', key_type]).chain_update(key).finalize();
        let [a, b, c, d, ..] = <[u8; 32]>::from(digest);
        KeyId::from_bytes([a, b, c, d])
    }
}

impl fmt::Display for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:08x}", self.0)
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "KeyId({self})")
    }
}

/// Whether a signature line may carry this name (C2SP signed-note § Format).
pub(crate) fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.contains(|char: char| char == '+' || char.is_whitespace()) && is_free_of_controls(name)
}

fn check_name(name: &str) -> Result<(), KeyError> {
    if is_name(name) && name.len() <= NAME_BYTES_MAX { Ok(()) } else { Err(KeyError::Name(name.to_owned())) }
}

/// What a key signs. Sealed: [`Log`] and [`Witness`] are all there are.
pub trait Kind: sealed::Kind {}

pub(crate) mod sealed {
    pub trait Kind {
        /// The signature type of C2SP signed-note.
        const TYPE: u8;
        const PURPOSE: &'static str;
        /// What a valid signature says beyond that the key signed the text.
        type Statement;

        /// The statement, if the signature of the note text is valid.
        fn open(key: &ed25519_dalek::VerifyingKey, text: &str, signature: &[u8]) -> Option<Self::Statement>;
    }
}

/// Signs note texts: the checkpoints of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Log {}

/// Cosigns checkpoints of logs with the time it saw them; see `cosignature`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Witness {}

impl Kind for Log {}
impl Kind for Witness {}

impl sealed::Kind for Log {
    const TYPE: u8 = 0x01;
    const PURPOSE: &'static str = "a log's key";
    type Statement = ();

    fn open(key: &ed25519_dalek::VerifyingKey, text: &str, signature: &[u8]) -> Option<()> {
        key.verify_strict(text.as_bytes(), &ed25519_dalek::Signature::from_slice(signature).ok()?).ok()
    }
}

pub type LogVerifier = Verifier<Log>;
pub type LogSigner = Signer<Log>;
pub type WitnessVerifier = Verifier<Witness>;
pub type WitnessSigner = Signer<Witness>;

/// A public key with its name. Its text is the C2SP vkey.
pub struct Verifier<K> {
    name: String,
    id: KeyId,
    pub(crate) key: ed25519_dalek::VerifyingKey,
    kind: PhantomData<K>,
}

impl<K: Kind> Verifier<K> {
    fn new(name: &str, key: ed25519_dalek::VerifyingKey) -> Verifier<K> {
        let id = KeyId::of(name, K::TYPE, key.as_bytes());
        Verifier { name: name.to_owned(), id, key, kind: PhantomData }
    }

    /// Reads `NAME+ID+BASE64`. The id must be the one that the name and the key give, so a typing error is found here
    /// and not as a signature that never verifies.
    pub fn parse(text: &str) -> Result<Verifier<K>, KeyError> {
        let (name, id, key) = parse_parts::<K, PUBLIC_KEY_LENGTH>(text, KeyError::VerifierForm)?;
        // A key of small order verifies some signature of any text.
        let point = ed25519_dalek::VerifyingKey::from_bytes(&key).ok().filter(|key| !key.is_weak());
        let verifier = Verifier::new(name, point.ok_or_else(|| KeyError::Point(name.to_owned()))?);
        check_id(name, id, verifier.id)?;
        Ok(verifier)
    }

    pub fn name(&self) -> &str {
        &self.name
    }

    pub fn id(&self) -> KeyId {
        self.id
    }
}

impl<K: Kind> fmt::Display for Verifier<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}+{}+{}", self.name, self.id, encode_typed::<K>(self.key.as_bytes()))
    }
}

impl<K: Kind> fmt::Debug for Verifier<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Verifier({self})")
    }
}

impl<K> Clone for Verifier<K> {
    fn clone(&self) -> Verifier<K> {
        Verifier { name: self.name.clone(), id: self.id, key: self.key, kind: PhantomData }
    }
}

impl<K> PartialEq for Verifier<K> {
    fn eq(&self, other: &Verifier<K>) -> bool {
        self.name == other.name && self.key == other.key
    }
}

impl<K> Eq for Verifier<K> {}

/// A private key with its name. Never shown by `Debug`; wiped from memory when dropped.
pub struct Signer<K> {
    verifier: Verifier<K>,
    pub(crate) secret: ed25519_dalek::SigningKey,
}

impl<K: Kind> Signer<K> {
    /// `random` must come from a cryptographic generator: it is the secret.
    pub fn generate(name: &str, random: [u8; SECRET_KEY_LENGTH]) -> Result<Signer<K>, KeyError> {
        check_name(name)?;
        let secret = ed25519_dalek::SigningKey::from_bytes(&random);
        Ok(Signer { verifier: Verifier::new(name, secret.verifying_key()), secret })
    }

    /// Reads `PRIVATE+KEY+NAME+ID+BASE64`. No error repeats any of the key.
    pub fn parse(text: &str) -> Result<Signer<K>, KeyError> {
        let parts = text.strip_prefix(PRIVATE).ok_or(KeyError::SignerForm)?;
        let (name, id, seed) = parse_parts::<K, SECRET_KEY_LENGTH>(parts, KeyError::SignerForm)?;
        let signer = Signer::generate(name, seed)?;
        check_id(name, id, signer.id())?;
        Ok(signer)
    }

    /// The secret as text, for a file that only its owner may read. Not `Display`, so that no log line shows it.
    pub fn to_private_text(&self) -> String {
        format!("{PRIVATE}{}+{}+{}", self.name(), self.id(), encode_typed::<K>(self.secret.as_bytes()))
    }

    pub fn verifier(&self) -> Verifier<K> {
        self.verifier.clone()
    }

    pub fn name(&self) -> &str {
        &self.verifier.name
    }

    pub fn id(&self) -> KeyId {
        self.verifier.id
    }
}

impl<K: Kind> fmt::Debug for Signer<K> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Signer({})", self.verifier)
    }
}

fn encode_typed<K: Kind>(key: &[u8]) -> String {
    encode_base64(&[&[K::TYPE], key].concat())
}

fn check_id(name: &str, found: KeyId, expected: KeyId) -> Result<(), KeyError> {
    if found == expected { Ok(()) } else { Err(KeyError::Id { name: name.to_owned(), found, expected }) }
}

/// `NAME+ID+BASE64` where the bytes are the type and N more. Base64 may itself have a `+`, a name may not.
fn parse_parts<K: Kind, const N: usize>(text: &str, form: KeyError) -> Result<(&str, KeyId, [u8; N]), KeyError> {
    let mut parts = text.splitn(3, '+');
    let (Some(name), Some(id), Some(key)) = (parts.next(), parts.next(), parts.next()) else { return Err(form) };
    check_name(name)?;
    let (Some(id), Some(key)) = (KeyId::parse(id), decode_base64(key)) else { return Err(form) };
    let Some((key_type, key)) = key.split_first() else { return Err(form) };
    if *key_type != K::TYPE {
        let (found, expected, purpose) = (*key_type, K::TYPE, K::PURPOSE);
        return Err(KeyError::Type { name: name.to_owned(), found, expected, purpose });
    }
    Ok((name, id, key.try_into().map_err(|_| form)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SIGNER: &str = "PRIVATE+KEY+PeterNeumann+c74f20a3+AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
    const VERIFIER: &str = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";

    #[test]
    fn the_example_of_the_go_package_reads_and_prints_back() {
        let signer = LogSigner::parse(SIGNER).unwrap();
        assert_eq!(signer.to_private_text(), SIGNER);
        assert_eq!(signer.verifier().to_string(), VERIFIER);
        assert_eq!(LogVerifier::parse(VERIFIER).unwrap(), signer.verifier());
        assert_eq!(signer.name(), "PeterNeumann");
        assert_eq!(signer.id().to_string(), "c74f20a3");
    }

    #[test]
    fn the_key_of_a_public_witness_reads_and_prints_back() {
        const REMORA: &str = "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2";
        assert_eq!(WitnessVerifier::parse(REMORA).unwrap().to_string(), REMORA);
    }

    #[test]
    fn generated_keys_read_back() {
        let log = LogSigner::generate("example.org/log", [1; 32]).unwrap();
        let witness = WitnessSigner::generate("example.org/witness", [1; 32]).unwrap();
        assert_eq!(LogSigner::parse(&log.to_private_text()).unwrap().verifier(), log.verifier());
        assert_eq!(WitnessVerifier::parse(&witness.verifier().to_string()).unwrap(), witness.verifier());
    }

    #[test]
    fn a_key_of_the_other_kind_is_refused_and_has_another_id() {
        let log = LogSigner::generate("example.org/a", [1; 32]).unwrap();
        let witness = WitnessSigner::generate("example.org/a", [1; 32]).unwrap();
        assert_ne!(log.id(), witness.id());
        let error = WitnessVerifier::parse(&log.verifier().to_string()).unwrap_err();
        let expected = "the key of `example.org/a` has the type 0x01, expected 0x04 (a witness' key)";
        assert_eq!(error.to_string(), expected);
        assert!(LogSigner::parse(&witness.to_private_text()).is_err());
    }

    #[test]
    fn bad_verifier_keys_are_refused() {
        check("", "not a verifier key; expected `NAME+ID+BASE64`");
        check("PeterNeumann+c74f20a3", "not a verifier key; expected `NAME+ID+BASE64`");
        check(&VERIFIER.replace("c74f20a3", "c74f20a"), "not a verifier key; expected `NAME+ID+BASE64`");
        check(&VERIFIER.replace("c74f20a3", "+74f20a3"), "not a verifier key; expected `NAME+ID+BASE64`");
        check(&format!("{VERIFIER}A"), "not a verifier key; expected `NAME+ID+BASE64`");
        check(&format!("{VERIFIER}AAAA"), "not a verifier key; expected `NAME+ID+BASE64`");
        check(
            &VERIFIER.replace("c74f20a3", "c74f20a4"),
            "the key of `PeterNeumann` has the id c74f20a4, but its bytes have c74f20a3",
        );
        check(
            &VERIFIER.replace("PeterNeumann", "Peter Neumann"),
            "`Peter Neumann` is not a key name; expected 1 to 255 bytes without spaces, `+` and control characters",
        );
        // The neutral element: every text has a signature under it.
        let neutral = encode_base64(&[&[1, 1][..], &[0; 31]].concat());
        check(&format!("a+00000000+{neutral}"), "the key of `a` is not a usable Ed25519 public key");
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(LogVerifier::parse(text).unwrap_err().to_string(), expected, "{text}");
    }

    #[test]
    fn no_message_and_no_debug_text_shows_a_secret() {
        let secret = "AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
        for text in [SIGNER.replace("c74f20a3", "c74f20a4"), format!("{SIGNER}A"), SIGNER.replace("PRIVATE+", "")] {
            let error = LogSigner::parse(&text).unwrap_err();
            assert!(!format!("{error} {error:?}").contains(&secret[..12]), "{error:?}");
        }
        assert!(!format!("{:?}", LogSigner::parse(SIGNER).unwrap()).contains(&secret[..12]));
    }

    #[test]
    fn names_keep_to_the_rules_of_signed_notes() {
        for name in ["", "a b", "a\u{a0}b", "a+b", "a\nb", "a\0b", &"x".repeat(256)] {
            assert!(LogSigner::generate(name, [1; 32]).is_err(), "{name:?}");
        }
        for name in ["a", "example.org/log", "ข้อมูล", &"x".repeat(255)] {
            assert!(LogSigner::generate(name, [1; 32]).is_ok(), "{name:?}");
        }
    }
}
