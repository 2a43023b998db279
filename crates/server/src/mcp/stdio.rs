//! MCP over standard input and output: one message a line, parsed as strictly as over HTTP.

use std::sync::Arc;

use contract::strict::Limits;
use rmcp::RoleServer;
use rmcp::model::{ClientJsonRpcMessage, ServerJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, mpsc};

use super::envelope::{self, METHOD_NOT_FOUND};

/// A longer line gets all the room that a line may have at once: in steps, each one would be copied into the next, and all
/// of them kept for a while. What is not written to costs nothing.
const LINE_BYTES_MOSTLY: usize = 64 * 1024;
/// Why a line was refused: too long to be read, or no message. The words are those of HTTP.
const BODY: &str = "BODY";
const MESSAGE: &str = "MESSAGE";
/// Messages read ahead of the service.
const QUEUE_MAX: usize = 16;

/// Lines in, lines out. A line that is no message is noted and answered here, and goes no further.
pub struct Lines<W> {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    writer: Arc<Mutex<W>>,
}

impl<W: AsyncWrite + Unpin + Send + 'static> Lines<W> {
    /// `note` gets the reason of every line that is refused: it never becomes a call, and so has no event of its own. All
    /// of them are noted when the service sees the end of the input.
    pub fn new(
        reader: impl AsyncBufRead + Unpin + Send + 'static,
        writer: W,
        note: impl Fn(&'static str) + Send + 'static,
    ) -> Lines<W> {
        let (sender, messages) = mpsc::channel(QUEUE_MAX);
        let writer = Arc::new(Mutex::new(writer));
        tokio::spawn(read(reader, Arc::clone(&writer), sender, note));
        Lines { messages, writer }
    }
}

async fn read<W: AsyncWrite + Unpin>(
    mut reader: impl AsyncBufRead + Unpin,
    writer: Arc<Mutex<W>>,
    sender: mpsc::Sender<ClientJsonRpcMessage>,
    note: impl Fn(&'static str),
) {
    loop {
        let line = match next_line(&mut reader, Limits::DEFAULT.bytes_max).await {
            Ok(Some(line)) => line,
            Ok(None) => return,
            Err(error) => {
                tracing::warn!(error = %error, "Standard input broke");
                return;
            }
        };
        if line.trim_ascii().is_empty() {
            continue;
        }
        match envelope::parse(&line, Limits::DEFAULT) {
            Ok(envelope) => {
                if sender.send(envelope.message).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                // First, as whoever sent it may not listen for the answer.
                if error.code != METHOD_NOT_FOUND {
                    note(if line.len() > Limits::DEFAULT.bytes_max { BODY } else { MESSAGE });
                }
                if let Err(error) = write_line(&writer, error.to_json().to_string()).await {
                    tracing::warn!(error = %error, "Standard output broke");
                    return;
                }
            }
        }
    }
}

/// The next line without its end, `None` after the last. A line beyond the limit is read to its end and cut one byte
/// over the limit, so that the parser refuses it and the next line is still a line.
async fn next_line(reader: &mut (impl AsyncBufRead + Unpin), bytes_max: usize) -> std::io::Result<Option<Vec<u8>>> {
    let mut line = Vec::new();
    loop {
        let available = reader.fill_buf().await?;
        if available.is_empty() {
            return Ok(if line.is_empty() { None } else { Some(line) });
        }
        let end = available.iter().position(|byte| *byte == b'\n');
        let piece = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        let room = (bytes_max + 1).saturating_sub(line.len());
        if line.len() + piece.len() > LINE_BYTES_MOSTLY && line.capacity() <= bytes_max {
            line.reserve_exact(room);
        }
        line.extend(piece.iter().take(room));
        let n_used = end.map_or(available.len(), |end| end + 1);
        reader.consume(n_used);
        if end.is_some() {
            return Ok(Some(line));
        }
    }
}

async fn write_line<W: AsyncWrite + Unpin>(writer: &Mutex<W>, mut line: String) -> std::io::Result<()> {
    line.push('\n');
    let mut writer = writer.lock().await;
    writer.write_all(line.as_bytes()).await?;
    writer.flush().await
}

impl<W: AsyncWrite + Unpin + Send + 'static> Transport<RoleServer> for Lines<W> {
    type Error = std::io::Error;

    fn send(
        &mut self,
        item: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), std::io::Error>> + Send + 'static {
        let writer = Arc::clone(&self.writer);
        async move {
            let line = serde_json::to_string(&item)?;
            write_line(&writer, line).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        self.messages.recv().await
    }

    async fn close(&mut self) -> Result<(), std::io::Error> {
        self.writer.lock().await.flush().await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_beyond_the_limit_does_not_swallow_the_next() {
        let text = format!("{}\nab\n", "x".repeat(20));
        let mut reader = text.as_bytes();
        assert_eq!(next_line(&mut reader, 8).await.unwrap().unwrap().len(), 9);
        assert_eq!(next_line(&mut reader, 8).await.unwrap().unwrap(), b"ab");
        assert!(next_line(&mut reader, 8).await.unwrap().is_none());
    }
}
