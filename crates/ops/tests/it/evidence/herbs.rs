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
