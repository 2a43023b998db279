//! The ids that tie a call to what the client sees: that of its message, and those of seed 004 where `_meta` has them.

use contract::event::Correlation;
use contract::id::CorrelationId;
use ops::seed_ids;
use rmcp::RoleServer;
use rmcp::service::RequestContext;
use serde_json::Value;

/// `_meta` keys under which a client may name its request and its user. What has not the form of the seed is left alone.
const REQUEST_KEY: &str = "materia/request_id";
const USER_KEY: &str = "materia/user_id";

pub(super) fn take(context: &RequestContext<RoleServer>, correlation: &mut Correlation) {
    let text = |key: &str| context.meta.get(key).and_then(Value::as_str);
    correlation.message_id = CorrelationId::parse(&context.id.to_string()).ok();
    correlation.request_id = text(REQUEST_KEY).and_then(seed_ids::parse_request_id);
    correlation.user_id = text(USER_KEY).and_then(seed_ids::parse_user_id);
}
