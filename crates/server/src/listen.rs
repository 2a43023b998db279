//! Accepting connections: a limit on how many, a clock on how slow, and a quiet end.

mod doorway;
mod files;
mod guarded;
mod head;

use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use ops::outlasting::{Left, Outlasting};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt as _;

pub use doorway::{Doorway, Place};
pub use files::connections_max;
use guarded::Guarded;

/// Head of a request, all headers together.
const HEAD_BYTES_MAX: usize = 16 * 1024;
/// A request whose client hung up goes on for so long: enough to reach the door, which records it, and not so long that
/// much is worked out that nobody reads.
const LINGERS_FOR: Duration = Duration::from_millis(250);

#[derive(Debug, Clone)]
pub struct ListenOptions {
    pub connections_max: usize,
    /// Nobody alone may take all places.
    pub connections_per_address_max: usize,
    pub header_timeout: Duration,
    /// For a peer that takes nothing of what is written to it.
    pub write_timeout: Duration,
    pub grace: Duration,
    pub stop: CancellationToken,
}

/// Serves until told to stop, then lets running requests end within the grace.
pub async fn serve(listener: TcpListener, router: Router, options: ListenOptions) {
    let doorway = Doorway::new(listener, &options);
    let graceful = GracefulShutdown::new();
    loop {
        let (stream, address, place) = tokio::select! {
            accepted = doorway.next() => accepted,
            () = options.stop.cancelled() => break,
        };
        let service = hyper::service::service_fn({
            let router = router.clone();
            move |mut request: hyper::Request<hyper::body::Incoming>| {
                request.extensions_mut().insert(ConnectInfo(address));
                Outlasting::new(router.clone().oneshot(request), Left::For(LINGERS_FOR))
            }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(options.header_timeout)
            .max_buf_size(HEAD_BYTES_MAX)
            .serve_connection(TokioIo::new(Guarded::new(stream, options.write_timeout)), service);
        let watched = graceful.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = watched.await {
                tracing::debug!(error = %error, "A connection ended early");
            }
            drop(place);
        });
    }
    drop(doorway);
    tokio::select! {
        () = graceful.shutdown() => {}
        () = tokio::time::sleep(options.grace) => tracing::warn!("Some requests did not end within the grace"),
    }
}
