//! Whether a record fits the limits that its schema states, so that one that does not never spoils its batch.

use std::io;

use contract::evidence::record::{Author, Document, Edge, Evidence, Name, Node, Record, RecordKind, Source};
use serde::Serialize;

/// Below what one call can carry.
pub const RECORD_BYTES_MAX: usize = 6 * 1024 * 1024;

/// Where it stood, for messages.
pub fn id(record: &Record) -> String {
    let (kind, id) = match record {
        Record::Source(source) => ("source", &source.id),
        Record::Node(node) => ("node", &node.id),
        Record::Edge(edge) => ("edge", &edge.id),
        Record::Document(document) => ("document", &document.id),
        Record::Deletion(deletion) => ("deletion", &deletion.id),
    };
    format!("{kind} `{}`", id.chars().take(200).collect::<String>())
}

pub fn check(record: &Record) -> Result<(), String> {
    match record {
        Record::Source(source) => check_source(source),
        Record::Node(node) => check_node(node),
        Record::Edge(edge) => check_edge(edge),
        Record::Document(document) => check_document(document),
        Record::Deletion(deletion) => match deletion.kind {
            RecordKind::Source | RecordKind::Node | RecordKind::Edge | RecordKind::Document => {
                text("id", &deletion.id, 1, 200)
            }
        },
    }?;
    let n_bytes = size(record);
    if n_bytes > RECORD_BYTES_MAX {
        return Err(format!("{n_bytes} bytes, expected at most {RECORD_BYTES_MAX}"));
    }
    Ok(())
}

fn check_source(source: &Source) -> Result<(), String> {
    text("id", &source.id, 1, 100)?;
    text("title", &source.title, 1, 500)?;
    text("licence", &source.licence, 1, 200)?;
    optional("uri", source.uri.as_deref(), 0, 2_000)?;
    optional("notice", source.notice.as_deref(), 0, 2_000)?;
    optional("version", source.version.as_deref(), 0, 100)
}

fn check_node(node: &Node) -> Result<(), String> {
    text("id", &node.id, 1, 200)?;
    count("categories", node.categories.len(), 1, 40)?;
    count("names", node.names.len(), 1, 500)?;
    for Name { text: words, lang } in &node.names {
        text("names", words, 1, 500)?;
        text("lang", lang, 2, 10)?;
    }
    optional("description", node.description.as_deref(), 0, 10_000)?;
    count("same_as", node.same_as.len(), 0, 500)?;
    text("source", &node.source, 1, 100)
}

fn check_edge(edge: &Edge) -> Result<(), String> {
    text("id", &edge.id, 1, 200)?;
    text("subject", &edge.subject, 1, 200)?;
    text("predicate", &edge.predicate, 1, 100)?;
    text("object", &edge.object, 1, 200)?;
    count("evidence", edge.evidence.len(), 0, 1_000)?;
    for Evidence { reference, text: words } in &edge.evidence {
        optional("evidence.reference", reference.as_deref(), 1, 2_000)?;
        optional("evidence.text", words.as_deref(), 1, 10_000)?;
    }
    text("source", &edge.source, 1, 100)
}

fn check_document(document: &Document) -> Result<(), String> {
    text("id", &document.id, 1, 200)?;
    text("kind", &document.kind, 1, 40)?;
    text("title", &document.title, 0, 5_000)?;
    text("text", &document.text, 0, 1_000_000)?;
    text("lang", &document.lang, 2, 10)?;
    count("authors", document.authors.len(), 0, 10_000)?;
    for Author { last, fore, initials } in &document.authors {
        text("authors.last", last, 1, 500)?;
        optional("authors.fore", fore.as_deref(), 0, 200)?;
        optional("authors.initials", initials.as_deref(), 0, 50)?;
    }
    optional("journal", document.journal.as_deref(), 0, 1_000)?;
    count("links", document.links.len(), 0, 100)?;
    optional("retraction.notice", document.retraction.as_ref().and_then(|found| found.notice.as_deref()), 0, 2_000)?;
    text("source", &document.source, 1, 100)
}

fn optional(field: &str, value: Option<&str>, min: usize, max: usize) -> Result<(), String> {
    value.map_or(Ok(()), |value| text(field, value, min, max))
}

