//! Ids through the door, where documents, tasks and callers want the same number.

use ops::operations::OPERATIONS;
use serde_json::{Value, json};
use testkit::documents::{EPIC_006, PRD_006};

use crate::artifacts::{both, check_refused, output, refusal, verify};
use crate::script::{Stage, on_sqlite};

/// The epic of the story under another number, with a place for its requirements.
fn epic(number: u32) -> String {
    let text = EPIC_006.replace("EPIC-006", &format!("EPIC-{number:03}"));
    text.replacen("## Related Documents\n\nNone.", "## Related Documents\n\nPRD-AAA", 1)
}

fn prd(number: u32, epic: u32) -> String {
    PRD_006.replace("PRD-006", &format!("PRD-{number:03}")).replace("EPIC-006", &format!("EPIC-{epic:03}"))
}

fn task(artifact_id: &str) -> Value {
    json!({
        "artifact_id": artifact_id, "generator": "hls-generator",
        "inputs": [{
            "name": "prd", "classification": "mandatory",
            "mcp_resource_uri": "mcp://resources/artifacts/prds/PRD-099_v1.md"
        }]
    })
}

async fn queue(stage: &Stage, ids: &[&str]) -> ops::Reply {
    let tasks: Vec<Value> = ids.iter().map(|id| task(id)).collect();
    stage.call("owner", "queue_tasks", json!({"project_id": "default", "tasks": tasks})).await
}

async fn next_id(stage: &Stage, artifact_type: &str) -> Value {
    let input = json!({ "artifact_type": artifact_type });
    output(stage.call("owner", "get_next_available_id", input).await)["next_id"].clone()
}

