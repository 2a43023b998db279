//! Keys by subject: what is stored about a patient, a request, a conversation or a call is encrypted under a key of its
//! own, and nobody can read it any more once that key is destroyed.
//!
//! The keys lie in SQL, each encrypted under a master key. The master key lies in a file that is neither in the database nor
//! in a backup. Encryption is XChaCha20-Poly1305 with a random nonce in front; see docs/decisions/subject-keys.md.

mod master;

use std::sync::Arc;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use ring::hmac;
use ring::rand::{SecureRandom, SystemRandom};

pub use master::{MasterKey, MasterKeyError};

use crate::conn::{Conn, Tx};
use crate::error::StoreError;
use crate::param::Param;

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;
const TABLE: &str = "subject_keys";
/// What the two uses of one key are derived for.
const ENCRYPTION: &[u8] = b"materia subject key v1: encryption";
const HASHING: &[u8] = b"materia subject key v1: hashing";
/// Of the master key.
const PSEUDONYMS: &[u8] = b"materia master key v1: pseudonyms";

/// What a key is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SubjectKind {
    /// Hashes of calls about patients who are not known.
    Organisation,
    Patient,
    Request,
    Conversation,
    Call,
}

impl SubjectKind {
    pub fn name(self) -> &'static str {
        match self {
            SubjectKind::Organisation => "organisation",
            SubjectKind::Patient => "patient",
            SubjectKind::Request => "request",
            SubjectKind::Conversation => "conversation",
            SubjectKind::Call => "call",
        }
    }

    pub fn parse(name: &str) -> Option<SubjectKind> {
        use SubjectKind::{Call, Conversation, Organisation, Patient, Request};
        [Organisation, Patient, Request, Conversation, Call].into_iter().find(|kind| kind.name() == name)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Subject {
    pub organisation_id: String,
    pub kind: SubjectKind,
    pub id: String,
}

impl Subject {
    pub fn patient(organisation_id: &str, patient_id: &str) -> Subject {
        let (organisation_id, id) = (organisation_id.to_owned(), patient_id.to_owned());
        Subject { organisation_id, kind: SubjectKind::Patient, id }
    }

    pub fn organisation(organisation_id: &str) -> Subject {
        let id = organisation_id.to_owned();
        Subject { organisation_id: id.clone(), kind: SubjectKind::Organisation, id }
    }
}

/// The key of one subject.
pub struct SubjectKey {
    cipher: XChaCha20Poly1305,
    hashing: hmac::Key,
}

impl SubjectKey {
    fn new(secret: &[u8; KEY_BYTES]) -> SubjectKey {
        SubjectKey {
            cipher: cipher(&derive(secret, ENCRYPTION)),
            hashing: hmac::Key::new(hmac::HMAC_SHA256, &derive(secret, HASHING)),
        }
    }

    /// A key that nobody has, for hashes that must not be plain where no key can be had.
    pub fn throwaway() -> Result<SubjectKey, StoreError> {
        random().map(|secret| SubjectKey::new(&secret))
    }

    /// Encrypts. `context` says what the text is, such as `patients.name` and the id of its row: it opens as nothing else.
    pub fn seal(&self, context: &str, plain: &[u8]) -> Result<Vec<u8>, StoreError> {
        encrypt(&self.cipher, context.as_bytes(), plain)
    }

    /// `None` for what was sealed under another key or for another context, or was changed since.
    pub fn open(&self, context: &str, sealed: &[u8]) -> Option<Vec<u8>> {
        decrypt(&self.cipher, context.as_bytes(), sealed)
    }

    /// A keyed hash (HMAC-SHA256) in hex digits: without the key nobody can try what it may be the hash of.
    pub fn hash(&self, text: &str) -> String {
        hex::encode(hmac::sign(&self.hashing, text.as_bytes()))
    }
}

/// The subject's key, as it was found.
pub enum Found {
    Key(Box<SubjectKey>),
    Destroyed,
    Nothing,
}

/// The keys of a database, for who has its master key. Clones are cheap.
#[derive(Clone)]
pub struct SubjectKeys {
    master: Arc<XChaCha20Poly1305>,
    pseudonyms: hmac::Key,
}

impl SubjectKeys {
    pub fn new(master: &MasterKey) -> SubjectKeys {
        SubjectKeys {
            master: Arc::new(cipher(master.bytes())),
            pseudonyms: hmac::Key::new(hmac::HMAC_SHA256, &derive(master.bytes(), PSEUDONYMS)),
        }
    }

    /// The same for the same text, and nobody without the master key can tell of which. In hex digits.
    pub fn pseudonym(&self, text: &str) -> String {
        hex::encode(hmac::sign(&self.pseudonyms, text.as_bytes()))
    }

    pub async fn find(&self, conn: &mut Conn, subject: &Subject) -> Result<Found, StoreError> {
        let sql = "SELECT wrapped FROM subject_keys WHERE organisation_id = $1 AND kind = $2 AND subject_id = $3";
        let Some(row) = conn.fetch_optional(sql, &place(subject)).await? else { return Ok(Found::Nothing) };
        let Some(wrapped) = row.opt_bytes(0)? else { return Ok(Found::Destroyed) };
        let secret = decrypt(&self.master, binding(subject).as_bytes(), &wrapped);
        let secret = secret.and_then(|secret| <[u8; KEY_BYTES]>::try_from(secret).ok());
        match secret {
            Some(secret) => Ok(Found::Key(Box::new(SubjectKey::new(&secret)))),
            None => Err(StoreError::damaged(TABLE, "a key does not open with this master key")),
        }
    }

    /// The subject's key, made if it has none yet. `None` if it was destroyed: no other one is made.
    pub async fn find_or_make(
        &self,
        tx: &mut Tx<'_>,
        subject: &Subject,
        now_us: i64,
    ) -> Result<Option<SubjectKey>, StoreError> {
        match self.find(tx, subject).await? {
            Found::Key(key) => return Ok(Some(*key)),
            Found::Destroyed => return Ok(None),
            Found::Nothing => {}
        }
        let wrapped = encrypt(&self.master, binding(subject).as_bytes(), &random::<KEY_BYTES>()?)?;
        let [organisation_id, kind, id] = place(subject);
        let sql = "INSERT INTO subject_keys (organisation_id, kind, subject_id, wrapped, created_at_us)
            VALUES ($1, $2, $3, $4, $5) ON CONFLICT (organisation_id, kind, subject_id) DO NOTHING";
        tx.execute(sql, &[organisation_id, kind, id, Param::Bytes(&wrapped), now_us.into()]).await?;
        // Somebody else may have been first.
        match self.find(tx, subject).await? {
            Found::Key(key) => Ok(Some(*key)),
            Found::Destroyed | Found::Nothing => Ok(None),
        }
    }
}

/// Destroys the key of a subject, and sees to it that none is made again. Whether there was one.
pub async fn destroy(tx: &mut Tx<'_>, subject: &Subject, now_us: i64) -> Result<bool, StoreError> {
    let [organisation_id, kind, id] = place(subject);
    let sql = "UPDATE subject_keys SET wrapped = NULL, destroyed_at_us = $4
        WHERE organisation_id = $1 AND kind = $2 AND subject_id = $3 AND wrapped IS NOT NULL";
    let n_destroyed = tx.execute(sql, &[organisation_id, kind, id, now_us.into()]).await?;
    if n_destroyed == 0 {
        let sql =
            "INSERT INTO subject_keys (organisation_id, kind, subject_id, wrapped, created_at_us, destroyed_at_us)
            VALUES ($1, $2, $3, NULL, $4, $4) ON CONFLICT (organisation_id, kind, subject_id) DO NOTHING";
        tx.execute(sql, &[organisation_id, kind, id, now_us.into()]).await?;
    }
    Ok(n_destroyed > 0)
}

/// The subjects whose keys were destroyed.
pub async fn read_destroyed(conn: &mut Conn) -> Result<Vec<Subject>, StoreError> {
    let sql = "SELECT organisation_id, kind, subject_id FROM subject_keys WHERE wrapped IS NULL
        ORDER BY organisation_id, kind, subject_id";
    let rows = conn.fetch_all(sql, &[]).await?;
    let subject = |row: &crate::row::Row| {
        let kind = SubjectKind::parse(&row.text(1)?);
        let kind = kind.ok_or_else(|| StoreError::damaged(TABLE, "a subject is of no known kind"))?;
        Ok(Subject { organisation_id: row.text(0)?, kind, id: row.text(2)? })
    };
    rows.iter().map(subject).collect()
}

/// Whether any key is in the database, which then only its master key opens.
pub async fn is_any(conn: &mut Conn) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM subject_keys WHERE wrapped IS NOT NULL LIMIT 1";
    Ok(conn.fetch_optional(sql, &[]).await?.is_some())
}

