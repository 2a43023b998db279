//! gRPC: the standard health service, by which load balancers ask whether this server can work.

mod prefaced;

use std::sync::Arc;
use std::time::Duration;

use futures::stream;
use tokio::net::TcpListener;
use tonic::transport::Server;
use tonic_health::ServingStatus;

use prefaced::Prefaced;

use crate::listen::{Doorway, ListenOptions};
use crate::owner::House;

/// How often the reported health follows the real one.
const LOOK_EVERY: Duration = Duration::from_secs(2);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const CONCURRENT_PER_CONNECTION_MAX: usize = 32;
/// Calls of one connection that are open at once, those that watch among them.
const STREAMS_PER_CONNECTION_MAX: u32 = 32;
/// A peer that was quiet for so long is asked whether it is there, and has so long to say so.
const ASK_AFTER: Duration = Duration::from_secs(30);
const ANSWER_WITHIN: Duration = Duration::from_secs(10);

/// Serves until told to stop.
pub async fn serve(listener: TcpListener, house: Arc<House>, options: ListenOptions) {
    let doorway = Doorway::new(listener, &options);
    let connections = stream::unfold(doorway, |doorway| async {
        let (stream, _, place) = doorway.next().await;
        Some((Ok::<_, std::io::Error>(Prefaced::new(stream, place, options.header_timeout)), doorway))
    });
    let (reporter, health) = tonic_health::server::health_reporter();
    let look = async {
        loop {
            let status = if house.database_standing().await.problem().is_none() {
                ServingStatus::Serving
            } else {
                ServingStatus::NotServing
            };
            reporter.set_service_status("", status).await;
            tokio::time::sleep(LOOK_EVERY).await;
        }
    };
    let served = Server::builder()
        .timeout(REQUEST_TIMEOUT)
        .concurrency_limit_per_connection(CONCURRENT_PER_CONNECTION_MAX)
        .max_concurrent_streams(STREAMS_PER_CONNECTION_MAX)
        .http2_keepalive_interval(Some(ASK_AFTER))
        .http2_keepalive_timeout(Some(ANSWER_WITHIN))
        .add_service(health)
        .serve_with_incoming_shutdown(connections, options.stop.cancelled());
    tokio::select! {
        served = served => {
            if let Err(error) = served {
                tracing::error!(error = %error, "gRPC stopped");
            }
        }
        () = look => {}
    }
}
