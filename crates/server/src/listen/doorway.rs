//! One port's connections: so many at once, and so many of one address.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::ListenOptions;
use crate::edge::{Places, network};

/// After an accept that failed, for example for want of file descriptors.
const ACCEPT_AGAIN_AFTER: Duration = Duration::from_millis(50);

pub struct Doorway {
    listener: TcpListener,
    all: Arc<Semaphore>,
    of_address: Places,
}

/// A connection's place among all and among those of its address; dropping it gives both back.
pub struct Place {
    _among_all: OwnedSemaphorePermit,
    _of_address: OwnedSemaphorePermit,
}

impl Doorway {
    pub fn new(listener: TcpListener, options: &ListenOptions) -> Doorway {
        Doorway {
            listener,
            all: Arc::new(Semaphore::new(options.connections_max)),
            of_address: Places::new(options.connections_per_address_max),
        }
    }

    /// The next connection that finds a place. One whose address has too many open is closed at once.
    pub async fn next(&self) -> (TcpStream, SocketAddr, Place) {
        loop {
            let Ok(among_all) = Arc::clone(&self.all).acquire_owned().await else {
                return std::future::pending().await;
            };
            let (stream, address) = match self.listener.accept().await {
                Ok(accepted) => accepted,
                Err(error) => {
                    tracing::warn!(error = %error, "Could not accept a connection");
                    tokio::time::sleep(ACCEPT_AGAIN_AFTER).await;
                    continue;
                }
            };
            let Some(of_address) = self.of_address.enter(network(address.ip()).to_string(), || ()) else {
                metrics::counter!("materia_connections_refused_total").increment(1);
                continue;
            };
            // Answers that leave in several writes would otherwise wait for the peer's delayed acknowledgement.
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(error = %error, "Could not set TCP_NODELAY");
            }
            return (stream, address, Place { _among_all: among_all, _of_address: of_address });
        }
    }
}
