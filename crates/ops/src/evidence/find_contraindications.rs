//! `find_contraindications`: what is recorded against taking herbs and formulations.

use contract::actor::Role;
use contract::detail::{Detail, tokens};
use contract::error::OpError;
use contract::evidence::contraindications::{EntityKind, FindContraindications, FindContraindicationsOutput};
use evidence::contraindications::{self, Entity};
use evidence::graph::Graph;
use evidence::resolve::{Meant, Unresolved, namesakes, resolve, resolve_herb};
use serde_json::Value;

use super::brief::{self, Page};
use super::{graph, note, provenance_of, unresolved};
use crate::context::Context;
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};
use crate::rendering::{Lines, TOKENS_MAX};

const LOW: &str = "low";

impl Operation for FindContraindications {
    const NAME: &'static str = "find_contraindications";
    const ABOUT: &'static str = "Find what is recorded against taking herbs or formulations: conditions, people and drugs, \
        each with evidence, strength, source and licence. Both inherit from what is in them. An id or name that is \
        not known is an error, never an empty answer.";
    const FAMILY: Family = Family::Evidence;
    const ROLES: &'static [Role] = &Role::ALL;
    const ALIASES: &'static [&'static str] = &["tool.find_contraindications"];
    const IS_STAMPED: bool = true;
    const TEXT: Option<fn(&Value) -> String> = Some(words);

    type Output = FindContraindicationsOutput;
}

impl Read for FindContraindications {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<FindContraindicationsOutput>, OpError> {
        if self.herb_ids.is_empty() && self.formulation_ids.is_empty() {
            return Err(OpError::invalid("herb_ids", "at least one herb or formulation"));
        }
        let graph = graph(ctx, self.min_version).await?;
        let mut asked = find_all(&graph, "herb_ids", &self.herb_ids, EntityKind::Herb)?;
        let formulations = find_all(&graph, "formulation_ids", &self.formulation_ids, EntityKind::Formulation)?;
        asked.entities.extend(formulations.entities);
        asked.meant.extend(formulations.meant);
        let mut notes = asked.notes(&graph);
        let mut reader = ctx.read().await?;
        let organisation_id = ctx.actor().organisation_id.as_str();
        let found = contraindications::find(&mut reader, organisation_id, &graph, &asked.entities).await;
        let found = found.map_err(store_error)?;
        notes.extend(found.notes);
        let mut answer = Answer::of(FindContraindicationsOutput {
            results: found.results,
            no_record: found.no_record,
            not_covered: found.not_covered,
            truncated: found.is_truncated,
            left_out: None,
            next_cursor: None,
            note: (!notes.is_empty()).then(|| notes.join(" ")),
        });
        answer.metadata = provenance_of(&graph, found.sources);
        note(&mut answer.metadata, &notes);
        if self.detail != Some(Detail::Full) {
            let page = Page::of(self, self.cursor.as_deref(), graph.version())?;
            brief::contraindications(&mut answer.output, &page)?;
        }
        Ok(answer)
    }
}

/// The entities that are meant, each once, and what each word means.
struct Asked<'a> {
    entities: Vec<Entity>,
    meant: Vec<(&'a str, EntityKind, Meant)>,
}

impl Asked<'_> {
    /// Which words mean more than one thing, and who else has their names. Only who knows all that is asked for knows what is
    /// told.
    fn notes(&self, graph: &Graph) -> Vec<String> {
        let told = contraindications::told_of(graph, &self.entities);
        let notes = self.meant.iter().flat_map(|(word, kind, meant)| {
            let others = namesakes(graph, word, meant, Some(kind.name()), |node| told.contains(&node));
            meant.note(graph, word).into_iter().chain(others)
        });
        notes.collect()
    }
}

