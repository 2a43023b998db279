//! How the texts of a call are hashed for its event and its audit block: plainly, or, where they are about a patient, under
//! the patient's key, so that nobody who reads the log can try what they may have been.
//!
//! Where the patient is not known, as in bad input, the organisation's key serves.

use std::sync::OnceLock;

use contract::canonical::{self, CanonicalError};
use contract::error::OpError;
use serde::Serialize;
use serde_json::Value;
use store::subject_keys::{Found, Subject, SubjectKey, SubjectKeys};
use store::{Applied, Keep, Store};
use tokio::time::Instant;

use crate::drive::write_error;
use crate::operation::store_error;

#[derive(Default)]
pub(crate) struct Hashing {
    /// Absent where hashes are plain.
    organisation: Option<Keyed>,
    patient: OnceLock<Keyed>,
}

struct Keyed {
    key: SubjectKey,
    /// What events call it; empty for a key that nobody has.
    name: String,
}

impl Hashing {
    /// For a call about a patient, until it is known about whom. With what keeps the call from being answered, if
    /// something does: its event is hashed under a key that nobody has.
    pub async fn keyed(
        keys: &SubjectKeys,
        store: &Store,
        organisation_id: &str,
        now_us: i64,
        deadline: Instant,
    ) -> (Hashing, Option<OpError>) {
        let subject = Subject::organisation(organisation_id);
        let (keyed, problem) = match find_or_make(keys, store, &subject, now_us, deadline).await {
            Ok(Some(key)) => (Some(Keyed { key, name: name(&subject) }), None),
            Ok(None) => (None, Some(OpError::conflict("the key of this organisation was destroyed"))),
            Err(error) => (None, Some(error)),
        };
        let keyed = keyed.or_else(|| Some(Keyed { key: SubjectKey::throwaway().ok()?, name: String::new() }));
        let problem = if keyed.is_some() { problem } else { Some(OpError::internal("there is no randomness")) };
        (Hashing { organisation: keyed, patient: OnceLock::new() }, problem)
    }

    /// From here on the patient's key counts, if there is one.
    pub async fn find_patient(&self, keys: &SubjectKeys, store: &Store, patient: &Subject) -> Result<(), OpError> {
        let mut reader = store.read().await.map_err(store_error)?;
        if let Found::Key(key) = keys.find(&mut reader, patient).await.map_err(store_error)? {
            self.set_patient(*key, patient);
        }
        Ok(())
    }

    /// As [`Hashing::find_patient`], for writes: the first one about a patient makes the key, so that a repeated call has the
    /// same hashes.
    pub async fn find_or_make_patient(
        &self,
        keys: &SubjectKeys,
        store: &Store,
        patient: &Subject,
        now_us: i64,
        deadline: Instant,
    ) -> Result<(), OpError> {
        if let Some(key) = find_or_make(keys, store, patient, now_us, deadline).await? {
            self.set_patient(key, patient);
        }
        Ok(())
    }

    fn set_patient(&self, key: SubjectKey, patient: &Subject) {
        // Set once: an input names one patient.
        drop(self.patient.set(Keyed { key, name: name(patient) }));
    }

    pub fn text(&self, canonical: &str) -> String {
        match self.key() {
            Some(keyed) => keyed.key.hash(canonical),
            None => canonical::hash_text(canonical),
        }
    }

    pub fn of(&self, value: &Value) -> String {
        self.text(&canonical::text_of(value))
    }

    pub fn of_serialized<T: Serialize>(&self, value: &T) -> Result<String, CanonicalError> {
        Ok(self.text(&canonical::text(value)?))
    }

    pub fn is_plain(&self) -> bool {
        self.organisation.is_none()
    }

    /// Whose key it is, for the event.
    pub fn key_name(&self) -> Option<&str> {
        self.key().map(|keyed| keyed.name.as_str()).filter(|name| !name.is_empty())
    }

    fn key(&self) -> Option<&Keyed> {
        self.patient.get().or(self.organisation.as_ref())
    }
}

fn name(subject: &Subject) -> String {
    format!("{}/{}", subject.kind.name(), subject.id)
}

async fn find_or_make(
    keys: &SubjectKeys,
    store: &Store,
    subject: &Subject,
    now_us: i64,
    deadline: Instant,
) -> Result<Option<SubjectKey>, OpError> {
    let mut reader = store.read().await.map_err(store_error)?;
    match keys.find(&mut reader, subject).await.map_err(store_error)? {
        Found::Key(key) => return Ok(Some(*key)),
        Found::Destroyed => return Ok(None),
        Found::Nothing => {}
    }
    drop(reader);
    let (keys, subject) = (keys.clone(), subject.clone());
    let apply: store::Apply<Option<SubjectKey>> = Box::new(move |tx| {
        let (keys, subject) = (keys.clone(), subject.clone());
        Box::pin(async move {
            let value = keys.find_or_make(tx, &subject, now_us).await?;
            Ok(Applied { value, event: None, keep: Keep::Changes })
        })
    });
    store.write(None, deadline, apply).await.map_err(write_error)
}
