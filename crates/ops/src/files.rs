//! Keeps the files beside the record: shown after the commit and before the answer, mended at the start.
//!
//! The outbox is no part of the record and has no events: it only says which files may be behind.

mod follow;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::hash::{BuildHasher as _, BuildHasherDefault, DefaultHasher};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use contract::error::{Kind, OpError};
use store::{Applied, Apply, Keep, Store, StoreError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use workflow::address::Address;
use workflow::artifacts::{self, ArtifactRow, NewArtifact, Place, Waiting, Whole};
use workflow::projection::{Found, ProjectionError, Root, Staged};

pub use follow::FilesPlace;
pub(crate) use follow::{ARTIFACT, parse_document};

/// How soon written files are forgotten, and failed ones tried again.
const KEEP_EVERY: Duration = Duration::from_secs(1);
/// How long an answer waits for its files; the record is safe by then.
const WRITE_WAIT_MAX: Duration = Duration::from_secs(5);
const DELETE_WAIT_MAX: Duration = Duration::from_secs(10);
const WAITING_MAX: u32 = 1_000;
/// Documents whose files are remembered to be tried again; beyond them all files are compared.
const FAILED_MAX: usize = 1_000;
const CHECK_PAGE: i64 = 200;
/// Writers of one document take turns, and two documents rarely meet.
const N_TURNS: usize = 64;
/// Documents whose files are written ahead at once; each holds open files.
const N_STAGED_MAX: usize = 32;

/// Organisation, project, key and version of a document.
type Key = (String, String, String, u32);

struct Inner {
    root: Root,
    default_project_id: String,
    store: Store,
    turns: Vec<tokio::sync::Mutex<()>>,
    staging: Arc<Semaphore>,
    written: Mutex<HashMap<Key, Waiting>>,
    /// Folders with new names in them, by organisation and place, each with one of the addresses.
    unsynced: Mutex<BTreeMap<(String, Vec<String>), Address>>,
    /// Which revision of a version was written here last, as far as this process remembers.
    revisions: Mutex<HashMap<Key, u32>>,
    failed: Mutex<Failed>,
    stop: CancellationToken,
}

#[derive(Clone)]
pub struct Files {
    inner: Arc<Inner>,
    keeper: Arc<Mutex<Option<JoinHandle<()>>>>,
}

/// What could not be written here and is tried again. The list of what is to be written cannot tell: servers with files of
/// their own share it, and one of them may take off what another has yet to write.
#[derive(Default)]
struct Failed {
    documents: HashMap<Key, (Waiting, Whose)>,
    /// There were more than are remembered.
    has_more: bool,
    is_list_unread: bool,
}

/// Whose change it was; who made it takes it off the list of what is to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Whose {
    Ours,
    Others,
}

/// What whoever wants files written knows of the document.
enum Known {
    /// Which version it is of.
    Row(Waiting),
    /// All of it, as it is where nobody has changed it since it was stored; with its files, where they are written ahead.
    New(Arc<NewArtifact>, Option<Staging>),
}

/// Files of a document that is being stored, on their way to the disk. Dropped, they are gone.
pub struct Staging {
    writing: JoinHandle<Option<Staged>>,
    _permit: OwnedSemaphorePermit,
}

/// What a comparison of all files with the record found.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct FilesReport {
    pub n_checked: u64,
    /// Files that were missing, or of an earlier state of the record, and are written now.
    pub n_written: u64,
    /// Files that say something else than the record. They stay as they are.
    pub n_changed: u64,
    /// The first of them.
    pub changed: Vec<String>,
    pub n_failed: u64,
    /// Files below the root that belong to no document.
    pub n_strays: u64,
    /// The first of them.
    pub strays: Vec<String>,
}

/// Files that a report names.
const NAMED_MAX: usize = 20;

impl Files {
    /// The organisation whose house this is.
    pub(crate) fn home_organisation_id(&self) -> &str {
        self.inner.root.home_organisation_id()
    }

