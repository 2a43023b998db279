//! The text of a checkpoint (C2SP tlog-checkpoint).

use crate::{
    merkle::{Hash, parse_hash},
    verdict::Invalid,
};

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    pub origin: String,
    pub size: u64,
    pub root: Hash,
}

impl Checkpoint {
    /// Lines after the third are allowed and say nothing.
    pub fn parse(text: &str) -> Result<Checkpoint, Invalid> {
        let malformed = |what: &str| Invalid::new("MALFORMED_CHECKPOINT", format!("the checkpoint {what}"));
        let lines: Vec<&str> = text.split_terminator('\n').collect();
        if !text.ends_with('\n') || lines.contains(&"") {
            return Err(malformed("has an empty or unfinished line"));
        }
        let [origin, size, root, ..] = lines.as_slice() else { return Err(malformed("has fewer than three lines")) };
        let size = parse_number(size).ok_or_else(|| malformed("has no size on its second line"))?;
        let root = parse_hash(root).ok_or_else(|| malformed("has no root hash on its third line"))?;
        Ok(Checkpoint { origin: (*origin).to_owned(), size, root })
    }
}

/// A decimal of the only spelling: the number printed again is the text.
pub fn parse_number(text: &str) -> Option<u64> {
    text.parse().ok().filter(|number: &u64| number.to_string() == text)
}
