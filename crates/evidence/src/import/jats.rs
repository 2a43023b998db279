//! JATS: full texts of articles, one or many in a file.

use std::collections::{BTreeMap, VecDeque};

use contract::evidence::record::{Author, Document, Record, Retraction, RetractionExtent, RetractionKind};
use serde_json::{Value, json};

use super::input::Input;
use super::paper::{self, BODY, note};
use super::xml::{Child, Element, Step, Xml};
use super::{ImportError, Item, Options, Parser, Progress};
use crate::record::papers::settle;

pub struct Jats {
    xml: Xml<Input>,
    source: String,
    n_articles: u64,
}

impl Jats {
    pub fn new(input: Input, options: Options) -> Jats {
        Jats { xml: Xml::new(input), source: options.source.id, n_articles: 0 }
    }
}

impl Parser for Jats {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        let element = match self.xml.step()? {
            Step::Start(element) => element,
            Step::Eof => return Ok(Progress::Ended),
            Step::Text(_) | Step::Undefined(_) | Step::End => return Ok(Progress::More),
        };
        // Collections wrap articles in elements of several names.
        if element.name == "article" {
            self.n_articles += 1;
            let read = match self.xml.whole(element)? {
                Ok(article) => document(&article, &self.source),
                Err(reason) => Err(reason),
            };
            out.push_back(match read {
                Ok(document) => Item::of(Record::Document(document)),
                Err(reason) => Item::rejected(format!("article {}", self.n_articles), reason),
            });
        }
        Ok(Progress::More)
    }
}

fn document(article: &Element, source: &str) -> Result<Document, String> {
    let front = article.first("front").ok_or("it has no `front`")?;
    let meta = front.first("article-meta").ok_or("it has no `article-meta`")?;
    let ids = ids(meta);
    let id = [("pmc", "PMCID:"), ("doi", "DOI:"), ("pmid", "PMID:")]
        .into_iter()
        .find_map(|(key, prefix)| ids.get(key).map(|id| format!("{prefix}{id}")))
        .ok_or("it has no `article-id` of PMC, DOI or PubMed")?;
    let title = meta.text_at(&["title-group", "article-title"]).ok_or("it has no title")?;
    let (mut text, mut body) = (Vec::new(), Vec::new());
    meta.all("abstract").for_each(|part| passages(part, &mut text));
    article.all("body").for_each(|part| passages(part, &mut body));
    let permissions = meta.first("permissions");
    let licence = permissions.and_then(|permissions| permissions.first("license"));
    let mut attributes = BTreeMap::new();
    // Searched like the abstract, and never told as one.
    note(&mut attributes, BODY, json!(body.join("\n")));
    note(&mut attributes, "article_type", json!(article.attribute("article-type")));
    note(&mut attributes, "volume", json!(meta.text_at(&["volume"])));
    note(&mut attributes, "issue", json!(meta.text_at(&["issue"])));
    note(&mut attributes, "pages", json!(pages(meta)));
    let keywords = meta.all("kwd-group").flat_map(|group| group.all("kwd")).filter_map(Element::text);
    note(&mut attributes, "keywords", keywords.map(|word| json!(word)).collect());
    // The terms of one article outweigh those of the collection.
    note(&mut attributes, "licence", json!(licence.and_then(licence_uri)));
    note(&mut attributes, "corrections", corrections(article, meta));
    note(&mut attributes, "copyright", json!(permissions.and_then(|found| found.text_at(&["copyright-statement"]))));
    Ok(Document {
        id,
        kind: "paper".to_owned(),
        title,
        text: text.join("\n"),
        lang: article.attribute("xml:lang").map_or_else(|| "en".to_owned(), paper::lang),
        authors: authors(meta),
        journal: journal(front),
        year: year(meta),
        links: paper::links(&ids),
        ids,
        retraction: retraction(article, meta),
        attributes,
        source: source.to_owned(),
    })
}

