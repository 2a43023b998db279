//! The history of each document, row by row: each state that it was in is compared with the event that brought it there.

use std::collections::{HashMap, HashSet};

use contract::time::rfc3339_us;
use store::{Conn, StoreError};
use workflow::audited::revisions::{self, FoundHistory, FoundRevision, Place};

use super::{Caused, Check, Key};
use crate::audit::report::Whose;

const DOCUMENT: &str = "artifact";
pub(super) const MOVE: &str = "artifact_revision";

/// What events tell of the states of documents.
#[derive(Default)]
pub(super) struct Histories {
    /// Organisation and id of a document → the hash of its row in each state → who brought it there, and when.
    told: HashMap<(String, String), HashMap<String, Told>>,
    /// Rows of moves that are as they were written, by organisation and id.
    right_moves: HashSet<(String, String)>,
    /// What was said of wrong rows, by organisation.
    named: HashSet<(String, String)>,
}

struct Told {
    by: String,
    time: String,
}

impl Histories {
    pub fn note(&mut self, (organisation_id, kind, id): &Key, sha256: Option<&str>, call: &Caused) {
        if let Some(sha256) = sha256.filter(|_| kind == DOCUMENT) {
            let told = Told { by: call.by.clone(), time: call.time.clone() };
            self.told.entry((organisation_id.clone(), id.clone())).or_default().insert(sha256.to_owned(), told);
        }
    }

    /// The event of a move tells of the state before it too. That one is compared by itself.
    pub fn is_right_move(&self, organisation_id: &str, id: &str) -> bool {
        self.right_moves.contains(&(organisation_id.to_owned(), id.to_owned()))
    }

    pub fn is_named(&self, organisation_id: &str, what: &str) -> bool {
        self.named.contains(&(organisation_id.to_owned(), what.to_owned()))
    }

    fn is_told(&self, history: &FoundHistory, found: &FoundRevision) -> bool {
        let states = self.told.get(&(history.organisation_id.clone(), history.id.clone()));
        let told = found.sha256.as_ref().and_then(|sha256| states?.get(sha256));
        told.is_some_and(|told| told.by == found.changed_by && told.time == rfc3339_us(found.changed_at_us))
    }
}

impl Check<'_> {
    /// Compares every row of the history of every document. A document whose own row is not as the log tells is named by
    /// that, and nothing can be said of its history.
    pub(super) async fn histories(&mut self, conn: &mut Conn) -> Result<(), StoreError> {
        let mut place = Some(Place::default());
        while let Some(now) = place {
            let (page, next) = revisions::read_page(conn, now).await?;
            for history in page {
                let key = (history.organisation_id.clone(), DOCUMENT.to_owned(), history.id.clone());
                if self.last.get(&key).is_some_and(|last| last.sha256 == history.sha256) {
                    self.history(&history);
                }
            }
            place = next;
        }
        Ok(())
    }

    fn history(&mut self, history: &FoundHistory) {
        let FoundHistory { organisation_id, id, revisions, .. } = history;
        for found in revisions {
            let (is_told, revision) = (self.histories.is_told(history, found), found.revision);
            if found.is_move {
                if is_told {
                    self.histories.right_moves.insert((organisation_id.clone(), format!("{id}/{revision}")));
                }
                continue;
            }
            if !is_told {
                let what = format!("revision {revision} of {id} was changed by other hands");
                self.histories.named.insert((organisation_id.clone(), what.clone()));
                self.report.add("object", Whose::Organisation(organisation_id), None, None, what);
            }
        }
    }
}
