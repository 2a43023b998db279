//! PubMed XML: baseline and update files, and the answers of EFetch.
//!
//! Titles and abstracts are in English whatever the paper's language; the title in its own language, abstracts in others
//! and everything else that is worth keeping stand in the attributes.

mod waiting;

use std::collections::{BTreeMap, VecDeque};

use contract::evidence::record::{
    Author, Deletion, Document, Record, RecordKind, Retraction, RetractionExtent, RetractionKind,
};
use serde_json::{Value, json};

use super::input::Input;
use super::paper::{self, note};
use super::xml::{Element, Step, Xml};
use super::{Format, ImportError, Item, Options, Parser, Progress};
use waiting::{Paper, Revised, Waiting};

pub struct Pubmed {
    xml: Xml<Input>,
    source: String,
    n_articles: u64,
    waiting: Waiting,
    is_begun: bool,
}

impl Pubmed {
    pub fn new(input: Input, options: Options) -> Pubmed {
        let (xml, source) = (Xml::new(input), options.source.id);
        Pubmed { xml, source, n_articles: 0, waiting: Waiting::default(), is_begun: false }
    }
}

impl Parser for Pubmed {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        let progress = self.step();
        match &progress {
            Ok(Progress::More) => self.waiting.release(out),
            Ok(Progress::Ended) | Err(_) => self.waiting.release_all(out),
        }
        progress
    }
}

impl Pubmed {
    fn step(&mut self) -> Result<Progress, ImportError> {
        let element = match self.xml.step()? {
            Step::Start(element) => element,
            Step::Eof => return Ok(Progress::Ended),
            Step::Text(_) | Step::Undefined(_) | Step::End => return Ok(Progress::More),
        };
        match element.name.as_str() {
            "PubmedArticle" | "PubmedBookArticle" | "DeleteCitation" => {
                self.n_articles += 1;
                match self.xml.whole(element)? {
                    Ok(whole) => self.read(&whole),
                    Err(reason) => self.waiting.push(Item::rejected(format!("article {}", self.n_articles), reason)),
                }
            }
            // Their children are the records.
            "PubmedArticleSet" | "PubmedBookArticleSet" => {}
            // The page of a server that failed holds no papers either, and says nothing of them.
            _ if !self.is_begun => {
                let expected = "a `PubmedArticleSet`".to_owned();
                return Err(ImportError::Unlike { format: Format::Pubmed, expected });
            }
            _ => self.xml.skip()?,
        }
        self.is_begun = true;
        Ok(Progress::More)
    }

    fn read(&mut self, element: &Element) {
        if element.name == "DeleteCitation" {
            element.all("PMID").for_each(|number| self.delete(&number.text().unwrap_or_default()));
            return;
        }
        let citation = element.first("MedlineCitation").or_else(|| element.first("BookDocument"));
        let number = citation.and_then(|citation| citation.text_at(&["PMID"])).unwrap_or_default();
        let Some((citation, (text, pmid))) = citation.zip(numbered(&number)) else {
            let shown: String = number.chars().take(40).collect();
            self.waiting.push(Item::rejected(
                format!("article {}", self.n_articles),
                format!("`PMID` is `{shown}`, expected one to eight digits"),
            ));
            return;
        };
        match document(&text, citation, element, &self.source) {
            Ok(document) => {
                let revised = Revised { day: day(citation), version: version(citation).unwrap_or(1) };
                self.waiting.push_paper(Paper { pmid, revised, document });
            }
            Err(reason) => self.waiting.push(Item::rejected(format!("PMID {pmid}"), reason)),
        }
    }

    fn delete(&mut self, number: &str) {
        match numbered(number) {
            Some((text, pmid)) => {
                let (id, source) = (format!("PMID:{text}"), Some(self.source.clone()));
                let deletion = Deletion { kind: RecordKind::Document, id, source };
                self.waiting.push_deletion(Item::of(Record::Deletion(deletion)), pmid);
            }
            None => {
                let shown: String = number.chars().take(40).collect();
                self.waiting.push(Item::rejected("DeleteCitation", format!("`{shown}` is no PubMed number")));
            }
        }
    }
}

/// A PubMed number as text and as itself.
fn numbered(text: &str) -> Option<(String, u32)> {
    let text = paper::pmid(text)?;
    let number = text.parse().ok()?;
    Some((text, number))
}

