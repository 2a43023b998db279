//! Facts: what they are about, how strong they may be, and where they were read.

use std::collections::HashSet;

use contract::evidence::record::Strength;

use super::Desk;
use super::index::{Index, Thing};
use super::things::{check_day, check_text, refer};
use crate::parse::Set;
use crate::places::Place;
use crate::rows::{Bilingual, FactRow, Membership, Predicate, Stated, is_paper_id};

pub fn check(set: &Set, index: &Index<'_>, desk: &mut Desk) {
    for class in &set.classes {
        check_memberships(desk, index, &class.place, &class.row.id, &class.row.broader, &class.row.memberships);
    }
    for drug in &set.drugs {
        check_origin(desk, index, &drug.place, &drug.row.id, &drug.row);
        check_memberships(desk, index, &drug.place, &drug.row.id, &drug.row.classes, &drug.row.memberships);
    }
    for substance in &set.other_substances {
        check_origin(desk, index, &substance.place, &substance.row.id, &substance.row);
    }
    for herb in &set.herbs {
        check_origin(desk, index, &herb.place, &herb.row.id, &herb.row);
        check_origin(desk, index, &herb.place, &format!("{} monograph", herb.row.id), &herb.row.monograph);
        check_facts(desk, index, &herb.place, &herb.row.id, &herb.row.facts);
    }
    for formulation in &set.formulations {
        let (place, row) = (&formulation.place, &formulation.row);
        check_origin(desk, index, place, &row.id, row);
        check_origin(desk, index, place, &format!("{} monograph", row.id), &row.monograph);
        check_facts(desk, index, place, &row.id, &row.facts);
    }
    for interaction in &set.interactions {
        check_origin(desk, index, &interaction.place, &interaction.row.id, &interaction.row);
    }
    for instrument in &set.instruments {
        check_origin(desk, index, &instrument.place, &instrument.row.id, &instrument.row);
    }
}

/// Nothing ships without a source that is there, and a place in it.
fn check_origin(desk: &mut Desk, index: &Index<'_>, place: &Place, at: &str, row: &impl Stated) {
    let origin = row.origin();
    check_day(desk, place, at, origin.reviewed);
    if origin.sources.is_empty() {
        desk.note(place, format!("{at} sources"), "none", "at least one source");
    }
    let mut seen = HashSet::new();
    for (number, citation) in origin.sources.iter().enumerate() {
        let at = format!("{at} sources/{number}");
        let is_paper = is_paper_id(&citation.id);
        let is_there = index.sources.contains(citation.id.as_str()) || index.papers.contains_key(citation.id.as_str());
        if !is_there {
            let file = if is_paper { "papers.jsonl" } else { "sources.json" };
            desk.note(
                place,
                format!("{at}/id"),
                format!("`{}`, which is not there", citation.id),
                format!("a row of {file}"),
            );
        }
        match &citation.at {
            Some(text) => check_text(desk, place, &format!("{at}/at"), text),
            // Who did not look it up cannot say where it stands.
            None if !is_paper && origin.is_verified => {
                desk.note(place, format!("{at}/at"), "none", "the page, section or row")
            }
            None => {}
        }
        if !seen.insert((&citation.id, &citation.at)) {
            desk.note(place, at, format!("`{}` twice", citation.id), "each place once");
        }
    }
}

/// Each is of a class that the row names, and has a source of its own.
fn check_memberships(
    desk: &mut Desk,
    index: &Index<'_>,
    place: &Place,
    id: &str,
    classes: &[String],
    memberships: &[Membership],
) {
    let mut seen = HashSet::new();
    for membership in memberships {
        let at = format!("{id} memberships/{}", membership.class);
        check_origin(desk, index, place, &at, membership);
        if !classes.contains(&membership.class) {
            desk.note(place, at.as_str(), "another class", "one of those that the row names");
        }
        if !seen.insert(&membership.class) {
            desk.note(place, at, "the class again", "each once, with all of its sources");
        }
    }
}

fn check_facts(desk: &mut Desk, index: &Index<'_>, place: &Place, id: &str, facts: &[FactRow]) {
    let mut seen = HashSet::new();
    for (number, fact) in facts.iter().enumerate() {
        let at = format!("{id} facts/{number} {} {}", fact.predicate, fact.object);
        check_origin(desk, index, place, &at, fact);
        let kinds: &[Thing] = match fact.predicate {
            Predicate::Contains => &[Thing::Constituent],
            Predicate::Treats
            | Predicate::StudiedFor
            | Predicate::TraditionallyUsedFor
            | Predicate::ContraindicatedIn
            | Predicate::CautionedIn => &[Thing::Condition],
            Predicate::InteractsWith => &[Thing::Class, Thing::Drug],
        };
        refer(desk, index, place, &format!("{at} object"), std::slice::from_ref(&fact.object), kinds);
        if !seen.insert((fact.predicate, &fact.object)) {
            desk.note(place, at.as_str(), "the fact again", "one fact with all of its sources");
        }
        if fact.strength == Some(Strength::High) && !fact.verified {
            desk.note(place, format!("{at} strength"), "`high` of a fact that is not verified", "`moderate` or less");
        }
        let is_strong_caution = fact.predicate == Predicate::CautionedIn && fact.strength == Some(Strength::High);
        if is_strong_caution {
            desk.note(place, format!("{at} strength"), "`high`", "`contraindicated_in` where it is to be avoided");
        }
        if let Some(note) = &fact.note {
            check_bilingual(desk, place, &format!("{at} note"), note);
        }
    }
}

pub fn check_bilingual(desk: &mut Desk, place: &Place, at: &str, text: &Bilingual) {
    check_text(desk, place, &format!("{at}/en"), &text.en);
    check_text(desk, place, &format!("{at}/th"), &text.th);
}
