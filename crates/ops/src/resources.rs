//! Resources: addresses of what read operations answer. A resource is read through the door like anything else.

use serde_json::{Map, Value, json};

use crate::context::Services;
use crate::feed::Thing;
use crate::files::{ARTIFACT, parse_document};
use crate::jobs::JOB;
use crate::table::Table;

/// What of the operation's output is the resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Body {
    /// All of it, as JSON.
    Output,
    /// The text of one member.
    Member(&'static str),
}

/// A family of addresses, bound to a read operation.
pub struct Resource {
    /// With variables in braces, such as `contract://operations/{name}`, or with none: one fixed address.
    pub template: &'static str,
    pub name: &'static str,
    pub about: &'static str,
    pub mime_type: &'static str,
    pub operation: &'static str,
    pub body: Body,
    /// The operation's input for an address, where it is more than the one variable.
    pub input: Option<fn(&str) -> Option<Value>>,
    /// Values of the one variable that are worth listing and completing.
    pub values: fn(&Table, &Services) -> Vec<String>,
    /// Whether the answer to an input may be another one since a thing changed. Who follows it then looks.
    pub rests_on: fn(&Value, &Thing) -> bool,
}

const RESOURCES_URI: &str = "mcp://resources/";
const VALIDATION: &str = "mcp://resources/validation/";
const TEMPLATES: &str = "mcp://resources/templates/";
const ARTIFACTS: &str = "mcp://resources/artifacts";

fn nothing(_: &Table, _: &Services) -> Vec<String> {
    Vec::new()
}

/// For what comes with the program or from the settings.
fn never(_: &Value, _: &Thing) -> bool {
    false
}

/// A batch says by hashes alone what is in it, and what is told of a node rests on its neighbours too.
fn on_evidence(_: &Value, thing: &Thing) -> bool {
    thing.kind == evidence::record::audited::BATCH
}

fn on_job(input: &Value, thing: &Thing) -> bool {
    thing.kind == JOB && input.get("job_id").and_then(Value::as_str) == Some(thing.id.as_str())
}

fn on_documents(_: &Value, thing: &Thing) -> bool {
    thing.kind == ARTIFACT
}

/// `default/PRD-006/1` for `…/prds/PRD-006_v1.md`; that of another project of the same name is looked at in vain.
fn on_document(input: &Value, thing: &Thing) -> bool {
    let Some((_, key, _)) = parse_document(&thing.id).filter(|_| thing.kind == ARTIFACT) else { return false };
    let uri = input.get("resource_uri").and_then(Value::as_str).unwrap_or_default();
    uri.rsplit('/').next().is_some_and(|file| file.starts_with(key))
}

