//! Attack cases 27 to 29: names and links that lead out of the documents' root.

use std::fs;
use std::os::unix::fs::symlink;

use rustix::fs::{CWD, FileType, Mode, mknodat};
use serde_json::{Value, json};
use testkit::documents::EPIC_006;

use super::record::count;
use super::target::Target;

impl Target {
    fn read_resource(&self, uri: &str) -> Value {
        self.send(&self.modern("resources/read", json!({ "uri": uri }))).json()
    }

    fn tool(&self, name: &str, arguments: Value) -> Value {
        self.send(&self.modern("tools/call", json!({"name": name, "arguments": arguments}))).json()
    }
}

/// Case 27.
#[test]
fn names_that_lead_out_are_refused_logged_and_recorded() {
    let target = Target::start();
    let secret = target.data().join("token");
    let names = [
        "../../etc/passwd",
        "prds/../../token",
        "/etc/passwd",
        "..%2f..%2ftoken",
        "%252e%252e/token",
        "prds\\..\\token",
        "C:\\token.md",
        "prds//token.md",
        "../artifacts-evil/x.md",
    ];
    for name in names {
        for begin in ["mcp://resources/artifacts/", "mcp://resources/validation/", "mcp://resources/templates/"] {
            let answer = target.read_resource(&format!("{begin}{name}"));
            assert_eq!(answer["error"]["code"], -32602, "{begin}{name}: {answer}");
            assert_eq!(answer["error"]["message"], "Invalid params: Resource name contains path traversal", "{answer}");
            assert_eq!(answer["error"]["data"]["validation_failed"], "path_traversal_check");
        }
    }
    let long = format!("mcp://resources/artifacts/prds/{}.md", "a".repeat(5_000));
    for uri in [long.as_str(), "mcp://resources/artifacts/prds/PRD-006", "mcp://resources/artifacts/a/b/c.md"] {
        assert_eq!(target.read_resource(uri)["error"]["code"], -32602, "{uri}");
    }
    let missing = "mcp://resources/artifacts/prds/PRD-006_v1.md";
    let answer = target.read_resource(missing);
    assert_eq!(
        (&answer["error"]["code"], &answer["error"]["message"]),
        (&json!(-32001), &json!(format!("Resource not found: {missing}")))
    );
    let warnings = target.log().matches("Path traversal attempt detected").count();
    assert_eq!(warnings, names.len() * 3);
    let token = fs::read_to_string(secret).expect("the token");
    assert!(!target.log().contains(token.trim()));
    let events = target.stop();
    assert_eq!(count(&events, "read_artifact", "invalid"), names.len() + 3);
    assert_eq!(count(&events, "read_checklist", "invalid"), names.len());
    assert_eq!(count(&events, "read_artifact", "not_found"), 1);
}

/// Case 28.
#[test]
fn planted_links_are_neither_read_nor_written_through() {
    let target = Target::start();
    let (root, outside) = (target.data().join("artifacts"), target.data().join("outside"));
    fs::create_dir_all(root.join("prds")).expect("a folder can be made");
    fs::create_dir(&outside).expect("a folder can be made");
    fs::write(outside.join("secret"), "secret").expect("a file can be written");
    symlink(outside.join("secret"), root.join("prds/PRD-001_v1.md")).expect("a link can be made");
    symlink("/proc/self/environ", root.join("prds/PRD-002_v1.md")).expect("a link can be made");
    fs::hard_link(outside.join("secret"), root.join("prds/PRD-003_v1.md")).expect("a link can be made");
    mknodat(CWD, root.join("prds/PRD-004_v1.md"), FileType::Fifo, Mode::from_raw_mode(0o644), 0)
        .expect("a pipe can be made");
    for number in 1..=4 {
        let answer = target.read_resource(&format!("mcp://resources/artifacts/prds/PRD-00{number}_v1.md"));
        assert_eq!(answer["error"]["code"], -32602, "{answer}");
        assert!(!answer.to_string().contains("secret"), "{answer}");
    }
    symlink(&outside, root.join("epics")).expect("a link can be made");
    let answer = target.tool("store_artifact", json!({ "artifact_content": EPIC_006 }));
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    assert_eq!(fs::read_dir(&outside).expect("the folder").count(), 1);
    let listed = target.send(&target.rest("list_artifacts", "{}")).json();
    assert_eq!(listed["artifacts"], json!([]));
    assert!(target.log().contains("A link was planted among the documents"));
    let events = target.stop();
    assert_eq!((count(&events, "read_artifact", "invalid"), count(&events, "store_artifact", "invalid")), (4, 1));
}

/// Case 29.
#[test]
fn file_names_are_the_servers_own() {
    let target = Target::start();
    let research = |title: &str| {
        format!("# {title} Business Research\n\n## Metadata\n- **Status:** Finalized\n\n{}\n", "words ".repeat(30))
    };
    for name in
        ["CON", ".git/config", "-rf_business_research", "a\u{202e}_business_research", "e\u{301}_business_research"]
    {
        let input = json!({"artifact_content": research("Some"), "file_name": name});
        let answer = target.tool("store_artifact", input);
        assert_eq!(answer["error"]["code"], -32602, "{name}: {answer}");
    }
    // The two ways to write é give two names, and neither hides the other.
    let first = target.tool("store_artifact", json!({"artifact_content": research("Caf\u{e9} au lait")}));
    assert_eq!(
        first["result"]["structuredContent"]["storage_path"],
        "artifacts/research/Caf_au_lait_business_research.md"
    );
    let second = target.tool("store_artifact", json!({"artifact_content": research("Cafe\u{301} au lait")}));
    assert_ne!(
        second["result"]["structuredContent"]["storage_path"],
        first["result"]["structuredContent"]["storage_path"]
    );
    let files: Vec<String> = fs::read_dir(target.data().join("artifacts/research"))
        .expect("the folder")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("plain text"))
        .collect();
    assert!(files.iter().all(|name| name.is_ascii()), "{files:?}");
}
