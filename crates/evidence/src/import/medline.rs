//! MEDLINE text: a tag of up to four letters, `- `, and words that go on in lines with six blanks; an empty line ends
//! a record.

use std::collections::VecDeque;

use contract::evidence::record::{Author, Document, Record, Retraction, RetractionExtent, RetractionKind};
use serde_json::json;

use super::input::Input;
use super::lines::Lines;
use super::paper::{self, note};
use super::{ImportError, Item, Options, Parser, Progress};
use crate::record::papers::settle;

const FIELDS_MAX: usize = 50_000;
const RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;

pub struct Medline {
    lines: Lines<Input>,
    source: String,
    fields: Vec<(String, String)>,
    first_line: u64,
    n_bytes: usize,
    fault: Option<String>,
}

impl Medline {
    pub fn new(input: Input, options: Options) -> Medline {
        Medline {
            lines: Lines::new(input),
            source: options.source.id,
            fields: Vec::new(),
            first_line: 0,
            n_bytes: 0,
            fault: None,
        }
    }

    /// What stood since the last empty line.
    fn finish(&mut self, out: &mut VecDeque<Item>) {
        let fields = std::mem::take(&mut self.fields);
        let fault = self.fault.take();
        self.n_bytes = 0;
        if fields.is_empty() && fault.is_none() {
            return;
        }
        let at = format!("line {}", self.first_line);
        out.push_back(match fault.map_or_else(|| document(&fields, &self.source), Err) {
            Ok(document) => Item::of(Record::Document(document)),
            Err(reason) => Item::rejected(at, reason),
        });
    }

    fn add(&mut self, line: &str, number: u64) {
        if self.fields.is_empty() && self.fault.is_none() {
            self.first_line = number;
        }
        self.n_bytes += line.len();
        if self.n_bytes > RECORD_BYTES_MAX || self.fields.len() >= FIELDS_MAX {
            self.fault.get_or_insert_with(|| {
                format!("more than {RECORD_BYTES_MAX} bytes or {FIELDS_MAX} fields without an empty line")
            });
        }
        if self.fault.is_some() {
            self.fields.clear();
            return;
        }
        match (line.strip_prefix("      "), line.split_once("- ").or(line.strip_suffix('-').map(|tag| (tag, "")))) {
            (Some(more), _) => match self.fields.last_mut() {
                Some((_, text)) => {
                    text.push(' ');
                    text.push_str(more.trim());
                }
                None => self.fault = Some("it begins in the middle of a field".to_owned()),
            },
            (None, Some((tag, text))) if is_tag(tag) => {
                self.fields.push((tag.trim().to_owned(), text.trim().to_owned()));
            }
            (None, _) => self.fault = Some(format!("line {number} has no tag such as `PMID- `")),
        }
    }
}

fn is_tag(text: &str) -> bool {
    text.len() == 4 && text.trim_end().bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit())
}

impl Parser for Medline {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        match self.lines.read()? {
            None => {
                self.finish(out);
                return Ok(Progress::Ended);
            }
            Some(Err(rejection)) => {
                self.fault.get_or_insert(format!("{} is {}", rejection.at, rejection.reason));
            }
            Some(Ok(line)) if line.text.trim().is_empty() => self.finish(out),
            Some(Ok(line)) => self.add(&line.text, line.number),
        }
        Ok(Progress::More)
    }
}

