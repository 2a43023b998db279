//! The browser UI: its packages, its build, its tests.

use std::{fs, path::Path, path::PathBuf, process::Command};

use anyhow::{Context, Result};

use crate::{
    cargo::{self, root, run_quietly},
    install,
};

const CHROMIUM: &str = "/usr/bin/chromium";

fn folder() -> PathBuf {
    root().join("web")
}

fn npm(arguments: &[&str]) -> Command {
    let mut npm = Command::new("npm");
    npm.args(arguments).current_dir(folder());
    npm
}

pub fn has_npm() -> bool {
    npm(&["--version"]).output().is_ok()
}

/// Installs the pinned packages unless `node_modules` was made from the same list.
pub fn install_packages() -> Result<()> {
    let wanted =
        fs::read_to_string(folder().join("package-lock.json")).context("could not read the lock file of `web`")?;
    let stamp = folder().join("node_modules").join(".installed");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        return Ok(());
    }
    println!("install: npm packages of `web`: they build and test the browser UI");
    run_quietly(&mut npm(&["ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]))?;
    fs::write(&stamp, wanted).with_context(|| format!("could not write `{}`", stamp.display()))
}

pub fn install_browser() -> Result<()> {
    if Path::new(CHROMIUM).exists() {
        return Ok(());
    }
    install::install_debian("chromium", "the tests drive the browser UI in a real browser")
}

pub fn build() -> Result<()> {
    cargo::run(&mut npm(&["run", "build"]))
}

/// Is the generated client fresh, do the types agree, do the units work?
pub fn check() -> Command {
    npm(&["test"])
}

/// Builds the UI and drives it in a browser against the debug build of the server, which reads it from the disk.
pub fn drive() -> Command {
    let mut drive = npm(&["run", "e2e"]);
    drive.env("MATERIA_BIN", cargo::debug("materia"));
    drive
}
