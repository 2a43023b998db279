//! `materia mcp`: MCP on standard input and output.

use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Context as _;
use contract::actor::{Actor, ActorKind, Role, is_reserved};
use contract::id::ActorId;
use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::io::BufReader;

use super::stop::StopWish;
use super::{Place, after_closing};
use crate::auth::owner;
use crate::mcp::handler::Handler;
use crate::mcp::lifted::Lifted;
use crate::mcp::stdio::Lines;
use crate::settings::Settings;
use crate::telemetry::{self, traces};

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  materia mcp --agent claude\n  \
    claude mcp add materia -- materia mcp --agent claude --data ~/materia\n\n\
    The client writes one JSON-RPC message a line and reads one a line; logs go to standard error.")]
pub struct Arguments {
    /// Act as an agent of this name, which may not approve unless `agents_may_approve` is set; without it, as the owner of the data folder
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
}

/// Whoever starts this is the owner; an agent that a client lets in is not.
fn actor(arguments: &Arguments, settings: &Settings) -> anyhow::Result<Actor> {
    let Some(name) = &arguments.agent else { return Ok(owner(&settings.organisation_id)) };
    let id = ActorId::parse(name).context("--agent")?;
    anyhow::ensure!(!is_reserved(&id), "--agent: `{name}` is no agent's name");
    let mut roles = vec![Role::Agent];
    if settings.agents_may_approve {
        roles.push(Role::Approver);
    }
    Ok(Actor::new(settings.organisation_id.clone(), id, ActorKind::Agent, roles))
}

pub async fn run(place: Place, arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let settings = Settings::read(&place.data, &place.flags())?;
    telemetry::start(&settings.log, settings.log_format);
    let traces = traces::start().context("the OTEL_ variables are wrong")?;
    let mut stop_wish = StopWish::listen()?;
    let house = place.enter(&settings).await?;
    let actor = Arc::new(actor(arguments, &settings)?);
    let handler = Handler::new(Arc::clone(&house), Arc::clone(&actor), None);
    let counting = Arc::clone(&house);
    let note = move |reason| counting.refusals().note_of(&actor, reason);
    let lines = Lines::new(BufReader::new(tokio::io::stdin()), tokio::io::stdout(), note);
    let serving = async {
        match Lifted(handler).serve(lines).await {
            // The cause may repeat what was sent.
            Ok(service) => service.waiting().await.map(|_| ()).map_err(|_| anyhow::anyhow!("the session broke off")),
            Err(error) => {
                tracing::info!(reason = reason(&error), "The session ended before it began");
                Ok(())
            }
        }
    };
    let ended = tokio::select! {
        ended = serving => Some(ended),
        () = stop_wish.wait() => None,
    };
    // What was counted and is not in the record yet goes there now.
    let closed = house.close().await;
    traces.stop().await;
    match ended {
        Some(ended) => ended.map(|()| after_closing(closed, ExitCode::SUCCESS)),
        // The thread that waits for the next line would keep the process for as long as the client is there.
        None => std::process::exit(i32::from(closed.is_err())),
    }
}

/// Why a session did not begin. The library's own words repeat the message that came instead.
fn reason(error: &ServerInitializeError) -> &'static str {
    match error {
        ServerInitializeError::ConnectionClosed(_) => "the client left",
        ServerInitializeError::TransportError { .. } => "standard output broke",
        ServerInitializeError::InitializeFailed(_) => "the handshake failed",
        _ => "something else came",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(name: &str, agents_may_approve: bool) -> anyhow::Result<Vec<Role>> {
        let settings = Settings { agents_may_approve, ..Settings::default() };
        actor(&Arguments { agent: Some(name.to_owned()) }, &settings).map(|actor| actor.roles)
    }

    #[test]
    fn an_agent_may_approve_where_the_setting_says_so_and_is_never_the_house() {
        assert_eq!(roles("claude", false).unwrap(), [Role::Agent]);
        assert_eq!(roles("claude", true).unwrap(), [Role::Agent, Role::Approver]);
        assert!(roles("owner", true).is_err());
    }
}
