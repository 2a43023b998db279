//! What is said beside an answer so that it is not read as more than it is: few or no paths do not mean that nothing is
//! known. Most interactions are written of classes, and a pattern that begins with one drug does not find those.

use std::collections::HashSet;

use contract::evidence::graph::QueryKgOutput;

use crate::graph::predicates::{denies, holds_both_ways};
use crate::graph::walk::Filter;
use crate::graph::{Direction, Graph, NodeNumber};
use crate::network::quoted;
use crate::network::stated::{self, Stated};
use crate::rest;

pub(super) const INTERACTS: &str = "interacts_with";

/// Classes and ways to ask that a note names.
const CLASSES_SHOWN_MAX: usize = 5;
const PATTERNS_SHOWN_MAX: usize = 3;

/// That there are no paths, and what that does not mean.
pub(super) fn nothing(output: &QueryKgOutput, has_pattern: bool) -> String {
    let way = if has_pattern { "along this pattern" } else { "along statements that lead from the start" };
    let nothing = match output.truncated {
        None => format!("Nothing is recorded {way}."),
        Some(_) => format!("Nothing was found {way} before the search ended."),
    };
    format!("{nothing} That does not mean that there is nothing.")
}

/// Without a pattern edges are followed in their direction alone, and of what a thing is at the other end nothing is told:
/// which statements those are, and how to ask for them.
pub(super) fn not_followed(graph: &Graph, start: NodeNumber, nodes: &[NodeNumber], filter: &Filter) -> Option<String> {
    let predicates = graph.predicates();
    let is_left_out = |predicate: &u32| {
        let text = predicates.text(*predicate);
        let is_wanted = filter.predicates.as_ref().is_none_or(|wanted| wanted.iter().any(|it| it == text));
        let is_met = || nodes.iter().any(|node| graph.has_hop(*node, Direction::In, *predicate));
        is_wanted && !holds_both_ways(text) && !denies(text) && is_met()
    };
    let left_out = (0..predicates.n_words()).filter(is_left_out).map(|predicate| predicates.text(predicate));
    let kind = word(graph.nodes().kind(start));
    let mut patterns: Vec<String> = left_out.map(|text| format!("`{kind} <-{}- *`", word(text))).collect();
    patterns.sort_unstable();
    patterns.dedup();
    (!patterns.is_empty()).then(|| {
        let patterns = rest::first(&patterns, PATTERNS_SHOWN_MAX);
        format!("Statements that point to the start were not followed. Ask {patterns}.")
    })
}

/// Any predicate is any but denials, which are no way from one thing to another: that the start has some, and how to ask for
/// them.
pub(super) fn denied(graph: &Graph, start: NodeNumber, nodes: &[NodeNumber], direction: Direction) -> Option<String> {
    let predicates = graph.predicates();
    let is_met = |predicate: &u32| {
        let is_met = |node: &NodeNumber| graph.has_hop(*node, direction, *predicate);
        denies(predicates.text(*predicate)) && nodes.iter().any(is_met)
    };
    let kind = word(graph.nodes().kind(start));
    let mut patterns: Vec<String> = (0..predicates.n_words())
        .filter(is_met)
        .map(|predicate| predicates.text(predicate))
        // A word that a pattern cannot say plainly would ask for any but denials again.
        .filter(|text| word(text) == *text)
        .map(|text| match direction {
            Direction::Out => format!("`{kind} -{text}-> *`"),
            Direction::In => format!("`{kind} <-{text}- *`"),
        })
        .collect();
    patterns.sort_unstable();
    (!patterns.is_empty()).then(|| {
        let patterns = rest::first(&patterns, PATTERNS_SHOWN_MAX);
        format!("Statements that deny something were left out. Ask {patterns}.")
    })
}

