//! PostgreSQL is asked to look at tables that grow before it does so by itself.

use std::time::Duration;

use store::Param;
use tokio::time::Instant;

use crate::harness::{postgres, statement, write};

#[tokio::test(flavor = "multi_thread")]
async fn a_table_that_fills_up_is_looked_at_within_seconds() {
    let database = postgres().await;
    let store = database.open().await;
    write(&store, statement("INSERT INTO samples (id) SELECT generate_series(1, 2000)")).await.unwrap();
    let sql = "SELECT last_analyze IS NOT NULL FROM pg_stat_user_tables WHERE relname = $1";
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        let mut reader = store.read().await.unwrap();
        let row = reader.fetch_optional(sql, &[Param::Text("samples")]).await.unwrap().unwrap();
        if row.bool(0).unwrap() {
            break;
        }
        assert!(Instant::now() < deadline, "nobody looked");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    store.close().await;
}
