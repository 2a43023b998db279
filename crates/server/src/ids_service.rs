//! The ID Management service of seed 001 on a port of its own. The same operations, in the service's own words.

use std::sync::Arc;

use axum::extract::{Query, State};
use axum::response::Response;
use axum::routing::{delete, get, post};
use axum::{Extension, Router};
use bytes::Bytes;
use contract::actor::Actor;
use contract::dialect;
use contract::error::OpError;
use http::{HeaderMap, StatusCode};
use ops::Call;
use serde_json::{Map, Value, json};

use crate::edge::{answer, error_response};
use crate::owner::House;
use crate::rest::{beside, json_body};

#[derive(Clone)]
pub struct IdsService {
    pub house: Arc<House>,
    pub body_bytes_max: usize,
}

pub fn routes(service: IdsService) -> Router {
    Router::new()
        .route("/ids/next", get(next))
        .route("/ids/reserve", post(reserve))
        .route("/ids/confirm", post(confirm))
        .route("/ids/reservations/expired", delete(delete_expired))
        .with_state(service)
}

/// The names of this service for the operations' fields.
const FIELDS: [(&str, &str); 3] = [("type", "artifact_type"), ("project", "project_id"), ("project_id", "project_id")];

async fn next(
    State(service): State<IdsService>,
    Extension(actor): Extension<Actor>,
    Query(query): Query<Vec<(String, String)>>,
    headers: HeaderMap,
) -> Response {
    let mut input = Map::new();
    for (name, value) in query {
        let known = FIELDS.iter().find(|(word, _)| *word == name && *word != "project_id");
        let field = known.map_or(name.as_str(), |(_, field)| field);
        if input.insert(field.to_owned(), Value::from(value)).is_some() {
            return fail(&OpError::invalid(name, "one value"));
        }
    }
    let output = match service.call(&actor, &headers, "get_next_available_id", Value::Object(input)).await {
        Ok(output) => output,
        Err(error) => return fail(&error),
    };
    let next_id = output.get("next_id").and_then(Value::as_str).unwrap_or_default();
    answer(
        StatusCode::OK,
        &json!({ "success": true, "artifact_type": prefix(next_id), "next_id": next_id, "last_assigned": before(next_id) }),
    )
}

async fn reserve(
    State(service): State<IdsService>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let input = match service.body(&headers, &body) {
        Ok(input) => input,
        Err(response) => return *response,
    };
    match service.call(&actor, &headers, "reserve_id_range", input).await {
        Ok(mut output) => {
            let first = output.pointer("/reserved_ids/0").and_then(Value::as_str).unwrap_or_default();
            let artifact_type = Value::from(prefix(first));
            if let Value::Object(members) = &mut output {
                members.insert("artifact_type".to_owned(), artifact_type);
            }
            answer(StatusCode::OK, &output)
        }
        Err(error) => fail(&error),
    }
}

async fn confirm(
    State(service): State<IdsService>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let input = match service.body(&headers, &body) {
        Ok(input) => input,
        Err(response) => return *response,
    };
    match service.call(&actor, &headers, "confirm_reservation", input).await {
        Ok(output) => answer(StatusCode::OK, &output),
        Err(error) => fail(&error),
    }
}

async fn delete_expired(
    State(service): State<IdsService>,
    Extension(actor): Extension<Actor>,
    headers: HeaderMap,
) -> Response {
    match service.call(&actor, &headers, "delete_expired_reservations", json!({})).await {
        Ok(output) => answer(StatusCode::OK, &output),
        Err(error) => fail(&error),
    }
}

impl IdsService {
    async fn call(&self, actor: &Actor, headers: &HeaderMap, operation: &str, input: Value) -> Result<Value, OpError> {
        let call = beside(headers, Call { operation: operation.to_owned(), input, ..Call::default() })?;
        let reply = self.house.call(actor, call).await;
        reply.result.map(|success| success.output).map_err(in_our_words)
    }

    /// A JSON body with this service's field names turned into the operations'.
    fn body(&self, headers: &HeaderMap, body: &Bytes) -> Result<Value, Box<Response>> {
        let value = json_body(headers, body, self.body_bytes_max).map_err(|mut refused| {
            let message = "the body must be one JSON object, sent as application/json";
            let status = refused.status();
            *refused = answer(
                status,
                &json!({ "success": false, "status_code": status.as_u16(), "detail": message, "error": "INVALID_ARG" }),
            );
            refused
        })?;
        let Value::Object(members) = value else {
            return Err(Box::new(fail(&OpError::invalid("body", "an object"))));
        };
        let renamed = members.into_iter().map(|(name, value)| match name.as_str() {
            "type" => ("artifact_type".to_owned(), value),
            _ => (name, value),
        });
        Ok(Value::Object(renamed.collect()))
    }
}

/// Callers of this service know `artifact_type` as `type`.
fn in_our_words(mut error: OpError) -> OpError {
    if error.details.field.as_deref() == Some("artifact_type") {
        error.details.field = Some("type".to_owned());
        error.message = error.message.replace("`artifact_type`", "`type`");
    }
    error
}

fn fail(error: &OpError) -> Response {
    error_response(error, &dialect::service(error))
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
