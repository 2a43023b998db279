//! What PostgreSQL knows of its tables. Until it has looked at one, it takes any index of it for as good as the right one;
//! by itself it looks within a minute, and a table that fills up in its first seconds is slow until then.

use std::sync::{Arc, Weak};
use std::time::Duration;

use crate::conn::Conn;
use crate::dialect::Engine;
use crate::error::StoreError;
use crate::param::Param;
use crate::writer::Writer;

const LOOK_EVERY: Duration = Duration::from_secs(2);
/// With fewer rows, no index is a wrong one.
const N_ROWS_MIN: i64 = 1_000;

/// The first look at each table of the schema that has grown: later ones are PostgreSQL's own.
const NEVER_SEEN: &str = "SELECT quote_ident(relname) FROM pg_stat_user_tables WHERE schemaname = current_schema() \
     AND last_analyze IS NULL AND last_autoanalyze IS NULL AND n_mod_since_analyze >= $1";

/// Looks as long as the writer is there.
pub(crate) fn keep(engine: Engine, writer: &Arc<Writer>) {
    if engine == Engine::Postgres {
        tokio::spawn(look(Arc::downgrade(writer)));
    }
}

async fn look(writer: Weak<Writer>) {
    loop {
        tokio::time::sleep(LOOK_EVERY).await;
        let Some(writer) = writer.upgrade() else { return };
        if writer.is_closed() {
            return;
        }
        let looked = match writer.connection().await {
            Ok(mut conn) => analyse_grown(&mut conn).await,
            Err(error) => Err(error),
        };
        if let Err(error) = looked {
            tracing::debug!(error = %error, "The sizes of tables could not be looked at; PostgreSQL will by itself");
        }
    }
}

async fn analyse_grown(conn: &mut Conn) -> Result<(), StoreError> {
    for row in conn.fetch_all(NEVER_SEEN, &[Param::Int(N_ROWS_MIN)]).await? {
        conn.execute_raw(format!("ANALYZE {}", row.text(0)?)).await?;
    }
    Ok(())
}
