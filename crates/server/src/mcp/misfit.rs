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

/// The same of what a request says about itself. Where it does not fit, it would count as not said.
pub fn find_in_meta(params: Option<&Value>) -> Option<Misfit> {
    let meta = params?.get("_meta")?;
    if !meta.is_object() {
        return Some(Misfit { path: "_meta".to_owned(), expected: "an object".to_owned() });
    }
    let within = |name: &str, find: fn(&Value) -> Option<Misfit>| {
        let Misfit { path, expected } = find(meta.get(name)?)?;
        let path = format!("_meta/{}/{path}", name.replace('/', "~1")).trim_end_matches('/').to_owned();
        Some(Misfit { path, expected })
    };
    within(META_VERSION, find_misfit::<String>)
        .or_else(|| within(META_CLIENT, find_misfit::<Implementation>))
        .or_else(|| within(META_CAPABILITIES, find_misfit::<ClientCapabilities>))
}
