//! A criterion with its expressions compiled. The engine runs in linear time, and an expression may not grow large.

use contract::workflow::checklists::Criterion;
use regex::{Regex, RegexBuilder};

use super::CatalogueError;

const PATTERN_CHARS_MAX: usize = 1_000;
const COMPILED_BYTES_MAX: usize = 2 * 1024 * 1024;

#[derive(Debug)]
pub struct Rule {
    pub criterion: Criterion,
    pub pattern: Option<Regex>,
    pub all_patterns: Vec<Regex>,
    pub heading_pattern: Option<Regex>,
    pub prohibited_patterns: Vec<Regex>,
}

impl Rule {
    pub(super) fn compile(checklist_id: &str, criterion: &Criterion) -> Result<Rule, CatalogueError> {
        let compile = |pattern: &String| {
            let wrong = |problem: String| CatalogueError::Wrong {
                kind: "checklist",
                name: checklist_id.to_owned(),
                problem: format!("criterion `{}`: {problem}", criterion.id),
            };
            if pattern.chars().count() > PATTERN_CHARS_MAX {
                return Err(wrong(format!("an expression has at most {PATTERN_CHARS_MAX} characters")));
            }
            let compiled = RegexBuilder::new(pattern).size_limit(COMPILED_BYTES_MAX).build();
            compiled.map_err(|error| wrong(error.to_string()))
        };
        let one = |pattern: &Option<String>| pattern.as_ref().map(compile).transpose();
        let many = |patterns: &[String]| patterns.iter().map(compile).collect::<Result<Vec<_>, _>>();
        Ok(Rule {
            pattern: one(&criterion.pattern)?,
            all_patterns: many(&criterion.all_patterns)?,
            heading_pattern: one(&criterion.heading_pattern)?,
            prohibited_patterns: many(&criterion.prohibited_patterns)?,
            criterion: criterion.clone(),
        })
    }
}
