//! Lines of bounded length. One that is too long is skipped and rejected; the next one is read.

use std::io::BufRead;

use memchr::memchr;

use super::{ImportError, Rejection};

/// Longer than any record that could be kept.
pub const LINE_BYTES_MAX: usize = 16 * 1024 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

#[derive(Debug, PartialEq, Eq)]
pub struct Line {
    pub number: u64,
    /// Without its end.
    pub text: String,
}

/// The number of a line and what stands in it, or why it is none.
pub type Numbered<'a> = Result<(u64, &'a [u8]), Rejection>;

pub struct Lines<R> {
    reader: R,
    n_read: u64,
    bytes_max: usize,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    pub fn new(reader: R) -> Lines<R> {
        Lines::of(reader, LINE_BYTES_MAX)
    }

    /// Lines of at most so many bytes.
    pub fn of(reader: R, bytes_max: usize) -> Lines<R> {
        Lines { reader, n_read: 0, bytes_max, buffer: Vec::new() }
    }

    /// The next line, or why it is none; `None` at the end.
    pub fn read(&mut self) -> Result<Option<Result<Line, Rejection>>, ImportError> {
        let line = self.read_bytes()?.map(|line| {
            let (number, bytes) = line?;
            match std::str::from_utf8(bytes) {
                Ok(text) => Ok(Line { number, text: text.to_owned() }),
                Err(_) => Err(Rejection { at: format!("line {number}"), reason: "not UTF-8".to_owned() }),
            }
        });
        Ok(line)
    }

    /// The same in whatever encoding.
    pub fn read_bytes(&mut self) -> Result<Option<Numbered<'_>>, ImportError> {
        self.buffer.clear();
        let mut is_too_long = false;
        let mut is_any = false;
        loop {
            let chunk = self.reader.fill_buf().map_err(ImportError::Read)?;
            if chunk.is_empty() {
                break;
            }
            is_any = true;
            let end = memchr(b'\n', chunk);
            let (part, n_taken) = match end {
                Some(end) => (chunk.get(..end).unwrap_or_default(), end + 1),
                None => (chunk, chunk.len()),
            };
            if self.buffer.len() + part.len() > self.bytes_max {
                is_too_long = true;
                self.buffer.clear();
            }
            if !is_too_long {
                self.buffer.extend_from_slice(part);
            }
            self.reader.consume(n_taken);
            if end.is_some() {
                break;
            }
        }
        if !is_any {
            return Ok(None);
        }
        self.n_read += 1;
        Ok(Some(self.line(is_too_long)))
    }

    /// The number of the line that was read last.
    pub fn n_read(&self) -> u64 {
        self.n_read
    }

    fn line(&self, is_too_long: bool) -> Numbered<'_> {
        let number = self.n_read;
        if is_too_long {
            let reason = format!("longer than {} bytes", self.bytes_max);
            return Err(Rejection { at: format!("line {number}"), reason });
        }
        let mut bytes = self.buffer.as_slice();
        if number == 1 {
            bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
        }
        Ok((number, bytes.strip_suffix(b"\r").unwrap_or(bytes)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &[u8], bytes_max: usize, expected: &[&str]) {
        let mut lines = Lines::of(text, bytes_max);
        let mut read = Vec::new();
        while let Some(line) = lines.read().unwrap() {
            read.push(match line {
                Ok(line) => format!("{} {}", line.number, line.text),
                Err(rejection) => format!("{}: {}", rejection.at, rejection.reason),
            });
        }
        assert_eq!(read, expected);
    }

    #[test]
    fn ends_of_both_kinds_a_mark_at_the_start_and_a_last_line_without_end() {
        check(b"\xef\xbb\xbfa\r\n\nb", 10, &["1 a", "2 ", "3 b"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_skipped_alone() {
        check(b"abcdef\nab\n", 5, &["line 1: longer than 5 bytes", "2 ab"]);
    }

    #[test]
    fn other_encodings_are_rejected_by_line() {
        check(b"\xe9\na", 5, &["line 1: not UTF-8", "2 a"]);
    }

    #[test]
    fn no_bytes_are_no_lines() {
        check(b"", 5, &[]);
    }
}
