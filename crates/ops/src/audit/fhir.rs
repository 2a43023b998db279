//! An event as a FHIR R4 AuditEvent.

use contract::event::{Event, Outcome};
use serde_json::{Value, json};

/// The resource, after the IHE basic audit profiles: who, what, when, how it ended, and under which ids.
pub fn audit_event(event: &Event) -> Value {
    let entities: Vec<Value> = event
        .objects
        .iter()
        .map(|object| {
            json!({
                "what": { "identifier": { "system": format!("urn:materia:{}", object.kind), "value": object.id } },
                "type": { "system": "http://terminology.hl7.org/CodeSystem/audit-entity-type", "code": "2" },
            })
        })
        .chain(std::iter::once(json!({
            "what": { "identifier": { "system": "urn:materia:call", "value": event.call_id } },
            "type": { "system": "https://profiles.ihe.net/ITI/BALP/CodeSystem/BasicAuditEntityType", "code": "XrequestId" },
            "detail": [
                { "type": "in_hash", "valueString": event.in_hash },
                { "type": "out_hash", "valueString": event.out_hash },
            ],
        })))
        .collect();
    json!({
        "resourceType": "AuditEvent",
        "id": event.call_id,
        "type": { "system": "http://terminology.hl7.org/CodeSystem/audit-event-type", "code": "rest", "display": "RESTful Operation" },
        "subtype": [{ "system": "urn:materia:operation", "code": event.operation }],
        "action": "E",
        "recorded": event.time,
        "outcome": outcome(event.outcome),
        "agent": [{
            "who": { "identifier": { "system": format!("urn:materia:actor:{}", event.organisation_id), "value": event.actor.id } },
            "requestor": true,
        }],
        "source": { "observer": { "identifier": { "system": "urn:materia", "value": format!("materia-{}", event.schema_version) } } },
        "entity": entities,
    })
}

/// 0 success, 4 minor, 8 serious, 12 major failure.
fn outcome(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Ok => "0",
        Outcome::Invalid
        | Outcome::NotFound
        | Outcome::Conflict
        | Outcome::Busy
        | Outcome::InputRequired
        | Outcome::Cancelled => "4",
        Outcome::Denied | Outcome::Upstream | Outcome::Timeout => "8",
        Outcome::Failed | Outcome::Panicked => "12",
    }
}
