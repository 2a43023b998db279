//! Rows that no event tells of by themselves, because audited rows say what must be in them: the bytes of documents are
//! those of their hash, the revisions of a document end as it is now, an approval is whole, a reservation is of the type
//! of its ids, the task counter stands at the last task, and the inputs that are searched are those of the tasks.

use std::collections::BTreeMap;

use contract::canonical;
use contract::workflow::tasks::Task;
use store::{Conn, Engine, Row, StoreError};

use crate::tasks::{self, KeptTask};

/// A row that is not as the audited ones say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrong {
    pub organisation_id: String,
    pub what: String,
}

/// Documents may be long.
const CONTENTS_PAGE: i64 = 100;
const TASKS_PAGE: i64 = 1_000;
/// So many wrong rows of one kind are looked for; the first is enough to doubt a database.
const WRONG_MAX: i64 = 1_000;

const REVISIONS: &str = "SELECT r.organisation_id, r.project_id, r.artifact_key, r.version, r.revision \
    FROM artifact_revisions r LEFT JOIN artifacts a ON a.organisation_id = r.organisation_id \
    AND a.project_id = r.project_id AND a.artifact_key = r.artifact_key AND a.version = r.version \
    LEFT JOIN artifact_contents c ON c.organisation_id = r.organisation_id AND c.content_sha256 = r.content_sha256 \
    WHERE a.artifact_key IS NULL OR r.size_bytes <> c.size_bytes OR r.revision > a.n_revisions OR r.revision < 1 \
    OR (r.revision = a.n_revisions AND (r.status <> a.status OR r.content_sha256 <> a.content_sha256 \
        OR r.size_bytes <> a.size_bytes)) \
    OR (r.cause = 'stored' AND (r.meaning IS NOT NULL OR r.changed_by <> a.created_by OR r.changed_at_us <> a.created_at_us \
        OR r.content_sha256 <> COALESCE(a.reviewed_sha256, a.content_sha256))) \
    OR (r.cause = 'moved' AND r.meaning IS NOT NULL) \
    OR (r.cause = 'approved' AND (r.changed_by IS DISTINCT FROM a.approved_by \
        OR r.changed_at_us IS DISTINCT FROM a.approved_at_us OR r.meaning IS DISTINCT FROM a.approval_meaning)) \
    ORDER BY r.organisation_id, r.project_id, r.artifact_key, r.version, r.revision LIMIT $1";

const MISSING_REVISIONS: &str = "SELECT a.organisation_id, a.project_id, a.artifact_key, a.version FROM artifacts a \
    WHERE a.n_revisions <> (SELECT COUNT(*) FROM artifact_revisions r WHERE r.organisation_id = a.organisation_id \
        AND r.project_id = a.project_id AND r.artifact_key = a.artifact_key AND r.version = a.version) \
    ORDER BY a.organisation_id, a.project_id, a.artifact_key, a.version LIMIT $1";

// The event has the approval as a whole: a part of one is none, and would otherwise stand there unseen.
const APPROVALS: &str = "SELECT a.organisation_id, a.project_id, a.artifact_key, a.version FROM artifacts a \
    WHERE (a.approved_by IS NULL) <> (a.reviewed_sha256 IS NULL) \
    OR (a.approved_at_us IS NULL) <> (a.reviewed_sha256 IS NULL) \
    OR (a.approval_meaning IS NULL) <> (a.reviewed_sha256 IS NULL) \
    OR (a.names_reviewed_hash IS NOT NULL AND a.reviewed_sha256 IS NULL) \
    OR a.updated_at_us <> COALESCE((SELECT r.changed_at_us FROM artifact_revisions r \
        WHERE r.organisation_id = a.organisation_id AND r.project_id = a.project_id AND r.artifact_key = a.artifact_key \
        AND r.version = a.version AND r.revision = a.n_revisions AND r.cause = 'moved'), \
        a.approved_at_us, a.created_at_us) \
    ORDER BY a.organisation_id, a.project_id, a.artifact_key, a.version LIMIT $1";

const MISSING_CONTENTS: &str = "SELECT r.organisation_id, r.project_id, r.artifact_key, r.version, r.revision \
    FROM artifact_revisions r LEFT JOIN artifact_contents c ON c.organisation_id = r.organisation_id \
    AND c.content_sha256 = r.content_sha256 WHERE c.content_sha256 IS NULL \
    ORDER BY r.organisation_id, r.project_id, r.artifact_key, r.version, r.revision LIMIT $1";

// Each number that the counter gives is that of a task, in the same transaction, and no task is ever deleted.
const TASK_COUNTERS: &str = "SELECT t.organisation_id FROM \
    (SELECT organisation_id, MAX(task_number) AS last_number FROM tasks GROUP BY organisation_id \
     UNION ALL SELECT c.organisation_id, NULL FROM task_counters c \
     WHERE NOT EXISTS (SELECT 1 FROM tasks n WHERE n.organisation_id = c.organisation_id)) AS t \
    LEFT JOIN task_counters c ON c.organisation_id = t.organisation_id \
    WHERE c.last_task_number IS DISTINCT FROM t.last_number ORDER BY t.organisation_id LIMIT $1";

// SQLite takes any number for a truth.
const TRUTHS: &str = "SELECT organisation_id, reservation_id FROM id_reservations \
    WHERE confirmed NOT IN (TRUE, FALSE) OR is_exempt NOT IN (TRUE, FALSE) \
    ORDER BY organisation_id, reservation_id LIMIT $1";

