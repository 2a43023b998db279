//! Seals over API keys and jobs, and over what is remembered of keys beside the database: what is said of them counts as the
//! house wrote it and not otherwise.
//!
//! A seal is a MAC over everything that decides, by a secret that comes from the log's signing key and is not in the
//! database. While two signing keys overlap a row carries one of each, so that servers with either key file know it.

use std::collections::BTreeSet;

use contract::canonical;
use ledger::keyring::Keyring;
use ring::hmac;
use serde_json::Value;
use store::jobs::JobRow;

use super::{KeyRecord, content};
use crate::jobs;

const KEYS: &str = "materia api key v1";
const JOBS: &str = "materia job v1";
const KNOWN: &str = "materia known keys v1";
/// A row has one seal, or two while keys overlap.
const SEALS_MAX: usize = 2;

pub(crate) struct Seals {
    keys: Vec<hmac::Key>,
    jobs: Vec<hmac::Key>,
    known: Vec<hmac::Key>,
}

impl Seals {
    pub fn new(keyring: &Keyring) -> Seals {
        let secrets =
            |purpose| keyring.secrets(purpose).iter().map(|secret| hmac::Key::new(hmac::HMAC_SHA256, secret)).collect();
        Seals { keys: secrets(KEYS), jobs: secrets(JOBS), known: secrets(KNOWN) }
    }

    /// The text beside a row: hex digits of each seal, that of the current signing key first.
    pub fn seal(&self, key: &KeyRecord) -> String {
        seal(&self.keys, &sealed(key))
    }

    /// Did whoever holds one of our signing keys write the row as it is?
    pub fn hold(&self, key: &KeyRecord, text: &str) -> bool {
        hold(&self.keys, &sealed(key), text)
    }

    /// As [`Seals::seal`], for the lines of `keys.known`.
    pub fn seal_known(&self, lines: &BTreeSet<String>) -> String {
        seal(&self.known, &serde_json::json!(lines))
    }

    /// As [`Seals::hold`].
    pub fn hold_known(&self, lines: &BTreeSet<String>, text: &str) -> bool {
        hold(&self.known, &serde_json::json!(lines), text)
    }

    /// As [`Seals::seal`].
    pub fn seal_job(&self, job: &JobRow) -> String {
        seal(&self.jobs, &jobs::sealed(job))
    }

    /// As [`Seals::hold`], with the seal that the row has.
    pub fn hold_job(&self, job: &JobRow) -> bool {
        job.seal.as_deref().is_some_and(|text| hold(&self.jobs, &jobs::sealed(job), text))
    }
}

fn sealed(key: &KeyRecord) -> Value {
    serde_json::json!({ "organisation_id": key.organisation_id, "key": content(key) })
}

fn seal(secrets: &[hmac::Key], content: &Value) -> String {
    let Some(message) = message(content) else { return String::new() };
    let seals: Vec<String> = secrets.iter().map(|secret| hex::encode(hmac::sign(secret, &message))).collect();
    seals.join(" ")
}

fn hold(secrets: &[hmac::Key], content: &Value, text: &str) -> bool {
    let Some(message) = message(content) else { return false };
    let tags = text.split(' ').take(SEALS_MAX).filter_map(|seal| hex::decode(seal).ok());
    let is_ours = |tag: Vec<u8>| secrets.iter().any(|secret| hmac::verify(secret, &message, &tag).is_ok());
    tags.into_iter().any(is_ours)
}

