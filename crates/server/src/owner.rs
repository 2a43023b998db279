//! One owner per data folder. The first process to come owns it; the others call the owner over a socket in the
//! folder, and one of them takes over when it dies.

mod asked_tasks;
pub mod database;
pub mod feed;
mod files;
mod guest;
pub mod keys;
mod master_key;
pub mod notary;
mod noted;
mod replies;
mod socket;
mod standing;
mod starter_data;
mod wire;
pub mod witnesses;

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use crate::settings::witness::{self, Witness};
use crate::telemetry::traces::Side;
use contract::actor::Actor;
use contract::error::OpError;
use contract::id::{IdempotencyKey, KeyId, OrganisationId};
use noted::Noting;
use ops::keys::FoundKey;
use ops::refusals::RefusalCounter;
use ops::{Call, Clock, Entry, Platform, Reply, Services, Table, TableError, Unrecorded};
use replies::{NO_OWNER, silent_reply, unreachable_reply};
use store::{OwnerLock, Store, Target};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use witnesses::Witnesses;
use workflow::projection::Root;

/// How long a call waits for somebody to own the folder.
const OWNER_WITHIN: Duration = Duration::from_secs(10);
/// How long after its deadline a call's reply may take to come from the owner.
const REPLY_GRACE: Duration = Duration::from_secs(2);
const RETRY_EVERY: Duration = Duration::from_millis(20);
/// How long a caller who shows a key waits for somebody to own the folder.
const KEY_WITHIN: Duration = Duration::from_secs(3);
/// How soon an idle guest notices that the owner is gone.
const LOOK_EVERY: Duration = Duration::from_secs(1);
const RECORD_REFUSALS_EVERY: Duration = Duration::from_secs(10);