    pub fn start(store: Store, root: Root, default_project_id: String) -> Files {
        let inner = Arc::new(Inner {
            root,
            default_project_id,
            store,
            turns: (0..N_TURNS).map(|_| tokio::sync::Mutex::new(())).collect(),
            staging: Arc::new(Semaphore::new(N_STAGED_MAX)),
            written: Mutex::default(),
            unsynced: Mutex::default(),
            revisions: Mutex::default(),
            failed: Mutex::default(),
            stop: CancellationToken::new(),
        });
        let keeper = tokio::spawn(keep(Arc::clone(&inner)));
        Files { inner, keeper: Arc::new(Mutex::new(Some(keeper))) }
    }

    /// Refuses a place that leads through a link.
    pub async fn check(&self, organisation_id: &str, address: &Address) -> Result<(), OpError> {
        let (root, organisation_id, address) = (self.inner.root.clone(), organisation_id.to_owned(), address.clone());
        let checked = tokio::task::spawn_blocking(move || root.check(&organisation_id, &address)).await;
        match checked.map_err(OpError::internal)? {
            Ok(()) => Ok(()),
            Err(error @ ProjectionError::NotAFolder { .. }) => {
                tracing::warn!(error = %error, "A link was planted among the documents");
                let mut refusal = OpError::new(Kind::Invalid, error.to_string());
                refusal.details.more.insert("validation_failed".to_owned(), "link_check".into());
                Err(refusal)
            }
            // Whether the disk can be written to shows when it is written to; the record does not depend on it.
            Err(ProjectionError::Io { .. }) => Ok(()),
        }
    }

    /// Whether something that is no document of ours stands at an address.
    pub async fn is_planted(&self, organisation_id: &str, address: &Address) -> bool {
        let (root, organisation_id, address) = (self.inner.root.clone(), organisation_id.to_owned(), address.clone());
        tokio::task::spawn_blocking(move || root.is_planted(&organisation_id, &address)).await.unwrap_or(false)
    }

    /// Writes the files of a committed change. A failure is tried again later: the record has everything.
    pub async fn write(&self, row: &ArtifactRow) {
        self.write_as(Known::Row(Waiting::from(row))).await;
    }

    /// As [`Files::write`], for a document that has just been stored for the first time.
    pub async fn write_new(&self, new: Arc<NewArtifact>, staging: Option<Staging>) {
        self.write_as(Known::New(new, staging)).await;
    }

    /// Begins to write the files of a document before it is stored, so that the disk works while the database does. Nothing
    /// is to be seen of them until [`Files::write_new`]. `None` where too many wait already.
    pub fn stage(&self, new: &Arc<NewArtifact>) -> Option<Staging> {
        let permit = Arc::clone(&self.inner.staging).try_acquire_owned().ok()?;
        let (root, new) = (self.inner.root.clone(), Arc::clone(new));
        let address = new.row.address(&self.inner.default_project_id);
        let writing = tokio::task::spawn_blocking(move || root.stage(&new.row, &address, &new.content));
        Some(Staging { writing, _permit: permit })
    }

    async fn write_as(&self, known: Known) {
        let inner = Arc::clone(&self.inner);
        // A task of its own: an answer that waits no longer must not stop the write half way.
        let writing = tokio::spawn(async move { inner.write(known).await });
        if tokio::time::timeout(WRITE_WAIT_MAX, writing).await.is_err() {
            tracing::error!("The files of a document take long to write; the answer leaves before them");
        }
    }

    /// Writes what a crash left behind.
    pub async fn mend(&self) {
        self.inner.mend().await;
    }

    /// Compares every file with the record and writes those that are missing or old.
    pub async fn check_all(&self) -> Result<FilesReport, StoreError> {
        self.inner.check_all().await
    }

