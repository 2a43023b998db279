//! Patterns of paths: `herb -contains-> constituent -treats-> indication`, `*` for any type or any predicate but denials, `<-p-`
//! against the direction of the edge. Words that hold other characters stand in backticks.

use super::Direction;

/// At most so many hops in a path.
pub const HOPS_MAX: usize = 6;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pattern {
    /// The type of the first node; `None` is any.
    pub start: Option<String>,
    pub hops: Vec<PatternHop>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatternHop {
    pub direction: Direction,
    /// `None` is any.
    pub predicate: Option<String>,
    /// The type of the node that the hop leads to; `None` is any.
    pub end: Option<String>,
}

/// What is wrong, and at which character, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("position {position}: expected {expected}")]
pub struct PatternError {
    pub position: usize,
    pub expected: &'static str,
}

impl Pattern {
    pub fn parse(text: &str) -> Result<Pattern, PatternError> {
        let mut reader = Reader { text, at: 0 };
        reader.skip_space();
        let start = reader.word("the type of a node, or `*`")?;
        let mut hops = Vec::new();
        loop {
            reader.skip_space();
            if reader.rest().is_empty() {
                break;
            }
            if hops.len() == HOPS_MAX {
                return Err(reader.error("the end of the pattern: a path has at most 6 hops"));
            }
            hops.push(reader.hop()?);
        }
        if hops.is_empty() {
            return Err(reader.error("`-predicate->` or `<-predicate-` and the type of the next node"));
        }
        Ok(Pattern { start, hops })
    }
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl Reader<'_> {
    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn error(&self, expected: &'static str) -> PatternError {
        let before = self.text.get(..self.at).unwrap_or_default();
        PatternError { position: before.chars().count() + 1, expected }
    }

    fn skip_space(&mut self) {
        self.at += self.rest().len() - self.rest().trim_start().len();
    }

    fn take(&mut self, token: &str, expected: &'static str) -> Result<(), PatternError> {
        if !self.rest().starts_with(token) {
            return Err(self.error(expected));
        }
        self.at += token.len();
        Ok(())
    }

    fn hop(&mut self) -> Result<PatternHop, PatternError> {
        let is_reverse = self.rest().starts_with("<-");
        self.take(if is_reverse { "<-" } else { "-" }, "`-predicate->` or `<-predicate-`")?;
        self.skip_space();
        let predicate = self.word("a predicate, or `*`")?;
        self.skip_space();
        if is_reverse {
            self.take("-", "`-` after the predicate")?;
        } else {
            self.take("->", "`->` after the predicate")?;
        }
        self.skip_space();
        let end = self.word("the type of a node, or `*`")?;
        let direction = if is_reverse { Direction::In } else { Direction::Out };
        Ok(PatternHop { direction, predicate, end })
    }

    /// A word, or `*` as `None`.
    fn word(&mut self, expected: &'static str) -> Result<Option<String>, PatternError> {
        if self.rest().starts_with('*') {
            self.at += 1;
            return Ok(None);
        }
        if self.rest().starts_with('`') {
            self.at += 1;
            let n_bytes = self.rest().find('`').ok_or_else(|| self.error("a closing backtick"))?;
            let word = self.rest().get(..n_bytes).unwrap_or_default().to_owned();
            if word.is_empty() {
                return Err(self.error(expected));
            }
            self.at += n_bytes + 1;
            return Ok(Some(word));
        }
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':') || is_thai_mark(c);
        let n_bytes = self.rest().find(|c| !is_part(c)).unwrap_or(self.rest().len());
        if n_bytes == 0 {
            return Err(self.error(expected));
        }
        let word = self.rest().get(..n_bytes).unwrap_or_default();
        // Biolink's own prefix is left out in the record, and understood here.
        let word = word.strip_prefix("biolink:").filter(|rest| !rest.is_empty()).unwrap_or(word).to_owned();
        self.at += n_bytes;
        Ok(Some(word))
    }
}

/// Vowels above and below and tone marks, which are no letters by themselves.
fn is_thai_mark(c: char) -> bool {
    matches!(c, '\u{e31}' | '\u{e34}'..='\u{e3a}' | '\u{e47}'..='\u{e4e}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(pattern: &Pattern) -> String {
        let word = |word: &Option<String>| word.clone().unwrap_or("*".to_owned());
        let hops = pattern.hops.iter().map(|hop| match hop.direction {
            Direction::Out => format!(" -{}-> {}", word(&hop.predicate), word(&hop.end)),
            Direction::In => format!(" <-{}- {}", word(&hop.predicate), word(&hop.end)),
        });
        word(&pattern.start) + &hops.collect::<String>()
    }

    fn check(text: &str, expected: &str) {
        match Pattern::parse(text) {
            Ok(pattern) => assert_eq!(shown(&pattern), expected),
            Err(error) => assert_eq!(error.to_string(), expected),
        }
    }

    #[test]
    fn patterns_are_read_with_and_without_spaces() {
        check("herb -contains-> constituent -treats-> indication", "herb -contains-> constituent -treats-> indication");
        check("herb-contains->constituent<-contains-herb", "herb -contains-> constituent <-contains- herb");
        check(" * - * -> * <- treats - `a-b c` ", "* -*-> * <-treats- a-b c");
        check("สมุนไพร -มี-> biolink:ChemicalEntity", "สมุนไพร -มี-> ChemicalEntity");
    }

    #[test]
    fn a_mistake_is_named_with_its_position() {
        check("", "position 1: expected the type of a node, or `*`");
        check("herb", "position 5: expected `-predicate->` or `<-predicate-` and the type of the next node");
        check("herb --> x", "position 7: expected a predicate, or `*`");
        check("herb -contains- x", "position 15: expected `->` after the predicate");
        check("ขิง ? x", "position 5: expected `-predicate->` or `<-predicate-`");
        check("herb <-contains-> x", "position 17: expected the type of a node, or `*`");
        check("herb -`x-> y", "position 8: expected a closing backtick");
        let long = format!("a{}", " -b-> c".repeat(7));
        check(&long, "position 45: expected the end of the pattern: a path has at most 6 hops");
    }
}