// PostgreSQL keeps the value and not its text.
const OTHER_JSON: &str = "SELECT organisation_id, task_id FROM tasks \
    WHERE CASE WHEN json_valid(inputs_json) THEN json(inputs_json) <> inputs_json ELSE FALSE END \
    ORDER BY organisation_id, task_id LIMIT $1";

const STRAY_INPUTS: &str = "SELECT i.organisation_id, i.task_id FROM task_inputs i \
    LEFT JOIN tasks t ON t.organisation_id = i.organisation_id AND t.task_id = i.task_id \
    WHERE t.task_id IS NULL ORDER BY i.organisation_id, i.task_id, i.position LIMIT $1";

const MANDATORY_INPUTS: &str = "SELECT t.organisation_id, t.task_id FROM tasks t WHERE t.has_mandatory_input <> \
    EXISTS (SELECT 1 FROM task_inputs i WHERE i.organisation_id = t.organisation_id AND i.task_id = t.task_id \
        AND i.classification = 'mandatory') \
    ORDER BY t.organisation_id, t.task_id LIMIT $1";

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
    let approval = |row: &Row| {
        let (project_id, key, version) = (row.text(1)?, row.text(2)?, row.int(3)?);
        Ok(format!("the approval or the time of {project_id}/{key}/{version} was changed by other hands"))
    };
    wrong.extend(find(conn, APPROVALS, approval).await?);
    let gone = |row: &Row| {
        let (project_id, key) = (row.text(1)?, row.text(2)?);
        Ok(format!("the bytes of revision {} of {project_id}/{key}/{} are gone", row.int(4)?, row.int(3)?))
    };
    wrong.extend(find(conn, MISSING_CONTENTS, gone).await?);
    let counter = |_: &Row| Ok("the task counter was changed by other hands".to_owned());
    wrong.extend(find(conn, TASK_COUNTERS, counter).await?);
    let reservation = |row: &Row| Ok(format!("reservation `{}` was changed by other hands", row.text(1)?));
    wrong.extend(find(conn, TRUTHS, reservation).await?);
    if conn.engine() == Engine::Sqlite {
        let task = |row: &Row| Ok(format!("the inputs of `{}` were written by other hands", row.text(1)?));
        wrong.extend(find(conn, OTHER_JSON, task).await?);
    }
    wrong.extend(inputs(conn).await?);
    for sql in [STRAY_INPUTS, MANDATORY_INPUTS] {
        wrong.extend(find(conn, sql, |row| Ok(changed_inputs(&row.text(1)?))).await?);
    }
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

fn changed_inputs(task_id: &str) -> String {
    format!("the searched inputs of {task_id} were changed by other hands")
}

/// What is searched of each task's inputs beside the inputs themselves, which an event tells of.
async fn inputs(conn: &mut Conn) -> Result<Vec<Wrong>, StoreError> {
    let mut wrong = Vec::new();
    let mut after = [String::new(), String::new()];
    loop {
        let page = tasks::read_all(conn, [&after[0], &after[1]], TASKS_PAGE).await?;
        let Some(last) = page.last() else { return Ok(wrong) };
        let until = [last.organisation_id.clone(), last.task_id.clone()];
        let rows = conn
            .fetch_all(
                "SELECT organisation_id, task_id, artifact_id, classification, position FROM task_inputs \
                 WHERE (organisation_id, task_id) > ($1, $2) AND (organisation_id, task_id) <= ($3, $4) \
                 ORDER BY organisation_id, task_id, position",
                &[(&after[0]).into(), (&after[1]).into(), (&until[0]).into(), (&until[1]).into()],
            )
            .await?;
        let mut searched: BTreeMap<[String; 2], Vec<(i64, [String; 2])>> = BTreeMap::new();
        for row in &rows {
            let of_task = searched.entry([row.text(0)?, row.text(1)?]).or_default();
            of_task.push((row.int(4)?, [row.text(2)?, row.text(3)?]));
        }
        for KeptTask { organisation_id, task_id, task, .. } in &page {
            let found = searched.remove(&[organisation_id.clone(), task_id.clone()]).unwrap_or_default();
            // One that cannot be read is named already.
            if task.as_ref().is_some_and(|task| found != expected_inputs(task)) {
                let what = changed_inputs(task_id);
                wrong.push(Wrong { organisation_id: organisation_id.clone(), what });
            }
        }
        after = until;
    }
}

fn expected_inputs(task: &Task) -> Vec<(i64, [String; 2])> {
    let each = task.inputs.iter();
    (0..).zip(each.map(|input| [input.artifact_id.clone(), input.classification.name().to_owned()])).collect()
}

async fn contents(conn: &mut Conn) -> Result<(Vec<Wrong>, u64), StoreError> {
    let (mut wrong, mut n_hashed) = (Vec::new(), 0);
    let mut after = [String::new(), String::new()];
    loop {
        let rows = conn
            .fetch_all(
                "SELECT organisation_id, content_sha256, content, size_bytes FROM artifact_contents \
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
            let content = row.text(2)?;
            let is_as_long =
                i64::try_from(content.len()).is_ok_and(|n_bytes| row.int(3).is_ok_and(|kept| kept == n_bytes));
            if hex::encode(canonical::digest(content.as_bytes())) != after[1] || !is_as_long {
                let what = format!("the document with the hash {} was changed by other hands", after[1]);
                wrong.push(Wrong { organisation_id: after[0].clone(), what });
            }
        }
    }
}
