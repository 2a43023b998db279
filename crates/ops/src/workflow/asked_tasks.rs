//! Takes back the tasks that an approval asked of a service elsewhere and that no approved document has.

use std::time::Duration;

use contract::error::{Kind, OpError};
use contract::workflow::tasks::{ListedTasks, Task, TaskStatus};
use serde_json::{Value, json};
use store::{Applied, Apply, Keep, Store};
use tokio::time::Instant;
use uuid::Uuid;
use workflow::approval::asked::{self, Asked};

use crate::acting::Acting;
use crate::door::{Platform, Via};
use crate::drive::write_error;
use crate::operation::store_error;
use crate::remote::{Remote, RemoteCall, Service};

/// How long a note waits for its turn.
const NOTE_WAIT_MAX: Duration = Duration::from_secs(10);
/// Askings that one look takes back.
const LEFT_MAX: u32 = 100;
/// Pages of tasks that are looked through for those of one document.
const PAGES_MAX: usize = 50;
const PAGE_TASKS: u32 = 200;

/// Whether the service may still be making the tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    Ended,
    /// No answer came: they are looked for once more later.
    Unknown,
}

impl Asking {
    pub fn after(error: &OpError) -> Asking {
        match error.kind {
            Kind::Upstream | Kind::Timeout => Asking::Unknown,
            Kind::Invalid
            | Kind::NotFound
            | Kind::Conflict
            | Kind::Refused
            | Kind::Busy
            | Kind::InputRequired
            | Kind::Internal => Asking::Ended,
        }
    }
}

impl Platform {
    /// Until when what is so old by now was asked for.
    pub fn asked_until_us(&self, older_than: Duration) -> i64 {
        let age_us = i64::try_from(older_than.as_micros()).unwrap_or(i64::MAX);
        self.clock().now_us().saturating_sub(age_us)
    }

    /// Takes back what approvals asked for until then and did not end with, as far as the service answers.
    pub async fn take_back_tasks(&self, until_us: i64) {
        let remotes = &self.services().remotes;
        let Some(organisation_id) = remotes.organisation_id() else { return };
        let Some(tracker) = remotes.find(Service::Tasks, organisation_id) else { return };
        let left = match self.store().read().await {
            Ok(mut reader) => asked::find_left(&mut reader, organisation_id.as_str(), until_us, LEFT_MAX).await,
            Err(error) => Err(error),
        };
        match left {
            Ok(left) => {
                for asked in left {
                    take_back(self.store(), &**tracker, &asked, Asking::Ended).await;
                }
            }
            Err(error) => tracing::warn!(error = %error, "What approvals asked for cannot be read"),
        }
    }
}

/// What became of the tasks of an asking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TakenBack {
    /// None is left.
    All,
    /// Somebody else works on these, each told with who it is. The others are taken back.
    AllBut(Vec<String>),
    /// It is tried again later.
    Unknown,
}

/// Takes the tasks of one asking back, as far as nobody else works on them. What fails is tried again later.
pub async fn take_back(store: &Store, tracker: &dyn Remote, asked: &Asked, asking: Asking) -> TakenBack {
    let artifact_id = asked.artifact_id.as_str();
    match try_take_back(store, tracker, asked, asking).await {
        Ok(claimed) if claimed.is_empty() => TakenBack::All,
        Ok(claimed) => {
            let tasks = claimed.join(", ");
            tracing::warn!(artifact_id, tasks, "Somebody works on tasks of an approval that failed");
            TakenBack::AllBut(claimed)
        }
        Err(error) => {
            tracing::error!(
                artifact_id,
                code = error.code(),
                "Tasks of an approval that failed could not be taken back"
            );
            TakenBack::Unknown
        }
    }
}

