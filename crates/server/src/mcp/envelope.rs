//! The JSON-RPC envelope, parsed strictly: exact keys, one message, a real id.

use contract::strict::{self, Limits, Problem};
use ops::Misfit;
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, JsonRpcMessage};
use serde::Deserialize as _;
use serde_json::{Value, json};

use super::headers::{META_VERSION, STATELESS_SINCE};
use super::misfit;
use crate::rest::kind_of;

/// Methods this server knows. A request for one of them that does not parse has wrong parameters.
const METHODS: [&str; 18] = [
    "initialize",
    "ping",
    "server/discover",
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "prompts/list",
    "prompts/get",
    "completion/complete",
    "logging/setLevel",
    "subscriptions/listen",
    "tasks/get",
    "tasks/update",
    "tasks/cancel",
];

/// Methods that answer in pages.
const LISTS: [&str; 4] = ["tools/list", "resources/list", "resources/templates/list", "prompts/list"];

/// Methods that the revisions without a handshake do not have.
const REMOVED: [&str; 5] = ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

pub const METHOD_NOT_FOUND: i32 = -32601;

/// No method comes near this; a longer one would only be repeated in the answer.
const METHOD_CHARS_MAX: usize = 80;

/// A refused message that is longer is not read a second time for its id.
const READ_AGAIN_BYTES_MAX: usize = 16 * 1024;
/// A longer id of a refused message is not repeated.
const ID_BYTES_MAX: usize = 200;

/// A message that cannot be handed on, as a JSON-RPC error.
#[derive(Debug, Clone, PartialEq)]
pub struct EnvelopeError {
    pub id: Value,
    pub code: i32,
    pub message: String,
    pub data: Value,
    /// It was an answer itself. Who gets one to it would take it for that to a request of theirs.
    pub is_of_answer: bool,
}

impl EnvelopeError {
    pub fn new(id: Value, code: i32, message: impl Into<String>) -> EnvelopeError {
        EnvelopeError { id, code, message: message.into(), data: Value::Null, is_of_answer: false }
    }

    pub fn with_data(self, data: Value) -> EnvelopeError {
        EnvelopeError { data, ..self }
    }

    pub fn to_json(&self) -> Value {
        let mut error = json!({ "code": self.code, "message": self.message });
        if let (Value::Object(members), false) = (&mut error, self.data.is_null()) {
            members.insert("data".to_owned(), self.data.clone());
        }
        json!({ "jsonrpc": "2.0", "id": self.id, "error": error })
    }
}

/// A message and the text it came from.
pub struct Envelope {
    pub message: ClientJsonRpcMessage,
    /// `params` of the message, for checks on what the typed form leaves out.
    pub value: Value,
}

impl Envelope {
    pub fn method(&self) -> Option<&str> {
        self.value.get("method")?.as_str()
    }

    pub fn id(&self) -> Value {
        self.value.get("id").cloned().unwrap_or_default()
    }
}

/// Parses one message from a client.
pub fn parse(bytes: &[u8], limits: Limits) -> Result<Envelope, EnvelopeError> {
    let value = strict::parse(bytes, limits).map_err(|error| match error.problem {
        Problem::Syntax { .. } => EnvelopeError::new(Value::Null, -32700, format!("Parse error: {error}")),
        Problem::TooLarge { .. }
        | Problem::TooDeep { .. }
        | Problem::TooManyValues { .. }
        | Problem::StringTooLong { .. }
        | Problem::DuplicateKey
        | Problem::IntegerOutOfRange
        | Problem::NulCharacter => {
            let refusal = EnvelopeError::new(readable_id(bytes), -32602, format!("Invalid params: {error}"));
            let (received, expected) = (error.problem.received(), error.problem.expected());
            refusal.with_data(json!({ "path": error.path, "received": received, "expected": expected }))
        }
    })?;
    let is_of_answer = is_answer(&value);
    let of_answer = |error: EnvelopeError| EnvelopeError { is_of_answer, ..error };
    let id = check_shape(&value).map_err(of_answer)?;
    let message = ClientJsonRpcMessage::deserialize(&value).map_err(|_| of_answer(unfit(id.clone(), &value)))?;
    if let JsonRpcMessage::Request(request) = &message {
        let method = value.get("method").and_then(Value::as_str).unwrap_or_default();
        let is_custom = matches!(request.request, ClientRequest::CustomRequest(_)) && METHODS.contains(&method);
        // Parameters that may be left out are taken as left out where they do not parse: the first page, again and again.
        let is_list = LISTS.contains(&method);
        let is_unfit = is_custom
            || misfit::find_in_meta(value.get("params")).is_some()
            || (is_list && misfit::find(method, value.get("params")).is_some());
        // Whoever names a revision without a handshake asks for a method that this revision does not have. One that shakes
        // hands all the same is told which revisions there are.
        let is_gone = REMOVED.contains(&method) && names_stateless(&value) && (is_unfit || method != "initialize");
        if is_gone {
            return Err(EnvelopeError::new(id, METHOD_NOT_FOUND, format!("Method not found: {method}")));
        }
        if is_unfit {
            return Err(unfit(id, &value));
        }
    }
    Ok(Envelope { message, value })
}

