//! Attack cases 4 to 9: what a token must be, and what it may do.

use std::os::unix::fs::OpenOptionsExt as _;
use std::process::Command;

use reqwest::StatusCode;
use ring::hmac;
use serde_json::{Value, json};

use super::issuer::{AUDIENCE, KEYS, Keys, Kind, Web, encoded, merged, now, ok, unsigned, usual_claims};
use super::lab::{Answer, Lab, n_ended, n_refused, send};
use crate::ids;

const TAKE: &str = "get_next_available_id";

fn take() -> Value {
    json!({"artifact_type": "US"})
}

#[track_caller]
fn check_refused(answer: &Answer, why: &str) {
    assert_eq!(answer.status, StatusCode::UNAUTHORIZED, "{why}: {}", answer.body);
    let expected = "resource_metadata=\"https://materia.example/.well-known/oauth-protected-resource/mcp\"";
    assert!(answer.challenge.starts_with("Bearer realm=\"materia\""), "{why}: {}", answer.challenge);
    assert!(answer.challenge.contains(expected), "{why}: {}", answer.challenge);
}

#[track_caller]
fn check_invalid(answer: &Answer, why: &str) {
    check_refused(answer, why);
    assert!(answer.challenge.contains("error=\"invalid_token\""), "{why}: {}", answer.challenge);
}

#[tokio::test]
async fn somebody_without_a_token_is_told_where_to_get_one() {
    let lab = Lab::usual();
    let http = ids::http_client();
    let base = &lab.serving.http;
    let token = lab.token(&json!({}));
    for url in
        [format!("{base}/mcp"), format!("{base}/api/tools/{TAKE}"), format!("{}/ids/next?type=US", lab.serving.ids)]
    {
        for query in [String::new(), format!("access_token={token}"), format!("token={token}")] {
            let mut address = reqwest::Url::parse(&url).expect("a URL");
            if !query.is_empty() {
                address.query_pairs_mut().extend_pairs(query.split_once('='));
            }
            let request = if url.contains("/ids/") { http.get(address) } else { http.post(address).json(&take()) };
            let answer = send(request).await;
            check_refused(&answer, &url);
            assert!(!answer.challenge.contains("error="), "{}", answer.challenge);
            assert!(
                answer.challenge.contains(
                    "scope=\"artifact.approve artifact.write audit.read id.reserve job.run task.write\""
                ),
                "{}",
                answer.challenge
            );
        }
    }
    for path in ["", "/mcp"] {
        let answer = send(http.get(format!("{base}/.well-known/oauth-protected-resource{path}"))).await;
        assert_eq!(answer.status, StatusCode::OK);
        assert_eq!(answer.body["resource"], AUDIENCE);
        assert_eq!(answer.body["authorization_servers"], json!([lab.issuer.url]));
        assert_eq!(answer.body["bearer_methods_supported"], json!(["header"]));
        assert!(answer.body["scopes_supported"].as_array().expect("a list").contains(&json!("id.reserve")));
    }
    assert!(!lab.log().contains(&token), "a token is in the log");
    assert_eq!(n_refused(&lab.stop().await, "NO_TOKEN"), 9);
}

#[tokio::test]
async fn a_good_token_of_every_kind_is_let_in_and_the_event_names_its_issuer() {
    let lab = Lab::usual();
    for kind in Kind::ALL {
        let token = KEYS.token(kind, &lab.issuer.url, &json!({}), &json!({"aud": ["https://other.example", AUDIENCE]}));
        let answer = lab.rest(&token, TAKE, &take()).await;
        assert_eq!(answer.status, StatusCode::OK, "{kind:?}: {}", answer.body);
        let call = lab.mcp(&token, "tools/call", &json!({"name": TAKE, "arguments": take()})).await;
        assert_eq!(call.body["result"]["structuredContent"]["success"], true, "{kind:?}: {}", call.body);
    }
    // The issuer's clock may be a little off.
    let late = lab.token(&json!({"exp": now() - 5}));
    assert_eq!(lab.rest(&late, TAKE, &take()).await.status, StatusCode::OK);
    let (issuer, requests) = (lab.issuer.url.clone(), lab.issuer.requests());
    assert_eq!(requests.len(), 1, "the keys are fetched once: {requests:?}");
    let events = lab.stop().await;
    assert_eq!(n_ended(&events, TAKE, "ok"), 7);
    let expected = json!({"id": "idp.alice", "kind": "human", "issuer": issuer, "client_id": "portal"});
    assert_eq!(events[0]["actor"], expected);
}

