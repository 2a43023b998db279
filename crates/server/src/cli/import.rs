//! `materia import`: public files into the record, in batches through the door.
//!
//! Files of graphs are read twice, nodes first: an edge is kept only between nodes that are known, and nothing in the
//! formats says which comes first. An import that was interrupted goes on where it ended when it is run again.

mod files;
mod providers;
mod repeated;
mod resume;
mod send;

use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context as _, bail};
use contract::evidence::record::Source;
use evidence::import::{Format, Options, Rejection};
use evidence::rest;
use indicatif::ProgressBar;
use serde_json::json;

use self::files::Opened;
use self::providers::Providers;
use self::send::{Desk, MayReplace};
use super::{Place, after_closing, print_lines, say};
use crate::auth::owner;
use crate::owner::House;
use crate::settings::Settings;
use crate::telemetry;

/// Rejections that are told one by one; the others are counted.
const REJECTIONS_SHOWN_MAX: usize = 20;

#[derive(clap::Args)]
#[command(after_help = "Formats:\n  pubmed     PubMed XML: baseline and update files, answers of EFetch\n  \
    medline    MEDLINE text\n  jats       full texts in JATS\n  kgx        nodes and edges as TSV, JSON or JSON lines\n  \
    trapi      messages of TRAPI 1 and 2\n  semmeddb   the table of predications\n  hetionet   nodes and edges as TSV\n  \
    icd10      WHO's XML, ICD-10-CM text, the Thai table\n  beir       documents of a retrieval collection\n\n\
    Files may be packed by gzip; `-` is standard input. What the record has already is repeated, what cannot be kept is \
    rejected with the reason, and an import that was interrupted goes on when it is run again.\n\nExamples:\n  \
    materia import pubmed pubmed25n0001.xml.gz pubmed25n0002.xml.gz\n  \
    materia import kgx nodes.tsv edges.tsv --source monarch --licence CC-BY-4.0\n  \
    materia import beir corpus.jsonl.gz --source nfcorpus --licence \"academic use\"\n  \
    zcat export.xml.gz | materia import pubmed - --json")]
pub struct Arguments {
    /// One of pubmed, medline, jats, kgx, trapi, semmeddb, hetionet, icd10, beir
    #[arg(value_parser = parse_format)]
    format: Format,
    /// Files to read, or `-` for standard input
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
    /// Id of the source that the records will name [default: whom the lines of a graph name, else that of the format]
    #[arg(long, value_name = "ID")]
    source: Option<String>,
    /// Title of the source
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Terms under which the source may be used; every answer carries them. Without `--source` they make a source of their
    /// own, and where the lines name their sources, they are the terms of those beside which none stand
    #[arg(long, value_name = "TEXT")]
    licence: Option<String>,
    /// Language of texts where the format does not say it
    #[arg(long, value_name = "CODE")]
    lang: Option<String>,
    /// Let the file replace and withdraw records that came with the program; their warnings may be lost. Papers do so
    /// where no `--source` is named
    #[arg(long)]
    replace_starter: bool,
    /// Let the file replace and withdraw records that another source brought under the same id; their warnings may be lost.
    /// Papers do so where no `--source` is named. Also lets `--title` and `--licence` change a `--source` that is known
    #[arg(long)]
    replace_other_sources: bool,
    /// Print rejections and the totals as lines of JSON
    #[arg(long)]
    json: bool,
}

fn parse_format(name: &str) -> Result<Format, String> {
    Format::find(name).ok_or_else(|| {
        let known: Vec<&str> = Format::ALL.into_iter().map(Format::name).collect();
        format!("expected one of {}", known.join(", "))
    })
}

/// What became of the records. `read` is the sum of the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
struct Totals {
    read: u64,
    /// Kept, or withdrawn as the file asked.
    kept: u64,
    repeated: u64,
    rejected: u64,
    /// Those of the kept that took the place of what the record had under their ids.
    #[serde(default, skip_serializing_if = "is_zero")]
    replaced: u64,
    /// Those that were read without the rule by which their source grades them.
    #[serde(default, skip_serializing_if = "is_zero")]
    without_rule: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for it like this")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Totals {
    fn add(&mut self, other: Totals) {
        self.read += other.read;
        self.kept += other.kept;
        self.repeated += other.repeated;
        self.rejected += other.rejected;
        self.replaced += other.replaced;
        self.without_rule += other.without_rule;
    }
}

