//! The libraries of all organisations of a process, each as new as the record.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use contract::model::{EmbedError, Embedder, ModelCard, Side};
use sha2::{Digest as _, Sha256};
use store::{Conn, Reader};

use super::embeddings::{self, Embedded};
use super::entry::Entry;
use super::hybrid::Library;
use super::index::WHAT;
use super::keeping::{Keep, KeepError};
use super::lexicon::Lexicon;
use super::vectors::Vectors;
use crate::record::batches;
use crate::sealing::{Seal, Sealing, Subject};

/// How often a process looks for vectors that another one made.
const VECTORS_EVERY: Duration = Duration::from_secs(2);

/// Shared by all calls of a process. Cloning it is cheap.
#[derive(Debug, Clone)]
pub struct Searches(Arc<Inner>);

/// Read when it is first needed: not every command searches.
type Later<T> = LazyLock<T, Box<dyn FnOnce() -> T + Send>>;

/// The model in use, if any; or why the one that was chosen cannot be used, in words for whoever searches.
pub type Chosen = Result<Option<Arc<dyn Embedder>>, String>;

struct Inner {
    folder: PathBuf,
    sealing: OnceLock<Sealing>,
    embedder: Later<Chosen>,
    lexicon: Later<Arc<Lexicon>>,
    organisations: Mutex<HashMap<String, Arc<Place>>>,
    /// Held by whoever makes an index anew.
    rebuilding: tokio::sync::Mutex<()>,
}

/// Whoever brings an index up to date holds it; the others wait, and find it done.
type Place = tokio::sync::Mutex<Option<Held>>;

struct Held {
    keep: Keep,
    library: Library,
    vectors: Arc<Vectors>,
    /// Entries that a vector may still come for.
    n_lacking: usize,
    looked_at: Instant,
}

/// A library with the change number that it is at.
#[derive(Clone)]
pub struct Current {
    pub library: Library,
    pub version: i64,
    /// Entries that a vector may still come for.
    pub n_lacking: usize,
}

impl Held {
    fn current(&self) -> Current {
        Current { library: self.library.clone(), version: self.keep.version(), n_lacking: self.n_lacking }
    }
}

impl Searches {
    /// `folder` is where the indexes stand. Without an embedder words alone are searched.
    pub fn new(
        folder: PathBuf,
        embedder: impl FnOnce() -> Chosen + Send + 'static,
        lexicon: impl FnOnce() -> Lexicon + Send + 'static,
    ) -> Searches {
        Searches(Arc::new(Inner {
            folder,
            sealing: OnceLock::new(),
            embedder: LazyLock::new(Box::new(embedder)),
            lexicon: LazyLock::new(Box::new(move || Arc::new(lexicon()))),
            organisations: Mutex::default(),
            rebuilding: tokio::sync::Mutex::default(),
        }))
    }

    /// Gives it what seals its files, once. Without it no index of the folder is believed.
    pub fn attach(&self, sealing: Sealing) {
        if self.0.sealing.set(sealing).is_err() {
            tracing::debug!("The indexes have their secret already");
        }
    }

    async fn seal(&self, reader: &mut Reader, organisation_id: &str) -> Result<Seal, KeepError> {
        let sealing = self.0.sealing.get().cloned().unwrap_or_else(|| Sealing::new(&[]));
        Ok(sealing.of(WHAT, &Subject::find(reader, organisation_id).await?))
    }

    /// Reads model and dictionaries, in a thread that may block.
    async fn load(&self) -> Result<(), KeepError> {
        let inner = Arc::clone(&self.0);
        let reading = tokio::task::spawn_blocking(move || {
            LazyLock::force(&inner.embedder);
            LazyLock::force(&inner.lexicon);
        });
        reading.await.map_err(KeepError::Broken)
    }

    fn embedder(&self) -> Option<&dyn Embedder> {
        self.0.embedder.as_ref().ok()?.as_deref()
    }

    pub fn model(&self) -> Option<&ModelCard> {
        self.embedder().map(Embedder::card)
    }

    /// Why the model that was chosen cannot be used; `None` where it can, or none was chosen.
    pub fn model_fault(&self) -> Option<&str> {
        self.0.embedder.as_ref().err().map(String::as_str)
    }

    pub fn has_lexicon(&self) -> bool {
        !self.0.lexicon.is_empty()
    }

    pub async fn embed_question(&self, question: &str) -> Result<Option<Vec<f32>>, EmbedError> {
        match self.embedder() {
            Some(embedder) => Ok(embedder.embed(vec![question.to_owned()], Side::Query).await?.pop()),
            None => Ok(None),
        }
    }

    /// The library of an organisation at the record's last change.
    pub async fn current(&self, mut reader: Reader, organisation_id: &str) -> Result<Current, KeepError> {
        let mut held = self.place(organisation_id).lock_owned().await;
        let latest = batches::latest(&mut reader, organisation_id).await?;
        if let Some(now) = held.as_ref().filter(|now| now.keep.version() == latest && !Searches::lacks_vectors(now)) {
            return Ok(now.current());
        }
        // In a task of its own: a caller who gives up leaves the work to go on, and the next one finds it done.
        let (searches, organisation_id) = (self.clone(), organisation_id.to_owned());
        let bringing = tokio::spawn(async move {
            let (keep, vectors, is_new) = match held.take() {
                Some(now) => (now.keep, now.vectors, false),
                None => {
                    searches.load().await?;
                    let seal = searches.seal(&mut reader, &organisation_id).await?;
                    (Keep::open(&searches.folder(&organisation_id), &seal)?, Arc::new(searches.no_vectors()), true)
                }
            };
            let keep = keep.follow(&mut reader, &organisation_id).await?;
            let vectors = searches.read_vectors(&mut reader, &organisation_id, vectors, is_new).await?;
            let now = searches.hold(keep, vectors)?;
            let current = now.current();
            *held = Some(now);
            Ok(current)
        });
        bringing.await.map_err(KeepError::Broken)?
    }

