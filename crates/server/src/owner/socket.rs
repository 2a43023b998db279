//! The owner's side of the socket: calls from other processes of the same user, through the same door.

use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ops::{Platform, Progress};
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Instant;

use super::Witnesses;
use super::database::DatabaseStanding;
use super::noted::{self, Noting};
use super::wire::{Asked, LINE_BYTES_MAX, Told};
use crate::telemetry::traces::Side;

const PROGRESS_QUEUE_MAX: usize = 64;
/// How soon guests find the owner again when somebody has deleted its socket.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long the database may take to answer; less than a guest waits for the owner.
const DATABASE_WITHIN: Duration = Duration::from_secs(1);

/// Socket addresses hold about a hundred bytes; a longer folder is reached through its open descriptor.
pub fn path(folder: &Path) -> std::io::Result<(PathBuf, Option<std::fs::File>)> {
    let plain = folder.join("owner.sock");
    if plain.as_os_str().len() < 100 {
        return Ok((plain, None));
    }
    let open = std::fs::File::open(folder)?;
    let descriptor = std::os::fd::AsRawFd::as_raw_fd(&open);
    Ok((PathBuf::from(format!("/proc/self/fd/{descriptor}/owner.sock")), Some(open)))
}

/// Listens in the folder. The caller holds the owner's lock, so a socket that is there belongs to the dead.
pub fn listen(
    folder: &Path,
    platform: Platform,
    witnesses: Arc<Witnesses>,
    database: String,
    noting: Noting,
) -> std::io::Result<JoinHandle<()>> {
    let mut bound = Bound::bind(folder)?;
    let folder = folder.to_owned();
    Ok(tokio::spawn(async move {
        let mut look = tokio::time::interval(LOOK_EVERY);
        loop {
            let accepted = tokio::select! {
                accepted = bound.listener.accept() => accepted,
                _ = look.tick() => {
                    bound.renew(&folder);
                    continue;
                }
            };
            match accepted {
                Ok((stream, _)) => {
                    let (platform, witnesses, database) = (platform.clone(), Arc::clone(&witnesses), database.clone());
                    tokio::spawn(async move {
                        if let Err(error) = answer(stream, platform, &witnesses, &database, noting).await {
                            tracing::debug!(error = %error, "A guest went away");
                        }
                    });
                }
                Err(error) => {
                    tracing::warn!(error = %error, "Could not accept a guest");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
        }
    }))
}

/// A socket that guests find by its file in the folder.
struct Bound {
    listener: UnixListener,
    /// Device and number of the file. Nobody else gets the number while the socket is open.
    file: (u64, u64),
    /// That it could not be bound anew was told.
    is_told: bool,
}

impl Bound {
    fn bind(folder: &Path) -> std::io::Result<Bound> {
        remove(folder);
        let (address, _open) = path(folder)?;
        let listener = UnixListener::bind(&address)?;
        let file = folder.join("owner.sock");
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o600))?;
        let metadata = std::fs::symlink_metadata(&file)?;
        Ok(Bound { listener, file: (metadata.dev(), metadata.ino()), is_told: false })
    }

    /// Binds it anew where its file is gone or another's: whoever calls it would wait for nobody.
    fn renew(&mut self, folder: &Path) {
        let found = std::fs::symlink_metadata(folder.join("owner.sock"));
        if found.is_ok_and(|found| (found.dev(), found.ino()) == self.file) {
            return;
        }
        match Bound::bind(folder) {
            Ok(bound) => {
                *self = bound;
                tracing::warn!("The owner's socket was gone from the data folder and is there again");
            }
            Err(error) if !self.is_told => {
                self.is_told = true;
                tracing::error!(error = %error, "The owner's socket is gone and cannot be made again; restart the server");
            }
            Err(_) => {}
        }
    }
}

pub fn remove(folder: &Path) {
    let socket = folder.join("owner.sock");
    if let Err(error) = std::fs::remove_file(socket)
        && error.kind() != std::io::ErrorKind::NotFound
    {
        tracing::warn!(error = %error, "Could not remove the owner's socket");
    }
}

/// One question per connection. A guest that hangs up stops its call as any client does.
async fn answer(
    stream: UnixStream,
    platform: Platform,
    witnesses: &Witnesses,
    database: &str,
    noting: Noting,
) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    let mut reader = BufReader::new(reader).take(LINE_BYTES_MAX);
    let mut line = String::new();
    reader.read_line(&mut line).await?;
    match serde_json::from_str(&line)? {
        Asked::Database(asked) => tell(&mut writer, &Told::IsDatabase(asked == database)).await,
        Asked::DatabaseStanding => {
            let standing = match tokio::time::timeout(DATABASE_WITHIN, platform.ping()).await {
                Ok(answer) => DatabaseStanding::of(answer),
                Err(_) => DatabaseStanding::Unreachable { reason: "it gave the owner no answer in time".to_owned() },
            };
            tell(&mut writer, &Told::DatabaseStanding(standing)).await
        }
        Asked::Witnesses => tell(&mut writer, &Told::Witnesses(witnesses.standings())).await,
        Asked::Log => tell(&mut writer, &Told::Log(platform.log_standing())).await,
        Asked::Files => {
            let report = platform.files().check_all().await.map_err(|error| error.to_string());
            tell(&mut writer, &Told::Files(report)).await
        }
        Asked::Refusals(refused) => {
            platform.record_refusals(&refused).await;
            tell(&mut writer, &Told::Done).await
        }
        Asked::Key(key_id) => tell(&mut writer, &Told::Key(Box::new(platform.find_key(&key_id).await))).await,
        Asked::Changes(index) => {
            let changes = platform.changes_from(index).await;
            tell(&mut writer, &Told::Changes(Box::new(changes))).await
        }
        Asked::Call(asked) => {
            let (actor, mut call) = *asked;
            let (sender, mut reports) = mpsc::channel(PROGRESS_QUEUE_MAX);
            call.progress = Progress::to(sender);
            let mut hung_up = Box::pin(async move {
                let mut rest = [0];
                // Guests write one line; whatever ends the read, they are gone.
                drop(reader.read(&mut rest).await);
            });
            let (operation, started) = (noted::name(platform.table(), &call.operation), Instant::now());
            let mut called = Box::pin(platform.call(&actor, call));
            loop {
                tokio::select! {
                    reply = &mut called => {
                        noting.note(operation, &reply, started.elapsed(), Side::Carried);
                        return tell(&mut writer, &Told::Reply(Box::new(reply))).await;
                    }
                    () = &mut hung_up => return Ok(()),
                    Some(report) = reports.recv() => {
                        let told = Told::Progress { done: report.done, total: report.total, message: report.message };
                        tell(&mut writer, &told).await?;
                    }
                }
            }
        }
    }
}

async fn tell(writer: &mut tokio::net::unix::OwnedWriteHalf, told: &Told) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(told)?;
    line.push(b'\n');
    writer.write_all(&line).await
}
