//! The graph in memory: what the record says of nodes and edges, ready to be walked.
//!
//! An immutable base in compressed rows, and a small overlay of what changed since. Which of the two an edge is in never
//! shows: the order of neighbours is that of predicate, id of the other end, gravity and id of the edge, so two processes that hold
//! the same version answer alike, whenever each of them last put its base in order.

mod base;
mod changes;
mod joined;
pub mod live;
pub mod names;
mod nodes;
mod overlay;
pub mod pattern;
pub mod predicates;
mod reach;
mod same;
mod snapshot;
#[cfg(test)]
mod tests;
pub mod walk;
mod words;

use std::sync::Arc;

use contract::evidence::record::{Source, Strength};
use store::StoreError;

use base::Base;
use overlay::Overlay;
use predicates::Leads;
use reach::Reach;

pub use changes::{Changes, EdgeHead, Marks};
pub use nodes::{Named, NodeNumber, Nodes, label};
pub use same::{Said, Same};
pub use words::Words;

#[derive(Debug, thiserror::Error)]
pub enum GraphError {
    #[error("the record could not be read")]
    Store(#[source] StoreError),
    #[error("the graph has more edges or longer ids than fit into memory")]
    TooLarge,
    #[error("the graph does not know of change {0} yet")]
    Behind(i64),
    #[error("the graph is still being read; {0}")]
    Unavailable(&'static str),
}

/// The graph of one organisation at one change number.
#[derive(Debug, Clone, Default)]
pub struct Graph {
    version: i64,
    nodes: Arc<Nodes>,
    predicates: Arc<Words>,
    leads: Arc<Leads>,
    sources: Arc<Sources>,
    base: Arc<Base>,
    reach: Arc<Reach>,
    overlay: Arc<Overlay>,
}

/// Where statements come from, and under which licence.
#[derive(Debug, Clone, Default)]
pub struct Sources {
    ids: Words,
    licences: Vec<Arc<str>>,
    /// Empty where the source has none.
    versions: Vec<Arc<str>>,
}

impl Sources {
    fn put(&mut self, source: &Source) {
        let number = words::index(self.intern(&source.id));
        if let Some(place) = self.licences.get_mut(number) {
            *place = source.licence.as_str().into();
        }
        if let Some(place) = self.versions.get_mut(number) {
            *place = source.version.as_deref().unwrap_or_default().into();
        }
    }

    fn intern(&mut self, id: &str) -> u32 {
        let number = self.ids.intern(id);
        let n_sources = words::index(self.ids.n_words());
        self.licences.resize(n_sources, "".into());
        self.versions.resize(n_sources, "".into());
        number
    }

    pub fn id(&self, number: u32) -> &str {
        self.ids.text(number)
    }

    pub fn find(&self, id: &str) -> Option<u32> {
        self.ids.find(id)
    }

    pub fn words(&self) -> &Words {
        &self.ids
    }

    pub fn licence(&self, number: u32) -> &str {
        self.licences.get(words::index(number)).map_or("", |licence| licence)
    }

    /// The version of a source, where it is known and has one.
    pub fn version(&self, id: &str) -> Option<&str> {
        let version = self.versions.get(words::index(self.find(id)?))?;
        Some(version.as_ref()).filter(|version| !version.is_empty())
    }
}

/// Along an edge or against it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Direction {
    Out,
    In,
}

impl Direction {
    pub fn back(self) -> Direction {
        match self {
            Direction::Out => Direction::In,
            Direction::In => Direction::Out,
        }
    }
}

/// An edge, wherever it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EdgeRef {
    /// Among the outgoing edges of the base.
    Out(u32),
    /// Among the incoming edges of the base.
    In(u32),
    Added(u32),
}

/// What is kept of an edge beside its ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EdgeKept<'g> {
    pub id: &'g str,
    pub source: u32,
    marks: u8,
}

impl EdgeKept<'_> {
    pub fn strength(&self) -> Option<Strength> {
        base::unpacked(self.marks)
    }

    /// Whether somebody compared the statement with its source; `None` where the source makes no statement of that.
    pub fn verified(&self) -> Option<bool> {
        base::verified(self.marks)
    }

    /// The higher, the graver.
    pub fn gravity(&self) -> u8 {
        base::gravity(self.marks)
    }

    /// Whether the statement is one of those that nobody may overlook, by a rule of its source.
    pub fn is_critical(&self) -> bool {
        base::is_critical(self.marks)
    }
}

