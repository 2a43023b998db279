//! What a document says of papers: which one it is, and which ones do not stand.

use std::collections::{BTreeMap, BTreeSet};

use contract::evidence::record::{Document, Retraction, RetractionExtent, RetractionKind};
use serde_json::Value;

use super::key;
use super::title::BY_TITLE;
use crate::graph::names::normalise;

/// The ids of a document that are ids of papers.
pub const IDS: [&str; 3] = ["pmid", "pmc", "doi"];
/// Titles of one paper have most of their words in common, in whatever spelling.
const ALIKE_WORDS_MIN: f64 = 0.3;

/// A document as papers are concerned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Paper {
    pub id: String,
    /// The paper's ids by their kind, each in one spelling: `pmid` → `pmid:1`. What is called otherwise than papers are is
    /// known by that name as well.
    pub keys: BTreeMap<&'static str, String>,
    /// What is said against it, with the source that says so.
    pub own: Option<Retraction>,
    /// Other papers that this one says something against, as a notice does.
    pub says: Vec<(String, Retraction)>,
    title: Option<(String, String)>,
}

impl Paper {
    pub fn of(document: &Document) -> Paper {
        let stated = IDS.into_iter().filter_map(|kind| Some((kind, key::of(kind, document.ids.get(kind)?)?)));
        let mut keys: BTreeMap<&'static str, String> = stated.collect();
        let named = key::of_reference(&document.id);
        let kind = IDS.into_iter().find(|kind| named.split(':').next() == Some(*kind));
        keys.insert(kind.unwrap_or(key::OWN), named);
        let is_other = |(about, _): &(String, Retraction)| !keys.values().any(|key| key == about);
        Paper {
            id: document.id.clone(),
            says: says(document).into_iter().filter(is_other).collect(),
            own: document.doubt(),
            title: (document.kind == "paper").then(|| (document.lang.clone(), document.title.clone())),
            keys,
        }
    }

    /// The papers that this one says something against, by their keys; itself too where it carries a mark.
    pub fn spoken_against(&self, is_marked: bool) -> impl Iterator<Item = &str> {
        let own = self.keys.values().filter(move |_| is_marked);
        self.says.iter().map(|(about, _)| about).chain(own).map(String::as_str)
    }

    /// Where the id of a document names a paper and its ids say another: the kind of id, and the one of its own id.
    pub fn named_otherwise(document: &Document) -> Option<(&'static str, String)> {
        let named = key::key(&document.id)?;
        let (kind, id) = named.split_once(':')?;
        let kind = IDS.into_iter().find(|it| *it == kind)?;
        let stated = key::of(kind, document.ids.get(kind)?);
        (stated.as_deref() != Some(&named)).then(|| (kind, id.to_owned()))
    }

    /// Why this cannot be the paper that `named` is, though it has an id of it.
    pub fn contradiction(&self, named: &Paper) -> Option<String> {
        for kind in IDS {
            if let (Some(own), Some(other)) = (self.keys.get(kind), named.keys.get(kind))
                && own != other
            {
                let (_, other) = other.split_once(':').unwrap_or_default();
                return Some(format!("`ids`: `{}` is another paper, whose `{kind}` is `{other}`", named.id));
            }
        }
        let n_shared =
            IDS.iter().filter(|kind| self.keys.get(*kind).is_some_and(|it| named.keys.get(*kind) == Some(it)));
        let (own, other) = (self.title.as_ref()?, named.title.as_ref()?);
        // Two ids in common are no accident, and titles of two languages have no words in common.
        if n_shared.count() > 1 || own.0 != other.0 || alike(&own.1, &other.1) >= ALIKE_WORDS_MIN {
            return None;
        }
        Some(format!("`ids`: `{}` is another paper, with the title `{}`", named.id, other.1))
    }
}

