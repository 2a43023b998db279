//! The published keys of one issuer, by `kid`, fetched when needed and not more often than that.

use std::collections::HashMap;
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant};

use jsonwebtoken::jwk::{AlgorithmParameters, EllipticCurve, Jwk, PublicKeyUse};
use jsonwebtoken::{Algorithm, DecodingKey};
use serde::Deserialize;
use serde_json::Value;
use tokio::sync::Mutex;

use super::fetch::{FetchError, Source};
use crate::settings::oauth::Issuer;

/// However many unknown `kid`s come, the issuer is asked this rarely.
const ASK_AGAIN_AFTER: Duration = Duration::from_secs(60);
/// As long as there are no keys at all.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(5);
/// An issuer that stays out of reach loses our trust in its old keys after this.
const TRUSTED_FOR: Duration = Duration::from_secs(24 * 60 * 60);
const KEYS_MAX: usize = 100;

/// Nothing can be said about a `kid`: the keys were never fetched, or too long ago.
#[derive(Debug, PartialEq, Eq)]
pub struct KeysUnavailable;

pub struct SigningKey {
    pub key: DecodingKey,
    /// What the key may be used with, within what the settings allow.
    pub algorithms: Vec<Algorithm>,
}

/// By `kid`.
pub type PublishedKeys = HashMap<String, Arc<SigningKey>>;

pub struct SigningKeys {
    issuer: String,
    source: Source,
    algorithms: Vec<Algorithm>,
    refresh_after: Duration,
    state: RwLock<State>,
    /// Held while somebody fetches.
    fetching: Mutex<()>,
}

#[derive(Default)]
struct State {
    keys: PublishedKeys,
    fetched: Option<Instant>,
    tried: Option<Instant>,
}

impl State {
    fn find(&self, kid: &str) -> Result<Option<Arc<SigningKey>>, KeysUnavailable> {
        match self.fetched {
            Some(fetched) if fetched.elapsed() < TRUSTED_FOR => Ok(self.keys.get(kid).cloned()),
            Some(_) | None => Err(KeysUnavailable),
        }
    }

    /// Whether to ask the issuer before answering about a `kid`.
    fn is_due(&self, is_known: bool, refresh_after: Duration) -> bool {
        match (self.tried, self.fetched) {
            (None, _) => true,
            (Some(tried), None) => tried.elapsed() >= TRY_AGAIN_AFTER,
            (Some(tried), Some(fetched)) => {
                let is_wanted = !is_known || fetched.elapsed() >= refresh_after;
                is_wanted && tried.elapsed() >= ASK_AGAIN_AFTER
            }
        }
    }
}

impl SigningKeys {
    pub fn new(settings: &Issuer, algorithms: Vec<Algorithm>) -> Result<SigningKeys, FetchError> {
        Ok(SigningKeys {
            issuer: settings.issuer.clone(),
            source: Source::new(settings)?,
            algorithms,
            refresh_after: Duration::from_secs(settings.refresh_seconds),
            state: RwLock::default(),
            fetching: Mutex::new(()),
        })
    }

    /// The key of this id, if the issuer publishes one that may be used here.
    pub async fn find(&self, kid: &str) -> Result<Option<Arc<SigningKey>>, KeysUnavailable> {
        let (found, is_due) = self.look(kid);
        if !is_due {
            return found;
        }
        let is_known = matches!(found, Ok(Some(_)));
        let _one_at_a_time = match self.fetching.try_lock() {
            Ok(guard) => guard,
            // Somebody fetches already, and what we have is good enough.
            Err(_) if is_known => return found,
            Err(_) => self.fetching.lock().await,
        };
        if self.look(kid).1 {
            self.refresh().await;
        }
        self.look(kid).0
    }

    fn look(&self, kid: &str) -> (Result<Option<Arc<SigningKey>>, KeysUnavailable>, bool) {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        let found = state.find(kid);
        let is_due = state.is_due(matches!(found, Ok(Some(_))), self.refresh_after);
        (found, is_due)
    }

    /// The keys as they are published now.
    pub async fn fetch(&self) -> Result<PublishedKeys, FetchError> {
        let bytes = self.source.fetch().await?;
        parse(&bytes, &self.algorithms).ok_or_else(|| FetchError::NoKeys { place: self.source.place() })
    }

    /// Fetches the keys. After a failure the old ones stay.
    async fn refresh(&self) {
        let fetched = self.fetch().await;
        let mut state = self.state.write().unwrap_or_else(PoisonError::into_inner);
        state.tried = Some(Instant::now());
        match fetched {
            Ok(keys) => {
                tracing::info!(issuer = self.issuer, n_keys = keys.len(), "Fetched the keys of an issuer");
                state.keys = keys;
                state.fetched = state.tried;
            }
            Err(error) => {
                let causes = std::iter::successors(std::error::Error::source(&error), |cause| cause.source());
                let chain = causes.map(ToString::to_string).collect::<Vec<_>>().join(": ");
                tracing::warn!(issuer = self.issuer, error = %error, chain, "The keys of an issuer were not fetched");
            }
        }
    }
}

