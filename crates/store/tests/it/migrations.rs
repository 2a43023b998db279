//! Opening databases of older, newer and altered schemas.

use store::{Migration, OpenError, Options, Store};

use crate::harness::{Database, TABLES, both, counting, postgres, write};

const SECOND: Migration = Migration {
    version: 101,
    name: "colours",
    sql: "-- A table and its index;
        CREATE TABLE colours (name TEXT PRIMARY KEY, rgb {bytes} NOT NULL);

        CREATE INDEX colours_by_rgb ON colours (rgb);",
};

async fn open_with(database: &Database, migrations: &[Migration]) -> Result<Store, OpenError> {
    Store::open(Options { migrations: migrations.to_vec(), ..database.options() }).await
}

/// Versions beyond those of the store itself.
async fn versions(store: &Store) -> Vec<i64> {
    let mut reader = store.read().await.unwrap();
    let rows = reader
        .fetch_all("SELECT version FROM schema_migrations WHERE version >= 100 ORDER BY version", &[])
        .await
        .unwrap();
    rows.iter().map(|row| row.int(0).unwrap()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn an_older_database_is_upgraded_and_keeps_its_data() {
    for database in both().await {
        let store = open_with(&database, &[TABLES]).await.unwrap();
        assert_eq!(versions(&store).await, [100]);
        write(&store, counting()).await.unwrap();
        store.close().await;
        let store = open_with(&database, &[SECOND, TABLES]).await.unwrap();
        assert_eq!(versions(&store).await, [100, 101]);
        assert_eq!(write(&store, counting()).await.unwrap(), 2);
        let mut reader = store.read().await.unwrap();
        assert!(reader.fetch_all("SELECT name FROM colours", &[]).await.unwrap().is_empty());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_newer_database_is_refused() {
    for database in both().await {
        open_with(&database, &[TABLES, SECOND]).await.unwrap().close().await;
        let error = open_with(&database, &[TABLES]).await.err().unwrap();
        assert!(matches!(error, OpenError::SchemaTooNew { found: 101, known: 100 }), "{error:?}");
        open_with(&database, &[TABLES, SECOND]).await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_migration_is_refused() {
    for database in both().await {
        open_with(&database, &[TABLES, SECOND]).await.unwrap().close().await;
        let changed = Migration { sql: "CREATE TABLE colours (name TEXT PRIMARY KEY);", ..SECOND };
        let error = open_with(&database, &[TABLES, changed]).await.err().unwrap();
        assert!(matches!(error, OpenError::ChangedMigration { version: 101, .. }), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_migration_that_fails_half_way_leaves_nothing() {
    for database in both().await {
        let broken =
            Migration { sql: "CREATE TABLE colours (name TEXT);\nCREATE INDEX i ON no_such_table (a);", ..SECOND };
        let error = open_with(&database, &[TABLES, broken]).await.err().unwrap();
        assert!(matches!(error, OpenError::Migrate { version: 101, .. }), "{error:?}");
        let store = open_with(&database, &[TABLES, SECOND]).await.unwrap();
        assert_eq!(versions(&store).await, [100, 101]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_version_cannot_be_defined_twice() {
    for database in both().await {
        let twin = Migration { version: 100, ..SECOND };
        let error = open_with(&database, &[TABLES, twin]).await.err().unwrap();
        assert!(matches!(error, OpenError::DuplicateMigration { version: 100 }), "{error:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn several_processes_may_open_an_empty_postgres_at_once() {
    let database = postgres().await;
    let stores = futures::future::join_all((0..6).map(|_| database.open())).await;
    assert_eq!(versions(&stores[0]).await, [100]);
}
