//! The Task Tracking service of seed 001 on a port of its own. The same operations, in the service's own words.

mod openapi;

use std::sync::Arc;

use axum::extract::{Path, Query, State};
use axum::response::Response;
use axum::routing::{get, post, put};
use axum::{Extension, Router};
use bytes::Bytes;
use contract::actor::Actor;
use contract::error::OpError;
use http::{HeaderMap, StatusCode};
use serde_json::{Map, Value};

use crate::edge::answer;
use crate::owner::House;
use crate::service::{Failure, Field, Form, Service, fail, get_only, not_found, respond};

const FIELDS: &[Field] = &[
    Field { word: "project", field: "project_id", form: Form::Text, in_bodies: false },
    Field { word: "claim", field: "claim", form: Form::Flag, in_bodies: false },
    Field { word: "missing_mandatory_inputs", field: "missing_mandatory_inputs", form: Form::Flag, in_bodies: false },
    Field { word: "limit", field: "limit", form: Form::Number, in_bodies: false },
];

const STATUS_FILTER: &str = "status_filter";

pub fn routes(house: Arc<House>, body_bytes_max: usize) -> Router {
    Router::new()
        .route("/tasks/next", get_only(next))
        .route("/tasks/{task_id}/status", put(update))
        .route("/tasks", get_only(list))
        .route("/tasks/batch", post(add_batch))
        .fallback(not_found)
        .with_state(Service { house, body_bytes_max, fields: FIELDS })
}

/// The description of the service; open, as it tells nothing of anybody.
pub fn open_routes() -> Router {
    Router::new().route("/openapi.json", get(|| async { answer(StatusCode::OK, &openapi::document()) }))
}

async fn next(
    State(service): State<Service>,
    Extension(actor): Extension<Actor>,
    Query(query): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Response {
    let input = service.query(query).and_then(with_project).and_then(|mut input| {
        if let Some(status) = input.remove("status")
            && input.insert(STATUS_FILTER.to_owned(), status).is_some()
        {
            return Err(OpError::invalid("status", "one value").into());
        }
        Ok(input)
    });
    let output = match input {
        Ok(input) => service.ask(&actor, &headers, "get_next_task", input).await,
        Err(failure) => Err(failure),
    };
    respond(StatusCode::OK, output.map_err(about_status))
}

async fn update(
    State(service): State<Service>,
    Extension(actor): Extension<Actor>,
    Path(task_id): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let mut input = match service.body(&headers, &body) {
        Ok(input) => input,
        Err(response) => return *response,
    };
    if input.insert("task_id".to_owned(), Value::from(task_id)).is_some() {
        return fail(&OpError::invalid("task_id", "no field of this name").into());
    }
    respond(StatusCode::OK, service.send(&actor, &headers, "update_task_status", input).await)
}

async fn list(
    State(service): State<Service>,
    Extension(actor): Extension<Actor>,
    Query(query): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Response {
    let output = match service.query(query).and_then(with_project) {
        Ok(input) => service.ask(&actor, &headers, "list_tasks", input).await,
        Err(failure) => Err(failure),
    };
    respond(StatusCode::OK, output)
}

async fn add_batch(
    State(service): State<Service>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let input = match service.body(&headers, &body) {
        Ok(input) => input,
        Err(response) => return *response,
    };
    respond(StatusCode::CREATED, service.send(&actor, &headers, "queue_tasks", input).await)
}

/// This service has no default project: whoever forgets it would look into an empty queue.
fn with_project(input: Map<String, Value>) -> Result<Map<String, Value>, Failure> {
    match input.contains_key("project_id") {
        true => Ok(input),
        false => Err(OpError::invalid("project", "the field to be there").into()),
    }
}

/// `GET /tasks/next` calls the status to look for as `GET /tasks` does.
fn about_status(mut failure: Failure) -> Failure {
    let error = &mut failure.error;
    if error.details.field.as_deref() == Some(STATUS_FILTER) {
        error.message = error.message.replace(&format!("`{STATUS_FILTER}`"), "`status`");
        error.details.field = Some("status".to_owned());
    }
    failure
}
