//! `materia mcp`: MCP on standard input and output.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use rmcp::ServiceExt as _;
use tokio::io::BufReader;

use super::Place;
use crate::assemble;
use crate::auth::owner;
use crate::mcp::handler::Handler;
use crate::mcp::lifted::Lifted;
use crate::mcp::stdio::Lines;
use crate::settings::Settings;
use crate::telemetry::{self, traces};

pub async fn run(place: Place) -> anyhow::Result<ExitCode> {
    let settings = Settings::read(&place.data, &place.flags())?;
    telemetry::start(&settings.log);
    let traces = traces::start().context("the OTEL_ variables are wrong")?;
    let house = assemble::enter(place.data, &settings).await?;
    let handler = Handler::new(Arc::clone(&house), Arc::new(owner(&settings.organisation_id)), None);
    let lines = Lines::new(BufReader::new(tokio::io::stdin()), tokio::io::stdout());
    match Lifted(handler).serve(lines).await {
        Ok(service) => {
            service.waiting().await?;
        }
        Err(error) => tracing::info!(error = %error, "The client left before it began"),
    }
    house.close().await;
    traces.stop().await;
    Ok(ExitCode::SUCCESS)
}