fn alike(one: &str, other: &str) -> f64 {
    let words = |title: &str| {
        let title = normalise(title);
        title
            .split(|character: char| !character.is_alphanumeric())
            .filter(|it| !it.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let (one, other): (BTreeSet<String>, BTreeSet<String>) = (words(one), words(other));
    // A title of marks alone tells nothing apart.
    let n_less = u32::try_from(one.len().min(other.len())).unwrap_or(u32::MAX);
    let n_both = u32::try_from(one.intersection(&other).count()).unwrap_or(u32::MAX);
    if n_less == 0 { 1.0 } else { f64::from(n_both) / f64::from(n_less) }
}

/// What its corrections say, in the words of PubMed.
fn says(document: &Document) -> Vec<(String, Retraction)> {
    let corrections = document.attributes.get("corrections").and_then(Value::as_array);
    let mut says = Vec::new();
    for correction in corrections.into_iter().flatten() {
        let Some((kind, extent)) = correction.get("kind").and_then(Value::as_str).and_then(against) else { continue };
        let (notice, source) = (Some(document.id.clone()), Some(document.source.clone()));
        let retraction = Retraction { kind, extent, notice, source };
        let ids = IDS.into_iter().filter_map(|kind| key::of(kind, correction.get(kind)?.as_str()?));
        says.extend(ids.map(|about| (about, retraction.clone())));
    }
    says
}

fn against(word: &str) -> Option<(RetractionKind, Option<RetractionExtent>)> {
    match word.to_ascii_lowercase().as_str() {
        "retractionof" => Some((RetractionKind::Retracted, None)),
        "retractedandrepublishedfrom" => Some((RetractionKind::Retracted, Some(RetractionExtent::Republished))),
        "partialretractionof" => Some((RetractionKind::Retracted, Some(RetractionExtent::Partial))),
        "expressionofconcernfor" => Some((RetractionKind::ExpressionOfConcern, None)),
        _ => None,
    }
}

/// Lets a graver statement win; of two that are equally grave the first stays, unless only the other one has a notice, which
/// a title is not: that and whose word it is are then the other one's. Answers whether anything changed.
pub fn settle(told: &mut Option<Retraction>, said: &Retraction) -> bool {
    match told {
        Some(known) if known.gravity() > said.gravity() => false,
        Some(known) if known.gravity() == said.gravity() => {
            let has_notice = |it: &Retraction| it.notice.as_ref().is_some_and(|notice| notice != BY_TITLE);
            let is_news = !has_notice(known) && has_notice(said);
            if is_news {
                known.notice.clone_from(&said.notice);
                known.source.clone_from(&said.source);
            }
            is_news
        }
        Some(_) | None => {
            *told = Some(said.clone());
            true
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn paper(id: &str, title: &str, ids: Value) -> Paper {
        let members =
            json!({"id": id, "kind": "paper", "title": title, "text": "", "lang": "en", "ids": ids, "source": "s"});
        Paper::of(&serde_json::from_value(members).unwrap())
    }

    #[test]
    fn a_full_text_is_its_paper_and_others_are_not() {
        let named = paper("PMID:1", "Ginger and warfarin in rats.", json!({"pmid": "1", "doi": "10.1/a"}));
        let check = |id: &str, title: &str, ids: Value, expected: Option<&str>| {
            assert_eq!(paper(id, title, ids).contradiction(&named).as_deref(), expected);
        };
        check("PMCID:PMC5", "Ginger and Warfarin in Rats", json!({"pmid": "1", "pmc": "PMC5"}), None);
        check("PMCID:PMC5", "Anything", json!({"pmid": "1", "doi": "10.1/A"}), None);
        let other = "`ids`: `PMID:1` is another paper, whose `doi` is `10.1/a`";
        check("X:1", "Ginger and warfarin in rats", json!({"pmid": "1", "doi": "10.1/b"}), Some(other));
        let other = "`ids`: `PMID:1` is another paper, with the title `Ginger and warfarin in rats.`";
        check("X:1", "Senna", json!({"pmid": "1"}), Some(other));
    }
}
