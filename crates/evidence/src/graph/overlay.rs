//! What changed since the base was put in order.

use std::collections::HashMap;
use std::sync::Arc;

use rustc_hash::{FxHashMap, FxHashSet};

use super::Direction;
use super::base::{Place, verified};
use super::nodes::NodeNumber;
use super::words::index;

/// An edge that is not in the base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Added {
    pub subject: NodeNumber,
    pub predicate: u32,
    pub object: NodeNumber,
    pub source: u32,
    pub marks: u8,
    pub id: Arc<str>,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Overlay {
    /// Edges of the base that are no more, or are in `added` with other content.
    removed: FxHashSet<Place>,
    edges: Vec<Option<Added>>,
    by_id: HashMap<Arc<str>, u32>,
    out: FxHashMap<NodeNumber, Vec<u32>>,
    into: FxHashMap<NodeNumber, Vec<u32>>,
    /// Nodes at one of whose ends something was removed.
    touched: FxHashSet<NodeNumber>,
    has_verified: bool,
}

impl Overlay {
    pub fn n_added(&self) -> usize {
        self.by_id.len()
    }

    pub fn n_removed(&self) -> usize {
        self.removed.len()
    }

    pub fn is_empty(&self) -> bool {
        self.by_id.is_empty() && self.removed.is_empty()
    }

    /// Whether a node's edges are others than in the base.
    pub fn is_about(&self, node: NodeNumber) -> bool {
        let at = [&self.out, &self.into].iter().any(|edges| edges.contains_key(&node));
        at || self.touched.contains(&node)
    }

    pub fn is_removed(&self, place: Place) -> bool {
        self.removed.contains(&place)
    }

    pub fn edge(&self, number: u32) -> Option<&Added> {
        self.edges.get(index(number))?.as_ref()
    }

    pub fn edges(&self) -> impl Iterator<Item = &Added> {
        self.edges.iter().flatten()
    }

    pub fn added(&self, node: NodeNumber, direction: Direction) -> impl Iterator<Item = u32> {
        let edges = match direction {
            Direction::Out => &self.out,
            Direction::In => &self.into,
        };
        edges.get(&node).into_iter().flatten().copied()
    }

    /// Whether somebody compared any edge that was ever added with its source.
    pub fn has_verified(&self) -> bool {
        self.has_verified
    }

    pub fn add(&mut self, edge: Added) {
        self.has_verified |= verified(edge.marks) == Some(true);
        let number = u32::try_from(self.edges.len()).unwrap_or(u32::MAX);
        self.out.entry(edge.subject).or_default().push(number);
        self.into.entry(edge.object).or_default().push(number);
        self.by_id.insert(Arc::clone(&edge.id), number);
        self.edges.push(Some(edge));
    }

    /// Takes back an edge that was added. `false` if none of this id was.
    pub fn take_back(&mut self, id: &str) -> bool {
        let Some(number) = self.by_id.remove(id) else { return false };
        let Some(edge) = self.edges.get_mut(index(number)).and_then(Option::take) else { return false };
        for (edges, node) in [(&mut self.out, edge.subject), (&mut self.into, edge.object)] {
            if let Some(numbers) = edges.get_mut(&node) {
                numbers.retain(|other| *other != number);
            }
        }
        true
    }

    pub fn remove(&mut self, place: Place, subject: NodeNumber, object: NodeNumber) {
        self.removed.insert(place);
        self.touched.extend([subject, object]);
    }

    pub fn size_bytes(&self) -> usize {
        let ids: usize = self.edges().map(|edge| edge.id.len() + 16).sum();
        let edges = self.edges.capacity() * size_of::<Option<Added>>();
        let lists = (self.out.len() + self.into.len()) * 48 + self.edges.len() * 8;
        ids + edges + lists + self.by_id.capacity() * 32 + (self.removed.capacity() + self.touched.capacity()) * 5
    }
}
