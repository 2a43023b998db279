//! An event as FHIR R4 AuditEvents, after the IHE Basic Audit Log Patterns (BALP): one resource, or one for each patient
//! whose data the call touched, since a resource of those profiles names exactly one.

use contract::event::{Event, Outcome, Touched};
use serde_json::{Value, json};

/// The type of the objects by which events name patients.
const PATIENT: &str = "patient";
const ENTITY_TYPE: &str = "http://terminology.hl7.org/CodeSystem/audit-entity-type";
const ENTITY_ROLE: &str = "http://terminology.hl7.org/CodeSystem/object-role";
const INTERACTION: &str = "http://hl7.org/fhir/restful-interaction";
const PROFILES: &str = "https://profiles.ihe.net/ITI/BALP/StructureDefinition/IHE.BasicAudit";

/// What a call did to a patient's data, as the profiles tell it apart.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Deed {
    Read,
    Update,
    Delete,
}

impl Deed {
    fn of(is_write: bool, patient: &Touched) -> Deed {
        match (is_write, patient.is_deleted) {
            (false, _) => Deed::Read,
            (true, false) => Deed::Update,
            (true, true) => Deed::Delete,
        }
    }

    /// Profile, interaction and action.
    fn words(self) -> (&'static str, &'static str, &'static str) {
        match self {
            Deed::Read => ("PatientRead", "read", "R"),
            Deed::Update => ("PatientUpdate", "update", "U"),
            Deed::Delete => ("PatientDelete", "delete", "D"),
        }
    }
}

/// The resources of one event: who, what, when, how it ended, and under which ids.
pub fn audit_events(event: &Event, is_write: bool) -> Vec<Value> {
    let (patients, things): (Vec<&Touched>, Vec<&Touched>) =
        event.objects.iter().partition(|object| object.kind == PATIENT);
    // The profiles are for what succeeded; a refused read is an ordinary event about the same patient.
    if patients.is_empty() || event.outcome != Outcome::Ok {
        return vec![plain(event)];
    }
    let about = |(index, patient): (usize, &&Touched)| of_patient(event, &things, patient, index, is_write);
    patients.iter().enumerate().map(about).collect()
}

fn plain(event: &Event) -> Value {
    let entities = event.objects.iter().map(thing).chain([transaction(event)]);
    json!({
        "resourceType": "AuditEvent",
        "id": event.call_id,
        "type": rest(),
        "subtype": [operation(event)],
        "action": "E",
        "recorded": event.time,
        "outcome": outcome(event.outcome),
        "agent": [user(event)],
        "source": source(event),
        "entity": entities.collect::<Vec<_>>(),
    })
}

fn of_patient(event: &Event, things: &[&Touched], patient: &Touched, index: usize, is_write: bool) -> Value {
    let (profile, interaction, action) = Deed::of(is_write, patient).words();
    let id = if index == 0 { event.call_id.clone() } else { format!("{}.{index}", event.call_id) };
    // The profiles want the data beside the patient; a call that touched nothing else read the patient itself.
    let mut data: Vec<Value> = things.iter().map(|object| thing(object)).collect();
    if data.is_empty() {
        data.push(thing(patient));
    }
    let subject = json!({
        "what": {
            "reference": format!("Patient/{}", patient.id),
            "identifier": { "system": "urn:materia:patient", "value": patient.id },
        },
        "type": { "system": ENTITY_TYPE, "code": "1", "display": "Person" },
        "role": { "system": ENTITY_ROLE, "code": "1", "display": "Patient" },
    });
    json!({
        "resourceType": "AuditEvent",
        "id": id,
        "meta": { "profile": [format!("{PROFILES}.{profile}")] },
        "type": rest(),
        "subtype": [{ "system": INTERACTION, "code": interaction, "display": interaction }, operation(event)],
        "action": action,
        "recorded": event.time,
        "outcome": outcome(event.outcome),
        "agent": [client(event), server(event), user(event)],
        "source": source(event),
        "entity": data.into_iter().chain([subject, transaction(event)]).collect::<Vec<_>>(),
    })
}

fn rest() -> Value {
    json!({ "system": "http://terminology.hl7.org/CodeSystem/audit-event-type", "code": "rest", "display": "RESTful Operation" })
}

fn operation(event: &Event) -> Value {
    json!({ "system": "urn:materia:operation", "code": event.operation })
}

fn thing(object: &Touched) -> Value {
    json!({
        "what": { "identifier": { "system": format!("urn:materia:{}", object.kind), "value": object.id } },
        "type": { "system": ENTITY_TYPE, "code": "2", "display": "System Object" },
        "role": { "system": ENTITY_ROLE, "code": "4", "display": "Domain Resource" },
    })
}

fn transaction(event: &Event) -> Value {
    json!({
        "what": { "identifier": { "system": "urn:materia:call", "value": event.call_id } },
        "type": { "system": "https://profiles.ihe.net/ITI/BALP/CodeSystem/BasicAuditEntityType", "code": "XrequestId" },
        "detail": [
            { "type": "in_hash", "valueString": event.in_hash },
            { "type": "out_hash", "valueString": event.out_hash },
        ],
    })
}

