//! Operations that ask, and operations that run as jobs.

use std::time::Duration;

use contract::actor::Role;
use contract::error::OpError;
use contract::job::{AnswerJob, CancelJob, JobStatus, StartJob};
use contract::question::{FormAnswer, Question, Questions};
use ops::{Answer, ApplyError, Context, Entry, Family, JobMode, Operation, Read, Write};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Tx, idempotency};

pub const ENTRIES: &[Entry] = &[
    Entry::write::<Consent>(),
    Entry::read::<Interview>(),
    Entry::read::<Work>(),
    Entry::write::<Secret>(),
    Entry::write::<StartJob>(),
    Entry::read::<JobStatus>(),
    Entry::write::<AnswerJob>(),
    Entry::write::<CancelJob>(),
];

#[derive(Debug, Serialize, JsonSchema)]
pub struct Told {
    pub text: String,
}

macro_rules! operation {
    ($name:ident, $word:literal, $job:expr) => {
        impl Operation for $name {
            const NAME: &'static str = $word;
            const ABOUT: &'static str = "A trial.";
            const FAMILY: Family = Family::House;
            const ROLES: &'static [Role] = &Role::ALL;
            const DEADLINE: Option<Duration> = Some(Duration::from_secs(60));
            const JOB: JobMode = $job;

            type Output = Told;
        }
    };
}

fn form(key: &str) -> Questions {
    let schema = json!({"type": "object", "properties": {"said": {"type": "string"}}, "required": ["said"]});
    let Value::Object(schema) = schema else { panic!("a schema is an object") };
    Questions::from([(key.to_owned(), Question::Form { message: "Well?".to_owned(), schema })])
}

fn said(answer: &Value) -> String {
    match serde_json::from_value(answer.clone()).unwrap() {
        FormAnswer::Accept { content } => content["said"].as_str().unwrap().to_owned(),
        FormAnswer::Decline {} => "declined".to_owned(),
        FormAnswer::Cancel {} => "cancelled".to_owned(),
    }
}

/// A change that needs a consent. Each leaves a row behind.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Consent {
    pub what: String,
}

operation!(Consent, "consent", JobMode::Never);

impl Write for Consent {
    type Plan = (String, String);

    async fn prepare(&self, ctx: &Context<'_>) -> Result<(String, String), OpError> {
        let answers = ctx.ask(form("consent"))?;
        Ok((ctx.actor().organisation_id.to_string(), said(&answers["consent"])))
    }

    async fn apply(&self, plan: &(String, String), tx: &mut Tx<'_>) -> Result<Answer<Told>, ApplyError> {
        let n_rows = tx.fetch_all("SELECT 1 FROM idempotency_keys WHERE operation = 'consented'", &[]).await?.len();
        let stored = idempotency::Stored { in_hash: String::new(), output: String::new() };
        let key = format!("{n_rows}");
        idempotency::insert(tx, &plan.0, "somebody", "consented", &key, &stored, 0).await?;
        Ok(Answer::of(Told { text: format!("{}: {}", self.what, plan.1) }))
    }
}

/// Asks twice and takes the first answer unasked too.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interview {}

operation!(Interview, "interview", JobMode::Offered);

impl Read for Interview {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Told>, OpError> {
        let first = ctx.ask_unless_given(form("first"))?;
        let second = ctx.ask(form("second"))?;
        Ok(Answer::of(Told { text: format!("{}, {}", said(&first["first"]), said(&second["second"])) }))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Work {
    pub how: String,
}

operation!(Work, "work", JobMode::Required);

impl Read for Work {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Told>, OpError> {
        ctx.progress().report(1.0, Some(2.0), "half way");
        match self.how.as_str() {
            "hang" => std::future::pending().await,
            "panic" => panic!("as asked"),
            "fail" => Err(OpError::conflict("the state does not allow it")),
            how => Ok(Answer::of(Told { text: how.to_owned() })),
        }
    }
}

/// Shows something once.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Secret {}

operation!(Secret, "secret", JobMode::Offered);

impl Write for Secret {
    const KEEPS_OUTPUT: bool = false;

    type Plan = ();

    async fn prepare(&self, _ctx: &Context<'_>) -> Result<(), OpError> {
        Ok(())
    }

    async fn apply(&self, (): &(), _tx: &mut Tx<'_>) -> Result<Answer<Told>, ApplyError> {
        Ok(Answer::of(Told { text: "for your eyes".to_owned() }))
    }
}
