//! The guest's side of the socket: hand a call to the owner and wait for its reply.

use std::path::Path;

use contract::actor::Actor;
use contract::error::OpError;
use contract::id::KeyId;
use ops::feed::Changes;
use ops::keys::KeyRecord;
use ops::refusals::Refused;
use ops::{Call, Reply};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::UnixStream;

use super::{Asked, LINE_BYTES_MAX, Told, WitnessStanding, socket};

#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    #[error("no owner listens in the data folder")]
    Connect(#[source] std::io::Error),
    #[error("the connection to the owner broke")]
    Broken(#[source] std::io::Error),
    #[error("the owner answered something else")]
    Other,
}

pub async fn call(folder: &Path, actor: &Actor, call: &Call) -> Result<Reply, GuestError> {
    let asked = Asked::Call(Box::new((actor.clone(), call.clone())));
    let mut answers = ask(folder, &asked).await?;
    loop {
        match next(&mut answers).await? {
            Told::Progress { done, total, message } => call.progress.report(done, total, &message),
            Told::Reply(reply) => return Ok(*reply),
            Told::Key(_) | Told::Changes(_) | Told::Witnesses(_) | Told::Done => return Err(GuestError::Other),
        }
    }
}

/// What the owner knows of a key; the inner error is the owner's.
pub async fn find_key(folder: &Path, key_id: &KeyId) -> Result<Result<Option<KeyRecord>, OpError>, GuestError> {
    match next(&mut ask(folder, &Asked::Key(key_id.clone())).await?).await? {
        Told::Key(found) => Ok(*found),
        Told::Progress { .. } | Told::Reply(_) | Told::Changes(_) | Told::Witnesses(_) | Told::Done => {
            Err(GuestError::Other)
        }
    }
}

/// The owner's change feed; the inner error is the owner's.
pub async fn changes_from(folder: &Path, index: Option<u64>) -> Result<Result<Changes, OpError>, GuestError> {
    match next(&mut ask(folder, &Asked::Changes(index)).await?).await? {
        Told::Changes(changes) => Ok(*changes),
        Told::Progress { .. } | Told::Reply(_) | Told::Key(_) | Told::Witnesses(_) | Told::Done => {
            Err(GuestError::Other)
        }
    }
}

pub async fn witness_standings(folder: &Path) -> Result<Vec<WitnessStanding>, GuestError> {
    match next(&mut ask(folder, &Asked::Witnesses).await?).await? {
        Told::Witnesses(standings) => Ok(standings),
        Told::Changes(_) | Told::Progress { .. } | Told::Reply(_) | Told::Key(_) | Told::Done => Err(GuestError::Other),
    }
}

pub async fn ping(folder: &Path) -> Result<(), GuestError> {
    done(folder, &Asked::Ping).await
}

pub async fn record_refusals(folder: &Path, refused: &[Refused]) -> Result<(), GuestError> {
    done(folder, &Asked::Refusals(refused.to_vec())).await
}

async fn done(folder: &Path, asked: &Asked) -> Result<(), GuestError> {
    match next(&mut ask(folder, asked).await?).await? {
        Told::Done => Ok(()),
        Told::Progress { .. } | Told::Reply(_) | Told::Key(_) | Told::Changes(_) | Told::Witnesses(_) => {
            Err(GuestError::Other)
        }
    }
}

type Answers = BufReader<tokio::io::Take<UnixStream>>;

async fn ask(folder: &Path, asked: &Asked) -> Result<Answers, GuestError> {
    let (address, _open) = socket::path(folder).map_err(GuestError::Connect)?;
    let mut stream = UnixStream::connect(&address).await.map_err(GuestError::Connect)?;
    let mut line = serde_json::to_vec(asked).map_err(|error| GuestError::Broken(error.into()))?;
    line.push(b'\n');
    stream.write_all(&line).await.map_err(GuestError::Broken)?;
    Ok(BufReader::new(stream.take(LINE_BYTES_MAX)))
}

async fn next(answers: &mut Answers) -> Result<Told, GuestError> {
    let mut line = String::new();
    answers.read_line(&mut line).await.map_err(GuestError::Broken)?;
    serde_json::from_str(&line).map_err(|error| GuestError::Broken(error.into()))
}