#[tokio::test]
async fn an_id_in_the_queue_is_given_to_nobody() {
    for stage in both().await {
        stage.begin().await;
        output(queue(&stage, &["HLS-002"]).await);
        stage.store(PRD_006).await;
        let approved = output(stage.approve("PRD-006").await);
        assert_eq!(approved["sub_artifacts_detected"], json!(["HLS-003", "HLS-004", "HLS-005"]));
        assert_eq!(approved["tasks_created"], 3);
        output(queue(&stage, &["HLS-012", "HLS-008"]).await);
        let reserved =
            output(stage.call("owner", "reserve_id_range", json!({"artifact_type": "hls", "count": 2})).await);
        assert_eq!(reserved["reserved_ids"], json!(["HLS-013", "HLS-014"]));
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

#[tokio::test]
async fn an_id_that_the_text_has_already_is_given_to_no_placeholder_of_it() {
    for stage in both().await {
        stage.begin().await;
        stage.store(&PRD_006.replace("HLS-CCC", "HLS-001")).await;
        let approved = output(stage.approve("PRD-006").await);
        assert_eq!(approved["id_mapping"], json!({"HLS-AAA": "HLS-002", "HLS-BBB": "HLS-003"}));
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

#[tokio::test]
async fn the_number_of_an_epic_is_left_to_whoever_was_given_it() {
    for stage in both().await {
        assert_eq!(next_id(&stage, "prd").await, "PRD-001");
        output(stage.call("author", "reserve_id_range", json!({"artifact_type": "prd", "count": 3})).await);
        for (number, expected) in [(1, "PRD-005"), (3, "PRD-006"), (9, "PRD-009"), (8, "PRD-008"), (4, "PRD-010")] {
            stage.store(&epic(number)).await;
            let approved = output(stage.approve(&format!("EPIC-{number:03}")).await);
            assert_eq!(approved["sub_artifacts_detected"], json!([expected]), "EPIC-{number:03}");
            assert_eq!(approved["id_mapping"], json!({"PRD-AAA": expected}));
            assert_eq!(approved["tasks_created"], 1);
        }
        assert_eq!(next_id(&stage, "prd").await, "PRD-011");
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

#[tokio::test]
async fn a_document_of_another_parent_keeps_its_number() {
    for stage in both().await {
        stage.store(&prd(21, 20)).await;
        stage.store(&prd(22, 22)).await;
        stage.store(&epic(21)).await;
        let approved = output(stage.approve("EPIC-021").await);
        assert_eq!(approved["sub_artifacts_detected"], json!(["PRD-023"]));
        // The document that is to follow is there already.
        stage.store(&epic(22)).await;
        let approved = output(stage.approve("EPIC-022").await);
        assert_eq!((&approved["id_mapping"], &approved["tasks_created"]), (&json!({"PRD-AAA": "PRD-022"}), &json!(0)));
        // A number that was passed over and then stored is no longer free.
        stage.store(&prd(5, 99)).await;
        stage.store(&epic(5)).await;
        assert_eq!(output(stage.approve("EPIC-005").await)["id_mapping"], json!({"PRD-AAA": "PRD-024"}));
        stage.store(&epic(6)).await;
        assert_eq!(output(stage.approve("EPIC-006").await)["id_mapping"], json!({"PRD-AAA": "PRD-006"}));
    }
}

#[tokio::test]
async fn an_id_has_one_form_everywhere() {
    let stage = on_sqlite(OPERATIONS).await;
    stage.store(&prd(36, 6)).await;
    let store = |text: String| stage.call("owner", "store_artifact", json!({ "artifact_content": text }));
    let text = PRD_006.replace("PRD-006", "PRD-0036");
    let message = "Invalid params: `artifact_id`: expected `PRD-036`, without the zeros it does not need, in line 5";
    check_refused(&stage, store(text), -32602, message).await;
    let text = PRD_006.replace("EPIC-006", "EPIC-0006");
    let message = "Invalid params: `parent_id`: expected `EPIC-006`, without the zeros it does not need, in line 6";
    check_refused(&stage, store(text), -32602, message).await;
    let error = queue(&stage, &["HLS-0012"]).await.result.unwrap_err();
    assert_eq!(error.message, "Task validation failed: Invalid artifact_id format: HLS-0012");
    assert_eq!(error.details.expected.as_deref(), Some("`HLS-012`, without the zeros it does not need"));
    let input = json!({"artifact_content": PRD_006, "artifact_id": "PRD-0006"});
    assert_eq!(refusal(stage.call("owner", "validate_artifact", input).await).0, -32602);
}

#[tokio::test]
async fn no_document_and_no_task_uses_up_the_numbers_of_the_others() {
    for stage in both().await {
        let far = json!({"artifact_content": PRD_006.replace("PRD-006", "PRD-999999999")});
        let message = "Invalid params: PRD-999999999 is too far ahead: the highest number allowed is PRD-10000";
        check_refused(&stage, stage.call("owner", "store_artifact", far), -32602, message).await;
        let message = "Invalid params: HLS-10002 is too far ahead: the highest number allowed is HLS-10000";
        check_refused(&stage, queue(&stage, &["HLS-001", "HLS-10002"]), -32602, message).await;
        let far = json!({"artifact_type": "prd", "count": 1, "number": 999_999_999});
        let error = stage.call("owner", "reserve_id_range", far).await.result.unwrap_err();
        assert_eq!(error.details.field.as_deref(), Some("number"), "{error:?}");
        output(queue(&stage, &["HLS-10000"]).await);
        assert_eq!(next_id(&stage, "hls").await, "HLS-10001");
        output(queue(&stage, &["HLS-20001"]).await);
        stage.store(PRD_006).await;
        assert_eq!(next_id(&stage, "prd").await, "PRD-007");
    }
}

#[tokio::test]
async fn what_could_not_be_stored_is_not_given_out() {
    let stage = on_sqlite(OPERATIONS).await;
    stage.call("owner", "get_next_available_id", json!({"artifact_type": "prd"})).await.result.unwrap();
    crate::artifacts::execute(&stage, "UPDATE id_registry SET last_assigned_id = 999999998").await;
    let reserve = stage.call("owner", "reserve_id_range", json!({"artifact_type": "prd", "count": 2}));
    check_refused(&stage, reserve, -32000, "no number is left for PRD").await;
    assert_eq!(next_id(&stage, "prd").await, "PRD-999999999");
    let next = stage.call("owner", "get_next_available_id", json!({"artifact_type": "prd"}));
    check_refused(&stage, next, -32000, "no number is left for PRD").await;
}
