//! How the log is written: one line of JSON for each event, or lines for people.

use std::io::IsTerminal as _;

use clap::ValueEnum;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema, ValueEnum)]
#[serde(rename_all = "snake_case")]
pub enum LogFormat {
    /// Text where standard error is a terminal, else JSON
    Auto,
    /// Lines for people
    Text,
    /// One JSON object a line
    Json,
}

impl LogFormat {
    /// Whether a person reads it.
    pub fn is_text(self) -> bool {
        match self {
            LogFormat::Auto => std::io::stderr().is_terminal(),
            LogFormat::Text => true,
            LogFormat::Json => false,
        }
    }
}
