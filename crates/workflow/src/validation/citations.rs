//! `references_valid` of citations: every one in the text has an entry in the sections that list sources.
//!
//! An entry is the one that is cited where the whole identifier is the same. Identifiers are written in several ways:
//! `PMID:333`, `PMID 333`, `https://pubmed.ncbi.nlm.nih.gov/333/`.

use std::collections::BTreeMap;

use super::Subject;
use super::report::{Verdict, shown};
use crate::catalogue::Rule;
use crate::markdown::Line;

const CITATIONS_MAX: usize = 1_000;
/// Addresses that end with an identifier, in capitals.
const ADDRESSES: &[(&str, &str)] = &[
    ("PMID", "PUBMED.NCBI.NLM.NIH.GOV/"),
    ("PMID", "NCBI.NLM.NIH.GOV/PUBMED/"),
    ("PMID", "EUROPEPMC.ORG/ARTICLE/MED/"),
    ("PMID", "EUROPEPMC.ORG/MED/"),
];
/// How identifiers begin that say themselves what they are.
const BEGINNINGS: &[(&str, &str)] = &[("DOI", "10."), ("PMCID", "PMC"), ("NCT", "NCT")];

/// What is cited, in capitals.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Citation {
    label: String,
    value: String,
}

pub fn check(subject: &Subject<'_>, rule: &Rule) -> Verdict {
    let Some(pattern) = &rule.pattern else {
        return Verdict::fail("the criterion has no pattern".to_owned());
    };
    let lists: Vec<_> =
        rule.criterion.required_sections.iter().filter_map(|title| subject.document.find_section(title)).collect();
    let is_list = |line: &Line<'_>| {
        let ends = lists.iter().filter_map(|it| Some((it.lines.first()?.number, it.lines.last()?.number)));
        ends.into_iter().any(|(first, last)| (first..=last).contains(&line.number))
    };
    let listing = lists.iter().flat_map(|section| section.lines).filter(|line| !line.is_code);
    let listed = listing.map(|line| normal(&line.seen())).collect::<Vec<_>>().join("\n");
    // One text, as a bracket may go on in the next line.
    let (mut text, mut starts) = (String::new(), Vec::new());
    for line in subject.document.lines().iter().filter(|line| !line.is_code && !is_list(line)) {
        starts.push((text.len(), line.number));
        text.push_str(line.text);
        text.push('\n');
    }
    let mut cited: BTreeMap<Citation, usize> = BTreeMap::new();
    for found in pattern.find_iter(&text) {
        let index = starts.partition_point(|(start, _)| *start <= found.start()).saturating_sub(1);
        let line = starts.get(index).map_or(0, |(_, line)| *line);
        for citation in split(found.as_str()) {
            cited.entry(citation).or_insert(line);
        }
    }
    if cited.len() > CITATIONS_MAX {
        return Verdict::fail(format!("{} sources are cited, expected at most {CITATIONS_MAX}", cited.len()));
    }
    let mut missing: Vec<(usize, &Citation)> =
        cited.iter().filter(|(citation, _)| !is_listed(&listed, citation)).map(|(it, line)| (*line, it)).collect();
    missing.sort_unstable();
    let told = |(line, it): &(usize, &Citation)| {
        format!("line {line}: [{}] is not among the references", shown(&format!("{}:{}", it.label, it.value)))
    };
    let problems: Vec<String> = missing.iter().map(told).collect();
    if cited.is_empty() {
        return Verdict::fail("nothing is cited".to_owned());
    }
    Verdict::of(&problems, || format!("{} citations are among the references", cited.len()))
}

/// What a bracket cites, each source written in one way: `PMID:333`.
pub fn cited(bracket: &str) -> Vec<String> {
    split(bracket).into_iter().map(|Citation { label, value }| format!("{label}:{value}")).collect()
}

/// In capitals, with one space between words.
fn normal(text: &str) -> String {
    text.split_whitespace().map(str::to_uppercase).collect::<Vec<_>>().join(" ")
}

