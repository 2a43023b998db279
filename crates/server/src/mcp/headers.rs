//! HTTP headers of MCP against the message they came with.
//!
//! From 2026-07-28 on, middle boxes route by `Mcp-Method`, `Mcp-Name` and `Mcp-Param-*`; a request whose headers say
//! something else than its body is refused, or it would be routed as one thing and run as another.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use contract::schema::SchemaObject;
use http::HeaderMap;
use serde_json::{Value, json};

use super::envelope::{Envelope, EnvelopeError};

pub const VERSION_HEADER: &str = "mcp-protocol-version";
pub const META_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
/// The first revision without a handshake.
pub const STATELESS_SINCE: &str = "2026-07-28";
const KNOWN_VERSIONS: [&str; 5] = ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"];
/// Assumed where a client says nothing, as the revisions with a handshake prescribe.
const ASSUMED_VERSION: &str = "2025-03-26";

/// Begins the headers that carry arguments of a call.
const PARAMETER: &str = "mcp-param-";

const HEADER_MISMATCH: i32 = -32020;
const UNSUPPORTED_VERSION: i32 = -32022;

/// How a request is to be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Era {
    pub version: String,
    /// The request itself names its version (`_meta`), as from 2026-07-28 on.
    pub is_stateless: bool,
    /// The client said nothing about versions at all.
    pub is_assumed: bool,
}

/// Checks the headers of a request and tells its era.
pub fn check(
    headers: &HeaderMap,
    envelope: &Envelope,
    schema: impl Fn(&str) -> Option<std::sync::Arc<SchemaObject>>,
) -> Result<Era, EnvelopeError> {
    let params = envelope.value.get("params");
    let in_meta = params.and_then(|params| params.get("_meta")?.get(META_VERSION)?.as_str());
    let in_header = single(headers, VERSION_HEADER).map_err(|reason| mismatch(envelope, reason))?;
    let method = envelope.method().unwrap_or_default();
    if method == "initialize" {
        let named = params.and_then(|params| params.get("protocolVersion")?.as_str()).unwrap_or(ASSUMED_VERSION);
        if in_header.as_deref().is_some_and(|header| header != named) {
            return Err(mismatch(
                envelope,
                "the MCP-Protocol-Version header differs from `protocolVersion`".to_owned(),
            ));
        }
        return Ok(Era { version: named.to_owned(), is_stateless: false, is_assumed: false });
    }
    match (in_meta, in_header.as_deref()) {
        (Some(_), None) => return Err(mismatch(envelope, "the MCP-Protocol-Version header is missing".to_owned())),
        (Some(meta), Some(header)) if meta != header => {
            return Err(mismatch(envelope, "the MCP-Protocol-Version header differs from `_meta`".to_owned()));
        }
        (None, Some(header)) if !KNOWN_VERSIONS.contains(&header) => return Err(unsupported(envelope, header)),
        (_, _) => {}
    }
    let version = in_meta.or(in_header.as_deref()).unwrap_or(ASSUMED_VERSION).to_owned();
    let is_stateless = in_meta.is_some() || version.as_str() >= STATELESS_SINCE || method == "server/discover";
    // Older clients need not send them, but a proxy may route by them whatever the version.
    let must_be_there = in_header.as_deref().is_some_and(|header| header >= STATELESS_SINCE);
    let is_routed = headers.keys().any(|name| matches!(name.as_str(), "mcp-method" | "mcp-name"));
    // An answer has no method that a header could name; there is nothing in this revision that it could answer.
    let has_method = envelope.method().is_some();
    if (must_be_there && has_method) || is_routed {
        check_routing(headers, envelope, &schema, must_be_there).map_err(|reason| mismatch(envelope, reason))?;
    }
    check_undeclared(headers, envelope, &schema).map_err(|reason| mismatch(envelope, reason))?;
    Ok(Era { version, is_stateless, is_assumed: in_meta.is_none() && in_header.is_none() })
}

fn mismatch(envelope: &Envelope, reason: String) -> EnvelopeError {
    EnvelopeError::new(envelope.id(), HEADER_MISMATCH, format!("Header mismatch: {reason}"))
}

