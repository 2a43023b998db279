//! Sources and papers: what facts are cited from.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Bilingual;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SourceRow {
    pub id: String,
    pub title: String,
    pub publisher: String,
    pub year: Option<i32>,
    /// The terms of the source itself, in a few words.
    pub licence: String,
    pub uri: Option<String>,
    pub kind: SourceKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum SourceKind {
    Book,
    Label,
    List,
    Review,
    Database,
    Guideline,
    Web,
}

/// A paper that was seen in a real record.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PaperRow {
    /// `PMID:…`, or `DOI:…` where the record has no number of PubMed.
    pub id: String,
    pub title: String,
    /// `Last I`.
    pub authors: Vec<String>,
    pub journal: String,
    pub year: Option<i32>,
    pub doi: Option<String>,
    /// Our own words on what the abstract reports.
    pub summary: Option<Bilingual>,
    pub reviewed: String,
}

impl PaperRow {
    pub fn pmid(&self) -> Option<&str> {
        self.id.strip_prefix(PMID)
    }

    /// Where the record of the paper stands.
    pub fn uri(&self) -> String {
        match (self.pmid(), self.id.strip_prefix(DOI)) {
            (Some(pmid), _) => format!("https://pubmed.ncbi.nlm.nih.gov/{pmid}/"),
            (None, doi) => format!("https://doi.org/{}", doi.unwrap_or(&self.id)),
        }
    }
}

const PMID: &str = "PMID:";
const DOI: &str = "DOI:";

/// Whether an id is that of a paper.
pub fn is_paper_id(id: &str) -> bool {
    id.starts_with(PMID) || id.starts_with(DOI)
}
