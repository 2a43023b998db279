//! Parsing untrusted JSON: what ordinary parsers forgive is refused here, with the path of the offender.
//!
//! Refused: duplicate keys (two readers may pick different ones), integers beyond ±2^53 (they change in other
//! languages), NUL characters, and anything beyond the limits on depth, number of values and string length.

use std::fmt;
use std::ops::Range;

use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::error::{Kind, OpError, cut};

/// 2^53: the largest magnitude below which every integer is exact in a double.
pub const INTEGER_MAX: i64 = 1 << 53;
/// The longest double that means something has fewer than 800 digits.
const NUMBER_CHARS_MAX: usize = 1_024;

#[derive(Debug, Clone, Copy)]
pub struct Limits {
    pub bytes_max: usize,
    pub depth_max: usize,
    pub values_max: usize,
    pub string_bytes_max: usize,
}

impl Limits {
    /// The largest document that may be stored fits, however its characters are written: four bytes each in the string,
    /// twelve in the text (`\ud83d\ude00`).
    pub const DEFAULT: Limits =
        Limits { bytes_max: 6 * 1024 * 1024, depth_max: 64, values_max: 10_000, string_bytes_max: 2 * 1024 * 1024 };
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Problem {
    /// Not JSON at all, or not UTF-8.
    Syntax {
        line: usize,
        column: usize,
    },
    TooLarge {
        bytes_max: usize,
    },
    TooDeep {
        depth_max: usize,
    },
    TooManyValues {
        values_max: usize,
    },
    StringTooLong {
        bytes_max: usize,
    },
    DuplicateKey,
    IntegerOutOfRange,
    NulCharacter,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Problem::Syntax { line, column } => write!(f, "not valid JSON at line {line} column {column}"),
            Problem::TooLarge { bytes_max } => write!(f, "expected at most {bytes_max} bytes"),
            Problem::TooDeep { depth_max } => write!(f, "expected at most {depth_max} levels of nesting"),
            Problem::TooManyValues { values_max } => write!(f, "expected at most {values_max} values"),
            Problem::StringTooLong { bytes_max } => write!(f, "expected a string of at most {bytes_max} bytes"),
            Problem::DuplicateKey => write!(f, "the key stands twice in one object"),
            Problem::IntegerOutOfRange => write!(f, "expected an integer within ±2^53"),
            Problem::NulCharacter => write!(f, "expected no NUL character"),
        }
    }
}

impl Problem {
    /// What would have been right.
    pub fn expected(&self) -> String {
        match self {
            Problem::Syntax { .. } => "valid JSON in UTF-8".to_owned(),
            Problem::TooLarge { bytes_max } => format!("at most {bytes_max} bytes"),
            Problem::TooDeep { depth_max } => format!("at most {depth_max} levels of nesting"),
            Problem::TooManyValues { values_max } => format!("at most {values_max} values"),
            Problem::StringTooLong { bytes_max } => format!("a string of at most {bytes_max} bytes"),
            Problem::DuplicateKey => "each key once in an object".to_owned(),
            Problem::IntegerOutOfRange => "an integer within ±2^53".to_owned(),
            Problem::NulCharacter => "no NUL character".to_owned(),
        }
    }

    /// What came instead, without repeating any of it: it may be patient text.
    pub fn received(&self) -> String {
        match self {
            Problem::Syntax { line, column } => format!("something else at line {line} column {column}"),
            Problem::TooLarge { .. } | Problem::TooManyValues { .. } => "more".to_owned(),
            Problem::TooDeep { .. } => "a deeper one".to_owned(),
            Problem::StringTooLong { .. } => "a longer one".to_owned(),
            Problem::DuplicateKey => "the key twice".to_owned(),
            Problem::IntegerOutOfRange => "a number beyond".to_owned(),
            Problem::NulCharacter => "a NUL character".to_owned(),
        }
    }
}

impl From<StrictError> for OpError {
    fn from(error: StrictError) -> OpError {
        let mut refusal = OpError::new(Kind::Invalid, error.to_string()).received(error.problem.received());
        let field = error.path.trim_start_matches('/').to_owned();
        refusal.details.field = Some(if field.is_empty() { "body".to_owned() } else { field });
        refusal.details.expected = Some(error.problem.expected());
        refusal
    }
}

/// What was wrong and where. `path` is a JSON pointer, `""` for the whole text, with the beginning of names that are long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}{}", at(path))]
pub struct StrictError {
    pub path: String,
    pub problem: Problem,
}

fn at(path: &str) -> String {
    if path.is_empty() { String::new() } else { format!(" at `{path}`") }
}

