//! What comes of a call, in MCP's words: results, errors, and the description of a tool.

use std::sync::Arc;

use contract::dialect::{self, Dialect};
use contract::envelope::Content;
use contract::error::{Kind, OpError};
use ops::{Reply, Tool, dialogue, rendering};
use rmcp::RoleServer;
use rmcp::model::{CallToolResult, ContentBlock, ErrorCode, ErrorData, MetaObject, ProtocolVersion, ToolAnnotations};
use rmcp::service::RequestContext;
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::lifted;

/// Above this, the text of a result is only the beginning of the answer.
const TEXT_BYTES_MAX: usize = 64 * 1024;
/// For the sentence that says so.
const SENTENCE_BYTES_MAX: usize = 1_024;
/// A longer address is not repeated in an error.
const URI_BYTES_MAX: usize = 200;

/// The tool as clients see it.
pub fn describe(tool: &Tool) -> rmcp::model::Tool {
    let mut described = rmcp::model::Tool::new(tool.entry.name, tool.entry.about, Arc::clone(&tool.terse_input_schema));
    described.output_schema = Some(Arc::clone(&tool.terse_output_schema));
    // Only what differs from the protocol's defaults: a tool that only reads destroys nothing, and one that says nothing
    // of it may write and is not idempotent.
    let annotations = ToolAnnotations::new().open_world(false);
    described.annotations =
        Some(if tool.entry.is_write { annotations.destructive(false) } else { annotations.read_only(true) });
    described
}

/// What the text of a result is.
#[derive(Clone, Copy)]
pub enum Text {
    /// The JSON of the output, for revisions without structured content.
    Json,
    /// The output in words, by those of its operation where it has any.
    Words(Option<fn(&Value) -> String>),
}

impl Text {
    pub fn of(tool: Option<&Arc<Tool>>, context: &RequestContext<RoleServer>) -> Text {
        let has_structure = ProtocolVersion::V_2025_06_18;
        if context.protocol_version().is_some_and(|version| version.as_str() < has_structure.as_str()) {
            return Text::Json;
        }
        Text::Words(tool.and_then(|tool| tool.entry.text))
    }
}

