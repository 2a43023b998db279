//! Whom records are from and on which terms, for the answers that show them.

use std::collections::BTreeMap;

use contract::error::OpError;
use contract::evidence::record::{Document, RecordKind, Source};
use evidence::literature;
use evidence::record::read;
use serde_json::{Value, json};

use crate::context::Context;
use crate::operation::store_error;

/// The sources of these ids, with the terms that go along with what is taken from them.
pub async fn sources(ctx: &Context<'_>, ids: &[&str]) -> Result<BTreeMap<String, Source>, OpError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let mut ids = ids.to_vec();
    ids.sort_unstable();
    ids.dedup();
    let mut reader = ctx.read().await?;
    let organisation_id = ctx.actor().organisation_id.as_str();
    let found = read::find(&mut reader, organisation_id, RecordKind::Source, &ids).await.map_err(store_error)?;
    let parsed = found.iter().map(|stored| Ok((stored.id.clone(), stored.parse()?)));
    parsed.collect::<Result<_, _>>().map_err(store_error)
}

/// Whom records of these sources are from and on which terms, as `metadata` says it.
pub async fn credits(ctx: &Context<'_>, ids: &[&str]) -> Result<Vec<Value>, OpError> {
    Ok(sources(ctx, ids).await?.into_values().map(credit).collect())
}

/// The terms of papers themselves, where their records state them.
pub fn own_terms<'d>(documents: impl IntoIterator<Item = &'d Document>) -> Vec<Value> {
    let told = documents.into_iter().filter_map(|document| Some((document, literature::own_terms(document)?)));
    told.map(|(document, licence)| json!({ "document": document.id, "licence": licence })).collect()
}

pub fn credit(source: Source) -> Value {
    json!({ "source": source.id, "licence": source.licence, "notice": source.notice })
}
