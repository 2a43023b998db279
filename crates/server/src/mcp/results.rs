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
        // Whole, however long: there is no other place for it.
        Text::Json => success.text.unwrap_or_else(|| success.output.to_string()),
    };
    let mut result = CallToolResult::success(vec![ContentBlock::text(text)]);
    // An answer in words (seed 003) is shown as it is, not as JSON about it.
    let content = success.output.get("content").and_then(|_| Content::deserialize(&success.output).ok());
    result.structured_content = Some(success.output);
    result.meta = Some(meta(&reply));
    lifted::attach(&mut result, content, success.artifacts, success.metadata);
    result
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
