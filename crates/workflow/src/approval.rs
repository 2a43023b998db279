//! `approve_artifact`: four prerequisites, final ids for placeholders, the new status, resolved inputs and a task for
//! each document that comes next. Everything happens in one transaction, so it happens or it does not.

pub mod asked;
mod candidate;
mod inputs;
mod next;
mod numbers;
mod owners;

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use ::store::{Conn, StoreError, Tx};
use contract::canonical;
use contract::workflow::tasks::GeneratorInput;
use uuid::Uuid;

use crate::artifacts::{self, ApprovalMark, ArtifactRow, Place};
use crate::audited::AuditedRow;
use crate::catalogue::{Catalogue, Numbering};
use crate::ids::{self, IdsError};
use crate::metadata;
use crate::placeholders::{self, HOW_WRITTEN, NO_ID, UNSHOWN};
use crate::tasks::{self, NewTask, TasksError};

use candidate::Candidate;
pub use inputs::Lineage;
pub use next::Next;
use numbers::FinalId;
pub use numbers::{is_known, is_taken, last_known};
pub use owners::{Bearer, Taker, find_maker, is_kept_for_other};

/// What is to be approved, by whom.
#[derive(Debug, Clone)]
pub struct Request {
    pub organisation_id: String,
    pub project_id: String,
    pub default_project_id: String,
    pub artifact_id: String,
    /// Hash of the content that was reviewed.
    pub content_sha256: Option<String>,
    /// Whether it is the approver who named that hash.
    pub names_reviewed_hash: bool,
    pub meaning: String,
    pub approved_by: String,
    pub approved_at_us: i64,
    /// Whether somebody may approve what they stored themselves.
    pub may_approve_own: bool,
    pub correlation_id: Option<String>,
    /// Made once per reserved type, so that a repeated transaction reserves under the same handles.
    pub reservation_ids: Vec<Uuid>,
    pub reservation_expires_after_us: i64,
    /// Research type → file name, for documents that name none themselves.
    pub research: BTreeMap<String, String>,
    pub given: Given,
}

/// What services elsewhere have done already.
#[derive(Debug, Clone, Default)]
pub struct Given {
    /// Names the text that is approved, the same for everybody who approves it.
    pub text_key: String,
    /// Type → its new ids, in order, where another service gives out ids.
    pub ids: Option<BTreeMap<String, Vec<String>>>,
    pub reservation_ids: Vec<String>,
    /// The tasks, where another service keeps them.
    pub task_ids: Option<Vec<String>>,
    /// Under which name they were asked for.
    pub asking_id: Option<String>,
    /// How many inputs those tasks have.
    pub n_inputs: usize,
    /// What those tasks do without.
    pub lacking: BTreeSet<Lacking>,
}

/// A recommended input that no document fills, or several: its tasks are made without it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Lacking {
    pub generator: String,
    pub input_name: String,
}

/// What an approval would do, before ids are given.
#[derive(Debug)]
pub struct Draft {
    /// What comes next, with how many new ids it needs.
    pub next: Vec<(Next, usize)>,
    pub version: u32,
    pub content_sha256: String,
}

/// A task that an approval makes.
#[derive(Debug)]
pub struct PlannedTask {
    pub artifact_id: String,
    pub generator: String,
    pub inputs: Vec<GeneratorInput>,
    pub lacking: Vec<Lacking>,
}

/// Checks the prerequisites and says what comes next, without changing anything.
pub async fn preview(conn: &mut Conn, catalogue: &Catalogue, request: &Request) -> Result<Draft, ApprovalError> {
    let candidate = Candidate::check(conn, catalogue, request).await?;
    let mut found = Vec::new();
    let next = next::find(catalogue, &candidate)?;
    owners::check(conn, catalogue, request, &candidate, &next).await?;
    for next in next {
        let n_wanted = numbers::n_wanted(conn, request, &next).await?;
        found.push((next, n_wanted));
    }
    Ok(Draft { next: found, version: candidate.row.version, content_sha256: candidate.row.content_sha256 })
}