fn unsupported(envelope: &Envelope, requested: &str) -> EnvelopeError {
    let requested: String = requested.chars().take(40).collect();
    EnvelopeError::new(envelope.id(), UNSUPPORTED_VERSION, "Unsupported protocol version")
        .with_data(json!({ "requested": requested, "supported": KNOWN_VERSIONS }))
}

fn check_routing(
    headers: &HeaderMap,
    envelope: &Envelope,
    schema: &impl Fn(&str) -> Option<std::sync::Arc<SchemaObject>>,
    must_be_there: bool,
) -> Result<(), String> {
    let is_due = |name: &str| must_be_there || headers.contains_key(name);
    let method = envelope.method().unwrap_or_default();
    let params = envelope.value.get("params");
    if is_due("mcp-method") {
        expect(headers, "mcp-method", Some(method.to_owned()))?;
    }
    let named_by = match method {
        "tools/call" | "prompts/get" => "name",
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => "uri",
        "tasks/get" | "tasks/update" | "tasks/cancel" => "taskId",
        _ if headers.contains_key("mcp-name") && !must_be_there => {
            return Err("the mcp-name header names nothing".to_owned());
        }
        _ => return Ok(()),
    };
    let Some(name) = params.and_then(|params| params.get(named_by)?.as_str()) else { return Ok(()) };
    if is_due("mcp-name") {
        expect(headers, "mcp-name", Some(name.to_owned()))?;
    }
    if method != "tools/call" || !must_be_there {
        return Ok(());
    }
    let Some(schema) = schema(name) else { return Ok(()) };
    let arguments = params.and_then(|params| params.get("arguments")).unwrap_or(&Value::Null);
    check_parameters(headers, schema.get("properties"), arguments)
}

/// Properties marked `x-mcp-header` travel as `Mcp-Param-*` too and must agree.
fn check_parameters(headers: &HeaderMap, properties: Option<&Value>, arguments: &Value) -> Result<(), String> {
    for (name, schema) in properties.and_then(Value::as_object).into_iter().flatten() {
        let argument = arguments.get(name).unwrap_or(&Value::Null);
        if let Some(header) = schema.get("x-mcp-header").and_then(Value::as_str) {
            expect(headers, &format!("{PARAMETER}{}", header.to_ascii_lowercase()), as_header(argument))?;
        }
        check_parameters(headers, schema.get("properties"), argument)?;
    }
    Ok(())
}

