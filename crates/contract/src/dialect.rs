//! The same error in the words of each seed. One exhaustive match per dialect: a new kind fails to compile here.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::audit::AuditBlock;
use crate::error::{BusyCause, Kind, OpError};

/// In whose words an operation answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Dialect {
    /// Seed 000: `{success:false, error:{code, message, details?, rule_id?}}`.
    Clinic,
    /// Seed 001: JSON-RPC errors over MCP.
    Workflow,
    /// Seed 002: `{error:{code, message}, audit}`.
    Evidence,
    /// Every other operation: `{error:{code, message, details?}}`.
    Common,
}

/// A JSON-RPC error object of the workflow tools.
#[derive(Debug, Clone, PartialEq)]
pub struct RpcError {
    pub code: i32,
    pub message: String,
    pub data: Value,
}

/// The error in the form of seed 001 over MCP. Preconditions are verbatim, without a prefix.
pub fn workflow_rpc(error: &OpError) -> RpcError {
    let message = &error.message;
    let (code, message) = match error.kind {
        Kind::NotFound if error.is_verbatim => (-32001, message.clone()),
        Kind::NotFound => (-32001, format!("Resource not found: {message}")),
        Kind::Invalid => (-32602, format!("Invalid params: {message}")),
        Kind::Refused => (-32000, format!("Permission denied: {message}")),
        Kind::Timeout => (-32000, format!("Request timeout: {message}")),
        Kind::Conflict | Kind::Busy | Kind::InputRequired | Kind::Upstream => (-32000, message.clone()),
        Kind::Internal => (-32603, format!("Internal error: {message}")),
    };
    let mut data = details(error);
    data.insert("code".to_owned(), json!(error.code()));
    RpcError { code, message, data: Value::Object(data) }
}

/// The body of a failed call, for the operation's dialect.
pub fn body(dialect: Dialect, error: &OpError, audit: Option<&AuditBlock>) -> Value {
    match dialect {
        Dialect::Clinic => clinic(error),
        Dialect::Evidence => evidence(error, audit),
        // Over REST the workflow tools answer in the common form; over MCP `workflow_rpc` speaks for them.
        Dialect::Workflow | Dialect::Common => common(error),
    }
}

pub fn common(error: &OpError) -> Value {
    let mut inner = json!({ "code": error.code(), "message": in_words(error) });
    let details = details(error);
    if let (Value::Object(members), false) = (&mut inner, details.is_empty()) {
        members.insert("details".to_owned(), Value::Object(details));
    }
    json!({ "error": inner })
}

/// The id of what is not there is no sentence; over MCP `workflow_rpc` says what it is about.
fn in_words(error: &OpError) -> Cow<'_, str> {
    match error.kind {
        Kind::NotFound if is_id(&error.message) => format!("Resource not found: {}", error.message).into(),
        _ => (&error.message).into(),
    }
}

fn is_id(text: &str) -> bool {
    text.contains(['-', '/']) && !text.contains(' ')
}

/// Seed 001 on ports 8080 and 8081; `details` beside it where there is more to say.
pub fn service(error: &OpError) -> Value {
    let mut body = json!({
        "success": false,
        "status_code": http_status(error),
        "detail": error.message,
        "error": error.code(),
    });
    let details = details(error);
    if let (Value::Object(members), false) = (&mut body, details.is_empty()) {
        members.insert("details".to_owned(), Value::Object(details));
    }
    body
}

fn evidence(error: &OpError, audit: Option<&AuditBlock>) -> Value {
    match audit {
        Some(audit) => json!({ "error": { "code": error.code(), "message": error.message }, "audit": audit }),
        None => json!({ "error": { "code": error.code(), "message": error.message } }),
    }
}

fn clinic(error: &OpError) -> Value {
    let code = match error.kind {
        Kind::Invalid => "VALIDATION_ERROR",
        Kind::Refused => "AUTH_ERROR",
        Kind::NotFound => "NOT_FOUND_ERROR",
        Kind::Conflict => "CONFLICT_ERROR",
        Kind::Busy => "BUSY_ERROR",
        Kind::InputRequired => "INPUT_REQUIRED_ERROR",
        Kind::Upstream => "LLM_ERROR",
        Kind::Timeout => "TIMEOUT_ERROR",
        Kind::Internal => "INTERNAL_ERROR",
    };
    let mut details = details(error);
    let rule_id = details.remove("rule_id");
    let mut inner = Map::new();
    inner.insert("code".to_owned(), json!(code));
    inner.insert("message".to_owned(), json!(error.message));
    if !details.is_empty() {
        inner.insert("details".to_owned(), Value::Object(details));
    }
    if let Some(rule_id) = rule_id {
        inner.insert("rule_id".to_owned(), rule_id);
    }
    json!({ "success": false, "error": inner })
}