/// The tasks that an approval with these ids makes, without changing anything.
pub async fn plan_tasks(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
) -> Result<Vec<PlannedTask>, ApprovalError> {
    let candidate = Candidate::check(conn, catalogue, request).await?;
    let mut numbered = Numbered::default();
    let none = BTreeMap::new();
    for next in next::find(catalogue, &candidate)? {
        let ids =
            numbers::find_given(conn, catalogue, request, &next, request.given.ids.as_ref().unwrap_or(&none)).await?;
        numbered.assign(&next, ids)?;
    }
    let text = rewrite(catalogue, &candidate, &numbered.id_mapping);
    let status = candidate.kind.approved_status().to_owned();
    let row = ArtifactRow { status, ..candidate.row };
    let lineage = Lineage::read(conn, catalogue, request.place(), row, text).await?;
    let mut planned = Vec::new();
    for (artifact_type, id) in numbered.sub_artifacts {
        let written = written(&numbered.id_mapping, &id);
        let Resolution { generator, inputs, lacking } =
            resolve(conn, catalogue, request, &lineage, &artifact_type, written).await?;
        planned.push(PlannedTask { artifact_id: id, generator, inputs, lacking });
    }
    Ok(planned)
}

/// An id as its author wrote it: a refused approval gave none.
fn written<'a>(id_mapping: &'a BTreeMap<String, String>, id: &'a str) -> &'a str {
    id_mapping.iter().find(|(_, given)| *given == id).map_or(id, |(placeholder, _)| placeholder)
}

/// The approved text: final ids, and the new status.
fn rewrite(catalogue: &Catalogue, candidate: &Candidate<'_>, id_mapping: &BTreeMap<String, String>) -> String {
    let text = placeholders::replace(catalogue, &candidate.content, id_mapping);
    metadata::with_status(candidate.kind, &text, candidate.kind.approved_status())
}

impl Request {
    pub fn place(&self) -> Place<'_> {
        Place { organisation_id: &self.organisation_id, project_id: &self.project_id }
    }
}