    pub async fn close(&self) {
        self.inner.stop.cancel();
        let keeper = self.keeper.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(keeper) = keeper
            && keeper.await.is_err()
        {
            tracing::error!("The keeper of files panicked");
        }
    }
}

fn key(waiting: &Waiting) -> Key {
    (waiting.organisation_id.clone(), waiting.project_id.clone(), waiting.key.clone(), waiting.version)
}

async fn keep(inner: Arc<Inner>) {
    loop {
        let is_over = tokio::select! {
            () = inner.stop.cancelled() => true,
            () = tokio::time::sleep(KEEP_EVERY) => false,
        };
        inner.forget_written().await;
        if is_over {
            return;
        }
        inner.try_again().await;
    }
}

impl Inner {
    /// Writes the newest state of a version, and takes it off the list of what is to be written.
    async fn write(&self, known: Known) {
        if let Some((key, written)) = self.put(known, Whose::Ours).await {
            self.written.lock().unwrap_or_else(PoisonError::into_inner).insert(key, written);
        }
    }

    /// Writes the newest state of a version, whatever state the caller knew. Returns which one that was.
    async fn put(&self, known: Known, whose: Whose) -> Option<(Key, Waiting)> {
        let waiting = match &known {
            Known::Row(waiting) => waiting.clone(),
            Known::New(new, _) => Waiting::from(&new.row),
        };
        let hash = BuildHasherDefault::<DefaultHasher>::default().hash_one((&waiting.project_id, &waiting.key));
        let turn = usize::try_from(hash).unwrap_or(0) % N_TURNS;
        let _turn = self.turns.get(turn)?.lock().await;
        let written = match known {
            Known::New(new, staging) => match self.write_first(new, staging).await {
                // Whoever changed the document in between has written its files, or is about to.
                Ok(false) => self.write_newest(&waiting).await,
                Ok(true) => Ok(waiting.clone()),
                Err(error) => Err(error),
            },
            Known::Row(waiting) => self.write_newest(&waiting).await,
        };
        match written {
            Ok(written) => {
                let key = key(&written);
                self.remember(key.clone(), written.revision);
                Some((key, written))
            }
            Err(error) => {
                self.note_failed(waiting, whose);
                metrics::counter!("materia_file_failures_total").increment(1);
                let cause = std::error::Error::source(&*error).map(ToString::to_string);
                tracing::error!(error = %error, cause, "The files of a document could not be written; trying again");
                None
            }
        }
    }

    /// Writes the first files of a document from what is at hand. Returns whether there were none yet.
    async fn write_first(
        &self,
        new: Arc<NewArtifact>,
        staging: Option<Staging>,
    ) -> Result<bool, Box<dyn std::error::Error + Send + Sync>> {
        let staged = match staging {
            Some(staging) => staging.writing.await?,
            None => None,
        };
        let address = new.row.address(&self.default_project_id);
        // Where no names can be given, the usual way finds out what stands there, or what is wrong.
        let is_put = match staged {
            Some(staged) => tokio::task::spawn_blocking(move || staged.put()).await?,
            None => false,
        };
        if is_put {
            let folder = address.folders().into_iter().map(str::to_owned).collect();
            let mut unsynced = self.unsynced.lock().unwrap_or_else(PoisonError::into_inner);
            unsynced.insert((new.row.organisation_id.clone(), folder), address);
            return Ok(true);
        }
        let root = self.root.clone();
        Ok(tokio::task::spawn_blocking(move || root.write_new(&new.row, &address, &new.content)).await??)
    }

    /// Makes sure that new names will survive a crash: until then the list of what is to be written has their documents.
    async fn sync_folders(&self) -> Result<(), Box<dyn std::error::Error + Send + Sync>> {
        let folders = std::mem::take(&mut *self.unsynced.lock().unwrap_or_else(PoisonError::into_inner));
        if folders.is_empty() {
            return Ok(());
        }
        let root = self.root.clone();
        let synced = tokio::task::spawn_blocking(move || {
            folders.iter().try_for_each(|((organisation_id, _), address)| root.sync_folder(organisation_id, address))
        });
        Ok(synced.await??)
    }

