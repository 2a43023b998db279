//! What is wrong with the parameters of a method, told without any value of theirs: it may be a secret in the wrong place.

use ops::{Misfit, find_misfit};
use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, ClientCapabilities, CompleteRequestParams, GetPromptRequestParams,
    GetTaskParams, Implementation, InitializeRequestParams, PaginatedRequestParams, ReadResourceRequestParams,
    SubscribeRequestParams, SubscriptionsListenRequestParams, UnsubscribeRequestParams, UpdateTaskParams,
};
use serde_json::{Value, json};

use super::headers::META_VERSION;

const META_CLIENT: &str = "io.modelcontextprotocol/clientInfo";
const META_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
const META_LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";

/// Where the parameters do not fit the method and what is expected there, as far as that can be told.
pub fn find(method: &str, params: Option<&Value>) -> Option<Misfit> {
    let none = json!({});
    let params = params.unwrap_or(&none);
    if let Some(misfit) = find_in_meta(Some(params)) {
        return Some(misfit);
    }
    match method {
        "initialize" => find_misfit::<InitializeRequestParams>(params),
        "tools/call" => find_misfit::<CallToolRequestParams>(params),
        "resources/read" => find_misfit::<ReadResourceRequestParams>(params),
        "resources/subscribe" => find_misfit::<SubscribeRequestParams>(params),
        "resources/unsubscribe" => find_misfit::<UnsubscribeRequestParams>(params),
        "prompts/get" => find_misfit::<GetPromptRequestParams>(params),
        "completion/complete" => find_misfit::<CompleteRequestParams>(params),
        "subscriptions/listen" => find_misfit::<SubscriptionsListenRequestParams>(params),
        "tasks/get" => find_misfit::<GetTaskParams>(params),
        "tasks/update" => find_misfit::<UpdateTaskParams>(params),
        "tasks/cancel" => find_misfit::<CancelTaskParams>(params),
        "tools/list" | "resources/list" | "resources/templates/list" | "prompts/list" => {
            find_misfit::<PaginatedRequestParams>(params)
        }
        _ => None,
    }
}

const LEVELS: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

fn is_level(value: &Value) -> bool {
    value.as_str().is_some_and(|level| LEVELS.contains(&level))
}

/// What a request may say about itself: the name, what it is as a whole, and what of it does not fit.
type Said = (&'static str, &'static str, fn(&Value) -> bool, fn(&Value) -> Option<Misfit>);

const SAID: [Said; 5] = [
    (META_VERSION, "a string", Value::is_string, |_| None),
    (META_CLIENT, "an object", Value::is_object, find_misfit::<Implementation>),
    (META_CAPABILITIES, "an object", Value::is_object, find_misfit::<ClientCapabilities>),
    (META_LOG_LEVEL, "the name of a level such as info", is_level, |_| None),
    (
        "progressToken",
        "a string or a whole number",
        |token| token.is_string() || token.is_i64() || token.is_u64(),
        |_| None,
    ),
];

/// The same of what a request says about itself. Where it does not fit, it would count as not said.
pub fn find_in_meta(params: Option<&Value>) -> Option<Misfit> {
    let meta = params?.get("_meta")?;
    if !meta.is_object() {
        return Some(Misfit { path: "_meta".to_owned(), expected: "an object".to_owned() });
    }
    SAID.into_iter().find_map(|(name, whole, is_whole, find)| {
        let said = meta.get(name)?;
        let misfit =
            if is_whole(said) { find(said)? } else { Misfit { path: String::new(), expected: whole.to_owned() } };
        let path = format!("_meta/{}/{}", name.replace('/', "~1"), misfit.path).trim_end_matches('/').to_owned();
        Some(Misfit { path, ..misfit })
    })
}