/// The prerequisites in the words of seed 001, and what else stands in the way.
#[derive(Debug, thiserror::Error)]
pub enum ApprovalError {
    #[error("Artifact {id} not found")]
    NotFound { id: String },
    #[error("Artifact {id} already approved")]
    AlreadyApproved { id: String },
    #[error("{id} was stored as {status}: whoever stored it says that it is finished, and nobody has approved it")]
    StoredFinished { id: String, status: String },
    #[error("Artifact {id} has status {status}, expected {expected}")]
    OtherStatus { id: String, status: String, expected: String },
    #[error("Parent {id} must be approved first")]
    ParentNotApproved { id: String },
    #[error("{label} of {id} must be named and approved first")]
    NoParent { id: String, label: String },
    #[error("`parent_id` in line {line}: expected an id of type {expected}")]
    WrongParent { id: String, line: usize, expected: String },
    #[error("Parent {parent} is below {above}, and not below {other}; name {above}, or another parent")]
    OtherFamily { parent: String, above: String, other: String },
    #[error("Artifact has {n} open question{} requiring resolution", if *n == 1 { "" } else { "s" })]
    OpenQuestions { n: usize },
    #[error("the parents of {id} lead back to it: {path}")]
    ParentCycle { id: String, path: String },
    #[error("Artifact {id} is not what was reviewed: its content has SHA-256 {found}")]
    OtherContent { id: String, found: String },
    #[error("an author may not approve their own document")]
    OwnDocument,
    #[error(
        "`{token}` in line {line} cannot be given an id: a document of type {artifact_type} is not cut into such documents"
    )]
    ForeignPlaceholder { token: String, line: usize, artifact_type: String },
    #[error("`{token}` in line {line} hides a placeholder that no id can take the place of; {HOW_WRITTEN}")]
    HiddenPlaceholder { token: String, line: usize },
    #[error("`{token}` in line {line} {NO_ID}")]
    Unnumbered { token: String, line: usize },
    #[error(
        "`{token}` stands for two documents, in line {first_line} and in line {second_line}; give each a placeholder of its own"
    )]
    OneForTwo { token: String, first_line: usize, second_line: usize },
    #[error("`{token}` in line {line} is a token of the template; write an id, or a placeholder such as {example}")]
    TemplateToken { token: String, line: usize, example: String },
    #[error("`{token}` in line {line}: a document of type {artifact_type} is cut into one document of its own number")]
    SecondOfOne { token: String, line: usize, artifact_type: String },
    #[error("`{id}` in line {line} belongs to {owner}; write a placeholder such as {example}, or an id of your own")]
    IdOfOther { id: String, line: usize, owner: String, example: String },
    #[error("`{token}` in line {line} {UNSHOWN}")]
    Unshown { token: String, line: usize },
    #[error("{id} in line {line} is written otherwise than ids are; write `{id}`")]
    OddId { id: String, line: usize },
    #[error("{id} was given to a document of {owner}; name {owner} as the parent, or take an id of your own")]
    GivenToOther { id: String, owner: String },
    #[error("{id} belongs to whoever reserved it; take an id of your own")]
    KeptForOther { id: String },
    #[error("Mandatory input '{name}' missing for task {artifact_id}")]
    MissingInput { name: String, artifact_id: String },
    #[error("Mandatory input '{name}' of task {artifact_id} is ambiguous: {candidates} fit; name one in the metadata")]
    AmbiguousInput { name: String, artifact_id: String, candidates: String },
    #[error("Task validation failed: artifact_id {artifact_id} already exists in queue")]
    AlreadyQueued { artifact_id: String },
    #[error("the tasks of {id} were taken back meanwhile; approve again")]
    TakenBack { id: String },
    #[error(
        "somebody works on what an earlier attempt to approve {id} had queued: {tasks}; have it set back or completed at the \
         task service, then approve again"
    )]
    StillClaimed { id: String, tasks: String },
    #[error("{id} was taken by somebody else meanwhile; approve again")]
    IdTaken { id: String },
    #[error("the next {n} ids of {artifact_type} are all in use")]
    NoFreeId { artifact_type: String, n: u32 },
    #[error("ids could not be reserved")]
    Ids(#[source] IdsError),
    #[error("could not reach the documents")]
    Store(#[from] StoreError),
}

/// What an approval did.
#[derive(Debug, Clone)]
pub struct Outcome {
    pub row: ArtifactRow,
    pub old_status: String,
    /// Placeholder → final id.
    pub id_mapping: BTreeMap<String, String>,
    pub reservation_ids: Vec<String>,
    pub sub_artifacts: Vec<String>,
    pub task_ids: Vec<String>,
    pub n_inputs: usize,
    pub lacking: BTreeSet<Lacking>,
    /// Every row of an audited table that changed.
    pub rows: Vec<AuditedRow>,
}

pub async fn approve(tx: &mut Tx<'_>, catalogue: &Catalogue, request: &Request) -> Result<Outcome, ApprovalError> {
    let candidate = Candidate::check(tx, catalogue, request).await?;
    let next = next::find(catalogue, &candidate)?;
    owners::check(tx, catalogue, request, &candidate, &next).await?;
    let mut numbered = number(tx, catalogue, request, &next).await?;
    let text = rewrite(catalogue, &candidate, &numbered.id_mapping);
    let status = candidate.kind.approved_status();
    let sha256 = content_hash(&text);
    let mark = ApprovalMark {
        content: &text,
        content_sha256: &sha256,
        status,
        approved_by: &request.approved_by,
        approved_at_us: request.approved_at_us,
        meaning: &request.meaning,
        names_reviewed_hash: request.names_reviewed_hash,
    };
    let (row, audited) = artifacts::mark_approved(tx, &candidate.row, mark).await?;
    numbered.rows.push(audited);
    let lineage = Lineage::read(tx, catalogue, request.place(), row.clone(), text).await?;
    let (mut task_ids, mut n_inputs) = (Vec::new(), request.given.n_inputs);
    let mut lacking = request.given.lacking.clone();
    let mut of_type: BTreeMap<&str, Resolution> = BTreeMap::new();
    for (artifact_type, id) in &numbered.sub_artifacts {
        if request.given.task_ids.is_some() {
            break;
        }
        let resolved = match of_type.entry(artifact_type) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => {
                let written = written(&numbered.id_mapping, id);
                place.insert(resolve(tx, catalogue, request, &lineage, artifact_type, written).await?)
            }
        };
        n_inputs += resolved.inputs.len();
        lacking.extend(resolved.lacking.iter().cloned());
        let new = NewTask {
            organisation_id: &request.organisation_id,
            project_id: &request.project_id,
            artifact_id: id,
            generator: &resolved.generator,
            description: None,
            inputs: &resolved.inputs,
            unseen_inputs: &[],
            correlation_id: request.correlation_id.as_deref(),
            created_by: &request.approved_by,
            created_at_us: request.approved_at_us,
        };
        let inserted = tasks::insert(tx, &new).await.map_err(task_error)?;
        task_ids.push(inserted.task_id.to_string());
        numbered.rows.push(inserted.row);
    }
    asked::keep(tx, request).await?;
    for reservation_id in numbered.reservation_ids.iter().filter(|_| request.given.ids.is_none()) {
        // Last, as the seed has it: ids are kept for good only when everything else is done.
        let row =
            ids::confirm(tx, &request.organisation_id, &request.approved_by, reservation_id, request.approved_at_us);
        // It was reserved in the same call.
        numbered.rows.push(row.await.map_err(ids_error)?.created());
    }
    Ok(Outcome {
        row,
        old_status: candidate.row.status,
        id_mapping: numbered.id_mapping,
        reservation_ids: numbered.reservation_ids,
        sub_artifacts: numbered.sub_artifacts.into_iter().map(|(_, id)| id).collect(),
        task_ids: request.given.task_ids.clone().unwrap_or(task_ids),
        n_inputs,
        lacking,
        rows: as_left(numbered.rows),
    })
}

