//! Looking up keys, and giving rows their seals that were written before there were any or under an earlier signing key.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use contract::error::OpError;
use contract::event::{Event, Outcome};
use contract::id::KeyId;
use contract::key::RevokeKey;
use ledger::hash::Hash;
use ledger::tree::Frontier;
use store::{Applied, Apply, Conn, Keep, StoreError, log};
use tokio::time::Instant;

use super::known::Vouched;
use super::{FoundKey, KeyRecord, StoredKey, audited, find, read_page, set_seal};
use crate::door::Platform;
use crate::doubts::Doubt;
use crate::drive::write_error;
use crate::notary::{NotaryError, continued};
use crate::operation::{Operation as _, store_error};

const PAGE: i64 = 1_000;
const LEAVES_PAGE: u32 = 1_000;
const WAIT_MAX: Duration = Duration::from_secs(30);

/// What the log tells of keys.
#[derive(Default)]
struct ToldKeys {
    /// The last hash of each, by organisation and id.
    last: HashMap<(String, String), String>,
    revoked: BTreeSet<String>,
}

impl Platform {
    /// The key of this id, for whoever must find out who is calling. It has no event: the call that follows has one, and
    /// so has a refusal. That other hands wrote the row has one too.
    pub async fn find_key(&self, key_id: &KeyId) -> Result<FoundKey, OpError> {
        let mut reader = self.store().read().await.map_err(store_error)?;
        let Some(stored) = find(&mut reader, key_id.as_str()).await.map_err(store_error)? else {
            return Ok(FoundKey::Nothing);
        };
        drop(reader);
        let why = match stored.sealed(self.seals()) {
            Some(record) if record.revoked_at_us.is_some() => {
                self.known_keys().note_revoked(key_id);
                return Ok(FoundKey::Key(Box::new(record.clone())));
            }
            Some(record) if !self.known_keys().is_revoked(key_id) => {
                return Ok(FoundKey::Key(Box::new(record.clone())));
            }
            Some(_) => "was revoked, but an older row was put in its place",
            None => "had a row without a seal of this house: other hands wrote it",
        };
        metrics::counter!("materia_changed_keys_total").increment(1);
        self.doubt(Doubt::wrong("KEY_CHANGED", format!("key `{key_id}` {why}")));
        Ok(FoundKey::Changed)
    }

    /// Remembers what other servers revoked.
    pub async fn learn_revoked(&self) -> Result<(), OpError> {
        let mut reader = self.store().read().await.map_err(store_error)?;
        for stored in read_all(&mut reader).await.map_err(store_error)? {
            self.note_if_revoked(&stored);
        }
        Ok(())
    }

    fn note_if_revoked(&self, stored: &StoredKey) {
        if let Some(record) = stored.sealed(self.seals()).filter(|record| record.revoked_at_us.is_some()) {
            self.known_keys().note_revoked(&record.key_id);
        }
    }

    /// Gives every key its seal, before anybody is let in. A row without one that holds gets it once for each signing key,
    /// and only if it is as the log tells: from then on it is a row of other hands.
    pub async fn seal_keys(&self) -> Result<(), OpError> {
        let signing_keys = self.keyring().verifiers();
        let Some(signing_key) = signing_keys.first().map(|key| key.id().to_string()) else { return Ok(()) };
        let mut reader = self.store().read().await.map_err(store_error)?;
        let stored = read_all(&mut reader).await.map_err(store_error)?;
        let (sealed, others): (Vec<_>, Vec<_>) =
            stored.into_iter().partition(|stored| stored.sealed(self.seals()).is_some());
        sealed.iter().for_each(|stored| self.note_if_revoked(stored));
        // The seals of a key file that overlaps, or did.
        let is_old = |stored: &StoredKey, record: &KeyRecord| {
            stored.seal.as_ref().is_none_or(|seal| *seal != self.seals().seal(record))
        };
        let mut due: Vec<KeyRecord> = sealed
            .into_iter()
            .filter_map(|stored| stored.record.clone().filter(|record| is_old(&stored, record)))
            .collect();
        let (is_first, vouched) = (!self.known_keys().is_sealed(&signing_key), self.known_keys().vouched());
        if !is_first && vouched == Vouched::Broken {
            let what = "`keys.known`, which remembers beside the database what was revoked, was changed by other hands";
            self.doubt(Doubt::wrong("KEY_CHANGED", what.to_owned()));
        }
        let is_asked = vouched != Vouched::Yes || (is_first && !others.is_empty());
        if is_asked && let Some(told) = self.told_keys(&mut reader).await? {
            self.known_keys().vouch(told.revoked.iter().map(String::as_str));
            let is_told = |record: &KeyRecord| {
                let place = (record.organisation_id.to_string(), record.key_id.to_string());
                told.last.get(&place).is_some_and(|told| audited(record).sha256.as_ref() == Some(told))
            };
            let unsealed = others.into_iter().filter(|_| is_first).filter_map(|stored| stored.record);
            due.extend(unsealed.filter(is_told));
        }
        drop(reader);
        if !due.is_empty() {
            let n_sealed = due.len();
            self.write_seals(due).await?;
            tracing::info!(n_sealed, "Sealed API keys");
        }
        self.known_keys().note_sealed(&signing_key);
        Ok(())
    }

