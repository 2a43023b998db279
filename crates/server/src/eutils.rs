//! PubMed over NCBI's E-utilities: at the rate that NCBI asks for, with a memory of recent answers, a few attempts, and
//! the words of a search in bodies only, never in an address.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::io::Cursor;
use std::num::NonZeroU32;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use contract::error::{Kind, OpError};
use contract::evidence::pubmed::SortBy;
use contract::evidence::record::{Document, Record};
use evidence::import::{self, Format, Item};
use futures::future::BoxFuture;
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use http::Request;
use http::header::CONTENT_TYPE;
use http_body_util::Full;
use ops::{Literature, LiteratureFound, LiteratureSearch, PaperId};
use serde_json::Value;

use crate::outbound::{Answer, Limits, Outbound, OutboundError, may_carry_keys};
use crate::remembered::Remembered;
use crate::settings::Settings;

/// NCBI's rules: three requests a second, ten with a key.
const PER_SECOND: NonZeroU32 = NonZeroU32::new(3).unwrap();
const PER_SECOND_WITH_KEY: NonZeroU32 = NonZeroU32::new(10).unwrap();
const LIMITS: Limits = Limits { timeout: Duration::from_secs(4), bytes_max: 32 * 1024 * 1024 };
/// Terms that PubMed says it did not search for, and letters of each and of the query as it read it.
const TERMS_MAX: usize = 20;
const TERM_CHARS_MAX: usize = 500;
/// Papers that are looked at for one id: PubMed drops what it does not know and then finds anything.
const NAMED_MAX: &str = "3";
/// Waits before the second and the third attempt.
const WAITS: [Duration; 2] = [Duration::from_millis(500), Duration::from_millis(1_500)];

#[derive(Debug, thiserror::Error)]
pub enum EutilsError {
    #[error("`eutils_url` must be an address such as https://eutils.ncbi.nlm.nih.gov/entrez/eutils")]
    Address(#[source] OutboundError),
    #[error("`eutils_url` must begin with https:// beyond this machine, as a key goes with every request")]
    PlainText,
}

/// The library, where the settings name one.
pub fn library(settings: &Settings) -> Result<Option<Arc<dyn Literature>>, EutilsError> {
    let Some(url) = &settings.eutils_url else { return Ok(None) };
    let url = url.trim_end_matches('/');
    if settings.eutils_key.is_some() && !may_carry_keys(url) {
        return Err(EutilsError::PlainText);
    }
    let client = |name: &str| Outbound::new(&format!("{url}/{name}.fcgi"), LIMITS).map_err(EutilsError::Address);
    let rate = if settings.eutils_key.is_some() { PER_SECOND_WITH_KEY } else { PER_SECOND };
    Ok(Some(Arc::new(Eutils {
        search: client("esearch")?,
        fetch: client("efetch")?,
        key: settings.eutils_key.clone(),
        email: settings.eutils_email.clone(),
        rate: RateLimiter::direct(Quota::per_second(rate)),
        remembered: Remembered::default(),
    })))
}

struct Eutils {
    search: Outbound,
    fetch: Outbound,
    key: Option<String>,
    email: Option<String>,
    rate: DefaultDirectRateLimiter,
    remembered: Remembered,
}

impl fmt::Debug for Eutils {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Eutils").field("search", self.search.uri()).finish_non_exhaustive()
    }
}

