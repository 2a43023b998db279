//! The list of what is wrong with a log, as far as its reader may see it.

use contract::ledger::{LogProblem, Verification};

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
}

impl Report<'_> {
    pub fn to(reader: Reader<'_>) -> Report<'_> {
        Report { reader, problems: Vec::new(), n_problems: 0, n_elsewhere: 0 }
    }

    pub fn add(
        &mut self,
        kind: &str,
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
    pub fn verification(self, root_hash: String) -> Verification {
        Verification {
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
        }
    }
}
