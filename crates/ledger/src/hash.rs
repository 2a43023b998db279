//! SHA-256 as RFC 6962 § 2.1 uses it: leaves and nodes are told apart by a first byte, so that a node can never be
//! passed off as a leaf.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::text::{decode_base64, encode_base64};

pub const HASH_BYTES: usize = 32;

const LEAF: [u8; 1] = [0x00];
const NODE: [u8; 1] = [0x01];

/// The hash of a leaf, of a subtree or of a whole tree. Its text is base64, as in all C2SP texts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash([u8; HASH_BYTES]);

impl Hash {
    /// The root of the tree without leaves: SHA-256 of nothing.
    pub const EMPTY_TREE: Hash = Hash([
        0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24, 0x27, 0xae,
        0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55,
    ]);

    pub fn leaf(bytes: &[u8]) -> Hash {
        Hash(Sha256::new_with_prefix(LEAF).chain_update(bytes).finalize().into())
    }

    pub fn node(left: &Hash, right: &Hash) -> Hash {
        Hash(Sha256::new_with_prefix(NODE).chain_update(left.0).chain_update(right.0).finalize().into())
    }

    pub fn from_bytes(bytes: [u8; HASH_BYTES]) -> Hash {
        Hash(bytes)
    }

    pub fn as_bytes(&self) -> &[u8; HASH_BYTES] {
        &self.0
    }

    /// Exactly 32 bytes in canonical base64.
    pub fn parse(text: &str) -> Result<Hash, HashError> {
        let bytes = decode_base64(text).and_then(|bytes| bytes.try_into().ok());
        bytes.map(Hash).ok_or_else(|| HashError(text.chars().take(TEXT_CHARS_SHOWN).collect()))
    }
}

const TEXT_CHARS_SHOWN: usize = 64;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a hash; expected 32 bytes in base64")]
pub struct HashError(String);

impl fmt::Display for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&encode_base64(&self.0))
    }
}

impl fmt::Debug for Hash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Hash({self})")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_certificate_transparency() {
        // From the tests of Certificate Transparency's own implementation.
        check(Hash::EMPTY_TREE, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        check(Hash::leaf(b""), "6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d");
        check(Hash::leaf(b"L123456"), "395aa064aa4c29f7010acfe3f25db9485bbd4b91897b6ad7ad547639252b4d56");
        check(
            Hash::node(&Hash::leaf(b""), &Hash::leaf(b"\0")),
            "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
        );
    }

    fn check(hash: Hash, expected_hex: &str) {
        let hex: String = hash.as_bytes().iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected_hex);
        assert_eq!(Hash::parse(&hash.to_string()), Ok(hash));
    }

    #[test]
    fn a_text_that_is_not_32_bytes_in_base64_is_refused() {
        for text in
            ["", "aGk=", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU", "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFV="]
        {
            assert!(Hash::parse(text).is_err(), "{text:?}");
        }
    }
}
