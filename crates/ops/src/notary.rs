//! The notary: gives events their place in the log within a second, and signs checkpoints within a minute.

use std::time::Duration;

use store::log::{self, Sequenced, StoredCheckpoint};
use tokio_util::sync::CancellationToken;

use crate::audit;
use crate::door::Platform;

/// How long an event waits for its leaf index at most, when the store answers.
const SEQUENCE_EVERY: Duration = Duration::from_millis(200);
const CHECKPOINT_EVERY_US: i64 = 60_000_000;
const CHECKPOINT_EVENTS_MAX: u64 = 1_000;
/// After a failure.
const AGAIN_AFTER: Duration = Duration::from_secs(1);

#[derive(Debug, thiserror::Error)]
pub enum NotaryError {
    #[error("the log could not be read or written")]
    Store(#[source] store::StoreError),
    #[error("a checkpoint could not be signed")]
    Sign(#[source] contract::error::OpError),
}

pub struct Notary {
    platform: Platform,
}

impl Notary {
    pub fn new(platform: Platform) -> Notary {
        Notary { platform }
    }

    /// Works until told to stop. Trouble is logged and tried again: events wait, nothing is lost.
    pub async fn run(self, stop: CancellationToken) {
        loop {
            let wait = match self.work().await {
                Ok(()) => SEQUENCE_EVERY,
                Err(error) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::warn!(error = %error, cause, "The log could not be extended; trying again");
                    AGAIN_AFTER
                }
            };
            tokio::select! {
                () = tokio::time::sleep(wait) => {}
                () = stop.cancelled() => return,
            }
        }
    }

    /// Sequences everything that waits, and signs a checkpoint where one is due.
    pub async fn work(&self) -> Result<(), NotaryError> {
        loop {
            match self.platform.store().sequence().await.map_err(NotaryError::Store)? {
                Sequenced::Elsewhere => return Ok(()),
                Sequenced::Events(n) if n < log::SEQUENCE_EVENTS_MAX.unsigned_abs() => break,
                Sequenced::Events(_) => {}
            }
        }
        self.checkpoint_if_due().await
    }

    async fn checkpoint_if_due(&self) -> Result<(), NotaryError> {
        let now_us = self.platform.clock().now_us();
        let mut conn = self.platform.store().read().await.map_err(NotaryError::Store)?;
        let state = log::read_state(&mut conn).await.map_err(NotaryError::Store)?;
        let kept = log::latest_checkpoint(&mut conn).await.map_err(NotaryError::Store)?;
        drop(conn);
        let size = state.frontier.size();
        let (kept_size, kept_us) = kept.map_or((0, i64::MIN / 2), |kept| (kept.tree_size, kept.created_at_us));
        let n_new = size.saturating_sub(kept_size);
        // A clock that was set back must not put off the next checkpoint for ever.
        let is_old = now_us.saturating_sub(kept_us) >= CHECKPOINT_EVERY_US || now_us < kept_us;
        if n_new == 0 || (n_new < CHECKPOINT_EVENTS_MAX && !is_old) {
            return Ok(());
        }
        self.checkpoint(&state, now_us).await
    }

    async fn checkpoint(&self, state: &log::LogState, now_us: i64) -> Result<(), NotaryError> {
        let note = audit::sign(self.platform.keyring(), state).map_err(NotaryError::Sign)?.to_string();
        let checkpoint = StoredCheckpoint { tree_size: state.frontier.size(), note, created_at_us: now_us };
        self.platform.store().keep_checkpoint(checkpoint).await.map_err(NotaryError::Store)
    }

    /// Sequences what waits and signs it, due or not: before a process ends, and in tests.
    pub async fn finish(&self) -> Result<(), NotaryError> {
        self.work().await?;
        let mut conn = self.platform.store().read().await.map_err(NotaryError::Store)?;
        let state = log::read_state(&mut conn).await.map_err(NotaryError::Store)?;
        let kept = log::latest_checkpoint(&mut conn).await.map_err(NotaryError::Store)?;
        drop(conn);
        if kept.is_some_and(|kept| kept.tree_size >= state.frontier.size()) || state.frontier.size() == 0 {
            return Ok(());
        }
        self.checkpoint(&state, self.platform.clock().now_us()).await
    }
}
