//! Ids that a document gives by hand to those it is cut into: one id means one document.

use ops::operations::OPERATIONS;
use serde_json::json;
use testkit::documents::{BUSINESS_RESEARCH, EPIC_006, PRD_006};

use crate::artifacts::{both, check_refused, output};
use crate::script::{Stage, on_sqlite};

/// A document with other ids in the place of some placeholders.
fn prd(number: usize, ids: &[(&str, &str)]) -> String {
    let text = PRD_006.replace("PRD-006", &format!("PRD-{number:03}"));
    ids.iter().fold(text, |text, (placeholder, id)| text.replace(placeholder, id))
}

async fn next_id(stage: &Stage) -> String {
    let next = output(stage.call("author", "get_next_available_id", json!({"artifact_type": "hls"})).await);
    next["next_id"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn an_id_that_an_approved_document_gives_by_hand_is_given_to_nobody_else() {
    for stage in both().await {
        stage.begin().await;
        stage.store(&prd(3, &[("HLS-AAA", "HLS-002"), ("HLS-BBB", "HLS-003"), ("HLS-CCC", "HLS-004")])).await;
        output(stage.approve("PRD-003").await);
        assert_eq!(next_id(&stage).await, "HLS-005");
        stage.store(&prd(4, &[])).await;
        let approved = output(stage.approve("PRD-004").await);
        let mapping = json!({"HLS-AAA": "HLS-006", "HLS-BBB": "HLS-007", "HLS-CCC": "HLS-008"});
        assert_eq!(approved["id_mapping"], mapping);
        // Of an approved text, by hand or by number.
        for (number, id, owner) in [(5, "HLS-003", "PRD-003"), (6, "HLS-007", "PRD-004")] {
            stage.store(&prd(number, &[("HLS-AAA", id)])).await;
            let text = prd(number, &[("HLS-AAA", id)]);
            let line = text.lines().position(|line| line.starts_with(&format!("### {id}"))).unwrap() + 1;
            let message = format!(
                "`{id}` in line {line} belongs to {owner}; write a placeholder such as HLS-AAA, or an id of your own"
            );
            check_refused(&stage, stage.approve(&format!("PRD-{number:03}")), -32000, &message).await;
        }
        // One's own ids stay one's own, version after version.
        let again = prd(3, &[("HLS-AAA", "HLS-002"), ("HLS-BBB", "HLS-003"), ("HLS-CCC", "HLS-004")]);
        stage.store(&again.replacen("**Version:** 1", "**Version:** 2", 1)).await;
        output(stage.approve("PRD-003").await);
    }
}

#[tokio::test]
async fn placeholders_beside_ids_by_hand_get_their_numbers_in_order() {
    let stage = on_sqlite(OPERATIONS).await;
    stage.begin().await;
    stage.store(&prd(2, &[("HLS-AAA", "HLS-001")])).await;
    let approved = output(stage.approve("PRD-002").await);
    assert_eq!(approved["id_mapping"], json!({"HLS-BBB": "HLS-002", "HLS-CCC": "HLS-003"}));
}

#[tokio::test]
async fn an_id_that_its_author_was_given_is_theirs_to_write() {
    let stage = on_sqlite(OPERATIONS).await;
    stage.begin().await;
    assert_eq!(next_id(&stage).await, "HLS-001");
    stage.store(&prd(2, &[("HLS-AAA", "HLS-001")])).await;
    output(stage.approve("PRD-002").await);
    let far = prd(7, &[("HLS-AAA", "HLS-900000")]);
    stage.store(&far).await;
    let message = "Invalid params: HLS-900000 is too far ahead: the highest number allowed is HLS-100003";
    check_refused(&stage, stage.approve("PRD-007"), -32602, message).await;
}

#[tokio::test]
async fn a_story_is_cut_into_tasks_with_and_without_a_specification() {
    for stage in both().await {
        stage.begin().await;
        stage.store(PRD_006).await;
        output(stage.approve("PRD-006").await);
        let story = |id: &str| {
            format!(
                "# {id}: A story\n\n## Metadata\n- **Parent PRD:** PRD-006\n- **Status:** Backlog\n\n## Description\n\
                 To be done in TASK-AAA and TASK-BBB. Enough words to make this a document of a hundred characters.\n"
            )
        };
        stage.store(&story("US-001")).await;
        let approved = output(stage.approve("US-001").await);
        assert_eq!(approved["id_mapping"], json!({"TASK-AAA": "TASK-001", "TASK-BBB": "TASK-002"}));
        let spec = "# SPEC-001: How it is built\n\n## Metadata\n- **Parent Story ID:** US-001\n- **Status:** Proposed\n\n\
            ## Implementation Tasks\n- TASK-AAA: the whole of it, with words enough to make this a document of its own.\n";
        stage.store(spec).await;
        output(stage.approve("SPEC-001").await);
        let tasks = stage.tasks().await;
        let inputs = |id: &str| -> Vec<String> {
            let task = tasks.iter().find(|task| task["artifact_id"] == id).unwrap();
            let inputs = task["inputs"].as_array().unwrap();
            inputs.iter().map(|input| input["name"].as_str().unwrap().to_owned()).collect()
        };
        assert_eq!(inputs("TASK-001")[..1], ["backlog_story"]);
        assert!(!inputs("TASK-001").contains(&"tech_spec".to_owned()));
        assert_eq!(inputs("TASK-003")[..2], ["backlog_story", "tech_spec"]);
    }
}

#[tokio::test]
async fn what_cannot_be_stored_or_approved_does_not_pass_its_checklist() {
    let stage = on_sqlite(OPERATIONS).await;
    stage.begin().await;
    let epic = EPIC_006.replacen("- **Status", "- **Parent Initiative:** INIT-001, INIT-002\n- **Status", 1);
    for (text, id, expected) in [
        (
            format!("{EPIC_006}\n- PRD-AAA\n- PRD-BBB\n"),
            "EPIC-006",
            "`PRD-BBB`: a document of type epic is cut into one",
        ),
        (format!("{EPIC_006}\nUS-AAA\n"), "EPIC-006", "`US-AAA` cannot be given an id: a document of type epic is not"),
        (format!("{PRD_006}\nUS-AAA\n"), "PRD-006", "`US-AAA` cannot be given an id: a document of type prd is not"),
        (format!("{EPIC_006}\nPRD-\u{410}\u{410}\u{410}\n"), "EPIC-006", "is written as no placeholder is"),
        (epic, "EPIC-006", "`parent_id`: expected one id in line 6"),
    ] {
        let input = json!({"artifact_content": text, "artifact_id": id});
        let found = output(stage.call("author", "validate_artifact", input).await);
        assert_eq!(found["passed"], false, "{expected}");
        let results = found["results"].as_array().unwrap();
        let told = |result: &serde_json::Value| {
            result["passed"] == false && result["details"].as_str().is_some_and(|details| details.contains(expected))
        };
        assert!(results.iter().any(told), "{expected}: {found}");
    }
}

#[tokio::test]
async fn a_document_is_named_as_its_file_is_and_a_long_number_is_told() {
    let stage = on_sqlite(OPERATIONS).await;
    let draft = BUSINESS_RESEARCH.replacen("**Status:** Finalized", "**Status:** Draft", 1);
    let stored = stage.store(&draft).await;
    let path = stored["storage_path"].as_str().unwrap();
    let file = path.rsplit('/').next().unwrap();
    assert!(file.ends_with(".md"), "{path}");
    output(stage.approve(file).await);
    let text = EPIC_006.replace("EPIC-006", "EPIC-1234567890");
    let error = stage.call("author", "store_artifact", json!({"artifact_content": text})).await.result.unwrap_err();
    assert!(error.message.contains("an id of at most nine digits"), "{}", error.message);
}
