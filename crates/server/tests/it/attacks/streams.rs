//! Streams that stay open and do nothing (case 25).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::answers::{ANSWER_WITHIN, rpc_code, wait_until};
use super::guesses::api_key;
use super::lab::{Lab, TOKEN};
use super::target::{Target, TargetOptions};
use super::trials::TRIALS;
use super::wire::Request;

fn listen(target: &Target) -> Request {
    target.modern("subscriptions/listen", json!({"notifications": {}}))
}

/// Opens a stream and leaves it open, or gives the status that it was refused with.
fn open(target: &Target, request: &Request) -> Result<BufReader<TcpStream>, String> {
    let mut stream = TcpStream::connect(target.http).expect("the server accepts connections");
    stream.set_read_timeout(Some(ANSWER_WITHIN)).expect("a timeout can be set");
    stream.write_all(&request.bytes()).expect("the server reads");
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).expect("a first line");
    if line.starts_with("HTTP/1.1 200") { Ok(reader) } else { Err(line) }
}

#[test]
fn streams_have_a_limit_for_each_and_for_all_and_others_are_served_beside_them() {
    let config = api_key("other", "other");
    let env = [("MATERIA_CONNECTIONS_MAX", "20"), ("MATERIA_STREAMS_PER_PRINCIPAL_MAX", "3")];
    let target = Target::with(&TargetOptions { env: &env, config: &config, ..TargetOptions::default() });
    let (own, others) = (listen(&target), listen(&target).header("Authorization", "Bearer other"));
    let mut streams: Vec<_> = (0..3).map(|_| open(&target, &own).expect("a place of one's own")).collect();
    streams.extend((0..2).map(|_| open(&target, &others).expect("a place of others")));
    for (request, status) in [(&own, 429), (&others, 503)] {
        let answer = target.send(request);
        assert_eq!((answer.status, rpc_code(&answer.json())), (status, -32000), "{answer:?}");
        assert_eq!(answer.json()["error"]["data"]["code"], "BUSY", "{answer:?}");
        assert!(answer.header("retry-after").is_some(), "{answer:?}");
    }
    target.check_alive();

    streams.remove(0);
    wait_until("the place of a closed stream is free", ANSWER_WITHIN, || match open(&target, &own) {
        Ok(stream) => {
            streams.push(stream);
            true
        }
        Err(_) => false,
    });
    drop(streams);
    let events = target.stop();
    let refused = events.iter().filter(|event| event.body.to_string().contains("TOO_MANY_STREAMS"));
    assert!(refused.count() >= 2, "{events:?}");
}

#[test]
fn a_stream_ends_by_itself_with_an_answer() {
    let env = [("MATERIA_STREAM_LIFETIME_MS", "1000"), ("MATERIA_STREAMS_MAX", "1")];
    let target = Target::with(&TargetOptions { env: &env, ..TargetOptions::default() });
    for _ in 0..2 {
        let begun = Instant::now();
        let mut stream = open(&target, &listen(&target)).expect("the one before has ended");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("the stream ends");
        let messages = text.lines().filter_map(|line| line.strip_prefix("data: "));
        let messages: Vec<Value> = messages.filter_map(|data| serde_json::from_str(data).ok()).collect();
        assert!(messages.last().is_some_and(|last| last["id"] == 1 && last["result"].is_object()), "{text}");
        assert!(begun.elapsed() >= Duration::from_secs(1), "it ended after {:?}", begun.elapsed());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_finds_no_place_for_its_progress_is_answered_without_it() {
    let lab = Lab::open_with(TRIALS, |settings| settings.streams_per_principal_max = 1).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let params = json!({"notifications": {}, "_meta": meta});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
    let request = lab.mcp_request_as(TOKEN, &message).header("MCP-Protocol-Version", "2026-07-28");
    let mut stream = lab.begin(&request.header("Mcp-Method", "subscriptions/listen")).await;
    let mut first = [0; 12];
    tokio::io::AsyncReadExt::read_exact(&mut stream, &mut first).await.expect("an answer begins");
    assert_eq!(&first, b"HTTP/1.1 200");

    let meta = json!({"progressToken": "mine"});
    let params = json!({"name": "count", "arguments": {"n_steps": 5, "size_bytes": 3}, "_meta": meta});
    let answer = lab.mcp("tools/call", params).await;
    assert_eq!(answer.header("content-type"), Some("application/json"), "{answer:?}");
    assert_eq!(answer.json()["result"]["structuredContent"]["text"], "xxx", "{answer:?}");
    drop(stream);
    lab.close().await;
}
