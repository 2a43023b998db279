//! ladybug in a process of its own, with the same graph in tables of its own: one per type and one per predicate.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::Context as _;
use serde_json::{Value, json};
use tempfile::TempDir;

use super::generated::{Generated, KINDS, ends, node_id, predicate};
use crate::figures::{print, rounded};
use crate::place;

pub struct Ladybug {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
    _folder: TempDir,
}

impl Ladybug {
    pub fn start(generated: &Generated) -> anyhow::Result<Ladybug> {
        let python = std::env::var_os("LADYBUG_PYTHON").context("LADYBUG_PYTHON names a Python with ladybug")?;
        let folder = place::folder()?;
        write_files(&folder, generated)?;
        let script = folder.path().join("reference.py");
        fs::write(&script, include_str!("ladybug_reference.py")).context("could not write the script")?;
        let mut child = Command::new(python)
            .arg(&script)
            .arg(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("could not start Python")?;
        let questions = child.stdin.take().context("a pipe")?;
        let answers = BufReader::new(child.stdout.take().context("a pipe")?);
        let mut ladybug = Ladybug { child, questions, answers, _folder: folder };
        let loaded = ladybug.read()?;
        let seconds = loaded["seconds"].as_f64().unwrap_or_default();
        print(&json!({"bench": "graph", "part": "ladybug", "load_s": rounded(seconds)}))?;
        Ok(ladybug)
    }

    /// The rows, and the microseconds that the query and the reading of its rows took inside of Python.
    pub fn ask(&mut self, query: &str, start: &str) -> anyhow::Result<(Vec<Value>, f64)> {
        let mut answer = self.put(query, &[start])?;
        let us = answer["us"][0].as_f64().context("a time")?;
        match answer["rows"].take() {
            Value::Array(rows) => Ok((rows, us)),
            _ => anyhow::bail!("ladybug answered no rows"),
        }
    }

    /// The microseconds of each of the questions, which are answered in a row.
    pub fn ask_all(&mut self, query: &str, starts: &[String]) -> anyhow::Result<Vec<f64>> {
        let starts: Vec<&str> = starts.iter().map(String::as_str).collect();
        let answer = self.put(query, &starts)?;
        let us = answer["us"].as_array().context("times")?;
        us.iter().map(|us| us.as_f64().context("a time")).collect()
    }

    fn put(&mut self, query: &str, starts: &[&str]) -> anyhow::Result<Value> {
        writeln!(self.questions, "{}", json!({"query": query, "starts": starts})).context("ladybug is gone")?;
        self.read()
    }

    fn read(&mut self) -> anyhow::Result<Value> {
        let mut line = String::new();
        self.answers.read_line(&mut line).context("ladybug is gone")?;
        serde_json::from_str(&line).context("ladybug answered no JSON")
    }
}

impl Drop for Ladybug {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

fn write_files(folder: &TempDir, generated: &Generated) -> anyhow::Result<()> {
    let write = |name: String, text: String| {
        fs::write(folder.path().join(&name), text).with_context(|| format!("could not write `{name}`"))
    };
    for kind in KINDS {
        let mut text = String::new();
        for number in 0..generated.n_per_kind {
            writeln!(text, "{},{kind} number {number}", node_id(kind, number)).context("text")?;
        }
        write(format!("{kind}.csv"), text)?;
    }
    for (number, edges) in generated.edges.iter().enumerate() {
        let (from, to) = ends(number);
        let mut text = String::new();
        for (subject, object) in edges {
            writeln!(text, "{},{}", node_id(from, *subject), node_id(to, *object)).context("text")?;
        }
        write(format!("{}.csv", predicate(number)), text)?;
    }
    let predicates: Vec<Value> = (0..generated.edges.len())
        .map(|number| {
            let (from, to) = ends(number);
            json!([predicate(number), from, to])
        })
        .collect();
    write("plan.json".to_owned(), json!({"kinds": KINDS, "predicates": predicates}).to_string())
}
