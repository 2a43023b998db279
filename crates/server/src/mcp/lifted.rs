//! `artifacts` and `metadata` of seed 003 stand at the top level of a tool result, which the library's own result type
//! has no room for. The handler puts them under a private key of `_meta`; this wrapper lifts them out.

use std::borrow::Cow;

use contract::envelope::{Artifact, Content, ResponseMetadata};
use rmcp::model::{
    CallToolResult, ClientNotification, ClientRequest, CustomResult, ErrorData, ProtocolVersion, ServerConfig,
    ServerResult,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{RoleServer, ServerHandler, Service};
use serde_json::{Map, Value, json};

/// Never leaves: [`Lifted`] takes it out again.
const KEY: &str = "materia/lifted";

/// `content` takes the place of the result's own, whose items have no room for `forModel`.
pub fn attach(
    result: &mut CallToolResult,
    content: Option<Content>,
    artifacts: Vec<Artifact>,
    metadata: ResponseMetadata,
) {
    if content.is_none() && artifacts.is_empty() && metadata.is_empty() {
        return;
    }
    let meta = result.meta.get_or_insert_default();
    let content = content.map(|content| content.content).unwrap_or_default();
    meta.insert(KEY.to_owned(), json!({ "content": content, "artifacts": artifacts, "metadata": metadata }));
}

/// The result as it leaves, where it stands inside another one.
pub fn members(result: CallToolResult) -> Map<String, Value> {
    match serde_json::to_value(lift(result)) {
        Ok(Value::Object(members)) => members,
        Ok(_) | Err(_) => Map::new(),
    }
}

fn lift(mut result: CallToolResult) -> ServerResult {
    let Some(Value::Object(lifted)) = result.meta.as_mut().and_then(|meta| meta.remove(KEY)) else {
        return ServerResult::CallToolResult(result);
    };
    match serde_json::to_value(&result) {
        Ok(Value::Object(mut members)) => {
            members.extend(lifted.into_iter().filter(|(_, value)| !is_empty(value)));
            ServerResult::CustomResult(CustomResult(Value::Object(members)))
        }
        Ok(_) | Err(_) => ServerResult::CallToolResult(result),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.is_empty(),
        Value::Object(members) => members.is_empty(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

pub struct Lifted<H>(pub H);

impl<H: ServerHandler> Service<RoleServer> for Lifted<H> {
    async fn handle_request(
        &self,
        request: ClientRequest,
        context: RequestContext<RoleServer>,
    ) -> Result<ServerResult, ErrorData> {
        match Service::handle_request(&self.0, request, context).await? {
            ServerResult::CallToolResult(result) => Ok(lift(result)),
            other => Ok(other),
        }
    }

    async fn handle_notification(
        &self,
        notification: ClientNotification,
        context: NotificationContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Service::handle_notification(&self.0, notification, context).await
    }

    fn get_info(&self) -> ServerConfig {
        ServerHandler::get_info(&self.0)
    }

    fn supported_protocol_versions(&self) -> Cow<'static, [ProtocolVersion]> {
        ServerHandler::supported_protocol_versions(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rmcp::model::ContentBlock;

    #[test]
    fn artifacts_and_metadata_stand_beside_the_content() {
        let mut result = CallToolResult::success(vec![ContentBlock::text("x")]);
        let artifact = Artifact {
            id: None,
            kind: "text/markdown".to_owned(),
            title: "t".to_owned(),
            content: "c".to_owned(),
            language: None,
        };
        let metadata = ResponseMetadata::from_iter([("nodeCount".to_owned(), json!(3))]);
        attach(&mut result, None, vec![artifact], metadata);
        let lifted = serde_json::to_value(lift(result)).unwrap();
        assert_eq!(lifted["artifacts"], json!([{"type": "text/markdown", "title": "t", "content": "c"}]));
        assert_eq!(lifted["metadata"], json!({"nodeCount": 3}));
        assert!(!lifted.to_string().contains(KEY));
    }

    #[test]
    fn an_answer_in_words_is_the_content_with_its_audience() {
        let mut result = CallToolResult::success(vec![ContentBlock::text("{}")]);
        let content = Content::text("# x".to_owned(), contract::envelope::Audience::Model);
        attach(&mut result, Some(content), Vec::new(), ResponseMetadata::new());
        let lifted = serde_json::to_value(lift(result)).unwrap();
        assert_eq!(lifted["content"], json!([{"type": "text", "text": "# x", "forModel": true}]));
        assert!(lifted.get("artifacts").is_none());
    }

    #[test]
    fn a_result_without_them_stays_as_it_is() {
        let mut result = CallToolResult::success(vec![]);
        attach(&mut result, None, Vec::new(), ResponseMetadata::new());
        assert!(matches!(lift(result), ServerResult::CallToolResult(_)));
    }
}
