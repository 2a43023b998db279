//! Tasks of a project by what is asked of them, oldest first.

use contract::workflow::tasks::{Task, TaskStatus};
use store::{Conn, Param, Row, StoreError};

use super::TaskRow;

/// Absent conditions let everything through. No `Default`: each caller decides, in sight.
#[derive(Debug, Clone)]
pub struct Filter<'a> {
    pub status: Option<TaskStatus>,
    /// Tasks with this document among their inputs.
    pub depends_on: Option<&'a str>,
    /// Tasks without any mandatory input.
    pub is_missing_mandatory: bool,
    /// Number of the last task of the page before; 0 for the first page.
    pub after: i64,
    pub n_max: u32,
}

/// A page of tasks, and the number after which the next page begins; none at the end.
pub async fn list(
    conn: &mut Conn,
    organisation_id: &str,
    project_id: &str,
    filter: &Filter<'_>,
) -> Result<(Vec<Task>, Option<i64>), StoreError> {
    let (organisation_id, project_id) = (organisation_id.into(), project_id.into());
    let (after, limit) = (filter.after.into(), (i64::from(filter.n_max) + 1).into());
    let status = filter.status.map(TaskStatus::name);
    // A text of its own for each common question, so that each has its index.
    let rows = match (filter.depends_on, filter.is_missing_mandatory, status) {
        (None, false, None) => {
            let sql = with_columns!(
                "SELECT",
                "FROM tasks WHERE organisation_id = $1 AND project_id = $2 AND task_number > $3 \
                 ORDER BY task_number LIMIT $4"
            );
            conn.fetch_all(sql, &[organisation_id, project_id, after, limit]).await?
        }
        (None, false, Some(status)) => {
            let sql = with_columns!(
                "SELECT",
                "FROM tasks WHERE organisation_id = $1 AND project_id = $2 AND status = $5 AND task_number > $3 \
                 ORDER BY task_number LIMIT $4"
            );
            conn.fetch_all(sql, &[organisation_id, project_id, after, limit, status.into()]).await?
        }
        (Some(depends_on), is_missing_mandatory, status) => {
            // Half the queue may depend on one document: only numbers are sorted, and only a page of rows is read. Without
            // `= TRUE` a PostgreSQL that has no statistics yet compares each task with each dependent.
            let sql = with_columns!(
                "SELECT",
                "FROM tasks WHERE organisation_id = $1 AND task_number IN (\
                 SELECT task_number FROM tasks WHERE organisation_id = $1 AND project_id = $2 AND task_number > $3 \
                 AND (task_id IN (SELECT i.task_id FROM task_inputs i WHERE i.organisation_id = $1 AND i.artifact_id = $5)) = TRUE \
                 AND ($6 IS NULL OR status = $6) \
                 AND (NOT $7 OR NOT has_mandatory_input) \
                 ORDER BY task_number LIMIT $4) ORDER BY task_number"
            );
            let more = [depends_on.into(), status.into(), is_missing_mandatory.into()];
            conn.fetch_all(sql, &[&[organisation_id, project_id, after, limit], &more[..]].concat()).await?
        }
        (None, true, status) => {
            let sql = with_columns!(
                "SELECT",
                "FROM tasks WHERE organisation_id = $1 AND project_id = $2 AND task_number > $3 \
                 AND NOT has_mandatory_input AND ($5 IS NULL OR status = $5) \
                 ORDER BY task_number LIMIT $4"
            );
            conn.fetch_all(sql, &[organisation_id, project_id, after, limit, status.into()]).await?
        }
    };
    let n_max = usize::try_from(filter.n_max).unwrap_or(usize::MAX);
    let mut page = rows.iter().take(n_max).map(TaskRow::read).collect::<Result<Vec<TaskRow>, StoreError>>()?;
    let next = (rows.len() > n_max).then(|| page.last().map(|row| row.number)).flatten();
    Ok((page.drain(..).map(|row| row.task).collect(), next))
}

/// How many tasks a filter lets through, on whatever page.
pub async fn count(
    conn: &mut Conn,
    organisation_id: &str,
    project_id: &str,
    filter: &Filter<'_>,
) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) FROM tasks WHERE organisation_id = $1 AND project_id = $2 \
         AND ($3 IS NULL OR status = $3) AND (NOT $4 OR NOT has_mandatory_input) \
         AND ($5 IS NULL OR task_id IN (SELECT i.task_id FROM task_inputs i WHERE i.organisation_id = $1 AND i.artifact_id = $5))";
    let text = |text: Option<&'static str>| text.map_or(Param::NullText, Param::Text);
    let depends_on = filter.depends_on.map_or(Param::NullText, Param::Text);
    let status = text(filter.status.map(TaskStatus::name));
    let params = [organisation_id.into(), project_id.into(), status, filter.is_missing_mandatory.into(), depends_on];
    let row = conn.fetch_optional(sql, &params).await?;
    Ok(row.map(|row| row.int(0)).transpose()?.unwrap_or(0).unsigned_abs())
}

/// A row of the table of tasks, as the audit finds it.
pub(crate) struct KeptTask {
    pub organisation_id: String,
    pub task_id: String,
    pub created_by: String,
    pub created_at_us: i64,
    pub updated_at_us: i64,
    /// Absent where the row cannot be read as a task: other hands changed it.
    pub task: Option<Task>,
}

/// The tasks of every organisation after a place, for the audit.
pub(crate) async fn read_all(
    conn: &mut Conn,
    [organisation_id, task_id]: [&str; 2],
    n_max: i64,
) -> Result<Vec<KeptTask>, StoreError> {
    let sql = with_columns!(
        "SELECT",
        ", organisation_id, created_by, created_at_us, task_id, updated_at_us FROM tasks WHERE (organisation_id, task_id) > ($1, $2) \
         ORDER BY organisation_id, task_id LIMIT $3"
    );
    let rows = conn.fetch_all(sql, &[organisation_id.into(), task_id.into(), n_max.into()]).await?;
    let kept = |row: &Row| {
        let (organisation_id, created_by, created_at_us) = (row.text(17)?, row.text(18)?, row.int(19)?);
        let task = match TaskRow::read(row) {
            Ok(row) => Some(row.task),
            Err(error) if error.is_about_a_value() => None,
            Err(error) => return Err(error),
        };
        let (task_id, updated_at_us) = (row.text(20)?, row.int(21)?);
        Ok(KeptTask { organisation_id, task_id, created_by, created_at_us, updated_at_us, task })
    };
    rows.iter().map(kept).collect()
}
