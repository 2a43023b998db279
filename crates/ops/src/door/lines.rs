//! The log lines of a call: that it began, how it ended, and never what it was about.

use std::time::Duration;

use contract::actor::HOUSEKEEPER;
use contract::error::{Kind, OpError};
use contract::event::Outcome;
use serde_json::Value;

use crate::context::Settings;
use crate::drive::Done;
use crate::operation::{Ended, Record, Told};
use crate::record::Ticket;
use crate::summary;
use crate::table::Tool;

/// A line at `info`; for what the house does by itself, which nobody asked for and many of which follow each other, at
/// `debug`. Its failures are told like everybody's.
macro_rules! tell {
    ($ticket:ident, $($fields:tt)*) => {
        if $ticket.actor.id.as_str() == HOUSEKEEPER {
            tracing::debug!($($fields)*);
        } else {
            tracing::info!($($fields)*);
        }
    };
}

/// Of a call about a patient the log has what was called, when, by which call id and how it ended.
fn may_tell(tool: Option<&Tool>) -> bool {
    tool.is_none_or(|tool| tool.entry.record != Record::Patient)
}

pub(super) fn log_started(ticket: &Ticket, tool: &Tool, input: &Value) {
    tell!(
        ticket,
        event = format_args!("{}_invocation_started", ticket.operation),
        tool_name = ticket.operation,
        call_id = %ticket.call_id,
        task_id = ticket.told_task_id(false),
        input_params_summary = may_tell(Some(tool)).then(|| summary::of_input(input, &tool.fields)),
    );
}

pub(super) fn log_ended(
    ticket: &Ticket,
    tool: Option<&Tool>,
    input: &Value,
    result: &Result<Done, OpError>,
    outcome: Outcome,
    settings: &Settings,
) {
    let elapsed: Duration = ticket.started.elapsed();
    let duration_ms = u64::try_from(elapsed.as_millis()).unwrap_or(u64::MAX);
    metrics::counter!("materia_calls_total", "operation" => ticket.operation, "outcome" => outcome.name()).increment(1);
    metrics::histogram!("materia_call_seconds", "operation" => ticket.operation).record(elapsed.as_secs_f64());
    let task_id = ticket.told_task_id(result.is_ok());
    if let (Ok(done), Some(tell)) = (result, tool.and_then(|tool| tool.entry.tell.filter(|_| may_tell(Some(tool))))) {
        let named = input.get("project_id").and_then(Value::as_str);
        let project_id = named.unwrap_or(settings.default_project_id.as_str());
        let told = Told { call_id: ticket.call_id, task_id, duration_ms };
        return tell(&Ended { told, project_id, output: &done.output });
    }
    match result {
        Ok(_) => tell!(
            ticket,
            event = format_args!("{}_invocation_completed", ticket.operation),
            tool_name = ticket.operation,
            call_id = %ticket.call_id,
            task_id,
            duration_ms,
            success = true,
        ),
        Err(error) if error.kind == Kind::Internal => tracing::error!(
            event = format_args!("{}_invocation_failed", ticket.operation),
            tool_name = ticket.operation,
            call_id = %ticket.call_id,
            task_id,
            duration_ms,
            success = false,
            error_type = outcome.name(),
            error_message = may_tell(tool).then_some(error.message.as_str()),
            error_chain = may_tell(tool).then(|| summary::of_chain(&chain(error), input)),
        ),
        Err(error) => tracing::warn!(
            event = format_args!("{}_invocation_failed", ticket.operation),
            tool_name = ticket.operation,
            call_id = %ticket.call_id,
            task_id,
            duration_ms,
            success = false,
            error_type = outcome.name(),
            error_message = may_tell(tool).then(|| tool.map_or_else(
                || summary::cut(&error.message),
                |tool| summary::of_error(error, &tool.fields, input, &[ticket.operation, ticket.actor.id.as_str()])
            )),
        ),
    }
}

fn chain(error: &OpError) -> String {
    let causes = std::iter::successors(std::error::Error::source(error), |cause| cause.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
