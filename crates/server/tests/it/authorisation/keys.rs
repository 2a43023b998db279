//! The life of an API key, whichever process serves it.

use std::net::SocketAddr;
use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ops::Clock;
use ops::operations::OPERATIONS;
use reqwest::StatusCode;
use serde_json::{Value, json};
use server::assemble;
use server::owner::{House, HouseOptions, StarterData};
use server::serve::Server;
use server::settings::Settings;

use super::lab::{Serving, events, log, n_ended, n_refused, send};
use crate::house::materia;
use crate::ids;

const TAKE: &str = "get_next_available_id";
/// Revocation takes effect within seconds.
const REVOKED_WITHIN: Duration = Duration::from_secs(5);
const DAY_US: i64 = 86_400_000_000;

fn take() -> Value {
    json!({"artifact_type": "US"})
}

/// `materia key …`, as typed in a second terminal.
fn materia_key(data: &std::path::Path, arguments: &[&str]) -> String {
    let mut command = materia();
    command.arg("key").args(arguments).arg("--data").arg(data).stdin(Stdio::null());
    let output = command.output().expect("`materia` starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`materia key` ended with {}: {errors}", output.status);
    String::from_utf8(output.stdout).expect("text")
}

fn text(value: &Value, member: &str) -> String {
    value[member].as_str().unwrap_or_else(|| panic!("no `{member}` in {value}")).to_owned()
}

/// Waits until the key is refused, and says why.
async fn refused(serving: &Serving, key: &str) -> String {
    let deadline = Instant::now() + REVOKED_WITHIN;
    loop {
        let answer = serving.rest(key, "list_artifact_types", &json!({})).await;
        if answer.status == StatusCode::UNAUTHORIZED {
            return text(&answer.body["error"], "message");
        }
        assert!(Instant::now() < deadline, "the key still opens the door");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_key_works_on_owner_and_guest_until_it_is_revoked() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let mut owner = Serving::start(&data);
    let mut guest = Serving::start(&data);
    let arguments = ["create", "--actor", "robot", "--role", "agent", "--scope", "id.reserve", "--json"];
    let created: Value = serde_json::from_str(&materia_key(&data, &arguments)).expect("JSON");
    let (key, key_id) = (text(&created, "key"), text(&created, "key_id"));
    assert_eq!(key.len(), 3 + 16 + 1 + 64, "mk_, an id of 16, a secret of 64 characters");
    for serving in [&owner, &guest] {
        assert_eq!(serving.rest(&key, TAKE, &take()).await.status, StatusCode::OK);
        // The same key limits its holder wherever it is shown, and without a challenge: there is no better one to get.
        let denied = serving.rest(&key, "list_keys", &json!({})).await;
        assert_eq!((denied.status, denied.challenge.as_str()), (StatusCode::FORBIDDEN, ""));
        for wrong in [format!("{key}0"), format!("mk_{key_id}_wrong"), "mk_0000000000000000_wrong".to_owned()] {
            assert_eq!(serving.rest(&wrong, TAKE, &take()).await.status, StatusCode::UNAUTHORIZED, "{wrong}");
        }
    }
    let session = ids::http_client().post(format!("{}/session", guest.http)).bearer_auth(&key).send().await;
    let session = session.expect("an answer").headers()["set-cookie"].to_str().expect("text").to_owned();

    let start_token = std::fs::read_to_string(data.join("token")).expect("the owner's token");
    let revoke = guest.rest(start_token.trim(), "revoke_key", &json!({"key_id": key_id})).await;
    assert_eq!(revoke.status, StatusCode::OK, "{}", revoke.body);
    assert_eq!(refused(&owner, &key).await, "the key was revoked");
    assert_eq!(refused(&guest, &key).await, "the key was revoked");
    let list = ids::http_client().get(format!("{}/api/tools", guest.http));
    let cookie = session.split(';').next().expect("a cookie");
    assert_eq!(
        send(list.header("Cookie", cookie)).await.status,
        StatusCode::UNAUTHORIZED,
        "the session outlived its key"
    );
    let listed = materia_key(&data, &["list"]);
    assert!(listed.starts_with("ID") && listed.contains(&key_id) && !listed.contains(&key), "{listed}");

    // The guest takes over and goes on knowing keys.
    let second: Value = serde_json::from_str(&materia_key(
        &data,
        &["create", "--actor", "second", "--role", "author", "--expires-in-days", "30", "--json"],
    ))
    .expect("JSON");
    owner.kill();
    assert_eq!(guest.rest(&text(&second, "key"), TAKE, &take()).await.status, StatusCode::OK);
    guest.stop();
    let (events, log) = (events(&data).await, log(&data));
    assert_eq!(n_ended(&events, "create_key", "ok"), 2);
    assert_eq!(n_ended(&events, "list_keys", "denied"), 2);
    assert!(n_refused(&events, "KEY_REVOKED") >= 1);
    let taken = events.iter().find(|event| event["operation"] == TAKE).expect("a call with the key");
    assert_eq!(taken["actor"], json!({"id": "robot", "kind": "agent", "key_id": key_id}));
    let (_, secret) = key.rsplit_once('_').expect("a secret");
    assert!(!log.contains(secret), "the key is in the log");
    assert!(events.iter().all(|event| !event.to_string().contains(secret)), "the key is in an event");
}

/// What somebody with the database in hand would do.
async fn change(data: &std::path::Path, statements: &'static [&'static str]) {
    let target = store::Target::Sqlite(data.join("materia.db"));
    let migrations = ops::migrations();
    let options = store::Options { target, migrations, n_connections_max: 1, write_queue_max: 1, batch_max: 1 };
    let store = store::Store::open(options).await.expect("the database opens");
    let apply: store::Apply<()> = Box::new(move |tx| {
        Box::pin(async move {
            for sql in statements {
                tx.execute(sql, &[]).await?;
            }
            Ok(store::Applied { value: (), event: None, keep: store::Keep::Changes })
        })
    });
    store.write(None, tokio::time::Instant::now() + REVOKED_WITHIN, apply).await.expect("the change is made");
    store.close().await;
}

