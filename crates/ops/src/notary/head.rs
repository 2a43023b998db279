//! The head of the log: signed with every step and kept beside the database, where it tells whoever comes after a kill
//! which events had their places. A checkpoint says that one lies beside it, so that a head that is gone shows.

use contract::error::OpError;
use ledger::checkpoint::{Checkpoint, SignedCheckpoint};
use ledger::tree::TreeHead;
use store::Engine;

use super::{Notary, NotaryError};

/// Ends a head that the last process of a house left when it had written everything.
const CLOSED: &str = "closed";

/// What comes after a head.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Afterwards {
    MoreMayCome,
    /// Nothing, until the next process.
    Closed,
}

/// The line of a checkpoint that is kept beside the database after a head was.
pub(super) const HEADED: &str = "head kept";

/// Whether a head was kept before this checkpoint was. Programs before this one did not say so.
pub fn is_headed(checkpoint: &str) -> bool {
    SignedCheckpoint::parse(checkpoint.as_bytes())
        .is_ok_and(|signed| signed.unverified().extensions().iter().any(|line| line == HEADED))
}

impl Notary {
    /// The log as this process last found it to continue all that was signed, signed; `None` before that, and where it is
    /// `last`. It gets no row and no number: kept beside the database, it tells whoever comes after a kill which events had their places.
    pub fn sign_head(
        &self,
        last: Option<TreeHead>,
        after: Afterwards,
    ) -> Result<Option<(TreeHead, String)>, NotaryError> {
        let seen = self.platform.watch().seen();
        let Some(head) = seen.filter(|head| head.size > 0 && Some(*head) != last) else { return Ok(None) };
        Ok(Some((head, self.sign(head, after)?)))
    }

    fn sign(&self, head: TreeHead, after: Afterwards) -> Result<String, NotaryError> {
        let lines = match after {
            Afterwards::MoreMayCome => Vec::new(),
            Afterwards::Closed => vec![CLOSED.to_owned()],
        };
        let keyring = self.keyring();
        let checkpoint = Checkpoint::new(keyring.origin(), head.size, head.root);
        let signed = checkpoint.and_then(|checkpoint| keyring.sign(checkpoint.with_extensions(lines)?));
        Ok(signed.map_err(|error| NotaryError::Sign(OpError::internal(error)))?.to_string())
    }

    /// The head that takes the place of a closed one when a process comes; `None` where it is none.
    pub fn reopen_head(&self, closed: &str) -> Result<Option<String>, NotaryError> {
        let Ok(signed) = SignedCheckpoint::parse(closed.as_bytes()) else { return Ok(None) };
        self.sign(signed.unverified().head(), Afterwards::MoreMayCome).map(Some)
    }

    /// Doubts an event that came after the last process had closed the house, by the word of the head that it left. Where a
    /// database server keeps the record, other houses may have written it. Answers whether the house had been closed.
    pub async fn doubt_added(&self, head: &str) -> Result<bool, NotaryError> {
        let Ok(signed) = SignedCheckpoint::parse(head.as_bytes()) else { return Ok(false) };
        let is_closed = signed.unverified().extensions().iter().any(|line| line == CLOSED);
        if !is_closed {
            return Ok(false);
        }
        if self.platform.store().engine() == Engine::Sqlite
            && self.size().await? == signed.unverified().size()
            && let Some(call_id) = self.find_waiting().await?
        {
            let what = format!("the event of call {call_id} came into the database while no process of this house ran");
            self.platform.watch().note_added(what);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::hash::Hash;
    use ledger::key::LogSigner;

    #[test]
    fn a_checkpoint_of_a_program_before_heads_asks_for_none() {
        let signer = LogSigner::generate("log.example", [1; 32]).unwrap();
        let sign = |lines: &[&str]| {
            let lines = lines.iter().map(|line| (*line).to_owned()).collect();
            let checkpoint = Checkpoint::new("log.example", 3, Hash::leaf(b"x")).unwrap().with_extensions(lines);
            checkpoint.unwrap().sign(&[&signer]).unwrap().to_string()
        };
        assert!(is_headed(&sign(&[HEADED, "checkpoint 18"])));
        assert!(!is_headed(&sign(&["checkpoint 18"])) && !is_headed(&sign(&[])) && !is_headed(""));
    }
}
