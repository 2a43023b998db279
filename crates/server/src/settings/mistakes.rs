//! What is wrong with the settings, in words that never show a value: it may be a key or a password.

use figment::Source;
use figment::error::{Actual, Kind};

use super::ranges;

/// Every mistake, with the setting, where it was read and what was expected.
pub fn told(errors: figment::Error) -> String {
    errors.into_iter().map(|error| told_of_one(&error)).collect::<Vec<_>>().join("; ")
}

fn told_of_one(error: &figment::Error) -> String {
    let (name, place) = (error.path.join("."), place(error));
    match &error.kind {
        Kind::UnknownField(unknown, _) if error.path.len() < 2 => {
            format!("there is no setting `{unknown}`{place}; `materia config` lists them")
        }
        kind if name.is_empty() => format!("{}{place}", mistake(kind, "")),
        kind => format!("`{name}`{place}: {}", mistake(kind, &name)),
    }
}

/// Where it was read.
fn place(error: &figment::Error) -> String {
    let Some(metadata) = &error.metadata else { return String::new() };
    match metadata.source.as_ref().and_then(Source::file_path) {
        Some(path) => format!(" in {}", path.display()),
        None if metadata.name.contains("environment") => {
            format!(" in the variable MATERIA_{}", error.path.join("_").to_uppercase())
        }
        None if metadata.name.contains("Flags") => " on the command line".to_owned(),
        None => format!(" in {}", metadata.name),
    }
}

fn mistake(kind: &Kind, setting: &str) -> String {
    match kind {
        Kind::Message(text) => without_excerpt(text),
        Kind::InvalidType(found, expected) | Kind::InvalidValue(found, expected) => {
            format!("found {}, expected {}", form(found), form_wanted(&expected.to_string(), setting))
        }
        Kind::UnknownVariant(_, known) => format!("expected one of {}", known.join(", ")),
        Kind::UnknownField(_, known) => format!("there is no such setting, expected one of {}", known.join(", ")),
        Kind::Unsupported(found) => format!("{} cannot be a setting", form(found)),
        Kind::UnsupportedKey(found, expected) => format!("found {} as a name, expected {expected}", form(found)),
        Kind::InvalidLength(..)
        | Kind::MissingField(_)
        | Kind::DuplicateField(_)
        | Kind::ISizeOutOfRange(_)
        | Kind::USizeOutOfRange(_) => kind.to_string(),
    }
}

/// What was wanted, without the names that Rust has for numbers.
fn form_wanted(expected: &str, setting: &str) -> String {
    match (expected, ranges::find(setting)) {
        ("u8" | "u16" | "u32" | "u64" | "usize", Some((min, max))) => format!("a whole number from {min} to {max}"),
        ("u8" | "u16" | "u32" | "u64" | "usize", None) => "a whole number from 0 on".to_owned(),
        ("a sequence", _) => "a list such as [\"a\",\"b\"]".to_owned(),
        ("a boolean", _) => "true or false".to_owned(),
        (other, _) => other.to_owned(),
    }
}

/// What was found, without the value itself.
fn form(found: &Actual) -> &'static str {
    match found {
        Actual::Bool(_) => "a truth value",
        Actual::Signed(number) if *number < 0 => "a negative number",
        Actual::Unsigned(_) | Actual::Signed(_) => "a whole number",
        Actual::Float(_) => "a number",
        Actual::Char(_) | Actual::Str(_) | Actual::Bytes(_) => "a text",
        Actual::Seq => "a list",
        Actual::Map => "a table",
        Actual::Unit
        | Actual::Option
        | Actual::NewtypeStruct
        | Actual::Enum
        | Actual::UnitVariant
        | Actual::NewtypeVariant
        | Actual::TupleVariant
        | Actual::StructVariant
        | Actual::Other(_) => "something else",
    }
}

/// The parser of TOML shows the line under a head that says where it is, each line with a bar.
fn without_excerpt(text: &str) -> String {
    let is_excerpt = |line: &&str| {
        let before_bar = line.split_once('|').map(|(before, _)| before.trim());
        before_bar.is_some_and(|before| before.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let lines: Vec<&str> = text.lines().filter(|line| !is_excerpt(line)).map(str::trim).collect();
    lines.join(": ")
}

#[cfg(test)]
mod tests {
    use figment::Figment;
    use figment::providers::{Format as _, Toml};

    #[derive(Debug, serde::Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Some {
        #[expect(dead_code, reason = "only whether it can be read matters")]
        ids_key: Option<String>,
        #[expect(dead_code, reason = "only whether it can be read matters")]
        numbers: Option<Vec<u32>>,
        #[expect(dead_code, reason = "only whether it can be read matters")]
        rate_burst: Option<u32>,
    }

    fn check(toml: &str, expected: &str) {
        let error = Figment::from(Toml::string(toml)).extract::<Some>().expect_err("a mistake");
        let told = super::told(error);
        assert!(told.contains(expected) && !told.contains("987654") && !told.contains("SECRET"), "{told}");
    }

    #[test]
    fn mistakes_are_told_without_the_value() {
        check("ids_key = 987654321", "`ids_key` in TOML source string: found a whole number, expected a string");
        check("ids_key = \"SECRET", "line 1, column");
        check("numbers = \"SECRET\"", "found a text, expected a list such as [\"a\",\"b\"]");
        check("numbers = [\"SECRET\"]", "found a text, expected a whole number from 0 on");
        check("rate_burst = 987654321987654321", "found a whole number, expected a whole number from 1 to 1000000");
        check("rate_burst = -987654", "found a negative number, expected a whole number from 1 to 1000000");
        check(
            "ids_kee = \"SECRET\"",
            "there is no setting `ids_kee` in TOML source string; `materia config` lists them",
        );
    }
}
