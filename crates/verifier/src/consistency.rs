//! `materia-verify consistency`: an earlier checkpoint, and the text that a log sends to a witness (C2SP tlog-witness,
//! `add-checkpoint`), which holds a proof and the later checkpoint.

use crate::{
    checkpoint::parse_number,
    merkle::{Hash, is_consistent, parse_hash},
    trust::Trust,
    verdict::{Invalid, Valid},
};

/// Whether the log of the later checkpoint only added to the log of the earlier one.
pub fn check(previous: &str, request: &str, trust: &Trust) -> Result<Valid, Invalid> {
    let malformed = |what: &str| Invalid::new("MALFORMED_PROOF", format!("the proof {what}"));
    let (head, checkpoint) =
        request.split_once("\n\n").ok_or_else(|| malformed("has no empty line before the checkpoint"))?;
    let mut lines = head.split('\n');
    let old_size = lines.next().and_then(|line| line.strip_prefix("old ")).and_then(parse_number);
    let old_size = old_size.ok_or_else(|| malformed("does not begin with `old SIZE`"))?;
    let proof: Option<Vec<Hash>> = lines.map(parse_hash).collect();
    let proof = proof.ok_or_else(|| malformed("has a line that is not a hash"))?;

    let old = trust.check_log_only(previous)?.checkpoint;
    let trusted = trust.check(checkpoint)?;
    let new = &trusted.checkpoint;
    if old.origin != new.origin {
        let message = format!("the checkpoints are of two logs, `{}` and `{}`", old.origin, new.origin);
        return Err(Invalid::new("OTHER_LOG", message));
    }
    if old_size != old.size {
        let message = format!("the proof starts at {old_size} events, the earlier checkpoint has {}", old.size);
        return Err(Invalid::new("INCONSISTENT", message));
    }
    if !is_consistent(old.size, old.root, new.size, new.root, &proof) {
        let message = format!(
            "the log of {} events is not shown to continue the one of {}: fork, rewrite or wrong proof",
            new.size, old.size
        );
        return Err(Invalid::new("INCONSISTENT", message));
    }
    let message =
        format!("the log of {} events continues the one of {}; nothing before was changed", new.size, old.size);
    Ok(Valid { message, leaf_index: None, n_hashes: None, trusted })
}
