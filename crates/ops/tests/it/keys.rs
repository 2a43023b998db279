//! API keys through the door, on both engines.

use contract::actor::{Actor, ActorKind, Credential};
use contract::canonical::digest;
use contract::id::KeyId;
use contract::scope::Scope;
use ops::keys::FoundKey;
use ops::operations::OPERATIONS;
use serde_json::{Value, json};
use store::Row;

use crate::ledger::{run_sql, tamper, verify};
use crate::script::{START_US, Stage, actor, check, on_postgres, on_sqlite};

const DAY_US: i64 = 86_400_000_000;

async fn both() -> [Stage; 2] {
    [on_sqlite(OPERATIONS).await, on_postgres(OPERATIONS).await]
}

async fn output(stage: &Stage, name: &str, operation: &str, input: Value) -> Value {
    stage.call(name, operation, input).await.result.unwrap().output
}

fn key_id(output: &Value) -> KeyId {
    KeyId::parse(output["key_id"].as_str().unwrap()).unwrap()
}

#[tokio::test]
async fn a_key_is_shown_once_and_only_its_hash_is_kept() {
    for stage in both().await {
        let input = json!({"actor_id": "robot", "roles": ["agent"], "scopes": ["id.reserve"], "expires_in_days": 90});
        let created = output(&stage, "owner", "create_key", input).await;
        let key = created["key"].as_str().unwrap();
        assert_eq!(contract::key::key_id(key), Some(key_id(&created)));
        assert_eq!(created["created_at"], "2026-02-04T19:00:00.000Z");
        assert_eq!(created["expires_at"], "2026-05-05T19:00:00.000Z");
        let listed = output(&stage, "owner", "list_keys", json!({})).await;
        assert_eq!(
            listed["keys"],
            json!([{
                "key_id": created["key_id"], "actor_id": "robot", "roles": ["agent"], "scopes": ["id.reserve"],
                "created_at": created["created_at"], "expires_at": created["expires_at"],
            }])
        );
        let record = stage.platform.find_key(&key_id(&created)).await.unwrap().record().unwrap();
        assert_eq!(record.sha256, hex::encode(digest(key.as_bytes())));
        let expected = Actor {
            kind: ActorKind::Agent,
            scopes: Some(vec![Scope::parse("id.reserve").unwrap()]),
            credential: Credential::Key { key_id: key_id(&created) },
            ..actor("agent")
        };
        assert_eq!(Actor { id: expected.id.clone(), ..record.actor() }, expected);
        assert_secret_is_nowhere(&stage, key).await;
    }
}

#[tokio::test]
async fn a_key_makes_none_that_outlives_it() {
    for stage in both().await {
        let make = async |by: &Actor, days: Option<u32>| {
            let mut input = json!({"actor_id": "next", "roles": ["admin"]});
            if let Some(days) = days {
                input["expires_in_days"] = json!(days);
            }
            stage.call_as(by, "create_key", input).await.result.map_err(|error| error.details.field.unwrap())
        };
        let own = make(&actor("owner"), Some(2)).await.unwrap().output;
        let own = stage.platform.find_key(&key_id(&own)).await.unwrap().record().unwrap().actor();
        for days in [None, Some(3)] {
            assert_eq!(make(&own, days).await.unwrap_err(), "expires_in_days");
        }
        make(&own, Some(2)).await.unwrap();
    }
}

/// Looks for the secret part of a key in every table that a call writes.
async fn assert_secret_is_nowhere(stage: &Stage, key: &str) {
    let (_, secret) = key.rsplit_once('_').unwrap();
    stage.bodies().await;
    let mut reader = stage.store.read().await.unwrap();
    let mut rows: Vec<Row> = Vec::new();
    rows.extend(reader.fetch_all("SELECT body FROM events", &[]).await.unwrap());
    rows.extend(reader.fetch_all("SELECT output FROM idempotency_keys", &[]).await.unwrap());
    rows.extend(reader.fetch_all("SELECT sha256 FROM api_keys", &[]).await.unwrap());
    assert!(rows.len() >= 2);
    assert!(rows.iter().all(|row| !row.text(0).unwrap().contains(secret)), "the secret is in a table");
}

#[tokio::test]
async fn no_key_acts_in_the_name_of_the_house() {
    check(
        r#"
        owner create_key {"actor_id":"owner","roles":["approver"]}
        owner create_key {"actor_id":"Anonymous","roles":["agent"]}
        owner create_key {"actor_id":"housekeeper","roles":["agent"]}
        "#,
        r#"
        INVALID_ARG: `actor_id`: expected a name of its own: owner, materia, housekeeper, anonymous act without a key
        INVALID_ARG: `actor_id`: expected a name of its own: owner, materia, housekeeper, anonymous act without a key
        INVALID_ARG: `actor_id`: expected a name of its own: owner, materia, housekeeper, anonymous act without a key
        event owner create_key invalid
        event owner create_key invalid
        event owner create_key invalid
        "#,
    )
    .await;
}

