//! The command line.

mod artifact;
mod audit;
mod backup;
mod call;
mod config;
mod data;
mod doctor;
mod export;
mod import;
mod key;
mod lexicon;
mod mcp;
mod models;
mod rebuild;
mod recover;
mod serve;
mod stop;
mod table;
mod task;
mod tools;
mod witness;

use std::io::{IsTerminal as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{CommandFactory, Parser, Subcommand};
use clap_complete::Shell;
use ops::Unrecorded;
use uuid::Uuid;

use crate::assemble;
use crate::assemble::AssembleError;
use crate::owner::{House, has_owner, notary, store_options};
use crate::settings::{Settings, chosen, data_folder};

const EXAMPLES: &str = "\
Examples:
  materia serve                              serve on this machine and print the start URL
  materia serve --data ./demo --listen 127.0.0.1:0 --json
  materia mcp                                speak MCP on standard input and output
  materia call get_next_available_id '{\"artifact_type\":\"backlog_story\"}'
  materia import pubmed pubmed25n0001.xml.gz
  materia tools                              list what can be called
  materia doctor                             what is installed, what is missing, what to do";

/// Trusted tools for medical AI agents: typed, validated, recorded.
#[derive(Parser)]
#[command(name = "materia", version, after_help = EXAMPLES)]
struct Arguments {
    /// Data folder [default: $MATERIA_DATA, else the user's data folder]
    #[arg(long, global = true, value_name = "DIR")]
    data: Option<PathBuf>,
    /// PostgreSQL URL; without it, an embedded database in the data folder
    #[arg(long, global = true, value_name = "URL")]
    database_url: Option<String>,
    /// For `serve`, `mcp`, `call` and `import`: leave out the facts that come with the program, from now on in this folder;
    /// those that were loaded before stay
    #[arg(long, global = true)]
    no_starter_data: bool,
    /// For the same commands: load the facts that come with the program, where the folder was to be without them
    #[arg(long, global = true, conflicts_with = "no_starter_data")]
    starter_data: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Serve MCP, REST, the services of ports 8080 and 8081, and the web pages
    Serve(serve::Arguments),
    /// Speak MCP on standard input and output, for clients that start their servers
    Mcp(mcp::Arguments),
    /// Call one operation through the door and print its output
    Call(call::Arguments),
    /// List the operations
    Tools(tools::ListArguments),
    /// Print the JSON Schemas of an operation
    Schema(tools::SchemaArguments),
    /// Make, list and revoke API keys
    Key(key::Arguments),
    /// Validate, store and approve documents, list and compare them
    Artifact(artifact::Arguments),
    /// Look at tasks, take one, complete it
    Task(task::Arguments),
    /// Import papers, graphs and codes from public files
    Import(import::Arguments),
    /// Export papers as citations, the graph as KGX
    Export(export::Arguments),
    /// Check the facts that come with the program
    Data(data::Arguments),
    /// List, get and choose the embedding model that search by meaning uses
    Models(models::Arguments),
    /// List and get Thai-English dictionaries for search across both languages
    Lexicon(lexicon::Arguments),
    /// Show every setting, its value and where it comes from
    #[command(after_help = "Examples:\n  materia config\n  MATERIA_RATE_PER_SECOND=50 materia config --data ./demo")]
    Config,
    /// Check what is installed, what is missing and what to do about it
    #[command(after_help = "Examples:\n  materia doctor\n  materia doctor --data ./demo\n\n\
        The exit code is 1 if anything is wrong.")]
    Doctor,
    /// Verify the log, prove an event, export events, get a signed checkpoint
    #[command(subcommand)]
    Audit(audit::Command),
    /// Cosign the checkpoints of logs, as a small server of its own
    Witness(witness::Arguments),
    /// Copy the whole record into a new folder, while the server serves
    Backup(backup::BackupArguments),
    /// Put a backup into an empty database and verify it
    Restore(backup::RestoreArguments),
    /// Start again after a database was rolled back on purpose
    Recover(recover::Arguments),
    /// Rebuild what is derived from the record
    #[command(after_help = "Example:\n  materia rebuild --data ./demo\n\n\
        Files that differ from the record are named and left alone. A server that runs on the folder does the \
        work, and answers from what it has until it is done; the indexes of other organisations than \
        `organisation_id` are then left as they are.")]
    Rebuild,
    /// Print completions for a shell
    #[command(after_help = "Example:\n  materia completions bash > ~/.local/share/bash-completion/completions/materia")]
    Completions { shell: Shell },
}

/// Where a command works.
struct Place {
    data: PathBuf,
    database_url: Option<String>,
    /// What the flag says; absent leaves it to the settings.
    starter_data: Option<bool>,
}

impl Place {
    fn flags(&self) -> crate::settings::Flags {
        crate::settings::Flags {
            database_url: self.database_url.clone(),
            starter_data: self.starter_data,
            ..Default::default()
        }
    }

    /// The house of this place, as [`assemble::enter`] opens it. The folder remembers what the flags say of starter data.
    async fn enter(&self, settings: &Settings) -> anyhow::Result<Arc<House>> {
        let told = || format!("could not write to {}", self.data.display());
        chosen::keep(&self.data, self.starter_data).with_context(told)?;
        Ok(assemble::enter(self.data.clone(), settings).await?)
    }
}

/// Runs the program. What is awaited here is compiled here; a binary that awaited it would compile all of it once more.
#[tokio::main]
pub async fn main() -> ExitCode {
    match run().await {
        Ok(code) => code,
        Err(error) => {
            say(format_args!("error: {error:#}"));
            if let Some(error) = error.chain().find_map(|cause| cause.downcast_ref::<AssembleError>()) {
                say(format_args!("help: {}", doctor::advice(error)));
            }
            ExitCode::from(2)
        }
    }
}

async fn run() -> anyhow::Result<ExitCode> {
    let arguments = Arguments::parse();
    let starter_data = match (arguments.starter_data, arguments.no_starter_data) {
        (true, _) => Some(true),
        (false, true) => Some(false),
        (false, false) => None,
    };
    let loads =
        matches!(arguments.command, Command::Serve(_) | Command::Mcp(_) | Command::Call(_) | Command::Import(_));
    let looks = matches!(arguments.command, Command::Config | Command::Doctor);
    if starter_data.is_some() && !loads && !looks {
        // It would be accepted and forgotten.
        anyhow::bail!(
            "--starter-data and --no-starter-data are for `serve`, `mcp`, `call` and `import`, which load them"
        );
    }
    let place = Place { data: data_folder(arguments.data)?, database_url: arguments.database_url, starter_data };
    match arguments.command {
        Command::Serve(arguments) => serve::run(place, arguments).await,
        Command::Mcp(arguments) => mcp::run(place, &arguments).await,
        Command::Call(arguments) => call::run(place, arguments).await,
        Command::Tools(arguments) => tools::list(&arguments),
        Command::Schema(arguments) => tools::schema(&arguments),
        Command::Key(arguments) => key::run(place, arguments).await,
        Command::Artifact(arguments) => artifact::run(place, arguments).await,
        Command::Task(arguments) => task::run(place, arguments).await,
        Command::Export(arguments) => export::run(place, arguments).await,
        Command::Import(arguments) => import::run(place, arguments).await,
        Command::Data(arguments) => data::run(&arguments),
        Command::Models(arguments) => models::run(place, arguments).await,
        Command::Lexicon(arguments) => lexicon::run(place, arguments).await,
        Command::Config => config::run(&place),
        Command::Doctor => doctor::run(&place).await,
        Command::Audit(command) => audit::run(place, command).await,
        Command::Witness(arguments) => witness::run(&place, arguments).await,
        Command::Backup(arguments) => backup::back_up(place, arguments).await,
        Command::Restore(arguments) => backup::put_back(place, arguments).await,
        Command::Recover(arguments) => recover::run(&place, &arguments).await,
        Command::Rebuild => rebuild::run(place).await,
        Command::Completions { shell } => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Arguments::command(), "materia", &mut script);
            print_lines(String::from_utf8_lossy(&script).lines().map(str::to_owned))?;
            Ok(ExitCode::SUCCESS)
        }
    }
}