impl Literature for Eutils {
    fn search(&self, search: LiteratureSearch) -> BoxFuture<'_, Result<LiteratureFound, OpError>> {
        Box::pin(async move {
            let n_max = search.n_max.to_string();
            // PubMed has no order by title; the caller makes one of what is found.
            let sort = match search.sort_by {
                SortBy::Relevance | SortBy::Title => "relevance",
                SortBy::PubDate => "pub_date",
                SortBy::FirstAuthor => "Author",
                SortBy::Journal => "JournalName",
            };
            let fields = [("retmode", "json"), ("retmax", &n_max), ("sort", sort), ("term", &search.query)];
            let found = self.ask(&self.search, &fields, matching, |_| true).await?;
            let Matching { pmids, n, not_searched, read_as } = found;
            let documents = self.papers_named(&pmids).await?;
            let sent: HashSet<&String> = documents.iter().filter_map(|it| it.ids.get("pmid")).collect();
            let not_sent = pmids.iter().filter(|pmid| !sent.contains(pmid)).cloned().collect();
            Ok(LiteratureFound { documents, n_matching: Some(n), not_sent, not_searched, read_as })
        })
    }

    fn find<'a>(&'a self, id: &'a PaperId) -> BoxFuture<'a, Result<Option<Document>, OpError>> {
        Box::pin(async move {
            let papers = match id {
                PaperId::Pmid(pmid) => self.papers(std::slice::from_ref(pmid)).await?,
                PaperId::Pmc(pmc) => self.found_by(&format!("{pmc}[pmcid]")).await?,
                // In quotation marks, so that no mark of it is read as one of the query.
                PaperId::Doi(doi) => self.found_by(&format!("\"{}\"[doi]", doi.replace('"', " "))).await?,
            };
            Ok(papers.into_iter().find(|document| id.is_of(document)))
        })
    }
}

impl Eutils {
    /// The papers that a term with a field names.
    async fn found_by(&self, term: &str) -> Result<Vec<Document>, OpError> {
        let fields = [("retmode", "json"), ("retmax", NAMED_MAX), ("term", term)];
        let found = self.ask(&self.search, &fields, matching, |_| true).await?;
        self.papers_named(&found.pmids).await
    }

    /// The papers of numbers that PubMed itself named: where it sends none of them, it has not answered.
    async fn papers_named(&self, pmids: &[String]) -> Result<Vec<Document>, OpError> {
        let papers = self.papers(pmids).await?;
        if papers.is_empty() && !pmids.is_empty() {
            return Err(OpError::new(Kind::Upstream, "PubMed sent none of the papers that it named"));
        }
        Ok(papers)
    }

    /// The papers of these numbers, in their order; those that PubMed does not send are left out.
    async fn papers(&self, pmids: &[String]) -> Result<Vec<Document>, OpError> {
        if pmids.is_empty() {
            return Ok(Vec::new());
        }
        let ids = pmids.join(",");
        let fields = [("retmode", "xml"), ("id", ids.as_str())];
        let is_whole = |papers: &HashMap<String, Document>| pmids.iter().all(|pmid| papers.contains_key(pmid));
        let mut papers = self.ask(&self.fetch, &fields, fetched, is_whole).await?;
        let (n_sent, found) = (papers.len(), pmids.iter().filter_map(|pmid| papers.remove(pmid)));
        let found: Vec<Document> = found.collect();
        if found.is_empty() && n_sent > 0 {
            return Err(OpError::new(Kind::Upstream, "PubMed sent other papers than it was asked for"));
        }
        Ok(found)
    }

    /// What an answer says. Only one that could be read and lacks nothing is remembered.
    async fn ask<T>(
        &self,
        client: &Outbound,
        fields: &[(&str, &str)],
        read: impl Fn(&Bytes) -> Result<T, OpError>,
        is_whole: impl Fn(&T) -> bool,
    ) -> Result<T, OpError> {
        let form = form(fields);
        let key = format!("{} {form}", client.uri());
        if let Some(known) = self.remembered.recall(&key) {
            return read(&known);
        }
        let mut own = vec![("db", "pubmed"), ("tool", "materia")];
        own.extend(self.email.as_deref().map(|email| ("email", email)));
        own.extend(self.key.as_deref().map(|key| ("api_key", key)));
        let body = Bytes::from(format!("{form}&{}", self::form(&own)));
        let mut waits = WAITS.into_iter();
        loop {
            self.rate.until_ready().await;
            let request = Request::post("/")
                .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
                .body(Full::new(body.clone()))
                .map_err(OpError::internal)?;
            let fault = match client.send(request).await {
                Ok(Answer { status, body, .. }) if status.is_success() => {
                    let answer = read(&body)?;
                    if is_whole(&answer) {
                        self.remembered.remember(key, body);
                    }
                    return Ok(answer);
                }
                Ok(Answer { status, .. }) => {
                    let fault = OpError::new(Kind::Upstream, format!("PubMed answered {}", status.as_u16()));
                    if !status.is_server_error() && status.as_u16() != 429 {
                        return Err(fault);
                    }
                    fault
                }
                Err(error) => OpError::new(Kind::Upstream, "PubMed cannot be reached").with_source(error),
            };
            let Some(wait) = waits.next() else { return Err(fault) };
            tokio::time::sleep(wait).await;
        }
    }
}

