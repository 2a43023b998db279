//! What an operator sees when somebody changes the database under a running server, and what commands refuse.

use store::{Applied, Apply, Keep, Options, Store, Target};

use super::lab::{Log, Witness, until};

async fn run_sql(log: &Log, statements: &'static [&'static str]) {
    let target = match &log.database_url {
        Some(url) => Target::Postgres(url.clone()),
        None => Target::Sqlite(log.data.join("materia.db")),
    };
    let options =
        Options { target, migrations: ops::migrations(), n_connections_max: 2, write_queue_max: 8, batch_max: 1 };
    let store = Store::open(options).await.expect("the database opens");
    let apply: Apply<()> = Box::new(move |tx| {
        Box::pin(async move {
            for sql in statements {
                tx.execute(sql, &[]).await?;
            }
            Ok(Applied { value: (), event: None, keep: Keep::Changes })
        })
    });
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    store.write(None, deadline, apply).await.expect("the change is made");
    store.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_under_a_running_server_shows_and_nothing_is_signed_over_it() {
    for database_url in [None, Some(testkit::postgres_url().await.url)] {
        let folder = testkit::temp_dir();
        let log = Log { data: folder.path().join("data"), database_url };
        log.take_ids(3);
        run_sql(&log, &["CREATE TABLE older_state AS SELECT * FROM log_state"]).await;
        log.take_ids(2);
        let serving = log.serve();
        assert_eq!(serving.health().await["dependencies"]["log"], "ok");
        let kept = std::fs::read_to_string(log.data.join("ledger.checkpoint")).expect("a checkpoint");
        run_sql(
            &log,
            &[
                "DELETE FROM events WHERE call_id IN (SELECT call_id FROM log_leaves WHERE leaf_index > 2)",
                "DELETE FROM log_leaves WHERE leaf_index > 2",
                "DELETE FROM log_checkpoints WHERE tree_size > 3",
                "DELETE FROM log_state",
                "INSERT INTO log_state SELECT * FROM older_state",
            ],
        )
        .await;
        until("it shows", async || serving.health().await["dependencies"]["log"] == "contradicted").await;
        assert_eq!(serving.health().await["status"], "contradicted");
        let refused = log.run(&["call", "get_next_available_id", r#"{"artifact_type":"US"}"#]);
        assert_ne!(refused.code, 0, "a number that was lost would be given out again");
        assert!(refused.err.contains("nothing is written"), "{}", refused.err);
        let doctor = log.run(&["doctor"]);
        assert!(doctor.code != 0 && doctor.out.contains("WRONG  the log does not continue"), "{}", doctor.out);
        let told = log.run(&["audit", "verify"]);
        assert_eq!(told.code, 1, "{}", told.out);
        assert!(
            told.out.contains("WRONG  checkpoint: the checkpoint kept beside the database is over 5"),
            "{}",
            told.out
        );
        assert!(serving.get("/metrics").await.contains("materia_log_contradicted 1"));
        serving.stop();
        let after = std::fs::read_to_string(log.data.join("ledger.checkpoint")).expect("a checkpoint");
        assert_eq!(kept, after, "a second history was signed");
        assert!(log.try_serve().is_err(), "and it is refused at the next start");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_row_that_stops_the_sequencer_shows_everywhere_until_it_is_gone() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    let serving = log.serve();
    log.take_ids(3);
    until("the log is signed", async || log.data.join("ledger.checkpoint").exists()).await;
    run_sql(&log, &["INSERT INTO log_leaves SELECT MAX(leaf_index) + 1, 'evil', zeroblob(32) FROM log_leaves"]).await;
    log.run(&["call", "get_next_available_id", r#"{"artifact_type":"US"}"#]);
    until("it shows", async || serving.health().await["dependencies"]["log"] == "stopped").await;
    assert_eq!(serving.health().await["status"], "degraded");
    // Health tells by the clock; the gauge is set at the sequencer's next try.
    until("it is drawn", async || serving.get("/metrics").await.contains("materia_log_stopped 1")).await;
    let refused = log.run(&["call", "get_next_available_id", r#"{"artifact_type":"US"}"#]);
    assert!(refused.code != 0 && refused.err.contains("nothing is written: events get no place"), "{}", refused.err);
    let doctor = log.run(&["doctor"]);
    assert!(doctor.code != 0 && doctor.out.contains("WRONG  the log does not grow, and nothing"), "{}", doctor.out);
    let told = log.run(&["audit", "verify"]);
    assert!(told.code == 1 && told.out.contains("rows of `log_leaves` are not of the"), "{}", told.out);
    run_sql(&log, &["DELETE FROM log_leaves WHERE call_id = 'evil'"]).await;
    // It goes on, and that another program wrote to its file is told until somebody has looked into it.
    until("it goes on", async || serving.health().await["dependencies"]["log"] == "doubted").await;
    log.take_ids(1);
    serving.stop();
    let found = log.verify()["problems"].clone();
    let told = |at: usize| found[at]["message"].as_str().unwrap_or_default();
    assert!(told(0).starts_with("another program wrote"), "{found}");
    assert!(told(1).starts_with("`audit verify` found 1 problem of the kind `table`"), "{found}");
    assert_eq!(found.as_array().map(Vec::len), Some(2), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_replaced_under_a_running_server_is_named_and_may_be_put_back() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    let (database, ours) = (log.data.join("materia.db"), folder.path().join("ours.db"));
    log.take_ids(2);
    let serving = log.serve();
    log.take_ids(1);
    std::fs::copy(&database, folder.path().join("other.db")).expect("a file can be copied");
    std::fs::rename(&database, &ours).expect("a file can be moved");
    std::fs::rename(folder.path().join("other.db"), &database).expect("a file can be replaced");
    for _ in 0..2 {
        let refused = log.run(&["call", "get_next_available_id", r#"{"artifact_type":"US"}"#]);
        let told = ["CONFLICT", "written: the file of the database was replaced or removed"];
        assert!(refused.code != 0 && told.iter().all(|it| refused.err.contains(it)), "{}", refused.err);
    }
    until("it shows", async || serving.health().await["dependencies"]["log"] == "contradicted").await;
    std::fs::rename(&ours, &database).expect("a file can be put back");
    until("it goes on", async || serving.health().await["dependencies"]["log"] == "doubted").await;
    let next = log.run(&["call", "get_next_available_id", r#"{"artifact_type":"US"}"#]).ok();
    assert!(next.contains("US-004"), "nothing was lost or given out twice: {next}");
    serving.stop();
    let found = log.verify()["problems"].clone();
    let told = found[0]["message"].as_str().expect("a message");
    assert!(found.as_array().is_some_and(|all| all.len() == 1) && told.contains("was replaced or removed"), "{found}");
    log.run(&["recover", "--accept-rollback"]).ok();
    assert_eq!(log.verify()["ok"], true);
}

#[test]
fn a_mistyped_folder_is_not_made_into_a_house() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("mistyped"), database_url: None };
    let backup = folder.path().join("backup").to_str().expect("a path").to_owned();
    let commands: [&[&str]; 8] = [
        &["audit", "verify"],
        &["audit", "key"],
        &["audit", "export"],
        &["key", "list"],
        &["artifact", "list"],
        &["artifact", "show", "PRD-001"],
        &["task", "list"],
        &["backup", &backup],
    ];
    for command in commands {
        let told = log.run(command);
        assert!(
            told.code == 2 && told.err.contains("there is no database in"),
            "{command:?}: {} {}",
            told.out,
            told.err
        );
        assert!(!log.data.exists(), "{command:?} made the folder");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_without_a_log_is_not_whole_and_stays_as_it_is() {
    let (empty, folder) = (testkit::postgres_url().await, testkit::temp_dir());
    let log = |name: &str, url: &str| Log { data: folder.path().join(name), database_url: Some(url.to_owned()) };
    let looking = log("looking", &empty.url);
    let backup = folder.path().join("no").to_str().expect("a path").to_owned();
    let commands: [&[&str]; 4] = [&["audit", "verify"], &["audit", "key"], &["audit", "export"], &["backup", &backup]];
    for command in commands {
        let told = looking.run(command);
        assert!(told.code == 2 && told.err.contains("there is no log in that database"), "{} {}", told.out, told.err);
    }
    let full = log("full", &testkit::postgres_url().await.url);
    full.take_ids(2);
    let (backup, key) = (folder.path().join("backup"), full.data.join("ledger.key"));
    let (backup, key) = (backup.to_str().expect("a path"), key.to_str().expect("a path"));
    full.run(&["backup", backup]).ok();
    let restored = log("restored", &empty.url);
    restored.run(&["restore", backup, "--key", key]).ok();
    assert_eq!(restored.verify()["ok"], true);
}

#[test]
fn a_backup_into_no_folder_is_refused_before_it_is_made() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(1);
    let backup = folder.path().join("bk/monday").to_str().expect("a path").to_owned();
    let told = log.run(&["backup", &backup]);
    assert!(told.code == 2 && told.err.contains("make it first"), "{} {}", told.out, told.err);
    assert!(!log.data.join("backups").exists(), "nothing was copied");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rollback_is_accepted_only_where_there_is_one() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(2);
    let told = log.run(&["recover", "--accept-rollback"]);
    assert!(told.code == 2 && told.err.contains("nothing was rolled back"), "{} {}", told.out, told.err);
    let serving = log.serve();
    let told = log.run(&["recover", "--accept-rollback"]);
    assert!(told.code == 2 && told.err.contains("a running process owns"), "{} {}", told.out, told.err);
    serving.stop();
    assert!(log.data.join("ledger.checkpoint").exists() && !log.data.join("ledger.rollback-accepted").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_tables_of_the_log_are_a_finding_and_not_a_failure() {
    for database_url in [None, Some(testkit::postgres_url().await.url)] {
        let cases: [(&'static [&'static str], &str); 2] = [
            (&["DELETE FROM log_leaves WHERE leaf_index = 1"], "log_leaves"),
            (&["UPDATE log_state SET frontier = ''"], "log_state"),
        ];
        let folder = testkit::temp_dir();
        let log = Log { data: folder.path().join("data"), database_url };
        log.take_ids(3);
        for (statements, table) in cases {
            run_sql(&log, statements).await;
            let told = log.run(&["audit", "verify"]);
            assert_eq!(told.code, 1, "{} {}", told.out, told.err);
            let line = format!("WRONG  table: the table `{table}` of the log is damaged");
            assert!(told.out.starts_with(&line) && told.out.contains("restore a backup"), "{}", told.out);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn damage_to_the_record_is_a_finding_however_deep_it_goes() {
    type Cases = &'static [(&'static [&'static str], &'static str)];
    const UNTIL_IT_OPENS_NO_MORE: Cases = &[
        (&["ALTER TABLE evidence_batches RENAME TO apart"], "the table `evidence_batches` is not as this program"),
        (&["ALTER TABLE log_leaves RENAME TO leaves_apart"], "WRONG  table: the database is damaged: "),
        (&["ALTER TABLE events RENAME TO events_apart"], "WRONG  table: the database is damaged: "),
    ];
    const AT_ONCE: Cases = &[(&["DELETE FROM schema_migrations"], "WRONG  table: could not apply migration `1`")];
    let [first, second] = [testkit::postgres_url().await.url, testkit::postgres_url().await.url];
    let databases = [
        (None, UNTIL_IT_OPENS_NO_MORE),
        (None, AT_ONCE),
        (Some(first), UNTIL_IT_OPENS_NO_MORE),
        (Some(second), AT_ONCE),
    ];
    for (database_url, cases) in databases {
        let folder = testkit::temp_dir();
        let log = Log { data: folder.path().join("data"), database_url };
        log.take_ids(2);
        for &(statements, named) in cases {
            run_sql(&log, statements).await;
            let told = log.run(&["audit", "verify"]);
            assert!(told.code == 1 && told.out.contains(named), "{statements:?}: {} {}", told.out, told.err);
            assert!(told.out.contains("restore a backup"), "{}", told.out);
            assert_eq!(log.verify()["ok"], false);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_is_no_database_any_more_is_a_finding() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(2);
    let file = log.data.join("materia.db");
    let whole = std::fs::read(&file).expect("the database");
    let mut pages = whole.clone();
    pages[4096..].fill(0xee);
    let mut header = whole.clone();
    header[..16].fill(0);
    for damaged in [pages, header] {
        std::fs::write(&file, damaged).expect("a change");
        let told = log.run(&["audit", "verify"]);
        assert!(told.code == 1 && told.out.starts_with("WRONG  table: "), "{} {}", told.out, told.err);
    }
    std::fs::remove_file(&file).expect("it goes");
    let told = log.run(&["audit", "verify"]);
    assert_eq!(told.code, 2, "nothing is there to look at: {} {}", told.out, told.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_export_says_what_is_not_cosigned_and_brings_the_keys_that_fit() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    let witness = Witness::start(&folder.path().join("witness"));
    log.take_ids(2);
    let old = log.key();
    witness.trust(&old);
    log.set_witness(&witness);
    log.take_ids(1);
    let witness_key = witness.key.clone();
    // The witness is away while the key changes.
    witness.kill();
    log.run(&["audit", "rotate-key"]).ok();
    log.take_ids(1);
    log.run(&["audit", "retire-key"]).ok();
    log.take_ids(2);
    let out = folder.path().join("export");
    let told = log.run(&["audit", "export", "--out", out.to_str().expect("a path")]).ok();
    assert!(told.contains("newer events wait for a cosignature and are not in it"), "{told}");
    assert!(told.contains(&format!("--key '{old}'")), "{told}");
    let checkpoint = log.run(&["audit", "checkpoint"]);
    assert!(checkpoint.err.contains("This checkpoint is not cosigned yet"), "{}", checkpoint.err);
    let found: serde_json::Value =
        serde_json::from_str(&log.run(&["call", "audit_search", "{}"]).ok()).expect("an answer");
    let call_id = found["events"][0]["event"]["call_id"].as_str().expect("an event");
    let proof = log.run(&["audit", "prove", call_id]);
    assert!(proof.err.contains("This checkpoint is not cosigned yet"), "{}", proof.err);
    let read = |name: &str| std::fs::read_to_string(out.join(name)).expect("a file");
    let trust = verifier::trust::Trust::new(&[read("log.key")], &[witness_key], None).expect("keys");
    let trusted = trust.check(&read("log.checkpoint")).expect("the checkpoint fits its keys");
    let events = read("events.ndjson");
    verifier::export::check(events.as_bytes(), trusted, None).expect("readable").expect("the export is the log");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_later_log_is_shown_to_continue_a_kept_checkpoint() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(3);
    let earlier = log.run(&["audit", "checkpoint"]).ok();
    let kept = folder.path().join("earlier.checkpoint");
    std::fs::write(&kept, &earlier).expect("a checkpoint can be written");
    log.take_ids(4);
    let proof = log.run(&["audit", "checkpoint", "--since", &kept.display().to_string()]).ok();
    let trust = verifier::trust::Trust::new(&[log.key()], &[], None).expect("a key");
    let valid = verifier::consistency::check(&earlier, &proof, &trust).expect("it continues");
    assert!(valid.message.contains("continues"), "{}", valid.message);

    // A proof of another start, or with a hash of its own, shows nothing.
    let other = log.run(&["call", "audit_checkpoint", r#"{"since_size":1}"#]).ok();
    let other: serde_json::Value = serde_json::from_str(&other).expect("an answer");
    let other = other["consistency"].as_str().expect("a proof");
    assert_eq!(verifier::consistency::check(&earlier, other, &trust).unwrap_err().code, "INCONSISTENT");
    let told = log.run(&["call", "audit_checkpoint", r#"{"since_size":1000}"#]);
    assert!(told.code != 0 && told.err.contains("since_size") && told.err.contains("1000"), "{}", told.err);
}
