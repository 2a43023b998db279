//! Which predicates hold of both ends alike. A source writes such a statement once, from whichever end it likes, and every
//! question must find it from the other one as well.

/// The one list of them; nobody keeps another.
const BOTH_WAYS: [&str; 3] = ["contraindicated_with", "has_contraindication", "interacts_with"];

pub fn holds_both_ways(predicate: &str) -> bool {
    BOTH_WAYS.contains(&predicate)
}

/// Each of them.
pub(super) fn both_ways() -> impl Iterator<Item = &'static str> {
    BOTH_WAYS.into_iter()
}
