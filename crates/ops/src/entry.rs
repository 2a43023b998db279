//! One line of the operation table: an operation with its types erased.

use std::time::Duration;

use contract::actor::Role;
use contract::schema::{SchemaObject, tool_schema};

use crate::drive::{self, Drive};
use crate::family::Family;
use crate::operation::{Operation, Read, Told, Write};
use serde_json::Value;

#[derive(Clone, Copy)]
pub struct Entry {
    pub name: &'static str,
    pub about: &'static str,
    pub family: Family,
    pub roles: &'static [Role],
    pub scope: Option<&'static str>,
    pub aliases: &'static [&'static str],
    pub is_tool: bool,
    /// A write answers only after its event is durable, also when it fails.
    pub is_write: bool,
    pub deadline: Option<Duration>,
    /// Its own line of the log for a success.
    pub tell: Option<fn(&Value, &Told<'_>)>,
    pub input_schema: fn() -> SchemaObject,
    pub output_schema: fn() -> SchemaObject,
    pub(crate) drive: Drive,
}

impl Entry {
    pub const fn read<T: Read>() -> Entry {
        Entry { is_write: false, ..Entry::of::<T>(drive::read::<T>) }
    }

    pub const fn write<T: Write>() -> Entry {
        Entry { is_write: true, ..Entry::of::<T>(drive::write::<T>) }
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
            is_write: false,
            deadline: T::DEADLINE,
            tell: T::TELL,
            input_schema: tool_schema::<T>,
            output_schema: tool_schema::<T::Output>,
            drive,
        }
    }
}