fn document(fields: &[(String, String)], source: &str) -> Result<Document, String> {
    let all = |tag: &'static str| fields.iter().filter(move |(key, _)| key == tag).map(|(_, text)| text.as_str());
    let first = |tag: &'static str| all(tag).find(|text| !text.is_empty());
    let number = first("PMID").ok_or("it has no `PMID`")?;
    let pmid = paper::pmid(number).ok_or("`PMID` is no PubMed number")?;
    let mut document = paper::pubmed_document(&pmid, source);
    let title = first("TI").or_else(|| first("BTI")).filter(|title| !title.starts_with("[Not Available]"));
    let vernacular = first("TT");
    document.title = title.or(vernacular).ok_or("it has no title (`TI`)")?.to_owned();
    document.journal = first("JT").or_else(|| first("TA")).map(str::to_owned);
    document.year = ["DP", "DEP", "EDAT"].into_iter().filter_map(first).find_map(|date| {
        // `20210607` has no separator after the year.
        paper::year(date).or_else(|| paper::year(date.get(..4)?))
    });
    document.authors = authors(fields);
    let spoken = first("LA").unwrap_or_default();
    match (first("AB"), first("OAB")) {
        (Some(text), _) => text.clone_into(&mut document.text),
        (None, Some(text)) => {
            text.clone_into(&mut document.text);
            document.lang = first("OABL").map_or_else(|| "und".to_owned(), paper::lang);
        }
        (None, None) if title.is_none() => document.lang = paper::lang(spoken),
        (None, None) => {}
    }
    let types: Vec<&str> = all("PT").collect();
    let stated = AGAINST.iter().filter_map(|(tag, kind, extent)| {
        let notice = first(tag)?;
        Some(Retraction { kind: *kind, extent: *extent, notice: Some(noticed(notice)), source: None })
    });
    let typed = types.contains(&"Retracted Publication");
    let typed =
        typed.then_some(Retraction { kind: RetractionKind::Retracted, extent: None, notice: None, source: None });
    for retraction in stated.chain(typed) {
        settle(&mut document.retraction, &retraction);
    }
    for id in all("AID").chain(all("LID")) {
        if let Some(doi) = id.strip_suffix("[doi]") {
            document.ids.insert("doi".to_owned(), doi.trim().to_owned());
        }
    }
    if let Some(pmc) = first("PMC") {
        document.ids.insert("pmc".to_owned(), pmc.to_owned());
    }
    document.links = paper::links(&document.ids);
    let attributes = &mut document.attributes;
    let revised = first("LR").filter(|date| date.len() == 8).and_then(|date| date.parse().ok());
    note(attributes, "revised", json!(revised.map(paper::day)));
    note(attributes, "vernacular_title", json!(vernacular));
    note(attributes, "languages", all("LA").map(|code| json!(paper::lang(code))).collect());
    note(attributes, "journal_abbreviation", json!(first("TA")));
    note(attributes, "volume", json!(first("VI")));
    note(attributes, "issue", json!(first("IP")));
    note(attributes, "pages", json!(first("PG")));
    note(attributes, "publication_types", json!(types));
    note(attributes, "keywords", all("OT").map(|word| json!(word)).collect());
    note(attributes, "mesh", all("MH").map(|heading| json!({ "name": heading })).collect());
    note(attributes, "copyright", json!(first("CI")));
    let corrections = CORRECTIONS.iter().flat_map(|(tag, kind)| {
        all(tag).map(move |text| json!({ "kind": kind, "citation": text, "pmid": pmid_in(text) }))
    });
    note(attributes, "corrections", corrections.collect());
    Ok(document)
}

/// What is said of the paper itself, the gravest first.
const AGAINST: [(&str, RetractionKind, Option<RetractionExtent>); 4] = [
    ("RIN", RetractionKind::Retracted, None),
    ("RRI", RetractionKind::Retracted, Some(RetractionExtent::Republished)),
    ("PRIN", RetractionKind::Retracted, Some(RetractionExtent::Partial)),
    ("ECI", RetractionKind::ExpressionOfConcern, None),
];

/// What is said of whether papers stand, in the words of PubMed's XML.
const CORRECTIONS: [(&str, &str); 10] = [
    ("EIN", "ErratumIn"),
    ("EFR", "ErratumFor"),
    ("RIN", "RetractionIn"),
    ("ROF", "RetractionOf"),
    ("RRI", "RetractedandRepublishedIn"),
    ("RRF", "RetractedandRepublishedFrom"),
    ("PRIN", "PartialRetractionIn"),
    ("PROF", "PartialRetractionOf"),
    ("ECI", "ExpressionOfConcernIn"),
    ("ECF", "ExpressionOfConcernFor"),
];

