//! Several lists become one: each list's scores are stretched to 0…1, then weighted and summed.

use std::collections::BTreeMap;

use tantivy::DocAddress;

use super::lexical::Found;

/// How many entries of a list count.
pub const DEPTH: usize = 200;

/// A list with its scores stretched to 0…1.
#[derive(Debug, Default)]
pub struct Stretched(pub BTreeMap<DocAddress, f64>);

impl Stretched {
    /// Words: what is not in a short list has the score 0, so that is where a list that is not full begins.
    pub fn words(found: &[Found]) -> Stretched {
        let lowest = if found.len() < DEPTH { 0.0 } else { lowest(found) };
        stretch(found, lowest)
    }

    /// Vectors: every entry has some nearness, so the last of the list is where it begins.
    pub fn vectors(found: &[Found]) -> Stretched {
        stretch(found, lowest(found))
    }

    pub fn get(&self, address: DocAddress) -> f64 {
        self.0.get(&address).copied().unwrap_or_default()
    }
}

fn lowest(found: &[Found]) -> f64 {
    found.iter().take(DEPTH).map(|one| one.score).fold(f64::INFINITY, f64::min)
}

fn stretch(found: &[Found], lowest: f64) -> Stretched {
    let highest = found.iter().take(DEPTH).map(|one| one.score).fold(f64::NEG_INFINITY, f64::max);
    let width = highest - lowest;
    let place = |score: f64| if width > 0.0 { (score - lowest) / width } else { 1.0 };
    // Whoever shares the last place of a full list is in it by chance: with 0 it counts as absent.
    let counted = found.iter().take(DEPTH).map(|one| (one.address, place(one.score)));
    Stretched(counted.filter(|(_, score)| *score > 0.0).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(scores: &[f64]) -> Vec<Found> {
        (0..)
            .zip(scores)
            .map(|(doc_id, score)| Found { address: DocAddress { segment_ord: 0, doc_id }, score: *score })
            .collect()
    }

    #[test]
    fn a_short_list_of_words_begins_at_nothing() {
        assert_eq!(Stretched::words(&found(&[4.0, 1.0])).0.into_values().collect::<Vec<_>>(), [1.0, 0.25]);
    }

    #[test]
    fn the_last_of_a_full_list_counts_as_absent() {
        let scores: Vec<f64> = (0..DEPTH).rev().map(|score| score as f64 + 1.0).collect();
        let stretched = Stretched::words(&found(&scores));
        assert_eq!(stretched.0.len(), DEPTH - 1);
        assert_eq!(stretched.get(DocAddress { segment_ord: 0, doc_id: 0 }), 1.0);
    }

    #[test]
    fn a_list_of_one_is_the_best() {
        assert_eq!(Stretched::vectors(&found(&[0.3])).0.into_values().collect::<Vec<_>>(), [1.0]);
        assert!(Stretched::vectors(&[]).0.is_empty());
    }
}
