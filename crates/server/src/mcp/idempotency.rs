//! Idempotency keys of a tool call: under a name of ours in `_meta`, or over HTTP in the header that REST takes too.

use contract::id::IdempotencyKey;
use http::HeaderMap;
use rmcp::model::{ClientRequest, ErrorData, GetMeta as _, RequestMetaObject};
use serde_json::Value;

use crate::rest::IDEMPOTENCY_HEADER;

/// `_meta` key under which a client may send an idempotency key.
const META_KEY: &str = "materia/idempotency_key";

/// The key of a call, where it has one.
pub fn key(meta: &RequestMetaObject) -> Result<Option<IdempotencyKey>, ErrorData> {
    let wrong = |expected: &str| ErrorData::invalid_params(format!("`{META_KEY}`: expected {expected}"), None);
    match meta.get(META_KEY) {
        None => Ok(None),
        Some(Value::String(key)) => IdempotencyKey::parse(key).map(Some).map_err(|error| wrong(error.expected)),
        Some(_) => Err(wrong("a string")),
    }
}

/// Takes the header of a tool call over into its `_meta`. Whoever sends both must mean the same.
pub fn take_over(headers: &HeaderMap, request: &mut ClientRequest) -> Result<(), String> {
    let Some(header) = headers.get(IDEMPOTENCY_HEADER) else { return Ok(()) };
    if !matches!(request, ClientRequest::CallToolRequest(_)) {
        return Ok(());
    }
    let parsed = header
        .to_str()
        .map_err(|_| "plain text")
        .and_then(|text| IdempotencyKey::parse(text).map_err(|error| error.expected));
    let key = parsed.map_err(|expected| format!("`Idempotency-Key`: expected {expected}"))?;
    let meta = request.get_meta_mut();
    if meta.get(META_KEY).is_some_and(|other| other != key.as_str()) {
        return Err(format!("`Idempotency-Key` differs from `{META_KEY}`"));
    }
    meta.insert(META_KEY.to_owned(), Value::from(key.as_str()));
    Ok(())
}
