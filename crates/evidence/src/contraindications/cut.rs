//! Which results an answer has room for, and what it says of the others.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use contract::evidence::contraindications::Contraindication;

/// Leaves at most so many, in their order: first what was verified, and of that the strongest. Answers how many statements are
/// missing and of whom; `not_read` has the entities of those that never became results.
pub fn cut(results: &mut Vec<Contraindication>, n_max: usize, not_read: Vec<String>) -> Option<String> {
    let mut missing: BTreeMap<String, usize> = BTreeMap::new();
    for entity_id in not_read {
        *missing.entry(entity_id).or_default() += 1;
    }
    if results.len() > n_max {
        let mut places: Vec<(usize, Contraindication)> = results.drain(..).enumerate().collect();
        places.sort_by_key(|(_, it)| Reverse((is_verified(it), it.strength)));
        for (_, it) in places.split_off(n_max) {
            *missing.entry(it.entity_id).or_default() += 1 + it.also.len();
        }
        places.sort_by_key(|(place, _)| *place);
        results.extend(places.into_iter().map(|(_, it)| it));
    }
    let n_missing: usize = missing.values().sum();
    let of_whom: Vec<String> = missing.iter().map(|(entity_id, n)| format!("`{entity_id}` ({n})")).collect();
    (n_missing > 0).then(|| {
        format!(
            "{n_missing} statements are not shown, of {}: what nobody verified is left out first, then what is less strong. Ask for \
             fewer at once to get them.",
            of_whom.join(", ")
        )
    })
}

/// One that was verified makes up for others of the same pair.
fn is_verified(result: &Contraindication) -> bool {
    result.verified || result.also.iter().any(|it| it.verified)
}
