//! Values in and out, and what readers may not do.

use std::os::unix::fs::PermissionsExt;
use std::sync::LazyLock;

use store::{Applied, Apply, Bulk, Keep, Param, Statement, idempotency};

use crate::harness::{both, call_id, event, n_events, outcome, postgres, sqlite, statement, write};

#[tokio::test(flavor = "multi_thread")]
async fn values_and_nulls_come_back_as_they_went_in() {
    for database in both().await {
        let store = database.open().await;
        let insert: Apply<()> = Box::new(|tx| {
            Box::pin(async move {
                let sql = "INSERT INTO samples (id, number, word, content, is_good) VALUES ($1, $2, $3, $4, $5)";
                let nulls = [1.into(), Param::Null, Param::Null, Param::Null, Param::Null];
                tx.execute(sql, &nulls).await?;
                let typed = [2.into(), None::<i64>.into(), None::<&str>.into(), Param::Null, Param::Null];
                tx.execute(sql, &typed).await?;
                let word = "ยา".to_owned();
                let values = [3.into(), i64::MIN.into(), (&word).into(), [0_u8, 255].as_slice().into(), true.into()];
                tx.execute(sql, &values).await?;
                Ok(Applied { value: (), event: None, keep: Keep::Changes })
            })
        });
        write(&store, insert).await.unwrap();
        let mut reader = store.read().await.unwrap();
        let rows =
            reader.fetch_all("SELECT number, word, content, is_good FROM samples ORDER BY id", &[]).await.unwrap();
        for row in &rows[..2] {
            assert_eq!(row.opt_int(0).unwrap(), None);
            assert_eq!(row.opt_text(1).unwrap(), None);
            assert_eq!(row.opt_bytes(2).unwrap(), None);
            assert!(row.int(0).is_err() && row.text(1).is_err() && row.bytes(2).is_err() && row.bool(3).is_err());
        }
        assert_eq!(rows[2].int(0).unwrap(), i64::MIN);
        assert_eq!(rows[2].text(1).unwrap(), "ยา");
        assert_eq!(rows[2].bytes(2).unwrap(), [0, 255]);
        assert!(rows[2].bool(3).unwrap());
        assert!(rows[2].int(1).is_err() && rows[2].int(9).is_err());
        let sql = "SELECT 1, COUNT(*) FROM samples WHERE word = $1 OR ($1 IS NULL AND word IS NULL)";
        let row = reader.fetch_optional(sql, &[Param::NullText]).await.unwrap().unwrap();
        assert_eq!((row.int(0).unwrap(), row.int(1).unwrap()), (1, 2));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn any_number_of_rows_is_inserted_in_order_and_no_empty_one() {
    static SAMPLES: LazyLock<Bulk> =
        LazyLock::new(|| Bulk::new("samples (id, word)", 2, " ON CONFLICT (id) DO UPDATE SET word = excluded.word"));
    for database in both().await {
        let store = database.open().await;
        for n_rows in (0..=34).chain([63, 64, 65, 255, 256, 257, 600]) {
            let insert: Apply<()> = Box::new(move |tx| {
                Box::pin(async move {
                    tx.execute("DELETE FROM samples", &[]).await?;
                    let rows: Vec<i64> = (1..=n_rows).collect();
                    SAMPLES.insert(tx, &rows, |row, params| params.extend([Param::Int(*row), Param::NullText])).await?;
                    Ok(Applied { value: (), event: None, keep: Keep::Changes })
                })
            });
            write(&store, insert).await.unwrap();
            let mut reader = store.read().await.unwrap();
            let sql = "SELECT COUNT(*), COALESCE(MIN(id), 0), COALESCE(MAX(id), 0) FROM samples";
            let row = reader.fetch_optional(sql, &[]).await.unwrap().unwrap();
            let found = [row.int(0).unwrap(), row.int(1).unwrap(), row.int(2).unwrap()];
            assert_eq!(found, [n_rows, n_rows.min(1), n_rows]);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn statements_together_all_happen_and_the_last_one_tells_how_many_rows() {
    for database in both().await {
        let store = database.open().await;
        let insert: Apply<[u64; 2]> = Box::new(|tx| {
            Box::pin(async move {
                let sample = "INSERT INTO samples (id, word) VALUES ($1, $2) ON CONFLICT (id) DO NOTHING";
                let counter = "INSERT INTO counters (name, value) VALUES ($2, $1)";
                let together = [
                    Statement { sql: sample, params: vec![1.into(), "one".into()] },
                    Statement { sql: counter, params: vec![7.into(), "n".into()] },
                    Statement { sql: sample, params: vec![2.into(), None::<&str>.into()] },
                ];
                let n_inserted = tx.execute_together(&together).await?;
                let again = Statement { sql: sample, params: vec![2.into(), "two".into()] };
                let n_again = tx.execute_together(&[again]).await? + tx.execute_together(&[]).await?;
                Ok(Applied { value: [n_inserted, n_again], event: None, keep: Keep::Changes })
            })
        });
        assert_eq!(write(&store, insert).await.unwrap(), [1, 0]);
        let mut reader = store.read().await.unwrap();
        let sql = "SELECT (SELECT COUNT(*) FROM samples), (SELECT value FROM counters WHERE name = 'n')";
        let row = reader.fetch_optional(sql, &[]).await.unwrap().unwrap();
        assert_eq!((row.int(0).unwrap(), row.int(1).unwrap()), (2, 7));
        let twice: Apply<()> = Box::new(|tx| {
            Box::pin(async move {
                let counter = "INSERT INTO counters (name, value) VALUES ($1, 1)";
                tx.execute_together(&[
                    Statement { sql: counter, params: vec!["new".into()] },
                    Statement { sql: counter, params: vec!["n".into()] },
                ])
                .await?;
                Ok(Applied { value: (), event: None, keep: Keep::Changes })
            })
        });
        assert!(write(&store, twice).await.is_err());
        let sql = "SELECT COUNT(*) FROM counters";
        assert_eq!(reader.fetch_optional(sql, &[]).await.unwrap().unwrap().int(0).unwrap(), 1, "all or none");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_reader_may_not_write() {
    for database in both().await {
        let store = database.open().await;
        let mut reader = store.read().await.unwrap();
        assert!(reader.execute("INSERT INTO counters (name, value) VALUES ('x', 1)", &[]).await.is_err());
        store.ping().await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn idempotency_keys_are_found_until_they_are_deleted() {
    for database in both().await {
        let store = database.open().await;
        let stored = idempotency::Stored { in_hash: "aa".to_owned(), output: "{}".to_owned() };
        let insert: Apply<()> = Box::new({
            let stored = stored.clone();
            move |tx| {
                let stored = stored.clone();
                Box::pin(async move {
                    for (key, recorded_at_us) in [("old", 10), ("new", 20)] {
                        idempotency::insert(tx, "org", "actor", "op", key, &stored, recorded_at_us).await?;
                    }
                    Ok(Applied { value: (), event: None, keep: Keep::Changes })
                })
            }
        });
        write(&store, insert).await.unwrap();
        let kept = |recorded_at_us| idempotency::Kept { stored: stored.clone(), recorded_at_us };
        let mut reader = store.read().await.unwrap();
        assert_eq!(idempotency::find(&mut reader, "org", "actor", "op", "old").await.unwrap(), Some(kept(10)));
        assert_eq!(idempotency::find(&mut reader, "other", "actor", "op", "old").await.unwrap(), None);
        let delete: Apply<u64> = Box::new(|tx| {
            Box::pin(async move {
                let value = idempotency::delete_older_than(tx, 20).await?;
                Ok(Applied { value, event: None, keep: Keep::Changes })
            })
        });
        assert_eq!(write(&store, delete).await.unwrap(), 1);
        assert_eq!(idempotency::find(&mut reader, "org", "actor", "op", "old").await.unwrap(), None);
        assert_eq!(idempotency::find(&mut reader, "org", "actor", "op", "new").await.unwrap(), Some(kept(20)));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn appending_events_twice_stores_them_once() {
    for database in both().await {
        let store = database.open().await;
        let events: Vec<_> = (0..213).map(|_| event(&call_id(), "ok")).collect();
        store.append_events(events.clone()).await.unwrap();
        store.append_events(events.clone()).await.unwrap();
        store.append_events(Vec::new()).await.unwrap();
        assert_eq!(n_events(&store).await, 213);
        assert_eq!(outcome(&store, &events[212].call_id).await.as_deref(), Some("ok"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn the_database_file_belongs_to_its_owner_alone() {
    let database = sqlite().await;
    let store = database.open().await;
    store.append_events(vec![event(&call_id(), "ok")]).await.unwrap();
    for suffix in ["", "-wal", "-shm"] {
        let path = format!("{}{suffix}", database.sqlite_file().display());
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{path}");
    }
    let mut reader = store.read().await.unwrap();
    let mode = reader.fetch_optional("PRAGMA journal_mode", &[]).await.unwrap().unwrap();
    assert_eq!(mode.text(0).unwrap(), "wal");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_commit_waits_for_the_disk_whatever_the_database_is_set_to() {
    let database = postgres().await;
    let store = database.open().await;
    let lax =
        "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = off', current_database()); END $$";
    write(&store, statement(lax)).await.unwrap();
    store.close().await;
    let store = database.open().await;
    let show: Apply<String> = Box::new(|tx| {
        Box::pin(async move {
            let row = tx.fetch_optional("SHOW synchronous_commit", &[]).await?;
            let value = row.map(|row| row.text(0)).transpose()?.unwrap_or_default();
            Ok(Applied { value, event: None, keep: Keep::Changes })
        })
    });
    assert_eq!(write(&store, show).await.unwrap(), "on");
    assert!(store.find_laxity().await.unwrap().contains(&"synchronous_commit".to_owned()), "and it is told of");
    assert!(sqlite().await.open().await.find_laxity().await.unwrap().is_empty());
}

#[tokio::test(flavor = "multi_thread")]
async fn sqlite_is_built_as_the_program_needs_it() {
    let database = sqlite().await;
    let mut reader = database.open().await.read().await.unwrap();
    let mut is_built_with =
        async |sql: &'static str| reader.fetch_optional(sql, &[]).await.unwrap().unwrap().int(0).unwrap();
    assert_eq!(is_built_with("SELECT sqlite_compileoption_used('ENABLE_QPSG')").await, 1);
    // Connections that share their pages take them away from each other.
    assert_eq!(is_built_with("SELECT sqlite_compileoption_used('ENABLE_MEMORY_MANAGEMENT')").await, 0);
}
