//! The table of API keys. Only the hash of a key is kept, and a revoked key stays as a record of itself.
//!
//! A row counts as the house wrote it: [`seals`] tells, and [`known`] which rows were older ones.

pub mod known;
mod sealing;
pub(crate) mod seals;

use contract::actor::{Actor, ActorKind, Credential, Role};
use contract::canonical::{self, digest};
use contract::id::{ActorId, KeyId, OrganisationId};
use contract::key::{KEYS_MAX, KeyText};
use contract::scope::Scope;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use store::{Conn, Migration, Param, Row, StoreError, Tx};
use uuid::Uuid;
use workflow::audited::{AuditedRow, Found, FoundRow, Origin};

use self::seals::Seals;

pub const MIGRATIONS: &[Migration] = &[
    Migration { version: 200, name: "api_keys", sql: include_str!("../migrations/0200_api_keys.sql") },
    Migration { version: 201, name: "api_key_seals", sql: include_str!("../migrations/0201_api_key_seals.sql") },
];

/// A key as the table has it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyRecord {
    pub key_id: KeyId,
    pub organisation_id: OrganisationId,
    /// Hex SHA-256 of the whole key.
    pub sha256: String,
    pub actor_id: ActorId,
    pub roles: Vec<Role>,
    /// Empty where the roles alone decide.
    pub scopes: Vec<Scope>,
    pub created_at_us: i64,
    pub expires_at_us: Option<i64>,
    pub revoked_at_us: Option<i64>,
    pub created_by: ActorId,
}

impl KeyRecord {
    /// Whoever shows the key.
    pub fn actor(&self) -> Actor {
        let kind = if self.roles.contains(&Role::Agent) { ActorKind::Agent } else { ActorKind::Service };
        Actor {
            organisation_id: self.organisation_id.clone(),
            id: self.actor_id.clone(),
            kind,
            roles: self.roles.clone(),
            scopes: Some(self.scopes.clone()).filter(|scopes| !scopes.is_empty()),
            patient_id: None,
            credential: Credential::Key { key_id: self.key_id.clone() },
        }
    }
}

/// What the table has under an id.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FoundKey {
    Nothing,
    Key(Box<KeyRecord>),
    /// Other hands wrote the row: nobody is let in by it.
    Changed,
}

impl FoundKey {
    /// The key, where the house wrote its row.
    pub fn record(self) -> Option<KeyRecord> {
        match self {
            FoundKey::Key(record) => Some(*record),
            FoundKey::Nothing | FoundKey::Changed => None,
        }
    }
}

/// A row of the table, whoever wrote it.
pub(crate) struct StoredKey {
    key_id: String,
    organisation_id: String,
    /// Absent where the row cannot be read as a key.
    pub record: Option<KeyRecord>,
    seal: Option<String>,
}

impl StoredKey {
    /// The key, if the house wrote the row as it is.
    pub fn sealed(&self, seals: &Seals) -> Option<&KeyRecord> {
        let (record, seal) = (self.record.as_ref()?, self.seal.as_deref()?);
        seals.hold(record, seal).then_some(record)
    }

    /// For whoever compares it with the record.
    pub fn found(&self) -> FoundRow {
        // A row that cannot be read any more was changed, and no hash fits it.
        let unreadable =
            || AuditedRow { kind: "key", id: self.key_id.clone(), sha256: Some(String::new()), found: Found::Nothing };
        let row = self.record.as_ref().map_or_else(unreadable, audited);
        FoundRow { organisation_id: self.organisation_id.clone(), row, origin: Origin::default() }
    }
}

/// The row as the record knows it: whoever gives a key other roles by hand, or takes back that it was revoked, shows.
pub(crate) fn audited(key: &KeyRecord) -> AuditedRow {
    AuditedRow {
        kind: "key",
        id: key.key_id.to_string(),
        sha256: canonical::hash(&content(key)).ok(),
        found: Found::Nothing,
    }
}

fn content(key: &KeyRecord) -> serde_json::Value {
    // Microseconds do not fit the exact integers of JSON for ever; text does.
    let time = |at_us: Option<i64>| at_us.map(|at_us| at_us.to_string());
    serde_json::json!({
        "key_id": key.key_id, "sha256": key.sha256, "actor_id": key.actor_id, "roles": key.roles, "scopes": key.scopes,
        "created_at_us": time(Some(key.created_at_us)), "expires_at_us": time(key.expires_at_us),
        "revoked_at_us": time(key.revoked_at_us), "created_by": key.created_by,
    })
}

/// Keys after this one, of every organisation.
pub(crate) async fn read_page(conn: &mut Conn, after: &str, n_max: i64) -> Result<Vec<StoredKey>, StoreError> {
    let sql = "SELECT key_id, organisation_id, sha256, actor_id, roles, scopes, created_at_us, expires_at_us,
        revoked_at_us, created_by, seal FROM api_keys WHERE key_id > $1 ORDER BY key_id LIMIT $2";
    conn.fetch_all(sql, &[after.into(), n_max.into()]).await?.iter().map(stored).collect()
}

/// A key nobody has seen: its public id and its text. `None` only if our own ids stopped being ids.
pub(crate) fn fresh() -> Option<(KeyId, KeyText)> {
    let key_id = KeyId::parse(random_hex().get(..16)?).ok()?;
    let key = KeyText::new(&key_id, &random_hex());
    Some((key_id, key))
}

/// 256 random bits. A UUIDv4 has 122, so the digest of three of them has enough.
fn random_hex() -> String {
    let random: Vec<u8> = std::iter::repeat_with(Uuid::new_v4).take(3).flat_map(Uuid::into_bytes).collect();
    hex::encode(digest(&random))
}

