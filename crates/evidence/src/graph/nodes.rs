//! The nodes: ids, types, labels and names, by a number each.

mod heads;

use std::collections::HashMap;
use std::sync::Arc;

use contract::evidence::record::Node;
use contract::evidence::starter::is_own_source;
use rustc_hash::FxHashMap;
use serde_json::Value;

use super::names::{self, NameHash};
use super::words::{ByText, Words, index};

pub(super) use heads::Heads;

/// The number of a node within one graph. It means nothing outside of it.
pub type NodeNumber = u32;

/// The set of categories of what is no node at the moment: an end of an edge whose node was withdrawn.
pub(super) const NOTHING: u32 = 0;

#[derive(Debug, Clone)]
pub struct Nodes {
    pub(super) heads: Heads,
    /// The node's categories, by the number of their set.
    pub(super) sets: Vec<u32>,
    pub(super) names: Vec<Box<[NameHash]>>,
    /// Of the id, of a node that is there.
    pub(super) id_hashes: Vec<NameHash>,
    /// Whether nobody else has the node's id for a name or an id. Where it is not known, it is not so.
    is_alone: Vec<bool>,
    /// Of the other ids that the node's record says it has.
    pub(super) same: Vec<Box<[OtherId]>>,
    /// Whether somebody compared what the node's record says with its source.
    pub(super) verified: Vec<bool>,
    /// So many nodes, from the first on, are in the order of their ids.
    pub(super) n_sorted: u32,
    pub(super) categories: Words,
    /// Each set in the order the record has it: the first category is the node's type.
    pub(super) category_sets: Vec<Box<[u32]>>,
    set_numbers: HashMap<Box<[u32]>, u32>,
    by_id: ByText<NodeNumber>,
    by_name: FxHashMap<NameHash, Vec<NodeNumber>>,
}

impl Default for Nodes {
    fn default() -> Nodes {
        let nothing: Box<[u32]> = Box::default();
        Nodes {
            heads: Heads::default(),
            sets: Vec::new(),
            names: Vec::new(),
            id_hashes: Vec::new(),
            is_alone: Vec::new(),
            same: Vec::new(),
            verified: Vec::new(),
            n_sorted: 0,
            categories: Words::default(),
            category_sets: vec![nothing.clone()],
            set_numbers: HashMap::from([(nothing, NOTHING)]),
            by_id: ByText::default(),
            by_name: FxHashMap::default(),
        }
    }
}

/// What an answer tells of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Told<'g> {
    /// The id and behind it the label; the id alone where it is the label too.
    pub id_and_label: &'g str,
    /// Bytes of the id.
    pub n_id: usize,
    /// The number of the first category.
    pub kind: u32,
    pub source: u32,
}

/// Nodes that a word is a name of, and those whose records say that it is another id of theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Named {
    pub by_name: Vec<NodeNumber>,
    pub by_other_id: Vec<NodeNumber>,
}

/// Another id of a node, as names are compared and as it is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct OtherId {
    pub hash: NameHash,
    pub exact: NameHash,
}

/// What the graph keeps of a node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NodeEntry<'a> {
    pub id: &'a str,
    pub label: &'a str,
    pub categories: Vec<&'a str>,
    pub source: u32,
    /// Of everything that it can be found by, ids among them.
    pub names: Box<[NameHash]>,
    pub id_hash: NameHash,
    /// Of its other ids.
    pub same: Box<[OtherId]>,
    pub is_verified: bool,
}

