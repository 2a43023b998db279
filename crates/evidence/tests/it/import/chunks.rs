//! A stream gives the same items in whatever pieces it comes, packed or not.

use std::io::{self, Cursor, Read, Write as _};

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

use super::{FIXTURES, fixture, lines};

/// Hands out a few bytes at a time, in the given sizes over and over.
struct Pieces {
    inner: Cursor<Vec<u8>>,
    sizes: Vec<usize>,
    n_reads: usize,
}

impl Read for Pieces {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let size = self.sizes[self.n_reads % self.sizes.len()].min(buffer.len());
        self.n_reads += 1;
        self.inner.read(&mut buffer[..size])
    }
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn pieces_of_any_size_give_the_same_items(sizes in prop::collection::vec(1_usize..400, 1..8), is_packed: bool) {
        for (name, format) in FIXTURES {
            let bytes = fixture(name);
            let whole = lines(*format, Cursor::new(bytes.clone()));
            let bytes = if is_packed { packed(&bytes) } else { bytes };
            let pieces = Pieces { inner: Cursor::new(bytes), sizes: sizes.clone(), n_reads: 0 };
            prop_assert_eq!(lines(*format, pieces), whole, "{}", name);
        }
    }

    /// Whatever is cut off or overwritten, the parser ends without a panic, and what it kept are records.
    #[test]
    fn damaged_files_end_without_a_panic(cut in 0.0_f64..1.0, place in 0.0_f64..1.0, byte: u8) {
        for (name, format) in FIXTURES {
            let mut bytes = fixture(name);
            let at = |share: f64, n: usize| ((n as f64) * share) as usize;
            bytes.truncate(at(cut, bytes.len()).max(1));
            let index = at(place, bytes.len());
            bytes[index] = byte;
            lines(*format, Cursor::new(bytes));
        }
    }
}

#[test]
fn a_packed_file_that_was_cut_off_keeps_what_came_before_and_says_so() {
    let mut text = String::new();
    for n in 0..20_000 {
        text.push_str(&format!("{{\"_id\": \"d{n}\", \"text\": \"words {}\"}}\n", n * 7_919 % 10_007));
    }
    let mut bytes = packed(text.as_bytes());
    bytes.truncate(bytes.len() / 2);
    let found = lines(evidence::import::Format::Beir, Cursor::new(bytes));
    assert!(found.len() > 1_000, "{}", found.len());
    assert!(found.last().unwrap().contains("the gzip stream ends in the middle; the file is truncated"));
}
