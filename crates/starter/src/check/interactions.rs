//! Interactions: each pair once, and the word `critical` only under its rule.

use std::collections::BTreeMap;

use super::Desk;
use super::facts::check_bilingual;
use super::index::{Index, Thing};
use super::things::refer;
use crate::parse::Set;
use crate::rows::{InteractionKind, InteractionRow, Severity};

const ENDS: [Thing; 5] = [Thing::Drug, Thing::Class, Thing::Herb, Thing::Constituent, Thing::Substance];

pub fn check(set: &Set, index: &Index<'_>, desk: &mut Desk) {
    let mut pairs = BTreeMap::new();
    let rule = set.rules.as_ref().map(|rules| rules.row.critical.id.as_str());
    if set.rules.is_none() && !set.interactions.is_empty() {
        let place = crate::Place::file("rules.json");
        desk.note(&place, "critical", "no rule", "the rule by which an interaction is critical");
    }
    for interaction in &set.interactions {
        let (place, row) = (&interaction.place, &interaction.row);
        let id = row.id.as_str();
        let pair = if row.a <= row.b { (&row.a, &row.b) } else { (&row.b, &row.a) };
        let expected = format!("{}__{}", pair.0, pair.1);
        if row.id != expected {
            desk.note(place, format!("{id} id"), format!("`{id}`"), format!("`{expected}`"));
        }
        if let Some(other) = pairs.insert(pair, place) {
            desk.note(place, id, format!("the pair again, after {other}"), "each pair once");
        }
        if row.a == row.b && index.find(&row.a) != Some(Thing::Class) {
            desk.note(place, id, "something with itself", "two things, or two drugs of one class");
        }
        for (member, end) in [("a", &row.a), ("b", &row.b)] {
            refer(desk, index, place, &format!("{id} {member}"), std::slice::from_ref(end), &ENDS);
        }
        let has_herb = [&row.a, &row.b].iter().any(|end| index.find(end) == Some(Thing::Herb));
        if has_herb && row.kind == InteractionKind::DrugDrug {
            desk.note(place, format!("{id} kind"), "`drug_drug` with a herb", "`herb_drug`");
        }
        match (row.severity, row.rule.as_deref()) {
            (Severity::Critical, stated) if stated.is_none() || stated != rule => {
                let expected = rule.map_or("a rule".to_owned(), |rule| format!("`{rule}`"));
                desk.note(place, format!("{id} rule"), format!("`critical` under {stated:?}"), expected);
            }
            (Severity::Critical, _) | (_, None) => {}
            (_, Some(stated)) => {
                desk.note(place, format!("{id} rule"), format!("`{stated}`"), "null: it is not critical")
            }
        }
        if row.severity == Severity::Critical && !row.verified {
            desk.note(place, format!("{id} severity"), "`critical` of a fact that is not verified", "`major` or less");
        }
        if let Some(mechanism) = &row.mechanism {
            check_bilingual(desk, place, &format!("{id} mechanism"), mechanism);
        }
        check_bilingual(desk, place, &format!("{id} effect"), &row.effect);
        check_bilingual(desk, place, &format!("{id} action"), &row.action);
    }
}

/// Those between a herb and a drug.
pub fn of_herbs(set: &Set) -> impl Iterator<Item = &InteractionRow> {
    set.interactions.iter().map(|it| &it.row).filter(|row| row.kind == InteractionKind::HerbDrug)
}
