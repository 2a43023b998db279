//! Asks the person behind an MCP client whether they mean it, where the house wants that. On a page or a command line the
//! person acts themselves.

use contract::error::OpError;
use contract::question::{FormAnswer, Question, QuestionKind, Questions};
use serde_json::{Map, Value, json};
use workflow::artifacts::ArtifactRow;

use crate::context::Context;
use crate::door::Via;

/// Ends the call with a question, or with a refusal where the answer was no or nobody can be asked. Returns whether somebody
/// was asked: their yes is one to the hash of the text.
pub fn ask(ctx: &Context<'_>, row: &ArtifactRow) -> Result<bool, OpError> {
    if !ctx.may_ask(QuestionKind::Form) {
        return match ctx.via() {
            Via::Mcp => Err(OpError::refused(
                "a person must confirm this approval, and this client cannot ask one; use a client with form elicitation, \
                 the page of the document, or `materia artifact approve`",
            )),
            Via::Direct | Via::Approval => Ok(false),
        };
    }
    // The hash is part of the key: a yes counts for the text that it was given for, and for no later one.
    let key = format!("approve_{}", row.content_sha256.chars().take(16).collect::<String>());
    let message = format!(
        "Approve {} version {} (SHA-256 {})? Its placeholders get their ids, and a task is queued for each document that \
         comes next.",
        row.key, row.version, row.content_sha256
    );
    let answers = ctx.ask(Questions::from([(key.clone(), Question::Form { message, schema: schema() })]))?;
    let answer = answers.get(&key).and_then(|answer| serde_json::from_value(answer.clone()).ok());
    match answer {
        Some(FormAnswer::Accept { content }) if content.get("approve") == Some(&Value::Bool(true)) => Ok(true),
        Some(FormAnswer::Accept { .. } | FormAnswer::Decline {} | FormAnswer::Cancel {}) | None => {
            Err(OpError::refused("the person who was asked did not approve"))
        }
    }
}

fn schema() -> Map<String, Value> {
    let approve = json!({ "type": "boolean", "title": "I have read this version and approve it" });
    let schema = json!({ "type": "object", "properties": { "approve": approve }, "required": ["approve"] });
    match schema {
        Value::Object(schema) => schema,
        _ => Map::new(),
    }
}