#[derive(Deserialize)]
struct Published {
    keys: Vec<Value>,
}

/// The usable keys of a JWK set; one that cannot be used does not spoil the others. `None` if it is no JWK set.
fn parse(bytes: &[u8], pinned: &[Algorithm]) -> Option<PublishedKeys> {
    let published: Published = serde_json::from_slice(bytes).ok()?;
    let usable = published.keys.into_iter().take(KEYS_MAX).filter_map(|value| {
        let jwk: Jwk = serde_json::from_value(value).ok()?;
        let kid = jwk.common.key_id.clone()?;
        let algorithms = usable_with(&jwk, pinned);
        if algorithms.is_empty() {
            return None;
        }
        let key = DecodingKey::from_jwk(&jwk).ok()?;
        Some((kid, Arc::new(SigningKey { key, algorithms })))
    });
    Some(usable.collect())
}

/// What a key may check: what its kind can, its own `alg` says, and the settings allow. A shared secret: nothing.
fn usable_with(jwk: &Jwk, pinned: &[Algorithm]) -> Vec<Algorithm> {
    if jwk.common.public_key_use.as_ref().is_some_and(|key_use| *key_use != PublicKeyUse::Signature) {
        return Vec::new();
    }
    let possible: &[Algorithm] = match &jwk.algorithm {
        AlgorithmParameters::RSA(_) => &[
            Algorithm::RS256,
            Algorithm::RS384,
            Algorithm::RS512,
            Algorithm::PS256,
            Algorithm::PS384,
            Algorithm::PS512,
        ],
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P256 => &[Algorithm::ES256],
        AlgorithmParameters::EllipticCurve(key) if key.curve == EllipticCurve::P384 => &[Algorithm::ES384],
        AlgorithmParameters::OctetKeyPair(key) if key.curve == EllipticCurve::Ed25519 => &[Algorithm::EdDSA],
        // Other curves, shared secrets, and whatever kinds the library may add.
        _ => &[],
    };
    let own = jwk.common.key_algorithm.map(Algorithm::try_from);
    let is_allowed = |algorithm: &&Algorithm| {
        let fits_own = own.as_ref().is_none_or(|own| own.as_ref().is_ok_and(|own| own == *algorithm));
        fits_own && pinned.contains(*algorithm)
    };
    possible.iter().filter(is_allowed).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const PINNED: [Algorithm; 3] = [Algorithm::RS256, Algorithm::ES256, Algorithm::EdDSA];

    fn rsa(kid: &str, more: Value) -> Value {
        let mut key = json!({"kty": "RSA", "kid": kid, "n": "sXch", "e": "AQAB"});
        key.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        key
    }

    fn kids(keys: &Value) -> Vec<String> {
        let mut kids: Vec<String> = parse(keys.to_string().as_bytes(), &PINNED).unwrap().into_keys().collect();
        kids.sort();
        kids
    }

    #[test]
    fn only_keys_for_pinned_signatures_are_kept() {
        let keys = json!({"keys": [
            rsa("plain", json!({})),
            rsa("signing", json!({"use": "sig", "alg": "RS256"})),
            rsa("encryption", json!({"use": "enc"})),
            rsa("not-pinned", json!({"alg": "RS512"})),
            rsa("unknown-algorithm", json!({"alg": "XX1"})),
            {"kty": "RSA", "n": "sXch", "e": "AQAB"},
            {"kty": "oct", "kid": "secret", "k": "c2VjcmV0"},
            {"kty": "EC", "kid": "wrong-curve", "crv": "P-384", "x": "AA", "y": "AA"},
            {"kty": "OKP", "kid": "ed", "crv": "Ed25519", "x": "AA"},
            "nonsense", 7,
        ]});
        assert_eq!(kids(&keys), ["ed", "plain", "signing"]);
    }

    #[test]
    fn what_is_no_jwk_set_changes_nothing() {
        for text in ["", "{}", "[]", "<html>", r#"{"keys":{}}"#] {
            assert!(parse(text.as_bytes(), &PINNED).is_none(), "{text}");
        }
    }

    #[test]
    fn an_unknown_kid_asks_again_only_after_a_minute() {
        let ago = |seconds| Instant::now().checked_sub(Duration::from_secs(seconds));
        let check = |tried, fetched, is_known, expected| {
            let state = State { keys: HashMap::new(), fetched, tried };
            assert_eq!(state.is_due(is_known, Duration::from_secs(900)), expected, "{tried:?} {fetched:?} {is_known}");
        };
        check(None, None, false, true);
        check(ago(1), None, false, false);
        check(ago(6), None, false, true);
        check(ago(30), ago(30), false, false);
        check(ago(61), ago(61), false, true);
        check(ago(61), ago(61), true, false);
        check(ago(901), ago(901), true, true);
        check(ago(30), ago(901), true, false);
    }
}
