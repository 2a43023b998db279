//! The list of what is wrong with a log, as far as its reader may see it.

use std::collections::BTreeMap;

use contract::ledger::{LogProblem, Verification};

use crate::doubts::{Doubt, Finding};

const PROBLEMS_MAX: usize = 100;

/// Who asked. Ids of other organisations are for the house's own auditors alone.
#[derive(Debug, Clone, Copy)]
pub enum Reader<'a> {
    /// The house: it sees everything. Rows of its own organisation need no name.
    House {
        organisation_id: &'a str,
    },
    Organisation(&'a str),
    /// Whoever restores a whole database.
    Restorer,
}

/// Whose event or row a problem is about.
#[derive(Debug, Clone, Copy)]
pub enum Whose<'a> {
    /// The log's itself; such a problem names no event or row.
    Log,
    Organisation(&'a str),
    /// An event that is gone belonged to somebody.
    Unknown,
}

pub struct Report<'a> {
    reader: Reader<'a>,
    problems: Vec<LogProblem>,
    n_problems: u64,
    n_elsewhere: u64,
    /// How many of each kind outlast their being put right, and the first of them.
    findings: BTreeMap<&'static str, (u64, String)>,
}

/// A verification, and what of it is told of until somebody has looked.
pub struct Verdict {
    pub verification: Verification,
    pub doubts: Vec<Doubt>,
}

impl Report<'_> {
    pub fn to(reader: Reader<'_>) -> Report<'_> {
        let (problems, findings) = (Vec::new(), BTreeMap::new());
        Report { reader, problems, n_problems: 0, n_elsewhere: 0, findings }
    }

    /// Adds what was found wrong, which is told of also when it was put right.
    pub fn add(
        &mut self,
        kind: &'static str,
        whose: Whose<'_>,
        leaf_index: Option<u64>,
        call_id: Option<&str>,
        message: String,
    ) {
        let (n, _) = self.findings.entry(kind).or_insert_with(|| (0, placed(leaf_index, call_id, &message)));
        *n += 1;
        self.add_passing(kind, whose, leaf_index, call_id, message);
    }

    /// Adds what may pass with no harm done, or is told of elsewhere.
    pub fn add_passing(
        &mut self,
        kind: &'static str,
        whose: Whose<'_>,
        leaf_index: Option<u64>,
        call_id: Option<&str>,
        message: String,
    ) {
        self.n_problems += 1;
        let organisation_id = match (self.reader, whose) {
            (Reader::Organisation(reader), Whose::Organisation(owner)) if reader != owner => None,
            (Reader::Organisation(_), Whose::Unknown) => None,
            (_, Whose::Organisation(owner)) => Some(Some(owner)),
            (_, Whose::Log | Whose::Unknown) => Some(None),
        };
        let Some(organisation_id) = organisation_id else {
            self.n_elsewhere += 1;
            return;
        };
        if self.problems.len() >= PROBLEMS_MAX {
            return;
        }
        let message = match (self.reader, organisation_id) {
            (Reader::House { organisation_id: home }, Some(owner)) if owner != home => {
                format!("{message} (organisation `{owner}`)")
            }
            (Reader::House { .. } | Reader::Organisation(_) | Reader::Restorer, _) => message,
        };
        self.problems.push(LogProblem {
            kind: kind.to_owned(),
            organisation_id: organisation_id.map(str::to_owned),
            leaf_index,
            call_id: call_id.map(str::to_owned),
            message,
        });
    }

    /// The verdict, with nothing counted yet.
    pub fn verdict(self, root_hash: String) -> Verdict {
        let doubts = self.findings.into_iter().map(|(kind, (n, first))| {
            let problems = if n == 1 { "problem" } else { "problems" };
            // Whoever may verify reads this; the first one names rows that may be somebody else's.
            let what = format!("`audit verify` found {n} {problems} of the kind `{kind}`");
            Doubt::found(what, Finding { kind: kind.to_owned(), first })
        });
        let doubts = doubts.collect();
        let verification = Verification {
            ok: self.n_problems == 0,
            tree_size: 0,
            root_hash,
            n_events_checked: 0,
            n_events_waiting: 0,
            n_objects_checked: 0,
            cosigned_size: None,
            problems: self.problems,
            n_problems: self.n_problems,
            notes: Vec::new(),
            n_problems_elsewhere: self.n_elsewhere,
        };
        Verdict { verification, doubts }
    }
}

const FIRST_CHARS_MAX: usize = 500;

fn placed(leaf_index: Option<u64>, call_id: Option<&str>, message: &str) -> String {
    let leaf = leaf_index.map(|index| format!("leaf {index}, "));
    let call = call_id.map(|call_id| format!("call {call_id}, "));
    let placed = format!("{}{}{message}", leaf.unwrap_or_default(), call.unwrap_or_default());
    placed.chars().take(FIRST_CHARS_MAX).collect()
}
