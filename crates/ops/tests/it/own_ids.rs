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
    let message = "Invalid params: HLS-900000 is too far ahead: the highest number allowed is HLS-10003";
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
        (EPIC_006.replacen("**Version:** 1", "**Version:** 0", 1), "EPIC-006", "a whole number from 1 to 999 in line"),
        (
            EPIC_006.replacen("**Version:** 1", "**Version:** 1000", 1),
            "EPIC-006",
            "a whole number from 1 to 999 in line",
        ),
        (
            PRD_006.replacen(PRD_006.lines().next().unwrap(), "# PRD-006: Hi", 1),
            "PRD-006",
            "5 to 200 characters in line 1",
        ),
        (
            PRD_006.replacen(PRD_006.lines().next().unwrap(), &format!("# PRD-006: {}", "x".repeat(201)), 1),
            "PRD-006",
            "5 to 200 characters in line 1",
        ),
        (
            prd(6, &[("### HLS-AAA", "### HLS-050"), ("### HLS-BBB", "### HLS-050"), ("HLS-AAA", "HLS-050")]),
            "PRD-006",
            "`HLS-050` stands for two documents",
        ),
        (PRD_006.replacen("### HLS-AAA", "### hls-050: Log in\n\n### HLS-AAA", 1), "PRD-006", "write `HLS-050`"),
        (format!("{PRD_006}\n<!-- HLS-DDD -->\n"), "PRD-006", "`HLS-DDD` stands in a comment or in code alone"),
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

/// A story of its own.
fn story(id: &str, parent_id: &str) -> String {
    format!(
        "# {id}: A story of its own\n\n## Metadata\n- **Story ID:** {id}\n- **Parent PRD:** {parent_id}\n\
         - **Parent Epic:** EPIC-006\n- **Status:** Draft\n\n## User Story Statement\nAs a developer, I want this and that, so that it works.\n"
    )
}

async fn check_refused_with_line(stage: &Stage, text: &str, at: &str, id: &str, message: &str) {
    let line = text.lines().position(|line| line.contains(at)).unwrap() + 1;
    stage.store(text).await;
    check_refused(stage, stage.approve(id), -32000, &message.replace("LINE", &line.to_string())).await;
}

#[tokio::test]
async fn a_story_has_the_id_that_was_given_to_it_and_no_document_of_another_takes_it() {
    for stage in both().await {
        stage.begin().await;
        for text in [prd(6, &[]), prd(10, &[]), prd(11, &[("HLS-AAA", "HLS-050")])] {
            stage.store(&text).await;
        }
        for id in ["PRD-006", "PRD-010", "PRD-011"] {
            output(stage.approve(id).await);
        }
        // By the approval that queued it, and then by hand.
        let message = |id: &str, owner: &str| {
            format!("{id} was given to a document of {owner}; name {owner} as the parent, or take an id of your own")
        };
        let taken = json!({"artifact_content": story("HLS-002", "PRD-010")});
        let stored = stage.call("author", "store_artifact", taken);
        check_refused(&stage, stored, -32000, &message("HLS-002", "PRD-006")).await;
        let input = json!({"artifact_content": story("HLS-002", "PRD-010"), "artifact_id": "HLS-002"});
        let found = output(stage.call("author", "validate_artifact", input).await);
        let told = found["results"].as_array().unwrap().iter().find(|it| it["id"] == "CC-02").unwrap();
        assert_eq!(told["details"], message("HLS-002", "PRD-006").as_str());
        stage.store(&story("HLS-050", "PRD-010")).await;
        check_refused(&stage, stage.approve("HLS-050"), -32000, &message("HLS-050", "PRD-011")).await;
        stage.store(&story("HLS-002", "PRD-006")).await;
        output(stage.approve("HLS-002").await);
        let own = story("HLS-050", "PRD-011").replacen("- **Status", "- **Version:** 2\n- **Status", 1);
        stage.store(&own).await;
        output(stage.approve("HLS-050").await);
        // A story that was made for another story may name the requirements above it.
        let cut = story("HLS-001", "PRD-006") + "\nTo be cut into US-AAA.\n";
        stage.store(&cut).await;
        output(stage.approve("HLS-001").await);
        let below =
            |id: &str, parent_id: &str| story(id, parent_id).replacen("Status:** Draft", "Status:** Backlog", 1);
        let taken = json!({"artifact_content": below("US-001", "PRD-010")});
        let stored = stage.call("author", "store_artifact", taken);
        check_refused(&stage, stored, -32000, &message("US-001", "HLS-001")).await;
        stage.store(&below("US-001", "PRD-006")).await;
        output(stage.approve("US-001").await);
    }
}

