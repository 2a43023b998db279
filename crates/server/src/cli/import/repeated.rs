//! Lines that were imported before under terms that somebody said for them. Said again without terms they are no other words
//! and not another source's: the record has them, and keeps what was said.

use std::collections::HashSet;

use contract::canonical;
use contract::evidence::record::RecordKind;
use contract::evidence::records::{PutRecordsOutput, ReadRecordsOutput};
use serde_json::{Value, json};

use super::send::Desk;

/// What `read_records` takes.
const ID_CHARS_MAX: usize = 200;

impl Desk<'_> {
    /// Counts those of the rejected records as repeated that are there in the same words, whoever's they are.
    pub async fn take_repeated(&self, input: &Value, output: &mut PutRecordsOutput) -> anyhow::Result<()> {
        let mut repeated = HashSet::new();
        for kind in [RecordKind::Node, RecordKind::Edge, RecordKind::Document] {
            let sent: Vec<(u64, &str, &Value)> = output
                .rejected
                .iter()
                .filter_map(|rejected| {
                    let record = input.pointer(&format!("/records/{}", rejected.position))?;
                    let id =
                        record.get("id")?.as_str().filter(|id| (1..=ID_CHARS_MAX).contains(&id.chars().count()))?;
                    (record.get("record")?.as_str()? == kind.name()).then_some((rejected.position, id, record))
                })
                .collect();
            if sent.is_empty() {
                continue;
            }
            let ids: HashSet<&str> = sent.iter().map(|(_, id, _)| *id).collect();
            let (_, known): (_, ReadRecordsOutput) =
                self.ask("read_records", &json!({ "kind": kind, "ids": ids })).await?;
            let known: HashSet<String> = known.records.into_iter().map(|it| words(&Value::Object(it))).collect();
            let in_same_words = sent.iter().filter(|(_, _, record)| known.contains(&words(record)));
            repeated.extend(in_same_words.map(|(position, _, _)| *position));
        }
        let n_before = output.rejected.len();
        output.rejected.retain(|rejected| !repeated.contains(&rejected.position));
        output.repeated += u64::try_from(n_before - output.rejected.len())?;
        Ok(())
    }
}

/// A record, whoever's it is.
fn words(record: &Value) -> String {
    canonical::hash_without(record, "source")
}