/// Parses one JSON text.
pub fn parse(bytes: &[u8], limits: Limits) -> Result<Value, StrictError> {
    if bytes.len() > limits.bytes_max {
        let problem = Problem::TooLarge { bytes_max: limits.bytes_max };
        return Err(StrictError { path: String::new(), problem });
    }
    match find_long_number(bytes) {
        // A number of a megabyte would cost the library ten times as much memory, only to be refused. A short one that is
        // beyond every double is refused in its place, with its path.
        Some(number) => {
            let around = (bytes.get(..number.start), bytes.get(number.end..));
            let shorter = [around.0.unwrap_or_default(), b"1e999", around.1.unwrap_or_default()].concat();
            parse_short(&shorter, limits)
        }
        None => parse_short(bytes, limits),
    }
}

/// Parses a text whose first long number, if it has one, is beyond every double.
fn parse_short(bytes: &[u8], limits: Limits) -> Result<Value, StrictError> {
    let mut scan = Scan { limits, path: Vec::new(), n_values: 0, found: None };
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let parsed =
        Strict { scan: &mut scan }.deserialize(&mut deserializer).and_then(|value| deserializer.end().map(|()| value));
    parsed.map_err(|error| {
        scan.found.take().unwrap_or_else(|| {
            let (line, column) = (error.line(), error.column());
            let is_beyond = ends_beyond_doubles(bytes, line, column);
            let problem = if is_beyond { Problem::IntegerOutOfRange } else { Problem::Syntax { line, column } };
            StrictError { path: scan.pointer(), problem }
        })
    })
}

/// Whether the number that ends where the library gave up is larger than any double. Such a number is JSON all the same.
fn ends_beyond_doubles(bytes: &[u8], line: usize, column: usize) -> bool {
    let before = bytes.split(|byte| *byte == b'\n').nth(line.saturating_sub(1)).and_then(|text| text.get(..column));
    let text = before.unwrap_or_default();
    let n_other = text.iter().rposition(|byte| !is_of_number(byte)).map_or(0, |last| last + 1);
    let number = text.get(n_other..).and_then(|number| std::str::from_utf8(number).ok());
    number.and_then(|number| number.parse::<f64>().ok()).is_some_and(f64::is_infinite)
}

/// Where the first number of more characters than any double needs stands.
fn find_long_number(bytes: &[u8]) -> Option<Range<usize>> {
    let (mut is_text, mut is_escaped, mut start) = (false, false, None);
    for (at, byte) in bytes.iter().enumerate() {
        let is_of_number = !is_text && is_of_number(byte);
        match start {
            None if is_of_number => start = Some(at),
            Some(start) if !is_of_number && at - start > NUMBER_CHARS_MAX => return Some(start..at),
            Some(_) if !is_of_number => start = None,
            None | Some(_) => {}
        }
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_text => is_escaped = true,
            b'"' => is_text = !is_text,
            _ => {}
        }
    }
    start.filter(|start| bytes.len() - start > NUMBER_CHARS_MAX).map(|start| start..bytes.len())
}

fn is_of_number(byte: &u8) -> bool {
    matches!(byte, b'0'..=b'9' | b'.' | b'e' | b'E' | b'+' | b'-')
}

enum Step {
    Member(String),
    Item(usize),
}

struct Scan {
    limits: Limits,
    path: Vec<Step>,
    n_values: usize,
    found: Option<StrictError>,
}

impl Scan {
    /// At most as long as the depth and [`cut`] allow: names may be megabytes, and errors repeat the path.
    fn pointer(&self) -> String {
        self.path
            .iter()
            .map(|step| match step {
                Step::Member(name) => format!("/{}", cut(name).replace('~', "~0").replace('/', "~1")),
                Step::Item(index) => format!("/{index}"),
            })
            .collect()
    }

    fn refuse<E: serde::de::Error>(&mut self, problem: Problem) -> E {
        let error = StrictError { path: self.pointer(), problem };
        let text = E::custom(&error);
        self.found.get_or_insert(error);
        text
    }

    fn check_text<E: serde::de::Error>(&mut self, text: &str) -> Result<(), E> {
        if text.len() > self.limits.string_bytes_max {
            return Err(self.refuse(Problem::StringTooLong { bytes_max: self.limits.string_bytes_max }));
        }
        if text.contains('\0') {
            return Err(self.refuse(Problem::NulCharacter));
        }
        Ok(())
    }

    fn enter<E: serde::de::Error>(&mut self) -> Result<(), E> {
        if self.path.len() >= self.limits.depth_max {
            return Err(self.refuse(Problem::TooDeep { depth_max: self.limits.depth_max }));
        }
        Ok(())
    }
}

