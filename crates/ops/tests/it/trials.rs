//! Operations that misbehave, to see that the door holds.

use contract::actor::Role;
use contract::envelope::Artifact;
use contract::error::OpError;
use ops::{Answer, ApplyError, Context, Entry, Family, Operation, Read, Write};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::Tx;

pub const TRIALS: &[Entry] = &[
    Entry::read::<Misbehave>(),
    Entry::write::<PanicInApply>(),
    Entry::read::<LieAboutOutput>(),
    Entry::read::<ShowArtifacts>(),
    Entry::write::<contract::workflow::GetNextAvailableId>(),
];

macro_rules! trial {
    ($name:ident, $word:literal, $output:ty) => {
        impl Operation for $name {
            const NAME: &'static str = $word;
            const ABOUT: &'static str = "A trial.";
            const FAMILY: Family = Family::House;
            const ROLES: &'static [Role] = &Role::ALL;

            type Output = $output;
        }
    };
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Misbehave {
    pub how: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub struct Number {
    #[schemars(range(max = 10))]
    pub number: u32,
}

trial!(Misbehave, "misbehave", Number);

impl Read for Misbehave {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Number>, OpError> {
        match self.how.as_str() {
            "panic" => panic!("as asked"),
            "hang" => std::future::pending().await,
            _ => {
                ctx.progress().report(1.0, Some(1.0), "done");
                Ok(Answer::of(Number { number: 1 }))
            }
        }
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanicInApply {}

trial!(PanicInApply, "panic_in_apply", Number);

impl Write for PanicInApply {
    type Plan = ();

    async fn prepare(&self, _ctx: &Context<'_>) -> Result<(), OpError> {
        Ok(())
    }

    async fn apply(&self, _plan: &(), _tx: &mut Tx<'_>) -> Result<Answer<Number>, ApplyError> {
        panic!("as asked")
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LieAboutOutput {}

trial!(LieAboutOutput, "lie_about_output", Number);

impl Read for LieAboutOutput {
    async fn run(&self, _ctx: &Context<'_>) -> Result<Answer<Number>, OpError> {
        Ok(Answer::of(Number { number: 11 }))
    }
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ShowArtifacts {}

trial!(ShowArtifacts, "show_artifacts", Number);

impl Read for ShowArtifacts {
    async fn run(&self, _ctx: &Context<'_>) -> Result<Answer<Number>, OpError> {
        let mut answer = Answer::of(Number { number: 1 });
        answer.artifacts.push(Artifact {
            id: None,
            kind: "text/markdown".to_owned(),
            title: "Note".to_owned(),
            content: "# Note".to_owned(),
            language: None,
        });
        Ok(answer)
    }
}
