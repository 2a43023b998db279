//! Rows that other hands put where nobody might look.

use contract::error::Kind;
use ops::LogStanding;
use ops::operations::OPERATIONS;
use serde_json::{Value, json};
use store::{Applied, Apply, Engine, Keep};

use crate::evidence::herbs::{put, source};
use crate::evidence::starter_data::{AVOID, later as a_month_later, made_up};
use crate::ledger::{both, run_sql, settle, take_ids, tamper, verify, wrong_now};
use crate::script::{Stage, on_sqlite};

fn messages(found: &Value) -> Vec<String> {
    let problems = found["problems"].as_array().unwrap().iter();
    problems.map(|problem| problem["message"].as_str().unwrap().to_owned()).collect()
}

async fn look(stage: &Stage) -> Vec<String> {
    messages(&stage.call("owner", "audit_verify", json!({})).await.result.unwrap().output)
}

#[tokio::test]
async fn an_event_before_the_first_place_is_named() {
    let stage = on_sqlite(OPERATIONS).await;
    take_ids(&stage, 2).await;
    assert_eq!(verify(&stage).await["problems"], json!([]));
    tamper(
        &stage,
        "INSERT INTO events (event_seq, commit_key, call_id, organisation_id, recorded_at_us, actor_id, operation, \
         outcome, body) SELECT -5, commit_key, '01a1e70f-5f60-72f9-b5c9-369912e56d2f', organisation_id, recorded_at_us, \
         'nobody', operation, outcome, body FROM events WHERE operation = 'get_next_available_id' LIMIT 1",
    )
    .await;
    assert_eq!(look(&stage).await, ["the event is not in the log, although later ones are"]);
}

/// An event by hand, in a place of its own.
const PLANT: &str = "INSERT INTO events (event_seq, commit_key, call_id, organisation_id, recorded_at_us, actor_id, \
    operation, outcome, body) SELECT {place}, '01a1e70f-5f60-72f9-b5c9-369912e56d2f', organisation_id, recorded_at_us, \
    actor_id, operation, outcome, body FROM events ORDER BY event_seq DESC LIMIT 1";

#[tokio::test]
async fn an_event_that_is_planted_far_ahead_takes_no_later_one_out_of_the_log() {
    for place in ["9223372036854775807, 0", "9223372036854775806, 0", "MAX(event_seq) + 1, 7"] {
        let stage = on_sqlite(OPERATIONS).await;
        take_ids(&stage, 2).await;
        assert_eq!(verify(&stage).await["problems"], json!([]));
        tamper(&stage, PLANT.replace("{place}", place).leak()).await;
        take_ids(&stage, 3).await;
        let notary = ops::Notary::new(stage.platform.clone());
        let is_followed = notary.work().await.is_ok();
        assert_eq!(is_followed, place.ends_with('7'), "another transaction number is passed over");
        stage.clock.set_us(stage.clock.now_us() + 4_000_000);
        if !is_followed {
            notary.work().await.unwrap_err();
            let standing = stage.platform.log_standing();
            let says = |reason: &str| reason.contains("other hands put an event far ahead of all others");
            assert!(matches!(&standing, LogStanding::Stopped { reason } if says(reason)), "{standing:?}");
            let refused = stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"})).await;
            assert_eq!(refused.result.unwrap_err().kind, Kind::Conflict);
        }
        let named = "the event stands where no call puts one: other hands added it; delete its row of `events`";
        assert!(look(&stage).await.iter().any(|message| message == named));
        tamper(&stage, "DELETE FROM events WHERE call_id = '01a1e70f-5f60-72f9-b5c9-369912e56d2f'").await;
        let found = verify(&stage).await;
        assert!(wrong_now(&found).is_empty() && stage.platform.log_standing().word() == "doubted", "{found}");
        take_ids(&stage, 1).await;
        assert!(wrong_now(&verify(&stage).await).is_empty());
    }
}

