//! Checking proofs with the algorithms of RFC 9162 § 2.1.3.2 and § 2.1.4.2.
//!
//! Total: any indexes, sizes and hashes give an answer, in time linear in the length of the proof.

use crate::{
    hash::Hash,
    tree::{Frontier, TreeHead},
};

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    #[error("leaf {index} is not in a tree of {size} leaves")]
    IndexOutsideTree { index: u64, size: u64 },
    #[error("a tree of {new_size} leaves cannot continue one of {old_size}")]
    OldSizeBeyondNew { old_size: u64, new_size: u64 },
    #[error("a proof of {n_hashes} hashes has the wrong length for these sizes")]
    WrongLength { n_hashes: usize },
    #[error("the proof does not lead to the root")]
    RootDiffers,
    #[error("the proof does not lead to the old root")]
    OldRootDiffers,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    #[error("the log has {found} events, expected {expected}")]
    WrongSize { found: u64, expected: u64 },
    #[error("the events do not lead to the root; at least one was changed, or two changed places")]
    RootDiffers,
}

/// Whether the leaf is the one at `index` in the tree of `size` leaves with this root.
pub fn inclusion(leaf: &Hash, index: u64, size: u64, root: &Hash, path: &[Hash]) -> Result<(), VerifyError> {
    if index >= size {
        return Err(VerifyError::IndexOutsideTree { index, size });
    }
    let wrong_length = VerifyError::WrongLength { n_hashes: path.len() };
    let mut position = Position { node: index, last: size - 1 };
    let mut hash = *leaf;
    for sibling in path {
        match position.climb().ok_or_else(|| wrong_length.clone())? {
            Side::Left => hash = Hash::node(sibling, &hash),
            Side::Right => hash = Hash::node(&hash, sibling),
        }
    }
    if position.last != 0 {
        return Err(wrong_length);
    }
    if hash == *root { Ok(()) } else { Err(VerifyError::RootDiffers) }
}

/// Whether the old tree is a prefix of the new one.
///
/// From the empty tree, and between equal sizes, the only proof is the empty one.
pub fn consistency(old: &TreeHead, new: &TreeHead, proof: &[Hash]) -> Result<(), VerifyError> {
    if old.size > new.size {
        return Err(VerifyError::OldSizeBeyondNew { old_size: old.size, new_size: new.size });
    }
    for head in [old, new] {
        if head.size == 0 && head.root != Hash::EMPTY_TREE {
            return Err(VerifyError::RootDiffers);
        }
    }
    let wrong_length = VerifyError::WrongLength { n_hashes: proof.len() };
    if old.size == 0 || old.size == new.size {
        return match proof {
            [] if old.size == 0 || old.root == new.root => Ok(()),
            [] => Err(VerifyError::RootDiffers),
            [_, ..] => Err(wrong_length),
        };
    }
    // An old tree of a power of two is itself a node of the new one, and its root is not repeated in the proof.
    let (start, rest) = if old.size.is_power_of_two() {
        (&old.root, proof)
    } else {
        proof.split_first().ok_or_else(|| wrong_length.clone())?
    };
    let mut position = Position { node: old.size - 1, last: new.size - 1 };
    position.shift(position.node.trailing_ones());
    let (mut old_root, mut new_root) = (*start, *start);
    for sibling in rest {
        match position.climb().ok_or_else(|| wrong_length.clone())? {
            Side::Left => {
                old_root = Hash::node(sibling, &old_root);
                new_root = Hash::node(sibling, &new_root);
            }
            Side::Right => new_root = Hash::node(&new_root, sibling),
        }
    }
    if position.last != 0 {
        return Err(wrong_length);
    }
    if old_root != old.root {
        return Err(VerifyError::OldRootDiffers);
    }
    if new_root == new.root { Ok(()) } else { Err(VerifyError::RootDiffers) }
}

