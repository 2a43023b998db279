//! `materia task`: look at the queue, take from it, complete what was taken.

use std::process::ExitCode;

use contract::dialect;
use contract::workflow::tasks::{ListedTasks, NextTask, Task, UpdatedTask};
use ops::Call;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{Place, after_closing, must_be_there, print_answer, say, table};
use crate::assemble;
use crate::auth::owner;
use crate::settings::Settings;
use crate::telemetry;

#[derive(clap::Args)]
#[command(after_help = "Examples:\n  materia task next --claim\n  materia task list --status pending\n  \
    materia task list --depends-on PRD-006 --project demo\n  materia task done TASK-012 --notes \"stored as v1\"")]
pub struct Arguments {
    #[command(subcommand)]
    command: Command,
    /// Project of the tasks [default: the setting `default_project_id`]
    #[arg(long, global = true, value_name = "ID")]
    project: Option<String>,
    /// Print the operation's output as JSON
    #[arg(long, global = true)]
    json: bool,
}

#[derive(clap::Subcommand)]
enum Command {
    /// Show the oldest pending task with its inputs
    #[command(after_help = "Examples:\n  materia task next\n  materia task next --claim")]
    Next {
        /// Take it: nobody else gets it
        #[arg(long)]
        claim: bool,
    },
    /// List tasks, oldest first
    List(ListArguments),
    /// Complete a task that is in progress
    #[command(after_help = "Example:\n  materia task done TASK-012 --notes \"stored as v1\"")]
    Done {
        /// Such as TASK-012
        task_id: String,
        /// What was done
        #[arg(long, value_name = "TEXT")]
        notes: Option<String>,
    },
}

#[derive(clap::Args)]
#[command(
    after_help = "Examples:\n  materia task list --status pending\n  materia task list --depends-on PRD-006 --project demo"
)]
struct ListArguments {
    /// pending, in_progress or completed
    #[arg(long, value_name = "STATUS")]
    status: Option<String>,
    /// Only tasks with this document among their inputs
    #[arg(long, value_name = "ID")]
    depends_on: Option<String>,
    /// Only tasks without any mandatory input
    #[arg(long)]
    missing_mandatory_inputs: bool,
    /// 1 to 200
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
    /// The cursor that the page before ended with
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

pub async fn run(place: Place, arguments: Arguments) -> anyhow::Result<ExitCode> {
    let mut settings = Settings::read(&place.data, &place.flags())?;
    if std::env::var_os("MATERIA_LOG").is_none() {
        "off".clone_into(&mut settings.log);
    }
    telemetry::start(&settings.log, settings.log_format);
    // Those of another server need none here.
    if settings.tasks_url.is_none() || *settings.services_organisation_id() != settings.organisation_id {
        must_be_there(&place, &settings)?;
    }
    let (operation, mut input) = input(&arguments.command);
    if let (Some(project), false) = (&arguments.project, matches!(arguments.command, Command::Done { .. })) {
        input.insert("project_id".to_owned(), json!(project));
    }
    let house = assemble::look(place.data, &settings).await?;
    let call = Call { operation: operation.to_owned(), input: Value::Object(input), ..Call::default() };
    let reply = house.call(&owner(&settings.organisation_id), call).await;
    let closed = house.close().await;
    let code = match reply.result {
        Ok(success) if arguments.json => print_answer(reply.call_id, [success.output.to_string()]),
        Ok(success) => print_answer(reply.call_id, shown(&arguments.command, success.output)?),
        Err(error) => {
            say(dialect::body(reply.dialect, &error, Some(&reply.audit)));
            ExitCode::FAILURE
        }
    };
    Ok(after_closing(closed, code))
}

fn input(command: &Command) -> (&'static str, Map<String, Value>) {
    let (operation, members) = match command {
        Command::Next { claim } => ("get_next_task", vec![("claim", json!(claim))]),
        Command::Done { task_id, notes } => (
            "update_task_status",
            vec![("task_id", json!(task_id)), ("status", json!("completed")), ("completion_notes", json!(notes))],
        ),
        Command::List(wanted) => (
            "list_tasks",
            vec![
                ("status", json!(wanted.status)),
                ("depends_on", json!(wanted.depends_on)),
                ("missing_mandatory_inputs", json!(wanted.missing_mandatory_inputs)),
                ("limit", json!(wanted.limit)),
                ("cursor", json!(wanted.cursor)),
            ],
        ),
    };
    let given = members.into_iter().filter(|(_, value)| !value.is_null());
    (operation, given.map(|(name, value)| (name.to_owned(), value)).collect())
}

/// The output for people.
fn shown(command: &Command, output: Value) -> anyhow::Result<Vec<String>> {
    Ok(match command {
        Command::Next { .. } => {
            let next: NextTask = read(output)?;
            match next.task {
                Some(task) => one(&task),
                None => vec![next.message.unwrap_or_else(|| "No task.".to_owned())],
            }
        }
        Command::Done { .. } => {
            let task = read::<UpdatedTask>(output)?.updated_task;
            vec![format!("{} is {}: {}", task.task_id, task.status, task.description)]
        }
        Command::List(_) => {
            let listed: ListedTasks = read(output)?;
            let mut lines = list(&listed.tasks);
            if let Some(cursor) = listed.next_cursor {
                lines.extend([String::new(), format!("More: --cursor {cursor}")]);
            }
            lines
        }
    })
}

fn read<T: DeserializeOwned>(output: Value) -> anyhow::Result<T> {
    Ok(serde_json::from_value(output)?)
}

fn one(task: &Task) -> Vec<String> {
    let mut lines = vec![
        format!("{}  {}", task.task_id, task.description),
        format!("status     {}", task.status),
        format!("generator  {}", task.generator),
    ];
    if let (Some(claimed_by), Some(until)) = (&task.claimed_by, &task.lease_expires_at) {
        lines.push(format!("claimed    by {claimed_by} until {until}"));
    }
    lines.push(String::new());
    let inputs = task.inputs.iter().map(|input| {
        [
            input.name.clone(),
            input.classification.name().to_owned(),
            match task.unseen_inputs.contains(&input.name) {
                // Whoever queued the task said so.
                true => format!("{} (not seen here)", input.status),
                false => input.status.clone(),
            },
            input.mcp_resource_uri.clone(),
        ]
    });
    lines.extend(table::lines(["INPUT", "CLASS", "STATUS", "RESOURCE"], inputs));
    lines
}

fn list(tasks: &[Task]) -> Vec<String> {
    if tasks.is_empty() {
        return vec!["No tasks.".to_owned()];
    }
    let rows = tasks.iter().map(|task| {
        [
            task.task_id.to_string(),
            task.status.to_string(),
            task.artifact_id.clone(),
            task.generator.clone(),
            task.claimed_by.clone().unwrap_or_else(|| "-".to_owned()),
            task.created_at.clone(),
            task.description.clone(),
        ]
    });
    table::lines(["TASK", "STATUS", "DOCUMENT", "GENERATOR", "CLAIMED BY", "CREATED", "DESCRIPTION"], rows)
}
