//! What a number may be. A limit of 0 would refuse everything, one without end would wait for ever.

use super::{Settings, SettingsError};

const DAY_MS: u64 = 24 * 60 * 60 * 1_000;
const YEAR_MINUTES: u64 = 366 * 24 * 60;
const COUNT_MAX: u64 = 1_000_000;

type Range = (&'static str, fn(&Settings) -> u64, u64, u64);

const RANGES: [Range; 21] = [
    ("call_deadline_ms", |settings| settings.call_deadline_ms, 1, DAY_MS),
    ("reservation_expires_after_minutes", |settings| settings.reservation_expires_after_minutes, 1, YEAR_MINUTES),
    ("reservations_per_minute_max", |settings| u64::from(settings.reservations_per_minute_max), 1, COUNT_MAX),
    ("task_lease_minutes", |settings| settings.task_lease_minutes, 0, YEAR_MINUTES),
    ("body_bytes_max", |settings| size(settings.body_bytes_max), 1_024, 1024 * 1024 * 1024),
    ("rate_per_second", |settings| u64::from(settings.rate_per_second), 0, COUNT_MAX),
    ("rate_burst", |settings| u64::from(settings.rate_burst), 1, COUNT_MAX),
    ("auth_failures_per_second", |settings| u64::from(settings.auth_failures_per_second), 0, COUNT_MAX),
    ("auth_failures_burst", |settings| u64::from(settings.auth_failures_burst), 1, COUNT_MAX),
    ("calls_in_flight_max", |settings| size(settings.calls_in_flight_max), 1, COUNT_MAX),
    ("calls_per_principal_max", |settings| size(settings.calls_per_principal_max), 1, COUNT_MAX),
    ("connections_max", |settings| size(settings.connections_max), 1, COUNT_MAX),
    ("connections_per_address_max", |settings| size(settings.connections_per_address_max.unwrap_or(1)), 1, COUNT_MAX),
    ("streams_per_principal_max", |settings| size(settings.streams_per_principal_max), 1, COUNT_MAX),
    ("streams_max", |settings| size(settings.streams_max.unwrap_or(1)), 1, COUNT_MAX),
    ("stream_lifetime_ms", |settings| settings.stream_lifetime_ms, 1_000, DAY_MS),
    ("header_timeout_ms", |settings| settings.header_timeout_ms, 1, DAY_MS),
    ("body_timeout_ms", |settings| settings.body_timeout_ms, 1, DAY_MS),
    ("write_timeout_ms", |settings| settings.write_timeout_ms, 1, DAY_MS),
    ("shutdown_grace_ms", |settings| settings.shutdown_grace_ms, 0, DAY_MS),
    ("slow_call_ms", |settings| settings.slow_call_ms, 0, DAY_MS),
];

fn size(count: usize) -> u64 {
    u64::try_from(count).unwrap_or(u64::MAX)
}

/// The least and the most that a setting may be, if it is a number with limits.
pub fn find(setting: &str) -> Option<(u64, u64)> {
    RANGES.iter().find(|(name, ..)| *name == setting).map(|(_, _, min, max)| (*min, *max))
}

pub fn check(settings: &Settings) -> Result<(), SettingsError> {
    for (setting, value, min, max) in RANGES {
        let found = value(settings);
        if !(min..=max).contains(&found) {
            return Err(SettingsError::OutOfRange { setting, found, min, max });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_that_is_left_out_fits_and_one_of_nothing_does_not() {
        assert!(check(&Settings::default()).is_ok());
        assert!(check(&Settings { streams_max: Some(0), ..Settings::default() }).is_err());
        assert!(check(&Settings { connections_per_address_max: Some(0), ..Settings::default() }).is_err());
    }

    #[test]
    fn a_number_out_of_its_range_is_refused() {
        let error = |settings: Settings| check(&settings).unwrap_err().to_string();
        assert_eq!(
            error(Settings { body_bytes_max: 0, ..Settings::default() }),
            "`body_bytes_max` is 0, expected 1024 to 1073741824"
        );
        assert_eq!(
            error(Settings { call_deadline_ms: u64::MAX, ..Settings::default() }),
            "`call_deadline_ms` is 18446744073709551615, expected 1 to 86400000"
        );
        assert!(check(&Settings { rate_per_second: 0, slow_call_ms: 0, ..Settings::default() }).is_ok());
    }
}
