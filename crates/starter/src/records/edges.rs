//! Facts, interactions, ingredients and classes as edges.

use std::collections::BTreeMap;

use contract::evidence::record::{Edge, Evidence, Strength};
use contract::evidence::starter::{OWN_SOURCE, SOURCE_PREFIX};
use serde_json::json;

use super::{Library, NOT_VERIFIED, first_source, provenance};
use crate::parse::Set;
use crate::rows::{Bilingual, FactRow, FormulationFile, InteractionRow, Membership, Origin, Severity, Stated};

/// A source says that two things do not interact, which is not the same as that nobody says they do.
const NO_INTERACTION: &str = "not_interacts_with";
const INTERACTS: &str = "interacts_with";

pub fn all(set: &Set, library: &Library<'_>) -> Vec<Edge> {
    let mut edges = Vec::new();
    for class in &set.classes {
        let row = &class.row;
        edges.extend(memberships(library, [&row.id, "subclass_of"], &row.broader, &row.memberships));
    }
    for drug in &set.drugs {
        let row = &drug.row;
        edges.extend(memberships(library, [&row.id, "member_of"], &row.classes, &row.memberships));
        let holds = |part: &String| stated(library, [&drug.row.id, "has_ingredient", part], drug.row.origin(), None);
        edges.extend(drug.row.ingredients.iter().map(holds));
    }
    for herb in &set.herbs {
        edges.extend(herb.row.facts.iter().map(|it| fact(library, &herb.row.id, it)));
    }
    for formulation in &set.formulations {
        edges.extend(ingredients(library, &formulation.row));
        edges.extend(formulation.row.facts.iter().map(|it| fact(library, &formulation.row.id, it)));
    }
    edges.extend(set.interactions.iter().map(|it| interaction(library, &it.row)));
    edges
}

/// The same statement is the same edge in every version.
fn id(subject: &str, predicate: &str, object: &str) -> String {
    format!("{SOURCE_PREFIX}{subject}:{predicate}:{object}")
}

fn own(subject: &str, predicate: &str, object: &str) -> Edge {
    Edge {
        id: id(subject, predicate, object),
        subject: subject.to_owned(),
        predicate: predicate.to_owned(),
        object: object.to_owned(),
        strength: None,
        evidence: Vec::new(),
        qualifiers: BTreeMap::new(),
        source: OWN_SOURCE.to_owned(),
    }
}

/// The classes of a row. What has no source of its own is ours, and nobody verified it: the row's sources are for its names.
fn memberships(
    library: &Library<'_>,
    [subject, predicate]: [&str; 2],
    classes: &[String],
    sourced: &[Membership],
) -> Vec<Edge> {
    let edge = |class: &String| match sourced.iter().find(|it| it.class == *class) {
        Some(membership) => stated(library, [subject, predicate, class], membership.origin(), None),
        None => Edge { qualifiers: [("verified".to_owned(), json!(false))].into(), ..own(subject, predicate, class) },
    };
    classes.iter().map(edge).collect()
}

fn stated(
    library: &Library<'_>,
    [subject, predicate, object]: [&str; 3],
    origin: Origin<'_>,
    note: Option<&str>,
) -> Edge {
    Edge {
        evidence: evidence(library, origin, note),
        qualifiers: provenance(origin),
        source: first_source(origin),
        ..own(subject, predicate, object)
    }
}

/// One for each source, with title and place; what is said stands in the first.
fn evidence(library: &Library<'_>, origin: Origin<'_>, note: Option<&str>) -> Vec<Evidence> {
    let label = if origin.is_verified { None } else { Some(NOT_VERIFIED) };
    let cited = origin.sources.iter().enumerate().map(|(at, citation)| {
        let words = library.words(citation);
        let said = note.filter(|_| at == 0).map_or(words.clone(), |note| format!("{note} ({words})"));
        let parts: Vec<&str> = label.into_iter().chain([said.as_str()]).collect();
        Evidence { reference: Some(library.reference(citation)), text: Some(parts.join(" ")) }
    });
    cited.collect()
}

fn both(text: &Bilingual) -> String {
    format!("{} / {}", text.en, text.th)
}

fn fact(library: &Library<'_>, subject: &str, row: &FactRow) -> Edge {
    let note = row.note.as_ref().map(both);
    let mut edge = stated(library, [subject, row.predicate.name(), &row.object], row.origin(), note.as_deref());
    edge.strength = row.strength;
    if let Some(note) = &row.note {
        edge.qualifiers.insert("note".to_owned(), json!(note));
    }
    edge
}

fn ingredients(library: &Library<'_>, formulation: &FormulationFile) -> Vec<Edge> {
    let contained = formulation.herbs.iter().map(|herb| {
        let mut edge = stated(library, [&formulation.id, "contains", &herb.id], formulation.origin(), None);
        if let Some(part) = &herb.part {
            edge.qualifiers.insert("part".to_owned(), json!(part));
        }
        edge
    });
    contained.collect()
}

fn interaction(library: &Library<'_>, row: &InteractionRow) -> Edge {
    let predicate = if row.severity == Severity::None { NO_INTERACTION } else { INTERACTS };
    let note = format!("{} {} / {} {}", row.effect.en, row.action.en, row.effect.th, row.action.th);
    let mut edge = stated(library, [&row.a, predicate, &row.b], row.origin(), Some(&note));
    edge.id = format!("{SOURCE_PREFIX}{}", row.id);
    edge.strength = strength(row);
    let qualifiers = [
        ("severity", json!(row.severity)),
        ("kind", json!(row.kind)),
        ("effect", json!(row.effect)),
        ("action", json!(row.action)),
        ("evidence_level", json!(row.evidence_level)),
    ];
    edge.qualifiers.extend(qualifiers.map(|(name, value)| (name.to_owned(), value)));
    if let Some(mechanism) = &row.mechanism {
        edge.qualifiers.insert("mechanism".to_owned(), json!(mechanism));
    }
    if let Some(rule) = &row.rule {
        edge.qualifiers.insert("rule".to_owned(), json!(rule));
    }
    edge
}

/// What nobody verified is never high, whatever its severity.
fn strength(row: &InteractionRow) -> Option<Strength> {
    match (row.severity, row.verified) {
        (Severity::None | Severity::Unknown, _) => None,
        (Severity::Minor, _) => Some(Strength::Low),
        (Severity::Moderate, _) | (Severity::Major | Severity::Critical, false) => Some(Strength::Moderate),
        (Severity::Major | Severity::Critical, true) => Some(Strength::High),
    }
}