fn find_all<'a>(graph: &Graph, field: &str, words: &'a [String], kind: EntityKind) -> Result<Asked<'a>, OpError> {
    let mut asked = Asked { entities: Vec::with_capacity(words.len()), meant: Vec::with_capacity(words.len()) };
    for (at, word) in words.iter().enumerate() {
        let found = match kind {
            EntityKind::Herb => resolve_herb(graph, word),
            EntityKind::Formulation => resolve(graph, word, Some(kind.name())),
        };
        let meant = found.map_err(|error| {
            let mut refusal = unresolved(&format!("{field}/{at}"), &error);
            if let Unresolved::OtherKind { found, .. } = &error {
                refusal.message.push_str(advice(found));
            }
            refusal
        })?;
        for node in meant.nodes() {
            if !asked.entities.iter().any(|entity| entity.node == node) {
                asked.entities.push(Entity { node, kind });
            }
        }
        asked.meant.push((word, kind, meant));
    }
    Ok(asked)
}

/// Where to ask for what is neither a herb nor a formulation, or stands in the other one's field.
fn advice(kind: &str) -> &'static str {
    match kind {
        "herb" => "; give it in `herb_ids`",
        "formulation" => "; give it in `formulation_ids`",
        _ => {
            "; `kg_get_everything` tells what is recorded of it, and `kg_network_neighborhood` what holds between it and others"
        }
    }
}

/// A line a result, the strongest first, and what could not be said at the end.
fn words(output: &Value) -> String {
    let mut lines = Lines::default();
    let list = |name: &str| output.get(name).and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    let results = list("results");
    let n_left_out = output.pointer("/left_out/rows").and_then(Value::as_u64).unwrap_or(0);
    let of_more = if n_left_out > 0 { format!(", and {n_left_out} more of low strength") } else { String::new() };
    lines.push(format!("{} recorded contraindications{of_more}, the strongest first:", results.len()));
    let said: Vec<String> = results.iter().map(|it| result(it, true)).collect();
    // What the sources say, where there is room for it.
    let has_room = said.iter().map(|line| tokens(line)).sum::<usize>() <= TOKENS_MAX;
    let result = |it: &Value| result(it, has_room);
    // However many: what is strong, or of a strength that nobody stated, is never left out.
    let (low, others): (Vec<&Value>, Vec<&Value>) =
        results.iter().partition(|it| it.get("strength") == Some(&LOW.into()));
    others.into_iter().for_each(|it| lines.push(result(it)));
    if !low.is_empty() {
        lines.list("Of low strength:", low.into_iter().map(result));
    }
    if let Some(cursor) = output.get("next_cursor").and_then(Value::as_str) {
        lines.push(format!("{n_left_out} more of low strength are left out: ask the same with `cursor`: `{cursor}`."));
    }
    if let Some(note) = output.get("note").and_then(Value::as_str) {
        lines.push(format!("Note: {note}"));
    }
    let no_record: Vec<&str> = list("no_record").iter().filter_map(Value::as_str).collect();
    if !no_record.is_empty() {
        lines.push(format!(
            "Nothing is recorded against {}, which does not mean that it is safe.",
            no_record.join(", ")
        ));
    }
    let not_covered = list("not_covered").iter().filter_map(|it| it.get("ingredient")?.as_str());
    let not_covered: Vec<&str> = not_covered.collect();
    if !not_covered.is_empty() {
        lines.push(format!("Not covered: {}. What they may do is unknown.", not_covered.join(", ")));
    }
    lines.push("Absence here is not safety.".to_owned());
    lines.finish()
}

fn result(result: &Value, with_evidence: bool) -> String {
    let text = |name: &str| result.get(name).and_then(Value::as_str).unwrap_or_default();
    let strength = if text("strength").is_empty() { "strength not stated" } else { text("strength") };
    let doubt = if result.get("verified") == Some(&Value::Bool(true)) { "" } else { ", not verified" };
    let retracted = if result.get("retracted").is_some() { ", RETRACTED source" } else { "" };
    let evidence = if with_evidence { format!(": {}", text("evidence")) } else { String::new() };
    format!(
        "- {strength}{doubt}{retracted}: {} ({}) {} {}{evidence} [{}]",
        text("entity_label"),
        text("entity_id"),
        text("predicate"),
        text("contraindication"),
        text("source"),
    )
}
