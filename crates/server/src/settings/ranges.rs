//! What a number may be. A limit of 0 would refuse everything, one without end would wait for ever.

use super::{Settings, SettingsError};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
const YEAR_MINUTES: u64 = 366 * 24 * 60;
const COUNT_MAX: u64 = 1_000_000;

pub fn check(settings: &Settings) -> Result<(), SettingsError> {
    let size = |count: usize| u64::try_from(count).unwrap_or(u64::MAX);
    let ranges = [
        ("call_deadline_ms", settings.call_deadline_ms, 1, DAY_MS),
        ("reservation_expires_after_minutes", settings.reservation_expires_after_minutes, 1, YEAR_MINUTES),
        ("reservations_per_minute_max", u64::from(settings.reservations_per_minute_max), 1, COUNT_MAX),
        ("task_lease_minutes", settings.task_lease_minutes, 0, YEAR_MINUTES),
        ("body_bytes_max", size(settings.body_bytes_max), 1_024, 1024 * 1024 * 1024),
        ("rate_per_second", u64::from(settings.rate_per_second), 0, COUNT_MAX),
        ("rate_burst", u64::from(settings.rate_burst), 1, COUNT_MAX),
        ("auth_failures_per_second", u64::from(settings.auth_failures_per_second), 0, COUNT_MAX),
        ("auth_failures_burst", u64::from(settings.auth_failures_burst), 1, COUNT_MAX),
        ("calls_in_flight_max", size(settings.calls_in_flight_max), 1, COUNT_MAX),
        ("calls_per_principal_max", size(settings.calls_per_principal_max), 1, COUNT_MAX),
        ("connections_max", size(settings.connections_max), 1, COUNT_MAX),
        ("header_timeout_ms", settings.header_timeout_ms, 1, DAY_MS),
        ("body_timeout_ms", settings.body_timeout_ms, 1, DAY_MS),
        ("write_timeout_ms", settings.write_timeout_ms, 1, DAY_MS),
        ("shutdown_grace_ms", settings.shutdown_grace_ms, 0, DAY_MS),
        ("slow_call_ms", settings.slow_call_ms, 0, DAY_MS),
    ];
    match ranges.into_iter().find(|(_, found, min, max)| !(min..=max).contains(&found)) {
        Some((setting, found, min, max)) => Err(SettingsError::OutOfRange { setting, found, min, max }),
        None => Ok(()),
    }
}