/// A tool result: the output as structured content, and a text for whoever reads that alone.
pub fn success(reply: Reply, success: ops::Success, text: Text) -> CallToolResult {
    let text = match text {
        Text::Words(of_operation) => {
            let n_bytes = success.text.as_ref().map_or_else(|| success.output.to_string().len(), String::len);
            rendering::text(&success.output, n_bytes, of_operation)
        }
        Text::Json => {
            let json = success.text.unwrap_or_else(|| success.output.to_string());
            if json.len() <= TEXT_BYTES_MAX { json } else { beginning(&success.output, json.len()) }
        }
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    // An answer in words (seed 003) is shown as it is, not as JSON about it.
    let content = success.output.get("content").and_then(|_| Content::deserialize(&success.output).ok());
    result.structured_content = Some(success.output);
    result.meta = Some(meta(&reply));
    lifted::attach(&mut result, content, success.artifacts, success.metadata);
    result
}

/// What of a long answer fits into its text, for hosts that show their model the text alone: its lists, the longest first,
/// are cut, and the first sentence says where. Nobody may take the beginning for the whole.
fn beginning(output: &Value, n_bytes: usize) -> String {
    let mut shown = output.clone();
    let mut cut = Vec::new();
    let mut n_over = n_bytes.saturating_sub(TEXT_BYTES_MAX - SENTENCE_BYTES_MAX);
    if let Value::Object(members) = &mut shown {
        let mut lists: Vec<(&String, &mut Vec<Value>, usize)> = members
            .iter_mut()
            .filter_map(|(name, value)| {
                let n_bytes = value.to_string().len();
                value.as_array_mut().map(|list| (name, list, n_bytes))
            })
            .collect();
        lists.sort_by_key(|(_, _, n_bytes)| std::cmp::Reverse(*n_bytes));
        for (name, list, _) in lists {
            let n_before = list.len();
            while n_over > 0
                && let Some(last) = list.pop()
            {
                n_over = n_over.saturating_sub(last.to_string().len() + 1);
            }
            if list.len() < n_before {
                cut.push(format!("the first {} of {n_before} `{name}`", list.len()));
            }
        }
    }
    let whole = format!("The answer has {n_bytes} bytes; all of it is in structuredContent.");
    if n_over > 0 {
        return format!("{whole} Ask for less to have it here: a smaller `limit`, or a narrower question.");
    }
    let cut = cut.join(" and ");
    format!(
        "{whole} Here is only its beginning, with {cut}; a smaller `limit` or a narrower question gives less.\n{shown}"
    )
}

pub fn meta(reply: &Reply) -> MetaObject {
    let mut meta = MetaObject::default();
    meta.insert("audit".to_owned(), serde_json::to_value(&reply.audit).unwrap_or_default());
    meta.insert("call_id".to_owned(), Value::from(reply.call_id.to_string()));
    meta
}

/// A failed call in the words of its family: a JSON-RPC error for seed 001, a result with `isError` for the others.
pub fn failure(reply: Reply, error: &OpError) -> Result<CallToolResult, ErrorData> {
    if dialogue::is_about_state(error) {
        return Err(ErrorData::invalid_params(error.message.clone(), None));
    }
    match reply.dialect {
        Dialect::Workflow => {
            let mut rpc = dialect::workflow_rpc(error);
            if let Value::Object(data) = &mut rpc.data {
                data.insert("call_id".to_owned(), Value::from(reply.call_id.to_string()));
            }
            Err(ErrorData::new(ErrorCode(rpc.code), rpc.message, Some(rpc.data)))
        }
        Dialect::Clinic | Dialect::Evidence | Dialect::Common => {
            let body = dialect::body(reply.dialect, error, Some(&reply.audit));
            let mut result = CallToolResult::error(vec![ContentBlock::text(body.to_string())]);
            result.structured_content = Some(body);
            result.meta = Some(meta(&reply));
            Ok(result)
        }
    }
}

/// A failure without its structured form, for clients of the revisions with a handshake. Those that are built on the
/// TypeScript SDK 1.x hold the structured content of a failure against the schema of a success, and show that it does not
/// fit instead of the failure. The text is the same JSON.
pub fn in_text_alone(mut failure: CallToolResult) -> CallToolResult {
    if failure.is_error == Some(true) {
        failure.structured_content = None;
    }
    failure
}

/// A failed read of a resource or prompt, as a protocol error that names its call.
pub fn failed_read(reply: &Reply, error: &OpError) -> ErrorData {
    let mut data = protocol_error(reply.dialect, error);
    let call_id = Value::from(reply.call_id.to_string());
    match &mut data.data {
        Some(Value::Object(members)) => drop(members.insert("call_id".to_owned(), call_id)),
        Some(_) => {}
        none => *none = Some(json!({ "call_id": call_id })),
    }
    data
}

/// As [`failed_read`], for what is no call by itself.
pub fn protocol_error(dialect: Dialect, error: &OpError) -> ErrorData {
    if dialect == Dialect::Workflow {
        let rpc = dialect::workflow_rpc(error);
        return ErrorData::new(ErrorCode(rpc.code), rpc.message, Some(rpc.data));
    }
    match error.kind {
        Kind::NotFound => ErrorData::resource_not_found(error.message.clone(), None),
        Kind::Invalid => ErrorData::invalid_params(error.message.clone(), None),
        Kind::Internal => ErrorData::internal_error(error.message.clone(), None),
        Kind::Conflict | Kind::Refused | Kind::Busy | Kind::InputRequired | Kind::Upstream | Kind::Timeout => {
            ErrorData::new(ErrorCode(-32000), error.message.clone(), None)
        }
    }
}

/// Names the address, as clients expect, if it is not overlong.
pub fn no_resource(uri: &str) -> ErrorData {
    let data = (uri.len() <= URI_BYTES_MAX).then(|| json!({ "uri": uri }));
    ErrorData::resource_not_found("no resource at this address", data)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_answer_the_beginning_is_shown_and_called_so() {
        let paths: Vec<Value> = (0..100).map(|number| json!({ "number": number, "text": "x".repeat(1_000) })).collect();
        let output = json!({ "paths": paths, "few": [1, 2], "version": 7 });
        let text = beginning(&output, output.to_string().len());
        assert!(text.len() <= TEXT_BYTES_MAX, "{}", text.len());
        let (sentence, shown) = text.split_once('\n').unwrap();
        let shown: Value = serde_json::from_str(shown).unwrap();
        let n_shown = shown["paths"].as_array().unwrap().len();
        assert!(
            (50..100).contains(&n_shown) && sentence.contains(&format!("the first {n_shown} of 100 `paths`")),
            "{sentence}"
        );
        assert_eq!((&shown["few"], &shown["version"]), (&json!([1, 2]), &json!(7)));

        let output = json!({ "lines": "x".repeat(100_000) });
        let text = beginning(&output, output.to_string().len());
        assert!(text.contains("all of it is in structuredContent") && text.len() < 300, "{text}");
    }
}
