//! What is shown of the tests: each output as it ends, the tables of times at the end, and what failed once more.

use std::time::Duration;

use crate::{
    lanes::Ended,
    part::Part,
    stages::minutes,
    times::{self, Test},
};

const N_SLOWEST: usize = 20;
/// What takes less is not slow.
const SLOW: Duration = Duration::from_millis(500);

/// The output of a job as `cargo test` prints it. Binaries in which nothing has the name are not worth a line.
pub fn shown(part: &Part, end: &Ended) -> String {
    if matches!(part, Part::Named(_)) && end.passed && times::count(&end.output) == 0 {
        return String::new();
    }
    format!("{}\n{}\n\n", end.headline, times::leave_out(&end.output).trim_end())
}

/// The minutes of each job and the slowest tests.
pub fn table(ended: &[Ended]) -> String {
    let mut jobs: Vec<&Ended> = ended.iter().collect();
    jobs.sort_by_key(|end| std::cmp::Reverse(end.took));
    let jobs = jobs.iter().map(|end| {
        let outcome = if end.passed { "passed" } else { "FAILED" };
        format!("{:<40}{:>8.1}  {outcome}\n", end.name, minutes(end.took))
    });
    let mut tests: Vec<(&Ended, Test)> =
        ended.iter().flat_map(|end| times::read(&end.output).into_iter().map(move |test| (end, test))).collect();
    tests.sort_by_key(|(_, test)| std::cmp::Reverse(test.took));
    let slowest = tests.iter().take_while(|(_, test)| test.took >= SLOW).take(N_SLOWEST);
    let tests = slowest.map(|(end, test)| {
        let (of, _) = end.name.split_once(' ').unwrap_or((&end.name, ""));
        format!("{:>8.1}  {of} {}\n", test.took.as_secs_f64(), test.name)
    });
    let (jobs, tests): (String, String) = (jobs.collect(), tests.collect());
    let jobs = format!("{:<40}{:>8}\n{jobs}", "tests, side by side", "minutes");
    if tests.is_empty() { jobs } else { format!("{jobs}\n{:>8}  the slowest tests\n{tests}", "seconds") }
}

/// What failed, told again where it is not missed.
pub fn failures(ended: &[Ended]) -> String {
    let failed = ended.iter().filter(|end| !end.passed);
    failed.map(|end| format!("FAILED: {}\n{}\n", end.name, times::failures(&end.output))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn end(name: &str, seconds: u64, passed: bool, output: &str) -> Ended {
        let (name, headline, output) = (name.to_owned(), "     Running it".to_owned(), output.to_owned());
        Ended { name, headline, took: Duration::from_secs(seconds), passed, output }
    }

    #[test]
    fn the_longest_come_first_and_what_failed_comes_again() {
        let ended = [
            end("ops tests/it/main.rs", 60, true, "running 1 test\ntest paths::a ... ok <2.500s>\n"),
            end("web", 90, false, "one\ntwo\n"),
            end("store src/lib.rs", 6, true, "running 1 test\ntest b ... ok <3.000s>\n"),
        ];
        let table = table(&ended);
        let lines: Vec<String> =
            table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let expected = [
            "tests, side by side minutes",
            "web 1.5 FAILED",
            "ops tests/it/main.rs 1.0 passed",
            "store src/lib.rs 0.1 passed",
            "",
            "seconds the slowest tests",
            "3.0 store b",
            "2.5 ops paths::a",
        ];
        assert_eq!(lines, expected);
        assert_eq!(failures(&ended), "FAILED: web\none\ntwo\n\n");
    }

    #[test]
    fn of_a_name_only_the_binaries_that_have_it_are_shown() {
        let named = Part::Named("b".to_owned());
        let without = end("ops src/lib.rs", 1, true, "\nrunning 0 tests\n");
        assert_eq!(shown(&named, &without), "");
        assert_eq!(shown(&Part::Rust, &without), "     Running it\n\nrunning 0 tests\n\n");
        let with = end("ops src/lib.rs", 1, true, "\nrunning 1 test\ntest b ... ok <0.100s>\n");
        assert_eq!(shown(&named, &with), "     Running it\n\nrunning 1 test\ntest b ... ok\n\n");
    }
}
