//! Jobs: who started what, how far it is, and who runs it until when.
//!
//! A runner holds a job by a lease that it renews. A job whose lease ran out, because its runner died, is anybody's.
//! What a runner writes counts only while the job is still its own and nobody cancelled it.

use crate::conn::{Conn, Tx};
use crate::error::StoreError;
use crate::param::Param;
use crate::row::Row;

pub const WORKING: &str = "working";
pub const INPUT_REQUIRED: &str = "input_required";
pub const CANCELLED: &str = "cancelled";

/// A row of the table. Texts that hold JSON are the business of whoever wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JobRow {
    pub organisation_id: String,
    pub job_id: String,
    pub actor_id: String,
    pub actor: String,
    pub operation: String,
    pub input: String,
    pub answers: String,
    pub questions: String,
    pub state: String,
    pub progress: Option<String>,
    pub ending: Option<String>,
    pub n_starts: i64,
    pub created_at_us: i64,
    pub updated_at_us: i64,
    pub expires_at_us: i64,
    /// Whoever starts a job vouches by it for what is run, and as whom.
    pub seal: Option<String>,
}

/// What a runner leaves behind.
#[derive(Debug, Clone)]
pub struct Settled<'a> {
    pub state: &'a str,
    pub questions: &'a str,
    pub ending: Option<&'a str>,
    pub now_us: i64,
}

fn row(row: &Row) -> Result<JobRow, StoreError> {
    Ok(JobRow {
        organisation_id: row.text(0)?,
        job_id: row.text(1)?,
        actor_id: row.text(2)?,
        actor: row.text(3)?,
        operation: row.text(4)?,
        input: row.text(5)?,
        answers: row.text(6)?,
        questions: row.text(7)?,
        state: row.text(8)?,
        progress: row.opt_text(9)?,
        ending: row.opt_text(10)?,
        n_starts: row.int(11)?,
        created_at_us: row.int(12)?,
        updated_at_us: row.int(13)?,
        expires_at_us: row.int(14)?,
        seal: row.opt_text(15)?,
    })
}

/// A new job, free for whoever claims it first.
pub async fn insert(tx: &mut Tx<'_>, job: &JobRow) -> Result<(), StoreError> {
    let sql = "INSERT INTO jobs (organisation_id, job_id, actor_id, actor, operation, input, answers, questions, state,
        n_starts, runner_id, lease_until_us, created_at_us, updated_at_us, expires_at_us, seal)
        VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, 0, '', 0, $10, $11, $12, $13)";
    let params = [
        Param::Text(&job.organisation_id),
        Param::Text(&job.job_id),
        Param::Text(&job.actor_id),
        Param::Text(&job.actor),
        Param::Text(&job.operation),
        Param::Text(&job.input),
        Param::Text(&job.answers),
        Param::Text(&job.questions),
        Param::Text(&job.state),
        Param::Int(job.created_at_us),
        Param::Int(job.updated_at_us),
        Param::Int(job.expires_at_us),
        job.seal.as_deref().into(),
    ];
    tx.execute(sql, &params).await?;
    Ok(())
}

/// A job of this actor.
pub async fn find(
    conn: &mut Conn,
    organisation_id: &str,
    actor_id: &str,
    job_id: &str,
) -> Result<Option<JobRow>, StoreError> {
    let sql = "SELECT organisation_id, job_id, actor_id, actor, operation, input, answers, questions, state, progress,
        ending, n_starts, created_at_us, updated_at_us, expires_at_us, seal
        FROM jobs WHERE organisation_id = $1 AND actor_id = $2 AND job_id = $3";
    let found = conn.fetch_optional(sql, &[organisation_id.into(), actor_id.into(), job_id.into()]).await?;
    found.as_ref().map(row).transpose()
}

/// Jobs of this actor that have not ended.
pub async fn count_open(conn: &mut Conn, organisation_id: &str, actor_id: &str) -> Result<i64, StoreError> {
    let sql = "SELECT COUNT(*) FROM jobs WHERE organisation_id = $1 AND actor_id = $2
        AND state IN ('working', 'input_required')";
    let counted = conn.fetch_optional(sql, &[organisation_id.into(), actor_id.into()]).await?;
    counted.map_or(Ok(0), |row| row.int(0))
}

