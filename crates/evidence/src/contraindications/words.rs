//! The words that warnings are written in, and those that are almost them.

use contract::evidence::record::Edge;
use serde_json::Value;

use super::predicates;
use crate::graph::names::normalise;

/// What others write, and what it is here. `has_contraindication` holds in both directions, so it also stands for words
/// that point from the condition to the herb.
const OTHERS: [(&str, &[&str]); 5] = [
    (
        "contraindicated_in",
        &[
            "contraindicated_for",
            "contraindicated",
            "is_contraindicated_in",
            "is_contraindicated_for",
            "contraindicated_during",
        ],
    ),
    ("contraindicated_with", &["is_contraindicated_with", "contraindicated_together_with"]),
    (
        "has_contraindication",
        &[
            "contraindication",
            "contraindications",
            "has_contraindications",
            "contraindication_of",
            "contraindication_for",
            "is_contraindication_of",
            "is_contraindication_for",
            "contraindicated_by",
        ],
    ),
    (
        "cautioned_in",
        &["cautioned_for", "caution_in", "has_caution", "has_precaution", "precaution_in", "use_with_caution_in"],
    ),
    (
        "interacts_with",
        &[
            "interacts",
            "interaction",
            "interactions",
            "interaction_with",
            "has_interaction",
            "has_interaction_with",
            "drug_interaction",
            "has_drug_interaction",
            "drug_drug_interaction",
            "herb_drug_interaction",
            "has_drug_drug_interaction",
            "has_herb_drug_interaction",
            "interacts_with_drug",
        ],
    ),
];

/// How every word about contraindications is spelt somewhere.
const STEM: &str = "contraindic";
const INTERACTS: &str = "interacts_with";
/// A source says that two things do not interact.
pub(crate) const NOT_INTERACTS: &str = "not_interacts_with";

/// What a predicate is for an answer about safety.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Word {
    /// It means this one, in whatever spelling.
    Safety(&'static str),
    /// It speaks of contraindications, and nobody can tell in which direction.
    Unclear,
    Other,
}

pub(crate) fn word(predicate: &str) -> Word {
    let bare = predicate.strip_prefix("biolink:").unwrap_or(predicate);
    // What is negated warns of nothing.
    let first = normalise(bare).split([' ', '-', '_']).next().map(str::to_owned).unwrap_or_default();
    if ["not", "no", "neg"].contains(&first.as_str()) {
        return Word::Other;
    }
    let folded = squeezed(bare);
    let others = OTHERS.into_iter().flat_map(|(known, others)| others.iter().map(move |other| (known, *other)));
    let mut all = predicates().map(|known| (known, known)).chain(others);
    match all.find(|(_, spelt)| squeezed(spelt) == folded) {
        Some((known, _)) => Word::Safety(known),
        None if folded.contains(STEM) => Word::Unclear,
        None => Word::Other,
    }
}

/// Whatever the case, and however the words are joined.
fn squeezed(word: &str) -> String {
    normalise(word).replace([' ', '-', '_'], "")
}

/// An interaction whose source says that there is none.
pub(crate) fn is_no_interaction(edge: &Edge) -> bool {
    let severity = edge.qualifiers.get("severity").and_then(Value::as_str).map(squeezed);
    let is_none = matches!(severity.as_deref(), Some("none" | "nointeraction"));
    edge.predicate == NOT_INTERACTS || (edge.predicate == INTERACTS && is_none)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_a_warning_is_known_or_unclear() {
        for (predicate, expected) in [
            ("contraindicated_in", Word::Safety("contraindicated_in")),
            ("contraindicated_for", Word::Safety("contraindicated_in")),
            ("biolink:contraindicatedFor", Word::Safety("contraindicated_in")),
            ("contraindication", Word::Safety("has_contraindication")),
            ("has_contraindications", Word::Safety("has_contraindication")),
            ("Contra-Indicated In", Word::Safety("contraindicated_in")),
            ("drug-drug interaction", Word::Safety("interacts_with")),
            ("relatively_contraindicated_if", Word::Unclear),
            ("not_contraindicated_in", Word::Other),
            ("notable_contraindication", Word::Unclear),
            ("physically_interacts_with", Word::Other),
            ("treats", Word::Other),
        ] {
            assert_eq!(word(predicate), expected, "{predicate}");
        }
    }
}
