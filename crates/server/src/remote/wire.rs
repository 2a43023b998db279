//! The operations of the services as their HTTP interfaces write them.

use http::Method;
use ops::RemoteCall;
use serde_json::{Map, Value};
use workflow::catalogue::Catalogue;

/// More of a service's explanation is not repeated.
pub const DETAIL_CHARS_MAX: usize = 500;

/// A request without what every request has.
#[derive(Debug)]
pub struct Wire {
    pub method: Method,
    /// With its query.
    pub path: String,
    pub body: Option<Value>,
}

/// `None` for an operation that no service has.
pub fn request(call: &RemoteCall, catalogue: &Catalogue) -> Option<Wire> {
    let mut input = call.input.as_object()?.clone();
    // The id service names types by their prefixes, the operations by their names.
    if let Some(prefix) = asked_prefix(call, catalogue) {
        input.insert("artifact_type".to_owned(), Value::from(prefix));
    }
    // The correlation id goes in a header; a task's own id is part of its path.
    let task_id = input.remove("task_id");
    let get = |path: &str, names: &[(&str, &str)]| Wire {
        method: Method::GET,
        path: format!("{path}{}", query(&input, names)),
        body: None,
    };
    let wire = |method: Method, path: &str, body: Option<Value>| Wire { method, path: path.to_owned(), body };
    Some(match call.operation {
        "get_next_task" => {
            get("/tasks/next", &[("project_id", "project"), ("status_filter", "status"), ("claim", "claim")])
        }
        "list_tasks" => get(
            "/tasks",
            &[
                ("project_id", "project"),
                ("status", "status"),
                ("depends_on", "depends_on"),
                ("missing_mandatory_inputs", "missing_mandatory_inputs"),
                ("cursor", "cursor"),
                ("limit", "limit"),
            ],
        ),
        "update_task_status" => {
            let path = format!("/tasks/{}/status", escaped(task_id?.as_str()?));
            wire(Method::PUT, &path, Some(Value::Object(input)))
        }
        "queue_tasks" => {
            let tasks = input.get_mut("tasks").and_then(Value::as_array_mut);
            for task in tasks.into_iter().flatten().filter_map(Value::as_object_mut) {
                task.entry("status").or_insert_with(|| Value::from("pending"));
            }
            wire(Method::POST, "/tasks/batch", Some(Value::Object(input)))
        }
        "get_next_available_id" => get("/ids/next", &[("artifact_type", "type"), ("project_id", "project")]),
        "reserve_id_range" => {
            let kind = input.remove("artifact_type")?;
            input.insert("type".to_owned(), kind);
            wire(Method::POST, "/ids/reserve", Some(Value::Object(input)))
        }
        "confirm_reservation" => wire(Method::POST, "/ids/confirm", Some(Value::Object(input))),
        "delete_expired_reservations" => wire(Method::DELETE, "/ids/reservations/expired", None),
        _ => return None,
    })
}

/// The prefix of the type that ids are asked of.
pub fn asked_prefix<'c>(call: &RemoteCall, catalogue: &'c Catalogue) -> Option<&'c str> {
    let word = call.input.get("artifact_type").and_then(Value::as_str)?;
    catalogue.find_type(word)?.prefix.as_deref()
}

/// The answer of a service as the operation writes it.
pub fn output(operation: &str, mut body: Value, catalogue: &Catalogue) -> Value {
    if matches!(operation, "get_next_available_id" | "reserve_id_range")
        && let Value::Object(members) = &mut body
    {
        members.remove("last_assigned");
        let word = members.get("artifact_type").and_then(Value::as_str);
        if let Some(kind) = word.and_then(|word| catalogue.find_type(word)) {
            let name = Value::from(kind.name.clone());
            members.insert("artifact_type".to_owned(), name);
        }
    }
    body
}

/// The field of the operation that a service refused, where that is one of those it calls by another name.
pub fn field(body: &Value) -> Option<&'static str> {
    let word = body.pointer("/details/field")?.as_str()?;
    (word == "type").then_some("artifact_type")
}

/// `?a=b&c=d`, of the members that are there.
fn query(input: &Map<String, Value>, names: &[(&str, &str)]) -> String {
    let mut text = String::new();
    for (field, word) in names {
        let value = match input.get(*field) {
            Some(Value::String(value)) => escaped(value),
            Some(value @ (Value::Bool(_) | Value::Number(_))) => value.to_string(),
            Some(Value::Null | Value::Array(_) | Value::Object(_)) | None => continue,
        };
        text.push(if text.is_empty() { '?' } else { '&' });
        text.push_str(&format!("{word}={value}"));
    }
    text
}

/// Percent-encodes everything but what means nothing in a URL.
fn escaped(text: &str) -> String {
    let escape = |byte: u8| match byte {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => char::from(byte).to_string(),
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(escape).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(operation: &'static str, input: Value, expected: &str) {
        let call = crate::remote::plain_call(operation, input);
        let wire = request(&call, &Catalogue::built_in().unwrap()).unwrap();
        let body = wire.body.map(|body| format!(" {body}")).unwrap_or_default();
        assert_eq!(format!("{} {}{body}", wire.method, wire.path), expected);
    }

    #[test]
    fn each_operation_has_its_request_of_the_seed() {
        check(
            "get_next_task",
            json!({"project_id": "p", "status_filter": "pending", "claim": true, "task_id": "abc"}),
            "GET /tasks/next?project=p&status=pending&claim=true",
        );
        check(
            "list_tasks",
            json!({"project_id": "p", "depends_on": "a b&c", "missing_mandatory_inputs": false, "limit": 50}),
            "GET /tasks?project=p&depends_on=a%20b%26c&missing_mandatory_inputs=false&limit=50",
        );
        check(
            "update_task_status",
            json!({"task_id": "TASK-012", "status": "completed", "reset": false}),
            r#"PUT /tasks/TASK-012/status {"reset":false,"status":"completed"}"#,
        );
        check(
            "reserve_id_range",
            json!({"artifact_type": "hls", "count": 3, "project_id": "p", "task_id": "abc"}),
            r#"POST /ids/reserve {"count":3,"project_id":"p","type":"HLS"}"#,
        );
        check(
            "reserve_id_range",
            json!({"artifact_type": "prd", "count": 1, "number": 6, "project_id": "p"}),
            r#"POST /ids/reserve {"count":1,"number":6,"project_id":"p","type":"PRD"}"#,
        );
        check(
            "queue_tasks",
            json!({"project_id": "p", "tasks": [{"artifact_id": "HLS-012"}, {"artifact_id": "HLS-013"}]}),
            concat!(
                r#"POST /tasks/batch {"project_id":"p","tasks":[{"artifact_id":"HLS-012","status":"pending"},"#,
                r#"{"artifact_id":"HLS-013","status":"pending"}]}"#
            ),
        );
        check(
            "get_next_available_id",
            json!({"artifact_type": "backlog_story", "project_id": "p"}),
            "GET /ids/next?type=US&project=p",
        );
        check("delete_expired_reservations", json!({}), "DELETE /ids/reservations/expired");
    }
}
