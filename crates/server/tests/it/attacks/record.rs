//! What the server recorded, read from the database it left behind.

use std::path::Path;

use serde_json::Value;
use store::{Options, Reader, Store, Target};

/// One row of the table of events.
#[derive(Debug)]
pub struct Recorded {
    pub operation: String,
    pub outcome: String,
    pub body: Value,
}

/// Every event, in the order of the calls. The server must have stopped.
pub fn read_events(data: &Path) -> Vec<Recorded> {
    block_on(async {
        let store = open(data).await;
        let events = events(&mut store.read().await.expect("the database can be read")).await;
        store.close().await;
        events
    })
}

pub async fn open(data: &Path) -> Store {
    let options = Options {
        target: Target::Sqlite(data.join("materia.db")),
        migrations: ops::migrations(),
        n_connections_max: 1,
        write_queue_max: 1,
        batch_max: 1,
    };
    Store::open(options).await.expect("the database can be opened")
}

async fn events(reader: &mut Reader) -> Vec<Recorded> {
    let rows = reader.fetch_all("SELECT operation, outcome, body FROM events ORDER BY call_id", &[]).await;
    let rows = rows.expect("the events can be read");
    rows.iter()
        .map(|row| Recorded {
            operation: row.text(0).expect("a text"),
            outcome: row.text(1).expect("a text"),
            body: serde_json::from_str(&row.text(2).expect("a text")).expect("an event is JSON"),
        })
        .collect()
}

/// How many events there are of an operation that ended in this way.
pub fn count(events: &[Recorded], operation: &str, outcome: &str) -> usize {
    events.iter().filter(|event| event.operation == operation && event.outcome == outcome).count()
}

/// A test thread's own runtime, for the few things that need one.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    runtime.expect("a runtime starts").block_on(future)
}