/// The citations of one bracket: `[PMID:999; PMID:888]`, `[PMID:777, 776]`, `[PMID:333 DOI:10.1/x]`.
fn split(found: &str) -> Vec<Citation> {
    let inner = normal(found.trim_start_matches('[').trim_end_matches(']'));
    let first = letters(&inner);
    let mut parts: Vec<String> = Vec::new();
    for word in inner.split(' ') {
        match parts.last_mut() {
            Some(part) if !part.ends_with([';', ',']) && !begins(word, first) => {
                part.push(' ');
                part.push_str(word);
            }
            Some(_) | None => parts.push(word.to_owned()),
        }
    }
    let mut label = first;
    let mut citations = Vec::new();
    for piece in parts.iter().flat_map(|part| pieces(part, first)) {
        let is_labelled = citations.is_empty() || begins(piece, first);
        // Without a label it goes on with that of the one before.
        label = if is_labelled { letters(piece) } else { label };
        let value = if is_labelled { value(piece) } else { piece };
        if !value.is_empty() {
            citations.push(Citation { label: label.to_owned(), value: value.to_owned() });
        }
    }
    citations
}

/// What stands between semicolons and commas without a space, unless they are part of an identifier.
fn pieces<'p>(part: &'p str, first: &str) -> Vec<&'p str> {
    let part = part.trim_end_matches([';', ',']);
    let pieces: Vec<&str> = part.split([';', ',']).collect();
    let is_digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_next = |before: &str, piece: &str| begins(piece, first) || (is_digits(value(before)) && is_digits(piece));
    let are_several = pieces.iter().zip(pieces.iter().skip(1)).all(|(before, piece)| is_next(before, piece));
    if are_several { pieces } else { vec![part] }
}

/// The capitals that a text begins with.
fn letters(text: &str) -> &str {
    text.split(|c: char| !c.is_ascii_uppercase()).next().unwrap_or_default()
}

/// Whether a citation begins with the word: `PMID:333`, or the `first` label again.
fn begins(word: &str, first: &str) -> bool {
    let label = letters(word);
    let rest = word.get(label.len()..).unwrap_or_default();
    label.len() >= 2 && (rest.starts_with(':') || (label == first && (rest.is_empty() || rest.starts_with(['-', ' ']))))
}

/// What follows the label; of an address what it leads to.
fn value(piece: &str) -> &str {
    let value = piece.get(letters(piece).len()..).unwrap_or_default().trim_start_matches([':', '-', ' ']);
    let id = value.find("/10.").filter(|_| value.starts_with("HTTP")).and_then(|at| value.get(at + 1..));
    id.unwrap_or(value)
}

fn is_listed(listed: &str, citation: &Citation) -> bool {
    listed.match_indices(citation.value.as_str()).any(|(at, value)| {
        let before = listed.get(..at).and_then(|before| before.rsplit('\n').next()).unwrap_or_default();
        let after = listed.get(at + value.len()..).and_then(|after| after.split('\n').next()).unwrap_or_default();
        is_labelled(before, citation) && is_whole(value, after)
    })
}

/// Whether what stands before an identifier, or its own beginning, says that it is of the kind that is cited.
fn is_labelled(before: &str, citation: &Citation) -> bool {
    let is_kind = |known: &&(&str, &str)| known.0 == citation.label;
    let told = before.trim_end_matches([':', ' ', '-', '.', '*', '_', '`', '[', '(']);
    let is_told = told.strip_suffix(citation.label.as_str()).is_some_and(|it| !it.ends_with(char::is_alphanumeric));
    let is_address = ADDRESSES.iter().filter(is_kind).any(|(_, address)| before.ends_with(address));
    let tells_itself = BEGINNINGS.iter().filter(is_kind).any(|(_, start)| citation.value.starts_with(start));
    let is_begun = before.ends_with(|c: char| c.is_alphanumeric() || ['.', '-', '_'].contains(&c));
    is_told || is_address || (tells_itself && !is_begun)
}

