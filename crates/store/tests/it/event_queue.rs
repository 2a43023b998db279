//! The queue of events that have no change.

use std::time::Duration;

use store::{EventQueue, QueueRefused};

use crate::harness::{both, call_id, event, n_events, outcome, until};

const NEVER: Duration = Duration::from_secs(3600);

#[tokio::test(flavor = "multi_thread")]
async fn a_full_queue_refuses_until_it_is_flushed() {
    for database in both().await {
        let store = database.open().await;
        let queue = EventQueue::start(store.clone(), 3, NEVER);
        for _ in 0..3 {
            queue.try_push(event(&call_id(), "ok")).unwrap();
        }
        assert_eq!(queue.try_push(event(&call_id(), "ok")), Err(QueueRefused::Full));
        assert_eq!(n_events(&store).await, 0);
        queue.flush().await.unwrap();
        assert_eq!(n_events(&store).await, 3);
        queue.try_push(event(&call_id(), "ok")).unwrap();
        queue.close().await.unwrap();
        assert_eq!(n_events(&store).await, 4);
        assert_eq!(queue.try_push(event(&call_id(), "ok")), Err(QueueRefused::Stopped));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn events_are_stored_soon_without_asking() {
    for database in both().await {
        let store = database.open().await;
        let queue = EventQueue::start(store.clone(), 1000, Duration::from_millis(20));
        for _ in 0..700 {
            queue.try_push(event(&call_id(), "ok")).unwrap();
        }
        until("the events are stored", || async { n_events(&store).await == 700 }).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_flush_stops_the_queue_until_its_events_are_stored() {
    for database in both().await {
        let store = database.open().await;
        let queue = EventQueue::start(store.clone(), 100, Duration::from_millis(20));
        let outage = database.damage(&store).await;
        let kept = call_id();
        queue.try_push(event(&kept, "ok")).unwrap();
        assert!(queue.flush().await.unwrap_err().is_unavailable());
        assert_eq!(queue.try_push(event(&call_id(), "ok")), Err(QueueRefused::Stopped));
        database.mend(outage).await;
        until("the queue accepts events again", || async { queue.try_push(event(&call_id(), "ok")).is_ok() }).await;
        queue.flush().await.unwrap();
        assert_eq!(outcome(&store, &kept).await.as_deref(), Some("ok"));
        assert_eq!(n_events(&store).await, 2);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn closing_during_an_outage_ends_and_reports_the_loss() {
    for database in both().await {
        let store = database.open().await;
        let queue = EventQueue::start(store.clone(), 100, Duration::from_millis(1));
        let outage = database.damage(&store).await;
        queue.try_push(event(&call_id(), "ok")).unwrap();
        assert!(queue.close().await.is_err());
        assert!(queue.flush().await.is_err());
        database.mend(outage).await;
    }
}
