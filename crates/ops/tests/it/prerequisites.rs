//! What stands in the way of an approval, and which documents a task is given.

use contract::actor::{Actor, ActorKind, Credential, Role};
use contract::id::{ActorId, KeyId, OrganisationId};
use ops::operations::OPERATIONS;
use serde_json::{Value, json};
use testkit::documents::{BUSINESS_RESEARCH, EPIC_006, IMPLEMENTATION_RESEARCH, PRD_006};

use crate::artifacts::{both, check_refused, output, refusal};
use crate::script::{Stage, on_sqlite};

fn next_version(text: &str) -> String {
    text.replacen("**Version:** 1", "**Version:** 2", 1)
}

#[tokio::test]
async fn a_parent_is_named_once_and_is_of_a_type_that_can_be_one() {
    for stage in both().await {
        stage.begin().await;
        stage.store(&EPIC_006.replace("EPIC-006", "EPIC-050")).await;
        stage.store(&PRD_006.replacen("- **Parent Epic:** EPIC-006\n", "", 1)).await;
        let message = "Parent Epic of PRD-006 must be named and approved first";
        check_refused(&stage, stage.approve("PRD-006"), -32000, message).await;
        stage.store(&PRD_006.replace("PRD-006", "PRD-007").replacen("Epic:** EPIC-006", "Epic:** VIS-001", 1)).await;
        let message = "Invalid params: `parent_id` in line 6: expected an id of type epic";
        check_refused(&stage, stage.approve("PRD-007"), -32602, message).await;
        let twice = "- **Parent Epic:** EPIC-006\n- **Parent Epic:** EPIC-050\n";
        let text = PRD_006.replacen("- **Parent Epic:** EPIC-006\n", twice, 1);
        let message =
            "Invalid params: `parent_id`: expected one value; line 6 says `EPIC-006` and line 7 says `EPIC-050`";
        check_refused(
            &stage,
            stage.call("owner", "store_artifact", json!({"artifact_content": text})),
            -32602,
            message,
        )
        .await;
        let both = PRD_006.replacen("Parent Epic:** EPIC-006", "Parent Epic:** EPIC-006, EPIC-050", 1);
        check_refused(
            &stage,
            stage.call("owner", "store_artifact", json!({"artifact_content": both})),
            -32602,
            "Invalid params: `parent_id`: expected one id in line 6",
        )
        .await;
        let remark = "Parent Epic:** [EPIC-006](EPIC-006_v1.md) (after EPIC-050)";
        stage.store(&PRD_006.replace("PRD-006", "PRD-008").replacen("Parent Epic:** EPIC-006", remark, 1)).await;
        // An epic may stand alone, and the seed's own one names a parent of another type when it is stored.
        stage
            .store(&EPIC_006.replace("EPIC-006", "EPIC-060").replacen(
                "- **Status",
                "- **Parent PRD:** PRD-006\n- **Status",
                1,
            ))
            .await;
    }
}

#[tokio::test]
async fn a_parent_that_is_approved_in_any_version_is_approved() {
    for stage in both().await {
        stage.begin().await;
        stage.store(&next_version(EPIC_006)).await;
        let checked = json!({"artifact_content": PRD_006, "artifact_id": "PRD-006"});
        assert_eq!(output(stage.call("owner", "validate_artifact", checked).await)["passed"], true);
        stage.store(PRD_006).await;
        output(stage.approve("PRD-006").await);
        stage.store(&next_version(PRD_006)).await;
        let hls = "# HLS-001: A story\n\n## Metadata\n- **Parent PRD:** PRD-006\n- **Status:** Draft\n\n\
            ## Decomposition into Backlog Stories\n1. US-AAA: the first of them, with words enough for a document.\n";
        stage.store(hls).await;
        output(stage.approve("HLS-001").await);
        let tasks = stage.tasks().await;
        let input = &tasks.iter().find(|task| task["artifact_id"] == "US-001").unwrap()["inputs"][0];
        assert_eq!(input["mcp_resource_uri"], "mcp://resources/artifacts/prds/PRD-006_v1.md");
    }
}

fn initiative(version: u32, status: &str) -> String {
    format!(
        "# INIT-001: A programme\n\n## Metadata\n- **Initiative ID:** INIT-001\n- **Version:** {version}\n\
         - **Parent Product Vision:** VIS-001\n- **Status:** {status}\n\n## Goals\n\
         Words enough to make this a document of a hundred characters and more than that.\n"
    )
}