fn unreadable(error: impl std::error::Error + Send + Sync + 'static) -> OpError {
    OpError::new(Kind::Upstream, "PubMed answered something else than it should").with_source(error)
}

/// An answer that contradicts itself or the question.
fn unlike(what: &str) -> OpError {
    OpError::new(Kind::Upstream, format!("PubMed answered a search with {what}"))
}

/// The papers that a search names, and how many match.
#[derive(Debug, PartialEq, Eq)]
struct Matching {
    pmids: Vec<String>,
    n: u64,
    not_searched: Vec<String>,
    read_as: Option<String>,
}

/// Where an answer names what was not searched for. It is no fault to PubMed: it goes on with the rest.
const NOT_SEARCHED: [&str; 4] = [
    "/esearchresult/errorlist/phrasesnotfound",
    "/esearchresult/errorlist/fieldsnotfound",
    "/esearchresult/warninglist/quotedphrasesnotfound",
    "/esearchresult/warninglist/phrasesignored",
];

fn not_searched(answer: &Value) -> Vec<String> {
    let lists = NOT_SEARCHED.into_iter().filter_map(|place| answer.pointer(place)?.as_array());
    let mut terms: Vec<String> = Vec::new();
    for term in lists.flatten().filter_map(Value::as_str).map(cut).filter(|term| !term.trim().is_empty()) {
        if terms.len() < TERMS_MAX && !terms.contains(&term) {
            terms.push(term);
        }
    }
    terms
}

fn cut(text: &str) -> String {
    text.chars().take(TERM_CHARS_MAX).collect()
}

fn pmid(id: &Value) -> Option<String> {
    let is_number = |text: &&str| (1..=8).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    id.as_str().filter(is_number).map(str::to_owned)
}

fn matching(body: &Bytes) -> Result<Matching, OpError> {
    let answer: Value = serde_json::from_slice(body).map_err(unreadable)?;
    let is_fault = answer.pointer("/esearchresult/ERROR").is_some();
    let list = answer.pointer("/esearchresult/idlist").and_then(Value::as_array).filter(|_| !is_fault);
    let list = list.ok_or_else(|| OpError::new(Kind::Upstream, "PubMed could not read the query"))?;
    let pmids: Vec<String> =
        list.iter().map(pmid).collect::<Option<_>>().ok_or_else(|| unlike("ids that are no numbers"))?;
    let n = answer.pointer("/esearchresult/count").and_then(Value::as_str).and_then(|count| count.parse().ok());
    let n: u64 = n.ok_or_else(|| unlike("no count"))?;
    // The first page is asked for, so that it is empty only where nothing matches.
    let n_named = u64::try_from(pmids.len()).unwrap_or(u64::MAX);
    if n < n_named || (n > 0 && n_named == 0) {
        return Err(unlike(&format!("a count of {n} and {n_named} papers")));
    }
    let read_as = answer.pointer("/esearchresult/querytranslation").and_then(Value::as_str).map(cut);
    Ok(Matching { pmids, n, not_searched: not_searched(&answer), read_as })
}

/// The papers of a `PubmedArticleSet`, by their numbers.
fn fetched(body: &Bytes) -> Result<HashMap<String, Document>, OpError> {
    let options = import::Options { source: Format::Pubmed.source(), lang: None };
    let items = import::open(Format::Pubmed, options, Cursor::new(body.clone())).map_err(unreadable)?;
    let mut papers = HashMap::new();
    for item in items {
        if let Item::Record(record) = item.map_err(unreadable)?
            && let Record::Document(document) = *record
            && let Some(pmid) = document.ids.get("pmid").cloned()
        {
            papers.insert(pmid, document);
        }
    }
    Ok(papers)
}

