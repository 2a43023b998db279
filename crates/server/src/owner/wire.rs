//! What travels over the owner's socket: one line of JSON each.

use contract::actor::Actor;
use contract::error::OpError;
use contract::id::KeyId;
use ops::keys::FoundKey;
use ops::refusals::Refused;
use ops::{Call, FilesReport, LogStanding, Reply};

use super::database::DatabaseStanding;
use super::witnesses::WitnessStanding;

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Asked {
    Call(Box<(Actor, Call)>),
    Refusals(Vec<Refused>),
    Key(KeyId),
    /// The change feed from a place on.
    Changes(Option<u64>),
    Witnesses,
    /// How the log stands.
    Log,
    /// Whether the owner's database is the one of this identity.
    Database(String),
    /// How its database stands.
    DatabaseStanding,
    /// Compare the files of documents with the record.
    Files,
}

#[derive(serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Told {
    Progress {
        done: f64,
        total: Option<f64>,
        message: String,
    },
    Reply(Box<Reply>),
    Key(Box<Result<FoundKey, OpError>>),
    Changes(Box<Result<ops::feed::Changes, OpError>>),
    Witnesses(Vec<WitnessStanding>),
    Log(LogStanding),
    IsDatabase(bool),
    DatabaseStanding(DatabaseStanding),
    /// The report, or what is wrong with the record.
    Files(Result<FilesReport, String>),
    Done,
}

/// A line longer than this is not one of ours.
pub const LINE_BYTES_MAX: u64 = 8 * 1024 * 1024;