#[tokio::test]
async fn an_id_that_somebody_else_reserved_is_not_written_by_hand() {
    for stage in both().await {
        stage.begin().await;
        let reserve = json!({"artifact_type": "hls", "count": 2});
        let reserved = output(stage.call("author", "reserve_id_range", reserve.clone()).await);
        let confirm = json!({"reservation_id": reserved["reservation_id"]});
        output(stage.call("author", "confirm_reservation", confirm).await);
        let text = prd(3, &[("HLS-AAA", "HLS-001")]);
        let message = "`HLS-001` in line LINE belongs to whoever reserved it; write a placeholder such as HLS-AAA, \
                       or an id of your own";
        check_refused_with_line(&stage, &text, "### HLS-001", "PRD-003", message).await;
        // Whoever reserved it writes it, and so does everybody when it has lapsed.
        let own = prd(4, &[("HLS-AAA", "HLS-002")]);
        output(stage.call("author", "store_artifact", json!({ "artifact_content": own })).await);
        output(stage.approve("PRD-004").await);
        let reserved = output(stage.call("author", "reserve_id_range", reserve).await);
        let lapsed = reserved["reserved_ids"][0].as_str().unwrap().to_owned();
        stage.clock.set_us(stage.clock.now_us() + 16 * 60_000_000);
        stage.store(&prd(5, &[("HLS-AAA", &lapsed)])).await;
        output(stage.approve("PRD-005").await);
    }
}

#[tokio::test]
async fn nothing_is_stored_under_an_id_that_somebody_else_reserved() {
    for stage in both().await {
        stage.begin().await;
        let reserve = async || {
            output(stage.call("author", "reserve_id_range", json!({"artifact_type": "prd", "count": 3})).await)
        };
        let store = |name: &'static str, text: String| {
            let input = json!({ "artifact_content": text });
            let stage = &stage;
            async move { stage.call(name, "store_artifact", input).await }
        };
        let message = |id: &str| format!("{id} belongs to whoever reserved it; take an id of your own");
        let reserved = reserve().await;
        assert_eq!(reserved["reserved_ids"], json!(["PRD-001", "PRD-002", "PRD-003"]));
        check_refused(&stage, store("agent", prd(1, &[])), -32000, &message("PRD-001")).await;
        output(
            stage.call("author", "confirm_reservation", json!({"reservation_id": reserved["reservation_id"]})).await,
        );
        stage.clock.set_us(stage.clock.now_us() + 16 * 60_000_000);
        for number in [1, 2, 3] {
            let id = format!("PRD-{number:03}");
            check_refused(&stage, store("owner", prd(number, &[])), -32000, &message(&id)).await;
        }
        // Whoever reserved it, and then everybody who goes on with the document.
        output(store("author", prd(1, &[])).await);
        output(store("agent", prd(1, &[]).replacen("**Version:** 1", "**Version:** 2", 1)).await);
        // A task of theirs hands it on; somebody else may make none.
        let input = json!({
            "name": "epic", "classification": "mandatory",
            "mcp_resource_uri": "mcp://resources/artifacts/epics/EPIC-006_v1.md"
        });
        let batch = |id: &str| json!([{"artifact_id": id, "generator": "prd-generator", "inputs": [input]}]);
        for operation in ["queue_tasks", "add_task"] {
            let tasks = json!({"project_id": "default", "tasks": batch("PRD-003")});
            check_refused(&stage, stage.call("agent", operation, tasks), -32000, &message("PRD-003")).await;
        }
        output(stage.call("author", "add_task", json!({"tasks": batch("PRD-002")})).await);
        output(store("agent", prd(2, &[])).await);
        check_refused(&stage, store("agent", prd(3, &[])), -32000, &message("PRD-003")).await;
        // One that was given singly is nobody's, and one that was not confirmed lapses.
        let next = output(stage.call("author", "get_next_available_id", json!({"artifact_type": "prd"})).await);
        assert_eq!(next["next_id"], "PRD-004");
        output(store("agent", prd(4, &[])).await);
        assert_eq!(reserve().await["reserved_ids"][0], "PRD-005");
        check_refused(&stage, store("agent", prd(5, &[])), -32000, &message("PRD-005")).await;
        stage.clock.set_us(stage.clock.now_us() + 16 * 60_000_000);
        output(store("agent", prd(5, &[])).await);
    }
}