/// A command for what is there makes no database: a mistyped folder would look like an empty house. Where a process owns the
/// folder, its database may be anywhere; it is asked.
fn must_be_there(place: &Place, settings: &Settings) -> anyhow::Result<()> {
    if settings.database_url.is_none() && !place.data.join("materia.db").exists() && !has_owner(&place.data) {
        anyhow::bail!("there is no database in {}; is --data right?", place.data.display());
    }
    Ok(())
}

/// As [`must_be_there`], for commands about the log: a database of a server may be there and hold none, and to look at it would
/// begin one. A folder that knows of a log is compared with the database, empty or not.
async fn must_have_log(place: &Place, settings: &Settings) -> anyhow::Result<()> {
    must_be_there(place, settings)?;
    let Some(url) = &settings.database_url else { return Ok(()) };
    if has_owner(&place.data) || notary::checkpoint_file(&place.data).exists() {
        return Ok(());
    }
    if !store::has_log(&store_options(&place.data, Some(url))).await? {
        anyhow::bail!("there is no log in that database, nothing was begun in it; is --database-url right?");
    }
    Ok(())
}

/// Prints lines to standard output; a reader that went away (`| head`) is not an error. A terminal would obey what a
/// document says to it, so there it is shown instead.
fn print_lines(lines: impl IntoIterator<Item = String>) -> anyhow::Result<()> {
    let is_terminal = std::io::stdout().is_terminal();
    print_shown(lines.into_iter().map(|line| if is_terminal { visible(&line) } else { line }))
}

