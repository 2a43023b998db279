//! What an answer costs a model: the text and the structured content of ordinary calls together, over the facts that ship, counted
//! by a tokenizer of a real model.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use tiktoken_rs::o200k_base_singleton;

use crate::evidence::request;
use crate::house::{Access, House, HouseOptions, materia};
use crate::ids;

const TOKENS_MAX: usize = 4_000;

/// Not within their budget yet, by the number of the call below. The list only shrinks.
const OVER: [usize; 1] = [21];

/// Ordinary calls, as agents make them.
fn calls() -> Vec<(&'static str, Value)> {
    let herb = |name: &str| json!({"start": {"type": "herb", "id": name}});
    let along = |name: &str, pattern: &str| json!({"start": {"type": "*", "id": name}, "pattern": pattern});
    let against = |names: &[&str]| json!({ "herb_ids": names });
    let about = |words: &str| json!({ "query": words });
    vec![
        ("query_kg", herb("ginger")),
        ("query_kg", herb("ขมิ้นชัน")),
        ("query_kg", herb("andrographis")),
        ("query_kg", along("ginger", "herb -contains-> constituent -treats-> indication")),
        ("query_kg", along("ฟ้าทะลายโจร", "herb -contains-> constituent")),
        ("query_kg", along("warfarin", "drug -interacts_with-> herb")),
        ("query_kg", along("warfarin", "* -*-> *")),
        ("query_kg", along("ginger", "herb -interacts_with-> drug")),
        ("query_kg", along("turmeric", "herb -*-> indication")),
        ("query_kg", json!({"start": {"type": "herb", "id": "garlic"}, "max_depth": 2, "limit": 1_000})),
        ("query_kg", json!({"start": {"type": "herb", "id": "ginger"}, "count": true})),
        ("find_contraindications", against(&["ginger"])),
        ("find_contraindications", against(&["andrographis"])),
        ("find_contraindications", against(&["ขิง", "กระเทียม"])),
        ("find_contraindications", against(&["licorice"])),
        ("find_contraindications", against(&["plai"])),
        ("hybrid_search", about("ginger nausea pregnancy")),
        ("hybrid_search", about("สมุนไพรแก้ไอ")),
        ("hybrid_search", about("turmeric osteoarthritis trial")),
        ("hybrid_search", about("warfarin bleeding")),
        ("hybrid_search", json!({"query": "ขิง ข้อห้าม", "lang": "th", "top_k": 5})),
        ("kg_get_everything", json!({"curie": "warfarin"})),
        ("kg_get_everything", json!({"curie": "ginger"})),
        ("kg_network_neighborhood", json!({"curies": ["warfarin", "ginger", "ibuprofen"]})),
        ("kg_network_neighborhood", json!({"curies": ["paracetamol", "amoxicillin"]})),
        ("list_artifact_types", json!({})),
        ("get_next_available_id", json!({"artifact_type": "US"})),
        ("reserve_id_range", json!({"artifact_type": "HLS", "count": 3})),
        ("list_tasks", json!({})),
        ("get_next_task", json!({})),
        ("audit_search", json!({"limit": 5})),
        ("audit_checkpoint", json!({})),
        ("validate_artifact", json!({"artifact_content": testkit::documents::PRD_006, "artifact_id": "PRD-006"})),
        ("query_kg", herb("mandrake")),
        ("find_contraindications", against(&["mandrake"])),
        ("query_kg", json!({"start": {"type": "herb", "id": "ginger"}, "pattern": "herb -contain-> constituent"})),
        ("find_contraindications", json!({"herb_ids": ["ginger"], "detail": "brief"})),
        ("query_kg", json!({"start": {"type": "herb", "id": "ginger"}, "detail": "brief"})),
        ("find_contraindications", against(&["ginkgo", "garlic"])),
        ("hybrid_search", about("ยาละลายลิ่มเลือด ขิง")),
    ]
}

async fn house(data: &std::path::Path) -> House {
    let mut command = materia();
    command.env_remove("MATERIA_STARTER_DATA");
    House::start_by(command, &HouseOptions { data, access: Access::Anyone, database_url: None })
}

async fn call(house: &House, name: &str, arguments: Value) -> Value {
    let answer = request(&house.mcp(), "tools/call", json!({ "name": name, "arguments": arguments })).await;
    answer.get("result").unwrap_or(&answer["error"]).clone()
}

