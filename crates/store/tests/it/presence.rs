//! A database that is rolled back or replaced under a running process takes no more writes of it.

use sqlx::Connection as _;
use store::{Engine, StoreErrorKind, WriteError};

use crate::harness::{both, connect_sqlite, counting, is_unavailable, postgres, sqlite, write};

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_was_replaced_takes_no_more_writes() {
    let database = sqlite().await;
    let store = database.open().await;
    write(&store, counting()).await.unwrap();
    let (file, copy) = (database.sqlite_file(), database.sqlite_file().with_extension("copy"));
    std::fs::copy(&file, &copy).unwrap();
    std::fs::rename(&copy, &file).unwrap();
    for _ in 0..2 {
        let refused = write(&store, counting()).await;
        assert!(is_unavailable(&refused), "{refused:?}");
    }
    assert_eq!(store.ping().await.unwrap_err().kind(), &StoreErrorKind::Unavailable);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_that_others_rolled_back_takes_no_more_writes_and_other_changes_are_counted() {
    let database = sqlite().await;
    let store = database.open().await;
    write(&store, counting()).await.unwrap();
    let mut other = connect_sqlite(&database).await;
    sqlx::raw_sql("INSERT INTO counters VALUES ('theirs', 1)").execute(&mut other).await.unwrap();
    assert_eq!((write(&store, counting()).await.unwrap(), store.n_foreign_writes()), (2, 1));
    assert_eq!((write(&store, counting()).await.unwrap(), store.n_foreign_writes()), (3, 1), "told once");
    sqlx::raw_sql("DELETE FROM events; UPDATE counters SET value = 0").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    for _ in 0..2 {
        let refused = write(&store, counting()).await;
        assert!(is_unavailable(&refused), "{refused:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_there_when_a_process_came_must_be_there_at_its_first_write() {
    for database in both().await {
        let earlier = database.open().await;
        write(&earlier, counting()).await.unwrap();
        earlier.close().await;
        let store = database.open().await;
        let rollback = "DELETE FROM events; UPDATE counters SET value = 0";
        match database.engine {
            Engine::Sqlite => {
                let mut other = connect_sqlite(&database).await;
                sqlx::raw_sql(rollback).execute(&mut other).await.unwrap();
            }
            Engine::Postgres => {
                let mut other = sqlx::PgConnection::connect(&database.server().url).await.unwrap();
                sqlx::raw_sql(rollback).execute(&mut other).await.unwrap();
                database.server().cut_connections().await;
            }
        }
        for _ in 0..2 {
            let refused = write(&store, counting()).await;
            assert!(is_unavailable(&refused), "{:?}: {refused:?}", database.engine);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_others_write_before_the_first_write_of_a_process_is_counted() {
    let database = sqlite().await;
    let earlier = database.open().await;
    write(&earlier, counting()).await.unwrap();
    earlier.close().await;
    let store = database.open().await;
    let mut other = connect_sqlite(&database).await;
    sqlx::raw_sql("INSERT INTO counters VALUES ('theirs', 1)").execute(&mut other).await.unwrap();
    assert_eq!((write(&store, counting()).await.unwrap(), store.n_foreign_writes()), (2, 1));
    store.close().await;
    let store = database.open().await;
    assert_eq!((write(&store, counting()).await.unwrap(), store.n_foreign_writes()), (3, 0), "that was before it came");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_database_server_that_lost_what_was_committed_takes_no_more_writes() {
    let database = postgres().await;
    let store = database.open().await;
    write(&store, counting()).await.unwrap();
    database.server().cut_connections().await;
    assert_eq!(write(&store, counting()).await.unwrap(), 2, "a cut alone loses nothing");
    let mut other = sqlx::PgConnection::connect(&database.server().url).await.unwrap();
    sqlx::raw_sql("DELETE FROM events; UPDATE counters SET value = 0").execute(&mut other).await.unwrap();
    other.close().await.unwrap();
    database.server().cut_connections().await;
    let refused = write(&store, counting()).await;
    assert!(matches!(&refused, Err(WriteError::Store(error)) if error.is_unavailable()), "{refused:?}");
}