pub(crate) fn sha256(key: &KeyText) -> String {
    hex::encode(digest(key.as_str().as_bytes()))
}

pub(crate) async fn insert(tx: &mut Tx<'_>, key: &KeyRecord, seal: &str) -> Result<(), StoreError> {
    let (roles, scopes) = (list(&key.roles)?, list(&key.scopes)?);
    let sql = "INSERT INTO api_keys (key_id, organisation_id, sha256, actor_id, roles, scopes, created_at_us,
        expires_at_us, revoked_at_us, created_by, seal) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
    let params: [Param<'_>; 11] = [
        key.key_id.as_str().into(),
        key.organisation_id.as_str().into(),
        key.sha256.as_str().into(),
        key.actor_id.as_str().into(),
        roles.as_str().into(),
        scopes.as_str().into(),
        key.created_at_us.into(),
        key.expires_at_us.into(),
        key.revoked_at_us.into(),
        key.created_by.as_str().into(),
        seal.into(),
    ];
    tx.execute(sql, &params).await?;
    Ok(())
}

/// Keys of an organisation that were not revoked, expired ones among them.
pub(crate) async fn count(conn: &mut Conn, organisation_id: &OrganisationId) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) FROM api_keys WHERE organisation_id = $1 AND revoked_at_us IS NULL";
    let row = conn.fetch_optional(sql, &[organisation_id.as_str().into()]).await?;
    row.map_or(Ok(0), |row| row.int(0))
}

/// The row of this id, whoever wrote it.
pub(crate) async fn find(conn: &mut Conn, key_id: &str) -> Result<Option<StoredKey>, StoreError> {
    let sql = "SELECT key_id, organisation_id, sha256, actor_id, roles, scopes, created_at_us, expires_at_us,
        revoked_at_us, created_by, seal FROM api_keys WHERE key_id = $1";
    conn.fetch_optional(sql, &[key_id.into()]).await?.as_ref().map(stored).transpose()
}

/// Puts a seal beside the row as it is.
pub(crate) async fn set_seal(tx: &mut Tx<'_>, key_id: &str, seal: &str) -> Result<(), StoreError> {
    tx.execute("UPDATE api_keys SET seal = $2 WHERE key_id = $1", &[key_id.into(), seal.into()]).await?;
    Ok(())
}

/// Keys in force first, the newest first.
pub(crate) async fn of(conn: &mut Conn, organisation_id: &OrganisationId) -> Result<Vec<KeyRecord>, StoreError> {
    let sql = "SELECT key_id, organisation_id, sha256, actor_id, roles, scopes, created_at_us, expires_at_us,
        revoked_at_us, created_by FROM api_keys WHERE organisation_id = $1
        ORDER BY CASE WHEN revoked_at_us IS NULL THEN 0 ELSE 1 END, created_at_us DESC, key_id LIMIT $2";
    let rows = conn.fetch_all(sql, &[organisation_id.as_str().into(), KEYS_MAX.into()]).await?;
    rows.iter().map(record).collect()
}

/// Revokes a key of the organisation and answers since when it is; `None` if there is no such key.
pub(crate) async fn revoke(
    tx: &mut Tx<'_>,
    organisation_id: &OrganisationId,
    key_id: &KeyId,
    now_us: i64,
) -> Result<Option<i64>, StoreError> {
    let sql = "UPDATE api_keys SET revoked_at_us = COALESCE(revoked_at_us, $3)
        WHERE organisation_id = $1 AND key_id = $2 RETURNING revoked_at_us";
    let row = tx.fetch_optional(sql, &[organisation_id.as_str().into(), key_id.as_str().into(), now_us.into()]).await?;
    row.map(|row| row.int(0)).transpose()
}

fn stored(row: &Row) -> Result<StoredKey, StoreError> {
    let record = record(row).ok();
    Ok(StoredKey { key_id: row.text(0)?, organisation_id: row.text(1)?, record, seal: row.opt_text(10)? })
}

fn record(row: &Row) -> Result<KeyRecord, StoreError> {
    Ok(KeyRecord {
        key_id: id(&row.text(0)?, KeyId::parse)?,
        organisation_id: id(&row.text(1)?, OrganisationId::parse)?,
        sha256: row.text(2)?,
        actor_id: id(&row.text(3)?, ActorId::parse)?,
        roles: listed(&row.text(4)?)?,
        scopes: listed(&row.text(5)?)?,
        created_at_us: row.int(6)?,
        expires_at_us: row.opt_int(7)?,
        revoked_at_us: row.opt_int(8)?,
        created_by: id(&row.text(9)?, ActorId::parse)?,
    })
}

/// What was checked before it was written is checked again after it was read.
fn id<T, E>(text: &str, parse: impl Fn(&str) -> Result<T, E>) -> Result<T, StoreError> {
    parse(text).map_err(|_| StoreError::other("a key in the table has an id that is none"))
}

fn list<T: Serialize>(items: &[T]) -> Result<String, StoreError> {
    serde_json::to_string(items).map_err(|_| StoreError::other("a list of a key cannot be written"))
}

/// In the one form that [`list`] writes.
fn listed<T: DeserializeOwned + Serialize>(text: &str) -> Result<Vec<T>, StoreError> {
    let items: Option<Vec<T>> = serde_json::from_str(text).ok();
    let items = items.ok_or(StoreError::other("a key in the table has a role or scope that is none"))?;
    if list(&items)? == text { Ok(items) } else { Err(StoreError::other("a list of a key is in another form")) }
}
