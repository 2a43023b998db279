//! Papers that were read and wait until more of the file is: the records of one file may speak of each other.
//!
//! A notice marks the paper that it retracts, whichever of the two comes first, and of two records of a paper the one
//! that was revised later counts. Both hold as far as the papers that wait reach; beyond, records pass in their order, and
//! the store compares their days.

use std::collections::{HashMap, VecDeque};
use std::mem;

use contract::evidence::record::{Document, Record, Retraction};

use super::super::{Item, fits};
use crate::record::papers::{self, settle};

const WAITING_BYTES_MAX: usize = 16 * 1024 * 1024;
/// What an item takes beside its own text.
const ITEM_BYTES: usize = 500;
/// A file of PubMed holds some ten thousands. Forgets all when full: what follows is read as if it began the file.
const KNOWN_MAX: usize = 500_000;

/// A paper as its record in the file states it.
pub struct Paper {
    pub pmid: u32,
    pub revised: Revised,
    pub document: Document,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revised {
    /// Year, month and day as one number.
    pub day: Option<u32>,
    pub version: u32,
}

impl Revised {
    /// By the day; of one day, or where neither says it, by the version.
    fn is_before(self, other: Revised) -> bool {
        let is_of_earlier_day = self.day.zip(other.day).is_some_and(|(day, other)| day < other);
        is_of_earlier_day || (self.day == other.day && self.version < other.version)
    }
}

struct Waiter {
    item: Item,
    pmid: Option<u32>,
    /// Of one.
    n_bytes: usize,
    /// Records of the paper that say the very same. Each is handed on, and counts as repeated.
    n_same: usize,
}

impl Waiter {
    fn of_paper(pmid: u32, document: Document) -> Waiter {
        let record = Record::Document(document);
        Waiter { n_bytes: ITEM_BYTES + fits::size(&record), item: Item::of(record), pmid: Some(pmid), n_same: 0 }
    }

    fn n_bytes_all(&self) -> usize {
        self.n_bytes * (self.n_same + 1)
    }
}

#[derive(Default)]
pub struct Waiting {
    waiters: VecDeque<Waiter>,
    n_bytes: usize,
    n_gone: usize,
    /// Where a paper waits, counted from the first that ever did.
    places: HashMap<u32, usize>,
    revisions: HashMap<u32, Revised>,
    /// By the paper that does not stand: what its notice says.
    notices: HashMap<u32, Retraction>,
}

impl Waiting {
    pub fn push(&mut self, item: Item) {
        self.add(Waiter { item, pmid: None, n_bytes: ITEM_BYTES, n_same: 0 });
    }

    /// What follows about a paper that was deleted is about a new one.
    pub fn push_deletion(&mut self, item: Item, pmid: u32) {
        self.places.remove(&pmid);
        self.revisions.remove(&pmid);
        self.push(item);
    }

    pub fn push_paper(&mut self, paper: Paper) {
        let Paper { pmid, revised, mut document } = paper;
        let known = self.revisions.get(&pmid).copied();
        if known.is_some_and(|known| revised.is_before(known)) {
            match document.retraction.take() {
                Some(told) if self.places.contains_key(&pmid) => self.tell(pmid, &told),
                // The later one is in the record by then, and there it is marked.
                Some(told) => {
                    document.retraction = Some(told);
                    self.add(Waiter::of_paper(pmid, document));
                    return;
                }
                None => {}
            }
            let reason = "a record of it that was revised later, or of a later version, stands before it in the file";
            self.push(Item::rejected(format!("PMID {pmid}"), reason));
            return;
        }
        let day = revised.day.or(known.and_then(|known| known.day));
        remember(&mut self.revisions, pmid, Revised { day, ..revised });
        for (about, retraction) in papers::Paper::of(&document).says {
            let Some(about) = about.strip_prefix("pmid:").and_then(|number| number.parse().ok()) else { continue };
            // All of a file is of one source.
            self.tell(about, &Retraction { source: None, ..retraction });
        }
        if let Some(notice) = self.notices.get(&pmid) {
            settle(&mut document.retraction, notice);
        }
        // A silent record does not take away what another one says.
        if let Some(told) = self.document(pmid).and_then(|earlier| earlier.retraction.clone()) {
            settle(&mut document.retraction, &told);
        }
        let waiter = Waiter::of_paper(pmid, document);
        let earlier = self.places.get(&pmid).and_then(|place| self.waiters.get_mut(place - self.n_gone));
        match earlier {
            // It takes its room, so that no number of them is held.
            Some(earlier) if earlier.item == waiter.item => {
                earlier.n_same += 1;
                self.n_bytes += earlier.n_bytes;
            }
            // The store would see two changes, at every import anew.
            Some(earlier) => {
                let replaced = mem::replace(earlier, waiter);
                self.n_bytes = self.n_bytes - replaced.n_bytes_all() + earlier.n_bytes;
                for _ in 0..=replaced.n_same {
                    let reason = "another record of it stands behind it in the file, and counts";
                    self.push(Item::rejected(format!("PMID {pmid}"), reason));
                }
            }
            None => {
                self.places.insert(pmid, self.n_gone + self.waiters.len());
                self.add(waiter);
            }
        }
    }

