//! The log for people: time, level, what happened, and the rest of the fields behind it. No other fields than JSON has.

use std::fmt::{self, Write as _};
use std::time::{SystemTime, UNIX_EPOCH};

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::cli::visible;

/// What people are not told of each call where the filter is the usual one: the start URL must stay on the screen.
const USUAL: &str = "info";
const QUIET: &str = "info,ops::door=warn,ops::jobs=warn,ops::workflow=warn";

/// The filter that text is written by. Who wants the lines of single calls says so: `info,ops=info`, or `debug`.
pub fn filter(setting: &str) -> &str {
    if setting == USUAL { QUIET } else { setting }
}

pub struct Text;

impl<S, N> FormatEvent<S, N> for Text
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut told = Told::default();
        event.record(&mut told);
        let (colour, plain) = match (writer.has_ansi_escapes(), *event.metadata().level()) {
            (true, Level::ERROR) => ("\u{1b}[31m", "\u{1b}[0m"),
            (true, Level::WARN) => ("\u{1b}[33m", "\u{1b}[0m"),
            (true, _) | (false, _) => ("", ""),
        };
        let level = event.metadata().level();
        // A terminal would obey what stands in a field, and a line break would begin a line that nobody wrote.
        let line = visible(&told.line()).replace(['\n', '\t'], " ");
        writeln!(writer, "{} {colour}{level:<5}{plain} {line}", clock(SystemTime::now()))
    }
}

/// Hours, minutes and seconds of UTC.
fn clock(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs() % 86_400;
    format!("{:02}:{:02}:{:02}Z", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

/// The fields of an event, as they are to be read.
#[derive(Default)]
struct Told {
    message: String,
    /// The name of an event that has no message.
    event: String,
    error: String,
    rest: String,
}

impl Told {
    fn line(&self) -> String {
        let named = self.event.replace("_invocation_", " ");
        let what = if self.message.is_empty() { &named } else { &self.message };
        let because = if self.error.is_empty() { String::new() } else { format!(": {}", self.error) };
        format!("{what}{because}{}", self.rest)
    }
}

impl Visit for Told {
    fn record_str(&mut self, field: &Field, value: &str) {
        match field.name() {
            "message" => value.clone_into(&mut self.message),
            "event" => value.clone_into(&mut self.event),
            "error" | "error_message" => value.clone_into(&mut self.error),
            // The name of the event has it, and its level.
            "tool_name" | "success" => {}
            // Writing to a string cannot fail.
            name => drop(write!(self.rest, " {name}={value}")),
        }
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.record_str(field, &format!("{value:?}"));
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Seek as _};
    use std::sync::Arc;
    use std::time::Duration;

    use super::*;

    /// What is written while `events` happen, without the time, which no test knows.
    fn written(events: impl FnOnce()) -> Vec<String> {
        let file = Arc::new(tempfile::tempfile().unwrap());
        let subscriber = tracing_subscriber::fmt().with_ansi(false).event_format(Text).with_writer(Arc::clone(&file));
        tracing::subscriber::with_default(subscriber.finish(), events);
        let mut text = String::new();
        (&*file).rewind().and_then(|()| (&*file).read_to_string(&mut text)).unwrap();
        text.lines().map(|line| line.split_once(' ').unwrap().1.to_owned()).collect()
    }

    #[test]
    fn a_line_says_first_what_happened_and_then_why() {
        let lines = written(|| {
            tracing::warn!(
                event = "add_task_invocation_failed",
                tool_name = "add_task",
                duration_ms = 3,
                success = false,
                error_message = "`x`: expected y",
            );
            tracing::info!(n_missing = 2, "Making the vectors of 2 texts");
        });
        assert_eq!(
            lines,
            ["WARN  add_task failed: `x`: expected y duration_ms=3", "INFO  Making the vectors of 2 texts n_missing=2"]
        );
    }

    #[test]
    fn nobody_can_write_lines_or_commands_of_their_own() {
        let lines = written(|| tracing::error!(reason = "a\nERROR b\u{1b}[2J\u{202e}", "Stopped"));
        assert_eq!(lines, ["ERROR Stopped reason=a ERROR b\\u{1b}[2J\\u{202e}"]);
    }

    #[test]
    fn the_clock_is_that_of_utc() {
        assert_eq!(clock(UNIX_EPOCH + Duration::from_secs(86_400 + 3_661)), "01:01:01Z");
    }

    #[test]
    fn single_calls_are_left_out_by_the_usual_filter_alone() {
        assert!(tracing_subscriber::EnvFilter::try_new(filter("info")).is_ok() && filter("info") != "info");
        assert_eq!(filter("info,ops=info"), "info,ops=info");
    }
}