/// Parameters that do not fit the method, with the field and what is expected of it.
fn unfit(id: Value, value: &Value) -> EnvelopeError {
    let method = value.get("method").and_then(Value::as_str).unwrap_or_default();
    let Some(Misfit { path, expected }) = misfit::find(method, value.get("params")) else {
        return EnvelopeError::new(id, -32602, "Invalid params: they do not fit the method");
    };
    let path = format!("/params/{path}").trim_end_matches('/').to_owned();
    let refusal = EnvelopeError::new(id, -32602, format!("Invalid params: expected {expected} at `{path}`"));
    // Not the value itself: it may be a secret in the wrong place.
    let received = value.pointer(&path).map_or("nothing", kind_of);
    refusal.with_data(json!({ "path": path, "received": received, "expected": expected }))
}

fn is_answer(value: &Value) -> bool {
    value.get("method").is_none() && (value.get("result").is_some() || value.get("error").is_some())
}

fn names_stateless(value: &Value) -> bool {
    let version = value.pointer("/params/_meta").and_then(|meta| meta.get(META_VERSION)).and_then(Value::as_str);
    version.is_some_and(|version| version >= STATELESS_SINCE)
}

/// The id of a message that was refused for what else is in it, so that its sender does not wait for ever.
fn readable_id(bytes: &[u8]) -> Value {
    #[derive(serde::Deserialize)]
    struct Named {
        id: Value,
    }
    if bytes.len() > READ_AGAIN_BYTES_MAX {
        return Value::Null;
    }
    let id = serde_json::from_slice::<Named>(bytes).map(|named| named.id).unwrap_or_default();
    match &id {
        Value::String(text) if text.len() <= ID_BYTES_MAX => id,
        Value::Number(number) if !number.is_f64() => id,
        _ => Value::Null,
    }
}

