//! A database that is rolled back or replaced under a running process takes no more writes of it.

use sqlx::Connection as _;
use store::{StoreErrorKind, WriteError};

use crate::harness::{connect_sqlite, counting, is_unavailable, postgres, sqlite, write};

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
