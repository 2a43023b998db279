//! The data set as evidence records: sources, nodes, edges and documents, each after what it stands on.
//!
//! Sources have ids that begin with `materia:`, which nobody else may use; rows that are not taken from anywhere (a
//! condition, a class) are from `materia` itself. A fact that is not verified says so in its evidence, in its qualifiers
//! and, where it is a monograph, in its title.

mod documents;
mod edges;
mod nodes;

use std::collections::{BTreeMap, HashMap};

use contract::evidence::record::{Record, Source};
use contract::evidence::starter::{OWN_SOURCE, SOURCE_PREFIX};
use serde_json::{Value, json};

use crate::parse::Set;
use crate::rows::{Citation, Origin, SourceKind, is_paper_id};
use crate::version::DataVersion;

/// What stands before everything that nobody has compared with its source.
pub const NOT_VERIFIED: &str = "(not verified)";

const OWN_LICENCE: &str = "Apache-2.0";

/// All records of a data set, in an order in which they can be kept.
pub fn all(set: &Set, version: &DataVersion) -> Vec<Record> {
    let library = Library::new(set);
    let mut records: Vec<Record> = sources(set, version).into_iter().map(Record::Source).collect();
    records.extend(nodes::all(set).into_iter().map(Record::Node));
    records.extend(edges::all(set, &library).into_iter().map(Record::Edge));
    records.extend(documents::all(set).into_iter().map(Record::Document));
    records
}

/// The id of a cited source in the record.
fn source_id(citation: &Citation) -> String {
    format!("{SOURCE_PREFIX}{}", citation.id)
}

/// The source that a record names: the first one of its fact.
fn first_source(origin: Origin<'_>) -> String {
    origin.sources.first().map_or(OWN_SOURCE.to_owned(), source_id)
}

fn sources(set: &Set, version: &DataVersion) -> Vec<Source> {
    let own = Source {
        id: OWN_SOURCE.to_owned(),
        title: "Materia starter data".to_owned(),
        licence: OWN_LICENCE.to_owned(),
        uri: None,
        notice: None,
        version: Some(version.to_string()),
    };
    let rows = set.sources.iter().map(|it| Source {
        id: format!("{SOURCE_PREFIX}{}", it.row.id),
        title: it.row.title.clone(),
        licence: it.row.licence.clone(),
        uri: it.row.uri.clone(),
        notice: None,
        version: it.row.year.map(|year| year.to_string()),
    });
    let papers = set.papers.iter().map(|it| Source {
        id: format!("{SOURCE_PREFIX}{}", it.row.id),
        title: it.row.title.chars().take(500).collect(),
        licence: "facts only; © its authors or publisher".to_owned(),
        uri: Some(it.row.uri()),
        notice: None,
        version: it.row.year.map(|year| year.to_string()),
    });
    std::iter::once(own).chain(rows).chain(papers).collect()
}

/// Titles and addresses of what is cited.
struct Library<'a> {
    works: HashMap<&'a str, Work<'a>>,
}

struct Work<'a> {
    title: &'a str,
    /// None of a paper.
    kind: Option<SourceKind>,
    uri: Option<&'a str>,
}

impl<'a> Library<'a> {
    fn new(set: &'a Set) -> Library<'a> {
        let sources = set.sources.iter().map(|it| {
            let row = &it.row;
            (row.id.as_str(), Work { title: &row.title, kind: Some(row.kind), uri: row.uri.as_deref() })
        });
        let papers =
            set.papers.iter().map(|it| (it.row.id.as_str(), Work { title: &it.row.title, kind: None, uri: None }));
        Library { works: sources.chain(papers).collect() }
    }

    /// Title and place: `Materia medica, p. 147`. Whoever reads it must know what is merely a web page.
    fn words(&self, citation: &Citation) -> String {
        let work = self.works.get(citation.id.as_str());
        let title = work.map_or(citation.id.as_str(), |work| work.title);
        let is_web = work.and_then(|work| work.kind) == Some(SourceKind::Web);
        let title = if is_web { format!("{title} (web page)") } else { title.to_owned() };
        match &citation.at {
            Some(at) => format!("{title}, {at}"),
            None => title,
        }
    }

    /// Where a reader can go: the paper, the address, or the source by its id.
    fn reference(&self, citation: &Citation) -> String {
        let uri = self.works.get(citation.id.as_str()).and_then(|work| work.uri);
        match uri {
            Some(uri) => uri.to_owned(),
            None if is_paper_id(&citation.id) => citation.id.clone(),
            None => source_id(citation),
        }
    }
}

/// What is said of the origin of a record beside its evidence.
fn provenance(origin: Origin<'_>) -> BTreeMap<String, Value> {
    let cited = |it: &Citation| match &it.at {
        Some(at) => json!({ "id": source_id(it), "at": at }),
        None => json!({ "id": source_id(it) }),
    };
    let sources: Vec<Value> = origin.sources.iter().map(cited).collect();
    [("verified", json!(origin.is_verified)), ("reviewed", json!(origin.reviewed)), ("sources", Value::Array(sources))]
        .map(|(name, value)| (name.to_owned(), value))
        .into()
}
