//! Seals over the files of derived state: a file that lies beside the database counts as this house wrote it and not
//! otherwise, whoever can write to the folder.
//!
//! A seal is a MAC by a secret that the house has from its key file, over the content and over what it is of. It tells
//! nothing of whoever can read the key file: they can seal as the house does.

use std::sync::Arc;

use ring::hmac;
use store::{Conn, StoreError, events};

/// The length of a seal in bytes.
pub const SEAL_BYTES: usize = 32;

/// The secrets, the current one first. Cloning it is cheap.
#[derive(Clone)]
pub struct Sealing(Arc<[hmac::Key]>);

impl std::fmt::Debug for Sealing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Sealing")
    }
}

impl Sealing {
    /// What the first secret seals any of them holds for: a house has two while its keys overlap.
    pub fn new(secrets: &[[u8; 32]]) -> Sealing {
        Sealing(secrets.iter().map(|secret| hmac::Key::new(hmac::HMAC_SHA256, secret)).collect())
    }

    /// For one file: `what` is its kind.
    pub fn of(&self, what: &'static str, subject: &Subject) -> Seal {
        // Lengths in front: no two subjects give the same bytes.
        let parts = [what, &subject.organisation_id, &subject.database];
        let about = parts.iter().flat_map(|part| [part.len().to_string(), "\n".to_owned(), (*part).to_owned()]);
        Seal { sealing: self.clone(), about: about.collect() }
    }
}

/// Whose record a file is derived from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Subject {
    pub organisation_id: String,
    /// The call of the first event: no two databases have the same.
    pub database: String,
}

impl Subject {
    pub async fn find(conn: &mut Conn, organisation_id: &str) -> Result<Subject, StoreError> {
        let database = events::first_call_id(conn).await?.unwrap_or_default();
        Ok(Subject { organisation_id: organisation_id.to_owned(), database })
    }
}

/// Seals one file and tells whether it is sealed.
#[derive(Debug, Clone)]
pub struct Seal {
    sealing: Sealing,
    about: String,
}

impl Seal {
    /// The seal of a content. Without a secret it is empty, and holds for nothing.
    pub fn make(&self, content: &[u8]) -> Vec<u8> {
        self.sealing.0.first().map(|key| self.sign(key, content).as_ref().to_vec()).unwrap_or_default()
    }

    pub fn holds(&self, content: &[u8], seal: &[u8]) -> bool {
        // Compared as MACs of both, so that the time it takes tells nothing.
        let is_ours =
            |key: &hmac::Key| hmac::verify(key, self.sign(key, content).as_ref(), hmac::sign(key, seal).as_ref());
        self.sealing.0.iter().any(|key| is_ours(key).is_ok())
    }

    fn sign(&self, key: &hmac::Key, content: &[u8]) -> hmac::Tag {
        let mut signing = hmac::Context::with_key(key);
        signing.update(self.about.as_bytes());
        signing.update(content);
        signing.sign()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_holds_for_its_content_its_subject_and_its_house() {
        let here = Subject { organisation_id: "here".to_owned(), database: "1".to_owned() };
        let [ours, theirs] = [[1; 32], [2; 32]].map(|secret| Sealing::new(&[secret]));
        let seal = ours.of("graph", &here).make(b"content");
        assert_eq!(seal.len(), SEAL_BYTES);
        assert!(ours.of("graph", &here).holds(b"content", &seal));
        assert!(Sealing::new(&[[2; 32], [1; 32]]).of("graph", &here).holds(b"content", &seal), "keys overlap");
        let elsewhere = Subject { organisation_id: "elsewhere".to_owned(), ..here.clone() };
        let another = Subject { database: "2".to_owned(), ..here.clone() };
        let others = [
            ours.of("graph", &here).holds(b"contenu", &seal),
            ours.of("graph", &elsewhere).holds(b"content", &seal),
            ours.of("graph", &another).holds(b"content", &seal),
            ours.of("index", &here).holds(b"content", &seal),
            theirs.of("graph", &here).holds(b"content", &seal),
            ours.of("graph", &here).holds(b"content", &[]),
            Sealing::new(&[])
                .of("graph", &here)
                .holds(b"content", &Sealing::new(&[]).of("graph", &here).make(b"content")),
        ];
        assert_eq!(others, [false; 7]);
    }
}
