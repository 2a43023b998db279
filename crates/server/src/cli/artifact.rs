//! `materia artifact`: validate, store, approve and move documents, and look at them.

mod review;
mod shown;

use std::io::{IsTerminal as _, Read as _};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context as _, bail};
use contract::dialect;
use contract::workflow::artifacts::{ArtifactContent, CONTENT_CHARS_MAX};
use ops::Call;
use serde_json::{Map, Value, json};
use uuid::Uuid;
use workflow::catalogue::Catalogue;
use workflow::markdown::Document;
use workflow::metadata;

use self::review::Reviewed;
use self::shown::{read, shown};
use super::{Place, after_closing, must_be_there, print_answer, print_document, say, visible};
use crate::assemble;
use crate::auth::owner;
use crate::settings::Settings;
use crate::telemetry;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  materia artifact validate PRD-006.md\n  materia artifact store PRD-006.md\n  \
    materia artifact approve PRD-006 --meaning \"agreed in the review of 3 March\"\n  \
    materia artifact status EPIC-006 \"In Progress\"\n  \
    materia artifact list --type prd --status Draft\n  materia artifact show PRD-006 > PRD-006.md\n  \
    materia artifact history PRD-006\n  materia artifact diff PRD-006 1 2")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Project of the documents [default: the setting `default_project_id`]
    #[arg(long, global = true, value_name = "ID")]
    project: Option<String>,
    /// Print the operation's output as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Check a document against the checklist of its type; exit code 1 if it fails
    #[command(
        after_help = "Examples:\n  materia artifact validate PRD-006.md\n  cat draft.md | materia artifact validate - --id PRD-006"
    )]
    Validate {
        /// Markdown file, or `-` for standard input
        file: PathBuf,
        /// Id to check it under [default: the one in its metadata]
        #[arg(long, value_name = "ID")]
        id: Option<String>,
    },
    /// Store a document as a new version
    #[command(
        after_help = "Examples:\n  materia artifact store PRD-006.md\n  materia artifact store notes.md --file-name herbs_business_research"
    )]
    Store {
        /// Markdown file, or `-` for standard input
        file: PathBuf,
        /// File name of a document without an id
        #[arg(long, value_name = "NAME")]
        file_name: Option<String>,
    },
    /// Approve the latest version of a document
    #[command(after_help = "Example:\n  materia artifact approve PRD-006 --meaning \"agreed in the review\"")]
    Approve {
        /// Such as PRD-006, or the file name of a document without an id
        id: String,
        /// SHA-256 of what you reviewed, as `artifact show` tells it; anything else is refused. Without it the latest version
        /// is approved: at a terminal you are asked about it, elsewhere the record says that no hash was named
        #[arg(long, value_name = "HEX")]
        sha256: Option<String>,
        /// What your approval means
        #[arg(long, value_name = "TEXT")]
        meaning: Option<String>,
    },
    /// Move an approved document to another status of its type, or withdraw it
    #[command(
        after_help = "Examples:\n  materia artifact status EPIC-006 \"In Progress\"\n  materia artifact status SPEC-002 Deprecated --version 1"
    )]
    Status {
        /// Such as EPIC-006
        id: String,
        /// Such as Planned, "In Progress", Completed or Deprecated; one that its type does not have is refused with those
        /// that it has
        status: String,
        /// [default: the latest]
        #[arg(long, value_name = "N")]
        version: Option<u32>,
        /// SHA-256 of what you read; anything else is refused
        #[arg(long, value_name = "HEX")]
        sha256: Option<String>,
    },
    /// List documents
    #[command(
        after_help = "Examples:\n  materia artifact list --type prd --status Draft\n  materia artifact list --parent EPIC-006 --json"
    )]
    List {
        /// Name or prefix of a type
        #[arg(long = "type", value_name = "TYPE")]
        artifact_type: Option<String>,
        #[arg(long, value_name = "STATUS")]
        status: Option<String>,
        /// Id of the parent
        #[arg(long, value_name = "ID")]
        parent: Option<String>,
        /// 1 to 200
        #[arg(long, value_name = "N", default_value_t = 50)]
        limit: u32,
        /// The cursor that the page before ended with
        #[arg(long, value_name = "CURSOR")]
        cursor: Option<String>,
    },
    /// Print a document
    #[command(after_help = "Example:\n  materia artifact show PRD-006 > PRD-006.md")]
    Show {
        /// Such as PRD-006
        id: String,
        /// [default: the latest]
        #[arg(long, value_name = "N")]
        version: Option<u32>,
    },
    /// Show every state that a document was in
    #[command(after_help = "Example:\n  materia artifact history PRD-006")]
    History {
        /// Such as PRD-006
        id: String,
    },
    /// Show what changed between two versions; `1.1` is the first revision of version 1
    #[command(after_help = "Example:\n  materia artifact diff PRD-006 1 2")]
    Diff {
        /// Such as PRD-006
        id: String,
        from: String,
        /// [default: the latest]
        to: Option<String>,
    },
}

