//! Writes JSON as RFC 8785 wants it. Every call is hashed at least three times, and the general writers that build each
//! object in a buffer of its own in order to sort it took a fifth of the time of a cheap call.

use std::cmp::Ordering;
use std::fmt::Write as _;

use serde_json::{Number, Value};

/// Above this an integer is written as the double that ECMAScript would make of it.
const INTEGER_MAX: u64 = 1 << 53;

pub(super) fn value(out: &mut String, value: &Value) {
    match value {
        Value::Null => out.push_str("null"),
        Value::Bool(true) => out.push_str("true"),
        Value::Bool(false) => out.push_str("false"),
        Value::Number(it) => number(out, it),
        Value::String(it) => string(out, it),
        Value::Array(items) => {
            out.push('[');
            for (i, item) in items.iter().enumerate() {
                if i > 0 {
                    out.push(',');
                }
                self::value(out, item);
            }
            out.push(']');
        }
        Value::Object(members) => object(out, members.iter()),
    }
}

/// Members are nearly always in order already, so they are sorted only when they are not.
pub(super) fn object<'a>(out: &mut String, members: impl Iterator<Item = (&'a String, &'a Value)> + Clone) {
    let is_sorted = members.clone().is_sorted_by(|(a, _), (b, _)| order(a, b).is_lt());
    if is_sorted {
        return write_members(out, members);
    }
    let mut sorted: Vec<_> = members.collect();
    sorted.sort_by(|(a, _), (b, _)| order(a, b));
    write_members(out, sorted.into_iter());
}

fn write_members<'a>(out: &mut String, members: impl Iterator<Item = (&'a String, &'a Value)>) {
    out.push('{');
    for (i, (name, member)) in members.enumerate() {
        if i > 0 {
            out.push(',');
        }
        string(out, name);
        out.push(':');
        value(out, member);
    }
    out.push('}');
}

/// By UTF-16 units, as RFC 8785 § 3.2.3 says. Bytes order the same, but for characters from U+E000 on.
pub(super) fn order(a: &str, b: &str) -> Ordering {
    if a.is_ascii() || b.is_ascii() { a.cmp(b) } else { a.encode_utf16().cmp(b.encode_utf16()) }
}

pub(super) fn number(out: &mut String, number: &Number) {
    if let Some(integer) = number.as_i64().filter(|integer| integer.unsigned_abs() <= INTEGER_MAX) {
        out.push_str(itoa::Buffer::new().format(integer));
    } else if let Some(double) = number.as_f64() {
        out.push_str(ryu_js::Buffer::new().format(double));
    }
}

pub(super) fn string(out: &mut String, text: &str) {
    out.push('"');
    let mut plain_from = 0;
    for (at, byte) in text.bytes().enumerate() {
        if byte >= b' ' && byte != b'"' && byte != b'\\' {
            continue;
        }
        out.push_str(text.get(plain_from..at).unwrap_or_default());
        plain_from = at + 1;
        match byte {
            b'"' => out.push_str("\\\""),
            b'\\' => out.push_str("\\\\"),
            b'\n' => out.push_str("\\n"),
            b'\r' => out.push_str("\\r"),
            b'\t' => out.push_str("\\t"),
            0x08 => out.push_str("\\b"),
            0x0c => out.push_str("\\f"),
            // Writing to a string cannot fail.
            control => drop(write!(out, "\\u{control:04x}")),
        }
    }
    out.push_str(text.get(plain_from..).unwrap_or_default());
    out.push('"');
}
