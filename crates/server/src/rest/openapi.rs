//! The OpenAPI 3.1 document of the operation table.

use contract::audit::AuditBlock;
use contract::schema::{SchemaObject, tool_schema};
use ops::{Table, Tool};
use serde_json::{Map, Value, json};

pub fn document(table: &Table) -> Value {
    let calls =
        table.all().iter().map(|tool| (format!("/api/tools/{}", tool.entry.name), json!({ "post": operation(tool) })));
    let others =
        [("/api/tools".to_owned(), json!({ "get": list() })), ("/tools".to_owned(), json!({ "post": call_by_body() }))];
    let paths: Map<String, Value> = others.into_iter().chain(calls).collect();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Materia",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Every operation of the house. Each answer carries the audit block of its call.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" }
        },
        "security": [{ "bearer": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "schemas": { "AuditBlock": bare(tool_schema::<AuditBlock>()), "Error": error_schema() }
        }
    })
}

fn operation(tool: &Tool) -> Value {
    let entry = tool.entry;
    json!({
        "operationId": entry.name,
        "summary": entry.about,
        "tags": [entry.family.name()],
        "parameters": parameters(),
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": bare((*tool.input_schema).clone()) } }
        },
        "responses": responses(&with_audit((*tool.output_schema).clone()))
    })
}

/// Seed 000's form of a call: the operation stands in the body.
fn call_by_body() -> Value {
    let request = json!({
        "type": "object",
        "required": ["tool"],
        "additionalProperties": false,
        "properties": {
            "tool": { "type": "string", "description": "The name of an operation" },
            "input": { "type": "object", "description": "What `/api/tools/{tool}` takes as its body; empty when absent" },
            "run_id": { "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$", "description": "The run the call is part of" }
        }
    });
    let answer = json!({ "type": "object", "description": "As the operation answers at `/api/tools/{tool}`" });
    json!({
        "operationId": "call_by_body",
        "summary": "Call an operation whose name stands in the body.",
        "parameters": parameters(),
        "requestBody": { "required": true, "content": { "application/json": { "schema": request } } },
        "responses": responses(&answer)
    })
}

fn list() -> Value {
    let text = json!({ "type": "string" });
    let tool = json!({
        "type": "object",
        "required": ["name", "family", "about"],
        "properties": { "name": text, "family": text, "about": text }
    });
    let answer = json!({
        "type": "object",
        "required": ["tools"],
        "properties": { "tools": { "type": "array", "items": tool } }
    });
    let is_possible = |status: &str| ["200", "401", "403", "405", "429", "503"].contains(&status);
    let responses: Map<String, Value> =
        responses(&answer).into_iter().filter(|(status, _)| is_possible(status)).collect();
    json!({ "operationId": "list_operations", "summary": "Every operation, with its family.", "responses": responses })
}

fn parameters() -> Value {
    json!([
        {
            "name": "Idempotency-Key", "in": "header", "required": false,
            "description": "A repeated write with the same key answers as the first one did.",
            "schema": { "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$" }
        },
        {
            "name": "X-Correlation-Id", "in": "header", "required": false,
            "description": "Ties this call to the work it belongs to, in logs and events.",
            "schema": { "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$" }
        }
    ])
}

/// Failures of every request, by status: what the edge refuses, and what can befall any call.
const FAILURES: [(&str, &str); 11] = [
    ("401", "No token, or an unknown one"),
    ("403", "This caller may not"),
    ("405", "This address knows other methods; see Allow"),
    ("408", "The body came too slowly"),
    ("413", "The body is too large"),
    ("415", "The body is not application/json, or it is compressed"),
    ("429", "Too many requests; see Retry-After"),
    ("500", "Our fault; the message has the id of the call"),
    ("502", "A service that this one needs failed"),
    ("503", "Busy; see Retry-After"),
    ("504", "It took too long"),
];

/// The failures of every request and those of its `own`, each with a body of the document's schema `Error`.
pub fn failures(own: &[(&str, &str)]) -> Map<String, Value> {
    let failed = |(status, about): &(&str, &str)| {
        let schema = json!({ "$ref": "#/components/schemas/Error" });
        let answer = json!({ "description": about, "content": { "application/json": { "schema": schema } } });
        ((*status).to_owned(), answer)
    };
    own.iter().chain(&FAILURES).map(failed).collect()
}

fn responses(answer: &Value) -> Map<String, Value> {
    let mut responses = failures(&[
        ("400", "The input is wrong; `details` names the field"),
        ("404", "Not there, or not for this caller"),
        ("409", "The state does not allow it"),
    ]);
    let success = json!({ "description": "The answer", "content": { "application/json": { "schema": answer } } });
    responses.insert("200".to_owned(), success);
    responses
}

/// OpenAPI 3.1 already says which dialect its schemas are in.
fn bare(mut schema: SchemaObject) -> Value {
    schema.remove("$schema");
    schema.remove("title");
    Value::Object(schema)
}

fn with_audit(schema: SchemaObject) -> Value {
    let mut schema = bare(schema);
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.insert("audit".to_owned(), json!({ "$ref": "#/components/schemas/AuditBlock" }));
    }
    schema
}

fn error_schema() -> Value {
    json!({
        "type": "object",
        "required": ["error"],
        "properties": {
            "error": {
                "type": "object",
                "required": ["code", "message"],
                "properties": {
                    "code": { "type": "string" },
                    "message": { "type": "string" },
                    "details": { "type": "object" }
                }
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ops::operations::OPERATIONS;

    #[test]
    fn the_openapi_document_is_the_committed_one() {
        let table = Table::compile(OPERATIONS).unwrap();
        let text = serde_json::to_string_pretty(&document(&table)).unwrap();
        testkit::check_golden("contracts/openapi.json", &format!("{text}\n"));
    }
}
