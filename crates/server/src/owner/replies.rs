//! What a caller is told whose call the owner did not answer.

use contract::audit::{AuditBlock, AuditStatus};
use contract::dialect::Dialect;
use contract::error::OpError;
use ops::Reply;
use uuid::Uuid;

use super::guest::GuestError;

pub const NO_OWNER: &str = "the owner of the data folder does not answer, try again";

pub fn unreachable_reply(error: impl std::error::Error + Send + Sync + 'static) -> Reply {
    failed_reply(OpError::busy(NO_OWNER, 1_000).with_source(error))
}

/// The owner has the call and may carry it out when it wakes up.
pub fn silent_reply(error: GuestError, is_write: bool) -> Reply {
    let caution =
        if is_write { "; the write was handed over and may still happen, so look before you repeat it" } else { "" };
    failed_reply(OpError::timeout(format!("{error}{caution}")).with_source(error))
}

fn failed_reply(error: OpError) -> Reply {
    Reply {
        call_id: Uuid::now_v7(),
        dialect: Dialect::Common,
        result: Err(error),
        audit: AuditBlock {
            in_hash: String::new(),
            out_hash: String::new(),
            latency_ms: 0,
            seed: 0,
            status: AuditStatus::Error,
        },
    }
}
