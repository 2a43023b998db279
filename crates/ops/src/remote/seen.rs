//! Inputs of tasks that a task service elsewhere has not seen, and this house has: only of what is not here either is the
//! word of others all there is.

use contract::error::OpError;
use contract::workflow::tasks::GeneratorInput;
use serde_json::Value;
use workflow::tasks::{self, Library};

use crate::door::Inner;
use crate::operation::store_error;
use crate::record::Ticket;

/// Takes the inputs that are here from what the tasks of an answer call unseen.
pub(super) async fn mark(inner: &Inner, ticket: &Ticket, output: &mut Value) -> Result<(), OpError> {
    let Value::Object(members) = output else { return Ok(()) };
    let mut found: Vec<&mut Value> = Vec::new();
    for (name, value) in members.iter_mut() {
        match (name.as_str(), value) {
            ("task" | "updated_task", task @ Value::Object(_)) => found.push(task),
            ("tasks", Value::Array(tasks)) => found.extend(tasks),
            (_, _) => {}
        }
    }
    found.retain(|task| task.get("unseen_inputs").is_some());
    if found.is_empty() {
        return Ok(());
    }
    let catalogue = inner.services.catalogue.current();
    let mut reader = inner.store.read().await.map_err(store_error)?;
    for task in found {
        // What has another form than it should is refused where the answer is checked.
        let project_id = task.get("project_id").and_then(Value::as_str).unwrap_or_default().to_owned();
        let inputs = task.get("inputs").cloned().and_then(|it| serde_json::from_value::<Vec<GeneratorInput>>(it).ok());
        let library = Library {
            organisation_id: ticket.actor.organisation_id.as_str(),
            project_id: &project_id,
            default_project_id: inner.settings.default_project_id.as_str(),
            catalogue: &catalogue,
        };
        let mut here: Vec<String> = Vec::new();
        for input in inputs.into_iter().flatten() {
            if tasks::is_here(&mut reader, library, &input).await.map_err(store_error)? {
                here.push(input.name);
            }
        }
        let unseen = task.get_mut("unseen_inputs").and_then(Value::as_array_mut);
        let Some(unseen) = unseen else { continue };
        unseen.retain(|name| !name.as_str().is_some_and(|name| here.iter().any(|it| it == name)));
        if unseen.is_empty()
            && let Value::Object(task) = task
        {
            task.remove("unseen_inputs");
        }
    }
    Ok(())
}