#[tokio::test]
async fn an_event_in_the_place_of_a_deleted_one_stops_the_sequencer() {
    let stage = on_sqlite(OPERATIONS).await;
    take_ids(&stage, 3).await;
    settle(&stage).await;
    tamper(&stage, "DELETE FROM events WHERE event_seq = (SELECT MAX(event_seq) FROM events)").await;
    take_ids(&stage, 1).await;
    ops::Notary::new(stage.platform.clone()).work().await.unwrap_err();
    let found = look(&stage).await;
    assert!(found.iter().any(|message| message == "the event is not in the log, although later ones are"), "{found:?}");
}

#[tokio::test]
async fn a_row_that_is_nothing_any_more_is_named_and_the_rest_is_checked() {
    for (sql, named) in [
        ("UPDATE artifacts SET n_revisions = -1", "artifact `default/EPIC-006/1` was changed by other hands"),
        ("UPDATE artifacts SET version = -1", "no event tells of artifact `default/EPIC-006/-1`"),
        ("UPDATE tasks SET task_id = 'T 3'", "no event tells of task `T 3`"),
    ] {
        for stage in both().await {
            let epic = testkit::documents::EPIC_006;
            stage.call("owner", "store_artifact", json!({"artifact_content": epic})).await.result.unwrap();
            let review = json!({"artifact_id": "REV-001", "generator": "evidence-review-generator", "inputs": []});
            let queued = json!({"project_id": "default", "tasks": [review]});
            stage.call("owner", "queue_tasks", queued).await.result.unwrap();
            let key = json!({"actor_id": "reader", "roles": ["viewer"]});
            stage.call("owner", "create_key", key).await.result.unwrap();
            assert_eq!(verify(&stage).await["problems"], json!([]));
            tamper(&stage, sql).await;
            tamper(&stage, "UPDATE api_keys SET actor_id = 'writer'").await;
            let found = look(&stage).await;
            assert!(found.iter().any(|message| message == named), "{sql}: {found:?}");
            assert!(found.iter().any(|message| message.starts_with("key `")), "the rest is checked: {found:?}");
        }
    }
}

#[tokio::test]
async fn a_history_that_was_changed_is_named() {
    for sql in [
        "UPDATE artifact_revisions SET status = 'Approved' WHERE revision = 1",
        "UPDATE artifact_revisions SET revision = -1 WHERE revision = 1",
    ] {
        for stage in both().await {
            let epic = testkit::documents::EPIC_006;
            stage.call("owner", "store_artifact", json!({"artifact_content": epic})).await.result.unwrap();
            stage.call("owner", "approve_artifact", json!({"artifact_id": "EPIC-006"})).await.result.unwrap();
            assert_eq!(verify(&stage).await["problems"], json!([]));
            tamper(&stage, sql).await;
            let found = look(&stage).await;
            assert!(
                found.iter().any(|message| message.contains("of default/EPIC-006/1 was changed")),
                "{sql}: {found:?}"
            );
        }
    }
}

async fn has_a_long_history(stage: &Stage) {
    let epic = json!({"artifact_content": testkit::documents::EPIC_006});
    let id = json!({"artifact_id": "EPIC-006"});
    let moved = |status: &str| json!({"artifact_id": "EPIC-006", "status": status});
    for (operation, input) in [
        ("store_artifact", epic),
        ("approve_artifact", id),
        ("set_artifact_status", moved("Planned")),
        ("set_artifact_status", moved("Completed")),
    ] {
        stage.clock.set_us(stage.clock.now_us() + 1_000_000);
        stage.call("owner", operation, input).await.result.unwrap();
    }
    assert_eq!(verify(stage).await["problems"], json!([]));
}

async fn change_revision(stage: &Stage, sql: &'static str, revision: i64) {
    let apply: Apply<()> = Box::new(move |tx| {
        Box::pin(async move {
            assert_eq!(tx.execute(sql, &[revision.into()]).await?, 1, "{sql}");
            Ok(Applied { value: (), event: None, keep: Keep::Changes })
        })
    });
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    stage.store.write(None, deadline, apply).await.unwrap();
}