#[tokio::test]
async fn a_repeated_creation_makes_no_second_key_and_does_not_show_the_first_again() {
    for stage in both().await {
        let input = json!({"actor_id": "robot", "roles": ["agent"]});
        let first = stage.call_with_key("owner", "create_key", input.clone(), "k1").await.result.unwrap().output;
        let second = stage.call_with_key("owner", "create_key", input, "k1").await.result.unwrap_err();
        let key_id = first["key_id"].as_str().unwrap();
        assert_eq!(second.code(), "CONFLICT");
        let expected = format!("already carried out: key `{key_id}`; its answer was shown once and is not kept");
        assert_eq!(second.message, expected);
        let listed = output(&stage, "owner", "list_keys", json!({})).await;
        assert_eq!(listed["keys"].as_array().unwrap().len(), 1);
        assert_secret_is_nowhere(&stage, first["key"].as_str().unwrap()).await;
    }
}

#[tokio::test]
async fn a_revoked_key_stays_revoked_and_those_in_force_are_listed_first() {
    for stage in both().await {
        let first = output(&stage, "owner", "create_key", json!({"actor_id": "a", "roles": ["viewer"]})).await;
        let revoked = output(&stage, "owner", "revoke_key", json!({"key_id": first["key_id"]})).await;
        stage.clock.set_us(START_US + DAY_US);
        let again = output(&stage, "owner", "revoke_key", json!({"key_id": first["key_id"]})).await;
        assert_eq!((&revoked["revoked_at"], &revoked), (&json!("2026-02-04T19:00:00.000Z"), &again));
        output(&stage, "owner", "create_key", json!({"actor_id": "b", "roles": ["viewer"]})).await;
        stage.clock.set_us(START_US + 2 * DAY_US);
        output(&stage, "owner", "create_key", json!({"actor_id": "c", "roles": ["viewer"]})).await;
        let listed = output(&stage, "owner", "list_keys", json!({})).await;
        let order: Vec<&str> =
            listed["keys"].as_array().unwrap().iter().map(|key| key["actor_id"].as_str().unwrap()).collect();
        assert_eq!(order, ["c", "b", "a"]);
        let record = stage.platform.find_key(&key_id(&first)).await.unwrap().record().unwrap();
        assert_eq!(record.revoked_at_us, Some(START_US));
    }
}

#[tokio::test]
async fn only_an_administrator_makes_keys_and_a_limited_one_hands_on_no_more_than_they_have() {
    let stage = on_sqlite(OPERATIONS).await;
    let scope = |text: &str| Scope::parse(text).unwrap();
    let limited = Actor { scopes: Some(vec![scope("key.admin"), scope("id.reserve")]), ..actor("admin") };
    let create = async |scopes: Value| {
        let mut input = json!({"actor_id": "robot", "roles": ["agent"], "scopes": scopes});
        if scopes.is_null() {
            input.as_object_mut().unwrap().remove("scopes");
        }
        let reply = stage.call_as(&limited, "create_key", input).await;
        reply.result.map(|_| "ok").unwrap_or_else(|error| error.code())
    };
    assert_eq!(create(json!(["id.reserve"])).await, "ok");
    assert_eq!(create(json!(["id.reserve", "audit.read"])).await, "DENIED");
    assert_eq!(create(json!(["patient/*.rs"])).await, "DENIED");
    assert_eq!(create(json!([])).await, "INVALID_ARG");
    assert_eq!(create(Value::Null).await, "INVALID_ARG");
}

#[tokio::test]
async fn wrong_wishes_for_a_key_are_refused_with_the_field() {
    check(
        r#"
        owner create_key {"actor_id":"robot","roles":[]}
        owner create_key {"actor_id":"robot","roles":["king"]}
        owner create_key {"actor_id":"robot","roles":["agent"],"expires_in_days":0}
        owner create_key {"actor_id":"robot","roles":["agent"],"expires_in_days":3651}
        owner create_key {"actor_id":"robot","roles":["agent"],"scopes":["everything"]}
        owner create_key {"actor_id":"a b","roles":["agent"]}
        author create_key {"actor_id":"robot","roles":["agent"]}
        owner revoke_key {"key_id":"nobodys"}
        "#,
        r#"
        INVALID_ARG: `roles`: expected at least 1 items
        INVALID_ARG: `roles/0`: expected one of ["viewer","clinician","author","curator","approver","auditor","privacy_officer","admin","agent"]
        INVALID_ARG: `expires_in_days`: expected at least 1
        INVALID_ARG: `expires_in_days`: expected at most 3650
        INVALID_ARG: `scopes/0`: expected a scope such as `id.reserve` or `patient/Observation.rs`
        INVALID_ARG: `actor_id`: expected text that matches `^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$`
        DENIED: `author` may not call `create_key`
        NOT_FOUND: no key of this id
        event owner create_key invalid
        event owner create_key invalid
        event owner create_key invalid
        event owner create_key invalid
        event owner create_key invalid
        event owner create_key invalid
        event author create_key denied
        event owner revoke_key not_found
        "#,
    )
    .await;
}

