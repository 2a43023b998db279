//! Attack case 48: rows changed in the database, an older database put back, another key, a fork shown to the witness.

use std::path::Path;

use store::{Applied, Apply, Keep, Options, Store, Target};

use super::lab::{Log, SOON, Witness, until};

async fn open(log: &Log) -> Store {
    let target = match &log.database_url {
        Some(url) => Target::Postgres(url.clone()),
        None => Target::Sqlite(log.data.join("materia.db")),
    };
    let options =
        Options { target, migrations: ops::migrations(), n_connections_max: 2, write_queue_max: 8, batch_max: 1 };
    Store::open(options).await.expect("the database opens")
}

/// What somebody with the database in hand would do.
async fn change(log: &Log, statements: &'static [&'static str]) {
    let store = open(log).await;
    let apply: Apply<()> = Box::new(move |tx| {
        Box::pin(async move {
            for sql in statements {
                let n_changed = tx.execute(sql, &[]).await?;
                assert!(n_changed > 0 || sql.starts_with("CREATE"), "{sql}");
            }
            Ok(Applied { value: (), event: None, keep: Keep::Changes })
        })
    });
    store.write(None, tokio::time::Instant::now() + SOON, apply).await.expect("the change is made");
    store.close().await;
}

/// Runs a case on both engines, each with five events in a log of its own.
async fn on_both<F: Future<Output = ()>>(case: impl Fn(Log) -> F) {
    for database_url in [None, Some(testkit::postgres_url().await.url)] {
        let folder = testkit::temp_dir();
        let log = Log { data: folder.path().join("data"), database_url };
        log.take_ids(5);
        case(log).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_updated_or_deleted_event_is_named_by_its_exact_index() {
    let cases: [(&[&str], &str); 2] = [
        (
            &["UPDATE events SET body = REPLACE(body, '\"ok\"', '\"no\"') \
             WHERE call_id = (SELECT call_id FROM log_leaves WHERE leaf_index = 2)"],
            "the event was changed",
        ),
        (
            &["DELETE FROM events WHERE call_id = (SELECT call_id FROM log_leaves WHERE leaf_index = 2)"],
            "the event is gone",
        ),
    ];
    for (sql, message) in cases {
        on_both(async |log| {
            change(&log, sql).await;
            let told = log.run(&["audit", "verify"]);
            assert_eq!(told.code, 1, "{}", told.out);
            let line = "WRONG  leaf at leaf 2 (call ";
            assert!(told.out.lines().any(|found| found.starts_with(line) && found.ends_with(message)), "{}", told.out);
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_leaf_rewritten_together_with_its_event_shows_at_the_next_checkpoint_and_start() {
    on_both(async |log| {
        // The leaf's hash follows the changed event; the checkpoints and the right edge do not.
        change(&log, &["UPDATE log_leaves SET leaf_hash = (SELECT leaf_hash FROM log_leaves WHERE leaf_index = 3) WHERE leaf_index = 1"]).await;
        let told = log.try_serve().err().expect("the server refuses to start");
        assert!(told.contains("events are not those that were signed"), "{told}");
        assert!(told.contains("materia recover --accept-rollback"), "{told}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_database_file_is_refused_until_an_operator_accepts_it() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(2);
    copy(&log.data.join("materia.db"), &folder.path().join("older.db"));
    log.take_ids(3);
    copy(&folder.path().join("older.db"), &log.data.join("materia.db"));
    let told = log.try_serve().err().expect("the server refuses to start");
    assert!(told.contains("the database is older than its last checkpoint: 2 events instead of 5"), "{told}");
    assert_eq!(log.run(&["call", "list_artifact_types", "{}"]).code, 2, "no command opens it either");
    let told = log.run(&["audit", "verify"]);
    assert!(told.code == 1 && told.out.starts_with("WRONG  checkpoint: the database is older"), "{}", told.out);
    log.run(&["recover", "--accept-rollback"]).ok();
    log.serve().stop();
    // Whoever audits it later sees who accepted what.
    log.serve().stop();
    let exported = log.run(&["audit", "export"]).ok();
    let accepted: Vec<&str> = exported.lines().filter(|line| line.contains("accept_rollback")).collect();
    let is_told = |line: &str| line.contains("from 5 events to 2 events") && line.contains("ROLLED_BACK");
    assert!(accepted.len() == 1 && is_told(accepted[0]), "{accepted:?}");
    assert_eq!(log.verify()["problems"], serde_json::json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_forgotten_database_url_is_the_first_guess_when_the_database_is_empty() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    Log { data: data.clone(), database_url: Some(testkit::postgres_url().await.url) }.take_ids(2);
    let told = Log { data, database_url: None }.try_serve().err().expect("the server refuses to start");
    assert!(told.contains("is this the right database? check --database-url and --data"), "{told}");
    assert!(!told.contains("the database is older"), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_gone_or_replaced_is_refused() {
    on_both(async |log| {
        let key = log.data.join("ledger.key");
        std::fs::remove_file(&key).expect("the key goes");
        for command in [&["doctor"][..], &["audit", "verify"], &["call", "list_artifact_types", "{}"]] {
            let told = log.run(command);
            let text = format!("{}{}", told.out, told.err);
            assert!(told.code != 0 && text.contains("there is no signing key in"), "{text}");
            assert!(!key.exists(), "{command:?} made a key for a log that has one");
        }
        let told = log.try_serve().err().expect("the server refuses to start");
        assert!(told.contains("put it back from where you keep it"), "{told}");
        let other = Log { data: log.data.with_extension("other"), database_url: None };
        other.take_ids(1);
        std::fs::copy(other.data.join("ledger.key"), &key).expect("a key");
        let told = log.try_serve().err().expect("the server refuses to start");
        assert!(told.contains("the log in this database is signed by another key"), "{told}");
    })
    .await;
}

/// A log of three events, the last of them under a witness.
fn witnessed() -> (tempfile::TempDir, Log, Witness) {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    let witness = Witness::start(&folder.path().join("witness"));
    log.take_ids(2);
    witness.trust(&log.key());
    log.set_witness(&witness);
    log.take_ids(1);
    (folder, log, witness)
}

/// What lies beside the database and tells of the log.
const BESIDE: [&str; 2] = ["ledger.checkpoint", "ledger.head"];

#[tokio::test(flavor = "multi_thread")]
async fn a_rolled_back_log_and_its_fork_are_known_to_the_witness() {
    let (folder, log, witness) = witnessed();
    // Whoever rolls back takes along what lies beside the database.
    for file in ["materia.db"].iter().chain(&BESIDE) {
        copy(&log.data.join(file), &folder.path().join(file));
    }
    log.take_ids(4);
    for file in ["materia.db"].iter().chain(&BESIDE) {
        copy(&folder.path().join(file), &log.data.join(file));
    }
    let told = log.try_serve().err().expect("the server refuses to start");
    assert!(told.contains("the witness `w1` cosigned"), "{told}");
    assert!(told.contains("it was rolled back"), "{told}");

    // Accepted, the log grows beyond what the witness knows, into another history.
    log.run(&["recover", "--accept-rollback"]).ok();
    let serving = log.serve();
    log.take_ids(9);
    serving.stop();
    let serving = log.serve();
    until("the fork shows", async || serving.health().await["dependencies"]["witnesses"]["w1"] == "forked").await;
    assert_eq!(serving.health().await["status"], "contradicted");
    assert!(serving.get("/metrics").await.contains("materia_witness_contradicts{witness=\"w1\"} 1"));
    let told = log.run(&["audit", "verify"]);
    assert!(told.code == 1 && told.out.contains("the witness `w1` cosigned another history"), "{}", told.out);
    let doctor = log.run(&["doctor"]);
    assert!(
        doctor.code != 0 && doctor.out.contains("WRONG  the witness w1 cosigned another history"),
        "{}",
        doctor.out
    );
    let n_kept = std::fs::read_dir(witness.folder.join("evidence")).expect("a folder").count();
    assert!(n_kept > 0, "the witness keeps what convicts the log");

    // Only whoever runs the witness can end this.
    let origin = log.key().split('+').next().expect("a key has a name").to_owned();
    let (witness_folder, address) = witness.kill();
    Witness::command(&witness_folder, &["forget", &origin]).ok();
    let _witness = Witness::start_on(&witness_folder, &address);
    serving.stop();
    let serving = log.serve();
    until("they agree again", async || serving.health().await["dependencies"]["witnesses"]["w1"] == "ok").await;
    until("the acceptance is forgotten", async || !log.data.join("ledger.rollback-accepted").exists()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rolled_back_log_without_any_checkpoint_is_known_to_the_witness() {
    let (folder, log, witness) = witnessed();
    copy(&log.data.join("materia.db"), &folder.path().join("materia.db"));
    log.take_ids(4);
    copy(&folder.path().join("materia.db"), &log.data.join("materia.db"));
    for file in BESIDE {
        std::fs::remove_file(log.data.join(file)).expect("it was kept");
    }
    change(&log, &["DELETE FROM log_checkpoints"]).await;
    let told = log.try_serve().err().expect("the server refuses to start");
    assert!(told.contains("the witness `w1` cosigned") && told.contains("it was rolled back"), "{told}");

    // A witness that is away does not hold up the start.
    let (witness_folder, address) = witness.kill();
    log.serve().stop();
    let _witness = Witness::start_on(&witness_folder, &address);
    assert!(log.try_serve().is_err());
}

#[test]
fn a_rolled_back_file_without_what_lay_beside_it_is_refused_until_somebody_accepts_it() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(3);
    copy(&log.data.join("materia.db"), &folder.path().join("materia.db"));
    log.take_ids(4);
    copy(&folder.path().join("materia.db"), &log.data.join("materia.db"));
    for file in BESIDE {
        std::fs::remove_file(log.data.join(file)).expect("it was kept");
    }
    let told = log.try_serve().err().expect("the server refuses to start");
    assert!(told.contains("nobody can tell whether it was rolled back"), "{told}");
    let told = log.run(&["audit", "verify"]);
    assert!(told.code == 1 && told.out.contains("WRONG  checkpoint: the log was signed, but neither"), "{}", told.out);
    log.run(&["recover", "--accept-rollback"]).ok();
    log.serve().stop();
    assert_eq!(log.verify()["ok"], true);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rolled_back_file_whose_head_is_gone_or_no_head_is_refused_until_somebody_accepts_it() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    let (database, head) = (log.data.join("materia.db"), log.data.join("ledger.head"));
    let size = || std::fs::read_to_string(&head).ok().and_then(|head| head.lines().nth(1)?.parse::<u64>().ok());
    log.take_ids(3);
    for spoil in [
        |head: &Path| std::fs::remove_file(head).expect("it was kept"),
        |head: &Path| std::fs::write(head, "").expect("it can be emptied"),
        |head: &Path| std::fs::write(head, [0xff, 0xfe]).expect("it can be written over"),
    ] {
        copy(&database, &folder.path().join("materia.db"));
        let n_before = size().expect("a head");
        let mut serving = log.serve();
        log.take_ids(2);
        until("the head is kept", async || size().is_some_and(|size| size >= n_before + 2)).await;
        serving.kill();
        copy(&folder.path().join("materia.db"), &database);
        spoil(&head);
        let told = log.try_serve().err().expect("numbers that were lost would be given out again");
        assert!(told.contains("nobody can tell what came after it"), "{told}");
        let told = log.run(&["audit", "verify"]);
        assert!(told.code == 1 && told.out.contains("WRONG  checkpoint: `ledger.head`"), "{}", told.out);
        log.run(&["recover", "--accept-rollback"]).ok();
        log.serve().stop();
        assert_eq!(log.verify()["problems"], serde_json::json!([]));
    }
}

#[test]
fn a_process_that_is_killed_as_soon_as_it_comes_leaves_a_head() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(1);
    for _ in 0..3 {
        log.serve().kill();
        assert!(log.data.join("ledger.head").exists());
    }
    log.serve().stop();
}

#[test]
fn an_older_file_that_was_refused_and_put_right_is_told_until_somebody_accepts_it() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    let (database, older, newer) =
        (log.data.join("materia.db"), folder.path().join("older.db"), folder.path().join("newer.db"));
    log.take_ids(2);
    copy(&database, &older);
    log.take_ids(3);
    copy(&database, &newer);
    copy(&older, &database);
    assert!(log.try_serve().is_err());
    copy(&newer, &database);
    for _ in 0..2 {
        let told = log.run(&["audit", "verify"]);
        let message = "a start was refused: the database is older than its last checkpoint: 2 events instead of 5";
        assert!(told.code == 1 && told.out.contains(message), "{}", told.out);
    }
    log.run(&["recover", "--accept-rollback"]).ok();
    assert_eq!(log.verify()["problems"], serde_json::json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_of_a_shared_database_comes_with_a_new_folder() {
    let folder = testkit::temp_dir();
    let database_url = Some(testkit::postgres_url().await.url);
    let first = Log { data: folder.path().join("first"), database_url: database_url.clone() };
    first.take_ids(3);
    let second = Log { data: folder.path().join("second"), database_url };
    std::fs::create_dir(&second.data).expect("a folder");
    copy(&first.data.join("ledger.key"), &second.data.join("ledger.key"));
    second.serve().stop();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_witness_taken_out_of_the_settings_is_still_told_of() {
    let (_folder, log, _witness) = witnessed();
    assert_eq!(log.verify()["notes"], serde_json::Value::Null);
    std::fs::remove_file(log.data.join("materia.toml")).expect("there were settings");
    let told = log.run(&["audit", "verify"]).ok();
    let is_told = |line: &str| line.starts_with("NOTE") && line.contains("which is no witness of the settings");
    assert!(told.lines().any(is_told), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_rewritten_after_a_kill_and_before_it_was_signed_is_refused() {
    on_both(async |log| {
        let mut serving = log.serve();
        change(&log, &["CREATE TABLE older_state AS SELECT * FROM log_state"]).await;
        log.take_ids(2);
        // That another program wrote to the database may have become an event too.
        let n_under_head = || -> u64 {
            let head = std::fs::read_to_string(log.data.join("ledger.head")).unwrap_or_default();
            head.lines().nth(1).and_then(|size| size.parse().ok()).unwrap_or_default()
        };
        until("the head is kept", async || n_under_head() >= 7).await;
        serving.kill();
        let n_under_head = n_under_head();
        let checkpoint = std::fs::read_to_string(log.data.join("ledger.checkpoint")).expect("a checkpoint");
        assert_eq!(checkpoint.lines().nth(1), Some("5"), "the last two events are under no checkpoint");
        change(
            &log,
            &[
                "DELETE FROM events WHERE call_id IN (SELECT call_id FROM log_leaves WHERE leaf_index > 4)",
                "DELETE FROM log_leaves WHERE leaf_index > 4",
                "DELETE FROM log_state",
                "INSERT INTO log_state SELECT * FROM older_state",
            ],
        )
        .await;
        let told = log.try_serve().err().expect("the server refuses to start");
        let expected = format!("the database is older than its last checkpoint: 5 events instead of {n_under_head}");
        assert!(told.contains(&expected), "{told}");
    })
    .await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_added_while_no_process_ran_is_doubted_until_somebody_accepts_it() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(2);
    assert_eq!(log.verify()["problems"], serde_json::json!([]));
    change(
        &log,
        &["INSERT INTO events (call_id, organisation_id, recorded_at_us, actor_id, operation, outcome, body) \
           SELECT 'added', organisation_id, recorded_at_us, actor_id, operation, outcome, \
           REPLACE(body, call_id, 'added') FROM events WHERE operation = 'audit_verify'"],
    )
    .await;
    let message = "the event of call added came into the database while no process of this house ran";
    for _ in 0..2 {
        // A backup takes it along, and its house tells of it.
        let told = log.run(&["audit", "verify"]);
        assert!(told.code == 1 && told.out.contains(message), "{}", told.out);
    }
    let serving = log.serve();
    assert_eq!(serving.health().await["dependencies"]["log"], "doubted");
    serving.stop();
    log.run(&["recover", "--accept-rollback"]).ok();
    assert_eq!(log.verify()["problems"], serde_json::json!([]));
    assert!(log.run(&["recover", "--accept-rollback"]).err.contains("nothing was rolled back"));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_verification_found_is_told_everywhere_until_somebody_accepts_it() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(3);
    change(&log, &["UPDATE events SET body = body || ' ' WHERE event_seq = 2"]).await;
    assert_eq!(log.run(&["audit", "verify"]).code, 1);
    change(&log, &["UPDATE events SET body = TRIM(body) WHERE event_seq = 2"]).await;
    for _ in 0..2 {
        let told = log.run(&["audit", "verify"]);
        let doubts: Vec<&str> = told.out.lines().filter(|line| line.starts_with("WRONG  doubt")).collect();
        // Whatever follows from a changed event is told as well, once for each kind.
        for kind in ["leaf", "checkpoint", "root"] {
            let of_kind = format!("of the kind `{kind}`");
            assert_eq!(doubts.iter().filter(|doubt| doubt.contains(&of_kind)).count(), 1, "{}", told.out);
        }
        assert!(told.code == 1 && doubts.len() == 3, "{}", told.out);
    }
    let told = log.run(&["doctor"]);
    assert!(told.code != 0 && told.out.contains("was found in doubt"), "{}", told.out);
    let serving = log.serve();
    assert_eq!(serving.health().await["dependencies"]["log"], "doubted");
    assert!(serving.get("/metrics").await.contains("materia_log_doubted 1"));
    serving.stop();
    log.run(&["recover", "--accept-rollback"]).ok();
    assert!(log.run(&["audit", "verify"]).ok().contains("The log is whole."));
    log.run(&["doctor"]).ok();
}

fn copy(from: &Path, to: &Path) {
    for suffix in ["-wal", "-shm"] {
        let beside = |path: &Path| {
            path.with_file_name(format!(
                "{}{suffix}",
                path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
            ))
        };
        std::fs::remove_file(beside(to)).ok();
        std::fs::copy(beside(from), beside(to)).ok();
    }
    std::fs::copy(from, to).expect("a file can be copied");
}
