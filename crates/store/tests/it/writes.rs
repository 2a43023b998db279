//! Writes under concurrency, deadlines and limits.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use store::{Apply, Engine, Options, Store, StoreErrorKind, WriteError};
use tokio::time::Instant;

use crate::harness::{
    Gate, applied, both, call_id, counter, counting, increment, is_unavailable, later, n_events, postgres, until, write,
};

async fn count_concurrently(stores: &[Store], lane: Option<&str>, n_tasks: usize, n_each: usize) -> Vec<i64> {
    let tasks = stores.iter().cycle().take(n_tasks).map(|store| {
        let (store, lane) = (store.clone(), lane.map(str::to_owned));
        tokio::spawn(async move {
            let mut values = Vec::new();
            for _ in 0..n_each {
                values.push(store.write(lane.clone(), later(), counting()).await.unwrap());
            }
            values
        })
    });
    let mut values: Vec<i64> = Vec::new();
    for task in tasks.collect::<Vec<_>>() {
        values.extend(task.await.unwrap());
    }
    values.sort_unstable();
    values
}

fn check_contiguous(values: &[i64]) {
    let expected: Vec<i64> = (1..).take(values.len()).collect();
    assert_eq!(values, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn sixty_four_tasks_count_without_gap_or_duplicate() {
    for database in both().await {
        let store = database.open().await;
        check_contiguous(&count_concurrently(std::slice::from_ref(&store), Some("c"), 64, 5).await);
        assert_eq!(n_events(&store).await, 320);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn concurrent_writes_share_commits() {
    for database in both().await {
        let store = database.open().await;
        count_concurrently(std::slice::from_ref(&store), Some("c"), 32, 20).await;
        let stats = store.stats();
        assert_eq!(stats.n_applies, 640);
        assert!(stats.n_commits * 2 < stats.n_applies, "{:?}: {stats:?}", database.engine);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn writers_without_a_lane_contend_and_still_count_right() {
    for database in both().await {
        let store = database.open().await;
        check_contiguous(&count_concurrently(&[store], None, 6, 5).await);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_stores_on_one_postgres_share_a_lane() {
    let database = postgres().await;
    let (one, two) = tokio::join!(database.open(), database.open());
    check_contiguous(&count_concurrently(&[one, two], Some("c"), 32, 10).await);
}

#[tokio::test(flavor = "multi_thread")]
async fn lanes_do_not_wait_for_each_other_on_postgres() {
    let database = postgres().await;
    let store = database.open().await;
    let gate = Gate::new();
    let held = tokio::spawn({
        let (store, apply) = (store.clone(), gate.apply());
        async move { store.write(Some("held".to_owned()), later(), apply).await }
    });
    gate.entered().await;
    let elsewhere: Apply<i64> =
        Box::new(|tx| Box::pin(async move { Ok(applied(increment(tx, "elsewhere").await?, "elsewhere")) }));
    assert_eq!(store.write(Some("free".to_owned()), later(), elsewhere).await.unwrap(), 1);
    gate.open();
    assert_eq!(held.await.unwrap().unwrap(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_whose_deadline_has_passed_is_not_run() {
    for database in both().await {
        let store = database.open().await;
        let has_run = Arc::new(AtomicBool::new(false));
        let apply: Apply<i64> = {
            let has_run = Arc::clone(&has_run);
            Box::new(move |_tx| {
                has_run.store(true, Ordering::SeqCst);
                Box::pin(async { Ok(applied(0, "late")) })
            })
        };
        let late = store.write(Some("c".to_owned()), Instant::now(), apply).await;
        assert!(matches!(late, Err(WriteError::Expired)), "{late:?}");
        assert!(!has_run.load(Ordering::SeqCst));
        assert_eq!(write(&store, counting()).await.unwrap(), 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_refuses_at_once_and_loses_nothing_accepted() {
    for database in both().await {
        let store = Store::open(Options { write_queue_max: 4, ..database.options() }).await.unwrap();
        let gate = Gate::new();
        let first = tokio::spawn({
            let (store, apply) = (store.clone(), gate.apply());
            async move { write(&store, apply).await }
        });
        gate.entered().await;
        let accepted = futures::future::join_all((0..3).map(|_| write(&store, counting())));
        let (accepted, refused) = futures::future::join(accepted, async {
            let refused = write(&store, counting()).await;
            gate.open();
            refused
        })
        .await;
        assert!(matches!(refused, Err(WriteError::QueueFull)), "{refused:?}");
        first.await.unwrap().unwrap();
        let values: Vec<i64> = accepted.into_iter().map(Result::unwrap).collect();
        assert_eq!(values, [2, 3, 4]);
        assert_eq!(write(&store, counting()).await.unwrap(), 5);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_write_goes_on_when_its_caller_is_gone() {
    for database in both().await {
        let store = database.open().await;
        let gate = Gate::new();
        let caller = tokio::spawn({
            let (store, apply) = (store.clone(), gate.apply());
            async move { write(&store, apply).await }
        });
        gate.entered().await;
        caller.abort();
        assert!(caller.await.unwrap_err().is_cancelled());
        gate.open();
        until("the write is committed", || async { counter(&store).await == 1 }).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_finishes_what_was_accepted_and_refuses_the_rest() {
    for database in both().await {
        let store = database.open().await;
        let accepted = futures::future::join_all((0..20).map(|_| write(&store, counting())));
        let (accepted, ()) = futures::future::join(accepted, store.close()).await;
        let values: Vec<i64> = accepted.into_iter().map(Result::unwrap).collect();
        check_contiguous(&values);
        assert!(is_unavailable(&write(&store, counting()).await));
        assert!(store.read().await.is_err());
        assert_eq!(counter(&database.open().await).await, 20);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_that_is_taken_stays_a_unique_violation_and_shows_no_value() {
    for database in both().await {
        let store = database.open().await;
        let insert = || -> Apply<i64> {
            let call_id = call_id();
            Box::new(move |tx| {
                let call_id = call_id.clone();
                Box::pin(async move {
                    tx.execute("INSERT INTO counters (name, value) VALUES ($1, $2)", &["secret".into(), 1.into()])
                        .await?;
                    Ok(applied(1, &call_id))
                })
            })
        };
        write(&store, insert()).await.unwrap();
        let error = match write(&store, insert()).await {
            Err(WriteError::Store(error)) => error,
            other => panic!("{other:?}"),
        };
        let constraint = match database.engine {
            Engine::Sqlite => "counters.name",
            Engine::Postgres => "counters_pkey",
        };
        assert_eq!(error.kind(), &StoreErrorKind::UniqueViolation { constraint: constraint.to_owned() });
        assert_eq!(error.to_string(), format!("`{constraint}` must be unique"));
    }
}
