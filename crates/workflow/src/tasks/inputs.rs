//! Whether the inputs of a task are there and approved, asked of the documents themselves.

use std::collections::BTreeMap;

use contract::workflow::tasks::GeneratorInput;
use store::{Conn, StoreError};

use super::check::{CheckedTask, Wrong};
use crate::address::Address;
use crate::artifacts::{self, Place};
use crate::catalogue::Catalogue;

/// Where documents are looked for.
#[derive(Debug, Clone, Copy)]
pub struct Library<'a> {
    pub organisation_id: &'a str,
    /// The tasks' own project: what stands in another one is not here.
    pub project_id: &'a str,
    pub default_project_id: &'a str,
    pub catalogue: &'a Catalogue,
}

#[derive(Debug, thiserror::Error)]
pub enum InputsError {
    #[error("an input is not what it should be")]
    Wrong(#[source] Wrong),
    #[error("could not reach the documents")]
    Store(#[from] StoreError),
}

/// What becomes of an input whose document is not here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Absent {
    Refused,
    /// It may be in the house that the task is for: its status stays as that house told it.
    Believed,
}

/// What the documents say of an input.
enum Found {
    Here { status: String, address: Address },
    NotHere(Wrong),
    Wrong(Wrong),
}

/// Finds every input and keeps its status as it is. The first that is not there or not approved refuses the batch.
pub async fn find_inputs(
    conn: &mut Conn,
    library: Library<'_>,
    mut tasks: Vec<CheckedTask>,
    absent: Absent,
) -> Result<Vec<CheckedTask>, InputsError> {
    // Tasks of one batch mostly share their inputs.
    let mut known: BTreeMap<String, Found> = BTreeMap::new();
    for (task_index, task) in tasks.iter_mut().enumerate() {
        for (index, input) in task.inputs.iter_mut().enumerate() {
            let uri = input.mcp_resource_uri.clone();
            if !known.contains_key(&uri) {
                let at = format!("tasks/{task_index}/inputs/{index}");
                let found = find_status(conn, library, &at, input).await?;
                known.insert(uri.clone(), found);
            }
            match known.get(&uri) {
                Some(Found::Here { status, address }) => {
                    input.status.clone_from(status);
                    // Written out, so that whoever opens it is led to the same document.
                    input.mcp_resource_uri = address.uri();
                    input.resource_path = address.path();
                }
                Some(Found::NotHere(_)) if absent == Absent::Believed => task.unseen_inputs.push(input.name.clone()),
                Some(Found::NotHere(wrong) | Found::Wrong(wrong)) => return Err(InputsError::Wrong(wrong.clone())),
                None => {}
            }
        }
    }
    Ok(tasks)
}

/// Whether the document of an input is here, and approved.
pub async fn is_here(conn: &mut Conn, library: Library<'_>, input: &GeneratorInput) -> Result<bool, StoreError> {
    Ok(matches!(find_status(conn, library, "", input).await?, Found::Here { .. }))
}

async fn find_status(
    conn: &mut Conn,
    library: Library<'_>,
    at: &str,
    input: &GeneratorInput,
) -> Result<Found, StoreError> {
    let wrong = |message: String, expected: &str| Wrong {
        message,
        field: format!("{at}/mcp_resource_uri"),
        expected: expected.to_owned(),
        received: Some(input.mcp_resource_uri.clone()),
    };
    let Ok(address) = Address::parse_uri(&input.mcp_resource_uri) else {
        return Ok(Found::Wrong(wrong("Invalid resource_uri format".to_owned(), "the address of a document")));
    };
    // An address without a project is one of the tasks' own, or else of the default project, as whoever opens it finds it.
    let projects = match address.project_id.as_deref() {
        Some(project_id) => vec![project_id],
        None => vec![library.project_id, library.default_project_id],
    };
    let mut row = None;
    for project_id in projects {
        if row.is_none() {
            let place = Place { organisation_id: library.organisation_id, project_id };
            row = artifacts::find_at(conn, place, &address).await?;
        }
    }
    let not_here = || {
        let expected = format!("the address of a stored document of project {}", library.project_id);
        Ok(Found::NotHere(wrong(format!("Input file not found: {}", address.file_name), &expected)))
    };
    let Some(row) = row else { return not_here() };
    let kind = library.catalogue.find_type(&row.artifact_type);
    // An approved version of what was withdrawn since is approved no longer.
    let place = Place { organisation_id: &row.organisation_id, project_id: &row.project_id };
    let is_standing = match kind.filter(|kind| kind.is_approved(&row.status)) {
        Some(kind) => artifacts::find_approved(conn, place, kind, &row.key).await?.is_some(),
        None => false,
    };
    if is_standing {
        // What another project approved, this one has not seen.
        if row.project_id != library.project_id {
            return not_here();
        }
        let address = row.address(library.default_project_id);
        return Ok(Found::Here { status: row.status, address });
    }
    Ok(Found::Wrong(match row.has_id {
        true => wrong(format!("Input artifact {} not approved", row.key), "an approved document"),
        false => wrong(format!("Input research {} not finalized", row.key), "a finalized document"),
    }))
}
