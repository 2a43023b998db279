//! The one error of every operation: a kind sorted by what the caller can do, a message and details.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// More of a name that came from outside is not repeated.
const NAME_CHARS_MAX: usize = 80;

/// As much of a name or a value that came from outside as an error repeats.
pub fn cut(text: &str) -> String {
    text.chars().take(NAME_CHARS_MAX).collect()
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The input is wrong: mend it.
    Invalid,
    /// What was named is not there, or not for this caller.
    NotFound,
    /// The state does not allow it: look again.
    Conflict,
    /// This caller may not.
    Refused,
    /// Not now: wait and try again.
    Busy,
    /// The caller must answer questions first; `details` has them.
    InputRequired,
    /// Something outside failed.
    Upstream,
    /// It took too long.
    Timeout,
    /// Our fault; the log has more under the call's id.
    Internal,
}

impl Kind {
    /// The stable code word of the common dialect (and of seed 002).
    pub fn code(self) -> &'static str {
        match self {
            Kind::Invalid => "INVALID_ARG",
            Kind::NotFound => "NOT_FOUND",
            Kind::Conflict => "CONFLICT",
            Kind::Refused => "DENIED",
            Kind::Busy => "BUSY",
            Kind::InputRequired => "INPUT_REQUIRED",
            Kind::Upstream => "UPSTREAM",
            Kind::Timeout => "TIMEOUT",
            Kind::Internal => "INTERNAL",
        }
    }
}

/// What helps the caller to mend the call. `received` never holds patient text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Details {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub received: Option<Value>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    #[serde(flatten)]
    pub more: Map<String, Value>,
}

impl Details {
    pub fn is_empty(&self) -> bool {
        *self == Details::default()
    }
}

/// How often this caller came decides between "too many requests" and "server busy".
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BusyCause {
    #[default]
    Server,
    RateLimit,
}

#[derive(Debug, Serialize, Deserialize)]
pub struct OpError {
    pub kind: Kind,
    pub message: String,
    #[serde(default)]
    pub details: Box<Details>,
    #[serde(default)]
    pub busy_cause: BusyCause,
    /// The message is a seed's own and leaves without a prefix.
    #[serde(default)]
    pub is_verbatim: bool,
    /// Where in the message begins what is derived from the caller's words; a log ends there.
    #[serde(skip)]
    advice_at: Option<usize>,
    /// The chain below, for the log only.
    #[serde(skip)]
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl fmt::Display for OpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for OpError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_ref().map(|source| &**source as &(dyn std::error::Error + 'static))
    }
}

impl OpError {
    pub fn new(kind: Kind, message: impl Into<String>) -> OpError {
        OpError {
            kind,
            message: message.into(),
            details: Box::default(),
            busy_cause: BusyCause::Server,
            is_verbatim: false,
            advice_at: None,
            source: None,
        }
    }

    /// Adds advice that is derived from what the caller wrote, such as names much like it: it is for them, not for a log.
    pub fn advising(mut self, advice: &str) -> OpError {
        self.advice_at.get_or_insert(self.message.len());
        self.message.push_str(advice);
        self
    }

    /// The message without such advice.
    pub fn without_advice(&self) -> &str {
        self.advice_at.and_then(|at| self.message.get(..at)).unwrap_or(&self.message)
    }

    /// A wrong field: `field` is its path, `expected` what it should have been.
    pub fn invalid(field: impl Into<String>, expected: impl Into<String>) -> OpError {
        let (field, expected) = (field.into(), expected.into());
        let message = format!("`{field}`: expected {expected}");
        let mut error = OpError::new(Kind::Invalid, message);
        error.details.field = Some(field);
        error.details.expected = Some(expected);
        error
    }

    pub fn not_found(message: impl Into<String>) -> OpError {
        OpError::new(Kind::NotFound, message)
    }

    pub fn conflict(message: impl Into<String>) -> OpError {
        OpError::new(Kind::Conflict, message)
    }

    pub fn refused(message: impl Into<String>) -> OpError {
        OpError::new(Kind::Refused, message)
    }

    pub fn timeout(message: impl Into<String>) -> OpError {
        OpError::new(Kind::Timeout, message)
    }

    pub fn busy(message: impl Into<String>, retry_after_ms: u64) -> OpError {
        let mut error = OpError::new(Kind::Busy, message);
        error.details.retry_after_ms = Some(retry_after_ms);
        error
    }

    pub fn rate_limited(message: impl Into<String>, retry_after_ms: u64) -> OpError {
        let mut error = OpError::busy(message, retry_after_ms);
        error.busy_cause = BusyCause::RateLimit;
        error
    }

    pub fn internal(source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> OpError {
        let mut error = OpError::new(Kind::Internal, "something went wrong on our side");
        error.source = Some(source.into());
        error
    }

    pub fn with_source(mut self, source: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> OpError {
        self.source = Some(source.into());
        self
    }

    /// The message is a seed's own and leaves without a prefix.
    pub fn verbatim(mut self) -> OpError {
        self.is_verbatim = true;
        self
    }

    /// Adds what was received. Only for values that are never patient text.
    pub fn received(mut self, value: impl Into<Value>) -> OpError {
        self.details.received = Some(value.into());
        self
    }

    pub fn code(&self) -> &'static str {
        self.kind.code()
    }
}
