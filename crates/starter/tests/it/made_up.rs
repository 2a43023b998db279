//! The records of a data set, and that it is whole.

use contract::evidence::record::{Document, Edge, Node, Record, Strength};
use serde_json::json;
use starter::{check, data_version, parse, records};

use crate::made_up_files;

fn all() -> Vec<Record> {
    let files = made_up_files();
    records::all(&parse(&files).0, &data_version(&files).unwrap())
}

fn edge(id: &str) -> Edge {
    let found = all().into_iter().find_map(|record| match record {
        Record::Edge(edge) if edge.id == id => Some(edge),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no edge `{id}`"))
}

fn node(id: &str) -> Node {
    let found = all().into_iter().find_map(|record| match record {
        Record::Node(node) if node.id == id => Some(node),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no node `{id}`"))
}

fn document(id: &str) -> Document {
    let found = all().into_iter().find_map(|record| match record {
        Record::Document(document) if document.id == id => Some(document),
        _ => None,
    });
    found.unwrap_or_else(|| panic!("no document `{id}`"))
}

#[test]
fn a_whole_data_set_has_no_problems_and_is_counted() {
    let report = check::check(&made_up_files());
    assert_eq!(report.problems, []);
    let count = |kind: &str| report.count(kind).map(|it| (it.n, it.n_verified)).unwrap();
    assert_eq!(count("herbs"), (1, Some(1)));
    assert_eq!(count("facts"), (5, Some(3)));
    assert_eq!(count("contraindications"), (2, Some(1)));
    assert_eq!(count("interactions"), (3, Some(2)));
    assert_eq!(count("herb_drug_interactions"), (2, Some(1)));
    assert_eq!(count("memberships"), (3, Some(1)));
    assert_eq!(count("papers"), (2, None));
    assert_eq!(report.count("facts").unwrap().share_verified(), Some(60));
}

#[test]
fn every_record_comes_after_what_it_stands_on() {
    let (mut sources, mut nodes) = (Vec::new(), Vec::new());
    for record in all() {
        let source = match &record {
            Record::Source(source) => {
                assert!(contract::evidence::starter::is_own_source(&source.id), "{}", source.id);
                sources.push(source.id.clone());
                continue;
            }
            Record::Node(node) => {
                nodes.push(node.id.clone());
                &node.source
            }
            Record::Edge(edge) => {
                assert!(nodes.contains(&edge.subject) && nodes.contains(&edge.object), "{}", edge.id);
                &edge.source
            }
            Record::Document(document) => &document.source,
            Record::Deletion(_) => panic!("nothing is withdrawn"),
        };
        assert!(sources.contains(source), "{source}");
    }
}

#[test]
fn a_fact_names_its_page_and_says_when_nobody_verified_it() {
    let avoid = edge("materia:test_root:contraindicated_in:made_up_state");
    assert_eq!((avoid.strength, avoid.source.as_str()), (Some(Strength::High), "materia:test_book"));
    assert_eq!(avoid.evidence[0].text.as_deref(), Some("Avoid. / ควรเลี่ยง (Book of made-up plants, p. 3)"));
    assert_eq!(avoid.evidence[0].reference.as_deref(), Some("materia:test_book"));
    assert_eq!(avoid.qualifiers["verified"], json!(true));
    assert_eq!(avoid.qualifiers["sources"], json!([{"id": "materia:test_book", "at": "p. 3"}]));
    let treats = edge("materia:test_root:treats:made_up_ache");
    assert_eq!(treats.qualifiers["verified"], json!(false));
    let text = "(not verified) In one trial. / ในการทดลองหนึ่ง (A made-up paper about test root)";
    assert_eq!(treats.evidence[0].text.as_deref(), Some(text));
    assert_eq!(treats.evidence[0].reference.as_deref(), Some("PMID:1"));
}

#[test]
fn interactions_keep_their_severity_and_what_is_not_verified_is_never_high() {
    let critical = edge("materia:madeupine__otherine");
    assert_eq!((critical.predicate.as_str(), critical.strength), ("interacts_with", Some(Strength::High)));
    assert_eq!(
        (&critical.qualifiers["severity"], &critical.qualifiers["rule"]),
        (&json!("critical"), &json!("R-DDI-001"))
    );
    assert_eq!(critical.evidence[0].reference.as_deref(), Some("https://example.org/madeupine"));
    let major = edge("materia:madeupine__test_root");
    assert_eq!((&major.qualifiers["severity"], major.strength), (&json!("major"), Some(Strength::Moderate)));
    let none = edge("materia:otherine__test_root");
    assert_eq!((none.predicate.as_str(), none.strength), ("not_interacts_with", None));
    assert_eq!(edge("materia:test_mixture:contains:test_root").qualifiers["part"], json!("root"));
}

#[test]
fn a_membership_has_its_own_source_or_says_that_nobody_verified_it() {
    let sourced = edge("materia:madeupine:member_of:made_up_class");
    assert_eq!((sourced.source.as_str(), &sourced.qualifiers["verified"]), ("materia:label_madeupine", &json!(true)));
    let text = "Madeupine prescribing information (test), section 12";
    assert_eq!(sourced.evidence[0].text.as_deref(), Some(text));
    // The source of a row is for its names.
    for bare in ["materia:otherine:member_of:wider_class", "materia:made_up_class:subclass_of:wider_class"] {
        let bare = edge(bare);
        assert_eq!((bare.source.as_str(), &bare.qualifiers["verified"]), ("materia", &json!(false)));
        assert_eq!(bare.evidence, []);
    }
}

#[test]
fn things_are_nodes_with_their_names_and_codes() {
    let ache = node("made_up_ache");
    assert_eq!(
        (&ache.categories[0], ache.same_as),
        (&"indication".to_owned(), vec!["ICD10:R52.9".to_owned(), "ICD10TM:U750".to_owned()])
    );
    assert_eq!(node("made_up_state").categories, ["condition", "state"]);
    let drug = node("madeupine");
    let names: Vec<(&str, &str)> = drug.names.iter().map(|it| (it.lang.as_str(), it.text.as_str())).collect();
    assert_eq!(names, [("th", "เมดอัพพีน"), ("en", "madeupine"), ("en", "Fictol"), ("und", "madupine")]);
    assert_eq!(drug.same_as, ["DRUGBANK:DB00000"]);
    assert_eq!(node("test_root").attributes["parts"], json!(["root (ราก)"]));
}

#[test]
fn a_monograph_has_sections_that_can_be_cut_out_and_a_title_of_all_names() {
    let monograph = document("monograph:test_root:th");
    assert_eq!((monograph.title.as_str(), monograph.lang.as_str()), ("รากทดสอบ · Radix ficta Nemo · test root", "th"));
    let place =
        |name: &str, end: &str| usize::try_from(monograph.attributes["sections"][name][end].as_u64().unwrap()).unwrap();
    assert_eq!(&monograph.text[place("safety", "start_byte")..place("safety", "end_byte")], "ผู้ที่มีภาวะสมมติควรเลี่ยง");
    assert!(monograph.text.starts_with("## คืออะไร\nรากทดสอบเป็น"), "{}", monograph.text);
    assert_eq!((&monograph.attributes["herb"], &monograph.attributes["verified"]), (&json!("test_root"), &json!(true)));
    assert!(document("monograph:test_mixture:en").title.ends_with(" (not verified)"));
}

#[test]
fn a_paper_is_a_bibliographic_record_whose_words_are_marked_as_ours() {
    let paper = document("PMID:1");
    assert!(
        paper.text.starts_with("[Summary in our own words, not the authors' abstract] In a made-up trial"),
        "{}",
        paper.text
    );
    assert_eq!((paper.ids["pmid"].as_str(), &paper.attributes["abstract_by"]), ("1", &json!("materia")));
    let bare = document("PMID:2");
    assert_eq!((bare.text.as_str(), &bare.attributes["abstract_available"]), ("", &json!(false)));
    assert_eq!(bare.ids["doi"], "10.1/none");
}