impl<'a> NodeEntry<'a> {
    pub fn new(node: &'a Node, source: u32) -> NodeEntry<'a> {
        let other_id = |id: &String| OtherId { hash: names::hash(id), exact: names::hash_exactly(id) };
        let same: Box<[OtherId]> = node.same_as.iter().map(other_id).collect();
        let mut hashes: Vec<NameHash> = node.names.iter().map(|name| names::hash(&name.text)).collect();
        hashes.extend(same.iter().map(|other| other.hash));
        // So that whoever calls it another id of theirs finds it, and whoever is called as its id says does not hide it.
        let id_hash = names::hash(&node.id);
        hashes.push(id_hash);
        hashes.sort_unstable();
        hashes.dedup();
        NodeEntry {
            id: &node.id,
            label: label(node),
            categories: node.categories.iter().map(String::as_str).collect(),
            source,
            names: hashes.into(),
            id_hash,
            same,
            // Nobody else can say so.
            is_verified: is_own_source(&node.source) && node.attributes.get("verified") == Some(&Value::Bool(true)),
        }
    }
}

/// Thai first, then English, then whatever there is.
pub fn label(node: &Node) -> &str {
    let of = |lang: &str| node.names.iter().find(|name| name.lang == lang);
    of("th").or_else(|| of("en")).or(node.names.first()).map_or(&node.id, |name| &name.text)
}

impl Nodes {
    pub fn len(&self) -> u32 {
        u32::try_from(self.heads.len()).unwrap_or(u32::MAX)
    }

    /// Every type that a node has or had.
    pub fn categories(&self) -> &Words {
        &self.categories
    }

    pub fn is_empty(&self) -> bool {
        self.heads.len() == 0
    }

    /// A node that is there at the moment.
    pub fn find(&self, id: &str) -> Option<NodeNumber> {
        self.by_id.get(id).copied().filter(|node| self.is_there(*node))
    }

    /// The number of an id that was ever met, whether its node is there or not.
    pub(super) fn number(&self, id: &str) -> Option<NodeNumber> {
        self.by_id.get(id).copied()
    }

    /// Nodes with this name, in any language, or with this other id; in the order of their ids.
    /// `by_id` is the one that [`Nodes::find`] has for it.
    pub fn find_named(&self, name: &str, by_id: Option<NodeNumber>) -> Named {
        // Whoever is found by the id has its hash already, and making one costs more than looking it up.
        let hash = by_id.and_then(|node| self.id_hashes.get(index(node)).copied());
        let hash = hash.unwrap_or_else(|| names::hash(name));
        let mut found: Vec<NodeNumber> = match by_id.filter(|node| self.is_alone(*node)) {
            Some(node) => vec![node],
            None => self.with_hash(hash).filter(|node| self.is_there(*node)).collect(),
        };
        found.sort_by(|a, b| self.id(*a).cmp(self.id(*b)));
        let (by_other_id, by_name) = found.into_iter().partition(|node| self.says_same(*node, hash));
        Named { by_name, by_other_id }
    }

    /// Nodes whose id is this word, in whatever case.
    pub fn with_id(&self, word: &str) -> Vec<NodeNumber> {
        let hash = names::hash(word);
        let with_id = self.with_hash(hash).filter(|node| self.id_hash(*node) == Some(hash) && self.is_there(*node));
        with_id.collect()
    }

    /// Nodes that have a name or the id of this one for a name or an id too, in the order of their ids.
    pub fn sharing_a_name(&self, node: NodeNumber) -> Vec<NodeNumber> {
        let names = self.names.get(index(node)).into_iter().flatten().copied();
        // Other ids are no names: a code may be given to several things.
        let names = names.filter(|hash| !self.says_same(node, *hash));
        let others = names.flat_map(|hash| self.with_hash(hash));
        let mut others: Vec<NodeNumber> = others.filter(|other| *other != node && self.is_there(*other)).collect();
        others.sort_by(|a, b| self.id(*a).cmp(self.id(*b)));
        others.dedup();
        others
    }

    /// Nodes that have this among their names and ids, in no order.
    pub(super) fn with_hash(&self, hash: NameHash) -> impl Iterator<Item = NodeNumber> {
        self.by_name.get(&hash).into_iter().flatten().copied()
    }

    /// Whether a node that is there is the only one that its id means: then nobody has to be looked for.
    #[inline]
    pub(super) fn is_alone(&self, node: NodeNumber) -> bool {
        self.is_alone.get(index(node)).copied().unwrap_or_default()
    }

