//! What is wrong with the settings, in words that never show a value: it may be a key or a password.

use figment::error::{Actual, Kind};

/// Every mistake, with the setting, where it was read and what was expected.
pub fn told(errors: figment::Error) -> String {
    errors.into_iter().map(|error| told_of_one(&error)).collect::<Vec<_>>().join("; ")
}

fn told_of_one(error: &figment::Error) -> String {
    let place = error.metadata.as_ref().map_or_else(String::new, |metadata| format!(" in {}", metadata.name));
    let setting = if error.path.is_empty() { String::new() } else { format!("`{}`: ", error.path.join(".")) };
    format!("{setting}{}{place}", mistake(&error.kind))
}

fn mistake(kind: &Kind) -> String {
    match kind {
        Kind::Message(text) => without_excerpt(text),
        Kind::InvalidType(found, expected) | Kind::InvalidValue(found, expected) => {
            format!("found {}, expected {expected}", form(found))
        }
        Kind::UnknownVariant(_, known) => format!("expected one of {}", known.join(", ")),
        Kind::UnknownField(name, _) => format!("there is no setting `{name}`; `materia config` lists them"),
        Kind::Unsupported(found) => format!("{} cannot be a setting", form(found)),
        Kind::UnsupportedKey(found, expected) => format!("found {} as a name, expected {expected}", form(found)),
        Kind::InvalidLength(..)
        | Kind::MissingField(_)
        | Kind::DuplicateField(_)
        | Kind::ISizeOutOfRange(_)
        | Kind::USizeOutOfRange(_) => kind.to_string(),
    }
}

/// What was found, without the value itself.
fn form(found: &Actual) -> &'static str {
    match found {
        Actual::Bool(_) => "a truth value",
        Actual::Unsigned(_) | Actual::Signed(_) => "an integer",
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
    }

    fn check(toml: &str, expected: &str) {
        let error = Figment::from(Toml::string(toml)).extract::<Some>().expect_err("a mistake");
        let told = super::told(error);
        assert!(told.contains(expected) && !told.contains("987654") && !told.contains("SECRET"), "{told}");
    }

    #[test]
    fn mistakes_are_told_without_the_value() {
        check("ids_key = 987654321", "`ids_key`: found an integer, expected a string");
        check("ids_key = \"SECRET", "line 1, column");
        check("numbers = [\"SECRET\"]", "found a text, expected u32");
        check("ids_kee = \"SECRET\"", "there is no setting `ids_kee`");
    }
}