/// Interactions of the start and of what it belongs to or is made of that are on none of the paths, and how to ask for
/// them.
pub(super) fn not_among(
    graph: &Graph,
    starts: &[NodeNumber],
    filter: &Filter,
    output: &QueryKgOutput,
) -> Option<String> {
    let interacts = graph.predicates().find(INTERACTS)?;
    let shown = pairs(output);
    let passes = filter.edges(graph);
    let mut stated = stated::of_wider(graph, starts, interacts);
    for it in &mut stated {
        let id = graph.nodes().id(it.node);
        // Several edges of a pair are one hop; but one that the filter leaves out is not in it.
        it.hops.retain(|hop| !(shown.contains(&(id, graph.nodes().id(hop.end))) && passes(hop.edge)));
    }
    stated.retain(|it| !it.hops.is_empty());
    // Stable: what is nearest stays first among equals.
    stated.sort_by_key(|it| gravity(graph, it));
    if stated.is_empty() {
        return None;
    }
    let is_itself = |it: &&Stated| it.way.is_empty() && it.same_by.is_empty();
    let (own, wider): (Vec<&Stated>, Vec<&Stated>) = stated.iter().partition(is_itself);
    let own = own.iter().map(|_| "itself".to_owned()).take(1);
    let named = |it: &&Stated| {
        let same = match it.same_by.as_slice() {
            [] => String::new(),
            by => {
                let by: Vec<String> = by.iter().map(|source| quoted::word(graph.sources().id(*source))).collect();
                let [_, start] = quoted::label_and_id(graph, it.start);
                format!(", {start} is said to be the same by {}", by.join(", "))
            }
        };
        let grave = match gravity(graph, it) {
            Gravity::Critical => ", critical",
            Gravity::Capped if same.is_empty() => ", at most major: nobody verified that it belongs there",
            Gravity::Capped => ", at most major: nobody verified that",
            Gravity::Other => "",
        };
        let [label, id] = quoted::label_and_id(graph, it.node);
        format!("{label} ({id}{same}{grave})")
    };
    let told: Vec<String> = own.chain(wider.iter().map(named)).collect();
    let n_shown = told.len() - wider.len() + CLASSES_SHOWN_MAX;
    let mut patterns: Vec<String> = Vec::new();
    for pattern in stated.iter().map(|it| pattern(graph, it)) {
        if patterns.len() < PATTERNS_SHOWN_MAX && !patterns.contains(&pattern) {
            patterns.push(pattern);
        }
    }
    Some(format!(
        "Not among these paths: `{INTERACTS}` statements about the start or what it belongs to or contains: {}. Ask {}.",
        rest::first(&told, n_shown),
        patterns.join(", ")
    ))
}

/// The ids of those that interact on a path, in both orders.
fn pairs(output: &QueryKgOutput) -> HashSet<(&str, &str)> {
    let mut pairs = HashSet::new();
    for path in output.paths.iter() {
        let mut before = None;
        for node in path {
            let is_interaction = node.via.as_ref().is_some_and(|via| via.predicate == INTERACTS);
            if let Some(before) = before.filter(|_| is_interaction) {
                pairs.extend([(before, node.id), (node.id, before)]);
            }
            before = Some(node.id);
        }
    }
    pairs
}

/// The gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Gravity {
    Critical,
    /// Critical of those that it is stated of, but the way to them is not checked as well.
    Capped,
    Other,
}

/// Of the gravest of the statements.
fn gravity(graph: &Graph, stated: &Stated) -> Gravity {
    let critical = stated.hops.iter().map(|hop| hop.edge).filter(|edge| graph.edge_is_critical(*edge));
    let gravity = critical.map(|edge| {
        let is_carried = stated.checked.carries(graph.edge_verified(edge).into());
        if is_carried { Gravity::Critical } else { Gravity::Capped }
    });
    gravity.min().unwrap_or(Gravity::Other)
}

/// The pattern that finds the statements, and the start where it is another than was asked for.
fn pattern(graph: &Graph, stated: &Stated) -> String {
    let kind = |node: NodeNumber| word(graph.nodes().kind(node));
    let mut pattern = format!("`{}", kind(stated.start));
    for (predicate, direction, end) in &stated.way {
        let (predicate, end) = (word(graph.predicates().text(*predicate)), kind(*end));
        pattern.push_str(&match direction {
            Direction::Out => format!(" -{predicate}-> {end}"),
            Direction::In => format!(" <-{predicate}- {end}"),
        });
    }
    let from = if stated.same_by.is_empty() {
        String::new()
    } else {
        format!(" from {}", quoted::word(graph.nodes().id(stated.start)))
    };
    pattern + &format!(" -{INTERACTS}-> *`{from}")
}

/// A type or predicate as a pattern can say it; any where it cannot be written plainly.
fn word(word: &str) -> &str {
    let is_plain = !word.is_empty() && word.chars().all(|it| it.is_ascii_alphanumeric() || it == '_');
    if is_plain { word } else { "*" }
}
