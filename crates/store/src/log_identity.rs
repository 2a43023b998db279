//! Whose log a database holds: one name and one current key from the first start on, whatever servers come later.

use crate::conn::Conn;
use crate::error::StoreError;
use crate::open::Store;
use crate::param::Param;
use crate::row::Row;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogIdentity {
    pub origin: String,
    /// The public key that signed last, as text.
    pub verifier_key: String,
}

/// Whose log this is, as recorded.
pub async fn find(conn: &mut Conn) -> Result<Option<LogIdentity>, StoreError> {
    let row = conn.fetch_optional("SELECT origin, verifier_key FROM log_identity WHERE id = 1", &[]).await?;
    let read = |row: Row| -> Result<LogIdentity, StoreError> {
        Ok(LogIdentity { origin: row.text(0)?, verifier_key: row.text(1)? })
    };
    let unreadable = |_| StoreError::damaged("log_identity", "its row has a column that is not of its type");
    row.map(read).transpose().map_err(unreadable)
}

impl Store {
    /// Records whose log this is, unless somebody did before, and answers what is recorded. Of two servers that come at
    /// once the primary key lets one in first.
    pub async fn claim_log(&self, claimed: &LogIdentity) -> Result<LogIdentity, StoreError> {
        let mut conn = self.writer_connection().await?;
        let sql = "INSERT INTO log_identity (id, origin, verifier_key) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING";
        conn.execute(sql, &[Param::Text(&claimed.origin), Param::Text(&claimed.verifier_key)]).await?;
        find(&mut conn).await?.ok_or_else(|| StoreError::other("the identity of the log was not kept"))
    }

    /// Records that another key signs from here on, if `from` is still the one that is recorded.
    pub async fn change_log_key(&self, from: &str, to: &str) -> Result<(), StoreError> {
        let mut conn = self.writer_connection().await?;
        let sql = "UPDATE log_identity SET verifier_key = $1 WHERE id = 1 AND verifier_key = $2";
        conn.execute(sql, &[Param::Text(to), Param::Text(from)]).await?;
        Ok(())
    }
}
