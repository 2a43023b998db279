//! `materia models`: what cannot be used is refused, or told where it is missed.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::house::materia;

fn run(data: &Path, arguments: &[&str]) -> Output {
    materia().arg("--data").arg(data).args(arguments).output().expect("`materia` runs")
}

#[test]
fn an_endpoint_that_nobody_can_ask_is_refused_and_one_that_was_chosen_is_told() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    for url in ["ftp://x", "x", "http://", "file:///etc/passwd"] {
        let refused = run(&data, &["models", "use", "bad", "--url", url, "--dimensions", "3"]);
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(!refused.status.success() && told.contains("http:// or https://"), "{url}: {told}");
    }
    let message = || -> String {
        let searched = run(&data, &["call", "hybrid_search", r#"{"query": "ginger"}"#, "--full"]);
        let answer: Value = serde_json::from_slice(&searched.stdout).expect("JSON");
        answer["metadata"]["message"].as_str().expect("a message").to_owned()
    };
    assert!(message().starts_with("No embedding model is in use:"), "nothing was chosen");
    // As an earlier version let it be chosen.
    let choice = json!({"kind": "endpoint", "name": "bad", "url": "ftp://x", "n_dimensions": 3, "languages": ["en"]});
    std::fs::create_dir_all(data.join("models")).expect("a folder");
    std::fs::write(data.join("models/in_use.json"), choice.to_string()).expect("a file");
    let told = message();
    let expected =
        "The embedding model that was chosen cannot be used (the address of the embeddings endpoint cannot be used)";
    assert!(told.starts_with(expected), "{told}");
    let choice = json!({"kind": "folder", "name": "gone", "path": data.join("nowhere"), "languages": ["en"]});
    std::fs::write(data.join("models/in_use.json"), choice.to_string()).expect("a file");
    let told = message();
    assert!(told.contains("cannot be used (its files") && !told.contains("nowhere"), "{told}");
}