/// `application/x-www-form-urlencoded`: everything but letters, digits and four marks by its bytes.
fn form(fields: &[(&str, &str)]) -> String {
    let mut out = String::new();
    for (name, value) in fields {
        if !out.is_empty() {
            out.push('&');
        }
        out.push_str(name);
        out.push('=');
        for byte in value.bytes() {
            match byte {
                b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => out.push(char::from(byte)),
                b' ' => out.push('+'),
                other => out.push_str(&format!("%{other:02X}")),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_holds_any_text() {
        assert_eq!(form(&[("term", "a & b[tiab] ขิ"), ("n", "1")]), "term=a+%26+b%5Btiab%5D+%E0%B8%82%E0%B8%B4&n=1");
    }

    #[test]
    fn numbers_are_read_and_anything_else_is_an_error() {
        let matching = |text: &'static str| matching(&Bytes::from_static(text.as_bytes()));
        let found = matching(r#"{"esearchresult": {"count": "5000", "idlist": ["11", "22"]}}"#).unwrap();
        let pmids = vec!["11".to_owned(), "22".to_owned()];
        assert_eq!(found, Matching { pmids, n: 5_000, not_searched: Vec::new(), read_as: None });
        let dropped = matching(
            r#"{"esearchresult": {"count": "1", "idlist": ["11"], "querytranslation": "warfarin[All Fields]",
                "errorlist": {"phrasesnotfound": ["zzz"], "fieldsnotfound": ["xx"]},
                "warninglist": {"phrasesignored": ["zzz"], "quotedphrasesnotfound": ["\"a b\""],
                    "outputmessages": ["No items found."]}}}"#,
        );
        let dropped = dropped.unwrap();
        assert_eq!(dropped.not_searched, ["zzz", "xx", "\"a b\""]);
        assert_eq!(dropped.read_as.as_deref(), Some("warfarin[All Fields]"));
        let nothing = matching(r#"{"esearchresult": {"count": "0", "idlist": []}}"#).unwrap();
        assert_eq!((nothing.n, nothing.pmids.len()), (0, 0));
        let broken = [
            r#"{"error": "API rate limit exceeded"}"#,
            r#"{"esearchresult": {"ERROR": "Search Backend failed", "count": "0", "idlist": []}}"#,
            r#"{"esearchresult": {"count": "1", "idlist": ["1"#,
            r#"{"esearchresult": {"count": "57", "idlist": []}}"#,
            r#"{"esearchresult": {"count": "0", "idlist": ["11"]}}"#,
            r#"{"esearchresult": {"idlist": ["11"]}}"#,
            r#"{"esearchresult": {"count": "3", "idlist": ["11", "abc", "<x>"]}}"#,
            r#"{"esearchresult": {"count": "1", "idlist": [11]}}"#,
            "<html>",
        ];
        for text in broken {
            assert_eq!(matching(text).unwrap_err().kind, Kind::Upstream, "{text}");
        }
    }

    #[test]
    fn a_key_never_goes_over_the_net_in_the_clear() {
        let library = |url: &str| {
            let settings =
                Settings { eutils_url: Some(url.to_owned()), eutils_key: Some("k".to_owned()), ..Settings::default() };
            library(&settings).map(|found| found.is_some())
        };
        assert!(matches!(library("http://ncbi.example/eutils"), Err(EutilsError::PlainText)));
        assert!(matches!(library("http://127.0.0.1:9/eutils"), Ok(true)));
        assert!(matches!(library("ftp://x"), Err(EutilsError::PlainText)));
        assert!(matches!(library("http://localhost.example/eutils"), Err(EutilsError::PlainText)));
        assert!(matches!(library("http://127.0.0.1.example/eutils"), Err(EutilsError::PlainText)));
    }
}
