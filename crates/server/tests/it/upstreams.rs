//! Servers that answer wrongly: what is no answer is told as none, and only what was understood is remembered.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use contract::error::Kind;
use contract::evidence::pubmed::SortBy;
use ops::{Knowledge, Literature, LiteratureSearch, PaperId};
use server::settings::Settings;

const PAPER: &str = "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>99000001</PMID><Article>\
    <ArticleTitle>Made up</ArticleTitle></Article></MedlineCitation></PubmedArticle></PubmedArticleSet>";
const NO_PAPER: &str = "<PubmedArticleSet></PubmedArticleSet>";
const GRAPH: &str = r#"{"status": "Success", "message": {"knowledge_graph": {
    "nodes": {"X:1": {"categories": ["biolink:Drug"], "name": "fictol"}}, "edges": {}}}}"#;

/// A server that gives these answers in their order, the last one from then on, and counts what it is asked.
fn answering(answers: Vec<(u16, &'static str)>) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let n_asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&n_asked);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let at = counted.fetch_add(1, Ordering::SeqCst).min(answers.len() - 1);
            let (status, body) = answers[at];
            answer(stream, status, body);
        }
    });
    (format!("http://{address}"), n_asked)
}

fn answer(mut stream: TcpStream, status: u16, body: &str) {
    let mut reader = BufReader::new(stream.try_clone().expect("a stream"));
    let mut n_body = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            n_body = length.trim().parse().expect("a length");
        }
    }
    reader.read_exact(&mut vec![0; n_body]).expect("a body");
    let head = format!("HTTP/1.1 {status} So\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    stream.write_all((head + body).as_bytes()).ok();
}

