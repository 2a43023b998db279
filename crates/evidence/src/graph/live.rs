//! The graphs of a running process: each organisation's own, read when it is first needed, and following the record.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use contract::evidence::record::{Node, RecordKind, Source};
use store::{Conn, Reader, Store, StoreError};
use tokio::time::Instant;

use super::changes::{Changes, EdgeHead, Loading};
use super::{Graph, GraphError, snapshot};
use crate::record::{batches, papers, read};
use crate::sealing::{Seal, Sealing, Subject};

/// An answer may be this much older than the record, where another process changed it.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// After this long without a look, one is waited for.
const LOOK_AT_LEAST_EVERY: Duration = Duration::from_millis(1_500);
/// How long a caller who names a version waits for it.
const WAIT_MAX: Duration = Duration::from_secs(2);
const WAIT_STEP: Duration = Duration::from_millis(50);

/// Records on one page of a full reading.
const PAGE: i64 = 5_000;
/// Batches that are followed one by one at most; behind more, and behind a good part of the graph, all is read anew.
const FOLLOWED_MIN: i64 = 200;
/// The base is put in order when this many edges are not in it, or an eighth of them.
const LOOSE_MIN: usize = 20_000;
const LOOSE_SHARE: usize = 8;

/// All graphs of a process.
#[derive(Clone)]
pub struct Graphs(Arc<Inner>);

struct Inner {
    store: Store,
    folder: PathBuf,
    sealing: Sealing,
    graphs: Mutex<HashMap<String, Arc<Live>>>,
    is_closed: AtomicBool,
    /// One long walk per core.
    walkers: Arc<tokio::sync::Semaphore>,
}

