//! Clients that take their time: with headers, with bodies, with reading (case 25).

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::task::JoinSet;

use super::answers::ANSWER_WITHIN;
use super::guesses::api_key;
use super::target::{DEFAULT_LIMITS, Target, TargetOptions};
use super::wire::Request;

const TIMEOUT: Duration = Duration::from_millis(2_000);
const ENV: [(&str, &str); 3] =
    [("MATERIA_HEADER_TIMEOUT_MS", "2000"), ("MATERIA_BODY_TIMEOUT_MS", "2000"), ("MATERIA_WRITE_TIMEOUT_MS", "2000")];
const N_SLOW: usize = 200;

/// Sends byte after byte until the server has had enough. Gives how long that took and what it said.
async fn trickle(address: SocketAddr, at_once: String, bit_by_bit: String) -> (Duration, String) {
    let mut stream = TcpStream::connect(address).await.expect("the server accepts connections");
    let begun = Instant::now();
    stream.write_all(at_once.as_bytes()).await.expect("the server reads");
    let (mut reader, mut writer) = stream.into_split();
    let writing = tokio::spawn(async move {
        for byte in bit_by_bit.bytes() {
            if writer.write_all(&[byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        std::future::pending::<()>().await;
    });
    let mut answer = Vec::new();
    // A reset is an end too.
    drop(reader.read_to_end(&mut answer).await);
    writing.abort();
    (begun.elapsed(), String::from_utf8_lossy(&answer).into_owned())
}

/// Times of ordinary requests until `until`.
async fn ordinary(http: reqwest::Client, url: String, until: Instant) -> Vec<Duration> {
    let mut times = Vec::new();
    while Instant::now() < until {
        let begun = Instant::now();
        let sent = http.post(&url).bearer_auth("other").json(&serde_json::json!({})).send().await;
        assert_eq!(sent.expect("the server answers").status(), 200);
        times.push(begun.elapsed());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    times
}

/// Lets 200 slow senders and four ordinary clients at the server, and gives the ordinary clients' 99th percentile.
async fn p99_beside_slow_senders(target: &Target) -> Duration {
    let head = target.rest("list_artifact_types", "").head();
    let mut slow = JoinSet::new();
    for n in 0..N_SLOW {
        let (at_once, bit_by_bit) = match n % 4 {
            0 => (String::new(), head.clone()),
            1 => (String::new(), String::new()),
            2 => (format!("{head}Content-Length: 5000\r\n\r\n"), "x".repeat(5_000)),
            _ => (format!("{head}Transfer-Encoding: chunked\r\n\r\n"), "5000\r\n{}".repeat(100)),
        };
        let has_body = n % 4 >= 2;
        let address = target.http;
        slow.spawn(async move { (has_body, trickle(address, at_once, bit_by_bit).await) });
    }
    let url = format!("http://{}/api/tools/list_artifact_types", target.http);
    let http = reqwest::Client::builder().no_proxy().build().expect("a client without TLS always builds");
    let until = Instant::now() + TIMEOUT + Duration::from_millis(500);
    let others: Vec<_> = (0..4).map(|_| tokio::spawn(ordinary(http.clone(), url.clone(), until))).collect();

    let mut times = Vec::new();
    for other in others {
        times.extend(other.await.expect("an ordinary client succeeds"));
    }
    times.sort_unstable();
    while let Some(ended) = slow.join_next().await {
        let (has_body, (took, answer)) = ended.expect("a slow client ends");
        assert!(took < TIMEOUT + ANSWER_WITHIN, "a slow client was kept for {took:?}");
        assert!(took >= TIMEOUT - Duration::from_millis(50), "a slow client was cut off after {took:?}: {answer}");
        let is_expected = if has_body { answer.starts_with("HTTP/1.1 408") } else { answer.is_empty() };
        assert!(is_expected || answer.starts_with("HTTP/1.1 408"), "{answer}");
    }
    times[times.len() * 99 / 100]
}

#[tokio::test(flavor = "multi_thread")]
async fn two_hundred_slow_senders_are_cut_off_and_nobody_waits_for_them() {
    let config = api_key("other", "other");
    let env = [ENV.as_slice(), &DEFAULT_LIMITS].concat();
    let target = Target::with(&TargetOptions { env: &env, config: &config, ..TargetOptions::default() });
    // A server whose places the slow ones hold is slow each time; a machine busy with other tests is not.
    let mut seen = Vec::new();
    while seen.len() < 3 && seen.last().is_none_or(|p99| *p99 >= Duration::from_secs(1)) {
        seen.push(p99_beside_slow_senders(&target).await);
    }
    assert!(seen.last().is_some_and(|p99| *p99 < Duration::from_secs(1)), "p99 of ordinary requests: {seen:?}");
    target.check_alive();
}

#[tokio::test(flavor = "multi_thread")]
async fn idle_connections_give_their_places_back() {
    let env =
        [ENV.as_slice(), &[("MATERIA_CONNECTIONS_MAX", "20"), ("MATERIA_CONNECTIONS_PER_ADDRESS_MAX", "20")]].concat();
    let target = Target::with(&TargetOptions { env: &env, ..TargetOptions::default() });
    let mut idle = Vec::new();
    for n in 0..40 {
        let mut stream = TcpStream::connect(target.http).await.expect("the server accepts connections");
        if n % 2 == 0 {
            // A connection that was of use once and then rests.
            let request = format!("{}\r\n", Request::get("/health").header("Host", "localhost").head());
            stream.write_all(request.as_bytes()).await.expect("the server reads");
        }
        idle.push(stream);
    }
    let begun = Instant::now();
    tokio::task::block_in_place(|| target.check_alive());
    assert!(begun.elapsed() < TIMEOUT * 2 + Duration::from_secs(1), "waited {:?}", begun.elapsed());
    drop(idle);
}

#[tokio::test(flavor = "multi_thread")]
async fn clients_that_never_read_do_not_keep_their_places_for_ever() {
    let env =
        [ENV.as_slice(), &[("MATERIA_CONNECTIONS_MAX", "5"), ("MATERIA_CONNECTIONS_PER_ADDRESS_MAX", "5")]].concat();
    let target = Target::with(&TargetOptions { env: &env, ..TargetOptions::default() });
    // A page that needs no token, asked for so often that the answers fill every buffer on the way.
    let request = format!("{}\r\n", Request::get("/style.css").header("Host", "localhost").head());
    let requests = request.repeat(3_000);
    let mut greedy = Vec::new();
    for _ in 0..5 {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.set_recv_buffer_size(4_096).expect("a buffer can be small");
        let stream = socket.connect(target.http).await.expect("the server accepts connections");
        // Until the way there is full as well.
        let (reader, mut writer) = stream.into_split();
        let requests = requests.clone();
        greedy.push((reader, tokio::spawn(async move { writer.write_all(requests.as_bytes()).await })));
    }
    let begun = Instant::now();
    let alive = format!("{}Connection: close\r\n\r\n", Request::get("/health").header("Host", "localhost").head());
    let mut stream = TcpStream::connect(target.http).await.expect("the server accepts connections");
    stream.write_all(alive.as_bytes()).await.expect("the server reads");
    let mut answer = String::new();
    let reading = tokio::time::timeout(Duration::from_secs(10), stream.read_to_string(&mut answer)).await;
    assert!(reading.is_ok() && answer.starts_with("HTTP/1.1 200"), "nobody is served after {:?}", begun.elapsed());
}

#[tokio::test(flavor = "multi_thread")]
async fn one_address_cannot_take_every_connection() {
    let env = [("MATERIA_CONNECTIONS_MAX", "20"), ("MATERIA_HEADER_TIMEOUT_MS", "60000")];
    let target = Target::with(&TargetOptions { env: &env, ..TargetOptions::default() });
    let from = async |address: &str| {
        let socket = TcpSocket::new_v4().expect("a socket");
        socket.bind(format!("{address}:0").parse().expect("an address")).expect("an address of this machine");
        socket.connect(target.http).await.expect("the server accepts connections")
    };
    let mut greedy = Vec::new();
    for _ in 0..30 {
        greedy.push(from("127.0.0.2").await);
    }
    let alive = format!("{}Connection: close\r\n\r\n", Request::get("/health").header("Host", "localhost").head());
    let mut stream = from("127.0.0.3").await;
    stream.write_all(alive.as_bytes()).await.expect("the server reads");
    let mut answer = String::new();
    let reading = tokio::time::timeout(Duration::from_secs(10), stream.read_to_string(&mut answer)).await;
    assert!(reading.is_ok() && answer.starts_with("HTTP/1.1 200"), "nobody else is served: {answer}");

    let mut n_closed = 0;
    for mut stream in greedy {
        let reading = tokio::time::timeout(Duration::from_millis(50), stream.read_u8()).await;
        n_closed += usize::from(reading.is_ok());
    }
    assert_eq!(n_closed, 15);
}

#[tokio::test(flavor = "multi_thread")]
async fn who_says_nothing_on_the_port_of_grpc_does_not_stay_and_leaves_room_for_others() {
    let env = [ENV.as_slice(), &[("MATERIA_CONNECTIONS_MAX", "20")]].concat();
    let target = Target::with(&TargetOptions { env: &env, ..TargetOptions::default() });
    // What every client of HTTP/2 begins with, and an empty frame of its settings (RFC 9113 § 3.4).
    let begin = [b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".as_slice(), &[0, 0, 0, 4, 0, 0, 0, 0, 0]].concat();
    let mut idle = JoinSet::new();
    for n in 0..40 {
        let mut stream = TcpStream::connect(target.grpc).await.expect("the server accepts connections");
        if n % 2 == 0 {
            drop(stream.write_all(&begin[..10]).await);
        }
        let begun = Instant::now();
        idle.spawn(async move {
            drop(stream.read_to_end(&mut Vec::new()).await);
            begun.elapsed()
        });
    }
    let n_stayed = idle.join_all().await.into_iter().filter(|stayed| *stayed > TIMEOUT / 2).count();
    assert_eq!(n_stayed, 15, "three quarters of the places");

    let mut stream = TcpStream::connect(target.grpc).await.expect("the server accepts connections");
    stream.write_all(&begin).await.expect("the server reads");
    tokio::time::sleep(TIMEOUT + Duration::from_secs(1)).await;
    let mut frame = [0; 9];
    stream.read_exact(&mut frame).await.expect("the server speaks HTTP/2 and waits for more");
    assert_eq!(frame[3], 4, "a frame of settings");
    stream.write_all(&[0, 0, 8, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8]).await.expect("the server still reads");
}

#[test]
fn connections_leave_files_for_the_record() {
    let env = [("MATERIA_HEADER_TIMEOUT_MS", "60000"), ("MATERIA_CONNECTIONS_PER_ADDRESS_MAX", "2048")];
    let under = ["prlimit", "--nofile=512"];
    let target = Target::with(&TargetOptions { env: &env, under: &under, ..TargetOptions::default() });
    // Those that find no place wait in the kernel, which has room for 128 of them.
    let ports = [target.grpc, target.tasks, target.ids];
    let connect = |address: &SocketAddr| std::net::TcpStream::connect(address).expect("the kernel accepts connections");
    let greedy: Vec<_> = ports.iter().flat_map(|port| (0..150).map(|_| connect(port)).collect::<Vec<_>>()).collect();
    target.check_alive();
    drop(greedy);
}