#[tokio::test]
async fn nothing_is_approved_below_what_was_withdrawn_and_no_agent_withdraws() {
    for stage in both().await {
        let vision = "# VIS-001: A vision\n\n## Metadata\n- **Vision ID:** VIS-001\n- **Status:** Draft\n\n## Goals\n\
            Words enough to make this a document of a hundred characters and more than that.\n";
        stage.store(vision).await;
        output(stage.approve("VIS-001").await);
        stage.store(&initiative(1, "Draft")).await;
        output(stage.approve("INIT-001").await);
        let epic = |number: u32| {
            let id = format!("EPIC-{number:03}");
            let text = EPIC_006.replace("EPIC-006", &id);
            text.replacen("- **Status", "- **Parent Initiative:** INIT-001\n- **Status", 1)
        };
        stage.store(&epic(50)).await;
        output(stage.approve("EPIC-050").await);
        let agent = Actor { kind: ActorKind::Agent, ..crate::script::actor("agent") };
        let withdrawal = json!({"artifact_content": initiative(2, "Cancelled")});
        let error = stage.call_as(&agent, "store_artifact", withdrawal).await.result.unwrap_err();
        assert_eq!(
            (error.code(), error.message.as_str()),
            ("DENIED", "an agent may not withdraw an approved document")
        );
        stage.store(&initiative(2, "In Review")).await;
        stage.store(&epic(51)).await;
        output(stage.approve("EPIC-051").await);
        stage.store(&initiative(3, "Cancelled")).await;
        stage.store(&epic(52)).await;
        check_refused(&stage, stage.approve("EPIC-052"), -32000, "Parent INIT-001 must be approved first").await;
        let guide = json!({"generator": "epic-generator", "parent_id": "INIT-001"});
        let guide = output(stage.call("agent", "guide_generation", guide).await).to_string();
        assert!(!guide.contains("INIT-001_v"), "{guide}");
    }
}

#[tokio::test]
async fn every_parent_that_is_named_must_be_approved_and_of_one_family() {
    let stage = on_sqlite(OPERATIONS).await;
    stage.begin().await;
    stage.store(PRD_006).await;
    output(stage.approve("PRD-006").await);
    let hls = |number: u32, epic: &str| {
        format!(
            "# HLS-{number:03}: A story\n\n## Metadata\n- **Parent PRD:** PRD-006\n- **Parent Epic:** {epic}\n\
             - **Status:** Draft\n\n## Scope\nWords enough to make this a document of a hundred characters and more.\n"
        )
    };
    let told = async |number: u32, epic: &str| {
        let input = json!({"artifact_content": hls(number, epic), "artifact_id": format!("HLS-{number:03}")});
        let found = output(stage.call("author", "validate_artifact", input).await);
        let results = found["results"].as_array().unwrap();
        results.iter().find(|it| it["id"] == "UT-02").unwrap()["details"].as_str().unwrap().to_owned()
    };
    for epic in ["EPIC-096", "EPIC-097"] {
        stage.store(&EPIC_006.replace("EPIC-006", epic)).await;
    }
    for (number, epic) in [(53, "EPIC-095"), (54, "EPIC-096"), (55, "EPIC-097")] {
        stage.store(&hls(number, epic)).await;
    }
    check_refused(&stage, stage.approve("HLS-053"), -32000, "Parent EPIC-095 must be approved first").await;
    assert!(told(53, "EPIC-095").await.ends_with("line 5: parent EPIC-095 is not stored in this project"));
    check_refused(&stage, stage.approve("HLS-054"), -32000, "Parent EPIC-096 must be approved first").await;
    assert!(told(54, "EPIC-096").await.ends_with("line 5: parent EPIC-096 is Draft, and not approved"));
    output(stage.approve("EPIC-097").await);
    let message = "Parent PRD-006 is below EPIC-006, and not below EPIC-097; name EPIC-006, or another parent";
    check_refused(&stage, stage.approve("HLS-055"), -32000, message).await;
    assert_eq!(told(55, "EPIC-097").await, "line 5: parent PRD-006 is below EPIC-006, and not below EPIC-097");
    assert_eq!(told(56, "EPIC-006").await, "Parent PRD-006 is Approved, EPIC-006 is Approved");
    stage.store(&hls(56, "EPIC-006")).await;
    output(stage.approve("HLS-056").await);
}

