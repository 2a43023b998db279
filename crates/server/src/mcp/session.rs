//! What a client of the handshake said that it can be asked. Nothing is kept of it here: the id that it is given, and sends
//! with every request, says it. One that gives no id cannot be asked, as nobody would know whether it hears the question.

use http::{HeaderMap, HeaderName, HeaderValue};
use rmcp::model::ClientCapabilities;
use serde_json::{Map, Value, json};
use uuid::Uuid;

pub const SESSION_HEADER: HeaderName = HeaderName::from_static("mcp-session-id");

const BEGIN: &str = "asks";
/// What a client can be asked, and the word for it in an id.
const KINDS: [(&str, &str); 3] = [("elicitation", "form"), ("sampling", "model"), ("roots", "roots")];

/// The id for a client that can be asked something, from its `initialize`.
pub fn open(initialize: &Value) -> Option<HeaderValue> {
    let said = initialize.pointer("/params/capabilities")?;
    let words = KINDS.iter().filter(|(name, _)| said.get(name).is_some()).map(|(_, word)| *word);
    let words: Vec<&str> = words.collect();
    if words.is_empty() {
        return None;
    }
    HeaderValue::from_str(&format!("{BEGIN}.{}.{}", words.join("."), Uuid::new_v4())).ok()
}

/// What the client of a request can be asked.
pub fn capabilities(headers: &HeaderMap) -> ClientCapabilities {
    let id = headers.get(&SESSION_HEADER).and_then(|id| id.to_str().ok()).unwrap_or_default();
    let mut words = id.split('.');
    if words.next() != Some(BEGIN) {
        return ClientCapabilities::default();
    }
    let words: Vec<&str> = words.collect();
    let said = KINDS.iter().filter(|(_, word)| words.contains(word));
    let said: Map<String, Value> = said.map(|(name, _)| ((*name).to_owned(), json!({}))).collect();
    serde_json::from_value(Value::Object(said)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_says_what_its_client_said() {
        let initialize = |said: Value| json!({"method": "initialize", "params": {"capabilities": said}});
        assert_eq!(open(&initialize(json!({}))), None);
        assert_eq!(open(&json!({"method": "initialize"})), None);
        let id = open(&initialize(json!({"elicitation": {}, "roots": {"listChanged": true}}))).unwrap();
        let found = capabilities(&HeaderMap::from_iter([(SESSION_HEADER, id)]));
        assert!(found.elicitation.is_some() && found.roots.is_some() && found.sampling.is_none());
        for id in ["", "asks", "asked.form", "6f1f6c1e-5d0b-4b0e-8a43-000000000000"] {
            let found = capabilities(&HeaderMap::from_iter([(SESSION_HEADER, HeaderValue::from_static(id))]));
            assert!(found.elicitation.is_none(), "{id}");
        }
        assert!(capabilities(&HeaderMap::new()).elicitation.is_none());
    }
}
