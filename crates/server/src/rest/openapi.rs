//! The OpenAPI 3.1 document of the operation table.

use contract::audit::AuditBlock;
use contract::schema::{SchemaObject, tool_schema};
use ops::{Table, Tool};
use serde_json::{Map, Value, json};

pub fn document(table: &Table) -> Value {
    let paths: Map<String, Value> = table
        .all()
        .iter()
        .map(|tool| (format!("/api/tools/{}", tool.entry.name), json!({ "post": operation(tool) })))
        .collect();
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
    let failed = |about: &str| {
        json!({
            "description": about,
            "content": { "application/json": { "schema": { "$ref": "#/components/schemas/Error" } } }
        })
    };
    json!({
        "operationId": entry.name,
        "summary": entry.about,
        "tags": [entry.family.name()],
        "parameters": [
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
        ],
        "requestBody": {
            "required": true,
            "content": { "application/json": { "schema": bare((*tool.input_schema).clone()) } }
        },
        "responses": {
            "200": {
                "description": "The answer",
                "content": { "application/json": { "schema": with_audit((*tool.output_schema).clone()) } }
            },
            "400": failed("The input is wrong; `details` names the field"),
            "401": failed("No token, or an unknown one"),
            "403": failed("This caller may not"),
            "404": failed("Not there, or not for this caller"),
            "409": failed("The state does not allow it"),
            "413": failed("The body is too large"),
            "429": failed("Too many requests; see Retry-After"),
            "500": failed("Our fault; the message has the id of the call"),
            "503": failed("Busy; see Retry-After"),
            "504": failed("It took too long")
        }
    })
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
