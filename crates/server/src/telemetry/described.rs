//! What every metric counts, for whoever reads the metrics page.

use metrics::{describe_counter, describe_gauge, describe_histogram};

const COUNTERS: [(&str, &str); 7] = [
    ("materia_calls_total", "Calls that came through the door, by operation and outcome."),
    ("materia_slow_calls_total", "Calls that took longer than the setting slow_call_ms, by operation."),
    ("materia_requests_refused_total", "Requests that were refused before they became calls, by reason."),
    ("materia_connections_refused_total", "Connections closed at once, as their address had too many open."),
    ("materia_changed_keys_total", "Look-ups of API keys whose rows other hands had changed."),
    ("materia_file_failures_total", "Files of documents that could not be written; the record has them all the same."),
    ("materia_witness_answers_total", "What witnesses answered to checkpoints, by witness and answer."),
];

const GAUGES: [(&str, &str); 8] = [
    ("materia_log_size", "Events that have a place in the log."),
    ("materia_log_checkpoint_size", "Events that the last signed checkpoint covers."),
    ("materia_log_lag_seconds", "How long the oldest event without a place in the log has waited."),
    ("materia_log_stopped", "1 while the log cannot grow and nothing is written."),
    ("materia_log_contradicted", "1 while the log does not continue what was signed."),
    ("materia_log_doubted", "1 while something was found wrong with the record that nobody has accepted."),
    ("materia_witness_contradicts", "1 while a witness knows another log than this one, by witness."),
    ("materia_witness_cosigned_size", "Events that the last checkpoint covers which a witness cosigned, by witness."),
];

const HISTOGRAMS: [(&str, &str); 1] = [("materia_call_seconds", "How long calls took, in seconds, by operation.")];

/// Needs a recorder that is installed.
pub fn describe() {
    COUNTERS.into_iter().for_each(|(name, about)| describe_counter!(name, about));
    GAUGES.into_iter().for_each(|(name, about)| describe_gauge!(name, about));
    HISTOGRAMS.into_iter().for_each(|(name, about)| describe_histogram!(name, about));
}