struct Strict<'s> {
    scan: &'s mut Scan,
}

impl<'de> DeserializeSeed<'de> for Strict<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        self.scan.n_values += 1;
        if self.scan.n_values > self.scan.limits.values_max {
            let problem = Problem::TooManyValues { values_max: self.scan.limits.values_max };
            return Err(self.scan.refuse(problem));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Value, E> {
        if value.unsigned_abs() > INTEGER_MAX.unsigned_abs() {
            return Err(self.scan.refuse(Problem::IntegerOutOfRange));
        }
        Ok(Value::from(value))
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Value, E> {
        if value > INTEGER_MAX.unsigned_abs() {
            return Err(self.scan.refuse(Problem::IntegerOutOfRange));
        }
        Ok(Value::from(value))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Value, E> {
        // An integer literal too long for 64 bits arrives here as a double.
        let is_exact = value.abs() <= 9_007_199_254_740_992.0 || value.fract() != 0.0;
        // A JSON Schema takes `3.0` for an integer, and so does the canonical form.
        if value.fract() == 0.0 && is_exact {
            #[expect(clippy::cast_possible_truncation, reason = "a whole number within 2^53")]
            return Ok(Value::from(value as i64));
        }
        match Number::from_f64(value) {
            Some(number) if is_exact => Ok(Value::Number(number)),
            Some(_) | None => Err(self.scan.refuse(Problem::IntegerOutOfRange)),
        }
    }

    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Value, E> {
        self.scan.check_text(text)?;
        Ok(Value::String(text.to_owned()))
    }

    fn visit_string<E: serde::de::Error>(self, text: String) -> Result<Value, E> {
        self.scan.check_text(&text)?;
        Ok(Value::String(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        self.scan.enter()?;
        let mut items = Vec::new();
        self.scan.path.push(Step::Item(0));
        while let Some(item) = access.next_element_seed(Strict { scan: &mut *self.scan })? {
            items.push(item);
            if let Some(step) = self.scan.path.last_mut() {
                *step = Step::Item(items.len());
            }
        }
        self.scan.path.pop();
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        self.scan.enter()?;
        let mut members = Map::new();
        while let Some(name) = access.next_key::<String>()? {
            self.scan.path.push(Step::Member(name.clone()));
            self.scan.check_text(&name)?;
            if members.contains_key(&name) {
                return Err(self.scan.refuse(Problem::DuplicateKey));
            }
            let value = access.next_value_seed(Strict { scan: &mut *self.scan })?;
            members.insert(name, value);
            self.scan.path.pop();
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;
    use proptest::prelude::*;

    fn check(text: &str, path: &str, problem: Problem) {
        let error = parse(text.as_bytes(), Limits::DEFAULT).unwrap_err();
        assert_eq!(error, StrictError { path: path.to_owned(), problem });
    }

    #[test]
    fn duplicate_keys_are_refused_with_their_path() {
        check(r#"{"a":{"id":1,"id":2}}"#, "/a/id", Problem::DuplicateKey);
        check(r#"[{"b":0},{"a/b":1,"a/b":1}]"#, "/1/a~1b", Problem::DuplicateKey);
        check(r#"{"a":1,"\u0061":2}"#, "/a", Problem::DuplicateKey);
    }

    #[test]
    fn a_path_repeats_only_the_beginning_of_a_long_name() {
        let name = "~".repeat(100_000);
        let shown = format!("/{}", "~0".repeat(80));
        check(
            &format!(r#"{{"{name}":{{"{name}":{{"a":1,"a":2}}}}}}"#),
            &format!("{shown}{shown}/a"),
            Problem::DuplicateKey,
        );
        check(&format!(r#"{{"{name}":[NaN]}}"#), &format!("{shown}/0"), Problem::Syntax { line: 1, column: 100_006 });
    }

    #[test]
    fn the_largest_document_fits_however_it_is_written() {
        let n_chars = crate::workflow::artifacts::CONTENT_CHARS_MAX as usize;
        assert!(n_chars * 4 <= Limits::DEFAULT.string_bytes_max);
        // What stands beside the document in the same body is small.
        assert!(n_chars * r"\ud83d\ude00".len() + 256 * 1024 <= Limits::DEFAULT.bytes_max);
    }

    #[test]
    fn integers_must_survive_a_double() {
        check(r#"{"n":9007199254740993}"#, "/n", Problem::IntegerOutOfRange);
        check("[-9007199254740993]", "/0", Problem::IntegerOutOfRange);
        check("[123456789012345678901234567890]", "/0", Problem::IntegerOutOfRange);
        assert!(parse(b"[9007199254740992, -9007199254740992, 1.5e3]", Limits::DEFAULT).is_ok());
    }

    #[test]
    fn a_number_beyond_every_double_is_json_and_refused_with_its_path() {
        let digits = "7".repeat(401);
        check("1e400", "", Problem::IntegerOutOfRange);
        check(r#"{"a":1,"count":1e400}"#, "/count", Problem::IntegerOutOfRange);
        check("{\n \"a\": [0,\n -1.5E+99999999999, 2]}", "/a/1", Problem::IntegerOutOfRange);
        check(&format!("{{\"count\":{digits}}}"), "/count", Problem::IntegerOutOfRange);
        check("[1 1e400]", "/1", Problem::Syntax { line: 1, column: 4 });
        assert!(parse(b"[1e-400]", Limits::DEFAULT).is_ok());
    }

    #[test]
    fn what_is_no_json_is_refused_with_the_path_of_the_field_that_it_stands_in() {
        check(r#"{"a":1,"count":NaN}"#, "/count", Problem::Syntax { line: 1, column: 16 });
        check("{\"a\":[0,\n -Infinity]}", "/a/1", Problem::Syntax { line: 2, column: 3 });
        check(r#"{"a":{"b":1,}}"#, "/a", Problem::Syntax { line: 1, column: 13 });
        check("{} x", "", Problem::Syntax { line: 1, column: 4 });
    }

    #[test]
    fn a_long_number_is_refused_and_long_digits_in_a_text_are_not() {
        let digits = "7".repeat(2_000);
        check(&digits, "", Problem::IntegerOutOfRange);
        check(&format!("[1,0.{digits}]"), "/1", Problem::IntegerOutOfRange);
        check(&format!("{{\"a\":{{\"n\":-{digits}e7,\"m\":{digits}}}}}"), "/a/n", Problem::IntegerOutOfRange);
        for text in [format!("[\"{digits}\"]"), format!("[\"\\\"{digits}\",1]")] {
            assert!(parse(text.as_bytes(), Limits::DEFAULT).is_ok(), "{text}");
        }
    }

    #[test]
    fn a_whole_number_is_an_integer_however_it_is_written() {
        let value = parse(b"[3.0, 1e2, -0.0, 1.5]", Limits::DEFAULT).unwrap();
        assert_eq!(value.to_string(), "[3,100,0,1.5]");
    }

    #[test]
    fn nul_depth_count_and_length_are_limited() {
        check(r#"{"x":"a\u0000"}"#, "/x", Problem::NulCharacter);
        let deep = "[".repeat(100_000);
        let path = "/0".repeat(64);
        check(&deep, &path, Problem::TooDeep { depth_max: 64 });
        let many = format!("[{}1]", "1,".repeat(10_000));
        check(&many, "/9999", Problem::TooManyValues { values_max: 10_000 });
        let limits = Limits { string_bytes_max: 3, ..Limits::DEFAULT };
        let error = parse(br#"["abcd"]"#, limits).unwrap_err();
        assert_eq!(error.problem, Problem::StringTooLong { bytes_max: 3 });
        let limits = Limits { bytes_max: 3, ..Limits::DEFAULT };
        assert_eq!(parse(b"[1,2]", limits).unwrap_err().problem, Problem::TooLarge { bytes_max: 3 });
    }

    #[test]
    fn what_is_not_json_is_a_syntax_problem() {
        let texts: [&[u8]; 9] =
            [b"", b"{", b"\xff", b"\"\\ud800\"", b"\xef\xbb\xbf{}", b"1 2", b"NaN", b"1e", b"{\"a\":1,}"];
        for text in texts {
            let error = parse(text, Limits::DEFAULT).unwrap_err();
            assert!(matches!(error.problem, Problem::Syntax { .. }), "{text:?}: {error}");
        }
    }

    proptest! {
        #[test]
        fn what_is_accepted_equals_the_ordinary_parse(text in r#"[\[\]{}:,"a-c0-9.eE \-]{0,40}"#) {
            if let Ok(strict) = parse(text.as_bytes(), Limits::DEFAULT) {
                let ordinary = serde_json::from_str::<Value>(&text).unwrap();
                // Compared as canonical text: `3.0` and `-0` are kept as the integers they are.
                prop_assert_eq!(canonical::text_of(&strict), canonical::text_of(&ordinary));
            }
        }

        #[test]
        fn no_bytes_make_it_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _parsed = parse(&bytes, Limits::DEFAULT);
        }
    }
}