/// Is there a job that nobody holds? Spares the writer a look.
pub async fn is_any_free(conn: &mut Conn, now_us: i64) -> Result<bool, StoreError> {
    let sql = "SELECT 1 FROM jobs WHERE state = 'working' AND lease_until_us < $1 LIMIT 1";
    Ok(conn.fetch_optional(sql, &[now_us.into()]).await?.is_some())
}

/// Takes the oldest job that nobody holds.
pub async fn claim(
    tx: &mut Tx<'_>,
    runner_id: &str,
    now_us: i64,
    lease_until_us: i64,
) -> Result<Option<JobRow>, StoreError> {
    let sql = tx.engine().claim_job_sql();
    let claimed = tx.fetch_optional(sql, &[runner_id.into(), now_us.into(), lease_until_us.into()]).await?;
    claimed.as_ref().map(row).transpose()
}

/// Keeps a job and its progress. `false` if it is no longer this runner's, or was cancelled.
pub async fn renew(
    tx: &mut Tx<'_>,
    job: &JobRow,
    runner_id: &str,
    progress: Option<&str>,
    lease_until_us: i64,
    now_us: i64,
) -> Result<bool, StoreError> {
    let sql = "UPDATE jobs SET lease_until_us = $1, progress = COALESCE($2, progress), updated_at_us = $3
        WHERE organisation_id = $4 AND job_id = $5 AND runner_id = $6 AND state = 'working'";
    let params = [
        Param::Int(lease_until_us),
        progress.into(),
        Param::Int(now_us),
        Param::Text(&job.organisation_id),
        Param::Text(&job.job_id),
        Param::Text(runner_id),
    ];
    Ok(tx.execute(sql, &params).await? == 1)
}

/// Writes what came of a run. `false` if the job is no longer this runner's, or was cancelled.
pub async fn settle(tx: &mut Tx<'_>, job: &JobRow, runner_id: &str, settled: &Settled<'_>) -> Result<bool, StoreError> {
    let sql = "UPDATE jobs SET state = $1, questions = $2, ending = $3, updated_at_us = $4, lease_until_us = 0,
        n_starts = 0 WHERE organisation_id = $5 AND job_id = $6 AND runner_id = $7 AND state = 'working'";
    let params = [
        Param::Text(settled.state),
        Param::Text(settled.questions),
        settled.ending.into(),
        Param::Int(settled.now_us),
        Param::Text(&job.organisation_id),
        Param::Text(&job.job_id),
        Param::Text(runner_id),
    ];
    Ok(tx.execute(sql, &params).await? == 1)
}

/// Stops a job that has not ended. One that has stays as it is.
pub async fn cancel(tx: &mut Tx<'_>, job: &JobRow, now_us: i64) -> Result<(), StoreError> {
    let sql = "UPDATE jobs SET state = 'cancelled', questions = '{}', updated_at_us = $1
        WHERE organisation_id = $2 AND job_id = $3 AND state IN ('working', 'input_required')";
    tx.execute(sql, &[now_us.into(), job.organisation_id.as_str().into(), job.job_id.as_str().into()]).await?;
    Ok(())
}

/// Keeps the answers of `job`, with its questions, its state and its seal; with no question left it is free to go on.
pub async fn answer(tx: &mut Tx<'_>, job: &JobRow, now_us: i64) -> Result<(), StoreError> {
    let sql = "UPDATE jobs SET answers = $1, questions = $2, state = $3, seal = $4, updated_at_us = $5
        WHERE organisation_id = $6 AND job_id = $7 AND state = 'input_required'";
    let params = [
        Param::Text(&job.answers),
        Param::Text(&job.questions),
        Param::Text(&job.state),
        job.seal.as_deref().into(),
        Param::Int(now_us),
        Param::Text(&job.organisation_id),
        Param::Text(&job.job_id),
    ];
    tx.execute(sql, &params).await?;
    Ok(())
}

/// Forgets jobs whose time is over. Answers how many.
pub async fn delete_expired(tx: &mut Tx<'_>, now_us: i64) -> Result<u64, StoreError> {
    tx.execute("DELETE FROM jobs WHERE expires_at_us < $1", &[now_us.into()]).await
}
