//! Who is calling: bearer tokens, API keys and browser sessions, all compared by hash and in constant time.

use std::collections::HashMap;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use contract::actor::{Actor, ActorKind, Role};
use contract::canonical::digest;
use contract::id::{ActorId, OrganisationId};
use http::HeaderMap;
use subtle::ConstantTimeEq;

use crate::settings::{Auth, Settings};

const SESSION_KEPT_FOR: Duration = Duration::from_secs(12 * 60 * 60);
const SESSIONS_MAX: usize = 1_024;
pub const SESSION_COOKIE: &str = "materia_session";

#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    #[error("could not keep the token in `{path}`")]
    TokenFile { path: PathBuf, source: std::io::Error },
    #[error("the API key of `{actor_id}` is not a hex SHA-256")]
    KeyHash { actor_id: ActorId },
}

/// Why a request was not let in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    NoToken,
    UnknownToken,
}

impl Refusal {
    pub fn code(self) -> &'static str {
        match self {
            Refusal::NoToken => "NO_TOKEN",
            Refusal::UnknownToken => "UNKNOWN_TOKEN",
        }
    }
}

pub struct Authenticator {
    keys: Vec<([u8; 32], Actor)>,
    sessions: Mutex<HashMap<[u8; 32], (Actor, Instant)>>,
    /// Everybody is this actor when authentication is off.
    everybody: Option<Actor>,
}

/// The person who owns the data folder: the command line, stdio and the start token all act as this one.
pub fn owner(organisation_id: &OrganisationId) -> Actor {
    #[expect(clippy::expect_used, reason = "the constant is an id, as the tests of `contract::id` show")]
    let id = ActorId::parse("owner").expect("an id");
    Actor::new(organisation_id.clone(), id, ActorKind::Human, Role::ALL.to_vec())
}

impl Authenticator {
    pub fn new(settings: &Settings, token: &str) -> Result<Authenticator, AuthError> {
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
        let everybody = match settings.auth {
            Auth::None => Some(owner),
            Auth::Token => None,
        };
        Ok(Authenticator { keys, sessions: Mutex::default(), everybody })
    }

    /// Tokens count only in the `Authorization` header, sessions only as a cookie; a URL never carries either.
    pub fn identify(&self, headers: &HeaderMap) -> Result<Actor, Refusal> {
        if let Some(actor) = &self.everybody {
            return Ok(actor.clone());
        }
        if let Some(token) = bearer(headers) {
            return self.find_key(token).ok_or(Refusal::UnknownToken);
        }
        match cookie(headers, SESSION_COOKIE) {
            Some(session) => self.find_session(session).ok_or(Refusal::UnknownToken),
            None => Err(Refusal::NoToken),
        }
    }

    fn find_key(&self, token: &str) -> Option<Actor> {
        let hash = digest(token.as_bytes());
        // No early end: how long it takes must not tell which key came close.
        self.keys
            .iter()
            .fold(None, |found, (known, actor)| if bool::from(known.ct_eq(&hash)) { Some(actor) } else { found })
            .cloned()
    }

    fn find_session(&self, session: &str) -> Option<Actor> {
        let sessions = self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let (actor, since) = sessions.get(&digest(session.as_bytes()))?;
        (since.elapsed() < SESSION_KEPT_FOR).then(|| actor.clone())
    }

    /// Opens a browser session for somebody who has shown a token. `None` when there are too many.
    pub fn open_session(&self, actor: Actor) -> Option<String> {
        let session = random_token();
        let mut sessions = self.sessions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        sessions.retain(|_, (_, since)| since.elapsed() < SESSION_KEPT_FOR);
        if sessions.len() >= SESSIONS_MAX {
            return None;
        }
        sessions.insert(digest(session.as_bytes()), (actor, Instant::now()));
        Some(session)
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

/// 256 random bits as hex. A UUIDv4 has 122 random bits, so the digest of three of them has enough.
fn random_token() -> String {
    let random: Vec<u8> = std::iter::repeat_with(uuid::Uuid::new_v4).take(3).flat_map(uuid::Uuid::into_bytes).collect();
    hex::encode(digest(&random))
}

/// The start token of a data folder, made on first use and readable by its owner alone.
pub fn start_token(data: &Path) -> Result<String, AuthError> {
    let path = data.join("token");
    let wrong = |source| AuthError::TokenFile { path: path.clone(), source };
    match std::fs::read_to_string(&path) {
        Ok(token) if !token.trim().is_empty() => return Ok(token.trim().to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(wrong(error)),
    }
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
            std::fs::read_to_string(&path).map(|token| token.trim().to_owned()).map_err(wrong)
        }
        Err(error) => Err(wrong(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;
    use std::os::unix::fs::PermissionsExt;

    fn headers(name: http::HeaderName, value: &'static str) -> HeaderMap {
        HeaderMap::from_iter([(name, HeaderValue::from_static(value))])
    }

    #[test]
    fn a_token_counts_only_in_the_authorization_header() {
        let auth = Authenticator::new(&Settings::default(), "right").unwrap();
        let check = |headers: HeaderMap| auth.identify(&headers).map(|actor| actor.id.to_string());
        assert_eq!(check(headers(http::header::AUTHORIZATION, "Bearer right")), Ok("owner".to_owned()));
        assert_eq!(check(headers(http::header::AUTHORIZATION, "Bearer wrong")), Err(Refusal::UnknownToken));
        assert_eq!(check(headers(http::header::AUTHORIZATION, "right")), Err(Refusal::NoToken));
        assert_eq!(check(headers(http::header::COOKIE, "materia_session=right")), Err(Refusal::UnknownToken));
        assert_eq!(check(HeaderMap::new()), Err(Refusal::NoToken));
    }

    #[test]
    fn a_session_opens_only_for_its_own_secret() {
        let auth = Authenticator::new(&Settings::default(), "right").unwrap();
        let session = auth.open_session(owner(&Settings::default().organisation_id)).unwrap();
        let value = HeaderValue::from_str(&format!("a=b; materia_session={session}")).unwrap();
        let headers = HeaderMap::from_iter([(http::header::COOKIE, value)]);
        assert!(auth.identify(&headers).is_ok());
    }

    #[test]
    fn the_token_file_is_for_its_owner_alone_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let token = start_token(folder.path()).unwrap();
        assert_eq!(start_token(folder.path()).unwrap(), token);
        let mode = std::fs::metadata(folder.path().join("token")).unwrap().permissions().mode();
        assert_eq!((token.len(), mode & 0o777), (64, 0o600));
    }
}
