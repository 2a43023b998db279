//! The OpenAPI 3.1 document of the ID Management service, from the schemas of its operations.

use contract::workflow::{
    ConfirmReservation, ConfirmedReservation, DeletedReservations, NextAvailableId, ReserveIdRange, ReservedIdRange,
};
use schemars::JsonSchema;
use serde_json::{Value, json};

use crate::service::openapi::{correlation_id, document_of, idempotency_key, part_of, query, responses, schema};

pub fn document() -> Value {
    document_of(
        "ID Management",
        "Ids for documents, each given out once.",
        json!({
            "/ids/next": { "get": next() },
            "/ids/reserve": { "post": reserve() },
            "/ids/confirm": { "post": confirm() },
            "/ids/reservations/expired": { "delete": delete_expired() }
        }),
    )
}

fn next() -> Value {
    let word = json!({ "type": "string", "maxLength": 40 });
    let mut responses = id_responses::<NextAvailableId>("The id; `last_assigned` is the one before, or null");
    let properties = responses.pointer_mut("/200/content/application~1json/schema/properties");
    if let Some(properties) = properties.and_then(Value::as_object_mut) {
        properties.insert("last_assigned".to_owned(), json!({ "type": ["string", "null"] }));
    }
    json!({
        "operationId": "get_next_available_id",
        "summary": "The next id of a type. Each call gives out another one.",
        "parameters": [
            query("type", true, &word, "Type such as `backlog_story`, or its prefix such as `US`"),
            query("project", false, &json!({ "type": "string", "maxLength": 100 }), "A setting names the default"),
            idempotency_key(), correlation_id()
        ],
        "responses": responses
    })
}

fn reserve() -> Value {
    // The service calls the field `type`, and takes the operation's own word too.
    let mut body = schema::<ReserveIdRange>();
    if let Some(properties) = body.get_mut("properties").and_then(Value::as_object_mut)
        && let Some(word) = properties.remove("artifact_type")
    {
        properties.insert("type".to_owned(), word);
    }
    if let Some(required) = body.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|name| name != "artifact_type");
        required.insert(0, json!("type"));
    }
    json!({
        "operationId": "reserve_id_range",
        "summary": "Reserve up to 100 ids in a row; confirm them before they expire.",
        "parameters": [
            idempotency_key(), correlation_id(),
            part_of(
                "Ids for an approval, or for a document that another server stores, are not bound to the reservations per \
                 minute; believed of approvers alone."
            )
        ],
        "requestBody": { "required": true, "content": { "application/json": { "schema": body } } },
        "responses": id_responses::<ReservedIdRange>("The ids, given to nobody else")
    })
}

fn confirm() -> Value {
    json!({
        "operationId": "confirm_reservation",
        "summary": "Say that reserved ids are in use.",
        "parameters": [idempotency_key(), correlation_id()],
        "requestBody": {
            "required": true, "content": { "application/json": { "schema": schema::<ConfirmReservation>() } }
        },
        "responses": id_responses::<ConfirmedReservation>("They are")
    })
}

fn delete_expired() -> Value {
    json!({
        "operationId": "delete_expired_reservations",
        "summary": "Forget reservations that expired. Their ids stay unused.",
        "parameters": [idempotency_key(), correlation_id()],
        "responses": id_responses::<DeletedReservations>("How many there were")
    })
}

fn id_responses<T: JsonSchema>(about: &str) -> Value {
    let own = [
        ("400", "The request is wrong"),
        ("404", "No such reservation, or it expired"),
        ("409", "The reservation is confirmed already, or the key was used with another input"),
    ];
    responses::<T>("200", about, &own)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_openapi_document_is_the_committed_one() {
        let text = serde_json::to_string_pretty(&document()).unwrap();
        testkit::check_golden("contracts/ids_openapi.json", &format!("{text}\n"));
    }
}
