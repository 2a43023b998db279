//! A server in this process, with operations of our own behind the same edge, protocols and door.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use contract::actor::Role;
use contract::canonical::digest;
use contract::id::ActorId;
use ops::{Clock, Entry};
use rmcp::ServiceExt as _;
use serde_json::{Value, json};
use server::auth::owner;
use server::mcp::handler::Handler;
use server::mcp::lifted::Lifted;
use server::mcp::stdio::Lines as Transport;
use server::owner::{House, HouseOptions, StarterData};
use server::serve::Server;
use server::settings::{ApiKey, Settings};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf, split};
use tokio::net::TcpStream;

use super::answers::{ANSWER_WITHIN, check_discreet};
use super::record::{Recorded, read_events};
use super::wire::{Answer, Request, exchange};

pub const TOKEN: &str = "lab";
/// Somebody else in the same organisation.
pub const RIVAL_TOKEN: &str = "rival";
/// Long enough for any call that ends by itself.
pub const DEADLINE: Duration = Duration::from_millis(1_500);

pub struct Lab {
    folder: tempfile::TempDir,
    house: Arc<House>,
    server: Server,
}

impl Lab {
    pub async fn open(entries: &'static [Entry]) -> Lab {
        Lab::open_at(entries, Clock::system()).await
    }

    pub async fn open_at(entries: &'static [Entry], clock: Clock) -> Lab {
        Lab::start(entries, clock, |_| {}).await
    }

    /// With other settings.
    pub async fn open_with(entries: &'static [Entry], change: impl FnOnce(&mut Settings)) -> Lab {
        Lab::start(entries, Clock::system(), change).await
    }

    async fn start(entries: &'static [Entry], clock: Clock, change: impl FnOnce(&mut Settings)) -> Lab {
        // Tests ask it what the server counted.
        server::telemetry::start_metrics();
        let folder = testkit::temp_dir();
        let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
        let mut settings = Settings {
            listen: anywhere,
            tasks_listen: anywhere,
            ids_listen: anywhere,
            grpc_listen: anywhere,
            call_deadline_ms: u64::try_from(DEADLINE.as_millis()).expect("a short time"),
            api_keys: vec![rival()],
            starter_data: false,
            ..Settings::default()
        };
        change(&mut settings);
        let options = HouseOptions {
            files: workflow::projection::Root::new(folder.path().join("artifacts"), "here".to_owned()),
            folder: folder.path().to_path_buf(),
            organisation_id: settings.organisation_id.clone(),
            starter_data: StarterData::Load,
            database_url: None,
            entries,
            settings: settings.for_operations(),
            services: server::assemble::services(folder.path(), &settings).expect("the types that ship can be read"),
            clock,
            ledger_key_file: None,
            witnesses: Vec::new(),
            witness_cosignatures_min: None,
            slow_call_after: None,
        };
        let house = House::enter(options).await.expect("a new folder can be used");
        let server = Server::start(Arc::clone(&house), &settings, TOKEN).await.expect("a free port can be had");
        Lab { folder, house, server }
    }

    pub fn http(&self) -> SocketAddr {
        self.server.http
    }

    fn request(&self, path: &str) -> Request {
        self.request_as(TOKEN, path)
    }

    fn request_as(&self, token: &str, path: &str) -> Request {
        let request = Request::post(path).header("Host", self.http().to_string());
        request.header("Authorization", format!("Bearer {token}"))
    }

    pub fn rest_request(&self, operation: &str, input: &Value) -> Request {
        self.request(&format!("/api/tools/{operation}")).json(input.to_string())
    }

    pub fn mcp_request(&self, message: &Value) -> Request {
        self.mcp_request_as(TOKEN, message)
    }

    pub fn mcp_request_as(&self, token: &str, message: &Value) -> Request {
        let request = self.request_as(token, "/mcp").header("Accept", "application/json, text/event-stream");
        request.json(message.to_string())
    }

    pub async fn send(&self, request: Request) -> Answer {
        let address = self.http();
        let exchanged = tokio::task::spawn_blocking(move || exchange(address, &request.bytes()).only());
        exchanged.await.expect("the exchange succeeds")
    }

    pub async fn rest(&self, operation: &str, input: &Value) -> Answer {
        self.send(self.rest_request(operation, input)).await
    }

