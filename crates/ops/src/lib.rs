//! The operation table and the one door.
//!
//! Every capability is an operation: one file under the folder of its family and one line in [`operations`].
//! Every surface reaches it through [`Platform::call`] and in no other way.

pub mod acceptance;
pub mod acting;
mod audit;
pub mod authorise;
pub mod backup;
mod clock;
mod context;
mod destroyed;
pub mod dialogue;
mod door;
mod doubts;
mod drive;
mod entry;
mod evidence;
mod family;
pub mod feed;
mod files;
mod hashing;
pub mod held_doubts;
mod house;
pub mod jobs;
mod kept_answers;
pub mod keys;
mod knowledge;
pub mod leaving;
pub mod limits;
mod literature;
mod misses;
mod notary;
mod offers;
mod operation;
pub mod operations;
pub mod outlasting;
pub mod prompts;
mod record;
pub mod refusals;
mod remote;
pub mod rendering;
pub mod resources;
mod seal;
pub mod seed_ids;
mod starter_data;
mod summary;
mod table;
mod validate;
mod watch;
mod witnesses;
mod workflow;

pub use clock::Clock;
pub use context::{Context, Progress, ProgressReport, SelfApproval, Services, Settings};
pub use dialogue::Answers;
pub use door::{Call, OpenError, Options, Platform, Reply, Success, Via};
pub use entry::Entry;
pub use family::Family;
pub use files::{Files, FilesPlace, FilesReport};
pub use jobs::JobMode;
pub use knowledge::{Knowledge, KnowledgeFound};
pub use literature::{Literature, LiteratureFound, LiteratureSearch, PaperId};
pub use notary::{Afterwards, Claim, Notary, NotaryError, Standing, is_headed};
pub use offers::{OFFERS, Offers};
pub use operation::{Answer, ApplyError, Ended, Operation, Read, Record, Told, Write};
pub use record::Unrecorded;
pub use remote::{Remote, RemoteCall, Remotes, Service};
pub use table::{Table, TableError, Tool};
pub use validate::{Misfit, find_misfit};
pub use watch::{LogStanding, LogWatch};
pub use witnesses::{WitnessError, WitnessPolicy};

/// Tables of every crate, in order.
pub fn migrations() -> Vec<store::Migration> {
    [store::MIGRATIONS, ::workflow::MIGRATIONS, ::evidence::MIGRATIONS, keys::MIGRATIONS].concat()
}
