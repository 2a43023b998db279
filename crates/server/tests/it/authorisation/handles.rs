//! Case 12, and other organisations: what is somebody else's looks as if it were not there, and stays as it was.

use reqwest::StatusCode;
use serde_json::{Value, json};

use super::issuer::{KEYS, Web};
use super::lab::{Lab, n_ended, send};
use crate::ids;

fn reservation(body: &Value) -> String {
    body["reservation_id"].as_str().unwrap_or_else(|| panic!("no reservation in {body}")).to_owned()
}

#[tokio::test]
async fn a_stolen_handle_opens_nothing_and_changes_nothing() {
    let lab = Lab::usual();
    let (alice, mallory) = (lab.token(&json!({})), lab.token(&json!({"sub": "mallory"})));
    let reserved = lab.rest(&alice, "reserve_id_range", &json!({"artifact_type": "US", "count": 2})).await;
    let handle = json!({"reservation_id": reservation(&reserved.body)});

    let over_rest = lab.rest(&mallory, "confirm_reservation", &handle).await;
    assert_eq!(over_rest.status, StatusCode::NOT_FOUND, "{}", over_rest.body);
    let to_service = ids::http_client().post(format!("{}/ids/confirm", lab.serving.ids)).bearer_auth(&mallory);
    assert_eq!(send(to_service.json(&handle)).await.status, StatusCode::NOT_FOUND);
    let call = json!({"name": "confirm_reservation", "arguments": handle});
    let over_mcp = lab.mcp(&mallory, "tools/call", &call).await;
    assert_eq!(over_mcp.body["error"]["code"], -32001, "{}", over_mcp.body);
    // A made-up handle gets the very same answer.
    let invented = lab.rest(&mallory, "confirm_reservation", &json!({"reservation_id": "nobodys"})).await;
    assert_eq!(invented.body, over_rest.body);

    let confirmed = lab.rest(&alice, "confirm_reservation", &handle).await;
    assert_eq!((confirmed.status, &confirmed.body["confirmed"]), (StatusCode::OK, &json!(true)), "{}", confirmed.body);
    let events = lab.stop().await;
    assert_eq!(n_ended(&events, "confirm_reservation", "not_found"), 4);
    assert_eq!(n_ended(&events, "confirm_reservation", "ok"), 1);
}

#[tokio::test]
async fn things_of_another_organisation_are_not_there() {
    let lab = Lab::start(Web::publishing(&KEYS), "organisation_claim = \"org\"");
    let everything = "id.reserve key.admin";
    let person = |organisation: &str| {
        lab.token(&json!({"org": organisation, "roles": ["admin", "author"], "scope": everything}))
    };
    let (here, elsewhere) = (person("ward-a"), person("ward-b"));
    let reserved = lab.rest(&here, "reserve_id_range", &json!({"artifact_type": "US", "count": 1})).await;
    let created = lab
        .rest(&here, "create_key", &json!({"actor_id": "robot", "roles": ["agent"], "scopes": ["id.reserve"]}))
        .await;
    let key_id = created.body["key_id"].as_str().expect("a key").to_owned();

    let confirm = json!({"reservation_id": reservation(&reserved.body)});
    assert_eq!(lab.rest(&elsewhere, "confirm_reservation", &confirm).await.status, StatusCode::NOT_FOUND);
    let revoke = json!({"key_id": key_id});
    assert_eq!(lab.rest(&elsewhere, "revoke_key", &revoke).await.status, StatusCode::NOT_FOUND);
    let listed = lab.rest(&elsewhere, "list_keys", &json!({})).await;
    assert_eq!(listed.body["keys"], json!([]));
    // Counters are each organisation's own.
    let taken = lab.rest(&elsewhere, "get_next_available_id", &json!({"artifact_type": "US"})).await;
    assert_eq!(taken.body["next_id"], "US-001");

    // All of it is still ours, and the key belongs to our organisation.
    assert_eq!(lab.rest(&here, "confirm_reservation", &confirm).await.status, StatusCode::OK);
    let key = created.body["key"].as_str().expect("a key").to_owned();
    let by_key = lab.rest(&key, "get_next_available_id", &json!({"artifact_type": "US"})).await;
    assert_eq!(by_key.body["next_id"], "US-002", "{}", by_key.body);
    let homeless = lab.rest(&lab.token(&json!({})), "list_artifact_types", &json!({})).await;
    assert_eq!(homeless.status, StatusCode::UNAUTHORIZED);
    let events = lab.stop().await;
    let foreign: Vec<&Value> = events.iter().filter(|event| event["outcome"] == "not_found").collect();
    assert_eq!(foreign.len(), 2);
    assert!(foreign.iter().all(|event| event["organisation_id"] == "ward-b"));
}

#[tokio::test]
async fn no_key_is_made_in_the_name_of_somebody_whom_an_issuer_signs_in() {
    let lab = Lab::usual();
    let admin = lab.token(&json!({"roles": ["admin"], "scope": "key.admin"}));
    for actor_id in ["idp.somchai", "IDP.somchai", "idp."] {
        let refused = lab
            .rest(&admin, "create_key", &json!({"actor_id": actor_id, "roles": ["agent"], "scopes": ["key.admin"]}))
            .await;
        assert_eq!(refused.status, StatusCode::BAD_REQUEST, "{actor_id}: {}", refused.body);
        assert_eq!(refused.body["error"]["details"]["field"], "actor_id", "{}", refused.body);
    }
    for actor_id in ["idp-robot", "other.somchai", "idp"] {
        let made = lab
            .rest(&admin, "create_key", &json!({"actor_id": actor_id, "roles": ["agent"], "scopes": ["key.admin"]}))
            .await;
        assert_eq!(made.status, StatusCode::OK, "{actor_id}: {}", made.body);
    }
}