/// Returns the tasks that somebody else works on.
async fn try_take_back(
    store: &Store,
    tracker: &dyn Remote,
    asked: &Asked,
    asking: Asking,
) -> Result<Vec<String>, OpError> {
    let kept = asked.clone();
    let apply: Apply<bool> = Box::new(move |tx| {
        let asked = kept.clone();
        Box::pin(async move {
            let value = asked::begin_taking_back(tx, &asked).await?;
            Ok(Applied { value, event: None, keep: Keep::Changes })
        })
    });
    let deadline = Instant::now() + NOTE_WAIT_MAX;
    if !store.write(None, deadline, apply).await.map_err(write_error)? {
        return Ok(Vec::new());
    }
    let mut claimed = Vec::new();
    for task in find_open(tracker, asked).await? {
        match withdraw(tracker, asked, &task).await {
            Ok(()) => {}
            // One that is not given up keeps no other.
            Err(error) if matches!(error.kind, Kind::Conflict | Kind::Refused) => {
                let by = task.claimed_by.as_deref().unwrap_or("somebody else");
                claimed.push(format!("{} (claimed by {by})", task.task_id));
            }
            Err(error) => return Err(error),
        }
    }
    if asking == Asking::Unknown || !claimed.is_empty() {
        return Ok(claimed);
    }
    let kept = asked.clone();
    let apply: Apply<()> = Box::new(move |tx| {
        let asked = kept.clone();
        Box::pin(async move {
            asked::forget(tx, &asked).await?;
            Ok(Applied { value: (), event: None, keep: Keep::Changes })
        })
    });
    store.write(None, Instant::now() + NOTE_WAIT_MAX, apply).await.map_err(write_error)?;
    Ok(Vec::new())
}

/// The tasks of an asking that are not completed.
async fn find_open(tracker: &dyn Remote, asked: &Asked) -> Result<Vec<Task>, OpError> {
    let mut open = Vec::new();
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES_MAX {
        let mut input = json!({ "project_id": asked.project_id, "depends_on": asked.artifact_id, "limit": PAGE_TASKS });
        if let (Some(cursor), Value::Object(members)) = (cursor.take(), &mut input) {
            members.insert("cursor".to_owned(), Value::from(cursor));
        }
        let page = tracker.call(call(asked, "list_tasks", input)?).await?;
        let page: ListedTasks = serde_json::from_value(page).map_err(|error| {
            OpError::new(Kind::Upstream, "a service answered something else than it should").with_source(error)
        })?;
        let made = page.tasks.into_iter().filter(|task| asked.made_ids.contains(&task.artifact_id));
        open.extend(made.filter(|task| task.status != TaskStatus::Completed));
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    Ok(open)
}

/// The service has no status for what nobody wants any more: the task is completed, with the reason.
async fn withdraw(tracker: &dyn Remote, asked: &Asked, task: &Task) -> Result<(), OpError> {
    // Whoever works on it is stopped: their document has no parent.
    let taken: &[&str] = if task.status == TaskStatus::InProgress { &["pending"] } else { &[] };
    for status in taken.iter().chain(&["in_progress", "completed"]) {
        let input = json!({
            "task_id": task.task_id, "status": status, "reset": *status == "pending",
            "completion_notes": "withdrawn: the document was not approved"
        });
        tracker.call(call(asked, "update_task_status", input)?).await?;
    }
    Ok(())
}

fn call(asked: &Asked, operation: &'static str, input: Value) -> Result<RemoteCall, OpError> {
    let acting =
        Acting::parse(&asked.acting).ok_or_else(|| OpError::internal("nobody is noted who asked for tasks"))?;
    Ok(RemoteCall {
        operation,
        input,
        // Each step is asked for once; one that was carried out already is refused and harms nothing.
        idempotency_key: Uuid::new_v4().to_string(),
        correlation_id: asked.asking_id.clone(),
        via: Via::Approval,
        acting,
    })
}

/// Takes back what is asked for a document by anybody. Of this text, what can still be had is left alone. Returns the tasks
/// of this text that somebody else works on.
pub async fn take_back_others(
    store: &Store,
    tracker: &dyn Remote,
    all: &[Asked],
    sha256: &str,
    made_ids: &[String],
) -> Vec<String> {
    let mut in_the_way = Vec::new();
    for asked in all {
        let is_ours = asked.content_sha256 == sha256 && !asked.is_taken_back && asked.made_ids == made_ids;
        if !is_ours
            && let TakenBack::AllBut(claimed) = take_back(store, tracker, asked, Asking::Ended).await
            && asked.content_sha256 == sha256
        {
            in_the_way.extend(claimed);
        }
    }
    in_the_way
}

/// Reads all that was asked for a document.
pub async fn find(store: &Store, request: &workflow::approval::Request) -> Result<Vec<Asked>, OpError> {
    let mut reader = store.read().await.map_err(store_error)?;
    asked::find(&mut reader, request).await.map_err(store_error)
}
