//! What is wrong with the parameters of a method, told without any value of theirs: it may be a secret in the wrong place.

use ops::{Misfit, find_misfit};
use rmcp::model::{
    CallToolRequestParams, CancelTaskParams, CompleteRequestParams, GetPromptRequestParams, GetTaskParams,
    InitializeRequestParams, PaginatedRequestParams, ReadResourceRequestParams, RequestMetaObject,
    SubscribeRequestParams, SubscriptionsListenRequestParams, UnsubscribeRequestParams, UpdateTaskParams,
};
use serde_json::{Value, json};

use super::headers::META_VERSION;

/// Where the parameters do not fit the method and what is expected there, as far as that can be told.
pub fn find(method: &str, params: Option<&Value>) -> Option<Misfit> {
    let none = json!({});
    let params = params.unwrap_or(&none);
    let meta = params.get("_meta").and_then(find_misfit::<RequestMetaObject>);
    if let Some(Misfit { path, expected }) = meta {
        let path = if path.is_empty() { "_meta".to_owned() } else { format!("_meta/{path}") };
        return Some(Misfit { path, expected });
    }
    if has_odd_version(Some(params)) {
        let path = format!("_meta/{}", META_VERSION.replace('/', "~1"));
        return Some(Misfit { path, expected: "a string".to_owned() });
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

/// Whether the parameters name their revision, and not by a text. It would count as none named.
pub fn has_odd_version(params: Option<&Value>) -> bool {
    let version = params.and_then(|params| params.get("_meta")?.get(META_VERSION));
    version.is_some_and(|version| !version.is_string())
}