#[tokio::test]
async fn of_a_long_history_the_row_that_was_changed_is_named_and_no_other() {
    let changes = [
        "UPDATE artifact_revisions SET status = 'Withdrawn' WHERE revision = $1",
        "UPDATE artifact_revisions SET status = 'Draft' || status WHERE revision = $1",
        "UPDATE artifact_revisions SET size_bytes = size_bytes + 1 WHERE revision = $1",
        "UPDATE artifact_revisions SET content_sha256 = (SELECT MIN(c.content_sha256) FROM artifact_contents c \
         WHERE c.content_sha256 <> artifact_revisions.content_sha256) WHERE revision = $1",
        "UPDATE artifact_revisions SET changed_by = 'nobody' WHERE revision = $1",
        "UPDATE artifact_revisions SET changed_at_us = changed_at_us + 1 WHERE revision = $1",
    ];
    for stage in both().await {
        has_a_long_history(&stage).await;
        for (revision, sql) in (1..=4).flat_map(|revision| changes.map(|sql| (revision, sql))) {
            run_sql(&stage, &["CREATE TABLE before AS SELECT * FROM artifact_revisions"]).await;
            change_revision(&stage, sql, revision).await;
            let found = look(&stage).await;
            let names = [
                format!("revision {revision} of default/EPIC-006/1 was changed by other hands"),
                format!("artifact_revision `default/EPIC-006/1/{revision}` was changed by other hands"),
            ];
            // What was found before is told until somebody accepts it.
            let is_of_history = |it: &&String| it.starts_with("revision ") || it.starts_with("artifact_revision ");
            let history: Vec<&String> = found.iter().filter(is_of_history).collect();
            assert!(!history.is_empty() && history.iter().all(|it| names.contains(it)), "{sql}: {found:?}");
            let undo = &["DELETE FROM artifact_revisions", "INSERT INTO artifact_revisions SELECT * FROM before"];
            run_sql(&stage, undo).await;
            run_sql(&stage, &["DROP TABLE before"]).await;
        }
    }
}

#[tokio::test]
async fn what_a_verification_found_is_told_while_the_database_swallows_its_event() {
    let stage = on_sqlite(OPERATIONS).await;
    const HIDE: &str = "CREATE TRIGGER hide BEFORE INSERT ON events WHEN new.operation = 'audit_verify' \
        BEGIN SELECT RAISE(IGNORE); END";
    run_sql(&stage, &[HIDE]).await;
    for is_first in [true, false] {
        let reply = stage.call("owner", "audit_verify", json!({})).await;
        let found = reply.result.unwrap().output;
        stage.platform.flush().await;
        assert_eq!(found["ok"], false);
        assert_eq!(found["problems"][0]["kind"], "trigger", "{found}");
        let notes = found["notes"].to_string();
        assert_eq!(notes.contains("this verification could not be recorded"), !is_first, "{notes}");
    }
    let refused = stage.call("owner", "audit_search", json!({})).await.result.unwrap_err();
    assert_eq!(refused.kind, contract::error::Kind::Conflict);
    assert!(refused.message.contains("`materia audit verify` names it"), "{}", refused.message);
    run_sql(&stage, &["DROP TRIGGER hide"]).await;
    stage.platform.flush().await;
    stage.call("owner", "audit_search", json!({})).await.result.unwrap();
}

#[tokio::test]
async fn nothing_is_done_whose_event_the_database_swallows() {
    let stage = on_sqlite(OPERATIONS).await;
    tamper(
        &stage,
        "CREATE TRIGGER swallow BEFORE INSERT ON events WHEN new.actor_id <> 'nobody' \
         BEGIN SELECT RAISE(IGNORE); END",
    )
    .await;
    let refused = stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"})).await;
    assert!(refused.result.is_err(), "an id was given out that no event tells of");
    run_sql(&stage, &["DROP TRIGGER swallow"]).await;
    let given = stage.call("owner", "get_next_available_id", json!({"artifact_type": "US"})).await.result.unwrap();
    assert_eq!(given.output["next_id"], "US-001");
}

