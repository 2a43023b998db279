//! Operations that misbehave, and some that show what the real ones will need.

use std::future::pending;

use contract::actor::Role;
use contract::envelope::Artifact;
use contract::error::OpError;
use ops::{Answer, ApplyError, Context, Entry, Family, Operation, Read, Write};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;
use store::Tx;

/// What a trial answers.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Done {
    pub text: String,
}

fn done(text: impl Into<String>) -> Answer<Done> {
    Answer::of(Done { text: text.into() })
}

macro_rules! trial {
    ($(#[$schema:meta])* $name:ident, $word:literal, $family:ident, { $($(#[$attribute:meta])* $field:ident: $kind:ty),* } $(, $alias:literal)?) => {
        #[derive(Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name { $($(#[$attribute])* $field: $kind),* }

        impl Operation for $name {
            const NAME: &'static str = $word;
            const ABOUT: &'static str = "A trial.";
            const FAMILY: Family = Family::$family;
            const ROLES: &'static [Role] = &Role::ALL;
            const ALIASES: &'static [&'static str] = &[$($alias)?];

            type Output = Done;
        }
    };
}

trial!(PanicInRead, "panic_in_read", House, {});
trial!(PanicInPlan, "panic_in_plan", House, {});
trial!(PanicInApply, "panic_in_apply", Workflow, {});
trial!(HangInRead, "hang_in_read", House, {});
trial!(HangInPlan, "hang_in_plan", Workflow, {});
trial!(Count, "count", House, { n_steps: u32, size_bytes: usize });
trial!(Show, "show", House, { text: String }, "tool.show");
trial!(Travel, "travel", House, { #[schemars(extend("x-mcp-header" = "City"))] city: String });
trial!(Breach, "breach", House, {});

pub const TRIALS: &[Entry] = &[
    Entry::read::<PanicInRead>(),
    Entry::write::<PanicInPlan>(),
    Entry::write::<PanicInApply>(),
    Entry::read::<HangInRead>(),
    Entry::write::<HangInPlan>(),
    Entry::read::<Count>(),
    Entry::read::<Show>(),
    Entry::read::<Travel>(),
    Entry::read::<Breach>(),
];

impl Read for PanicInRead {
    async fn run(&self, _ctx: &Context<'_>) -> Result<Answer<Done>, OpError> {
        panic!("a secret in /tmp/secret")
    }
}

impl Write for PanicInPlan {
    type Plan = ();

    async fn prepare(&self, _ctx: &Context<'_>) -> Result<(), OpError> {
        panic!("a secret in /tmp/secret")
    }

    async fn apply(&self, _plan: &(), _tx: &mut Tx<'_>) -> Result<Answer<Done>, ApplyError> {
        Ok(done("never"))
    }
}

impl Write for PanicInApply {
    type Plan = ();

    async fn prepare(&self, _ctx: &Context<'_>) -> Result<(), OpError> {
        Ok(())
    }

    async fn apply(&self, _plan: &(), _tx: &mut Tx<'_>) -> Result<Answer<Done>, ApplyError> {
        panic!("a secret in /tmp/secret")
    }
}

impl Read for HangInRead {
    async fn run(&self, _ctx: &Context<'_>) -> Result<Answer<Done>, OpError> {
        pending().await
    }
}

impl Write for HangInPlan {
    type Plan = ();

    async fn prepare(&self, _ctx: &Context<'_>) -> Result<(), OpError> {
        pending().await
    }

    async fn apply(&self, _plan: &(), _tx: &mut Tx<'_>) -> Result<Answer<Done>, ApplyError> {
        Ok(done("never"))
    }
}

/// Reports each step, then answers with so many bytes.
impl Read for Count {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Done>, OpError> {
        for step in 1..=self.n_steps {
            ctx.progress().report(f64::from(step), Some(f64::from(self.n_steps)), &format!("step {step}"));
        }
        Ok(done("x".repeat(self.size_bytes)))
    }
}

/// An answer with everything that goes beside one (seed 003).
impl Read for Show {
    async fn run(&self, _ctx: &Context<'_>) -> Result<Answer<Done>, OpError> {
        let mut answer = done(self.text.clone());
        answer.artifacts.push(Artifact {
            id: None,
            kind: "text/markdown".to_owned(),
            title: "Shown".to_owned(),
            content: self.text.clone(),
            language: None,
        });
        answer.metadata.insert("nodeCount".to_owned(), json!(3));
        Ok(answer)
    }
}

impl Read for Travel {
    async fn run(&self, _ctx: &Context<'_>) -> Result<Answer<Done>, OpError> {
        Ok(done(self.city.clone()))
    }
}

/// Fails with a cause that no caller may see.
impl Read for Breach {
    async fn run(&self, _ctx: &Context<'_>) -> Result<Answer<Done>, OpError> {
        Err(OpError::internal("SELECT secret FROM sqlite at /tmp/secret"))
    }
}