    /// Notes that a node has a name or an id.
    fn add_name(&mut self, hash: NameHash, node: NodeNumber) {
        let named = self.by_name.entry(hash).or_default();
        named.push(node);
        if named.len() > 1 {
            for node in named {
                if self.id_hashes.get(index(*node)) == Some(&hash) {
                    set_at(&mut self.is_alone, index(*node), false);
                }
            }
        }
    }

    pub fn is_there(&self, node: NodeNumber) -> bool {
        self.set(node) != NOTHING
    }

    pub fn id(&self, node: NodeNumber) -> &str {
        self.heads.id(node)
    }

    pub fn label(&self, node: NodeNumber) -> &str {
        self.heads.label(node)
    }

    /// What an answer tells of a node that is there.
    #[inline]
    pub fn told(&self, node: NodeNumber) -> Told<'_> {
        let head = self.heads.head(node);
        let (id_and_label, n_id) = self.heads.texts(head);
        let (kind, source) = head.map_or((0, 0), |head| (head.kind, head.source));
        Told { id_and_label, n_id, kind, source }
    }

    /// What [`Graph::touch`] reads of a node first, and then.
    #[inline]
    pub(super) fn touched(&self, node: NodeNumber) -> u32 {
        self.source(node)
    }

    /// What [`Graph::touch_start`] reads of a node.
    #[inline]
    pub(super) fn touched_start(&self, node: NodeNumber) -> (u32, NameHash, bool, usize, u32) {
        let at = index(node);
        let id_hash = self.id_hashes.get(at).copied().unwrap_or_default();
        let n_same = self.same.get(at).map_or(0, |same| same.len());
        (self.set(node), id_hash, self.is_alone(node), n_same, self.source(node))
    }

    #[inline]
    pub(super) fn touched_text(&self, node: NodeNumber) -> u8 {
        self.heads.touched(node)
    }

    #[inline]
    pub(super) fn set(&self, node: NodeNumber) -> u32 {
        self.sets.get(index(node)).copied().unwrap_or(NOTHING)
    }

    pub fn source(&self, node: NodeNumber) -> u32 {
        self.heads.head(node).map_or(0, |head| head.source)
    }

    fn category_set(&self, node: NodeNumber) -> &[u32] {
        self.category_sets.get(index(self.set(node))).map_or(&[], |set| set)
    }

    /// The node's type: its first category.
    pub fn kind(&self, node: NodeNumber) -> &str {
        self.category_set(node).first().map_or("", |category| self.categories.text(*category))
    }

    pub fn is_a(&self, node: NodeNumber, category: &str) -> bool {
        let category = self.categories.find(category);
        category.is_some_and(|category| self.category_set(node).contains(&category))
    }

    /// For each set of categories, whether its nodes are of one of these; of `None`, whether they are nodes at all.
    pub(super) fn sets_of(&self, categories: Option<&[&str]>) -> Vec<bool> {
        let wanted = categories.map(|names| names.iter().filter_map(|it| self.categories.find(it)).collect::<Vec<_>>());
        let fits = |set: &[u32]| match &wanted {
            None => !set.is_empty(),
            Some(wanted) => set.iter().any(|category| wanted.contains(category)),
        };
        self.category_sets.iter().map(|set| fits(set)).collect()
    }

    /// The number of an id, which it gets when it is first met, as an end of an edge or as a node.
    pub(super) fn intern(&mut self, id: &str) -> NodeNumber {
        if let Some(number) = self.by_id.get(id) {
            return *number;
        }
        let (id, number): (Arc<str>, NodeNumber) = (id.into(), self.len());
        self.heads.push(&id, &id, 0, 0);
        self.by_id.insert(id, number);
        self.sets.push(NOTHING);
        self.names.push(Box::default());
        self.id_hashes.push(0);
        self.is_alone.push(false);
        self.same.push(Box::default());
        self.verified.push(false);
        number
    }

