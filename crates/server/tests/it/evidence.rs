//! Seed 002 over the wire: the dotted name, the audit block in the answer, errors in its dialect, addresses.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::house::{Access, House, HouseOptions, materia};
use crate::ids;

/// A made-up herb that contains something.
fn records() -> Value {
    let node = |id: &str, kind: &str, name: &str| json!({"record": "node", "id": id, "categories": [kind], "names": [{"text": name, "lang": "th"}], "source": "s"});
    json!({"records": [
        {"record": "source", "id": "s", "title": "Made up", "licence": "CC0-1.0"},
        node("H1", "herb", "ขิง"),
        node("C9", "constituent", "จินเจอรอล"),
        {"record": "edge", "id": "E1", "subject": "H1", "predicate": "contains", "object": "C9", "source": "s"},
    ]})
}

pub async fn request(url: &str, method: &str, params: Value) -> Value {
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let request = ids::http_client().post(url).header("Accept", "application/json, text/event-stream");
    let response = request.header("MCP-Protocol-Version", "2025-11-25").json(&body).send().await;
    response.expect("an answer").json().await.expect("JSON")
}

/// The same in the revision without a handshake, with the status.
async fn modern_request(url: &str, method: &str, mut params: Value) -> (Value, u16) {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
    let request = ids::http_client().post(url).header("Accept", "application/json, text/event-stream");
    let request = request.header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", method);
    let request = request.header("Mcp-Name", params["name"].as_str().unwrap_or_default());
    let response = request.json(&body).send().await.expect("an answer");
    let status = response.status().as_u16();
    (response.json().await.expect("JSON"), status)
}

#[tokio::test(flavor = "multi_thread")]
async fn the_graph_is_asked_over_mcp_as_the_seed_says() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let house = House::start(&HouseOptions { data: &data, access: Access::Anyone, database_url: None });
    let put = format!("{}/api/tools/put_records", house.http());
    let kept: Value =
        ids::http_client().post(put).json(&records()).send().await.expect("an answer").json().await.expect("JSON");
    assert_eq!(kept["kept"], 4, "{kept}");

    let url = format!("{}/evidence", house.mcp());
    let asked = json!({"start": {"type": "herb", "id": "ขิง"}, "pattern": "herb -contains-> constituent"});
    let answer = request(&url, "tools/call", json!({"name": "tool.query_kg", "arguments": asked})).await;
    let result = &answer["result"];
    let output = &result["structuredContent"];
    assert_eq!(output["paths"][0][1]["id"], "C9", "{answer}");
    assert_eq!((&output["audit"]["status"], &output["audit"]), (&json!("ok"), &result["_meta"]["audit"]));
    assert_eq!(result["metadata"]["licences"][0]["licence"], "CC0-1.0", "{answer}");

    let unknown = json!({"name": "find_contraindications", "arguments": {"herb_ids": ["mandrake"]}});
    let answer = request(&url, "tools/call", unknown.clone()).await;
    let result = &answer["result"];
    let text = result["content"][0]["text"].as_str().expect("text");
    let body: Value = serde_json::from_str(text).expect("JSON");
    assert_eq!(result["isError"], true, "{answer}");
    let error = json!({"code": "NOT_FOUND", "message": "no herb has the id or name `mandrake`"});
    assert_eq!((&body["error"], &body["audit"]["status"]), (&error, &json!("error")));
    // Clients of these revisions hold it against the schema of a success, and show that instead of the error.
    assert_eq!(result["structuredContent"], Value::Null, "{answer}");
    let out_hash = contract::canonical::hash(&json!({"error": error})).expect("a hash");
    assert_eq!(body["audit"]["out_hash"], out_hash, "who has the answer has what was hashed");
    let (modern, _) = modern_request(&url, "tools/call", unknown).await;
    assert_eq!(modern["result"]["structuredContent"]["error"], error, "{modern}");

    let misspelt = request(&url, "tools/call", json!({"name": "query_gk", "arguments": {}})).await;
    assert_eq!(misspelt["error"]["message"], "Unknown tool: query_gk; did you mean `query_kg`?");

    let listed = request(&url, "tools/list", json!({})).await;
    let names: Vec<&str> =
        listed["result"]["tools"].as_array().expect("tools").iter().filter_map(|it| it["name"].as_str()).collect();
    assert!(
        names.contains(&"query_kg") && !names.iter().any(|it| it.contains('.') || *it == "put_records"),
        "{names:?}"
    );

    let herb = request(&url, "resources/read", json!({"uri": "kg://herb/H1"})).await;
    let content = &herb["result"]["contents"][0];
    let call_id = content["_meta"]["call_id"].as_str().expect("a read names its call");
    let found = json!({"name": "audit_search", "arguments": {"call_id": call_id}});
    let mut event = Value::Null;
    // Its event is on its way when a read is answered.
    let within = Instant::now() + Duration::from_secs(10);
    while event.is_null() && Instant::now() < within {
        let answer = request(&house.mcp(), "tools/call", found.clone()).await;
        event = answer["result"]["structuredContent"]["events"][0]["event"].clone();
    }
    assert_eq!((&event["operation"], &event["correlation"]["message_id"]), (&json!("resource.kg.herb"), &json!("1")));
    let herb: Value = serde_json::from_str(content["text"].as_str().expect("text")).expect("JSON");
    assert_eq!((&content["mimeType"], &herb["names"]["th"]), (&json!("application/json"), &json!("ขิง")));
    assert_eq!(herb["constituents"], json!([{"id": "C9", "name": "จินเจอรอล", "verified": false, "sources": ["s"]}]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_running_server_makes_its_index_and_files_anew() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let house = House::start(&HouseOptions { data: &data, access: Access::Anyone, database_url: None });
    let call = async |operation: &str, input: Value| -> Value {
        let url = format!("{}/api/tools/{operation}", house.http());
        ids::http_client().post(url).json(&input).send().await.expect("an answer").json().await.expect("JSON")
    };
    call("put_records", records()).await;
    let document =
        format!("# Herbs - Business Research\n\n## Metadata\n\n- **Version:** 1\n\n{}\n", "Ginger. ".repeat(20));
    let stored = call("store_artifact", json!({"artifact_content": document})).await;
    let file = data.join(stored["storage_path"].as_str().unwrap_or_else(|| panic!("{stored}")));
    let found = async || call("hybrid_search", json!({"query": "ขิง"})).await["hits"][0]["id"].clone();
    assert_eq!(found().await, "H1");

    let index = fs::read_dir(data.join("search")).expect("an index").next().expect("one").expect("a folder").path();
    let before = fs::metadata(&index).expect("a folder").ino();
    fs::remove_file(&file).expect("the file is there");
    let rebuilt = materia().args(["rebuild", "--data"]).arg(&data).output().expect("`materia` starts");
    let said = String::from_utf8_lossy(&rebuilt.stdout).into_owned();
    assert!(rebuilt.status.success(), "{rebuilt:?}");
    assert_eq!(said, "1 documents compared with their files: 1 written, 0 differ and are left alone, 0 failed\n");
    assert!(file.exists());
    assert_ne!(fs::metadata(&index).expect("an index again").ino(), before, "the index is another one");
    assert_eq!(fs::read_dir(data.join("search")).expect("an index").count(), 1, "nothing is left beside it");
    assert_eq!(found().await, "H1");
}