#[tokio::test]
async fn an_approved_text_hands_on_the_ids_that_its_author_reserved() {
    let stage = on_sqlite(OPERATIONS).await;
    stage.begin().await;
    output(stage.call("author", "reserve_id_range", json!({"artifact_type": "hls", "count": 1})).await);
    let text = json!({"artifact_content": prd(2, &[("HLS-AAA", "HLS-001")])});
    output(stage.call("author", "store_artifact", text).await);
    let below = json!({"artifact_content": story("HLS-001", "PRD-002")});
    let message = "HLS-001 belongs to whoever reserved it; take an id of your own";
    check_refused(&stage, stage.call("agent", "store_artifact", below.clone()), -32000, message).await;
    output(stage.approve("PRD-002").await);
    output(stage.call("agent", "store_artifact", below).await);
}

#[tokio::test]
async fn an_id_by_hand_is_read_however_its_heading_is_written() {
    let stage = on_sqlite(OPERATIONS).await;
    stage.begin().await;
    stage.store(&prd(3, &[("HLS-AAA", "HLS-030")])).await;
    output(stage.approve("PRD-003").await);
    let taken = "`HLS-030` in line LINE belongs to PRD-003; write a placeholder such as HLS-AAA, or an id of your own";
    let odd = "HLS-030 in line LINE is written otherwise than ids are; write `HLS-030`";
    for (number, heading, message) in [
        (10, "### 1. HLS-030: Mine", taken),
        (11, "### §3.1 HLS-030: Mine", taken),
        (12, "### [HLS-030](x): Mine", taken),
        (13, "### HLS\u{2011}030: Mine", odd),
        (14, "### hls-030: Mine", odd),
    ] {
        let text = prd(number, &[("### HLS-CCC", &format!("{heading}\n\n### HLS-CCC"))]);
        check_refused_with_line(&stage, &text, heading, &format!("PRD-{number:03}"), message).await;
    }
}

#[tokio::test]
async fn one_id_by_hand_is_not_given_to_two_stories() {
    let stage = on_sqlite(OPERATIONS).await;
    stage.begin().await;
    let text = prd(3, &[("### HLS-AAA", "### HLS-050"), ("### HLS-BBB", "### HLS-050"), ("HLS-AAA", "HLS-050")]);
    let lines: Vec<usize> =
        text.lines().zip(1..).filter(|(it, _)| it.starts_with("### HLS-050")).map(|it| it.1).collect();
    let [first, second] = lines[..] else { panic!("{lines:?}") };
    stage.store(&text).await;
    let message = format!(
        "`HLS-050` stands for two documents, in line {first} and in line {second}; give each a placeholder of its own"
    );
    check_refused(&stage, stage.approve("PRD-003"), -32000, &message).await;
}

#[tokio::test]
async fn a_placeholder_that_no_reader_sees_is_given_no_id() {
    let stage = on_sqlite(OPERATIONS).await;
    stage.begin().await;
    for (number, hidden) in [(3, "<!-- the next story will be HLS-DDD -->"), (4, "```\nexample: HLS-DDD\n```")] {
        let text = prd(number, &[("## Appendix", &format!("{hidden}\n\n## Appendix"))]);
        let message =
            "`HLS-DDD` in line LINE stands in a comment or in code alone; write it into the text, or take it out";
        check_refused_with_line(&stage, &text, "HLS-DDD", &format!("PRD-{number:03}"), message).await;
    }
}
