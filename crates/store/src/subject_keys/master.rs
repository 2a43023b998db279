//! The master key: what the keys of all subjects are encrypted under. It never lies in the database.

use ring::digest;

use super::{KEY_BYTES, random};
use crate::error::StoreError;

const PREFIX: &str = "MASTER+KEY+";
const ID_DIGITS: usize = 8;

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum MasterKeyError {
    #[error("not a master key; expected `{PREFIX}ID+` and 64 hex digits")]
    Form,
    #[error("there is more than one; a database has one")]
    Several,
    #[error("the master key is not the one that its id names; a character may have been changed or lost")]
    Id,
}

/// Shared by the servers of one database; without it nothing that is encrypted in the database can be read.
pub struct MasterKey([u8; KEY_BYTES]);

impl MasterKey {
    pub fn generate() -> Result<MasterKey, StoreError> {
        random().map(MasterKey)
    }

    /// Is this line of a key file a master key?
    pub fn is_in(line: &str) -> bool {
        line.starts_with(PREFIX)
    }

    /// Reads `MASTER+KEY+ID+HEX`. No error repeats any of the key.
    pub fn parse(line: &str) -> Result<MasterKey, MasterKeyError> {
        let (id, secret) =
            line.strip_prefix(PREFIX).and_then(|rest| rest.split_once('+')).ok_or(MasterKeyError::Form)?;
        let secret = hex::decode(secret).map_err(|_| MasterKeyError::Form)?;
        let key = MasterKey(secret.try_into().map_err(|_| MasterKeyError::Form)?);
        if key.id() == id { Ok(key) } else { Err(MasterKeyError::Id) }
    }

    /// The secret as text, for a file that only its owner may read. Not `Display`, so that no log line shows it.
    pub fn to_private_text(&self) -> String {
        format!("{PREFIX}{}+{}", self.id(), hex::encode(self.0))
    }

    /// Tells keys apart and gives nothing of them away.
    pub fn id(&self) -> String {
        let mut hash = digest::Context::new(&digest::SHA256);
        hash.update(b"materia master key v1\n");
        hash.update(&self.0);
        hex::encode(hash.finish()).chars().take(ID_DIGITS).collect()
    }

    pub(super) fn bytes(&self) -> &[u8; KEY_BYTES] {
        &self.0
    }
}

impl std::fmt::Debug for MasterKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "MasterKey({})", self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_master_key_reads_back_and_a_changed_one_is_refused() {
        let key = MasterKey([7; KEY_BYTES]);
        let text = key.to_private_text();
        assert!(MasterKey::is_in(&text));
        assert_eq!(MasterKey::parse(&text).unwrap().0, key.0);
        assert_eq!(MasterKey::parse(&text.replace("0707", "0708")).unwrap_err(), MasterKeyError::Id);
        for wrong in ["", "MASTER+KEY+", &text[..text.len() - 2], &text.replace("07", "0x"), &text[1..]] {
            assert_eq!(MasterKey::parse(wrong).unwrap_err(), MasterKeyError::Form, "{wrong}");
        }
        assert!(!format!("{key:?}").contains("0707"));
        assert_ne!(MasterKey::generate().unwrap().0, MasterKey::generate().unwrap().0);
    }
}