    /// Marks a paper that waits, and those records of it that are still to come.
    fn tell(&mut self, about: u32, retraction: &Retraction) {
        if let Some(document) = self.document(about) {
            settle(&mut document.retraction, retraction);
        }
        let mut told = self.notices.remove(&about);
        settle(&mut told, retraction);
        told.into_iter().for_each(|told| remember(&mut self.notices, about, told));
    }

    fn add(&mut self, waiter: Waiter) {
        self.n_bytes += waiter.n_bytes;
        self.waiters.push_back(waiter);
    }

    fn document(&mut self, pmid: u32) -> Option<&mut Document> {
        let place = self.places.get(&pmid)? - self.n_gone;
        match &mut self.waiters.get_mut(place)?.item {
            Item::Record(record) => match record.as_mut() {
                Record::Document(document) => Some(document),
                Record::Source(_) | Record::Node(_) | Record::Edge(_) | Record::Deletion(_) => None,
            },
            Item::Rejected(_) => None,
        }
    }

    /// Hands on what has waited long enough.
    pub fn release(&mut self, out: &mut VecDeque<Item>) {
        while self.n_bytes > WAITING_BYTES_MAX {
            self.release_one(out);
        }
    }

    pub fn release_all(&mut self, out: &mut VecDeque<Item>) {
        while !self.waiters.is_empty() {
            self.release_one(out);
        }
    }

    fn release_one(&mut self, out: &mut VecDeque<Item>) {
        let Some(waiter) = self.waiters.pop_front() else { return };
        self.n_bytes -= waiter.n_bytes_all();
        let Waiter { item, pmid, n_same, .. } = waiter;
        if let Some(pmid) = pmid
            && self.places.get(&pmid) == Some(&self.n_gone)
        {
            self.places.remove(&pmid);
        }
        self.n_gone += 1;
        out.extend(std::iter::repeat_n(item, n_same + 1));
    }
}

fn remember<T>(known: &mut HashMap<u32, T>, key: u32, value: T) {
    if known.len() >= KNOWN_MAX {
        known.clear();
    }
    known.insert(key, value);
}

#[cfg(test)]
mod tests {
    use super::super::super::paper;
    use super::*;
    use serde_json::json;

    /// A paper of a megabyte.
    fn paper(pmid: u32, retracts: &[u32]) -> Paper {
        let mut document = paper::pubmed_document(&pmid.to_string(), "pubmed");
        document.text = "a".repeat(1024 * 1024);
        let corrections = retracts.iter().map(|pmid| json!({ "kind": "RetractionOf", "pmid": pmid.to_string() }));
        document.attributes.insert("corrections".to_owned(), corrections.collect());
        Paper { pmid, revised: Revised { day: Some(20_200_101), version: 1 }, document }
    }

    #[test]
    fn papers_that_waited_long_enough_pass_in_their_order() {
        let (mut waiting, mut out) = (Waiting::default(), VecDeque::new());
        for pmid in 1..=20 {
            waiting.push_paper(paper(pmid, &[]));
            waiting.release(&mut out);
        }
        assert_eq!(out.len(), 5);
        for next in [paper(21, &[1, 20]), paper(1, &[]), paper(20, &[])] {
            waiting.push_paper(next);
            waiting.release(&mut out);
        }
        waiting.release_all(&mut out);
        let told = out.iter().map(|item| match item {
            Item::Record(record) => match record.as_ref() {
                Record::Document(document) => (document.id.clone(), document.retraction.is_some()),
                other => panic!("{other:?}"),
            },
            Item::Rejected(rejection) => panic!("{rejection:?}"),
        });
        let expected = (1..=19).map(|pmid| (pmid, false)).chain([(20, true), (20, true), (21, false), (1, true)]);
        let expected = expected.map(|(pmid, is_retracted)| (format!("PMID:{pmid}"), is_retracted));
        assert_eq!(told.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        assert_eq!((waiting.n_bytes, waiting.places.len()), (0, 0));
    }
}
