//! The tree as it grows: its right edge, and the complete subtrees that each new leaf finishes.
//!
//! A complete subtree never changes again, so a store may keep its hash for good; `proof` needs nothing else.

use crate::hash::{HASH_BYTES, Hash};

/// More leaves than any log will have, and few enough that sizes fit SQL's signed integers.
pub const LEAVES_MAX: u64 = 1 << 62;

/// The complete subtree over the leaves `index * 2^level .. (index + 1) * 2^level`. Level 0 is a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Subtree {
    pub level: u32,
    pub index: u64,
}

/// A complete subtree and its hash, as a store keeps them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Node {
    pub subtree: Subtree,
    pub hash: Hash,
}

/// A tree's size and root: what a checkpoint says and a witness remembers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TreeHead {
    pub size: u64,
    pub root: Hash,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TreeError {
    #[error("a stored frontier has {found} bytes, expected {expected}")]
    FrontierLength { found: usize, expected: usize },
    #[error("a tree of {0} leaves is larger than any log")]
    TooManyLeaves(u64),
}

/// The right edge of a tree: all that is needed to append to it and to know its root.
///
/// Invariant: `peaks` holds one hash for each bit set in `size`, that of the complete subtree of 2^bit leaves, largest
/// first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Frontier {
    size: u64,
    peaks: Vec<Hash>,
}

impl Frontier {
    pub fn new() -> Frontier {
        Frontier::default()
    }

    /// The number of leaves; also the index of the next one.
    pub fn size(&self) -> u64 {
        self.size
    }

    pub fn root(&self) -> Hash {
        join(&self.peaks)
    }

    pub fn head(&self) -> TreeHead {
        TreeHead { size: self.size, root: self.root() }
    }

    /// Appends a leaf and returns what a store keeps: the leaf itself and every subtree it completes, smallest first.
    /// On average two nodes per leaf.
    pub fn append(&mut self, leaf: Hash) -> Vec<Node> {
        let mut nodes = Vec::new();
        self.append_with(leaf, |node| nodes.push(node));
        nodes
    }

    /// Appends a leaf and forgets the subtrees: for recomputing a root.
    pub fn push(&mut self, leaf: Hash) {
        self.append_with(leaf, |_| ());
    }

    fn append_with(&mut self, leaf: Hash, mut keep: impl FnMut(Node)) {
        let mut hash = leaf;
        keep(Node { subtree: Subtree { level: 0, index: self.size }, hash });
        // Each trailing one of the size is a peak to which the leaf adds the missing right half.
        for level in 1..=self.size.trailing_ones() {
            let Some(left) = self.peaks.pop() else { break };
            hash = Hash::node(&left, &hash);
            keep(Node { subtree: Subtree { level, index: self.size >> level }, hash });
        }
        self.peaks.push(hash);
        self.size += 1;
    }

    /// The size as eight bytes, big-endian, then the peaks.
    pub fn to_bytes(&self) -> Vec<u8> {
        let peaks = self.peaks.iter().flat_map(|peak| peak.as_bytes().iter().copied());
        self.size.to_be_bytes().into_iter().chain(peaks).collect()
    }

    /// Reads what [`Frontier::to_bytes`] wrote. The hashes are taken on trust: compare the root with a checkpoint.
    pub fn parse(bytes: &[u8]) -> Result<Frontier, TreeError> {
        let too_short = TreeError::FrontierLength { found: bytes.len(), expected: size_of::<u64>() };
        let (size, peaks) = bytes.split_first_chunk().ok_or(too_short)?;
        let size = u64::from_be_bytes(*size);
        if size > LEAVES_MAX {
            return Err(TreeError::TooManyLeaves(size));
        }
        let (peaks, rest) = peaks.as_chunks::<HASH_BYTES>();
        let n_peaks = n_peaks(size);
        if peaks.len() != n_peaks || !rest.is_empty() {
            let expected = size_of::<u64>() + n_peaks * HASH_BYTES;
            return Err(TreeError::FrontierLength { found: bytes.len(), expected });
        }
        Ok(Frontier { size, peaks: peaks.iter().copied().map(Hash::from_bytes).collect() })
    }

