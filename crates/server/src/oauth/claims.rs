//! From what a token says to who is calling.

use contract::actor::{Actor, ActorKind, Credential, Role};
use contract::canonical::digest;
use contract::id::{ActorId, FhirId, OrganisationId};
use contract::scope::Scope;
use serde_json::{Map, Value};

use super::Issuer;
use crate::auth::{Caller, Refusal};

const SCOPES_MAX: usize = 64;
const CLIENT_ID_CHARS_MAX: usize = 200;
const SECOND_US: i64 = 1_000_000;
/// In front of the hash of a `sub` that cannot stand in an id as it is.
const HASHED: &str = "sha256-";

type Claims = Map<String, Value>;

/// The holder of a token that was verified.
pub(super) fn caller(issuer: &Issuer, claims: &Claims) -> Result<Caller, Refusal> {
    // Bound to a key of the client's (RFC 9449, RFC 8705), it is worth nothing without a proof that we do not check.
    if claims.contains_key("cnf") {
        return Err(Refusal::MalformedToken);
    }
    let sub = text(claims, "sub").ok_or(Refusal::MissingClaim)?;
    let id = actor_id(&issuer.name, sub).ok_or(Refusal::MissingClaim)?;
    let organisation_id = match &issuer.settings.organisation_claim {
        Some(claim) => {
            let named = find(claims, claim).and_then(Value::as_str).ok_or(Refusal::NoOrganisation)?;
            OrganisationId::parse(named).map_err(|_| Refusal::NoOrganisation)?
        }
        None => issuer.organisation_id.clone(),
    };
    let roles = roles(find(claims, &issuer.settings.roles_claim));
    let client_id = text(claims, "client_id").or_else(|| text(claims, "azp"));
    let kind = match client_id {
        _ if roles.contains(&Role::Agent) => ActorKind::Agent,
        // A client that speaks for itself names itself (RFC 9068 § 2.2).
        Some(client_id) if client_id == sub => ActorKind::Service,
        Some(_) | None => ActorKind::Human,
    };
    let patient_id = text(claims, "patient").and_then(|patient| FhirId::parse(patient).ok());
    let scopes = scopes(claims).map(|mut scopes| {
        scopes.retain(|scope| patient_id.is_some() || !scope.is_of_one_patient());
        scopes
    });
    let credential = Credential::Token {
        issuer: issuer.settings.issuer.clone(),
        client_id: client_id.map(|id| id.chars().take(CLIENT_ID_CHARS_MAX).collect()),
    };
    let actor = Actor { organisation_id, id, kind, roles, scopes, patient_id, credential };
    Ok(Caller { actor, expires_at_us: Some(expires_at_us(claims)) })
}

fn text<'c>(claims: &'c Claims, name: &str) -> Option<&'c str> {
    claims.get(name)?.as_str().filter(|text| !text.is_empty())
}

/// A claim by its name, else along the path that the name spells (`realm_access.roles`).
fn find<'c>(claims: &'c Claims, name: &str) -> Option<&'c Value> {
    claims.get(name).or_else(|| {
        let mut steps = name.split('.');
        let first = claims.get(steps.next()?)?;
        steps.try_fold(first, |value, step| value.get(step))
    })
}

/// `{name}.{sub}`: two issuers' people, and the house's own, are never the same actor. The name has no dot, so the first
/// dot ends it. A `sub` that is no word, or looks like a hash of ours, is replaced by its hash.
fn actor_id(name: &str, sub: &str) -> Option<ActorId> {
    let plain = Some(sub).filter(|sub| !sub.starts_with(HASHED));
    plain.and_then(|sub| ActorId::parse(&format!("{name}.{sub}")).ok()).or_else(|| {
        let hash = hex::encode(digest(sub.as_bytes()));
        ActorId::parse(&format!("{name}.{HASHED}{}", hash.get(..40)?)).ok()
    })
}

/// Words of a list or of a text with blanks.
fn words(value: Option<&Value>) -> Vec<&str> {
    match value {
        Some(Value::String(text)) => text.split_ascii_whitespace().collect(),
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        Some(Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_)) | None => Vec::new(),
    }
}

/// The roles we know; others are the business of other servers.
fn roles(claim: Option<&Value>) -> Vec<Role> {
    let named = words(claim);
    Role::ALL.into_iter().filter(|role| named.contains(&role.name())).collect()
}

/// A token with `scope` (or `scp`) is limited to the scopes we know among them, even to none. One without leaves the
/// decision to the roles.
fn scopes(claims: &Claims) -> Option<Vec<Scope>> {
    let claim = claims.get("scope").or_else(|| claims.get("scp"))?;
    Some(words(Some(claim)).into_iter().filter_map(|word| Scope::parse(word).ok()).take(SCOPES_MAX).collect())
}

/// For sessions that are opened with the token. An `exp` in another form than a whole number opens none.
fn expires_at_us(claims: &Claims) -> i64 {
    claims.get("exp").and_then(Value::as_i64).map_or(0, |seconds| seconds.saturating_mul(SECOND_US))
}

