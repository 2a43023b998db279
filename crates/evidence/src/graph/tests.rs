//! The graph against a plain list of statements: whatever way it came to be, it must say the same.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use contract::evidence::record::{Name, Node, Source, Strength};
use proptest::prelude::*;

use super::changes::Loading;
use super::pattern::Pattern;
use super::walk::{Filter, Stop, Walk, Work};
use super::*;

fn seal() -> crate::sealing::Seal {
    crate::sealing::Sealing::new(&[[7; 32]]).of(snapshot::WHAT, &crate::sealing::Subject::default())
}

const KINDS: [&str; 3] = ["herb", "constituent", "indication"];
const PREDICATES: [&str; 4] = ["treats", "contains", "affects", "interacts_with"];

fn node(id: &str, kind: &str) -> Node {
    let names = vec![Name { text: format!("name of {id}"), lang: "en".to_owned() }];
    Node {
        id: id.to_owned(),
        categories: vec![kind.to_owned()],
        names,
        description: None,
        same_as: Vec::new(),
        attributes: BTreeMap::new(),
        source: "s".to_owned(),
    }
}

fn edge(id: &str, subject: &str, predicate: &str, object: &str, strength: Option<Strength>) -> EdgeHead<'static> {
    EdgeHead {
        id: id.to_owned().into(),
        subject: subject.to_owned().into(),
        predicate: predicate.to_owned().into(),
        object: object.to_owned().into(),
        strength,
        marks: Marks::default(),
        source: "s".into(),
    }
}

fn source() -> Source {
    let (id, title, licence) = ("s".to_owned(), "S".to_owned(), "CC0-1.0".to_owned());
    Source { id, title, licence, uri: None, notice: None, version: None }
}

/// What there is, in plain words.
#[derive(Debug, Clone, Default)]
struct Plain {
    nodes: BTreeMap<String, Node>,
    edges: BTreeMap<String, EdgeHead<'static>>,
}

/// One change: a node or edge that is put or withdrawn.
#[derive(Debug, Clone)]
enum Change {
    Node(u8, u8),
    GoneNode(u8),
    Edge(u8, u8, u8, u8, u8),
    GoneEdge(u8),
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        3 => (0..12_u8, 0..3_u8).prop_map(|(id, kind)| Change::Node(id, kind)),
        1 => (0..12_u8).prop_map(Change::GoneNode),
        8 => (0..40_u8, 0..12_u8, 0..4_u8, 0..12_u8, 0..4_u8).prop_map(|(id, s, p, o, x)| Change::Edge(id, s, p, o, x)),
        2 => (0..40_u8).prop_map(Change::GoneEdge),
    ]
}

impl Plain {
    fn apply(&mut self, change: &Change) -> Changes {
        let mut told = Changes::default();
        let kind = |kind: u8| KINDS[usize::from(kind) % 3];
        match *change {
            Change::Node(id, of) => {
                let node = node(&format!("N{id}"), kind(of));
                self.nodes.insert(node.id.clone(), node.clone());
                told.nodes.push(node);
            }
            Change::GoneNode(id) => {
                self.nodes.remove(&format!("N{id}"));
                told.gone_nodes.push(format!("N{id}"));
            }
            Change::Edge(id, s, p, o, x) => {
                let strength = base::unpacked(x);
                let predicate = PREDICATES[usize::from(p)];
                let edge = edge(&format!("E{id}"), &format!("N{s}"), predicate, &format!("N{o}"), strength);
                self.edges.insert(edge.id.to_string(), edge.clone());
                told.edges.push(edge);
            }
            Change::GoneEdge(id) => {
                self.edges.remove(&format!("E{id}"));
                told.gone_edges.push(format!("E{id}"));
            }
        }
        told
    }

    fn graph(&self) -> Graph {
        let mut loading = Loading::default();
        loading.source(&source());
        self.nodes.values().for_each(|node| loading.node(node));
        self.edges.values().for_each(|edge| loading.edge(edge).unwrap());
        loading.finish(1).unwrap()
    }

