//! The hashes of the inputs that seed 002 shows: members that came later are not filled in where they were not sent.

use serde_json::{Value, json};

use crate::script::on_sqlite;

#[tokio::test]
async fn the_hash_and_the_seed_of_the_seeds_own_inputs_stay_what_they_are() {
    let stage = on_sqlite(ops::operations::OPERATIONS).await;
    let path = "herb -contains-> constituent -treats-> indication";
    let cases: [(&str, Value, &str, u64); 3] = [
        (
            "query_kg",
            json!({"start": {"type": "herb", "id": "ginger"}, "pattern": path, "filters": {}, "max_depth": 3}),
            "6be6d8c3b016398dd2d42aaad3c10909b870723e5d6948fb994eee9b95c85729",
            7_775_140_141_686_208_909,
        ),
        (
            "hybrid_search",
            json!({"query": "ginger", "lang": "auto", "filters": {}, "top_k": 10}),
            "5c87de1229d8a38714beb1cdacd66b9efea56a1d8f0df8395e823c34a5ce4db7",
            6_667_541_942_938_149_767,
        ),
        (
            "find_contraindications",
            json!({"herb_ids": ["ginger"], "formulation_ids": ["yahom"]}),
            "4417d279a4eb915a9cda84154d93ae329ff3650e81f51f0d3f2c1da678b1ffc6",
            4_906_621_738_943_222_106,
        ),
    ];
    for (operation, input, in_hash, seed) in cases {
        // Nothing of it is in this record: the hash is of the question alone.
        let audit = stage.call("owner", operation, input).await.audit;
        assert_eq!((audit.in_hash.as_str(), audit.seed), (in_hash, seed), "{operation}");
    }
}
