//! Witnesses of the log: who must have cosigned, what is sent to them, and what they answer.

use ledger::checkpoint::{Checkpoint, CheckpointError, SignedCheckpoint};
use ledger::hash::Hash;
use ledger::key::WitnessVerifier;
use ledger::keyring::Keyring;
use ledger::policy::{Policy, PolicyError};
use ledger::proof::{ProofError, consistency_proof, subtrees_for_consistency};
use ledger::witness::{AddCheckpoint, RequestError};
use store::Conn;
use store::log::{self, StoredCheckpoint};

use crate::notary::{Notary, NotaryError};

/// Which witnesses the log has, and how many of them must have cosigned a checkpoint that counts.
#[derive(Debug, Clone, Default)]
pub struct WitnessPolicy {
    pub witnesses: Vec<WitnessVerifier>,
    pub n_cosignatures_min: usize,
}

impl WitnessPolicy {
    /// What a checkpoint must carry: a signature of the log, and enough cosignatures.
    pub fn with(&self, keyring: &Keyring) -> Result<Policy, PolicyError> {
        Policy::new(keyring.all_verifiers(), self.witnesses.clone(), self.n_cosignatures_min)
    }

    pub fn is_empty(&self) -> bool {
        self.witnesses.is_empty()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    #[error("the log could not be read or written")]
    Notary(#[source] NotaryError),
    #[error("a kept checkpoint cannot be read")]
    Kept(#[source] CheckpointError),
    #[error("a checkpoint could not be signed")]
    Sign(#[source] CheckpointError),
    #[error("no proof of consistency can be made")]
    Proof(#[source] ProofError),
    #[error("the request would be larger than witnesses read")]
    Request(#[source] RequestError),
    #[error("the witness' answer is not a cosignature of what it was sent")]
    Answer(#[source] CheckpointError),
    #[error("the witness answered no cosignature by its key")]
    NotCosigned,
}

impl Notary {
    /// The newest checkpoint with a proof that it continues the log at `old_size`. `None` if nothing was signed yet, or
    /// only what is smaller.
    pub async fn request_from(&self, old_size: u64) -> Result<Option<AddCheckpoint>, WitnessError> {
        let Some(kept) = self.latest().await.map_err(WitnessError::Notary)? else { return Ok(None) };
        if kept.tree_size < old_size {
            return Ok(None);
        }
        let checkpoint = SignedCheckpoint::parse(kept.note.as_bytes()).map_err(WitnessError::Kept)?;
        let mut conn = self.read().await.map_err(WitnessError::Notary)?;
        continuing(&mut conn, old_size, checkpoint).await.map(Some)
    }

    /// The log before its first event, signed: any log continues it, so that it commits to nothing. A witness that has
    /// cosigned more answers how much.
    pub fn request_of_nothing(&self) -> Result<AddCheckpoint, WitnessError> {
        let keyring = self.keyring();
        let checkpoint = Checkpoint::new(keyring.origin(), 0, Hash::EMPTY_TREE).map_err(WitnessError::Sign)?;
        let signed = keyring.sign(checkpoint).map_err(WitnessError::Sign)?;
        AddCheckpoint::new(0, Vec::new(), signed).map_err(WitnessError::Request)
    }

    /// Whether a witness cosigned a checkpoint.
    pub fn is_cosigned_by(checkpoint: &StoredCheckpoint, witness: &WitnessVerifier) -> bool {
        let Ok(signed) = SignedCheckpoint::parse(checkpoint.note.as_bytes()) else { return false };
        signed.note().signed_by(std::slice::from_ref(witness)).is_ok_and(|found| !found.is_empty())
    }

    /// Checks a witness' answer and keeps its cosignature with the checkpoint.
    pub async fn keep_cosignature(
        &self,
        sent: &AddCheckpoint,
        answer: &[u8],
        witness: &WitnessVerifier,
    ) -> Result<(), WitnessError> {
        let size = sent.checkpoint().unverified().size();
        let mut conn = self.read().await.map_err(WitnessError::Notary)?;
        // Another witness may have cosigned it meanwhile.
        let kept = log::find_checkpoint(&mut conn, size).await.map_err(store_failed)?;
        drop(conn);
        let created_at_us = kept.as_ref().map_or_else(|| self.now_us(), |kept| kept.created_at_us);
        let mut cosigned = match kept {
            Some(kept) => SignedCheckpoint::parse(kept.note.as_bytes()).map_err(WitnessError::Kept)?,
            None => sent.checkpoint().clone(),
        };
        let n_added = cosigned.add_cosignatures(answer, std::slice::from_ref(witness)).map_err(WitnessError::Answer)?;
        if n_added == 0 {
            return Err(WitnessError::NotCosigned);
        }
        let checkpoint = StoredCheckpoint { tree_size: size, note: cosigned.to_string(), created_at_us };
        self.keep(checkpoint).await.map_err(WitnessError::Notary)
    }
}

/// A checkpoint with a proof that its log continues the log of `old_size` events, which is not longer.
pub(crate) async fn continuing(
    conn: &mut Conn,
    old_size: u64,
    checkpoint: SignedCheckpoint,
) -> Result<AddCheckpoint, WitnessError> {
    let size = checkpoint.unverified().size();
    let wanted = subtrees_for_consistency(old_size, size).map_err(WitnessError::Proof)?;
    let hashes = log::subtree_hashes(conn, &wanted).await.map_err(store_failed)?;
    let proof = consistency_proof(old_size, size, |subtree| hashes.get(&subtree).copied());
    AddCheckpoint::new(old_size, proof.map_err(WitnessError::Proof)?, checkpoint).map_err(WitnessError::Request)
}

fn store_failed(error: store::StoreError) -> WitnessError {
    WitnessError::Notary(NotaryError::Store(error))
}