pub async fn run(place: Place, arguments: Arguments) -> anyhow::Result<ExitCode> {
    let mut settings = Settings::read(&place.data, &place.flags())?;
    if std::env::var_os("MATERIA_LOG").is_none() {
        "off".clone_into(&mut settings.log);
    }
    telemetry::start(&settings.log, settings.log_format);
    match arguments.command {
        Command::Validate { .. } | Command::Store { .. } => {}
        Command::Approve { .. }
        | Command::Status { .. }
        | Command::List { .. }
        | Command::Show { .. }
        | Command::History { .. }
        | Command::Diff { .. } => must_be_there(&place, &settings)?,
    }
    let (operation, mut input) = input(&arguments.command, &settings)?;
    if let Some(project) = &arguments.project {
        input.insert("project_id".to_owned(), json!(project));
    }
    let house = assemble::look(place.data, &settings).await?;
    let actor = owner(&settings.organisation_id);
    if let Command::Approve { id, sha256: None, .. } = &arguments.command
        && !settings.approval_needs_hash
        && std::io::stdin().is_terminal()
        && std::io::stderr().is_terminal()
    {
        match review::ask(&house, &actor, id, input.get("project_id")).await? {
            Reviewed::Yes { sha256 } => drop(input.insert("content_sha256".to_owned(), json!(sha256))),
            Reviewed::No => {
                return Ok(after_closing(house.close().await, ExitCode::FAILURE));
            }
            Reviewed::Nothing => {}
        }
    }
    let call = Call { operation: operation.to_owned(), input: Value::Object(input), ..Call::default() };
    let reply = house.call(&actor, call).await;
    let closed = house.close().await;
    let code = match reply.result {
        Ok(success) => print_output(&arguments, reply.call_id, success.output)?,
        Err(error) => {
            say(dialect::body(reply.dialect, &error, Some(&reply.audit)));
            ExitCode::FAILURE
        }
    };
    Ok(after_closing(closed, code))
}

fn print_output(arguments: &Arguments, call_id: Uuid, output: Value) -> anyhow::Result<ExitCode> {
    if let (Command::Show { .. }, false) = (&arguments.command, arguments.json) {
        let ArtifactContent { artifact, content, .. } = read(output)?;
        // Beside the document, which may go to a file: an approval names it.
        say(visible(&format!("{} version {}, SHA-256 {}", artifact.id, artifact.version, artifact.content_sha256)));
        return Ok(print_document(call_id, &content));
    }
    let has_failed = output.get("passed") == Some(&Value::Bool(false));
    let lines = if arguments.json { vec![output.to_string()] } else { shown(&arguments.command, output)? };
    let printed = print_answer(call_id, lines);
    Ok(if has_failed { ExitCode::FAILURE } else { printed })
}