/// A step to a neighbour.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hop {
    pub end: NodeNumber,
    pub predicate: u32,
    pub edge: EdgeRef,
}

impl Graph {
    /// The change number this graph is at.
    pub fn version(&self) -> i64 {
        self.version
    }

    pub fn nodes(&self) -> &Nodes {
        &self.nodes
    }

    pub fn predicates(&self) -> &Words {
        &self.predicates
    }

    /// Those of the predicates along which what is said of one end holds for the other.
    pub fn leads(&self) -> &Leads {
        &self.leads
    }

    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    pub fn n_edges(&self) -> usize {
        self.base.n_edges() + self.overlay.n_added() - self.overlay.n_removed()
    }

    pub fn edge_id(&self, edge: EdgeRef) -> &str {
        self.edge(edge).id
    }

    pub fn edge_source(&self, edge: EdgeRef) -> u32 {
        self.edge(edge).source
    }

    pub fn edge_strength(&self, edge: EdgeRef) -> Option<Strength> {
        self.edge(edge).strength()
    }

    /// Whether somebody compared the statement with its source; `None` where the source makes no statement of that.
    pub fn edge_verified(&self, edge: EdgeRef) -> Option<bool> {
        self.edge(edge).verified()
    }

    /// Whether any statement may be one that somebody compared with its source.
    pub fn has_verified(&self) -> bool {
        self.reach.has_verified || self.overlay.has_verified()
    }

    /// Whether the statement is one of those that nobody may overlook, by a rule of its source.
    pub fn edge_is_critical(&self, edge: EdgeRef) -> bool {
        self.edge(edge).is_critical()
    }

    /// Reads what is about to be told of nodes and the edges to them. Telling one waits for the memory it lies in; reading many
    /// waits for all of them at once.
    pub fn touch(&self, told: impl Iterator<Item = (NodeNumber, Option<EdgeRef>)> + Clone) {
        let place = |edge: Option<EdgeRef>| edge.and_then(|edge| self.placed(edge).ok());
        let first = |(node, edge)| self.nodes.touched(node) ^ place(edge).map_or(0, |place| self.base.touched(place));
        let then =
            |(node, edge)| self.nodes.touched_text(node) ^ place(edge).map_or(0, |place| self.base.touched_id(place));
        std::hint::black_box(told.clone().map(first).fold(0, |all, one| all ^ one));
        std::hint::black_box(told.map(then).fold(0, |all, one| all ^ one));
    }

    /// Reads where everything begins that a question about a node looks at: see [`Graph::touch`].
    pub fn touch_start(&self, node: NodeNumber) {
        let rows = [Direction::Out, Direction::In].map(|direction| self.rows(direction).touched(node));
        std::hint::black_box((self.nodes.touched_start(node), rows));
    }