fn trapi(answers: Vec<(u16, &'static str)>) -> (Arc<dyn Knowledge>, Arc<AtomicUsize>) {
    let (url, n_asked) = answering(answers);
    let settings = Settings { trapi_url: Some(url), ..Settings::default() };
    (server::trapi::knowledge(&settings).expect("an address").expect("a server"), n_asked)
}

fn pubmed(answers: Vec<(u16, &'static str)>) -> (Arc<dyn Literature>, Arc<AtomicUsize>) {
    let (url, n_asked) = answering(answers);
    let settings = Settings { eutils_url: Some(url), ..Settings::default() };
    (server::eutils::library(&settings).expect("an address").expect("a library"), n_asked)
}

#[tokio::test]
async fn a_trapi_server_that_fails_in_a_good_tone_was_not_asked() {
    let about = async |status: u16, body: &'static str| {
        trapi(vec![(status, body)]).0.about(&["X:1".to_owned()]).await.map(|found| found.records.len())
    };
    for (status, body) in [
        (200, "<html>Bad gateway</html>"),
        (200, ""),
        (200, "[]"),
        (200, "\"error\""),
        (200, r#"{"detail": "no"}"#),
        (200, r#"{"status": "Failed", "description": "no"}"#),
        (200, r#"{"status": "QueryNotTraversable", "message": {"knowledge_graph": {"nodes": {}, "edges": {}}}}"#),
        (200, r#"{"message": {}}"#),
        (200, r#"{"status": "Success", "message": {"results": [{}]}}"#),
        (200, r#"{"message": {"knowledge_graph": []}}"#),
        (200, r#"{"message": {"knowledge_graph": {"nodes": {"#),
        (
            200,
            r#"{"status": "Success", "logs": [{"level": "INFO"}, {"level": "ERROR", "message": "timed out"}],
                "message": {"knowledge_graph": {"nodes": {"X:1": {"categories": ["biolink:Drug"]}}, "edges": {}}}}"#,
        ),
        (202, r#"{"status": "Queued"}"#),
        (202, GRAPH),
    ] {
        let refused = about(status, body).await.expect_err(body);
        assert_eq!(refused.kind, Kind::Upstream, "{body}");
    }
    for body in [
        r#"{"status": "Success", "message": {"knowledge_graph": null, "results": []}}"#,
        r#"{"status": "Success", "message": {}}"#,
        r#"{"message": {"knowledge_graph": {"nodes": {}, "edges": {}}}}"#,
        r#"{"logs": [{"level": "WARNING"}, 7], "message": {"knowledge_graph": {"nodes": {}, "edges": {}}}}"#,
        r#"{"logs": null, "message": {"knowledge_graph": {"nodes": {}, "edges": {}}}}"#,
    ] {
        assert_eq!(about(200, body).await.expect(body), 0, "{body}");
    }
    assert_eq!(about(200, GRAPH).await.expect("a graph"), 2, "once each way");
}

#[tokio::test]
async fn what_a_trapi_server_answered_well_is_remembered_and_nothing_else() {
    let (graph, n_asked) = trapi(vec![(200, r#"{"status": "Failed"}"#), (200, GRAPH)]);
    let asked = ["X:1".to_owned()];
    assert!(graph.about(&asked).await.is_err());
    for _ in 0..2 {
        assert_eq!(graph.about(&asked).await.expect("a graph").records.len(), 2);
        assert_eq!(n_asked.load(Ordering::SeqCst), 3, "one failure, one query each way");
    }
}

#[tokio::test]
async fn what_a_trapi_server_found_while_something_failed_is_a_part_and_is_not_remembered() {
    const PART: &str = r#"{"logs": [{"level": "ERROR"}], "message": {"knowledge_graph": {
        "nodes": {"X:1": {"categories": ["biolink:Drug"]}, "X:2": {"categories": ["biolink:Gene"]}},
        "edges": {"e": {"subject": "X:1", "predicate": "biolink:affects", "object": "X:2"}}}}}"#;
    let (graph, n_asked) = trapi(vec![(200, PART)]);
    for n in [2, 4] {
        let found = graph.about(&["X:1".to_owned()]).await.expect("a graph");
        assert_eq!((found.is_whole, found.records.len()), (false, 6));
        assert_eq!(n_asked.load(Ordering::SeqCst), n);
    }
}

#[tokio::test]
async fn what_is_no_paper_is_an_error_and_is_not_remembered() {
    for broken in [
        "<html><body>Bad gateway</body></html>",
        "<eFetchResult><ERROR>cannot retrieve</ERROR></eFetchResult>",
        "<PubmedArticleSet><PubmedArticle>",
        "",
    ] {
        let (library, n_asked) = pubmed(vec![(200, broken), (200, PAPER)]);
        let id = PaperId::Pmid("99000001".to_owned());
        assert_eq!(library.find(&id).await.expect_err(broken).kind, Kind::Upstream, "{broken}");
        for _ in 0..2 {
            assert!(library.find(&id).await.expect("an answer").is_some(), "{broken}");
            assert_eq!(n_asked.load(Ordering::SeqCst), 2, "{broken}");
        }
    }
    // What it does not know is no fault; it may know it soon.
    let (library, n_asked) = pubmed(vec![(200, NO_PAPER), (200, PAPER)]);
    assert_eq!(library.find(&PaperId::Pmid("99000001".to_owned())).await.expect("an answer"), None);
    assert!(library.find(&PaperId::Pmid("99000001".to_owned())).await.expect("an answer").is_some());
    assert_eq!(n_asked.load(Ordering::SeqCst), 2);
    let (library, _) = pubmed(vec![(200, PAPER)]);
    assert!(library.find(&PaperId::Pmid("99000002".to_owned())).await.is_err(), "another paper");
}

#[tokio::test]
async fn a_search_whose_papers_do_not_come_is_an_error_and_is_not_remembered() {
    const TWO: &str = r#"{"esearchresult": {"count": "2", "idlist": ["99000001", "99000002"]}}"#;
    let search = || LiteratureSearch { query: "ginger".to_owned(), n_max: 10, sort_by: SortBy::Relevance };
    for (broken, mended) in [
        (vec![(200, r#"{"esearchresult": {"count": "57", "idlist": []}}"#)], vec![(200, TWO), (200, PAPER)]),
        (vec![(200, r#"{"esearchresult": {"count": "2", "idlist": ["abc", "<x>"]}}"#)], vec![(200, TWO), (200, PAPER)]),
        // The names were whole, so that only the papers are asked for again.
        (vec![(200, TWO), (200, NO_PAPER)], vec![(200, PAPER)]),
    ] {
        let n_all = broken.len() + mended.len();
        let (library, n_asked) = pubmed([broken, mended].concat());
        assert_eq!(library.search(search()).await.expect_err("no answer").kind, Kind::Upstream);
        // One that was named and does not come is told, and asked for again.
        for n in [n_all, n_all + 1] {
            let found = library.search(search()).await.expect("papers");
            assert_eq!((found.documents.len(), found.not_sent), (1, vec!["99000002".to_owned()]));
            assert_eq!(n_asked.load(Ordering::SeqCst), n);
        }
    }
    let (library, _) = pubmed(vec![(200, TWO), (200, NO_PAPER)]);
    assert!(library.find(&PaperId::parse("PMC7").expect("an id")).await.is_err());
    let (library, _) = pubmed(vec![(200, r#"{"esearchresult": {"count": "0", "idlist": []}}"#)]);
    assert_eq!(library.search(search()).await.expect("an answer").documents, []);
}

#[tokio::test]
async fn a_paper_is_found_by_its_doi_and_nothing_else_is_taken_for_it() {
    const FOUND: &str = r#"{"esearchresult": {"count": "1", "idlist": ["99000001"]}}"#;
    const WITH_DOI: &str = "<PubmedArticleSet><PubmedArticle><MedlineCitation><PMID>99000001</PMID><Article>\
        <ArticleTitle>Made up</ArticleTitle><ELocationID EIdType=\"doi\">10.1/A</ELocationID></Article></MedlineCitation>\
        </PubmedArticle></PubmedArticleSet>";
    let (library, n_asked) = pubmed(vec![(200, FOUND), (200, WITH_DOI)]);
    let id = PaperId::parse("DOI:10.1/a").expect("an id");
    assert!(library.find(&id).await.expect("an answer").is_some());
    assert_eq!(n_asked.load(Ordering::SeqCst), 2);
    // A search that dropped the id finds some other paper.
    let (library, _) = pubmed(vec![(200, FOUND), (200, PAPER)]);
    assert_eq!(library.find(&PaperId::parse("PMC7").expect("an id")).await.expect("an answer"), None);
}
