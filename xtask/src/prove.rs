//! `cargo xtask prove`: the crash and contention tests at full size, and RELIABILITY.md from what they print.
//!
//! A proof is a line `proof: SUBJECT key=value …` of a test that passed. The report is written only if all of them
//! passed and the work tree stood still meanwhile: RELIABILITY.md is never the record of a failure, and the commit that
//! it names is the one that was built.

use std::{
    fs,
    io::{BufRead, BufReader},
    process::{Command, Stdio},
};

use anyhow::{Context, Result, bail};

use crate::{
    cargo::{self, cargo, cargo_with_lints, root, run_quietly},
    install,
    part::Part,
    postgres::{self, Postgres},
    scratch::Scratch,
    test::TOOLS_VARIABLE,
};

const REPORT: &str = "RELIABILITY.md";
const MARK: &str = "proof: ";

/// The tests that prove something: modules of the integration binaries.
const SUITES: &[&str] = &[
    "mutations::",
    "contention::",
    "kills::",
    "owner::",
    "tracker::",
    "conformance::",
    "ledger::backup::",
    "faults::",
];

pub fn prove() -> Result<()> {
    let tree = Tree::read()?;
    let tools = install::install_for(&Part::Rust)?;
    let scratch = Scratch::on_disk()?;
    let postgres = Postgres::start(&scratch)?;
    // The tests as `cargo xtask test` builds them, and the program as `cargo xtask bench` does: a build of their own would
    // take longer than the proofs.
    cargo::run(&mut cargo(&["build", "--release", "--package", "server", "--package", "bench"]))?;
    let mut tests = cargo_with_lints(&["test", "--workspace", "--test", "it"])?;
    // One test at a time: each has the machine to itself.
    tests.args(["--", "--nocapture", "--test-threads=1"]).args(SUITES);
    tests.env("MATERIA_PROVE", "1").env("MATERIA_TEST_PROGRAM", cargo::release("materia"));
    tests.env(TOOLS_VARIABLE, &tools).env(postgres::URL_VARIABLE, postgres.url());
    let proofs = run_and_read_proofs(&mut tests)?;
    if Tree::read()? != tree {
        bail!(
            "the work tree changed during the run, so the proofs belong to no one commit; {REPORT} is left as it was"
        );
    }
    let report = report(&tree, &machine()?, &proofs);
    let path = root().join(REPORT);
    fs::write(&path, &report).with_context(|| format!("could not write `{}`", path.display()))?;
    println!("\n{report}\nwritten to {}", path.display());
    Ok(())
}

/// Runs the tests, shows what they print, and keeps their proofs.
fn run_and_read_proofs(tests: &mut Command) -> Result<Vec<Proof>> {
    let line = cargo::line(tests);
    println!("$ MATERIA_PROVE=1 {line}");
    let mut child = tests.stdout(Stdio::piped()).spawn().with_context(|| format!("could not start `{line}`"))?;
    let output = child.stdout.take().context("the tests have no output")?;
    let mut proofs = Vec::new();
    for text in BufReader::new(output).lines() {
        let text = text.context("could not read the output of the tests")?;
        println!("{text}");
        proofs.extend(Proof::find(&text));
    }
    let status = child.wait()?;
    if !status.success() {
        bail!("`{line}` ended with {status}; {REPORT} is left as it was");
    }
    if proofs.is_empty() {
        bail!("`{line}` printed no `{MARK}` line");
    }
    Ok(proofs)
}

/// What one test counted.
#[derive(Debug, PartialEq, Eq)]
struct Proof {
    subject: String,
    counts: Vec<(String, String)>,
}

impl Proof {
    /// The proof in a line of test output; the harness may have begun the line with the test's name.
    fn find(line: &str) -> Option<Proof> {
        let (_, proof) = line.split_once(MARK)?;
        let (subject, counts) = proof.split_once(' ')?;
        let counts = counts.split_whitespace().filter_map(|count| count.split_once('='));
        let counts = counts.map(|(key, value)| (key.to_owned(), value.to_owned())).collect();
        Some(Proof { subject: subject.to_owned(), counts })
    }

