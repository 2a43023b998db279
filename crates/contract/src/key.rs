//! API keys: made, listed and revoked by an administrator.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Role;
use crate::id::{ActorId, KeyId};
use crate::scope::Scope;

/// Keys of one organisation that are not revoked, and keys in one answer.
pub const KEYS_MAX: i64 = 1_000;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CreateKey {
    /// Who calls with the key, as events will show it.
    pub actor_id: ActorId,
    #[schemars(length(min = 1, max = 9))]
    pub roles: Vec<Role>,
    /// Limits the key to these scopes; without any its roles alone decide.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 64))]
    pub scopes: Option<Vec<Scope>>,
    /// The key never expires when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 3650))]
    pub expires_in_days: Option<u32>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CreatedKey {
    pub key_id: KeyId,
    /// The key itself. Shown this once; only its hash is kept.
    pub key: KeyText,
    pub actor_id: ActorId,
    pub roles: Vec<Role>,
    pub scopes: Vec<Scope>,
    /// RFC 3339 in UTC.
    pub created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
}

/// `mk_{key_id}_{secret}`. Printing it for debugging shows nothing.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(inline)]
pub struct KeyText(String);

impl KeyText {
    pub fn new(key_id: &KeyId, secret: &str) -> KeyText {
        KeyText(format!("mk_{key_id}_{secret}"))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for KeyText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("<key>")
    }
}

/// The id in a text that has the form of a key.
pub fn key_id(text: &str) -> Option<KeyId> {
    let (id, secret) = text.strip_prefix("mk_")?.split_once('_')?;
    if secret.is_empty() { None } else { KeyId::parse(id).ok() }
}

/// As [`key_id`], where it is also one as this program makes them: 16 hexadecimal digits. What anybody else wrote there
/// may be a secret of theirs.
pub fn made_key_id(text: &str) -> Option<KeyId> {
    key_id(text).filter(|id| id.as_str().len() == 16 && id.as_str().bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListKeys {}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedKeys {
    /// Those in force first, the newest first.
    pub keys: Vec<ListedKey>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ListedKey {
    pub key_id: KeyId,
    pub actor_id: ActorId,
    pub roles: Vec<Role>,
    /// Empty for a key that its roles alone limit.
    pub scopes: Vec<Scope>,
    /// RFC 3339 in UTC, as the other times.
    pub created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_at: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RevokeKey {
    pub key_id: KeyId,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RevokedKey {
    pub key_id: KeyId,
    /// RFC 3339 in UTC; of the first time where it was revoked before.
    pub revoked_at: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_names_its_id_and_debugging_shows_nothing() {
        let id = KeyId::parse("0123abcd").unwrap();
        let key = KeyText::new(&id, "s3cret");
        assert_eq!(key.as_str(), "mk_0123abcd_s3cret");
        assert_eq!(key_id(key.as_str()), Some(id));
        assert_eq!(format!("{key:?}"), "<key>");
    }

    #[test]
    fn what_has_another_form_is_no_key() {
        for text in ["", "mk_", "mk_a", "mk_a_", "mk__x", "mk_../x_y", "xk_a_b", "eyJhbGciOiJub25lIn0.e30."] {
            assert_eq!(key_id(text), None, "{text}");
        }
    }
}
