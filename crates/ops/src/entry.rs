//! One line of the operation table: an operation with its types erased.

use std::time::Duration;

use contract::actor::Role;
use contract::error::{Kind, OpError};
use contract::schema::{SchemaObject, tool_schema};
use serde_json::Value;

use crate::context::Context;
use crate::drive::{self, Drive};
use crate::family::Family;
use crate::jobs::JobMode;
use crate::leaving::{Failed, Rows};
use crate::operation::{Ended, Operation, Read, Record, Write};

#[derive(Clone, Copy)]
pub struct Entry {
    pub name: &'static str,
    pub about: &'static str,
    pub family: Family,
    pub roles: &'static [Role],
    pub scope: Option<&'static str>,
    pub aliases: &'static [&'static str],
    pub is_tool: bool,
    pub is_stamped: bool,
    pub is_told_unrecorded: bool,
    pub recorded_as: &'static str,
    pub is_write: bool,
    /// Never `Queued` for a write: it answers only after its event is durable, also when it fails.
    pub record: Record,
    pub deadline: Option<Duration>,
    pub job: JobMode,
    /// Its own line of the log for a success.
    pub tell: Option<fn(&Ended<'_>)>,
    pub text: Option<fn(&Value) -> String>,
    pub input_schema: fn() -> SchemaObject,
    pub output_schema: fn() -> SchemaObject,
    pub(crate) drive: Drive,
    pub(crate) rows_of_failure: fn(&Failed<'_>) -> Option<Rows>,
    pub(crate) ask_first: fn(&Context<'_>, &Value) -> Result<(), OpError>,
}

impl Entry {
    pub const fn read<T: Read>() -> Entry {
        Entry { is_write: false, ..Entry::of::<T>(drive::read::<T>) }
    }

    pub const fn write<T: Write>() -> Entry {
        // The table of jobs keeps outputs: one that is shown once has no place there.
        let job = if T::KEEPS_OUTPUT { job::<T>() } else { JobMode::Never };
        let record = match T::RECORD {
            Record::Queued | Record::Durable => Record::Durable,
            Record::Patient => Record::Patient,
        };
        Entry { is_write: true, record, job, ..Entry::of::<T>(drive::write::<T>) }
    }

    const fn of<T: Operation>(drive: Drive) -> Entry {
        Entry {
            name: T::NAME,
            about: T::ABOUT,
            family: T::FAMILY,
            roles: T::ROLES,
            scope: T::SCOPE,
            aliases: T::ALIASES,
            is_tool: T::IS_TOOL,
            is_stamped: T::IS_STAMPED,
            is_told_unrecorded: T::IS_TOLD_UNRECORDED,
            recorded_as: T::RECORDED_AS,
            is_write: false,
            record: T::RECORD,
            deadline: T::DEADLINE,
            job: job::<T>(),
            tell: T::TELL,
            text: T::TEXT,
            input_schema: tool_schema::<T>,
            output_schema: tool_schema::<T::Output>,
            drive,
            rows_of_failure: T::rows_of_failure,
            ask_first: ask_first::<T>,
        }
    }
}

/// The table of jobs keeps inputs: one about a patient has no place there.
const fn job<T: Operation>() -> JobMode {
    match T::RECORD {
        Record::Queued | Record::Durable => T::JOB,
        Record::Patient => JobMode::Never,
    }
}

fn ask_first<T: Operation>(ctx: &Context<'_>, input: &Value) -> Result<(), OpError> {
    let operation = T::deserialize(input).map_err(|error| OpError::new(Kind::Invalid, error.to_string()))?;
    operation.ask_first(ctx)
}