    async fn write_seals(&self, due: Vec<KeyRecord>) -> Result<(), OpError> {
        let (due, seals) = (Arc::new(due), Arc::clone(self.seals()));
        let apply: Apply<()> = Box::new(move |tx| {
            let (due, seals) = (Arc::clone(&due), Arc::clone(&seals));
            Box::pin(async move {
                for record in due.iter() {
                    // Another server may have revoked it meanwhile.
                    let found = find(tx, record.key_id.as_str()).await?;
                    if found.and_then(|found| found.record).as_ref() == Some(record) {
                        set_seal(tx, record.key_id.as_str(), &seals.seal(record)).await?;
                    }
                }
                Ok(Applied { value: (), event: None, keep: Keep::Changes })
            })
        });
        self.store().write(None, Instant::now() + WAIT_MAX, apply).await.map_err(write_error)
    }

    /// What the log tells of keys, recomputed from its first event: a row vouches for nothing here, and an event that was
    /// changed, hidden or taken out makes another root than the one that was signed. Then nothing is told.
    async fn told_keys(&self, conn: &mut Conn) -> Result<Option<ToldKeys>, OpError> {
        let kept = self.watch().kept();
        let state = match continued(conn, self.keyring(), &kept).await.map_err(store_error)? {
            Ok(state) => state,
            Err(contradiction) => {
                return Err(OpError::internal(NotaryError::Contradicted(contradiction.reason)));
            }
        };
        let (mut tree, mut told) = (Frontier::new(), ToldKeys::default());
        while tree.size() < state.frontier.size() {
            let leaves = log::read_leaves(conn, tree.size(), LEAVES_PAGE).await.map_err(store_error)?;
            let bodies = leaves.iter().map_while(|leaf| leaf.event.as_ref().map(|event| event.body.as_str()));
            let n_before = tree.size();
            for body in bodies {
                tree.append(Hash::leaf(body.as_bytes()));
                told.note(body);
            }
            if tree.size() == n_before {
                break;
            }
        }
        if tree.head() != state.frontier.head() {
            tracing::error!(
                "The log is not whole, so that nothing of keys is taken from its word; `materia audit verify` tells more"
            );
            return Ok(None);
        }
        Ok(Some(told))
    }
}

impl ToldKeys {
    fn note(&mut self, body: &str) {
        // Most events are about something else, and need not be read.
        if !body.contains("\"type\":\"key\"") {
            return;
        }
        let Ok(event) = serde_json::from_str::<Event>(body) else { return };
        let is_revoked = event.operation == RevokeKey::NAME && event.outcome == Outcome::Ok;
        let organisation_id = event.organisation_id.to_string();
        for object in event.objects.into_iter().filter(|object| object.kind == "key") {
            if is_revoked {
                self.revoked.insert(object.id.clone());
            }
            if let Some(sha256) = object.sha256 {
                self.last.insert((organisation_id.clone(), object.id), sha256);
            }
        }
    }
}

async fn read_all(conn: &mut Conn) -> Result<Vec<StoredKey>, StoreError> {
    let (mut all, mut after) = (Vec::new(), String::new());
    loop {
        let page = read_page(conn, &after, PAGE).await?;
        let Some(last) = page.last() else { return Ok(all) };
        after.clone_from(&last.key_id);
        all.extend(page);
    }
}