/// A key of a viewer, and its id.
async fn viewer_key(stage: &Stage) -> KeyId {
    key_id(&output(stage, "owner", "create_key", json!({"actor_id": "reader", "roles": ["viewer"]})).await)
}

async fn found(stage: &Stage, key_id: &KeyId) -> FoundKey {
    stage.platform.find_key(key_id).await.unwrap()
}

#[tokio::test]
async fn a_key_that_other_hands_changed_opens_nothing_and_what_they_put_back_is_not_forgotten() {
    for stage in both().await {
        let key_id = viewer_key(&stage).await;
        assert!(matches!(found(&stage, &key_id).await, FoundKey::Key(_)));
        run_sql(&stage, &["CREATE TABLE older_keys AS SELECT * FROM api_keys"]).await;
        for sql in [
            "UPDATE api_keys SET roles = '[\"admin\"]'",
            "UPDATE api_keys SET scopes = '[\"key.admin\"]'",
            "UPDATE api_keys SET actor_id = 'owner'",
            "UPDATE api_keys SET organisation_id = 'elsewhere'",
            "UPDATE api_keys SET expires_at_us = 1",
            "UPDATE api_keys SET sha256 = 'another'",
            "UPDATE api_keys SET roles = 'no list'",
            "UPDATE api_keys SET seal = NULL",
        ] {
            tamper(&stage, sql).await;
            assert_eq!(found(&stage, &key_id).await, FoundKey::Changed, "{sql}");
            assert_eq!(verify(&stage).await["ok"], false, "{sql}");
            run_sql(&stage, &["DELETE FROM api_keys", "INSERT INTO api_keys SELECT * FROM older_keys"]).await;
        }
        assert!(matches!(found(&stage, &key_id).await, FoundKey::Key(_)), "the row is as it was");
        assert_eq!(stage.platform.log_standing().word(), "doubted");
        let told = verify(&stage).await;
        assert_eq!(told["n_problems"], 2, "one event of each look, however often it was changed: {told}");
        let message = told["problems"][0]["message"].as_str().unwrap();
        assert!(message.starts_with(&format!("key `{key_id}` had a row without a seal of this house")), "{message}");
        // The next process tells it too, until somebody says that they have looked.
        let next = stage.again().await;
        next.platform.recall_doubt().await;
        assert_eq!(next.platform.log_standing().word(), "doubted");
        assert_eq!(verify(&next).await["problems"][0]["kind"], "doubt");
        assert!(next.platform.has_doubts().await.unwrap());
        let accepted = ops::acceptance::Acceptance {
            call_id: uuid::Uuid::now_v7().to_string(),
            accepted_at_us: START_US,
            code: "DOUBTS".to_owned(),
            kept_size: None,
            found_size: None,
            checkpoint_sha256: None,
        };
        next.platform.record_acceptance(&actor("owner"), &accepted).await.unwrap();
        assert_eq!(verify(&next).await["problems"], json!([]));
        assert!(!next.platform.has_doubts().await.unwrap());
    }
}

#[tokio::test]
async fn the_row_of_a_revoked_key_that_was_copied_before_does_not_bring_it_back() {
    for stage in both().await {
        let key_id = viewer_key(&stage).await;
        run_sql(&stage, &["CREATE TABLE older_keys AS SELECT * FROM api_keys"]).await;
        output(&stage, "owner", "revoke_key", json!({"key_id": key_id})).await;
        let revoked = found(&stage, &key_id).await.record().unwrap();
        assert_eq!(revoked.revoked_at_us, Some(START_US), "and its seal holds");
        run_sql(&stage, &["DELETE FROM api_keys", "INSERT INTO api_keys SELECT * FROM older_keys"]).await;
        assert_eq!(found(&stage, &key_id).await, FoundKey::Changed);
        // Another process of the folder remembers it, and so does a server elsewhere that has seen it revoked.
        assert_eq!(found(&stage.again().await, &key_id).await, FoundKey::Changed);
    }
}