fn details(error: &OpError) -> Map<String, Value> {
    match serde_json::to_value(&error.details) {
        Ok(Value::Object(members)) => members,
        Ok(_) | Err(_) => Map::new(),
    }
}

pub fn http_status(error: &OpError) -> u16 {
    match (error.kind, error.busy_cause) {
        (Kind::Invalid, _) => 400,
        (Kind::Refused, _) => 403,
        (Kind::NotFound, _) => 404,
        (Kind::Conflict, _) => 409,
        (Kind::Busy, BusyCause::RateLimit) => 429,
        (Kind::Busy, BusyCause::Server) => 503,
        (Kind::InputRequired, _) => 428,
        (Kind::Upstream, _) => 502,
        (Kind::Timeout, _) => 504,
        (Kind::Internal, _) => 500,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_alone_is_put_into_words() {
        assert_eq!(common(&OpError::not_found("PRD-444"))["error"]["message"], "Resource not found: PRD-444");
        assert_eq!(common(&OpError::not_found("no such key"))["error"]["message"], "no such key");
    }

    #[test]
    fn seed_001_writes_its_messages_with_a_prefix_per_code() {
        let check = |error: OpError, code: i32, message: &str| {
            let rpc = workflow_rpc(&error);
            assert_eq!((rpc.code, rpc.message.as_str()), (code, message));
        };
        check(
            OpError::not_found("mcp://resources/artifacts/x"),
            -32001,
            "Resource not found: mcp://resources/artifacts/x",
        );
        check(
            OpError::new(Kind::Invalid, "Mandatory input 'prd' missing for task HLS-012"),
            -32602,
            "Invalid params: Mandatory input 'prd' missing for task HLS-012",
        );
        check(OpError::not_found("Artifact PRD-006 not found").verbatim(), -32001, "Artifact PRD-006 not found");
        check(OpError::refused("no"), -32000, "Permission denied: no");
        check(OpError::timeout("slow"), -32000, "Request timeout: slow");
        check(OpError::conflict("Parent EPIC-006 not approved"), -32000, "Parent EPIC-006 not approved");
        check(OpError::new(Kind::Internal, "x"), -32603, "Internal error: x");
    }

    #[test]
    fn seed_001_error_data_names_the_field() {
        let error = OpError::invalid("count", "an integer from 1 to 100").received(0);
        assert_eq!(
            workflow_rpc(&error).data,
            json!({"code": "INVALID_ARG", "field": "count", "received": 0, "expected": "an integer from 1 to 100"})
        );
    }

    #[test]
    fn the_error_example_of_seed_000_is_reproduced() {
        let mut error = OpError::new(Kind::Invalid, "Invalid patient_id: must be a valid UUID");
        error.details.field = Some("patient_id".to_owned());
        error.details.received = Some(json!("not-a-uuid"));
        error.details.expected = Some("UUID v4 format".to_owned());
        error.details.more.insert("rule_id".to_owned(), json!("R-E76.9-002"));
        let expected = json!({
            "success": false,
            "error": {
                "code": "VALIDATION_ERROR",
                "message": "Invalid patient_id: must be a valid UUID",
                "details": { "field": "patient_id", "received": "not-a-uuid", "expected": "UUID v4 format" },
                "rule_id": "R-E76.9-002"
            }
        });
        assert_eq!(body(Dialect::Clinic, &error, None), expected);
    }

    #[test]
    fn the_error_example_of_seed_002_is_reproduced() {
        let error = OpError::new(Kind::Invalid, "top_k must be >0");
        assert_eq!(
            body(Dialect::Evidence, &error, None),
            json!({"error": {"code": "INVALID_ARG", "message": "top_k must be >0"}})
        );
    }

    #[test]
    fn the_services_of_seed_001_repeat_the_status_in_the_body() {
        let error = OpError::new(Kind::Invalid, "Task validation failed");
        assert_eq!(
            service(&error),
            json!({"success": false, "status_code": 400, "detail": "Task validation failed", "error": "INVALID_ARG"})
        );
        let body = service(&OpError::invalid("count", "an integer from 1 to 100").received(0));
        assert_eq!(body["detail"], "`count`: expected an integer from 1 to 100");
        assert_eq!(body["details"], json!({"field": "count", "received": 0, "expected": "an integer from 1 to 100"}));
    }
}