    async fn write_newest(&self, waiting: &Waiting) -> Result<Waiting, Box<dyn std::error::Error + Send + Sync>> {
        let mut reader = self.store.read().await?;
        let place = Place { organisation_id: &waiting.organisation_id, project_id: &waiting.project_id };
        let found = artifacts::find_whole(&mut reader, place, &waiting.key, waiting.version).await?;
        drop(reader);
        let Some(Whole { row, content, known_sha256 }) = found else {
            return Ok(waiting.clone());
        };
        let (root, address, written) = (self.root.clone(), row.address(&self.default_project_id), Waiting::from(&row));
        let file_path = address.path();
        let kept = tokio::task::spawn_blocking(move || root.write(&row, &address, &content, &known_sha256)).await??;
        if let Some(kept_as) = kept {
            tracing::warn!(
                file_path,
                kept_as,
                "A file was changed by other hands; the edit is kept beside the record's"
            );
        }
        Ok(written)
    }

    async fn forget_written(&self) {
        let written: Vec<Waiting> =
            self.written.lock().unwrap_or_else(PoisonError::into_inner).drain().map(|(_, waiting)| waiting).collect();
        if written.is_empty() {
            return;
        }
        if let Err(error) = self.sync_folders().await {
            written.into_iter().for_each(|waiting| self.note_failed(waiting, Whose::Ours));
            tracing::error!(error = %error, "The names of new files may not survive a crash; writing them again");
            return;
        }
        let written = Arc::new(written);
        let apply: Apply<()> = Box::new({
            let written = Arc::clone(&written);
            move |tx| {
                let written = Arc::clone(&written);
                Box::pin(async move {
                    artifacts::delete_written(tx, &written).await?;
                    Ok(Applied { value: (), event: None, keep: Keep::Changes })
                })
            }
        });
        let lane = Some("artifact_outbox".to_owned());
        if let Err(error) = self.store.write(lane, Instant::now() + DELETE_WAIT_MAX, apply).await {
            // They are written once more at the next start, which harms nothing.
            tracing::warn!(error = %error, "Written files could not be taken off the list");
        }
    }

    fn note_failed(&self, waiting: Waiting, whose: Whose) {
        let mut failed = self.failed.lock().unwrap_or_else(PoisonError::into_inner);
        let key = key(&waiting);
        if failed.documents.len() >= FAILED_MAX && !failed.documents.contains_key(&key) {
            failed.has_more = true;
            return;
        }
        // Ours stays ours when the feed brings it too.
        let whose =
            failed.documents.get(&key).map_or(whose, |(_, known)| if *known == Whose::Ours { *known } else { whose });
        failed.documents.insert(key, (waiting, whose));
    }

    async fn try_again(&self) {
        let failed = std::mem::take(&mut *self.failed.lock().unwrap_or_else(PoisonError::into_inner));
        if failed.is_list_unread {
            self.mend().await;
        }
        for (waiting, whose) in failed.documents.into_values() {
            match whose {
                Whose::Ours => self.write(Known::Row(waiting)).await,
                Whose::Others => drop(self.put(Known::Row(waiting), whose).await),
            }
        }
        if !failed.has_more {
            return;
        }
        let fails_still = !self.failed.lock().unwrap_or_else(PoisonError::into_inner).documents.is_empty();
        if fails_still || self.check_all().await.is_err() {
            self.failed.lock().unwrap_or_else(PoisonError::into_inner).has_more = true;
        }
    }

