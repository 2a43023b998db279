//! Making proofs from a store that keeps the hashes of complete subtrees.
//!
//! Each proof comes in two steps, so that an asynchronous caller can fetch in between: `subtrees_for_…` says which
//! hashes are needed (at most about 2 × log₂ of the size), and the function without that prefix computes the proof
//! from a lookup over what was fetched.
//!
//! ```
//! use std::collections::HashMap;
//! use ledger::{hash::Hash, proof, tree::Frontier, verify};
//!
//! let mut tree = Frontier::new();
//! let mut store = HashMap::new();
//! for event in ["a", "b", "c", "d", "e"] {
//!     store.extend(tree.append(Hash::leaf(event.as_bytes())).into_iter().map(|node| (node.subtree, node.hash)));
//! }
//!
//! let needed = proof::subtrees_for_inclusion(2, 5)?;
//! let fetched: HashMap<_, _> = needed.iter().filter_map(|subtree| store.get_key_value(subtree)).collect();
//! let path = proof::inclusion_proof(2, 5, |subtree| fetched.get(&subtree).map(|hash| **hash))?;
//!
//! verify::inclusion(&Hash::leaf(b"c"), 2, 5, &tree.root(), &path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

use crate::{
    hash::Hash,
    tree::{Frontier, Subtree, join},
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProofError {
    #[error("leaf {index} is not in a tree of {size} leaves")]
    IndexOutsideTree { index: u64, size: u64 },
    #[error("a tree of {new_size} leaves cannot continue one of {old_size}")]
    OldSizeBeyondNew { old_size: u64, new_size: u64 },
    #[error("no stored hash for the subtree {index} at level {level}", level = .0.level, index = .0.index)]
    SubtreeMissing(Subtree),
}

/// The subtrees whose hashes give the root of the first `size` leaves.
pub fn subtrees_for_root(size: u64) -> Vec<Subtree> {
    Span { start: 0, end: size }.subtrees().collect()
}

/// The root of the first `size` leaves.
pub fn root_at(size: u64, lookup: impl Fn(Subtree) -> Option<Hash>) -> Result<Hash, ProofError> {
    Span { start: 0, end: size }.hash(&lookup)
}

/// The frontier of the first `size` leaves, from the same subtrees as [`root_at`].
pub fn frontier_at(size: u64, lookup: impl Fn(Subtree) -> Option<Hash>) -> Result<Frontier, ProofError> {
    Ok(Frontier::from_peaks(size, Span { start: 0, end: size }.hashes(&lookup)?))
}

pub fn subtrees_for_inclusion(index: u64, size: u64) -> Result<Vec<Subtree>, ProofError> {
    Ok(inclusion_spans(index, size)?.iter().flat_map(Span::subtrees).collect())
}

/// The path of RFC 6962 § 2.1.1: from the leaf's sibling up to the root's child.
pub fn inclusion_proof(
    index: u64,
    size: u64,
    lookup: impl Fn(Subtree) -> Option<Hash>,
) -> Result<Vec<Hash>, ProofError> {
    inclusion_spans(index, size)?.iter().map(|span| span.hash(&lookup)).collect()
}

pub fn subtrees_for_consistency(old_size: u64, new_size: u64) -> Result<Vec<Subtree>, ProofError> {
    Ok(consistency_spans(old_size, new_size)?.iter().flat_map(Span::subtrees).collect())
}

/// The proof of RFC 6962 § 2.1.2. Empty from the empty tree, as C2SP tlog-witness asks, and between equal sizes.
pub fn consistency_proof(
    old_size: u64,
    new_size: u64,
    lookup: impl Fn(Subtree) -> Option<Hash>,
) -> Result<Vec<Hash>, ProofError> {
    consistency_spans(old_size, new_size)?.iter().map(|span| span.hash(&lookup)).collect()
}

/// The leaves `start..end`. Invariant: a node of some tree covers exactly these, so `start` is a multiple of the
/// largest power of two that is not larger than the length.
#[derive(Debug, Clone, Copy)]
struct Span {
    start: u64,
    end: u64,
}

impl Span {
    fn n_leaves(&self) -> u64 {
        self.end - self.start
    }

    /// The node's two children (RFC 6962 § 2.1: the left one has the largest power of two below the length). None for
    /// a leaf.
    fn halves(&self) -> Option<(Span, Span)> {
        let last = self.n_leaves().checked_sub(1).filter(|last| *last > 0)?;
        let middle = self.start + (1 << last.ilog2());
        Some((Span { start: self.start, end: middle }, Span { start: middle, end: self.end }))
    }

    /// The complete subtrees that make up the span, largest first.
    fn subtrees(&self) -> impl Iterator<Item = Subtree> + use<> {
        let Span { mut start, end } = *self;
        std::iter::from_fn(move || {
            let level = (end - start).checked_ilog2()?;
            let subtree = Subtree { level, index: start >> level };
            start += 1 << level;
            Some(subtree)
        })
    }

    fn hashes(&self, lookup: &impl Fn(Subtree) -> Option<Hash>) -> Result<Vec<Hash>, ProofError> {
        self.subtrees().map(|subtree| lookup(subtree).ok_or(ProofError::SubtreeMissing(subtree))).collect()
    }

    fn hash(&self, lookup: &impl Fn(Subtree) -> Option<Hash>) -> Result<Hash, ProofError> {
        Ok(join(&self.hashes(lookup)?))
    }
}

/// PATH of RFC 6962 § 2.1.1 as spans, leaf first.
fn inclusion_spans(index: u64, size: u64) -> Result<Vec<Span>, ProofError> {
    if index >= size {
        return Err(ProofError::IndexOutsideTree { index, size });
    }
    let mut siblings = Vec::new();
    let mut node = Span { start: 0, end: size };
    while let Some((left, right)) = node.halves() {
        let (towards, sibling) = if index < right.start { (left, right) } else { (right, left) };
        siblings.push(sibling);
        node = towards;
    }
    siblings.reverse();
    Ok(siblings)
}

/// SUBPROOF of RFC 6962 § 2.1.2 as spans, innermost first.
fn consistency_spans(old_size: u64, new_size: u64) -> Result<Vec<Span>, ProofError> {
    if old_size > new_size {
        return Err(ProofError::OldSizeBeyondNew { old_size, new_size });
    }
    if old_size == 0 {
        return Ok(Vec::new());
    }
    let mut spans = Vec::new();
    let mut node = Span { start: 0, end: new_size };
    while node.end > old_size {
        // A span that ends beyond a size it starts before has at least two leaves.
        let Some((left, right)) = node.halves() else { break };
        let (towards, sibling) = if old_size <= right.start { (left, right) } else { (right, left) };
        spans.push(sibling);
        node = towards;
    }
    // The verifier knows the old root, so it is left out where it is itself a node of the new tree.
    if node.start > 0 {
        spans.push(node);
    }
    spans.reverse();
    Ok(spans)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subtrees(found: &[Subtree]) -> Vec<(u32, u64)> {
        found.iter().map(|subtree| (subtree.level, subtree.index)).collect()
    }

    #[test]
    fn the_subtrees_of_a_root_are_the_bits_of_its_size() {
        let cases: [(u64, &[(u32, u64)]); 5] =
            [(0, &[]), (1, &[(0, 0)]), (6, &[(2, 0), (1, 2)]), (7, &[(2, 0), (1, 2), (0, 6)]), (8, &[(3, 0)])];
        for (size, expected) in cases {
            assert_eq!(subtrees(&subtrees_for_root(size)), expected, "size {size}");
        }
    }

    #[test]
    fn the_proofs_of_the_tree_of_seven_in_the_rfc() {
        // RFC 6962 § 2.1.3 draws this tree and lists these proofs.
        let inclusion: [(u64, &[(u32, u64)]); 4] = [
            (0, &[(0, 1), (1, 1), (1, 2), (0, 6)]),
            (3, &[(0, 2), (1, 0), (1, 2), (0, 6)]),
            (4, &[(0, 5), (0, 6), (2, 0)]),
            (6, &[(1, 2), (2, 0)]),
        ];
        for (index, expected) in inclusion {
            assert_eq!(subtrees(&subtrees_for_inclusion(index, 7).unwrap()), expected, "leaf {index}");
        }
        let consistency: [(u64, &[(u32, u64)]); 5] = [
            (0, &[]),
            (3, &[(0, 2), (0, 3), (1, 0), (1, 2), (0, 6)]),
            (4, &[(1, 2), (0, 6)]),
            (6, &[(1, 2), (0, 6), (2, 0)]),
            (7, &[]),
        ];
        for (old_size, expected) in consistency {
            assert_eq!(subtrees(&subtrees_for_consistency(old_size, 7).unwrap()), expected, "old size {old_size}");
        }
    }

    #[test]
    fn what_is_outside_the_tree_has_no_proof() {
        assert_eq!(subtrees_for_inclusion(5, 5), Err(ProofError::IndexOutsideTree { index: 5, size: 5 }));
        assert_eq!(subtrees_for_inclusion(0, 0), Err(ProofError::IndexOutsideTree { index: 0, size: 0 }));
        let beyond = ProofError::OldSizeBeyondNew { old_size: 6, new_size: 5 };
        assert_eq!(subtrees_for_consistency(6, 5), Err(beyond));
    }

    #[test]
    fn a_missing_hash_is_named() {
        let missing = inclusion_proof(0, 4, |subtree| (subtree.level == 0).then_some(Hash::EMPTY_TREE)).unwrap_err();
        assert_eq!(missing, ProofError::SubtreeMissing(Subtree { level: 1, index: 1 }));
        assert_eq!(missing.to_string(), "no stored hash for the subtree 1 at level 1");
    }

    #[test]
    fn the_largest_sizes_neither_overflow_nor_take_long() {
        for size in [u64::MAX, u64::MAX - 1, 1 << 63] {
            assert!(subtrees_for_inclusion(size - 1, size).unwrap().len() <= 64);
            assert!(subtrees_for_consistency(size / 3, size).unwrap().len() <= 128);
            assert!(subtrees_for_root(size).len() <= 64);
        }
    }
}
