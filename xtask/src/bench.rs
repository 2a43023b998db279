//! `cargo xtask bench NAME`: the package `bench` on a release build, with a PostgreSQL of its own.

use std::process::Command;

use anyhow::{Result, bail};

use crate::{
    cargo::{self, cargo, release},
    install::install_ladybug,
    postgres::{self, Postgres},
    scratch::Scratch,
};

/// The benches by name, with what each compares.
pub const BENCHES: &[(&str, &str)] = &[
    ("mcp", "a cheap read through the whole door against a bare rmcp tool, over HTTP"),
    ("ids", "ids through the door against one commit per id, on SQLite and PostgreSQL"),
    ("ledger", "durable events with and without the log, and the verification of a long log"),
    (
        "graph",
        "path queries on 2.5 M edges against ladybug, the walk against a plain loop, and the start with 5 M edges",
    ),
    ("workflow", "the task service with 10,000 tasks against ids over HTTP, on SQLite and PostgreSQL"),
    ("search", "search over generated documents against bare tantivy on the same index, and against its parts"),
    ("retrieval", "nDCG, recall and MRR of words, vectors and both on a BEIR folder: --set DIR [--split NAME]"),
];

/// Runs one bench; `arguments` are its own.
pub fn bench(name: &str, arguments: &[String]) -> Result<()> {
    if !BENCHES.iter().any(|(known, _)| *known == name) {
        bail!("no bench `{name}`; there are {}", names());
    }
    cargo::run(&mut cargo(&["build", "--release", "--package", "server", "--package", "bench"]))?;
    let scratch = Scratch::on_disk()?;
    let postgres = Postgres::start(&scratch)?;
    // Not `cargo run --package bench`: another choice of packages is another choice of features, and builds all again.
    let mut bench = Command::new(release("bench"));
    bench.arg(name).args(arguments).env("MATERIA_BIN", release("materia")).env(postgres::URL_VARIABLE, postgres.url());
    if name == "graph" {
        bench.env("LADYBUG_PYTHON", install_ladybug()?);
    }
    cargo::run(&mut bench)
}

pub fn names() -> String {
    BENCHES.iter().map(|(name, _)| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}
