//! `put_records`: keep sources, nodes, edges and documents, and withdraw them. What importers and curators call.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use contract::actor::Role;
use contract::error::OpError;
use contract::evidence::record::{Deletion, Document, Edge, Node, Record, Source};
use contract::evidence::records::{PutRecords, PutRecordsOutput, RejectedRecord};
use contract::schema::{SchemaObject, tool_schema};
use evidence::import::Format;
use evidence::record::put::{Kept, MayReplace, OtherSources, StarterData};
use evidence::record::{self, Incoming, audited, passes_for_own_source};
use jsonschema::Validator;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use store::Tx;
use workflow::audited::{AuditedRow, Found};

use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, ApplyError, Operation, Write};
use crate::table::validator;
use crate::validate::check_input;

pub struct Plan {
    organisation_id: String,
    incoming: Vec<Incoming>,
    /// Those that are no records at all.
    rejected: Vec<RejectedRecord>,
    /// The change number that the last try led to.
    version: AtomicI64,
}

impl Operation for PutRecords {
    const NAME: &'static str = "put_records";
    const ABOUT: &'static str = "Keep sources, nodes, edges and documents of the evidence, or withdraw them. Each record \
        is kept, repeated, or rejected with a reason.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &[Role::Curator, Role::Admin];
    const SCOPE: Option<&'static str> = Some("evidence.write");
    // Importers call it with a thousand records at a time; an agent that found something proposes it to a curator.
    const IS_TOOL: bool = false;
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(60));

    type Output = PutRecordsOutput;
}

impl Write for PutRecords {
    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        let mut plan = Plan {
            organisation_id: ctx.actor().organisation_id.to_string(),
            incoming: Vec::with_capacity(self.records.len()),
            rejected: Vec::new(),
            version: AtomicI64::new(0),
        };
        for (position, members) in (0_u64..).zip(&self.records) {
            let parsed = parse(members).and_then(|record| {
                let incoming = Incoming::new(position, &record).map_err(|unfit| unfit.to_string())?;
                check_source(&record)?;
                Ok(incoming)
            });
            match parsed {
                Ok(incoming) => plan.incoming.push(incoming),
                Err(reason) => {
                    let id = members.get("id").and_then(Value::as_str).map(str::to_owned);
                    plan.rejected.push(RejectedRecord { position, id, reason });
                }
            }
        }
        Ok(plan)
    }

    fn lane(&self, plan: &Plan) -> Option<String> {
        Some(record::lane(&plan.organisation_id))
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<PutRecordsOutput>, ApplyError> {
        let may_replace = MayReplace {
            starter: if self.replace_starter { StarterData::MayChange } else { StarterData::Stays },
            other_sources: if self.replace_other_sources { OtherSources::MayChange } else { OtherSources::Stay },
        };
        let kept = record::put::put(tx, &plan.organisation_id, &plan.incoming, may_replace).await?;
        plan.version.store(kept.version, Ordering::Relaxed);
        let batch = kept.manifest_sha256.clone().map(|sha256| AuditedRow {
            kind: audited::BATCH,
            id: kept.version.to_string(),
            sha256: Some(sha256),
            // Batches are made once and never changed.
            found: Found::Nothing,
        });
        let answer = Answer::of(told(kept, &plan.rejected));
        Ok(batch.into_iter().fold(answer, Answer::leaving))
    }

    async fn settle(&self, plan: &Plan, ctx: &Context<'_>) {
        ctx.services().evidence.note(&plan.organisation_id, plan.version.load(Ordering::Relaxed));
    }
}

fn told(kept: Kept, unreadable: &[RejectedRecord]) -> PutRecordsOutput {
    let refused = kept.rejected.into_iter().map(|rejected| RejectedRecord {
        position: rejected.position,
        id: Some(rejected.id),
        reason: rejected.reason,
    });
    let mut rejected: Vec<RejectedRecord> = unreadable.iter().cloned().chain(refused).collect();
    rejected.sort_by_key(|rejected| rejected.position);
    PutRecordsOutput {
        kept: kept.n_kept,
        repeated: kept.n_repeated,
        changed: kept.n_changed,
        deleted: kept.n_deleted,
        marked: kept.n_marked,
        rejected,
        version: u64::try_from(kept.version).unwrap_or(0),
    }
}

/// The schemas of the kinds, each apart: the error then names the field, which one schema of all kinds could not.
static SOURCE: LazyLock<Option<Validator>> = LazyLock::new(compiled::<Source>);
static NODE: LazyLock<Option<Validator>> = LazyLock::new(compiled::<Node>);
static EDGE: LazyLock<Option<Validator>> = LazyLock::new(compiled::<Edge>);
static DOCUMENT: LazyLock<Option<Validator>> = LazyLock::new(compiled::<Document>);
static DELETION: LazyLock<Option<Validator>> = LazyLock::new(compiled::<Deletion>);

fn compiled<T: JsonSchema>() -> Option<Validator> {
    let schema: SchemaObject = tool_schema::<T>();
    validator(&schema).ok()
}

fn parse(members: &Map<String, Value>) -> Result<Record, String> {
    let mut members = members.clone();
    let kind = members.remove("record");
    let value = Value::Object(members);
    match kind.as_ref().and_then(Value::as_str) {
        Some("source") => fit(&SOURCE, value).map(Record::Source),
        Some("node") => fit(&NODE, value).map(Record::Node),
        Some("edge") => fit(&EDGE, value).map(Record::Edge),
        Some("document") => fit(&DOCUMENT, value).map(Record::Document),
        Some("deletion") => fit(&DELETION, value).map(Record::Deletion),
        Some(_) | None => Err("`record`: expected one of source, node, edge, document, deletion".to_owned()),
    }
}

/// What is said to be of the starter data must have come with the program, and the sources of the importers have the words
/// that these state for them. Who withdraws something brings nothing.
fn check_source(record: &Record) -> Result<(), String> {
    let (field, id) = match record {
        Record::Source(source) => ("id", &source.id),
        Record::Node(node) => ("source", &node.source),
        Record::Edge(edge) => ("source", &edge.source),
        Record::Document(document) => ("source", &document.source),
        Record::Deletion(_) => return Ok(()),
    };
    if passes_for_own_source(id) {
        return Err(format!(
            "`{field}`: `{id}` is of the starter data, or looks as if it were; expected a source of your own"
        ));
    }
    if let Record::Source(source) = record
        && Format::own_source(id).is_some_and(|own| own != *source)
    {
        return Err(format!(
            "`id`: `{id}` is the source of what `materia import` brings, in its own words; expected a source of your own"
        ));
    }
    Ok(())
}

fn fit<T: DeserializeOwned>(schema: &Option<Validator>, value: Value) -> Result<T, String> {
    let schema = schema.as_ref().ok_or("the schema of this kind does not compile")?;
    check_input(schema, &value).map_err(|error| error.message)?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_has_a_schema_and_an_error_names_the_field() {
        for schema in [&SOURCE, &NODE, &EDGE, &DOCUMENT, &DELETION] {
            assert!(schema.is_some());
        }
        let check = |record: Value, expected: &str| {
            assert_eq!(parse(record.as_object().unwrap()).unwrap_err(), expected);
        };
        check(json!({"record": "herb"}), "`record`: expected one of source, node, edge, document, deletion");
        check(json!({"record": "source", "id": "s", "title": "S"}), "`licence`: expected the field to be there");
        let node = json!({"record": "node", "id": "H1", "categories": ["herb"], "names": [{"text": "", "lang": "th"}],
            "source": "s"});
        check(node, "`names/0/text`: expected at least 1 characters");
    }
}
