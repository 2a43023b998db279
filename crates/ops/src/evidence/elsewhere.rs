//! What another server says of things, together with what is recorded here. Ids of our own mean nothing there: a thing is
//! asked about by the ids that others have for it, and what is said under these is told of it by what makes them one here.

use std::sync::Arc;

use contract::error::{Kind, OpError};
use contract::evidence::record::{Edge, Node, RecordKind};
use evidence::graph::Graph;
use evidence::network;
use evidence::record::read;
use evidence::resolve::{Unresolved, resolve};
use evidence::rest;
use store::StoreError;

use super::look;
use crate::context::Context;
use crate::knowledge::KnowledgeFound;
use crate::operation::store_error;

const NO_ANSWER: &str = "The TRAPI endpoint could not be asked: this is what is recorded here alone.";
const NOT_WHOLE: &str = "The TRAPI endpoint told of errors, or sent more than is read: it may know of more than this.";
/// Ids that a server is asked about one thing by, and nodes of the thing whose ids are looked at.
const CURIES_MAX: usize = 10;
const NODES_MAX: usize = 20;
const CURIE_BYTES_MAX: usize = 200;
/// Things that a note names.
const NAMED_MAX: usize = 10;

/// The record, and what was said elsewhere.
pub struct Joined {
    pub graph: Arc<Graph>,
    pub said: Elsewhere,
}

pub struct Elsewhere {
    answer: Answer,
    /// What nobody was asked about, in the words of the caller.
    not_asked: Vec<String>,
}

enum Answer {
    /// Nobody is to be asked, or there was nothing to ask by.
    Nobody,
    /// The edges that the record does not have.
    Edges {
        edges: Vec<Edge>,
        is_whole: bool,
    },
    None,
}

/// Asks about things by what others call them, where somebody is to be asked.
pub async fn join(ctx: &Context<'_>, graph: Arc<Graph>, words: &[String]) -> Result<Joined, OpError> {
    let mut said = Elsewhere { answer: Answer::Nobody, not_asked: Vec::new() };
    let Some(knowledge) = &ctx.services().knowledge else { return Ok(Joined { graph, said }) };
    let mut curies: Vec<String> = Vec::new();
    for word in words {
        let of_thing = curies_of(ctx, &graph, word).await?;
        if of_thing.is_empty() && !said.not_asked.contains(word) {
            said.not_asked.push(word.clone());
        }
        for curie in of_thing {
            if !curies.contains(&curie) {
                curies.push(curie);
            }
        }
    }
    if curies.is_empty() {
        return Ok(Joined { graph, said });
    }
    match knowledge.about(&curies).await {
        Ok(KnowledgeFound { records, is_whole }) => {
            let (graph, edges) = look(ctx, &graph, move |graph| graph.joined(records)).await?;
            said.answer = Answer::Edges { edges, is_whole };
            Ok(Joined { graph: Arc::new(graph), said })
        }
        Err(error) => {
            tracing::warn!(error = %error, "The TRAPI endpoint did not answer; the record does");
            said.answer = Answer::None;
            Ok(Joined { graph, said })
        }
    }
}

/// The ids by which others may know what a word means here, the caller's own first. What means nothing here is asked about as
/// it was written, where it is an id at all.
async fn curies_of(ctx: &Context<'_>, graph: &Graph, word: &str) -> Result<Vec<String>, OpError> {
    let meant = match resolve(graph, word, None) {
        Ok(meant) => meant,
        Err(Unresolved::Unknown { .. }) => return Ok(is_curie(word).then(|| word.to_owned()).into_iter().collect()),
        Err(Unresolved::OtherKind { .. } | Unresolved::Ambiguous { .. }) => return Ok(Vec::new()),
    };
    let thing = network::one_thing(graph, &meant.nodes());
    let ids: Vec<&str> = thing.iter().take(NODES_MAX).map(|node| graph.nodes().id(*node)).collect();
    let organisation_id = ctx.actor().organisation_id.as_str();
    let mut reader = ctx.read().await?;
    let stored = read::find(&mut reader, organisation_id, RecordKind::Node, &ids).await.map_err(store_error)?;
    let records = stored.iter().map(|it| it.parse::<Node>()).collect::<Result<Vec<_>, StoreError>>();
    let records = records.map_err(store_error)?;
    // In the order of the thing's nodes: the ones that were meant come first.
    let records = ids.iter().filter_map(|id| records.iter().find(|it| it.id == *id));
    let recorded = records.flat_map(|it| std::iter::once(&it.id).chain(&it.same_as).map(String::as_str));
    // A code that several things have is none that what is said under it could be told of one of them by.
    let is_its_own = |curie: &&str| {
        resolve(graph, curie, None).is_ok_and(|found| found.nodes().iter().all(|node| thing.contains(node)))
    };
    let mut curies: Vec<String> = Vec::new();
    for curie in std::iter::once(word).chain(recorded).filter(|it| is_curie(it)).filter(is_its_own) {
        if curies.len() < CURIES_MAX && !curies.iter().any(|known| known == curie) {
            curies.push(curie.to_owned());
        }
    }
    Ok(curies)
}

