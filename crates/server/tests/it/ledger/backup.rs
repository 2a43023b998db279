//! A backup taken under load restores and verifies, on both engines and from one to the other.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use serde_json::Value;
use tokio::task::JoinSet;

use super::lab::{Log, Witness, until};
use crate::ids;

const N_WRITERS: usize = 8;

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_str().expect("a path").to_owned()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text.trim()).expect("the result is JSON")
}

/// Writes to one log, backs it up meanwhile, restores it into another place, and goes on there.
async fn check(from: Option<String>, to: Option<String>) {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: from };
    let serving = log.serve();
    let (is_over, n_taken) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let mut writers = JoinSet::new();
    for _ in 0..N_WRITERS {
        let (is_over, n_taken, http) = (Arc::clone(&is_over), Arc::clone(&n_taken), serving.http.clone());
        writers.spawn(async move {
            let client = ids::http_client();
            while !is_over.load(Ordering::SeqCst) {
                ids::next(&client, &http, "backup", None).await.expect("writers are not held up");
                n_taken.fetch_add(1, Ordering::SeqCst);
            }
        });
    }
    let past = async |n: u64| until("the writers write", async || n_taken.load(Ordering::SeqCst) >= n).await;
    past(200).await;
    // A backup of a log that no event has a place in yet would show little.
    let size = || json(&log.run(&["call", "audit_checkpoint", "{}"]).ok())["tree_size"].as_u64();
    until("events have their places", async || size().is_some_and(|size| size >= 200)).await;
    let backup = path(folder.path(), "backup");
    let before = n_taken.load(Ordering::SeqCst);
    let told = json(&log.run(&["backup", &backup, "--json"]).ok());
    let during = n_taken.load(Ordering::SeqCst) - before;
    past(before + during + 200).await;
    is_over.store(true, Ordering::SeqCst);
    writers.join_all().await;
    serving.stop();
    assert!(log.run(&["backup", &backup]).err.contains("is there already"), "a backup overwrites nothing");
    let n_events = told["tree_size"].as_u64().expect("a size");
    assert!(n_events >= 200, "{told}");
    println!("proof: backup events={n_events} written_meanwhile={during}");

    let restored = Log { data: folder.path().join("restored"), database_url: to };
    let refused = restored.run(&["restore", &backup]);
    assert!(refused.code != 0 && refused.err.contains("signing key is not part of a backup"), "{}", refused.err);
    let key = path(&log.data, "ledger.key");
    let kept = std::fs::read_to_string(&key).expect("a key file");
    let master = kept.lines().find(|line| line.starts_with("MASTER+KEY+")).expect("a master key");
    let secret = master.rsplit('+').next().expect("its secret");
    for file in std::fs::read_dir(&backup).expect("a folder") {
        let text = std::fs::read_to_string(file.expect("a file").path()).expect("text");
        assert!(!text.contains(secret), "the master key is in the backup");
    }
    let found = json(&restored.run(&["restore", &backup, "--key", &key, "--json"]).ok());
    assert_eq!(found["tree_size"], n_events, "{found}");
    assert_eq!(std::fs::read_to_string(path(&restored.data, "ledger.key")).expect("a key file"), kept);
    assert!(found["doubt"].is_null() && found["n_objects_checked"].as_u64() > Some(0), "{found}");
    let again = restored.run(&["restore", &backup]);
    assert!(
        again.code != 0 && again.err.contains("the database is not empty") && again.err.contains("--data"),
        "{}",
        again.err
    );

    // It goes on where the backup ended: the next id is new there, and its event gets the next place.
    let serving = restored.serve();
    let next = ids::next(&ids::http_client(), &serving.http, "backup", None).await.expect("an id");
    assert!(next > 200, "{next}");
    serving.stop();
    let found = restored.verify();
    assert_eq!(found["ok"], true, "{found}");
    assert!(found["tree_size"].as_u64() > Some(n_events), "{found}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_sqlite_under_load_restores_and_verifies() {
    check(None, None).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_postgresql_under_load_restores_and_verifies() {
    check(Some(testkit::postgres_url().await.url), Some(testkit::postgres_url().await.url)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_of_one_engine_restores_into_the_other() {
    check(None, Some(testkit::postgres_url().await.url)).await;
    check(Some(testkit::postgres_url().await.url), None).await;
}

/// Writes the SHA-256 of a table's file, as it is, and how many rows it has into the manifest.
fn mend_hash(backup: &Path, name: &str) {
    let content = std::fs::read(backup.join(format!("{name}.ndjson"))).expect("a table");
    let manifest = backup.join("backup.json");
    let text = std::fs::read_to_string(&manifest).expect("the manifest");
    let mut parsed: Value = serde_json::from_str(&text).expect("JSON");
    for table in parsed["contents"]["tables"].as_array_mut().expect("tables") {
        if table["name"] == name {
            table["sha256"] = hex::encode(<sha2::Sha256 as sha2::Digest>::digest(&content)).into();
            table["n_rows"] = content.iter().filter(|byte| **byte == b'\n').count().into();
        }
    }
    std::fs::write(&manifest, parsed.to_string()).expect("a change");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_with_fewer_rows_than_it_says_is_not_restored() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(2);
    let backup = path(folder.path(), "backup");
    log.run(&["backup", &backup]).ok();
    let key = path(&log.data, "ledger.key");
    let manifest = folder.path().join("backup/backup.json");
    let before = json(&std::fs::read_to_string(&manifest).expect("the manifest"));
    std::fs::write(folder.path().join("backup/log_checkpoints.ndjson"), "").expect("a change");
    mend_hash(&folder.path().join("backup"), "log_checkpoints");
    let mut mended = json(&std::fs::read_to_string(&manifest).expect("the manifest"));
    for (table, was) in mended["contents"]["tables"]
        .as_array_mut()
        .expect("tables")
        .iter_mut()
        .zip(before["contents"]["tables"].as_array().expect("tables"))
    {
        table["n_rows"] = was["n_rows"].clone();
    }
    std::fs::write(&manifest, mended.to_string()).expect("a change");
    let restored = Log { data: folder.path().join("restored"), database_url: None };
    let told = restored.run(&["restore", &backup, "--key", &key]);
    assert!(told.code != 0 && told.err.contains("log_checkpoints.ndjson` has 0 rows, but"), "{}", told.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_speaks_against_papers_by_other_hands_is_not_restored_and_a_hole_among_checkpoints_is_told() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    for _ in 0..3 {
        // Each process signs at its end.
        log.take_ids(1);
    }
    let backup = path(folder.path(), "backup");
    log.run(&["backup", &backup]).ok();
    let key = path(&log.data, "ledger.key");
    let file = |name: &str| folder.path().join("backup").join(format!("{name}.ndjson"));
    let text = std::fs::read_to_string(file("log_checkpoints")).expect("the checkpoints");
    let lines: Vec<&str> = text.lines().collect();
    let kept: String =
        lines.iter().enumerate().filter(|(at, _)| *at != 1).map(|(_, line)| format!("{line}\n")).collect();
    std::fs::write(file("log_checkpoints"), kept).expect("a change");
    mend_hash(&folder.path().join("backup"), "log_checkpoints");
    let retraction = r#"["default","pmid:1","PMID:1","{\"kind\":\"retracted\"}"]"#;
    std::fs::write(file("evidence_retractions"), format!("{retraction}\n")).expect("a change");
    mend_hash(&folder.path().join("backup"), "evidence_retractions");
    let restored = Log { data: folder.path().join("restored"), database_url: None };
    let told = restored.run(&["restore", &backup, "--key", &key]);
    assert!(told.code != 0 && told.err.contains("does not verify; everything was taken out again"), "{}", told.err);
    assert!(told.out.contains("speaks against `pmid:1` for document `PMID:1`, which is not there"), "{}", told.out);

    std::fs::write(file("evidence_retractions"), "").expect("a change");
    mend_hash(&folder.path().join("backup"), "evidence_retractions");
    let restored = Log { data: folder.path().join("restored-again"), database_url: None };
    let told = restored.run(&["restore", &backup, "--key", &key]).ok();
    let is_told = |line: &str| line.starts_with("NOTE ") && line.contains("checkpoint");
    assert!(told.lines().any(is_told), "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_backup_is_not_restored() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(5);
    let backup = path(folder.path(), "backup");
    log.run(&["backup", &backup]).ok();
    let key = path(&log.data, "ledger.key");
    let events = folder.path().join("backup/events.ndjson");
    let text = std::fs::read_to_string(&events).expect("the events");
    let changed = text.replacen("\\\"ok\\\"", "\\\"no\\\"", 1);
    assert_ne!(text, changed);
    std::fs::write(&events, &changed).expect("a change");
    let restored = Log { data: folder.path().join("restored"), database_url: None };
    let told = restored.run(&["restore", &backup, "--key", &key]);
    assert!(told.code != 0 && told.err.contains("its SHA-256 differs"), "{}", told.err);

    // Somebody who mends the hash too has not mended the log.
    mend_hash(&folder.path().join("backup"), "events");
    let told = restored.run(&["restore", &backup, "--key", &key]);
    assert!(told.code != 0 && told.err.contains("does not verify; everything was taken out again"), "{}", told.err);
    assert!(told.out.contains("the event was changed"), "{}", told.out);
    assert_eq!(restored.verify()["tree_size"], 0, "nothing of it stays");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_checkpoint_over_fewer_events_does_not_vouch_for_a_backup_nor_does_a_key_that_is_not_there() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    let [early, late] = ["early", "late"].map(|name| path(folder.path(), name));
    log.take_ids(2);
    log.run(&["backup", &early]).ok();
    log.take_ids(3);
    log.run(&["backup", &late]).ok();
    let read = |backup: &str| -> Value {
        let text = std::fs::read_to_string(Path::new(backup).join("backup.json")).expect("a manifest");
        serde_json::from_str(&text).expect("JSON")
    };
    let mut manifest = read(&late);
    manifest["checkpoint"] = read(&early)["checkpoint"].clone();
    std::fs::write(Path::new(&late).join("backup.json"), manifest.to_string()).expect("a change");
    let restored = Log { data: folder.path().join("restored"), database_url: None };
    let key = path(&log.data, "ledger.key");
    let told = restored.run(&["restore", &late, "--key", &key]);
    assert!(
        told.code != 0 && told.err.contains("is not the one that the backup's checkpoint was signed over"),
        "{}",
        told.err
    );

    let missing = path(folder.path(), "missing.key");
    let told = restored.run(&["restore", &early, "--key", &missing]);
    assert!(told.code != 0 && told.err.contains("there is no key in"), "{}", told.err);
    assert!(!Path::new(&missing).exists() && !restored.data.join("ledger.key").exists());
    restored.run(&["restore", &early, "--key", &key]).ok();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_that_is_older_than_the_witness_knows_is_restored_but_not_served() {
    let folder = testkit::temp_dir();
    let witness = Witness::start(&folder.path().join("witness"));
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(2);
    witness.trust(&log.key());
    log.set_witness(&witness);
    let backup = path(folder.path(), "backup");
    log.run(&["backup", &backup]).ok();
    let restored = Log { data: folder.path().join("restored"), database_url: None };
    std::fs::create_dir(&restored.data).expect("a folder");
    restored.set_witness(&witness);
    let key = path(&log.data, "ledger.key");
    log.take_ids(3);
    let told = restored.run(&["restore", &backup, "--key", &key]);
    assert_eq!(told.code, 1, "{}{}", told.out, told.err);
    assert!(told.out.contains("BUT") && told.out.contains("it was rolled back"), "{}", told.out);
    assert!(restored.try_serve().is_err(), "not before somebody accepts it");
}
