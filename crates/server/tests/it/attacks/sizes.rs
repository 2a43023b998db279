//! Too deep, too many, too long, too large (cases 23, 24).

use std::fs;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Instant;

use serde_json::json;

use super::answers::{ANSWER_WITHIN, rpc_code};
use super::lines::Lines;
use super::target::Target;
use super::wire::{Request, exchange};

const BODY_BYTES_MAX: usize = 6 * 1024 * 1024;
const MEGABYTE: usize = 1024 * 1024;
const MEMORY_GROWTH_MAX: u64 = 32 * 1024 * 1024;

/// JSON that costs its reader more than its writer.
fn bombs() -> Vec<(&'static str, Vec<u8>)> {
    let keys = |n: usize| (0..n).map(|n| format!("\"{n:x}\":1")).collect::<Vec<_>>().join(",");
    vec![
        ("deep arrays", "[".repeat(100_000).into_bytes()),
        ("deep objects", "{\"a\":".repeat(100_000).into_bytes()),
        ("deep and closed", ["[".repeat(100_000), "]".repeat(100_000)].concat().into_bytes()),
        ("many keys within the limit of bytes", format!("{{{}}}", keys(90_000)).into_bytes()),
        ("a million keys", format!("{{{}}}", keys(1_000_000)).into_bytes()),
        ("a million zeros", format!("[{}0]", "0,".repeat(1_000_000)).into_bytes()),
        ("a number beyond doubles", b"{\"jsonrpc\":\"2.0\",\"id\":1e400,\"method\":\"ping\"}".to_vec()),
        ("a number as long as a body may be", vec![b'7'; BODY_BYTES_MAX - 1]),
        ("a fraction of a megabyte", [b"0.".as_slice(), &vec![b'7'; MEGABYTE - 3]].concat()),
        ("a number of ten megabytes", vec![b'7'; 10 * MEGABYTE]),
        ("a string of ten megabytes", format!("\"{}\"", "x".repeat(10 * MEGABYTE)).into_bytes()),
        ("names of two megabytes in a path", {
            let name = "~".repeat(2_000_000);
            format!("{{\"{name}\":{{\"{name}\":{{\"{name}\":1,\"a\":1,\"a\":2}}}}}}").into_bytes()
        }),
        ("escapes of a megabyte", format!("\"{}\"", "\\u0061".repeat(170_000)).into_bytes()),
    ]
}

/// The most memory a process ever had, in bytes.
fn peak_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).expect("the process lives");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).expect("the figure is there");
    line.trim_matches([' ', '\t', 'k', 'B']).parse::<u64>().expect("a number") * 1024
}

#[test]
fn costly_json_is_refused_over_http_and_costs_little_memory() {
    let target = Target::start();
    target.check_alive();
    let before = peak_bytes(target.pid());
    for (name, bomb) in bombs() {
        for request in [target.mcp(&bomb), target.rest("get_next_available_id", &bomb)] {
            let answer = exchange(target.http, &request.bytes()).only();
            let expected = if bomb.len() > BODY_BYTES_MAX { 413 } else { 400 };
            assert_eq!(answer.status, expected, "{name}: {answer:?}");
            assert!(answer.body.len() < 2_000, "{name} is repeated in the answer");
        }
    }
    let growth = peak_bytes(target.pid()) - before;
    assert!(growth < MEMORY_GROWTH_MAX, "the server grew by {growth} bytes");
    target.check_alive();
}

#[test]
fn costly_json_is_refused_on_standard_input_and_costs_little_memory() {
    let folder = testkit::temp_dir();
    let mut lines = Lines::start(folder.path());
    lines.check_alive();
    let before = peak_bytes(lines.pid());
    for (name, bomb) in bombs() {
        let code = rpc_code(&lines.ask(&bomb));
        assert!(matches!(code, -32700 | -32602 | -32600), "{name}: {code}");
    }
    let growth = peak_bytes(lines.pid()) - before;
    assert!(growth < MEMORY_GROWTH_MAX, "the server grew by {growth} bytes");
    lines.check_alive();
}

