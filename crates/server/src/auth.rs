//! Who is calling: bearer tokens, API keys, tokens of an authorization server, and browser sessions.
//!
//! Secrets of our own are compared by hash and in constant time. No token is logged, stored or passed on.

mod refusal;
mod stored_keys;

use std::collections::{BTreeSet, HashMap};
use std::io::Write as _;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use contract::actor::{Actor, ActorKind, Credential, Role};
use contract::canonical::digest;
use contract::id::{ActorId, OrganisationId};
use contract::key;
use http::HeaderMap;
use ops::refusals::Shown;
use subtle::ConstantTimeEq;

pub use refusal::Refusal;
use stored_keys::StoredKeys;

use crate::oauth::{OauthError, Tokens};
use crate::owner::House;
use crate::settings::oauth::Issuer;
use crate::settings::{Auth, Settings};

const SESSION_KEPT_FOR: Duration = Duration::from_secs(12 * 60 * 60);
const SESSIONS_MAX: usize = 1_024;
const ORGANISATIONS_MAX: usize = 1_024;
pub const SESSION_COOKIE: &str = "materia_session";

#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error("could not keep the token in `{path}`")]
    TokenFile { path: PathBuf, source: std::io::Error },
    #[error("`{path}` holds no token of 64 hexadecimal digits; delete it, and the next start makes a new one")]
    NoToken { path: PathBuf },
    #[error("others can read the token in `{path}` (mode {mode:o}); delete it, or `chmod 600` it if nobody did")]
    OpenToken { path: PathBuf, mode: u32 },
    #[error("the API key of `{actor_id}` is not a hex SHA-256")]
    KeyHash { actor_id: ActorId },
    #[error("the authorization servers cannot be used")]
    Oauth(#[source] OauthError),
}

/// Somebody who was recognised, and until when at most.
#[derive(Debug, Clone)]
pub struct Caller {
    pub actor: Actor,
    /// When their token or key expires, in microseconds since 1970.
    pub expires_at_us: Option<i64>,
}

/// Whether the cookie of a browser session says who is calling.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sessions {
    Count,
    Ignored,
}

pub struct Authenticator {
    house: Arc<House>,
    /// The start token and the keys of the settings.
    keys: Vec<([u8; 32], Actor)>,
    stored_keys: StoredKeys,
    tokens: Tokens,
    sessions: Mutex<HashMap<[u8; 32], (Caller, Instant)>>,
    /// Whoever shows no token is this actor when authentication is off.
    everybody: Option<Actor>,
    /// Organisations that came by, for whoever tidies up after them.
    organisations: Mutex<BTreeSet<OrganisationId>>,
}

/// The person who owns the data folder: the command line, stdio and the start token all act as this one.
pub fn owner(organisation_id: &OrganisationId) -> Actor {
    #[expect(clippy::expect_used, reason = "the constant is an id, as the tests of `contract::id` show")]
    let id = ActorId::parse("owner").expect("an id");
    Actor::new(organisation_id.clone(), id, ActorKind::Human, Role::ALL.to_vec())
}

impl Authenticator {
    pub fn new(settings: &Settings, token: &str, house: Arc<House>) -> Result<Authenticator, AuthError> {
        let owner = owner(&settings.organisation_id);
        let mut keys = vec![(digest(token.as_bytes()), owner.clone())];
        for key in &settings.api_keys {
            let mut hash = [0; 32];
            hex::decode_to_slice(&key.sha256, &mut hash)
                .map_err(|_| AuthError::KeyHash { actor_id: key.actor_id.clone() })?;
            let kind = if key.roles.contains(&Role::Agent) { ActorKind::Agent } else { ActorKind::Service };
            let organisation_id = key.organisation_id.clone().unwrap_or_else(|| settings.organisation_id.clone());
            keys.push((hash, Actor::new(organisation_id, key.actor_id.clone(), kind, key.roles.clone())));
        }
        let organisations = keys.iter().map(|(_, actor)| actor.organisation_id.clone()).collect();
        let everybody = match settings.auth {
            Auth::None => Some(owner),
            Auth::Token => None,
        };
        Ok(Authenticator {
            stored_keys: StoredKeys::new(Arc::clone(&house), settings.oauth.iter().map(Issuer::name).collect()),
            tokens: Tokens::new(&settings.oauth, &settings.organisation_id).map_err(AuthError::Oauth)?,
            house,
            keys,
            sessions: Mutex::default(),
            everybody,
            organisations: Mutex::new(organisations),
        })
    }

