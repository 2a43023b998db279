//! MCP over standard input and output: one message a line, parsed as strictly as over HTTP.

use std::sync::Arc;
use std::time::Duration;

use contract::strict::Limits;
use rmcp::RoleServer;
use rmcp::model::{
    ClientJsonRpcMessage, ClientNotification, ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage,
    ProtocolVersion, ServerJsonRpcMessage,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncWrite, AsyncWriteExt};
use tokio::sync::{Mutex, mpsc};
use tokio::time::Instant;

use super::backlog::{Backlog, Kind, Unadmitted};
use super::envelope::{self, Envelope, EnvelopeError, METHOD_NOT_FOUND};

/// A longer line gets all the room that a line may have at once: in steps, each one would be copied into the next, and all
/// of them kept for a while. What is not written to costs nothing.
const LINE_BYTES_MOSTLY: usize = 64 * 1024;
/// Why a line was refused: too long to be read, or no message. The words are those of HTTP.
const BODY: &str = "BODY";
const MESSAGE: &str = "MESSAGE";
/// Messages read ahead of the service.
const QUEUE_MAX: usize = 16;
/// How long calls may take after the end of the input until the service ends them in its own way.
const ANSWERS_WITHIN: Duration = Duration::from_secs(1);

/// Lines in, lines out. A line that is no message is noted and answered here, and goes no further.
pub struct Lines<W> {
    messages: mpsc::Receiver<ClientJsonRpcMessage>,
    writer: Arc<Mutex<W>>,
    backlog: Arc<Backlog>,
    /// Once the input has ended: until when answers are waited for.
    ends_at: Option<Instant>,
}

/// How a session began. rmcp decides it by its first requests and keeps to it; the reader, which sees the same requests in
/// the same order, must know it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Began {
    NotYet,
    ByHandshake,
    /// By a request that says itself what the handshake would have said.
    ByMetadata,
}

impl Began {
    fn after(self, request: &ClientRequest) -> Began {
        match request {
            _ if self != Began::NotYet => self,
            ClientRequest::InitializeRequest(_) => Began::ByHandshake,
            // Asked by who has not decided yet.
            ClientRequest::PingRequest(_) | ClientRequest::DiscoverRequest(_) => Began::NotYet,
            _ => {
                let meta = request.get_meta();
                let is_complete = meta.missing_required_keys(&ProtocolVersion::V_2026_07_28).is_empty();
                let version = meta.protocol_version();
                let is_known = version.is_some_and(|version| ProtocolVersion::KNOWN_VERSIONS.contains(&version));
                if is_complete && is_known { Began::ByMetadata } else { Began::NotYet }
            }
        }
    }
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
        let backlog = Arc::new(Backlog::default());
        let inbox = Inbox { sender, backlog: Arc::clone(&backlog), began: Began::NotYet };
        tokio::spawn(read(reader, Arc::clone(&writer), inbox, note));
        Lines { messages, writer, backlog, ends_at: None }
    }
}

/// Where messages wait for the service.
struct Inbox {
    sender: mpsc::Sender<ClientJsonRpcMessage>,
    backlog: Arc<Backlog>,
    began: Began,
}

impl Drop for Inbox {
    fn drop(&mut self) {
        self.backlog.end_input();
    }
}

/// Nobody takes messages any more.
struct Closed;

impl Inbox {
    /// Hands a message on as soon as there is room for it. What the service would not answer is refused, and what it would
    /// end the session for is left out.
    async fn put(&mut self, envelope: Envelope, n_bytes: usize) -> Result<Result<(), EnvelopeError>, Closed> {
        let id = envelope.id();
        let mut message = envelope.message;
        match &mut message {
            JsonRpcMessage::Request(request) => {
                let is_handshake = matches!(request.request, ClientRequest::InitializeRequest(_));
                if is_handshake && self.began == Began::ByMetadata {
                    return Ok(Err(refusal(
                        id,
                        "this session began without `initialize`; send `_meta` with every request, or begin a new session",
                    )));
                }
                let is_subscription = matches!(request.request, ClientRequest::SubscriptionsListenRequest(_));
                let kind = if is_subscription { Kind::Subscription } else { Kind::Call };
                let admitted = tokio::select! {
                    admitted = self.backlog.admit(&request.id, kind, n_bytes) => admitted,
                    () = self.sender.closed() => return Err(Closed),
                };
                let place = match admitted {
                    Ok(place) => place,
                    Err(reason) => return Ok(Err(unadmitted(id, &reason))),
                };
                self.began = self.began.after(&request.request);
                request.request.extensions_mut().insert(place);
            }
            // It says of no message what was wrong with it.
            JsonRpcMessage::Error(error) if error.id.is_none() => return Ok(Ok(())),
            // There is nothing yet that it could belong to.
            JsonRpcMessage::Notification(_) | JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)
                if self.began == Began::NotYet =>
            {
                return Ok(Ok(()));
            }
            JsonRpcMessage::Notification(_) | JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        self.sender.send(message).await.map(Ok).map_err(|_| Closed)
    }
}

