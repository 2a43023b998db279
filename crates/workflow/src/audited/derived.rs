//! Rows that no event tells of by themselves, because audited rows say what must be in them: the bytes of documents are
//! those of their hash, the revisions of a document end as it is now, and the task counter stands at the last task.

use contract::canonical;
use store::{Conn, Row, StoreError};

/// A row that is not as the audited ones say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub organisation_id: String,
    pub what: String,
}

/// Documents may be long.
const CONTENTS_PAGE: i64 = 100;
/// So many wrong rows of one kind are looked for; the first is enough to doubt a database.
const WRONG_MAX: i64 = 1_000;

const REVISIONS: &str = "SELECT r.organisation_id, r.project_id, r.artifact_key, r.version, r.revision \
    FROM artifact_revisions r LEFT JOIN artifacts a ON a.organisation_id = r.organisation_id \
    AND a.project_id = r.project_id AND a.artifact_key = r.artifact_key AND a.version = r.version \
    WHERE a.artifact_key IS NULL OR r.revision > a.n_revisions \
    OR (r.revision = a.n_revisions AND (r.status <> a.status OR r.content_sha256 <> a.content_sha256 \
        OR r.size_bytes <> a.size_bytes)) \
    OR (r.cause = 'stored' AND (r.changed_by <> a.created_by OR r.changed_at_us <> a.created_at_us \
        OR r.content_sha256 <> COALESCE(a.reviewed_sha256, a.content_sha256))) \
    OR (r.cause = 'approved' AND (r.changed_by IS DISTINCT FROM a.approved_by \
        OR r.changed_at_us IS DISTINCT FROM a.approved_at_us OR r.meaning IS DISTINCT FROM a.approval_meaning)) \
    ORDER BY r.organisation_id, r.project_id, r.artifact_key, r.version, r.revision LIMIT $1";

const MISSING_REVISIONS: &str = "SELECT a.organisation_id, a.project_id, a.artifact_key, a.version FROM artifacts a \
    WHERE a.n_revisions <> (SELECT COUNT(*) FROM artifact_revisions r WHERE r.organisation_id = a.organisation_id \
        AND r.project_id = a.project_id AND r.artifact_key = a.artifact_key AND r.version = a.version) \
    ORDER BY a.organisation_id, a.project_id, a.artifact_key, a.version LIMIT $1";

const MISSING_CONTENTS: &str = "SELECT r.organisation_id, r.project_id, r.artifact_key, r.version, r.revision \
    FROM artifact_revisions r LEFT JOIN artifact_contents c ON c.organisation_id = r.organisation_id \
    AND c.content_sha256 = r.content_sha256 WHERE c.content_sha256 IS NULL \
    ORDER BY r.organisation_id, r.project_id, r.artifact_key, r.version, r.revision LIMIT $1";

// Each number that the counter gives is that of a task, in the same transaction, and no task is ever deleted.
const TASK_COUNTERS: &str = "SELECT t.organisation_id FROM \
    (SELECT organisation_id, MAX(task_number) AS last_number FROM tasks GROUP BY organisation_id) AS t \
    LEFT JOIN task_counters c ON c.organisation_id = t.organisation_id \
    WHERE c.last_task_number IS DISTINCT FROM t.last_number ORDER BY t.organisation_id LIMIT $1";

/// Looks at all of them. Returns what is wrong, and how many documents were hashed.
pub async fn check(conn: &mut Conn) -> Result<(Vec<Wrong>, u64), StoreError> {
    let (mut wrong, n_hashed) = contents(conn).await?;
    let revision = |row: &Row| {
        let (project_id, key) = (row.text(1)?, row.text(2)?);
        Ok(format!("revision {} of {project_id}/{key}/{} was changed by other hands", row.int(4)?, row.int(3)?))
    };
    wrong.extend(find(conn, REVISIONS, revision).await?);
    let missing = |row: &Row| {
        let (project_id, key, version) = (row.text(1)?, row.text(2)?, row.int(3)?);
        Ok(format!("revisions of {project_id}/{key}/{version} were deleted or added by other hands"))
    };
    wrong.extend(find(conn, MISSING_REVISIONS, missing).await?);
    let gone = |row: &Row| {
        let (project_id, key) = (row.text(1)?, row.text(2)?);
        Ok(format!("the bytes of revision {} of {project_id}/{key}/{} are gone", row.int(4)?, row.int(3)?))
    };
    wrong.extend(find(conn, MISSING_CONTENTS, gone).await?);
    let counter = |_: &Row| Ok("the task counter was changed by other hands".to_owned());
    wrong.extend(find(conn, TASK_COUNTERS, counter).await?);
    Ok((wrong, n_hashed))
}

async fn find(
    conn: &mut Conn,
    sql: &'static str,
    say: impl Fn(&Row) -> Result<String, StoreError>,
) -> Result<Vec<Wrong>, StoreError> {
    let rows = conn.fetch_all(sql, &[WRONG_MAX.into()]).await?;
    rows.iter().map(|row| Ok(Wrong { organisation_id: row.text(0)?, what: say(row)? })).collect()
}

async fn contents(conn: &mut Conn) -> Result<(Vec<Wrong>, u64), StoreError> {
    let (mut wrong, mut n_hashed) = (Vec::new(), 0);
    let mut after = [String::new(), String::new()];
    loop {
        let rows = conn
            .fetch_all(
                "SELECT organisation_id, content_sha256, content FROM artifact_contents \
                 WHERE (organisation_id, content_sha256) > ($1, $2) \
                 ORDER BY organisation_id, content_sha256 LIMIT $3",
                &[after[0].as_str().into(), after[1].as_str().into(), CONTENTS_PAGE.into()],
            )
            .await?;
        if rows.is_empty() {
            return Ok((wrong, n_hashed));
        }
        for row in &rows {
            after = [row.text(0)?, row.text(1)?];
            n_hashed += 1;
            if hex::encode(canonical::digest(row.text(2)?.as_bytes())) != after[1] {
                let what = format!("the document with the hash {} was changed by other hands", after[1]);
                wrong.push(Wrong { organisation_id: after[0].clone(), what });
            }
        }
    }
}
