//! What the house does by itself, through the door like everybody else: it deletes what has expired and makes the vectors
//! that are missing. Its calls are events; the log on the screen tells of those that failed and of what was reached.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use contract::actor::{Actor, ActorKind, HOUSEKEEPER};
use contract::id::{ActorId, OrganisationId};
use ops::Call;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::auth::{Authenticator, owner};
use crate::owner::House;

/// How often expired things are deleted.
const TIDY_EVERY: Duration = Duration::from_secs(600);
/// How often new texts are looked for that need vectors.
const EMBED_EVERY: Duration = Duration::from_secs(1);
const EMBED_AGAIN_AFTER: Duration = Duration::from_secs(60);

pub struct Housekeeper {
    pub house: Arc<House>,
    pub authenticator: Arc<Authenticator>,
    pub stop: CancellationToken,
}

impl Housekeeper {
    fn actor(organisation_id: &OrganisationId) -> Actor {
        let mut actor = owner(organisation_id);
        if let Ok(id) = ActorId::parse(HOUSEKEEPER) {
            actor.id = id;
        }
        Actor { kind: ActorKind::Service, ..actor }
    }

    /// Waits, unless the house closes meanwhile.
    async fn wait(&self, duration: Duration) -> Result<(), Closing> {
        tokio::select! {
            () = tokio::time::sleep(duration) => Ok(()),
            () = self.stop.cancelled() => Err(Closing),
        }
    }

    /// The output, or nothing where the call failed: its event and a line of the log say why.
    async fn call(&self, organisation_id: &OrganisationId, operation: &str) -> Option<Value> {
        let call = Call { operation: operation.to_owned(), input: json!({}), ..Call::default() };
        let reply = self.house.call(&Housekeeper::actor(organisation_id), call).await;
        reply.result.ok().map(|success| success.output)
    }

    /// Deletes what has expired. What failed is tried again in the next round.
    pub async fn tidy(self) {
        while self.wait(TIDY_EVERY).await.is_ok() {
            for organisation_id in self.authenticator.organisations() {
                for operation in ["delete_expired_reservations", "tidy_house"] {
                    self.call(&organisation_id, operation).await;
                }
            }
        }
    }

    /// Makes the vectors of texts that have none.
    pub async fn embed(self) {
        let mut seen: HashMap<OrganisationId, Seen> = HashMap::new();
        while self.wait(EMBED_EVERY).await.is_ok() {
            for organisation_id in self.authenticator.organisations() {
                let seen = seen.entry(organisation_id.clone()).or_default();
                if self.embed_of(&organisation_id, seen).await.is_err() {
                    return;
                }
            }
        }
    }

    async fn embed_of(&self, organisation_id: &OrganisationId, seen: &mut Seen) -> Result<(), Closing> {
        // Whoever owns the folder does it; nothing is called while nothing is to be done.
        let Some(platform) = self.house.platform() else { return Ok(()) };
        let services = platform.services();
        let heard = services.evidence.heard(organisation_id.as_str()).unwrap_or_default();
        let has_news = match seen.heard.replace(heard) {
            Some(known) => heard > known,
            // The model may be another than last time, or the house was closed before all was done.
            None => services.search.model().is_some(),
        };
        if !has_news && services.search.n_lacking(organisation_id.as_str()).await == 0 {
            return Ok(());
        }
        let Some(output) = self.call(organisation_id, "embed_records").await else {
            // A model that fails now fails in a second too.
            return self.wait(EMBED_AGAIN_AFTER).await;
        };
        let count = |field: &str| output.get(field).and_then(Value::as_u64).unwrap_or_default();
        let is_begin = seen.n_embedded == 0;
        seen.n_embedded += count("embedded");
        if is_begin && count("missing") > 0 {
            let n_missing = count("missing");
            tracing::info!(n_missing, "Making the vectors of {n_missing} texts; search finds by words meanwhile");
        }
        if count("missing") == 0 && seen.n_embedded > 0 {
            let n_embedded = std::mem::take(&mut seen.n_embedded);
            tracing::info!(n_embedded, "Made the vectors of {n_embedded} texts; every text has its own");
        }
        Ok(())
    }
}

/// The house closes.
struct Closing;

#[derive(Default)]
struct Seen {
    /// The change up to which an organisation's evidence was looked at; nothing before the first look.
    heard: Option<i64>,
    /// Vectors made since the last time that none was missing.
    n_embedded: u64,
}