/// Checks what JSON-RPC says of an envelope and returns its id, null for a notification.
fn check_shape(value: &Value) -> Result<Value, EnvelopeError> {
    let invalid = |id: Value, message: &str| EnvelopeError::new(id, -32600, format!("Invalid Request: {message}"));
    let Value::Object(members) = value else {
        return Err(invalid(Value::Null, "expected one JSON object, batches are not served"));
    };
    let id = match members.get("id") {
        None => Value::Null,
        // How a peer says that it could not read what it was sent.
        Some(Value::Null) if members.contains_key("error") => Value::Null,
        Some(id @ (Value::String(_) | Value::Number(_))) if !id.is_f64() => id.clone(),
        Some(_) => return Err(invalid(Value::Null, "`id` must be a string or a whole number")),
    };
    if members.get("jsonrpc").is_none_or(|version| version != "2.0") {
        return Err(invalid(id, "`jsonrpc` must be \"2.0\""));
    }
    let is_answer = members.contains_key("result") || members.contains_key("error");
    let known: &[&str] =
        if is_answer { &["jsonrpc", "id", "result", "error"] } else { &["jsonrpc", "id", "method", "params"] };
    if let Some(unknown) = members.keys().find(|key| !known.contains(&key.as_str())) {
        let shown: String = unknown.chars().take(40).collect();
        return Err(invalid(id, &format!("unknown member `{shown}`; names are case-sensitive")));
    }
    let is_method = |method: &Value| method.as_str().is_some_and(|name| name.len() <= METHOD_CHARS_MAX);
    if !is_answer && !members.get("method").is_some_and(is_method) {
        return Err(invalid(id, "`method` must be a string of at most 80 characters"));
    }
    if members.get("params").is_some_and(|params| !params.is_object()) {
        return Err(invalid(id, "`params` must be an object"));
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, code: i32) {
        match parse(text.as_bytes(), Limits::DEFAULT) {
            Ok(_) => panic!("`{text}` was accepted"),
            Err(error) => assert_eq!(error.code, code, "{text}: {}", error.message),
        }
    }

    #[test]
    fn broken_json_is_a_parse_error() {
        for text in ["", "{", "\u{feff}{}", "{\"a\":\"\\ud800\"}", "nope"] {
            check(text, -32700);
        }
    }

    #[test]
    fn what_is_no_single_request_is_invalid() {
        for text in [
            "[]",
            r#"[{"jsonrpc":"2.0","id":1,"method":"ping"}]"#,
            r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1.5,"method":"ping"}"#,
            r#"{"jsonrpc":"1.0","id":1,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"Method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"ping","PARAMS":{}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}"#,
        ] {
            check(text, -32600);
        }
    }

    #[test]
    fn doubtful_parameters_are_refused() {
        for text in [
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":1,"a":2}}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}"#,
            r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"x","arguments":{"a":"\u0000"}}}"#,
        ] {
            check(text, -32602);
        }
    }

    #[test]
    fn what_does_not_fit_is_told_by_its_field_and_without_its_value() {
        let told = |method: &str, params: &str| {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{params}}}"#);
            let error = parse(text.as_bytes(), Limits::DEFAULT).err().unwrap();
            assert_eq!((error.code, error.data["path"].is_string()), (-32602, true), "{text}");
            error.message
        };
        for (method, params, expected) in [
            ("tools/call", r#"{"name":"x","arguments":"{SECRET}"}"#, "an object at `/params/arguments`"),
            ("tools/call", r#"{"arguments":{}}"#, "the field to be there at `/params/name`"),
            ("tools/call", r#"{"name":7}"#, "a string at `/params/name`"),
            ("tools/call", r#"{"name":"x","_meta":"SECRET"}"#, "an object at `/params/_meta`"),
            ("ping", r#"{"_meta":"SECRET"}"#, "an object at `/params/_meta`"),
            (
                "tools/call",
                r#"{"name":"x","_meta":{"io.modelcontextprotocol/protocolVersion":20260728}}"#,
                "a string at `/params/_meta/io.modelcontextprotocol~1protocolVersion`",
            ),
            (
                "tools/list",
                r#"{"_meta":{"io.modelcontextprotocol/clientInfo":"SECRET"}}"#,
                "an object at `/params/_meta/io.modelcontextprotocol~1clientInfo`",
            ),
            (
                "tools/list",
                r#"{"_meta":{"io.modelcontextprotocol/clientCapabilities":{"roots":"SECRET"}}}"#,
                "an object at `/params/_meta/io.modelcontextprotocol~1clientCapabilities/roots`",
            ),
            (
                "tools/list",
                r#"{"_meta":{"io.modelcontextprotocol/clientCapabilities":["SECRET"]}}"#,
                "an object at `/params/_meta/io.modelcontextprotocol~1clientCapabilities`",
            ),
            (
                "tools/list",
                r#"{"_meta":{"progressToken":1.5}}"#,
                "a string or a whole number at `/params/_meta/progressToken`",
            ),
            (
                "tools/list",
                r#"{"_meta":{"progressToken":null}}"#,
                "a string or a whole number at `/params/_meta/progressToken`",
            ),
            (
                "tools/list",
                r#"{"_meta":{"io.modelcontextprotocol/logLevel":5}}"#,
                "the name of a level such as info at `/params/_meta/io.modelcontextprotocol~1logLevel`",
            ),
            ("resources/read", "{}", "the field to be there at `/params/uri`"),
            ("resources/list", r#"{"cursor":50}"#, "a string at `/params/cursor`"),
            ("tools/list", r#"{"cursor":{}}"#, "a string at `/params/cursor`"),
            ("prompts/list", r#"{"cursor":["50"]}"#, "a string at `/params/cursor`"),
            ("resources/templates/list", r#"{"cursor":true}"#, "a string at `/params/cursor`"),
            (
                "initialize",
                r#"{"protocolVersion":"2025-11-25","capabilities":{}}"#,
                "the field to be there at `/params/clientInfo`",
            ),
            (
                "initialize",
                r#"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"version":"1"}}"#,
                "the field to be there at `/params/clientInfo/name`",
            ),
        ] {
            assert_eq!(told(method, params), format!("Invalid params: expected {expected}"), "{method} {params}");
        }
    }

    #[test]
    fn a_method_that_the_named_revision_lost_is_not_found() {
        let meta = r#"{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}"#;
        check(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{{"_meta":{meta}}}}}"#), -32601);
        for method in ["initialize", "logging/setLevel", "resources/subscribe"] {
            check(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{"_meta":{meta}}}}}"#), -32601);
            check(&format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{method}","params":{{}}}}"#), -32602);
        }
    }

    #[test]
    fn a_refusal_names_the_id_where_it_can_be_read() {
        let id_of = |text: &str| parse(text.as_bytes(), Limits::DEFAULT).err().unwrap().id;
        assert_eq!(id_of(r#"{"jsonrpc":"2.0","id":7,"method":"ping","params":{"a":99999999999999999999}}"#), json!(7));
        assert_eq!(id_of(r#"{"jsonrpc":"2.0","id":"x","method":"ping","params":{"a":1,"a":2}}"#), json!("x"));
        assert_eq!(id_of(r#"{"jsonrpc":"2.0","id":7,"id":8,"method":"ping"}"#), Value::Null);
    }

    #[test]
    fn a_method_in_the_wrong_case_is_another_method() {
        let envelope =
            parse(br#"{"jsonrpc":"2.0","id":1,"method":"Tools/Call","params":{}}"#, Limits::DEFAULT).unwrap();
        assert_eq!(envelope.method(), Some("Tools/Call"));
    }
}
