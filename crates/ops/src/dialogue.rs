//! Questions that an operation asks its caller, and the answers that come with the next call.
//!
//! An operation that lacks an answer ends with [`Kind::InputRequired`]; the caller calls again with the same input, the
//! answers and the request state. The operation then runs from the start and finds them. Nothing waits in between.

use std::collections::BTreeSet;

use contract::error::{Kind, OpError};
use contract::question::{Answered, FormAnswer, Question, QuestionKind, Questions};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use store::{Applied, Apply, Keep, StoreError, Tx, request_states};
use uuid::Uuid;

use crate::door::Inner;
use crate::limits;
use crate::operation::ApplyError;
use crate::record::Ticket;
use crate::seal::{Binding, State};

/// Members of the details of [`Kind::InputRequired`].
pub const QUESTIONS_DETAIL: &str = "questions";
pub const STATE_DETAIL: &str = "request_state";
/// The field of a refusal that concerns the state itself.
const STATE_FIELD: &str = "requestState";

/// What comes beside a call: answers, the state of the reply that asked, and what the caller could be asked.
#[derive(Debug, Default, Clone, Serialize, Deserialize)]
pub struct Answers {
    #[serde(default)]
    pub given: Answered,
    #[serde(default)]
    pub request_state: Option<String>,
    #[serde(default)]
    pub may_be_asked: BTreeSet<QuestionKind>,
    /// Answers that a job kept are those that it asked for. Only the runner of jobs says so.
    #[serde(skip)]
    pub(crate) are_kept: bool,
}

/// The questions of an error, for whoever passes them on.
pub fn questions(error: &OpError) -> Option<Questions> {
    let questions = (error.kind == Kind::InputRequired).then(|| error.details.more.get(QUESTIONS_DETAIL))??;
    serde_json::from_value(questions.clone()).ok()
}

/// Whether the call was refused for its request state: a fault of the protocol, not of the input.
pub fn is_about_state(error: &OpError) -> bool {
    error.kind == Kind::Invalid && error.details.field.as_deref() == Some(STATE_FIELD)
}

fn state_refused(expected: &str) -> OpError {
    OpError::invalid(STATE_FIELD, expected)
}

/// The answers of one call, sorted by whether they answer a question of ours.
pub(crate) struct Dialogue {
    /// Answers to what was asked, in this round or earlier ones.
    answers: Answered,
    /// Answers to what nobody asked yet.
    ahead: Answered,
    /// What was answered before, and not as it was asked.
    again: BTreeSet<String>,
    may_be_asked: BTreeSet<QuestionKind>,
    used: Option<Used>,
    is_kept: bool,
}

#[derive(Clone)]
struct Used {
    state_id: String,
    expires_at_us: i64,
}

impl Dialogue {
    /// Opens the request state of a call, if it has one.
    pub fn open(inner: &Inner, ticket: &Ticket, in_hash: &str) -> Result<Dialogue, OpError> {
        let Answers { given, request_state, may_be_asked, are_kept } = ticket.answers.clone();
        let mut dialogue = Dialogue {
            answers: Answered::new(),
            ahead: Answered::new(),
            again: BTreeSet::new(),
            may_be_asked,
            used: None,
            is_kept: are_kept,
        };
        let Some(text) = request_state else {
            *(if are_kept { &mut dialogue.answers } else { &mut dialogue.ahead }) = given;
            return Ok(dialogue);
        };
        if text.len() > limits::REQUEST_STATE_BYTES_MAX {
            return Err(state_refused("the state that came with the questions, unchanged"));
        }
        let state = inner.sealer.open(&text, &binding(ticket, in_hash));
        let state = state.ok_or_else(|| state_refused("the state that came with the questions of this very call"))?;
        if state.expires_at_us <= ticket.started_us {
            return Err(state_refused("a state that has not expired; call again without it"));
        }
        dialogue.used = Some(Used { state_id: state.state_id.to_string(), expires_at_us: state.expires_at_us });
        dialogue.answers = state.answers;
        for (key, answer) in given {
            if !state.asked.contains(&key) {
                dialogue.ahead.insert(key, answer);
            } else if dialogue.answers.insert(key.clone(), answer).is_some() {
                dialogue.again.insert(key);
            }
        }
        Ok(dialogue)
    }

    pub fn may_ask(&self, kind: QuestionKind) -> bool {
        self.may_be_asked.contains(&kind)
    }

    /// Every answer of the call, for a job that goes on with them.
    pub fn answers(&self) -> Answers {
        let given = self.ahead.clone().into_iter().chain(self.answers.clone()).collect();
        Answers { given, may_be_asked: self.may_be_asked.clone(), ..Answers::default() }
    }

