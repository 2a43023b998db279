//! PostgreSQL goes away and comes back (case 50).

use std::time::Duration;

use super::answers::wait_until;
use super::outages::{check_unavailable, take, wait_for_recovery};
use super::target::{Target, TargetOptions};

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
