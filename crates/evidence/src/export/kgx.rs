//! KGX as lines of JSON. What was imported from KGX comes out as it went in, with its terms of use beside it.

use contract::evidence::record::{Edge, Node, RetractedReference};
use serde_json::{Map, Value, json};

use crate::import::{DOUBTED, STRENGTH};
use crate::record::papers;

pub fn kgx_node(node: &Node, licence: &str) -> Value {
    let mut members: Map<String, Value> = node.attributes.clone().into_iter().collect();
    let mut names = node.names.iter().map(|name| name.text.as_str());
    members.insert("id".to_owned(), json!(node.id));
    members.insert("category".to_owned(), node.categories.iter().map(|word| json!(class(word))).collect());
    members.insert("name".to_owned(), json!(names.next()));
    note(&mut members, "synonym", names.map(|name| json!(name)).collect());
    note(&mut members, "same_as", json!(node.same_as));
    note(&mut members, "description", json!(node.description));
    members.insert("provided_by".to_owned(), json!([node.source]));
    members.insert("license".to_owned(), json!(licence));
    Value::Object(members)
}

/// `doubted` are those of its references that do not stand, as far as is known here.
pub fn kgx_edge(edge: &Edge, licence: &str, doubted: &[RetractedReference]) -> Value {
    let mut members: Map<String, Value> = edge.qualifiers.clone().into_iter().collect();
    // Whoever else wrote it there did not know what is known here.
    members.remove(DOUBTED);
    let is_negated = match members.get("negated") {
        Some(Value::String(text)) => text.eq_ignore_ascii_case("true"),
        Some(value) => *value == Value::Bool(true),
        None => false,
    };
    let predicate = match edge.predicate.strip_prefix("not_") {
        // The importers put it there; KGX has a member for it.
        Some(stated) if is_negated => stated,
        Some(_) | None => edge.predicate.as_str(),
    };
    let predicate = if predicate.contains(':') { predicate.to_owned() } else { format!("biolink:{predicate}") };
    members.insert("id".to_owned(), json!(edge.id));
    members.insert("subject".to_owned(), json!(edge.subject));
    members.insert("predicate".to_owned(), json!(predicate));
    members.insert("object".to_owned(), json!(edge.object));
    note(
        &mut members,
        "publications",
        edge.evidence.iter().filter_map(|found| Some(json!(found.reference.as_ref()?))).collect(),
    );
    let doubts = doubted.iter().map(|it| json!(papers::words(std::slice::from_ref(it))));
    note(&mut members, DOUBTED, doubts.collect());
    note(
        &mut members,
        "supporting_text",
        edge.evidence.iter().filter_map(|found| Some(json!(found.text.as_ref()?))).collect(),
    );
    note(&mut members, STRENGTH, json!(edge.strength));
    members.insert("provided_by".to_owned(), json!([edge.source]));
    members.insert("license".to_owned(), json!(licence));
    Value::Object(members)
}

/// `chemical_entity` → `biolink:ChemicalEntity`.
fn class(word: &str) -> String {
    let capital = |part: &str| {
        let mut letters = part.chars();
        letters.next().map(|first| first.to_uppercase().chain(letters).collect::<String>()).unwrap_or_default()
    };
    format!("biolink:{}", word.split('_').map(capital).collect::<String>())
}

fn note(members: &mut Map<String, Value>, key: &str, value: Value) {
    let is_nothing = value.is_null() || value.as_array().is_some_and(Vec::is_empty);
    if !is_nothing {
        members.insert(key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_predicate_loses_its_negation_only_where_the_member_has_it() {
        let exported = |negated: Value| {
            let edge = json!({"id": "e", "subject": "X:1", "predicate": "not_treats", "object": "X:2", "source": "s",
                "qualifiers": {"negated": negated}});
            kgx_edge(&serde_json::from_value(edge).unwrap(), "CC0-1.0", &[])["predicate"].clone()
        };
        assert_eq!(exported(json!(true)), "biolink:treats");
        assert_eq!(exported(json!("true")), "biolink:treats");
        assert_eq!(exported(json!(false)), "biolink:not_treats");
    }

    #[test]
    fn papers_that_do_not_stand_are_named_by_the_house_that_exports() {
        let edge = json!({"id": "e", "subject": "X:1", "predicate": "treats", "object": "X:2", "source": "s",
            "evidence": [{"reference": "PMID:1"}], "qualifiers": {DOUBTED: ["retracted: `PMID:7`"]}});
        let edge = serde_json::from_value(edge).unwrap();
        let doubt = RetractedReference {
            reference: "PMID:1".to_owned(),
            status: "retracted".to_owned(),
            notice: Some("PMID:2".to_owned()),
            source: Some("pubmed".to_owned()),
        };
        let exported = kgx_edge(&edge, "CC0-1.0", &[doubt]);
        assert_eq!(exported[DOUBTED], json!(["retracted: `PMID:1` (notice `PMID:2`, by `pubmed`)"]));
        assert_eq!(kgx_edge(&edge, "CC0-1.0", &[]).get(DOUBTED), None);
    }
}
