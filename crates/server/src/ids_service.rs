//! The ID Management service of seed 001 on a port of its own. The same operations, in the service's own words.

mod openapi;

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::{delete, get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use contract::actor::Actor;
use http::{HeaderMap, StatusCode};
use serde_json::{Value, json};

use crate::edge::answer;
use crate::owner::House;
use crate::service::{Field, Form, Service, fail, get_only, not_found, respond};

/// The names of this service for the operations' fields.
const FIELDS: &[Field] = &[
    Field { word: "type", field: "artifact_type", form: Form::Text, in_bodies: true },
    Field { word: "project", field: "project_id", form: Form::Text, in_bodies: false },
];

pub fn routes(house: Arc<House>, body_bytes_max: usize) -> Router {
    Router::new()
        .route("/ids/next", get_only(next))
        .route("/ids/reserve", post(reserve))
        .route("/ids/confirm", post(confirm))
        .route("/ids/reservations/expired", delete(delete_expired))
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
    let input = match service.query(query) {
        Ok(input) => input,
        Err(failure) => return fail(&failure),
    };
    let answered = match service.ask(&actor, &headers, "get_next_available_id", input).await {
        Ok(answered) => answered,
        Err(failure) => return fail(&failure),
    };
    let next_id = answered.success.output.get("next_id").and_then(Value::as_str).unwrap_or_default();
    answered.respond(
        &json!({ "success": true, "artifact_type": prefix(next_id), "next_id": next_id, "last_assigned": before(next_id) }),
    )
}

async fn reserve(
    State(service): State<Service>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let input = match service.body(&headers, &body) {
        Ok(input) => input,
        Err(response) => return *response,
    };
    match service.send(&actor, &headers, "reserve_id_range", input).await {
        Ok(answered) => {
            let mut output = answered.success.output.clone();
            let first = output.pointer("/reserved_ids/0").and_then(Value::as_str).unwrap_or_default();
            let artifact_type = Value::from(prefix(first));
            if let Value::Object(members) = &mut output {
                members.insert("artifact_type".to_owned(), artifact_type);
            }
            answered.respond(&output)
        }
        Err(failure) => fail(&failure),
    }
}

async fn confirm(
    State(service): State<Service>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let input = match service.body(&headers, &body) {
        Ok(input) => input,
        Err(response) => return *response,
    };
    respond(StatusCode::OK, service.send(&actor, &headers, "confirm_reservation", input).await)
}

async fn delete_expired(
    State(service): State<Service>,
    Extension(actor): Extension<Actor>,
    Query(query): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Response {
    let input = match service.query(query) {
        Ok(input) => input,
        Err(failure) => return fail(&failure),
    };
    respond(StatusCode::OK, service.ask(&actor, &headers, "delete_expired_reservations", input).await)
}

fn prefix(id: &str) -> &str {
    id.rsplit_once('-').map_or("", |(prefix, _)| prefix)
}

/// The id before this one; null before the first.
fn before(id: &str) -> Value {
    let number = id.rsplit_once('-').and_then(|(_, number)| number.parse::<i64>().ok());
    match number {
        Some(number) if number > 1 => Value::from(workflow::ids::format_id(prefix(id), number - 1)),
        Some(_) | None => Value::Null,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_assigned_id_is_the_one_before() {
        assert_eq!(before("US-071"), json!("US-070"));
        assert_eq!(before("US-001"), Value::Null);
        assert_eq!(prefix("SPIKE-1234"), "SPIKE");
    }
}
