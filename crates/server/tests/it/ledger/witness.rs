//! `materia witness` on the wire, and a log that is shown to it.

use ledger::checkpoint::Checkpoint;
use ledger::hash::Hash;
use ledger::key::LogSigner;
use ledger::witness::AddCheckpoint;
use serde_json::json;

use super::lab::{Log, Witness, until};

fn log_key(seed: u8) -> LogSigner {
    LogSigner::generate("log.example", [seed; 32]).expect("a key")
}

/// A log of one leaf, or of none.
fn request(old_size: u64, leaf: &[u8], key: &LogSigner) -> String {
    let checkpoint = Checkpoint::new(key.name(), 1, Hash::leaf(leaf)).expect("a checkpoint");
    let signed = checkpoint.sign(&[key]).expect("a signature");
    AddCheckpoint::new(old_size, vec![], signed).expect("a request").to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_witness_answers_as_its_protocol_says_and_remembers_over_a_kill() {
    let folder = testkit::temp_dir();
    let witness = Witness::start(&folder.path().join("witness"));
    let key = log_key(1);
    let (status, _, _) = witness.post(request(0, b"a", &key)).await;
    assert_eq!(status, 404, "a log that nobody introduced");
    // Introduced while it serves.
    witness.trust(&key.verifier().to_string());
    assert_eq!(witness.post(request(0, b"a", &log_key(2))).await.0, 403, "another key under the same name");
    assert_eq!(witness.post("old 0").await.0, 400);
    assert_eq!(witness.post("x".repeat(300 * 1024)).await.0, 413);
    let (status, _, cosignature) = witness.post(request(0, b"a", &key)).await;
    assert_eq!(status, 200, "{cosignature}");
    assert!(cosignature.starts_with("— materia-witness/"), "{cosignature}");

    let (witness_folder, address) = witness.kill();
    let witness = Witness::start_on(&witness_folder, &address);
    let (status, content_type, size) = witness.post(request(0, b"a", &key)).await;
    assert_eq!((status, content_type.as_str(), size.as_str()), (409, "text/x.tlog.size", "1\n"));
    assert_eq!(witness.post(request(1, b"b", &key)).await.0, 422, "a fork");
    assert_eq!(std::fs::read_dir(witness_folder.join("evidence")).expect("a folder").count(), 1);
    assert_eq!(witness.post(request(1, b"a", &key)).await.0, 200, "the same again");
}

#[test]
fn a_witness_has_the_name_that_it_was_given_whichever_command_came_first() {
    let folder = testkit::temp_dir();
    let log = log_key(1).verifier().to_string();
    for (n, first) in [&["trust", &log, "--name", "witness.example/w1"][..], &["key", "--name", "witness.example/w1"]]
        .into_iter()
        .enumerate()
    {
        let witness = folder.path().join(format!("witness-{n}"));
        Witness::command(&witness, first).ok();
        let key = Witness::command(&witness, &["key"]).ok();
        assert!(key.starts_with("witness.example/w1+"), "{key}");
        // Again with the same name; another one would be ignored, as its key stays.
        Witness::command(&witness, first).ok();
        for command in [&["trust", &log, "--name", "other"][..], &["key", "--name", "other"]] {
            let told = Witness::command(&witness, command);
            assert!(told.code != 0 && told.err.contains("is called `witness.example/w1`"), "{}", told.err);
        }
    }
    let wrong = Witness::command(&folder.path().join("wrong"), &["trust", &log, "--name", "a b"]);
    assert!(wrong.code != 0 && !folder.path().join("wrong/logs").exists(), "{}", wrong.err);
}

#[tokio::test(flavor = "multi_thread")]
async fn checkpoints_are_cosigned_and_kept_and_a_verifier_can_ask_for_it() {
    let folder = testkit::temp_dir();
    let witness = Witness::start(&folder.path().join("witness"));
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(1);
    log.set_witness(&witness);
    let serving = log.serve();
    // It is not introduced yet: visible, and no reason not to serve.
    log.take_ids(2);
    let standing = async || serving.health().await["dependencies"]["witnesses"]["w1"].clone();
    until("the refusal shows", async || standing().await == "refused").await;
    let doctor = log.run(&["doctor"]);
    assert!(doctor.code != 0 && doctor.out.contains("it does not know this log"), "{}", doctor.out);
    witness.trust(&log.key());
    until("the witness cosigns", async || standing().await == "ok").await;
    let metrics = serving.get("/metrics").await;
    assert!(metrics.contains("materia_witness_cosigned_size{witness=\"w1\"}"), "{metrics}");
    serving.stop();

    // The last checkpoint, signed at the end, is cosigned too; so is the one of the export.
    let found = log.verify();
    assert_eq!((&found["ok"], &found["problems"]), (&json!(true), &json!([])), "{found}");
    assert!(found["cosigned_size"].as_u64().is_some_and(|size| size >= 3), "{found}");
    let shown = log.run(&["audit", "checkpoint"]).ok();
    let trust = verifier::trust::Trust::new(&[log.key()], std::slice::from_ref(&witness.key), None).expect("keys");
    assert_eq!(trust.check(&shown).expect("it is shown with its cosignature").cosigned_by.len(), 1);
    let out = folder.path().join("export");
    let told = log.run(&["audit", "export", "--out", out.to_str().expect("a path")]).ok();
    assert!(told.contains(&format!("--witness '{}'", witness.key)), "{told}");
    let note = std::fs::read_to_string(out.join("log.checkpoint")).expect("a checkpoint");
    let trust = verifier::trust::Trust::new(&[log.key()], std::slice::from_ref(&witness.key), None).expect("keys");
    assert_eq!(trust.check(&note).expect("a checkpoint with a cosignature").cosigned_by.len(), 1);
    let stranger = "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2".to_owned();
    let trust = verifier::trust::Trust::new(&[log.key()], &[stranger], None).expect("keys");
    assert_eq!(trust.check(&note).expect_err("another witness did not cosign").code, "TOO_FEW_COSIGNATURES");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_witness_that_was_away_is_asked_again_though_nothing_new_is_signed() {
    let folder = testkit::temp_dir();
    let witness = Witness::start(&folder.path().join("witness"));
    let log = Log { data: folder.path().join("data"), database_url: None };
    log.take_ids(1);
    witness.trust(&log.key());
    log.set_witness(&witness);
    log.take_ids(1);
    let (witness_folder, address) = witness.kill();
    let serving = log.serve();
    let standing = async || serving.health().await["dependencies"]["witnesses"]["w1"].clone();
    until("it is missed", async || standing().await == "unreachable").await;
    let _witness = Witness::start_on(&witness_folder, &address);
    until("it is back", async || standing().await == "ok").await;
}
