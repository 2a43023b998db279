//! What clients are told so that they can get a token: the metadata of RFC 9728 and the challenges of RFC 6750.

use axum::Router;
use axum::response::Response;
use axum::routing::get;
use http::{HeaderValue, StatusCode, Uri};
use ops::Table;
use serde_json::{Value, json};

use crate::auth::Refusal;
use crate::edge::answer;
use crate::settings::oauth::Issuer;

const WELL_KNOWN: &str = "/.well-known/oauth-protected-resource";

/// Challenges of one server.
pub struct Challenge {
    /// Where the metadata is; absent where no authorization server is known, and clients need a key.
    metadata_url: Option<String>,
    /// What a client should ask for that wants to use the tools.
    scope: String,
}

impl Challenge {
    pub fn new(issuers: &[Issuer], table: &Table) -> Challenge {
        let metadata_url = issuers.first().and_then(|issuer| metadata_url(&issuer.audience));
        let tools = table.listed(None).filter_map(|tool| tool.scope.as_ref().map(ToString::to_string));
        Challenge { metadata_url, scope: sorted(tools).join(" ") }
    }

    /// `WWW-Authenticate` of a 401.
    pub fn unauthenticated(&self, refusal: Refusal) -> HeaderValue {
        // Who sent nothing is told of no error (RFC 6750 § 3.1).
        let error = (refusal != Refusal::NoToken).then(|| ("invalid_token", refusal.message()));
        self.challenge(error, Some(&self.scope))
    }

    /// `WWW-Authenticate` of a 403 for a token: which scope would help, where one would.
    pub fn insufficient(&self, scope: Option<&str>) -> HeaderValue {
        self.challenge(Some(("insufficient_scope", "the token may not do this")), scope)
    }

    fn challenge(&self, error: Option<(&str, &str)>, scope: Option<&str>) -> HeaderValue {
        let mut text = "Bearer realm=\"materia\"".to_owned();
        let mut add = |name: &str, value: &str| text.push_str(&format!(", {name}=\"{value}\""));
        if let Some((error, description)) = error {
            add("error", error);
            add("error_description", description);
        }
        if let Some(url) = &self.metadata_url {
            add("resource_metadata", url);
            if let Some(scope) = scope.filter(|scope| !scope.is_empty()) {
                add("scope", scope);
            }
        }
        HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("Bearer realm=\"materia\""))
    }
}

/// The address of the metadata: the well-known path stands between the resource's host and its path (RFC 9728 § 3.1).
fn metadata_url(audience: &str) -> Option<String> {
    let uri: Uri = audience.parse().ok()?;
    let path = uri.path().trim_end_matches('/');
    Some(format!("{}://{}{WELL_KNOWN}{path}", uri.scheme_str()?, uri.authority()?))
}

/// The metadata for everybody, at the path of the whole server and at that of its MCP endpoint. Nothing where no
/// authorization server is known: a client would look for one in vain.
pub fn routes(issuers: &[Issuer], table: &Table) -> Router {
    let Some(issuer) = issuers.first() else { return Router::new() };
    let servers: Vec<&str> = issuers.iter().map(|issuer| issuer.issuer.as_str()).collect();
    let scopes = table.all().iter().filter_map(|tool| tool.scope.as_ref().map(ToString::to_string));
    let document = json!({
        "resource": issuer.audience,
        "resource_name": "Materia",
        "authorization_servers": servers,
        "scopes_supported": sorted(scopes),
        "bearer_methods_supported": ["header"],
    });
    let show = move || {
        let document = document.clone();
        async move { shown(&document) }
    };
    Router::new().route(WELL_KNOWN, get(show.clone())).route(&format!("{WELL_KNOWN}/mcp"), get(show))
}

fn shown(document: &Value) -> Response {
    answer(StatusCode::OK, document)
}

fn sorted(words: impl Iterator<Item = String>) -> Vec<String> {
    words.collect::<std::collections::BTreeSet<_>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use ops::operations::OPERATIONS;

    fn challenge(audience: Option<&str>) -> Challenge {
        let table = Table::compile(OPERATIONS).unwrap();
        let issuer = audience.map(|audience| {
            let settings = json!({"issuer": "https://login.example", "audience": audience, "jwks_file": "x"});
            serde_json::from_value(settings).unwrap()
        });
        Challenge::new(&Vec::from_iter(issuer), &table)
    }

    #[test]
    fn the_metadata_stand_between_the_host_and_the_path() {
        let check = |audience: &str, expected: &str| assert_eq!(metadata_url(audience).as_deref(), Some(expected));
        check("https://a.example", "https://a.example/.well-known/oauth-protected-resource");
        check("https://a.example/mcp", "https://a.example/.well-known/oauth-protected-resource/mcp");
        check("http://127.0.0.1:8787/mcp", "http://127.0.0.1:8787/.well-known/oauth-protected-resource/mcp");
    }

    #[test]
    fn a_challenge_says_what_is_wrong_and_where_to_get_a_token() {
        let challenge = challenge(Some("https://a.example/mcp"));
        assert_eq!(
            challenge.unauthenticated(Refusal::NoToken),
            "Bearer realm=\"materia\", \
             resource_metadata=\"https://a.example/.well-known/oauth-protected-resource/mcp\", scope=\"artifact.approve artifact.write audit.read id.reserve job.run task.write\""
        );
        assert_eq!(
            challenge.unauthenticated(Refusal::TokenExpired),
            "Bearer realm=\"materia\", error=\"invalid_token\", error_description=\"the token has expired\", \
             resource_metadata=\"https://a.example/.well-known/oauth-protected-resource/mcp\", scope=\"artifact.approve artifact.write audit.read id.reserve job.run task.write\""
        );
        assert_eq!(
            challenge.insufficient(Some("audit.read")),
            "Bearer realm=\"materia\", error=\"insufficient_scope\", error_description=\"the token may not do this\", \
             resource_metadata=\"https://a.example/.well-known/oauth-protected-resource/mcp\", scope=\"audit.read\""
        );
    }

    #[test]
    fn without_an_authorization_server_nobody_is_sent_to_one() {
        assert_eq!(challenge(None).unauthenticated(Refusal::NoToken), "Bearer realm=\"materia\"");
    }
}