/// Held by whoever waits for long work; a call that is given up drops it.
struct Waiting(Arc<AtomicBool>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// One organisation's graph.
struct Live {
    organisation_id: String,
    current: RwLock<Option<Arc<Graph>>>,
    /// Held by whoever brings the graph up to date.
    writing: tokio::sync::Mutex<()>,
    /// The newest change number anybody told of, and when the record was last asked.
    heard: Mutex<(i64, Option<Instant>)>,
    /// What was taken in since a compaction began; `None` while there is none.
    since_compaction: Mutex<Option<Vec<Arc<Changes>>>>,
    /// Whether anything is said against any paper, as it was at a change number.
    doubts: Mutex<Option<(i64, bool)>>,
}

impl Live {
    fn current(&self) -> Option<Arc<Graph>> {
        self.current.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn publish(&self, graph: Arc<Graph>) {
        *self.current.write().unwrap_or_else(PoisonError::into_inner) = Some(graph);
    }

    fn heard(&self) -> (i64, Option<Instant>) {
        *self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn note(&self, version: i64, looked: Option<Instant>) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        *heard = (heard.0.max(version), looked.or(heard.1));
    }

    fn since_compaction(&self) -> std::sync::MutexGuard<'_, Option<Vec<Arc<Changes>>>> {
        self.since_compaction.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Graphs {
    /// `folder` is where snapshots stand; `sealing` seals them.
    pub fn new(store: Store, folder: PathBuf, sealing: Sealing) -> Graphs {
        let n_cores = std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
        let inner = Inner {
            store,
            folder,
            sealing,
            graphs: Mutex::default(),
            is_closed: AtomicBool::new(false),
            walkers: Arc::new(tokio::sync::Semaphore::new(n_cores)),
        };
        Graphs(Arc::new(inner))
    }

    fn live(&self, organisation_id: &str) -> Arc<Live> {
        let mut graphs = self.0.graphs.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(live) = graphs.get(organisation_id) {
            return Arc::clone(live);
        }
        let live = graphs.entry(organisation_id.to_owned()).or_insert_with(|| {
            Arc::new(Live {
                organisation_id: organisation_id.to_owned(),
                current: RwLock::default(),
                writing: tokio::sync::Mutex::default(),
                heard: Mutex::default(),
                since_compaction: Mutex::default(),
                doubts: Mutex::default(),
            })
        });
        Arc::clone(live)
    }

    /// Tells that the record of an organisation is at this change number.
    pub fn note(&self, organisation_id: &str, version: i64) {
        self.live(organisation_id).note(version, None);
    }

    /// Whether anything is said against any paper that a graph of this version knows of. The record is asked once for each
    /// version: asking takes longer than most questions.
    pub async fn is_any_paper_doubted(&self, organisation_id: &str, version: i64) -> Result<bool, GraphError> {
        let live = self.live(organisation_id);
        let known = *live.doubts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, is_any)) = known.filter(|(known_version, _)| *known_version == version) {
            return Ok(is_any);
        }
        let mut reader = self.0.store.read().await.map_err(GraphError::Store)?;
        let is_any = papers::is_any_doubted(&mut reader, organisation_id).await.map_err(GraphError::Store)?;
        *live.doubts.lock().unwrap_or_else(PoisonError::into_inner) = Some((version, is_any));
        Ok(is_any)
    }

    /// Reads the graphs of all organisations that have one, so that nobody has to wait for it.
    pub async fn warm(&self) -> Result<(), GraphError> {
        let mut reader = self.0.store.read().await.map_err(GraphError::Store)?;
        let organisations = batches::organisations(&mut reader).await.map_err(GraphError::Store)?;
        drop(reader);
        for organisation_id in organisations {
            self.graph(&organisation_id, None).await?;
        }
        Ok(())
    }

    /// Stops what runs in the background as soon as it comes to a page's end.
    pub fn close(&self) {
        self.0.is_closed.store(true, Ordering::Relaxed);
    }

    /// The graph of an organisation: with everything that this process changed, with what others changed until two
    /// seconds ago, and with change `version_min` where one is named.
    pub async fn graph(&self, organisation_id: &str, version_min: Option<i64>) -> Result<Arc<Graph>, GraphError> {
        let live = self.live(organisation_id);
        self.look_when_due(&live).await?;
        if let Some(graph) = live.current().filter(|graph| graph.version() >= live.heard().0)
            && version_min.is_none_or(|version| graph.version() >= version)
        {
            return Ok(graph);
        }
        let give_up = Instant::now() + WAIT_MAX;
        loop {
            let graph = self.catch_up(&live).await?;
            let Some(version) = version_min.filter(|version| graph.version() < *version) else { return Ok(graph) };
            if Instant::now() >= give_up {
                return Err(GraphError::Behind(version));
            }
            tokio::time::sleep(WAIT_STEP).await;
            self.look(&live).await?;
        }
    }

    /// Reads a graph anew from the record, whatever the one in use and its snapshot say. That one answers until it is done.
    pub async fn rebuild(&self, organisation_id: &str) -> Result<(), GraphError> {
        let (graphs, live) = (self.clone(), self.live(organisation_id));
        let task = tokio::spawn(async move {
            let mut reader = graphs.0.store.read().await.map_err(GraphError::Store)?;
            reader.hold_snapshot().await.map_err(GraphError::Store)?;
            let latest = batches::latest(&mut reader, &live.organisation_id).await.map_err(GraphError::Store)?;
            let graph = graphs.read_all(&mut reader, &live, latest).await?;
            drop(reader);
            {
                let _writing = live.writing.lock().await;
                // A compaction that began meanwhile is one of the graph before.
                *live.since_compaction() = None;
                // What changed meanwhile is followed by whoever asks next.
                live.publish(Arc::clone(&graph));
            }
            graphs.keep_snapshot(&live, graph).await;
            Ok(())
        });
        task.await.unwrap_or(Err(GraphError::Unavailable("its reading was interrupted")))
    }

    /// Runs long work where it holds nobody up. It is told when nobody waits for it any more, and is to end then.
    pub async fn work<T: Send + 'static>(
        &self,
        work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
    ) -> Result<T, GraphError> {
        let interrupted = GraphError::Unavailable("its walk was interrupted");
        let walkers = Arc::clone(&self.0.walkers);
        let Ok(permit) = walkers.acquire_owned().await else { return Err(interrupted) };
        let nobody_waits = Arc::new(AtomicBool::new(false));
        let _waiting = Waiting(Arc::clone(&nobody_waits));
        let working = tokio::task::spawn_blocking(move || {
            // Whoever waits for a core waits until this one is really free.
            let _permit = permit;
            work(&nobody_waits)
        });
        working.await.map_err(|_| interrupted)
    }

    /// Asks the record for its change number, if nobody did lately. Where it is not urgent nobody waits for it.
    async fn look_when_due(&self, live: &Arc<Live>) -> Result<(), GraphError> {
        match live.heard().1.map(|looked| looked.elapsed()) {
            Some(ago) if ago < LOOK_EVERY => Ok(()),
            Some(ago) if ago < LOOK_AT_LEAST_EVERY => {
                live.note(0, Some(Instant::now()));
                let (graphs, live) = (self.clone(), Arc::clone(live));
                tokio::spawn(async move {
                    if let Err(error) = graphs.look(&live).await {
                        tracing::warn!(error = %error, "The record could not be asked for its change number");
                    }
                });
                Ok(())
            }
            Some(_) | None => self.look(live).await,
        }
    }

    async fn look(&self, live: &Live) -> Result<(), GraphError> {
        let mut reader = self.0.store.read().await.map_err(GraphError::Store)?;
        let version = batches::latest(&mut reader, &live.organisation_id).await.map_err(GraphError::Store)?;
        live.note(version, Some(Instant::now()));
        Ok(())
    }

    /// Brings the graph up to date, in a task of its own: it goes on when the caller is gone, and the next one finds it done.
    async fn catch_up(&self, live: &Arc<Live>) -> Result<Arc<Graph>, GraphError> {
        let (graphs, of) = (self.clone(), Arc::clone(live));
        let task = tokio::spawn(async move { graphs.follow(&of).await });
        task.await.unwrap_or(Err(GraphError::Unavailable("its reading was interrupted")))
    }

    async fn follow(&self, live: &Arc<Live>) -> Result<Arc<Graph>, GraphError> {
        let _writing = live.writing.lock().await;
        if let Some(graph) = live.current().filter(|graph| graph.version() >= live.heard().0) {
            return Ok(graph);
        }
        let mut reader = self.0.store.read().await.map_err(GraphError::Store)?;
        reader.hold_snapshot().await.map_err(GraphError::Store)?;
        let latest = batches::latest(&mut reader, &live.organisation_id).await.map_err(GraphError::Store)?;
        live.note(latest, Some(Instant::now()));
        let known = match live.current() {
            Some(graph) => Some(graph),
            None => self.read_snapshot(&mut reader, live).await?,
        };
        let graph = match known.filter(|graph| is_near(graph, latest)) {
            Some(graph) => self.take_in(&mut reader, live, graph, latest).await?,
            None => {
                let graph = self.read_all(&mut reader, live, latest).await?;
                let (graphs, of, kept) = (self.clone(), Arc::clone(live), Arc::clone(&graph));
                tokio::spawn(async move { graphs.keep_snapshot(&of, kept).await });
                graph
            }
        };
        drop(reader);
        live.publish(Arc::clone(&graph));
        if graph.n_loose() > LOOSE_MIN.max(graph.n_edges() / LOOSE_SHARE) {
            self.compact(live, &graph);
        }
        Ok(graph)
    }

    async fn seal(&self, conn: &mut Conn, live: &Live) -> Result<Seal, StoreError> {
        Ok(self.0.sealing.of(snapshot::WHAT, &Subject::find(conn, &live.organisation_id).await?))
    }

    async fn read_snapshot(&self, reader: &mut Reader, live: &Live) -> Result<Option<Arc<Graph>>, GraphError> {
        let path = snapshot::path(&self.0.folder, &live.organisation_id);
        let seal = self.seal(reader, live).await.map_err(GraphError::Store)?;
        let kept = tokio::task::spawn_blocking(move || snapshot::read(&path, &seal)).await.ok().flatten();
        let Some((graph, batch)) = kept else { return Ok(None) };
        let found =
            batches::hash_of(reader, &live.organisation_id, graph.version()).await.map_err(GraphError::Store)?;
        Ok((found.as_deref() == Some(batch.as_str())).then(|| Arc::new(graph)))
    }

    /// Follows the batches from the graph's version to the newest one.
    async fn take_in(
        &self,
        reader: &mut Reader,
        live: &Live,
        graph: Arc<Graph>,
        latest: i64,
    ) -> Result<Arc<Graph>, GraphError> {
        if graph.version() >= latest {
            return Ok(graph);
        }
        let changes = read_changes(reader, &live.organisation_id, graph.version(), latest).await;
        let changes = Arc::new(changes.map_err(GraphError::Store)?);
        // Whoever holds the graph at the moment keeps the one they have.
        *live.current.write().unwrap_or_else(PoisonError::into_inner) = None;
        let mut graph = graph;
        Arc::make_mut(&mut graph).apply(&changes);
        if let Some(log) = live.since_compaction().as_mut() {
            log.push(changes);
        }
        Ok(graph)
    }

    /// Reads every source, node and edge.
    async fn read_all(&self, reader: &mut Reader, live: &Live, latest: i64) -> Result<Arc<Graph>, GraphError> {
        let mut loading = Loading::default();
        for kind in [RecordKind::Source, RecordKind::Node, RecordKind::Edge] {
            let mut after = String::new();
            loop {
                if self.0.is_closed.load(Ordering::Relaxed) {
                    return Err(GraphError::Unavailable("the house is being closed"));
                }
                let page = read::page(reader, &live.organisation_id, kind, &after, PAGE).await;
                let page = page.map_err(GraphError::Store)?;
                let Some(last) = page.last() else { break };
                after = last.id.clone();
                for stored in &page {
                    load(&mut loading, stored)?;
                }
            }
        }
        // What a compaction of the graph before is about to publish is not wanted any more.
        *live.since_compaction() = None;
        let built = tokio::task::spawn_blocking(move || loading.finish(latest)).await;
        Ok(Arc::new(built.unwrap_or(Err(GraphError::Unavailable("its reading was interrupted")))?))
    }

    /// Puts everything into a new base, in the background. What comes in meanwhile is taken in again at the end.
    fn compact(&self, live: &Arc<Live>, graph: &Arc<Graph>) {
        let mut since = live.since_compaction();
        if since.is_some() {
            return;
        }
        *since = Some(Vec::new());
        drop(since);
        let (graphs, live, graph) = (self.clone(), Arc::clone(live), Arc::clone(graph));
        tokio::spawn(async move {
            let compacted = tokio::task::spawn_blocking(move || graph.compacted()).await;
            let Ok(Ok(compacted)) = compacted else {
                *live.since_compaction() = None;
                return;
            };
            let compacted = Arc::new(compacted);
            graphs.keep_snapshot(&live, Arc::clone(&compacted)).await;
            let _writing = live.writing.lock().await;
            let Some(log) = live.since_compaction().take() else { return };
            let mut graph = compacted;
            for changes in &log {
                Arc::make_mut(&mut graph).apply(changes);
            }
            live.publish(graph);
        });
    }

    /// A snapshot that could not be kept costs time at the next start and nothing else.
    async fn keep_snapshot(&self, live: &Live, graph: Arc<Graph>) {
        let Ok(mut reader) = self.0.store.read().await else { return };
        let batch = batches::hash_of(&mut reader, &live.organisation_id, graph.version()).await;
        let (Ok(Some(batch)), Ok(seal)) = (batch, self.seal(&mut reader, live).await) else { return };
        drop(reader);
        let path = snapshot::path(&self.0.folder, &live.organisation_id);
        let written = tokio::task::spawn_blocking(move || snapshot::write(&path, &graph, &batch, &seal)).await;
        if let Ok(Err(error)) = written {
            tracing::warn!(error = %error, "The snapshot of a graph could not be kept");
        }
    }
}

