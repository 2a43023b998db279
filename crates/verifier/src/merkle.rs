//! Merkle trees by the recursive definitions of RFC 6962 § 2.1.

use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};

pub type Hash = [u8; 32];

pub fn leaf_hash(event: &[u8]) -> Hash {
    let mut sha256 = Sha256::new();
    sha256.update([0]);
    sha256.update(event);
    sha256.finalize().into()
}

fn node_hash(left: Hash, right: Hash) -> Hash {
    let mut sha256 = Sha256::new();
    sha256.update([1]);
    sha256.update(left);
    sha256.update(right);
    sha256.finalize().into()
}

/// A hash in base64 of the only spelling.
pub fn parse_hash(text: &str) -> Option<Hash> {
    BASE64_STANDARD.decode(text).ok()?.try_into().ok()
}

pub fn hash_text(hash: &Hash) -> String {
    BASE64_STANDARD.encode(hash)
}

/// The largest power of two below `size`, which is at least 2: the number of leaves in the left half.
fn left_half(size: u64) -> u64 {
    let mut half = 1;
    while half < size - half {
        half *= 2;
    }
    half
}

/// A tree under construction: full subtrees with their heights, which fall from left to right.
#[derive(Default)]
pub struct Tree {
    n_leaves: u64,
    full: Vec<(u32, Hash)>,
}

impl Tree {
    pub fn add(&mut self, leaf: Hash) {
        let (mut height, mut hash) = (0, leaf);
        while let Some((_, left)) = self.full.pop_if(|(other, _)| *other == height) {
            hash = node_hash(left, hash);
            height += 1;
        }
        self.full.push((height, hash));
        self.n_leaves += 1;
    }

    pub fn n_leaves(&self) -> u64 {
        self.n_leaves
    }

    pub fn root(&self) -> Hash {
        let mut subtrees = self.full.iter().rev().map(|(_, hash)| *hash);
        let Some(last) = subtrees.next() else { return Sha256::digest([]).into() };
        subtrees.fold(last, |right, left| node_hash(left, right))
    }
}

/// The root that the path leads to from the leaf; none if the path has the wrong length.
pub fn root_from_path(leaf: Hash, index: u64, size: u64, path: &[Hash]) -> Option<Hash> {
    if index >= size {
        return None;
    }
    if size == 1 {
        return path.is_empty().then_some(leaf);
    }
    let half = left_half(size);
    let (sibling, path) = path.split_last()?;
    if index < half {
        Some(node_hash(root_from_path(leaf, index, half, path)?, *sibling))
    } else {
        Some(node_hash(*sibling, root_from_path(leaf, index - half, size - half, path)?))
    }
}

/// Whether the proof shows that the old tree is the beginning of the new one.
pub fn is_consistent(old_size: u64, old_root: Hash, new_size: u64, new_root: Hash, proof: &[Hash]) -> bool {
    let empty_root = Tree::default().root();
    if old_size > new_size || (new_size == 0 && new_root != empty_root) {
        return false;
    }
    if old_size == 0 {
        return proof.is_empty() && old_root == empty_root;
    }
    roots_from_proof(old_size, new_size, Some(old_root), proof) == Some((old_root, new_root))
}

/// The old and the new root that the proof leads to. `whole_old` is the old root as long as the part looked at begins
/// where the tree begins: there the proof leaves it out.
fn roots_from_proof(old_size: u64, new_size: u64, whole_old: Option<Hash>, proof: &[Hash]) -> Option<(Hash, Hash)> {
    if old_size == new_size {
        return match (whole_old, proof) {
            (Some(root), []) => Some((root, root)),
            (None, [root]) => Some((*root, *root)),
            _ => None,
        };
    }
    let half = left_half(new_size);
    let (sibling, proof) = proof.split_last()?;
    if old_size <= half {
        let (old, new) = roots_from_proof(old_size, half, whole_old, proof)?;
        Some((old, node_hash(new, *sibling)))
    } else {
        let (old, new) = roots_from_proof(old_size - half, new_size - half, None, proof)?;
        Some((node_hash(*sibling, old), node_hash(*sibling, new)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_left_half_is_the_largest_power_of_two_below() {
        let cases = [(2, 1), (3, 2), (4, 2), (5, 4), (8, 4), (9, 8), (1 << 63, 1 << 62), (u64::MAX, 1 << 63)];
        for (size, expected) in cases {
            assert_eq!(left_half(size), expected, "{size}");
        }
    }

    #[test]
    fn roots_are_those_of_the_recursive_definition() {
        fn root(leaves: &[Hash]) -> Hash {
            match leaves {
                [] => Sha256::digest([]).into(),
                [leaf] => *leaf,
                _ => {
                    let half = usize::try_from(left_half(leaves.len() as u64)).unwrap();
                    node_hash(root(&leaves[..half]), root(&leaves[half..]))
                }
            }
        }
        let leaves: Vec<Hash> = (0_u8..70).map(|event| leaf_hash(&[event])).collect();
        let mut tree = Tree::default();
        assert_eq!(tree.root(), root(&[]));
        for size in 1..=leaves.len() {
            tree.add(leaves[size - 1]);
            assert_eq!(tree.root(), root(&leaves[..size]), "{size}");
        }
    }

    proptest! {
        #[test]
        fn no_input_makes_a_check_panic_or_pass(
            index in any::<u64>(), size in any::<u64>(), root in any::<Hash>(), path in prop::collection::vec(any::<Hash>(), 0..70)
        ) {
            prop_assert_ne!(root_from_path([0; 32], index, size, &path), Some(root));
            prop_assert!(!is_consistent(index, [0; 32], size, root, &path));
        }
    }
}
