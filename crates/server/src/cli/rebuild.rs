//! `materia rebuild`: make what is derived from the record anew: files of documents, the graph, the index of search, its
//! vectors. Where a server runs on the folder, it does all of it and answers meanwhile.

use std::process::ExitCode;

use anyhow::{Context as _, bail};
use contract::evidence::search::EmbedRecordsOutput;
use ops::Call;
use serde_json::{Value, json};

use super::{Place, must_be_there, print_lines, say};
use crate::assemble::{self, GRAPH_FOLDER};
use crate::auth::owner;
use crate::owner::House;
use crate::search::INDEX_FOLDER;
use crate::settings::Settings;

pub async fn run(place: Place) -> anyhow::Result<ExitCode> {
    let settings = Settings::read(&place.data, &place.flags())?;
    must_be_there(&place, &settings)?;
    let derived = [INDEX_FOLDER, GRAPH_FOLDER].map(|folder| place.data.join(folder));
    let house = assemble::look(place.data, &settings).await?;
    if let Some(problem) = house.database_standing().await.problem() {
        bail!("the database cannot be used: {problem}");
    }
    let report = house.check_files().await?;
    // Of every organisation: those of the others are made when they are next needed. A running server has them in use.
    for folder in derived.iter().filter(|folder| house.is_owner() && folder.is_dir()) {
        std::fs::remove_dir_all(folder).with_context(|| format!("could not remove `{}`", folder.display()))?;
    }
    let rebuilt = rebuild_search(&house, &settings).await;
    let closed = house.close().await;
    rebuilt?;
    closed?;
    print_lines([format!(
        "{} documents compared with their files: {} written, {} differ and are left alone, {} failed",
        report.n_checked, report.n_written, report.n_changed, report.n_failed
    )])?;
    Ok(ExitCode::SUCCESS)
}

/// Calls for the index and the graph, then for vectors until none is missing and none is left of what is no longer there.
/// Those that are in the record are not made again, so an interrupted run goes on where it was.
async fn rebuild_search(house: &House, settings: &Settings) -> anyhow::Result<()> {
    let actor = owner(&settings.organisation_id);
    let call = async |operation: &str, input: Value| {
        let call = Call { operation: operation.to_owned(), input, ..Call::default() };
        match house.call(&actor, call).await.result {
            Ok(success) => Ok(success.output),
            Err(error) => bail!("the index could not be made: {}", error.message),
        }
    };
    call("rebuild_evidence", json!({})).await?;
    loop {
        let done: EmbedRecordsOutput = serde_json::from_value(call("embed_records", json!({"forget": true})).await?)?;
        match &done.model {
            Some(model) => {
                say(format_args!("Index at change {}; `{model}`: {} texts still to embed", done.version, done.missing))
            }
            None => say(format_args!("Index at change {}; no embedding model is in use", done.version)),
        }
        if let Some(n_forgotten) = done.forgotten {
            say(format_args!("{n_forgotten} vectors of texts that are no longer there were deleted"));
        }
        if done.embedded == 0 && done.forgotten.is_none() {
            return Ok(());
        }
    }
}