/// Whether following the batches is less work than reading everything.
fn is_near(graph: &Graph, latest: i64) -> bool {
    let n_behind = latest - graph.version();
    let n_records = i64::try_from(graph.n_edges()).unwrap_or(i64::MAX);
    n_behind >= 0 && n_behind <= FOLLOWED_MIN.max(n_records / 4_000)
}

fn load(loading: &mut Loading, stored: &read::Stored) -> Result<(), GraphError> {
    match stored.kind {
        RecordKind::Source => loading.source(&stored.parse::<Source>().map_err(GraphError::Store)?),
        RecordKind::Node => loading.node(&stored.parse::<Node>().map_err(GraphError::Store)?),
        RecordKind::Edge => loading.edge(&head(stored).map_err(GraphError::Store)?)?,
        RecordKind::Document => {}
    }
    Ok(())
}

fn head(stored: &read::Stored) -> Result<EdgeHead<'_>, StoreError> {
    serde_json::from_str(&stored.body).map_err(|_| StoreError::other("an edge cannot be read as one"))
}

/// What changed after a version, up to another one that is the newest of the reader's snapshot.
async fn read_changes(
    reader: &mut Reader,
    organisation_id: &str,
    version: i64,
    latest: i64,
) -> Result<Changes, StoreError> {
    let mut last_word: BTreeMap<(RecordKind, String), bool> = BTreeMap::new();
    let mut at = version;
    while at < latest {
        let page = batches::after(reader, organisation_id, at).await?;
        let Some(last) = page.last() else { break };
        at = last.number;
        let changes = page.into_iter().flat_map(|batch| batch.changes);
        let of_graph = changes.filter(|change| change.kind != RecordKind::Document);
        last_word.extend(of_graph.map(|change| ((change.kind, change.id), change.sha256.is_some())));
    }
    let mut changes = Changes { version: latest, ..Changes::default() };
    for kind in [RecordKind::Source, RecordKind::Node, RecordKind::Edge] {
        let of = |is_there: bool| {
            let all = last_word.iter().filter(move |((of, _), there)| *of == kind && **there == is_there);
            all.map(|((_, id), _)| id.as_str()).collect::<Vec<&str>>()
        };
        let mut stored = read::find(reader, organisation_id, kind, &of(true)).await?;
        // The order decides the numbers of nodes; nothing else depends on it, and so it is always the same.
        stored.sort_by(|a, b| a.id.cmp(&b.id));
        stored.dedup_by(|a, b| a.id == b.id);
        let gone = of(false).into_iter().map(str::to_owned).collect();
        match kind {
            RecordKind::Source => changes.sources = stored.iter().map(read::Stored::parse).collect::<Result<_, _>>()?,
            RecordKind::Node => {
                changes.nodes = stored.iter().map(read::Stored::parse).collect::<Result<_, _>>()?;
                changes.gone_nodes = gone;
            }
            RecordKind::Edge => {
                let owned = |stored: &read::Stored| head(stored).map(EdgeHead::into_owned);
                changes.edges = stored.iter().map(owned).collect::<Result<_, _>>()?;
                changes.gone_edges = gone;
            }
            RecordKind::Document => {}
        }
    }
    Ok(changes)
}

/// Where the snapshot of an organisation's graph stands, for whoever throws it away.
pub fn snapshot_path(folder: &Path, organisation_id: &str) -> PathBuf {
    snapshot::path(folder, organisation_id)
}
