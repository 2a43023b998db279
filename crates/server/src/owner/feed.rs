//! The change feed for whoever listens in this process. It is read only while somebody does.

use std::sync::{Arc, Weak};
use std::time::Duration;

use contract::error::OpError;
use ops::feed::{Change, Changes};
use tokio::sync::{Mutex, broadcast};

use super::{House, guest};

const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Changes that a listener may be behind before it must look for itself.
const CHANGES_MAX: usize = 1_024;

pub struct Feed {
    changes: broadcast::Sender<Arc<Change>>,
    /// Where the next look begins; `None` while nobody listens. Who comes and who goes is decided under this lock.
    index: Mutex<Option<u64>>,
}

impl Default for Feed {
    fn default() -> Feed {
        Feed { changes: broadcast::Sender::new(CHANGES_MAX), index: Mutex::new(None) }
    }
}

impl House {
    /// Changes from here on; a few that came before may be among them.
    pub async fn changes(&self) -> Result<broadcast::Receiver<Arc<Change>>, OpError> {
        let mut index = self.feed.index.lock().await;
        if index.is_none() {
            *index = Some(self.changes_from(None).await?.next_index);
        }
        Ok(self.feed.changes.subscribe())
    }

    async fn changes_from(&self, index: Option<u64>) -> Result<Changes, OpError> {
        match self.platform() {
            Some(platform) => platform.changes_from(index).await,
            None => guest::changes_from(&self.options.folder, index)
                .await
                .unwrap_or_else(|error| Err(OpError::busy(super::NO_OWNER, 1_000).with_source(error))),
        }
    }
}

/// Follows the feed for as long as the house stands.
pub async fn follow(house: Weak<House>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(house) = house.upgrade() else { return };
        let mut index = house.feed.index.lock().await;
        if house.feed.changes.receiver_count() == 0 {
            *index = None;
            continue;
        }
        match house.changes_from(*index).await {
            Ok(Changes { next_index, changes }) => {
                *index = Some(next_index);
                for change in changes {
                    // The last listener may just have left.
                    drop(house.feed.changes.send(Arc::new(change)));
                }
            }
            Err(error) => tracing::debug!(error = %error, "The change feed could not be read; trying again"),
        }
    }
}
