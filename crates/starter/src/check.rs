//! Is the data set fit to ship? Every row as its schema says, every reference to something that is there, every fact with
//! a source, every name with one meaning.

mod evaluation;
mod facts;
mod index;
mod interactions;
mod names;
mod things;

use index::Index;

use crate::files::Files;
use crate::parse::{Set, parse};
use crate::places::Place;
use crate::report::{Count, Problem, Report};
use crate::version::{VERSION_FILE, data_version};

pub fn check(files: &Files) -> Report {
    let (set, problems) = parse(files);
    let index = Index::new(&set);
    let mut desk = Desk { problems };
    let version = data_version(files);
    if version.is_none() {
        desk.note(&Place::file(VERSION_FILE), "", "no version", "a date such as `2026.11.16`");
    }
    things::check(&set, &index, &mut desk);
    names::check(&set, &mut desk);
    facts::check(&set, &index, &mut desk);
    interactions::check(&set, &index, &mut desk);
    evaluation::check(&set, &index, &mut desk);
    desk.problems.sort();
    desk.problems.dedup();
    Report { data_version: version.map(|it| it.to_string()), counts: counts(&set), problems: desk.problems }
}

/// Where problems are put down.
struct Desk {
    problems: Vec<Problem>,
}

impl Desk {
    fn note(&mut self, place: &Place, at: impl Into<String>, found: impl Into<String>, expected: impl Into<String>) {
        self.problems.push(Problem::new(place, at, found, expected));
    }
}

fn counts(set: &Set) -> Vec<Count> {
    let facts = || {
        let of_herbs = set.herbs.iter().flat_map(|herb| &herb.row.facts);
        of_herbs.chain(set.formulations.iter().flat_map(|formulation| &formulation.row.facts))
    };
    let monographs = set.herbs.iter().map(|it| &it.row.monograph);
    let monographs = monographs.chain(set.formulations.iter().map(|it| &it.row.monograph));
    let of_classes = set.classes.iter().map(|it| (&it.row.broader, &it.row.memberships));
    let memberships = of_classes.chain(set.drugs.iter().map(|it| (&it.row.classes, &it.row.memberships)));
    let memberships = memberships.flat_map(|(classes, sourced)| {
        classes.iter().map(|class| sourced.iter().any(|it| it.class == *class && it.verified))
    });
    let questions = |file: &str| set.questions.iter().filter(|it| it.place.file.ends_with(file)).count();
    vec![
        Count::of("sources", set.sources.len()),
        Count::of("papers", set.papers.len()),
        Count::of("conditions", set.conditions.len()),
        Count::of("constituents", set.constituents.len()),
        Count::of("classes", set.classes.len()),
        Count::verified("drugs", set.drugs.iter().map(|it| it.row.verified)),
        Count::verified("memberships", memberships),
        Count::verified("other_substances", set.other_substances.iter().map(|it| it.row.verified)),
        Count::verified("herbs", set.herbs.iter().map(|it| it.row.verified)),
        Count::verified("formulations", set.formulations.iter().map(|it| it.row.verified)),
        Count::verified("facts", facts().map(|it| it.verified)),
        Count::verified("contraindications", facts().filter(|it| it.predicate.is_against()).map(|it| it.verified)),
        Count::verified("monographs", monographs.map(|it| it.verified)),
        Count::verified("interactions", set.interactions.iter().map(|it| it.row.verified)),
        Count::verified("herb_drug_interactions", interactions::of_herbs(set).map(|it| it.verified)),
        Count::verified("instruments", set.instruments.iter().map(|it| it.row.verified)),
        Count::of("patients", set.patients.len()),
        Count::of("smoke_questions", questions("smoke.jsonl")),
        Count::of("curated_questions", questions("curated.jsonl")),
    ]
}
