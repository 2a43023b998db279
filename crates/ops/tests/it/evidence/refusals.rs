//! Records that look like something else, or would be told as something else: refused with the field and the reason.

use serde_json::{Value, json};

use super::herbs::{edge, herbal, node, put};
use crate::ledger::both;
use crate::script::{Stage, sqlite};

/// Why the record is rejected.
async fn reason(stage: &Stage, record: Value) -> String {
    let found = put(stage, &[record]).await;
    found["rejected"][0]["reason"].as_str().unwrap_or("kept").to_owned()
}

fn with(mut record: Value, member: &str, value: Value) -> Value {
    record[member] = value;
    record
}

fn named(id: &str) -> Value {
    node(id, "herb", json!([{"text": "x", "lang": "en"}]))
}

#[tokio::test]
async fn warnings_in_other_words_and_denials_are_not_kept_as_something_else() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    for (predicate, expected) in [
        ("contraindicated_for", "`predicate`: expected `contraindicated_in`, which is how it is written here"),
        ("contraindication", "`predicate`: expected `has_contraindication`, which is how it is written here"),
        ("has_contraindications", "`predicate`: expected `has_contraindication`, which is how it is written here"),
        (
            "contraindicated_if_taken_in",
            "`predicate`: expected one of contraindicated_in, contraindicated_with, cautioned_in, \
             has_contraindication, interacts_with, or no word about contraindications",
        ),
        ("not_contraindicated_in", "kept"),
    ] {
        assert_eq!(reason(&stage, edge("X1", "H3", predicate, "P1")).await, expected);
    }
    let denial = |value: Value| with(edge("X2", "H3", "treats", "I05"), "qualifiers", json!({ "negated": value }));
    let expected = "`predicate`: expected `not_treats`, as the edge says `negated`";
    assert_eq!(reason(&stage, denial(json!(true))).await, expected);
    assert_eq!(reason(&stage, denial(json!("yes"))).await, expected);
    assert!(reason(&stage, denial(json!("perhaps"))).await.starts_with("`qualifiers`: `negated` is"));
    assert_eq!(reason(&stage, denial(json!(false))).await, "kept");
    assert_eq!(reason(&stage, with(denial(json!(true)), "predicate", json!("not_treats"))).await, "kept");
    let none = with(edge("X3", "H3", "interacts_with", "D1"), "qualifiers", json!({"severity": "none"}));
    let expected =
        "`predicate`: expected `not_interacts_with`, as a `severity` of `none` says that there is no interaction";
    assert_eq!(reason(&stage, none.clone()).await, expected);
    assert_eq!(reason(&stage, with(none, "predicate", json!("not_interacts_with"))).await, "kept");
    let found = stage.call("agent", "find_contraindications", json!({"herb_ids": ["H3"]})).await.result.unwrap();
    assert_eq!((&found.output["results"], &found.output["no_record"]), (&json!([]), &json!(["H3"])));
    let found = stage.call("agent", "kg_get_everything", json!({"curie": "H3"})).await.result.unwrap();
    let text = found.output["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("ตะไคร้ (H3) and วาร์ฟาริน (D1): no interaction stated by herbal"), "{text}");
}

#[tokio::test]
async fn what_looks_like_another_thing_is_refused() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    for id in ["H\u{200b}1", "\u{41d}1x", "Ｈ1"] {
        let reason = reason(&stage, named(id)).await;
        assert!(reason.starts_with("`id`: expected text without "), "{id}: {reason}");
    }
    for id in ["materia", "Materia", "materia:extra", "mаteria", "materia-official", "mater1a"] {
        let record = json!({"record": "source", "id": id, "title": "x", "licence": "CC0-1.0"});
        let reason = reason(&stage, record).await;
        assert!(reason.starts_with('`'), "{id}: {reason}");
    }
    let nul = with(named("N1"), "attributes", json!({"a": {"b": ["c\u{0}"]}}));
    assert_eq!(reason(&stage, nul).await, "`attributes/a/b/0`: expected text without NUL");
}

#[tokio::test]
async fn a_summary_of_somebody_else_does_not_pass_for_ours() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let paper = |by: Value| {
        json!({"record": "document", "id": "X:1", "kind": "paper", "title": "t", "text": "Words.", "lang": "en",
            "attributes": {"abstract_by": by}, "source": "herbal"})
    };
    for by in ["materia", "Materia", "mаteria", "materia:book"] {
        let reason = reason(&stage, paper(json!(by))).await;
        assert!(reason.starts_with("`attributes/abstract_by`: expected whose words they are"), "{by}: {reason}");
    }
    assert_eq!(put(&stage, &[paper(json!("a librarian"))]).await["kept"], 1);
}

#[tokio::test]
async fn addresses_that_a_browser_would_run_are_refused() {
    let stage = sqlite().await;
    put(&stage, &herbal()).await;
    let told = edge("X1", "H3", "treats", "I05");
    let of = |reference: &str| with(told.clone(), "evidence", json!([{ "reference": reference }]));
    let expected = "`evidence/0/reference`: expected a document or an address, not `javascript:`";
    assert_eq!(reason(&stage, of("JavaScript:alert(1)")).await, expected);
    let source = json!({"record": "source", "id": "s", "title": "x", "licence": "y", "uri": "data:text/html,x"});
    assert_eq!(reason(&stage, source).await, "`uri`: expected a document or an address, not `data:`");
    let document = json!({"record": "document", "id": "X:1", "kind": "paper", "title": "t", "text": "", "lang": "en",
        "links": ["https://example.org", "vbscript:x"], "source": "herbal"});
    assert_eq!(reason(&stage, document).await, "`links/1`: expected a document or an address, not `vbscript:`");
}

#[tokio::test]
async fn no_document_takes_the_number_of_another_paper() {
    for stage in both().await {
        put(&stage, &herbal()).await;
        let document = |id: &str, title: &str, ids: Value| {
            json!({"record": "document", "id": id, "kind": "paper", "title": title, "text": "", "lang": "en", "ids": ids,
                "source": "herbal"})
        };
        put(&stage, &[document("PMID:7", "On ginger", json!({"pmid": "7", "doi": "10.1/x"}))]).await;
        assert_eq!(
            reason(&stage, document("PMID:8", "On senna", json!({"pmid": "7"}))).await,
            "`ids/pmid`: expected `8`, which the id says"
        );
        assert_eq!(
            reason(&stage, document("DOI:10.1/y", "On ginger", json!({"pmid": "7"}))).await,
            "`ids`: `PMID:7` is another paper, whose `doi` is `10.1/x`"
        );
        assert_eq!(
            reason(&stage, document("X:1", "Senna", json!({"pmid": "7"}))).await,
            "`ids`: `PMID:7` is another paper, with the title `On ginger`"
        );
        assert_eq!(reason(&stage, document("PMCID:PMC7", "On Ginger.", json!({"pmid": "7"}))).await, "kept");
    }
}