    /// Every path of a pattern, found by looking at every edge at every step.
    fn paths(&self, start: &str, pattern: &Pattern) -> BTreeSet<Vec<String>> {
        let fits = |id: &str, kind: &Option<String>| {
            self.nodes.get(id).is_some_and(|node| kind.as_ref().is_none_or(|kind| node.categories.contains(kind)))
        };
        let mut paths = BTreeSet::from([vec![start.to_owned()]]);
        for hop in &pattern.hops {
            let mut longer = BTreeSet::new();
            for path in &paths {
                let along = |edge: &EdgeHead<'static>| (edge.clone(), edge.subject.clone(), edge.object.clone());
                let against = |edge: &EdgeHead<'static>| (edge.clone(), edge.object.clone(), edge.subject.clone());
                let both_ways = |edge: &&EdgeHead<'static>| predicates::holds_both_ways(&edge.predicate);
                let ways: Vec<_> = match hop.direction {
                    Direction::Out => self
                        .edges
                        .values()
                        .map(along)
                        .chain(self.edges.values().filter(both_ways).map(against))
                        .collect(),
                    Direction::In => self
                        .edges
                        .values()
                        .map(against)
                        .chain(self.edges.values().filter(both_ways).map(along))
                        .collect(),
                };
                for (edge, from, to) in &ways {
                    let mut visited = path.iter().step_by(2).rev();
                    let stays = both_ways(&edge) && visited.next() == Some(&to.to_string()) && from == to;
                    let is_new = if stays {
                        visited.next() != Some(&to.to_string())
                    } else {
                        !path.iter().step_by(2).any(|before| **before == **to)
                    };
                    let is_next = path.last().unwrap() == from
                        && hop.predicate.as_ref().is_none_or(|it| **it == edge.predicate)
                        && fits(to, &hop.end)
                        && is_new;
                    if is_next {
                        longer.insert([path.clone(), vec![edge.predicate.to_string(), to.to_string()]].concat());
                    }
                }
            }
            paths = longer;
        }
        paths
    }
}

fn walked(graph: &Graph, start: &str, pattern: &Pattern, filter: &Filter) -> Vec<Vec<String>> {
    let Some(number) = graph.nodes().find(start) else { return Vec::new() };
    let mut paths = Vec::new();
    let walk = Walk::along(graph, number, pattern, filter);
    walk.each(&mut Work::unlimited(), |before, last| {
        let mut path = vec![start.to_owned()];
        for hop in before.iter().chain([&last]) {
            path.push(graph.predicates().text(hop.predicate).to_owned());
            path.push(graph.nodes().id(hop.end).to_owned());
        }
        paths.push(path);
        ControlFlow::Continue(())
    })
    .unwrap();
    assert_eq!(walk.count(&mut Work::unlimited()).unwrap(), u64::try_from(paths.len()).unwrap());
    paths
}

const QUESTIONS: [&str; 9] = [
    "herb -*-> constituent -*-> indication",
    "* -*-> *",
    "* -contains-> constituent -treats-> *",
    "* <-*- * -*-> *",
    "* -treats-> indication <-treats- herb -contains-> *",
    "herb -affects-> * -affects-> * -affects-> *",
    "* -interacts_with-> * <-contains- *",
    "* -contains-> * <-interacts_with- constituent <-contains- *",
    "herb <-*- constituent",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_graph_that_grew_is_the_one_that_was_read_and_the_one_that_was_kept(
        before in prop::collection::vec(change(), 0..60),
        after in prop::collection::vec(change(), 0..60),
    ) {
        let mut plain = Plain::default();
        for change in &before {
            plain.apply(change);
        }
        let mut grown = plain.graph();
        for change in &after {
            grown.apply(&plain.apply(change));
        }
        let read = plain.graph();
        let compacted = grown.compacted().unwrap();
        prop_assert_eq!(compacted.n_loose(), 0);
        let folder = testkit::temp_dir();
        let path = folder.path().join("graph");
        snapshot::write(&path, &compacted, "batch", &seal()).unwrap();
        let (kept, batch) = snapshot::read(&path, &seal()).unwrap();
        prop_assert_eq!(batch, "batch");
        for question in QUESTIONS {
            let pattern = Pattern::parse(question).unwrap();
            for start in plain.nodes.keys() {
                let expected = walked(&read, start, &pattern, &Filter::default());
                prop_assert_eq!(&walked(&grown, start, &pattern, &Filter::default()), &expected);
                prop_assert_eq!(&walked(&compacted, start, &pattern, &Filter::default()), &expected);
                prop_assert_eq!(&walked(&kept, start, &pattern, &Filter::default()), &expected);
                prop_assert!(expected.is_sorted());
                prop_assert_eq!(expected.into_iter().collect::<BTreeSet<_>>(), plain.paths(start, &pattern));
            }
        }
        for node in plain.nodes.values() {
            let named = grown.nodes().find_named(&node.names[0].text.to_uppercase(), None).by_name;
            prop_assert_eq!(named.iter().map(|it| grown.nodes().id(*it)).collect::<Vec<_>>(), vec![node.id.as_str()]);
        }
    }
}

