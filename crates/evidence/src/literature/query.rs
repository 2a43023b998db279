//! A query of terms joined by AND, OR and NOT, from left to right: as PubMed writes it, and as it holds for a paper here.

mod field;

use contract::evidence::pubmed::{Operator, SearchTerm, SortBy};
use contract::evidence::record::Document;
use serde_json::Value;

pub use field::Fault;
use field::Field;

use crate::import::body;
use crate::search::spelling::Spelt;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum QueryError {
    #[error("a term has neither letters nor digits")]
    Empty { index: usize },
    #[error("the first term joins nothing, so it cannot be NOT")]
    BeginsWithNot,
    #[error("a term holds what is not read as PubMed would")]
    Unread { index: usize, fault: Fault },
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Query(Vec<Term>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Term {
    /// As it was given, without quotation marks.
    text: String,
    /// With `*` at its end a word stands for all that begin so.
    words: Vec<String>,
    /// Where it has to stand; anywhere unless said.
    field: Option<Field>,
    operator: Operator,
}

/// PubMed's mark of a word that is only begun.
const TRUNCATION: char = '*';
/// A hit in a title says more than one in an abstract.
const TITLE_WEIGHT: u64 = 5;
/// Beyond this a word more in the abstract says nothing more.
const HITS_MAX: u64 = 20;

impl Query {
    pub fn parse(terms: &[SearchTerm]) -> Result<Query, QueryError> {
        let mut parsed = Vec::with_capacity(terms.len());
        for (index, SearchTerm { term, operator }) in terms.iter().enumerate() {
            if index == 0 && *operator == Operator::Not {
                return Err(QueryError::BeginsWithNot);
            }
            let (text, field) = field::parse(term).map_err(|fault| QueryError::Unread { index, fault })?;
            // Marks of PubMed are ours to set.
            let text = text.replace(['"', '[', ']', '(', ')'], " ");
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let words = wanted(&text);
            if words.is_empty() {
                return Err(QueryError::Empty { index });
            }
            parsed.push(Term { text, words, field, operator: *operator });
        }
        Ok(Query(parsed))
    }

    /// The query in the language of PubMed.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for term in &self.0 {
            let one = if let Some(field) = &term.field {
                let quote = if term.text.contains(' ') { "\"" } else { "" };
                format!("{quote}{}{quote}[{}]", term.text, field.tag())
            } else if is_gene(&term.text) {
                format!("({0}[Gene Name] OR {0}[Title/Abstract])", term.text)
            } else if term.text.contains(' ') {
                format!("\"{}\"", term.text)
            } else {
                term.text.clone()
            };
            if out.is_empty() {
                out = one;
            } else {
                out = format!("{out} {} {one}", term.operator.name());
            }
        }
        out
    }

    /// How well a paper fits; `None` where it does not.
    pub fn score(&self, document: &Document) -> Option<u64> {
        let title = words(&document.title);
        let mut text = words(&document.text);
        for key in ["vernacular_title", "keywords", "mesh"] {
            document.attributes.get(key).into_iter().for_each(|value| push_words(value, &mut text));
        }
        let body = body(document).map(words).unwrap_or_default();
        let mut holds = false;
        let mut score = 0;
        for (index, term) in self.0.iter().enumerate() {
            let n_hits = match &term.field {
                None => {
                    let n_hits = count(&term.words, &text) + count(&term.words, &body);
                    TITLE_WEIGHT * count(&term.words, &title) + n_hits.min(HITS_MAX)
                }
                Some(Field::TitleAbstract) => {
                    TITLE_WEIGHT * count(&term.words, &title) + count(&term.words, &text).min(HITS_MAX)
                }
                Some(Field::Title) => TITLE_WEIGHT * count(&term.words, &title),
                Some(field) => field.count(&term.words, document),
            };
            let is_there = n_hits > 0;
            holds = match (index, term.operator) {
                (0, _) => is_there,
                (_, Operator::And) => holds && is_there,
                (_, Operator::Or) => holds || is_there,
                (_, Operator::Not) => holds && !is_there,
            };
            if term.operator != Operator::Not {
                score += n_hits;
            }
        }
        holds.then_some(score)
    }
}

/// Puts papers with their scores into an order that depends on nothing else.
pub fn sort(found: &mut [(u64, Document)], by: SortBy) {
    let number = |document: &Document| document.ids.get("pmid").and_then(|pmid| pmid.parse::<u64>().ok()).unwrap_or(0);
    let author = |document: &Document| document.authors.first().map(|author| author.last.to_lowercase());
    found.sort_by(|(a_score, a), (b_score, b)| {
        // Those without an author or a journal come last.
        let last = |a: Option<String>, b: Option<String>| (a.is_none(), a).cmp(&(b.is_none(), b));
        let wanted = match by {
            SortBy::Relevance => b_score.cmp(a_score).then(b.year.cmp(&a.year)),
            SortBy::PubDate => b.year.cmp(&a.year),
            SortBy::FirstAuthor => last(author(a), author(b)),
            SortBy::Journal => {
                let journal = |document: &Document| document.journal.as_ref().map(|name| name.to_lowercase());
                last(journal(a), journal(b))
            }
            SortBy::Title => a.title.to_lowercase().cmp(&b.title.to_lowercase()),
        };
        wanted.then(number(b).cmp(&number(a))).then_with(|| a.id.cmp(&b.id))
    });
}