/// Whether an identifier ends before what stands after it.
fn is_whole(value: &str, after: &str) -> bool {
    let mut next = after.chars();
    if value.bytes().all(|byte| byte.is_ascii_digit()) {
        let goes_on = match next.next() {
            Some('.' | '-' | '/') => next.next().is_some_and(char::is_alphanumeric),
            Some(c) => c.is_alphanumeric(),
            None => false,
        };
        return !goes_on;
    }
    let rest = after.split(' ').next().unwrap_or_default();
    let is_end = |c: char| c.is_ascii_punctuation() && !['(', '[', '<', '{', '%', '+', '=', '&', '@'].contains(&c);
    let is_next = rest.strip_prefix([';', ',']).is_some_and(|rest| begins(rest, ""));
    // Of an address, its question and its place in the page.
    rest.chars().all(is_end) || is_next || rest.starts_with(['?', '#', ']', '>', '|', '"'])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_citation_of_a_bracket_is_one_of_its_own() {
        for (found, expected) in [
            ("[PMID:333]", vec!["PMID:333"]),
            ("[PMID 333]", vec!["PMID:333"]),
            ("[PMID: 333]", vec!["PMID:333"]),
            ("[PMID-333]", vec!["PMID:333"]),
            ("[REF-12]", vec!["REF:12"]),
            ("[PMID:999; PMID:888]", vec!["PMID:999", "PMID:888"]),
            ("[PMID:999,PMID:888]", vec!["PMID:999", "PMID:888"]),
            ("[PMID:777, 776]", vec!["PMID:777", "PMID:776"]),
            ("[PMID:777,776;775]", vec!["PMID:777", "PMID:776", "PMID:775"]),
            ("[PMID:333 PMID:999]", vec!["PMID:333", "PMID:999"]),
            ("[PMID 333\n  PMID 999]", vec!["PMID:333", "PMID:999"]),
            ("[REF-1 REF-2]", vec!["REF:1", "REF:2"]),
            ("[PMID:333, DOI:10.1/Ab;2-x, 10.1/c]", vec!["PMID:333", "DOI:10.1/AB;2-X", "DOI:10.1/C"]),
            ("[DOI:https://doi.org/10.1/abc]", vec!["DOI:10.1/ABC"]),
            ("[GUIDELINE: WHO 2020]", vec!["GUIDELINE:WHO 2020"]),
            ("[12]", vec![":12"]),
        ] {
            assert_eq!(cited(found), expected, "{found}");
        }
    }

    fn check(cited: &str, entry: &str, expected: bool) {
        let found = split(cited).iter().all(|citation| is_listed(&normal(entry), citation));
        assert_eq!(found, expected, "{cited} in {entry}");
    }

    #[test]
    fn an_entry_is_found_in_every_writing_of_its_identifier() {
        for entry in [
            "1. A, 2020, PMID:333",
            "1. A, 2020. pmid 333.",
            "- [PMID:333] A",
            "- **PMID:** 333, PMID:999",
            "A. https://pubmed.ncbi.nlm.nih.gov/333/",
            "A. <https://www.ncbi.nlm.nih.gov/pubmed/333>",
            "PMID:333;PMID:444",
        ] {
            check("[PMID:333]", entry, true);
        }
        for entry in [
            "A, DOI:10.1000/xyz12.",
            "A, doi: 10.1000/XYZ12; PMID:3",
            "https://doi.org/10.1000/xyz12",
            "[A](https://doi.org/10.1000/xyz12).",
            "https://x.org/doi/full/10.1000/xyz12?a=b",
            "10.1000/xyz12;PMID:3",
        ] {
            check("[DOI:10.1000/xyz12]", entry, true);
        }
        check("[PMCID:PMC999]", "https://pmc.ncbi.nlm.nih.gov/articles/PMC999/", true);
        check("[NCT:01234567]", "NCT01234567", true);
        check("[NCT:NCT01234567]", "https://clinicaltrials.gov/study/NCT01234567", true);
        check("[GUIDELINE: WHO 2020]", "Guideline: WHO 2020, chapter 3", true);
    }

    #[test]
    fn an_entry_of_another_source_is_none() {
        for (cited, entry) in [
            ("[PMID:33]", "PMID:3345678"),
            ("[PMID:33]", "PMID:133"),
            ("[PMID:33]", "PMID:33.5"),
            ("[PMID:333]", "DOI:333"),
            ("[PMID:333]", "A, 2020, pages 333"),
            ("[PMID:333]", "PMCID:333"),
            ("[PMID:333]", "https://example.org/333/"),
            ("[DOI:10.1/abc]", "DOI:10.1/abcdef"),
            ("[DOI:10.1/abc]", "DOI:10.1/abc.d"),
            ("[DOI:10.1/abc]", "DOI:10.1/abc(2)"),
            ("[DOI:10.1000/12]", "DOI:10.100/012"),
            ("[DOI:10.1000/12]", "DOI:10.1000/12.3"),
            ("[DOI:10.1/abc]", "DOI:110.1/abc"),
            ("[PMCID:PMC99]", "PMCID:PMC999"),
            ("[GUIDELINE: WHO 2020]", "GUIDELINE: WHO 20201"),
            ("[PMID:333, PMID:999]", "PMID:333"),
        ] {
            check(cited, entry, false);
        }
    }
}
