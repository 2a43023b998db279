//! What the services of seed 001 on ports of their own have in common: their names for fields, their words for errors.

pub mod openapi;

use std::sync::Arc;

use axum::handler::Handler;
use axum::response::Response;
use axum::routing::{MethodRouter, get};
use bytes::Bytes;
use contract::actor::Actor;
use contract::dialect;
use contract::error::{Kind, OpError, cut};
use http::{HeaderMap, StatusCode, header};
use ops::{Call, Reply, Success};
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::edge::{NoCall, answer, answer_text, error_response};
use crate::owner::House;
use crate::rest::{BodyRefusal, MEDIA_TYPE_MESSAGE, beside, kind_of, named, parse_body};

/// A field of an operation as a service calls it.
pub struct Field {
    pub word: &'static str,
    pub field: &'static str,
    pub form: Form,
    /// Also in bodies; else only in queries.
    pub in_bodies: bool,
}

/// How a query's text becomes JSON.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    Text,
    Flag,
    Number,
}

#[derive(Clone)]
pub struct Service {
    pub house: Arc<House>,
    pub body_bytes_max: usize,
    /// Every field that goes by another name here, or comes in a query.
    pub fields: &'static [Field],
}

/// What a call gave, and under which id the log has it.
pub struct Answered {
    pub success: Success,
    call_id: Uuid,
}

impl Answered {
    /// With another body than the operation's own output.
    pub fn respond(&self, body: &Value) -> Response {
        named(answer(StatusCode::OK, body), self.call_id)
    }
}

/// Why a request was not carried out.
pub struct Failure {
    pub error: OpError,
    /// Under which id the door has recorded it. What never came to the door is counted at the edge.
    call_id: Option<Uuid>,
}

impl From<OpError> for Failure {
    fn from(error: OpError) -> Failure {
        Failure { error, call_id: None }
    }
}

impl Service {
    /// Calls an operation with what a query says.
    pub async fn ask(
        &self,
        actor: &Actor,
        headers: &HeaderMap,
        operation: &str,
        query: Map<String, Value>,
    ) -> Result<Answered, Failure> {
        self.call(actor, headers, operation, query).await.map_err(|failure| self.in_our_words(failure, |_| true))
    }

    /// Calls an operation with what a body says.
    pub async fn send(
        &self,
        actor: &Actor,
        headers: &HeaderMap,
        operation: &str,
        body: Map<String, Value>,
    ) -> Result<Answered, Failure> {
        let result = self.call(actor, headers, operation, body).await;
        result.map_err(|failure| self.in_our_words(failure, |known| known.in_bodies))
    }

    async fn call(
        &self,
        actor: &Actor,
        headers: &HeaderMap,
        operation: &str,
        input: Map<String, Value>,
    ) -> Result<Answered, Failure> {
        let input = Value::Object(input);
        let call = beside(headers, Call { operation: operation.to_owned(), input, ..Call::default() })?;
        let Reply { call_id, result, .. } = self.house.call(actor, call).await;
        match result {
            Ok(success) => Ok(Answered { success, call_id }),
            Err(error) => Err(Failure { error, call_id: Some(call_id) }),
        }
    }

    /// A query as an operation's input. What nobody knows goes on, for the operation to refuse.
    pub fn query(&self, query: Vec<(String, String)>) -> Result<Map<String, Value>, Failure> {
        let mut input = Map::new();
        for (name, text) in query {
            let known = self.fields.iter().find(|known| known.word == name);
            let value = match known.map_or(Form::Text, |known| known.form) {
                Form::Text => Value::from(text),
                Form::Flag => match text.as_str() {
                    "true" => Value::Bool(true),
                    "false" => Value::Bool(false),
                    _ => return Err(OpError::invalid(name, "true or false").received(cut(&text)).into()),
                },
                Form::Number => {
                    let number = text.parse::<u64>();
                    let wrong = |_| OpError::invalid(name.as_str(), "a whole number").received(cut(&text));
                    Value::from(number.map_err(wrong)?)
                }
            };
            let field = known.map_or(name.as_str(), |known| known.field);
            if input.insert(field.to_owned(), value).is_some() {
                return Err(OpError::invalid(name, "one value").into());
            }
        }
        Ok(input)
    }

