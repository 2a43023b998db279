//! API keys of the table, looked up through whoever owns the data folder and remembered for a moment.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::actor::is_of_issuer;
use contract::canonical::digest;
use contract::id::KeyId;
use ops::keys::{FoundKey, KeyRecord};
use subtle::ConstantTimeEq;
use tokio::sync::Semaphore;

use super::{Caller, Refusal};
use crate::owner::House;

/// A revoked key is refused after at most this long.
const REMEMBERED_FOR: Duration = Duration::from_secs(2);
const REMEMBERED_MAX: usize = 4_096;
/// Look-ups at once. Made-up keys wait for each other here, and leave connections of the database to those who work; a key
/// that is good waits with them for a moment, and is never refused for their sake.
const LOOKUPS_MAX: usize = 4;

type Remembered = HashMap<KeyId, (Instant, Result<Arc<KeyRecord>, Refusal>)>;

pub struct StoredKeys {
    house: Arc<House>,
    issuer_names: Vec<String>,
    remembered: Mutex<Remembered>,
    lookups: Semaphore,
}

impl StoredKeys {
    pub fn new(house: Arc<House>, issuer_names: Vec<String>) -> StoredKeys {
        StoredKeys { house, issuer_names, remembered: Mutex::default(), lookups: Semaphore::new(LOOKUPS_MAX) }
    }

    /// Whoever shows `token`, which claims to be the key `key_id`.
    pub async fn identify(&self, key_id: &KeyId, token: &str) -> Result<Caller, Refusal> {
        let record = self.find(key_id).await?;
        let mut known = [0; 32];
        let is_hash = hex::decode_to_slice(&record.sha256, &mut known).is_ok();
        // Only who has the secret learns that the key was revoked.
        if !is_hash || !bool::from(known.ct_eq(&digest(token.as_bytes()))) {
            return Err(Refusal::UnknownToken);
        }
        self.check(&record)?;
        Ok(Caller { actor: record.actor(), expires_at_us: record.expires_at_us })
    }

    /// For a session that was opened with the key: is the key still in force?
    pub async fn check_in_force(&self, key_id: &KeyId) -> Result<(), Refusal> {
        let record = self.find(key_id).await?;
        self.check(&record)
    }

    fn check(&self, record: &KeyRecord) -> Result<(), Refusal> {
        if record.revoked_at_us.is_some() {
            return Err(Refusal::KeyRevoked);
        }
        // Made before the issuer was set, or by a server that does not know it.
        if self.issuer_names.iter().any(|issuer| is_of_issuer(&record.actor_id, issuer)) {
            return Err(Refusal::KeyOfPerson);
        }
        match record.expires_at_us {
            Some(expires_at_us) if expires_at_us <= self.house.now_us() => Err(Refusal::KeyExpired),
            Some(_) | None => Ok(()),
        }
    }

    async fn find(&self, key_id: &KeyId) -> Result<Arc<KeyRecord>, Refusal> {
        let remembered = || self.remember(|keys| keys.get(key_id).filter(|(since, _)| is_fresh(*since)).cloned());
        if let Some((_, found)) = remembered() {
            return found;
        }
        let _permit = self.lookups.acquire().await.map_err(|_| Refusal::Unavailable)?;
        // Somebody else may have asked meanwhile.
        if let Some((_, found)) = remembered() {
            return found;
        }
        let asked = Instant::now();
        let found = self.house.find_key(key_id).await.map_err(|error| {
            tracing::warn!(error = %error, "A key could not be looked up");
            Refusal::Unavailable
        })?;
        let found = match found {
            FoundKey::Key(record) => Ok(Arc::from(record)),
            FoundKey::Nothing => Err(Refusal::UnknownToken),
            FoundKey::Changed => Err(Refusal::KeyChanged),
        };
        self.remember(|keys| {
            if keys.len() >= REMEMBERED_MAX {
                keys.retain(|_, (since, _)| is_fresh(*since));
            }
            // A flood of made-up ids is not worth remembering; a key that exists always is.
            if keys.len() < REMEMBERED_MAX || found.is_ok() {
                keys.insert(key_id.clone(), (asked, found.clone()));
            }
        });
        found
    }

    fn remember<T>(&self, use_keys: impl FnOnce(&mut Remembered) -> T) -> T {
        use_keys(&mut self.remembered.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

fn is_fresh(since: Instant) -> bool {
    since.elapsed() < REMEMBERED_FOR
}
