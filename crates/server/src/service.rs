//! What the services of seed 001 on ports of their own have in common: their names for fields, their words for errors.

pub mod openapi;

use std::sync::Arc;

use axum::response::Response;
use bytes::Bytes;
use contract::actor::Actor;
use contract::dialect;
use contract::error::OpError;
use http::{HeaderMap, StatusCode};
use ops::{Call, Success};
use serde_json::{Map, Value, json};

use crate::edge::{NoCall, answer, answer_text, error_response};
use crate::owner::House;
use crate::rest::{beside, json_body};

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

/// Why a request was not carried out.
pub struct Failure {
    pub error: OpError,
    /// The door has recorded it. What never came to the door is counted at the edge.
    is_call: bool,
}

impl From<OpError> for Failure {
    fn from(error: OpError) -> Failure {
        Failure { error, is_call: false }
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
    ) -> Result<Success, Failure> {
        self.call(actor, headers, operation, query).await.map_err(|failure| self.in_our_words(failure, |_| true))
    }

    /// Calls an operation with what a body says.
    pub async fn send(
        &self,
        actor: &Actor,
        headers: &HeaderMap,
        operation: &str,
        body: Map<String, Value>,
    ) -> Result<Success, Failure> {
        let result = self.call(actor, headers, operation, body).await;
        result.map_err(|failure| self.in_our_words(failure, |known| known.in_bodies))
    }

    async fn call(
        &self,
        actor: &Actor,
        headers: &HeaderMap,
        operation: &str,
        input: Map<String, Value>,
    ) -> Result<Success, Failure> {
        let input = Value::Object(input);
        let call = beside(headers, Call { operation: operation.to_owned(), input, ..Call::default() })?;
        let result = self.house.call(actor, call).await.result;
        result.map_err(|error| Failure { error, is_call: true })
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
                    _ => return Err(OpError::invalid(name, "true or false").into()),
                },
                Form::Number => {
                    Value::from(text.parse::<u64>().map_err(|_| OpError::invalid(name.as_str(), "a whole number"))?)
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
        let value = json_body(headers, body, self.body_bytes_max).map_err(|mut refused| {
            let message = "the body must be one JSON object, sent as application/json";
            let (status, no_call) = (refused.status(), refused.extensions().get::<NoCall>().copied());
            *refused = answer(
                status,
                &json!({ "success": false, "status_code": status.as_u16(), "detail": message, "error": "INVALID_ARG" }),
            );
            if let Some(no_call) = no_call {
                refused.extensions_mut().insert(no_call);
            }
            refused
        })?;
        let Value::Object(members) = value else {
            return Err(Box::new(fail(&OpError::invalid("body", "an object").into())));
        };
        let renamed = members.into_iter().map(|(name, value)| {
            let known = self.fields.iter().find(|known| known.in_bodies && known.word == name);
            (known.map_or(name, |known| known.field.to_owned()), value)
        });
        Ok(renamed.collect())
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

pub fn respond(status: StatusCode, result: Result<Success, Failure>) -> Response {
    match result {
        Ok(Success { text: Some(text), .. }) => answer_text(status, text),
        Ok(success) => answer(status, &success.output),
        Err(failure) => fail(&failure),
    }
}

pub fn fail(failure: &Failure) -> Response {
    let mut response = error_response(&failure.error, &dialect::service(&failure.error));
    if !failure.is_call {
        response.extensions_mut().insert(NoCall("REQUEST"));
    }
    response
}

/// What is not served answers in the services' own words.
pub async fn not_found() -> Response {
    let error = OpError::not_found("nothing is served at this path");
    error_response(&error, &dialect::service(&error))
}
