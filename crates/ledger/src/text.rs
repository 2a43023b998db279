//! The forms that all C2SP texts share: decimals and base64, read strictly, so that each value has one spelling.

use base64::{Engine, prelude::BASE64_STANDARD};

/// ASCII decimal without sign and without leading zeroes.
pub fn parse_decimal(text: &str) -> Option<u64> {
    let all_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_canonical = all_digits && (text == "0" || !text.starts_with('0'));
    is_canonical.then(|| text.parse().ok()).flatten()
}

/// RFC 4648 § 4 with padding; the engine refuses spare bits that are not zero.
pub fn decode_base64(text: &str) -> Option<Vec<u8>> {
    BASE64_STANDARD.decode(text).ok()
}

pub fn encode_base64(bytes: &[u8]) -> String {
    BASE64_STANDARD.encode(bytes)
}

/// Whether the text has no ASCII control character but the newline (C2SP signed-note § Format).
pub fn is_free_of_controls(text: &str) -> bool {
    !text.bytes().any(|byte| byte < 0x20 && byte != b'\n')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_decimal_has_one_spelling() {
        let cases = [
            ("0", Some(0)),
            ("7", Some(7)),
            ("18446744073709551615", Some(u64::MAX)),
            ("18446744073709551616", None),
            ("", None),
            ("00", None),
            ("07", None),
            ("+7", None),
            ("-7", None),
            (" 7", None),
            ("7 ", None),
            ("0x7", None),
            ("٧", None),
        ];
        for (text, expected) in cases {
            assert_eq!(parse_decimal(text), expected, "{text:?}");
        }
    }

    #[test]
    fn base64_has_one_spelling() {
        let cases: [(&str, Option<&[u8]>); 7] = [
            ("", Some(b"")),
            ("aGk=", Some(b"hi")),
            ("aGk", None),
            ("aGl=", None),
            ("aGk=\n", None),
            ("a-_=", None),
            (" aGk=", None),
        ];
        for (text, expected) in cases {
            assert_eq!(decode_base64(text).as_deref(), expected, "{text:?}");
        }
    }
}