fn text(field: &str, value: &str, min: usize, max: usize) -> Result<(), String> {
    if value.contains('\0') {
        return Err(format!("`{field}` holds a NUL character"));
    }
    // A text has at most as many characters as bytes, so most need no counting.
    let is_within = value.len() >= min && value.len() <= max;
    let n_chars = if is_within && min <= 1 { value.len() } else { value.chars().count() };
    if (min..=max).contains(&n_chars) {
        return Ok(());
    }
    Err(match (n_chars, min) {
        (0, _) => format!("`{field}` is empty"),
        (_, _) => format!("`{field}` has {n_chars} characters, expected {min} to {max}"),
    })
}

fn count(field: &str, n: usize, min: usize, max: usize) -> Result<(), String> {
    if (min..=max).contains(&n) { Ok(()) } else { Err(format!("`{field}` has {n} items, expected {min} to {max}")) }
}

/// The length of its JSON.
fn size(record: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, record) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::schema::tool_schema;
    use serde_json::{Value, json};

    fn document(member: &str, value: Value) -> Value {
        let mut record = json!({"record": "document", "id": "PMID:1", "kind": "paper", "title": "t", "text": "", "lang": "en", "source": "s"});
        record[member] = value;
        record
    }

    fn node(member: &str, value: Value) -> Value {
        let mut record = json!({"record": "node", "id": "H1", "categories": ["herb"], "names": [{"text": "x", "lang": "en"}], "source": "s"});
        record[member] = value;
        record
    }

    fn edge(member: &str, value: Value) -> Value {
        let mut record =
            json!({"record": "edge", "id": "e", "subject": "a", "predicate": "p", "object": "b", "source": "s"});
        record[member] = value;
        record
    }

    /// At the limit and one beyond, for each limit: the schema and this file must agree.
    #[test]
    fn the_limits_are_those_of_the_schema() {
        let validator = jsonschema::validator_for(&Value::Object(tool_schema::<Record>())).unwrap();
        let long = |n: usize| json!("ก".repeat(n));
        let many = |n: usize, item: Value| Value::Array(vec![item; n]);
        let author = |n: usize| json!([{"last": "ก".repeat(n)}]);
        let mut cases = Vec::new();
        for (member, min, max) in [
            ("id", 1, 200),
            ("kind", 1, 40),
            ("title", 0, 5_000),
            ("lang", 2, 10),
            ("journal", 0, 1_000),
            ("source", 1, 100),
        ] {
            for n in [0, 1, 2, min, max, max + 1] {
                cases.push(document(member, long(n)));
            }
        }
        cases.extend([1_000_000, 1_000_001].map(|n| document("text", long(n))));
        cases.extend([1, 0, 500, 501].map(|n| document("authors", author(n))));
        cases.extend([100, 101].map(|n| document("links", many(n, json!("x")))));
        cases.extend([10_000, 10_001].map(|n| document("authors", many(n, json!({"last": "x"})))));
        cases.extend([0, 40, 41].map(|n| node("categories", many(n, json!("herb")))));
        cases.extend([0, 500, 501].map(|n| node("names", many(n, json!({"text": "x", "lang": "en"})))));
        cases.extend([0, 1, 500, 501].map(|n| node("names", json!([{"text": "ก".repeat(n), "lang": "en"}]))));
        cases.extend([10_000, 10_001].map(|n| node("description", long(n))));
        cases.extend([500, 501].map(|n| node("same_as", many(n, json!("x")))));
        cases.extend([0, 100, 101].map(|n| edge("predicate", long(n))));
        cases.extend([0, 200, 201].map(|n| edge("object", long(n))));
        cases.extend([1_000, 1_001].map(|n| edge("evidence", many(n, json!({"reference": "x"})))));
        cases.extend([0, 10_000, 10_001].map(|n| edge("evidence", json!([{"text": "ก".repeat(n)}]))));
        for case in cases {
            let record: Record = serde_json::from_value(case.clone()).unwrap();
            let shown: String = case.to_string().chars().take(200).collect();
            assert_eq!(check(&record).is_ok(), validator.is_valid(&case), "{shown}: {:?}", check(&record));
        }
    }

    #[test]
    fn a_nul_and_a_record_beyond_one_call_do_not_fit() {
        let nul: Record = serde_json::from_value(document("title", json!("a\u{0}b"))).unwrap();
        assert_eq!(check(&nul).unwrap_err(), "`title` holds a NUL character");
        let huge: Record =
            serde_json::from_value(document("attributes", json!({"x": "y".repeat(RECORD_BYTES_MAX)}))).unwrap();
        assert!(check(&huge).unwrap_err().contains("bytes"));
    }
}
