//! Approved documents on their further way: in progress, completed, withdrawn, and who may not.

use contract::actor::{Actor, ActorKind};
use contract::dialect::workflow_rpc;
use ops::Reply;
use ops::operations::OPERATIONS;
use serde_json::{Value, json};
use store::{Applied, Apply, Keep, Migration, Options, Store, Target};
use testkit::documents::{BUSINESS_RESEARCH, EPIC_006};
use workflow::artifacts::{Place, list_revisions};

use crate::artifacts::{both, check_refused, output};
use crate::ledger::{settle, tamper, verify};
use crate::script::{Stage, actor, on_sqlite};

const EPIC_FILE: &str = "artifacts/epics/EPIC-006_v1.md";

impl Stage {
    /// A second later, so that each state has a time of its own.
    async fn move_to(&self, by: &str, id: &str, status: &str) -> Reply {
        self.clock.set_us(self.clock.now_us() + 1_000_000);
        self.call(by, "set_artifact_status", json!({"artifact_id": id, "status": status})).await
    }

    async fn history(&self, id: &str) -> Vec<Value> {
        let listed = output(self.call("viewer", "list_artifact_revisions", json!({"artifact_id": id})).await);
        listed["revisions"].as_array().unwrap().clone()
    }
}

async fn approved_epic(stage: &Stage) {
    stage.store(EPIC_006).await;
    output(stage.approve("EPIC-006").await);
}