#[tokio::test]
async fn a_revoked_key_stays_refused_without_what_was_remembered_beside_the_database() {
    for stage in both().await {
        let key_id = viewer_key(&stage).await;
        run_sql(&stage, &["CREATE TABLE older_keys AS SELECT * FROM api_keys"]).await;
        output(&stage, "owner", "revoke_key", json!({"key_id": key_id})).await;
        stage.platform.seal_keys().await.unwrap();
        verify(&stage).await;
        run_sql(&stage, &["DELETE FROM api_keys", "INSERT INTO api_keys SELECT * FROM older_keys"]).await;
        let known = stage.files.path().join("keys.known");
        let text = std::fs::read_to_string(&known).unwrap();
        let lines = |is_kept: fn(&str) -> bool| -> String {
            text.lines().filter(|line| is_kept(line)).map(|line| format!("{line}\n")).collect()
        };
        std::fs::remove_file(&known).unwrap();
        for left in
            [None, Some(lines(|line| line.starts_with("sealed"))), Some(lines(|line| !line.starts_with("revoked")))]
        {
            if let Some(left) = &left {
                std::fs::write(&known, left).unwrap();
            }
            let next = stage.again().await;
            next.platform.seal_keys().await.unwrap();
            let is_told = next.platform.log_standing().word() == "doubted";
            assert_eq!(is_told, left.is_some_and(|left| left.contains("seal ")), "a line was taken out under a seal");
            assert_eq!(found(&next, &key_id).await, FoundKey::Changed);
        }
    }
}

#[tokio::test]
async fn what_another_server_revoked_is_remembered_too() {
    let stage = on_postgres(OPERATIONS).await;
    let other = stage.again_elsewhere().await;
    let key_id = viewer_key(&stage).await;
    run_sql(&stage, &["CREATE TABLE older_keys AS SELECT * FROM api_keys"]).await;
    output(&other, "owner", "revoke_key", json!({"key_id": key_id})).await;
    stage.platform.learn_revoked().await.unwrap();
    run_sql(&stage, &["DELETE FROM api_keys", "INSERT INTO api_keys SELECT * FROM older_keys"]).await;
    assert_eq!(found(&stage, &key_id).await, FoundKey::Changed);
}

#[tokio::test]
async fn keys_that_are_older_than_seals_get_theirs_once_and_only_as_the_log_tells_of_them() {
    for stage in both().await {
        let (honest, changed) = (viewer_key(&stage).await, viewer_key(&stage).await);
        verify(&stage).await;
        tamper_with(&stage, "UPDATE api_keys SET roles = '[\"admin\"]' WHERE key_id = $1", &changed).await;
        // As a program before seals left it.
        run_sql(&stage, &["UPDATE api_keys SET seal = NULL"]).await;
        stage.platform.seal_keys().await.unwrap();
        assert!(matches!(found(&stage, &honest).await, FoundKey::Key(_)));
        assert_eq!(found(&stage, &changed).await, FoundKey::Changed);
        // From here on a row without a seal is one of other hands.
        run_sql(&stage, &["UPDATE api_keys SET seal = NULL"]).await;
        stage.again().await.platform.seal_keys().await.unwrap();
        assert_eq!(found(&stage, &honest).await, FoundKey::Changed);
    }
}

#[tokio::test]
async fn no_key_is_sealed_by_the_word_of_a_log_that_was_changed() {
    for stage in both().await {
        let key_id = viewer_key(&stage).await;
        output(&stage, "owner", "revoke_key", json!({"key_id": key_id})).await;
        verify(&stage).await;
        run_sql(
            &stage,
            &[
                "DELETE FROM events WHERE operation = 'revoke_key'",
                "UPDATE api_keys SET revoked_at_us = NULL, seal = NULL",
            ],
        )
        .await;
        let elsewhere = stage.again_elsewhere().await;
        elsewhere.platform.seal_keys().await.unwrap();
        assert_eq!(found(&elsewhere, &key_id).await, FoundKey::Changed);
    }
}

async fn tamper_with(stage: &Stage, sql: &'static str, key_id: &KeyId) {
    let key_id = key_id.clone();
    let apply: store::Apply<()> = Box::new(move |tx| {
        let key_id = key_id.clone();
        Box::pin(async move {
            assert_eq!(tx.execute(sql, &[store::Param::Text(key_id.as_str())]).await?, 1);
            Ok(store::Applied { value: (), event: None, keep: store::Keep::Changes })
        })
    });
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    stage.store.write(None, deadline, apply).await.unwrap();
}
