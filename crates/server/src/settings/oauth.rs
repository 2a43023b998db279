//! Settings of an authorization server whose tokens are accepted.

use std::path::PathBuf;

use contract::id::OrganisationId;
use http::Uri;
use serde::{Deserialize, Serialize};

const LEEWAY_SECONDS_MAX: u64 = 60;
const REFRESH_SECONDS_MIN: u64 = 60;
const NAME_CHARS_MAX: usize = 40;

#[derive(Debug, thiserror::Error)]
pub enum OauthSettingsError {
    #[error("`{setting}` of the issuer `{issuer}`: expected {expected}")]
    Wrong { issuer: String, setting: &'static str, expected: &'static str },
    #[error("two issuers are called `{name}`: give each a `name`")]
    RepeatedName { name: String },
    #[error("`audience` must be the same for every issuer: it is the address of this server")]
    TwoAudiences,
}

/// Signatures that can be checked. None of them can be made with what a checker knows, so `HS256` is not among them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum SignatureAlgorithm {
    #[serde(rename = "RS256")]
    Rs256,
    #[serde(rename = "RS384")]
    Rs384,
    #[serde(rename = "RS512")]
    Rs512,
    #[serde(rename = "PS256")]
    Ps256,
    #[serde(rename = "PS384")]
    Ps384,
    #[serde(rename = "PS512")]
    Ps512,
    #[serde(rename = "ES256")]
    Es256,
    #[serde(rename = "ES384")]
    Es384,
    #[serde(rename = "EdDSA")]
    EdDsa,
}

/// One authorization server. What it signs is believed: who somebody is, their roles, scopes and organisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Issuer {
    /// Exactly as tokens have it in `iss`.
    pub issuer: String,
    /// The address of this server as clients know it, without a slash at the end; tokens must be meant for it.
    pub audience: String,
    /// Where the issuer's keys are. Either this or `jwks_file`.
    #[serde(default)]
    pub jwks_url: Option<String>,
    #[serde(default)]
    pub jwks_file: Option<PathBuf>,
    /// Its people are `{name}.{sub}` in events; from the issuer's host when absent.
    #[serde(default)]
    pub name: Option<String>,
    #[serde(default = "algorithms")]
    pub algorithms: Vec<SignatureAlgorithm>,
    /// Claim with the roles, such as `roles` or `realm_access.roles`.
    #[serde(default = "roles_claim")]
    pub roles_claim: String,
    /// Claim with the organisation. Without it everybody belongs to `organisation_id`, or to the house's own.
    #[serde(default)]
    pub organisation_claim: Option<String>,
    #[serde(default)]
    pub organisation_id: Option<OrganisationId>,
    /// How far the issuer's clock may be off.
    #[serde(default = "leeway_seconds")]
    pub leeway_seconds: u64,
    /// How long fetched keys are used before they are fetched again.
    #[serde(default = "refresh_seconds")]
    pub refresh_seconds: u64,
}

fn algorithms() -> Vec<SignatureAlgorithm> {
    vec![SignatureAlgorithm::Rs256, SignatureAlgorithm::Es256, SignatureAlgorithm::EdDsa]
}

fn roles_claim() -> String {
    "roles".to_owned()
}

fn leeway_seconds() -> u64 {
    30
}

fn refresh_seconds() -> u64 {
    900
}

impl Issuer {
    /// The word that keeps its people apart from those of other issuers and of the house.
    pub fn name(&self) -> String {
        let host = || {
            let host = self.issuer.parse::<Uri>().ok().and_then(|uri| uri.host().map(str::to_owned));
            let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
            host.unwrap_or_default().trim_matches(['[', ']']).chars().map(plain).take(NAME_CHARS_MAX).collect()
        };
        self.name.clone().unwrap_or_else(host)
    }

    fn check(&self) -> Result<(), OauthSettingsError> {
        let wrong = |setting: &'static str, expected: &'static str| {
            Err(OauthSettingsError::Wrong { issuer: self.issuer.clone(), setting, expected })
        };
        if !is_address(&self.issuer) {
            return wrong("issuer", "an https URL (http only on this machine)");
        }
        if !is_address(&self.audience) || self.audience.ends_with('/') {
            return wrong("audience", "the https URL of this server, without a slash at the end");
        }
        match (&self.jwks_url, &self.jwks_file) {
            (Some(url), None) if is_address(url) => {}
            (None, Some(_)) => {}
            (Some(_), None) => return wrong("jwks_url", "an https URL (http only on this machine)"),
            (Some(_), Some(_)) | (None, None) => return wrong("jwks_url", "either this or `jwks_file`"),
        }
        let name = self.name();
        let is_word = name.starts_with(|c: char| c.is_ascii_alphanumeric())
            && name.len() <= NAME_CHARS_MAX
            && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        if !is_word {
            return wrong("name", "1 to 40 letters, digits or `-`, the first a letter or digit");
        }
        if self.algorithms.is_empty() {
            return wrong("algorithms", "at least one");
        }
        if self.organisation_claim.is_some() && self.organisation_id.is_some() {
            return wrong("organisation_id", "either this or `organisation_claim`");
        }
        if self.leeway_seconds > LEEWAY_SECONDS_MAX {
            return wrong("leeway_seconds", "at most 60");
        }
        if self.refresh_seconds < REFRESH_SECONDS_MIN {
            return wrong("refresh_seconds", "at least 60");
        }
        Ok(())
    }
}

