//! Watches request heads as they come in. A request with both a Content-Length and a Transfer-Encoding, or with two of
//! either, has two lengths, and two readers may disagree where the next one begins; the HTTP library would drop one of
//! them in silence.
//!
//! Such a head is spoilt before it ends, so that the library refuses it with 400 and closes the connection.

/// A line of a head is kept this far; names are shorter, and longer lines are none of our business.
const LINE_BYTES_MAX: usize = 64;

/// Where in the stream of requests we are.
#[derive(Debug, Default)]
pub struct HeadWatch {
    state: State,
    line: Vec<u8>,
    /// Content-Length and Transfer-Encoding lines of the head so far.
    n_lengths: usize,
    n_encodings: usize,
    length: u64,
    /// A length stands so far out in its line that we do not know it.
    is_length_out_of_sight: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum State {
    #[default]
    Head,
    /// So many bytes of a body are still to come.
    Body(u64),
    /// A chunked body, after which the connection ends: nothing more to watch.
    Done,
}

impl HeadWatch {
    /// Whether more of a body may come, as far as is known: the end of a chunked one is not looked for.
    pub fn is_in_body(&self) -> bool {
        matches!(self.state, State::Body(_) | State::Done)
    }

    /// Looks at bytes that were read, and spoils the end of a head that has two lengths.
    pub fn inspect(&mut self, bytes: &mut [u8]) {
        let mut at = 0;
        while let Some(rest) = bytes.get_mut(at..).filter(|rest| !rest.is_empty()) {
            match self.state {
                State::Done => return,
                State::Body(n_left) => {
                    let n_here = usize::try_from(n_left).unwrap_or(usize::MAX).min(rest.len());
                    at += n_here;
                    let n_left = n_left - u64::try_from(n_here).unwrap_or(n_left);
                    self.state = if n_left == 0 { State::Head } else { State::Body(n_left) };
                }
                State::Head => {
                    let end = rest.iter().position(|byte| *byte == b'\n');
                    let piece = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                    let room = LINE_BYTES_MAX.saturating_sub(self.line.len());
                    self.line.extend(piece.iter().take(room));
                    at += end.map_or(rest.len(), |end| end + 1);
                    if let Some(end) = end
                        && self.end_line()
                        && let Some(last) = rest.get_mut(end)
                    {
                        // No head may hold a NUL.
                        *last = 0;
                    }
                }
            }
        }
    }

    /// Takes in one line. True if the head has two lengths and ends here.
    fn end_line(&mut self) -> bool {
        let line = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&line);
        let text = text.trim_end_matches('\r');
        if text.is_empty() {
            return self.end_head();
        }
        if let Some((name, value)) = text.split_once(':') {
            match name.to_ascii_lowercase().as_str() {
                "content-length" => {
                    self.n_lengths += 1;
                    self.length = value.trim().parse().unwrap_or(0);
                    self.is_length_out_of_sight |= line.len() >= LINE_BYTES_MAX;
                }
                "transfer-encoding" => self.n_encodings += 1,
                _ => {}
            }
        }
        false
    }

    fn end_head(&mut self) -> bool {
        let is_doubtful = self.n_lengths + self.n_encodings > 1 || self.is_length_out_of_sight;
        let state = match (self.n_encodings, self.length) {
            (1.., _) => State::Done,
            (0, 0) => State::Head,
            (0, length) => State::Body(length),
        };
        *self = HeadWatch { state, ..HeadWatch::default() };
        is_doubtful
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds the text in pieces of every size; the verdict must not depend on how it was cut.
    fn check(text: &str, is_spoilt: bool) {
        for size in 1..=text.len() {
            let mut watch = HeadWatch::default();
            let mut bytes = text.as_bytes().to_vec();
            for piece in bytes.chunks_mut(size) {
                watch.inspect(piece);
            }
            assert_eq!(bytes.contains(&0), is_spoilt, "{text:?} in pieces of {size}");
        }
    }

    #[test]
    fn a_head_with_two_lengths_is_spoilt() {
        check("POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", true);
        check("POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\nhost: x\r\nCONTENT-LENGTH: 4\r\n\r\n", true);
        check("POST / HTTP/1.1\r\nContent-Length: 4\r\nhost: x\r\ncontent-length: 4\r\n\r\nabcd", true);
        check("GET / HTTP/1.1\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n", true);
        check("POST / HTTP/1.1\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n", true);
    }

    #[test]
    fn a_length_that_was_not_read_to_its_end_is_no_length() {
        let far = " ".repeat(LINE_BYTES_MAX);
        check(&format!("POST / HTTP/1.1\r\nContent-Length:{far}4\r\n\r\nabcd"), true);
        check(&format!("POST / HTTP/1.1\r\nX-Note:{far}4\r\nContent-Length: 4\r\n\r\nabcd"), false);
    }

    #[test]
    fn one_length_passes_and_bodies_are_not_heads() {
        check("POST / HTTP/1.1\r\nContent-Length: 4\r\n\r\nabcdGET / HTTP/1.1\r\n\r\n", false);
        check("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\n0\r\n\r\n", false);
        let body = "Content-Length: 1\r\nTransfer-Encoding: x\r\n\r\n";
        check(&format!("POST / HTTP/1.1\r\nContent-Length: {}\r\n\r\n{body}", body.len()), false);
    }

    #[test]
    fn the_second_request_of_a_connection_is_watched_too() {
        let first = "POST / HTTP/1.1\r\nContent-Length: 2\r\n\r\nok";
        check(&format!("{first}POST / HTTP/1.1\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"), true);
    }
}
