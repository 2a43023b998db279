//! Documents and graphs in the formats of others, as the fixtures of the importers come out of them.

use std::io::Cursor;

use contract::evidence::record::Record;
use evidence::export::{bibtex, csl, kgx_edge, kgx_node, ris};
use evidence::import::{Brought, Format, Item, Options, open};
use testkit::check_golden;

fn records(name: &str, format: Format) -> Vec<Record> {
    let bytes = std::fs::read(format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR"))).unwrap();
    let items = open(format, Options { source: format.source(), lang: None }, Cursor::new(bytes)).unwrap();
    let mut brought = Brought::default();
    let records = items.filter_map(|item| match brought.settle(item.unwrap()) {
        Item::Record(record) => Some(*record),
        Item::Rejected(_) => None,
    });
    records.collect()
}

fn golden(name: &str, text: &str) {
    check_golden(format!("{}/tests/fixtures/{name}", env!("CARGO_MANIFEST_DIR")), text);
}

#[test]
fn citations_are_the_committed_ones() {
    let mut documents = records("pubmed.xml", Format::Pubmed);
    documents.extend(records("beir.jsonl", Format::Beir));
    let documents = documents.iter().filter_map(|record| match record {
        Record::Document(document) => Some(document),
        Record::Source(_) | Record::Node(_) | Record::Edge(_) | Record::Deletion(_) => None,
    });
    let documents: Vec<_> = documents.collect();
    let all = |write: fn(&contract::evidence::record::Document, &str) -> String| {
        documents.iter().map(|document| write(document, "made up & free")).collect::<Vec<_>>().join("\n")
    };
    golden("export.bib", &all(bibtex));
    golden("export.ris", &all(ris));
    let items: Vec<_> = documents.iter().map(|document| csl(document, "made up & free")).collect();
    golden("export.csl.json", &format!("{}\n", serde_json::to_string_pretty(&items).unwrap()));
}

/// What was imported from KGX comes out as KGX, and goes in again as the same records.
#[test]
fn kgx_goes_round() {
    let records: Vec<Record> =
        records("kgx_nodes.tsv", Format::Kgx).into_iter().chain(self::records("kgx_edges.tsv", Format::Kgx)).collect();
    let lines: Vec<String> = records
        .iter()
        .filter_map(|record| match record {
            Record::Node(node) => Some(kgx_node(node, "CC0-1.0").to_string()),
            Record::Edge(edge) => Some(kgx_edge(edge, "CC0-1.0", &[]).to_string()),
            Record::Source(_) | Record::Document(_) | Record::Deletion(_) => None,
        })
        .collect();
    golden("export.kgx.jsonl", &format!("{}\n", lines.join("\n")));
    let again = open(Format::Kgx, Options { source: Format::Kgx.source(), lang: None }, Cursor::new(lines.join("\n")));
    let again: Vec<Record> = again
        .unwrap()
        .map(|item| match item.unwrap() {
            Item::Record(record) => *record,
            Item::Rejected(rejection) => panic!("{rejection:?}"),
        })
        .collect();
    assert_eq!(again.len(), records.len());
    for (before, after) in records.iter().zip(&again) {
        match (before, after) {
            (Record::Node(before), Record::Node(after)) => {
                assert_eq!(
                    (&before.id, &before.categories, &before.names),
                    (&after.id, &after.categories, &after.names)
                );
            }
            (Record::Edge(before), Record::Edge(after)) => {
                assert_eq!(
                    (&before.id, &before.predicate, &before.evidence),
                    (&after.id, &after.predicate, &after.evidence)
                );
            }
            (before, after) => panic!("{before:?} came back as {after:?}"),
        }
    }
}
