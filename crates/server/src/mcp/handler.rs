//! The MCP methods, over the operation table and the door.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract::actor::Actor;
use contract::error::OpError;
use ops::authorise;
use ops::{Call, Family, OFFERS, Offers, Progress, Reply, Tool, Via};
use rmcp::model::*;
use rmcp::service::{RequestContext, SubscriptionContext};
use rmcp::{RoleServer, ServerHandler};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::offered::page;
use super::results::{Text, describe, failure, in_text_alone, success};
use super::tasks::{self, Path};
use super::{asking, correlation, idempotency};
use crate::owner::House;

const PROGRESS_QUEUE_MAX: usize = 64;
/// More of an unknown method's name is not repeated.
const METHOD_CHARS_MAX: usize = 80;
/// Resources that a client of the older revisions may follow on one connection.
const FOLLOWED_MAX: usize = 100;

/// One caller's view of one family's tools. Cheap to clone: HTTP makes one per request.
#[derive(Clone)]
pub struct Handler {
    pub house: Arc<House>,
    pub actor: Arc<Actor>,
    /// `None` serves every family.
    pub family: Option<Family>,
    pub offers: &'static Offers,
    /// When a subscription ends by itself; `None` for one that lasts as long as its connection.
    pub listens_for: Option<Duration>,
    /// What a client of the older revisions follows on its connection, by address.
    followed: Arc<Mutex<HashMap<String, CancellationToken>>>,
}

impl Handler {
    pub fn new(house: Arc<House>, actor: Arc<Actor>, family: Option<Family>) -> Handler {
        Handler { house, actor, family, offers: &OFFERS, listens_for: None, followed: Arc::default() }
    }

    /// Whether this endpoint serves what an operation gives, as a tool or as anything else.
    pub(super) fn serves(&self, operation: &str) -> bool {
        self.family.is_none() || self.house.table().find_in(operation, self.family).is_some()
    }

    pub(super) fn find_resource(&self, uri: &str) -> Option<(&'static ops::resources::Resource, Value)> {
        self.offers.find_resource(uri).filter(|(resource, _)| self.serves(resource.operation))
    }

    pub(super) fn find_prompt(&self, name: &str) -> Option<ops::prompts::Prompt> {
        self.offers.find_prompt(self.house.services(), name).filter(|prompt| self.serves(prompt.operation))
    }

    fn find_tool(&self, name: &str) -> Option<&Arc<Tool>> {
        self.house.table().find_in(name, self.family)
    }

    /// Calls a tool, and asks the client in between where it can be asked on the open connection.
    async fn converse(&self, mut call: Call, context: &RequestContext<RoleServer>) -> Result<Reply, ErrorData> {
        if !asking::has_handshake(context) {
            return self.call(call, context).await;
        }
        for _ in 0..asking::ROUNDS_MAX {
            let reply = self.call(call.clone(), context).await?;
            let asked = match &reply.result {
                Err(error) => asking::ask(error, &call.answers, context).await,
                Ok(_) => None,
            };
            match asked {
                None => return Ok(reply),
                Some(answers) => call.answers = answers?,
            }
        }
        Err(ErrorData::new(ErrorCode(-32000), "the tool asked too often", None))
    }