#[cfg(test)]
mod tests {
    use super::super::Tokens;
    use super::*;
    use serde_json::json;

    fn issuer(more: Value) -> Issuer {
        let mut settings = json!({
            "issuer": "https://login.example", "audience": "https://materia.example/mcp", "name": "corp",
            "jwks_file": "keys.json", "roles_claim": "realm_access.roles",
        });
        settings.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let organisation_id = OrganisationId::parse("default").unwrap();
        let settings = serde_json::from_value(settings).unwrap();
        Tokens::new(&[settings], &organisation_id).unwrap().0.remove(0)
    }

    fn actor(more: Value) -> Result<Actor, Refusal> {
        let mut claims = json!({"sub": "alice", "exp": 2_000_000_000});
        claims.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        caller(&issuer(json!({})), claims.as_object().unwrap()).map(|caller| caller.actor)
    }

    #[test]
    fn roles_are_those_we_know_wherever_they_stand() {
        let roles = |claims| actor(claims).unwrap().roles;
        assert_eq!(roles(json!({"realm_access": {"roles": ["author", "king"]}})), [Role::Author]);
        assert_eq!(roles(json!({"realm_access.roles": "viewer author"})), [Role::Viewer, Role::Author]);
        assert_eq!(roles(json!({"roles": ["admin"]})), []);
        assert_eq!(roles(json!({})), []);
    }

    #[test]
    fn a_token_with_scopes_is_limited_to_those_we_know_even_to_none() {
        let scopes = |claims| {
            let scopes = actor(claims).unwrap().scopes;
            scopes.map(|scopes| scopes.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "))
        };
        assert_eq!(
            scopes(json!({"scope": "openid id.reserve user/Observation.read"})).unwrap(),
            "id.reserve user/Observation.rs"
        );
        assert_eq!(scopes(json!({"scp": ["audit.read"]})).unwrap(), "audit.read");
        assert_eq!(scopes(json!({"scope": "openid profile"})).unwrap(), "");
        assert_eq!(scopes(json!({"scope": ""})).unwrap(), "");
        assert_eq!(scopes(json!({"scope": 7})).unwrap(), "");
        assert_eq!(scopes(json!({})), None);
    }

    #[test]
    fn a_patient_scope_means_the_patient_of_the_token_and_nothing_without_one() {
        let with = actor(json!({"scope": "patient/Observation.rs", "patient": "p-1"})).unwrap();
        assert_eq!((with.patient_id.unwrap().as_str(), with.scopes.unwrap().len()), ("p-1", 1));
        let without = actor(json!({"scope": "patient/Observation.rs user/Observation.rs"})).unwrap();
        assert_eq!((without.patient_id, without.scopes.unwrap().len()), (None, 1));
    }

    #[test]
    fn people_of_an_issuer_are_nobody_elses() {
        let id = |sub: &str| actor(json!({"sub": sub})).unwrap().id.to_string();
        assert_eq!(id("alice"), "corp.alice");
        assert_eq!(id("owner"), "corp.owner");
        let hashed = id("auth0|alice");
        assert!(hashed.starts_with("corp.sha256-"), "{hashed}");
        let (_, imitation) = hashed.split_once('.').unwrap();
        assert_ne!(id(imitation), hashed);
        assert_ne!(id("auth0|bob"), hashed);
    }

    #[test]
    fn a_client_that_speaks_for_itself_is_a_service_and_an_agent_is_an_agent() {
        let kind = |claims| actor(claims).unwrap().kind;
        assert_eq!(kind(json!({"client_id": "portal"})), ActorKind::Human);
        assert_eq!(kind(json!({"sub": "robot", "azp": "robot"})), ActorKind::Service);
        assert_eq!(kind(json!({"realm_access": {"roles": ["agent"]}})), ActorKind::Agent);
    }

    #[test]
    fn an_organisation_that_must_be_named_must_be_an_organisation() {
        let organisation = |claims: Value| {
            let issuer = issuer(json!({"organisation_claim": "org"}));
            caller(&issuer, claims.as_object().unwrap()).map(|caller| caller.actor.organisation_id.to_string())
        };
        assert_eq!(organisation(json!({"sub": "a", "org": "ward-7"})), Ok("ward-7".to_owned()));
        assert_eq!(organisation(json!({"sub": "a", "org": "../x"})), Err(Refusal::NoOrganisation));
        assert_eq!(organisation(json!({"sub": "a"})), Err(Refusal::NoOrganisation));
        assert_eq!(organisation(json!({"org": "ward-7"})), Err(Refusal::MissingClaim));
    }

    #[test]
    fn a_token_that_is_bound_to_a_key_is_no_bearer_token() {
        assert_eq!(actor(json!({"cnf": {"jkt": "x"}})), Err(Refusal::MalformedToken));
    }
}
