//! HTTP as bytes on a socket: what a well-behaved client library would refuse to send.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Instant;

use serde_json::Value;

use super::answers::{ANSWER_WITHIN, check_discreet};

#[derive(Debug, Clone)]
pub struct Answer {
    pub status: u16,
    head: String,
    pub body: String,
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("expected JSON, found {self:?}"))
    }
}

/// What came back on one connection.
#[derive(Debug)]
pub struct Exchange {
    pub answers: Vec<Answer>,
    pub is_closed: bool,
}

impl Exchange {
    /// The one answer on a connection that was then closed.
    #[track_caller]
    pub fn only(mut self) -> Answer {
        assert!(self.is_closed, "the connection stays open: {self:?}");
        assert_eq!(self.answers.len(), 1, "expected one answer: {self:?}");
        self.answers.remove(0)
    }
}

/// Sends bytes and reads until the server closes the connection or the time for an answer is over.
#[track_caller]
pub fn exchange(address: SocketAddr, request: &[u8]) -> Exchange {
    let begun = Instant::now();
    let mut stream = TcpStream::connect(address).expect("the server accepts connections");
    stream.set_read_timeout(Some(ANSWER_WITHIN)).expect("a timeout can be set");
    stream.set_write_timeout(Some(ANSWER_WITHIN)).expect("a timeout can be set");
    // The server may answer and hang up before it has read all of it.
    let is_sent = stream.write_all(request).is_ok();
    let mut received = Vec::new();
    let is_closed = read_to_end(&mut stream, &mut received);
    assert!(is_sent || is_closed, "the server neither reads nor hangs up");
    assert!(begun.elapsed() < ANSWER_WITHIN * 2, "the exchange took {:?}", begun.elapsed());
    let text = String::from_utf8_lossy(&received).into_owned();
    check_discreet(&text, &String::from_utf8_lossy(request));
    Exchange { answers: answers(&text), is_closed }
}

/// Whether the end was reached; false when the server fell silent.
fn read_to_end(stream: &mut TcpStream, received: &mut Vec<u8>) -> bool {
    let mut piece = [0; 64 * 1024];
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return true,
            Ok(n_bytes) => received.extend_from_slice(&piece[..n_bytes]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => return false,
            Err(_reset) => return true,
        }
    }
}

/// The final answers in a text; interim ones (1xx) do not count.
fn answers(text: &str) -> Vec<Answer> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some((head, after)) = rest.split_once("\r\n\r\n") {
        let status = head.split(' ').nth(1).and_then(|word| word.parse().ok()).expect("an answer has a status");
        let mut answer = Answer { status, head: head.to_owned(), body: String::new() };
        let n_bytes: usize = answer.header("content-length").and_then(|value| value.parse().ok()).unwrap_or(0);
        if answer.header("transfer-encoding").is_some() {
            answer.body = after.to_owned();
            rest = "";
        } else {
            answer.body = after.get(..n_bytes).unwrap_or(after).to_owned();
            rest = after.get(n_bytes..).unwrap_or_default();
        }
        if !(100..200).contains(&status) {
            found.push(answer);
        }
    }
    found
}

/// A request, well-formed unless its parts are not.
#[derive(Debug, Clone)]
pub struct Request {
    pub method: &'static str,
    pub path: String,
    headers: Vec<(String, String)>,
    body: Vec<u8>,
}

impl Request {
    pub fn post(path: impl Into<String>) -> Request {
        Request { method: "POST", path: path.into(), headers: Vec::new(), body: Vec::new() }
    }

    pub fn delete(path: impl Into<String>) -> Request {
        Request { method: "DELETE", path: path.into(), headers: Vec::new(), body: Vec::new() }
    }

    pub fn get(path: impl Into<String>) -> Request {
        Request { method: "GET", path: path.into(), headers: Vec::new(), body: Vec::new() }
    }

    /// Replaces a header of the same name; an empty value removes it.
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Request {
        self.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        let value = value.into();
        if !value.is_empty() {
            self.headers.push((name.to_owned(), value));
        }
        self
    }

    /// A JSON body; a later `Content-Type` replaces this one's.
    pub fn json(self, body: impl AsRef<[u8]>) -> Request {
        self.header("Content-Type", "application/json").body(body)
    }

    pub fn body(mut self, body: impl AsRef<[u8]>) -> Request {
        self.body = body.as_ref().to_vec();
        self
    }

    /// The head up to the headers that say how long the body is.
    pub fn head(&self) -> String {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{} {} HTTP/1.1\r\n{headers}", self.method, self.path)
    }

    /// All of it, on a connection of its own.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = format!("{}Connection: close\r\nContent-Length: {}\r\n\r\n", self.head(), self.body.len());
        // Only a body that is there needs a length.
        if self.body.is_empty() && self.method == "GET" {
            bytes = format!("{}Connection: close\r\n\r\n", self.head());
        }
        [bytes.into_bytes(), self.body.clone()].concat()
    }

    /// The body in chunks, without a length.
    pub fn chunked_bytes(&self) -> Vec<u8> {
        let head = format!("{}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n", self.head());
        let mut bytes = head.into_bytes();
        for chunk in self.body.chunks(16 * 1024) {
            bytes.extend(format!("{:x}\r\n", chunk.len()).into_bytes());
            bytes.extend_from_slice(chunk);
            bytes.extend_from_slice(b"\r\n");
        }
        bytes.extend_from_slice(b"0\r\n\r\n");
        bytes
    }
}
