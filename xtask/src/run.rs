//! `cargo xtask run`: build the release binary and become it.

use std::{os::unix::process::CommandExt, process::Command};

use anyhow::{Context, Result};

use crate::{cargo, web};

/// Builds, then serves. `arguments` go to `materia serve`, with or without a `--` before them.
pub fn serve(arguments: &[String]) -> Result<()> {
    let arguments = match arguments {
        [dashes, rest @ ..] if dashes == "--" => rest,
        all => all,
    };
    build_ui()?;
    println!("Building the release binary …");
    // `bench` is named for its features alone: with them, the program that benches and proofs measure is this one, and who
    // runs both builds it once.
    let packages = ["--package", "server", "--package", "bench"];
    cargo::run(cargo::cargo(&["build", "--release", "--bin", "materia"]).args(packages))?;
    pull_model(arguments);
    let mut serve = Command::new(cargo::release("materia"));
    serve.arg("serve").args(arguments);
    println!("$ {}", cargo::line(&serve));
    // `exec` leaves one process on the terminal, so Ctrl-C reaches the server alone and the prompt comes
    // back when it has shut down. It returns only if it fails.
    let error = serve.exec();
    Err(error).with_context(|| format!("could not start `{}`", cargo::line(&serve)))
}

/// Builds the browser UI where Node is there to do it; the server has a plain start page for the other case.
fn build_ui() -> Result<()> {
    if !web::has_npm() {
        println!("npm is not here: serving the plain start page instead of the browser UI.");
        return Ok(());
    }
    println!("Building the browser UI …");
    web::install_packages()?;
    web::build()
}

/// Gets the embedding model into the data folder that will be served, unless one is there. Search works without it, by words.
fn pull_model(arguments: &[String]) {
    let mut pull = Command::new(cargo::release("materia"));
    let mut rest = arguments.iter();
    while let Some(argument) = rest.next() {
        match (argument.as_str(), argument.strip_prefix("--data=")) {
            ("--data", _) => drop(rest.next().map(|folder| pull.arg("--data").arg(folder))),
            (_, Some(folder)) => drop(pull.arg("--data").arg(folder)),
            _ => {}
        }
    }
    pull.args(["models", "pull", "--unless-chosen"]);
    if cargo::run(&mut pull).is_err() {
        println!("No embedding model could be had: search finds by words alone until `materia models pull` gets one.");
    }
}