    /// Sets what a node is, whether it was there or not.
    pub(super) fn put(&mut self, entry: &NodeEntry<'_>) {
        let node = self.intern(entry.id);
        self.forget_names(node);
        let set: Box<[u32]> = entry.categories.iter().map(|category| self.categories.intern(category)).collect();
        let kind = set.first().copied().unwrap_or_default();
        let set = self.intern_set(set);
        let at = index(node);
        set_at(&mut self.id_hashes, at, entry.id_hash);
        // Until somebody else turns out to have the id too.
        set_at(&mut self.is_alone, at, true);
        for hash in &entry.names {
            self.add_name(*hash, node);
        }
        self.heads.set(node, entry.label, entry.source, kind);
        set_at(&mut self.sets, at, set);
        set_at(&mut self.names, at, entry.names.clone());
        set_at(&mut self.same, at, entry.same.clone());
        set_at(&mut self.verified, at, entry.is_verified);
    }

    /// The node is no more. Its number stays, for the edges that name it and in case it comes back, and so does its id.
    pub(super) fn remove(&mut self, id: &str) {
        let Some(node) = self.by_id.get(id).copied() else { return };
        set_at(&mut self.sets, index(node), NOTHING);
        self.keep_id(node);
    }

    /// Lets a node that is not there be found by its id alone, in whatever case.
    fn keep_id(&mut self, node: NodeNumber) {
        self.forget_names(node);
        let hash = names::hash(self.id(node));
        set_at(&mut self.id_hashes, index(node), hash);
        set_at(&mut self.is_alone, index(node), false);
        set_at(&mut self.names, index(node), Box::new([hash]));
        self.add_name(hash, node);
    }

    /// The same of all that edges name and that are not there.
    pub(super) fn keep_ids_of_absent(&mut self) {
        let absent: Vec<NodeNumber> = (0..self.len()).filter(|node| !self.is_there(*node)).collect();
        absent.into_iter().for_each(|node| self.keep_id(node));
    }

    /// Nodes that are not there and whose id is this word, in whatever case.
    pub(super) fn absent_with_id(&self, word: &str) -> impl Iterator<Item = NodeNumber> {
        self.with_hash(names::hash(word)).filter(|node| !self.is_there(*node))
    }

    fn forget_names(&mut self, node: NodeNumber) {
        let names = self.names.get_mut(index(node)).map(std::mem::take).unwrap_or_default();
        for hash in &names {
            if let Some(nodes) = self.by_name.get_mut(hash) {
                nodes.retain(|other| *other != node);
            }
        }
    }

    fn intern_set(&mut self, set: Box<[u32]>) -> u32 {
        if let Some(number) = self.set_numbers.get(&set) {
            return *number;
        }
        let number = u32::try_from(self.category_sets.len()).unwrap_or(u32::MAX);
        self.category_sets.push(set.clone());
        self.set_numbers.insert(set, number);
        number
    }

    /// The same nodes in the order of their ids, and the new number of each.
    pub(super) fn sorted(&self) -> (Nodes, Vec<NodeNumber>) {
        let mut order: Vec<NodeNumber> = (0..self.len()).collect();
        order.sort_unstable_by(|a, b| self.id(*a).cmp(self.id(*b)));
        let mut renumbered = vec![0; self.heads.len()];
        let mut nodes = Nodes {
            categories: self.categories.clone(),
            category_sets: self.category_sets.clone(),
            set_numbers: self.set_numbers.clone(),
            ..Nodes::default()
        };
        for old in order {
            let at = index(old);
            let (id, new, kind) = (self.id(old), nodes.len(), self.heads.head(old).map_or(0, |head| head.kind));
            if let Some(place) = renumbered.get_mut(at) {
                *place = new;
            }
            nodes.by_id.insert(id.into(), new);
            nodes.heads.push(id, self.label(old), self.source(old), kind);
            nodes.sets.push(self.set(old));
            nodes.names.push(self.names.get(at).cloned().unwrap_or_default());
            nodes.id_hashes.push(self.id_hashes.get(at).copied().unwrap_or_default());
            nodes.is_alone.push(self.is_there(old));
            nodes.same.push(self.same.get(at).cloned().unwrap_or_default());
            nodes.verified.push(self.verified.get(at).copied().unwrap_or_default());
        }
        nodes.n_sorted = nodes.len();
        nodes.index_names();
        (nodes, renumbered)
    }

