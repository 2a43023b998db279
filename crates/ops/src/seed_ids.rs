//! The ids that seed 004 gives to a request and to its user: the caller's own where they have the seed's form, else made here.
//! They tie the rows of one request together. They open nothing: who may see a call is decided by organisation and role.

use contract::actor::Actor;
use contract::event::Correlation;
use contract::id::CorrelationId;
use sha2::{Digest, Sha256};
use store::subject_keys::SubjectKeys;
use uuid::Uuid;

const REQUEST: &str = "req_";
const REQUEST_CHARS: usize = 12;
const USER: &str = "anon_";
const USER_CHARS: std::ops::RangeInclusive<usize> = 3..=40;
/// Of a made one.
const USER_DIGITS: usize = 24;
const ALPHABET: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

/// `^req_[a-zA-Z0-9]{12}$`, else `None`: a caller's id of another form is not taken for one.
pub fn parse_request_id(text: &str) -> Option<CorrelationId> {
    let rest = text.strip_prefix(REQUEST)?;
    let fits = rest.len() == REQUEST_CHARS && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then(|| CorrelationId::parse(text).ok()).flatten()
}

/// `^anon_[a-zA-Z0-9]{3,40}$`, else `None`.
pub fn parse_user_id(text: &str) -> Option<CorrelationId> {
    let rest = text.strip_prefix(USER)?;
    let fits = USER_CHARS.contains(&rest.len()) && rest.bytes().all(|byte| byte.is_ascii_alphanumeric());
    fits.then(|| CorrelationId::parse(text).ok()).flatten()
}

/// The request that a call belongs to. A call of its own is its own request.
pub fn request_id(correlation: &Correlation, call_id: Uuid) -> String {
    let given = correlation.request_id.as_ref().and_then(|id| parse_request_id(id.as_str()));
    given.map_or_else(|| made_request_id(call_id), |id| id.to_string())
}

fn made_request_id(call_id: Uuid) -> String {
    let digest = Sha256::digest(call_id.as_bytes());
    let letters =
        digest.iter().take(REQUEST_CHARS).filter_map(|byte| ALPHABET.get(usize::from(*byte) % ALPHABET.len()));
    letters.fold(REQUEST.to_owned(), |id, letter| format!("{id}{}", char::from(*letter)))
}

/// Who asked, so that requests of one person can be told apart from those of others, and nobody can tell who it is.
pub fn user_id(correlation: &Correlation, actor: &Actor, keys: &SubjectKeys) -> String {
    let given = correlation.user_id.as_ref().and_then(|id| parse_user_id(id.as_str()));
    given.map_or_else(
        || {
            // JSON of a tuple, not plain joining: `("ab", "c")` and `("a", "bc")` must not be one user.
            let pseudonym = keys.pseudonym(&serde_json::json!([actor.organisation_id, actor.id]).to_string());
            format!("{USER}{}", pseudonym.chars().take(USER_DIGITS).collect::<String>())
        },
        |id| id.to_string(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::actor::ActorKind;
    use contract::id::{ActorId, OrganisationId};
    use store::subject_keys::MasterKey;

    #[test]
    fn ids_of_the_seeds_form_are_taken_and_others_are_made() {
        let of = |request: &str, user: &str| Correlation {
            request_id: CorrelationId::parse(request).ok(),
            user_id: CorrelationId::parse(user).ok(),
            ..Correlation::default()
        };
        let actor = |name: &str| {
            let organisation_id = OrganisationId::parse("here").unwrap();
            Actor::new(organisation_id, ActorId::parse(name).unwrap(), ActorKind::Human, Vec::new())
        };
        let (keys, call) = (SubjectKeys::new(&MasterKey::generate().unwrap()), Uuid::from_u128(7));
        let given = of("req_med123abc456", "anon_fusioncore77");
        assert_eq!(request_id(&given, call), "req_med123abc456");
        assert_eq!(user_id(&given, &actor("ann"), &keys), "anon_fusioncore77");
        for wrong in
            [of("17", "ann"), of("req_short", "anon_x"), of("req_med123abc45.", "anon_a.b"), Correlation::default()]
        {
            let (request, user) = (request_id(&wrong, call), user_id(&wrong, &actor("ann"), &keys));
            assert!(parse_request_id(&request).is_some() && parse_user_id(&user).is_some(), "{request} {user}");
            assert_eq!((request, user.clone()), (request_id(&wrong, call), user_id(&wrong, &actor("ann"), &keys)));
            assert_ne!(user, user_id(&wrong, &actor("bob"), &keys));
            assert_ne!(request_id(&wrong, call), request_id(&wrong, Uuid::from_u128(8)));
        }
    }
}
