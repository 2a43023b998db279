//! `store_artifact`: keep a version of a document.

use std::sync::{Arc, Mutex, PoisonError};

use contract::actor::Role;
use contract::envelope::True;
use contract::error::OpError;
use contract::workflow::artifacts::{StoreArtifact, StoredArtifact};
use store::{Conn, Tx};
use workflow::address::Address;
use workflow::approval::{self, ApprovalError, Bearer, Taker, content_hash};
use workflow::artifacts::{self, ArtifactRow, Met, NewArtifact, Place};
use workflow::audited::AuditedRow;
use workflow::catalogue::Catalogue;
use workflow::ids::{self, Counter, Leap, Noting};
use workflow::metadata;

use super::NUMBERING_ROLES;
use super::document::{Home, MAY_NOT_WITHDRAW, may_withdraw, metadata_error};
use super::elsewhere::{self, Owner};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::files::Staging;
use crate::operation::{Answer, ApplyError, Operation, Write, refusal, store_error};
use crate::remote::Service;

pub struct Plan {
    catalogue: Arc<Catalogue>,
    home: Home,
    new: Arc<NewArtifact>,
    /// Its files, which are written while the record is.
    staging: Mutex<Option<Staging>>,
    prefix: Option<String>,
    /// The number in the id.
    number: i64,
    leap: Leap,
    /// What the id is reserved by where another service gives out the ids, and did not give this one before.
    reservation_id: Option<String>,
    /// What the status may be; `None` where anything of the ladder is fine.
    refused_status: Option<OpError>,
    /// What the last run of `apply` left, for the files.
    stored: Mutex<Option<Stored>>,
}

struct Stored {
    row: ArtifactRow,
    is_new: bool,
}

impl Operation for StoreArtifact {
    const NAME: &'static str = "store_artifact";
    const ABOUT: &'static str = "Store a document as a new version. Id, type, version, status, parent and title are read from its metadata. \
         The same content again is the same document; other content needs the next version number.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = NUMBERING_ROLES;
    const SCOPE: Option<&'static str> = Some("artifact.write");

    type Output = StoredArtifact;

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Write for StoreArtifact {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        let catalogue = ctx.services().catalogue.current();
        // Every byte, a byte order mark too: an approval is bound to the hash of what was reviewed.
        let content = self.artifact_content.as_str();
        let found = metadata::extract(&catalogue, content, self.file_name.as_deref())
            .map_err(|error| metadata_error(error, Self::NAME))?;
        let kind = catalogue.find_type(&found.artifact_type).ok_or_else(|| OpError::internal("a type got lost"))?;
        let home = Home::of(ctx, self.project_id.as_ref());
        let address = Address::of(kind, &home.project_id, &home.default_project_id, &found.key, found.version);
        ctx.files().check(&home.organisation_id, &address).await?;
        // Research has no approval: whoever stores it says whether it is finished.
        let refused_status = (found.has_id && kind.is_approved(&found.status)).then(|| {
            let free: Vec<&str> =
                kind.statuses.iter().filter(|status| !kind.is_approved(status)).map(String::as_str).collect();
            let expected = format!("one of {}; approve_artifact sets {}", free.join(", "), kind.approved_status());
            OpError::invalid("Status", expected).received(found.status.as_str())
        });
        if kind.is_withdrawn(&found.status) && !may_withdraw(ctx) {
            let mut reader = ctx.read().await?;
            let approved = artifacts::find_approved(&mut reader, home.place(), kind, &found.key).await;
            if approved.map_err(store_error)?.is_some() {
                return Err(OpError::refused(MAY_NOT_WITHDRAW));
            }
        }
        let row = ArtifactRow {
            organisation_id: home.organisation_id.clone(),
            project_id: home.project_id.clone(),
            version: found.version,
            artifact_type: found.artifact_type,
            has_id: found.has_id,
            folder: address.folder,
            file_name: address.file_name,
            title: found.title,
            status: found.status,
            parent_id: found.parent_id,
            content_sha256: content_hash(content),
            size_bytes: u64::try_from(content.len()).unwrap_or(u64::MAX),
            n_revisions: 1,
            created_by: ctx.actor().id.to_string(),
            created_at_us: ctx.now_us(),
            updated_at_us: ctx.now_us(),
            approved: None,
            key: found.key,
        };
        let new = Arc::new(NewArtifact { row, content: content.to_owned() });
        let reservation_id = match &refused_status {
            Some(_) => None,
            None => make_known(ctx, &catalogue, &new, kind.prefix.as_deref()).await?,
        };
        let staging = refused_status.is_none().then(|| ctx.files().stage(&new)).flatten();
        Ok(Plan {
            prefix: kind.prefix.clone(),
            number: number_of(&new.row),
            reservation_id,
            leap: if ctx.find_remote(Service::Ids).is_some() { Leap::Free } else { Leap::Bounded },
            staging: Mutex::new(staging),
            new,
            home,
            refused_status,
            stored: Mutex::default(),
            catalogue,
        })
    }