#[tokio::test]
async fn a_role_given_in_the_database_opens_nothing_on_owner_and_guest_and_is_told_after_it_was_taken_back() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let mut owner = Serving::start(&data);
    let mut guest = Serving::start(&data);
    let made: Value =
        serde_json::from_str(&materia_key(&data, &["create", "--actor", "r", "--role", "viewer", "--json"]))
            .expect("JSON");
    let (key, key_id) = (text(&made, "key"), text(&made, "key_id"));
    let list = "list_artifact_types";
    assert_eq!(owner.rest(&key, list, &json!({})).await.status, StatusCode::OK);
    change(&data, &["UPDATE api_keys SET roles = REPLACE(roles, 'viewer', 'admin')"]).await;
    for serving in [&owner, &guest] {
        assert_eq!(refused(serving, &key).await, "the token is not known");
        assert_eq!(serving.rest(&key, "list_keys", &json!({})).await.status, StatusCode::UNAUTHORIZED);
    }
    change(&data, &["UPDATE api_keys SET roles = REPLACE(roles, 'admin', 'viewer')"]).await;
    let deadline = Instant::now() + REVOKED_WITHIN;
    while owner.rest(&key, list, &json!({})).await.status != StatusCode::OK {
        assert!(Instant::now() < deadline, "the key is as it was and opens nothing");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let health = ids::http_client().get(format!("{}/health", guest.http)).send().await.expect("an answer");
    let health: Value = health.json().await.expect("JSON");
    assert_eq!((&health["status"], &health["dependencies"]["log"]), (&json!("doubted"), &json!("doubted")));
    guest.stop();
    owner.stop();
    let events = events(&data).await;
    assert!(n_refused(&events, "KEY_CHANGED") >= 2, "{events:?}");
    let doubts = |code: &str| events.iter().filter(|e| e["operation"] == "note_doubt" && e["code"] == code).count();
    assert_eq!(doubts("KEY_CHANGED"), 1, "{events:?}");
    let mut verify = materia();
    let verified = verify.args(["audit", "verify", "--data"]).arg(&data).output().expect("`materia` starts");
    let told = String::from_utf8_lossy(&verified.stdout).into_owned();
    assert!(!verified.status.success() && told.contains(&format!("key `{key_id}` had a row without a seal")), "{told}");
}

/// A house whose clock the test sets.
async fn house(data: &std::path::Path, clock: Clock) -> (Arc<House>, Settings) {
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    let settings = Settings {
        listen: anywhere,
        tasks_listen: anywhere,
        ids_listen: anywhere,
        grpc_listen: anywhere,
        starter_data: false,
        ..Settings::default()
    };
    let options = HouseOptions {
        folder: data.to_owned(),
        organisation_id: settings.organisation_id.clone(),
        starter_data: StarterData::Load,
        database_url: None,
        entries: OPERATIONS,
        settings: settings.for_operations(),
        services: assemble::services(data, &settings).expect("the built-in types"),
        clock,
        files: assemble::files(data, &settings),
        ledger_key_file: None,
        witnesses: Vec::new(),
        witness_cosignatures_min: None,
        slow_call_after: None,
    };
    (House::enter(options).await.expect("the house opens"), settings)
}

#[tokio::test]
async fn a_key_expires_to_the_moment() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let start_us = 1_770_231_600_000_000;
    let clock = Clock::manual(start_us);
    let (house, settings) = house(folder.path(), clock.clone()).await;
    let server = Server::start(house, &settings, "start-token").await.expect("the server starts");
    let url = |operation: &str| format!("http://{}/api/tools/{operation}", server.http);
    let wanted = json!({"actor_id": "robot", "roles": ["agent"], "expires_in_days": 1});
    let created = send(ids::http_client().post(url("create_key")).bearer_auth("start-token").json(&wanted)).await;
    let key = text(&created.body, "key");
    assert_eq!(created.body["expires_at"], "2026-02-05T19:00:00.000Z");
    let status = async || send(ids::http_client().post(url(TAKE)).bearer_auth(&key).json(&take())).await;
    clock.set_us(start_us + DAY_US - 1);
    assert_eq!(status().await.status, StatusCode::OK);
    clock.set_us(start_us + DAY_US);
    let answer = status().await;
    assert_eq!(
        (answer.status, text(&answer.body["error"], "message")),
        (StatusCode::UNAUTHORIZED, "the key has expired".to_owned())
    );
    server.stop().await.unwrap();
    assert_eq!(n_refused(&events(folder.path()).await, "KEY_EXPIRED"), 1);
}
