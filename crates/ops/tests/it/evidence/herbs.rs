//! A small herbal that nobody wrote: made up for these tests, with the types, names and relations that real ones have.

use serde_json::{Value, json};

use crate::script::Stage;

pub fn source() -> Value {
    json!({"record": "source", "id": "herbal", "title": "Made-up herbal", "licence": "CC0-1.0"})
}

pub fn node(id: &str, kind: &str, names: Value) -> Value {
    json!({"record": "node", "id": id, "categories": [kind], "names": names, "source": "herbal"})
}

pub fn edge(id: &str, subject: &str, predicate: &str, object: &str) -> Value {
    json!({"record": "edge", "id": id, "subject": subject, "predicate": predicate, "object": object, "source": "herbal"})
}

/// Keeps records and answers what became of them.
pub async fn put(stage: &Stage, records: &[Value]) -> Value {
    stage.call("curator", "put_records", json!({"records": records})).await.result.unwrap().output
}

fn names(th: &str, en: &str) -> Value {
    json!([{"text": th, "lang": "th"}, {"text": en, "lang": "en"}])
}

fn against(id: &str, subject: &str, predicate: &str, object: &str, strength: Option<&str>, text: &str) -> Value {
    let mut edge = edge(id, subject, predicate, object);
    if let Some(strength) = strength {
        edge["strength"] = json!(strength);
    }
    if !text.is_empty() {
        edge["evidence"] = json!([{"reference": "PMID:11", "text": text}]);
    }
    edge
}

/// Two herbs and a formulation of both, what they contain and treat, and what speaks against them.
pub fn herbal() -> Vec<Value> {
    let mut ginger = node("H1", "herb", names("ขิง", "ginger"));
    ginger["names"].as_array_mut().unwrap().push(json!({"text": "Zingiber officinale", "lang": "la"}));
    ginger["attributes"] = json!({"parts": ["rhizome"]});
    let mut nausea = node("I05", "indication", names("คลื่นไส้", "nausea"));
    nausea["same_as"] = json!(["ICD10:R11"]);
    vec![
        source(),
        json!({"record": "source", "id": "book", "title": "Made-up book", "licence": "CC-BY-4.0"}),
        ginger,
        node("H2", "herb", names("ขมิ้นชัน", "turmeric")),
        node("H3", "herb", names("ตะไคร้", "lemongrass")),
        node("F1", "formulation", names("ยาผสม", "mixture")),
        node("C9", "constituent", names("จินเจอรอล", "gingerol")),
        node("C8", "constituent", names("เคอร์คูมิน", "curcumin")),
        nausea,
        node("D1", "drug", names("วาร์ฟาริน", "warfarin")),
        node("P1", "condition", names("ตั้งครรภ์", "pregnancy")),
        edge("E1", "H1", "contains", "C9"),
        edge("E2", "C9", "treats", "I05"),
        edge("E3", "H2", "contains", "C8"),
        edge("E4", "H1", "treats", "I05"),
        edge("E5", "F1", "has_part", "H1"),
        edge("E6", "H2", "part_of", "F1"),
        against("A1", "H1", "contraindicated_in", "P1", None, ""),
        against("A2", "H1", "interacts_with", "D1", Some("high"), "bleeding was seen"),
        against("A3", "D1", "interacts_with", "H2", Some("moderate"), "levels rose"),
    ]
}
