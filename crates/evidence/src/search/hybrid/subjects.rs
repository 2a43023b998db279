//! Questions that name things of the graph, or are an id: what is about those things comes first, and ours before what others
//! brought.

use std::collections::BTreeSet;

use contract::evidence::starter::is_own_source;
use tantivy::DocAddress;

use super::super::entry::{EntryRecord, key};
use super::super::fusion::highest;
use super::super::index::{Allowed, SearchError};
use super::super::lexical::Found;
use super::{Library, Reading};

/// Where a question is nothing but the name of a thing: scores of what is about that thing in the language of the question
/// and in others, of what names it, and of the rest.
const ABOUT: (f64, f64) = (0.9, 1.0);
const ABOUT_IN_OTHER_WORDS: (f64, f64) = (0.8, 0.9);
const NAMES_IT: (f64, f64) = (0.6, 0.8);
const NAMES_IT_NOT: (f64, f64) = (0.0, 0.5);
/// Where a question says more than a name: what is about a thing that it names is worth at least so much of the best hit.
/// It is where the warnings stand.
const ABOUT_NAMED: f64 = 0.97;
/// Where a question is the id of an entry: scores of the others.
const NOT_ASKED: f64 = 0.5;
/// A question that names more things is about none of them.
const NAMED_MAX: usize = 4;
/// The least that tells two scores apart.
const STEP: f64 = 1e-6;

impl Library {
    /// Who asks for a thing by its name wants what is about it, then what names it, before what merely sounds like it.
    pub(super) fn prefer_subjects(
        &self,
        reading: &Reading,
        allowed: Option<&Allowed>,
        fused: &mut Vec<Found>,
    ) -> Result<(), SearchError> {
        let (mut about, mut naming) = (BTreeSet::new(), BTreeSet::new());
        for id in &reading.subjects {
            about.extend(self.snapshot.about(id)?);
            naming.extend(self.snapshot.naming(id)?);
        }
        if about.is_empty() && naming.is_empty() {
            return Ok(());
        }
        let found: BTreeSet<DocAddress> = fused.iter().map(|one| one.address).collect();
        let is_missing =
            |address: &&DocAddress| !found.contains(*address) && allowed.is_none_or(|allowed| allowed.has(**address));
        fused.extend(about.iter().filter(is_missing).map(|address| Found { address: *address, score: 0.0 }));
        let langs = self.snapshot.langs();
        for one in fused.iter_mut() {
            let (from, to) = match (about.contains(&one.address), naming.contains(&one.address)) {
                (true, _) if langs.of(one.address) == Some(reading.lang) => ABOUT,
                (true, _) => ABOUT_IN_OTHER_WORDS,
                (false, true) => NAMES_IT,
                (false, false) => NAMES_IT_NOT,
            };
            one.score = from + (to - from) * one.score;
        }
        self.own_first(reading, allowed, fused)
    }

    /// Of the nodes that have the question for a name, what came with the program stands before what others brought.
    fn own_first(
        &self,
        reading: &Reading,
        allowed: Option<&Allowed>,
        fused: &mut Vec<Found>,
    ) -> Result<(), SearchError> {
        let (mut own, mut others) = (BTreeSet::new(), BTreeSet::new());
        for id in reading.subjects.iter().filter(|_| reading.subjects.len() > 1) {
            let Some(address) = self.snapshot.find(&key(EntryRecord::Node, id))? else { continue };
            if allowed.is_some_and(|allowed| !allowed.has(address)) {
                continue;
            }
            let is_own = is_own_source(&self.snapshot.entry(address)?.source);
            if is_own { &mut own } else { &mut others }.insert(address);
        }
        if own.is_empty() || others.is_empty() {
            return Ok(());
        }
        let found: BTreeSet<DocAddress> = fused.iter().map(|one| one.address).collect();
        fused.extend(own.difference(&found).map(|address| Found { address: *address, score: 0.0 }));
        let best = |among: &BTreeSet<DocAddress>| {
            let scores = fused.iter().filter(|one| among.contains(&one.address)).map(|one| one.score);
            scores.fold(0.0, f64::max)
        };
        let (best_own, best_other) = (best(&own), best(&others));
        let step = (best_other - best_own).max(0.0);
        for one in fused.iter_mut() {
            if own.contains(&one.address) {
                one.score += step;
            } else if others.contains(&one.address) {
                one.score = one.score.min(best_own + step - STEP);
            }
        }
        Ok(())
    }

    /// Who asks by an id wants that entry, whatever else is written alike. Answers with those that are meant.
    pub(super) fn put_first(
        &self,
        reading: &Reading,
        allowed: Option<&Allowed>,
        fused: &mut Vec<Found>,
    ) -> Result<BTreeSet<DocAddress>, SearchError> {
        let mut asked = BTreeSet::new();
        for key in &reading.asked {
            let found = self.snapshot.find(key)?;
            asked.extend(found.filter(|address| allowed.is_none_or(|allowed| allowed.has(*address))));
        }
        if !asked.is_empty() {
            fused.retain(|one| !asked.contains(&one.address));
            fused.iter_mut().for_each(|one| one.score *= NOT_ASKED);
            fused.extend(asked.iter().map(|address| Found { address: *address, score: 1.0 }));
        }
        Ok(asked)
    }

    /// Who asks something of a thing that the record has a text about sees that text, whatever else is said in the same
    /// words: for each thing the best one in the language of the question, or else in another.
    pub(super) fn keep_named(
        &self,
        reading: &Reading,
        allowed: Option<&Allowed>,
        fused: &mut Vec<Found>,
    ) -> Result<(), SearchError> {
        if !reading.subjects.is_empty() || reading.entities.len() > NAMED_MAX {
            return Ok(());
        }
        let langs = self.snapshot.langs();
        let worth = ABOUT_NAMED * highest(fused);
        for id in &reading.entities {
            let mut best: Option<Named> = None;
            for address in self.snapshot.about(id)? {
                if allowed.is_some_and(|allowed| !allowed.has(address)) {
                    continue;
                }
                let found = fused.iter().position(|one| one.address == address);
                let score = found.and_then(|at| fused.get(at)).map_or(0.0, |one| one.score);
                let is_in_lang = langs.of(address) == Some(reading.lang);
                let one = Named { is_in_lang, score, key: self.snapshot.key(address)?, address, found };
                if best.as_ref().is_none_or(|best| one.is_before(best)) {
                    best = Some(one);
                }
            }
            match best {
                Some(Named { score, address, found: None, .. }) => {
                    fused.push(Found { address, score: worth.max(score) });
                }
                Some(Named { score, found: Some(at), .. }) => {
                    if let Some(one) = fused.get_mut(at) {
                        one.score = worth.max(score);
                    }
                }
                None => {}
            }
        }
        Ok(())
    }
}

/// A text about a thing that a question names.
struct Named {
    is_in_lang: bool,
    score: f64,
    key: String,
    address: DocAddress,
    /// Its place among the hits.
    found: Option<usize>,
}

impl Named {
    /// By key where nothing else tells them apart: where an entry stands in the index depends on how it came there.
    fn is_before(&self, other: &Named) -> bool {
        let order = other.is_in_lang.cmp(&self.is_in_lang).then(other.score.total_cmp(&self.score));
        order.then_with(|| self.key.cmp(&other.key)).is_lt()
    }
}
