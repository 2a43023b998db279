//! Times as text: RFC 3339 in UTC.

/// `2026-02-04T19:00:00.000000Z` from microseconds since 1970; the epoch for what lies outside the calendar.
pub fn rfc3339_us(us: i64) -> String {
    timestamp(us).strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

/// `2026-02-04T19:00:00.000Z`, the form of the seeds.
pub fn rfc3339_ms(us: i64) -> String {
    timestamp(us).strftime("%Y-%m-%dT%H:%M:%S%.3fZ").to_string()
}

/// Microseconds since 1970 of a time in RFC 3339, in whatever zone.
pub fn parse_rfc3339_us(text: &str) -> Option<i64> {
    text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_microsecond)
}

fn timestamp(us: i64) -> jiff::Timestamp {
    jiff::Timestamp::from_microsecond(us).unwrap_or(jiff::Timestamp::UNIX_EPOCH)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_a_fixed_number_of_digits() {
        assert_eq!(rfc3339_ms(1_770_231_600_000_000), "2026-02-04T19:00:00.000Z");
        assert_eq!(rfc3339_us(1_770_231_600_000_001), "2026-02-04T19:00:00.000001Z");
        assert_eq!(rfc3339_us(i64::MAX), "1970-01-01T00:00:00.000000Z");
        assert_eq!(parse_rfc3339_us("2026-02-04T21:00:00.000001+02:00"), Some(1_770_231_600_000_001));
        assert_eq!(parse_rfc3339_us("tomorrow"), None);
    }
}