/// What a header says of an argument; nothing of one that is no single value.
fn as_header(argument: &Value) -> Option<String> {
    match argument {
        Value::String(text) => Some(text.clone()),
        Value::Bool(_) | Value::Number(_) => Some(argument.to_string()),
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// A header that no tool asked for and that is named like an argument must agree with it all the same, whatever the
/// revision: whoever routes by it does not know the schema. One that is named like nothing says nothing.
fn check_undeclared(
    headers: &HeaderMap,
    envelope: &Envelope,
    schema: &impl Fn(&str) -> Option<std::sync::Arc<SchemaObject>>,
) -> Result<(), String> {
    let mut parameters = headers.keys().filter_map(|name| name.as_str().strip_prefix(PARAMETER)).peekable();
    if parameters.peek().is_none() || envelope.method() != Some("tools/call") {
        return Ok(());
    }
    let params = envelope.value.get("params");
    let tool = params.and_then(|params| params.get("name")?.as_str()).and_then(schema);
    let properties = tool.as_ref().and_then(|tool| tool.get("properties"));
    let arguments = params.and_then(|params| params.get("arguments")?.as_object());
    for parameter in parameters.filter(|parameter| !is_declared(properties, parameter)) {
        let name = format!("{PARAMETER}{parameter}");
        let raw = single(headers, &name)?.unwrap_or_default();
        if decoded(&raw).is_none() {
            return Err(format!("the {name} header is not valid Base64"));
        }
        let named = arguments.into_iter().flatten().filter(|(argument, _)| argument.eq_ignore_ascii_case(parameter));
        for (_, argument) in named {
            expect(headers, &name, as_header(argument))?;
        }
    }
    Ok(())
}

/// Whether some property, however deep, travels under this name.
fn is_declared(properties: Option<&Value>, parameter: &str) -> bool {
    properties.and_then(Value::as_object).into_iter().flatten().any(|(_, schema)| {
        let header = schema.get("x-mcp-header").and_then(Value::as_str);
        header.is_some_and(|header| header.eq_ignore_ascii_case(parameter))
            || is_declared(schema.get("properties"), parameter)
    })
}

/// The header must be there with this value, or be absent where there is none.
fn expect(headers: &HeaderMap, name: &str, in_body: Option<String>) -> Result<(), String> {
    match (single(headers, name)?, in_body) {
        (None, None) => Ok(()),
        (None, Some(_)) => Err(format!("the {name} header is missing")),
        (Some(_), None) => Err(format!("the {name} header names what the body does not")),
        (Some(raw), Some(in_body)) => match decoded(&raw) {
            None => Err(format!("the {name} header is not valid Base64")),
            Some(value) if value == in_body => Ok(()),
            Some(_) => Err(format!("the {name} header differs from the body")),
        },
    }
}

fn single(headers: &HeaderMap, name: &str) -> Result<Option<String>, String> {
    let mut values = headers.get_all(name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => {
            value.to_str().map(|text| Some(text.to_owned())).map_err(|_| format!("the {name} header is not text"))
        }
        (Some(_), Some(_)) => Err(format!("the {name} header stands twice")),
    }
}

/// `=?base64?…?=` carries what a plain header value cannot.
fn decoded(raw: &str) -> Option<String> {
    match raw.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        Some(inner) => String::from_utf8(BASE64_STANDARD.decode(inner).ok()?).ok(),
        None => Some(raw.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::strict::Limits;
    use http::{HeaderName, HeaderValue};

    const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"é","arguments":{"city":"x"},
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}"#;

    fn check_code(body: &str, pairs: &[(&str, &str)], expected: Option<i32>) {
        let envelope = super::super::envelope::parse(body.as_bytes(), Limits::DEFAULT).unwrap();
        let mut headers = HeaderMap::new();
        for (name, value) in pairs {
            headers.append(HeaderName::try_from(*name).unwrap(), HeaderValue::from_str(value).unwrap());
        }
        let schema = |_: &str| {
            let schema = json!({"properties": {"city": {"type": "string", "x-mcp-header": "City"}}});
            schema.as_object().cloned().map(std::sync::Arc::new)
        };
        assert_eq!(check(&headers, &envelope, schema).err().map(|error| error.code), expected, "{pairs:?}");
    }

    #[test]
    fn headers_must_say_what_the_body_says() {
        let version = ("mcp-protocol-version", "2026-07-28");
        let method = ("mcp-method", "tools/call");
        let name = ("mcp-name", "=?base64?w6k=?=");
        let city = ("mcp-param-city", "x");
        check_code(CALL, &[version, method, name, city], None);
        check_code(CALL, &[method, name, city], Some(-32020));
        check_code(CALL, &[("mcp-protocol-version", "2025-11-25"), method, name, city], Some(-32020));
        check_code(CALL, &[version, name, city], Some(-32020));
        check_code(CALL, &[version, ("mcp-method", "tools/list"), name, city], Some(-32020));
        check_code(CALL, &[version, method, ("mcp-name", "other"), city], Some(-32020));
        check_code(CALL, &[version, method, ("mcp-name", "=?base64?%%%?="), city], Some(-32020));
        check_code(CALL, &[version, method, name, ("mcp-param-city", "y")], Some(-32020));
        check_code(CALL, &[version, method, name], Some(-32020));
        check_code(CALL, &[version, method, name, name, city], Some(-32020));
    }

    #[test]
    fn an_unknown_version_is_refused_and_none_is_assumed() {
        let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
        check_code(list, &[("mcp-protocol-version", "1999-01-01")], Some(-32022));
        check_code(list, &[("mcp-protocol-version", "2025-06-18")], None);
        check_code(list, &[], None);
    }
}