fn input(command: &Command, settings: &Settings) -> anyhow::Result<(&'static str, Map<String, Value>)> {
    let (operation, members) = match command {
        Command::Validate { file, id } => {
            let content = read_file(file)?;
            let id = match id {
                Some(id) => id.clone(),
                None => find_id(&content, settings)?,
            };
            ("validate_artifact", vec![("artifact_content", json!(content)), ("artifact_id", json!(id))])
        }
        Command::Store { file, file_name } => {
            ("store_artifact", vec![("artifact_content", json!(read_file(file)?)), ("file_name", json!(file_name))])
        }
        Command::Approve { id, sha256, meaning } => (
            "approve_artifact",
            vec![("artifact_id", json!(id)), ("content_sha256", json!(sha256)), ("meaning", json!(meaning))],
        ),
        Command::Status { id, status, version, sha256 } => (
            "set_artifact_status",
            vec![
                ("artifact_id", json!(id)),
                ("status", json!(status)),
                ("version", json!(version)),
                ("content_sha256", json!(sha256)),
            ],
        ),
        Command::List { artifact_type, status, parent, limit, cursor } => (
            "list_artifacts",
            vec![
                ("artifact_type", json!(artifact_type)),
                ("status", json!(status)),
                ("parent_id", json!(parent)),
                ("limit", json!(limit)),
                ("cursor", json!(cursor)),
            ],
        ),
        Command::Show { id, version } => {
            ("read_artifact", vec![("artifact_id", json!(id)), ("version", json!(version))])
        }
        Command::History { id } => ("list_artifact_revisions", vec![("artifact_id", json!(id))]),
        Command::Diff { id, from, to } => {
            let (from_version, from_revision) = parse_state(from)?;
            let to = to.as_deref().map(parse_state).transpose()?;
            (
                "diff_artifact",
                vec![
                    ("artifact_id", json!(id)),
                    ("from_version", json!(from_version)),
                    ("from_revision", json!(from_revision)),
                    ("to_version", json!(to.map(|(version, _)| version))),
                    ("to_revision", json!(to.and_then(|(_, revision)| revision))),
                ],
            )
        }
    };
    let given = members.into_iter().filter(|(_, value)| !value.is_null());
    Ok((operation, given.map(|(name, value)| (name.to_owned(), value)).collect()))
}

fn read_file(file: &Path) -> anyhow::Result<String> {
    // Four bytes a character at most, and one more to see that it was too much.
    let bytes_max = usize::try_from(CONTENT_CHARS_MAX)? * 4;
    let n_read_max = u64::try_from(bytes_max)? + 1;
    let mut bytes = Vec::new();
    if file.as_os_str() == "-" {
        std::io::stdin().take(n_read_max).read_to_end(&mut bytes).context("could not read standard input")?;
    } else {
        let opened = std::fs::File::open(file).with_context(|| format!("could not open {}", file.display()))?;
        let read = opened.take(n_read_max).read_to_end(&mut bytes);
        read.with_context(|| format!("could not read {}", file.display()))?;
    }
    // What was cut off may end within a character, and would seem to be no text.
    if bytes.len() > bytes_max {
        bail!("{} is larger than any document: at most {CONTENT_CHARS_MAX} characters", file.display());
    }
    String::from_utf8(bytes).with_context(|| format!("{} is no text in UTF-8", file.display()))
}

fn find_id(content: &str, settings: &Settings) -> anyhow::Result<String> {
    let catalogue = match &settings.workflow_folder {
        Some(folder) => std::sync::Arc::new(Catalogue::read(folder)?),
        None => Catalogue::built_in()?,
    };
    metadata::check_line_ends(content)?;
    match metadata::find_id(&catalogue, &Document::parse(content))? {
        Some(id) => Ok(id),
        None => bail!(
            "the document names no id; give --id, which is the file name of a document without one, such as \
             `--id herbs_business_research`: `store` prints it"
        ),
    }
}

/// `2` or `1.1`.
fn parse_state(text: &str) -> anyhow::Result<(u32, Option<u32>)> {
    let (version, revision) = text.split_once('.').map_or((text, None), |(version, rest)| (version, Some(rest)));
    let number = |text: &str| text.parse::<u32>().with_context(|| format!("`{text}` is no version, expected 1 or 1.1"));
    Ok((number(version)?, revision.map(number).transpose()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_a_version_and_perhaps_a_revision() {
        assert_eq!(parse_state("2").unwrap(), (2, None));
        assert_eq!(parse_state("1.3").unwrap(), (1, Some(3)));
        assert!(parse_state("one").is_err());
    }
}
