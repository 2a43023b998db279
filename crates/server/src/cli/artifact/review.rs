//! Asking somebody at a terminal about the text that they are about to approve.

use anyhow::Context as _;
use contract::actor::Actor;
use contract::workflow::artifacts::ArtifactContent;
use ops::Call;
use serde_json::{Map, Value, json};

use super::shown::read;
use super::{say, visible};
use crate::owner::House;

/// Of a hash that is shown beside a question.
const HASH_CHARS_SHOWN: usize = 12;

/// What a person says of the version that they are about to approve.
pub enum Reviewed {
    Yes {
        sha256: String,
    },
    No,
    /// There is none: the approval says why.
    Nothing,
}

/// Shows somebody at a terminal what they approve. What is stored from there on is not what they said yes to.
pub async fn ask(house: &House, actor: &Actor, id: &str, project_id: Option<&Value>) -> anyhow::Result<Reviewed> {
    let mut wanted = Map::from_iter([("artifact_id".to_owned(), json!(id))]);
    wanted.extend(project_id.map(|project| ("project_id".to_owned(), project.clone())));
    let call = Call { operation: "read_artifact".to_owned(), input: Value::Object(wanted), ..Call::default() };
    let Ok(success) = house.call(actor, call).await.result else { return Ok(Reviewed::Nothing) };
    let latest = read::<ArtifactContent>(success.output)?.artifact;
    let start: String = latest.content_sha256.chars().take(HASH_CHARS_SHOWN).collect();
    say(visible(&format!("{} version {}, {}, SHA-256 {start}…", latest.id, latest.version, latest.title)));
    say("Have you reviewed this text, and do you approve it? [y/N]");
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).context("could not read the answer")?;
    Ok(match is_yes(&line) {
        true => Reviewed::Yes { sha256: latest.content_sha256 },
        false => Reviewed::No,
    })
}

fn is_yes(line: &str) -> bool {
    ["y", "yes"].contains(&line.trim().to_lowercase().as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_yes_is_one() {
        assert!(is_yes("y\n") && is_yes(" Yes\n"));
        assert!(!is_yes("") && !is_yes("\n") && !is_yes("no\n") && !is_yes("yesterday"));
    }
}