/// The day as one number.
fn day(citation: &Element) -> Option<u32> {
    let date = citation.first("DateRevised")?;
    let part = |name| date.text_at(&[name]).and_then(|text| text.parse::<u32>().ok());
    let year = part("Year").filter(|year| *year <= 9_999)?;
    let below_hundred = |name| part(name).filter(|number| *number < 100).unwrap_or(0);
    Some(year * 10_000 + below_hundred("Month") * 100 + below_hundred("Day"))
}

fn version(citation: &Element) -> Option<u32> {
    citation.first("PMID")?.attribute("Version")?.trim().parse().ok()
}

/// `citation` is inside `article`, or is a book's own.
fn document(pmid: &str, citation: &Element, article: &Element, source: &str) -> Result<Document, String> {
    let mut document = paper::pubmed_document(pmid, source);
    let body = citation.first("Article").unwrap_or(citation);
    let spoken = body.first("Language").or_else(|| citation.first("Language")).and_then(Element::text);
    let vernacular = body.text_at(&["VernacularTitle"]);
    let book = citation.text_at(&["Book", "BookTitle"]);
    let title = body.text_at(&["ArticleTitle"]).filter(|title| !title.starts_with("[Not Available]"));
    let is_vernacular = title.is_none() && vernacular.is_some();
    document.title = title.or(vernacular.clone()).or(book.clone()).ok_or("it has no title")?;
    document.journal = journal(body, citation).or(book);
    document.year = year(body, citation, article);
    document.authors = body.all("AuthorList").flat_map(|list| list.all("Author")).filter_map(author).collect();
    document.retraction = retraction(citation, body);
    let other = other_abstracts(citation);
    match body.first("Abstract").and_then(abstract_text) {
        Some(text) => document.text = text,
        None => {
            if let Some((lang, text)) = other.first() {
                document.text.clone_from(text);
                document.lang.clone_from(lang);
            } else if is_vernacular {
                document.lang = paper::lang(spoken.as_deref().unwrap_or_default());
            }
        }
    }
    document.ids.extend(ids(body, article));
    document.links = paper::links(&document.ids);
    let attributes = &mut document.attributes;
    note(attributes, "revised", json!(day(citation).map(paper::day)));
    note(attributes, "version", json!(version(citation).filter(|version| *version > 1)));
    note(attributes, "vernacular_title", json!(vernacular));
    let other = other.iter().map(|(lang, text)| json!({ "lang": lang, "text": text }));
    note(attributes, "other_abstracts", other.collect());
    let languages = body.all("Language").filter_map(Element::text);
    note(attributes, "languages", languages.map(|code| json!(paper::lang(&code))).collect());
    describe(attributes, citation, body);
    Ok(document)
}

fn journal(body: &Element, citation: &Element) -> Option<String> {
    body.text_at(&["Journal", "Title"])
        .or_else(|| body.text_at(&["Journal", "ISOAbbreviation"]))
        .or_else(|| citation.text_at(&["MedlineJournalInfo", "MedlineTA"]))
}

/// The issue's year, as a citation has it; where it has none, that of the first appearance.
fn year(body: &Element, citation: &Element, article: &Element) -> Option<i32> {
    let date = body.at(&["Journal", "JournalIssue", "PubDate"]).or_else(|| citation.at(&["Book", "PubDate"]));
    let stated = date.and_then(|date| date.text_at(&["Year"]).or_else(|| date.text_at(&["MedlineDate"])));
    let appeared = || body.text_at(&["ArticleDate", "Year"]);
    let entered = || {
        let history = article.first("PubmedData").or_else(|| article.first("PubmedBookData"))?.first("History")?;
        let entries = || history.all("PubMedPubDate");
        let entry = entries().find(|entry| entry.attribute("PubStatus") == Some("pubmed")).or(entries().next());
        entry?.text_at(&["Year"])
    };
    let candidates = [stated, appeared(), entered()];
    candidates.into_iter().flatten().find_map(|text| paper::year(&text))
}

fn author(element: &Element) -> Option<Author> {
    if element.attribute("ValidYN") == Some("N") {
        return None;
    }
    if let Some(name) = element.text_at(&["CollectiveName"]) {
        return Some(paper::group(name));
    }
    let part = |name| element.text_at(&[name]);
    Some(paper::person(part("LastName")?, part("ForeName"), part("Initials"), part("Suffix")))
}