/// Each row once: as the first change found it, and as the last one left it.
fn as_left(rows: Vec<AuditedRow>) -> Vec<AuditedRow> {
    let mut left: Vec<AuditedRow> = Vec::with_capacity(rows.len());
    for row in rows {
        match left.iter_mut().find(|known| known.kind == row.kind && known.id == row.id) {
            Some(known) => *known = AuditedRow { found: known.found.clone(), ..row },
            None => left.push(row),
        }
    }
    left
}

/// Final ids for everything that comes next.
#[derive(Default)]
struct Numbered {
    id_mapping: BTreeMap<String, String>,
    reservation_ids: Vec<String>,
    /// Type and id, in the order of the text.
    sub_artifacts: Vec<(String, String)>,
    rows: Vec<AuditedRow>,
}

impl Numbered {
    /// Pairs placeholders with their ids, and notes which documents are still to be written.
    fn assign(&mut self, next: &Next, ids: Vec<FinalId>) -> Result<(), ApprovalError> {
        if ids.len() < next.placeholders.len() {
            return Err(StoreError::other("not every placeholder got an id").into());
        }
        self.id_mapping.extend(next.placeholders.iter().cloned().zip(ids.iter().map(|it| it.id.clone())));
        let new = ids.into_iter().filter(|it| it.is_new).map(|it| (next.artifact_type.clone(), it.id));
        self.sub_artifacts.extend(new);
        Ok(())
    }
}