    fn lane(&self, plan: &Plan) -> Option<String> {
        // Documents of a type share their counter, so they go one after the other.
        Some(plan.counter().map_or_else(|| format!("research/{}", plan.home.organisation_id), |counter| counter.lane()))
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<StoredArtifact>, ApplyError> {
        let (row, changed) = match artifacts::find_stored(tx, &plan.new, plan.prefix.as_deref()).await? {
            Met::Stored(kept) => (*kept, Vec::new()),
            Met::Nothing { last_assigned, is_first } => {
                (plan.new.row.clone(), plan.insert(tx, last_assigned, is_first).await?)
            }
        };
        let address = row.address(&plan.home.default_project_id);
        let mut answer = Answer::of(StoredArtifact {
            success: True,
            artifact_id: row.artifact_id().to_owned(),
            storage_path: address.path(),
            resource_uri: address.uri(),
        });
        let is_new = !changed.is_empty();
        if !is_new {
            answer = answer.touching("artifact", format!("{}/{}/{}", row.project_id, row.key, row.version));
        }
        *plan.stored.lock().unwrap_or_else(PoisonError::into_inner) = Some(Stored { row, is_new });
        Ok(changed.into_iter().fold(answer, Answer::leaving))
    }

    async fn settle(&self, plan: &Plan, ctx: &Context<'_>) {
        let stored = plan.stored.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Stored { row, is_new }) = stored {
            if is_new {
                let staging = plan.staging.lock().unwrap_or_else(PoisonError::into_inner).take();
                ctx.files().write_new(Arc::clone(&plan.new), staging).await;
            } else {
                ctx.files().write(&row).await;
            }
            tracing::info!(
                event = "artifact_stored",
                tool_name = Self::NAME,
                task_id = ctx.task_id(),
                artifact_id = row.artifact_id(),
                artifact_type = row.artifact_type,
                version = row.version,
                size_bytes = row.size_bytes,
                resource_uri = row.address(&plan.home.default_project_id).uri(),
            );
        }
        elsewhere::confirm(ctx, plan.reservation_id.as_slice()).await;
    }
}

impl Plan {
    /// Refuses an id that is somebody else's.
    async fn check_owner(&self, tx: &mut Tx<'_>, may_be_reserved: bool) -> Result<(), ApplyError> {
        check_maker(tx, &self.catalogue, &self.new).await?;
        if may_be_reserved {
            check_holder(tx, &self.catalogue, &self.new.row).await?;
        }
        Ok(())
    }

    /// Stores the version, and returns the rows that this changed.
    async fn insert(&self, tx: &mut Tx<'_>, last_assigned: i64, is_first: bool) -> Result<Vec<AuditedRow>, ApplyError> {
        if let Some(refusal) = &self.refused_status {
            let mut error = OpError::new(refusal.kind, refusal.message.clone());
            error.details = refusal.details.clone();
            return Err(error.into());
        }
        // A number that nobody was given yet was not reserved either, unless it is another service that gives them.
        self.check_owner(tx, is_first && (self.number <= last_assigned || self.leap == Leap::Free)).await?;
        let noting = match self.counter() {
            // An id that was chosen by hand is never given out.
            Some(counter) => {
                ids::plan_used(tx, &counter, last_assigned, &[self.number], self.leap, self.new.row.created_at_us)
                    .await?
            }
            None => Noting::default(),
        };
        let stored = artifacts::insert(tx, &self.new, noting.statements).await?;
        Ok([stored].into_iter().chain(noting.rows).collect())
    }

    fn counter(&self) -> Option<Counter<'_>> {
        let prefix = self.prefix.as_deref()?;
        Some(Counter { organisation_id: &self.home.organisation_id, prefix, project_id: &self.home.project_id })
    }
}

fn number_of(row: &ArtifactRow) -> i64 {
    ids::parse_id(&row.key).map_or(0, |(_, number)| number)
}

/// Refuses an id that an approval gave to a document of another parent.
async fn check_maker(conn: &mut Conn, catalogue: &Catalogue, new: &NewArtifact) -> Result<(), ApprovalError> {
    // One that names no parent yet may still name the right one.
    if new.row.parent_id.is_some()
        && let Some(owner) = approval::find_maker(conn, catalogue, Bearer::of(&new.row, &new.content)).await?
    {
        return Err(ApprovalError::GivenToOther { id: new.row.key.clone(), owner });
    }
    Ok(())
}

/// Refuses an id that is kept for somebody else.
async fn check_holder(conn: &mut Conn, catalogue: &Catalogue, row: &ArtifactRow) -> Result<(), ApprovalError> {
    let taker = Taker {
        place: Place { organisation_id: &row.organisation_id, project_id: &row.project_id },
        key: &row.key,
        actor_id: &row.created_by,
        parents: &row.parent_id.as_deref().into_iter().collect::<Vec<&str>>(),
        now_us: row.created_at_us,
    };
    match approval::is_kept_for_other(conn, catalogue, taker).await? {
        true => Err(ApprovalError::KeptForOther { id: row.key.clone() }),
        false => Ok(()),
    }
}

/// Where another service gives out the ids, has it take note of that of a document which is not stored here yet. Asks
/// nothing of it for a document that is refused: its number would be lost.
async fn make_known(
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    new: &NewArtifact,
    prefix: Option<&str>,
) -> Result<Option<String>, OpError> {
    let (row, number) = (&new.row, number_of(&new.row));
    let Some(service) = ctx.find_remote(Service::Ids).filter(|_| row.has_id && prefix.is_some() && number > 0) else {
        return Ok(None);
    };
    let mut reader = ctx.read().await?;
    match artifacts::find_stored(&mut reader, new, prefix).await.map_err(refusal)? {
        Met::Nothing { is_first: true, .. } => {
            check_maker(&mut reader, catalogue, new).await.map_err(refusal)?;
            check_holder(&mut reader, catalogue, row).await.map_err(refusal)?;
        }
        Met::Nothing { is_first: false, .. } | Met::Stored(_) => return Ok(None),
    }
    drop(reader);
    let owner = Owner { organisation_id: &row.organisation_id, project_id: &row.project_id, artifact_id: &row.key };
    elsewhere::make_known(ctx, &**service, owner, &row.artifact_type, number).await
}
