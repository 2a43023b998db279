//! The parts of the suite that one may ask for.

use anyhow::{Result, bail};

use crate::cargo::root;

/// What is tried.
#[derive(Debug, PartialEq, Eq)]
pub enum Part {
    Everything,
    /// Build, lints, format, tests and examples of the Rust code.
    Rust,
    /// The browser UI.
    Web,
    /// The tests of one crate.
    Crate(String),
    /// The Rust tests with this in their names.
    Named(String),
}

impl Part {
    pub fn parse(text: &str) -> Result<Part> {
        match text {
            "rust" => Ok(Part::Rust),
            "web" => Ok(Part::Web),
            "" => bail!("the name of a test is empty"),
            option if option.starts_with('-') => bail!("`test` has no option `{option}`"),
            name if is_crate(name) => Ok(Part::Crate(name.to_owned())),
            name => Ok(Part::Named(name.to_owned())),
        }
    }

    pub fn has_rust(&self) -> bool {
        !matches!(self, Part::Web)
    }

    pub fn has_web(&self) -> bool {
        matches!(self, Part::Everything | Part::Web)
    }

    /// Whether what could be built is tried although something else could not: who changes one crate gets to the next one later.
    pub fn is_tried_as_far_as_it_was_built(&self) -> bool {
        matches!(self, Part::Crate(_) | Part::Named(_))
    }

    /// Whether it is all of the Rust code, with what concerns no single test.
    pub fn has_all_rust(&self) -> bool {
        matches!(self, Part::Everything | Part::Rust)
    }
}

fn is_crate(name: &str) -> bool {
    name == "xtask" || root().join("crates").join(name).join("Cargo.toml").is_file()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_is_known_by_its_word_a_crate_by_its_folder_and_all_else_is_the_name_of_a_test() {
        let check = |text: &str, expected: Part| assert_eq!(Part::parse(text).ok(), Some(expected), "{text}");
        check("rust", Part::Rust);
        check("web", Part::Web);
        check("store", Part::Crate("store".to_owned()));
        check("xtask", Part::Crate("xtask".to_owned()));
        check("evidence::paths", Part::Named("evidence::paths".to_owned()));
        for wrong in ["", "--all"] {
            assert!(Part::parse(wrong).is_err(), "{wrong}");
        }
    }
}
