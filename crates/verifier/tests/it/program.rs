//! The program `materia-verify`: files in, verdict and exit code out.

use std::{fs, process::Command};

use ledger::{checkpoint::Checkpoint, hash::Hash, key::LogSigner, note::Note, witness::AddCheckpoint};
use tempfile::TempDir;

use crate::{Log, ORIGIN, export_line, log_key, witness_key};

/// A folder with files, in which the program runs.
struct Desk {
    folder: TempDir,
}

impl Desk {
    fn with(files: &[(&str, String)]) -> Desk {
        let folder = TempDir::new().unwrap();
        for (name, content) in files {
            fs::write(folder.path().join(name), content).unwrap();
        }
        Desk { folder }
    }

    /// What was printed, both ways, and the exit code.
    fn run(&self, arguments: &str) -> (i32, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_materia-verify"));
        let output = command.current_dir(&self.folder).args(arguments.split_whitespace()).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        (output.status.code().unwrap(), String::from_utf8(text).unwrap().trim_end().to_owned())
    }

    /// Runs with the log's key, and compares the code and the beginning of what was printed.
    fn check(&self, arguments: &str, code: i32, expected: &str) {
        let found = self.run(&format!("{arguments} --key {}", log_key(1).verifier()));
        assert_eq!(found.0, code, "{arguments}: {}", found.1);
        assert!(found.1.starts_with(expected), "{arguments}\nfound    {}\nexpected {expected}", found.1);
    }
}

#[test]
fn a_proof_is_valid_for_its_event_alone() {
    let log = Log::of(5);
    let proof = log.proof_file(2, log.checkpoint(5)).to_string();
    let desk = Desk::with(&[
        ("event.json", log.events[2].clone()),
        ("other.json", log.events[3].clone()),
        ("newline.json", format!("{}\n", log.events[2])),
        ("event.tlog-proof", proof.clone()),
        ("moved.tlog-proof", proof.replace("index 2", "index 3")),
        ("outside.tlog-proof", proof.replace("index 2", "index 9")),
        ("cut.tlog-proof", proof.trim_end().to_owned()),
        ("changed.tlog-proof", proof.replace("\n5\n", "\n6\n")),
    ]);
    let check = |event: &str, proof: &str, code, expected: &str| {
        desk.check(&format!("proof --event {event} --proof {proof}"), code, expected);
    };
    let root = log.head(5).root;
    let id = log_key(1).id();
    check(
        "event.json",
        "event.tlog-proof",
        0,
        &format!(
            "valid: the event is number 2 of the 5 events of the log, counted from 0\n  log        {ORIGIN}\n  \
             size       5\n  root       {root}\n  signed     {ORIGIN} ({id})"
        ),
    );
    check("other.json", "event.tlog-proof", 1, "INVALID: the event is not the one that the log has at 2");
    check("newline.json", "event.tlog-proof", 1, "INVALID: the file ends with a newline that is not part of the event");
    check("event.json", "moved.tlog-proof", 1, "INVALID: the event is not the one that the log has at 3");
    check("event.json", "outside.tlog-proof", 1, "INVALID: the proof is about event 9, but the log");
    check("event.json", "cut.tlog-proof", 1, "INVALID: the signed note does not end with a newline");
    check("event.json", "changed.tlog-proof", 1, &format!("INVALID: the signature of {ORIGIN} ({id}) is wrong"));
    check("absent.json", "event.tlog-proof", 2, "error: could not open `absent.json`");
}

#[test]
fn witnesses_must_have_cosigned() {
    let log = Log::of(5);
    let mut signed = log.checkpoint(5);
    signed.add(witness_key(11).cosign(&signed, 1_679_315_147).unwrap()).unwrap();
    let desk = Desk::with(&[("event.json", log.events[2].clone()), ("proof", log.proof_file(2, signed).to_string())]);
    let (first, second) = (witness_key(11).verifier(), witness_key(12).verifier());
    let base = "proof --event event.json --proof proof";
    desk.check(&format!("{base} --witness {first}"), 0, "valid: ");
    let cosigned = "  cosigned   witness.example/11 at 2023-03-20T12:25:47Z";
    let (_, text) = desk.run(&format!("{base} --witness {first} --key {}", log_key(1).verifier()));
    assert!(text.ends_with(cosigned), "{text}");
    let both = format!("{base} --witness {first} --witness {second}");
    desk.check(&both, 1, "INVALID: 1 of the given witnesses cosigned, expected at least 2");
    desk.check(&format!("{both} --threshold 1"), 0, "valid: ");
    desk.check(&format!("{both} --threshold 3"), 2, "error: 3 cosignatures are asked of 2 witnesses");
    desk.check(&format!("{base} --witness {first} --witness {first}"), 2, "error: the key of witness.example/11");
}

