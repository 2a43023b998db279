//! Watches request heads as they come in. A request with both a Content-Length and a Transfer-Encoding has two lengths,
//! and two readers may disagree where the next one begins; the HTTP library would drop one of them in silence.
//!
//! Such a head is spoilt before it ends, so that the library refuses it with 400 and closes the connection.

/// A line of a head is kept this far; names are shorter, and longer lines are none of our business.
const LINE_BYTES_MAX: usize = 64;

/// Where in the stream of requests we are.
#[derive(Debug, Default)]
pub struct HeadWatch {
    state: State,
    line: Vec<u8>,
    has_length: bool,
    length: u64,
    has_encoding: bool,
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
                    self.has_length = true;
                    self.length = value.trim().parse().unwrap_or(0);
                }
                "transfer-encoding" => self.has_encoding = true,
                _ => {}
            }
        }
        false
    }

    fn end_head(&mut self) -> bool {
        let is_doubtful = self.has_length && self.has_encoding;
        self.state = match (self.has_encoding, self.length) {
            (true, _) => State::Done,
            (false, 0) => State::Head,
            (false, length) => State::Body(length),
        };
        (self.has_length, self.has_encoding, self.length) = (false, false, 0);
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
