//! The graph as a file beside the database, so that a start reads it and not every record. It can be deleted at any time.
//!
//! Numbers are little-endian; a text or a list is its length and then its content; the last 32 bytes are the house's seal
//! over everything before. A file of another form, version or record is not read.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use contract::canonical;

use super::base::{Base, Kept, Rows};
use super::nodes::{Columns, Nodes, OtherId};
use super::predicates::Leads;
use super::reach::Reach;
use super::words::{Words, index};
use super::{Graph, Sources};
use crate::sealing::{SEAL_BYTES, Seal};

const MAGIC: &[u8] = b"materia graph 11\n";
/// What its seal says it is.
pub(super) const WHAT: &str = "graph";

/// Where the snapshot of an organisation stands.
pub(super) fn path(folder: &Path, organisation_id: &str) -> PathBuf {
    let name = canonical::hash_text(organisation_id);
    folder.join(format!("graph-{}.snapshot", name.get(..16).unwrap_or_default()))
}

/// Writes a graph that is all base. `batch` is the hash of the batch it is at: the record of another database has others.
pub(super) fn write(path: &Path, graph: &Graph, batch: &str, seal: &Seal) -> io::Result<()> {
    let mut out = Writer(Vec::with_capacity(graph.size_bytes()));
    out.0.extend_from_slice(MAGIC);
    out.text(batch);
    out.0.extend_from_slice(&graph.version.to_le_bytes());
    out.nodes(&graph.nodes);
    out.words(&graph.predicates);
    out.words(&graph.sources.ids);
    out.texts(graph.sources.licences.iter().map(|licence| &**licence));
    out.texts(graph.sources.versions.iter().map(|version| &**version));
    out.base(&graph.base);
    let sealed = seal.make(&out.0);
    out.0.extend_from_slice(&sealed);
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let temporary = path.with_extension("new");
    let mut file = File::create(&temporary)?;
    file.write_all(&out.0)?;
    file.sync_all()?;
    fs::rename(&temporary, path)
}

/// The graph of a file and the hash of the batch it is at. `None` if there is no file that can be used.
pub(super) fn read(path: &Path, seal: &Seal) -> Option<(Graph, String)> {
    let bytes = fs::read(path).ok()?;
    // Those of earlier programs are none of ours either, and nothing to tell of.
    let (content, sealed) = bytes.split_at_checked(bytes.len().checked_sub(SEAL_BYTES)?)?;
    let rest = content.strip_prefix(MAGIC)?;
    if !seal.holds(content, sealed) {
        tracing::warn!(
            path = %path.display(),
            "The snapshot of a graph has no seal of this house, or not for this database: the graph is read from the record"
        );
        return None;
    }
    let mut reader = Reader(rest);
    let batch = reader.text()?.to_owned();
    let version = i64::from_le_bytes(reader.take(8)?.try_into().ok()?);
    let nodes = reader.nodes()?;
    let predicates = reader.words()?;
    let ids = reader.words()?;
    let licences = reader.shared_texts()?;
    let versions = reader.shared_texts()?;
    let base = reader.base()?;
    let n_sources = index(ids.n_words());
    let fits = [licences.len(), versions.len()] == [n_sources; 2] && base.is_sound(nodes.len()) && reader.0.is_empty();
    fits.then(|| {
        let reach = Reach::of(&base, &nodes);
        let graph = Graph {
            version,
            nodes: Arc::new(nodes),
            leads: Arc::new(Leads::of(&predicates)),
            predicates: Arc::new(predicates),
            sources: Arc::new(Sources { ids, licences, versions }),
            base: Arc::new(base),
            reach: Arc::new(reach),
            overlay: Arc::default(),
        };
        (graph, batch)
    })
}

struct Writer(Vec<u8>);

impl Writer {
    fn length(&mut self, length: usize) {
        self.0.extend_from_slice(&u64::try_from(length).unwrap_or(u64::MAX).to_le_bytes());
    }

    fn text(&mut self, text: &str) {
        self.length(text.len());
        self.0.extend_from_slice(text.as_bytes());
    }