/// `None` only if texts and numbers stopped having a canonical form: then nothing is sealed, and no seal holds.
fn message(content: &Value) -> Option<Vec<u8>> {
    canonical::text(content).ok().map(String::into_bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::actor::Role;
    use contract::id::{ActorId, KeyId, OrganisationId};
    use contract::scope::Scope;
    use ledger::key::LogSigner;

    fn signer(seed: u8) -> LogSigner {
        LogSigner::generate("log.example", [seed; 32]).unwrap()
    }

    fn record() -> KeyRecord {
        KeyRecord {
            key_id: KeyId::parse("0123456789abcdef").unwrap(),
            organisation_id: OrganisationId::parse("here").unwrap(),
            sha256: "00".to_owned(),
            actor_id: ActorId::parse("robot").unwrap(),
            roles: vec![Role::Viewer],
            scopes: vec![Scope::parse("id.reserve").unwrap()],
            created_at_us: 1,
            expires_at_us: Some(2),
            revoked_at_us: Some(3),
            created_by: ActorId::parse("owner").unwrap(),
        }
    }

    #[test]
    fn a_seal_holds_for_the_row_it_was_made_for_and_no_other() {
        let seals = Seals::new(&Keyring::new(signer(1)));
        let text = seals.seal(&record());
        assert!(seals.hold(&record(), &text));
        let others: [fn(&mut KeyRecord); 10] = [
            |key| key.key_id = KeyId::parse("0123456789abcdee").unwrap(),
            |key| key.organisation_id = OrganisationId::parse("elsewhere").unwrap(),
            |key| key.sha256 = "01".to_owned(),
            |key| key.actor_id = ActorId::parse("owner").unwrap(),
            |key| key.roles = vec![Role::Admin],
            |key| key.scopes = Vec::new(),
            |key| key.created_at_us = 0,
            |key| key.expires_at_us = None,
            |key| key.revoked_at_us = None,
            |key| key.created_by = ActorId::parse("robot").unwrap(),
        ];
        for (index, change) in others.into_iter().enumerate() {
            let mut other = record();
            change(&mut other);
            assert!(!seals.hold(&other, &text), "change {index}");
        }
        for other in ["", " ", "00", &text[1..], &text.replace('0', "1")] {
            assert!(!seals.hold(&record(), other), "{other}");
        }
    }

    #[test]
    fn servers_with_either_key_file_know_a_row_while_keys_overlap() {
        let (old, new) = (Seals::new(&Keyring::new(signer(1))), Seals::new(&Keyring::new(signer(2))));
        let overlapping = Seals::new(&Keyring::new(signer(1)).rotate(signer(2)).unwrap());
        assert!(overlapping.hold(&record(), &old.seal(&record())));
        let text = overlapping.seal(&record());
        assert!(old.hold(&record(), &text) && new.hold(&record(), &text));
        assert!(!new.hold(&record(), &old.seal(&record())), "a retired key seals nothing");
    }

    #[test]
    fn the_seal_of_a_job_holds_for_the_row_it_was_made_for_and_no_other() {
        let seals = Seals::new(&Keyring::new(signer(1)));
        let text = |text: &str| text.to_owned();
        let mut job = JobRow {
            organisation_id: text("here"),
            job_id: text("job"),
            actor_id: text("robot"),
            actor: text("{}"),
            operation: text("work"),
            input: text("{}"),
            answers: text("{}"),
            questions: text("{}"),
            state: text("working"),
            progress: None,
            ending: None,
            n_starts: 0,
            created_at_us: 1,
            updated_at_us: 1,
            expires_at_us: 2,
            seal: None,
        };
        assert!(!seals.hold_job(&job), "it has none");
        job.seal = Some(seals.seal_job(&job));
        let going_on = JobRow { n_starts: 1, updated_at_us: 2, progress: Some(text("{}")), ..job.clone() };
        assert!(seals.hold_job(&job) && seals.hold_job(&going_on));
        let others: [fn(&mut JobRow); 9] = [
            |job| job.organisation_id.push('x'),
            |job| job.job_id.push('x'),
            |job| job.actor_id.push('x'),
            |job| job.actor.push(' '),
            |job| job.operation.push('x'),
            |job| job.input.push(' '),
            |job| job.answers.push(' '),
            |job| job.created_at_us += 1,
            |job| job.expires_at_us += 1,
        ];
        for (index, change) in others.into_iter().enumerate() {
            let mut other = job.clone();
            change(&mut other);
            assert!(!seals.hold_job(&other), "change {index}");
        }
    }
}