#[test]
fn who_is_the_only_one_by_its_id_is_known_whatever_came_and_went() {
    let mut graph = small().graph();
    let is_alone = |graph: &Graph, id: &str| {
        let node = graph.nodes().find(id).unwrap();
        let named = graph.nodes().with_hash(names::hash(id)).collect::<Vec<_>>();
        // Where it is not known, it is not so; the other way round nobody would be looked for.
        assert!(!graph.nodes().is_alone(node) || named == [node], "{id}");
        graph.nodes().is_alone(node)
    };
    let put = |graph: &mut Graph, nodes: Vec<Node>, gone_nodes: Vec<String>| {
        graph.apply(&Changes { nodes, gone_nodes, version: graph.version() + 1, ..Changes::default() });
    };
    assert!(is_alone(&graph, "H1"));
    // Another id that differs in case, a name and another id: each of them may be meant.
    let mut named = node("X1", "herb");
    named.names[0].text = "C1".to_owned();
    let same = Node { same_as: vec!["C2".to_owned()], ..node("X2", "herb") };
    put(&mut graph, vec![node("h1", "herb"), named, same], Vec::new());
    for id in ["H1", "h1", "C1", "C2"] {
        assert!(!is_alone(&graph, id), "{id}");
    }
    assert!(is_alone(&graph, "I1") && is_alone(&graph, "X1"));
    put(&mut graph, Vec::new(), ["h1", "X1", "I1"].map(str::to_owned).to_vec());
    let kept = graph.compacted().unwrap();
    for graph in [&graph, &kept] {
        assert!(!is_alone(graph, "H1") && !is_alone(graph, "C2"), "who is gone is still known by its id");
    }
    assert!(is_alone(&kept, "C1"));
    put(&mut graph, vec![node("I1", "indication")], Vec::new());
    assert!(is_alone(&graph, "I1"));
}

fn small() -> Plain {
    let mut plain = Plain::default();
    for (id, kind) in [("H1", "herb"), ("C1", "constituent"), ("C2", "constituent"), ("I1", "indication")] {
        plain.nodes.insert(id.to_owned(), node(id, kind));
    }
    let statements = [
        ("E1", "H1", "contains", "C1", None),
        ("E2", "H1", "contains", "C2", Some(Strength::Low)),
        ("E3", "C1", "treats", "I1", Some(Strength::High)),
        ("E4", "C2", "treats", "I1", Some(Strength::Moderate)),
        ("E5", "H1", "contains", "C1", Some(Strength::High)),
    ];
    for (id, subject, predicate, object, strength) in statements {
        plain.edges.insert(id.to_owned(), edge(id, subject, predicate, object, strength));
    }
    plain
}

#[test]
fn filters_narrow_and_a_statement_of_two_edges_is_one_hop() {
    let graph = small().graph();
    let pattern = Pattern::parse("herb -contains-> * -treats-> *").unwrap();
    let check = |filter: Filter, expected: &[&str]| {
        let found = walked(&graph, "H1", &pattern, &filter);
        let found: Vec<&str> = found.iter().map(|path| path[2].as_str()).collect();
        assert_eq!(found, expected);
    };
    let some = |word: &str| Some(vec![word.to_owned()]);
    check(Filter::default(), &["C1", "C2"]);
    check(Filter { strength_min: Some(Strength::Moderate), ..Filter::default() }, &["C1"]);
    check(Filter { strength_min: Some(Strength::Low), ..Filter::default() }, &["C1", "C2"]);
    check(Filter { kinds: some("constituent"), ..Filter::default() }, &[]);
    check(Filter { predicates: some("contains"), ..Filter::default() }, &[]);
    check(Filter { sources: some("elsewhere"), ..Filter::default() }, &[]);
    check(Filter { sources: some("s"), ..Filter::default() }, &["C1", "C2"]);
}

#[test]
fn a_walk_stops_at_the_same_place_wherever_the_edges_are() {
    let plain = small();
    let mut grown = Plain { nodes: plain.nodes.clone(), edges: BTreeMap::new() }.graph();
    let edges = plain.edges.values().cloned().collect();
    grown.apply(&Changes { edges, version: 2, ..Changes::default() });
    let pattern = Pattern::parse("herb -*-> * -*-> *").unwrap();
    for n_work_max in 0..8 {
        let stops = [&plain.graph(), &grown].map(|graph| {
            let start = graph.nodes().find("H1").unwrap();
            let mut n_paths = 0;
            let walk = Walk::along(graph, start, &pattern, &Filter::default());
            let ended = walk.each(&mut Work::new(n_work_max, None), |_, _| {
                n_paths += 1;
                ControlFlow::Continue(())
            });
            (n_paths, ended)
        });
        assert_eq!(stops[0], stops[1], "{n_work_max}");
        assert_eq!(stops[0].1.is_err(), n_work_max < 5, "{stops:?}");
        assert!(stops[0].1 != Err(Stop::Enough));
    }
}