fn ids(meta: &Element) -> BTreeMap<String, String> {
    let mut ids = BTreeMap::new();
    for id in meta.all("article-id") {
        let (Some(kind), Some(text)) = (id.attribute("pub-id-type"), id.text()) else { continue };
        match kind {
            "doi" => ids.insert("doi".to_owned(), text),
            "pmid" => paper::pmid(&text).and_then(|pmid| ids.insert("pmid".to_owned(), pmid)),
            "pmc" | "pmcid" => {
                let number = text.trim_start_matches("PMC");
                ids.insert("pmc".to_owned(), format!("PMC{number}"))
            }
            _ => None,
        };
    }
    ids
}

fn journal(front: &Element) -> Option<String> {
    let meta = front.first("journal-meta")?;
    meta.text_at(&["journal-title-group", "journal-title"])
        .or_else(|| meta.text_at(&["journal-title"]))
        .or_else(|| meta.text_at(&["journal-id"]))
}

/// The earliest of the stated years: print may follow the electronic issue by one.
fn year(meta: &Element) -> Option<i32> {
    let years = meta.all("pub-date").filter_map(|date| paper::year(&date.text_at(&["year"])?));
    years.min()
}

fn pages(meta: &Element) -> Option<String> {
    match (meta.text_at(&["fpage"]), meta.text_at(&["lpage"])) {
        (Some(first), Some(last)) => Some(format!("{first}-{last}")),
        (Some(page), None) => Some(page),
        (None, _) => meta.text_at(&["elocation-id"]),
    }
}

fn licence_uri(licence: &Element) -> Option<String> {
    let href = |element: &Element| element.attribute("xlink:href").map(str::to_owned);
    href(licence).or_else(|| licence.text_at(&["license_ref"])).or_else(|| licence.text())
}

fn authors(meta: &Element) -> Vec<Author> {
    let is_author = |contributor: &&Element| contributor.attribute("contrib-type").is_none_or(|kind| kind == "author");
    let contributors = meta.all("contrib-group").flat_map(|group| group.all("contrib")).filter(is_author);
    contributors
        .filter_map(|contributor| {
            if let Some(name) = contributor.first("name") {
                let part = |key| name.text_at(&[key]);
                let fore = part("given-names");
                let initials = fore.as_deref().map(initials);
                return Some(paper::person(part("surname")?, fore, initials, part("suffix")));
            }
            contributor.text_at(&["collab"]).map(paper::group)
        })
        .collect()
}

fn initials(fore: &str) -> String {
    let words = fore.split([' ', '-', '.']).filter_map(|word| word.chars().next());
    words.filter(|character| character.is_uppercase()).collect()
}

/// Types of related articles that are the notice of this one, the gravest first.
const NOTICES: [(&str, RetractionKind, Option<RetractionExtent>); 6] = [
    ("retraction-forward", RetractionKind::Retracted, None),
    ("retraction", RetractionKind::Retracted, None),
    ("partial-retraction", RetractionKind::Retracted, Some(RetractionExtent::Partial)),
    ("expression-of-concern-forward", RetractionKind::ExpressionOfConcern, None),
    ("concern-forward", RetractionKind::ExpressionOfConcern, None),
    ("expression-of-concern", RetractionKind::ExpressionOfConcern, None),
];

/// Articles that are notices themselves, and what they say of the articles they are related to, in PubMed's words.
const NOTICE_TYPES: [(&str, &str); 3] = [
    ("retraction", "RetractionOf"),
    ("partial-retraction", "PartialRetractionOf"),
    ("expression-of-concern", "ExpressionOfConcernFor"),
];

fn notice_type(article: &Element) -> Option<&'static str> {
    let own = article.attribute("article-type")?;
    NOTICE_TYPES.into_iter().find(|(kind, _)| *kind == own).map(|(_, word)| word)
}

fn retraction(article: &Element, meta: &Element) -> Option<Retraction> {
    let related = |kind: &str| {
        let found = meta.all("related-article").find(|related| related.attribute("related-article-type") == Some(kind));
        found.map(|related| related.attribute("xlink:href").map(str::to_owned).or_else(|| related.text()))
    };
    let stated = NOTICES.into_iter().filter(|_| notice_type(article).is_none());
    let stated = stated
        .filter_map(|(word, kind, extent)| Some(Retraction { kind, extent, notice: related(word)?, source: None }));
    let typed = article.attribute("article-type") == Some("retracted-article");
    let typed =
        typed.then_some(Retraction { kind: RetractionKind::Retracted, extent: None, notice: None, source: None });
    let mut told = None;
    for retraction in stated.chain(typed) {
        settle(&mut told, &retraction);
    }
    told
}

