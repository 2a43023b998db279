//! The operation table, ready to serve: names resolved, schemas generated and compiled once.

use std::collections::HashMap;
use std::sync::Arc;

use contract::audit::AuditBlock;
use contract::schema::{SchemaObject, terse, tool_schema};
use contract::scope::Scope;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use crate::entry::Entry;
use crate::family::Family;
use crate::summary::Fields;

#[derive(Debug, thiserror::Error)]
pub enum TableError {
    #[error("two operations are called `{0}`")]
    RepeatedName(&'static str),
    #[error("`{operation}` asks for `{scope}`, which is no scope")]
    Scope { operation: &'static str, scope: &'static str },
    #[error("the schema of `{operation}` does not compile")]
    Schema { operation: &'static str, source: Box<dyn std::error::Error + Send + Sync> },
}

/// A name that is no operation's is compared with those that are up to this length, and from this likeness on one of them
/// was meant.
const SPELT_BYTES_MAX: usize = 80;
const LIKE_FROM: f64 = 0.7;

/// Where the audit block stands in an output.
const AUDIT: &str = "audit";

/// An entry with its compiled schemas.
pub struct Tool {
    pub entry: &'static Entry,
    pub scope: Option<Scope>,
    pub input_schema: Arc<SchemaObject>,
    pub output_schema: Arc<SchemaObject>,
    /// Both once more, as lists of tools show them.
    pub terse_input_schema: Arc<SchemaObject>,
    pub terse_output_schema: Arc<SchemaObject>,
    pub(crate) input: Validator,
    pub(crate) fields: Fields,
    pub(crate) output: Validator,
}

pub struct Table {
    tools: Vec<Arc<Tool>>,
    by_name: HashMap<&'static str, usize>,
}

impl Table {
    pub fn compile(entries: &'static [Entry]) -> Result<Table, TableError> {
        let mut table = Table { tools: Vec::with_capacity(entries.len()), by_name: HashMap::new() };
        for (index, entry) in entries.iter().enumerate() {
            for name in std::iter::once(&entry.name).chain(entry.aliases) {
                if table.by_name.insert(name, index).is_some() {
                    return Err(TableError::RepeatedName(name));
                }
            }
            let scope = entry
                .scope
                .map(|scope| Scope::parse(scope).map_err(|_| TableError::Scope { operation: entry.name, scope }))
                .transpose()?;
            let (input_schema, output_schema) = ((entry.input_schema)(), (entry.output_schema)());
            let compile = |schema: &SchemaObject| {
                validator(schema).map_err(|source| TableError::Schema { operation: entry.name, source })
            };
            let (input, output) = (compile(&input_schema)?, compile(&output_schema)?);
            let fields = Fields::compile(&input_schema)
                .map_err(|source| TableError::Schema { operation: entry.name, source })?;
            let output_schema = if entry.is_stamped { stamped(output_schema) } else { output_schema };
            table.tools.push(Arc::new(Tool {
                entry,
                scope,
                terse_input_schema: Arc::new(terse(&input_schema)),
                terse_output_schema: Arc::new(without_audit(terse(&output_schema))),
                input_schema: Arc::new(input_schema),
                output_schema: Arc::new(output_schema),
                input,
                fields,
                output,
            }));
        }
        Ok(table)
    }

    /// By name or alias.
    pub fn find(&self, name: &str) -> Option<&Arc<Tool>> {
        self.by_name.get(name).and_then(|index| self.tools.get(*index))
    }

    pub fn all(&self) -> &[Arc<Tool>] {
        &self.tools
    }

    /// Of these operations the one whose name is spelt most like a name that none of them has.
    pub fn similar<'a>(name: &str, among: impl IntoIterator<Item = &'a Arc<Tool>>) -> Option<&'static str> {
        // Names are short: what is longer was not meant as one, and comparing it would take its time.
        if name.len() > SPELT_BYTES_MAX {
            return None;
        }
        let name = name.to_ascii_lowercase();
        let likeness = |known: &str| strsim::normalized_damerau_levenshtein(&name, known);
        let names = among.into_iter().map(|tool| (likeness(tool.entry.name), tool.entry.name));
        let (likeness, nearest) = names.max_by(|a, b| a.0.total_cmp(&b.0))?;
        (likeness >= LIKE_FROM).then_some(nearest)
    }

    /// What a family's endpoint lists, or every tool for `None`. The order is that of the table.
    pub fn listed(&self, family: Option<Family>) -> impl Iterator<Item = &Arc<Tool>> {
        self.tools.iter().filter(move |tool| tool.entry.is_tool && is_in(tool.entry, family))
    }

    /// As [`Table::find`], within one family's endpoint.
    pub fn find_in(&self, name: &str, family: Option<Family>) -> Option<&Arc<Tool>> {
        self.find(name).filter(|tool| is_in(tool.entry, family))
    }
}

fn is_in(entry: &Entry, family: Option<Family>) -> bool {
    entry.family == Family::House || family.is_none_or(|family| family == entry.family)
}

/// The schema of an output that leaves with its audit block in it.
/// In lists of tools the audit block is an object: no model does anything with what is in it.
fn without_audit(mut schema: SchemaObject) -> SchemaObject {
    if let Some(audit) = schema.get_mut("properties").and_then(|properties| properties.get_mut(AUDIT)) {
        *audit = serde_json::json!({ "type": "object" });
    }
    schema
}

fn stamped(mut schema: SchemaObject) -> SchemaObject {
    let mut audit = tool_schema::<AuditBlock>();
    // What it is in and how it is called is said by the schema that it stands in.
    audit.remove("$schema");
    audit.remove("title");
    let audit = Value::Object(audit);
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.insert(AUDIT.to_owned(), audit);
    }
    if let Value::Array(required) = schema.entry("required").or_insert_with(|| Value::Array(Vec::new())) {
        required.push(Value::from(AUDIT));
    }
    schema
}

/// Patterns run on a linear-time engine; no schema is ever fetched.
pub(crate) fn validator(schema: &SchemaObject) -> Result<Validator, Box<dyn std::error::Error + Send + Sync>> {
    let schema = Value::Object(schema.clone());
    jsonschema::options()
        .with_draft(jsonschema::Draft::Draft202012)
        .with_pattern_options(PatternOptions::regex())
        .build(&schema)
        .map_err(|error| error.to_string().into())
}
