//! `materia doctor`: what works here, what does not, and what to do.

mod search;

use std::net::{SocketAddr, TcpListener};
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use ops::LogStanding;
use rustix::fs::Access;

use super::{Place, print_lines};
use crate::assemble::{self, AssembleError};
use crate::oauth;
use crate::owner::database::DatabaseStanding;
use crate::owner::witnesses::{Standing, WitnessStanding};
use crate::owner::{House, HouseError, has_owner};
use crate::remote::{self, Looked, Problem};
use crate::settings::Settings;

/// One line of the report, with advice where something can be done.
struct Finding {
    is_fine: bool,
    what: String,
    advice: Option<String>,
}

impl Finding {
    fn fine(what: impl Into<String>) -> Finding {
        Finding { is_fine: true, what: what.into(), advice: None }
    }

    /// Everything works, and more could.
    fn lacking(what: impl Into<String>, advice: impl Into<String>) -> Finding {
        Finding { is_fine: true, what: what.into(), advice: Some(advice.into()) }
    }

    fn wrong(what: impl Into<String>, advice: impl Into<String>) -> Finding {
        Finding { is_fine: false, what: what.into(), advice: Some(advice.into()) }
    }
}

pub async fn run(place: &Place) -> anyhow::Result<ExitCode> {
    let mut findings = vec![Finding::fine(format!("materia {}", env!("CARGO_PKG_VERSION")))];
    match Settings::read(&place.data, &place.flags()) {
        Ok(settings) => {
            findings.push(Finding::fine("the settings can be read"));
            findings.extend(starter_data(&settings));
            findings.extend(look(place, &settings).await);
            findings.extend(remote::look(&settings).await.into_iter().map(service));
            findings.extend(search::look(&place.data).await);
        }
        Err(error) => findings.push(Finding::wrong(
            format!("{:#}", anyhow::Error::from(error)),
            format!("mend {} or the MATERIA_ variables", place.data.join("materia.toml").display()),
        )),
    }
    let lines = findings.iter().flat_map(|finding| {
        let mark = match (finding.is_fine, &finding.advice) {
            (true, None) => "ok     ",
            (true, Some(_)) => "note   ",
            (false, _) => "WRONG  ",
        };
        let advice = finding.advice.as_ref().map(|advice| format!("         {advice}"));
        std::iter::once(format!("{mark}{}", finding.what)).chain(advice)
    });
    print_lines(lines)?;
    let all_fine = findings.iter().all(|finding| finding.is_fine);
    Ok(if all_fine { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// A folder may have been made without them long ago, by somebody else.
fn starter_data(settings: &Settings) -> Option<Finding> {
    let left_out = || {
        Finding::lacking(
            "the facts that come with the program are left out (`materia config` says why: `starter_data`)",
            "`materia serve --starter-data` loads them, unless a setting keeps them out",
        )
    };
    (!settings.starter_data).then(left_out)
}

async fn look(place: &Place, settings: &Settings) -> Vec<Finding> {
    let mut findings: Vec<Finding> = room(&place.data).into_iter().collect();
    let holds_database = settings.database_url.is_some() || place.data.join("materia.db").exists();
    if !holds_database && !has_owner(&place.data) {
        findings.push(no_data(&place.data));
        findings.extend(ports(settings));
        return findings;
    }
    match assemble::look(place.data.clone(), settings).await {
        Ok(house) => {
            let who = if house.is_owner() { "no other process uses it" } else { "a running process owns it" };
            findings.push(Finding::fine(format!("data folder {} ({who})", place.data.display())));
            let standing = house.database_standing().await;
            findings.push(database(&standing));
            // Without it the rest is what the owner last knew.
            if standing.problem().is_none() {
                findings.extend(damage(&house).await);
                findings.extend(laxity(&house).await);
                findings.extend(house.log_standing().await.as_ref().map(log));
                findings.extend(house.witness_standings().await.iter().map(witness));
            }
            if let Some(platform) = house.platform() {
                findings.extend(files(platform.files().check_all().await));
            }
            let is_running = !house.is_owner();
            if let Err(error) = house.close().await {
                findings.push(Finding::wrong(error.to_string(), "is the disk full, or the database locked or away?"));
            }
            if !is_running {
                findings.extend(ports(settings));
            }
        }
        Err(error) => {
            let advice = advice(&error);
            findings.push(Finding::wrong(format!("{:#}", anyhow::Error::from(error)), advice));
        }
    }
    for issuer in &settings.oauth {
        findings.push(match oauth::count_keys(issuer).await {
            Ok(0) => Finding::wrong(
                format!("{} publishes no key that fits the setting `algorithms`", issuer.issuer),
                "which algorithms does it sign with?",
            ),
            Ok(n_keys) => Finding::fine(format!("{} publishes {n_keys} keys for its tokens", issuer.issuer)),
            Err(error) => Finding::wrong(
                format!("{:#}", anyhow::Error::from(error)),
                "is `jwks_url` or `jwks_file` right, and in reach from here?",
            ),
        });
    }
    if let Ok(metadata) = std::fs::metadata(&place.data) {
        let mode = metadata.permissions().mode() & 0o777;
        if mode & 0o022 != 0 {
            findings.push(Finding::wrong(
                format!("others may write to the data folder (mode {mode:o})"),
                format!("chmod 700 {}", place.data.display()),
            ));
        }
    }
    let token = place.data.join("token");
    if let Ok(metadata) = std::fs::metadata(&token) {
        let mode = metadata.permissions().mode() & 0o777;
        findings.push(if mode & 0o077 == 0 {
            Finding::fine("the start token is readable by its owner alone")
        } else {
            Finding::wrong(format!("the start token has mode {mode:o}"), format!("chmod 600 {}", token.display()))
        });
    }
    findings
}

/// A folder without a database: whether `materia serve` could make one there.
fn no_data(folder: &Path) -> Finding {
    let is_there = |place: &&Path| place.exists() || place.as_os_str().is_empty();
    let nearest = folder.ancestors().find(is_there).unwrap_or(folder);
    let nearest = if nearest.as_os_str().is_empty() { Path::new(".") } else { nearest };
    if !nearest.is_dir() {
        return Finding::wrong(
            format!("{} is no folder, so no data can be kept in {}", nearest.display(), folder.display()),
            "give a folder with --data",
        );
    }
    match rustix::fs::access(nearest, Access::WRITE_OK | Access::EXEC_OK) {
        Ok(()) => Finding::fine(format!("{} holds no data yet; `materia serve` makes it", folder.display())),
        Err(error) => Finding::wrong(
            format!("{} holds no data, and nothing can be written to {}: {error}", folder.display(), nearest.display()),
            "is the folder yours, and may you write to it? Give another with --data",
        ),
    }
}

/// With less, the next write or the next start fails.
const ROOM_BYTES_MIN: u64 = 1024 * 1024;

const MAKE_ROOM: &str = "make room on the disk of the database";

/// Whether the folder's disk takes anything more: a database that answers reads may take no write.
fn room(folder: &Path) -> Option<Finding> {
    let disk = rustix::fs::statvfs(folder).ok()?;
    no_room(folder, disk.f_bavail.saturating_mul(disk.f_frsize))
}

fn no_room(folder: &Path, n_bytes: u64) -> Option<Finding> {
    let told = || {
        format!(
            "the disk of {} is full: {} KiB are left of at least {}",
            folder.display(),
            n_bytes / 1024,
            ROOM_BYTES_MIN / 1024
        )
    };
    (n_bytes < ROOM_BYTES_MIN).then(|| Finding::wrong(told(), MAKE_ROOM))
}

fn database(standing: &DatabaseStanding) -> Finding {
    match standing {
        DatabaseStanding::Fine => Finding::fine("the database answers"),
        DatabaseStanding::Full { reason } => Finding::wrong(reason, MAKE_ROOM),
        DatabaseStanding::Unreachable { reason } => Finding::wrong(
            format!("the database does not answer: {reason}"),
            "is it running, and in reach of its owner?",
        ),
    }
}

/// Reading a whole file takes its time.
const LOOKED_FOR_DAMAGE: Duration = Duration::from_secs(30);

const DAMAGED: &str = "stop the server and put a backup into a new folder (`materia restore`)";

async fn damage(house: &House) -> Option<Finding> {
    match tokio::time::timeout(LOOKED_FOR_DAMAGE, house.find_damage()).await {
        Ok(Ok(None)) => None,
        Err(_) => {
            let waited_s = LOOKED_FOR_DAMAGE.as_secs();
            Some(Finding::fine(format!("the file of the database was not read to its end within {waited_s} s")))
        }
        // The text names pages and tables, and nothing of what is in them.
        Ok(Ok(Some(found))) => Some(Finding::wrong(format!("the file of the database is damaged: {found}"), DAMAGED)),
        Ok(Err(error)) => Some(Finding::wrong(format!("the file of the database cannot be read: {error}"), DAMAGED)),
    }
}

/// Whether the database keeps what it says it keeps.
async fn laxity(house: &House) -> Vec<Finding> {
    let found = house.find_laxity().await.unwrap_or_default();
    let told = |setting: String| match setting.as_str() {
        "synchronous_commit" => Finding::lacking(
            "`synchronous_commit` is off for this database or role; the server sets it on for its own connections",
            "set it on: whatever else writes to this database may lose what it was told is kept",
        ),
        _ => Finding::wrong(
            format!(
                "`{setting}` of the PostgreSQL server is off: a loss of power can take away or damage what was kept"
            ),
            format!("set `{setting} = on` in postgresql.conf"),
        ),
    };
    found.into_iter().map(told).collect()
}

/// Whether the files beside the record say what it says. A running server tells of them in its log.
fn files(checked: Result<ops::FilesReport, store::StoreError>) -> Vec<Finding> {
    let strays = checked.as_ref().ok().filter(|report| report.n_strays > 0).map(|report| {
        Finding::lacking(
            format!("{} files belong to no document: {}", report.n_strays, named(&report.strays, report.n_strays)),
            "nothing reads them; store what is meant to be a document, and move the rest away",
        )
    });
    let compared = match checked {
        Ok(report) if report.n_changed + report.n_failed == 0 => {
            Finding::fine(format!("{} documents stand as files", report.n_checked))
        }
        Ok(report) => Finding::wrong(
            format!(
                "{} documents differ from their files, {} could not be compared with them{}",
                report.n_changed,
                report.n_failed,
                match report.changed.is_empty() {
                    true => String::new(),
                    false => format!(": {}", named(&report.changed, report.n_changed)),
                }
            ),
            "`materia audit verify` tells whether the record was changed by other hands; if it was not, the file was: \
             store an edited file as a new version, or delete it and run `materia rebuild`",
        ),
        Err(error) => Finding::wrong(format!("the files could not be compared: {error}"), "is the database running?"),
    };
    std::iter::once(compared).chain(strays).collect()
}

/// The first of so many files.
fn named(files: &[String], n: u64) -> String {
    let more = if u64::try_from(files.len()).is_ok_and(|shown| shown < n) { ", …" } else { "" };
    format!("{}{more}", files.join(", "))
}

/// What helps when a house cannot be entered.
pub fn advice(error: &AssembleError) -> &'static str {
    use store::{OpenError, StoreErrorKind};
    match error {
        AssembleError::House(HouseError::Store(error))
            if error.answered().is_some_and(|answered| *answered.kind() == StoreErrorKind::DiskFull) =>
        {
            MAKE_ROOM
        }
        AssembleError::Catalogue(_) => "mend the files in `workflow_folder`, or leave the setting out",
        AssembleError::Remote(_) => "check `tasks_url`, `ids_url` and their keys",
        AssembleError::Eutils(_) | AssembleError::Trapi(_) => "check the addresses of PubMed and of the graph's server",
        AssembleError::House(HouseError::Folder { .. } | HouseError::Destroyed(_) | HouseError::Socket { .. }) => {
            "is the folder yours, and may you write to it? Give another with --data"
        }
        AssembleError::House(HouseError::Store(error)) => match error {
            OpenError::SchemaTooNew { .. } => "use the program that wrote it, or a newer one",
            OpenError::Unreachable { .. } | OpenError::ParseUrl { .. } => "mend the database or `database_url`",
            OpenError::Damaged { .. } | OpenError::ReadEvents { .. } => DAMAGED,
            OpenError::Connect { .. } => "is the database running, and may you use it?",
            OpenError::CreateFile { .. } => "is there room on the disk, and may you write to the folder?",
            OpenError::SqliteTooOld { .. } | OpenError::DuplicateMigration { .. } => "build the program anew",
            OpenError::ChangedMigration { .. } | OpenError::ReadMigrations { .. } | OpenError::Migrate { .. } => {
                "the database may be damaged, read-only or somebody else's: `materia restore` puts a backup into an empty one"
            }
        },
        AssembleError::House(HouseError::Rollback(_)) => {
            "is it the right database (--data, --database-url)? Only after a restore that lost events on purpose: \
             `materia recover --accept-rollback`"
        }
        AssembleError::House(HouseError::Key(_)) => "put the log's key back from where you keep it, mode 0600",
        AssembleError::House(HouseError::Witnesses(_)) => "check the settings of [[witness]]",
        AssembleError::House(HouseError::OtherDatabase) => "leave out --database-url, or give another --data",
        AssembleError::House(HouseError::Guest(_)) => "the owner hangs or starts: end it, or try again in a moment",
        AssembleError::House(HouseError::Table(_) | HouseError::Platform(_)) => "look at the log for the reason",
    }
}

fn log(standing: &LogStanding) -> Finding {
    match standing {
        LogStanding::Fine => Finding::fine("the log grows, and continues what was signed"),
        LogStanding::Contradicted { reason } => Finding::wrong(
            format!("the log does not continue what was signed: {reason}"),
            "run `materia audit verify`; find out who changed or restored the database",
        ),
        LogStanding::Stopped { reason } => Finding::wrong(
            format!("the log does not grow, and nothing is written: {reason}"),
            "run `materia audit verify`: it names the rows that are in the way",
        ),
        LogStanding::Stalled { reason } => Finding::wrong(
            format!("the log does not grow: {reason}"),
            "run `materia audit verify`, and look at the server's log for the reason",
        ),
        LogStanding::Doubted { reason } => Finding::wrong(
            format!("the log grows, but was found in doubt: {reason}"),
            "run `materia audit verify` and find out who wrote to the database; `materia recover --accept-rollback` ends it",
        ),
    }
}

fn witness(found: &WitnessStanding) -> Finding {
    let what = format!("the witness {} {}", found.name, found.standing);
    match &found.standing {
        Standing::Unknown | Standing::Cosigned { .. } => Finding::fine(what),
        Standing::Unreachable { .. } => Finding::wrong(what, "is it running, and `url` of [[witness]] right?"),
        Standing::Refused { .. } => Finding::wrong(what, "does whoever runs it know this log's key?"),
        Standing::Ahead { .. } | Standing::Forked { .. } => {
            Finding::wrong(what, "run `materia audit verify`; find out who changed or restored the database")
        }
    }
}

/// A service of another server that this one needs.
fn service(Looked { setting, problem }: Looked) -> Finding {
    match problem {
        None => Finding::fine(format!("the service of another server answers ({setting})")),
        Some(Problem { what, advice }) => {
            Finding::wrong(format!("the service of another server does not serve ({setting}): {what}"), advice)
        }
    }
}

fn ports(settings: &Settings) -> Vec<Finding> {
    let wanted = [
        ("listen", settings.listen),
        ("tasks_listen", settings.tasks_listen),
        ("ids_listen", settings.ids_listen),
        ("grpc_listen", settings.grpc_listen),
    ];
    let check = |(setting, address): (&str, SocketAddr)| match TcpListener::bind(address) {
        Ok(_) => Finding::fine(format!("{address} is free ({setting})")),
        Err(error) => Finding::wrong(
            format!("{address} cannot be used ({setting}): {error}"),
            format!("stop what listens there, or set `{setting}`"),
        ),
    };
    wanted.into_iter().map(check).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_disk_without_room_is_wrong() {
        let folder = testkit::temp_dir();
        assert!(no_room(folder.path(), 1024 * 1024).is_none());
        let found = no_room(folder.path(), 4096).unwrap();
        assert!(!found.is_fine && found.what.ends_with("is full: 4 KiB are left of at least 1024"), "{}", found.what);
        assert!(room(folder.path()).is_none(), "these tests have room");
    }
}