/// Case 6.
#[tokio::test]
async fn a_token_that_anybody_could_have_signed_is_refused() {
    let lab = Lab::usual();
    let claims = usual_claims(&lab.issuer.url);
    for name in ["none", "None", "NONE", ""] {
        let token = format!("{}.", unsigned(&json!({"typ": "JWT", "alg": name, "kid": "rsa"}), &claims));
        check_invalid(&lab.rest(&token, TAKE, &take()).await, name);
    }
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{}\n-----END PUBLIC KEY-----\n", encoded(&KEYS.rsa_public_der));
    let modulus = KEYS.jwk(Kind::Rsa)["n"].as_str().expect("a modulus").to_owned();
    for secret in [KEYS.rsa_public_der.as_slice(), pem.as_bytes(), modulus.as_bytes(), b""] {
        let message = unsigned(&json!({"typ": "JWT", "alg": "HS256", "kid": "rsa"}), &claims);
        let signature = hmac::sign(&hmac::Key::new(hmac::HMAC_SHA256, secret), message.as_bytes());
        let token = format!("{message}.{}", encoded(signature.as_ref()));
        check_invalid(&lab.rest(&token, TAKE, &take()).await, "HS256");
    }
    // A key of one kind under the name of another.
    let crossed = KEYS.token(Kind::Ed, &lab.issuer.url, &json!({"kid": "rsa"}), &json!({}));
    check_invalid(&lab.rest(&crossed, TAKE, &take()).await, "crossed");
    let events = lab.stop().await;
    assert_eq!(n_refused(&events, "MALFORMED_TOKEN"), 4);
    assert_eq!(n_refused(&events, "FORBIDDEN_ALGORITHM"), 5);
    assert_eq!(n_ended(&events, TAKE, "ok"), 0);
}

/// Case 7.
#[tokio::test]
async fn a_token_for_somebody_else_is_refused_and_never_passed_on() {
    let lab = Lab::usual();
    let mut tokens = Vec::new();
    for audience in [
        json!("https://other.example"),
        json!(["https://other.example", "https://third.example"]),
        json!(format!("{AUDIENCE}/")),
        json!("https://materia.example"),
        json!(AUDIENCE.to_uppercase()),
        json!([]),
        json!({"a": AUDIENCE}),
        Value::Null,
    ] {
        let token = lab.token(&json!({"aud": audience}));
        check_invalid(&lab.rest(&token, TAKE, &take()).await, &audience.to_string());
        check_invalid(&lab.mcp(&token, "tools/list", &json!({})).await, &audience.to_string());
        tokens.push(token);
    }
    let (log, requests) = (lab.log(), lab.issuer.requests());
    assert_eq!(requests.len(), 1, "{requests:?}");
    assert!(requests[0].starts_with("GET /jwks HTTP/1.1"), "{requests:?}");
    assert!(!requests[0].to_lowercase().contains("authorization"), "{requests:?}");
    let events = lab.stop().await;
    assert_eq!(n_refused(&events, "WRONG_AUDIENCE"), 16);
    for token in tokens {
        let signature = token.rsplit('.').next().expect("a signature");
        let nowhere = !log.contains(signature) && !requests[0].contains(signature);
        assert!(nowhere && events.iter().all(|event| !event.to_string().contains(signature)));
    }
}