/// The articles that this one is a notice about.
fn corrections(article: &Element, meta: &Element) -> Value {
    let told = meta.all("related-article").filter_map(|related| {
        let kind = match (related.attribute("related-article-type")?, notice_type(article)) {
            ("retracted-article", own) => own.filter(|own| own.contains("Retraction")).unwrap_or("RetractionOf"),
            ("object-of-concern", _) => "ExpressionOfConcernFor",
            (word, Some(own)) if NOTICES.iter().any(|(notice, ..)| *notice == word) => own,
            _ => return None,
        };
        let href = related.attribute("xlink:href").map(str::to_owned).or_else(|| related.text())?;
        let id = match related.attribute("ext-link-type") {
            Some("pmid" | "pubmed") => "pmid",
            Some("pmc" | "pmcid") => "pmc",
            Some(_) | None => "doi",
        };
        Some(json!({ "kind": kind, id: href }))
    });
    told.collect()
}

/// Headings and paragraphs in their order, one a line. Depth is limited by the reader.
fn passages(element: &Element, out: &mut Vec<String>) {
    for child in element.nodes() {
        let Child::Element(child) = child else { continue };
        match child.name.as_str() {
            // Formulas in TeX and lists of references are no prose.
            "ref-list" | "tex-math" | "object-id" | "label" => {}
            "title" | "p" | "td" | "th" | "attrib" | "verse-line" | "disp-formula" => out.extend(child.text()),
            _ => passages(child, out),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::import::{Format, open};
    use crate::record::papers::Paper;

    fn read(kind: &str, related: &str) -> Paper {
        let text = format!(
            "<article article-type=\"{kind}\" xmlns:xlink=\"x\"><front><article-meta>\
             <article-id pub-id-type=\"pmc\">5</article-id><title-group><article-title>a</article-title></title-group>\
             {related}</article-meta></front></article>"
        );
        let options = Options { source: Format::Jats.source(), lang: None };
        let mut items = open(Format::Jats, options, std::io::Cursor::new(text)).unwrap();
        match items.next() {
            Some(Ok(Item::Record(record))) => match *record {
                Record::Document(document) => Paper::of(&document),
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }

    fn related(kind: &str, link: &str, href: &str) -> String {
        format!("<related-article related-article-type=\"{kind}\" ext-link-type=\"{link}\" xlink:href=\"{href}\"/>")
    }

    #[test]
    fn a_notice_says_which_articles_do_not_stand_and_an_article_whether_it_does() {
        let check = |kind: &str, related: &str, own: Option<&str>, says: &[(&str, &str)]| {
            let paper = read(kind, related);
            assert_eq!(paper.own.as_ref().map(Retraction::words), own, "{kind} {related}");
            let told: Vec<(&str, &str)> = paper.says.iter().map(|(about, it)| (about.as_str(), it.words())).collect();
            assert_eq!(told, says, "{kind} {related}");
        };
        let (doi, retracted) = ("doi:10.1/x", "retracted");
        check("retraction", &related("retracted-article", "doi", "10.1/X"), None, &[(doi, retracted)]);
        check(
            "partial-retraction",
            &related("retracted-article", "doi", "10.1/X"),
            None,
            &[(doi, "retracted in part")],
        );
        let concern = "expression of concern";
        check("expression-of-concern", &related("object-of-concern", "pmid", "7"), None, &[("pmid:7", concern)]);
        check("research-article", &related("retraction-forward", "doi", "10.1/x"), Some(retracted), &[]);
        check("research-article", &related("expression-of-concern", "doi", "10.1/x"), Some(concern), &[]);
        check("retracted-article", "", Some(retracted), &[]);
        check("research-article", &related("commentary", "doi", "10.1/x"), None, &[]);
    }
}
