//! The paths of an answer. What paths begin with in common is kept once and all texts lie in one piece, so that an answer is
//! three pieces of memory however many paths it has. In JSON it is a list of lists of [`PathNode`].

use std::collections::BTreeMap;

use serde::ser::SerializeSeq as _;
use serde::{Serialize, Serializer};

use super::{PathNode, Via};
use crate::evidence::checked::Checked;
use crate::evidence::record::{RetractedReference, SameAs, Strength};

/// No path is longer.
const NODES_MAX: usize = super::DEPTH_MAX as usize + 1;

/// A text of an answer, by its place among all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Text {
    start: u32,
    n_bytes: u32,
}

/// A node on one or more paths, and how they came there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Step {
    pub id: Text,
    pub kind: Text,
    pub label: Text,
    /// Of a start that was not asked for.
    pub same_as: Option<StepSame>,
    pub via: Option<StepVia>,
}

/// What a start is said to be, and by whom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepSame {
    pub id: Text,
    pub source: Text,
    pub verified: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StepVia {
    /// The number of the step that the paths came from.
    pub from: u32,
    pub predicate: Text,
    pub reverse: bool,
    pub edge_id: Text,
    pub source: Text,
    pub strength: Option<Strength>,
    pub critical: bool,
    pub verified: Option<bool>,
    /// How well it is checked, where it leads from a thing to what it is, belongs to or is made of, or back.
    pub leads: Option<Checked>,
}

impl StepVia {
    fn checked(&self) -> Checked {
        self.verified.into()
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Paths {
    texts: String,
    steps: Vec<Step>,
    /// The last step of each path.
    ends: Vec<u32>,
    /// What is said against the documents behind edges, by the ids of these. Mostly nothing is.
    retracted: BTreeMap<String, Vec<RetractedReference>>,
}

impl Paths {
    pub fn with_capacity(n_paths: usize, n_steps: usize, n_bytes: usize) -> Paths {
        Paths {
            texts: String::with_capacity(n_bytes),
            steps: Vec::with_capacity(n_steps),
            ends: Vec::with_capacity(n_paths),
            retracted: BTreeMap::new(),
        }
    }

    /// Tells what edges rest on that does not stand, by their ids.
    pub fn set_retracted(&mut self, retracted: BTreeMap<String, Vec<RetractedReference>>) {
        self.retracted = retracted;
    }

    /// Keeps a text.
    #[inline]
    pub fn text(&mut self, text: &str) -> Text {
        let start = number(self.texts.len());
        self.texts.push_str(text);
        Text { start, n_bytes: number(text.len()) }
    }

    /// Keeps two texts that stand together; the first has so many bytes.
    #[inline]
    pub fn two_texts(&mut self, both: &str, n_first: usize) -> (Text, Text) {
        let all = self.text(both);
        let n_first = number(n_first).min(all.n_bytes);
        let second = Text { start: all.start + n_first, n_bytes: all.n_bytes - n_first };
        (Text { n_bytes: n_first, ..all }, second)
    }

    /// Steps are numbered from 0 on.
    #[inline]
    pub fn push_step(&mut self, step: Step) {
        self.steps.push(step);
    }

    /// A path that ends with this step.
    #[inline]
    pub fn push_path(&mut self, last_step: u32) {
        self.ends.push(last_step);
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    pub fn iter(&self) -> impl ExactSizeIterator<Item = impl DoubleEndedIterator<Item = PathNode<'_>>> {
        self.ends.iter().map(|end| self.path(*end))
    }

    /// Leaves these paths, by their places, in this order.
    pub fn keep(&mut self, places: &[usize]) {
        self.ends = places.iter().filter_map(|place| self.ends.get(*place).copied()).collect();
    }

    fn path(&self, end: u32) -> impl DoubleEndedIterator<Item = PathNode<'_>> {
        let mut way = [None; NODES_MAX];
        let mut next = self.step(end);
        for place in way.iter_mut().rev() {
            let Some(step) = next else { break };
            *place = Some(step);
            next = step.via.and_then(|via| self.step(via.from));
        }
        let steps = way.iter().flatten();
        let same = steps.clone().filter_map(|step| step.same_as).map(|same| Checked::of_identity(same.verified));
        let weakest = same.chain(steps.filter_map(|step| step.via?.leads)).min().unwrap_or(Checked::Verified);
        way.into_iter().flatten().map(move |step| self.node(step, weakest))
    }

    fn step(&self, number: u32) -> Option<&Step> {
        self.steps.get(usize::try_from(number).ok()?)
    }

    fn told(&self, text: Text) -> &str {
        let start = usize::try_from(text.start).unwrap_or(usize::MAX);
        let n_bytes = usize::try_from(text.n_bytes).unwrap_or(usize::MAX);
        self.texts.get(start..start.saturating_add(n_bytes)).unwrap_or_default()
    }

    /// A step of a path whose identities and memberships are checked like this.
    fn node(&self, step: &Step, way: Checked) -> PathNode<'_> {
        let via = step.via.as_ref().map(|via| Via {
            predicate: self.told(via.predicate),
            reverse: via.reverse,
            edge_id: self.told(via.edge_id),
            source: self.told(via.source),
            strength: via.strength,
            critical: via.critical && way.carries(via.checked()),
            capped: via.critical && !way.carries(via.checked()),
            verified: via.verified == Some(true),
            retracted: self.retracted.get(self.told(via.edge_id)).map(Vec::as_slice).unwrap_or_default(),
        });
        let same_as = step.same_as.map(|same| SameAs {
            id: self.told(same.id).into(),
            source: self.told(same.source).into(),
            verified: same.verified,
        });
        PathNode { id: self.told(step.id), kind: self.told(step.kind), label: self.told(step.label), same_as, via }
    }
}

/// No answer comes near four gigabytes.
fn number(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

impl Serialize for Paths {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut paths = serializer.serialize_seq(Some(self.len()))?;
        for path in self.iter() {
            paths.serialize_element(&path.collect::<Vec<PathNode<'_>>>())?;
        }
        paths.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_that_begin_alike_are_written_in_full() {
        let mut paths = Paths::default();
        let (id, label) = paths.two_texts("H1ขิง", 2);
        let kind = paths.text("herb");
        paths.push_step(Step { id, kind, label, same_as: None, via: None });
        for end in ["C1", "C2"] {
            let id = paths.text(end);
            let [predicate, edge_id, source] = ["contains", "E", "s"].map(|text| paths.text(text));
            let (reverse, strength, critical, verified, leads) = (false, Some(Strength::Low), false, None, None);
            let via = StepVia { from: 0, predicate, reverse, edge_id, source, strength, critical, verified, leads };
            paths.push_step(Step { id, kind: Text::default(), label: id, same_as: None, via: Some(via) });
        }
        paths.push_path(1);
        paths.push_path(2);
        let node = |id: &str| {
            format!(
                r#"{{"id":"{id}","type":"","label":"{id}","via":{{"predicate":"contains","edge_id":"E","source":"s","strength":"low","verified":false}}}}"#
            )
        };
        let start = r#"{"id":"H1","type":"herb","label":"ขิง"}"#;
        let expected = format!("[[{start},{}],[{start},{}]]", node("C1"), node("C2"));
        assert_eq!(serde_json::to_string(&paths).unwrap(), expected);
    }
}