/// The largest document that may be stored, in Thai, and how its JSON may be written.
#[test]
fn the_largest_document_fits_however_it_is_written_on_every_surface() {
    const CHARS: usize = 500_000;
    let head = "# Herbs of Siam - Business Research\n\n## Metadata\n\n- **Version:** 1\n\n## Findings\n\n";
    let escaped = |filler: &str| {
        let text = format!("{head}{}", filler.repeat(CHARS - head.chars().count()));
        let plain = json!({ "artifact_content": text, "project_id": "large" }).to_string();
        let units = plain.encode_utf16().collect::<Vec<u16>>();
        let written = units.iter().map(|unit| match u8::try_from(*unit) {
            Ok(byte) if byte.is_ascii() => char::from(byte).to_string(),
            Ok(_) | Err(_) => format!("\\u{unit:04x}"),
        });
        (plain, written.collect::<String>())
    };
    let target = Target::start();
    let (thai, thai_escaped) = escaped("ย");
    let (emoji, emoji_escaped) = escaped("🌿");
    // The first two are one document, as are the last two: other content needs another version.
    for (version, input) in [(1, &thai), (1, &thai_escaped), (2, &emoji), (2, &emoji_escaped)] {
        let input = input.replacen("**Version:** 1", &format!("**Version:** {version}"), 1);
        let answer = target.send(&target.rest("store_artifact", &input));
        assert_eq!(answer.status, 200, "{version}: {answer:?}");
        let params = format!(r#"{{"name":"store_artifact","arguments":{input}}}"#);
        let call = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#);
        let answer = target.send(&target.mcp(&call));
        assert_eq!(answer.status, 200, "{version}: {answer:?}");
        assert_eq!(answer.json()["result"]["structuredContent"]["success"], true, "{answer:?}");
        let mut lines = Lines::start(&target.data());
        assert_eq!(lines.ask(call.as_bytes())["result"]["structuredContent"]["success"], true);
    }
}

#[test]
fn a_body_may_be_as_long_as_the_limit_and_not_a_byte_longer() {
    let target = Target::start();
    let input = r#"{"artifact_type":"US","project_id":"attacked"}"#;
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}).to_string();
    let padded = |text: &str, n_bytes: usize| format!("{text}{}", " ".repeat(n_bytes - text.len()));
    for n_over in [0, 1, 2 * BODY_BYTES_MAX] {
        let requests = [
            target.rest("get_next_available_id", padded(input, BODY_BYTES_MAX + n_over)),
            target.mcp(padded(&message, BODY_BYTES_MAX + n_over)),
        ];
        for request in requests {
            let expected = if n_over == 0 { 200 } else { 413 };
            for bytes in [request.bytes(), request.chunked_bytes()] {
                let answer = target.send_bytes(&bytes);
                assert_eq!(answer.status, expected, "{n_over} bytes over: {answer:?}");
            }
        }
    }
    let reserve = r#"{"type":"US","count":1,"project_id":"attacked"}"#;
    let reserve = target.request(Request::post("/ids/reserve")).json(padded(reserve, BODY_BYTES_MAX + 1));
    for bytes in [reserve.bytes(), reserve.chunked_bytes()] {
        let answer = exchange(target.ids, &bytes).only();
        assert_eq!((answer.status, &answer.json()["status_code"]), (413, &json!(413)), "{answer:?}");
    }
    assert_eq!(target.check_alive(), "US-003", "only the two that fit took an id");
}

/// As ordinary clients do it: all of the request first, and a failure to send is the end.
#[test]
fn who_sends_all_before_reading_is_told_that_it_was_too_much() {
    let target = Target::start();
    let body = vec![b' '; BODY_BYTES_MAX + 1];
    let requests = [
        (target.http, target.rest("get_next_available_id", &body)),
        (target.http, target.mcp(&body)),
        (target.ids, target.request(Request::post("/ids/reserve")).json(&body)),
        (target.tasks, target.request(Request::post("/tasks")).json(&body)),
        (target.http, target.rest("get_next_available_id", &body).header("Authorization", "Bearer nobody")),
    ];
    for (address, request) in requests {
        for bytes in [request.bytes(), request.chunked_bytes()] {
            for _ in 0..3 {
                let mut stream = TcpStream::connect(address).expect("the server accepts connections");
                stream.write_all(&bytes).expect("all of it is taken");
                let mut answer = String::new();
                stream.read_to_string(&mut answer).expect("the answer comes whole");
                let status = answer.get(..12).unwrap_or_default();
                assert!(matches!(status, "HTTP/1.1 413" | "HTTP/1.1 401"), "{answer}");
            }
        }
    }
    target.check_alive();
}

#[test]
fn who_never_stops_sending_is_cut_off_and_costs_little_memory() {
    let target = Target::start();
    target.check_alive();
    let before = peak_bytes(target.pid());
    let head = target.rest("get_next_available_id", "").head();
    for length in ["Content-Length: 99999999999\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n"] {
        let mut stream = TcpStream::connect(target.http).expect("the server accepts connections");
        stream.write_all(format!("{head}{length}").as_bytes()).expect("the server reads");
        let (begun, mut n_megabytes) = (Instant::now(), 0);
        while stream.write_all(&vec![b'x'; MEGABYTE]).is_ok() {
            n_megabytes += 1;
            assert!(n_megabytes < 64 && begun.elapsed() < ANSWER_WITHIN, "{n_megabytes} MB in {:?}", begun.elapsed());
        }
    }
    let growth = peak_bytes(target.pid()) - before;
    assert!(growth < MEMORY_GROWTH_MAX, "the server grew by {growth} bytes");
    target.check_alive();
}

#[test]
fn a_length_that_promises_too_much_is_not_waited_for() {
    let target = Target::start();
    let head = target.rest("get_next_available_id", "").head();
    let promise = format!("{head}Content-Length: 99999999999\r\n\r\n{{");
    assert_eq!(target.send_bytes(promise.as_bytes()).status, 413);
    let chunk = format!("{head}Transfer-Encoding: chunked\r\n\r\nfffffff\r\n{}", "x".repeat(BODY_BYTES_MAX + 1));
    assert_eq!(target.send_bytes(chunk.as_bytes()).status, 413);
    target.check_alive();
}

#[test]
fn a_packed_body_is_not_unpacked() {
    let target = Target::start();
    // The first bytes of a gzip stream; nobody should look at them.
    let bomb = [&[0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3][..], &[0; 100_000]].concat();
    for encoding in ["gzip", "br", "deflate", "zstd", "identity, gzip"] {
        for request in [target.rest("get_next_available_id", &bomb), target.mcp(&bomb)] {
            let answer = target.send(&request.header("Content-Encoding", encoding));
            assert_eq!(answer.status, 415, "{encoding}: {answer:?}");
        }
    }
    let answer = exchange(
        target.ids,
        &target.request(Request::post("/ids/reserve")).json(&bomb).header("Content-Encoding", "gzip").bytes(),
    )
    .only();
    assert_eq!(answer.status, 415);
    target.check_alive();
}
