//! Several lists become one: each list's scores are stretched to 0…1, then weighted and summed.

use tantivy::DocAddress;

use super::lexical::Found;

/// How many entries of a list count.
pub const DEPTH: usize = 200;

/// A list of at most [`DEPTH`] entries with its scores stretched to 0…1, in the order of the index.
#[derive(Debug, Clone, Default)]
pub struct Stretched(Vec<Found>);

impl Stretched {
    /// Words: what is not in a short list has the score 0, so that is where a list that is not full begins.
    pub fn words(found: Vec<Found>) -> Stretched {
        let lowest = if found.len() < DEPTH { 0.0 } else { lowest(&found) };
        stretch(found, lowest)
    }

    /// Vectors: every entry has some nearness, so the last of the list is where it begins.
    pub fn vectors(found: Vec<Found>) -> Stretched {
        let lowest = lowest(&found);
        stretch(found, lowest)
    }

    pub fn get(&self, address: DocAddress) -> Option<f64> {
        let place = self.0.binary_search_by_key(&address, |one| one.address).ok()?;
        self.0.get(place).map(|one| one.score)
    }

    pub fn into_found(self) -> Vec<Found> {
        self.0
    }

    /// Everything that is in one of two lists, with a score that is made of both; what a list does not have is 0 there.
    pub fn merge(&self, other: &Stretched, score: impl Fn(DocAddress, f64, f64) -> f64) -> Stretched {
        let mut merged = Vec::with_capacity(self.0.len() + other.0.len());
        let mut rest = other.0.iter().peekable();
        for one in &self.0 {
            while let Some(before) = rest.next_if(|other| other.address < one.address) {
                merged.push(Found { address: before.address, score: score(before.address, 0.0, before.score) });
            }
            let other = rest.next_if(|other| other.address == one.address).map_or(0.0, |other| other.score);
            merged.push(Found { address: one.address, score: score(one.address, one.score, other) });
        }
        merged.extend(rest.map(|one| Found { address: one.address, score: score(one.address, 0.0, one.score) }));
        Stretched(merged)
    }
}

fn lowest(found: &[Found]) -> f64 {
    found.iter().map(|one| one.score).fold(f64::INFINITY, f64::min)
}

/// The best score of a list; 0 where nothing was found.
pub fn highest(found: &[Found]) -> f64 {
    found.iter().map(|one| one.score).fold(0.0, f64::max)
}

fn stretch(mut found: Vec<Found>, lowest: f64) -> Stretched {
    debug_assert!(found.len() <= DEPTH && found.is_sorted_by_key(|one| one.address));
    let highest = found.iter().map(|one| one.score).fold(f64::NEG_INFINITY, f64::max);
    let width = highest - lowest;
    // Whoever shares the last place of a full list is in it by chance: with 0 it counts as absent.
    found.retain_mut(|one| {
        one.score = if width > 0.0 { (one.score - lowest) / width } else { 1.0 };
        one.score > 0.0
    });
    Stretched(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(scores: &[f64]) -> Vec<Found> {
        (0..).zip(scores).map(|(doc_id, score)| Found { address: at(doc_id), score: *score }).collect()
    }

    fn at(doc_id: u32) -> DocAddress {
        DocAddress { segment_ord: 0, doc_id }
    }

    fn scores(stretched: Stretched) -> Vec<f64> {
        stretched.into_found().into_iter().map(|one| one.score).collect()
    }

    #[test]
    fn a_short_list_of_words_begins_at_nothing() {
        assert_eq!(scores(Stretched::words(found(&[4.0, 1.0]))), [1.0, 0.25]);
    }

    #[test]
    fn the_last_of_a_full_list_counts_as_absent() {
        let all: Vec<f64> = (0..DEPTH).rev().map(|score| score as f64 + 1.0).collect();
        let stretched = Stretched::words(found(&all));
        assert_eq!((stretched.get(at(0)), stretched.get(at(199))), (Some(1.0), None));
        assert_eq!(scores(stretched).len(), DEPTH - 1);
    }

    #[test]
    fn a_list_of_one_is_the_best() {
        assert_eq!(scores(Stretched::vectors(found(&[0.3]))), [1.0]);
        assert!(scores(Stretched::vectors(Vec::new())).is_empty());
    }

    #[test]
    fn merged_lists_have_everything_once_and_in_order() {
        let (words, vectors) = (Stretched::words(found(&[4.0, 2.0])), Stretched(found(&[0.0, 1.0, 0.5])));
        let merged = words.merge(&vectors, |_, word, vector| 0.5 * word + 0.5 * vector).into_found();
        assert_eq!(merged, found(&[0.5, 0.75, 0.25]));
    }
}