    /// What is kept of an edge beside its ends.
    #[inline]
    pub fn edge(&self, edge: EdgeRef) -> EdgeKept<'_> {
        match self.placed(edge) {
            Ok(place) => {
                let (id, kept) = self.base.edge(place);
                EdgeKept { id, source: kept.source, marks: kept.marks }
            }
            Err(added) => self.overlay.edge(added).map_or(EdgeKept { id: "", source: 0, marks: 0 }, |edge| EdgeKept {
                id: &edge.id,
                source: edge.source,
                marks: edge.marks,
            }),
        }
    }

    /// Whether an edge leads to this end or comes from it.
    pub fn direction(&self, edge: EdgeRef, end: NodeNumber) -> Direction {
        match edge {
            EdgeRef::Out(_) => Direction::Out,
            EdgeRef::In(_) => Direction::In,
            EdgeRef::Added(added) => match self.overlay.edge(added) {
                Some(edge) if edge.object == end => Direction::Out,
                Some(_) | None => Direction::In,
            },
        }
    }

    /// The place in the base, or the number in the overlay.
    fn placed(&self, edge: EdgeRef) -> Result<u32, u32> {
        match edge {
            EdgeRef::Out(place) => Ok(place),
            EdgeRef::In(at) => Ok(self.base.into_places.get(words::index(at)).copied().unwrap_or(u32::MAX)),
            EdgeRef::Added(added) => Err(added),
        }
    }

    fn rows(&self, direction: Direction) -> &base::Rows {
        match direction {
            Direction::Out => &self.base.out,
            Direction::In => &self.base.into,
        }
    }

    /// The neighbours of a node, to nodes that are there, in the order of predicate, id and edge.
    pub fn hops(&self, node: NodeNumber, direction: Direction, predicate: Option<u32>) -> Vec<Hop> {
        let mut hops = self.all_hops(node, direction, predicate);
        hops.retain(|hop| self.nodes.is_there(hop.end));
        hops
    }

    /// Those that were withdrawn while edges still name them.
    pub fn withdrawn_ends(&self, node: NodeNumber, direction: Direction, predicate: u32) -> Vec<NodeNumber> {
        let ends = self.all_hops(node, direction, Some(predicate)).into_iter().map(|hop| hop.end);
        ends.filter(|end| !self.nodes.is_there(*end)).collect()
    }

    /// Whether this was the id of a node, in whatever case, that was withdrawn while edges still name it.
    pub fn is_withdrawn(&self, id: &str) -> bool {
        if self.nodes.find(id).is_some() {
            return false;
        }
        let is_named = |direction, node| !self.all_hops(node, direction, None).is_empty();
        self.nodes.absent_with_id(id).any(|node| is_named(Direction::Out, node) || is_named(Direction::In, node))
    }

    /// Whether a node has such a neighbour.
    pub fn has_hop(&self, node: NodeNumber, direction: Direction, predicate: u32) -> bool {
        if self.overlay.is_about(node) {
            return !self.hops(node, direction, Some(predicate)).is_empty();
        }
        self.ends(node, direction, predicate).iter().any(|end| self.nodes.is_there(*end))
    }

    /// Base and overlay together. Ends may be nodes that were withdrawn.
    fn all_hops(&self, node: NodeNumber, direction: Direction, predicate: Option<u32>) -> Vec<Hop> {
        let mut hops = Vec::new();
        self.base_hops(node, direction, predicate, &mut hops);
        if !self.overlay.is_about(node) {
            return hops;
        }
        hops.retain(|hop| self.placed(hop.edge).is_ok_and(|place| !self.overlay.is_removed(place)));
        for added in self.overlay.added(node, direction) {
            let Some(edge) = self.overlay.edge(added) else { continue };
            if predicate.is_none_or(|predicate| predicate == edge.predicate) {
                let end = if direction == Direction::Out { edge.object } else { edge.subject };
                hops.push(Hop { end, predicate: edge.predicate, edge: EdgeRef::Added(added) });
            }
        }
        self.sort(&mut hops);
        hops
    }

    /// Puts hops in the order of predicate, id of the other end, gravity and id of the edge: of several edges that say the same,
    /// a walk takes the first.
    fn sort(&self, hops: &mut [Hop]) {
        hops.sort_unstable_by(|a, b| {
            self.predicates
                .text(a.predicate)
                .cmp(self.predicates.text(b.predicate))
                .then_with(|| self.nodes.id(a.end).cmp(self.nodes.id(b.end)))
                .then_with(|| self.edge(b.edge).gravity().cmp(&self.edge(a.edge).gravity()))
                .then_with(|| self.edge_id(a.edge).cmp(self.edge_id(b.edge)))
        });
    }

    fn base_hops(&self, node: NodeNumber, direction: Direction, predicate: Option<u32>, hops: &mut Vec<Hop>) {
        let rows = self.rows(direction);
        let mut add = |predicate: u32, start: u32, ends: &[NodeNumber]| {
            hops.extend((start..).zip(ends).map(|(at, end)| {
                let edge = if direction == Direction::Out { EdgeRef::Out(at) } else { EdgeRef::In(at) };
                Hop { end: *end, predicate, edge }
            }));
        };
        match predicate {
            Some(predicate) => {
                let (start, ends) = rows.segment(node, predicate);
                add(predicate, start, ends);
            }
            None => rows.segments(node).for_each(|(predicate, start, ends)| add(predicate, start, ends)),
        }
    }

    /// The other ends of a node's edges under a predicate, as the base has them: for whoever measures the walk.
    pub fn ends(&self, node: NodeNumber, direction: Direction, predicate: u32) -> &[NodeNumber] {
        self.rows(direction).segment(node, predicate).1
    }

    /// About how much memory the graph takes.
    pub fn size_bytes(&self) -> usize {
        self.base.size_bytes() + self.nodes.size_bytes() + self.predicates.size_bytes() + self.overlay.size_bytes()
    }
}