#[test]
fn a_changed_export_is_invalid_and_the_place_is_named_where_it_can_be() {
    let log = Log::of(20);
    let export = log.export();
    let lines: Vec<&str> = export.split_inclusive('\n').collect();
    let without = |index: usize| [&lines[..index], &lines[index + 1..]].concat().concat();
    let mut swapped = lines.clone();
    swapped.swap(3, 4);
    let mut renumbered = lines.clone();
    let (third, fourth) = (export_line(3, &log.events[4]), export_line(4, &log.events[3]));
    (renumbered[3], renumbered[4]) = (&third, &fourth);
    let hash_line = |index: usize| {
        let hash = ledger::hash::Hash::leaf(log.events[index].as_bytes());
        format!("{{\"leaf_index\":{index},\"leaf_hash\":\"{hash}\"}}\n")
    };
    let (second, last) = (hash_line(1), hash_line(19));
    let mut foreign = lines.clone();
    (foreign[1], foreign[19]) = (&second, &last);
    let desk = Desk::with(&[
        ("checkpoint", log.checkpoint(20).to_string()),
        ("previous", log.checkpoint(12).to_string()),
        ("good", export.clone()),
        ("no_last_newline", export.trim_end().to_owned()),
        ("early_change", export.replace("\\\"call\\\":7,", "\\\"call\\\":8,")),
        ("late_change", export.replace("\\\"call\\\":15,", "\\\"call\\\":8,")),
        ("deleted", without(7)),
        ("cut", without(19)),
        ("longer", format!("{export}{}", export_line(20, "more"))),
        ("swapped", swapped.concat()),
        ("renumbered", renumbered.concat()),
        ("spaced", export.replacen("\\\"call\\\":7,", "\\\"call\\\": 7,", 1)),
        ("not_json", export.replacen("{\"leaf_index\":9,", "{\"leaf_index\":9 ", 1)),
        ("twice", export.replacen("{\"leaf_index\":9,", "{\"leaf_index\":9,\"event\":\"x\",", 1)),
        ("extra", export.replacen("{\"leaf_index\":9,", "{\"leaf_index\":9,\"note\":\"x\",", 1)),
        ("blank", export.replacen("{\"leaf_index\":9,", "\n{\"leaf_index\":9,", 1)),
        ("foreign", foreign.concat()),
    ]);
    let check = |events: &str, code, expected: &str| {
        desk.check(&format!("log --events {events} --checkpoint checkpoint"), code, expected);
    };
    check("good", 0, "valid: the export is the log of the checkpoint, all 20 events\n");
    check("no_last_newline", 1, "INVALID: line 20 does not end with a newline: the export was cut");
    let in_part = "valid, but not all of it is shown: the export is the log of the checkpoint, 20 events, 2 of them only as hashes\n";
    check("foreign", 0, in_part);
    let key = log_key(1).verifier();
    let (_, json) = desk.run(&format!("log --events foreign --checkpoint checkpoint --json --key {key}"));
    assert!(json.contains("\"n_events\":20,\"n_hashes\":2"), "{json}");
    check("early_change", 1, "INVALID: the events are not those of the checkpoint: changed, or in another order");
    check("renumbered", 1, "INVALID: the events are not those of the checkpoint: changed, or in another order");
    check("spaced", 1, "INVALID: the events are not those of the checkpoint: changed, or in another order");
    check("deleted", 1, "INVALID: line 8 has event 8, expected event 7");
    check("swapped", 1, "INVALID: line 4 has event 4, expected event 3");
    check("cut", 1, "INVALID: the export ends before event 19, the checkpoint has 20 events");
    check("longer", 1, "INVALID: event 20 is not covered by the checkpoint, which has 20 events");
    for malformed in ["not_json", "twice", "extra", "blank"] {
        check(malformed, 1, "INVALID: line 10 is not {\"leaf_index\":N,\"event\":\"…\"} (column ");
    }
    check("absent", 2, "error: could not open `absent`");

    let check = |events: &str, code, expected: &str| {
        desk.check(&format!("log --events {events} --checkpoint checkpoint --previous previous"), code, expected);
    };
    let valid =
        "valid: the export is the log of the checkpoint, all 20 events, and its first 12 are those of the earlier";
    check("good", 0, valid);
    check("early_change", 1, "INVALID: the events are not those of the checkpoints: changed before event 12");
    check("late_change", 1, "INVALID: the events are not those of the checkpoint: changed from event 12 on");
}