/// Case 8.
#[tokio::test]
async fn nothing_that_a_token_says_of_itself_is_followed() {
    let lab = Lab::usual();
    let trap = Web::publishing(&KEYS);
    let fifo = lab.data().join("passwd");
    assert!(Command::new("mkfifo").arg(&fifo).status().expect("mkfifo starts").success());
    let stranger = Keys::make();
    let by = |keys: &Keys, header: Value, claims: Value| keys.token(Kind::Ed, &lab.issuer.url, &header, &claims);
    let cases = [
        ("TOKEN_EXPIRED", by(&KEYS, json!({}), json!({"exp": now() - 120}))),
        ("TOKEN_NOT_YET_VALID", by(&KEYS, json!({}), json!({"nbf": now() + 120}))),
        ("MISSING_CLAIM", by(&KEYS, json!({}), json!({"exp": null}))),
        ("MISSING_CLAIM", by(&KEYS, json!({}), json!({"sub": null}))),
        ("WRONG_ISSUER", by(&KEYS, json!({}), json!({"iss": trap.url}))),
        ("WRONG_ISSUER", by(&KEYS, json!({}), json!({"iss": format!("{}/", lab.issuer.url)}))),
        ("MALFORMED_TOKEN", by(&KEYS, json!({}), json!({"iss": [lab.issuer.url]}))),
        ("UNKNOWN_SIGNING_KEY", by(&KEYS, json!({"kid": "other"}), json!({}))),
        ("UNKNOWN_SIGNING_KEY", by(&KEYS, json!({"kid": null}), json!({}))),
        ("UNKNOWN_SIGNING_KEY", by(&KEYS, json!({"kid": "../../etc/passwd"}), json!({}))),
        ("UNKNOWN_SIGNING_KEY", by(&KEYS, json!({"kid": fifo.to_str()}), json!({}))),
        ("UNKNOWN_SIGNING_KEY", by(&KEYS, json!({"kid": format!("file://{}", fifo.display())}), json!({}))),
        ("UNKNOWN_SIGNING_KEY", by(&KEYS, json!({"kid": format!("{}/jwks", trap.url)}), json!({}))),
        ("UNKNOWN_SIGNING_KEY", by(&KEYS, json!({"kid": "ed' OR '1'='1"}), json!({}))),
        ("BAD_SIGNATURE", by(&stranger, json!({}), json!({}))),
        ("BAD_SIGNATURE", by(&stranger, json!({"jwk": stranger.jwk(Kind::Ed)}), json!({}))),
        ("BAD_SIGNATURE", by(&stranger, json!({"jku": format!("{}/jwks", trap.url)}), json!({}))),
        ("BAD_SIGNATURE", by(&stranger, json!({"x5u": format!("{}/jwks", trap.url)}), json!({}))),
        ("MALFORMED_TOKEN", by(&KEYS, json!({"crit": ["exp"]}), json!({}))),
        ("MALFORMED_TOKEN", by(&KEYS, json!({"typ": "logout+jwt"}), json!({}))),
        ("MALFORMED_TOKEN", by(&KEYS, json!({}), json!({"cnf": {"jkt": "x"}}))),
        ("MALFORMED_TOKEN", "a.b.c".to_owned()),
        ("MALFORMED_TOKEN", "x".repeat(8_000)),
    ];
    for (code, token) in &cases {
        check_invalid(&lab.rest(token, TAKE, &take()).await, code);
    }
    // A good token whose claims were changed afterwards.
    let good = lab.token(&json!({}));
    let (signed, signature) = good.rsplit_once('.').expect("a signature");
    let header = signed.split('.').next().expect("a header");
    let claims = merged(usual_claims(&lab.issuer.url), &json!({"sub": "mallory"})).to_string();
    let changed = format!("{header}.{}.{signature}", encoded(claims.as_bytes()));
    check_invalid(&lab.rest(&changed, TAKE, &take()).await, "changed");

    assert_eq!(trap.requests(), Vec::<String>::new(), "the server went where a token sent it");
    let requests = lab.issuer.requests();
    assert_eq!(requests.len(), 1, "unknown keys are asked for at most once a minute: {requests:?}");
    let flags = rustix::fs::OFlags::NONBLOCK.bits().cast_signed();
    let opened = std::fs::File::options().write(true).custom_flags(flags).open(&fifo);
    // A pipe that nobody reads cannot be opened for writing without waiting.
    assert_eq!(opened.err().and_then(|error| error.raw_os_error()), Some(6), "the server opened a file");
    let log = lab.log();
    let events = lab.stop().await;
    for code in ["TOKEN_EXPIRED", "UNKNOWN_SIGNING_KEY", "WRONG_ISSUER", "MISSING_CLAIM", "MALFORMED_TOKEN"] {
        let expected = cases.iter().filter(|(known, _)| *known == code).count();
        assert_eq!(n_refused(&events, code), u64::try_from(expected).expect("a count"), "{code}");
    }
    assert_eq!(n_refused(&events, "BAD_SIGNATURE"), 5);
    assert_eq!(n_ended(&events, TAKE, "ok"), 0);
    assert!(cases.iter().all(|(_, token)| token == "a.b.c" || !log.contains(token)), "a token is in the log");
}

