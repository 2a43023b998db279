//! Importers: each format as a small made-up file with its items beside it, in whatever pieces it is read; and files
//! that mean harm.

mod chunks;
mod hostile;

use std::io::{Cursor, Read};

use evidence::import::{Brought, Format, ImportError, Item, Options, open};
use testkit::check_golden;

/// Every file of `fixtures` with its format.
const FIXTURES: &[(&str, Format)] = &[
    ("pubmed.xml", Format::Pubmed),
    ("medline.txt", Format::Medline),
    ("jats.xml", Format::Jats),
    ("kgx_nodes.tsv", Format::Kgx),
    ("kgx_edges.tsv", Format::Kgx),
    ("kgx.json", Format::Kgx),
    ("kgx.jsonl", Format::Kgx),
    ("trapi_1.json", Format::Trapi),
    ("trapi_2.json", Format::Trapi),
    ("semmeddb.csv", Format::Semmeddb),
    ("hetionet_nodes.tsv", Format::Hetionet),
    ("hetionet_edges.tsv", Format::Hetionet),
    ("icd10_items.xml", Format::Icd10),
    ("icd10_claml.xml", Format::Icd10),
    ("icd10cm.txt", Format::Icd10),
    ("icd10tm.csv", Format::Icd10),
    ("beir.jsonl", Format::Beir),
];

fn fixture(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

/// Each item as an import keeps it, as a line, and the error at the end as one.
fn lines(format: Format, stream: impl Read + Send + 'static) -> Vec<String> {
    let options = Options { source: format.source(), lang: None };
    let items = match open(format, options, stream) {
        Ok(items) => items,
        Err(error) => return vec![fault(&error)],
    };
    let mut brought = Brought::default();
    let line = |item: Result<Item, ImportError>| match item.map(|item| brought.settle(item)) {
        Ok(Item::Record(record)) => serde_json::to_string(&record).unwrap(),
        Ok(Item::Rejected(rejection)) => format!("rejected {}: {}", rejection.at, rejection.reason),
        Err(error) => fault(&error),
    };
    items.map(line).collect()
}

/// The whole chain, as people are told.
fn fault(error: &ImportError) -> String {
    let mut text = format!("error: {error}");
    let mut cause: Option<&dyn std::error::Error> = std::error::Error::source(error);
    while let Some(error) = cause {
        text.push_str(&format!(": {error}"));
        cause = error.source();
    }
    text
}

#[test]
fn every_format_gives_the_items_beside_its_fixture() {
    for (name, format) in FIXTURES {
        let text = lines(*format, Cursor::new(fixture(name))).join("\n");
        check_golden(format!("{}/tests/fixtures/{name}.items", env!("CARGO_MANIFEST_DIR")), &format!("{text}\n"));
    }
}

#[test]
fn both_versions_of_trapi_say_the_same_with_the_same_id() {
    let edge = |name: &str| {
        let found = lines(Format::Trapi, Cursor::new(fixture(name)));
        let edge = found.into_iter().find(|line| line.contains("\"record\":\"edge\"")).unwrap();
        serde_json::from_str::<serde_json::Value>(&edge).unwrap()
    };
    let (first, second) = (edge("trapi_1.json"), edge("trapi_2.json"));
    assert_eq!(first["id"], second["id"]);
    assert_eq!(first["qualifiers"]["object_direction_qualifier"], "increased");
    assert_eq!(first["evidence"], second["evidence"]);
}

#[test]
fn a_file_of_another_format_is_told_apart() {
    let check = |format: Format, text: &'static str, expected: &str| {
        let found = lines(format, Cursor::new(text));
        assert!(found.last().is_some_and(|line| line.contains(expected)), "{format}: {found:?}");
    };
    check(Format::Pubmed, "PMID- 1\n", "the file holds no XML");
    check(Format::Pubmed, "<html><body>Bad gateway</body></html>", "this is no pubmed file");
    check(Format::Pubmed, "<eFetchResult><ERROR>no</ERROR></eFetchResult>", "expected a `PubmedArticleSet`");
    check(Format::Kgx, "a\tb\n1\t2\n", "this is no kgx file");
    check(Format::Hetionet, "a\tb\n1\t2\n", "this is no hetionet file");
    check(Format::Medline, "<PubmedArticleSet/>\n", "has no tag");
    check(Format::Icd10, "words and words\n", "expected a code and a name");
    check(Format::Trapi, "[1, 2", "truncated");
    check(Format::Beir, "", "the file is empty");
}

