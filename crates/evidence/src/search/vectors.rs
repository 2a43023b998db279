//! Vectors of passages as whole numbers, compared one by one.
//!
//! Exact up to a hundred thousand; beyond, the signs of all numbers are compared first and the best are compared exactly.
//! A graph of neighbours would be faster, but what it finds depends on the order in which it was built. What corrects a
//! question moves it a little, so its correction is compared only with what is near the question itself.

use std::collections::HashMap;

use tantivy::DocAddress;

use super::index::{Allowed, Snapshot};
use super::lexical::Found;

/// Up to here every vector is compared exactly.
const EXACT_MAX: usize = 100_000;
/// Of all that is compared, one in so many is near: it is compared exactly, and with the correction of the question.
const NEAR_SHARE: usize = 100;
const NEAR_MIN: usize = 1_000;
const NEAR_MAX: usize = 4_000;
/// Numbers that are multiplied and summed together: with as many the compiler finds the instructions for it that every
/// processor has, which it does not where it chooses itself.
const LANE: usize = 32;

/// One vector as bytes: `scale` times each gives its numbers back.
#[derive(Debug, Clone, PartialEq)]
pub struct Packed {
    pub bytes: Vec<i8>,
    pub scale: f32,
}

impl Packed {
    pub fn of(vector: &[f32]) -> Packed {
        let largest = vector.iter().fold(0f32, |largest, number| largest.max(number.abs()));
        let scale = if largest > 0.0 { largest / 127.0 } else { 1.0 };
        Packed { bytes: vector.iter().map(|number| (number / scale).round() as i8).collect(), scale }
    }

    pub fn numbers(&self) -> impl Iterator<Item = f32> {
        self.bytes.iter().map(|byte| f32::from(*byte) * self.scale)
    }
}

/// Vectors by the content they were made from. A long text has one for each of its windows.
#[derive(Debug, Clone, Default)]
pub struct Vectors {
    n_dimensions: usize,
    bytes: Vec<i8>,
    scales: Vec<f32>,
    signs: Vec<u64>,
    /// Short hash of the content → first row and number of rows.
    rows: HashMap<u64, (u32, u32)>,
}

impl Vectors {
    pub fn new(n_dimensions: usize) -> Vectors {
        Vectors { n_dimensions, ..Vectors::default() }
    }

    pub fn n_rows(&self) -> usize {
        self.scales.len()
    }

    pub fn n_contents(&self) -> usize {
        self.rows.len()
    }

    pub fn has(&self, content: u64) -> bool {
        self.rows.contains_key(&content)
    }

    /// Vectors of another length are not taken: they are of another model.
    pub fn insert(&mut self, content: u64, windows: &[Packed]) {
        if windows.iter().any(|window| window.bytes.len() != self.n_dimensions) || self.has(content) {
            return;
        }
        let first = u32::try_from(self.n_rows()).unwrap_or(u32::MAX);
        self.rows.insert(content, (first, u32::try_from(windows.len()).unwrap_or(u32::MAX)));
        for window in windows {
            self.bytes.extend_from_slice(&window.bytes);
            self.scales.push(window.scale);
            self.signs.extend(signs(&window.bytes));
        }
    }

    /// Which entries of a snapshot have which rows.
    pub fn link(&self, snapshot: &Snapshot) -> Links {
        let all = snapshot.contents().into_iter();
        let linked = all.filter_map(|(address, content)| {
            let (first, n_rows) = *self.rows.get(&content)?;
            Some(Link { address, first, n_rows })
        });
        Links(linked.collect())
    }

    fn row(&self, row: usize) -> Option<(&[i8], f32)> {
        let bytes = self.bytes.get(row * self.n_dimensions..(row + 1) * self.n_dimensions)?;
        Some((bytes, *self.scales.get(row)?))
    }

    fn sign_row(&self, row: usize) -> &[u64] {
        let n_words = self.n_dimensions.div_ceil(64);
        self.signs.get(row * n_words..(row + 1) * n_words).unwrap_or_default()
    }

    /// The mean of the first vectors of these entries; empty where none has one.
    pub fn mean(&self, links: &Links, entries: impl Iterator<Item = DocAddress>) -> Vec<f32> {
        let rows: Vec<(&[i8], f32)> =
            entries.filter_map(|address| self.row(links.find(address)?.first as usize)).collect();
        if rows.is_empty() {
            return Vec::new();
        }
        let mut mean = vec![0f32; self.n_dimensions];
        for (bytes, scale) in &rows {
            mean.iter_mut().zip(*bytes).for_each(|(sum, byte)| *sum += f32::from(*byte) * scale);
        }
        mean.iter_mut().for_each(|sum| *sum /= rows.len() as f32);
        mean
    }

