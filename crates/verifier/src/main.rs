//! `materia-verify`: checks proofs, checkpoints and exports of a ledger without the server that wrote them.
//!
//! Exit code 0: valid. 1: invalid. 2: could not be checked (arguments, unreadable files).

use std::{
    fs::File,
    io::{BufReader, Read},
    path::{Path, PathBuf},
    process::ExitCode,
};

use anyhow::{Context, Result, anyhow, bail};
use clap::{Args, Parser, Subcommand};
use verifier::{
    consistency, export, proof,
    trust::Trust,
    verdict::{self, Invalid, Valid},
};

/// Larger than any proof, checkpoint or event.
const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

#[derive(Parser)]
#[command(version, about = "Check proofs, checkpoints and exports of a Materia ledger, offline and independently")]
#[command(after_help = "Exit code: 0 valid, 1 invalid, 2 could not be checked.")]
struct Arguments {
    #[command(subcommand)]
    check: Check,
    /// Print the verdict as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Check {
    /// Is this event in the log?
    Proof {
        /// The exact bytes of the event
        #[arg(long, value_name = "EVENT.json")]
        event: PathBuf,
        /// The proof (C2SP tlog-proof)
        #[arg(long, value_name = "FILE.tlog-proof")]
        proof: PathBuf,
        #[command(flatten)]
        trust: TrustArguments,
    },
    /// Is this export the whole log, unchanged?
    Log {
        /// One line for each event, from 0: {"leaf_index":N,"event":"…"}; an event of another organisation is there by its
        /// hash alone, {"leaf_index":N,"leaf_hash":"…"}, and the verdict says how many are
        #[arg(long, value_name = "EXPORT.ndjson")]
        events: PathBuf,
        /// The signed checkpoint of the whole log
        #[arg(long, value_name = "FILE")]
        checkpoint: PathBuf,
        /// An earlier checkpoint, to show that nothing before it was changed since
        #[arg(long, value_name = "CHECKPOINT")]
        previous: Option<PathBuf>,
        #[command(flatten)]
        trust: TrustArguments,
    },
    /// Does a later checkpoint continue an earlier one?
    Consistency {
        /// The earlier checkpoint
        #[arg(long, value_name = "CHECKPOINT")]
        previous: PathBuf,
        /// The proof with the later checkpoint, as it is sent to witnesses (C2SP tlog-witness)
        #[arg(long, value_name = "FILE")]
        proof: PathBuf,
        #[command(flatten)]
        trust: TrustArguments,
    },
}

#[derive(Args)]
struct TrustArguments {
    /// The log's verifier key, NAME+ID+BASE64; more than one while keys overlap
    #[arg(long, value_name = "VKEY", required = true)]
    key: Vec<String>,
    /// The verifier key of a witness
    #[arg(long, value_name = "VKEY")]
    witness: Vec<String>,
    /// How many of the witnesses must have cosigned [default: all]
    #[arg(long, value_name = "NUMBER")]
    threshold: Option<usize>,
}

impl TrustArguments {
    fn read(&self) -> Result<Trust> {
        Trust::new(&self.key, &self.witness, self.threshold).map_err(|message| anyhow!(message))
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let (name, found) = match &arguments.check {
        Check::Proof { event, proof, trust } => ("proof", check_proof(event, proof, trust)),
        Check::Log { events, checkpoint, previous, trust } => {
            ("log", check_log(events, checkpoint, previous.as_deref(), trust))
        }
        Check::Consistency { previous, proof, trust } => ("consistency", check_consistency(previous, proof, trust)),
    };
    match found {
        Ok(found) => {
            let text = if arguments.json { verdict::to_json(name, &found).to_string() } else { verdict::text(&found) };
            println!("{text}");
            if found.is_ok() { ExitCode::SUCCESS } else { ExitCode::from(1) }
        }
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}

fn check_proof(event: &Path, proof: &Path, trust: &TrustArguments) -> Result<Result<Valid, Invalid>> {
    let trust = trust.read()?;
    let event = read(event)?;
    Ok(read_text(proof)?.and_then(|proof| proof::check(&event, &proof, &trust)))
}

fn check_log(
    events: &Path,
    checkpoint: &Path,
    previous: Option<&Path>,
    trust: &TrustArguments,
) -> Result<Result<Valid, Invalid>> {
    let trust = trust.read()?;
    let file = open(events)?;
    let trusted = match read_text(checkpoint)?.and_then(|note| trust.check(&note)) {
        Ok(trusted) => trusted,
        Err(invalid) => return Ok(Err(invalid)),
    };
    let previous = match previous.map(read_text).transpose()? {
        Some(note) => match note.and_then(|note| trust.check_log_only(&note)) {
            Ok(previous) => Some(previous),
            Err(invalid) => return Ok(Err(of_earlier(invalid))),
        },
        None => None,
    };
    export::check(BufReader::new(file), trusted, previous.as_ref())
        .with_context(|| format!("could not read `{}`", events.display()))
}

fn check_consistency(previous: &Path, proof: &Path, trust: &TrustArguments) -> Result<Result<Valid, Invalid>> {
    let trust = trust.read()?;
    let (previous, proof) = (read_text(previous)?, read_text(proof)?);
    Ok(previous.and_then(|previous| consistency::check(&previous, &proof?, &trust)))
}

/// Says which of two checkpoints is meant.
fn of_earlier(invalid: Invalid) -> Invalid {
    Invalid { message: format!("the earlier checkpoint: {}", invalid.message), ..invalid }
}

fn open(path: &Path) -> Result<File> {
    File::open(path).with_context(|| format!("could not open `{}`", path.display()))
}

fn read(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let n_read = open(path)?.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes);
    let n_read = n_read.with_context(|| format!("could not read `{}`", path.display()))?;
    if u64::try_from(n_read)? > FILE_BYTES_MAX {
        bail!("`{}` is longer than {FILE_BYTES_MAX} bytes", path.display());
    }
    Ok(bytes)
}

/// The outer error is one of reading; bytes that are no text are invalid, as is any other change of them.
fn read_text(path: &Path) -> Result<Result<String, Invalid>> {
    let text = String::from_utf8(read(path)?);
    Ok(text.map_err(|_| Invalid::new("MALFORMED_NOTE", format!("`{}` is not UTF-8", path.display()))))
}
