//! What the harness of Rust tests prints, taken apart: the time of each test, and what failed.

use std::time::Duration;

/// One test that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Test {
    pub name: String,
    pub took: Duration,
}

/// The tests with their times, as `--report-time` tells them.
pub fn read(output: &str) -> Vec<Test> {
    output.lines().filter_map(read_line).map(|(_, test)| test).collect()
}

/// The output as it is without `--report-time`, for whoever compares it with that of `cargo test`.
pub fn leave_out(output: &str) -> String {
    output.split_inclusive('\n').fold(String::new(), |mut text, line| {
        match read_line(line.trim_end_matches('\n')) {
            Some((plain, _)) => text.extend([plain, "\n"]),
            None => text.push_str(line),
        }
        text
    })
}

/// `test NAME ... ok <0.123s>`: the part before the time, and the test.
fn read_line(line: &str) -> Option<(&str, Test)> {
    let (plain, time) = line.strip_suffix("s>")?.rsplit_once(" <")?;
    let (name, _) = plain.strip_prefix("test ")?.split_once(" ... ")?;
    let took = Duration::try_from_secs_f64(time.parse().ok()?).ok()?;
    Some((plain, Test { name: name.to_owned(), took }))
}

/// How many tests ran.
pub fn count(output: &str) -> usize {
    let counts =
        output.lines().filter_map(|line| line.strip_prefix("running ")?.split(' ').next()?.parse::<usize>().ok());
    counts.sum()
}

/// What is worth reading again of an output that ended badly: what the harness says of failures, without its closing line, which
/// may be counted; else the last lines.
pub fn failures(output: &str) -> String {
    const N_LINES_MAX: usize = 60;
    if let Some((_, failures)) = output.split_once("\nfailures:\n") {
        let kept = failures.lines().filter(|line| !line.starts_with("test result:"));
        return kept.fold(String::new(), |text, line| text + line + "\n");
    }
    let lines: Vec<&str> = output.lines().collect();
    let last = lines.iter().skip(lines.len().saturating_sub(N_LINES_MAX));
    last.fold(String::new(), |text, line| text + line + "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    const OUTPUT: &str = "
running 2 tests
test a::b ... ok <0.101s>
test c - should panic ... FAILED <1.250s>
said in between <0.1s>

failures:

---- c stdout ----
why

failures:
    c

test result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.41s
";

    #[test]
    fn the_time_of_each_test_is_read_and_left_out() {
        let test = |name: &str, millis| Test { name: name.to_owned(), took: Duration::from_millis(millis) };
        assert_eq!(read(OUTPUT), [test("a::b", 101), test("c - should panic", 1_250)]);
        let plain = leave_out(OUTPUT);
        assert!(
            plain.contains("\ntest a::b ... ok\ntest c - should panic ... FAILED\nsaid in between <0.1s>\n"),
            "{plain}"
        );
        assert_eq!(read(&plain), []);
        assert_eq!(count(OUTPUT), 2);
    }

    #[test]
    fn failures_are_told_again_without_the_line_that_is_counted() {
        assert_eq!(failures(OUTPUT), "\n---- c stdout ----\nwhy\n\nfailures:\n    c\n\n");
        assert_eq!(failures("one\ntwo\n"), "one\ntwo\n");
    }
}
