//! Whose record each one is: what a source brought is replaced and withdrawn by that source alone.

use std::collections::{BTreeSet, HashMap};

use contract::evidence::record::RecordKind;
use contract::evidence::starter::is_own_source;
use store::{Conn, StoreError};

use super::{Incoming, Sha256, read};

type Key = (RecordKind, String);

/// The sources of the records that a batch has other words for or withdraws, as far as it was looked through.
pub(super) struct Owners(HashMap<Key, String>);

impl Owners {
    pub async fn read(
        conn: &mut Conn,
        organisation_id: &str,
        incoming: &[Incoming],
        known: &HashMap<Key, Sha256>,
    ) -> Result<Owners, StoreError> {
        #[derive(serde::Deserialize)]
        struct Owned {
            source: String,
        }
        let is_other = |record: &&Incoming| {
            let now = known.get(&(record.kind, record.id.clone()));
            now.is_some() && now != record.content.as_ref().map(|content| &content.sha256)
        };
        let mut owners = HashMap::new();
        for kind in [RecordKind::Node, RecordKind::Edge, RecordKind::Document] {
            let others = incoming.iter().filter(|record| record.kind == kind).filter(is_other);
            let ids: BTreeSet<&str> = others.map(|record| record.id.as_str()).collect();
            let ids: Vec<&str> = ids.into_iter().collect();
            for stored in read::find(conn, organisation_id, kind, &ids).await? {
                let Owned { source } = stored.parse()?;
                owners.insert((kind, stored.id), source);
            }
        }
        Ok(Owners(owners))
    }

    /// Notes whose a record is now; nobody's, where nothing is left of it.
    pub fn note(&mut self, record: &Incoming) {
        let key = (record.kind, record.id.clone());
        match record.source.as_ref().filter(|_| record.content.is_some()) {
            Some(source) => self.0.insert(key, source.clone()),
            None => self.0.remove(&key),
        };
    }

    /// Whether a record that is to become another, or to go, is whose the caller says.
    pub fn check(&self, record: &Incoming) -> Result<(), String> {
        let Some(owner) = self.0.get(&(record.kind, record.id.clone())) else { return Ok(()) };
        // Whoever may replace what came with the program has said so.
        if record.source.as_ref() == Some(owner) || is_own_source(owner) {
            return Ok(());
        }
        let (kind, id) = (record.kind.name(), &record.id);
        let what = match record.kind {
            RecordKind::Edge => "is a statement of",
            RecordKind::Source | RecordKind::Node | RecordKind::Document => "is of",
        };
        let stays = format!("the {kind} `{id}` {what} the source `{owner}` and stays as it is");
        Err(match record.content {
            Some(_) => format!("`id`: {stays}; use an id of your own, or say `replace_other_sources`"),
            None => format!(
                "`source`: {stays}; who withdraws it names that source as their own, or says `replace_other_sources`"
            ),
        })
    }
}
