//! Vectors of passages as whole numbers, compared one by one.
//!
//! Exact up to a hundred thousand; beyond, the signs of all numbers are compared first and the best are compared exactly.
//! A graph of neighbours would be faster, but what it finds depends on the order in which it was built.

use std::collections::HashMap;

use tantivy::DocAddress;

use super::index::{Allowed, Snapshot};
use super::lexical::{Found, best};

/// Up to here every vector is compared exactly.
const EXACT_MAX: usize = 100_000;
/// How many more candidates than results the signs give.
const CANDIDATES_PER_RESULT: usize = 20;

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

    /// The nearest entries, in the order of the index.
    pub fn search(&self, links: &Links, query: &[f32], allowed: Option<&Allowed>, n_max: usize) -> Vec<Found> {
        if query.len() != self.n_dimensions {
            return Vec::new();
        }
        let query = Packed::of(query);
        let let_through = |link: &&Link| allowed.is_none_or(|allowed| allowed.has(link.address));
        let found: Vec<Found> = if links.0.len() <= EXACT_MAX {
            links.0.iter().filter(let_through).map(|link| self.compare(link, &query)).collect()
        } else {
            let near = self.nearest_by_sign(links, &query, allowed, n_max.saturating_mul(CANDIDATES_PER_RESULT));
            near.into_iter().map(|link| self.compare(link, &query)).collect()
        };
        best(found, n_max)
    }

    /// A text is as near as its nearest window.
    fn compare(&self, link: &Link, query: &Packed) -> Found {
        let mut score = f32::NEG_INFINITY;
        for row in link.rows() {
            if let Some((bytes, scale)) = self.row(row) {
                score = score.max(product(bytes, &query.bytes) as f32 * scale * query.scale);
            }
        }
        Found { address: link.address, score: f64::from(score) }
    }

    fn nearest_by_sign<'a>(
        &self,
        links: &'a Links,
        query: &Packed,
        allowed: Option<&Allowed>,
        n_max: usize,
    ) -> Vec<&'a Link> {
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
        links.0.iter().zip(distances).filter(|(_, distance)| *distance <= last).map(|(link, _)| link).collect()
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
    a.iter().zip(b).map(|(a, b)| i32::from(i16::from(*a) * i16::from(*b))).sum()
}