#[tokio::test]
async fn of_several_documents_that_fit_none_is_guessed() {
    let stage = on_sqlite(OPERATIONS).await;
    stage.begin().await;
    for (text, id) in [(PRD_006, "PRD-006"), (&*PRD_006.replace("PRD-006", "PRD-010"), "PRD-010")] {
        stage.store(text).await;
        output(stage.approve(id).await);
    }
    let hls = "# HLS-050: A story\n\n## Metadata\n- **Parent Epic:** EPIC-006\n- **Status:** Draft\n\n\
        ## Decomposition into Backlog Stories\n1. US-AAA: the first of them, with words enough for a document.\n";
    stage.store(hls).await;
    let message =
        "Mandatory input 'prd' of task US-AAA is ambiguous: PRD-010 and PRD-006 fit; name one in the metadata";
    check_refused(&stage, stage.approve("HLS-050"), -32000, message).await;
    let named = hls.replace("HLS-050", "HLS-051").replace("EPIC-006\n", "EPIC-006\n- **Related PRD:** PRD-006\n");
    stage.store(&named).await;
    output(stage.approve("HLS-051").await);
    let tasks = stage.tasks().await;
    let task = tasks.iter().find(|task| task["generator"] == "backlog-story-generator").unwrap();
    assert_eq!(task["inputs"][0]["artifact_id"], "PRD-006");
}