    /// Tokens count only in the `Authorization` header, sessions only as a cookie; a URL never carries either.
    pub async fn identify(&self, headers: &HeaderMap, sessions: Sessions) -> Result<Caller, Refusal> {
        let everybody = || self.everybody.clone().map(|actor| Caller { actor, expires_at_us: None });
        let session = cookie(headers, SESSION_COOKIE).filter(|_| sessions == Sessions::Count);
        let caller = match (bearer(headers), session) {
            // Also where nobody has to: who says who they are acts as that, with those roles and no more.
            (Some(token), _) => self.find_bearer(token).await?,
            // A browser sends the cookie of a session that ended long ago without anybody's doing.
            (None, Some(session)) => match (self.find_session(session).await, everybody()) {
                (Err(_), Some(caller)) => caller,
                (found, _) => found?,
            },
            (None, None) => everybody().ok_or(Refusal::NoToken)?,
        };
        let mut organisations = self.organisations.lock().unwrap_or_else(PoisonError::into_inner);
        if organisations.len() < ORGANISATIONS_MAX && !organisations.contains(&caller.actor.organisation_id) {
            organisations.insert(caller.actor.organisation_id.clone());
        }
        Ok(caller)
    }

    async fn find_bearer(&self, token: &str) -> Result<Caller, Refusal> {
        if let Some(actor) = self.find_key(token) {
            return Ok(Caller { actor, expires_at_us: None });
        }
        if let Some(key_id) = key::key_id(token) {
            return self.stored_keys.identify(&key_id, token).await;
        }
        self.tokens.identify(token).await
    }

    fn find_key(&self, token: &str) -> Option<Actor> {
        let hash = digest(token.as_bytes());
        // No early end: how long it takes must not tell which key came close.
        self.keys
            .iter()
            .fold(None, |found, (known, actor)| if bool::from(known.ct_eq(&hash)) { Some(actor) } else { found })
            .cloned()
    }

    /// What somebody showed who was refused, for the record: the public id of a key and no more.
    pub fn shown(&self, headers: &HeaderMap, refusal: Refusal) -> Shown {
        let of_session = || match self.known_session(cookie(headers, SESSION_COOKIE)?)?.actor.credential {
            Credential::Key { key_id } => Some(key_id),
            Credential::House | Credential::Token { .. } => None,
        };
        match (bearer(headers), refusal) {
            (Some(token), Refusal::KeyRevoked | Refusal::KeyExpired | Refusal::KeyOfPerson) => {
                key::key_id(token).map_or(Shown::Nothing, Shown::Held)
            }
            (Some(token), _) => key::made_key_id(token).map_or(Shown::Nothing, Shown::Claimed),
            (None, Refusal::KeyRevoked | Refusal::KeyExpired | Refusal::KeyOfPerson | Refusal::TokenExpired) => {
                of_session().map_or(Shown::Nothing, Shown::Held)
            }
            (None, _) => Shown::Nothing,
        }
    }

    fn known_session(&self, session: &str) -> Option<Caller> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let (caller, since) = sessions.get(&digest(session.as_bytes()))?;
        (since.elapsed() < SESSION_KEPT_FOR).then(|| caller.clone())
    }

    /// A session ends with what it was opened with: its token's expiry, its key's expiry or revocation.
    async fn find_session(&self, session: &str) -> Result<Caller, Refusal> {
        let caller = self.known_session(session).ok_or(Refusal::UnknownToken)?;
        if caller.expires_at_us.is_some_and(|expires_at_us| expires_at_us <= self.house.now_us()) {
            return Err(Refusal::TokenExpired);
        }
        if let Credential::Key { key_id } = &caller.actor.credential {
            self.stored_keys.check_in_force(key_id).await?;
        }
        Ok(caller)
    }

    /// Opens a browser session for somebody who has shown a token. `None` when there are too many.
    pub fn open_session(&self, caller: Caller) -> Option<String> {
        let session = random_token();
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.retain(|_, (_, since)| since.elapsed() < SESSION_KEPT_FOR);
        if sessions.len() >= SESSIONS_MAX {
            return None;
        }
        sessions.insert(digest(session.as_bytes()), (caller, Instant::now()));
        Some(session)
    }

    /// Ends the browser session of the request, if it has one. Whoever copied its cookie is out too.
    pub fn close_session(&self, headers: &HeaderMap) {
        if let Some(session) = cookie(headers, SESSION_COOKIE) {
            let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
            sessions.remove(&digest(session.as_bytes()));
        }
    }

    /// The organisations of the settings and those that came by.
    pub fn organisations(&self) -> Vec<OrganisationId> {
        self.organisations.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(http::header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn cookie<'h>(headers: &'h HeaderMap, name: &str) -> Option<&'h str> {
    let pairs = headers.get_all(http::header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    pairs
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find_map(|(key, value)| (key == name).then_some(value))
}

/// 256 random bits. A UUIDv4 has 122 of them, so the digest of three has enough.
pub fn random_bytes() -> [u8; 32] {
    let random: Vec<u8> = std::iter::repeat_with(uuid::Uuid::new_v4).take(3).flat_map(uuid::Uuid::into_bytes).collect();
    digest(&random)
}

fn random_token() -> String {
    hex::encode(random_bytes())
}

/// The start token of a data folder, made on first use and readable by its owner alone.
pub fn start_token(data: &Path) -> Result<String, AuthError> {
    let path = data.join("token");
    if let Some(token) = read_token(&path)? {
        return Ok(token);
    }
    let wrong = |source| AuthError::TokenFile { path: path.clone(), source };
    let token = random_token();
    // Written aside and linked into place, so that two processes that start at once agree on one token.
    let aside = data.join(format!("token.{}", std::process::id()));
    let written = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside);
    written.and_then(|mut file| writeln!(file, "{token}").and_then(|()| file.sync_all())).map_err(wrong)?;
    let linked = std::fs::hard_link(&aside, &path);
    std::fs::remove_file(&aside).map_err(wrong)?;
    match linked {
        Ok(()) => Ok(token),
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            read_token(&path)?.ok_or(AuthError::NoToken { path })
        }
        Err(error) => Err(wrong(error)),
    }
}

