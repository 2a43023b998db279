//! Whether a database holds a log, without making anything in it.

use std::collections::BTreeSet;

use crate::conn::Conn;
use crate::error::{OpenError, StoreError};
use crate::open::{Options, connect, explained};

/// Tables of which one has a row from the first start on.
const FILLED: [&str; 2] = ["log_identity", "events"];

/// Whether somebody began a log in this database, or left some of one. Nothing is migrated or written.
pub async fn has_log(options: &Options) -> Result<bool, OpenError> {
    let (pools, _) = connect(options)?;
    let found = async {
        let mut conn = pools.write.acquire().await.map_err(|error| OpenError::Connect { error })?;
        look(&mut conn).await.map_err(|error| OpenError::ReadMigrations { error })
    };
    let found = found.await;
    pools.write.close().await;
    found.map_err(|error| explained(error, &options.target))
}

async fn look(conn: &mut Conn) -> Result<bool, StoreError> {
    let columns = conn.fetch_all(conn.engine().columns_sql(), &[]).await?;
    let tables: BTreeSet<String> = columns.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
    if !tables.contains("schema_migrations") {
        return Ok(tables.contains("events"));
    }
    for table in FILLED {
        // Where other hands took a table away there was one, and whoever checks the log says so.
        if !tables.contains(table) || conn.fetch_built(format!("SELECT 1 FROM {table} LIMIT 1")).await?.is_some() {
            return Ok(true);
        }
    }
    Ok(false)
}
