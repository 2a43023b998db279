//! The edges as they were when the graph was last put in order: compressed rows in both directions, never changed.
//!
//! An edge's place is its position among all edges sorted by subject, predicate, object, gravity and id, so the outgoing row
//! needs nothing but the objects. A row is cut into one segment per predicate, and each segment is sorted by the other end.

use contract::evidence::record::Strength;

use super::GraphError;
use super::changes::Marks;
use super::nodes::NodeNumber;
use super::words::index;

/// The place of an edge in the base.
pub type Place = u32;

/// An edge before it has a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Loose {
    pub subject: NodeNumber,
    pub predicate: u32,
    pub object: NodeNumber,
    pub source: u32,
    pub marks: u8,
    /// Where its id begins in the text of all ids, and its length.
    pub id: (u32, u32),
}

/// Edges on their way into a base.
#[derive(Debug, Default)]
pub(super) struct Heap {
    pub edges: Vec<Loose>,
    ids: String,
}

impl Heap {
    pub fn push(&mut self, edge: Loose, id: &str) -> Result<(), GraphError> {
        let start = u32::try_from(self.ids.len()).map_err(|_| GraphError::TooLarge)?;
        let n_bytes = u32::try_from(id.len()).map_err(|_| GraphError::TooLarge)?;
        self.ids.push_str(id);
        self.edges.push(Loose { id: (start, n_bytes), ..edge });
        Ok(())
    }

    fn id(&self, edge: &Loose) -> &str {
        let start = index(edge.id.0);
        self.ids.get(start..start + index(edge.id.1)).unwrap_or_default()
    }
}

/// Strength in one byte.
pub(super) fn packed(strength: Option<Strength>) -> u8 {
    match strength {
        None => 0,
        Some(Strength::Low) => 1,
        Some(Strength::Moderate) => 2,
        Some(Strength::High) => 3,
    }
}

const CRITICAL: u8 = 1 << 4;

/// Strength, whether the source was compared with it, and whether it is critical, in one byte.
pub(super) fn marked(strength: Option<Strength>, marks: Marks) -> u8 {
    let verified = match marks.verified {
        None => 0,
        Some(true) => 1,
        Some(false) => 2,
    };
    packed(strength) | verified << 2 | if marks.is_critical { CRITICAL } else { 0 }
}

/// How grave a statement is, by its marks: what is critical before what is not, the stronger before the weaker, and of equals
/// what somebody verified.
pub(super) fn gravity(marks: u8) -> u8 {
    u8::from(is_critical(marks)) << 3 | (marks & 3) << 1 | u8::from(verified(marks) == Some(true))
}

pub(super) fn is_critical(marks: u8) -> bool {
    marks & CRITICAL != 0
}

pub(super) fn verified(marks: u8) -> Option<bool> {
    match (marks >> 2) & 3 {
        1 => Some(true),
        2 => Some(false),
        _ => None,
    }
}

pub(super) fn unpacked(marks: u8) -> Option<Strength> {
    match marks & 3 {
        1 => Some(Strength::Low),
        2 => Some(Strength::Moderate),
        3 => Some(Strength::High),
        _ => None,
    }
}

/// The rows of one direction.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Rows {
    /// Where a node's row begins among the other ends; one more at the end.
    pub starts: Vec<u32>,
    /// Where a node's segments begin; one more at the end.
    pub segment_starts: Vec<u32>,
    /// Predicate of a segment, and where it begins.
    pub segments: Vec<(u32, u32)>,
    pub ends: Vec<NodeNumber>,
}

impl Rows {
    /// Edges as (node, predicate, other end), sorted.
    fn build(n_nodes: u32, edges: impl Iterator<Item = (NodeNumber, u32, NodeNumber)>, n_edges: usize) -> Rows {
        let mut rows = Rows {
            starts: Vec::with_capacity(index(n_nodes) + 1),
            segment_starts: Vec::with_capacity(index(n_nodes) + 1),
            segments: Vec::new(),
            ends: Vec::with_capacity(n_edges),
        };
        let mut last = None;
        for (node, predicate, end) in edges {
            rows.open_to(node);
            let at = u32::try_from(rows.ends.len()).unwrap_or(u32::MAX);
            if last != Some((node, predicate)) {
                rows.segments.push((predicate, at));
                last = Some((node, predicate));
            }
            rows.ends.push(end);
        }
        rows.open_to(n_nodes);
        rows.segments.shrink_to_fit();
        rows
    }