fn place(subject: &Subject) -> [Param<'_>; 3] {
    [Param::Text(&subject.organisation_id), Param::Text(subject.kind.name()), Param::Text(&subject.id)]
}

/// What a wrapped key is bound to: it opens for no other subject.
fn binding(subject: &Subject) -> String {
    // JSON of a tuple, not plain joining: `("ab", "c")` and `("a", "bc")` must not bind alike.
    serde_json::json!([subject.organisation_id, subject.kind.name(), subject.id]).to_string()
}

fn cipher(secret: &[u8; KEY_BYTES]) -> XChaCha20Poly1305 {
    XChaCha20Poly1305::new(secret.into())
}

fn derive(secret: &[u8; KEY_BYTES], purpose: &[u8]) -> [u8; KEY_BYTES] {
    let tag = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), purpose);
    let mut derived = [0; KEY_BYTES];
    derived.iter_mut().zip(tag.as_ref()).for_each(|(to, from)| *to = *from);
    derived
}

fn random<const N: usize>() -> Result<[u8; N], StoreError> {
    let mut bytes = [0; N];
    let filled = SystemRandom::new().fill(&mut bytes);
    filled.map(|()| bytes).map_err(|_| StoreError::other("there is no randomness to make a key of"))
}

fn encrypt(cipher: &XChaCha20Poly1305, context: &[u8], plain: &[u8]) -> Result<Vec<u8>, StoreError> {
    let nonce: [u8; NONCE_BYTES] = random()?;
    let sealed = cipher.encrypt(&XNonce::from(nonce), Payload { msg: plain, aad: context });
    let sealed = sealed.map_err(|_| StoreError::other("a text is too long to be encrypted"))?;
    Ok([nonce.as_slice(), &sealed].concat())
}