/// The PubMed number at the end of a citation.
fn pmid_in(citation: &str) -> Option<String> {
    let (_, number) = citation.rsplit_once("PMID:")?;
    paper::pmid(number.trim().trim_end_matches('.'))
}

fn noticed(citation: &str) -> String {
    pmid_in(citation).map_or_else(|| citation.to_owned(), |pmid| format!("PMID:{pmid}"))
}

/// Full names (`FAU`) with the short form that follows each (`AU`), and groups (`CN`), in their order.
fn authors(fields: &[(String, String)]) -> Vec<Author> {
    let mut authors: Vec<Author> = Vec::new();
    let mut is_full = false;
    for (tag, text) in fields.iter().filter(|(_, text)| !text.is_empty()) {
        match tag.as_str() {
            "FAU" => {
                let (last, fore) = text.split_once(", ").unwrap_or((text, ""));
                let fore = (!fore.is_empty()).then(|| fore.to_owned());
                authors.push(Author { last: last.to_owned(), fore, initials: None });
                is_full = true;
            }
            "AU" => {
                let known = authors.last_mut().filter(|_| is_full);
                match known {
                    Some(author) => {
                        let initials = text.strip_prefix(author.last.as_str()).map(str::trim);
                        author.initials = initials.filter(|initials| !initials.is_empty()).map(str::to_owned);
                    }
                    None => {
                        let (last, initials) = text.split_once(' ').unwrap_or((text, ""));
                        let initials = (!initials.is_empty()).then(|| initials.to_owned());
                        authors.push(Author { last: last.to_owned(), fore: None, initials });
                    }
                }
                is_full = false;
            }
            "CN" => {
                authors.push(paper::group(text.clone()));
                is_full = false;
            }
            _ => {}
        }
    }
    authors
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Format, open};

    fn read(fields: &str) -> Document {
        let text = format!("PMID- 1\nTI  - a\n{fields}\n");
        let options = Options { source: Format::Medline.source(), lang: None };
        let mut items = open(Format::Medline, options, std::io::Cursor::new(text)).unwrap();
        match items.next() {
            Some(Ok(Item::Record(record))) => match *record {
                Record::Document(document) => document,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn every_tag_against_a_paper_is_read() {
        for (tag, expected) in [
            ("RIN ", "retracted"),
            ("RRI ", "retracted and republished"),
            ("PRIN", "retracted in part"),
            ("ECI ", "expression of concern"),
        ] {
            let retraction = read(&format!("{tag}- J Made Up. 2020;1:1. PMID: 9")).retraction.unwrap();
            assert_eq!((retraction.words(), retraction.notice.as_deref()), (expected, Some("PMID:9")), "{tag}");
        }
        let typed = read("PT  - Retracted Publication\nECI - J. PMID: 9\nRIN - J. PMID: 8").retraction.unwrap();
        assert_eq!((typed.words(), typed.notice.as_deref()), ("retracted", Some("PMID:8")));
    }

    #[test]
    fn a_notice_says_which_papers_it_is_about() {
        use crate::record::papers::Paper;
        for (tag, expected) in [
            ("ROF ", "retracted"),
            ("RRF ", "retracted and republished"),
            ("PROF", "retracted in part"),
            ("ECF ", "expression of concern"),
        ] {
            let says = Paper::of(&read(&format!("{tag}- J Made Up. 2020;1:1. PMID: 9"))).says;
            let [(about, retraction)] = says.as_slice() else { panic!("{says:?}") };
            assert_eq!((about.as_str(), retraction.words()), ("pmid:9", expected), "{tag}");
        }
    }
}