    /// Begins the rows of all nodes up to this one.
    fn open_to(&mut self, node: NodeNumber) {
        while self.starts.len() <= index(node) {
            self.starts.push(u32::try_from(self.ends.len()).unwrap_or(u32::MAX));
            self.segment_starts.push(u32::try_from(self.segments.len()).unwrap_or(u32::MAX));
        }
    }

    /// The segments of a node, as (predicate, place of the first, other ends).
    pub fn segments(&self, node: NodeNumber) -> impl Iterator<Item = (u32, Place, &[NodeNumber])> {
        let (cut, end) = self.cut(node);
        let ends = cut.iter().skip(1).map(|(_, start)| *start).chain([end]);
        cut.iter().zip(ends).map(|((predicate, start), end)| (*predicate, *start, self.slice(*start, end)))
    }

    /// The place of the first and the other ends under one predicate.
    pub fn segment(&self, node: NodeNumber, predicate: u32) -> (Place, &[NodeNumber]) {
        let (cut, row_end) = self.cut(node);
        let Ok(at) = cut.binary_search_by_key(&predicate, |(predicate, _)| *predicate) else { return (0, &[]) };
        let start = cut.get(at).map_or(0, |(_, start)| *start);
        let end = cut.get(at + 1).map_or(row_end, |(_, start)| *start);
        (start, self.slice(start, end))
    }

    /// Reads where the rows of nodes begin under a predicate, step by step for all of them: one after the other, each step
    /// would wait for the memory it lies in.
    pub fn touch(&self, nodes: impl Iterator<Item = NodeNumber> + Clone, predicate: u32) {
        let at = |starts: &[u32], at: usize| starts.get(at).copied().unwrap_or_default();
        let segment = |node| self.segments.get(index(at(&self.segment_starts, index(node)))).map_or(0, |it| it.0);
        let end = |node| self.segment(node, predicate).1.first().copied().unwrap_or_default();
        std::hint::black_box(nodes.clone().map(|node| self.touched(node)).fold(0, |all, one| all ^ one));
        std::hint::black_box(nodes.clone().map(segment).fold(0, |all, one| all ^ one));
        std::hint::black_box(nodes.map(end).fold(0, |all, one| all ^ one));
    }

    /// Reads where a node's row and its segments stand.
    #[inline]
    pub fn touched(&self, node: NodeNumber) -> u32 {
        let at = |starts: &[u32], at: usize| starts.get(at).copied().unwrap_or_default();
        at(&self.segment_starts, index(node)) ^ at(&self.starts, index(node) + 1)
    }

    fn cut(&self, node: NodeNumber) -> (&[(u32, u32)], u32) {
        let at = index(node);
        let (Some(from), Some(to), Some(end)) =
            (self.segment_starts.get(at), self.segment_starts.get(at + 1), self.starts.get(at + 1))
        else {
            return (&[], 0);
        };
        (self.segments.get(index(*from)..index(*to)).unwrap_or_default(), *end)
    }

    fn slice(&self, start: u32, end: u32) -> &[NodeNumber] {
        self.ends.get(index(start)..index(end)).unwrap_or_default()
    }

    /// Whether the parts can belong together.
    pub fn is_sound(&self, n_nodes: u32, n_edges: usize) -> bool {
        let rows = index(n_nodes) + 1;
        let ends_at = |starts: &[u32], n: usize| starts.last().is_none_or(|last| index(*last) == n);
        self.ends.len() == n_edges
            && (self.starts.len() == rows || (n_edges == 0 && self.starts.is_empty()))
            && self.segment_starts.len() == self.starts.len()
            && self.starts.is_sorted()
            && self.segment_starts.is_sorted()
            && ends_at(&self.starts, n_edges)
            && ends_at(&self.segment_starts, self.segments.len())
            && self.segments.is_sorted_by_key(|(_, start)| *start)
            && self.ends.iter().all(|end| *end < n_nodes)
    }

    fn size_bytes(&self) -> usize {
        4 * (self.starts.len() + self.segment_starts.len() + self.ends.len()) + 8 * self.segments.len()
    }
}

/// What is kept of an edge beside its ends, in twelve bytes that an answer reads together.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Kept {
    /// Where its id ends in the text of all ids. It begins where that of the place before ends.
    pub id_end: u32,
    pub source: u32,
    pub marks: u8,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Base {
    pub out: Rows,
    pub into: Rows,
    /// The place of each edge of `into`.
    pub into_places: Vec<Place>,
    /// By place.
    pub edges: Vec<Kept>,
    pub ids: String,
    /// The places in the order of their ids.
    pub by_id: Vec<Place>,
}