    /// Writes all that is on the list. Some of it may be another server's, whose own files are compared when it starts.
    async fn mend(&self) {
        let waiting = match self.store.read().await {
            Ok(mut reader) => artifacts::read_waiting(&mut reader, WAITING_MAX).await,
            Err(error) => Err(error),
        };
        match waiting {
            Ok(waiting) => {
                for waiting in waiting {
                    self.write(Known::Row(waiting)).await;
                }
                self.forget_written().await;
            }
            Err(error) => {
                self.failed.lock().unwrap_or_else(PoisonError::into_inner).is_list_unread = true;
                tracing::warn!(error = %error, "The list of files to be written cannot be read");
            }
        }
    }

    async fn check_all(&self) -> Result<FilesReport, StoreError> {
        let mut report = FilesReport::default();
        let mut known = HashSet::new();
        let mut after = (String::new(), String::new(), String::new(), 0);
        loop {
            let mut reader = self.store.read().await?;
            let rows = artifacts::read_all(&mut reader, (&after.0, &after.1, &after.2, after.3), CHECK_PAGE).await?;
            drop(reader);
            let Some(last) = rows.last() else {
                let root = self.root.clone();
                let strays = tokio::task::spawn_blocking(move || root.find_strays(&known)).await.unwrap_or_default();
                report.n_strays = u64::try_from(strays.len()).unwrap_or(u64::MAX);
                report.strays = strays.into_iter().take(NAMED_MAX).map(|place| format!("artifacts/{place}")).collect();
                return Ok(report);
            };
            after = (last.organisation_id.clone(), last.project_id.clone(), last.key.clone(), last.version);
            for row in rows {
                report.n_checked += 1;
                known.extend(self.root.places(&row.organisation_id, &row.address(&self.default_project_id)));
                match self.compare(&row).await {
                    Ok(Found::Same) => {}
                    Ok(Found::Missing | Found::Old) => {
                        report.n_written += 1;
                        self.put(Known::Row(Waiting::from(&row)), Whose::Others).await;
                    }
                    Ok(Found::Changed) => {
                        report.n_changed += 1;
                        let file_path = row.address(&self.default_project_id).path();
                        // Either of them may have been changed by other hands, and the log knows the record alone.
                        tracing::warn!(
                            file_path,
                            "A file and the record differ; `materia audit verify` checks the record"
                        );
                        if report.changed.len() < NAMED_MAX {
                            report.changed.push(file_path);
                        }
                    }
                    Err(error) => {
                        report.n_failed += 1;
                        tracing::warn!(error = %error, "A file could not be compared with the record");
                    }
                }
            }
        }
    }

    async fn compare(&self, row: &ArtifactRow) -> Result<Found, Box<dyn std::error::Error + Send + Sync>> {
        let mut reader = self.store.read().await?;
        let content = artifacts::read_content(&mut reader, &row.organisation_id, &row.content_sha256).await?;
        drop(reader);
        match self.compare_with(row.clone(), content, Vec::new()).await? {
            Found::Changed => self.compare_again(row).await,
            found @ (Found::Same | Found::Missing | Found::Old) => Ok(found),
        }
    }

    /// Compares what differs with all that the version ever was, as the record is by now.
    async fn compare_again(&self, row: &ArtifactRow) -> Result<Found, Box<dyn std::error::Error + Send + Sync>> {
        let place = Place { organisation_id: &row.organisation_id, project_id: &row.project_id };
        let mut reader = self.store.read().await?;
        let found = artifacts::find_whole(&mut reader, place, &row.key, row.version).await?;
        let Some(Whole { row, content, .. }) = found else { return Ok(Found::Changed) };
        let earlier = artifacts::list_earlier(&mut reader, &row).await?;
        drop(reader);
        self.compare_with(row, content, earlier).await
    }

    async fn compare_with(
        &self,
        row: ArtifactRow,
        content: String,
        earlier: Vec<ArtifactRow>,
    ) -> Result<Found, Box<dyn std::error::Error + Send + Sync>> {
        let (root, address) = (self.root.clone(), row.address(&self.default_project_id));
        Ok(tokio::task::spawn_blocking(move || root.compare(&row, &address, &content, &earlier)).await??)
    }
}
