//! Tokens of authorization servers: this server only reads them (OAuth 2.1 resource server) and issues none.
//!
//! What a token says of itself is never followed: `kid` is a key into a map that was filled from the issuer's
//! configured address, and `jku`, `jwk`, `x5u` and `x5c` are not looked at.

mod claims;
mod fetch;
pub mod metadata;
mod signing_keys;
mod verifier;

use contract::id::OrganisationId;
use jsonwebtoken::errors::ErrorKind;
use jsonwebtoken::{Algorithm, Header, Validation, decode, decode_header};
use serde::Deserialize;
use serde_json::{Map, Value};

pub use fetch::FetchError;
use signing_keys::{KeysUnavailable, SigningKeys};

use crate::auth::{Caller, Refusal};
use crate::settings::oauth::{self as settings, SignatureAlgorithm};

#[derive(Debug, thiserror::Error)]
pub enum OauthError {
    #[error("the keys of the issuer `{issuer}` cannot be fetched")]
    Fetch { issuer: String, source: FetchError },
}

/// Whose tokens are read. Without an issuer, nobody's.
pub struct Tokens(Vec<Issuer>);

struct Issuer {
    settings: settings::Issuer,
    name: String,
    organisation_id: OrganisationId,
    algorithms: Vec<Algorithm>,
    keys: SigningKeys,
}

impl Tokens {
    pub fn new(issuers: &[settings::Issuer], organisation_id: &OrganisationId) -> Result<Tokens, OauthError> {
        verifier::install();
        let issuer = |settings: &settings::Issuer| {
            let algorithms: Vec<Algorithm> = settings.algorithms.iter().copied().map(algorithm).collect();
            let keys = SigningKeys::new(settings, algorithms.clone())
                .map_err(|source| OauthError::Fetch { issuer: settings.issuer.clone(), source })?;
            let organisation_id = settings.organisation_id.clone().unwrap_or_else(|| organisation_id.clone());
            Ok(Issuer { name: settings.name(), settings: settings.clone(), organisation_id, algorithms, keys })
        };
        issuers.iter().map(issuer).collect::<Result<_, _>>().map(Tokens)
    }

    /// Whoever holds the token, if it is signed by a known issuer, meant for us, and valid now.
    pub async fn identify(&self, token: &str) -> Result<Caller, Refusal> {
        if self.0.is_empty() {
            return Err(Refusal::UnknownToken);
        }
        let header = decode_header(token).map_err(|_| Refusal::MalformedToken)?;
        check_kind(&header)?;
        // Not verified yet: it only chooses among the issuers of the settings, whose keys then decide.
        let named: Named =
            jsonwebtoken::dangerous::insecure_decode_claims(token).map_err(|_| Refusal::MalformedToken)?;
        let issuer = self.0.iter().find(|issuer| issuer.settings.issuer == named.iss).ok_or(Refusal::WrongIssuer)?;
        let claims = issuer.verify(token, &header).await?;
        claims::caller(issuer, &claims)
    }
}

/// Fetches the keys of an issuer once and counts those that can be used, for `materia doctor`.
pub async fn count_keys(settings: &settings::Issuer) -> Result<usize, OauthError> {
    let algorithms = settings.algorithms.iter().copied().map(algorithm).collect();
    let counted = match SigningKeys::new(settings, algorithms) {
        Ok(keys) => keys.fetch().await.map(|keys| keys.len()),
        Err(error) => Err(error),
    };
    counted.map_err(|source| OauthError::Fetch { issuer: settings.issuer.clone(), source })
}

#[derive(Deserialize)]
struct Named {
    iss: String,
}

/// A JWT may be many things; only a plain access token is let through, and none that asks for special treatment.
fn check_kind(header: &Header) -> Result<(), Refusal> {
    let kinds = ["jwt", "at+jwt", "application/at+jwt"];
    let is_access_token = header.typ.as_ref().is_none_or(|kind| kinds.contains(&kind.to_ascii_lowercase().as_str()));
    if is_access_token && header.crit.is_none() { Ok(()) } else { Err(Refusal::MalformedToken) }
}

impl Issuer {
    async fn verify(&self, token: &str, header: &Header) -> Result<Map<String, Value>, Refusal> {
        if !self.algorithms.contains(&header.alg) {
            return Err(Refusal::ForbiddenAlgorithm);
        }
        let kid = header.kid.as_deref().ok_or(Refusal::UnknownSigningKey)?;
        let found = self.keys.find(kid).await.map_err(|KeysUnavailable| Refusal::Unavailable)?;
        let key = found.ok_or(Refusal::UnknownSigningKey)?;
        if !key.algorithms.contains(&header.alg) {
            return Err(Refusal::ForbiddenAlgorithm);
        }
        let mut validation = Validation::new(header.alg);
        validation.set_required_spec_claims(&["exp", "iss", "aud", "sub"]);
        validation.set_issuer(&[&self.settings.issuer]);
        validation.set_audience(&[&self.settings.audience]);
        validation.validate_nbf = true;
        validation.leeway = self.settings.leeway_seconds;
        let decoded = decode(token, &key.key, &validation).map_err(|error| refusal(error.kind()))?;
        Ok(decoded.claims)
    }
}

fn refusal(kind: &ErrorKind) -> Refusal {
    match kind {
        ErrorKind::InvalidSignature => Refusal::BadSignature,
        ErrorKind::ExpiredSignature => Refusal::TokenExpired,
        ErrorKind::ImmatureSignature => Refusal::TokenNotYetValid,
        ErrorKind::InvalidIssuer => Refusal::WrongIssuer,
        ErrorKind::InvalidAudience => Refusal::WrongAudience,
        ErrorKind::MissingRequiredClaim(claim) if claim == "aud" => Refusal::WrongAudience,
        // Absent, or no number.
        ErrorKind::MissingRequiredClaim(claim) if claim == "exp" => Refusal::NoExpiry,
        ErrorKind::MissingRequiredClaim(_) => Refusal::MissingClaim,
        ErrorKind::InvalidAlgorithm | ErrorKind::UnsupportedAlgorithm => Refusal::ForbiddenAlgorithm,
        // The library may add kinds; whatever it could not accept is no token for us.
        _ => Refusal::MalformedToken,
    }
}

fn algorithm(pinned: SignatureAlgorithm) -> Algorithm {
    match pinned {
        SignatureAlgorithm::Rs256 => Algorithm::RS256,
        SignatureAlgorithm::Rs384 => Algorithm::RS384,
        SignatureAlgorithm::Rs512 => Algorithm::RS512,
        SignatureAlgorithm::Ps256 => Algorithm::PS256,
        SignatureAlgorithm::Ps384 => Algorithm::PS384,
        SignatureAlgorithm::Ps512 => Algorithm::PS512,
        SignatureAlgorithm::Es256 => Algorithm::ES256,
        SignatureAlgorithm::Es384 => Algorithm::ES384,
        SignatureAlgorithm::EdDsa => Algorithm::EdDSA,
    }
}
