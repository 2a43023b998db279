//! What holds of every answer, whatever the attack.

use std::time::{Duration, Instant};

use serde_json::Value;

/// No answer may take longer.
pub const ANSWER_WITHIN: Duration = Duration::from_secs(5);

/// What must never leave the server: traces, paths, SQL, names of the parts it is made of.
const SECRETS: [&str; 14] = [
    "panicked at",
    "backtrace",
    ".rs:",
    "/work/",
    "/tmp/",
    "/home/",
    "/root/",
    "select ",
    "insert ",
    "update ",
    "id_registry",
    "sqlx",
    "sqlite",
    "materia.db",
];

/// What a client said itself may be said back to it.
#[track_caller]
pub fn check_discreet(answer: &str, request: &str) {
    let (answer, request) = (answer.to_lowercase(), request.to_lowercase().replace("%20", " "));
    for secret in SECRETS {
        assert!(!answer.contains(secret) || request.contains(secret), "`{secret}` leaked: {answer}");
    }
}

/// The code of a JSON-RPC error.
#[track_caller]
pub fn rpc_code(message: &Value) -> i64 {
    message["error"]["code"].as_i64().unwrap_or_else(|| panic!("expected a JSON-RPC error, found {message}"))
}

/// Asks again and again until the answer is yes; the one way to wait in here.
#[track_caller]
pub fn wait_until(what: &str, within: Duration, mut is_so: impl FnMut() -> bool) -> Duration {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < within, "{what}: not within {within:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
    begun.elapsed()
}