    fn index_names(&mut self) {
        let names = std::mem::take(&mut self.names);
        for (node, hashes) in (0..).zip(&names) {
            hashes.iter().for_each(|hash| self.add_name(*hash, node));
        }
        self.names = names;
    }

    /// Puts nodes together from their columns, as a snapshot has them.
    pub(super) fn from_columns(columns: Columns<'_>) -> Option<Nodes> {
        let Columns { ids, labels, sets, sources, names, id_hashes, same, verified, categories, category_sets } =
            columns;
        let n = ids.len();
        let lengths =
            [labels.len(), sets.len(), sources.len(), names.len(), id_hashes.len(), same.len(), verified.len()];
        let fits = lengths == [n; 7];
        let has_sets = sets.iter().all(|set| index(*set) < category_sets.len());
        if !(fits && has_sets && category_sets.first().is_some_and(|nothing| nothing.is_empty())) {
            return None;
        }
        let mut words = Words::default();
        for category in &categories {
            words.intern(category);
        }
        let is_known = |set: &[u32]| set.iter().all(|category| *category < words.n_words());
        if !category_sets.iter().all(|set| is_known(set)) || !ids.is_sorted() {
            return None;
        }
        let mut heads = Heads::default();
        for (((id, label), source), set) in ids.iter().zip(&labels).zip(&sources).zip(&sets) {
            let kind = category_sets.get(index(*set)).and_then(|set| set.first().copied()).unwrap_or_default();
            heads.push(id, label, *source, kind);
        }
        let by_id = ids.iter().map(|id| Arc::from(*id)).zip(0..).collect();
        let set_numbers = category_sets.iter().cloned().zip(0..).collect();
        let n_sorted = u32::try_from(n).ok()?;
        let mut nodes = Nodes {
            heads,
            is_alone: sets.iter().map(|set| *set != NOTHING).collect(),
            sets,
            names,
            id_hashes,
            same,
            verified,
            n_sorted,
            categories: words,
            category_sets,
            set_numbers,
            by_id,
            by_name: FxHashMap::default(),
        };
        nodes.index_names();
        Some(nodes)
    }

    /// About how much memory the nodes take.
    pub fn size_bytes(&self) -> usize {
        let columns = self.heads.len() * (4 + 8 + 2 + 2 * size_of::<Box<[NameHash]>>());
        let names: usize = self.names.iter().map(|names| names.len() * 8).sum();
        let same: usize = self.same.iter().map(|same| same.len() * size_of::<OtherId>()).sum();
        let ids: usize = self.by_id.keys().map(|id| id.len() + 2 * size_of::<usize>()).sum();
        let by_id = ids + self.by_id.capacity() * (size_of::<Arc<str>>() + 9);
        let by_name = self.by_name.capacity() * 33 + self.by_name.values().map(|it| it.capacity() * 4).sum::<usize>();
        self.heads.size_bytes() + columns + names + same + by_id + by_name + self.categories.size_bytes()
    }
}

fn set_at<T>(column: &mut [T], at: usize, value: T) {
    if let Some(place) = column.get_mut(at) {
        *place = value;
    }
}

/// The columns of the nodes, in the order of their ids.
pub(super) struct Columns<'a> {
    pub ids: Vec<&'a str>,
    pub labels: Vec<&'a str>,
    pub sets: Vec<u32>,
    pub sources: Vec<u32>,
    pub names: Vec<Box<[NameHash]>>,
    pub id_hashes: Vec<NameHash>,
    pub same: Vec<Box<[OtherId]>>,
    pub verified: Vec<bool>,
    pub categories: Vec<&'a str>,
    pub category_sets: Vec<Box<[u32]>>,
}