/// The token in a file, if there is one. What others can read or guess is no token.
fn read_token(path: &Path) -> Result<Option<String>, AuthError> {
    let wrong = |source| AuthError::TokenFile { path: path.to_owned(), source };
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(wrong(error)),
    };
    let mode = std::fs::metadata(path).map_err(wrong)?.permissions().mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(AuthError::OpenToken { path: path.to_owned(), mode });
    }
    let token = text.trim();
    let is_token = token.len() == 64 && token.bytes().all(|byte| byte.is_ascii_hexdigit());
    if is_token { Ok(Some(token.to_owned())) } else { Err(AuthError::NoToken { path: path.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::id::KeyId;
    use http::HeaderValue;

    fn headers(name: http::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    async fn authenticator(folder: &Path) -> Authenticator {
        let house = crate::assemble::enter(folder.to_owned(), &Settings::default()).await.unwrap();
        Authenticator::new(&Settings::default(), "right", house).unwrap()
    }

    #[tokio::test]
    async fn a_token_counts_only_in_the_authorization_header() {
        let folder = tempfile::tempdir().unwrap();
        let auth = authenticator(folder.path()).await;
        let check = async |headers: HeaderMap, expected: Result<&str, Refusal>| {
            let found = auth.identify(&headers, Sessions::Count).await.map(|caller| caller.actor.id.to_string());
            assert_eq!(found, expected.map(str::to_owned));
        };
        check(headers(http::header::AUTHORIZATION, "Bearer right"), Ok("owner")).await;
        check(headers(http::header::AUTHORIZATION, "Bearer wrong"), Err(Refusal::UnknownToken)).await;
        check(headers(http::header::AUTHORIZATION, "Bearer mk_a_b"), Err(Refusal::UnknownToken)).await;
        check(headers(http::header::AUTHORIZATION, "Bearer e30.e30.e30"), Err(Refusal::UnknownToken)).await;
        check(headers(http::header::AUTHORIZATION, "right"), Err(Refusal::NoToken)).await;
        check(headers(http::header::COOKIE, "materia_session=right"), Err(Refusal::UnknownToken)).await;
        check(HeaderMap::new(), Err(Refusal::NoToken)).await;
    }

    #[tokio::test]
    async fn without_authentication_a_key_that_is_shown_counts_all_the_same() {
        let folder = tempfile::tempdir().unwrap();
        let key = crate::settings::ApiKey {
            sha256: hex::encode(digest(b"the key")),
            actor_id: ActorId::parse("reader").unwrap(),
            roles: vec![Role::Viewer],
            organisation_id: None,
        };
        let settings = Settings { auth: Auth::None, api_keys: vec![key], ..Settings::default() };
        let house = crate::assemble::enter(folder.path().to_owned(), &settings).await.unwrap();
        let auth = Authenticator::new(&settings, "right", house).unwrap();
        let check = async |headers: HeaderMap, expected: Result<&str, Refusal>| {
            let found = auth.identify(&headers, Sessions::Count).await.map(|caller| caller.actor.id.to_string());
            assert_eq!(found, expected.map(str::to_owned));
        };
        check(HeaderMap::new(), Ok("owner")).await;
        check(headers(http::header::AUTHORIZATION, "Bearer the key"), Ok("reader")).await;
        check(headers(http::header::AUTHORIZATION, "Bearer wrong"), Err(Refusal::UnknownToken)).await;
        check(headers(http::header::COOKIE, "materia_session=of another day"), Ok("owner")).await;
    }

    #[tokio::test]
    async fn a_key_that_bears_the_name_of_an_issuers_person_opens_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let before = Settings::default();
        let house = crate::assemble::look(folder.path().to_owned(), &before).await.unwrap();
        let input = serde_json::json!({"actor_id": "login-example.alice", "roles": ["agent"]});
        let call = ops::Call { operation: "create_key".to_owned(), input, ..ops::Call::default() };
        let made = house.call(&owner(&before.organisation_id), call).await.result.unwrap().output;
        let key = format!("Bearer {}", made["key"].as_str().unwrap());
        let issuer = serde_json::from_value(serde_json::json!({
            "issuer": "https://login.example", "audience": "https://materia.example/mcp",
            "jwks_url": "https://login.example/keys",
        }));
        let after = Settings { oauth: vec![issuer.unwrap()], ..Settings::default() };
        for (settings, expected) in [(before, Ok("login-example.alice")), (after, Err(Refusal::KeyOfPerson))] {
            let auth = Authenticator::new(&settings, "right", Arc::clone(&house)).unwrap();
            let headers = headers(http::header::AUTHORIZATION, key.clone().leak());
            let found = auth.identify(&headers, Sessions::Count).await.map(|caller| caller.actor.id.to_string());
            assert_eq!(found, expected.map(str::to_owned));
        }
    }

    #[tokio::test]
    async fn a_session_opens_only_for_its_own_secret_and_ends_with_its_token() {
        let folder = tempfile::tempdir().unwrap();
        let auth = authenticator(folder.path()).await;
        let check = async |expires_at_us: Option<i64>, is_open: bool| {
            let actor = owner(&Settings::default().organisation_id);
            let session = auth.open_session(Caller { actor, expires_at_us }).unwrap();
            let value = HeaderValue::from_str(&format!("a=b; materia_session={session}")).unwrap();
            let headers = HeaderMap::from_iter([(http::header::COOKIE, value)]);
            assert_eq!(auth.identify(&headers, Sessions::Count).await.is_ok(), is_open, "{expires_at_us:?}");
        };
        check(None, true).await;
        check(Some(i64::MAX), true).await;
        check(Some(auth.house.now_us()), false).await;
    }

    #[tokio::test]
    async fn a_session_that_was_closed_is_known_no_more() {
        let folder = tempfile::tempdir().unwrap();
        let auth = authenticator(folder.path()).await;
        let actor = owner(&Settings::default().organisation_id);
        let session = auth.open_session(Caller { actor, expires_at_us: None }).unwrap();
        let value = HeaderValue::from_str(&format!("materia_session={session}")).unwrap();
        let headers = HeaderMap::from_iter([(http::header::COOKIE, value)]);
        assert!(auth.identify(&headers, Sessions::Count).await.is_ok());
        assert_eq!(auth.identify(&headers, Sessions::Ignored).await.err(), Some(Refusal::NoToken));
        auth.close_session(&headers);
        assert_eq!(auth.identify(&headers, Sessions::Count).await.err(), Some(Refusal::UnknownToken));
    }

    #[tokio::test]
    async fn of_what_was_shown_only_the_public_id_of_a_key_is_told() {
        let folder = tempfile::tempdir().unwrap();
        let auth = authenticator(folder.path()).await;
        let check = |token: &'static str, refusal: Refusal, expected: Shown| {
            assert_eq!(auth.shown(&headers(http::header::AUTHORIZATION, token), refusal), expected, "{token}");
        };
        let key_id = KeyId::parse("0123456789abcdef").unwrap();
        check("Bearer mk_0123456789abcdef_s", Refusal::UnknownToken, Shown::Claimed(key_id.clone()));
        check("Bearer mk_0123456789abcdef_s", Refusal::KeyRevoked, Shown::Held(key_id));
        for other in ["Bearer 0123456789abcdef", "Bearer mk_my-password_s", "Bearer e30.e30.e30", "Basic YTpi"] {
            check(other, Refusal::UnknownToken, Shown::Nothing);
        }
    }

    #[test]
    fn the_token_file_is_for_its_owner_alone_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let token = start_token(folder.path()).unwrap();
        assert_eq!(start_token(folder.path()).unwrap(), token);
        let mode = std::fs::metadata(folder.path().join("token")).unwrap().permissions().mode();
        assert_eq!((token.len(), mode & 0o777), (64, 0o600));
    }

    #[test]
    fn a_token_that_others_could_read_or_guess_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("token");
        let check = |text: &str, mode: u32, expected: &str| {
            std::fs::write(&path, text).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
            let error = start_token(folder.path()).unwrap_err().to_string();
            assert!(error.contains(expected), "{error}");
        };
        check("x", 0o600, "holds no token");
        check("", 0o600, "holds no token");
        check(&"a".repeat(64), 0o640, "(mode 640)");
    }
}