    /// Makes the index of an organisation anew in the background: it was found to say other things than the record.
    pub fn renew(&self, reader: Reader, organisation_id: &str) {
        let (searches, organisation_id) = (self.clone(), organisation_id.to_owned());
        tokio::spawn(async move {
            let is_under_way = searches.0.rebuilding.try_lock().is_err();
            if is_under_way {
                return;
            }
            if let Err(error) = searches.rebuild(reader, &organisation_id).await {
                tracing::warn!(error = %error, "The text index could not be made anew; the next search tries again");
            }
        });
    }

    /// Makes the index of an organisation anew from the record, beside the one in use, which answers until it is done.
    pub async fn rebuild(&self, mut reader: Reader, organisation_id: &str) -> Result<(), KeepError> {
        let (searches, organisation_id) = (self.clone(), organisation_id.to_owned());
        // As in `current`: a caller who gives up leaves the work to go on.
        let rebuilding = tokio::spawn(async move {
            let _one_at_a_time = searches.0.rebuilding.lock().await;
            let folder = searches.folder(&organisation_id);
            let made = folder.with_extension("made");
            let seal = searches.seal(&mut reader, &organisation_id).await?;
            Keep::make(made.clone(), seal, &mut reader, &organisation_id).await?;
            let mut held = searches.place(&organisation_id).lock_owned().await;
            let before = held.take();
            // Answers that are being worked out keep the files that they have open.
            let replacing = tokio::task::spawn_blocking(move || {
                before.map_or(Ok(()), |before| before.keep.close())?;
                Keep::replace(&folder, &made)
            });
            // Whoever comes next opens it, and follows what changed meanwhile.
            replacing.await.map_err(KeepError::Broken)?
        });
        rebuilding.await.map_err(KeepError::Broken)?
    }

    /// Entries of an organisation that a vector may still come for, as far as this process knows.
    pub async fn n_lacking(&self, organisation_id: &str) -> usize {
        self.place(organisation_id).lock().await.as_ref().map_or(0, |held| held.n_lacking)
    }

    fn hold(&self, keep: Keep, vectors: Arc<Vectors>) -> Result<Held, KeepError> {
        let lexicon = Arc::clone(&self.0.lexicon);
        let library = Library::new(keep.snapshot()?, Arc::clone(&vectors), keep.gazetteer(), lexicon);
        let n_lacking = self.model().map_or(0, |model| library.n_without_vectors(model));
        Ok(Held { keep, library, vectors, n_lacking, looked_at: Instant::now() })
    }

    /// The vectors of these entries, as the model in use gives them.
    pub async fn embed(&self, entries: &[Entry]) -> Result<Vec<Embedded>, EmbedError> {
        let Some(embedder) = self.embedder() else { return Ok(Vec::new()) };
        let mut all = Vec::new();
        for entry in entries {
            let made = embedder.embed(embeddings::texts(entry), Side::Passage).await?;
            all.push(Embedded { content: entry.content_hash(), windows: embeddings::vectors(entry, made) });
        }
        Ok(all)
    }

    /// Takes vectors that were just put into the record.
    pub async fn add_vectors(&self, organisation_id: &str, embedded: &[Embedded]) -> Result<(), KeepError> {
        let place = self.place(organisation_id);
        let mut held = place.lock().await;
        let Some(Held { keep, vectors, .. }) = held.take() else { return Ok(()) };
        let mut more = Vectors::clone(&vectors);
        embedded.iter().for_each(|one| more.insert(one.content.short(), &one.windows));
        *held = Some(self.hold(keep, Arc::new(more))?);
        Ok(())
    }

    fn lacks_vectors(held: &Held) -> bool {
        held.n_lacking > 0 && held.looked_at.elapsed() >= VECTORS_EVERY
    }

    async fn read_vectors(
        &self,
        conn: &mut Conn,
        organisation_id: &str,
        vectors: Arc<Vectors>,
        is_new: bool,
    ) -> Result<Arc<Vectors>, KeepError> {
        let Some(model) = self.model() else { return Ok(vectors) };
        let n_kept = embeddings::count(conn, organisation_id, &model.sha256).await?;
        if !is_new && usize::try_from(n_kept).is_ok_and(|n_kept| n_kept == vectors.n_contents()) {
            return Ok(vectors);
        }
        let mut all = Vectors::new(model.n_dimensions);
        let mut after = String::new();
        loop {
            let page = embeddings::page(conn, organisation_id, &model.sha256, &after, model.n_dimensions).await?;
            let Some(last) = page.last() else { break };
            after = hex::encode(last.content.0);
            page.iter().for_each(|one| all.insert(one.content.short(), &one.windows));
        }
        Ok(Arc::new(all))
    }

    fn no_vectors(&self) -> Vectors {
        Vectors::new(self.model().map_or(0, |model| model.n_dimensions))
    }

    fn place(&self, organisation_id: &str) -> Arc<Place> {
        let mut organisations = self.0.organisations.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::clone(organisations.entry(organisation_id.to_owned()).or_default())
    }

    /// A name that every file system takes.
    fn folder(&self, organisation_id: &str) -> PathBuf {
        let name = hex::encode(Sha256::digest(organisation_id));
        self.0.folder.join(name.get(..16).unwrap_or(&name))
    }
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Searches").field("folder", &self.folder).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Held {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Held").field("version", &self.keep.version()).finish_non_exhaustive()
    }
}