pub async fn run(place: Place, arguments: Arguments) -> anyhow::Result<ExitCode> {
    let mut settings = Settings::read(&place.data, &place.flags())?;
    if std::env::var_os("MATERIA_LOG").is_none() {
        "off".clone_into(&mut settings.log);
    }
    telemetry::start(&settings.log, settings.log_format);
    let files: Vec<Opened> = arguments.files.iter().map(|path| Opened::new(path)).collect::<anyhow::Result<_>>()?;
    let marks = place.data.join("imports");
    let house = place.enter(&settings).await?;
    // Whoever imports papers of the library itself wants them instead of our own summaries, and instead of what others put
    // under their numbers; a file that somebody else vouches for says so.
    let is_of_library = arguments.format.is_of_papers() && arguments.source.is_none();
    let replace_starter = arguments.replace_starter || is_of_library;
    let replace_other_sources = arguments.replace_other_sources || is_of_library;
    let may_replace = MayReplace { starter: replace_starter, other_sources: replace_other_sources };
    let providers = match arguments.source {
        Some(_) => Providers::default(),
        None => Providers::named_by(arguments.format, arguments.licence.clone()),
    };
    let mut desk = Desk::new(&house, owner(&settings.organisation_id), may_replace, providers);
    // Whoever says whose the records are, or on which terms, wants them recorded so.
    desk.may_be_of_others = [&arguments.source, &arguments.title, &arguments.licence].iter().all(|said| said.is_none());
    let outcome = import(&arguments, files, &marks, &mut desk).await;
    let Desk { totals, rejections, providers, .. } = desk;
    if let Some(more) = rest::not_shown(providers.n_untold(), "providers kept apart") {
        say(format_args!("{more}"));
    }
    if totals.kept > 0 {
        index(&house, &settings).await;
    }
    let closed = house.close().await;
    report(&arguments, totals, &rejections)?;
    outcome?;
    if totals.read == 0 {
        bail!("no record was found: is this {}? `materia import --help` lists the formats", arguments.format.name());
    }
    // A file of which nothing could be kept was not what it was taken for.
    let is_nothing_kept = totals.kept + totals.repeated == 0;
    Ok(after_closing(closed, if is_nothing_kept { ExitCode::FAILURE } else { ExitCode::SUCCESS }))
}

/// Makes what was imported ready to be found. A server that owns the folder does so by itself.
async fn index(house: &House, settings: &Settings) {
    let Some(platform) = house.platform() else { return };
    let spinner = ProgressBar::new_spinner().with_message("indexing");
    spinner.enable_steady_tick(Duration::from_millis(100));
    let indexed = platform.index_records(&settings.organisation_id).await;
    spinner.finish_and_clear();
    if let Err(error) = indexed {
        // Nothing is lost: the record has it all, and the next search makes the index.
        say(format_args!("The search index is not up to date yet: {}", error.message));
    }
}

async fn import(
    arguments: &Arguments,
    mut files: Vec<Opened>,
    marks: &std::path::Path,
    desk: &mut Desk<'_>,
) -> anyhow::Result<()> {
    let source = desk.settle_source(arguments).await?;
    let mut options = Options { source, lang: arguments.lang.clone() };
    for file in &mut files {
        file.find_mark(marks, arguments.format, &options).await?;
        desk.resume(file).await?;
    }
    if arguments.source.is_none() {
        // Ids are made from it, and the same lines give the same ids, whatever terms the caller says.
        options.source = arguments.format.source();
    }
    let is_graph = matches!(arguments.format, Format::Kgx | Format::Trapi | Format::Hetionet);
    let can_read_twice = files.iter().all(|file| !file.is_standard_input());
    let passes: &[files::Pass] = match is_graph && can_read_twice {
        true => &[files::Pass::AllButEdges, files::Pass::Edges],
        false => &[files::Pass::All],
    };
    for pass in passes {
        desk.turn();
        for file in &mut files {
            let name = file.name();
            desk.read(arguments.format, &options, file, *pass)
                .await
                .with_context(|| format!("could not import {name}"))?;
        }
    }
    for file in &files {
        file.forget_mark()?;
    }
    Ok(())
}

/// The source that the caller names, as the record knows it or else as its format has it, in the words that the caller says.
fn wanted_source(arguments: &Arguments, id: &str, known: Option<Source>) -> Source {
    let named = || Source { id: id.to_owned(), title: id.to_owned(), ..arguments.format.source() };
    let mut source = known.unwrap_or_else(named);
    if let Some(title) = &arguments.title {
        source.title.clone_from(title);
    }
    if let Some(licence) = &arguments.licence {
        source.licence.clone_from(licence);
    }
    source
}

fn report(arguments: &Arguments, totals: Totals, rejections: &[(String, Rejection)]) -> anyhow::Result<()> {
    let n_more = totals.rejected.saturating_sub(u64::try_from(rejections.len())?);
    let shown = rejections.iter().map(|(file, rejection)| {
        if arguments.json {
            json!({ "file": file, "at": rejection.at, "reason": rejection.reason }).to_string()
        } else {
            format!("rejected {file}, {}: {}", rejection.at, rejection.reason)
        }
    });
    print_lines(shown)?;
    if let Some(more) = rest::not_shown(usize::try_from(n_more)?, "rejected") {
        print_lines([if arguments.json { json!({ "more_rejected": n_more }).to_string() } else { more }])?;
    }
    let Totals { read, kept, repeated, rejected, replaced, without_rule } = totals;
    let places = if replaced == 0 {
        String::new()
    } else {
        format!("; {replaced} of the kept replaced what was recorded under their ids")
    };
    let rules = if without_rule == 0 {
        String::new()
    } else {
        format!("; {without_rule} without the rule that their source grades them by, which has no force here")
    };
    print_lines([if arguments.json {
        serde_json::to_string(&totals)?
    } else {
        format!("read {read}, kept {kept}, repeated {repeated}, rejected {rejected}{places}{rules}")
    }])
}

/// Errors of the door in the words of the person who runs the import.
fn refused(error: &contract::error::OpError) -> anyhow::Error {
    anyhow::anyhow!("{}", error.message)
}

fn check_totals(totals: Totals) -> anyhow::Result<()> {
    if totals.read != totals.kept + totals.repeated + totals.rejected {
        bail!("the answer of `put_records` does not account for every record");
    }
    Ok(())
}
