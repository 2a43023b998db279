//! What a check found, in words for the author.

/// Problems that are told one by one; the rest is counted.
const PROBLEMS_MAX: usize = 5;

pub struct Verdict {
    pub passed: bool,
    pub details: String,
}

impl Verdict {
    pub fn pass(details: String) -> Verdict {
        Verdict { passed: true, details }
    }

    pub fn fail(details: String) -> Verdict {
        Verdict { passed: false, details }
    }

    /// Passed where there are no problems.
    pub fn of(problems: &[String], otherwise: impl FnOnce() -> String) -> Verdict {
        if problems.is_empty() {
            return Verdict::pass(otherwise());
        }
        let told = problems.iter().take(PROBLEMS_MAX).map(String::as_str).collect::<Vec<_>>().join("; ");
        let n_more = problems.len().saturating_sub(PROBLEMS_MAX);
        Verdict::fail(if n_more == 0 { told } else { format!("{told}; and {n_more} more") })
    }
}

/// The beginning of a text that is repeated in a message.
pub fn shown(text: &str) -> String {
    const CHARS_MAX: usize = 60;
    let cut: String = text.chars().take(CHARS_MAX).map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if text.chars().nth(CHARS_MAX).is_some() { format!("{cut}…") } else { cut }
}