#[tokio::test]
async fn an_approved_document_goes_on_and_back_and_every_state_is_kept() {
    for stage in both().await {
        approved_epic(&stage).await;
        let planned = output(stage.move_to("author", "EPIC-006", "Planned").await);
        let sha256 = planned["content_sha256"].as_str().unwrap();
        assert_eq!(
            planned,
            json!({
                "success": true, "artifact_id": "EPIC-006", "version": 1, "previous_status": "Approved",
                "status": "Planned", "artifact_path": EPIC_FILE, "content_sha256": sha256,
                "resource_uri": "mcp://resources/artifacts/epics/EPIC-006_v1.md"
            })
        );
        output(stage.move_to("agent", "EPIC-006", "In Progress").await);
        let text = stage.file(EPIC_FILE);
        assert!(text.contains("- **Status:** In Progress\n"), "{text}");
        let sidecar: Value = serde_json::from_str(&stage.file("artifacts/epics/EPIC-006_v1_metadata.json")).unwrap();
        assert_eq!((&sidecar["status"], &sidecar["approval"]["approved_by"]), (&json!("In Progress"), &json!("owner")));
        let again = output(stage.move_to("owner", "EPIC-006", "Planned").await);
        assert_eq!((&again["previous_status"], &again["content_sha256"]), (&json!("In Progress"), &json!(sha256)));

        let told: Vec<_> = stage
            .history("EPIC-006")
            .await
            .iter()
            .map(|it| ["cause", "status", "changed_by"].map(|member| it[member].as_str().unwrap().to_owned()).join(" "))
            .collect();
        let expected = [
            "stored Draft owner",
            "approved Approved owner",
            "moved Planned author",
            "moved In Progress agent",
            "moved Planned owner",
        ];
        assert_eq!(told, expected);
        let asked = json!({"artifact_id": "EPIC-006", "from_version": 1, "from_revision": 2, "to_revision": 4});
        let diff = output(stage.call("viewer", "diff_artifact", asked).await);
        assert_eq!((&diff["n_lines_added"], &diff["n_lines_removed"]), (&json!(1), &json!(1)), "{diff}");
        // What was stored first is the same document whatever became of it.
        stage.store(EPIC_006).await;
        assert_eq!(stage.history("EPIC-006").await.len(), 5);
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

#[tokio::test]
async fn the_same_status_again_changes_nothing_and_the_event_names_what_it_touched() {
    let stage = on_sqlite(OPERATIONS).await;
    approved_epic(&stage).await;
    output(stage.move_to("owner", "EPIC-006", "Completed").await);
    let again = output(stage.move_to("owner", "EPIC-006", "Completed").await);
    assert_eq!((&again["previous_status"], &again["status"]), (&json!("Completed"), &json!("Completed")));
    assert_eq!(stage.history("EPIC-006").await.len(), 3);
    let events = stage.bodies().await;
    let named: Vec<Vec<&str>> = events
        .iter()
        .filter(|event| event["operation"] == "set_artifact_status")
        .map(|event| event["objects"].as_array().unwrap().iter().map(|it| it["id"].as_str().unwrap()).collect())
        .collect();
    assert_eq!(named, [vec!["default/EPIC-006/1", "default/EPIC-006/1/3"], vec!["default/EPIC-006/1"]]);
    assert_eq!(verify(&stage).await["problems"], json!([]));
}

#[tokio::test]
async fn what_stands_in_the_way_of_a_move_is_named_and_nothing_changes() {
    for stage in both().await {
        let set = async |input: Value| stage.call("owner", "set_artifact_status", input).await;
        let planned = json!({"artifact_id": "EPIC-006", "status": "Planned"});
        check_refused(&stage, set(planned.clone()), -32001, "Resource not found: EPIC-006").await;
        stage.store(EPIC_006).await;
        let message =
            "Artifact EPIC-006 v1 has status Draft, expected one of Approved, Planned, In Progress, Completed";
        check_refused(&stage, set(planned), -32000, message).await;
        output(stage.approve("EPIC-006").await);
        for status in ["Draft", "In Review", "Cancelled", "planned", ""] {
            let message =
                "Invalid params: `status`: expected one of Approved, Planned, In Progress, Completed, Withdrawn";
            check_refused(&stage, set(json!({"artifact_id": "EPIC-006", "status": status})), -32602, message).await;
        }
        let version = json!({"artifact_id": "EPIC-006", "status": "Planned", "version": 2});
        check_refused(&stage, set(version), -32001, "Resource not found: EPIC-006 has no version 2; it has 1").await;
        let read = output(stage.call("owner", "read_artifact", json!({"artifact_id": "EPIC-006"})).await);
        assert_eq!(read["next_statuses"], json!(["Planned", "In Progress", "Completed", "Withdrawn"]));
        let found = read["artifact"]["content_sha256"].as_str().unwrap();
        let other = json!({"artifact_id": "EPIC-006", "status": "Planned", "content_sha256": "0".repeat(64)});
        let message = format!("Artifact EPIC-006 v1 is not what was read: its content has SHA-256 {found}");
        check_refused(&stage, set(other.clone()), -32000, &message).await;
        let data = workflow_rpc(&set(other).await.result.unwrap_err()).data;
        assert_eq!(
            data,
            json!({"code": "CONFLICT", "field": "content_sha256", "received": "0".repeat(64), "expected": found})
        );
        stage.store(BUSINESS_RESEARCH).await;
        let research = json!({"artifact_id": "AI_Agent_MCP_Server_business_research", "status": "Draft"});
        let message = "Invalid params: AI_Agent_MCP_Server_business_research has no id: its status is the one that it was \
            stored or approved with";
        check_refused(&stage, set(research), -32602, message).await;
        let message = "AI_Agent_MCP_Server_business_research was stored as Finalized: whoever stored it says that it is \
            finished, and nobody has approved it";
        check_refused(&stage, stage.approve("AI_Agent_MCP_Server_business_research"), -32000, message).await;
        let viewer = json!({"artifact_id": "EPIC-006", "status": "Planned"});
        let refused = stage.call("viewer", "set_artifact_status", viewer);
        let message = "Permission denied: `viewer` may not call `set_artifact_status`";
        check_refused(&stage, refused, -32000, message).await;
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

fn initiative(version: u32, status: &str) -> String {
    format!(
        "# INIT-001: A programme\n\n## Metadata\n- **Initiative ID:** INIT-001\n- **Version:** {version}\n\
         - **Parent Product Vision:** VIS-001\n- **Status:** {status}\n\n## Goals\n\
         Words enough to make this a document of a hundred characters and more than that.\n"
    )
}

fn epic_below(number: u32) -> String {
    let text = EPIC_006.replace("EPIC-006", &format!("EPIC-{number:03}"));
    text.replacen("- **Status", "- **Parent Initiative:** INIT-001\n- **Status", 1)
}

#[tokio::test]
async fn what_a_document_was_approved_for_goes_on_with_it_and_ends_when_a_person_withdraws_it() {
    for stage in both().await {
        let vision = "# VIS-001: A vision\n\n## Metadata\n- **Vision ID:** VIS-001\n- **Status:** Draft\n\n## Goals\n\
            Words enough to make this a document of a hundred characters and more than that.\n";
        stage.store(vision).await;
        output(stage.approve("VIS-001").await);
        stage.store(&initiative(1, "Draft")).await;
        output(stage.approve("INIT-001").await);
        let agent = Actor { kind: ActorKind::Agent, ..actor("agent") };
        let as_agent = async |status: &str| {
            let input = json!({"artifact_id": "INIT-001", "status": status});
            stage.call_as(&agent, "set_artifact_status", input).await
        };
        output(as_agent("Active").await);
        stage.store(&epic_below(50)).await;
        output(stage.approve("EPIC-050").await);
        let message = "Permission denied: an agent may not withdraw an approved document";
        check_refused(&stage, as_agent("Cancelled"), -32000, message).await;

        // A later draft does not stand in the way of moving the version that was approved.
        stage.store(&initiative(2, "Draft")).await;
        let message = "Artifact INIT-001 v2 has status Draft, expected one of Approved, Active, Completed";
        check_refused(&stage, stage.move_to("owner", "INIT-001", "Cancelled"), -32000, message).await;
        let first = json!({"artifact_id": "INIT-001", "status": "Cancelled", "version": 1});
        let withdrawn = output(stage.call("approver", "set_artifact_status", first.clone()).await);
        assert_eq!((&withdrawn["previous_status"], &withdrawn["status"]), (&json!("Active"), &json!("Cancelled")));
        stage.store(&epic_below(51)).await;
        check_refused(&stage, stage.approve("EPIC-051"), -32000, "Parent INIT-001 must be approved first").await;
        let guide = json!({"generator": "epic-generator", "parent_id": "INIT-001"});
        let guide = output(stage.call("agent", "guide_generation", guide).await).to_string();
        assert!(!guide.contains("INIT-001_v"), "{guide}");
        let message = "Artifact INIT-001 v1 has status Cancelled, expected one of Approved, Active, Completed";
        check_refused(&stage, stage.call("owner", "set_artifact_status", first), -32000, message).await;
        let read = json!({"artifact_id": "INIT-001", "version": 1});
        assert_eq!(output(stage.call("owner", "read_artifact", read).await).get("next_statuses"), None);
        assert_eq!(verify(&stage).await["problems"], json!([]));
    }
}

#[tokio::test]
async fn files_of_a_document_that_another_server_moved_are_renewed_and_not_called_edited() {
    for stage in both().await {
        let other = stage.again_elsewhere().await;
        approved_epic(&stage).await;
        for status in ["Planned", "In Progress"] {
            output(other.move_to("owner", "EPIC-006", status).await);
        }
        let report = stage.platform.files().check_all().await.unwrap();
        assert_eq!((report.n_written, report.n_changed, report.n_failed), (1, 0, 0));
        // And while both are running, by the change feed.
        let mut place = stage.platform.files_place().await;
        output(other.move_to("owner", "EPIC-006", "Completed").await);
        settle(&other).await;
        stage.platform.renew_files(&mut place).await.unwrap();
        for file in [EPIC_FILE, "artifacts/epics/EPIC-006_v1_metadata.json"] {
            assert_eq!(stage.file(file), other.file(file));
        }
        assert!(stage.file(EPIC_FILE).contains("**Status:** Completed"));
    }
}

#[tokio::test]
async fn a_move_that_other_hands_changed_added_or_deleted_is_named() {
    let of_third = "artifact_revision `default/EPIC-006/1/3` was changed by other hands";
    for (sql, named) in [
        ("UPDATE artifact_revisions SET changed_by = 'nobody' WHERE revision = 3", of_third),
        ("UPDATE artifact_revisions SET changed_at_us = changed_at_us - 1 WHERE revision = 3", of_third),
        ("UPDATE artifact_revisions SET status = 'In Progress' WHERE revision = 3", of_third),
        (
            "UPDATE artifact_revisions SET status = 'In Progress' WHERE revision = 2",
            "revision 2 of default/EPIC-006/1 was changed by other hands",
        ),
        (
            "UPDATE artifact_revisions SET meaning = 'agreed' WHERE revision = 3",
            "revision 3 of default/EPIC-006/1 was changed by other hands",
        ),
        (
            "UPDATE artifact_revisions SET status = 'Planned' WHERE revision = 1",
            "revision 1 of default/EPIC-006/1 was changed by other hands",
        ),
        (
            "UPDATE artifact_revisions SET cause = 'approved' WHERE revision = 3",
            "artifact_revision `default/EPIC-006/1/3` was deleted by other hands",
        ),
        (
            "DELETE FROM artifact_revisions WHERE revision = 3",
            "artifact_revision `default/EPIC-006/1/3` was deleted by other hands",
        ),
        (
            "INSERT INTO artifact_revisions SELECT organisation_id, project_id, artifact_key, version, 5, status, cause, \
             content_sha256, size_bytes, changed_by, changed_at_us, meaning FROM artifact_revisions WHERE revision = 4",
            "no event tells of artifact_revision `default/EPIC-006/1/5`",
        ),
        (
            "UPDATE artifacts SET updated_at_us = approved_at_us",
            "the approval or the time of default/EPIC-006/1 was changed by other hands",
        ),
        ("UPDATE artifacts SET status = 'Approved'", "artifact `default/EPIC-006/1` was changed by other hands"),
    ] {
        let stage = on_sqlite(OPERATIONS).await;
        approved_epic(&stage).await;
        for status in ["Planned", "Completed"] {
            output(stage.move_to("owner", "EPIC-006", status).await);
        }
        assert_eq!(verify(&stage).await["problems"], json!([]));
        tamper(&stage, sql).await;
        let found = verify(&stage).await;
        let problems = found["problems"].as_array().unwrap();
        assert!(problems.iter().any(|problem| problem["message"] == named), "{sql}: {found}");
    }
}

#[tokio::test]
async fn an_approved_review_is_withdrawn_by_a_person_and_nothing_is_approved_below_it() {
    let stage = on_sqlite(OPERATIONS).await;
    let text = |id: &str, parent: &str| {
        format!(
            "# {id}: A title\n\n## Metadata\n- **Version:** 1\n{parent}- **Status:** Draft\n\n## Findings\n\
             Words enough to make this a document of a hundred characters and more than that.\n"
        )
    };
    stage.store(&text("REV-001", "")).await;
    output(stage.approve("REV-001").await);
    let agent = Actor { kind: ActorKind::Agent, ..actor("agent") };
    let withdrawal = json!({"artifact_id": "REV-001", "status": "Withdrawn"});
    let error = stage.call_as(&agent, "set_artifact_status", withdrawal).await.result.unwrap_err();
    assert_eq!(error.message, "an agent may not withdraw an approved document");
    let withdrawn = output(stage.move_to("owner", "REV-001", "Withdrawn").await);
    assert_eq!(withdrawn["status"], "Withdrawn");
    stage.store(&text("CARE-001", "- **Parent Evidence Review:** REV-001\n")).await;
    check_refused(&stage, stage.approve("CARE-001"), -32000, "Parent REV-001 must be approved first").await;
}

/// A review that was approved twice, and a plan below it.
async fn reviewed_plan(stage: &Stage) -> impl Fn(u32, &str) -> String + use<> {
    let text = |id: &str, rest: &str| {
        format!(
            "# {id}: A title\n\n## Metadata\n{rest}\n\n## Findings\n\
             Words enough to make this a document of a hundred characters and more than that.\n"
        )
    };
    let review =
        move |version: u32, status: &str| text("REV-001", &format!("- **Version:** {version}\n- **Status:** {status}"));
    for version in [1, 2] {
        stage.store(&review(version, "Draft")).await;
        output(stage.approve("REV-001").await);
    }
    stage.store(&text("CARE-001", "- **Parent Evidence Review:** REV-001\n- **Status:** Draft")).await;
    review
}

/// Nothing goes on below the review, whichever way it is asked.
async fn check_withdrawn(stage: &Stage) {
    check_refused(stage, stage.approve("CARE-001"), -32000, "Parent REV-001 must be approved first").await;
    let guide = json!({"generator": "care-plan-generator", "parent_id": "REV-001"});
    let guide = output(stage.call("agent", "guide_generation", guide).await).to_string();
    assert!(guide.contains("evidence_review (mandatory): missing"), "{guide}");
    let read = output(stage.call("viewer", "read_artifact", json!({"artifact_id": "CARE-001"})).await);
    let asked = json!({"artifact_id": "CARE-001", "artifact_content": read["content"]});
    let found = output(stage.call("viewer", "validate_artifact", asked).await);
    let parent = found["results"].as_array().unwrap().iter().find(|it| it["id"] == "UT-02").unwrap();
    assert_eq!(
        (&parent["passed"], &parent["details"]),
        (&json!(false), &json!("line 4: parent REV-001 is Withdrawn, and not approved"))
    );
    let input = json!({
        "name": "evidence_review", "classification": "mandatory",
        "mcp_resource_uri": "mcp://resources/artifacts/evidence_reviews/REV-001_v1.md"
    });
    let task = json!({"artifact_id": "CARE-002", "generator": "care-plan-generator", "inputs": [input]});
    let error = stage.call("agent", "add_task", json!({"tasks": [task]})).await.result.unwrap_err();
    assert_eq!(error.message, "Input artifact REV-001 not approved");
}

#[tokio::test]
async fn a_draft_brings_nothing_back_that_a_person_withdrew_and_an_approval_does() {
    for stage in both().await {
        let review = reviewed_plan(&stage).await;
        output(stage.move_to("approver", "REV-001", "Withdrawn").await);
        check_withdrawn(&stage).await;
        output(stage.call("agent", "store_artifact", json!({"artifact_content": review(3, "Draft")})).await);
        check_withdrawn(&stage).await;
        output(stage.approve("REV-001").await);
        output(stage.approve("CARE-001").await);
    }
}

#[tokio::test]
async fn a_draft_brings_nothing_back_that_a_stored_version_withdrew() {
    let stage = on_sqlite(OPERATIONS).await;
    let review = reviewed_plan(&stage).await;
    stage.store(&review(3, "Withdrawn")).await;
    output(stage.call("agent", "store_artifact", json!({"artifact_content": review(4, "Draft")})).await);
    check_withdrawn(&stage).await;
}

#[tokio::test]
async fn a_history_from_before_there_were_moves_is_taken_over() {
    const MOVES: i64 = 108;
    let folder = testkit::temp_dir();
    let database = testkit::postgres_url().await;
    for target in [Target::Sqlite(folder.path().join("materia.db")), Target::Postgres(database.url.clone())] {
        let open = async |migrations: Vec<Migration>| {
            let target = target.clone();
            let options = Options { target, migrations, n_connections_max: 2, write_queue_max: 8, batch_max: 8 };
            Store::open(options).await.unwrap()
        };
        let earlier = ops::migrations().into_iter().filter(|migration| migration.version != MOVES).collect();
        let store = open(earlier).await;
        let apply: Apply<()> = Box::new(|tx| {
            Box::pin(async move {
                let sql = "INSERT INTO artifact_revisions (organisation_id, project_id, artifact_key, version, revision, \
                    status, cause, content_sha256, size_bytes, changed_by, changed_at_us, meaning) VALUES \
                    ('here', 'default', 'EPIC-006', 1, 2, 'Approved', 'approved', 'a1', 7, 'owner', 9, 'agreed')";
                tx.execute(sql, &[]).await?;
                Ok(Applied { value: (), event: None, keep: Keep::Changes })
            })
        });
        let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
        store.write(None, deadline, apply).await.unwrap();
        store.close().await;
        let store = open(ops::migrations()).await;
        let place = Place { organisation_id: "here", project_id: "default" };
        let mut reader = store.read().await.unwrap();
        let kept = list_revisions(&mut reader, place, "EPIC-006").await.unwrap();
        let found = &kept[0];
        assert_eq!(
            (kept.len(), found.revision, found.status.as_str(), found.size_bytes, found.meaning.as_deref()),
            (1, 2, "Approved", 7, Some("agreed"))
        );
        let differences = store::schema::differences(&mut reader, &ops::migrations()).await.unwrap();
        assert_eq!(differences, Vec::new());
        drop(reader);
        store.close().await;
    }
}
