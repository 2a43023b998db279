//! Outages: everybody gets an answer, nothing half-done is kept, and the writer recovers by itself.

use store::{Applied, Apply, Keep, Param, StoreErrorKind, WriteError};

use crate::harness::{
    applied, both, call_id, counter, counting, increment, is_unavailable, n_events, once, postgres, sqlite, statement,
    write, write_together,
};

#[tokio::test(flavor = "multi_thread")]
async fn an_outage_answers_unavailable_and_the_writer_recovers() {
    for database in both().await {
        let store = database.open().await;
        assert_eq!(write(&store, counting()).await.unwrap(), 1);
        for expected in 2..4 {
            let outage = database.damage(&store).await;
            for result in futures::future::join_all((0..5).map(|_| write(&store, counting()))).await {
                assert!(is_unavailable(&result), "{:?}: {result:?}", database.engine);
            }
            database.mend(outage).await;
            assert_eq!(write(&store, counting()).await.unwrap(), expected);
        }
        assert_eq!(counter(&store).await, 3);
    }
}

fn storing(id: i64, n_bytes: usize) -> Apply<i64> {
    let call_id = call_id();
    Box::new(move |tx| {
        let call_id = call_id.clone();
        Box::pin(async move {
            let content = vec![7_u8; n_bytes];
            let params = [id.into(), Param::Bytes(&content)];
            tx.execute("INSERT INTO samples (id, content) VALUES ($1, $2)", &params).await?;
            Ok(applied(id, &call_id))
        })
    })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_fails_what_does_not_fit_and_nothing_else() {
    let database = sqlite().await;
    let store = database.open().await;
    write(&store, counting()).await.unwrap();
    // Cut to what is in use; SQLite then answers as if the disk were full.
    write(&store, statement("PRAGMA max_page_count = 1")).await.unwrap();
    let results = write_together(&store, vec![counting(), storing(1, 1_000_000), counting()]).await;
    assert!(matches!(results[0], Ok(3)) && matches!(results[2], Ok(4)), "{results:?}");
    assert!(is_unavailable(&results[1]), "{results:?}");
    let full = write(&store, storing(2, 1_000_000)).await;
    assert!(matches!(&full, Err(WriteError::Store(error)) if error.kind() == &StoreErrorKind::DiskFull), "{full:?}");
    assert_eq!(store.ping().await.unwrap_err().kind(), &StoreErrorKind::DiskFull);
    write(&store, statement("PRAGMA max_page_count = 1000000")).await.unwrap();
    assert_eq!(write(&store, storing(3, 1_000_000)).await.unwrap(), 3);
    store.ping().await.unwrap();
    assert_eq!(write(&store, counting()).await.unwrap(), 5);
    assert_eq!(n_events(&store).await, 6);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_connection_cut_within_an_apply_fails_the_batch_and_not_the_next() {
    let database = postgres().await;
    let store = database.open().await;
    let is_first = once();
    let server = database.server().clone();
    let cut: Apply<i64> = Box::new(move |tx| {
        let (is_first, server) = (is_first.clone(), server.clone());
        Box::pin(async move {
            let value = increment(tx, "c").await?;
            if is_first() {
                server.cut_connections().await;
            }
            Ok(applied(increment(tx, "d").await? + value, "cut"))
        })
    });
    let results = write_together(&store, vec![counting(), cut, counting()]).await;
    assert!(results.iter().all(is_unavailable), "{results:?}");
    assert_eq!(counter(&store).await, 1);
    assert_eq!(write(&store, counting()).await.unwrap(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_cut_between_writes_are_replaced_unnoticed() {
    let database = postgres().await;
    let store = database.open().await;
    for expected in 1..6 {
        assert_eq!(write(&store, counting()).await.unwrap(), expected);
        assert_eq!(store.write(None, crate::harness::later(), statement("SELECT 1")).await.ok(), Some(()));
        database.server().cut_connections().await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lane_whose_holder_lost_its_connection_is_free_again() {
    let database = postgres().await;
    let (one, two) = tokio::join!(database.open(), database.open());
    let is_first = once();
    let server = database.server().clone();
    let cut: Apply<()> = Box::new(move |_tx| {
        let (is_first, server) = (is_first.clone(), server.clone());
        Box::pin(async move {
            if is_first() {
                server.cut_connections().await;
            }
            Ok(Applied { value: (), event: None, keep: Keep::Changes })
        })
    });
    assert!(is_unavailable(&write(&one, cut).await));
    assert_eq!(write(&two, counting()).await.unwrap(), 1);
    assert_eq!(write(&one, counting()).await.unwrap(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_file_is_found_out() {
    let database = sqlite().await;
    let store = database.open().await;
    for id in 1..50 {
        write(&store, storing(id, 1_000)).await.unwrap();
    }
    assert_eq!(store.find_damage().await.unwrap(), None);
    store.close().await;
    let mut bytes = std::fs::read(database.sqlite_file()).unwrap();
    // The head of the last page, which holds rows: what is read to open a store is whole.
    let last_page = bytes.len() - 4_096;
    bytes[last_page..last_page + 64].fill(0xff);
    std::fs::write(database.sqlite_file(), bytes).unwrap();
    let found = database.open().await.find_damage().await;
    assert!(!matches!(found, Ok(None)), "{found:?}");
}
