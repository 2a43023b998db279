//! Questions of operations in the words of MCP: as a result that asks (from 2026-07-28 on), or as requests to the client
//! while the call waits (before).

use std::collections::BTreeSet;
use std::time::Duration;

use contract::error::OpError;
use contract::question::{Answered, Question, QuestionKind, Questions};
use ops::{Answers, dialogue};
use rmcp::RoleServer;
use rmcp::model::{
    ClientCapabilities, ClientResult, ErrorCode, ErrorData, InputRequest, InputRequests, InputRequiredResult,
    InputResponses, ProtocolVersion, ServerRequest,
};
use rmcp::service::{PeerRequestOptions, RequestContext};
use serde_json::{Map, Value, json};

use super::backlog::{input_ended, set_aside};

/// How long a person may take over a form, on a connection that waits for them.
const ANSWER_WITHIN: Duration = Duration::from_secs(300);
/// How often one call may ask, on a connection that waits.
pub const ROUNDS_MAX: usize = 10;

/// The answers that came with a request, and what else its client could be asked.
pub fn answers(
    given: Option<InputResponses>,
    request_state: Option<String>,
    context: &RequestContext<RoleServer>,
) -> Answers {
    let capabilities = context.client_capabilities().unwrap_or_default();
    let mut answers = Answers::default();
    answers.given = given.unwrap_or_default();
    answers.request_state = request_state;
    answers.may_be_asked = kinds(&capabilities);
    answers
}

fn kinds(capabilities: &ClientCapabilities) -> BTreeSet<QuestionKind> {
    let kinds = [
        (QuestionKind::Form, capabilities.elicitation.is_some()),
        (QuestionKind::ModelText, capabilities.sampling.is_some()),
        (QuestionKind::Roots, capabilities.roots.is_some()),
    ];
    kinds.into_iter().filter_map(|(kind, is_there)| is_there.then_some(kind)).collect()
}

/// Whether this client speaks a revision with a handshake. It is asked by requests on the open connection.
pub fn has_handshake(context: &RequestContext<RoleServer>) -> bool {
    context.protocol_version().is_none_or(|version| version.as_str() < ProtocolVersion::V_2026_07_28.as_str())
}

/// The request that asks a question.
fn request(question: &Question) -> Value {
    match question {
        Question::Form { message, schema } => {
            json!({ "method": "elicitation/create", "params": { "message": message, "requestedSchema": schema } })
        }
        Question::ModelText { prompt, n_tokens_max } => {
            let message = json!({ "role": "user", "content": { "type": "text", "text": prompt } });
            let params = json!({ "messages": [message], "maxTokens": n_tokens_max });
            json!({ "method": "sampling/createMessage", "params": params })
        }
        Question::Roots {} => json!({ "method": "roots/list", "params": {} }),
    }
}

/// Refuses to ask a client what it did not say it could answer.
fn check_askable(questions: &Questions, answers: &Answers) -> Result<(), ErrorData> {
    let capability = |kind: QuestionKind| match kind {
        QuestionKind::Form => "elicitation",
        QuestionKind::ModelText => "sampling",
        QuestionKind::Roots => "roots",
    };
    let kinds: BTreeSet<QuestionKind> = questions.values().map(Question::kind).collect();
    let missing: Map<String, Value> =
        kinds.difference(&answers.may_be_asked).map(|kind| (capability(*kind).to_owned(), json!({}))).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let required = serde_json::from_value(Value::Object(missing)).unwrap_or_default();
    Err(ErrorData::missing_required_client_capability(required))
}

pub fn input_requests(questions: &Questions) -> Result<InputRequests, ErrorData> {
    let request = |(key, question): (&String, &Question)| {
        let request: InputRequest = serde_json::from_value(request(question))
            .map_err(|_| ErrorData::internal_error("a question has a form that clients do not know", None))?;
        Ok((key.clone(), request))
    };
    questions.iter().map(request).collect()
}

/// The result that asks, if `error` does.
pub fn input_required(error: &OpError, answers: &Answers) -> Option<Result<InputRequiredResult, ErrorData>> {
    let questions = dialogue::questions(error)?;
    if let Err(refused) = check_askable(&questions, answers) {
        return Some(Err(refused));
    }
    let state = error.details.more.get(dialogue::STATE_DETAIL).and_then(Value::as_str).map(str::to_owned);
    Some(input_requests(&questions).map(|requests| InputRequiredResult::new(Some(requests), state)))
}

/// Asks the client and waits: what to call with next.
pub async fn ask(
    error: &OpError,
    answers: &Answers,
    context: &RequestContext<RoleServer>,
) -> Option<Result<Answers, ErrorData>> {
    let questions = dialogue::questions(error)?;
    let mut next = answers.clone();
    next.request_state = error.details.more.get(dialogue::STATE_DETAIL).and_then(Value::as_str).map(str::to_owned);
    Some(match ask_all(&questions, answers, context).await {
        Ok(given) => {
            next.given = given;
            Ok(next)
        }
        Err(error) => Err(error),
    })
}

/// The answer to one question. A question that nobody waits for any more is withdrawn.
async fn ask_one(request: ServerRequest, context: &RequestContext<RoleServer>) -> Option<ClientResult> {
    let options = PeerRequestOptions::no_options();
    let mut asked = context.peer.send_request_with_option(request, options).await.ok()?;
    let reason = tokio::select! {
        answered = &mut asked.rx => return answered.ok()?.ok(),
        () = tokio::time::sleep(ANSWER_WITHIN) => "nobody answered in time",
        () = context.ct.cancelled() => "the call was cancelled",
        () = input_ended(&context.extensions) => return None,
    };
    // Who is gone needs not be told.
    drop(asked.cancel(Some(reason.to_owned())).await);
    None
}

async fn ask_all(
    questions: &Questions,
    answers: &Answers,
    context: &RequestContext<RoleServer>,
) -> Result<Answered, ErrorData> {
    check_askable(questions, answers)?;
    let unanswered = || ErrorData::new(ErrorCode(-32000), "the client did not answer the question", None);
    let _aside = set_aside(&context.extensions)?;
    let mut given = Answered::new();
    for (key, question) in questions {
        let request: ServerRequest = serde_json::from_value(request(question))
            .map_err(|_| ErrorData::internal_error("a question has a form that clients do not know", None))?;
        let answer = ask_one(request, context).await.ok_or_else(unanswered)?;
        given.insert(key.clone(), serde_json::to_value(answer).map_err(|_| unanswered())?);
    }
    Ok(given)
}
