//! 64 clients at once, one counter: every number from one on, each once.

use std::{path::Path, time::Instant};

use tokio::task::JoinSet;

use crate::{
    house::{Access, House, HouseOptions, size},
    ids,
};

const N_CLIENTS: usize = 64;

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_clients_of_one_process_on_sqlite_get_each_number_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let house = start(&folder.path().join("data"), None);
    check("sqlite", &[house]).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_clients_of_two_processes_on_postgresql_get_each_number_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let database = testkit::postgres_url().await;
    let folders = ["one", "two"].map(|name| folder.path().join(name));
    let one = start(&folders[0], Some(&database.url));
    // Servers of one database share the key of its log.
    std::fs::create_dir(&folders[1]).expect("a data folder");
    std::fs::copy(folders[0].join("ledger.key"), folders[1].join("ledger.key")).expect("the key can be copied");
    let houses = [one, start(&folders[1], Some(&database.url))];
    check("postgresql", &houses).await;
}

fn start(data: &Path, database_url: Option<&str>) -> House {
    House::start(&HouseOptions { data, access: Access::Anyone, database_url })
}

async fn check(engine: &str, houses: &[House]) {
    let n_ids = size(6_400, 64_000);
    let started = Instant::now();
    let mut clients = JoinSet::new();
    for client in 0..N_CLIENTS {
        let base = houses[client % houses.len()].http().to_owned();
        clients.spawn(async move { allocate(&base, n_ids / N_CLIENTS).await });
    }
    let ids = clients.join_all().await.concat();
    let seconds = started.elapsed().as_secs_f64();
    let tally = ids::tally(&ids);
    println!(
        "proof: ids n={} duplicates={} gaps={} engine={engine} processes={} clients={N_CLIENTS} seconds={seconds:.1}",
        tally.n,
        tally.n_duplicates,
        tally.n_gaps,
        houses.len(),
    );
    assert_eq!(tally.n, n_ids);
    tally.check();
}

async fn allocate(base: &str, n_ids: usize) -> Vec<u64> {
    let http = ids::http_client();
    let mut ids = Vec::with_capacity(n_ids);
    for _ in 0..n_ids {
        let id = ids::next(&http, base, "contention", None).await.unwrap_or_else(|failure| panic!("{failure}"));
        // Each id is asked for after the one before was had, so it must be above it.
        assert!(ids.last().is_none_or(|last| *last < id), "{id} after {:?}", ids.last());
        ids.push(id);
    }
    ids
}