    pub fn ask(&self, questions: Questions, ahead: Ahead) -> Result<Answered, OpError> {
        let find = |key: &str| {
            let ahead = if ahead == Ahead::Taken { self.ahead.get(key) } else { None };
            self.answers.get(key).or(ahead)
        };
        let (answered, open): (Vec<_>, Vec<_>) =
            questions.into_iter().partition(|(key, question)| find(key).is_some_and(|answer| fits(question, answer)));
        if open.is_empty() {
            return Ok(answered.into_iter().filter_map(|(key, _)| Some((key.clone(), find(&key)?.clone()))).collect());
        }
        let open: Questions = open.into_iter().collect();
        // Who cannot answer is not asked for ever.
        if let Some(key) = open.keys().find(|key| self.again.contains(*key)) {
            return Err(OpError::refused(format!("`{key}` was answered twice, and not as it was asked")));
        }
        let keys: Vec<&str> = open.keys().map(String::as_str).collect();
        let mut error = OpError::new(Kind::InputRequired, format!("answers are needed: {}", keys.join(", ")));
        let questions = serde_json::to_value(&open).map_err(OpError::internal)?;
        error.details.more.insert(QUESTIONS_DETAIL.to_owned(), questions);
        Err(error)
    }

    /// Uses up the state of the call, in a transaction with nothing else in it.
    pub async fn spend(&self, inner: &Inner, ticket: &Ticket) -> Result<(), OpError> {
        let Some(used) = self.used.clone() else { return Ok(()) };
        let organisation_id = ticket.actor.organisation_id.clone();
        let apply: Apply<bool> = Box::new(move |tx| {
            let (used, organisation_id) = (used.clone(), organisation_id.clone());
            Box::pin(async move {
                let is_first = use_once(tx, organisation_id.as_str(), &used).await?;
                Ok(Applied { value: is_first, event: None, keep: Keep::Changes })
            })
        });
        match inner.store.write(None, ticket.deadline, apply).await {
            Ok(true) => {
                ticket.spent.note(self.used.as_ref().map(|used| used.state_id.clone()));
                Ok(())
            }
            Ok(false) => Err(used_before()),
            Err(error) => Err(crate::drive::write_error(error)),
        }
    }

    /// As [`Dialogue::spend`], together with the change that the answers were for.
    pub async fn spend_in(&self, tx: &mut Tx<'_>, ticket: &Ticket) -> Result<(), ApplyError> {
        let Some(used) = &self.used else { return Ok(()) };
        let is_first = use_once(tx, ticket.actor.organisation_id.as_str(), used).await?;
        ticket.spent.note(is_first.then(|| used.state_id.clone()));
        if is_first { Ok(()) } else { Err(used_before().into()) }
    }

    /// Puts a new state beside the questions of `error`. Other errors stay as they are.
    pub fn seal(&self, inner: &Inner, ticket: &Ticket, in_hash: &str, mut error: OpError) -> OpError {
        let Some(questions) = questions(&error).filter(|_| !self.is_kept) else { return error };
        let kept_us = i64::try_from(limits::REQUEST_STATE_EXPIRES_AFTER.as_micros()).unwrap_or(i64::MAX);
        let state = State {
            state_id: Uuid::new_v4(),
            expires_at_us: ticket.started_us.saturating_add(kept_us),
            asked: questions.into_keys().collect(),
            answers: self.answers.clone(),
        };
        match inner.sealer.seal(&state, &binding(ticket, in_hash)) {
            Some(text) if text.len() <= limits::REQUEST_STATE_BYTES_MAX => {
                error.details.more.insert(STATE_DETAIL.to_owned(), Value::from(text));
                error
            }
            Some(_) => OpError::new(Kind::Invalid, "the answers are too long to go on with"),
            None => OpError::internal("the request state could not be sealed"),
        }
    }
}

/// Whether an answer counts that came before its question did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ahead {
    Taken,
    Ignored,
}

fn used_before() -> OpError {
    state_refused("a state that was not used before; call again without it")
}

async fn use_once(tx: &mut Tx<'_>, organisation_id: &str, used: &Used) -> Result<bool, StoreError> {
    request_states::use_once(tx, organisation_id, &used.state_id, used.expires_at_us).await
}

fn binding<'a>(ticket: &'a Ticket, in_hash: &'a str) -> Binding<'a> {
    Binding {
        organisation_id: ticket.actor.organisation_id.as_str(),
        actor_id: ticket.actor.id.as_str(),
        operation: ticket.operation,
        in_hash,
    }
}

/// Whether an answer answers its question. One that does not is asked for once more.
fn fits(question: &Question, answer: &Value) -> bool {
    match question {
        Question::Form { schema, .. } => match serde_json::from_value(answer.clone()) {
            Ok(FormAnswer::Accept { content }) => {
                let validator = jsonschema::options()
                    .with_draft(jsonschema::Draft::Draft202012)
                    .with_pattern_options(jsonschema::PatternOptions::regex())
                    .build(&Value::Object(schema.clone()));
                validator.is_ok_and(|validator| validator.is_valid(&Value::Object(content)))
            }
            Ok(FormAnswer::Decline {} | FormAnswer::Cancel {}) => true,
            Err(_) => false,
        },
        Question::ModelText { .. } => answer.get("content").is_some(),
        Question::Roots {} => answer.get("roots").is_some_and(Value::is_array),
    }
}
