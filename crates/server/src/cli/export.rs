//! `materia export`: documents as citations, the graph as KGX, page by page through the door.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use contract::actor::Actor;
use contract::evidence::export::{ExportFormat, ExportedRecords};
use ops::Call;
use serde_json::{Value, json};

use super::{Place, after_closing, must_be_there};
use crate::assemble;
use crate::auth::owner;
use crate::owner::House;
use crate::settings::Settings;
use crate::telemetry;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  materia export bibtex > library.bib\n  materia export ris --out library.ris\n  \
    materia export csl-json PMID:24790635 PMID:29768149\n  \
    materia export kgx --out graph              writes graph/nodes.jsonl and graph/edges.jsonl\n  \
    materia export kgx H1                       the node with its edges, and the nodes at the other ends\n\n\
    An edge of kgx names the papers that it rests on and that do not stand, as far as is known here, in\n\
    `doubted_publications`; whoever imports it takes that for the word of its source.")]
pub struct Arguments {
    #[arg(value_enum)]
    format: Format,
    /// Documents to export, or for kgx nodes with their edges [default: all of them]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// File to write, or folder for kgx [default: standard output]
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Kgx,
    Bibtex,
    Ris,
    CslJson,
}

/// Records in one call.
const PAGE_MAX: u32 = 500;

pub async fn run(place: Place, arguments: Arguments) -> anyhow::Result<ExitCode> {
    let mut settings = Settings::read(&place.data, &place.flags())?;
    if std::env::var_os("MATERIA_LOG").is_none() {
        "off".clone_into(&mut settings.log);
    }
    telemetry::start(&settings.log, settings.log_format);
    must_be_there(&place, &settings)?;
    let house = assemble::look(place.data, &settings).await?;
    let reader = Reader { house: Arc::clone(&house), actor: owner(&settings.organisation_id), ids: arguments.ids };
    let written = write(&reader, arguments.format, arguments.out.as_deref()).await;
    let closed = house.close().await;
    let code = match written {
        // A reader that went away (`| head`) is not an error.
        Err(error) if error.downcast_ref::<io::Error>().is_some_and(|it| it.kind() == io::ErrorKind::BrokenPipe) => {
            ExitCode::SUCCESS
        }
        written => written.map(|()| ExitCode::SUCCESS)?,
    };
    Ok(after_closing(closed, code))
}

async fn write(reader: &Reader, format: Format, out: Option<&Path>) -> anyhow::Result<()> {
    let citations = match format {
        Format::Kgx => {
            // Lines of both kinds in one stream are KGX too, nodes first.
            let place = |name: &str| out.map_or(Out::Standard, |folder| Out::File(folder.join(name)));
            reader.copy(ExportFormat::KgxNodes, place("nodes.jsonl")).await?;
            return reader.copy(ExportFormat::KgxEdges, place("edges.jsonl")).await;
        }
        Format::Bibtex => ExportFormat::Bibtex,
        Format::Ris => ExportFormat::Ris,
        Format::CslJson => ExportFormat::CslJson,
    };
    reader.copy(citations, out.map_or(Out::Standard, |path| Out::File(path.to_owned()))).await
}

enum Out {
    Standard,
    File(PathBuf),
}

impl Out {
    fn open(self) -> anyhow::Result<Box<dyn Write + Send>> {
        let Out::File(path) = self else { return Ok(Box::new(BufWriter::new(io::stdout()))) };
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder).with_context(|| format!("could not make {}", folder.display()))?;
        }
        let file = File::create(&path).with_context(|| format!("could not write {}", path.display()))?;
        Ok(Box::new(BufWriter::new(file)))
    }
}

struct Reader {
    house: Arc<House>,
    actor: Actor,
    ids: Vec<String>,
}

impl Reader {
    async fn copy(&self, format: ExportFormat, out: Out) -> anyhow::Result<()> {
        // Pages of CSL-JSON are arrays; the whole is one array.
        let is_array = format == ExportFormat::CslJson;
        let mut is_first = true;
        // What is refused leaves no file behind, and no half of one.
        let mut page = self.page(format, None).await?;
        let mut out = out.open()?;
        if is_array {
            writeln!(out, "[")?;
        }
        loop {
            if is_array {
                let items: Vec<Value> =
                    serde_json::from_str(&page.content).context("a page of the export is no JSON")?;
                for item in items {
                    write!(out, "{}{item}", if is_first { "" } else { ",\n" })?;
                    is_first = false;
                }
            } else {
                let gap =
                    if is_first || !matches!(format, ExportFormat::Bibtex | ExportFormat::Ris) { "" } else { "\n" };
                write!(out, "{gap}{}", page.content)?;
                is_first = page.n_records == 0 && is_first;
            }
            let Some(cursor) = page.next_cursor else { break };
            page = self.page(format, Some(&cursor)).await?;
        }
        if is_array {
            writeln!(out, "\n]")?;
        }
        out.flush()?;
        Ok(())
    }

    async fn page(&self, format: ExportFormat, cursor: Option<&str>) -> anyhow::Result<ExportedRecords> {
        let mut input = json!({ "format": format, "limit": PAGE_MAX });
        if let Some(members) = input.as_object_mut() {
            members.extend(cursor.map(|cursor| ("cursor".to_owned(), json!(cursor))));
            let is_graph = matches!(format, ExportFormat::KgxNodes | ExportFormat::KgxEdges);
            let field = if is_graph { "around" } else { "ids" };
            members.extend((!self.ids.is_empty()).then(|| (field.to_owned(), json!(self.ids))));
        }
        let call = Call { operation: "export_records".to_owned(), input, ..Call::default() };
        match self.house.call(&self.actor, call).await.result {
            Ok(success) => serde_json::from_value(success.output)
                .context("the answer of `export_records` is not what was expected"),
            Err(error) => Err(anyhow::anyhow!("{}", error.message)),
        }
    }
}
