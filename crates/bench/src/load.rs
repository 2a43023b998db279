//! A closed loop over raw keep-alive connections: the same request again and again, every answer checked.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;
use tokio::time::Instant;

use crate::figures::Latencies;

const ANSWER_BYTES_MAX: usize = 1024 * 1024;
/// A server that takes longer has hung.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);

#[derive(Debug, Clone)]
pub struct Target {
    pub address: SocketAddr,
    pub request: Vec<u8>,
    /// Stands in the body of every right answer.
    pub expected: String,
}

pub struct Load {
    pub elapsed: Duration,
    pub latencies: Latencies,
}

/// Keeps `connections` busy for `length`. One wrong answer fails the whole run.
pub async fn run(target: &Target, connections: usize, length: Duration) -> anyhow::Result<Load> {
    let target = Arc::new(target.clone());
    let mut opened = Vec::with_capacity(connections);
    for _ in 0..connections {
        opened.push(Connection::open(target.address).await?);
    }
    let started = Instant::now();
    let until = started + length;
    let mut running: JoinSet<anyhow::Result<Latencies>> = JoinSet::new();
    for mut connection in opened {
        let target = Arc::clone(&target);
        running.spawn(async move {
            let mut latencies = Latencies::default();
            while Instant::now() < until {
                let asked = Instant::now();
                let body = connection.ask(&target.request).await?;
                latencies.push(asked.elapsed());
                let text = std::str::from_utf8(body).context("an answer is not text")?;
                ensure!(text.contains(&target.expected), "a wrong answer: {text}");
            }
            Ok(latencies)
        });
    }
    let mut latencies = Latencies::default();
    while let Some(ended) = running.join_next().await {
        latencies.append(ended.context("a connection panicked")??);
    }
    Ok(Load { elapsed: started.elapsed(), latencies })
}

pub async fn ask_once(address: SocketAddr, request: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut connection = Connection::open(address).await?;
    let body = tokio::time::timeout(ANSWER_WITHIN, connection.ask(request)).await.context("no answer came")?;
    body.map(<[u8]>::to_vec)
}

pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Connection {
    pub async fn open(address: SocketAddr) -> anyhow::Result<Connection> {
        let stream = TcpStream::connect(address).await.with_context(|| format!("could not connect to {address}"))?;
        stream.set_nodelay(true)?;
        Ok(Connection { stream, buffer: Vec::with_capacity(16 * 1024) })
    }

    /// Sends a request and answers the body of its 200 or 201.
    pub async fn ask(&mut self, request: &[u8]) -> anyhow::Result<&[u8]> {
        self.buffer.clear();
        self.stream.write_all(request).await?;
        let (start, end) = loop {
            let n_read = self.stream.read_buf(&mut self.buffer).await?;
            ensure!(n_read > 0, "the server hung up");
            ensure!(self.buffer.len() <= ANSWER_BYTES_MAX, "an answer is too long");
            if let Some(body) = find_body(&self.buffer)?
                && self.buffer.len() >= body.1
            {
                break body;
            }
        };
        self.buffer.get(start..end).context("an answer is cut short")
    }
}

/// Where the body starts and ends, once the head is complete.
fn find_body(answer: &[u8]) -> anyhow::Result<Option<(usize, usize)>> {
    const END: &[u8] = b"\r\n\r\n";
    let Some(at) = answer.windows(END.len()).position(|window| window == END) else { return Ok(None) };
    let head = std::str::from_utf8(answer.get(..at).unwrap_or_default()).context("a head is not text")?;
    if !head.starts_with("HTTP/1.1 200 ") && !head.starts_with("HTTP/1.1 201 ") {
        bail!("a refusal: {}", String::from_utf8_lossy(answer));
    }
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse::<usize>().ok())?
    });
    let length = length.with_context(|| format!("no length in the head {head}"))?;
    let start = at + END.len();
    Ok(Some((start, start + length)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_body_is_found_once_the_head_is_complete() {
        assert_eq!(find_body(b"HTTP/1.1 200 OK\r\nContent-Le").unwrap(), None);
        let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        assert_eq!(find_body(answer).unwrap(), Some((answer.len() - 2, answer.len())));
        assert!(find_body(b"HTTP/1.1 429 Too Many Requests\r\n\r\n").is_err());
        assert!(find_body(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n").is_err());
    }
}