#[tokio::test]
async fn a_sequencer_that_was_moved_on_stops_and_says_so() {
    for stage in both().await {
        take_ids(&stage, 2).await;
        settle(&stage).await;
        tamper(&stage, "UPDATE log_state SET last_event_seq = last_event_seq + 1000").await;
        let stopped = ops::Notary::new(stage.platform.clone()).work().await.unwrap_err();
        let cause = std::error::Error::source(&stopped).unwrap().to_string();
        assert!(cause.contains("it stands at an event that is not there"), "{cause}");
    }
}

/// Changes of the schema by other hands, each with what is said of it.
const SQLITE_SCHEMA: [(&[&str], &str); 4] = [
    (
        &[
            "DROP TABLE log_nodes",
            "CREATE TABLE log_nodes (level BIGINT NOT NULL, node_index BIGINT NOT NULL, hash BLOB NOT NULL)",
        ],
        "the table `log_nodes` is not as this program makes it: its definition was changed",
    ),
    (
        &[
            "DROP TABLE task_counters",
            "CREATE TABLE task_counters (organisation_id TEXT PRIMARY KEY REFERENCES api_keys ON DELETE CASCADE, \
             last_task_number BIGINT NOT NULL)",
        ],
        "the table `task_counters` is not as this program makes it: its definition was changed",
    ),
    (
        &["DROP INDEX tasks_by_artifact"],
        "the table `tasks` is not as this program makes it: its unique index `tasks_by_artifact` is gone",
    ),
    (
        &["CREATE UNIQUE INDEX one_each ON api_keys (organisation_id)"],
        "the table `api_keys` is not as this program makes it: it has the unique index `one_each`, which is not of the schema",
    ),
];

const POSTGRES_SCHEMA: [(&[&str], &str); 10] = [
    (
        &[
            "CREATE COLLATION loose (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
            "ALTER TABLE tasks ALTER COLUMN generator TYPE TEXT COLLATE loose",
        ],
        "the table `tasks` is not as this program makes it: it has the column `generator` (text, never null), collated by \
         `loose`, which is not of the schema",
    ),
    (
        &[
            "CREATE FUNCTION told(body TEXT) RETURNS TEXT IMMUTABLE LANGUAGE sql AS 'SELECT left(body, 1)'",
            "CREATE INDEX listening ON events (told(body))",
        ],
        "the table `events` is not as this program makes it: it has the index `listening`, which runs a function, which is \
         not of the schema",
    ),
    (
        &["ALTER TABLE id_gaps SET UNLOGGED"],
        "the table `id_gaps` is not as this program makes it: it has no place in the write-ahead log (UNLOGGED), which is \
         not of the schema",
    ),
    (
        &["ALTER TABLE log_leaves DROP CONSTRAINT log_leaves_call_id_key"],
        "the table `log_leaves` is not as this program makes it: it lacks what makes (call_id) unique",
    ),
    (
        &["ALTER TABLE id_gaps ADD FOREIGN KEY (organisation_id) REFERENCES task_counters ON DELETE CASCADE"],
        "the table `id_gaps` is not as this program makes it: it has `FOREIGN KEY (organisation_id) REFERENCES \
         task_counters(organisation_id) ON DELETE CASCADE`, which is not of the schema",
    ),
    (
        &["ALTER TABLE tasks DROP CONSTRAINT tasks_status_check"],
        "the table `tasks` is not as this program makes it: it lacks the check `status 'pending' 'in_progress' 'completed'`",
    ),
    (
        &["ALTER TABLE events ALTER COLUMN commit_key SET DEFAULT 0"],
        "the table `events` is not as this program makes it: it has the column `commit_key` (number, never null, by \
         default `0`), which is not of the schema",
    ),
    (
        &["DROP INDEX tasks_by_artifact"],
        "the table `tasks` is not as this program makes it: it lacks what makes (organisation_id, project_id, artifact_id) \
         unique where status <> 'completed'",
    ),
    (
        &["ALTER TABLE log_nodes DROP CONSTRAINT log_nodes_pkey"],
        "the table `log_nodes` is not as this program makes it: it lacks the primary key (level, node_index)",
    ),
    (
        &[
            "CREATE FUNCTION hush() RETURNS event_trigger LANGUAGE plpgsql AS 'BEGIN END'",
            "CREATE EVENT TRIGGER hush ON ddl_command_end EXECUTE FUNCTION hush()",
        ],
        "other hands gave `ddl_command_end` the event trigger `hush`: the schema has none; drop it",
    ),
];

