//! Golden files: committed text that the program must produce again.

use std::path::Path;
use std::{env, fs};

/// Compares `text` with the committed file. With `UPDATE_GOLDEN=1` it rewrites the file instead.
///
/// `path` is relative to the folder of the crate under test, where cargo runs its tests.
#[track_caller]
pub fn check_golden(path: impl AsRef<Path>, text: &str) {
    let path = path.as_ref();
    if env::var_os("UPDATE_GOLDEN").is_some_and(|value| value == "1") {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).expect("could not create the folder of a golden file");
        }
        fs::write(path, text).expect("could not write a golden file");
        return;
    }
    compare(path, text);
}

#[track_caller]
fn compare(path: &Path, text: &str) {
    let name = path.display();
    let expected = match fs::read_to_string(path) {
        Ok(expected) => expected,
        Err(error) => panic!("could not read golden file `{name}` ({error}); UPDATE_GOLDEN=1 writes it"),
    };
    if expected == text {
        return;
    }
    let lines = expected.lines().zip(text.lines());
    let n_same = lines.take_while(|(expected, found)| expected == found).count();
    let line = |text: &str| text.lines().nth(n_same).unwrap_or("<end of file>").to_owned();
    panic!(
        "golden file `{name}` differs from line {}\n  expected: {}\n  found:    {}\nUPDATE_GOLDEN=1 rewrites it",
        n_same + 1,
        line(&expected),
        line(text),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(committed: &str, text: &str) {
        let folder = crate::temp_dir();
        let path = folder.path().join("golden.txt");
        fs::write(&path, committed).unwrap();
        compare(&path, text);
    }

    #[test]
    fn the_same_text_passes() {
        check("a\nb\n", "a\nb\n");
    }

    #[test]
    #[should_panic(expected = "differs from line 2\n  expected: b\n  found:    c")]
    fn another_text_fails_and_names_the_line() {
        check("a\nb\n", "a\nc\n");
    }

    #[test]
    #[should_panic(expected = "UPDATE_GOLDEN=1 writes it")]
    fn an_absent_file_fails() {
        compare(&crate::temp_dir().path().join("absent.txt"), "");
    }
}
