//! The OpenAPI 3.1 document of the Task Tracking service, from the schemas of its operations.

use contract::schema::tool_schema;
use contract::workflow::tasks::{
    ListedTasks, NextTask, QueueTasks, QueuedTasks, TaskStatus, UpdateTaskStatus, UpdatedTask,
};
use schemars::JsonSchema;
use serde_json::{Value, json};

pub fn document() -> Value {
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Task Tracking",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The queue of documents to generate, each with its resolved inputs.",
            "license": { "name": "Apache-2.0", "identifier": "Apache-2.0" }
        },
        "security": [{ "bearer": [] }],
        "paths": {
            "/tasks/next": { "get": next() },
            "/tasks/{task_id}/status": { "put": update() },
            "/tasks": { "get": list() },
            "/tasks/batch": { "post": batch() }
        },
        "components": {
            "securitySchemes": { "bearer": { "type": "http", "scheme": "bearer" } },
            "schemas": { "Error": error() }
        }
    })
}

fn next() -> Value {
    json!({
        "operationId": "get_next_task",
        "summary": "The oldest task of a project, or null. With claim it is the caller's alone.",
        "parameters": [
            query("project", true, &json!({ "type": "string", "maxLength": 100 }), "Project of the task"),
            query("status", false, &schema::<TaskStatus>(), "`pending` unless given"),
            query("claim", false, &json!({ "type": "boolean" }), "Take the task; without this the call only looks"),
            idempotency_key(), correlation_id()
        ],
        "responses": responses::<NextTask>("200", "The task; or null and a message")
    })
}

fn update() -> Value {
    let mut body = schema::<UpdateTaskStatus>();
    if let Some(properties) = body.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove("task_id");
    }
    if let Some(required) = body.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != "task_id");
    }
    let task_id = json!({
        "name": "task_id", "in": "path", "required": true, "description": "Such as TASK-012",
        "schema": { "type": "string", "maxLength": 20 }
    });
    json!({
        "operationId": "update_task_status",
        "summary": "Move a task from pending to in_progress to completed; back to pending only with reset.",
        "parameters": [task_id, idempotency_key(), correlation_id()],
        "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
        "responses": responses::<UpdatedTask>("200", "The task as it is now")
    })
}

fn list() -> Value {
    let flag = json!({ "type": "boolean" });
    json!({
        "operationId": "list_tasks",
        "summary": "The tasks of a project, oldest first.",
        "parameters": [
            query("project", true, &json!({ "type": "string", "maxLength": 100 }), "Project of the tasks"),
            query("status", false, &schema::<TaskStatus>(), "Only tasks of this status"),
            query("depends_on", false, &json!({ "type": "string", "maxLength": 64 }), "Only tasks with this input"),
            query("missing_mandatory_inputs", false, &flag, "Only tasks without any mandatory input"),
            query("cursor", false, &json!({ "type": "string", "maxLength": 20 }), "`next_cursor` of the page before"),
            query("limit", false, &json!({ "type": "integer", "minimum": 1, "maximum": 200 }), "50 unless given"),
            correlation_id()
        ],
        "responses": responses::<ListedTasks>("200", "A page of tasks")
    })
}

fn batch() -> Value {
    json!({
        "operationId": "queue_tasks",
        "summary": "Put tasks into the queue, all or none.",
        "parameters": [idempotency_key(), correlation_id()],
        "requestBody": {
            "required": true, "content": { "application/json": { "schema": schema::<QueueTasks>() } }
        },
        "responses": responses::<QueuedTasks>("201", "The tasks are in the queue")
    })
}

fn query(name: &str, is_required: bool, schema: &Value, about: &str) -> Value {
    json!({ "name": name, "in": "query", "required": is_required, "description": about, "schema": schema })
}

fn idempotency_key() -> Value {
    header("Idempotency-Key", "A repeated write with the same key answers as the first one did.")
}

fn correlation_id() -> Value {
    header("X-Correlation-Id", "Ties this call to the work it belongs to, in logs and events.")
}

fn header(name: &str, about: &str) -> Value {
    let schema = json!({ "type": "string", "pattern": "^[A-Za-z0-9._-]{1,64}$" });
    json!({ "name": name, "in": "header", "required": false, "description": about, "schema": schema })
}

fn responses<T: JsonSchema>(status: &str, about: &str) -> Value {
    let failed = |about: &str| {
        let schema = json!({ "$ref": "#/components/schemas/Error" });
        json!({ "description": about, "content": { "application/json": { "schema": schema } } })
    };
    json!({
        status: { "description": about, "content": { "application/json": { "schema": schema::<T>() } } },
        "400": failed("The request is wrong, or the status may not follow the present one"),
        "401": failed("No token, or an unknown one"),
        "403": failed("This caller may not"),
        "404": failed("No such task"),
        "409": failed("Somebody else has claimed the task, or the key was used with another input"),
        "413": failed("The body is too large"),
        "429": failed("Too many requests; see Retry-After"),
        "500": failed("Our fault; the message has the id of the call"),
        "503": failed("Busy; see Retry-After"),
        "504": failed("It took too long")
    })
}

/// OpenAPI 3.1 already says which dialect its schemas are in.
fn schema<T: JsonSchema>() -> Value {
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
            "error": { "type": "string" }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_openapi_document_is_the_committed_one() {
        let text = serde_json::to_string_pretty(&document()).unwrap();
        testkit::check_golden("contracts/tasks_openapi.json", &format!("{text}\n"));
    }
}