    /// Compares a question with all entries, or with those that are allowed.
    pub fn compare<'a>(&'a self, links: &'a Links, query: &[f32], allowed: Option<&Allowed>) -> Compared<'a> {
        let mut compared = Compared { vectors: self, links, scores: Vec::new() };
        if query.len() != self.n_dimensions {
            return compared;
        }
        let query = Packed::of(query);
        let places = (0u32..).zip(&links.0);
        let n_near = (links.0.len() / NEAR_SHARE).clamp(NEAR_MIN, NEAR_MAX);
        if links.0.len() <= EXACT_MAX {
            let let_through = places.filter(|(_, link)| allowed.is_none_or(|allowed| allowed.has(link.address)));
            compared.scores = let_through.map(|(place, link)| (self.nearness(link, &query), place)).collect();
        } else {
            let near = self.nearest_by_sign(links, &query, allowed, n_near);
            let near = places.zip(near).filter(|(_, is_near)| *is_near);
            compared.scores = near.map(|((place, link), _)| (self.nearness(link, &query), place)).collect();
        }
        nearest(&mut compared.scores, n_near);
        compared
    }

    /// A text is as near as its nearest window.
    fn nearness(&self, link: &Link, query: &Packed) -> f32 {
        let products = link.rows().filter_map(|row| self.row(row));
        let scores = products.map(|(bytes, scale)| product(bytes, &query.bytes) as f32 * scale * query.scale);
        scores.fold(f32::NEG_INFINITY, f32::max)
    }

    /// Of each entry, whether it is among the `n_max` nearest by their signs, or as near as the last of them.
    fn nearest_by_sign(
        &self,
        links: &Links,
        query: &Packed,
        allowed: Option<&Allowed>,
        n_max: usize,
    ) -> impl Iterator<Item = bool> {
        let query: Vec<u64> = signs(&query.bytes).collect();
        let n_bits = u32::try_from(self.n_dimensions).unwrap_or(u32::MAX);
        let distance =
            |link: &Link| link.rows().map(|row| differing(self.sign_row(row), &query)).min().unwrap_or(n_bits);
        let distances: Vec<u32> = links
            .0
            .iter()
            .map(|link| if allowed.is_none_or(|allowed| allowed.has(link.address)) { distance(link) } else { u32::MAX })
            .collect();
        // Distances are small whole numbers: counting them finds the last one that still counts, without sorting.
        let mut counts = vec![0usize; self.n_dimensions + 1];
        for distance in &distances {
            if let Some(count) = counts.get_mut(*distance as usize) {
                *count += 1;
            }
        }
        let mut total = 0;
        let last = counts.iter().position(|count| {
            total += count;
            total >= n_max
        });
        let last = last.and_then(|last| u32::try_from(last).ok()).unwrap_or(n_bits);
        distances.into_iter().map(move |distance| distance <= last)
    }
}

/// Entries that a question was compared with, the nearest of them.
#[derive(Debug)]
pub struct Compared<'a> {
    vectors: &'a Vectors,
    links: &'a Links,
    /// How near, and the place among the links.
    scores: Vec<(f32, u32)>,
}

impl Compared<'_> {
    /// The nearest, in the order of the index.
    pub fn best(&self, n_max: usize) -> Vec<Found> {
        let mut scores = self.scores.clone();
        nearest(&mut scores, n_max);
        let found = scores.into_iter().filter_map(|(score, place)| {
            let address = self.links.0.get(place as usize)?.address;
            Some(Found { address, score: f64::from(score) })
        });
        found.collect()
    }

    /// The same entries, compared with another question.
    pub fn again(mut self, query: &[f32]) -> Self {
        let query = Packed::of(query);
        for (score, place) in &mut self.scores {
            let link = self.links.0.get(*place as usize);
            *score = link.map_or(f32::NEG_INFINITY, |link| self.vectors.nearness(link, &query));
        }
        self
    }
}

/// Keeps the `n_max` nearest, in the order of the index.
fn nearest(scores: &mut Vec<(f32, u32)>, n_max: usize) {
    if scores.len() > n_max {
        scores.select_nth_unstable_by(n_max, |(a, at_a), (b, at_b)| b.total_cmp(a).then(at_a.cmp(at_b)));
        scores.truncate(n_max);
        scores.sort_unstable_by_key(|(_, place)| *place);
    }
}

