//! `kill -9` under load: no acknowledged id is issued again, and a repeated call gets the id that its first try got.
//!
//! The journal of acknowledged ids is the test's, never the server's. Clients repeat each call with its key until they
//! have an answer. So every committed id reaches its client in the end, and a gap would be a call that was carried out
//! twice.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use tokio::{task::JoinSet, time::sleep};

use crate::{
    house::{Access, House, HouseOptions, size},
    ids::{self, Failure},
};

const N_CLIENTS: usize = 8;
const PROJECT: &str = "kills";
const POLL: Duration = Duration::from_millis(10);
/// From the first try of a call to its answer, a restart included.
const ANSWER_DEADLINE: Duration = Duration::from_secs(60);
/// How many of the last acknowledged calls are repeated at the end.
const N_REPEATED_MAX: usize = 500;

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_on_sqlite_issues_no_acknowledged_id_again() {
    check("sqlite", None, size(20, 200)).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_killed_server_on_postgresql_issues_no_acknowledged_id_again() {
    let database = testkit::postgres_url().await;
    check("postgresql", Some(database.url), size(5, 50)).await;
}

async fn check(engine: &str, database_url: Option<String>, n_kills: usize) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = Place { data: folder.path().join("data"), database_url };
    let mut house = place.start();
    let load = Arc::new(Load::on(&house));
    let mut clients = JoinSet::new();
    for client in 0..N_CLIENTS {
        let load = Arc::clone(&load);
        clients.spawn(async move { load.run(client).await });
    }
    let mut slowest_restart = Duration::ZERO;
    for kill in 0..n_kills {
        // The number of answers between two kills varies, and with it the place where the kill hits.
        load.wait_for_answers(5 + kill * 7 % 40).await;
        house.kill();
        let killed = Instant::now();
        house = place.start();
        slowest_restart = slowest_restart.max(killed.elapsed());
        load.move_to(&house);
    }
    load.wait_for_answers(N_CLIENTS).await;
    load.is_over.store(true, Ordering::SeqCst);
    let journal: Vec<Acknowledged> = clients.join_all().await.concat();

    check_repeats(&house, &journal).await;
    let issued: Vec<u64> = journal.iter().map(|call| call.id).collect();
    let tally = ids::tally(&issued);
    println!(
        "proof: kills n={n_kills} acknowledged={} duplicates={} gaps={} calls_in_flight={} slowest_restart_ms={} \
         engine={engine} clients={N_CLIENTS}",
        tally.n,
        tally.n_duplicates,
        tally.n_gaps,
        journal.iter().filter(|call| call.n_tries > 1).count(),
        slowest_restart.as_millis(),
    );
    tally.check();
}

/// Repeats acknowledged calls: each gives the id that it gave before, and none is used up by it.
async fn check_repeats(house: &House, journal: &[Acknowledged]) {
    let http = ids::http_client();
    for call in journal.iter().rev().take(N_REPEATED_MAX) {
        let id = ids::next(&http, house.http(), PROJECT, Some(&call.key)).await.expect("a repeated call is answered");
        assert_eq!(id, call.id, "call `{}` gave another id when it was repeated", call.key);
    }
    let fresh = ids::next(&http, house.http(), PROJECT, Some("fresh")).await.expect("a fresh call is answered");
    let highest = journal.iter().map(|call| call.id).max().unwrap_or(0);
    assert_eq!(fresh, highest + 1, "a fresh call gets the next id");
}

/// Where the house stands, across its restarts.
struct Place {
    data: PathBuf,
    database_url: Option<String>,
}

impl Place {
    fn start(&self) -> House {
        let data: &Path = &self.data;
        House::start(&HouseOptions { data, access: Access::Anyone, database_url: self.database_url.as_deref() })
    }
}

/// One entry of the journal.
#[derive(Clone)]
struct Acknowledged {
    key: String,
    id: u64,
    n_tries: u32,
}

/// What the clients and the killer share.
struct Load {
    /// The base URL of the house, another one after each restart.
    base: RwLock<String>,
    is_over: AtomicBool,
    n_answers: AtomicU64,
    highest: AtomicU64,
}

impl Load {
    fn on(house: &House) -> Load {
        Load {
            base: RwLock::new(house.http().to_owned()),
            is_over: AtomicBool::new(false),
            n_answers: AtomicU64::new(0),
            highest: AtomicU64::new(0),
        }
    }

    fn move_to(&self, house: &House) {
        house.http().clone_into(&mut self.base.write().expect("no client panics while it reads the address"));
    }

    fn base(&self) -> String {
        self.base.read().expect("the killer does not panic while it writes the address").clone()
    }

    /// One client's life: its calls, one after the other, each repeated until it is answered.
    async fn run(&self, client: usize) -> Vec<Acknowledged> {
        let http = ids::http_client();
        let mut journal = Vec::new();
        while !self.is_over.load(Ordering::SeqCst) {
            let key = format!("client-{client}-call-{}", journal.len());
            // An id that somebody already holds is older than this call, so this call's must be above it.
            let floor = self.highest.load(Ordering::SeqCst);
            let (id, n_tries) = self.call_until_answered(&http, &key).await;
            assert!(id > floor, "call `{key}` got {id} after {floor} had been acknowledged");
            self.highest.fetch_max(id, Ordering::SeqCst);
            self.n_answers.fetch_add(1, Ordering::SeqCst);
            journal.push(Acknowledged { key, id, n_tries });
        }
        journal
    }

    async fn call_until_answered(&self, http: &reqwest::Client, key: &str) -> (u64, u32) {
        let deadline = Instant::now() + ANSWER_DEADLINE;
        let mut n_tries = 0;
        loop {
            n_tries += 1;
            match ids::next(http, &self.base(), PROJECT, Some(key)).await {
                Ok(id) => return (id, n_tries),
                Err(Failure::Lost(_)) if Instant::now() < deadline => sleep(POLL).await,
                Err(failure) => panic!("call `{key}`, try {n_tries}: {failure}"),
            }
        }
    }

    async fn wait_for_answers(&self, n: usize) {
        let wanted = self.n_answers.load(Ordering::SeqCst) + u64::try_from(n).expect("a count fits into 64 bits");
        let deadline = Instant::now() + ANSWER_DEADLINE;
        while self.n_answers.load(Ordering::SeqCst) < wanted {
            assert!(Instant::now() < deadline, "the clients get no answers");
            sleep(Duration::from_millis(1)).await;
        }
    }
}