/// The parts of a structured abstract, each with its heading, one a line.
fn abstract_text(element: &Element) -> Option<String> {
    let part = |part: &Element| {
        let text = part.text()?;
        Some(match part.attribute("Label").map(str::trim) {
            Some(label) if !label.is_empty() && label != "UNLABELLED" => format!("{label}: {text}"),
            Some(_) | None => text,
        })
    };
    let parts: Vec<String> = element.all("AbstractText").filter_map(part).collect();
    (!parts.is_empty()).then(|| parts.join("\n"))
}

fn other_abstracts(citation: &Element) -> Vec<(String, String)> {
    let read = |element: &Element| {
        Some((paper::lang(element.attribute("Language").unwrap_or("und")), abstract_text(element)?))
    };
    citation.all("OtherAbstract").filter_map(read).collect()
}

fn corrections(citation: &Element) -> impl Iterator<Item = &Element> {
    citation.all("CommentsCorrectionsList").flat_map(|list| list.all("CommentsCorrections"))
}

/// `Retracted Publication` in MeSH, where some files leave out the words.
const RETRACTED_UI: &str = "D016441";

/// The gravest that is said of the paper. A notice of retraction counts also where the publication type was not updated,
/// and the other way round.
fn retraction(citation: &Element, body: &Element) -> Option<Retraction> {
    let notice = |kind: &str| {
        let is_one = |it: &&Element| it.attribute("RefType").is_some_and(|it| it.eq_ignore_ascii_case(kind));
        let found = corrections(citation).find(is_one)?;
        let pmid = found.text_at(&["PMID"]).and_then(|number| paper::pmid(&number));
        Some(pmid.map(|pmid| format!("PMID:{pmid}")).or_else(|| found.text_at(&["RefSource"])))
    };
    let types = || body.all("PublicationTypeList").flat_map(|list| list.all("PublicationType"));
    let is_retracted = |kind: &Element| {
        kind.attribute("UI") == Some(RETRACTED_UI) || kind.text().as_deref() == Some("Retracted Publication")
    };
    let told = |kind, extent, notice: Option<Option<String>>| {
        notice.map(|notice| Retraction { kind, extent, notice, source: None })
    };
    let (retracted, partial) = (RetractionKind::Retracted, Some(RetractionExtent::Partial));
    told(retracted, None, notice("RetractionIn"))
        .or_else(|| told(retracted, Some(RetractionExtent::Republished), notice("RetractedandRepublishedIn")))
        .or_else(|| told(retracted, None, types().any(is_retracted).then_some(None)))
        .or_else(|| told(retracted, partial, notice("PartialRetractionIn")))
        .or_else(|| told(RetractionKind::ExpressionOfConcern, None, notice("ExpressionOfConcernIn")))
}

fn ids(body: &Element, article: &Element) -> BTreeMap<String, String> {
    let mut ids = BTreeMap::new();
    for location in body.all("ELocationID") {
        if location.attribute("ValidYN") != Some("N")
            && let (Some("doi"), Some(id)) = (location.attribute("EIdType"), location.text())
        {
            ids.insert("doi".to_owned(), id);
        }
    }
    let data = article.first("PubmedData").or_else(|| article.first("PubmedBookData"));
    for id in data.into_iter().flat_map(|data| data.all("ArticleIdList")).flat_map(|list| list.all("ArticleId")) {
        if let (Some(kind @ ("doi" | "pmc" | "pii")), Some(text)) = (id.attribute("IdType"), id.text()) {
            ids.insert(kind.to_owned(), text);
        }
    }
    ids
}