/// The order counts: the first family that an address fits reads it.
pub const RESOURCES: &[Resource] = &[
    Resource {
        template: "contract://operations/{name}",
        name: "operation contract",
        about: "Input and output schema of one operation, its family and who may call it.",
        mime_type: "application/json",
        operation: "describe_operation",
        body: Body::Output,
        input: None,
        values: |table, _| table.all().iter().map(|tool| tool.entry.name.to_owned()).collect(),
        rests_on: never,
    },
    Resource {
        template: "job://jobs/{job_id}",
        name: "job",
        about: "How far one of your jobs is, what it asks, and how it ended.",
        mime_type: "application/json",
        operation: "job_status",
        body: Body::Output,
        input: None,
        values: nothing,
        rests_on: on_job,
    },
    Resource {
        template: "kg://herb/{id}",
        name: "herb",
        about: "A herb with its names, parts, constituents and indications.",
        mime_type: "application/json",
        operation: "read_herb",
        body: Body::Output,
        input: Some(|uri| Some(json!({ "id": named(uri, "kg://herb/")? }))),
        values: nothing,
        rests_on: on_evidence,
    },
    Resource {
        template: "kg://node/{curie}",
        name: "node",
        about: "A node of the evidence graph with its names and its relations.",
        mime_type: "application/json",
        operation: "read_node",
        body: Body::Output,
        input: Some(|uri| Some(json!({ "curie": named(uri, "kg://node/")? }))),
        values: nothing,
        rests_on: on_evidence,
    },
    Resource {
        template: "paper://pmid/{id}",
        name: "paper",
        about: "What is recorded of a paper of PubMed: title, abstract, authors, journal, year and links.",
        mime_type: "application/json",
        operation: "read_paper",
        body: Body::Output,
        input: Some(|uri| Some(json!({ "pmid": uri.strip_prefix("paper://pmid/")? }))),
        values: nothing,
        rests_on: on_evidence,
    },
    Resource {
        template: "mcp://resources/validation/{checklist_id}",
        name: "checklist",
        about: "The criteria that documents of a type are held against.",
        mime_type: "application/json",
        operation: "read_checklist",
        body: Body::Output,
        input: Some(|uri| Some(json!({ "checklist_id": uri.strip_prefix(VALIDATION)? }))),
        values: |_, services| services.catalogue.current().checklist_ids().map(str::to_owned).collect(),
        rests_on: never,
    },
    Resource {
        template: "mcp://resources/templates/{artifact_type}",
        name: "template",
        about: "What a document of a type looks like before it is filled in.",
        mime_type: "text/markdown",
        operation: "read_template",
        body: Body::Member("content"),
        input: Some(|uri| Some(json!({ "artifact_type": uri.strip_prefix(TEMPLATES)? }))),
        values: |_, services| services.catalogue.current().types().iter().map(|kind| kind.name.clone()).collect(),
        rests_on: never,
    },
    Resource {
        template: "mcp://resources/artifacts/metadata{?type,status,parent,project,cursor}",
        name: "documents",
        about: "What is known of the documents of a project, without their content.",
        mime_type: "application/json",
        operation: "list_artifacts",
        body: Body::Output,
        input: Some(|uri| {
            let rest = uri.strip_prefix(ARTIFACTS)?;
            list_input(rest.strip_prefix("/metadata").unwrap_or(rest))
        }),
        values: nothing,
        rests_on: on_documents,
    },
    Resource {
        template: "mcp://resources/artifacts/{folder}/{file}",
        name: "document",
        about: "A document as markdown.",
        mime_type: "text/markdown",
        operation: "read_artifact",
        body: Body::Member("content"),
        // Whatever else begins like this goes to the operation, which refuses it, warns and is recorded.
        input: Some(|uri| uri.starts_with(RESOURCES_URI).then(|| json!({ "resource_uri": uri }))),
        values: nothing,
        rests_on: on_document,
    },
];

/// The id or name after a prefix, as people write it: names and CURIEs may hold any character.
fn named(uri: &str, prefix: &str) -> Option<String> {
    let name = uri.strip_prefix(prefix)?;
    // A plus sign is part of a name here; only a query writes a space so.
    unescape(&name.replace('+', "%2B")).filter(|name| !name.is_empty())
}

/// `?type=prd&status=Draft` as the input of `list_artifacts`; nothing, or only a query, may follow the address.
fn list_input(query: &str) -> Option<Value> {
    let mut input = Map::new();
    let pairs = match query.strip_prefix('?') {
        Some(pairs) => pairs,
        None if query.is_empty() => "",
        None => return None,
    };
    for pair in pairs.split('&').filter(|pair| !pair.is_empty()) {
        let (name, value) = pair.split_once('=')?;
        let field = match name {
            "type" => "artifact_type",
            "status" => "status",
            "parent" => "parent_id",
            "project" => "project_id",
            "cursor" => "cursor",
            _ => return None,
        };
        // Who says two things says nothing.
        if input.insert(field.to_owned(), Value::from(unescape(value)?)).is_some() {
            return None;
        }
    }
    Some(Value::Object(input))
}

