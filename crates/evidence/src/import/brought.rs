//! What an import has brought so far: no record of it takes the place of another one that stands in the same files.
//!
//! A record of another import may be replaced, as that is what updates are for. Within one, a record that comes again in the
//! same words is repeated; a statement in other words is kept beside the first one, as a warning must not be lost for an id
//! that was given twice; of nodes and documents in other words the first one counts.

use std::collections::HashMap;
use std::hash::{BuildHasher as _, RandomState};
use std::mem;

use contract::canonical;
use contract::evidence::record::{Document, Edge, Record, RecordKind};
use serde_json::json;

use super::{Item, fits, vocabulary};
use crate::record::papers::Paper;

/// Ids that are remembered for certain, and at most twice as many. As many as fill a table of 36 MB.
const IDS_MAX: usize = 1_835_000;
/// What the file calls a statement that is kept under another id.
const ID_OF_SOURCE: &str = "id_of_source";

/// By the hash of kind and id: that of the words. The older half is forgotten when the younger one is full.
#[derive(Default)]
pub struct Brought {
    young: HashMap<u64, u64>,
    old: HashMap<u64, u64>,
    state: RandomState,
}

impl Brought {
    /// The item as it is to be kept.
    pub fn settle(&mut self, item: Item) -> Item {
        match item {
            Item::Record(record) => self.settle_record(record),
            Item::Rejected(rejection) => Item::Rejected(rejection),
        }
    }

    fn settle_record(&mut self, mut record: Box<Record>) -> Item {
        let (kind, id) = match record.as_ref() {
            Record::Node(node) => (RecordKind::Node, &node.id),
            Record::Edge(edge) => (RecordKind::Edge, &edge.id),
            Record::Document(document) => (RecordKind::Document, &document.id),
            // What follows is about another one.
            Record::Deletion(deletion) => {
                let key = self.state.hash_one((deletion.kind.name(), &deletion.id));
                self.young.remove(&key);
                self.old.remove(&key);
                return Item::Record(record);
            }
            Record::Source(_) => return Item::Record(record),
        };
        let key = self.state.hash_one((kind.name(), id));
        // What has no such form is refused at the door.
        let Ok(words) = canonical::text(record.as_ref()) else { return Item::Record(record) };
        let content = self.state.hash_one(&words);
        let first = self.young.get(&key).or_else(|| self.old.get(&key));
        let is_other = first.is_some_and(|first| *first != content);
        if first.is_none() {
            self.remember(key, content);
        }
        match record.as_mut() {
            Record::Edge(edge) if is_other => name_apart(edge, &words),
            Record::Document(document) if is_other && is_settled_by_store(document) => {}
            Record::Node(_) | Record::Document(_) if is_other => {
                let reason = "it stands in the import twice, with other words; the first one counts";
                return Item::rejected(fits::id(&record), reason);
            }
            Record::Node(_) | Record::Edge(_) | Record::Document(_) | Record::Source(_) | Record::Deletion(_) => {}
        }
        Item::Record(record)
    }

    fn remember(&mut self, key: u64, content: u64) {
        if self.young.len() >= IDS_MAX {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, content);
    }
}

/// An id made of all that it says, so that the same file gives the same id again.
fn name_apart(edge: &mut Edge, words: &str) {
    let id = vocabulary::edge_id(&[&edge.source, &edge.id], words);
    let own = mem::replace(&mut edge.id, id);
    edge.qualifiers.entry(ID_OF_SOURCE.to_owned()).or_insert_with(|| json!(own));
}

/// Records of a paper are compared by their day and version, and what they say against papers is never left out.
fn is_settled_by_store(document: &Document) -> bool {
    let is_dated = ["revised", "version"].iter().any(|name| document.attributes.contains_key(*name));
    let paper = Paper::of(document);
    is_dated || paper.own.is_some() || !paper.says.is_empty()
}
