//! The ledger: an append-only Merkle log (RFC 6962) with signed checkpoints, witnesses and proofs in C2SP text.
//!
//! Pure: no clock, no randomness, no input or output. Times and random bytes are arguments, hashes of stored subtrees
//! come in through a lookup. Every parser and every check is total: foreign bytes give an error, never a panic.
//!
//! ```
//! use ledger::{checkpoint::Checkpoint, hash::Hash, key::LogSigner, policy::Policy, tree::Frontier};
//!
//! let signer = LogSigner::generate("example.org/log", [7; 32])?;
//! let mut tree = Frontier::new();
//! tree.append(Hash::leaf(b"{\"operation\":\"add_note\"}"));
//!
//! let signed = Checkpoint::new("example.org/log", tree.size(), tree.root())?.sign(&[&signer])?;
//!
//! let policy = Policy::new(vec![signer.verifier()], vec![], 0)?;
//! assert_eq!(policy.check(&signed)?.checkpoint.size(), 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod checkpoint;
pub mod cosignature;
pub mod hash;
pub mod key;
pub mod keyring;
pub mod note;
pub mod policy;
pub mod proof;
pub mod proof_file;
mod text;
pub mod tree;
pub mod verify;
pub mod witness;
