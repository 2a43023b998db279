//! Titles that say themselves that their paper does not stand, where nothing else in its record does.

use contract::evidence::record::{Document, Retraction, RetractionKind};
use serde_json::Value;

use super::{PAPER, Paper};

/// What such a mark names as its notice. A true notice counts for more.
pub const BY_TITLE: &str = "its title says so";

/// What publishers write between `Retracted` and the title.
const OF_WHAT: [&str; 5] = ["article", "paper", "chapter", "publication", "manuscript"];

/// The document with a mark, where its title alone says that it was retracted.
pub fn marked_by_title(document: &Document) -> Option<Document> {
    if document.kind != PAPER || document.retraction.is_some() || !says_so(&document.title) || is_notice(document) {
        return None;
    }
    let (kind, notice) = (RetractionKind::Retracted, Some(BY_TITLE.to_owned()));
    let retraction = Some(Retraction { kind, extent: None, notice, source: None });
    Some(Document { retraction, ..document.clone() })
}

/// Some notices have the title of the paper that they retract, `Retracted:` and all.
fn is_notice(document: &Document) -> bool {
    let types = ["publication_types", "article_type"].into_iter().filter_map(|key| document.attributes.get(key));
    let words = types.flat_map(|value| match value {
        Value::Array(items) => items.iter().collect(),
        other => vec![other],
    });
    let is_one = |word: &str| {
        let word = word.to_lowercase();
        word.contains("retraction") || word.contains("correction") || word.contains("erratum")
    };
    words.filter_map(Value::as_str).any(is_one) || !Paper::of(document).says.is_empty()
}

/// `RETRACTED: …`, `Retracted article: …`, `[Retracted] …`, `… (retracted)`. A title about such papers goes on otherwise.
fn says_so(title: &str) -> bool {
    let title = title.trim().trim_end_matches('.').trim_end();
    let opened = title.chars().next().filter(|first| matches!(first, '[' | '('));
    let rest = title.trim_start_matches(['[', '(']);
    let at_start = rest.find([':', ']', ')']).and_then(|at| rest.split_at_checked(at)).is_some_and(|(head, tail)| {
        // A bracket that closes must have been opened before the word.
        (tail.starts_with(':') || opened.is_some()) && is_word(head, opened)
    });
    let at_end = title.ends_with([']', ')'])
        && title
            .rfind(['[', '('])
            .and_then(|at| title.split_at_checked(at))
            .is_some_and(|(_, tail)| is_word(tail.trim_matches(['[', '(', ']', ')']), tail.chars().next()));
    at_start || at_end
}

/// `Withdrawn` is also what drugs are, so it counts in capitals or square brackets alone, as publishers set it.
fn is_word(text: &str, opened: Option<char>) -> bool {
    let mut words = text.split_whitespace();
    let is_told = match words.next() {
        Some("WITHDRAWN") => true,
        Some(word) if word.eq_ignore_ascii_case("withdrawn") => opened == Some('['),
        Some(word) => word.eq_ignore_ascii_case("retracted"),
        None => false,
    };
    let of_what = words.next().is_none_or(|word| OF_WHAT.iter().any(|it| it.eq_ignore_ascii_case(word)));
    is_told && of_what && words.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_title_that_says_so_is_told_from_one_about_such_papers() {
        for title in [
            "RETRACTED: Ginger and warfarin",
            "Retracted: Ginger and warfarin.",
            "[Retracted] Ginger and warfarin.",
            "[RETRACTED ARTICLE] Ginger and warfarin",
            "RETRACTED ARTICLE: Ginger and warfarin: a trial",
            "WITHDRAWN: Ginger and warfarin",
            "[Withdrawn] Ginger and warfarin",
            "[Retracted: ginger and warfarin].",
            "Ginger and warfarin [retracted].",
            "Ginger and warfarin (Retracted article)",
        ] {
            assert!(says_so(title), "{title}");
        }
        for title in [
            "Retracted papers in dentistry: a survey",
            "Retracted papers: a survey",
            "Retracted science and the retraction index: what it tells",
            "Withdrawn: drugs that left the market",
            "Withdrawn drugs (a review)",
            "Drugs that were sold and then (withdrawn)",
            "Retraction: Ginger and warfarin",
            "Why papers are retracted: causes",
            "[Ginger and retracted papers]",
            "Ginger (dried) and papers: retracted or not",
            "Retracted",
            "",
        ] {
            assert!(!says_so(title), "{title}");
        }
    }

    #[test]
    fn a_notice_under_the_title_of_its_paper_is_not_marked_itself() {
        let document = |attributes: Value| -> Document {
            let members = json!({"id": "PMID:1", "kind": "paper", "title": "Retracted: Ginger", "text": "", "lang": "en",
                "attributes": attributes, "source": "s"});
            serde_json::from_value(members).unwrap()
        };
        assert!(marked_by_title(&document(json!({}))).is_some());
        for attributes in [
            json!({"publication_types": ["Journal Article", "Retraction of Publication"]}),
            json!({"article_type": "retraction"}),
            json!({"corrections": [{"kind": "RetractionOf", "pmid": "2"}]}),
        ] {
            assert_eq!(marked_by_title(&document(attributes)), None);
        }
    }
}