    /// A JSON body with this service's field names turned into the operations'.
    pub fn body(&self, headers: &HeaderMap, body: &Bytes) -> Result<Map<String, Value>, Box<Response>> {
        let value = parse_body(headers, body, self.body_bytes_max).map_err(|refusal| Box::new(unreadable(refusal)))?;
        let members = match value {
            Value::Object(members) => members,
            other => {
                let error = OpError::invalid("body", "one JSON object").received(kind_of(&other));
                return Err(Box::new(fail(&error.into())));
            }
        };
        self.renamed(members).map_err(|failure| Box::new(fail(&failure)))
    }

    /// A field that stands there under both its names is refused: one of them would be dropped unseen.
    fn renamed(&self, members: Map<String, Value>) -> Result<Map<String, Value>, Failure> {
        let mut renamed = Map::new();
        for (name, value) in members {
            let known = self.fields.iter().find(|known| known.in_bodies && known.word == name);
            let field = known.map_or(name, |known| known.field.to_owned());
            if renamed.contains_key(&field) {
                let other = self.fields.iter().find(|known| known.in_bodies && known.field == field);
                let expected = format!("either `{field}` or `{}`", other.map_or("", |other| other.word));
                return Err(OpError::invalid(field, expected).into());
            }
            renamed.insert(field, value);
        }
        Ok(renamed)
    }

    fn in_our_words(&self, mut failure: Failure, is_ours: fn(&Field) -> bool) -> Failure {
        let error = &mut failure.error;
        let field = error.details.field.as_deref();
        let renamed = self.fields.iter().find(|known| is_ours(known) && field == Some(known.field));
        if let Some(known) = renamed {
            error.message = error.message.replace(&format!("`{}`", known.field), &format!("`{}`", known.word));
            error.details.field = Some(known.word.to_owned());
        }
        failure
    }
}

pub fn respond(status: StatusCode, result: Result<Answered, Failure>) -> Response {
    match result {
        Ok(Answered { success: Success { text: Some(text), .. }, call_id }) => {
            named(answer_text(status, text), call_id)
        }
        Ok(Answered { success, call_id }) => named(answer(status, &success.output), call_id),
        Err(failure) => fail(&failure),
    }
}

pub fn fail(failure: &Failure) -> Response {
    let mut response = error_response(&failure.error, &dialect::service(&failure.error));
    match failure.call_id {
        Some(call_id) => named(response, call_id),
        None => {
            response.extensions_mut().insert(NoCall("REQUEST"));
            response
        }
    }
}

/// A body that could not be read: which field, what came, what was expected.
fn unreadable(refusal: BodyRefusal) -> Response {
    let (status, code, error, reason) = match refusal {
        BodyRefusal::MediaType(received) => {
            let mut error = OpError::new(Kind::Invalid, MEDIA_TYPE_MESSAGE);
            error.details.field = Some("Content-Type".to_owned());
            error.details.expected = Some("application/json".to_owned());
            error.details.received = received.map(Value::from);
            (StatusCode::UNSUPPORTED_MEDIA_TYPE, "UNSUPPORTED", error, "MEDIA_TYPE")
        }
        BodyRefusal::Json(status, mut error) => {
            // Elsewhere the message says where it is.
            if error.details.field.as_deref() == Some("body") {
                error.message = format!("`body`: {}", error.message);
            }
            let code = if status == StatusCode::PAYLOAD_TOO_LARGE { "TOO_LARGE" } else { error.code() };
            (status, code, error, "BODY")
        }
    };
    let mut body = dialect::service(&error);
    if let Value::Object(members) = &mut body {
        members.insert("status_code".to_owned(), json!(status.as_u16()));
        members.insert("error".to_owned(), json!(code));
    }
    let mut response = answer(status, &body);
    response.extensions_mut().insert(NoCall(reason));
    response
}

/// `GET` and nothing else. A router would let `HEAD` run the same handler, which takes an id or a task and tells nobody.
pub fn get_only<H, T>(handler: H) -> MethodRouter<Service>
where
    H: Handler<T, Service>,
    T: 'static,
{
    get(handler).head(|| async { (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET")]) })
}

/// What is not served answers in the services' own words.
pub async fn not_found() -> Response {
    let error = OpError::not_found("nothing is served at this path");
    error_response(&error, &dialect::service(&error))
}
