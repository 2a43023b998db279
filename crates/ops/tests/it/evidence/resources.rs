//! Herbs, nodes and papers by their addresses.

use ops::OFFERS;
use serde_json::{Value, json};

use super::herbs::{herbal, put};
use crate::ledger::both;
use crate::script::Stage;

/// Reads an address as the server does: by the operation it is bound to.
async fn read(stage: &Stage, uri: &str) -> Result<Value, String> {
    let (resource, input) = OFFERS.find_resource(uri).unwrap();
    let reply = stage.call("agent", resource.operation, input).await;
    reply.result.map(|success| success.output).map_err(|error| format!("{}: {}", error.code(), error.message))
}

fn paper() -> Value {
    json!({
        "record": "document", "id": "PMID:11", "kind": "paper", "title": "On ginger", "text": "It bleeds.", "lang": "en",
        "authors": [{"last": "Alpha", "fore": "Beta"}, {"last": "The Group"}], "journal": "Journal of Tests",
        "year": 2024, "ids": {"doi": "10.1/x"}, "source": "book", "retraction": {"kind": "retracted"}
    })
}

#[tokio::test]
async fn a_herb_and_a_paper_are_answered_as_the_seed_has_them_and_recorded_by_its_words() {
    for stage in both().await {
        put(&stage, &[herbal(), vec![paper()]].concat()).await;
        let expected = json!({
            "id": "H1",
            "names": {"th": "ขิง", "en": "ginger", "la": "Zingiber officinale"},
            "parts": ["rhizome"],
            "constituents": [{"id": "C9", "name": "จินเจอรอล", "verified": false, "sources": ["herbal"]}],
            "indications": [{"icdCode": "R11", "description": "คลื่นไส้", "verified": false, "sources": ["herbal"]}],
            "sources": ["herbal"]
        });
        assert_eq!(read(&stage, "kg://herb/H1").await.unwrap(), expected);
        let expected = json!({
            "pmid": "11", "title": "On ginger", "abstract": "It bleeds.", "authors": ["Alpha Beta", "The Group"],
            "journal": "Journal of Tests", "year": 2024,
            "links": ["https://pubmed.ncbi.nlm.nih.gov/11/", "https://doi.org/10.1/x"],
            "retraction": {"kind": "retracted", "source": "book"}, "source": "book", "licence": "CC-BY-4.0",
            "licence_of": "record"
        });
        for uri in ["paper://pmid/11", "paper://pmid/PMID:11"] {
            assert_eq!(read(&stage, uri).await.unwrap(), expected);
        }
        let node = read(&stage, "kg://node/I05").await.unwrap();
        assert_eq!((&node["type"], &node["n_relations"]), (&json!("indication"), &json!(2)));
        assert_eq!(node["relations"][0]["reverse"], true);
        for (uri, expected) in [
            ("kg://herb/C9", "NOT_FOUND: `C9` is a constituent, not a herb"),
            ("kg://node/X:1", "NOT_FOUND: no node has the id or name `X:1`"),
            ("paper://pmid/12", "NOT_FOUND: no paper with the PMID `12`"),
            ("paper://pmid/0", "INVALID_ARG: `pmid`: expected text that matches `^(PMID:)?[1-9][0-9]{0,7}$`"),
        ] {
            assert_eq!(read(&stage, uri).await.unwrap_err(), expected);
        }
        let events = stage.events().await;
        for word in ["resource.kg.herb ok", "resource.paper.pmid ok", "resource.kg.node not_found"] {
            assert!(events.contains(&format!("event agent {word}")), "{word}: {events:?}");
        }
    }
}
