//! `materia-verify proof`: one event and its C2SP tlog-proof file.

use base64::{Engine, prelude::BASE64_STANDARD};

use crate::{
    checkpoint::parse_number,
    merkle::{Hash, leaf_hash, parse_hash, root_from_path},
    trust::Trust,
    verdict::{Invalid, Valid},
};

struct ProofFile<'f> {
    index: u64,
    path: Vec<Hash>,
    checkpoint: &'f str,
}

/// Whether exactly these bytes are an event of the log.
pub fn check(event: &[u8], proof: &str, trust: &Trust) -> Result<Valid, Invalid> {
    let ProofFile { index, path, checkpoint } = parse(proof)?;
    let trusted = trust.check(checkpoint)?;
    let (size, root) = (trusted.checkpoint.size, trusted.checkpoint.root);
    if index >= size {
        let message = format!("the proof is about event {index}, but the log of the checkpoint has {size}");
        return Err(Invalid::at("NOT_INCLUDED", index, message));
    }
    let is_included = |event: &[u8]| root_from_path(leaf_hash(event), index, size, &path) == Some(root);
    if is_included(event) {
        let message = format!("the event is number {index} of the {size} events of the log, counted from 0");
        return Ok(Valid { message, leaf_index: Some(index), n_hashes: None, trusted });
    }
    let message = match event.strip_suffix(b"\n") {
        Some(event) if is_included(event) => {
            format!("the file ends with a newline that is not part of the event; without it, it is event {index}")
        }
        _ => format!("the event is not the one that the log has at {index}"),
    };
    Err(Invalid::at("NOT_INCLUDED", index, message))
}

fn parse(proof: &str) -> Result<ProofFile<'_>, Invalid> {
    let malformed = |what: &str| Invalid::new("MALFORMED_PROOF", format!("the proof {what}"));
    let (head, checkpoint) =
        proof.split_once("\n\n").ok_or_else(|| malformed("has no empty line before the checkpoint"))?;
    let mut lines: Vec<&str> = head.split('\n').collect();
    if lines.first() != Some(&"c2sp.org/tlog-proof@v1") {
        return Err(malformed("does not begin with `c2sp.org/tlog-proof@v1`"));
    }
    // The extra data are signed by nobody; they are only kept to their form.
    if let Some(extra) = lines.get(1).and_then(|line| line.strip_prefix("extra ")) {
        if extra.is_empty() || BASE64_STANDARD.decode(extra).is_err() {
            return Err(malformed("has extra data that are not base64"));
        }
        lines.remove(1);
    }
    let index = lines.get(1).and_then(|line| line.strip_prefix("index ")).and_then(parse_number);
    let index = index.ok_or_else(|| malformed("has no line `index NUMBER`"))?;
    let path: Option<Vec<Hash>> = lines.iter().skip(2).map(|line| parse_hash(line)).collect();
    Ok(ProofFile { index, path: path.ok_or_else(|| malformed("has a line that is not a hash"))?, checkpoint })
}