/// Each record of several files of one import, as it is to be kept.
fn brought(format: Format, files: &[&'static str]) -> Vec<String> {
    let mut brought = Brought::default();
    let mut told = Vec::new();
    for file in files {
        let options = Options { source: format.source(), lang: None };
        let items = open(format, options, Cursor::new(*file)).unwrap();
        told.extend(items.map(|item| match brought.settle(item.unwrap()) {
            Item::Record(record) => serde_json::to_string(&record).unwrap(),
            Item::Rejected(rejection) => format!("rejected {}: {}", rejection.at, rejection.reason),
        }));
    }
    told
}

#[test]
fn a_node_or_document_that_stands_twice_in_an_import_counts_as_it_stood_first() {
    let check = |format: Format, files: &[&'static str], expected: &str| {
        let told = brought(format, files);
        assert_eq!(told.len(), 3, "{told:?}");
        assert!(told[0] == told[1] && told[0].contains("first"), "{told:?}");
        let reason = "it stands in the import twice, with other words; the first one counts";
        assert_eq!(told[2], format!("rejected {expected}: {reason}"));
    };
    let twice = "id\tcategory\tname\nX:1\tbiolink:Drug\tfirst\nX:1\tbiolink:Drug\tfirst\n";
    check(Format::Kgx, &[twice, "id\tcategory\tname\nX:1\tbiolink:Drug\tsecond\n"], "node `X:1`");
    let rows = "id\tname\tkind\nGene::1\tfirst\tGene\nGene::1\tfirst\tGene\nGene::1\tsecond\tGene\n";
    check(Format::Hetionet, &[rows], "node `NCBIGene:1`");
    let lines =
        "{\"_id\":\"1\",\"text\":\"first\"}\n{\"_id\":\"1\",\"text\":\"first\"}\n{\"_id\":\"1\",\"text\":\"second\"}\n";
    check(Format::Beir, &[lines], "document `beir:1`");
}

#[test]
fn statements_of_one_id_are_all_kept_each_under_an_id_of_its_own() {
    let check = |header: &'static str, rows: &'static str, expected: &[&str]| {
        let text: &'static str = format!("{header}\n{rows}").leak();
        let told = brought(Format::Kgx, &[text, text]);
        let (first, second) = told.split_at(told.len() / 2);
        assert_eq!(first, second, "a second file of the same words says the same");
        let ids = |it: &String| serde_json::from_str::<serde_json::Value>(it).unwrap()["id"].clone();
        let n_ids = first.iter().map(|it| ids(it).to_string()).collect::<std::collections::BTreeSet<_>>().len();
        assert_eq!((first.len(), n_ids), (expected.len(), expected.len()), "{first:?}");
        for (line, words) in first.iter().zip(expected) {
            assert!(line.contains(words), "{line}");
        }
    };
    let header = "id\tsubject\tpredicate\tobject";
    let rows = "k1\tW:1\tbiolink:contraindicated_in\tW:2\nk1\tW:1\tbiolink:treats\tW:3\n";
    check(header, rows, &["\"id\":\"k1\"", "\"id_of_source\":\"k1\""]);
    let rows = "W:1\tbiolink:treats\tW:2\tPMID:101\nW:1\tbiolink:treats\tW:2\tPMID:102\n";
    check("subject\tpredicate\tobject\tpublications", rows, &["PMID:101", "PMID:102"]);
}

/// What was rejected, and the names of the nodes beside it.
fn rejected_and_named(format: Format, text: &'static str) -> (Vec<String>, Vec<String>) {
    let told = lines(format, Cursor::new(text));
    let (rejected, records): (Vec<String>, Vec<String>) = told.into_iter().partition(|it| it.starts_with("rejected"));
    let records = records.iter().map(|it| serde_json::from_str::<serde_json::Value>(it).unwrap());
    let names = records.filter_map(|it| Some(it.get("names")?[0]["text"].as_str()?.to_owned()));
    (rejected, names.collect())
}

#[test]
fn a_quotation_mark_that_is_not_closed_spoils_its_line_only() {
    let rows = "\u{feff}#,รหัสโรค,รายละเอียด,เหตุผล,ICD-10-WHO,ICD-10-TM,ICD-10-TMD\n1,U500,\"แพ้ท้อง,T,N,N,Y\n\
        2,U501,สตรีหลังคลอด,T,N,N,Y\n3,U502,\"โรค \"\"สาม\"\"\",T,N,N,Y\n4,U503,สั้น,T,N\n\n5,U504,โรคสี่,T,N,N,Y\n";
    let (rejected, names) = rejected_and_named(Format::Icd10, rows);
    let unclosed = "a quotation mark is not closed in its line";
    assert_eq!(rejected, [format!("rejected line 2: {unclosed}"), "rejected line 5: 5 cells, expected 7".to_owned()]);
    assert_eq!(names, ["สตรีหลังคลอด", "โรค \"สาม\"", "โรคสี่"]);

    let rows = r#""1","10","99000001","INTERACTS_WITH","C0000001","Snorkberry
"2","11","99000001","CAUSES","","Snorkberry","plnt","1","C0000002","Fictol","phsu","1"
"3","12","99000001","INTERACTS_WITH","C0000003","Quonkberry","plnt","1","FOO","Fictol","phsu","1"
"4","13","99000001","TREATS","C0000004","Blorkberry,"plnt","1","C0000002","Fictol","phsu","1",\N,\N,\N
"5","14","99000001","TREATS","C0000005","Clonkberry","plnt","1","C0000002","Fictol","phsu","1","a","b","c","d"
"6","15","99000001","TREATS","C0000006","Drunkberry","plnt","1","C0000002","Fictol","phsu","1"
"#;
    let (rejected, names) = rejected_and_named(Format::Semmeddb, rows);
    let expected = [
        format!("rejected line 1: {unclosed}"),
        "rejected line 2: `SUBJECT_CUI` is empty".to_owned(),
        "rejected line 3: `OBJECT_CUI` is `FOO`, expected `C` and seven digits, or the number of a gene".to_owned(),
        "rejected line 4: `OBJECT_CUI` is `Fictol`, expected `C` and seven digits, or the number of a gene".to_owned(),
        "rejected line 5: 16 cells, expected 12 to 15".to_owned(),
    ];
    assert_eq!(rejected, expected);
    assert_eq!(names, ["Drunkberry", "Fictol"]);
}
