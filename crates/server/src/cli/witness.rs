//! `materia witness`: cosign the checkpoints of logs, from a folder and under a key of its own.

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use ledger::key::LogVerifier;
use serde_json::json;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use super::stop::StopWish;
use super::{Place, print_lines};
use crate::listen::{self, ListenOptions};
use crate::settings::LogFormat;
use crate::telemetry;
use crate::witness::{self, Folder, WitnessService, routes};

const CONNECTIONS_MAX: usize = 64;

#[derive(clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "A witness makes a rewritten log show, if it stands under another hand than the log: another machine, another \
    account, another organisation. It keeps only public keys and checkpoints, never events.\n\nExamples:\n  \
    materia audit key                                        on the log's machine: its verifier key\n  \
    materia witness trust 'materia/0f3a…+5c7e9b1d+AV…'       here: cosign for this log\n  \
    materia witness --listen 0.0.0.0:8790                    serve, and print the witness' own key\n  \
    materia witness forget materia/0f3a…                     let a log begin another history\n\n\
    Then, in the log's materia.toml:\n  [[witness]]\n  url = \"http://witness.example:8790\"\n  key = \"…the printed key…\""
)]
pub struct Arguments {
    #[command(subcommand)]
    command: Option<Command>,
    /// Folder of the witness [default: the data folder's name with `-witness`]
    #[arg(long, global = true, value_name = "DIR")]
    folder: Option<PathBuf>,
    /// Address to serve
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:8790")]
    listen: SocketAddr,
    /// Name of the key that is made on first use, such as `witness.example/w1`
    #[arg(long, global = true, value_name = "NAME")]
    name: Option<String>,
    /// Print one line of JSON when ready, with the address that was bound and the witness' key
    #[arg(long)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Cosign for a log; again with its new key when a log changes keys
    #[command(after_help = "Example:\n  materia witness trust 'materia/0f3a…+5c7e9b1d+AV…'")]
    Trust {
        /// The log's verifier key, as `materia audit key` prints it
        #[arg(value_name = "VKEY")]
        key: String,
    },
    /// Forget what was cosigned of a log, so that another history of it can begin; stop the witness first
    #[command(after_help = "Example:\n  materia witness forget materia/0f3a…")]
    Forget { origin: String },
    /// Print the witness' verifier key
    #[command(after_help = "Example:\n  materia witness key --folder ./witness")]
    Key,
}

pub async fn run(place: &Place, arguments: Arguments) -> anyhow::Result<ExitCode> {
    telemetry::start("info", LogFormat::Auto);
    let path = arguments.folder.clone().unwrap_or_else(|| beside(&place.data));
    let name = arguments.name.as_deref();
    match &arguments.command {
        None => return serve(Folder::open(&path, name)?, &arguments).await,
        Some(Command::Trust { key }) => {
            let key = LogVerifier::parse(key).context("not the verifier key of a log")?;
            let origin = key.name().to_owned();
            if name.is_some() {
                witness::read_or_make_key(&path, name)?;
            }
            let known = if witness::trust(&path, key)? { "From now on" } else { "Already" };
            print_lines([format!("{known} cosigning for {origin} under this key.")])?;
        }
        Some(Command::Forget { origin }) => {
            let line = match Folder::open(&path, name)?.forget(origin)? {
                Some(aside) => format!("The last head of {origin} is kept as {}.", aside.display()),
                None => format!("Nothing of {origin} was cosigned here."),
            };
            print_lines([line])?;
        }
        Some(Command::Key) => print_lines([witness::read_or_make_key(&path, name)?.verifier().to_string()])?,
    }
    Ok(ExitCode::SUCCESS)
}

fn beside(data: &Path) -> PathBuf {
    let name = data.file_name().map_or("materia".into(), |name| name.to_string_lossy());
    data.with_file_name(format!("{name}-witness"))
}

async fn serve(folder: Folder, arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut stop_wish = StopWish::listen()?;
    let listener = TcpListener::bind(arguments.listen).await;
    let listener = listener.with_context(|| format!("cannot listen on {}", arguments.listen))?;
    let address = listener.local_addr()?;
    let (key, n_logs) = (folder.key(), folder.logs()?.len());
    let stop = CancellationToken::new();
    let options = ListenOptions {
        connections_max: CONNECTIONS_MAX,
        connections_per_address_max: CONNECTIONS_MAX,
        header_timeout: Duration::from_secs(5),
        write_timeout: Duration::from_secs(10),
        grace: Duration::from_secs(5),
        stop: stop.clone(),
    };
    let router = routes(WitnessService { folder: Arc::new(folder) });
    let serving = tokio::spawn(listen::serve(listener, router, options));
    if arguments.json {
        let ready = json!({ "ready": true, "listen": address.to_string(), "key": key.to_string() });
        print_lines([ready.to_string()])?;
    } else {
        print_lines([
            format!("The witness is ready on http://{address}, for {n_logs} log keys."),
            format!("  Key        {key}"),
            "  Stop with Ctrl-C.".to_owned(),
        ])?;
    }
    stop_wish.wait().await;
    stop.cancel();
    serving.await.context("the witness panicked")?;
    Ok(ExitCode::SUCCESS)
}