#[derive(Debug, thiserror::Error)]
pub enum HouseError {
    #[error("the data folder `{path}` cannot be used")]
    Folder { path: PathBuf, source: store::OwnerError },
    #[error("the database cannot be opened")]
    Store(#[source] store::OpenError),
    #[error("the operation table is wrong")]
    Table(#[source] TableError),
    #[error("the operations cannot start")]
    Platform(#[source] ops::OpenError),
    #[error("the log's key cannot be used")]
    Key(#[source] keys::KeyFileError),
    #[error("the log is not what it was")]
    Rollback(#[source] notary::RollbackError),
    #[error("the witnesses cannot be used")]
    Witnesses(#[source] witnesses::WitnessesError),
    #[error("the owner of this data folder uses another database; leave out --database-url, or give another --data")]
    OtherDatabase,
    #[error("the owner of the data folder could not be asked for its database")]
    Guest(#[source] guest::GuestError),
    #[error("what was erased could not be erased again in this database, which may be an older one")]
    Destroyed(#[source] OpError),
    #[error("the owner's socket in `{path}` cannot be opened")]
    Socket { path: PathBuf, source: std::io::Error },
}

/// What becomes of the facts that come with the program when this process takes over a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StarterData {
    /// They are loaded where they are due and the settings want them.
    Load,
    Leave,
}

pub struct HouseOptions {
    pub folder: PathBuf,
    /// Whose starter data the house keeps.
    pub organisation_id: OrganisationId,
    /// Who only looks adds nothing to what they look at.
    pub starter_data: StarterData,
    pub database_url: Option<String>,
    pub entries: &'static [Entry],
    pub settings: ops::Settings,
    pub services: Services,
    pub clock: Clock,
    /// Where documents stand as files.
    pub files: Root,
    /// `ledger.key` in the folder when absent.
    pub ledger_key_file: Option<PathBuf>,
    pub witnesses: Vec<Witness>,
    /// All of the witnesses when absent.
    pub witness_cosignatures_min: Option<usize>,
    /// A call that takes longer gets a line of its own in the log.
    pub slow_call_after: Option<Duration>,
}

/// The database of a data folder.
pub fn store_options(folder: &Path, database_url: Option<&str>) -> store::Options {
    let target = match database_url {
        Some(url) => Target::Postgres(url.to_owned()),
        None => Target::Sqlite(folder.join("materia.db")),
    };
    store::Options {
        target,
        migrations: ops::migrations(),
        n_connections_max: ops::limits::CONNECTIONS_MAX,
        write_queue_max: ops::limits::WRITE_QUEUE_MAX,
        batch_max: ops::limits::WRITE_BATCH_MAX,
    }
}

/// Whether a running process owns the folder and answers in it.
pub fn has_owner(folder: &Path) -> bool {
    socket::path(folder).is_ok_and(|(address, _open)| std::os::unix::net::UnixStream::connect(address).is_ok())
}

/// The way to the door from any process.
pub struct House {
    options: HouseOptions,
    table: Arc<Table>,
    refusals: RefusalCounter,
    feed: feed::Feed,
    owned: RwLock<Option<Owned>>,
    /// Held while this process tries to become the owner.
    taking_over: Mutex<()>,
    /// The owner keeps its record in a database that this process has no address of.
    is_mere_guest: AtomicBool,
}

struct Owned {
    platform: Platform,
    socket: JoinHandle<()>,
    notary: JoinHandle<()>,
    witnesses: Arc<Witnesses>,
    stop_notary: CancellationToken,
    runner: JoinHandle<()>,
    stop_runner: CancellationToken,
    files_check: JoinHandle<()>,
    taking_back: JoinHandle<()>,
    _lock: OwnerLock,
}

impl House {
    /// Owns the folder if nobody does, else becomes a guest of the process that does.
    pub async fn enter(options: HouseOptions) -> Result<Arc<House>, HouseError> {
        let table = Arc::new(Table::compile(options.entries).map_err(HouseError::Table)?);
        let house = Arc::new(House {
            options,
            table,
            refusals: RefusalCounter::default(),
            feed: feed::Feed::default(),
            owned: RwLock::new(None),
            taking_over: Mutex::new(()),
            is_mere_guest: AtomicBool::new(false),
        });
        house.take_over().await?;
        house.check_database().await?;
        tokio::spawn(look_after(Arc::downgrade(&house)));
        tokio::spawn(feed::follow(Arc::downgrade(&house)));
        Ok(house)
    }

    /// Refuses to be the guest of an owner with another database than the one that was asked for.
    async fn check_database(&self) -> Result<(), HouseError> {
        let Some(url) = self.options.database_url.as_deref() else {
            self.learn_database().await;
            return Ok(());
        };
        let give_up = Instant::now() + OWNER_WITHIN;
        while !self.is_owner() {
            match guest::has_database(&self.options.folder, database::identity(Some(url))).await {
                Ok(true) => return Ok(()),
                Ok(false) => return Err(HouseError::OtherDatabase),
                Err(error) if error.is_silence() || Instant::now() > give_up => return Err(HouseError::Guest(error)),
                // It is about to start or to end.
                Err(_) => tokio::time::sleep(RETRY_EVERY).await,
            }
            self.take_over().await?;
        }
        Ok(())
    }

    /// Who named no database is the guest of any owner. After an owner with a database elsewhere, they would begin an
    /// empty record in the folder; they never take over.
    async fn learn_database(&self) {
        if !self.is_owner()
            && let Ok(false) = guest::has_database(&self.options.folder, database::identity(None)).await
        {
            self.is_mere_guest.store(true, Ordering::Relaxed);
        }
    }

    pub fn folder(&self) -> &Path {
        &self.options.folder
    }

    /// Where backups are made.
    pub fn backup_folder(&self) -> PathBuf {
        let set = self.options.settings.backup_folder.clone();
        set.unwrap_or_else(|| self.options.folder.join("backups"))
    }

    pub fn table(&self) -> &Arc<Table> {
        &self.table
    }

    pub fn services(&self) -> &Services {
        &self.options.services
    }

    pub fn is_owner(&self) -> bool {
        self.platform().is_some()
    }

    /// The platform, where this process owns the folder.
    pub fn platform(&self) -> Option<Platform> {
        let owned = self.owned.read().unwrap_or_else(std::sync::PoisonError::into_inner);
        owned.as_ref().map(|owned| owned.platform.clone())
    }

    /// Calls an operation, here or at the owner's.
    pub async fn call(&self, actor: &Actor, call: Call) -> Reply {
        let started = Instant::now();
        let operation = noted::name(&self.table, &call.operation);
        let side = if self.is_owner() { Side::Carried } else { Side::Forwarded };
        let reply = self.carry(actor, call).await;
        self.noting().note(operation, &reply, started.elapsed(), side);
        reply
    }

    fn noting(&self) -> Noting {
        Noting { slow_call_after: self.options.slow_call_after }
    }

    async fn carry(&self, actor: &Actor, mut call: Call) -> Reply {
        if let Some(platform) = self.platform() {
            return platform.call(actor, call).await;
        }
        // An owner that dies may have committed without answering: with a key, the same call to the next owner
        // answers as the first one would have.
        let tool = self.table.find(&call.operation);
        let is_write = tool.is_some_and(|tool| tool.entry.is_write);
        let deadline = tool.and_then(|tool| tool.entry.deadline).unwrap_or(self.options.settings.call_deadline);
        let within = deadline + REPLY_GRACE;
        if is_write && call.idempotency_key.is_none() {
            call.idempotency_key = IdempotencyKey::parse(&Uuid::new_v4().to_string()).ok();
        }
        let give_up = Instant::now() + OWNER_WITHIN;
        loop {
            if let Some(platform) = self.platform() {
                return platform.call(actor, call).await;
            }
            match guest::call(&self.options.folder, actor, &call, Instant::now() + within).await {
                Ok(reply) => return reply,
                Err(error) if error.is_silence() => return silent_reply(error, is_write),
                Err(error) if Instant::now() > give_up => return unreachable_reply(error),
                Err(error) => tracing::debug!(error = %error, "The owner did not answer"),
            }
            match self.take_over().await {
                Ok(()) => {}
                Err(error) if Instant::now() > give_up => return unreachable_reply(error),
                Err(error) => tracing::warn!(error = %error, "Could not take over the data folder"),
            }
            if !self.is_owner() {
                tokio::time::sleep(RETRY_EVERY).await;
            }
        }
    }

    /// The API key of this id, from here or from the owner.
    pub async fn find_key(&self, key_id: &KeyId) -> Result<FoundKey, OpError> {
        let give_up = Instant::now() + KEY_WITHIN;
        loop {
            if let Some(platform) = self.platform() {
                return platform.find_key(key_id).await;
            }
            let error = match guest::find_key(&self.options.folder, key_id).await {
                Ok(found) => return found,
                Err(error) => error,
            };
            if error.is_silence() || Instant::now() > give_up {
                return Err(OpError::busy(NO_OWNER, 1_000).with_source(error));
            }
            if let Err(error) = self.take_over().await {
                tracing::warn!(error = %error, "Could not take over the data folder");
            }
            tokio::time::sleep(RETRY_EVERY).await;
        }
    }

    /// The time by which things of this house expire, in microseconds since 1970.
    pub fn now_us(&self) -> i64 {
        self.options.clock.now_us()
    }

    /// Counts a request that was refused before anybody was authenticated.
    pub fn refusals(&self) -> &RefusalCounter {
        &self.refusals
    }

    /// Becomes the owner if there is none; otherwise stays what it is.
    async fn take_over(&self) -> Result<(), HouseError> {
        let _one_at_a_time = self.taking_over.lock().await;
        if self.is_owner() || self.is_mere_guest.load(Ordering::Relaxed) {
            return Ok(());
        }
        let folder = &self.options.folder;
        let lock =
            OwnerLock::try_acquire(folder).map_err(|source| HouseError::Folder { path: folder.clone(), source })?;
        let Some(lock) = lock else { return Ok(()) };
        let key_file = self.options.ledger_key_file.clone().unwrap_or_else(|| folder.join("ledger.key"));
        let known_key = keys::find(&key_file).map_err(HouseError::Key)?;
        let wrong = |error| HouseError::Witnesses(witnesses::WitnessesError::Settings(error));
        let witness_policy =
            witness::policy(&self.options.witnesses, self.options.witness_cosignatures_min).map_err(wrong)?;
        let witnesses = Arc::new(Witnesses::new(&self.options.witnesses).map_err(HouseError::Witnesses)?);
        let options = store_options(folder, self.options.database_url.as_deref());
        let store = Store::open(options).await.map_err(HouseError::Store)?;
        let found = match known_key {
            Some(keys) => Ok(keys),
            None => notary::first_key(folder, &store, &key_file).await,
        };
        let found = match found {
            Ok(mut keys) => {
                let subject_keys = master_key::find_or_make(&key_file, &mut keys, &store).await;
                subject_keys.map(|subject_keys| (keys.keyring, subject_keys)).map_err(HouseError::Key)
            }
            Err(error) => Err(error),
        };
        let (keyring, subject_keys) = match found {
            Ok(found) => found,
            Err(error) => {
                store.close().await;
                return Err(error);
            }
        };
        let platform = Platform::open(
            store.clone(),
            ops::Options {
                entries: self.options.entries,
                settings: ops::Settings { backup_folder: Some(self.backup_folder()), ..self.options.settings.clone() },
                services: self.options.services.clone(),
                clock: self.options.clock.clone(),
                keyring,
                witness_policy,
                files: self.options.files.clone(),
                checkpoint_file: Some(notary::checkpoint_file(folder)),
                known_keys_file: Some(keys::known_file(folder)),
                subject_keys: subject_keys.clone(),
                destroyed_file: Some(keys::destroyed_file(folder)),
            },
        )
        .map_err(HouseError::Platform)?;
        if let Err(error) = notary::check(folder, &platform, &witnesses).await {
            notary::hold_refusal(folder, &error);
            drop(platform.close().await);
            return Err(HouseError::Rollback(error));
        }
        // Last, so that a folder which is refused leaves nothing in a database that may not be its own.
        if let Err(error) = master_key::check(&key_file, &subject_keys, &store, platform.now_us()).await {
            drop(platform.close().await);
            return Err(HouseError::Key(error));
        }
        platform.record_doubts().await;
        notary::record_acceptance(folder, &platform, &self.options.organisation_id).await;
        platform.recall_doubt().await;
        // Keys without a seal are refused, and all else works; the next start tries again.
        if let Err(error) = platform.seal_keys().await {
            tracing::error!(error = %error, "API keys could not be given their seals");
        }
        match platform.keep_destroyed().await {
            Ok(0) => {}
            Ok(n) => tracing::warn!("Destroyed {n} keys again that this database brought back: they were erased since"),
            Err(error) => {
                drop(platform.close().await);
                return Err(HouseError::Destroyed(error));
            }
        }
        platform.files().mend().await;
        if self.options.starter_data == StarterData::Load {
            starter_data::load(&platform, &self.options.organisation_id).await;
        }
        let files_check = tokio::spawn(files::keep(platform.clone(), self.options.database_url.is_some()));
        let (is_shared, call_deadline) = (self.options.database_url.is_some(), self.options.settings.call_deadline);
        let taking_back = tokio::spawn(asked_tasks::keep(platform.clone(), is_shared, call_deadline));
        let database = database::identity(self.options.database_url.as_deref());
        let socket = socket::listen(folder, platform.clone(), Arc::clone(&witnesses), database, self.noting())
            .map_err(|source| HouseError::Socket { path: folder.clone(), source })?;
        tracing::info!("This process owns the data folder");
        let mut owned = self.owned.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let stop_notary = CancellationToken::new();
        let notary = notary::run(folder.clone(), platform.clone(), Arc::clone(&witnesses), stop_notary.clone());
        let asking = witnesses::run(
            Arc::clone(&witnesses),
            platform.clone(),
            notary::acceptance_file(folder),
            stop_notary.clone(),
        );
        tokio::spawn(asking);
        let notary = tokio::spawn(notary);
        let stop_runner = CancellationToken::new();
        let runner = tokio::spawn(ops::jobs::runner::run(platform.clone(), stop_runner.clone()));
        *owned = Some(Owned {
            platform,
            socket,
            notary,
            witnesses,
            stop_notary,
            runner,
            stop_runner,
            files_check,
            taking_back,
            _lock: lock,
        });
        Ok(())
    }

    async fn record_refusals(&self) {
        let refused = self.refusals.drain();
        match self.platform() {
            Some(platform) => platform.record_refusals(&refused).await,
            None if refused.is_empty() => {}
            None => {
                if let Err(error) = guest::record_refusals(&self.options.folder, &refused).await {
                    let n_refused: u64 = refused.iter().map(|refused| refused.count).sum();
                    tracing::error!(error = %error, n_refused, "Refused requests could not be recorded");
                }
            }
        }
    }

    /// Finishes what is queued and gives the folder back.
    pub async fn close(&self) -> Result<(), Unrecorded> {
        self.record_refusals().await;
        let owned = self.owned.write().unwrap_or_else(std::sync::PoisonError::into_inner).take();
        let Some(owned) = owned else { return Ok(()) };
        owned.socket.abort();
        owned.files_check.abort();
        owned.taking_back.abort();
        socket::remove(&self.options.folder);
        owned.stop_runner.cancel();
        if owned.runner.await.is_err() {
            tracing::error!("The runner of jobs panicked");
        }
        owned.platform.flush().await;
        owned.stop_notary.cancel();
        if owned.notary.await.is_err() {
            tracing::error!("The notary panicked");
        }
        notary::close(&self.options.folder, &owned.platform).await
    }
}

/// Takes over when the owner has died, and records refusals, for as long as the house stands.
async fn look_after(house: std::sync::Weak<House>) {
    let mut recorded = Instant::now();
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(house) = house.upgrade() else { return };
        if !house.is_owner()
            && let Err(error) = house.take_over().await
        {
            tracing::warn!(error = %error, "Could not take over the data folder");
        }
        if recorded.elapsed() >= RECORD_REFUSALS_EVERY {
            recorded = Instant::now();
            house.record_refusals().await;
        }
    }
}
