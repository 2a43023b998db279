//! TRAPI messages of versions 1 and 2: their knowledge graph. Ids of edges hold inside one message only, so edges get
//! ids made of all that they say: those that differ in an attribute are two.

use std::collections::VecDeque;

use contract::evidence::record::Record;
use serde_json::{Map, Value};

use super::input::Input;
use super::json::{Cutter, Path};
use super::kgx::{self, OwnIds};
use super::negation::settle_negation;
use super::{ImportError, Item, Options, Parser, Progress, members};

/// A response, a bare message, and what the relay server of the network wraps around both.
const PATHS: &[Path] = &[
    &["message", "knowledge_graph", "nodes"],
    &["message", "knowledge_graph", "edges"],
    &["knowledge_graph", "nodes"],
    &["knowledge_graph", "edges"],
    &["fields", "data", "message", "knowledge_graph", "nodes"],
    &["fields", "data", "message", "knowledge_graph", "edges"],
];

pub struct Trapi {
    cutter: Cutter<Input>,
    source: String,
    n_cut: u64,
}

impl Trapi {
    pub fn new(input: Input, options: Options) -> Trapi {
        Trapi { cutter: Cutter::new(input, PATHS), source: options.source.id, n_cut: 0 }
    }
}

impl Parser for Trapi {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        let Some(cut) = self.cutter.next_cut()? else { return Ok(Progress::Ended) };
        self.n_cut += 1;
        let is_edge = PATHS.get(cut.path).and_then(|path| path.last()) == Some(&"edges");
        let key = cut.key;
        let at = key.clone().unwrap_or_else(|| format!("record {}", self.n_cut));
        let read = cut.value.and_then(|text| {
            let members = members::read(&text)?;
            if is_edge { edge(members, &self.source) } else { node(members, key, &self.source) }
        });
        out.push_back(match read {
            Ok(record) => Item::of(record),
            Err(reason) => Item::rejected(at.chars().take(200).collect::<String>(), reason),
        });
        Ok(Progress::More)
    }
}

fn node(mut members: Map<String, Value>, key: Option<String>, source: &str) -> Result<Record, String> {
    if let Some(key) = key {
        members.insert("id".to_owned(), Value::String(key));
    }
    spread(&mut members, "attributes", "attribute_type_id", "value");
    kgx::node(members, source).map(Record::Node)
}

fn edge(mut members: Map<String, Value>, source: &str) -> Result<Record, String> {
    // Before the lists are spread: there a name that stands twice becomes one list.
    settle_negation(&mut members)?;
    spread(&mut members, "qualifiers", "qualifier_type_id", "qualifier_value");
    spread(&mut members, "attributes", "attribute_type_id", "value");
    name_roles(&mut members);
    let primary = members
        .get("sources")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .find(|source| source.get("resource_role").and_then(Value::as_str) == Some("primary_knowledge_source"));
    if let Some(id) = primary.and_then(|source| source.get("resource_id")).cloned() {
        members.insert("primary_knowledge_source".to_owned(), id);
    }
    kgx::edge(members, source, OwnIds::Ignored).map(Record::Edge)
}

/// The versions write the roles of sources with and without a prefix.
fn name_roles(members: &mut Map<String, Value>) {
    for source in members.get_mut("sources").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(role) = source.get_mut("resource_role")
            && let Some(name) = role.as_str().map(|name| bare(name).to_owned())
        {
            *role = Value::String(name);
        }
    }
}

/// Lists of a name and a value (version 1) and objects (version 2) become members; a name that stands twice, a list.
fn spread(members: &mut Map<String, Value>, list: &str, name: &str, value: &str) {
    let pairs: Vec<(String, Value)> = match members.remove(list) {
        Some(Value::Array(items)) => {
            let pair = |mut item: Value| {
                let key = item.get(name).and_then(Value::as_str).map(|key| bare(key).to_owned())?;
                Some((key, item.get_mut(value).map(Value::take).unwrap_or_default()))
            };
            items.into_iter().filter_map(pair).collect()
        }
        Some(Value::Object(items)) => items.into_iter().map(|(key, value)| (bare(&key).to_owned(), value)).collect(),
        Some(_) | None => Vec::new(),
    };
    for (key, value) in pairs {
        // What the edge itself says is not overwritten by a remark about it.
        let is_taken = ["subject", "predicate", "object", "id"].contains(&key.as_str());
        let key = if is_taken { format!("attribute_{key}") } else { key };
        members::join(members, key, value);
    }
}

fn bare(id: &str) -> &str {
    id.strip_prefix("biolink:").unwrap_or(id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::evidence::record::Edge;
    use serde_json::json;
    use std::collections::HashSet;

    fn read(more: Value) -> Edge {
        let mut members = json!({"subject": "X:1", "predicate": "biolink:treats", "object": "X:2"});
        members.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        match edge(members.as_object().unwrap().clone(), "trapi").unwrap() {
            Record::Edge(edge) => edge,
            other => panic!("{other:?}"),
        }
    }

    fn id(more: Value) -> String {
        read(more).id
    }

    #[test]
    fn what_a_message_calls_verified_is_not_the_mark_of_the_program() {
        for more in [
            json!({ "verified": true }),
            json!({ "attributes": [{ "attribute_type_id": "biolink:verified", "value": true }] }),
            json!({ "qualifiers": { "verified": true } }),
        ] {
            let qualifiers = read(more.clone()).qualifiers;
            assert_eq!(json!(qualifiers), json!({ "verified_by_source": true }), "{more}");
        }
    }

    #[test]
    fn edges_that_differ_in_anything_have_different_ids_and_each_its_own_always() {
        let attribute = |name: &str, value: Value| json!({ "attribute_type_id": name, "value": value });
        let edges = || {
            [
                json!({}),
                json!({ "attributes": [attribute("biolink:note", json!("one"))] }),
                json!({ "attributes": [attribute("biolink:note", json!("two"))] }),
                json!({ "attributes": [attribute("biolink:publications", json!(["PMID:1"]))] }),
                json!({ "attributes": [attribute("biolink:supporting_text", json!(["PMID:1"]))] }),
                json!({ "attributes": [attribute("biolink:negated", json!(true))] }),
                json!({ "qualifiers": [{"qualifier_type_id": "biolink:species", "qualifier_value": "X:3"}] }),
                json!({ "knowledge_level": "prediction" }),
            ]
        };
        let ids: HashSet<String> = edges().into_iter().map(id).collect();
        assert_eq!(ids.len(), edges().len());
        assert_eq!(ids, edges().into_iter().map(id).collect());
        assert_eq!(id(json!({ "attributes": null })), id(json!({})));
    }
}
