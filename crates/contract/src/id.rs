//! Ids are types: each parses once, at the boundary, and is trusted after that.

use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

/// Why a text is not the id it should be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected {expected}")]
pub struct IdError {
    pub expected: &'static str,
}

fn is_word(text: &str, n_max: usize, is_first: fn(char) -> bool) -> bool {
    !text.is_empty()
        && text.len() <= n_max
        && text.chars().next().is_some_and(is_first)
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
}

macro_rules! text_id {
    ($(#[$doc:meta])* $name:ident, $n_max:literal, $first:expr, $pattern:literal, $expected:literal) => {
        text_id!($(#[$doc])* $name, $n_max, $first, |_: &str| true, $pattern, $expected);
    };
    (
        $(#[$doc:meta])* $name:ident, $n_max:literal, $first:expr, $whole:expr, $pattern:literal, $expected:literal
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(String);

        impl $name {
            pub const PATTERN: &'static str = $pattern;

            pub fn parse(text: &str) -> Result<Self, IdError> {
                let is_whole: fn(&str) -> bool = $whole;
                if is_word(text, $n_max, $first) && is_whole(text) {
                    Ok(Self(text.to_owned()))
                } else {
                    Err(IdError { expected: $expected })
                }
            }

            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl TryFrom<String> for $name {
            type Error = IdError;

            fn try_from(text: String) -> Result<Self, IdError> {
                Self::parse(&text)
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> String {
                id.0
            }
        }

        impl JsonSchema for $name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn inline_schema() -> bool {
                true
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": Self::PATTERN, "maxLength": $n_max })
            }
        }
    };
}

text_id!(
    /// A tenant. Part of every key in the store.
    OrganisationId, 64, |c| c.is_ascii_alphanumeric(), "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
    "1 to 64 letters, digits, `.`, `_` or `-`, the first a letter or digit"
);
text_id!(
    /// Who acts: a person, an agent or a service.
    ActorId, 128, |c| c.is_ascii_alphanumeric(), "^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$",
    "1 to 128 letters, digits, `.`, `_` or `-`, the first a letter or digit"
);
text_id!(
    /// The project a document, task or counter belongs to.
    ///
    /// It is part of addresses, where `..` leads out.
    ProjectId, 100, |c| c.is_ascii_alphanumeric(), |text: &str| !text.contains(".."), "^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$",
    "1 to 100 letters, digits, `.`, `_` or `-`, the first a letter or digit, and no `..`"
);
text_id!(
    /// The caller's own word for a unit of work; it ties calls, logs and events together.
    CorrelationId, 64, |_| true, "^[A-Za-z0-9._-]{1,64}$",
    "1 to 64 letters, digits, `.`, `_` or `-`"
);
text_id!(
    /// Makes a retried write answer as the first one did.
    IdempotencyKey, 64, |_| true, "^[A-Za-z0-9._-]{1,64}$",
    "1 to 64 letters, digits, `.`, `_` or `-`"
);
text_id!(
    /// A document type by its name (`backlog_story`) or its id prefix (`US`).
    ArtifactTypeName, 40, |c| c.is_ascii_alphabetic(), "^[A-Za-z][A-Za-z0-9._-]{0,39}$",
    "a document type such as `backlog_story` or its prefix such as `US`"
);
text_id!(
    /// A task of the tracker, such as `TASK-012`.
    TaskId, 20, |c| c.is_ascii_alphanumeric(), "^[A-Za-z0-9][A-Za-z0-9._-]{0,19}$",
    "the id of a task such as `TASK-012`"
);
text_id!(
    /// An API key by its public part.
    KeyId, 32, |c| c.is_ascii_alphanumeric(), "^[A-Za-z0-9][A-Za-z0-9._-]{0,31}$",
    "the id of a key, as `list_keys` shows it"
);
text_id!(
    /// A job. Nobody can guess one.
    JobId, 64, |c| c.is_ascii_alphanumeric(), "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
    "the id of a job, as `start_job` gave it"
);
text_id!(
    /// The logical id of a FHIR resource.
    FhirId, 64, |c| c.is_ascii_alphanumeric(), "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$",
    "1 to 64 letters, digits, `.`, `_` or `-`, the first a letter or digit"
);
text_id!(
    /// The name of an operation.
    OperationName, 40, |c| c.is_ascii_lowercase(), "^[a-z][A-Za-z0-9._-]{0,39}$",
    "the name of an operation such as `get_next_available_id`"
);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_refuses_what_could_be_read_as_something_else() {
        for text in ["", "../etc", "a..b", "a b", "a\nb", "-x", "é", "a/b", "' OR 1=1--", &"x".repeat(101)] {
            assert!(ProjectId::parse(text).is_err(), "{text:?}");
        }
        assert_eq!(ProjectId::parse("ai-agent-mcp-server").unwrap().as_str(), "ai-agent-mcp-server");
        assert!(CorrelationId::parse("-leading.dash_is-fine").is_ok());
    }

    #[test]
    fn json_refuses_a_bad_id_with_the_same_sentence() {
        let error = serde_json::from_str::<ProjectId>(r#""a b""#).unwrap_err();
        assert!(error.to_string().starts_with("expected 1 to 100 letters"), "{error}");
    }
}