    pub async fn mcp(&self, method: &str, params: Value) -> Answer {
        self.send(self.mcp_request(&json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}))).await
    }

    /// Sends a request and leaves the connection to the caller.
    pub async fn begin(&self, request: &Request) -> TcpStream {
        let mut stream = TcpStream::connect(self.http()).await.expect("the server accepts connections");
        stream.write_all(&request.bytes()).await.expect("the server reads");
        stream
    }

    /// An ordinary call succeeds.
    pub async fn check_alive(&self) {
        let answer = self.rest("show", &json!({"text": "hello"})).await;
        assert_eq!((answer.status, &answer.json()["text"]), (200, &json!("hello")), "{answer:?}");
    }

    /// How many calls of an operation have ended in this way, by the server's own metrics.
    pub async fn n_calls(&self, operation: &str, outcome: &str) -> u64 {
        let page = self.send(Request::get("/metrics").header("Host", "localhost")).await.body;
        let wanted = [format!("operation=\"{operation}\""), format!("outcome=\"{outcome}\"")];
        let line = page
            .lines()
            .find(|line| line.starts_with("materia_calls_total{") && wanted.iter().all(|label| line.contains(label)));
        line.and_then(|line| line.rsplit(' ').next()?.parse().ok()).unwrap_or(0)
    }

    /// Waits until a call has ended in this way once more than `n_before` times.
    pub async fn wait_for(&self, operation: &str, outcome: &str, n_at_least: u64) {
        let give_up = tokio::time::Instant::now() + ANSWER_WITHIN;
        while self.n_calls(operation, outcome).await < n_at_least {
            assert!(tokio::time::Instant::now() < give_up, "no {n_at_least} calls of {operation} were {outcome}");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    /// The same operations over a pipe, as `materia mcp` serves them.
    pub async fn lines(&self) -> LabLines {
        self.lines_of(json!({})).await
    }

    /// As [`Lab::lines`], for a client with these capabilities.
    pub async fn lines_of(&self, capabilities: Value) -> LabLines {
        let (ours, theirs) = tokio::io::duplex(64 * 1024);
        let (reader, writer) = split(theirs);
        let actor = Arc::new(owner(&Settings::default().organisation_id));
        let handler = Handler::new(Arc::clone(&self.house), actor, None);
        tokio::spawn(async move {
            let service = Lifted(handler).serve(Transport::new(BufReader::new(reader), writer, |_| ())).await;
            drop(service.expect("the handshake succeeds").waiting().await);
        });
        let (reader, writer) = split(ours);
        let mut lines = LabLines { reader: BufReader::new(reader), writer };
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "clientInfo": {"name": "lab", "version": "1"}});
        lines.send(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await;
        assert_eq!(lines.next().await["result"]["protocolVersion"], "2025-11-25");
        lines.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"})).await;
        lines
    }

    /// Stops, and gives what was recorded.
    pub async fn close(self) -> Vec<Recorded> {
        let Lab { folder, house, server } = self;
        server.stop().await.expect("all is recorded");
        drop(house);
        let data = folder.path().to_path_buf();
        tokio::task::spawn_blocking(move || read_events(&data)).await.expect("the events can be read")
    }
}

fn rival() -> ApiKey {
    ApiKey {
        actor_id: ActorId::parse("rival").expect("an id"),
        sha256: hex(&digest(RIVAL_TOKEN.as_bytes())),
        roles: Role::ALL.to_vec(),
        organisation_id: None,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

pub struct LabLines {
    reader: BufReader<ReadHalf<DuplexStream>>,
    writer: WriteHalf<DuplexStream>,
}

impl LabLines {
    pub async fn send(&mut self, message: &Value) {
        self.writer.write_all(format!("{message}\n").as_bytes()).await.expect("the server reads");
    }

    pub async fn next(&mut self) -> Value {
        let mut line = String::new();
        let read = tokio::time::timeout(ANSWER_WITHIN, self.reader.read_line(&mut line)).await;
        read.expect("an answer within five seconds").expect("a line");
        check_discreet(&line, "");
        serde_json::from_str(&line).unwrap_or_else(|_| panic!("expected JSON, found `{line}`"))
    }

    pub async fn call(&mut self, tool: &str, arguments: Value) -> Value {
        let params = json!({"name": tool, "arguments": arguments});
        self.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})).await;
        self.next().await
    }
}
