//! What one job of a batch can and cannot do to the others.

use store::{Apply, WriteError};

use crate::harness::{
    applied, both, call_id, counter, counting, counting_as, failing, increment, n_events, once, outcome, panicking,
    refused, sqlite, statement, write, write_together,
};

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_alone_leaves_only_its_event() {
    for database in both().await {
        let store = database.open().await;
        let id = call_id();
        assert_eq!(write(&store, refused(id.clone())).await.unwrap(), 1);
        assert_eq!(counter(&store).await, 0);
        assert_eq!(outcome(&store, &id).await.as_deref(), Some("refused"));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_in_a_batch_leaves_only_its_event() {
    for database in both().await {
        let store = database.open().await;
        let id = call_id();
        let results = write_together(&store, vec![counting(), refused(id.clone()), counting()]).await;
        let values: Vec<i64> = results.into_iter().map(Result::unwrap).collect();
        // The refused one saw 3 before its own change was undone.
        assert_eq!(values, [2, 3, 3]);
        assert_eq!(counter(&store).await, 3);
        assert_eq!(outcome(&store, &id).await.as_deref(), Some("refused"));
        assert_eq!(n_events(&store).await, 4);
        assert_eq!(store.stats().n_commits, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_panics_harms_nobody_else() {
    for database in both().await {
        let store = database.open().await;
        let results = write_together(&store, vec![counting(), panicking(), counting()]).await;
        assert!(matches!(results[..], [Ok(2), Err(WriteError::Panicked), Ok(3)]), "{results:?}");
        assert!(matches!(write(&store, panicking()).await, Err(WriteError::Panicked)));
        assert_eq!(write(&store, counting()).await.unwrap(), 4);
        assert_eq!(n_events(&store).await, 4);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_fails_harms_nobody_else() {
    for database in both().await {
        let store = database.open().await;
        let results = write_together(&store, vec![counting(), failing(), counting()]).await;
        assert!(matches!(results[..], [Ok(2), Err(WriteError::Store(_)), Ok(3)]), "{results:?}");
        assert!(matches!(write(&store, failing()).await, Err(WriteError::Store(_))));
        assert_eq!(write(&store, counting()).await.unwrap(), 4);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_event_that_cannot_be_stored_fails_only_its_own_write() {
    for database in both().await {
        let store = database.open().await;
        let taken = call_id();
        let results = write_together(&store, vec![counting_as(taken.clone()), counting_as(taken), counting()]).await;
        assert!(
            matches!(&results[..], [Ok(2), Err(WriteError::Store(error)), Ok(3)] if error.is_unique_violation()),
            "{results:?}"
        );
        assert_eq!(counter(&store).await, 3);
        assert_eq!(n_events(&store).await, 3);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_hides_a_failed_statement_is_not_committed() {
    for database in both().await {
        let store = database.open().await;
        let hiding = || -> Apply<i64> {
            Box::new(|tx| {
                Box::pin(async move {
                    let value = increment(tx, "c").await?;
                    let failed = tx.execute("INSERT INTO no_such_table (a) VALUES (1)", &[]).await;
                    assert!(failed.is_err());
                    assert!(tx.fetch_all("SELECT name FROM counters", &[]).await.is_err());
                    Ok(applied(value, "hidden"))
                })
            })
        };
        assert!(matches!(write(&store, hiding()).await, Err(WriteError::Store(_))));
        let results = write_together(&store, vec![counting(), hiding(), counting()]).await;
        assert!(matches!(results[..], [Ok(2), Err(WriteError::Store(_)), Ok(3)]), "{results:?}");
    }
}

/// Takes far longer than a future needs to be polled once.
const SLOW: &str = "WITH RECURSIVE steps (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM steps WHERE i < 100000)
    SELECT COUNT(*) FROM steps";

#[tokio::test(flavor = "multi_thread")]
async fn an_apply_that_abandons_a_statement_is_not_committed_and_the_writer_goes_on() {
    for database in both().await {
        let store = database.open().await;
        let is_first = once();
        let abandoning: Apply<i64> = Box::new(move |tx| {
            let is_first = is_first.clone();
            Box::pin(async move {
                if is_first() {
                    let query = tx.fetch_all(SLOW, &[]);
                    assert!(futures::FutureExt::now_or_never(query).is_none());
                }
                Ok(applied(0, "abandoned"))
            })
        });
        assert!(matches!(write(&store, abandoning).await, Err(WriteError::Store(_))));
        assert_eq!(write(&store, counting()).await.unwrap(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn more_jobs_than_a_batch_may_hold_are_split() {
    for database in both().await {
        let store = database.open().await;
        let results = write_together(&store, (0..150).map(|_| counting()).collect()).await;
        let values: Vec<i64> = results.into_iter().map(Result::unwrap).collect();
        assert_eq!(values, (2..=151).collect::<Vec<i64>>());
        assert_eq!(n_events(&store).await, 151);
        // The gate alone, then 64, 64 and 22.
        assert_eq!(store.stats().n_commits, 4);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_that_other_hands_keep_out_keep_out_the_change_too() {
    let database = sqlite().await;
    let store = database.open().await;
    write(&store, counting()).await.unwrap();
    let ignoring = "CREATE TRIGGER t BEFORE INSERT ON events BEGIN SELECT RAISE(IGNORE); END";
    write(&store, statement(ignoring)).await.unwrap();
    assert!(write(&store, counting()).await.is_err());
    let several = || futures::future::join_all((0..8).map(|_| write(&store, counting())));
    assert!(several().await.iter().all(Result::is_err));
    assert_eq!((counter(&store).await, n_events(&store).await), (1, 1));
    write(&store, statement("DROP TRIGGER t")).await.unwrap();
    assert!(several().await.iter().all(Result::is_ok));
    assert_eq!((counter(&store).await, n_events(&store).await), (9, 9));
}
