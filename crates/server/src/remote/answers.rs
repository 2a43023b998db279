//! Whether a service answered what it was asked. Ids and tasks of another's making are used for good, so they are looked
//! at before they are believed. Their types are checked by whoever reads the answer.

use std::collections::BTreeSet;

use ops::RemoteCall;
use serde_json::Value;
use workflow::catalogue::Catalogue;
use workflow::ids::parse_id;

use super::wire::asked_prefix;

/// What is wrong with an answer, in words that go on after the name of the service.
pub fn check(call: &RemoteCall, body: &Value, catalogue: &Catalogue) -> Result<(), String> {
    match call.operation {
        "get_next_available_id" => check_id(call, body.get("next_id"), catalogue),
        "reserve_id_range" => {
            let n_asked = call.input.get("count").and_then(Value::as_u64).unwrap_or(0);
            let ids = check_list(body, "reserved_ids", n_asked)?;
            ids.iter().try_for_each(|id| check_id(call, Some(id), catalogue))?;
            let wanted = call.input.get("number").and_then(Value::as_i64);
            let number = ids.first().and_then(Value::as_str).and_then(parse_id).map(|(_, number)| number);
            match wanted.is_none() || wanted == number {
                true => Ok(()),
                false => Err("gave another number than the one it was asked for".to_owned()),
            }
        }
        "confirm_reservation" => match body.get("reservation_id") == call.input.get("reservation_id") {
            true => Ok(()),
            false => Err("confirmed another reservation than it was asked to".to_owned()),
        },
        "queue_tasks" => {
            let n_asked = call.input.get("tasks").and_then(Value::as_array).map_or(0, Vec::len);
            let n_asked = u64::try_from(n_asked).unwrap_or(u64::MAX);
            if body.get("tasks_added").and_then(Value::as_u64).is_some_and(|n_added| n_added != n_asked) {
                return Err(format!("added another number of tasks than {n_asked}"));
            }
            check_list(body, "task_ids", n_asked).map(|_| ())
        }
        "update_task_status" => match body.pointer("/updated_task/task_id") == call.input.get("task_id") {
            true => Ok(()),
            false => Err("changed another task than it was asked to".to_owned()),
        },
        _ => Ok(()),
    }
}

/// As many as were asked for, and each once.
fn check_list<'b>(body: &'b Value, field: &str, n_asked: u64) -> Result<&'b [Value], String> {
    let list = body.get(field).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if u64::try_from(list.len()).is_ok_and(|n| n != n_asked) {
        return Err(format!("answered {} {field} where {n_asked} were asked for", list.len()));
    }
    let distinct: BTreeSet<String> = list.iter().map(Value::to_string).collect();
    if distinct.len() < list.len() {
        return Err(format!("answered one of the {field} twice"));
    }
    Ok(list)
}

fn check_id(call: &RemoteCall, id: Option<&Value>, catalogue: &Catalogue) -> Result<(), String> {
    let found = id.and_then(Value::as_str).and_then(parse_id);
    let asked = asked_prefix(call, catalogue);
    match found {
        Some((prefix, _)) if asked == Some(prefix) => Ok(()),
        Some(_) | None => Err(format!("answered something else than an id such as {}-012", asked.unwrap_or("US"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check_answer(operation: &'static str, input: Value, body: Value) -> Result<(), String> {
        let call = crate::remote::plain_call(operation, input);
        check(&call, &body, &Catalogue::built_in().unwrap())
    }

    #[test]
    fn ids_are_as_many_as_asked_of_the_type_asked_and_each_once() {
        let reserve = |ids: Value| {
            check_answer("reserve_id_range", json!({"artifact_type": "hls", "count": 2}), json!({"reserved_ids": ids}))
        };
        assert_eq!(reserve(json!(["HLS-001", "HLS-002"])), Ok(()));
        for ids in [
            json!([]),
            json!(["HLS-001"]),
            json!(["HLS-001", "HLS-002", "HLS-003"]),
            json!(["HLS-001", "HLS-001"]),
            json!(["HLS-001", "US-002"]),
            json!(["HLS-001", "HLS-02"]),
            json!(["HLS-001", "HLS-0002"]),
            json!(["HLS-001", "HLS-../x"]),
            json!(["HLS-001", 2]),
            json!("HLS-001"),
        ] {
            assert!(reserve(ids.clone()).is_err(), "{ids}");
        }
        let certain = |ids: Value| {
            let input = json!({"artifact_type": "hls", "count": 1, "number": 6});
            check_answer("reserve_id_range", input, json!({"reserved_ids": ids}))
        };
        assert!(certain(json!(["HLS-006"])).is_ok() && certain(json!(["HLS-001"])).is_err());
        let next =
            |id: &str| check_answer("get_next_available_id", json!({"artifact_type": "US"}), json!({"next_id": id}));
        assert_eq!(next("US-071"), Ok(()));
        assert!(next("HLS-071").is_err() && next("US-71").is_err() && next("").is_err());
    }

    #[test]
    fn tasks_and_reservations_are_those_that_were_meant() {
        let queue = |body: Value| check_answer("queue_tasks", json!({"tasks": [{}, {}]}), body);
        assert_eq!(queue(json!({"tasks_added": 2, "task_ids": ["TASK-001", "TASK-002"]})), Ok(()));
        assert!(queue(json!({"tasks_added": 3, "task_ids": ["TASK-001", "TASK-002"]})).is_err());
        assert!(queue(json!({"tasks_added": 2, "task_ids": ["TASK-001"]})).is_err());
        assert!(queue(json!({"tasks_added": 2, "task_ids": ["TASK-001", "TASK-001"]})).is_err());
        let confirm = |id: &str| {
            check_answer("confirm_reservation", json!({"reservation_id": "a"}), json!({"reservation_id": id}))
        };
        assert!(confirm("a").is_ok() && confirm("b").is_err());
    }
}