/// Case 9.
#[tokio::test]
async fn a_token_without_the_scope_of_a_tool_is_told_which_one_it_lacks() {
    let lab = Lab::usual();
    let reserve = json!({"artifact_type": "US", "count": 1});
    let call = json!({"name": "reserve_id_range", "arguments": reserve});
    let limited = lab.token(&json!({"scope": "patient/Observation.rs", "patient": "p-1"}));
    let foreign = lab.token(&json!({"scope": "openid profile"}));
    let mut n_denied = 0;
    for token in [&limited, &foreign] {
        let over_mcp = lab.mcp(token, "tools/call", &call).await;
        let over_rest = lab.rest(token, "reserve_id_range", &reserve).await;
        let to_service = ids::http_client().post(format!("{}/ids/reserve", lab.serving.ids)).bearer_auth(token);
        let to_service = send(to_service.json(&json!({"type": "US", "count": 1}))).await;
        for answer in [over_mcp, over_rest, to_service] {
            assert_eq!(answer.status, StatusCode::FORBIDDEN, "{}", answer.body);
            assert_eq!(
                answer.challenge,
                "Bearer realm=\"materia\", error=\"insufficient_scope\", error_description=\"the token may not do this\", \
                 resource_metadata=\"https://materia.example/.well-known/oauth-protected-resource/mcp\", \
                 scope=\"id.reserve\""
            );
            n_denied += 1;
        }
        // What asks for no scope is open to it.
        assert_eq!(lab.mcp(token, "tools/list", &json!({})).await.status, StatusCode::OK);
        assert_eq!(lab.rest(token, "list_artifact_types", &json!({})).await.status, StatusCode::OK);
    }
    // A role that is missing is not mended by a scope.
    let viewer = lab.rest(&lab.token(&json!({"roles": ["viewer"]})), "reserve_id_range", &reserve).await;
    assert_eq!(viewer.status, StatusCode::FORBIDDEN);
    assert!(
        viewer.challenge.contains("insufficient_scope") && !viewer.challenge.contains(" scope="),
        "{}",
        viewer.challenge
    );
    let able = lab.token(&json!({"scope": "id.reserve"}));
    assert_eq!(lab.mcp(&able, "tools/call", &call).await.body["result"]["structuredContent"]["success"], true);
    let events = lab.stop().await;
    assert_eq!(n_ended(&events, "reserve_id_range", "denied"), n_denied + 1);
    assert_eq!(n_ended(&events, "reserve_id_range", "ok"), 1);
}

#[tokio::test]
async fn a_session_that_was_opened_with_a_token_ends_with_it() {
    let lab = Lab::usual();
    let http = ids::http_client();
    let cookie = async |token: &str| {
        let opened = http.post(format!("{}/session", lab.serving.http)).bearer_auth(token).send().await;
        let cookie = opened.expect("an answer").headers()["set-cookie"].to_str().expect("text").to_owned();
        cookie.split(';').next().expect("a cookie").to_owned()
    };
    let list = async |cookie: String| {
        send(http.get(format!("{}/api/tools", lab.serving.http)).header("Cookie", cookie)).await.status
    };
    let lasting = cookie(&lab.token(&json!({}))).await;
    assert_eq!(list(lasting).await, StatusCode::OK);
    // Within the leeway for the issuer's clock, and over for a session.
    let over = cookie(&lab.token(&json!({"exp": now() - 2}))).await;
    assert_eq!(list(over).await, StatusCode::UNAUTHORIZED);
}

#[tokio::test]
async fn an_issuer_out_of_order_stops_its_tokens_and_nothing_else() {
    let trap = Web::publishing(&KEYS);
    let moved = format!("HTTP/1.1 302 Found\r\nLocation: {}/jwks\r\nContent-Length: 0\r\n\r\n", trap.url);
    let huge = ok(&format!("{{\"keys\":[],\"more\":\"{}\"}}", "x".repeat(300 * 1024)));
    for answer in [moved, huge, ok("<html>"), "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n".to_owned()] {
        let lab = Lab::start(Web::start(answer), "");
        let answer = lab.rest(&lab.token(&json!({})), TAKE, &take()).await;
        assert_eq!(answer.status, StatusCode::SERVICE_UNAVAILABLE, "{}", answer.body);
        let owner = std::fs::read_to_string(lab.data().join("token")).expect("the owner's token");
        assert_eq!(lab.rest(owner.trim(), TAKE, &take()).await.status, StatusCode::OK);
        assert_eq!(n_refused(&lab.stop().await, "AUTHENTICATION_UNAVAILABLE"), 1);
    }
    assert_eq!(trap.requests(), Vec::<String>::new(), "a redirect was followed");
}
