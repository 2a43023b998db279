//! What a series of measurements says: medians, percentiles, and a line of JSON on standard output.

use std::io::Write as _;

use anyhow::Context as _;
use serde_json::Value;

/// Waiting times of single calls, in microseconds.
#[derive(Debug, Default)]
pub struct Latencies(Vec<u64>);

impl Latencies {
    pub fn push(&mut self, latency: std::time::Duration) {
        self.0.push(u64::try_from(latency.as_micros()).unwrap_or(u64::MAX));
    }

    pub fn append(&mut self, other: Latencies) {
        self.0.extend(other.0);
    }

    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// In milliseconds; 0 where nothing was measured.
    pub fn percentile_ms(&mut self, percent: usize) -> f64 {
        let last = self.0.len().saturating_sub(1);
        self.0.sort_unstable();
        self.0.get(last * percent / 100).copied().unwrap_or_default() as f64 / 1_000.0
    }
}

/// The middle one; of an even number, the lower of the two.
pub fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    values.get(values.len().saturating_sub(1) / 2).copied().unwrap_or_default()
}

/// Three significant decimals are more than a shared machine can repeat.
pub fn rounded(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

pub fn print(line: &Value) -> anyhow::Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).context("could not print a figure")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn percentiles_are_of_the_sorted_series() {
        let mut latencies = Latencies::default();
        (1..=101).rev().for_each(|ms| latencies.push(Duration::from_millis(ms)));
        assert_eq!((latencies.percentile_ms(50), latencies.percentile_ms(99)), (51.0, 100.0));
    }

    #[test]
    fn the_median_is_one_of_the_values() {
        assert_eq!(median([3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median([]), 0.0);
    }
}
