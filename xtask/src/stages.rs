//! The stages of a long command: how long each took, and whether it passed.

use std::time::{Duration, Instant};

use anyhow::Result;

/// How a stage ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Failed,
    Skipped,
}

/// One line of the table.
struct Stage {
    name: &'static str,
    took: Duration,
    outcome: Outcome,
}

/// The stages of one command, in the order in which they ended.
pub struct Stages {
    started: Instant,
    stages: Vec<Stage>,
}

impl Stages {
    pub fn start() -> Stages {
        Stages { started: Instant::now(), stages: Vec::new() }
    }

    /// Runs a stage and keeps its time. A failure is printed at once and remembered, so that the
    /// stages which do not depend on it still run.
    pub fn run<T>(&mut self, name: &'static str, stage: impl FnOnce() -> Result<T>) -> Option<T> {
        println!("\n── {name}");
        let (result, took) = timed(stage);
        self.record(name, result, took)
    }

    /// Keeps the result of a stage that ran elsewhere, such as on another thread.
    pub fn record<T>(&mut self, name: &'static str, result: Result<T>, took: Duration) -> Option<T> {
        let outcome = if result.is_ok() { Outcome::Passed } else { Outcome::Failed };
        self.stages.push(Stage { name, took, outcome });
        result.inspect_err(|error| eprintln!("{name} failed: {error:#}")).ok()
    }

    /// Notes a stage that could not run because one before it failed.
    pub fn skip(&mut self, name: &'static str) {
        self.stages.push(Stage { name, took: Duration::ZERO, outcome: Outcome::Skipped });
    }

    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    pub fn all_passed(&self) -> bool {
        self.stages.iter().all(|stage| stage.outcome == Outcome::Passed)
    }

    /// The table of minutes, with the total on the wall clock: stages may overlap.
    pub fn table(&self) -> String {
        let lines = self.stages.iter().map(|stage| {
            let outcome = match stage.outcome {
                Outcome::Passed => "passed",
                Outcome::Failed => "FAILED",
                Outcome::Skipped => "skipped",
            };
            format!("{:<32}{:>8.1}  {outcome}\n", stage.name, minutes(stage.took))
        });
        let head = format!("{:<32}{:>8}\n", "stage", "minutes");
        let total = format!("{:<32}{:>8.1}\n", "total (wall clock)", minutes(self.elapsed()));
        std::iter::once(head).chain(lines).chain(std::iter::once(total)).collect()
    }
}

/// Runs `work` and says how long it took.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let started = Instant::now();
    let result = work();
    (result, started.elapsed())
}

/// For tables.
pub fn minutes(time: Duration) -> f64 {
    time.as_secs_f64() / 60.0
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::*;

    #[test]
    fn one_failed_stage_fails_the_whole_and_the_others_keep_their_lines() {
        let mut stages = Stages::start();
        stages.record("compile", Ok(()), Duration::from_secs(90));
        stages.record::<()>("format", Err(anyhow!("not formatted")), Duration::from_secs(6));
        stages.skip("tests");
        let table = stages.table();
        assert!(!stages.all_passed());
        for line in ["compile", "1.5  passed", "0.1  FAILED", "0.0  skipped", "total"] {
            assert!(table.contains(line), "no `{line}` in\n{table}");
        }
    }
}
