//! The rest of a list that is cut: in one wording everywhere, so that nobody takes what is shown for all.

/// `and 3 more pairs not shown`; nothing where nothing was cut off.
pub fn not_shown(n_more: usize, what: &str) -> Option<String> {
    let gap = if what.is_empty() { "" } else { " " };
    (n_more > 0).then(|| format!("and {n_more} more{gap}{what} not shown"))
}

/// The first ones of a list in a sentence, and how many there are beside them.
pub fn first(shown: &[String], n_max: usize) -> String {
    let told: Vec<&str> = shown.iter().take(n_max).map(String::as_str).collect();
    let more = not_shown(shown.len().saturating_sub(n_max), "").map(|more| format!(" {more}"));
    told.join(", ") + &more.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_cut_off_is_counted() {
        let all = ["a", "b", "c"].map(str::to_owned);
        assert_eq!(first(&all, 3), "a, b, c");
        assert_eq!(first(&all, 2), "a, b and 1 more not shown");
        assert_eq!(not_shown(0, "pairs"), None);
        assert_eq!(not_shown(2, "pairs").as_deref(), Some("and 2 more pairs not shown"));
    }
}