/// As [`print_lines`], for lines that hold nobody's words, or none that were not made [`visible`].
fn print_shown(lines: impl IntoIterator<Item = String>) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    for line in lines {
        match writeln!(out, "{line}") {
            Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => return Ok(()),
            written => written?,
        }
    }
    Ok(())
}

/// How a command ends that did what it was told and could not say so.
const ANSWER_LOST: u8 = 3;

/// Prints what a call answered. The call was made whether or not that succeeds: who took it for a failure would make it
/// twice.
fn print_answer(call_id: Uuid, lines: impl IntoIterator<Item = String>) -> ExitCode {
    after_printing(call_id, print_lines(lines))
}

/// As [`print_answer`], for a document. Whoever keeps what is printed keeps its very bytes, and so its hash.
fn print_document(call_id: Uuid, text: &str) -> ExitCode {
    if std::io::stdout().is_terminal() {
        return print_answer(call_id, [text.trim_end_matches('\n').to_owned()]);
    }
    let written = std::io::stdout().lock().write_all(text.as_bytes());
    let written = written.and_then(|()| std::io::stdout().lock().flush());
    let is_fine = |error: &std::io::Error| error.kind() == std::io::ErrorKind::BrokenPipe;
    after_printing(call_id, written.or_else(|error| if is_fine(&error) { Ok(()) } else { Err(error.into()) }))
}

/// How a command ends whose events could not all be stored.
const UNRECORDED: u8 = 4;

/// What was answered stands, and the log does not know of it: whoever relies on the log has to hear that.
fn after_closing(closed: Result<(), Unrecorded>, code: ExitCode) -> ExitCode {
    let Err(error) = closed else { return code };
    say(format_args!("error: {:#}", anyhow::Error::from(error)));
    if code == ExitCode::SUCCESS { ExitCode::from(UNRECORDED) } else { code }
}

fn after_printing(call_id: Uuid, printed: anyhow::Result<()>) -> ExitCode {
    match printed {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            say(format_args!("error: the call {call_id} was made, but its answer could not be written: {error:#}"));
            ExitCode::from(ANSWER_LOST)
        }
    }
}

/// Says something to whoever watches. Where standard error is broken nobody does, and the work must not end for that.
pub fn say(line: impl std::fmt::Display) {
    drop(writeln!(std::io::stderr().lock(), "{line}"));
}

/// Text with every character that cannot be seen written out.
pub fn visible(text: &str) -> String {
    let mut seen = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => seen.push(c),
            c if workflow::metadata::is_invisible(c) => seen.extend(c.escape_unicode()),
            c => seen.push(c),
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_shown_what_it_would_obey() {
        assert_eq!(visible("a\u{1b}[2J\tb\nค \u{202e}x"), "a\\u{1b}[2J\tb\nค \\u{202e}x");
    }

    /// Every command that does something says by example how it is used.
    fn check_examples(command: &clap::Command, path: &str) {
        for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
            check_examples(inner, &format!("{path} {}", inner.get_name()));
        }
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        assert!(help.contains("Example") && help.contains(path), "`{path}` shows no example");
    }

    #[test]
    fn every_command_shows_an_example() {
        check_examples(&Arguments::command(), "materia");
    }
}