    /// The frontier whose peaks are already known, largest first, one for each bit set in `size`.
    pub(crate) fn from_peaks(size: u64, peaks: Vec<Hash>) -> Frontier {
        debug_assert_eq!(peaks.len(), n_peaks(size), "one peak for each bit of the size");
        Frontier { size, peaks }
    }
}

fn n_peaks(size: u64) -> usize {
    (0..u64::BITS).filter(|bit| (size >> bit) & 1 == 1).count()
}

/// The hash over neighbouring complete subtrees of falling size (RFC 6962 § 2.1, read from the right).
pub(crate) fn join(hashes: &[Hash]) -> Hash {
    hashes.iter().rev().copied().reduce(|right, left| Hash::node(&left, &right)).unwrap_or(Hash::EMPTY_TREE)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn grown(n_leaves: u64) -> Frontier {
        let mut tree = Frontier::new();
        for index in 0..n_leaves {
            tree.push(Hash::leaf(&index.to_be_bytes()));
        }
        tree
    }

    #[test]
    fn roots_are_those_of_certificate_transparency() {
        // The eight leaves and roots of Certificate Transparency's own Merkle tree tests.
        let leaves: [&[u8]; 8] = [
            b"",
            b"\x00",
            b"\x10",
            b"\x20\x21",
            b"\x30\x31",
            b"\x40\x41\x42\x43",
            b"\x50\x51\x52\x53\x54\x55\x56\x57",
            b"\x60\x61\x62\x63\x64\x65\x66\x67\x68\x69\x6a\x6b\x6c\x6d\x6e\x6f",
        ];
        let roots = [
            "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
            "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
            "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
            "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
            "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
            "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
            "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328",
        ];
        let mut tree = Frontier::new();
        assert_eq!(tree.root(), Hash::EMPTY_TREE);
        for (leaf, root) in leaves.iter().zip(roots) {
            tree.append(Hash::leaf(leaf));
            let found: String = tree.root().as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(found, root, "at size {}", tree.size());
        }
    }

    #[test]
    fn a_leaf_completes_as_many_subtrees_as_its_index_has_trailing_ones() {
        let cases: [(u64, &[(u32, u64)]); 5] = [
            (0, &[(0, 0)]),
            (1, &[(0, 1), (1, 0)]),
            (2, &[(0, 2)]),
            (7, &[(0, 7), (1, 3), (2, 1), (3, 0)]),
            (11, &[(0, 11), (1, 5), (2, 2)]),
        ];
        for (index, expected) in cases {
            let nodes = grown(index).append(Hash::leaf(b"x"));
            let found: Vec<(u32, u64)> = nodes.iter().map(|node| (node.subtree.level, node.subtree.index)).collect();
            assert_eq!(found, expected, "leaf {index}");
        }
    }

    #[test]
    fn a_stored_frontier_of_the_wrong_length_is_refused() {
        let bytes = grown(11).to_bytes();
        let (short, long) = (&bytes[..bytes.len() - 1], [bytes.as_slice(), &[0]].concat());
        assert_eq!(Frontier::parse(short), Err(TreeError::FrontierLength { found: 103, expected: 104 }));
        assert_eq!(Frontier::parse(&long), Err(TreeError::FrontierLength { found: 105, expected: 104 }));
        assert_eq!(Frontier::parse(&[1, 2]), Err(TreeError::FrontierLength { found: 2, expected: 8 }));
        assert_eq!(Frontier::parse(&[0xff; 8 + 64 * 32]), Err(TreeError::TooManyLeaves(u64::MAX)));
    }

    proptest! {
        #[test]
        fn a_frontier_reads_back_and_goes_on_growing_as_before(n_before in 0_u64..300, n_after in 0_u64..50) {
            let mut kept = grown(n_before);
            let mut read = Frontier::parse(&kept.to_bytes()).unwrap();
            prop_assert_eq!(&read, &kept);
            for index in 0..n_after {
                let leaf = Hash::leaf(&index.to_be_bytes());
                prop_assert_eq!(kept.append(leaf), read.append(leaf));
            }
            prop_assert_eq!(kept.root(), read.root());
        }

        #[test]
        fn no_bytes_make_the_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            if let Ok(tree) = Frontier::parse(&bytes) {
                prop_assert_eq!(tree.to_bytes(), bytes);
            }
        }
    }
}