fn refusal(id: Value, reason: &str) -> EnvelopeError {
    EnvelopeError::new(id, -32600, format!("Invalid Request: {reason}"))
}

fn unadmitted(id: Value, reason: &Unadmitted) -> EnvelopeError {
    let code = match reason {
        Unadmitted::InUse => -32600,
        Unadmitted::TooManyAside => -32000,
    };
    EnvelopeError::new(id, code, reason.to_string())
}

async fn read<W: AsyncWrite + Unpin>(
    mut reader: impl AsyncBufRead + Unpin,
    writer: Arc<Mutex<W>>,
    mut inbox: Inbox,
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
        let n_bytes = line.len();
        let parsed = envelope::parse(&line, Limits::DEFAULT);
        drop(line);
        let put = match parsed {
            Ok(envelope) => inbox.put(envelope, n_bytes).await,
            Err(error) => Ok(Err(error)),
        };
        match put {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                // First, as whoever sent it may not listen for the answer.
                if error.code != METHOD_NOT_FOUND {
                    note(if n_bytes > Limits::DEFAULT.bytes_max { BODY } else { MESSAGE });
                }
                if error.is_of_answer {
                    continue;
                }
                if let Err(error) = write_line(&writer, error.to_json().to_string()).await {
                    tracing::warn!(error = %error, "Standard output broke");
                    return;
                }
            }
            Err(Closed) => return,
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
        let answered = match &item {
            JsonRpcMessage::Response(response) => Some(&response.id),
            JsonRpcMessage::Error(error) => error.id.as_ref(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let mut unwritten = self.backlog.write(answered);
        async move {
            let line = serde_json::to_string(&item)?;
            // It may wait for long, and one form of it is enough.
            drop(item);
            unwritten.weigh(line.len());
            write_line(&writer, line).await
        }
    }

    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        let Some(message) = self.messages.recv().await else {
            // From then on the service hears no more of what was written, and whoever waits for that keeps it for seconds.
            let until = *self.ends_at.get_or_insert_with(|| Instant::now() + ANSWERS_WITHIN);
            drop(tokio::time::timeout_at(until, self.backlog.empty()).await);
            return None;
        };
        if let JsonRpcMessage::Notification(notification) = &message
            && let ClientNotification::CancelledNotification(cancelled) = &notification.notification
            && let Some(id) = &cancelled.params.request_id
        {
            self.backlog.cancel(id);
        }
        Some(message)
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

    /// Answers at once, but `wait` never.
    struct Plain;

    impl rmcp::ServerHandler for Plain {
        async fn on_custom_request(
            &self,
            _request: rmcp::model::CustomRequest,
            _context: rmcp::service::RequestContext<RoleServer>,
        ) -> Result<rmcp::model::CustomResult, rmcp::model::ErrorData> {
            std::future::pending().await
        }
    }

    /// A session with a client that says lines and hears lines.
    struct Session {
        input: tokio::io::DuplexStream,
        output: tokio::io::Lines<tokio::io::BufReader<tokio::io::DuplexStream>>,
    }

    impl Session {
        fn start() -> Session {
            let (input, ours) = tokio::io::duplex(1024);
            let (theirs, output) = tokio::io::duplex(1024);
            let lines = Lines::new(tokio::io::BufReader::new(ours), theirs, |_| {});
            tokio::spawn(async move {
                let service = rmcp::ServiceExt::serve(Plain, lines).await.map_err(|_| "no session").unwrap();
                service.waiting().await.unwrap();
            });
            Session { input, output: tokio::io::BufReader::new(output).lines() }
        }

        async fn say(&mut self, line: &str) {
            self.input.write_all(format!("{line}\n").as_bytes()).await.unwrap();
        }

        /// The id of the next answer, with its error where it is one.
        async fn hear(&mut self) -> (i64, Option<String>) {
            let line = self.output.next_line().await.unwrap().unwrap();
            let answer: Value = serde_json::from_str(&line).unwrap();
            (answer["id"].as_i64().unwrap(), answer.pointer("/error/message").map(ToString::to_string))
        }
    }

    const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"c","version":"1"}}}"#;

    #[tokio::test]
    async fn what_belongs_to_nothing_yet_does_not_end_the_session() {
        let mut session = Session::start();
        session.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        session.say(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#).await;
        session.say(r#"{"jsonrpc":"2.0","id":7,"result":{"secret":1}}"#).await;
        session.say(r#"{"jsonrpc":"2.0","id":8,"error":{"code":1,"message":"secret"}}"#).await;
        session.say(r#"{"jsonrpc":"2.0","id":null,"error":{"code":1,"message":"secret"}}"#).await;
        session.say(r#"{"jsonrpc":"2.0","id":8,"error":"secret"}"#).await;
        session.say(r#"{"jsonrpc":"2.0","id":8,"result":{},"error":{}}"#).await;
        session.say(r#"{"jsonrpc":"2.0","id":null,"result":{}}"#).await;
        session.say(r#"{"jsonrpc":"2.0","id":9,"method":"ping"}"#).await;
        assert_eq!(session.hear().await, (9, None));
        session.say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#).await;
        session.say(INITIALIZE).await;
        assert_eq!(session.hear().await, (0, None));
    }

    #[tokio::test]
    async fn a_client_that_does_not_read_is_not_read_either_and_gets_every_answer_in_the_end() {
        let mut session = Session::start();
        session.say(INITIALIZE).await;
        assert_eq!(session.hear().await, (0, None));
        let Session { mut input, mut output } = session;
        let n_said = Arc::new(std::sync::atomic::AtomicUsize::new(0));
        let counter = Arc::clone(&n_said);
        let saying = tokio::spawn(async move {
            for id in 1..=2_000 {
                let line = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"ping\"}}\n");
                input.write_all(line.as_bytes()).await.unwrap();
                counter.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
            }
            input
        });
        // One thread: whoever can go on does so before this does.
        for _ in 0..20_000 {
            tokio::task::yield_now().await;
        }
        let n_taken = n_said.load(std::sync::atomic::Ordering::Relaxed);
        assert!((256..400).contains(&n_taken), "{n_taken}");
        let mut heard = std::collections::BTreeSet::new();
        while heard.len() < 2_000 {
            let answer: Value = serde_json::from_str(&output.next_line().await.unwrap().unwrap()).unwrap();
            heard.insert(answer["id"].as_i64().unwrap());
        }
        saying.await.unwrap();
    }

    #[tokio::test]
    async fn an_id_is_refused_while_its_call_is_not_answered() {
        let mut session = Session::start();
        session.say(INITIALIZE).await;
        assert_eq!(session.hear().await, (0, None));
        session.say(r#"{"jsonrpc":"2.0","id":5,"method":"wait"}"#).await;
        session.say(r#"{"jsonrpc":"2.0","id":5,"method":"ping"}"#).await;
        let (id, refused) = session.hear().await;
        assert_eq!(id, 5);
        assert!(refused.unwrap().contains("`id` is in use by a call that is not answered yet"));
        session.say(r#"{"jsonrpc":"2.0","id":6,"method":"ping"}"#).await;
        assert_eq!(session.hear().await, (6, None));
        session.say(r#"{"jsonrpc":"2.0","id":6,"method":"ping"}"#).await;
        assert_eq!(session.hear().await, (6, None));
    }

    #[tokio::test]
    async fn a_session_that_began_without_a_handshake_has_none_later() {
        let mut session = Session::start();
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}"#;
        session.say(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"_meta":{meta}}}}}"#)).await;
        assert_eq!(session.hear().await, (1, None));
        session.say(INITIALIZE).await;
        assert!(session.hear().await.1.unwrap().contains("this session began without `initialize`"));
        session.say(&format!(r#"{{"jsonrpc":"2.0","id":2,"method":"tools/list","params":{{"_meta":{meta}}}}}"#)).await;
        assert_eq!(session.hear().await, (2, None));
    }
}
