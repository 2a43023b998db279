//! Monographs and papers as documents.

use std::collections::BTreeMap;

use contract::evidence::record::{Author, Document};
use contract::evidence::starter::OWN_SOURCE;
use serde_json::{Map, json};

use super::{NOT_VERIFIED, first_source, provenance};
use crate::parse::Set;
use crate::rows::{Lang, Monograph, Names, PaperRow, Stated};

/// What stands before the words that are ours and not the authors'.
const OWN_SUMMARY: &str = "[Summary in our own words, not the authors' abstract]";
const HEADINGS_EN: [&str; 5] = ["What it is", "Use", "Dose", "Safety", "Evidence"];
const HEADINGS_TH: [&str; 5] = ["คืออะไร", "การใช้", "ขนาดใช้", "ความปลอดภัย", "หลักฐาน"];

pub fn all(set: &Set) -> Vec<Document> {
    let herbs = set.herbs.iter().map(|it| ("herb", &it.row.id, &it.row.names, &it.row.monograph));
    let formulations = set.formulations.iter().map(|it| ("formulation", &it.row.id, &it.row.names, &it.row.monograph));
    let told = herbs.chain(formulations);
    let monographs = told.flat_map(|(kind, id, names, it)| Lang::ALL.map(|lang| monograph(kind, id, names, it, lang)));
    monographs.chain(set.papers.iter().map(|it| paper(&it.row))).collect()
}

pub fn monograph_id(id: &str, lang: Lang) -> String {
    format!("monograph:{id}:{}", lang.name())
}

fn monograph(kind: &str, id: &str, names: &Names, monograph: &Monograph, lang: Lang) -> Document {
    let origin = monograph.origin();
    let (sections, headings) = match lang {
        Lang::Th => (&monograph.th, HEADINGS_TH),
        Lang::En => (&monograph.en, HEADINGS_EN),
    };
    let mut text = String::new();
    let mut places = Map::new();
    for ((section, words), heading) in sections.all().into_iter().zip(headings) {
        if !text.is_empty() {
            text.push_str("\n\n");
        }
        text.push_str(&format!("## {heading}\n"));
        let start_byte = text.len();
        text.push_str(words);
        places.insert(section.to_owned(), json!({ "start_byte": start_byte, "end_byte": text.len() }));
    }
    let mut attributes = provenance(origin);
    attributes.insert(kind.to_owned(), json!(id));
    attributes.insert("about".to_owned(), json!(id));
    attributes.insert("sections".to_owned(), json!(places));
    Document {
        title: title(names, lang, origin.is_verified),
        text,
        attributes,
        source: first_source(origin),
        ..plain(monograph_id(id, lang), "monograph", lang.name())
    }
}

/// All names, those of the monograph's language first.
fn title(names: &Names, lang: Lang, is_verified: bool) -> String {
    let (own, other) = match lang {
        Lang::Th => (&names.th, &names.en),
        Lang::En => (&names.en, &names.th),
    };
    let names: Vec<&str> = own.iter().chain(&names.la).chain(other).map(String::as_str).collect();
    let label = if is_verified { String::new() } else { format!(" {NOT_VERIFIED}") };
    format!("{}{label}", names.join(" · "))
}

fn paper(row: &PaperRow) -> Document {
    let mut ids: BTreeMap<_, _> = row.pmid().map(|pmid| ("pmid".to_owned(), pmid.to_owned())).into_iter().collect();
    ids.extend(row.doi.iter().map(|doi| ("doi".to_owned(), doi.clone())));
    let text = row.summary.as_ref().map(|summary| format!("{OWN_SUMMARY} {}\n\n{}", summary.en, summary.th));
    let marks = match &text {
        Some(_) => [("abstract_available", json!(false)), ("abstract_by", json!(OWN_SOURCE))].to_vec(),
        None => [("abstract_available", json!(false))].to_vec(),
    };
    let mut attributes: BTreeMap<_, _> = marks.into_iter().map(|(name, mark)| (name.to_owned(), mark)).collect();
    attributes.insert("reviewed".to_owned(), json!(row.reviewed));
    Document {
        title: row.title.clone(),
        text: text.unwrap_or_default(),
        authors: row.authors.iter().map(|name| author(name)).collect(),
        journal: Some(row.journal.clone()),
        year: row.year,
        ids,
        links: vec![row.uri()],
        attributes,
        ..plain(row.id.clone(), "paper", "en")
    }
}

fn plain(id: String, kind: &str, lang: &str) -> Document {
    Document {
        id,
        kind: kind.to_owned(),
        title: String::new(),
        text: String::new(),
        lang: lang.to_owned(),
        authors: Vec::new(),
        journal: None,
        year: None,
        ids: BTreeMap::new(),
        links: Vec::new(),
        retraction: None,
        attributes: BTreeMap::new(),
        source: OWN_SOURCE.to_owned(),
    }
}

/// `Last I`; a name without initials is that of a group.
fn author(name: &str) -> Author {
    let is_initials = |text: &str| !text.is_empty() && text.chars().all(char::is_uppercase);
    match name.rsplit_once(' ').filter(|(_, initials)| is_initials(initials)) {
        Some((last, initials)) => Author { last: last.to_owned(), fore: None, initials: Some(initials.to_owned()) },
        None => Author { last: name.to_owned(), fore: None, initials: None },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authors_have_initials_and_groups_have_none() {
        let check = |name: &str, last: &str, initials: Option<&str>| {
            let author = author(name);
            assert_eq!((author.last.as_str(), author.initials.as_deref()), (last, initials));
        };
        check("de la Cruz AB", "de la Cruz", Some("AB"));
        check("Herbal Study Group", "Herbal Study Group", None);
        check("Aristotle", "Aristotle", None);
    }
}
