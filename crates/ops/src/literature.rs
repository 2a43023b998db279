//! A library elsewhere that answers for papers which are not in the record. `server` speaks its protocol.

use std::fmt;

use contract::error::OpError;
use contract::evidence::pubmed::SortBy;
use contract::evidence::record::Document;
use evidence::record::papers;
use futures::future::BoxFuture;

/// What a library is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LiteratureSearch {
    /// In the library's own language.
    pub query: String,
    pub n_max: u32,
    pub sort_by: SortBy,
}

/// What a library answers.
#[derive(Debug, Clone, PartialEq)]
pub struct LiteratureFound {
    /// In the order asked for.
    pub documents: Vec<Document>,
    /// How many match, sent or not; absent where the library does not say.
    pub n_matching: Option<u64>,
    /// The numbers of papers that it named and did not send.
    pub not_sent: Vec<String>,
    /// Terms of the query that it did not search for: what it found was found without them.
    pub not_searched: Vec<String>,
    /// The query as it was read there; absent where the library does not say.
    pub read_as: Option<String>,
}

/// What a paper is asked for by, in the spelling of its library.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PaperId {
    Pmid(String),
    Pmc(String),
    Doi(String),
}

/// PubMed has no longer numbers.
const PMID_DIGITS_MAX: usize = 8;

impl PaperId {
    /// From any spelling; `None` where it can be no id of a paper at PubMed.
    pub fn parse(reference: &str) -> Option<PaperId> {
        let key = papers::key(reference)?;
        let (kind, id) = key.split_once(':')?;
        match kind {
            "pmid" => (id.len() <= PMID_DIGITS_MAX).then(|| PaperId::Pmid(id.to_owned())),
            "pmc" => Some(PaperId::Pmc(id.to_owned())),
            "doi" => Some(PaperId::Doi(id.to_owned())),
            _ => None,
        }
    }

    /// The id by which a library knows a paper best.
    pub fn of(document: &Document) -> Option<PaperId> {
        let paper = papers::Paper::of(document);
        ["pmid", "pmc", "doi"].into_iter().find_map(|kind| PaperId::parse(paper.keys.get(kind)?))
    }

    /// Whether the paper says that it has this id.
    pub fn is_of(&self, document: &Document) -> bool {
        let key = match self {
            PaperId::Pmid(id) => papers::key(&format!("PMID:{id}")),
            PaperId::Pmc(id) => papers::key(id),
            PaperId::Doi(id) => papers::key(&format!("DOI:{id}")),
        };
        key.is_some_and(|key| papers::Paper::of(document).keys.values().any(|it| *it == key))
    }
}

pub trait Literature: fmt::Debug + Send + Sync {
    fn search(&self, search: LiteratureSearch) -> BoxFuture<'_, Result<LiteratureFound, OpError>>;

    /// Only a paper that says itself that it has this id.
    fn find<'a>(&'a self, id: &'a PaperId) -> BoxFuture<'a, Result<Option<Document>, OpError>>;
}
