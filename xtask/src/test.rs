//! `cargo xtask test`: everything that must pass before a merge, timed stage by stage.

use std::{process::Command, thread, time::Duration};

use anyhow::{Result, bail};

use crate::{
    cargo::{self, cargo, cargo_with_lints},
    install,
    postgres::{self, Postgres},
    stages::{Stages, timed},
    web,
};

/// Above this the suite has become too slow to run before every merge.
const TOTAL_MAX: Duration = Duration::from_secs(35 * 60);

/// Where the tests find the clients that [`install`] brought.
pub const TOOLS_VARIABLE: &str = "MATERIA_TEST_TOOLS";

pub fn test() -> Result<()> {
    let mut stages = Stages::start();
    run(&mut stages);
    println!("\n{}", stages.table());
    if !stages.all_passed() {
        bail!("not everything passed");
    }
    if stages.elapsed() > TOTAL_MAX {
        bail!("the stages took more than {} minutes", TOTAL_MAX.as_secs() / 60);
    }
    Ok(())
}

fn run(stages: &mut Stages) {
    // Downloads wait on the network and compilation on the processor, so the two overlap well.
    let (compiled, (installed, installing)) = thread::scope(|scope| {
        let installing = scope.spawn(|| timed(install::install_all));
        let compiled = stages
            .run("compile and lint", || cargo::run(&mut cargo_with_lints(&["build", "--workspace", "--all-targets"])?))
            .is_some();
        let installed =
            installing.join().unwrap_or_else(|_| (Err(anyhow::anyhow!("the thread panicked")), Duration::ZERO));
        (compiled, installed)
    });
    let tools = stages.record("install (during compile)", installed, installing);
    stages.run("format", || cargo::run(&mut cargo(&["fmt", "--all", "--check"])));
    if !compiled {
        stages.skip("tests");
        return;
    }
    let Some(tools) = tools else {
        stages.skip("tests");
        return;
    };
    // Into the folder of the clients, where the tests look for it.
    stages.run("embedding model", || {
        let mut pull = Command::new(cargo::debug("materia"));
        cargo::run(pull.arg("--data").arg(&tools).args(["models", "pull"]))
    });
    let Some(postgres) = stages.run("start PostgreSQL", Postgres::start) else {
        stages.skip("tests");
        return;
    };
    stages.run("tests", || {
        let mut tests = cargo_with_lints(&["test", "--workspace", "--no-fail-fast"])?;
        tests.env(TOOLS_VARIABLE, &tools).env(postgres::URL_VARIABLE, postgres.url());
        cargo::run(&mut tests)
    });
    stages.run("web", web::check);
    stages.run("web in a browser", web::drive);
    // A stage of its own: the table has to account for all of the time.
    stages.run("stop PostgreSQL", || {
        drop(postgres);
        Ok(())
    });
}