#[test]
fn a_snapshot_that_was_damaged_is_not_read() {
    let folder = testkit::temp_dir();
    let path = folder.path().join("graph");
    snapshot::write(&path, &small().graph(), "batch", &seal()).unwrap();
    let whole = std::fs::read(&path).unwrap();
    for at in (0..whole.len()).step_by(7) {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&path, &damaged).unwrap();
        assert!(snapshot::read(&path, &seal()).is_none());
        std::fs::write(&path, &whole[..at]).unwrap();
        assert!(snapshot::read(&path, &seal()).is_none());
    }
}

/// Whoever can write the file and has no key can compute every hash, and no seal.
#[test]
fn a_snapshot_is_read_only_with_the_seal_of_its_house_and_record() {
    let folder = testkit::temp_dir();
    let path = folder.path().join("graph");
    let subject = crate::sealing::Subject { organisation_id: "here".to_owned(), database: "1".to_owned() };
    let seal_of = |secret: u8, subject: &crate::sealing::Subject| {
        crate::sealing::Sealing::new(&[[secret; 32]]).of(snapshot::WHAT, subject)
    };
    snapshot::write(&path, &small().graph(), "batch", &seal_of(1, &subject)).unwrap();
    assert!(snapshot::read(&path, &seal_of(1, &subject)).is_some());
    assert!(snapshot::read(&path, &seal_of(2, &subject)).is_none());
    let elsewhere = crate::sealing::Subject { organisation_id: "elsewhere".to_owned(), ..subject.clone() };
    assert!(snapshot::read(&path, &seal_of(1, &elsewhere)).is_none());
    let mut bytes = std::fs::read(&path).unwrap();
    let end = bytes.len() - 32;
    let hash = contract::canonical::digest(&bytes[..end]);
    bytes[end..].copy_from_slice(&hash);
    std::fs::write(&path, &bytes).unwrap();
    assert!(snapshot::read(&path, &seal_of(1, &subject)).is_none());
}

#[test]
fn a_mark_is_kept_beside_the_strength_in_base_overlay_and_snapshot() {
    let marks = [Some(true), Some(false), None]
        .into_iter()
        .flat_map(|verified| [false, true].map(|is_critical| Marks { verified, is_critical }));
    let marks: Vec<Marks> = marks.collect();
    let strengths = [None, Some(Strength::Low), Some(Strength::Moderate), Some(Strength::High)];
    let pairs = strengths.into_iter().flat_map(|strength| marks.iter().map(move |marks| (strength, *marks)));
    for (strength, marks) in pairs {
        let mut plain = small();
        let marked = EdgeHead { marks, ..edge("X", "H1", "x", "C1", strength) };
        plain.edges.insert("X".to_owned(), marked.clone());
        let mut grown = small().graph();
        grown.apply(&Changes { edges: vec![marked], version: 2, ..Changes::default() });
        let folder = testkit::temp_dir();
        let path = folder.path().join("graph");
        snapshot::write(&path, &plain.graph(), "batch", &seal()).unwrap();
        for graph in [plain.graph(), grown, snapshot::read(&path, &seal()).unwrap().0] {
            let start = graph.nodes().find("H1").unwrap();
            let hops = graph.hops(start, Direction::Out, graph.predicates().find("x"));
            let found = hops.iter().map(|hop| {
                let (verified, is_critical) = (graph.edge_verified(hop.edge), graph.edge_is_critical(hop.edge));
                (graph.edge_strength(hop.edge), Marks { verified, is_critical })
            });
            assert_eq!(found.collect::<Vec<_>>(), [(strength, marks)]);
        }
    }
}

