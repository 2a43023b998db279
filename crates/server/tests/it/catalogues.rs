//! The lists of tools that models read before every conversation, as they come over the wire.

use ops::{Family, limits};
use serde_json::{Value, json};

use crate::house::{Access, House, HouseOptions};
use crate::ids;

/// The body of the answer to `tools/list`, in the older era or the one without a handshake.
async fn listed(house: &House, family: Family, version: &str) -> String {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": version,
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let params = if version == "2026-07-28" { json!({ "_meta": meta }) } else { json!({}) };
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params});
    let request = ids::http_client()
        .post(format!("{}/{}", house.mcp(), family.name()))
        .header("Accept", "application/json, text/event-stream")
        .header("MCP-Protocol-Version", version)
        .header("Mcp-Method", "tools/list")
        .json(&body);
    request.send().await.expect("an answer").text().await.expect("a text")
}

#[tokio::test(flavor = "multi_thread")]
async fn the_tools_of_every_family_fit_into_one_small_list() {
    let folder = testkit::temp_dir();
    let data = folder.path().join("data");
    let house = House::start(&HouseOptions { data: &data, access: Access::Anyone, database_url: None });
    for family in Family::SERVED {
        for version in ["2025-11-25", "2026-07-28"] {
            let answer = listed(&house, family, version).await;
            let parsed: Value = serde_json::from_str(&answer).unwrap_or_else(|_| panic!("expected JSON: {answer}"));
            let result = &parsed["result"];
            assert!(result["tools"].as_array().is_some_and(|tools| tools.len() > 3), "{answer}");
            assert_eq!(result.get("nextCursor"), None, "the list goes on elsewhere");
            let (name, n_bytes) = (family.name(), answer.len());
            assert!(n_bytes <= limits::CATALOGUE_BYTES_MAX, "{name} in {version} has {n_bytes} bytes");
        }
    }
}