#[tokio::test]
async fn a_schema_that_is_not_what_the_migrations_make_is_named() {
    for stage in both().await {
        take_ids(&stage, 1).await;
        assert_eq!(verify(&stage).await["problems"], json!([]));
        let cases: &[(&[&str], &str)] = match stage.store.engine() {
            Engine::Sqlite => &SQLITE_SCHEMA,
            Engine::Postgres => &POSTGRES_SCHEMA,
        };
        for (statements, named) in cases {
            run_sql(&stage, statements).await;
            let found = look(&stage).await;
            assert!(found.iter().any(|message| message == named), "{statements:?}: {found:#?}");
        }
        // What only makes reading faster is nobody's concern, and neither is a table that is not ours.
        let n_named = async || {
            let found = look(&stage).await;
            found.iter().filter(|message| message.contains(" is not as this program makes it: ")).count()
        };
        let n_before = n_named().await;
        run_sql(&stage, &["DROP INDEX events_by_actor", "CREATE TABLE not_ours (id TEXT)"]).await;
        assert_eq!(n_named().await, n_before);
    }
}

#[tokio::test]
async fn a_table_or_a_column_that_is_gone_is_named_and_no_failure() {
    for (sql, named) in [
        ("DROP TABLE evidence_batches", "the table `evidence_batches` is not as this program makes it: it is gone"),
        ("DROP TABLE log_leaves", "the table `log_leaves` is not as this program makes it: it is gone"),
        ("ALTER TABLE tasks RENAME COLUMN generator TO maker", "the table `tasks` is not as this program makes it: "),
        ("ALTER TABLE events DROP COLUMN outcome", "the table `events` is not as this program makes it: "),
    ] {
        for stage in both().await {
            take_ids(&stage, 1).await;
            settle(&stage).await;
            run_sql(&stage, vec![sql].leak()).await;
            let found = look(&stage).await;
            assert!(found.iter().any(|message| message.starts_with(named)), "{sql}: {found:#?}");
            let is_told = |message: &String| {
                message.starts_with("the database is damaged: ") && message.contains("restore a backup")
            };
            assert!(found.iter().any(is_told), "{sql}: {found:#?}");
        }
    }
}