#[test]
fn only_a_truth_value_is_a_mark() {
    let read = |qualifiers: &str| {
        let text =
            format!(r#"{{"id": "E", "subject": "a", "predicate": "p", "object": "b", "source": "s"{qualifiers}}}"#);
        serde_json::from_str::<EdgeHead<'_>>(&text).unwrap().marks
    };
    let is_critical =
        |verified: &str| read(&format!(r#", "qualifiers": {{"severity": "critical"{verified}}}"#)).is_critical;
    assert!(is_critical("") && is_critical(r#", "verified": true"#) && !is_critical(r#", "verified": false"#));
    let read = |qualifiers: &str| read(qualifiers).verified;
    assert_eq!(read(r#", "qualifiers": {"verified": false, "other": [1]}"#), Some(false));
    assert_eq!(read(r#", "qualifiers": {"verified": "yes"}"#), None);
    assert_eq!(read(r#", "qualifiers": {}"#), None);
    assert_eq!(read(""), None);
}

#[test]
fn what_holds_both_ways_is_found_from_either_end_however_it_is_asked_for() {
    let mut plain = small();
    plain.edges.insert("X".to_owned(), edge("X", "C2", "interacts_with", "C1", None));
    let pattern = |text: &str| Pattern::parse(text).unwrap();
    let some = |word: &str| Some(vec![word.to_owned()]);
    let only = Filter { predicates: some("interacts_with"), ..Filter::default() };
    let mut grown = small().graph();
    let edges = vec![plain.edges["X"].clone()];
    grown.apply(&Changes { edges, version: 2, ..Changes::default() });
    for graph in [plain.graph(), grown] {
        for (start, other) in [("C1", "C2"), ("C2", "C1")] {
            let expected = [start, "interacts_with", other].map(str::to_owned).to_vec();
            for (text, filter) in [
                ("* -interacts_with-> *", &Filter::default()),
                ("* <-interacts_with- *", &Filter::default()),
                ("* -*-> constituent", &Filter::default()),
                ("* -*-> *", &only),
            ] {
                assert_eq!(walked(&graph, start, &pattern(text), filter), std::slice::from_ref(&expected), "{text}");
            }
            let number = graph.nodes().find(start).unwrap();
            let anywhere = Walk::anywhere(&graph, number, 1, &only);
            assert_eq!(anywhere.count(&mut Work::unlimited()), Ok(1));
        }
    }
}

#[test]
fn two_members_of_a_class_that_interacts_with_itself_are_connected() {
    let mut plain = Plain::default();
    for (id, kind) in [("D1", "drug"), ("D2", "drug"), ("QT", "drug_class")] {
        plain.nodes.insert(id.to_owned(), node(id, kind));
    }
    for (id, subject, predicate, object) in
        [("E1", "D1", "member_of", "QT"), ("E2", "D2", "member_of", "QT"), ("E3", "QT", "interacts_with", "QT")]
    {
        plain.edges.insert(id.to_owned(), edge(id, subject, predicate, object, None));
    }
    let graph = plain.graph();
    let check = |start: &str, pattern: &str, expected: &[&str]| {
        let found = walked(&graph, start, &Pattern::parse(pattern).unwrap(), &Filter::default());
        let found: Vec<String> = found.iter().map(|path| path.join(" ")).collect();
        assert_eq!(found, expected, "{pattern}");
    };
    check(
        "D1",
        "drug -member_of-> drug_class -interacts_with-> drug_class <-member_of- drug",
        &["D1 member_of QT interacts_with QT member_of D2"],
    );
    check("QT", "* -interacts_with-> *", &["QT interacts_with QT"]);
    check("QT", "* -*-> * -*-> *", &[]);
    check("D1", "* -member_of-> * <-member_of- *", &["D1 member_of QT member_of D2"]);
}

#[test]
fn a_walk_ends_when_nobody_waits_for_it() {
    let graph = small().graph();
    let start = graph.nodes().find("H1").unwrap();
    let nobody_waits = std::sync::atomic::AtomicBool::new(true);
    for pattern in ["herb -contains-> constituent -treats-> indication", "* -*-> * -*-> *"] {
        let pattern = Pattern::parse(pattern).unwrap();
        let walk = Walk::along(&graph, start, &pattern, &Filter::default());
        let work = || Work::new(u64::MAX, Some(&nobody_waits));
        assert_eq!(walk.count(&mut Work::unlimited()), Ok(2));
        assert_eq!(walk.count(&mut work()), Err(Stop::Alone));
        assert_eq!(walk.each(&mut work(), |_, _| ControlFlow::Continue(())), Err(Stop::Alone));
    }
}

#[test]
fn a_node_that_becomes_something_else_is_met_as_what_it_is() {
    let mut graph = small().graph();
    let pattern = Pattern::parse("herb -contains-> constituent -treats-> indication").unwrap();
    let ends = |graph: &Graph| walked(graph, "H1", &pattern, &Filter::default()).len();
    assert_eq!(ends(&graph), 2);
    graph.apply(&Changes { nodes: vec![node("C1", "herb")], version: 2, ..Changes::default() });
    assert_eq!(ends(&graph), 1);
    graph.apply(&Changes { gone_nodes: vec!["C2".to_owned()], version: 3, ..Changes::default() });
    assert_eq!(ends(&graph), 0);
    graph.apply(&Changes { nodes: vec![node("C1", "constituent")], version: 4, ..Changes::default() });
    assert_eq!(ends(&graph), 1);
}
