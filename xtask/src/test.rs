//! `cargo xtask test [PART]`: everything that must pass before a merge, or a part of it, timed stage by stage.

use std::{
    path::{Path, PathBuf},
    process::Command,
    thread,
    time::Duration,
};

use anyhow::{Result, anyhow, bail};

use crate::{
    binaries::Binary,
    cargo::{self, cargo, cargo_with_lints},
    install,
    lanes::{self, Ended, Job},
    part::Part,
    postgres::{self, Postgres},
    report,
    scratch::Scratch,
    stages::{Stages, timed},
    times, web,
};

/// What the whole may take on two idle cores where nothing is built yet.
const AIM: Duration = Duration::from_secs(25 * 60);
/// Above this it says that it has become too slow to run before every merge.
const SLOW: Duration = Duration::from_secs(30 * 60);

/// Tests wait for disks, other programs and time limits more than they compute, and a binary runs as many at once as there
/// are cores: two binaries fill the cores, and more would make the limits of those that measure time.
const N_LANES: usize = 2;

/// Where the tests find the clients that [`install`] brought.
pub const TOOLS_VARIABLE: &str = "MATERIA_TEST_TOOLS";

pub fn test(part: &Part) -> Result<()> {
    let mut stages = Stages::start();
    let ended = run(&mut stages, part);
    println!("\n{}", stages.table());
    if !ended.is_empty() {
        println!("{}", report::table(&ended));
    }
    if *part == Part::Everything && stages.elapsed() > SLOW {
        let (took, aim) = (stages.elapsed().as_secs() / 60, AIM.as_secs() / 60);
        println!("warning: this took {took} minutes, and {aim} are the aim; the tables above show where they went\n");
    }
    print!("{}", report::failures(&ended));
    if !stages.all_passed() {
        bail!("not everything passed");
    }
    Ok(())
}

/// What became of the tests themselves, as far as they ran.
fn run(stages: &mut Stages, part: &Part) -> Vec<Ended> {
    let (built, tools) = build_and_install(stages, part);
    if part.has_all_rust() {
        stages.run("format", || cargo::run(&mut cargo(&["fmt", "--all", "--check"])));
    }
    let (Some(binaries), Some(tools)) = (built, tools) else {
        stages.skip("tests");
        return Vec::new();
    };
    let Some(scratch) = stages.run("scratch folder", Scratch::in_memory) else {
        stages.skip("tests");
        return Vec::new();
    };
    let mut ended = Vec::new();
    if part.has_rust() {
        // Into the folder of the clients, where the tests look for it.
        stages.run("embedding model", || {
            let mut pull = Command::new(cargo::debug("materia"));
            cargo::run(pull.arg("--data").arg(&tools).args(["models", "pull"]))
        });
        let Some(postgres) = stages.run("start PostgreSQL", || Postgres::start(&scratch)) else {
            stages.skip("tests");
            return Vec::new();
        };
        stages.run("tests", || {
            let rust = rust_jobs(part, binaries, &tools, &postgres)?;
            run_jobs(part, rust, &scratch, &mut ended)
        });
        // A stage of its own: the table has to account for all of the time.
        stages.run("stop PostgreSQL", || {
            drop((postgres, scratch));
            Ok(())
        });
    } else {
        stages.run("tests", || run_jobs(part, Vec::new(), &scratch, &mut ended));
    }
    ended
}

/// The test binaries, if they may be tried, and the folder of tools.
fn build_and_install(stages: &mut Stages, part: &Part) -> (Option<Vec<Binary>>, Option<PathBuf>) {
    // Downloads wait on the network and compilation on the processor, so the two overlap well.
    let (built, (installed, installing)) = thread::scope(|scope| {
        let installing = scope.spawn(|| timed(|| install::install_for(part)));
        // All of the workspace for any part: another choice of packages is another choice of features, and builds all again.
        let build = ["build", "--workspace", "--all-targets", "--message-format=json-render-diagnostics"];
        let mut binaries = None;
        let whole = stages.run("compile and lint", || {
            let mut build = cargo_with_lints(&build)?;
            if part.is_tried_as_far_as_it_was_built() {
                build.arg("--keep-going");
            }
            let (messages, result) = cargo::run_and_read(&mut build)?;
            match Binary::read_all(&messages) {
                Ok(found) => binaries = Some(found),
                // Where cargo failed, that is the reason.
                Err(error) => return result.and(Err(error)),
            }
            result
        });
        let built = binaries.filter(|_| whole.is_some() || part.is_tried_as_far_as_it_was_built());
        let installed = installing.join().unwrap_or_else(|_| (Err(anyhow!("the thread panicked")), Duration::ZERO));
        (built, installed)
    });
    (built, stages.record("install (during compile)", installed, installing))
}

fn rust_jobs(part: &Part, mut binaries: Vec<Binary>, tools: &Path, postgres: &Postgres) -> Result<Vec<Job>> {
    let mut filter = None;
    match part {
        Part::Crate(name) => binaries.retain(|binary| binary.package() == *name),
        Part::Named(name) => filter = Some(name.as_str()),
        Part::Everything | Part::Rust | Part::Web => {}
    }
    if binaries.is_empty() {
        bail!("none of its tests could be built");
    }
    Binary::sort(&mut binaries);
    let mut jobs: Vec<Job> = binaries
        .iter()
        .map(|binary| Job { name: binary.name(), headline: binary.headline(), command: binary.command(filter) })
        .collect();
    if part.has_all_rust() {
        let command = cargo_with_lints(&["test", "--workspace", "--doc", "--no-fail-fast"])?;
        jobs.push(Job { name: "examples in the documentation".to_owned(), headline: cargo::line(&command), command });
    }
    for job in &mut jobs {
        job.command.env(TOOLS_VARIABLE, tools).env(postgres::URL_VARIABLE, postgres.url());
    }
    Ok(jobs)
}

fn web_jobs() -> Vec<Job> {
    let job = |name: &str, mut command: Command| {
        // vitest colours what goes into files where it sees that it is in CI.
        command.env("NO_COLOR", "1");
        Job { name: name.to_owned(), headline: cargo::line(&command), command }
    };
    vec![job("web in a browser", web::drive()), job("web", web::check())]
}

/// Runs the Rust tests and what the part has of the web's.
fn run_jobs(part: &Part, mut jobs: Vec<Job>, scratch: &Scratch, ended: &mut Vec<Ended>) -> Result<()> {
    if part.has_web() {
        // After the longest, which every lane has one of.
        let at = N_LANES.min(jobs.len());
        jobs.splice(at..at, web_jobs());
    }
    // Called so because tests look for `/tmp/` in answers, to which no path may get.
    let folder = scratch.make_folder("tmp")?;
    for job in &mut jobs {
        job.command.env("TMPDIR", &folder);
    }
    let n_jobs = jobs.len();
    *ended = lanes::run(jobs, N_LANES, &scratch.make_folder("output")?, |end| report::shown(part, end));
    if let Part::Named(name) = part {
        ended.retain(|end| !end.passed || times::count(&end.output) > 0);
        if ended.is_empty() {
            bail!("no test that was built has `{name}` in its name, and no crate is called so");
        }
    }
    let n_failed = ended.iter().filter(|end| !end.passed).count();
    if n_failed > 0 {
        bail!("{n_failed} of {n_jobs} did not pass");
    }
    Ok(())
}
