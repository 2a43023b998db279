//! What a check found, for people and as JSON.

use serde_json::{Value, json};

use crate::{merkle::hash_text, trust::Trusted};

/// The check passed.
#[derive(Debug)]
pub struct Valid {
    /// One sentence.
    pub message: String,
    /// The event that a proof is about.
    pub leaf_index: Option<u64>,
    /// How many events an export shows only as hashes; none where the check is not of an export.
    pub n_hashes: Option<u64>,
    pub trusted: Trusted,
}

/// The check failed: what was given does not show what it should.
#[derive(Debug, PartialEq, Eq)]
pub struct Invalid {
    /// A word for programs.
    pub code: &'static str,
    /// One sentence.
    pub message: String,
    pub place: Place,
}

/// Where the fault lies, as far as it can be known.
#[derive(Debug, PartialEq, Eq)]
pub enum Place {
    Unknown,
    Leaf(u64),
    /// At least one of the leaves from the first number up to, not including, the second.
    Between(u64, u64),
}

impl Invalid {
    pub fn new(code: &'static str, message: impl Into<String>) -> Invalid {
        Invalid { code, message: message.into(), place: Place::Unknown }
    }

    pub fn at(code: &'static str, leaf_index: u64, message: impl Into<String>) -> Invalid {
        Invalid { place: Place::Leaf(leaf_index), ..Invalid::new(code, message) }
    }
}

pub fn text(found: &Result<Valid, Invalid>) -> String {
    match found {
        Ok(valid) => {
            let checkpoint = &valid.trusted.checkpoint;
            let mut lines = vec![
                match valid.n_hashes {
                    None | Some(0) => format!("valid: {}", valid.message),
                    Some(_) => format!("valid, but not all of it is shown: {}", valid.message),
                },
                format!("  log        {}", checkpoint.origin),
                format!("  size       {}", checkpoint.size),
                format!("  root       {}", hash_text(&checkpoint.root)),
            ];
            lines.extend(valid.trusted.signed_by.iter().map(|key| format!("  signed     {key}")));
            for cosignature in &valid.trusted.cosigned_by {
                lines.push(format!("  cosigned   {} at {}", cosignature.name, utc(cosignature.time_s)));
            }
            lines.join("\n")
        }
        Err(invalid) => format!("INVALID: {}", invalid.message),
    }
}

pub fn to_json(check: &str, found: &Result<Valid, Invalid>) -> Value {
    match found {
        Ok(valid) => {
            let Trusted { checkpoint, signed_by, cosigned_by } = &valid.trusted;
            let cosigned_by: Vec<Value> =
                cosigned_by.iter().map(|by| json!({ "name": by.name, "time": utc(by.time_s) })).collect();
            let mut value = json!({
                "valid": true,
                "check": check,
                "message": valid.message,
                "origin": checkpoint.origin,
                "size": checkpoint.size,
                "root": hash_text(&checkpoint.root),
                "signed_by": signed_by,
                "cosigned_by": cosigned_by,
            });
            add(&mut value, "leaf_index", valid.leaf_index.map(Value::from));
            add(&mut value, "n_events", valid.n_hashes.map(|_| checkpoint.size.into()));
            add(&mut value, "n_hashes", valid.n_hashes.map(Value::from));
            value
        }
        Err(invalid) => {
            let mut value = json!({ "valid": false, "check": check, "code": invalid.code, "message": invalid.message });
            match invalid.place {
                Place::Unknown => {}
                Place::Leaf(index) => add(&mut value, "leaf_index", Some(index.into())),
                Place::Between(start, end) => add(&mut value, "between", Some(json!({ "start": start, "end": end }))),
            }
            value
        }
    }
}

fn add(object: &mut Value, name: &str, value: Option<Value>) {
    if let (Some(members), Some(value)) = (object.as_object_mut(), value) {
        members.insert(name.to_owned(), value);
    }
}

/// RFC 3339 in UTC. Days become a date by counting years that begin in March, so that a leap day comes last.
fn utc(time_s: u64) -> String {
    let (days, second) = (time_s / 86_400, time_s % 86_400);
    let days = days + 719_468;
    let (era, day_of_era) = (days / 146_097, days % 146_097);
    let year_of_era = (day_of_era - day_of_era / 1_460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * month + 2) / 5 + 1;
    let (month, year) = if month < 10 { (month + 3, 0) } else { (month - 9, 1) };
    let year = year + year_of_era + 400 * era;
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_dates() {
        let cases = [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_799, "2000-02-29T23:59:59Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_679_315_147, "2023-03-20T12:25:47Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ];
        for (time_s, expected) in cases {
            assert_eq!(utc(time_s), expected);
        }
        assert!(utc(u64::MAX).starts_with("58"));
    }
}