/// Text and structured content, as a client hands them to its model.
fn tokens(result: &Value) -> usize {
    let n = |text: &str| o200k_base_singleton().encode_ordinary(text).len();
    let texts = result["content"].as_array().into_iter().flatten();
    let text: usize = texts.filter_map(|it| it["text"].as_str()).map(n).sum();
    let structured = result.get("structuredContent").map_or(0, |it| n(&it.to_string()));
    if text + structured == 0 { n(&result.to_string()) } else { text + structured }
}

#[tokio::test(flavor = "multi_thread")]
async fn ordinary_answers_fit_a_model_and_say_what_they_leave_out() {
    let folder = testkit::temp_dir();
    let house = house(&folder.path().join("data")).await;
    let calls = calls();
    assert_eq!(calls.len(), 40);
    let mut over = BTreeSet::new();
    let mut told = Vec::new();
    for (number, (name, arguments)) in calls.into_iter().enumerate() {
        let result = call(&house, name, arguments.clone()).await;
        let n = tokens(&result);
        told.push(format!("{number:>2} {n:>6} {name} {}", arguments.to_string().chars().take(80).collect::<String>()));
        if n > TOKENS_MAX {
            over.insert(number);
        }
    }
    println!("{}", told.join("\n"));
    assert_eq!(over, BTreeSet::from(OVER), "\n{}", told.join("\n"));
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_grave_is_left_out_and_nothing_is_lost() {
    let folder = testkit::temp_dir();
    let house = house(&folder.path().join("data")).await;
    let rest = |name: &'static str, input: Value| {
        let url = format!("{}/api/tools/{name}", house.http());
        async move { ids::http_client().post(url).json(&input).send().await.unwrap().json::<Value>().await.unwrap() }
    };

    // The contraindications of three herbs: all of high or moderate strength stand, shortened.
    let herbs = json!(["ginger", "turmeric", "andrographis"]);
    let brief = call(&house, "find_contraindications", json!({ "herb_ids": herbs })).await;
    let full = rest("find_contraindications", json!({"herb_ids": herbs, "detail": "full"})).await;
    let rows = |answer: &Value| answer["results"].as_array().unwrap().clone();
    let output = &brief["structuredContent"];
    let text = brief["content"][0]["text"].as_str().unwrap();
    let of = |row: &Value| [row["entity_id"].clone(), row["predicate"].clone(), row["contraindication"].clone()];
    let shown: Vec<_> = rows(output).iter().map(of).collect();
    for row in rows(&full).iter().filter(|row| row["strength"] != "low") {
        assert!(shown.contains(&of(row)), "{row}");
        assert!(text.contains(row["contraindication"].as_str().unwrap()), "{row}");
    }
    for row in rows(output) {
        for seed in ["entity_id", "type", "contraindication", "evidence", "strength"] {
            assert!(row.get(seed).is_some(), "{row}");
        }
    }
    println!("three herbs: {} rows, {} tokens; {}", rows(output).len(), tokens(&brief), output["left_out"]);
    assert!(tokens(&brief) <= TOKENS_MAX || rows(output).iter().all(|row| row["strength"] != "low"));
    assert!(output["left_out"]["how"].as_str().unwrap().contains("full"));

    // The paths from ginger, page by page, are those of the full answer.
    let question = json!({"start": {"type": "herb", "id": "ginger"}});
    let mut asked = question.clone();
    let mut paths = Vec::new();
    for page in 0.. {
        let answer = rest("query_kg", asked.clone()).await;
        if page == 0 {
            let result = call(&house, "query_kg", question.clone()).await;
            println!("ginger: {} paths, {} tokens", answer["paths"].as_array().unwrap().len(), tokens(&result));
            assert!(tokens(&result) <= TOKENS_MAX);
        }
        paths.extend(answer["paths"].as_array().unwrap().iter().map(Value::to_string));
        let Some(next) = answer.get("next_cursor") else { break };
        asked["cursor"] = next.clone();
    }
    let mut full = question;
    full["detail"] = json!("full");
    let full = rest("query_kg", full).await;
    assert!(full.get("left_out").is_none() && full.get("next_cursor").is_none());
    let all: Vec<String> = full["paths"].as_array().unwrap().iter().map(Value::to_string).collect();
    assert_eq!((paths.len(), all.len()), (100, 100));
    assert_eq!(paths.into_iter().collect::<BTreeSet<_>>(), all.into_iter().collect::<BTreeSet<_>>());
}
