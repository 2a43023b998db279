//! Bringing a graph up to date, and putting it in order again.

use std::borrow::Cow;
use std::sync::Arc;

use contract::evidence::record::{Edge, Node, Record, Source, Strength};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::base::{Base, Heap, Loose, marked};
use super::nodes::{NodeEntry, NodeNumber, Nodes};
use super::overlay::{Added, Overlay};
use super::predicates::Leads;
use super::reach::Reach;
use super::words::Words;
use super::{Graph, GraphError, Sources};

/// What the graph needs of an edge. The record has more.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct EdgeHead<'a> {
    #[serde(borrow)]
    pub id: Cow<'a, str>,
    #[serde(borrow)]
    pub subject: Cow<'a, str>,
    #[serde(borrow)]
    pub predicate: Cow<'a, str>,
    #[serde(borrow)]
    pub object: Cow<'a, str>,
    #[serde(default)]
    pub strength: Option<Strength>,
    #[serde(default, rename = "qualifiers")]
    pub marks: Marks,
    #[serde(borrow)]
    pub source: Cow<'a, str>,
}

/// What the graph knows of the qualifiers of an edge. Values of other types are somebody's own affair.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Marks {
    /// Whether somebody compared it with its source; absent where the source makes no statement of that.
    pub verified: Option<bool>,
    pub is_critical: bool,
}

impl Marks {
    fn new(verified: Option<&Value>, severity: Option<&Value>) -> Marks {
        let verified = verified.and_then(Value::as_bool);
        // What nobody compared with its source makes nothing critical, whoever says so.
        let is_critical = severity.and_then(Value::as_str) == Some("critical") && verified != Some(false);
        Marks { verified, is_critical }
    }
}

impl<'de> Deserialize<'de> for Marks {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Marks, D::Error> {
        #[derive(Deserialize)]
        struct Qualifiers {
            #[serde(default)]
            verified: Option<Value>,
            #[serde(default)]
            severity: Option<Value>,
        }
        let qualifiers = Qualifiers::deserialize(deserializer)?;
        Ok(Marks::new(qualifiers.verified.as_ref(), qualifiers.severity.as_ref()))
    }
}

impl<'a> From<&'a Edge> for EdgeHead<'a> {
    fn from(edge: &'a Edge) -> EdgeHead<'a> {
        EdgeHead {
            id: (&edge.id).into(),
            subject: (&edge.subject).into(),
            predicate: (&edge.predicate).into(),
            object: (&edge.object).into(),
            strength: edge.strength,
            marks: Marks::new(edge.qualifiers.get("verified"), edge.qualifiers.get("severity")),
            source: (&edge.source).into(),
        }
    }
}

impl EdgeHead<'_> {
    pub fn into_owned(self) -> EdgeHead<'static> {
        let owned = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        EdgeHead {
            id: owned(self.id),
            subject: owned(self.subject),
            predicate: owned(self.predicate),
            object: owned(self.object),
            strength: self.strength,
            marks: self.marks,
            source: owned(self.source),
        }
    }
}

/// Everything between two change numbers, each record once and as it is in the end.
#[derive(Debug, Default)]
pub struct Changes {
    pub sources: Vec<Source>,
    pub nodes: Vec<Node>,
    pub edges: Vec<EdgeHead<'static>>,
    pub gone_nodes: Vec<String>,
    pub gone_edges: Vec<String>,
    /// The change number afterwards.
    pub version: i64,
}

/// A graph that is read from the beginning: sources, then nodes, then edges.
#[derive(Debug, Default)]
pub struct Loading {
    nodes: Nodes,
    predicates: Words,
    sources: Sources,
    heap: Heap,
}

impl Loading {
    pub fn source(&mut self, source: &Source) {
        self.sources.put(source);
    }

    pub fn node(&mut self, node: &Node) {
        let source = self.sources.intern(&node.source);
        self.nodes.put(&NodeEntry::new(node, source));
    }

    pub fn edge(&mut self, edge: &EdgeHead<'_>) -> Result<(), GraphError> {
        let loose = Loose {
            subject: self.nodes.intern(&edge.subject),
            predicate: self.predicates.intern(&edge.predicate),
            object: self.nodes.intern(&edge.object),
            source: self.sources.intern(&edge.source),
            marks: marked(edge.strength, edge.marks),
            id: (0, 0),
        };
        self.heap.push(loose, &edge.id)
    }

    /// Puts everything in order. Takes a second per few million edges.
    pub fn finish(self, version: i64) -> Result<Graph, GraphError> {
        let Loading { nodes, predicates, sources, mut heap } = self;
        let (mut nodes, new_nodes) = nodes.sorted();
        nodes.keep_ids_of_absent();
        let (predicates, new_predicates) = sorted(&predicates);
        let of = |numbers: &[u32], old: u32| numbers.get(super::words::index(old)).copied().unwrap_or_default();
        for edge in &mut heap.edges {
            edge.subject = of(&new_nodes, edge.subject);
            edge.object = of(&new_nodes, edge.object);
            edge.predicate = of(&new_predicates, edge.predicate);
        }
        let base = Base::build(nodes.len(), heap)?;
        let reach = Reach::of(&base, &nodes);
        Ok(Graph {
            version,
            nodes: Arc::new(nodes),
            leads: Arc::new(Leads::of(&predicates)),
            predicates: Arc::new(predicates),
            sources: Arc::new(sources),
            base: Arc::new(base),
            reach: Arc::new(reach),
            overlay: Arc::default(),
        })
    }
}