/// A prefix and an id in it, and no address.
fn is_curie(text: &str) -> bool {
    let Some((prefix, id)) = text.split_once(':') else { return false };
    let is_prefix = prefix.starts_with(|first: char| first.is_ascii_alphabetic())
        && prefix.chars().all(|letter| letter.is_ascii_alphanumeric() || "._-".contains(letter));
    let is_id =
        !id.is_empty() && !id.starts_with("//") && !id.contains(|it: char| it.is_whitespace() || it.is_control());
    is_prefix && is_id && text.len() <= CURIE_BYTES_MAX
}

impl Elsewhere {
    /// What is missing, in words.
    pub fn notes(&self) -> Vec<String> {
        let lacking = match &self.answer {
            Answer::None => Some(NO_ANSWER.to_owned()),
            Answer::Edges { is_whole: false, .. } => Some(NOT_WHOLE.to_owned()),
            Answer::Edges { is_whole: true, .. } | Answer::Nobody => None,
        };
        let ticked: Vec<String> = self.not_asked.iter().map(|word| network::ticked(word)).collect();
        let not_asked = (!ticked.is_empty()).then(|| {
            format!(
                "The TRAPI endpoint was not asked about {}: no id by which others know it is recorded here.",
                rest::first(&ticked, NAMED_MAX)
            )
        });
        lacking.into_iter().chain(not_asked).collect()
    }

    /// A name that means nothing here, or several things. What is unknown here may be known to whoever did not answer.
    pub fn unresolved(&self, field: &str, error: &Unresolved) -> OpError {
        if matches!((&self.answer, error), (Answer::None, Unresolved::Unknown { .. })) {
            let message = format!("{error}, and the TRAPI endpoint could not be asked");
            return OpError::new(Kind::Upstream, message).advising(&error.advice());
        }
        super::unresolved(field, error)
    }

    /// Whether whoever was to be asked answered.
    pub fn is_answered(&self) -> bool {
        !matches!(self.answer, Answer::None)
    }

    /// How many statements there are, and whose word that is.
    pub fn told(&self, n_statements: usize) -> String {
        let of_record = match n_statements {
            0 => "no statement is recorded".to_owned(),
            n => format!("{n} statements in the record"),
        };
        let elsewhere = match &self.answer {
            Answer::Nobody => "",
            Answer::None => "; the TRAPI endpoint could not be asked",
            Answer::Edges { is_whole: false, .. } => "; the TRAPI endpoint may have more",
            Answer::Edges { edges, .. } if edges.is_empty() || n_statements == 0 => "; the TRAPI endpoint has no other",
            Answer::Edges { .. } => " and at the TRAPI endpoint",
        };
        of_record + elsewhere
    }

    pub fn into_edges(self) -> Vec<Edge> {
        match self.answer {
            Answer::Edges { edges, .. } => edges,
            Answer::Nobody | Answer::None => Vec::new(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_of_others_has_a_prefix_and_is_no_address() {
        for (text, expected) in [
            ("DRUGBANK:DB00682", true),
            ("ICD10:J00", true),
            ("warfarin", false),
            ("https://example.org/1", false),
            ("a word: another", false),
            (":1", false),
            ("1:1", false),
        ] {
            assert_eq!(is_curie(text), expected, "{text}");
        }
    }
}
