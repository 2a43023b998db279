//! Guessing handles: somebody else's reservation is not found by trying (case 13).

use std::time::Instant;

use contract::canonical::digest;
use serde_json::{Value, json};
use tokio::task::JoinSet;
use uuid::Uuid;

use super::record::count;
use super::target::{DEFAULT_LIMITS, PROJECT, Target, TargetOptions};

const N_GUESSES: usize = 10_000;
/// One principal; more connections only make the guessing faster.
const N_CONNECTIONS: usize = 16;
const RATE_PER_SECOND: f64 = 200.0;
const RATE_BURST: f64 = 400.0;

/// A principal of its own in `materia.toml`.
pub fn api_key(actor_id: &str, key: &str) -> String {
    let sha256: String = digest(key.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("[[api_keys]]\nactor_id = \"{actor_id}\"\nsha256 = \"{sha256}\"\nroles = [\"agent\"]\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_thousand_guesses_meet_the_rate_limit_and_find_nothing() {
    let config = api_key("guesser", "guess");
    let target = Target::with(&TargetOptions { env: &DEFAULT_LIMITS, config: &config, ..TargetOptions::default() });
    let reserve = json!({"artifact_type": "hls", "count": 2, "project_id": PROJECT});
    let reserved = target.send(&target.rest("reserve_id_range", reserve.to_string()));
    let reservation_id = reserved.json()["reservation_id"].as_str().expect("a handle").to_owned();

    let begun = Instant::now();
    let http = reqwest::Client::builder().no_proxy().build().expect("a client without TLS always builds");
    let mut guessers = JoinSet::new();
    for _ in 0..N_CONNECTIONS {
        // Even the true handle is worth nothing to somebody else.
        guessers.spawn(guess(http.clone(), format!("http://{}/ids/confirm", target.ids), reservation_id.clone()));
    }
    let (n_not_found, n_limited) =
        guessers.join_all().await.into_iter().fold((0, 0), |sum, one| (sum.0 + one.0, sum.1 + one.1));
    let n_allowed_max = RATE_BURST + RATE_PER_SECOND * (begun.elapsed().as_secs_f64() + 1.0);
    assert!(n_limited > 0, "nobody was stopped");
    assert!(f64::from(n_not_found) < n_allowed_max, "{n_not_found} guesses were let through, {n_allowed_max} at most");

    // The limit is the guesser's own; the owner still confirms.
    tokio::task::block_in_place(|| {
        let confirm = json!({"reservation_id": reservation_id}).to_string();
        assert_eq!(target.send(&target.rest("confirm_reservation", confirm)).status, 200);
        let events = target.stop();
        assert_eq!(u32::try_from(count(&events, "confirm_reservation", "not_found")), Ok(n_not_found));
        assert_eq!(count(&events, "confirm_reservation", "ok"), 1);
    });
}

/// Guesses one after the other. How many were not found, and how many were not let through.
async fn guess(http: reqwest::Client, url: String, true_handle: String) -> (u32, u32) {
    let (mut n_not_found, mut n_limited) = (0, 0);
    for n in 0..N_GUESSES / N_CONNECTIONS {
        let guess = if n == 5 { true_handle.clone() } else { Uuid::new_v4().to_string() };
        let request = http.post(&url).bearer_auth("guess").json(&json!({"reservation_id": guess}));
        let response = request.send().await.expect("the server answers");
        match response.status().as_u16() {
            404 => n_not_found += 1,
            429 => {
                assert!(response.headers().contains_key("retry-after"));
                let body: Value = response.json().await.expect("a refusal is JSON");
                assert_eq!((&body["status_code"], &body["success"]), (&json!(429), &json!(false)));
                n_limited += 1;
            }
            other => panic!("a guess was answered {other}"),
        }
    }
    (n_not_found, n_limited)
}
