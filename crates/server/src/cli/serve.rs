//! `materia serve`.

use std::io::IsTerminal as _;
use std::net::SocketAddr;
use std::process::ExitCode;

use anyhow::Context as _;
use serde_json::json;

use super::stop::StopWish;
use super::{Place, print_lines, print_shown, visible};
use crate::auth::start_token;
use crate::serve::Server;
use crate::settings::{Auth, LogFormat, Settings};
use crate::telemetry::{self, traces};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  materia serve\n  materia serve --data ./demo --listen 127.0.0.1:9000\n  \
    materia serve --listen 127.0.0.1:0 --tasks-listen 127.0.0.1:0 --ids-listen 127.0.0.1:0 --grpc-listen 127.0.0.1:0 --json\n  \
    materia serve --database-url postgres://materia@db/materia")]
pub struct Arguments {
    /// Web pages, MCP and REST [default: 127.0.0.1:8787]
    #[arg(long, value_name = "ADDRESS")]
    listen: Option<SocketAddr>,
    /// Task Tracking service [default: 127.0.0.1:8080]
    #[arg(long, value_name = "ADDRESS")]
    tasks_listen: Option<SocketAddr>,
    /// ID Management service [default: 127.0.0.1:8081]
    #[arg(long, value_name = "ADDRESS")]
    ids_listen: Option<SocketAddr>,
    /// gRPC [default: 127.0.0.1:50051]
    #[arg(long, value_name = "ADDRESS")]
    grpc_listen: Option<SocketAddr>,
    /// Let in everybody who reaches the port, as the owner unless they show a key; loopback addresses only
    #[arg(long)]
    no_auth: bool,
    /// How the log on standard error is written [default: text at a terminal, else json]
    #[arg(long, visible_alias = "log", value_name = "FORMAT")]
    log_format: Option<LogFormat>,
    /// Print one line of JSON when ready, with the addresses that were bound
    #[arg(long)]
    json: bool,
}

pub async fn run(place: Place, arguments: Arguments) -> anyhow::Result<ExitCode> {
    let mut flags = place.flags();
    flags.listen = arguments.listen;
    flags.tasks_listen = arguments.tasks_listen;
    flags.ids_listen = arguments.ids_listen;
    flags.grpc_listen = arguments.grpc_listen;
    flags.auth = arguments.no_auth.then_some(Auth::None);
    flags.log_format = arguments.log_format;
    let settings = Settings::read(&place.data, &flags)?;
    telemetry::start(&settings.log, settings.log_format);
    if settings.auth == Auth::None {
        tracing::warn!("Nobody is asked for a token: every program on this machine may call as the owner");
    }
    let traces = traces::start().context("the OTEL_ variables are wrong")?;
    let mut stop_wish = StopWish::listen()?;
    let house = place.enter(&settings).await?;
    let token = start_token(&place.data)?;
    let server = Server::start(house, &settings, &token).await?;
    if arguments.json {
        let ready = json!({
            "ready": true,
            "http": server.http.to_string(),
            "tasks": server.tasks.to_string(),
            "ids": server.ids.to_string(),
            "grpc": server.grpc.to_string(),
        });
        print_lines([ready.to_string()])?;
    } else {
        greet(&server, &settings, &token).context("could not print the start URL")?;
    }
    stop_wish.wait().await;
    tracing::info!("Stopping");
    let closed = server.stop().await;
    traces.stop().await;
    closed?;
    Ok(ExitCode::SUCCESS)
}

fn greet(server: &Server, settings: &Settings, token: &str) -> anyhow::Result<()> {
    let address = server.http;
    let url = match settings.auth {
        Auth::Token => format!("http://{address}/#token={token}"),
        Auth::None => format!("http://{address}/"),
    };
    // Bold for the one line that is to be used; nothing else that a terminal obeys gets by.
    let url = if std::io::stdout().is_terminal() { format!("\u{1b}[1m{}\u{1b}[0m", visible(&url)) } else { url };
    print_shown([
        format!("Materia {} is ready.", env!("CARGO_PKG_VERSION")),
        format!("  Open       {url}"),
        format!("  MCP        http://{address}/mcp"),
        format!("  REST       http://{address}/api"),
        format!("  Tasks      http://{}", server.tasks),
        format!("  Ids        http://{}", server.ids),
        format!("  gRPC       {} (health)", server.grpc),
        "  Stop with Ctrl-C.".to_owned(),
    ])
}
