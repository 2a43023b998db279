//! What the OpenAPI 3.1 documents of the services of seed 001 have in common.

use contract::schema::tool_schema;
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::rest::FOR_APPROVAL;
use crate::rest::openapi::failures;

pub fn document_of(title: &str, about: &str, paths: Value) -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": env!("CARGO_PKG_VERSION"),
            "description": about,
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" }
        },
        "security": [{ "bearer": [] }],
        "paths": paths,
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Error": error() }
        }
    })
}

pub fn query(name: &str, is_required: bool, schema: &Value, about: &str) -> Value {
    json!({ "name": name, "in": "query", "required": is_required, "description": about, "schema": schema })
}

pub fn idempotency_key() -> Value {
    header("Idempotency-Key", "A repeated write with the same key answers as the first one did.")
}

pub fn correlation_id() -> Value {
    header("X-Correlation-Id", "Ties this call to the work it belongs to, in logs and events.")
}

/// The header of a call that is part of an approval.
pub fn part_of(about: &str) -> Value {
    let schema = json!({ "type": "string", "enum": [FOR_APPROVAL] });
    json!({ "name": "X-Materia-For", "in": "header", "required": false, "description": about, "schema": schema })
}

/// The header of a caller that calls for several.
pub fn acting() -> Value {
    let about =
        "For whom the caller acts, such as `default/kagent`: a claim is theirs, and nobody else's of this caller.";
    let schema = json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]+(/[A-Za-z0-9._-]+)+(;take-back)?$" });
    json!({ "name": "X-Materia-Actor", "in": "header", "required": false, "description": about, "schema": schema })
}

fn header(name: &str, about: &str) -> Value {
    let schema = json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$" });
    json!({ "name": name, "in": "header", "required": false, "description": about, "schema": schema })
}

/// What an endpoint answers: `own` are the failures that only it can tell about, by status.
pub fn responses<T: JsonSchema>(status: &str, about: &str, own: &[(&str, &str)]) -> Value {
    let mut responses = failures(own);
    let success = json!({ "description": about, "content": { "application/json": { "schema": schema::<T>() } } });
    responses.insert(status.to_owned(), success);
    Value::Object(responses)
}

/// OpenAPI 3.1 already says which dialect its schemas are in.
pub fn schema<T: JsonSchema>() -> Value {
    let mut schema = tool_schema::<T>();
    schema.remove("$schema");
    schema.remove("title");
    Value::Object(schema)
}

fn error() -> Value {
    json!({
        "type": "object",
        "required": ["success", "status_code", "detail", "error"],
        "properties": {
            "success": { "const": false },
            "status_code": { "type": "integer" },
            "detail": { "type": "string" },
            "error": { "type": "string" },
            "details": {
                "type": "object",
                "description": "What helps to mend the request, where there is more to say",
                "properties": {
                    "field": { "type": "string" },
                    "received": { "description": "What came instead" },
                    "expected": { "type": "string" },
                    "retry_after_ms": { "type": "integer" }
                }
            }
        }
    })
}
