//! `cargo xtask`: the commands of this repository that are more than one cargo call.
//!
//! Invariants: no command leaves a process behind, whatever ends it; no command asks for anything that a fresh
//! machine with cargo, npm, Python and (as root) apt cannot install by itself.

mod bench;
mod binaries;
mod cargo;
mod install;
mod lanes;
mod part;
mod postgres;
mod prove;
mod report;
mod run;
mod scratch;
mod stages;
mod test;
mod times;
mod web;

use std::process::ExitCode;

use anyhow::{Result, bail};

use crate::part::Part;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("xtask: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(arguments: &[String]) -> Result<()> {
    let Some((command, rest)) = arguments.split_first() else {
        print!("{}", usage());
        return Ok(());
    };
    let wants_help = rest.iter().take_while(|argument| *argument != "--").any(|argument| argument == "--help");
    if wants_help {
        print!("{}", usage());
        return Ok(());
    }
    match (command.as_str(), rest) {
        ("help" | "--help" | "-h", _) => {
            print!("{}", usage());
            Ok(())
        }
        ("run", rest) => run::serve(rest),
        ("test", []) => test::test(&Part::Everything),
        ("test", [part]) => test::test(&Part::parse(part)?),
        ("bench", [name, rest @ ..]) => bench::bench(name, rest),
        ("bench", []) => bail!("`bench` needs a name: {}", bench::names()),
        ("prove", []) => prove::prove(),
        ("test", [_, unknown, ..]) => bail!("`test` takes one part, found `{unknown}` as well"),
        ("prove", [unknown, ..]) => bail!("`prove` takes no arguments, found `{unknown}`"),
        (unknown, _) => bail!("no command `{unknown}`; `cargo xtask help` lists them"),
    }
}

fn usage() -> String {
    let benches: String =
        bench::BENCHES.iter().map(|(name, about)| format!("                      {name:<10}{about}\n")).collect();
    format!(
        "\
cargo xtask COMMAND

  run [-- ARGS]     build the release binary and serve; ARGS go to `materia serve`
  test [PART]       install what the tests need, then run everything that must pass before a merge, or a part of it:
                      rust     build, lints, format and the Rust tests
                      web      types and units of the browser UI, and the UI in a browser
                      NAME     the tests of the crate NAME, or else the Rust tests with NAME in their names
  bench NAME [ARGS] measure against a reference in the same run; prints JSON lines
{benches}  prove             run the long proofs at full size and write RELIABILITY.md
  help              this page

Examples
  cargo xtask run
  cargo xtask run -- --data /tmp/materia --listen 127.0.0.1:9000
  cargo xtask test
  cargo xtask test store
  cargo xtask test evidence::paths
  cargo xtask bench ids
"
    )
}