/// Only capitals, digits and hyphens, at least two and a capital among them: `TP53`, `HLA-B`.
fn is_gene(text: &str) -> bool {
    text.len() >= 2
        && text.bytes().any(|byte| byte.is_ascii_uppercase())
        && text.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'-')
}

/// The words of a term, each with the mark of truncation that it ends with.
fn wanted(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for part in text.split_whitespace() {
        let mut found = words(part);
        if part.ends_with(TRUNCATION) {
            found.last_mut().into_iter().for_each(|last| last.push(TRUNCATION));
        }
        all.extend(found);
    }
    all
}

fn words(text: &str) -> Vec<String> {
    let spelt = Spelt::new(text);
    let split = spelt.text.split(|character: char| !is_word(character)).filter(|word| !word.is_empty());
    split.map(str::to_lowercase).collect()
}

/// Vowels and tone marks above and below Thai letters are no letters to Unicode, and part of the word.
fn is_word(character: char) -> bool {
    character.is_alphanumeric() || ('\u{e01}'..='\u{e4e}').contains(&character)
}

fn push_words(value: &Value, out: &mut Vec<String>) {
    match value {
        Value::String(text) => out.extend(words(text)),
        Value::Array(items) => items.iter().for_each(|item| push_words(item, out)),
        Value::Object(members) => members.get("name").into_iter().for_each(|name| push_words(name, out)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// How often the words stand one after the other. Thai is written without blanks, so there a part of a run counts.
fn count(wanted: &[String], words: &[String]) -> u64 {
    let is_here = |(word, wanted): (&String, &String)| {
        let begin = wanted.strip_suffix(TRUNCATION);
        let is_word = begin.map_or_else(|| word == wanted, |begin| word.starts_with(begin));
        is_word || (wanted.chars().any(is_thai) && word.contains(begin.unwrap_or(wanted)))
    };
    let n = words.windows(wanted.len()).filter(|run| run.iter().zip(wanted).all(is_here)).count();
    u64::try_from(n).unwrap_or(u64::MAX)
}

fn is_thai(character: char) -> bool {
    ('\u{e01}'..='\u{e5b}').contains(&character)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn query(terms: &[(&str, Operator)]) -> Result<Query, QueryError> {
        let terms: Vec<SearchTerm> =
            terms.iter().map(|(term, operator)| SearchTerm { term: (*term).to_owned(), operator: *operator }).collect();
        Query::parse(&terms)
    }

    fn paper(title: &str, text: &str) -> Document {
        serde_json::from_value(json!({"id": "PMID:1", "kind": "paper", "title": title, "text": text, "lang": "en",
            "source": "s", "year": 2011, "journal": "J Made Up", "authors": [{"last": "Alpha", "initials": "AB"}],
            "attributes": {"body": "A warm decoction.", "keywords": ["ขิงแห้ง"], "mesh": [{"name": "Zingiber officinale"}]}}))
        .unwrap()
    }

    #[test]
    fn genes_are_tagged_and_phrases_quoted() {
        let found =
            query(&[("warfarin", Operator::And), ("drug interaction", Operator::And), ("CYP2C9", Operator::Not)]);
        assert_eq!(
            found.unwrap().text(),
            "warfarin AND \"drug interaction\" NOT (CYP2C9[Gene Name] OR CYP2C9[Title/Abstract])"
        );
        let tagged = query(&[("ginger tea[Title/Abstract]", Operator::And), ("Alpha A [au]", Operator::And)]);
        assert_eq!(tagged.unwrap().text(), "\"ginger tea\"[Title/Abstract] AND \"Alpha A\"[Author]");
    }

    #[test]
    fn one_word_in_two_spellings_of_its_letters_is_one_word() {
        let [apart, whole] = ["ต\u{e4d}\u{e32}รับ", "ตำรับ"];
        for (term, title) in [(apart, whole), (whole, apart)] {
            assert!(query(&[(term, Operator::And)]).unwrap().score(&paper(title, "")).is_some(), "{term} {title}");
        }
    }

    #[test]
    fn terms_join_from_left_to_right() {
        use Operator::{And, Not, Or};
        let paper = paper("Ginger and warfarin", "Bleeding was rare. Ginger tea.");
        let check = |terms: &[(&str, Operator)], expected: bool| {
            assert_eq!(query(terms).unwrap().score(&paper).is_some(), expected, "{terms:?}");
        };
        check(&[("GINGER", And)], true);
        check(&[("ginger", And), ("senna", And)], false);
        check(&[("senna", And), ("ginger", Or)], true);
        check(&[("ginger", And), ("warfarin", Not)], false);
        check(&[("ginger", And), ("warfarin", Not), ("bleeding", Or)], true);
        check(&[("ginger tea", And)], true);
        check(&[("tea ginger", And)], false);
        check(&[("gin", And)], false);
        check(&[("ging*", And)], true);
        check(&[("bleeding was rare*", And)], true);
        check(&[("\"ginger warf*\"", And)], false);
        check(&[("and warf*[ti]", And)], true);
        check(&[("blee*[ti]", And)], false);
        check(&[("ขิง", And)], true);
        check(&[("zingiber", And)], true);
        check(&[("ginger[ti]", And)], true);
        check(&[("bleeding[ti]", And)], false);
        check(&[("bleeding[tiab]", And)], true);
        check(&[("warm decoction", And)], true);
        check(&[("decoction[tiab]", And)], false);
        check(&[("alpha[au]", And)], true);
        check(&[("Alpha AB[Author]", And)], true);
        check(&[("ginger[au]", And)], false);
        check(&[("made up[ta]", And)], true);
        check(&[("Zingiber officinale[mh]", And)], true);
        check(&[("2011[dp]", And)], true);
        check(&[("2010:2012[dp]", And)], true);
        check(&[("2012:2020[dp]", And)], false);
    }

    #[test]
    fn what_is_not_read_as_pubmed_would_is_refused_with_its_place() {
        let check = |term: &str, expected: &str| match query(&[("x", Operator::And), (term, Operator::And)]) {
            Err(QueryError::Unread { index: 1, fault }) => assert_eq!(fault.to_string(), expected, "{term}"),
            other => panic!("{term}: {other:?}"),
        };
        let operator =
            "a word or phrase without AND, OR and NOT, which join terms of their own; `OR` stands at character 8";
        check("ginger OR garlic", operator);
        check("(ginger OR garlic)", &operator.replace('8', "9"));
        let bracket = |what: &str, at: u32| {
            format!(
                "parentheses that are closed inside the term, as terms join from left to right; `{what}` stands at character {at}"
            )
        };
        check("(ginger", &bracket("(", 1));
        check("garlic)", &bracket(")", 7));
        check("all[sb]", "one of the fields [ti], [tiab], [au], [ta], [mh], [dp]; `[sb]` stands at character 4");
        for date in ["old", "2021/13", "2021/06/07", "2021 Jan", "2020:2021/06", "20210607", "+202"] {
            let expected = "a year or two (`2010:2015`) without month and day before `[dp]`";
            check(&format!("{date}[dp]"), &format!("{expected}; `{date}` stands at character 1"));
        }
        let begun = "at least four letters or digits before `*`, which ends a word that is only begun";
        check("her*", &format!("{begun}; `*` stands at character 4"));
        check("*herb", &format!("{begun}; `*` stands at character 1"));
        check("herb **", &format!("{begun}; `*` stands at character 6"));
        check("herb* or gi*[tiab]", &format!("{begun}; `*` stands at character 12"));
        for term in [
            "HLA-B*57:01",
            "herb*",
            "medicinal herb*[tiab]",
            "[6]-gingerol",
            "(+)-catechin",
            "1,25(OH)2 vitamin D",
            "\"ginger AND tea\"",
            "and",
        ] {
            assert!(query(&[(term, Operator::And)]).is_ok(), "{term}");
        }
    }

    #[test]
    fn a_title_weighs_more_than_an_abstract() {
        let ginger = query(&[("ginger", Operator::And)]).unwrap();
        assert!(ginger.score(&paper("Ginger", "x")) > ginger.score(&paper("x", "Ginger, ginger")));
    }

    #[test]
    fn a_query_that_says_nothing_is_refused() {
        assert_eq!(query(&[("...", Operator::And)]), Err(QueryError::Empty { index: 0 }));
        assert_eq!(query(&[("x", Operator::Not)]), Err(QueryError::BeginsWithNot));
    }

    #[test]
    fn orders_are_total_and_leave_the_nameless_last() {
        let named = |id: &str, last: Option<&str>, year: i32| {
            let mut document = paper(id, "");
            document.id = format!("PMID:{id}");
            document.ids.insert("pmid".to_owned(), id.to_owned());
            document.year = Some(year);
            document.authors = last
                .map(|last| contract::evidence::record::Author { last: last.to_owned(), fore: None, initials: None })
                .into_iter()
                .collect();
            (1, document)
        };
        let mut found = vec![named("1", None, 2001), named("2", Some("beta"), 1999), named("3", Some("Alpha"), 1999)];
        let ids = |found: &[(u64, Document)]| found.iter().map(|(_, it)| it.ids["pmid"].clone()).collect::<String>();
        sort(&mut found, SortBy::FirstAuthor);
        assert_eq!(ids(&found), "321");
        sort(&mut found, SortBy::PubDate);
        assert_eq!(ids(&found), "132");
    }
}