/// Checks every issuer, and that they can be told apart.
pub fn check(issuers: &[Issuer]) -> Result<(), OauthSettingsError> {
    let mut names = std::collections::BTreeSet::new();
    for issuer in issuers {
        issuer.check()?;
        if !names.insert(issuer.name()) {
            return Err(OauthSettingsError::RepeatedName { name: issuer.name() });
        }
    }
    let mut audiences = issuers.iter().map(|issuer| &issuer.audience);
    let first = audiences.next();
    if audiences.any(|audience| Some(audience) != first) {
        return Err(OauthSettingsError::TwoAudiences);
    }
    Ok(())
}

/// Tokens and keys must not travel in the clear, except within this machine.
fn is_address(text: &str) -> bool {
    if text.contains(['?', '#', '@']) {
        return false;
    }
    let Ok(uri) = text.parse::<Uri>() else { return false };
    match (uri.scheme_str(), uri.host()) {
        (Some("https"), Some(host)) => !host.is_empty(),
        (Some("http"), Some(host)) => is_loopback(host),
        (_, _) => false,
    }
}

pub fn is_loopback(host: &str) -> bool {
    matches!(host, "localhost" | "127.0.0.1" | "[::1]")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issuer() -> Issuer {
        serde_json::from_value(serde_json::json!({
            "issuer": "https://login.example/realms/a", "audience": "https://materia.example/mcp",
            "jwks_url": "https://login.example/keys",
        }))
        .unwrap()
    }

    #[test]
    fn defaults_are_safe_and_the_name_comes_from_the_host() {
        let issuer = issuer();
        assert!(issuer.check().is_ok());
        assert_eq!((issuer.leeway_seconds, issuer.name()), (30, "login-example".to_owned()));
        let names = serde_json::to_value(&issuer.algorithms).unwrap();
        assert_eq!(names, serde_json::json!(["RS256", "ES256", "EdDSA"]));
    }

    #[test]
    fn algorithms_that_a_checker_could_forge_cannot_be_set() {
        for name in ["none", "HS256", "HS512", "rs256"] {
            assert!(serde_json::from_value::<SignatureAlgorithm>(serde_json::json!(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn what_would_weaken_the_check_is_refused() {
        let check = |change: fn(&mut Issuer), setting: &str| {
            let mut issuer = issuer();
            change(&mut issuer);
            let error = issuer.check().unwrap_err().to_string();
            assert!(error.starts_with(&format!("`{setting}` of")), "{error}");
        };
        check(|issuer| issuer.issuer = "http://login.example".to_owned(), "issuer");
        check(|issuer| issuer.audience.push('/'), "audience");
        check(|issuer| issuer.audience = "materia".to_owned(), "audience");
        check(|issuer| issuer.jwks_url = Some("http://login.example/keys".to_owned()), "jwks_url");
        check(|issuer| issuer.jwks_url = Some("https://me@login.example/keys".to_owned()), "jwks_url");
        check(|issuer| issuer.jwks_url = None, "jwks_url");
        check(|issuer| issuer.jwks_file = Some("keys.json".into()), "jwks_url");
        check(|issuer| issuer.name = Some("a.b".to_owned()), "name");
        check(|issuer| issuer.algorithms.clear(), "algorithms");
        check(|issuer| issuer.leeway_seconds = 61, "leeway_seconds");
        check(|issuer| issuer.refresh_seconds = 0, "refresh_seconds");
    }

    #[test]
    fn issuers_must_be_told_apart_and_agree_on_the_audience() {
        assert!(matches!(check(&[issuer(), issuer()]), Err(OauthSettingsError::RepeatedName { .. })));
        let named = Issuer { name: Some("b".to_owned()), ..issuer() };
        assert!(check(&[issuer(), named.clone()]).is_ok());
        let elsewhere = Issuer { audience: "https://other.example".to_owned(), ..named };
        assert!(matches!(check(&[issuer(), elsewhere]), Err(OauthSettingsError::TwoAudiences)));
    }
}
