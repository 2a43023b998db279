//! More requests at once than the server means to serve.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::task::JoinSet;

use super::answers::{ANSWER_WITHIN, wait_until};
use super::record::count;
use super::target::{DEFAULT_LIMITS, PROJECT, Target, TargetOptions};

const N_REQUESTS: usize = 2_000;

#[tokio::test(flavor = "multi_thread")]
async fn of_two_thousand_requests_at_once_each_is_served_or_told_to_wait() {
    let target = Target::with(&TargetOptions { env: &DEFAULT_LIMITS, ..TargetOptions::default() });
    let client = reqwest::Client::builder().no_proxy().timeout(Duration::from_secs(10)).build();
    let http = client.expect("a client without TLS always builds");
    let mut running = JoinSet::new();
    for _ in 0..N_REQUESTS {
        let url = format!("http://{}/api/tools/get_next_available_id", target.http);
        let input = json!({"artifact_type": "backlog_story", "project_id": PROJECT});
        let request = http.post(url).bearer_auth(&target.token).json(&input);
        running.spawn(async move {
            let begun = Instant::now();
            let response = request.send().await.expect("every request is answered");
            let may_retry = response.headers().contains_key("retry-after");
            (response.status().as_u16(), may_retry, begun.elapsed())
        });
    }
    let (mut n_by_status, mut times) = (BTreeMap::<u16, usize>::new(), Vec::new());
    for (status, may_retry, took) in running.join_all().await {
        assert!(matches!(status, 200 | 429 | 503), "a request was answered {status}");
        assert_eq!(status != 200, may_retry, "{status} with or without Retry-After");
        times.push(took);
        *n_by_status.entry(status).or_default() += 1;
    }
    // Two thousand clients in one process keep each other waiting as well; the slowest has the client's own limit.
    times.sort_unstable();
    assert!(times[N_REQUESTS / 2] < ANSWER_WITHIN, "half of the requests took {:?}", times[N_REQUESTS / 2]);
    let n_served = n_by_status.get(&200).copied().unwrap_or(0);
    assert!(n_served > 0 && n_served < N_REQUESTS, "{n_by_status:?}");

    // The flood is over: within a moment the next call is served, and every call that was served took its own id.
    tokio::task::block_in_place(|| {
        let input = json!({"artifact_type": "backlog_story", "project_id": PROJECT}).to_string();
        let mut next = None;
        wait_until("served again", Duration::from_secs(5), || {
            let answer = target.send(&target.rest("get_next_available_id", &input));
            next = (answer.status == 200).then(|| answer.json()["next_id"].clone());
            next.is_some()
        });
        assert_eq!(next, Some(json!(format!("US-{:03}", n_served + 1))));
        assert_eq!(count(&target.stop(), "get_next_available_id", "ok"), n_served + 1);
    });
}
