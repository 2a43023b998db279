//! Whose log a database holds: one name and one current key from the first start on, whatever servers come later.

use crate::error::StoreError;
use crate::open::Store;
use crate::param::Param;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogIdentity {
    pub origin: String,
    /// The public key that signed last, as text.
    pub verifier_key: String,
}

impl Store {
    /// Records whose log this is, unless somebody did before, and answers what is recorded. Of two servers that come at
    /// once the primary key lets one in first.
    pub async fn claim_log(&self, claimed: &LogIdentity) -> Result<LogIdentity, StoreError> {
        let mut conn = self.writer_connection().await?;
        let sql = "INSERT INTO log_identity (id, origin, verifier_key) VALUES (1, $1, $2) ON CONFLICT (id) DO NOTHING";
        conn.execute(sql, &[Param::Text(&claimed.origin), Param::Text(&claimed.verifier_key)]).await?;
        let row = conn.fetch_optional("SELECT origin, verifier_key FROM log_identity WHERE id = 1", &[]).await?;
        let row = row.ok_or_else(|| StoreError::other("the identity of the log was not kept"))?;
        Ok(LogIdentity { origin: row.text(0)?, verifier_key: row.text(1)? })
    }

    /// Records that another key signs from here on, if `from` is still the one that is recorded.
    pub async fn change_log_key(&self, from: &str, to: &str) -> Result<(), StoreError> {
        let mut conn = self.writer_connection().await?;
        let sql = "UPDATE log_identity SET verifier_key = $1 WHERE id = 1 AND verifier_key = $2";
        conn.execute(sql, &[Param::Text(to), Param::Text(from)]).await?;
        Ok(())
    }
}
