//! A log changes its signing key, and what was signed before stays verifiable.

use super::lab::{Log, Witness};

fn checkpoint(log: &Log) -> String {
    log.run(&["audit", "checkpoint"]).ok()
}

fn is_signed(note: &str, key: &str) -> bool {
    let trust = verifier::trust::Trust::new(&[key.to_owned()], &[], None).expect("a key");
    trust.check(&format!("{}\n", note.trim_end())).is_ok()
}

#[tokio::test(flavor = "multi_thread")]
async fn both_keys_sign_until_the_old_one_retires_and_the_old_checkpoints_still_hold() {
    let folder = testkit::temp_dir();
    let log = Log { data: folder.path().join("data"), database_url: None };
    let witness = Witness::start(&folder.path().join("witness"));
    log.take_ids(2);
    log.set_witness(&witness);
    let old = log.key();
    witness.trust(&old);
    let before = checkpoint(&log);
    assert!(log.run(&["audit", "retire-key"]).err.contains("there is one key only"));

    log.run(&["audit", "rotate-key"]).ok();
    assert!(log.run(&["audit", "rotate-key"]).err.contains("already overlaps"));
    let new = log.key();
    assert_ne!(old, new);
    log.take_ids(1);
    let overlap = checkpoint(&log);
    assert!(is_signed(&overlap, &old) && is_signed(&overlap, &new));
    // The witness knows only the old key, which signs too; it learns the new one in time.
    assert_eq!(log.verify()["ok"], true);
    witness.trust(&new);

    log.run(&["audit", "retire-key"]).ok();
    log.take_ids(1);
    let after = checkpoint(&log);
    assert!(!is_signed(&after, &old) && is_signed(&after, &new));
    assert!(is_signed(&before, &old) && !is_signed(&before, &new));
    let found = log.verify();
    assert_eq!(found["ok"], true, "the checkpoints of the old key still hold: {found}");
    assert_eq!(found["cosigned_size"], found["tree_size"], "{found}");
    let secrets = std::fs::read_to_string(log.data.join("ledger.key")).expect("a key file");
    assert_eq!(secrets.matches("PRIVATE+KEY").count(), 1, "the old secret is gone");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_second_server_on_a_fresh_database_needs_the_key_of_the_first() {
    let database = testkit::postgres_url().await;
    let folder = testkit::temp_dir();
    let log = |name: &str| Log { data: folder.path().join(name), database_url: Some(database.url.clone()) };
    let (first, second) = (log("first"), log("second"));
    let serving = first.serve();
    // Nothing is signed yet, and still the log has its key.
    let told = second.try_serve().err().expect("another key is refused");
    assert!(told.contains("copy `ledger.key`") && told.contains("`ledger_key_file`"), "{told}");
    serving.stop();

    first.run(&["audit", "rotate-key"]).ok();
    first.serve().stop();
    std::fs::copy(first.data.join("ledger.key"), second.data.join("ledger.key")).expect("the key can be copied");
    let (one, two) = (first.serve(), second.serve());
    first.take_ids(1);
    second.take_ids(1);
    one.stop();
    two.stop();
    first.run(&["audit", "retire-key"]).ok();
    first.run(&["audit", "rotate-key"]).ok();
    first.take_ids(1);
    assert_eq!(first.verify()["ok"], true);
    let told = second.try_serve().err().expect("a key that is not the newest is refused");
    assert!(told.contains("copy `ledger.key`"), "{told}");
}