#[test]
fn an_earlier_checkpoint_shows_rewriting_and_rolling_back() {
    let (log, mut fork) = (Log::of(20), Log::of(5));
    for index in 5..20 {
        fork.append(format!("rewritten {index}"));
    }
    let stranger = LogSigner::generate("other.example", [1; 32]).unwrap();
    let other = Checkpoint::new("other.example", 12, log.head(12).root).unwrap().sign(&[&stranger]).unwrap();
    let thief = Checkpoint::new(ORIGIN, 12, log.head(12).root).unwrap().sign(&[&log_key(66)]).unwrap();
    let desk = Desk::with(&[
        ("export", fork.export()),
        ("checkpoint", fork.checkpoint(20).to_string()),
        ("before_fork", log.checkpoint(5).to_string()),
        ("after_fork", log.checkpoint(12).to_string()),
        ("beyond", log.checkpoint(20).to_string()),
        ("small", fork.checkpoint(12).to_string()),
        ("other", other.to_string()),
        ("thief", thief.to_string()),
    ]);
    let check = |checkpoint: &str, previous: &str, code, expected: &str| {
        desk.check(&format!("log --events export --checkpoint {checkpoint} --previous {previous}"), code, expected);
    };
    check("checkpoint", "before_fork", 0, "valid: ");
    let rewritten =
        "INVALID: the log signed two histories: the first 12 events are not those of the earlier checkpoint";
    check("checkpoint", "after_fork", 1, rewritten);
    check("small", "beyond", 1, "INVALID: the earlier checkpoint has 20 events, the later only 12: rolled back");
    check("checkpoint", "other", 1, "INVALID: the earlier checkpoint: the checkpoint of `other.example` is not signed");
    check("checkpoint", "thief", 1, &format!("INVALID: the earlier checkpoint: the checkpoint of `{ORIGIN}` is not"));
}

#[test]
fn consistency_is_read_from_the_request_to_a_witness() {
    let (log, mut fork) = (Log::of(20), Log::of(5));
    for index in 5..20 {
        fork.append(format!("rewritten {index}"));
    }
    let forged = AddCheckpoint::new(12, log.consistency(12, 20), fork.checkpoint(20)).unwrap();
    let desk = Desk::with(&[
        ("previous", log.checkpoint(12).to_string()),
        ("honest", log.request(12, 20).to_string()),
        ("same", log.request(12, 12).to_string()),
        ("fork", fork.request(12, 20).to_string()),
        ("forged", forged.to_string()),
        ("other_size", log.request(11, 20).to_string()),
        ("malformed", log.request(12, 20).to_string().replace("old ", "old: ")),
    ]);
    let check = |proof: &str, code, expected: &str| {
        desk.check(&format!("consistency --previous previous --proof {proof}"), code, expected);
    };
    check("honest", 0, "valid: the log of 20 events continues the one of 12; nothing before was changed");
    check("same", 0, "valid: the log of 12 events continues the one of 12");
    check("fork", 1, "INVALID: the log of 20 events is not shown to continue the one of 12");
    check("forged", 1, "INVALID: the log of 20 events is not shown to continue the one of 12");
    check("other_size", 1, "INVALID: the proof starts at 11 events, the earlier checkpoint has 12");
    check("malformed", 1, "INVALID: the proof does not begin with `old SIZE`");
}

