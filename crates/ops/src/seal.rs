//! Request states: what an operation must remember between its question and the answer, kept by the caller.
//!
//! A state is encrypted and authenticated, and bound to the organisation, the actor, the operation and the input it was
//! made for. It opens for nothing else, not after its time, and is used once: `store::request_states` has the row.

use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;
use contract::canonical;
use contract::question::Answered;
use ledger::keyring::Keyring;
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::rand::{SecureRandom, SystemRandom};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

const PURPOSE: &str = "materia request state v1";

/// What is inside.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct State {
    pub state_id: Uuid,
    pub expires_at_us: i64,
    /// Keys of the questions that were asked.
    pub asked: Vec<String>,
    /// Answers of earlier rounds.
    pub answers: Answered,
}

/// What a state is made for. It opens for nothing else.
pub(crate) struct Binding<'a> {
    pub organisation_id: &'a str,
    pub actor_id: &'a str,
    pub operation: &'a str,
    pub in_hash: &'a str,
}

impl Binding<'_> {
    fn bytes(&self) -> Vec<u8> {
        // A JSON array, not plain joining: `("ab", "c")` and `("a", "bc")` must not bind alike.
        let parts = [self.organisation_id, self.actor_id, self.operation, self.in_hash];
        canonical::text(&parts).unwrap_or_default().into_bytes()
    }
}

/// The keys that seal states: derived from those of the log, so that every server of the house has the same.
pub(crate) struct Sealer {
    keys: Vec<LessSafeKey>,
    random: SystemRandom,
}

impl Sealer {
    pub fn new(keyring: &Keyring) -> Sealer {
        let secrets = keyring.secrets(PURPOSE);
        let keys = secrets.iter().filter_map(|secret| UnboundKey::new(&CHACHA20_POLY1305, secret).ok());
        Sealer { keys: keys.map(LessSafeKey::new).collect(), random: SystemRandom::new() }
    }

    /// `None` only without randomness.
    pub fn seal(&self, state: &State, binding: &Binding<'_>) -> Option<String> {
        let mut nonce = [0; NONCE_LEN];
        self.random.fill(&mut nonce).ok()?;
        let mut bytes = serde_json::to_vec(state).ok()?;
        let sealing = Nonce::assume_unique_for_key(nonce);
        self.keys.first()?.seal_in_place_append_tag(sealing, Aad::from(binding.bytes()), &mut bytes).ok()?;
        Some(BASE64_URL_SAFE_NO_PAD.encode([nonce.as_slice(), &bytes].concat()))
    }

    /// `None` for whatever was not sealed here for this binding, or was changed since.
    pub fn open(&self, text: &str, binding: &Binding<'_>) -> Option<State> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text).ok()?;
        let (nonce, sealed) = bytes.split_at_checked(NONCE_LEN)?;
        self.keys.iter().find_map(|key| {
            let nonce = Nonce::try_assume_unique_for_key(nonce).ok()?;
            let mut sealed = sealed.to_vec();
            let opened = key.open_in_place(nonce, Aad::from(binding.bytes()), &mut sealed).ok()?;
            serde_json::from_slice(opened).ok()
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ledger::key::LogSigner;
    use serde_json::json;

    const BINDING: Binding<'_> =
        Binding { organisation_id: "org", actor_id: "ann", operation: "approve", in_hash: "abc" };

    fn signer(seed: u8) -> LogSigner {
        LogSigner::generate("log.example", [seed; 32]).unwrap()
    }

    fn state() -> State {
        State {
            state_id: Uuid::from_u128(7),
            expires_at_us: 1,
            asked: vec!["confirm".to_owned()],
            answers: Answered::from([("name".to_owned(), json!({"action": "accept"}))]),
        }
    }

    #[test]
    fn a_state_opens_as_it_was_sealed_and_shows_nothing_of_itself() {
        let sealer = Sealer::new(&Keyring::new(signer(1)));
        let text = sealer.seal(&state(), &BINDING).unwrap();
        assert_eq!(sealer.open(&text, &BINDING), Some(state()));
        assert_ne!(text, sealer.seal(&state(), &BINDING).unwrap());
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(&text).unwrap();
        assert!(!bytes.windows(6).any(|part| part == b"accept"));
    }

    #[test]
    fn a_state_opens_for_nothing_else() {
        let sealer = Sealer::new(&Keyring::new(signer(1)));
        let text = sealer.seal(&state(), &BINDING).unwrap();
        for binding in [
            Binding { organisation_id: "other", ..BINDING },
            Binding { actor_id: "bob", ..BINDING },
            Binding { operation: "delete", ..BINDING },
            Binding { in_hash: "abd", ..BINDING },
        ] {
            assert_eq!(sealer.open(&text, &binding), None);
        }
    }

    #[test]
    fn a_single_changed_bit_and_a_cut_are_found() {
        let sealer = Sealer::new(&Keyring::new(signer(1)));
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(sealer.seal(&state(), &BINDING).unwrap()).unwrap();
        for index in 0..bytes.len() {
            let mut changed = bytes.clone();
            changed[index] ^= 1;
            assert_eq!(sealer.open(&BASE64_URL_SAFE_NO_PAD.encode(&changed), &BINDING), None, "byte {index}");
            assert_eq!(sealer.open(&BASE64_URL_SAFE_NO_PAD.encode(&bytes[..index]), &BINDING), None, "cut at {index}");
        }
    }

    #[test]
    fn a_state_outlives_a_rotation_and_not_the_key() {
        let text = Sealer::new(&Keyring::new(signer(1))).seal(&state(), &BINDING).unwrap();
        let overlapping = Keyring::new(signer(1)).rotate(signer(2)).unwrap();
        assert_eq!(Sealer::new(&overlapping).open(&text, &BINDING), Some(state()));
        assert_eq!(Sealer::new(&overlapping.retire()).open(&text, &BINDING), None);
    }
}
