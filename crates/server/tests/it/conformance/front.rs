//! The product's handler with the suite's content types, log messages and lists that change.

#![expect(deprecated, reason = "the suite still tests log messages and the older subscriptions")]

use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Value, json};
use server::mcp::handler::Handler;
use tokio::sync::broadcast;

/// Which list changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Changed {
    Tools,
    Prompts,
}

#[derive(Clone)]
pub struct Front {
    pub handler: Handler,
    pub changes: broadcast::Sender<Changed>,
}

impl Front {
    /// Log messages leave only for those who want them: everybody before 2026-07-28, then who names a level.
    async fn log(&self, context: &RequestContext<RoleServer>) {
        let is_stateless = context.meta.protocol_version().is_some();
        if is_stateless && context.meta.get("io.modelcontextprotocol/logLevel").is_none() {
            return;
        }
        for message in ["started", "processing", "completed"] {
            let data = json!({ "level": "info", "data": message });
            let params: LoggingMessageNotificationParam = serde_json::from_value(data).expect("a log message");
            context.peer.notify_logging_message(params).await.expect("the client listens");
        }
    }
}

fn content(result: CallToolResult) -> CallToolResult {
    let lifted = result.structured_content.as_ref().and_then(|output| output.get("content")).cloned();
    let Some(lifted) = lifted else { return result };
    let mut bare = CallToolResult::success(serde_json::from_value(lifted).expect("content blocks"));
    bare.meta = result.meta;
    bare
}

/// The structured output that the product sent as text.
fn parse(text: &str) -> Value {
    serde_json::from_str(text).expect("the answer of a fixture")
}

impl ServerHandler for Front {
    fn get_info(&self) -> ServerConfig {
        let mut info = self.handler.get_info();
        let lists = json!({ "listChanged": true });
        let capabilities = &mut info.capabilities;
        capabilities.tools = serde_json::from_value(lists.clone()).expect("a capability");
        capabilities.prompts = serde_json::from_value(lists).expect("a capability");
        capabilities.logging = Some(JsonObject::new());
        info
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.handler.get_tool(name)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let mut listed = self.handler.list_tools(request, context).await?;
        for tool in &mut listed.tools {
            // The content blocks stand alone, without the structured form that the product sends beside them.
            tool.output_schema = None;
        }
        Ok(listed)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        match request.name.as_ref() {
            "test_tool_with_logging" | "test_logging_tool" => self.log(&context).await,
            // Nobody may be listening.
            "test_trigger_tool_change" => drop(self.changes.send(Changed::Tools)),
            "test_trigger_prompt_change" => drop(self.changes.send(Changed::Prompts)),
            _ => {}
        }
        match self.handler.call_tool(request, context).await? {
            CallToolResponse::Complete(result) => Ok(CallToolResponse::Complete(content(result))),
            other => Ok(other),
        }
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.handler.list_prompts(request, context).await
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let response = self.handler.get_prompt(request, context).await?;
        let GetPromptResponse::Complete(mut result) = response else { return Ok(response) };
        let told = serde_json::to_value(&result.messages).expect("messages");
        let messages = parse(told[0]["content"]["text"].as_str().expect("the product sends one text"));
        result.messages = serde_json::from_value(messages).expect("messages");
        Ok(GetPromptResponse::Complete(result))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.handler.list_resources(request, context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.handler.list_resource_templates(request, context).await
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let response = self.handler.read_resource(request, context).await?;
        let ReadResourceResponse::Complete(mut result) = response else { return Ok(response) };
        let told = serde_json::to_value(&result.contents).expect("contents");
        let output = parse(told[0]["text"].as_str().expect("the product sends one text"));
        result.contents = serde_json::from_value(output["contents"].clone()).expect("contents");
        Ok(ReadResourceResponse::Complete(result))
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.handler.complete(request, context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler.subscribe(request, context).await
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler.unsubscribe(request, context).await
    }

    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        let mut accepted = self.handler.accepted_subscription_filter(requested)?;
        accepted.tools_list_changed = requested.tools_list_changed;
        accepted.prompts_list_changed = requested.prompts_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let mut changes = self.changes.subscribe();
        loop {
            let changed = tokio::select! {
                changed = changes.recv() => changed,
                () = context.cancelled() => return Ok(()),
            };
            let sink = context.sink();
            // The sink refuses what was not asked for.
            match changed {
                Ok(Changed::Tools) => drop(sink.notify_tool_list_changed().await),
                Ok(Changed::Prompts) => drop(sink.notify_prompt_list_changed().await),
                Err(_) => return Ok(()),
            }
        }
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.handler.get_task(request, context).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler.update_task(request, context).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.handler.cancel_task(request, context).await
    }
}