/// `In%20Review` and `In+Review` as people write it.
fn unescape(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

impl Resource {
    /// The text around the first variable, and the variable's name.
    fn parts(&self) -> (&str, &str, &str) {
        let (before, rest) = self.template.split_once('{').unwrap_or((self.template, ""));
        let (variable, after) = rest.split_once('}').unwrap_or((rest, ""));
        (before, variable, after)
    }

    /// Whether this is one address and not a family of them.
    pub fn is_fixed(&self) -> bool {
        self.variable().is_empty()
    }

    pub fn variable(&self) -> &str {
        self.parts().1
    }

    pub fn uri(&self, value: &str) -> String {
        let (before, _, after) = self.parts();
        format!("{before}{value}{after}")
    }

    /// The operation's input for an address, if the address is one of this family.
    pub fn input(&self, uri: &str) -> Option<Value> {
        if let Some(input) = self.input {
            return input(uri);
        }
        if self.is_fixed() {
            return (uri == self.template).then(|| Value::Object(Map::new()));
        }
        let (before, variable, after) = self.parts();
        let value = uri.strip_prefix(before)?.strip_suffix(after)?;
        let is_plain = !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        is_plain.then(|| Value::Object(Map::from_iter([(variable.to_owned(), Value::from(value))])))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::offers::OFFERS;

    fn check(uri: &str, operation: &str, input: Value) {
        let (resource, found) = OFFERS.find_resource(uri).unwrap();
        assert_eq!((resource.operation, found), (operation, input), "{uri}");
    }

    #[test]
    fn an_address_becomes_the_input_of_its_operation() {
        check("contract://operations/reserve_id_range", "describe_operation", json!({"name": "reserve_id_range"}));
        check(
            "mcp://resources/validation/prd_validation_v1",
            "read_checklist",
            json!({"checklist_id": "prd_validation_v1"}),
        );
        check("mcp://resources/templates/prd", "read_template", json!({"artifact_type": "prd"}));
        check("kg://herb/H1", "read_herb", json!({"id": "H1"}));
        check("kg://node/NCBIGene:1017", "read_node", json!({"curie": "NCBIGene:1017"}));
        check("kg://node/%E0%B8%82%E0%B8%B4%E0%B8%87", "read_node", json!({"curie": "ขิง"}));
        check("kg://node/Ca2+", "read_node", json!({"curie": "Ca2+"}));
        check("paper://pmid/24790635", "read_paper", json!({"pmid": "24790635"}));
        let uri = "mcp://resources/artifacts/prds/PRD-006_v1.md";
        check(uri, "read_artifact", json!({"resource_uri": uri}));
        check("mcp://resources/artifacts", "list_artifacts", json!({}));
        let listed = json!({"artifact_type": "prd", "status": "In Review", "parent_id": "EPIC-006"});
        check(
            "mcp://resources/artifacts/metadata?type=prd&status=In%20Review&parent=EPIC-006",
            "list_artifacts",
            listed,
        );
    }

    #[test]
    fn an_answer_rests_on_what_it_tells_of() {
        let check = |uri: &str, kind: &str, id: &str, expected: bool| {
            let (resource, input) = OFFERS.find_resource(uri).unwrap();
            let thing = Thing { kind: kind.to_owned(), id: id.to_owned() };
            assert_eq!((resource.rests_on)(&input, &thing), expected, "{uri} on {kind} {id}");
        };
        let document = "mcp://resources/artifacts/prds/PRD-006_v1.md";
        check(document, "artifact", "default/PRD-006/1", true);
        check(document, "artifact", "default/PRD-007/1", false);
        check(document, "task", "PRD-006", false);
        check("mcp://resources/artifacts/metadata?type=prd", "artifact", "default/PRD-007/1", true);
        check("kg://herb/ginger", "evidence_batch", "7", true);
        check("paper://pmid/1", "artifact", "default/PRD-006/1", false);
        check("job://jobs/j1", "job", "j1", true);
        check("job://jobs/j1", "job", "j2", false);
        check("mcp://resources/templates/prd", "artifact", "default/PRD-006/1", false);
    }

    #[test]
    fn what_leads_out_goes_to_the_operation_that_refuses_it() {
        for uri in [
            "mcp://resources/../x",
            "mcp://resources/artifacts/../x",
            "mcp://resources/artifacts?colour=red",
            "mcp://resources/artifacts/metadata?type=prd&type=epic",
        ] {
            check(uri, "read_artifact", json!({"resource_uri": uri}));
        }
    }

    #[test]
    fn what_is_not_a_plain_name_is_no_address() {
        for uri in ["contract://operations/", "contract://operations/../x", "contract://operations/a%2fb", "x://y"] {
            assert!(OFFERS.find_resource(uri).is_none(), "{uri}");
        }
    }
}