/// What the tasks of an approved `PRD-006` are given as business research.
async fn research_of(stage: &Stage, prd: &str) -> Option<String> {
    stage.store(EPIC_006).await;
    output(stage.approve("EPIC-006").await);
    stage.store(prd).await;
    output(stage.approve("PRD-006").await);
    let tasks = stage.tasks().await;
    let inputs = tasks[0]["inputs"].as_array().unwrap();
    let found = inputs.iter().find(|input| input["name"] == "business_research");
    found.map(|input| input["resource_path"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_task_is_given_the_finished_version_of_the_research_that_was_named_and_no_other() {
    let other = BUSINESS_RESEARCH.replace("AI Agent MCP Server", "Beta");
    let draft = next_version(BUSINESS_RESEARCH).replace("Finalized", "Draft");
    for stage in both().await {
        for text in [BUSINESS_RESEARCH, &other, &draft] {
            stage.store(text).await;
        }
        let found = research_of(&stage, PRD_006).await;
        assert_eq!(found.as_deref(), Some("artifacts/research/AI_Agent_MCP_Server_business_research.md"));
    }
    let stage = on_sqlite(OPERATIONS).await;
    stage.store(&other).await;
    assert_eq!(research_of(&stage, PRD_006).await, None, "what was named is not there");
    let stage = on_sqlite(OPERATIONS).await;
    stage.store(&other).await;
    let vague = PRD_006.replace("artifacts/research/AI_Agent_MCP_Server_business_research.md", "ask the product team");
    assert_eq!(research_of(&stage, &vague).await, None, "something else was named");
    let stage = on_sqlite(OPERATIONS).await;
    stage.store(&other).await;
    let silent = PRD_006.replace("artifacts/research/AI_Agent_MCP_Server_business_research.md", "None");
    let found = research_of(&stage, &silent).await;
    assert_eq!(found.as_deref(), Some("artifacts/research/Beta_business_research.md"), "the only one there is");
}

fn person(id: &str, roles: &[Role]) -> Actor {
    let credential = Credential::Key { key_id: KeyId::parse("k1").unwrap() };
    let organisation_id = OrganisationId::parse("here").unwrap();
    Actor { credential, ..Actor::new(organisation_id, ActorId::parse(id).unwrap(), ActorKind::Human, roles.to_vec()) }
}

/// Attack case 15, with a detour.
#[tokio::test]
async fn who_stored_any_version_does_not_approve_the_next() {
    for stage in both().await {
        let anna = person("anna", &[Role::Author, Role::Approver]);
        let boris = person("boris", &[Role::Approver]);
        output(stage.call_as(&anna, "store_artifact", json!({"artifact_content": EPIC_006})).await);
        output(stage.call("agent", "store_artifact", json!({"artifact_content": next_version(EPIC_006)})).await);
        let approve = json!({"artifact_id": "EPIC-006"});
        let message = "Permission denied: an author may not approve their own document";
        check_refused(&stage, stage.call_as(&anna, "approve_artifact", approve.clone()), -32000, message).await;
        output(stage.call_as(&boris, "approve_artifact", approve).await);
        // Who approved a version may approve the next.
        let third = EPIC_006.replacen("**Version:** 1", "**Version:** 3", 1);
        output(stage.call("agent", "store_artifact", json!({"artifact_content": third})).await);
        output(stage.call_as(&boris, "approve_artifact", json!({"artifact_id": "EPIC-006"})).await);
    }
}

#[tokio::test]
async fn metadata_that_contradicts_itself_is_not_stored() {
    let stage = on_sqlite(OPERATIONS).await;
    let store = |text: String| stage.call("owner", "store_artifact", json!({ "artifact_content": text }));
    for (text, message) in [
        (
            EPIC_006.replacen("- **Status:** Draft", "- **Status:** Draft\n- **Status:** In Review", 1),
            "`Status`: expected one value; line 6 says `Draft` and line 7 says `In Review`",
        ),
        (
            EPIC_006.replacen("# EPIC-006:", "# EPIC-007:", 1),
            "`artifact_id`: expected one value; line 5 says `EPIC-006` and line 1 says `EPIC-007: MCP Server Integration`",
        ),
        (
            EPIC_006.replacen("**Version:** 1", "**Version:** 1.5", 1),
            "`Version`: expected a whole number from 1 to 999 in line 10",
        ),
        // Attack case 27.
        (EPIC_006.replacen("ID:** EPIC-006", "ID:** ../../etc/EPIC-006", 1), "Resource name contains path traversal"),
        (EPIC_006.replacen("ID:** EPIC-006", "ID:** EPIC-006/../../x", 1), "Resource name contains path traversal"),
        (EPIC_006.replacen("ID:** EPIC-006", "ID:** EPIC-006/x", 1), "`artifact_id`: expected one id in line 5"),
        (
            EPIC_006.replacen("**Version:** 1", "**Version:** -1", 1),
            "`Version`: expected a whole number from 1 to 999 in line 10",
        ),
    ] {
        check_refused(&stage, store(text), -32602, &format!("Invalid params: {message}")).await;
    }
}

#[tokio::test]
async fn a_byte_order_mark_is_read_over_and_kept_as_what_was_reviewed() {
    let stage = on_sqlite(OPERATIONS).await;
    stage.store(IMPLEMENTATION_RESEARCH).await;
    stage.store(BUSINESS_RESEARCH).await;
    let marked = format!("\u{feff}{EPIC_006}");
    let stored = stage.store(&marked).await;
    assert_eq!(stage.store(&marked).await, stored, "the same document");
    assert_eq!(stage.file("artifacts/epics/EPIC-006_v1.md"), marked);
    let unmarked = stage.call("owner", "store_artifact", json!({ "artifact_content": EPIC_006 })).await;
    assert_eq!(refusal(unmarked).0, -32000, "other bytes are another version");
    // The hash that a reviewer takes of the file is the one that the approval is bound to.
    let reviewed = workflow::approval::content_hash(&marked);
    let approve = json!({"artifact_id": "EPIC-006", "content_sha256": reviewed});
    output(stage.call("owner", "approve_artifact", approve).await);
    assert!(stage.file("artifacts/epics/EPIC-006_v1.md").starts_with("\u{feff}# EPIC-006"));
    let checked = json!({"artifact_content": format!("\u{feff}{PRD_006}"), "artifact_id": "PRD-006"});
    let found: Value = output(stage.call("owner", "validate_artifact", checked).await);
    assert_eq!(found["passed"], true, "{found}");
    let wrong = stage.call("owner", "store_artifact", json!({"artifact_content": "\u{feff}short"})).await;
    assert_eq!(refusal(wrong).0, -32602);
}

#[tokio::test]
async fn the_guide_promises_as_many_placeholders_as_there_may_be() {
    let stage = on_sqlite(OPERATIONS).await;
    for (generator, promise) in [
        ("epic-generator", "The one document of type prd that is to follow gets the placeholder PRD-AAA."),
        ("prd-generator", "Documents of type hls that are to follow get placeholders (HLS-AAA, HLS-BBB, …)."),
    ] {
        let guide = output(stage.call("agent", "guide_generation", json!({ "generator": generator })).await);
        let text = guide["text"].as_str().unwrap();
        assert!(text.contains(promise), "{text}");
    }
}