impl Base {
    pub fn build(n_nodes: u32, mut heap: Heap) -> Result<Base, GraphError> {
        let mut edges = std::mem::take(&mut heap.edges);
        let n_edges = u32::try_from(edges.len()).map_err(|_| GraphError::TooLarge)?;
        edges.sort_unstable_by(|a, b| {
            let key = |edge: &Loose| (edge.subject, edge.predicate, edge.object);
            let graver_first = || gravity(b.marks).cmp(&gravity(a.marks));
            key(a).cmp(&key(b)).then_with(graver_first).then_with(|| heap.id(a).cmp(heap.id(b)))
        });
        let out = Rows::build(n_nodes, edges.iter().map(|it| (it.subject, it.predicate, it.object)), edges.len());
        let mut base = Base { out, ids: String::with_capacity(heap.ids.len()), ..Base::default() };
        base.edges.reserve_exact(edges.len());
        for edge in &edges {
            base.ids.push_str(heap.id(edge));
            let id_end = u32::try_from(base.ids.len()).map_err(|_| GraphError::TooLarge)?;
            base.edges.push(Kept { id_end, source: edge.source, marks: edge.marks });
        }
        drop(heap);
        let mut inward: Vec<(NodeNumber, u32, NodeNumber, Place)> =
            edges.iter().zip(0..).map(|(it, place)| (it.object, it.predicate, it.subject, place)).collect();
        drop(edges);
        inward.sort_unstable();
        base.into = Rows::build(n_nodes, inward.iter().map(|(to, by, from, _)| (*to, *by, *from)), inward.len());
        base.into_places = inward.iter().map(|(_, _, _, place)| *place).collect();
        drop(inward);
        let mut by_id: Vec<Place> = (0..n_edges).collect();
        by_id.sort_unstable_by(|a, b| base.id(*a).cmp(base.id(*b)));
        base.by_id = by_id;
        Ok(base)
    }

    pub fn n_edges(&self) -> usize {
        self.edges.len()
    }

    pub fn id(&self, place: Place) -> &str {
        self.edge(place).0
    }

    /// The id of an edge, and what else is kept of it.
    #[inline]
    pub fn edge(&self, place: Place) -> (&str, Kept) {
        let kept = self.edges.get(index(place)).copied().unwrap_or_default();
        let before = place.checked_sub(1).and_then(|before| self.edges.get(index(before)));
        let start = before.map_or(0, |before| before.id_end);
        (self.ids.get(index(start)..index(kept.id_end)).unwrap_or_default(), kept)
    }

    /// What [`super::Graph::touch`] reads of an edge first, and then.
    #[inline]
    pub fn touched(&self, place: Place) -> u32 {
        self.edges.get(index(place)).map_or(0, |kept| kept.source)
    }

    #[inline]
    pub fn touched_id(&self, place: Place) -> u8 {
        let end = self.edges.get(index(place)).map_or(0, |kept| kept.id_end);
        self.ids.as_bytes().get(index(end)).copied().unwrap_or_default()
    }

    pub fn find(&self, id: &str) -> Option<Place> {
        let at = self.by_id.binary_search_by(|place| self.id(*place).cmp(id)).ok()?;
        self.by_id.get(at).copied()
    }

    /// Subject, predicate and object of a place.
    pub fn statement(&self, place: Place) -> Option<(NodeNumber, u32, NodeNumber)> {
        let object = *self.out.ends.get(index(place))?;
        let row = self.out.starts.partition_point(|start| *start <= place).checked_sub(1)?;
        let subject = u32::try_from(row).ok()?;
        let segment = self.out.segments.partition_point(|(_, start)| *start <= place).checked_sub(1)?;
        Some((subject, self.out.segments.get(segment)?.0, object))
    }

    pub fn is_sound(&self, n_nodes: u32) -> bool {
        let n = self.n_edges();
        self.out.is_sound(n_nodes, n)
            && self.into.is_sound(n_nodes, n)
            && [self.into_places.len(), self.by_id.len()] == [n; 2]
            && self.into_places.iter().chain(&self.by_id).all(|place| index(*place) < n)
            && self.edges.is_sorted_by_key(|edge| edge.id_end)
            && self.edges.iter().all(|edge| self.ids.is_char_boundary(index(edge.id_end)))
    }

    pub fn size_bytes(&self) -> usize {
        let columns = 4 * (self.into_places.len() + self.by_id.len()) + size_of::<Kept>() * self.edges.len();
        self.out.size_bytes() + self.into.size_bytes() + columns + self.ids.len()
    }
}