/// Whether these events, all of them and in this order, are the log of this size and root.
///
/// Takes the events as they are stored: the leaf is their bytes, not what they mean.
pub fn log<'a>(events: impl IntoIterator<Item = &'a [u8]>, head: &TreeHead) -> Result<Frontier, LogError> {
    let mut tree = Frontier::new();
    for event in events {
        tree.push(Hash::leaf(event));
    }
    if tree.size() != head.size {
        return Err(LogError::WrongSize { found: tree.size(), expected: head.size });
    }
    if tree.root() == head.root { Ok(tree) } else { Err(LogError::RootDiffers) }
}

/// On which side of the node its sibling hangs.
enum Side {
    Left,
    Right,
}

/// Where a walk towards the root is: the node's index on its level, and the index of the last node there. `fn` and
/// `sn` of RFC 9162.
struct Position {
    node: u64,
    last: u64,
}

impl Position {
    /// One sibling up. None if the walk is already at the root.
    fn climb(&mut self) -> Option<Side> {
        if self.last == 0 {
            return None;
        }
        if self.node % 2 == 1 {
            self.shift(1);
            return Some(Side::Left);
        }
        if self.node == self.last {
            // The last node of an incomplete tree has no right sibling; the next left one is where a bit is set.
            self.shift(self.node.trailing_zeros() + 1);
            return Some(Side::Left);
        }
        self.shift(1);
        Some(Side::Right)
    }

    fn shift(&mut self, n_levels: u32) {
        self.node = self.node.checked_shr(n_levels).unwrap_or(0);
        self.last = self.last.checked_shr(n_levels).unwrap_or(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn hash() -> impl Strategy<Value = Hash> {
        any::<[u8; 32]>().prop_map(Hash::from_bytes)
    }

    fn size() -> impl Strategy<Value = u64> {
        prop_oneof![0..20_u64, any::<u64>(), Just(u64::MAX), (0..64_u32).prop_map(|bit| 1 << bit)]
    }

    #[test]
    fn the_empty_tree_is_a_prefix_of_every_tree_by_the_empty_proof_only() {
        let empty = TreeHead { size: 0, root: Hash::EMPTY_TREE };
        let one = TreeHead { size: 1, root: Hash::leaf(b"a") };
        assert_eq!(consistency(&empty, &one, &[]), Ok(()));
        assert_eq!(consistency(&empty, &empty, &[]), Ok(()));
        assert_eq!(consistency(&empty, &one, &[one.root]), Err(VerifyError::WrongLength { n_hashes: 1 }));
        let not_empty = TreeHead { size: 0, root: one.root };
        assert_eq!(consistency(&not_empty, &one, &[]), Err(VerifyError::RootDiffers));
        assert_eq!(consistency(&one, &empty, &[]), Err(VerifyError::OldSizeBeyondNew { old_size: 1, new_size: 0 }));
    }

    #[test]
    fn a_tree_is_consistent_with_itself_by_the_empty_proof_only() {
        let one = TreeHead { size: 1, root: Hash::leaf(b"a") };
        let other = TreeHead { size: 1, root: Hash::leaf(b"b") };
        assert_eq!(consistency(&one, &one, &[]), Ok(()));
        assert_eq!(consistency(&one, &other, &[]), Err(VerifyError::RootDiffers));
        assert_eq!(consistency(&one, &one, &[one.root]), Err(VerifyError::WrongLength { n_hashes: 1 }));
    }

    proptest! {
        #[test]
        fn no_input_makes_a_check_panic_or_pass(
            leaf in hash(), root in hash(), old_root in hash(), index in size(), size in size(),
            path in prop::collection::vec(hash(), 0..70),
        ) {
            prop_assert!(inclusion(&leaf, index, size, &root, &path).is_err());
            let (old, new) = (TreeHead { size: index, root: old_root }, TreeHead { size, root });
            prop_assert!(consistency(&old, &new, &path).is_err());
        }
    }
}
