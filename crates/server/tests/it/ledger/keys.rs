//! A log changes its signing key, and what was signed before stays verifiable.

use super::lab::{Log, Witness, until};

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

    let serving = log.serve();
    let told = log.run(&["audit", "rotate-key"]).ok();
    assert!(told.contains("from the next start on"), "{told}");
    assert!(log.run(&["audit", "rotate-key"]).err.contains("already overlaps"));
    let new = log.key();
    assert_ne!(old, new);
    // The server that runs signs with the old one alone.
    assert_eq!(log.run(&["audit", "key"]).ok(), format!("{new}\n{old}\n"));
    log.take_ids(1);
    serving.stop();
    let secrets = || std::fs::read_to_string(log.data.join("ledger.key")).expect("a key file");
    let told = log.run(&["audit", "retire-key"]);
    assert!(told.code != 0 && told.err.contains("carries both signatures yet"), "{} {}", told.out, told.err);
    assert_eq!(secrets().matches("PRIVATE+KEY").count(), 2, "nothing was changed");
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
    assert_eq!(secrets().matches("PRIVATE+KEY").count(), 1, "the old secret is gone");
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

/// How many events the checkpoint in a data folder is over.
fn kept_size(log: &Log) -> u64 {
    let note = std::fs::read(log.data.join("ledger.checkpoint")).unwrap_or_default();
    ledger::checkpoint::SignedCheckpoint::parse(&note).map_or(0, |signed| signed.unverified().size())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_refuses_a_database_that_is_older_than_what_another_one_signed() {
    let database = testkit::postgres_url().await;
    let folder = testkit::temp_dir();
    let log = |name: &str| Log { data: folder.path().join(name), database_url: Some(database.url.clone()) };
    let (first, second) = (log("first"), log("second"));
    first.take_ids(3);
    std::fs::create_dir(&second.data).expect("a folder can be made");
    std::fs::copy(first.data.join("ledger.key"), second.data.join("ledger.key")).expect("the key can be copied");
    let older = database.copy().await;

    // The second server signs last, while the first one runs and is killed in the end, or stops after it.
    for is_killed in [true, false] {
        let (mut one, two) = (first.serve(), second.serve());
        second.take_ids(3);
        two.stop();
        if is_killed {
            until("the first knows", async || kept_size(&first) == kept_size(&second)).await;
            one.kill();
        } else {
            one.stop();
        }
        assert_eq!(kept_size(&first), kept_size(&second));
    }
    // Whatever became of the head, the checkpoint tells.
    std::fs::write(first.data.join("ledger.head"), "").expect("a file can be emptied");
    let rolled_back = Log { data: first.data.clone(), database_url: Some(older.url) };
    let told = rolled_back.try_serve().err().expect("a number that was lost would be given out again");
    assert!(told.contains("the database is older than its last checkpoint"), "{told}");
    assert_eq!(rolled_back.verify()["ok"], false);
}