    fn texts<'a>(&mut self, texts: impl ExactSizeIterator<Item = &'a str>) {
        self.length(texts.len());
        for text in texts {
            self.text(text);
        }
    }

    fn words(&mut self, words: &Words) {
        self.texts(words.all().iter().map(|word| &**word));
    }

    fn hashes(&mut self, hashes: &[u64]) {
        self.length(hashes.len());
        self.0.extend(hashes.iter().flat_map(|hash| hash.to_le_bytes()));
    }

    fn numbers(&mut self, numbers: &[u32]) {
        self.length(numbers.len());
        self.0.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
    }

    fn nodes(&mut self, nodes: &Nodes) {
        self.texts((0..nodes.len()).map(|node| nodes.id(node)));
        self.texts((0..nodes.len()).map(|node| nodes.label(node)));
        self.numbers(&nodes.sets);
        self.numbers(&(0..nodes.len()).map(|node| nodes.source(node)).collect::<Vec<u32>>());
        for names in &nodes.names {
            self.hashes(names);
        }
        self.hashes(&nodes.id_hashes);
        for same in &nodes.same {
            self.hashes(&same.iter().flat_map(|it| [it.hash, it.exact]).collect::<Vec<u64>>());
        }
        self.length(nodes.verified.len());
        self.0.extend(nodes.verified.iter().map(|is_verified| u8::from(*is_verified)));
        self.words(&nodes.categories);
        self.length(nodes.category_sets.len());
        for set in &nodes.category_sets {
            self.numbers(set);
        }
    }

    fn rows(&mut self, rows: &Rows) {
        self.numbers(&rows.starts);
        self.numbers(&rows.segment_starts);
        let segments: Vec<u32> = rows.segments.iter().flat_map(|(predicate, start)| [*predicate, *start]).collect();
        self.numbers(&segments);
        self.numbers(&rows.ends);
    }

    fn base(&mut self, base: &Base) {
        self.rows(&base.out);
        self.rows(&base.into);
        self.numbers(&base.into_places);
        self.numbers(&base.edges.iter().map(|edge| edge.source).collect::<Vec<u32>>());
        self.length(base.edges.len());
        self.0.extend(base.edges.iter().map(|edge| edge.marks));
        self.numbers(&base.edges.iter().map(|edge| edge.id_end).collect::<Vec<u32>>());
        self.text(&base.ids);
        self.numbers(&base.by_id);
    }
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, n_bytes: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(n_bytes)?;
        self.0 = rest;
        Some(taken)
    }

    fn length(&mut self) -> Option<usize> {
        usize::try_from(u64::from_le_bytes(self.take(8)?.try_into().ok()?)).ok()
    }

    fn text(&mut self) -> Option<&'a str> {
        let n_bytes = self.length()?;
        std::str::from_utf8(self.take(n_bytes)?).ok()
    }

    fn texts(&mut self) -> Option<Vec<&'a str>> {
        let n = self.length()?;
        (0..n).map(|_| self.text()).collect()
    }

    fn shared_texts(&mut self) -> Option<Vec<Arc<str>>> {
        self.texts().map(|texts| texts.into_iter().map(Arc::from).collect())
    }

    fn words(&mut self) -> Option<Words> {
        let mut words = Words::default();
        let texts = self.texts()?;
        for text in &texts {
            words.intern(text);
        }
        (index(words.n_words()) == texts.len()).then_some(words)
    }

    fn numbers(&mut self) -> Option<Vec<u32>> {
        let n_bytes = self.length()?.checked_mul(4)?;
        let bytes = self.take(n_bytes)?;
        let (numbers, _) = bytes.as_chunks::<4>();
        Some(numbers.iter().map(|bytes| u32::from_le_bytes(*bytes)).collect())
    }

    fn hashes(&mut self) -> Option<Box<[u64]>> {
        let n_bytes = self.length()?.checked_mul(8)?;
        let bytes = self.take(n_bytes)?;
        let (hashes, _) = bytes.as_chunks::<8>();
        Some(hashes.iter().map(|bytes| u64::from_le_bytes(*bytes)).collect())
    }

    fn other_ids(&mut self) -> Option<Box<[OtherId]>> {
        let hashes = self.hashes()?;
        let (pairs, _) = hashes.as_chunks::<2>();
        Some(pairs.iter().map(|[hash, exact]| OtherId { hash: *hash, exact: *exact }).collect())
    }

    fn nodes(&mut self) -> Option<Nodes> {
        let ids = self.texts()?;
        let labels = self.texts()?;
        let (sets, sources) = (self.numbers()?, self.numbers()?);
        let names = (0..ids.len()).map(|_| self.hashes()).collect::<Option<Vec<_>>>()?;
        let id_hashes = self.hashes()?.into_vec();
        let same = (0..ids.len()).map(|_| self.other_ids()).collect::<Option<Vec<_>>>()?;
        let n_verified = self.length()?;
        let verified = self.take(n_verified)?.iter().map(|byte| *byte == 1).collect();
        let categories = self.texts()?;
        let n_sets = self.length()?;
        let category_sets = (0..n_sets).map(|_| self.numbers().map(Into::into)).collect::<Option<Vec<_>>>()?;
        Nodes::from_columns(Columns {
            ids,
            labels,
            sets,
            sources,
            names,
            id_hashes,
            same,
            verified,
            categories,
            category_sets,
        })
    }

    fn rows(&mut self) -> Option<Rows> {
        let (starts, segment_starts) = (self.numbers()?, self.numbers()?);
        let flat = self.numbers()?;
        let (pairs, _) = flat.as_chunks::<2>();
        let segments = pairs.iter().map(|[predicate, start]| (*predicate, *start)).collect();
        Some(Rows { starts, segment_starts, segments, ends: self.numbers()? })
    }

    fn base(&mut self) -> Option<Base> {
        let (out, into) = (self.rows()?, self.rows()?);
        let (into_places, sources) = (self.numbers()?, self.numbers()?);
        let n_marks = self.length()?;
        let marks = self.take(n_marks)?;
        let id_ends = self.numbers()?;
        if [marks.len(), id_ends.len()] != [sources.len(); 2] {
            return None;
        }
        let edges = sources.iter().zip(marks).zip(&id_ends);
        let edges = edges.map(|((source, marks), id_end)| Kept { id_end: *id_end, source: *source, marks: *marks });
        let edges = edges.collect();
        let ids = self.text()?.to_owned();
        Some(Base { out, into, into_places, edges, ids, by_id: self.numbers()? })
    }
}