#[test]
fn a_wrong_key_is_invalid_and_a_mistyped_one_cannot_be_used() {
    let log = Log::of(3);
    let other_name = LogSigner::generate("other.example", [1; 32]).unwrap();
    let by_other = Note::sign(log.checkpoint(3).text(), &[&other_name]).unwrap().to_string();
    let desk =
        Desk::with(&[("export", log.export()), ("checkpoint", log.checkpoint(3).to_string()), ("by_other", by_other)]);
    let run = |key: &str| desk.run(&format!("log --events export --checkpoint checkpoint --key {key}"));
    let right = log_key(1).verifier().to_string();
    assert_eq!(run(&right).0, 0);
    assert_eq!(
        run(&log_key(2).verifier().to_string()),
        (1, format!("INVALID: the checkpoint of `{ORIGIN}` is not signed by a key given with --key"))
    );
    assert_eq!(run(&other_name.verifier().to_string()).0, 1);
    // A trusted key signs for the log of its name, and for no other.
    let arguments = format!("log --events export --checkpoint by_other --key {}", other_name.verifier());
    assert_eq!(desk.run(&arguments).0, 1);
    let (code, text) = run(&right.replace("materia", "matéria"));
    assert_eq!(code, 2);
    assert!(text.starts_with("error: the id of the key `log.example/matéria` is "), "{text}");
    assert_eq!(run("nonsense"), (2, "error: `nonsense` is not a key of the form NAME+ID+BASE64".to_owned()));
    let (code, text) = run(&witness_key(1).verifier().to_string());
    assert_eq!((code, text.starts_with("error: `witness.example/1` is a key of type 4")), (2, true), "{text}");
    assert_eq!(desk.run("log --events export --checkpoint checkpoint").0, 2);
    assert_eq!(desk.run("proof").0, 2);
    assert_eq!(desk.run("").0, 2);
    assert_eq!(desk.run("--help").0, 0);
}

#[test]
fn either_key_of_an_overlap_will_do() {
    let log = Log::of(3);
    let (old, new) = (log_key(1), log_key(2));
    let signed = Checkpoint::new(ORIGIN, 3, log.head(3).root).unwrap().sign(&[&new, &old]).unwrap();
    let desk = Desk::with(&[("export", log.export()), ("checkpoint", signed.to_string())]);
    for keys in [vec![&old], vec![&new], vec![&old, &new]] {
        let keys: String = keys.iter().map(|key| format!(" --key {}", key.verifier())).collect();
        assert_eq!(desk.run(&format!("log --events export --checkpoint checkpoint{keys}")).0, 0);
    }
}

#[test]
fn the_verdict_as_json() {
    let log = Log::of(3);
    let text = log.checkpoint(3).to_string();
    let not_a_checkpoint = Note::sign("just words\n", &[&log_key(1)]).unwrap().to_string();
    let desk = Desk::with(&[
        ("event", log.events[1].clone()),
        ("proof", log.proof_file(1, log.checkpoint(3)).to_string()),
        ("export", log.export()),
        ("short", log.export().lines().take(2).map(|line| format!("{line}\n")).collect()),
        ("changed", log.export().replace("ยา", "ไม่")),
        ("checkpoint", text),
        ("words", not_a_checkpoint),
    ]);
    let check = |arguments: &str, code, expected: serde_json::Value| {
        let found = desk.run(&format!("{arguments} --json --key {}", log_key(1).verifier()));
        assert_eq!((found.0, serde_json::from_str::<serde_json::Value>(&found.1).unwrap()), (code, expected));
    };
    let key = format!("{ORIGIN} ({})", log_key(1).id());
    let root: Hash = log.head(3).root;
    check(
        "proof --event event --proof proof",
        0,
        serde_json::json!({
            "valid": true, "check": "proof", "leaf_index": 1, "origin": ORIGIN, "size": 3, "root": root.to_string(),
            "message": "the event is number 1 of the 3 events of the log, counted from 0",
            "signed_by": [key], "cosigned_by": [],
        }),
    );
    check(
        "log --events short --checkpoint checkpoint",
        1,
        serde_json::json!({
            "valid": false, "check": "log", "code": "WRONG_SIZE", "leaf_index": 2,
            "message": "the export ends before event 2, the checkpoint has 3 events",
        }),
    );
    check(
        "log --events changed --checkpoint checkpoint",
        1,
        serde_json::json!({
            "valid": false, "check": "log", "code": "WRONG_ROOT", "between": {"start": 0, "end": 3},
            "message": "the events are not those of the checkpoint: changed, or in another order",
        }),
    );
    check(
        "log --events export --checkpoint words",
        1,
        serde_json::json!({
            "valid": false, "check": "log", "code": "MALFORMED_CHECKPOINT",
            "message": "the checkpoint has fewer than three lines",
        }),
    );
}
