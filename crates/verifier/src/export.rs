//! `materia-verify log`: a whole log, one event to a line, against a checkpoint.
//!
//! A line is `{"leaf_index":N,"event":"…"}`; the event is a JSON string that holds the exact bytes of the leaf. An event
//! of another organisation is there by its hash alone: `{"leaf_index":N,"leaf_hash":"…"}` in Base64.

use std::{
    borrow::Cow,
    io::{self, BufRead, Read},
};

use serde::Deserialize;

use crate::{
    merkle::{Tree, leaf_hash, parse_hash},
    trust::Trusted,
    verdict::{Invalid, Place, Valid},
};

/// Longer than any event.
const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;

// A member that stands twice is an error here; with a map the last one would count, and a reader may see the first.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'l> {
    leaf_index: u64,
    #[serde(borrow, default)]
    event: Option<Cow<'l, str>>,
    #[serde(borrow, default)]
    leaf_hash: Option<Cow<'l, str>>,
}

/// Whether the export is the log of the checkpoint, and its beginning the log of the earlier one. The outer error is one
/// of reading.
pub fn check(export: impl BufRead, trusted: Trusted, previous: Option<&Trusted>) -> io::Result<Result<Valid, Invalid>> {
    if let Some(previous) = previous
        && let Err(invalid) = check_order(previous, &trusted)
    {
        return Ok(Err(invalid));
    }
    let mut log =
        Log { tree: Tree::default(), size: trusted.checkpoint.size, previous, is_previous_met: None, n_hashes: 0 };
    log.meet_previous();
    let mut lines = Lines { reader: export, buffer: Vec::new() };
    while let Some((line, is_whole)) = lines.next()? {
        if let Err(invalid) = log.add(line).and_then(|()| log.check_end(is_whole)) {
            return Ok(Err(invalid));
        }
    }
    Ok(log.finish(trusted))
}

fn check_order(previous: &Trusted, trusted: &Trusted) -> Result<(), Invalid> {
    let (old, new) = (&previous.checkpoint, &trusted.checkpoint);
    if old.origin != new.origin {
        let message = format!("the checkpoints are of two logs, `{}` and `{}`", old.origin, new.origin);
        return Err(Invalid::new("OTHER_LOG", message));
    }
    if old.size > new.size {
        let message =
            format!("the earlier checkpoint has {} events, the later only {}: rolled back", old.size, new.size);
        return Err(Invalid::at("ROLLED_BACK", new.size, message));
    }
    Ok(())
}

struct Log<'t> {
    tree: Tree,
    size: u64,
    previous: Option<&'t Trusted>,
    /// Whether the events up to the earlier checkpoint lead to its root; none before that many were read.
    is_previous_met: Option<bool>,
    /// Leaves of which the export has only the hash: they are there, and what they say is not.
    n_hashes: u64,
}

impl Log<'_> {
    fn add(&mut self, line: &[u8]) -> Result<(), Invalid> {
        let expected = self.tree.n_leaves();
        let number = expected + 1;
        let line: Line = serde_json::from_slice(line).map_err(|error| {
            let column = error.column();
            let message = format!("line {number} is not {{\"leaf_index\":N,\"event\":\"…\"}} (column {column})");
            Invalid::at("MALFORMED_EXPORT", expected, message)
        })?;
        if line.leaf_index != expected {
            let message = format!("line {number} has event {}, expected event {expected}", line.leaf_index);
            return Err(Invalid::at("WRONG_INDEX", expected, message));
        }
        if expected >= self.size {
            let message = format!("event {expected} is not covered by the checkpoint, which has {} events", self.size);
            return Err(Invalid::at("WRONG_SIZE", expected, message));
        }
        let hash = match (&line.event, &line.leaf_hash) {
            (Some(event), None) => Some(leaf_hash(event.as_bytes())),
            (None, Some(hash)) => {
                self.n_hashes += 1;
                parse_hash(hash)
            }
            (Some(_), Some(_)) | (None, None) => None,
        };
        let Some(hash) = hash else {
            let message = format!("line {number} must have either an `event` or a `leaf_hash`");
            return Err(Invalid::at("MALFORMED_EXPORT", expected, message));
        };
        self.tree.add(hash);
        self.meet_previous();
        Ok(())
    }

    /// Every line of an export ends with a newline; a file that lacks the last one lost its end on the way.
    fn check_end(&self, is_whole: bool) -> Result<(), Invalid> {
        let found = self.tree.n_leaves();
        if is_whole {
            return Ok(());
        }
        let message = format!("line {found} does not end with a newline: the export was cut");
        Err(Invalid::at("MALFORMED_EXPORT", found.saturating_sub(1), message))
    }

    fn meet_previous(&mut self) {
        if let Some(previous) = self.previous
            && previous.checkpoint.size == self.tree.n_leaves()
        {
            self.is_previous_met = Some(previous.checkpoint.root == self.tree.root());
        }
    }

    fn finish(self, trusted: Trusted) -> Result<Valid, Invalid> {
        let (found, size) = (self.tree.n_leaves(), self.size);
        if found < size {
            let message = format!("the export ends before event {found}, the checkpoint has {size} events");
            return Err(Invalid::at("WRONG_SIZE", found, message));
        }
        let is_whole = self.tree.root() == trusted.checkpoint.root;
        let old_size = self.previous.map_or(0, |previous| previous.checkpoint.size);
        let (code, message, place) = match (is_whole, self.is_previous_met) {
            (true, None | Some(true)) => {
                let earlier = self.previous.map_or_else(String::new, |_| {
                    format!(", and its first {old_size} are those of the earlier checkpoint")
                });
                let n_hashes = self.n_hashes;
                let shown = match n_hashes {
                    0 => format!("all {size} events"),
                    n => format!("{size} events, {n} of them only as hashes"),
                };
                let message = format!("the export is the log of the checkpoint, {shown}{earlier}");
                return Ok(Valid { message, leaf_index: None, n_hashes: Some(n_hashes), trusted });
            }
            (true, Some(false)) => (
                "REWRITTEN",
                format!(
                    "the log signed two histories: the first {old_size} events are not those of the earlier checkpoint"
                ),
                Place::Between(0, old_size),
            ),
            (false, Some(false)) => (
                "WRONG_ROOT",
                format!("the events are not those of the checkpoints: changed before event {old_size}"),
                Place::Between(0, old_size),
            ),
            (false, Some(true)) => (
                "WRONG_ROOT",
                format!("the events are not those of the checkpoint: changed from event {old_size} on"),
                Place::Between(old_size, size),
            ),
            (false, None) => (
                "WRONG_ROOT",
                "the events are not those of the checkpoint: changed, or in another order".to_owned(),
                Place::Between(0, size),
            ),
        };
        Err(Invalid { code, message, place })
    }
}

/// Lines without their newlines, each no longer than the limit, and whether they had one.
struct Lines<R> {
    reader: R,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    fn next(&mut self) -> io::Result<Option<(&[u8], bool)>> {
        self.buffer.clear();
        let limit = u64::try_from(LINE_BYTES_MAX).unwrap_or(u64::MAX);
        let n_read = self.reader.by_ref().take(limit).read_until(b'\n', &mut self.buffer)?;
        match self.buffer.strip_suffix(b"\n") {
            _ if n_read == 0 => Ok(None),
            Some(line) => Ok(Some((line, true))),
            None if n_read == LINE_BYTES_MAX => {
                Err(io::Error::new(io::ErrorKind::InvalidData, format!("a line is longer than {LINE_BYTES_MAX} bytes")))
            }
            None => Ok(Some((&self.buffer, false))),
        }
    }
}