    async fn call(&self, call: Call, context: &RequestContext<RoleServer>) -> Result<Reply, ErrorData> {
        tokio::select! {
            // The call first: one that is cancelled before it began is an event too.
            biased;
            reply = self.house.call(&self.actor, call) => Ok(reply),
            () = context.ct.cancelled() => Err(ErrorData::internal_error("the request was cancelled", None)),
        }
    }
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .enable_resources_subscribe()
            .enable_prompts()
            .enable_completions()
            .enable_tasks()
            .build();
        let mut info = ServerConfig::new(capabilities);
        info.server_info = Implementation::new("materia", env!("CARGO_PKG_VERSION"));
        info.instructions = Some(
            "Tools for medical evidence work. Every call is validated and recorded; results carry their audit block in \
             `_meta.audit`. Ids come from get_next_available_id or reserve_id_range and are never reused."
                .to_owned(),
        );
        info
    }

    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _context: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method: String = request.method.chars().take(METHOD_CHARS_MAX).collect();
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, format!("Method not found: {method}"), None))
    }

    /// No log messages go to clients, and the capability is not offered.
    #[expect(deprecated, reason = "the older revision has the method")]
    async fn set_level(
        &self,
        _request: SetLevelRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Err(ErrorData::new(ErrorCode::METHOD_NOT_FOUND, "Method not found: logging/setLevel", None))
    }

    fn get_tool(&self, name: &str) -> Option<rmcp::model::Tool> {
        self.find_tool(name).map(|tool| describe(tool))
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        // What the caller may not call is not offered.
        let listed = self.house.table().listed(self.family).filter(|tool| authorise::check(tool, &self.actor).is_ok());
        let tools = listed.map(|tool| describe(tool)).collect();
        let (tools, next_cursor) = page(tools, request)?;
        let mut result = ListToolsResult::with_all_items(tools);
        result.next_cursor = next_cursor;
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let name = request.name.to_string();
        let tool = self.find_tool(&name).filter(|tool| tool.entry.is_tool);
        let is_known = tool.is_some();
        let text = Text::of(tool, &context);
        let input = request.arguments.unwrap_or_default();
        let answers = asking::answers(request.input_responses, request.request_state, &context);
        let path = tool.map_or(Ok(Path::Call), |tool| tasks::path(tool, &context))?;
        let mut call = match path {
            Path::Call => {
                let operation = if is_known { name.clone() } else { String::new() };
                Call { operation, input: Value::Object(input), answers, ..Call::default() }
            }
            Path::Task => tasks::start(&name, input, answers),
        };
        call.via = Via::Mcp;
        let answers = call.answers.clone();
        call.idempotency_key = idempotency::key(&context.meta)?;
        correlation::take(&context, &mut call.correlation);
        let reporter = context.meta.get_progress_token().map(|token| report_progress(&mut call, &context, token));
        let reply = self.converse(call, &context).await;
        if let Some(reporter) = reporter {
            // Reports leave before the answer; the sender is gone, so this ends at once.
            drop(reporter.await);
        }
        if !is_known {
            let shown: String = name.chars().take(80).collect();
            let replaced = ops::operations::replacement(&name).map(|it| format!("; call {it}"));
            let listed = || self.house.table().listed(self.family);
            let meant = || ops::Table::similar(&name, listed()).map(|it| format!("; did you mean `{it}`?"));
            let instead = replaced.or_else(meant).unwrap_or_default();
            return Err(ErrorData::invalid_params(format!("Unknown tool: {shown}{instead}"), None));
        }
        let mut reply = reply?;
        match std::mem::replace(&mut reply.result, Err(OpError::timeout(String::new()))) {
            Ok(started) if matches!(path, Path::Task) => tasks::created(&started.output).map(CallToolResponse::Task),
            Ok(output) => Ok(CallToolResponse::Complete(success(reply, output, text))),
            Err(error) => match asking::input_required(&error, &answers) {
                Some(asked) => asked.map(CallToolResponse::InputRequired),
                None => {
                    let failed = failure(reply, &error)?;
                    let shown = if asking::has_handshake(&context) { in_text_alone(failed) } else { failed };
                    Ok(CallToolResponse::Complete(shown))
                }
            },
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        self.resources(request, &context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        self.templates(request)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.resource(request, &context).await
    }

    async fn list_prompts(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        self.prompts(request)
    }

    async fn get_prompt(
        &self,
        request: GetPromptRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        self.prompt(request, &context).await
    }

    async fn complete(
        &self,
        request: CompleteRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        self.completions(&request)
    }

    fn accepted_subscription_filter(&self, requested: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(self.grantable(requested))
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        self.serve_listener(context).await
    }

    async fn subscribe(
        &self,
        request: SubscribeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let following = self.follow(std::slice::from_ref(&request.uri)).await?;
        let stop = CancellationToken::new();
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if followed.len() >= FOLLOWED_MAX && !followed.contains_key(&request.uri) {
            return Err(ErrorData::invalid_request("too many subscriptions on one connection", None));
        }
        if let Some(earlier) = followed.insert(request.uri, stop.clone()) {
            earlier.cancel();
        }
        tokio::spawn(Handler::tell(following, context.peer, stop));
        Ok(())
    }

    async fn unsubscribe(
        &self,
        request: UnsubscribeRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        let mut followed = self.followed.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stop) = followed.remove(&request.uri) {
            stop.cancel();
        }
        Ok(())
    }

    async fn get_task(
        &self,
        request: GetTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetTaskResult, ErrorData> {
        self.read_task(&request.task_id).await
    }

    async fn update_task(
        &self,
        request: UpdateTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.answer_task(&request.task_id, request.input_responses).await
    }

    async fn cancel_task(
        &self,
        request: CancelTaskParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.stop_task(&request.task_id).await
    }
}

/// Forwards reports of progress to the client until the call ends.
fn report_progress(
    call: &mut Call,
    context: &RequestContext<RoleServer>,
    token: ProgressToken,
) -> tokio::task::JoinHandle<()> {
    let (sender, mut reports) = mpsc::channel(PROGRESS_QUEUE_MAX);
    call.progress = Progress::to(sender);
    let peer = context.peer.clone();
    tokio::spawn(async move {
        while let Some(report) = reports.recv().await {
            let mut param = ProgressNotificationParam::new(token.clone(), report.done);
            param.total = report.total;
            param.message = Some(report.message);
            if peer.notify_progress(param).await.is_err() {
                return;
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ops::Table;
    use ops::operations::OPERATIONS;

    #[test]
    fn the_tool_list_is_the_committed_one() {
        let table = Table::compile(OPERATIONS).unwrap();
        let tools: Vec<_> = table.listed(None).map(|tool| describe(tool)).collect();
        let text = serde_json::to_string_pretty(&tools).unwrap();
        testkit::check_golden("contracts/mcp_tools.json", &format!("{text}\n"));
    }
}