#[derive(Debug, Clone, Copy)]
struct Link {
    address: DocAddress,
    first: u32,
    n_rows: u32,
}

impl Link {
    fn rows(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.n_rows) as usize
    }
}

/// Entries of one snapshot with their rows in [`Vectors`], by address.
#[derive(Debug, Default)]
pub struct Links(Vec<Link>);

impl Links {
    pub fn n_entries(&self) -> usize {
        self.0.len()
    }

    pub fn has(&self, address: DocAddress) -> bool {
        self.find(address).is_some()
    }

    fn find(&self, address: DocAddress) -> Option<&Link> {
        let place = self.0.binary_search_by_key(&address, |link| link.address).ok()?;
        self.0.get(place)
    }
}

fn signs(bytes: &[i8]) -> impl Iterator<Item = u64> {
    bytes
        .chunks(64)
        .map(|chunk| chunk.iter().enumerate().fold(0, |word, (bit, byte)| word | u64::from(*byte > 0) << bit))
}

fn differing(a: &[u64], b: &[u64]) -> u32 {
    a.iter().zip(b).map(|(a, b)| (a ^ b).count_ones()).sum()
}

/// Whole numbers, so that the order of the sum does not matter.
fn product(a: &[i8], b: &[i8]) -> i32 {
    let ((lanes_a, rest_a), (lanes_b, rest_b)) = (a.as_chunks::<LANE>(), b.as_chunks::<LANE>());
    lanes_a.iter().zip(lanes_b).map(|(a, b)| sum_of_products(a, b)).sum::<i32>() + sum_of_products(rest_a, rest_b)
}

#[inline(always)]
fn sum_of_products(a: &[i8], b: &[i8]) -> i32 {
    a.iter().zip(b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_product_is_the_sum_of_all_products_whatever_the_length() {
        for length in [0, 1, 31, 32, 33, 64, 383, 384] {
            let numbers = |factor: i32| (0..length).map(|at| ((at * factor) % 255 - 127) as i8).collect::<Vec<i8>>();
            let (a, b) = (numbers(37), numbers(101));
            let expected: i32 = a.iter().zip(&b).map(|(a, b)| i32::from(*a) * i32::from(*b)).sum();
            assert_eq!(product(&a, &b), expected, "{length}");
        }
        assert_eq!(product(&[-127; 384], &[127; 384]), -127 * 127 * 384);
    }

    #[test]
    fn the_nearest_are_kept_in_their_order_and_of_equal_ones_the_first() {
        let mut scores = vec![(0.5, 0), (0.9, 1), (0.5, 2), (0.1, 3), (0.7, 4)];
        nearest(&mut scores, 3);
        assert_eq!(scores, [(0.5, 0), (0.9, 1), (0.7, 4)]);
        nearest(&mut scores, 9);
        assert_eq!(scores.len(), 3);
    }

    /// One number decides how near an entry is to either of two questions that share the rest.
    fn entries(n: u32) -> (Vectors, Links) {
        let mut vectors = Vectors::new(3);
        let links = (0..n).map(|doc_id| {
            let turn = f64::from(doc_id) / f64::from(n);
            vectors.insert(u64::from(doc_id), &[Packed::of(&[turn as f32, (1.0 - turn) as f32, 0.1])]);
            Link { address: DocAddress { segment_ord: 0, doc_id }, first: doc_id, n_rows: 1 }
        });
        let links = Links(links.collect());
        (vectors, links)
    }

    #[test]
    fn a_corrected_question_is_compared_with_what_is_near_the_question() {
        let ids = |found: Vec<Found>| found.into_iter().map(|one| one.address.doc_id).collect::<Vec<_>>();
        let (vectors, links) = entries(900);
        let few = vectors.compare(&links, &[1.0, 0.0, 0.0], None).again(&[0.0, 1.0, 0.0]);
        assert_eq!(ids(few.best(5)), [0, 1, 2, 3, 4]);
        let (vectors, links) = entries(5_000);
        let compared = vectors.compare(&links, &[1.0, 0.0, 0.0], None);
        assert!(ids(compared.best(5)).iter().all(|id| *id > 4_900));
        let again = ids(compared.again(&[0.0, 1.0, 0.0]).best(5));
        assert!(again.len() == 5 && again.iter().all(|id| *id >= 3_900), "{again:?}");
    }
}
