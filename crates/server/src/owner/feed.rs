//! The change feed for whoever listens in this process. It is read only while somebody does.

use std::sync::{Arc, Weak};
use std::time::Duration;

use contract::error::OpError;
use ops::feed::{Change, Changes};
use tokio::sync::broadcast;

use super::{House, guest};

const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Changes that a listener may be behind before it must look for itself.
const CHANGES_MAX: usize = 1_024;

pub struct Feed(broadcast::Sender<Arc<Change>>);

impl Default for Feed {
    fn default() -> Feed {
        Feed(broadcast::Sender::new(CHANGES_MAX))
    }
}

impl House {
    /// Changes from here on.
    pub fn changes(&self) -> broadcast::Receiver<Arc<Change>> {
        self.feed.0.subscribe()
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
    let mut index = None;
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(house) = house.upgrade() else { return };
        if house.feed.0.receiver_count() == 0 {
            // Who comes next hears of what happens from then on.
            index = None;
            continue;
        }
        match house.changes_from(index).await {
            Ok(Changes { next_index, changes }) => {
                index = Some(next_index);
                for change in changes {
                    // The last listener may just have left.
                    drop(house.feed.0.send(Arc::new(change)));
                }
            }
            Err(error) => tracing::debug!(error = %error, "The change feed could not be read; trying again"),
        }
    }
}
