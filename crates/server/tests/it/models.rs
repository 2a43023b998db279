//! `materia models`: what cannot be used is refused, or told where it is missed.

use std::path::Path;
use std::process::Output;

use serde_json::{Value, json};

use crate::house::{Access, House, HouseOptions, materia};
use crate::ids;

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

#[tokio::test(flavor = "multi_thread")]
async fn what_lacks_vectors_at_the_start_gets_them_without_being_asked_for() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let start = || House::start(&HouseOptions { data: &data, access: Access::Anyone, database_url: None });
    let call = async |house: &House, operation: &str, input: Value| -> Value {
        let url = format!("{}/api/tools/{operation}", house.http());
        ids::http_client().post(url).json(&input).send().await.expect("an answer").json().await.expect("JSON")
    };
    let records = json!({"records": [
        {"record": "source", "id": "s", "title": "Made up", "licence": "CC0-1.0"},
        {"record": "node", "id": "H1", "categories": ["herb"], "names": [{"text": "ginger", "lang": "en"}], "source": "s"},
    ]});
    let house = start();
    assert_eq!(call(&house, "put_records", records).await["kept"], 2);
    drop(house);

    let tools = std::env::var_os("MATERIA_TEST_TOOLS").expect("the model is installed: run `cargo xtask test`");
    let model = Path::new(&tools).join("models").join("all-minilm-l6-v2");
    let path = model.to_str().expect("a plain path");
    let used = run(&data, &["models", "use", path]);
    assert!(used.status.success(), "{used:?}");
    let house = start();
    let made = json!({"operation": "embed_records"});
    let within = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while call(&house, "audit_search", made.clone()).await["events"].as_array().is_none_or(Vec::is_empty) {
        assert!(std::time::Instant::now() < within, "nobody asked, and nothing was made");
        tokio::time::sleep(std::time::Duration::from_millis(100)).await;
    }
    let found = call(&house, "hybrid_search", json!({"query": "ginger"})).await;
    assert_eq!(
        (&found["hits"][0]["id"], &found["metadata"]["vectors_missing"]),
        (&json!("H1"), &Value::Null),
        "{found}"
    );
}