fn user(event: &Event) -> Value {
    let mut user = json!({
        "who": { "identifier": { "system": user_system(event), "value": event.actor.id } },
        "requestor": true,
    });
    if let (Some(key_id), Some(user)) = (&event.actor.key_id, user.as_object_mut()) {
        user.insert("policy".to_owned(), json!([format!("urn:materia:key:{key_id}")]));
    }
    user
}

/// The issuer of a token is the system in which its subject has its name.
fn user_system(event: &Event) -> String {
    event.actor.issuer.clone().unwrap_or_else(|| format!("urn:materia:actor:{}", event.organisation_id))
}

fn client(event: &Event) -> Value {
    let name = event.actor.client_id.clone().unwrap_or_else(|| event.actor.id.to_string());
    json!({
        "type": role("110153", "Source Role ID"),
        "who": { "identifier": { "system": "urn:materia:client", "value": name } },
        "requestor": false,
        "network": not_recorded(),
    })
}

fn server(event: &Event) -> Value {
    json!({
        "type": role("110152", "Destination Role ID"),
        "who": { "identifier": observer(event) },
        "requestor": false,
        "network": not_recorded(),
    })
}

fn role(code: &str, display: &str) -> Value {
    json!({ "coding": [{ "system": "http://dicom.nema.org/resources/ontology/DCM", "code": code, "display": display }] })
}

/// Events hold no network addresses; the profiles want the element, so it says that.
fn not_recorded() -> Value {
    json!({ "extension": [{ "url": "http://hl7.org/fhir/StructureDefinition/data-absent-reason", "valueCode": "unknown" }] })
}

fn observer(event: &Event) -> Value {
    json!({ "system": "urn:materia", "value": format!("materia-{}", event.schema_version) })
}

fn source(event: &Event) -> Value {
    json!({ "observer": { "identifier": observer(event) } })
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

#[cfg(test)]
mod tests {
    use super::*;

    fn event(objects: &[(&str, &str)], outcome: &str) -> Event {
        let objects: Vec<Value> = objects.iter().map(|(kind, id)| json!({ "type": kind, "id": id })).collect();
        serde_json::from_value(json!({
            "call_id": "01a1e0e3-f9fc-7058-a70a-e0d6a1d6531a", "time": "2026-02-04T19:00:00.000000Z",
            "organisation_id": "here", "actor": { "id": "nurse", "kind": "human" }, "operation": "get_patient_context",
            "outcome": outcome, "in_hash": "a", "out_hash": "b", "latency_ms": 1, "objects": objects,
            "schema_version": "0.1.0",
        }))
        .unwrap()
    }

    fn entities(resource: &Value, code: &str) -> Vec<String> {
        let entities = resource["entity"].as_array().unwrap().iter().filter(|entity| entity["type"]["code"] == code);
        entities.map(|entity| entity["what"]["identifier"]["value"].as_str().unwrap().to_owned()).collect()
    }

    #[test]
    fn a_read_of_patients_is_one_patient_read_each() {
        let found = audit_events(&event(&[("patient", "p1"), ("observation", "o1"), ("patient", "p2")], "ok"), false);
        assert_eq!(found.len(), 2);
        for (resource, patient) in found.iter().zip(["p1", "p2"]) {
            assert_eq!(resource["meta"]["profile"][0], format!("{PROFILES}.PatientRead"));
            assert_eq!((&resource["action"], &resource["outcome"]), (&json!("R"), &json!("0")));
            assert_eq!(resource["subtype"][0], json!({ "system": INTERACTION, "code": "read", "display": "read" }));
            // Exactly one patient, at least one other thing, and both machines beside the person.
            assert_eq!(entities(resource, "1"), [patient]);
            assert_eq!(entities(resource, "2"), ["o1"]);
            let codes: Vec<&Value> =
                resource["agent"].as_array().unwrap().iter().map(|agent| &agent["type"]["coding"][0]["code"]).collect();
            assert_eq!(codes, [&json!("110153"), &json!("110152"), &Value::Null]);
        }
        assert_ne!(found[0]["id"], found[1]["id"]);
    }

    #[test]
    fn a_change_is_an_update_and_the_patient_alone_is_also_the_data() {
        let found = audit_events(&event(&[("patient", "p1")], "ok"), true);
        assert_eq!(found[0]["meta"]["profile"][0], format!("{PROFILES}.PatientUpdate"));
        assert_eq!(
            (entities(&found[0], "1"), entities(&found[0], "2")),
            (vec!["p1".to_owned()], vec!["p1".to_owned()])
        );
    }

    #[test]
    fn what_failed_or_touched_no_patient_claims_no_profile() {
        for event in [event(&[("patient", "p1")], "denied"), event(&[("counter", "US/default")], "ok")] {
            let found = audit_events(&event, false);
            assert_eq!((found.len(), found[0].get("meta")), (1, None));
        }
    }
}
