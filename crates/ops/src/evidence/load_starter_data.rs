//! `load_starter_data`: keep the facts that come with the program, and follow them from version to version.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use contract::actor::Role;
use contract::error::OpError;
use contract::evidence::starter::{LoadStarterData, LoadStarterDataOutput};
use evidence::record::starter::{self as kept_starter, Loaded};
use evidence::record::{self, Incoming, audited};
use starter::{DataVersion, Files};
use store::Tx;
use workflow::audited::{AuditedRow, Found};

use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write};
use crate::starter_data::{is_newer, stored_version};

pub struct Plan {
    organisation_id: String,
    data_version: DataVersion,
    incoming: Vec<Incoming>,
    /// The change number that the last try led to.
    version: AtomicI64,
}

impl Operation for LoadStarterData {
    const NAME: &'static str = "load_starter_data";
    const ABOUT: &'static str = "Bring the starter data to those of this program. What somebody else brought, changed or \
        withdrew stays as it is.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &[Role::Curator, Role::Admin];
    const SCOPE: Option<&'static str> = Some("evidence.write");
    // The house does it by itself at its start; agents have no reason to.
    const IS_TOOL: bool = false;
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(60));

    type Output = LoadStarterDataOutput;
}

impl Write for LoadStarterData {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        let files = ctx.services().starter.clone();
        let files = files.ok_or_else(|| OpError::not_found("this house has no starter data (`starter_data`)"))?;
        let made = tokio::task::spawn_blocking(move || incoming(&files)).await.map_err(OpError::internal)?;
        let (data_version, incoming) = made?;
        let organisation_id = ctx.actor().organisation_id.to_string();
        Ok(Plan { organisation_id, data_version, incoming, version: AtomicI64::new(0) })
    }

    fn lane(&self, plan: &Plan) -> Option<String> {
        Some(record::lane(&plan.organisation_id))
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<LoadStarterDataOutput>, ApplyError> {
        let stored = stored_version(tx, &plan.organisation_id).await?;
        if let Some(newer) = stored.filter(|stored| is_newer(stored, &plan.data_version)) {
            let version = record::batches::latest(tx, &plan.organisation_id).await?;
            return Ok(Answer::of(told(newer, &Loaded::default(), version)));
        }
        let loaded = kept_starter::load(tx, &plan.organisation_id, &plan.incoming).await?;
        let version = loaded.kept.version;
        plan.version.store(version, Ordering::Relaxed);
        let batch = loaded.kept.manifest_sha256.clone().map(|sha256| AuditedRow {
            kind: audited::BATCH,
            id: version.to_string(),
            sha256: Some(sha256),
            // Batches are made once and never changed.
            found: Found::Nothing,
        });
        let list = AuditedRow {
            kind: audited::STARTER_LIST,
            id: plan.data_version.to_string(),
            sha256: Some(loaded.list_sha256.clone()),
            found: Found::Nothing,
        };
        let answer = Answer::of(told(plan.data_version.to_string(), &loaded, version));
        Ok(batch.into_iter().chain([list]).fold(answer, Answer::leaving))
    }

    async fn settle(&self, plan: &Plan, ctx: &Context<'_>) {
        ctx.services().evidence.note(&plan.organisation_id, plan.version.load(Ordering::Relaxed));
    }
}

fn incoming(files: &Arc<Files>) -> Result<(DataVersion, Vec<Incoming>), OpError> {
    let version = starter::data_version(files).ok_or_else(|| OpError::internal("the starter data have no version"))?;
    let (set, problems) = starter::parse(files);
    if let Some(problem) = problems.first() {
        // Half of the facts would look like all of them.
        return Err(OpError::internal(format!("the starter data cannot be read: {problem}")));
    }
    let records = starter::records::all(&set, &version);
    let incoming = (0..).zip(&records).map(|(position, record)| Incoming::new(position, record));
    Ok((version, incoming.collect::<Result<_, _>>().map_err(OpError::internal)?))
}

fn told(data_version: String, loaded: &Loaded, version: i64) -> LoadStarterDataOutput {
    LoadStarterDataOutput {
        data_version,
        kept: loaded.kept.n_kept,
        repeated: loaded.kept.n_repeated,
        changed: loaded.kept.n_changed,
        deleted: loaded.kept.n_deleted,
        left_alone: loaded.n_left_alone,
        version: u64::try_from(version).unwrap_or(0),
    }
}
