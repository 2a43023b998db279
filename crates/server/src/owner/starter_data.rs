//! The facts that come with the program, kept before the house takes its first call.

use std::time::Instant;

use contract::actor::{Actor, ActorKind, Role};
use contract::error::OpError;
use contract::id::{ActorId, OrganisationId};
use ops::{Call, Platform};
use serde_json::{Value, json};

/// A house without them is poorer but works, so a failure is told and not fatal: the next start tries again.
pub async fn load(platform: &Platform, organisation_id: &OrganisationId) {
    let started = Instant::now();
    match try_load(platform, organisation_id).await {
        Ok(None) => {}
        Ok(Some(loaded)) => {
            let duration_ms = u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX);
            let data_version = loaded.get("data_version").and_then(Value::as_str);
            let count = |member: &str| loaded.get(member).and_then(Value::as_u64).unwrap_or_default();
            tracing::info!(
                data_version,
                kept = count("kept"),
                deleted = count("deleted"),
                left_alone = count("left_alone"),
                duration_ms,
                "Loaded the starter data"
            );
        }
        Err(error) => {
            tracing::error!(error = %error, "The starter data could not be loaded; the next start tries again")
        }
    }
}

async fn try_load(platform: &Platform, organisation_id: &OrganisationId) -> Result<Option<Value>, OpError> {
    if !platform.is_starter_data_due(organisation_id).await? {
        return Ok(None);
    }
    let operation = "load_starter_data".to_owned();
    let call = Call { operation, input: json!({}), ..Call::default() };
    let reply = platform.call(&house(organisation_id), call).await;
    reply.result.map(|success| Some(success.output))
}

/// The program itself.
fn house(organisation_id: &OrganisationId) -> Actor {
    #[expect(clippy::expect_used, reason = "the constant is an id, as the tests of `contract::id` show")]
    let id = ActorId::parse("materia").expect("an id");
    Actor::new(organisation_id.clone(), id, ActorKind::Service, vec![Role::Curator])
}
