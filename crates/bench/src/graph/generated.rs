//! A graph with a long tail of degrees, the same for every run: a few nodes have most of the edges, as in real ones.

use std::collections::HashSet;

use contract::evidence::record::{Edge, Name, Node, Record, Source};

pub const KINDS: [&str; 5] = ["herb", "constituent", "gene", "disease", "drug"];
pub const N_PREDICATES: usize = 25;
const SOURCE: &str = "generated";

/// Numbers that look random and are the same everywhere (SplitMix64).
pub struct Numbers(u64);

impl Numbers {
    pub fn new(seed: u64) -> Numbers {
        Numbers(seed)
    }

    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        let n = u64::try_from(n.max(1)).unwrap_or(u64::MAX);
        usize::try_from(self.next() % n).unwrap_or_default()
    }

    /// Small numbers often, large ones seldom: the density falls with the square root.
    fn skewed(&mut self, n: usize) -> usize {
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a draw"
        )]
        {
            let share = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
            ((n as f64 * share * share) as usize).min(n.saturating_sub(1))
        }
    }
}

/// Subject, predicate and object, each by its number among its kind.
pub struct Generated {
    pub n_per_kind: usize,
    /// By predicate.
    pub edges: Vec<Vec<(usize, usize)>>,
}

pub fn predicate(number: usize) -> String {
    format!("p{number:02}")
}

/// Predicates lead from each kind to the next; five of them between any two.
pub fn ends(predicate: usize) -> (&'static str, &'static str) {
    let from = predicate % KINDS.len();
    (KINDS[from], KINDS[(from + 1) % KINDS.len()])
}

pub fn node_id(kind: &str, number: usize) -> String {
    format!("{kind}:{number}")
}

impl Generated {
    pub fn new(n_nodes: usize, n_edges: usize) -> Generated {
        let n_per_kind = n_nodes / KINDS.len();
        let edges = (0..N_PREDICATES).map(|predicate| {
            let mut numbers = Numbers::new(u64::try_from(predicate).unwrap_or_default());
            let mut seen = HashSet::new();
            while seen.len() < n_edges / N_PREDICATES {
                // Which nodes are the popular ones differs from predicate to predicate.
                let shift = |number: usize| (number * 7_919 + predicate * 104_729) % n_per_kind;
                seen.insert((shift(numbers.skewed(n_per_kind)), shift(numbers.skewed(n_per_kind))));
            }
            let mut edges: Vec<(usize, usize)> = seen.into_iter().collect();
            edges.sort_unstable();
            edges
        });
        Generated { n_per_kind, edges: edges.collect() }
    }

    pub fn source() -> Record {
        let (id, title, licence) = (SOURCE.to_owned(), "Generated".to_owned(), "CC0-1.0".to_owned());
        Record::Source(Source { id, title, licence, uri: None, notice: None, version: None })
    }

    pub fn nodes(&self) -> impl Iterator<Item = Record> {
        KINDS.iter().flat_map(move |kind| (0..self.n_per_kind).map(move |number| node(kind, number)))
    }

    /// `round` keeps the ids of several graphs over the same nodes apart.
    pub fn records(&self, round: usize) -> impl Iterator<Item = Record> {
        self.edges.iter().enumerate().flat_map(move |(number, edges)| {
            let (from, to) = ends(number);
            edges.iter().map(move |(subject, object)| {
                Record::Edge(Edge {
                    id: format!("{round}-{number}-{subject}-{object}"),
                    subject: node_id(from, *subject),
                    predicate: predicate(number),
                    object: node_id(to, *object),
                    strength: None,
                    evidence: Vec::new(),
                    qualifiers: Default::default(),
                    source: SOURCE.to_owned(),
                })
            })
        })
    }
}

fn node(kind: &str, number: usize) -> Record {
    Record::Node(Node {
        id: node_id(kind, number),
        categories: vec![kind.to_owned()],
        names: vec![Name { text: format!("{kind} number {number}"), lang: "en".to_owned() }],
        description: None,
        same_as: Vec::new(),
        attributes: Default::default(),
        source: SOURCE.to_owned(),
    })
}
