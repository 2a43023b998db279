//! Codes of ICD-10 as people write them, and as ids of nodes.

use std::collections::BTreeSet;

use crate::graph::{Graph, NodeNumber};

/// Prefixes of ids that are codes of ICD-10, the Thai block among them.
pub(crate) const ICD: [&str; 4] = ["ICD10", "ICD10TM", "ICD10CM", "ICD10WHO"];

/// Letters and digits of a code: `A00` to `S72.001A`.
const CHARS: std::ops::RangeInclusive<usize> = 3..=8;
/// Those before the dot.
const CATEGORY_CHARS: usize = 3;

/// The nodes that have this code for an id or another id, with or without the dot; none where the text is no code. A code may
/// be given to several things.
pub fn nodes(graph: &Graph, text: &str) -> BTreeSet<NodeNumber> {
    let found = spellings(text).into_iter().flat_map(|id| {
        let by_id = graph.nodes().find(&id);
        by_id.into_iter().chain(graph.nodes().find_named(&id, by_id).by_other_id)
    });
    found.collect()
}

/// The ids that a node of this code may have, with and without the dot; none where the text is no code.
fn spellings(text: &str) -> Vec<String> {
    let code = text.trim().to_ascii_uppercase();
    let bare: String = code.chars().filter(|character| *character != '.').collect();
    let has_dot_in_place = match code.find('.') {
        Some(place) => place == CATEGORY_CHARS && code.len() == bare.len() + 1 && code.len() > CATEGORY_CHARS + 1,
        None => true,
    };
    let is_code = CHARS.contains(&bare.len())
        && bare.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && bare.starts_with(|first: char| first.is_ascii_uppercase())
        && bare.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    if !is_code || !has_dot_in_place {
        return Vec::new();
    }
    let dotted = match bare.split_at_checked(CATEGORY_CHARS) {
        Some((category, rest)) if !rest.is_empty() => Some(format!("{category}.{rest}")),
        Some(_) | None => None,
    };
    let codes = [Some(bare.clone()), dotted].into_iter().flatten();
    codes.flat_map(|code| ICD.map(|prefix| format!("{prefix}:{code}"))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_code_is_known_with_and_without_its_dot() {
        assert_eq!(spellings("j00"), ["ICD10:J00", "ICD10TM:J00", "ICD10CM:J00", "ICD10WHO:J00"]);
        for text in ["U51.10", "U5110", " u51.10 "] {
            let found = spellings(text);
            for id in ["ICD10TM:U51.10", "ICD10TM:U5110"] {
                assert!(found.iter().any(|it| it == id), "{text}: {found:?}");
            }
        }
        for text in ["", "24790635", "ginger", "B6", "U5.110", "A00.", "CYP3A4", "A00-A09", "..A00"] {
            assert_eq!(spellings(text), Vec::<String>::new(), "{text}");
        }
    }
}