async fn number(
    tx: &mut Tx<'_>,
    catalogue: &Catalogue,
    request: &Request,
    next: &[Next],
) -> Result<Numbered, ApprovalError> {
    let mut numbered = Numbered { reservation_ids: request.given.reservation_ids.clone(), ..Numbered::default() };
    for (index, next) in next.iter().enumerate() {
        numbers::note_defined(tx, request, next, &mut numbered.rows).await?;
        let ids = match (&request.given.ids, next.numbering) {
            (Some(given), _) => numbers::given(tx, catalogue, request, next, given, &mut numbered.rows).await?,
            (None, Numbering::SameNumber) => vec![numbers::own(tx, request, next, &mut numbered.rows).await?],
            (None, Numbering::Reserved) if next.placeholders.is_empty() => Vec::new(),
            (None, Numbering::Reserved) => {
                let reservation_id = request.reservation_ids.get(index).copied().unwrap_or_default();
                let reserved = numbers::reserve(tx, request, next, reservation_id, &mut numbered.rows).await?;
                numbered.reservation_ids.push(reservation_id.to_string());
                reserved
            }
        };
        numbered.assign(next, ids)?;
    }
    Ok(numbered)
}

/// The generator of a type, and what was found for it.
struct Resolution {
    generator: String,
    inputs: Vec<GeneratorInput>,
    lacking: Vec<Lacking>,
}

async fn resolve(
    conn: &mut Conn,
    catalogue: &Catalogue,
    request: &Request,
    lineage: &Lineage,
    artifact_type: &str,
    artifact_id: &str,
) -> Result<Resolution, ApprovalError> {
    let generator = catalogue
        .find_type(artifact_type)
        .and_then(|kind| catalogue.find_generator(kind.generator.as_deref()?))
        .ok_or(StoreError::other("a document type that others are cut into has no generator"))?;
    let resolved = lineage.resolve(conn, catalogue, request.place(), generator, &request.research).await?;
    if let Some(name) = resolved.missing.first() {
        return Err(ApprovalError::MissingInput { name: name.clone(), artifact_id: artifact_id.to_owned() });
    }
    if let Some((name, keys)) = resolved.ambiguous.first() {
        return Err(ApprovalError::AmbiguousInput {
            name: name.clone(),
            artifact_id: artifact_id.to_owned(),
            candidates: keys.join(" and "),
        });
    }
    let inputs = resolved.inputs.into_iter().map(|input| input.described(&request.default_project_id)).collect();
    let lacking = resolved.lacking.into_iter();
    let lacking = lacking.map(|input_name| Lacking { generator: generator.name.clone(), input_name }).collect();
    Ok(Resolution { generator: generator.name.clone(), inputs, lacking })
}

fn ids_error(error: IdsError) -> ApprovalError {
    match error {
        IdsError::Store(error) => ApprovalError::Store(error),
        IdsError::TooManyReservations { .. }
        | IdsError::TooFarAhead { .. }
        | IdsError::NoNumberLeft { .. }
        | IdsError::Given { .. }
        | IdsError::UnknownReservation
        | IdsError::AlreadyConfirmed => ApprovalError::Ids(error),
    }
}

fn task_error(error: TasksError) -> ApprovalError {
    match error {
        TasksError::Store(error) => ApprovalError::Store(error),
        TasksError::AlreadyQueued { artifact_id } => ApprovalError::AlreadyQueued { artifact_id },
        TasksError::NoNumberLeft => ApprovalError::Ids(IdsError::NoNumberLeft { prefix: "TASK".to_owned() }),
        TasksError::Unknown { .. }
        | TasksError::IllegalTransition { .. }
        | TasksError::ClaimedByAnother { .. }
        | TasksError::MayNotReopen { .. } => ApprovalError::Store(StoreError::other("a new task was refused")),
    }
}

/// SHA-256 of a document's bytes, as everybody shows it.
pub fn content_hash(text: &str) -> String {
    hex::encode(canonical::digest(text.as_bytes()))
}
