//! The guest's side of the socket: hand a call to the owner and wait for its reply, never without a limit.

use std::path::Path;
use std::time::Duration;

use contract::actor::Actor;
use contract::error::OpError;
use contract::id::KeyId;
use ops::feed::Changes;
use ops::keys::FoundKey;
use ops::refusals::Refused;
use ops::{Call, FilesReport, LogStanding, Reply};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;
use tokio::time::{Instant, timeout_at};

use super::database::DatabaseStanding;
use super::socket;
use super::wire::{Asked, LINE_BYTES_MAX, Told};
use super::witnesses::WitnessStanding;

/// How long a question takes at most that the owner answers from memory.
const ANSWER_WITHIN: Duration = Duration::from_millis(1_500);
/// The same for one that the owner asks its database.
const LOOKUP_WITHIN: Duration = Duration::from_secs(5);

/// The same for one for which it reads every document and its file.
const FILES_WITHIN: Duration = Duration::from_secs(600);

#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    #[error("no owner listens in the data folder")]
    Connect(#[source] std::io::Error),
    #[error("the connection to the owner broke")]
    Broken(#[source] std::io::Error),
    #[error("the owner answered something else")]
    Other,
    #[error("the owner of the data folder{} does not answer; is it stopped or overloaded?", process(*.pid))]
    Silent { pid: Option<i32> },
}

fn process(pid: Option<i32>) -> String {
    pid.map_or(String::new(), |pid| format!(" (process {pid})"))
}

impl GuestError {
    /// Whether the owner took the question and said nothing: trying again would not help soon.
    pub fn is_silence(&self) -> bool {
        matches!(self, GuestError::Silent { .. })
    }
}

/// Waits for the reply until `give_up`; the owner may carry out the call even after that.
pub async fn call(folder: &Path, actor: &Actor, call: &Call, give_up: Instant) -> Result<Reply, GuestError> {
    let asked = Asked::Call(Box::new((actor.clone(), call.clone())));
    let mut answers = ask(folder, &asked, give_up).await?;
    loop {
        match answers.next().await? {
            Told::Progress { done, total, message } => call.progress.report(done, total, &message),
            Told::Reply(reply) => return Ok(*reply),
            Told::Key(_)
            | Told::Changes(_)
            | Told::Witnesses(_)
            | Told::Log(_)
            | Told::IsDatabase(_)
            | Told::DatabaseStanding(_)
            | Told::Files(_)
            | Told::Done => return Err(GuestError::Other),
        }
    }
}

/// What the owner knows of a key; the inner error is the owner's.
pub async fn find_key(folder: &Path, key_id: &KeyId) -> Result<Result<FoundKey, OpError>, GuestError> {
    let asked = Asked::Key(key_id.clone());
    ask_once(folder, &asked, LOOKUP_WITHIN, |told| if let Told::Key(found) = told { Some(*found) } else { None }).await
}

/// The owner's change feed; the inner error is the owner's.
pub async fn changes_from(folder: &Path, index: Option<u64>) -> Result<Result<Changes, OpError>, GuestError> {
    let asked = Asked::Changes(index);
    ask_once(folder, &asked, LOOKUP_WITHIN, |told| if let Told::Changes(it) = told { Some(*it) } else { None }).await
}

pub async fn witness_standings(folder: &Path) -> Result<Vec<WitnessStanding>, GuestError> {
    let standings = |told| if let Told::Witnesses(standings) = told { Some(standings) } else { None };
    ask_once(folder, &Asked::Witnesses, ANSWER_WITHIN, standings).await
}

/// How the owner's log stands.
pub async fn log_standing(folder: &Path) -> Result<LogStanding, GuestError> {
    let standing = |told| if let Told::Log(standing) = told { Some(standing) } else { None };
    ask_once(folder, &Asked::Log, ANSWER_WITHIN, standing).await
}

/// Whether the owner's database is the one of this identity.
pub async fn has_database(folder: &Path, identity: String) -> Result<bool, GuestError> {
    let is_same = |told| if let Told::IsDatabase(is_same) = told { Some(is_same) } else { None };
    ask_once(folder, &Asked::Database(identity), ANSWER_WITHIN, is_same).await
}

/// How the owner's database stands.
pub async fn database_standing(folder: &Path) -> Result<DatabaseStanding, GuestError> {
    let standing = |told| if let Told::DatabaseStanding(standing) = told { Some(standing) } else { None };
    ask_once(folder, &Asked::DatabaseStanding, ANSWER_WITHIN, standing).await
}

/// Lets the owner compare the files of documents with the record; the inner error is the owner's.
pub async fn check_files(folder: &Path) -> Result<Result<FilesReport, String>, GuestError> {
    let report = |told| if let Told::Files(report) = told { Some(report) } else { None };
    ask_once(folder, &Asked::Files, FILES_WITHIN, report).await
}

pub async fn record_refusals(folder: &Path, refused: &[Refused]) -> Result<(), GuestError> {
    let done = |told| matches!(told, Told::Done).then_some(());
    ask_once(folder, &Asked::Refusals(refused.to_vec()), LOOKUP_WITHIN, done).await
}

/// Asks, and takes of the answer what was asked for; anything else is none.
async fn ask_once<T>(
    folder: &Path,
    asked: &Asked,
    within: Duration,
    wanted: impl FnOnce(Told) -> Option<T>,
) -> Result<T, GuestError> {
    let told = ask(folder, asked, Instant::now() + within).await?.next().await?;
    wanted(told).ok_or(GuestError::Other)
}

/// What the owner says to one question.
struct Answers {
    lines: BufReader<tokio::io::Take<UnixStream>>,
    pid: Option<i32>,
    give_up: Instant,
}

async fn ask(folder: &Path, asked: &Asked, give_up: Instant) -> Result<Answers, GuestError> {
    let (address, _open) = socket::path(folder).map_err(GuestError::Connect)?;
    let connected = timeout_at(give_up, UnixStream::connect(&address)).await;
    let mut stream = connected.map_err(|_| GuestError::Silent { pid: None })?.map_err(GuestError::Connect)?;
    let pid = stream.peer_cred().ok().and_then(|peer| peer.pid());
    let mut line = serde_json::to_vec(asked).map_err(|error| GuestError::Broken(error.into()))?;
    line.push(b'\n');
    let written = timeout_at(give_up, stream.write_all(&line)).await;
    written.map_err(|_| GuestError::Silent { pid })?.map_err(GuestError::Broken)?;
    Ok(Answers { lines: BufReader::new(stream.take(LINE_BYTES_MAX)), pid, give_up })
}

impl Answers {
    async fn next(&mut self) -> Result<Told, GuestError> {
        let mut line = String::new();
        let read = timeout_at(self.give_up, self.lines.read_line(&mut line)).await;
        read.map_err(|_| GuestError::Silent { pid: self.pid })?.map_err(GuestError::Broken)?;
        serde_json::from_str(&line).map_err(|error| GuestError::Broken(error.into()))
    }
}