    fn row(&self) -> String {
        let counts: Vec<String> = self.counts.iter().map(|(key, value)| format!("{key} {value}")).collect();
        format!("| {} | {} |\n", self.subject, counts.join(", "))
    }
}

/// What was built.
#[derive(PartialEq, Eq)]
struct Tree {
    commit: String,
    /// What differs from the commit, in git's words; empty if nothing does.
    changes: String,
}

impl Tree {
    fn read() -> Result<Tree> {
        let git = |arguments: &[&str]| run_quietly(Command::new("git").current_dir(root()).args(arguments));
        let rest = ["--", ".", ":!RELIABILITY.md"];
        let status = git(&[&["status", "--porcelain"], rest.as_slice()].concat())?;
        let diff = git(&[&["diff", "HEAD"], rest.as_slice()].concat())?;
        Ok(Tree { commit: git(&["rev-parse", "HEAD"])?.trim().to_owned(), changes: status + &diff })
    }
}

/// The circumstances without which a count says little.
struct Machine {
    date: String,
    cpu: String,
    n_cores: usize,
    memory_gib: u64,
    kernel: String,
    postgres: String,
}

fn machine() -> Result<Machine> {
    let postgres = crate::install::install_postgresql()?.join("postgres");
    let read = |path: &str| fs::read_to_string(path).with_context(|| format!("could not read `{path}`"));
    let memory = value_after(&read("/proc/meminfo")?, "MemTotal");
    let memory_kib: u64 = memory.split_whitespace().next().unwrap_or_default().parse().unwrap_or(0);
    Ok(Machine {
        date: run_quietly(Command::new("date").args(["-u", "+%Y-%m-%d %H:%M UTC"]))?.trim().to_owned(),
        cpu: value_after(&read("/proc/cpuinfo")?, "model name"),
        n_cores: std::thread::available_parallelism()?.get(),
        memory_gib: memory_kib.div_ceil(1024 * 1024),
        kernel: read("/proc/sys/kernel/osrelease")?.trim().to_owned(),
        postgres: run_quietly(Command::new(postgres).arg("--version"))?.trim().to_owned(),
    })
}

/// The text after `key` and a colon in a file of the kernel's; empty if there is none.
fn value_after(text: &str, key: &str) -> String {
    let line = text.lines().find_map(|line| line.strip_prefix(key)?.split_once(':'));
    line.map_or_else(String::new, |(_, value)| value.trim().to_owned())
}

fn report(tree: &Tree, machine: &Machine, proofs: &[Proof]) -> String {
    let changes = if tree.changes.is_empty() { "" } else { " with uncommitted changes" };
    let rows: String = proofs.iter().map(Proof::row).collect();
    format!(
        "\
# Reliability

Counted by `cargo xtask prove`, which writes this file only if every proof passed. The same tests run at a smaller size in
`cargo xtask test`.

| | |
|---|---|
| commit | {}{changes} |
| date | {} |
| machine | {}, {} cores, {} GiB |
| kernel | {} |
| PostgreSQL | {} |

| proof | counted |
|---|---|
{rows}
`kill -9` shows what survives the death of the process. It does not show what survives a power failure: the
page cache outlives the process.
",
        tree.commit,
        machine.date,
        machine.cpu,
        machine.n_cores,
        machine.memory_gib,
        machine.kernel,
        machine.postgres,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_proof_is_found_behind_the_name_that_the_harness_prints() {
        let proof = Proof::find("test contention::sqlite ... proof: ids n=64000 duplicates=0 engine=sqlite");
        let row = proof.map(|proof| proof.row());
        assert_eq!(row.as_deref(), Some("| ids | n 64000, duplicates 0, engine sqlite |\n"));
    }

    #[test]
    fn other_lines_are_no_proofs() {
        for line in ["", "test result: ok. 3 passed", "proof:", "proof: ids"] {
            assert_eq!(Proof::find(line), None, "`{line}`");
        }
    }
}
