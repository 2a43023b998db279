//! What there is to refer to.

use std::collections::{BTreeMap, HashMap, HashSet};

use crate::parse::Set;
use crate::rows::{Monograph, PaperRow};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thing {
    Herb,
    Formulation,
    Constituent,
    Condition,
    Class,
    Drug,
    Substance,
}

impl Thing {
    pub fn name(self) -> &'static str {
        match self {
            Thing::Herb => "herb",
            Thing::Formulation => "formulation",
            Thing::Constituent => "constituent",
            Thing::Condition => "condition",
            Thing::Class => "class",
            Thing::Drug => "drug",
            Thing::Substance => "substance",
        }
    }
}

pub struct Index<'a> {
    pub things: HashMap<&'a str, Thing>,
    pub sources: HashSet<&'a str>,
    pub papers: HashMap<&'a str, &'a PaperRow>,
    /// Of herbs and formulations.
    pub monographs: HashMap<&'a str, &'a Monograph>,
    /// Class → the classes it belongs to.
    pub broader: BTreeMap<&'a str, &'a [String]>,
}

impl<'a> Index<'a> {
    pub fn new(set: &'a Set) -> Index<'a> {
        let of_herbs = set.herbs.iter().map(|it| (it.row.id.as_str(), &it.row.monograph));
        let of_formulations = set.formulations.iter().map(|it| (it.row.id.as_str(), &it.row.monograph));
        Index {
            things: things(set).collect(),
            sources: set.sources.iter().map(|it| it.row.id.as_str()).collect(),
            papers: set.papers.iter().map(|it| (it.row.id.as_str(), &it.row)).collect(),
            monographs: of_herbs.chain(of_formulations).collect(),
            broader: set.classes.iter().map(|it| (it.row.id.as_str(), it.row.broader.as_slice())).collect(),
        }
    }

    pub fn find(&self, id: &str) -> Option<Thing> {
        self.things.get(id).copied()
    }
}

fn things(set: &Set) -> impl Iterator<Item = (&str, Thing)> {
    let herbs = set.herbs.iter().map(|it| (it.row.id.as_str(), Thing::Herb));
    let formulations = set.formulations.iter().map(|it| (it.row.id.as_str(), Thing::Formulation));
    let constituents = set.constituents.iter().map(|it| (it.row.id.as_str(), Thing::Constituent));
    let conditions = set.conditions.iter().map(|it| (it.row.id.as_str(), Thing::Condition));
    let classes = set.classes.iter().map(|it| (it.row.id.as_str(), Thing::Class));
    let drugs = set.drugs.iter().map(|it| (it.row.id.as_str(), Thing::Drug));
    let substances = set.other_substances.iter().map(|it| (it.row.id.as_str(), Thing::Substance));
    herbs.chain(formulations).chain(constituents).chain(conditions).chain(classes).chain(drugs).chain(substances)
}
