//! gRPC: the standard health service, by which load balancers ask whether this server can work.

use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio_stream::wrappers::TcpListenerStream;
use tokio_util::sync::CancellationToken;
use tonic::transport::Server;
use tonic_health::ServingStatus;

use crate::owner::House;

/// How often the reported health follows the real one.
const LOOK_EVERY: Duration = Duration::from_secs(2);
const REQUEST_TIMEOUT: Duration = Duration::from_secs(30);
const CONCURRENT_PER_CONNECTION_MAX: usize = 32;

/// Serves until told to stop.
pub async fn serve(listener: TcpListener, house: Arc<House>, stop: CancellationToken) {
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
        .tcp_nodelay(true)
        .add_service(health)
        .serve_with_incoming_shutdown(TcpListenerStream::new(listener), stop.cancelled());
    tokio::select! {
        served = served => {
            if let Err(error) = served {
                tracing::error!(error = %error, "gRPC stopped");
            }
        }
        () = look => {}
    }
}
