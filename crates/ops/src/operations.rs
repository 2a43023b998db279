//! The operation table: every capability of the house, one line each.

use crate::entry::Entry;
use crate::house::{BackUpHouse, TidyHouse};
use contract::describe::DescribeOperation;
use contract::evidence::contraindications::FindContraindications;
use contract::evidence::export::ExportRecords;
use contract::evidence::graph::QueryKg;
use contract::evidence::network::{KgGetEverything, KgNetworkNeighborhood};
use contract::evidence::pubmed::{PubmedGetDetails, PubmedSearch};
use contract::evidence::records::{PutRecords, ReadRecords};
use contract::evidence::resources::{ReadHerb, ReadNode, ReadPaper};
use contract::evidence::search::{EmbedRecords, HybridSearch, RebuildEvidence};
use contract::evidence::starter::LoadStarterData;
use contract::job::{AnswerJob, CancelJob, JobStatus, StartJob};
use contract::key::{CreateKey, ListKeys, RevokeKey};
use contract::ledger::{AuditCheckpoint, AuditExport, AuditProve, AuditSearch, AuditVerify};
use contract::workflow::artifacts::{
    ApproveArtifact, DiffArtifact, GuideGeneration, ListArtifactRevisions, ListArtifacts, ReadArtifact,
    SetArtifactStatus, StoreArtifact, ValidateArtifact,
};
use contract::workflow::checklists::{ReadChecklist, ReadTemplate};
use contract::workflow::{
    ConfirmReservation, DeleteExpiredReservations, GetNextAvailableId, ListArtifactTypes, ReserveIdRange,
};

use contract::workflow::tasks::{AddTask, GetNextTask, ListTasks, QueueTasks, UpdateTaskStatus};

use crate::workflow::guide_numbering::GuideNumbering;

pub const OPERATIONS: &[Entry] = &[
    Entry::read::<DescribeOperation>(),
    Entry::write::<TidyHouse>(),
    Entry::read::<BackUpHouse>(),
    Entry::write::<CreateKey>(),
    Entry::read::<ListKeys>(),
    Entry::write::<RevokeKey>(),
    Entry::write::<StartJob>(),
    Entry::read::<JobStatus>(),
    Entry::write::<AnswerJob>(),
    Entry::write::<CancelJob>(),
    Entry::read::<ListArtifactTypes>(),
    Entry::read::<GuideNumbering>(),
    Entry::read::<GuideGeneration>(),
    Entry::read::<ReadTemplate>(),
    Entry::read::<ReadChecklist>(),
    Entry::read::<ValidateArtifact>(),
    Entry::write::<StoreArtifact>(),
    Entry::write::<ApproveArtifact>(),
    Entry::write::<SetArtifactStatus>(),
    Entry::read::<ListArtifacts>(),
    Entry::read::<ReadArtifact>(),
    Entry::read::<ListArtifactRevisions>(),
    Entry::read::<DiffArtifact>(),
    Entry::write::<GetNextAvailableId>(),
    Entry::write::<ReserveIdRange>(),
    Entry::write::<ConfirmReservation>(),
    Entry::write::<DeleteExpiredReservations>(),
    Entry::write::<AddTask>(),
    Entry::write::<QueueTasks>(),
    Entry::write::<GetNextTask>(),
    Entry::write::<UpdateTaskStatus>(),
    Entry::read::<ListTasks>(),
    Entry::write::<PutRecords>(),
    Entry::read::<ReadRecords>(),
    Entry::read::<ExportRecords>(),
    Entry::read::<PubmedSearch>(),
    Entry::read::<PubmedGetDetails>(),
    Entry::read::<QueryKg>(),
    Entry::read::<FindContraindications>(),
    Entry::read::<KgGetEverything>(),
    Entry::read::<KgNetworkNeighborhood>(),
    Entry::read::<ReadHerb>(),
    Entry::read::<ReadNode>(),
    Entry::read::<ReadPaper>(),
    Entry::read::<HybridSearch>(),
    Entry::write::<EmbedRecords>(),
    Entry::write::<RebuildEvidence>(),
    Entry::write::<LoadStarterData>(),
    Entry::read::<AuditSearch>(),
    Entry::read::<AuditProve>(),
    Entry::read::<AuditVerify>(),
    Entry::read::<AuditExport>(),
    Entry::read::<AuditCheckpoint>(),
];

/// Operations of earlier versions, with what took their place.
const RETIRED: &[(&str, &str)] =
    &[("resolve_artifact_path", "approve_artifact, which resolves the path of every input itself")];

/// What took the place of an operation that is no more.
pub fn replacement(name: &str) -> Option<&'static str> {
    RETIRED.iter().find(|(retired, _)| *retired == name).map(|(_, replacement)| *replacement)
}
