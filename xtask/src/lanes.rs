//! Commands side by side: the output of each is shown whole when it ends.

use std::{
    fs::{self, File},
    path::Path,
    process::{Command, Stdio},
    sync::{Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use anyhow::{Context, Result};

use crate::stages::timed;

/// Something to run.
pub struct Job {
    pub name: String,
    /// Printed before its output.
    pub headline: String,
    pub command: Command,
}

/// What became of it.
pub struct Ended {
    pub name: String,
    pub headline: String,
    pub took: Duration,
    pub passed: bool,
    /// What it printed, on both channels.
    pub output: String,
}

/// Runs the jobs in their order, as many at once as there are lanes, and shows of each what `shown` makes of its end.
/// `folder` keeps their output meanwhile.
pub fn run(jobs: Vec<Job>, n_lanes: usize, folder: &Path, shown: impl Fn(&Ended) -> String + Sync) -> Vec<Ended> {
    let waiting = Mutex::new(jobs.into_iter().enumerate());
    let ended = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for _ in 0..n_lanes {
            scope.spawn(|| {
                while let Some((number, job)) = next(&waiting) {
                    let end = run_one(job, &folder.join(format!("{number}.log")));
                    // Locked until it is printed, so that two do not mix.
                    let mut ended = lock(&ended);
                    print!("{}", shown(&end));
                    ended.push(end);
                }
            });
        }
    });
    ended.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn next<T>(waiting: &Mutex<impl Iterator<Item = T>>) -> Option<T> {
    lock(waiting).next()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn run_one(mut job: Job, log: &Path) -> Ended {
    let (result, took) = timed(|| run_into(&mut job.command, log));
    let (passed, output) = result.unwrap_or_else(|error| (false, format!("{error:#}\n")));
    Ended { name: job.name, headline: job.headline, took, passed, output }
}

/// Whether it succeeded, and what it printed. By way of a file and not of a pipe: a process that it left behind would hold
/// the pipe open.
fn run_into(command: &mut Command, log: &Path) -> Result<(bool, String)> {
    let output = File::create(log).with_context(|| format!("could not make `{}`", log.display()))?;
    command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(output);
    let status = command.status().with_context(|| format!("could not start `{}`", crate::cargo::line(command)))?;
    let mut text = String::from_utf8_lossy(&fs::read(log)?).into_owned();
    if !status.success() {
        text.push_str(&format!("ended with {status}\n"));
    }
    Ok((status.success(), text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scratch::Scratch;

    #[test]
    fn each_job_runs_once_and_one_that_fails_stops_no_other() {
        let scratch = Scratch::on_disk().unwrap();
        let job = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            Job { name: script.to_owned(), headline: String::new(), command }
        };
        let mut jobs: Vec<Job> = ["echo one; echo two >&2", "exit 3", "true", "echo four"].map(job).into();
        jobs.push(Job { name: "zzz".to_owned(), headline: String::new(), command: Command::new("/no/such/program") });
        let mut ended = run(jobs, 2, &scratch.make_folder("output").unwrap(), |_| String::new());
        ended.sort_by(|a, b| a.name.cmp(&b.name));
        let told: Vec<(&str, bool, &str)> =
            ended.iter().map(|end| (end.name.as_str(), end.passed, end.output.as_str())).collect();
        assert_eq!(
            told[..4],
            [
                ("echo four", true, "four\n"),
                ("echo one; echo two >&2", true, "one\ntwo\n"),
                ("exit 3", false, "ended with exit status: 3\n"),
                ("true", true, ""),
            ]
        );
        assert!(!told[4].1 && told[4].2.starts_with("could not start"), "{told:?}");
    }
}
