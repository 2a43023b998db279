//! Whether a record can be brought at all: one call carries only so much. Everything else is for `put_records` to check.

use std::io;

use contract::evidence::record::Record;
use serde::Serialize;

const RECORD_BYTES_MAX: usize = 6 * 1024 * 1024;

/// What it is, for messages.
pub fn id(record: &Record) -> String {
    let (kind, id) = match record {
        Record::Source(source) => ("source", &source.id),
        Record::Node(node) => ("node", &node.id),
        Record::Edge(edge) => ("edge", &edge.id),
        Record::Document(document) => ("document", &document.id),
        Record::Deletion(deletion) => ("deletion", &deletion.id),
    };
    format!("{kind} `{}`", id.chars().take(200).collect::<String>())
}

pub fn check(record: &Record) -> Result<(), String> {
    let n_bytes = size(record);
    if n_bytes > RECORD_BYTES_MAX {
        return Err(format!("{n_bytes} bytes, expected at most {RECORD_BYTES_MAX}"));
    }
    Ok(())
}

/// The length of its JSON.
pub fn size(record: &impl Serialize) -> usize {
    struct Count(usize);
    impl io::Write for Count {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += bytes.len();
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut count = Count(0);
    match serde_json::to_writer(&mut count, record) {
        Ok(()) => count.0,
        Err(_) => usize::MAX,
    }
}
