//! PostgreSQL goes away and comes back (case 50).

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};

use super::answers::wait_until;
use super::outages::{check_unavailable, take, wait_for_recovery};
use super::target::{Target, TargetOptions};
use super::wire::Request;

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_postgresql_is_waited_out() {
    let database = testkit::postgres_url().await;
    let target = Target::with(&TargetOptions { database_url: Some(&database.url), ..TargetOptions::default() });
    assert_eq!(target.check_alive(), "US-001");

    for expected in ["US-002", "US-003"] {
        database.shut().await;
        for _ in 0..3 {
            check_unavailable(&take(&target));
        }
        let read = || target.send(&target.rest("list_artifact_types", "{}"));
        wait_until("reads are refused", Duration::from_secs(10), || read().status == 503);
        database.reopen().await;
        assert_eq!(wait_for_recovery(&target), expected, "a call that was refused took an id");
        wait_until("reads are served", Duration::from_secs(10), || read().status == 200);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn cut_connections_cost_nobody_an_id() {
    let database = testkit::postgres_url().await;
    let target = Target::with(&TargetOptions { database_url: Some(&database.url), ..TargetOptions::default() });
    assert_eq!(target.check_alive(), "US-001");
    for expected in ["US-002", "US-003", "US-004"] {
        database.cut_connections().await;
        assert_eq!(wait_for_recovery(&target), expected);
    }
}

/// Another address of a database, and what carries the bytes there: aborted, nobody listens at it any more.
async fn detour(url: &str) -> (String, JoinHandle<()>) {
    let (user, rest) = url.split_once('@').expect("an address with a user");
    let (host, name) = rest.split_once('/').expect("an address with a database");
    let (host, listener) = (host.to_owned(), TcpListener::bind("127.0.0.1:0").await.expect("a free port"));
    let here = listener.local_addr().expect("an address");
    let carrying = tokio::spawn(async move {
        let mut connections = JoinSet::new();
        while let Ok((mut near, _)) = listener.accept().await {
            let mut far = TcpStream::connect(&host).await.expect("the database listens");
            connections.spawn(async move { tokio::io::copy_bidirectional(&mut near, &mut far).await });
        }
    });
    (format!("{user}@{here}/{name}"), carrying)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_probe_does_not_wait_for_a_postgresql_that_is_away() {
    let database = testkit::postgres_url().await;
    let (url, carrying) = detour(&database.url).await;
    let target = Target::with(&TargetOptions { database_url: Some(&url), ..TargetOptions::default() });
    let mut slowest = Duration::ZERO;
    let mut ask = || {
        let begun = Instant::now();
        let health = target.send(&target.request(Request::get("/health")));
        slowest = slowest.max(begun.elapsed());
        (health.status, health.json()["dependencies"]["database"].clone())
    };
    assert_eq!(ask(), (200, json!("ok")));
    carrying.abort();
    wait_until("health tells of it", Duration::from_secs(4), || ask() == (503, json!("unreachable")));
    for _ in 0..5 {
        assert_eq!(ask(), (503, json!("unreachable")));
    }
    // The server takes a tenth of a second at most; the rest is for a machine that is busy with other tests.
    assert!(slowest < Duration::from_millis(1_000), "health took {slowest:?}");
}