fn decrypt(cipher: &XChaCha20Poly1305, context: &[u8], sealed: &[u8]) -> Option<Vec<u8>> {
    let (nonce, sealed) = sealed.split_first_chunk::<NONCE_BYTES>()?;
    cipher.decrypt(&XNonce::from(*nonce), Payload { msg: sealed, aad: context }).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_opens_under_its_key_and_its_context_alone() {
        let (key, other) = (SubjectKey::new(&[1; KEY_BYTES]), SubjectKey::new(&[2; KEY_BYTES]));
        let sealed = key.seal("patients.name 7", "สมชาย".as_bytes()).unwrap();
        assert_eq!(key.open("patients.name 7", &sealed).unwrap(), "สมชาย".as_bytes());
        assert!(!sealed.windows(3).any(|part| "สมชาย".as_bytes().starts_with(part)));
        assert_ne!(sealed, key.seal("patients.name 7", "สมชาย".as_bytes()).unwrap());
        assert!(other.open("patients.name 7", &sealed).is_none() && key.open("patients.name 8", &sealed).is_none());
        for index in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[index] ^= 1;
            assert!(key.open("patients.name 7", &changed).is_none(), "byte {index}");
            assert!(key.open("patients.name 7", &sealed[..index]).is_none(), "cut at {index}");
        }
    }

    #[test]
    fn hashes_of_two_keys_have_nothing_in_common() {
        let (key, other) = (SubjectKey::new(&[1; KEY_BYTES]), SubjectKey::new(&[2; KEY_BYTES]));
        assert_eq!(key.hash("{}"), key.hash("{}"));
        assert_eq!(key.hash("{}").len(), 64);
        assert!(key.hash("{}") != other.hash("{}") && key.hash("{}") != key.hash("[]"));
    }
}