fn describe(attributes: &mut BTreeMap<String, Value>, citation: &Element, body: &Element) {
    let issue = body.at(&["Journal", "JournalIssue"]);
    let texts = |list: &'static str, item: &'static str, within: &Element| -> Vec<String> {
        within.all(list).flat_map(|list| list.all(item)).filter_map(Element::text).collect()
    };
    note(attributes, "journal_abbreviation", json!(body.text_at(&["Journal", "ISOAbbreviation"])));
    note(attributes, "issn", json!(body.text_at(&["Journal", "ISSN"])));
    note(attributes, "volume", json!(issue.and_then(|issue| issue.text_at(&["Volume"]))));
    note(attributes, "issue", json!(issue.and_then(|issue| issue.text_at(&["Issue"]))));
    note(attributes, "pages", json!(body.text_at(&["Pagination", "MedlinePgn"])));
    note(attributes, "medline_date", json!(issue.and_then(|issue| issue.text_at(&["PubDate", "MedlineDate"]))));
    note(attributes, "month", json!(issue.and_then(|issue| issue.text_at(&["PubDate", "Month"]))));
    note(attributes, "publication_types", json!(texts("PublicationTypeList", "PublicationType", body)));
    note(attributes, "keywords", json!(texts("KeywordList", "Keyword", citation)));
    note(attributes, "copyright", json!(body.text_at(&["Abstract", "CopyrightInformation"])));
    let headings = citation.all("MeshHeadingList").flat_map(|list| list.all("MeshHeading")).filter_map(|heading| {
        let name = heading.first("DescriptorName")?;
        Some(json!({ "id": name.attribute("UI").map(|id| format!("MESH:{id}")), "name": name.text()? }))
    });
    note(attributes, "mesh", headings.collect());
    let grants = body.all("GrantList").flat_map(|list| list.all("Grant")).filter_map(|grant| {
        let (id, agency) = (grant.text_at(&["GrantID"]), grant.text_at(&["Agency"]));
        (id.is_some() || agency.is_some()).then(|| json!({ "id": id, "agency": agency }))
    });
    note(attributes, "grants", grants.collect());
    let corrections = corrections(citation).filter_map(|found| {
        let kind = found.attribute("RefType").filter(|kind| paper::is_told_correction(kind))?;
        Some(json!({ "kind": kind, "citation": found.text_at(&["RefSource"]), "pmid": found.text_at(&["PMID"]) }))
    });
    note(attributes, "corrections", corrections.collect());
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Format, open};

    fn article(pmid: u32, title: &str, more: &str) -> String {
        format!(
            "<PubmedArticle><MedlineCitation><PMID>{pmid}</PMID>{more}<Article><ArticleTitle>{title}</ArticleTitle>\
             </Article></MedlineCitation></PubmedArticle>"
        )
    }

    fn revised(day: u32) -> String {
        format!("<DateRevised><Year>2020</Year><Month>02</Month><Day>{day:02}</Day></DateRevised>")
    }

    fn corrects(kind: &str, pmid: u32) -> String {
        format!(
            "<CommentsCorrectionsList><CommentsCorrections RefType=\"{kind}\"><RefSource>J</RefSource>\
             <PMID>{pmid}</PMID></CommentsCorrections></CommentsCorrectionsList>"
        )
    }

    fn retracts(pmid: u32) -> String {
        corrects("RetractionOf", pmid)
    }

    const LATER: &str =
        "rejected PMID 1: a record of it that was revised later, or of a later version, stands before it in the file";
    const BEFORE: &str = "rejected PMID 1: another record of it stands behind it in the file, and counts";

    fn check(articles: &[String], expected: &[&str]) {
        let text = format!("<PubmedArticleSet>{}</PubmedArticleSet>", articles.concat());
        let options = Options { source: Format::Pubmed.source(), lang: None };
        let items = open(Format::Pubmed, options, std::io::Cursor::new(text)).unwrap();
        let told = items.map(|item| match item.unwrap() {
            Item::Record(record) => match *record {
                Record::Document(document) => match document.retraction {
                    Some(retraction) => {
                        let (words, notice) = (retraction.words(), retraction.notice.unwrap_or_default());
                        format!("{} {} {words} {notice}", document.id, document.title)
                    }
                    None => format!("{} {}", document.id, document.title),
                },
                other => super::super::fits::id(&other),
            },
            Item::Rejected(rejection) => format!("rejected {}: {}", rejection.at, rejection.reason),
        });
        assert_eq!(told.collect::<Vec<_>>(), expected);
    }

    #[test]
    fn of_two_records_of_a_paper_the_one_revised_later_counts() {
        check(&[article(1, "new", &revised(9)), article(1, "old", &revised(8))], &["PMID:1 new", LATER]);
        check(&[article(1, "old", &revised(8)), article(1, "new", &revised(9))], &["PMID:1 new", BEFORE]);
        check(&[article(1, "first", &revised(8)), article(1, "second", &revised(8))], &["PMID:1 second", BEFORE]);
        check(&[article(1, "first", &revised(8)), article(1, "undated", "")], &["PMID:1 undated", BEFORE]);
        let version = |title: &str, version: u32| {
            article(1, title, &revised(8)).replace("<PMID>", &format!("<PMID Version=\"{version}\">"))
        };
        check(&[version("new", 2), version("old", 1)], &["PMID:1 new", LATER]);
        check(&[version("old", 1), version("new", 2)], &["PMID:1 new", BEFORE]);
        let undated = |title: &str, number: u32| version(title, number).replace(&revised(8), "");
        check(&[undated("new", 2), undated("old", 1)], &["PMID:1 new", LATER]);
        check(&[undated("old", 1), undated("new", 2)], &["PMID:1 new", BEFORE]);
    }

    #[test]
    fn every_record_of_a_paper_counts_once_and_nothing_is_told_twice_in_other_words() {
        let same = || article(1, "same", "");
        check(&[same(), same(), same()], &["PMID:1 same"; 3]);
        check(&[same(), same(), article(1, "other", "")], &["PMID:1 other", BEFORE, BEFORE]);
        let notice = article(2, "n", &retracts(1));
        let told = "PMID:1 same retracted PMID:2";
        check(&[same(), same(), notice.clone(), same()], &[told, told, told, "PMID:2 n"]);
        check(&[notice, same(), same()], &["PMID:2 n", told, told]);
    }

    #[test]
    fn an_older_record_still_speaks_against_its_paper() {
        let own = format!("{}{}", revised(8), corrects("RetractionIn", 9));
        check(&[article(1, "new", &revised(9)), article(1, "old", &own)], &["PMID:1 new retracted PMID:9", LATER]);
    }

    #[test]
    fn a_publication_type_is_known_by_its_number_and_a_title_may_say_it_alone() {
        let typed = |name: &str| {
            article(1, "a", "").replace(
                "</Article>",
                &format!(
                    "<PublicationTypeList><PublicationType UI=\"{name}\">x</PublicationType></PublicationTypeList></Article>"
                ),
            )
        };
        check(&[typed("D016441")], &["PMID:1 a retracted "]);
        check(&[typed("D016428")], &["PMID:1 a"]);
        check(&[article(1, "RETRACTED: a", "")], &["PMID:1 RETRACTED: a retracted its title says so"]);
        check(&[article(1, "Retracted papers: a survey", "")], &["PMID:1 Retracted papers: a survey"]);
        let both = [article(1, "[Retracted] a", ""), article(2, "n", &retracts(1))];
        check(&both, &["PMID:1 [Retracted] a retracted PMID:2", "PMID:2 n"]);
    }

    #[test]
    fn a_paper_that_comes_again_after_its_deletion_is_a_new_one() {
        let deletion = "<DeleteCitation><PMID>1</PMID></DeleteCitation>".to_owned();
        check(
            &[article(1, "new", &revised(9)), deletion, article(1, "old", &revised(8))],
            &["PMID:1 new", "deletion `PMID:1`", "PMID:1 old"],
        );
    }

    #[test]
    fn a_notice_marks_the_paper_that_it_retracts_wherever_it_stands() {
        let (paper, notice) = (article(1, "a", ""), article(2, "n", &retracts(1)));
        check(&[paper.clone(), notice.clone()], &["PMID:1 a retracted PMID:2", "PMID:2 n"]);
        check(&[notice.clone(), paper.clone()], &["PMID:2 n", "PMID:1 a retracted PMID:2"]);
        check(&[paper, notice, article(1, "b", "")], &["PMID:1 b retracted PMID:2", "PMID:2 n", BEFORE]);
        check(&[article(2, "n", &retracts(2))], &["PMID:2 n"]);
    }

    #[test]
    fn a_notice_says_more_than_a_concern_and_less_than_the_papers_own_record() {
        let own = |kind: &str| corrects(kind, 9);
        let notice = article(2, "n", &retracts(1));
        check(
            &[notice.clone(), article(1, "a", &own("ExpressionOfConcernIn"))],
            &["PMID:2 n", "PMID:1 a retracted PMID:2"],
        );
        check(&[article(1, "a", &own("RetractionIn")), notice], &["PMID:1 a retracted PMID:9", "PMID:2 n"]);
    }

    #[test]
    fn every_word_of_pubmed_against_a_paper_is_read_on_both_sides() {
        for (of_paper, of_notice, expected) in [
            ("RetractionIn", "RetractionOf", "retracted"),
            ("RetractedandRepublishedIn", "RetractedandRepublishedFrom", "retracted and republished"),
            ("PartialRetractionIn", "PartialRetractionOf", "retracted in part"),
            ("ExpressionOfConcernIn", "ExpressionOfConcernFor", "expression of concern"),
        ] {
            let told = format!("PMID:1 a {expected} PMID:2");
            check(&[article(1, "a", &corrects(of_paper, 2))], &[&told]);
            check(&[article(1, "a", ""), article(2, "n", &corrects(of_notice, 1))], &[&told, "PMID:2 n"]);
        }
        check(&[article(1, "a", &corrects("ErratumIn", 2))], &["PMID:1 a"]);
    }
}