#[tokio::test]
async fn the_ids_of_papers_are_compared_with_the_documents() {
    let cases: [(&'static [&'static str], &str); 3] = [
        (
            &["DELETE FROM evidence_paper_ids WHERE document_id = 'PMCID:PMC5'"],
            "that document `PMCID:PMC5` is the paper `pmid:11` was deleted from `evidence_paper_ids` by other hands",
        ),
        (
            &["INSERT INTO evidence_paper_ids SELECT organisation_id, 'pmid:77', document_id FROM evidence_paper_ids"],
            "`evidence_paper_ids` says that document `PMCID:PMC5` is the paper `pmid:77`, which it does not say",
        ),
        (
            &["INSERT INTO evidence_paper_ids SELECT organisation_id, paper_id, 'PMID:99' FROM evidence_paper_ids"],
            "`evidence_paper_ids` says that document `PMID:99`, which is not there, is the paper `pmid:11`",
        ),
    ];
    let full_text = json!({"record": "document", "id": "PMCID:PMC5", "kind": "paper", "title": "On ginger",
        "text": "Words.", "lang": "en", "ids": {"pmid": "11"}, "source": "herbal"});
    for (sql, expected) in cases {
        for stage in both().await {
            put(&stage, &[source(), full_text.clone()]).await;
            assert_eq!(verify(&stage).await["problems"], json!([]));
            run_sql(&stage, sql).await;
            let found = verify(&stage).await;
            assert!(messages(&found).len() == 1 && messages(&found)[0].starts_with(expected), "{found}");
            if expected.starts_with("that document") {
                put(&stage, std::slice::from_ref(&full_text)).await;
                assert!(wrong_now(&verify(&stage).await).is_empty(), "the document itself mends it");
            }
        }
    }
}

#[tokio::test]
async fn what_the_starter_data_put_is_compared_with_the_batches() {
    let cases: [(&'static [&'static str], &str); 5] = [
        (
            &["DELETE FROM evidence_starter_records WHERE kind = 'source'"],
            "rows of `evidence_starter_records` were deleted, added or changed by other hands",
        ),
        (
            // Taken for the set's own, the next version of the set would withdraw them.
            &["INSERT INTO evidence_starter_records SELECT organisation_id, kind, id, sha256 FROM evidence_records r \
               WHERE NOT EXISTS (SELECT 1 FROM evidence_starter_records s WHERE s.kind = r.kind AND s.id = r.id)"],
            "what was never kept",
        ),
        (
            &["DELETE FROM evidence_starter_records WHERE kind = 'edge'"],
            "is of the starter data, but not in `evidence_starter_records` any more",
        ),
        (
            &["UPDATE evidence_starter_records SET sha256 = (SELECT sha256 FROM evidence_starter_records \
               ORDER BY sha256 LIMIT 1)"],
            "was changed in `evidence_starter_records` by other hands",
        ),
        (
            &["INSERT INTO evidence_starter_records SELECT DISTINCT organisation_id, kind, 'X1', sha256 \
               FROM evidence_starter_records WHERE kind = 'node' AND id = (SELECT MIN(id) FROM evidence_starter_records WHERE kind = 'node')"],
            "`evidence_starter_records` tells of node `X1` what was never kept",
        ),
    ];
    for (sql, expected) in cases {
        for stage in both().await {
            let house = stage.again_with(made_up()).await;
            house.call("owner", "load_starter_data", json!({})).await.result.unwrap();
            assert_eq!(verify(&house).await["problems"], json!([]));
            // Later versions follow: what they change and withdraw is no difference, and neither is what others took over.
            let house = house.again_with(a_month_later()).await;
            house.call("owner", "load_starter_data", json!({})).await.result.unwrap();
            let withdrawn = json!({"record": "deletion", "kind": "edge", "id": AVOID});
            let input = json!({"records": [withdrawn], "replace_starter": true});
            house.call("owner", "put_records", input).await.result.unwrap();
            let own = json!([
                {"record": "source", "id": "mine", "title": "Mine", "licence": "none"},
                {"record": "node", "id": "M1", "categories": ["herb"], "names": [{"text": "mine", "lang": "en"}], "source": "mine"},
                {"record": "document", "id": "D1", "kind": "note", "title": "Mine", "text": "Words.", "lang": "en", "source": "mine"},
            ]);
            let put = house.call("owner", "put_records", json!({ "records": own })).await.result.unwrap().output;
            assert_eq!(put["kept"], 3, "{put}");
            assert_eq!(verify(&house).await["problems"], json!([]));
            run_sql(&house, sql).await;
            let found = messages(&verify(&house).await);
            assert!(!found.is_empty() && found.iter().any(|message| message.contains(expected)), "{found:#?}");
        }
    }
}
