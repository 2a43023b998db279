//! A part of the graph in words, for a model.

use contract::evidence::record::Edge;
use contract::evidence::starter::is_own_source;

use super::statement::Statement;
use super::{Edges, MAJOR, Network, Ordered, Told, UnknownPair, is_critical, quoted, rule};
use crate::contraindications::is_no_interaction;
use crate::graph::{Graph, NodeNumber};
use crate::record::papers;
use crate::rest;

/// Pairs of which nothing is known that one answer names.
const PAIRS_SHOWN_MAX: usize = 100;

/// Letters of what another source advises.
const ADVICE_CHARS_MAX: usize = 500;

const NOTHING: &str = "No statement is recorded. That does not mean that there is nothing.";
const OF_UNKNOWN: &str = "The pairs of which no statement is recorded:";
const OF_MEMBERS: &str = "Of members of what was asked for, with the way to each:";
const NOT_VERIFIED_OF: &str = "nobody verified what leads here from";

impl Network {
    /// How grave a statement is and what to do, where its source says so.
    fn gravity(&self, edge: &Edge, named: impl Fn(NodeNumber) -> String) -> String {
        let Some(severity) = self.severity(edge) else {
            return edge.strength.map(|strength| format!("; strength: {}", strength.name())).unwrap_or_default();
        };
        let by = match rule(edge) {
            _ if self.is_capped(edge) => String::new(),
            Some(rule) => format!(" by {rule}"),
            // Whoever reads "critical" must know whether it is our word or somebody else's.
            None if is_critical(edge) => ", as its source alone grades it".to_owned(),
            None => String::new(),
        };
        let capped_for: Vec<String> = self.capped_for(edge).iter().map(|it| named(*it)).collect();
        let capped = match (capped_for.is_empty(), self.is_capped(edge)) {
            (true, _) => String::new(),
            (false, true) => format!(", no graver: {NOT_VERIFIED_OF} {}", capped_for.join(", ")),
            (false, false) => format!(", but no graver than {MAJOR}, as {NOT_VERIFIED_OF} {}", capped_for.join(", ")),
        };
        let action = edge.qualifiers.get("action").and_then(|action| action.get("en")?.as_str());
        let action = action.map(|action| {
            if is_own_source(&edge.source) {
                return format!(". {action}");
            }
            format!(". Its source advises: {}", quoted::quoted(action, ADVICE_CHARS_MAX))
        });
        let action = action.unwrap_or_default();
        format!("; severity: {severity}{by}{capped}{action}")
    }

    /// How many pairs nothing is known of, in one line: it stands before everything else, so that nobody takes what is told for
    /// all, and the list of them after the gravest, so that it hides nothing.
    fn unknown_words(&self) -> String {
        format!(
            "No statement is recorded of {} of the pairs, neither of the two nor of what they belong to; they are listed below. \
             That does not mean that there is nothing, nor that they are safe together.",
            self.unknown_pairs.len()
        )
    }

    fn unknown_list(&self, named: impl Fn(NodeNumber) -> String) -> String {
        let shown = self.unknown_pairs.iter().take(PAIRS_SHOWN_MAX);
        let line = |UnknownPair { ends: (one, other), has_members }: &UnknownPair| {
            let but = if *has_members { ", themselves; of their members see above" } else { "" };
            format!("- {} and {}{but}", named(*one), named(*other))
        };
        let shown: Vec<String> = shown.map(line).collect();
        let more = rest::not_shown(self.unknown_pairs.len() - shown.len(), "pairs").map(|more| format!("\n- {more}"));
        format!("{OF_UNKNOWN}\n{}{}", shown.join("\n"), more.unwrap_or_default())
    }

    /// The statements in words, for a model: one line each, the gravest first. Before them, what `notes` say of the question.
    pub fn text(&self, graph: &Graph, title: &str, edges: &Edges, notes: &[String]) -> String {
        let named = |node: NodeNumber| quoted::named(graph, node);
        let ends = |it: &Statement| {
            let is_own = it.is_own(graph);
            [it.subject, it.object].map(|end| if is_own { quoted::named_in_own(graph, end) } else { named(end) })
        };
        let label = |it: &Statement| match it.verified(graph) {
            Some(true) => "",
            Some(false) | None if !it.is_own(graph) => " (imported, not verified)",
            Some(false) => " (not verified)",
            None => "",
        };
        let stated = |it: &Statement| {
            let predicate = quoted::word(it.predicate(graph)).replace('_', " ");
            let [subject, object] = ends(it);
            format!("{subject} {predicate} {object} [{}]{}", it.told_by(graph), label(it))
        };
        let line = |it: &Statement| {
            let edge = edges.of(graph, it);
            let retracted = edge.map(|edge| edges.retracted(&edge.id)).unwrap_or_default();
            let doubt = if retracted.is_empty() { String::new() } else { format!("; {}", papers::words(&retracted)) };
            if edge.is_some_and(is_no_interaction) {
                let [subject, object] = ends(it);
                let source = it.told_by(graph);
                return format!("- {subject} and {object}: no interaction stated by {source}{}{doubt}", label(it));
            }
            let grave = edge.map(|edge| self.gravity(edge, named)).unwrap_or_default();
            format!("- {}{grave}{doubt}", stated(it))
        };
        let member = |it: &Told| {
            let way: Vec<String> = it.way.iter().map(stated).collect();
            format!("{} (the way there: {})", line(&it.statement), way.join("; "))
        };
        let lines = |statements: &[Statement]| statements.iter().map(line).collect::<Vec<String>>().join("\n");
        let Ordered { main, members, others } = self.ordered(graph, edges);
        let mut parts = vec![format!("# Search Results for: {title}")];
        parts.extend(notes.iter().cloned());
        if !self.unknown_pairs.is_empty() {
            parts.push(self.unknown_words());
        } else if main.is_empty() && members.is_empty() && others.is_empty() {
            parts.push(NOTHING.to_owned());
        }
        if !main.is_empty() {
            parts.push(lines(&main));
        }
        if !members.is_empty() {
            let more = rest::not_shown(self.members.n_cut, "statements of members").map(|more| format!("- {more}"));
            let members = members.iter().map(member).chain(more).collect::<Vec<String>>().join("\n");
            parts.push(format!("{OF_MEMBERS}\n{members}"));
        }
        if !self.unknown_pairs.is_empty() {
            parts.push(self.unknown_list(named));
        }
        if !others.is_empty() {
            parts.push(format!("{}\n{}", self.others.about, lines(&others)));
        }
        let n_more = self.n_statements - self.members.n_cut - self.statements.len();
        parts.extend(rest::not_shown(n_more, "statements"));
        parts.join("\n\n")
    }
}
