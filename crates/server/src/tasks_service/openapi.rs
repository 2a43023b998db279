//! The OpenAPI 3.1 document of the Task Tracking service, from the schemas of its operations.

use contract::workflow::tasks::{
    ListedTasks, NextTask, QueueTasks, QueuedTasks, TaskStatus, UpdateTaskStatus, UpdatedTask,
};
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::service::openapi::{
    acting, correlation_id, document_of, idempotency_key, part_of, query, responses, schema,
};

pub fn document() -> Value {
    document_of(
        "Task Tracking",
        "The queue of documents to generate, each with its resolved inputs.",
        json!({
            "/tasks/next": { "get": next() },
            "/tasks/{task_id}/status": { "put": update() },
            "/tasks": { "get": list() },
            "/tasks/batch": { "post": batch() }
        }),
    )
}

fn next() -> Value {
    json!({
        "operationId": "get_next_task",
        "summary": "The oldest task of a project, or null. With claim it is the caller's alone.",
        "parameters": [
            query("project", true, &json!({ "type": "string", "maxLength": 100 }), "Project of the task"),
            query("status", false, &schema::<TaskStatus>(), "`pending` unless given"),
            query("claim", false, &json!({ "type": "boolean" }), "Take the task; without this the call only looks"),
            idempotency_key(), correlation_id(), acting()
        ],
        "responses": task_responses::<NextTask>("200", "The task; or null and a message")
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
        "parameters": [task_id, idempotency_key(), correlation_id(), acting()],
        "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
        "responses": task_responses::<UpdatedTask>("200", "The task as it is now")
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
        "responses": task_responses::<ListedTasks>("200", "A page of tasks")
    })
}

fn batch() -> Value {
    json!({
        "operationId": "queue_tasks",
        "summary": "Put tasks into the queue, all or none. Of a document that is here, its own status counts.",
        "parameters": [
            idempotency_key(), correlation_id(),
            part_of("The tasks of a document that is being approved, so not approved yet; believed of approvers alone.")
        ],
        "requestBody": {
            "required": true, "content": { "application/json": { "schema": schema::<QueueTasks>() } }
        },
        "responses": task_responses::<QueuedTasks>("201", "The tasks are in the queue")
    })
}

fn task_responses<T: JsonSchema>(status: &str, about: &str) -> Value {
    let about_conflict = "Somebody else has claimed the task, or the key was used with another input";
    let about_request = "The request is wrong, or the status may not follow the present one";
    responses::<T>(status, about, &[("400", about_request), ("404", "No such task"), ("409", about_conflict)])
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
