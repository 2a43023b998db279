//! `materia serve`: bind every port, serve until told to stop, end quietly.

mod housekeeper;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::routing::any;
use ops::{Family, Unrecorded};
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use housekeeper::Housekeeper;

use crate::auth::{AuthError, Authenticator};
use crate::edge::{Edge, Hosts, Limiter, Streams, Voice};
use crate::grpc;
use crate::health::{self, Health};
use crate::ids_service;
use crate::listen::{self, ListenOptions};
use crate::mcp;
use crate::mcp::exchange::Waiting;
use crate::mcp::handler::Handler;
use crate::oauth::metadata::{self, Challenge};
use crate::owner::House;
use crate::pages::{self, Pages};
use crate::rest::{self, Rest};
use crate::settings::Settings;
use crate::tasks_service;

/// HTTP, tasks, ids and gRPC.
const N_PORTS: usize = 4;

#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// All of them at once: whoever starts a second server has to choose every port anew.
    #[error("cannot listen on {}; choose another address there, or port 0 for any that is free", shown(refused))]
    Bind { refused: Vec<(&'static str, SocketAddr)>, source: std::io::Error },
    #[error("the keys cannot be used")]
    Auth(#[source] AuthError),
}

/// A server that listens. Dropping it does not stop it; [`Server::stop`] does.
pub struct Server {
    pub http: SocketAddr,
    pub tasks: SocketAddr,
    pub ids: SocketAddr,
    pub grpc: SocketAddr,
    house: Arc<House>,
    stop: CancellationToken,
    tasks_running: JoinSet<()>,
}

impl Server {
    pub async fn start(house: Arc<House>, settings: &Settings, token: &str) -> Result<Server, ServeError> {
        Server::start_behind(house, settings, token, |handler| handler).await
    }

    /// As [`Server::start`], with another handler of MCP in front of the one over the table.
    pub async fn start_behind<F, H>(
        house: Arc<House>,
        settings: &Settings,
        token: &str,
        front: F,
    ) -> Result<Server, ServeError>
    where
        F: Fn(Handler) -> H + Clone + Send + Sync + 'static,
        H: ServerHandler,
    {
        let connections_max = listen::connections_max(settings.connections_max, N_PORTS);
        let settings = &Settings { connections_max, ..settings.clone() };
        let authenticator =
            Arc::new(Authenticator::new(settings, token, Arc::clone(&house)).map_err(ServeError::Auth)?);
        let challenge = Arc::new(Challenge::new(&settings.oauth, house.table()));
        let limiter = Arc::new(Limiter::new(settings));
        let stop = CancellationToken::new();
        let [http, tasks, ids, grpc] = bind([
            ("--listen", settings.listen),
            ("--tasks-listen", settings.tasks_listen),
            ("--ids-listen", settings.ids_listen),
            ("--grpc-listen", settings.grpc_listen),
        ])
        .await?;
        let health = Health::watch(Arc::clone(&house), stop.clone());
        let edge = |port: u16, voice: Voice| {
            Arc::new(Edge {
                house: Arc::clone(&house),
                organisation_id: settings.organisation_id.clone(),
                authenticator: Arc::clone(&authenticator),
                challenge: Arc::clone(&challenge),
                hosts: Hosts::new(port, &settings.allowed_hosts, &settings.allowed_origins),
                limiter: Arc::clone(&limiter),
                body_bytes_max: settings.body_bytes_max,
                body_timeout: Duration::from_millis(settings.body_timeout_ms),
                voice,
            })
        };
        let pages = Pages::new(&house, Arc::clone(&authenticator));
        let body_bytes_max = settings.body_bytes_max;
        let main = edge(http.1.port(), Voice::House).wrap(
            pages::open_routes(pages.clone())
                .merge(health::routes(health.clone()))
                .merge(metadata::routes(&settings.oauth, house.table())),
            mcp_routes(&house, front, settings, &stop)
                .merge(rest::routes(Rest { house: Arc::clone(&house), body_bytes_max }))
                .merge(pages::protected_routes(pages)),
        );
        let task_routes = edge(tasks.1.port(), Voice::Service).wrap(
            health::routes(health.clone()).merge(tasks_service::open_routes()),
            tasks_service::routes(Arc::clone(&house), body_bytes_max),
        );
        let id_routes = edge(ids.1.port(), Voice::Service).wrap(
            health::routes(health).merge(ids_service::open_routes()),
            ids_service::routes(Arc::clone(&house), body_bytes_max),
        );
        let mut server = Server {
            http: http.1,
            tasks: tasks.1,
            ids: ids.1,
            grpc: grpc.1,
            house: Arc::clone(&house),
            stop: stop.clone(),
            tasks_running: JoinSet::new(),
        };
        let options = ListenOptions {
            connections_max: settings.connections_max,
            connections_per_address_max: settings.connections_per_address_max(),
            header_timeout: Duration::from_millis(settings.header_timeout_ms),
            write_timeout: Duration::from_millis(settings.write_timeout_ms),
            grace: Duration::from_millis(settings.shutdown_grace_ms),
            stop,
        };
        for (listener, router) in [(http.0, main), (tasks.0, task_routes), (ids.0, id_routes)] {
            server.tasks_running.spawn(listen::serve(listener, router, options.clone()));
        }
        server.tasks_running.spawn(grpc::serve(grpc.0, Arc::clone(&house), options.clone()));
        let housekeeper = || Housekeeper {
            house: Arc::clone(&house),
            authenticator: Arc::clone(&authenticator),
            stop: options.stop.clone(),
        };
        server.tasks_running.spawn(housekeeper().embed());
        server.tasks_running.spawn(housekeeper().tidy());
        Ok(server)
    }

    /// Lets running requests end, writes what is queued, gives the folder back.
    pub async fn stop(mut self) -> Result<(), Unrecorded> {
        self.stop.cancel();
        while self.tasks_running.join_next().await.is_some() {}
        self.house.close().await
    }
}

type Bound = (TcpListener, SocketAddr);

/// Binds every address, each with the flag that chooses it.
async fn bind(addresses: [(&'static str, SocketAddr); 4]) -> Result<[Bound; 4], ServeError> {
    let (mut bound, mut refused, mut first) = (Vec::new(), Vec::new(), None);
    for (flag, address) in addresses {
        match TcpListener::bind(address).await.and_then(|listener| Ok((listener.local_addr()?, listener))) {
            Ok((address, listener)) => bound.push((listener, address)),
            Err(source) => {
                refused.push((flag, address));
                first.get_or_insert(source);
            }
        }
    }
    bound.try_into().map_err(|_| ServeError::Bind {
        refused,
        source: first.unwrap_or_else(|| std::io::Error::other("an address is missing")),
    })
}

/// `127.0.0.1:8080 (--tasks-listen), 127.0.0.1:50051 (--grpc-listen)`.
fn shown(refused: &[(&'static str, SocketAddr)]) -> String {
    refused.iter().map(|(flag, address)| format!("{address} ({flag})")).collect::<Vec<_>>().join(", ")
}

/// `/mcp` with every tool, `/mcp/{family}` with one family's.
fn mcp_routes<F, H>(house: &Arc<House>, front: F, settings: &Settings, stop: &CancellationToken) -> Router
where
    F: Fn(Handler) -> H + Clone + Send + Sync + 'static,
    H: ServerHandler,
{
    let (waiting, streams) = (Arc::new(Waiting::default()), Arc::new(Streams::new(settings)));
    let endpoint = |family: Option<Family>| {
        Arc::new(mcp::http::Endpoint {
            house: Arc::clone(house),
            front: front.clone(),
            family,
            body_bytes_max: settings.body_bytes_max,
            stop: stop.clone(),
            waiting: Arc::clone(&waiting),
            streams: Arc::clone(&streams),
        })
    };
    let route = || any(mcp::http::not_allowed).post(mcp::http::post::<F, H>);
    let all = Router::new().route("/mcp", route().with_state(endpoint(None)));
    Family::SERVED.into_iter().fold(all, |router, family| {
        router.route(&format!("/mcp/{}", family.name()), route().with_state(endpoint(Some(family))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn every_address_that_is_taken_is_named_with_its_flag() {
        let free: SocketAddr = "127.0.0.1:0".parse().unwrap();
        let other = TcpListener::bind(free).await.unwrap();
        let taken = other.local_addr().unwrap();
        let addresses =
            [("--listen", free), ("--tasks-listen", taken), ("--ids-listen", free), ("--grpc-listen", taken)];
        let error = bind(addresses).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            format!(
                "cannot listen on {taken} (--tasks-listen), {taken} (--grpc-listen); \
                 choose another address there, or port 0 for any that is free"
            )
        );
    }
}