/// The words in their order, and the new number of each.
fn sorted(words: &Words) -> (Words, Vec<u32>) {
    let mut texts: Vec<&str> = words.all().iter().map(|text| &**text).collect();
    texts.sort_unstable();
    let mut ordered = Words::default();
    for text in texts {
        ordered.intern(text);
    }
    let numbers = words.all().iter().map(|text| ordered.find(text).unwrap_or_default()).collect();
    (ordered, numbers)
}

impl Graph {
    /// A graph of records that nobody keeps, such as the answer of another server.
    pub fn of(records: &[Record]) -> Result<Graph, GraphError> {
        let mut loading = Loading::default();
        for record in records {
            match record {
                Record::Source(source) => loading.source(source),
                Record::Node(node) => loading.node(node),
                Record::Edge(_) | Record::Document(_) | Record::Deletion(_) => {}
            }
        }
        for record in records {
            if let Record::Edge(edge) = record {
                loading.edge(&EdgeHead::from(edge))?;
            }
        }
        loading.finish(0)
    }

    /// Takes in what changed. Parts that nobody else holds are changed in place.
    pub fn apply(&mut self, changes: &Changes) {
        if !changes.sources.is_empty() {
            let sources = Arc::make_mut(&mut self.sources);
            for source in &changes.sources {
                sources.put(source);
            }
        }
        for id in &changes.gone_edges {
            self.remove_edge(id);
        }
        for id in &changes.gone_nodes {
            Arc::make_mut(&mut self.nodes).remove(id);
            self.note_reach(id);
        }
        for node in &changes.nodes {
            let source = Arc::make_mut(&mut self.sources).intern(&node.source);
            Arc::make_mut(&mut self.nodes).put(&NodeEntry::new(node, source));
            self.note_reach(&node.id);
        }
        for edge in &changes.edges {
            self.put_edge(edge);
        }
        self.version = changes.version;
    }

    /// Edges of the base may end at what a node is from now on.
    fn note_reach(&mut self, id: &str) {
        if let Some(node) = self.nodes.number(id) {
            Arc::make_mut(&mut self.reach).note(&self.base, node, self.nodes.set(node));
        }
    }

    fn put_edge(&mut self, edge: &EdgeHead<'_>) {
        self.remove_edge(&edge.id);
        let (subject, object) = (self.number(&edge.subject), self.number(&edge.object));
        let predicate = match self.predicates.find(&edge.predicate) {
            Some(predicate) => predicate,
            None => {
                let predicate = Arc::make_mut(&mut self.predicates).intern(&edge.predicate);
                self.leads = Arc::new(Leads::of(&self.predicates));
                predicate
            }
        };
        let source = match self.sources.find(&edge.source) {
            Some(source) => source,
            None => Arc::make_mut(&mut self.sources).intern(&edge.source),
        };
        let id = Arc::from(&*edge.id);
        let marks = marked(edge.strength, edge.marks);
        Arc::make_mut(&mut self.overlay).add(Added { subject, predicate, object, source, marks, id });
    }

    /// The nodes are copied only for an id that was never met.
    fn number(&mut self, id: &str) -> NodeNumber {
        self.nodes.number(id).unwrap_or_else(|| Arc::make_mut(&mut self.nodes).intern(id))
    }

    fn remove_edge(&mut self, id: &str) {
        let overlay: &mut Overlay = Arc::make_mut(&mut self.overlay);
        if overlay.take_back(id) {
            return;
        }
        let Some(place) = self.base.find(id) else { return };
        if let Some((subject, _, object)) = self.base.statement(place) {
            overlay.remove(place, subject, object);
        }
    }

    /// How many edges are not as the base has them.
    pub fn n_loose(&self) -> usize {
        self.overlay.n_added() + self.overlay.n_removed()
    }

    /// The same graph with everything in the base.
    pub fn compacted(&self) -> Result<Graph, GraphError> {
        let mut heap = Heap::default();
        let n_places = u32::try_from(self.base.n_edges()).map_err(|_| GraphError::TooLarge)?;
        // Walks the rows, which is cheaper than to ask each place for its statement.
        for subject in 0..self.nodes.len() {
            for (predicate, start, ends) in self.base.out.segments(subject) {
                for (place, object) in (start..n_places).zip(ends) {
                    if !self.overlay.is_removed(place) {
                        let (id, kept) = self.base.edge(place);
                        let (source, marks) = (kept.source, kept.marks);
                        let loose = Loose { subject, predicate, object: *object, source, marks, id: (0, 0) };
                        heap.push(loose, id)?;
                    }
                }
            }
        }
        for edge in self.overlay.edges() {
            let Added { subject, predicate, object, source, marks, .. } = *edge;
            heap.push(Loose { subject, predicate, object, source, marks, id: (0, 0) }, &edge.id)?;
        }
        let loading = Loading {
            nodes: (*self.nodes).clone(),
            predicates: (*self.predicates).clone(),
            sources: (*self.sources).clone(),
            heap,
        };
        loading.finish(self.version)
    }
}
