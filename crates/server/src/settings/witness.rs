//! Settings of a witness: where it listens and which key it cosigns with.

use std::collections::BTreeSet;

use http::Uri;
use ledger::key::{KeyError, WitnessVerifier};
use ops::WitnessPolicy;
use serde::{Deserialize, Serialize};

const WITNESSES_MAX: usize = 8;

#[derive(Debug, thiserror::Error)]
pub enum WitnessSettingsError {
    #[error("`url` of the witness `{0}` must be an http or https URL without a query")]
    Url(String),
    #[error("`key` of the witness `{url}` is not a witness' verifier key")]
    Key { url: String, source: KeyError },
    #[error("two witnesses are called `{0}`")]
    RepeatedName(String),
    #[error("at most {WITNESSES_MAX} witnesses can be set")]
    TooMany,
    #[error("`witness_cosignatures_min` is {found}, but there are {n_witnesses} witnesses")]
    Unreachable { found: usize, n_witnesses: usize },
}

/// A server that cosigns this log's checkpoints. Plain HTTP is enough: what it answers is signed, what it is told is no
/// secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Witness {
    /// `/add-checkpoint` is added to it.
    pub url: String,
    /// Its verifier key, as `materia witness key` prints it.
    pub key: String,
    /// For messages and metrics; the name in the key when absent.
    #[serde(default)]
    pub name: Option<String>,
}

impl Witness {
    pub fn verifier(&self) -> Result<WitnessVerifier, WitnessSettingsError> {
        WitnessVerifier::parse(&self.key).map_err(|source| WitnessSettingsError::Key { url: self.url.clone(), source })
    }

    pub fn name(&self) -> String {
        let of_key = || self.key.split('+').next().unwrap_or_default().to_owned();
        self.name.clone().unwrap_or_else(of_key)
    }

    /// Where checkpoints are posted to.
    pub fn address(&self) -> String {
        format!("{}/add-checkpoint", self.url.trim_end_matches('/'))
    }
}

/// Checks every witness, and that they can be told apart.
pub fn check(witnesses: &[Witness], n_cosignatures_min: Option<usize>) -> Result<(), WitnessSettingsError> {
    if witnesses.len() > WITNESSES_MAX {
        return Err(WitnessSettingsError::TooMany);
    }
    let mut names = BTreeSet::new();
    for witness in witnesses {
        let uri = witness.url.parse::<Uri>().ok();
        let is_web = |uri: &Uri| matches!(uri.scheme_str(), Some("http" | "https")) && uri.host().is_some();
        if !uri.is_some_and(|uri| is_web(&uri)) || witness.url.contains(['?', '#', '@']) {
            return Err(WitnessSettingsError::Url(witness.url.clone()));
        }
        witness.verifier()?;
        if !names.insert(witness.name()) {
            return Err(WitnessSettingsError::RepeatedName(witness.name()));
        }
    }
    match n_cosignatures_min {
        Some(found) if found > witnesses.len() => {
            Err(WitnessSettingsError::Unreachable { found, n_witnesses: witnesses.len() })
        }
        Some(_) | None => Ok(()),
    }
}

/// Whose cosignatures count, and how many must be there: all of them unless set otherwise.
pub fn policy(witnesses: &[Witness], n_cosignatures_min: Option<usize>) -> Result<WitnessPolicy, WitnessSettingsError> {
    let witnesses: Vec<WitnessVerifier> = witnesses.iter().map(Witness::verifier).collect::<Result<_, _>>()?;
    let n_cosignatures_min = n_cosignatures_min.unwrap_or(witnesses.len());
    Ok(WitnessPolicy { witnesses, n_cosignatures_min })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "remora.n621.de+da77ade7+BOvN63jn/bLvkieywe8R6UYAtVtNbZpXh34x7onlmtw2";

    fn witness(url: &str) -> Witness {
        Witness { url: url.to_owned(), key: KEY.to_owned(), name: None }
    }

    #[test]
    fn a_witness_is_named_by_its_key_and_posted_to_its_path() {
        let witness = witness("https://witness.example/materia/");
        assert_eq!(
            (witness.name(), witness.address()),
            ("remora.n621.de".to_owned(), "https://witness.example/materia/add-checkpoint".to_owned())
        );
        assert!(check(&[witness], Some(1)).is_ok());
    }

    #[test]
    fn what_could_never_cosign_is_refused() {
        let error = |witnesses: &[Witness], n_min| check(witnesses, n_min).unwrap_err().to_string();
        for url in ["", "witness.example", "ftp://witness.example", "https://w.example?x=1", "https://me@w.example"] {
            assert!(error(&[witness(url)], None).starts_with("`url` of the witness"), "{url}");
        }
        let bad_key = Witness { key: KEY.replace("da77", "da78"), ..witness("https://w.example") };
        assert!(error(&[bad_key], None).starts_with("`key` of the witness"));
        let twice = [witness("https://a.example"), witness("https://b.example")];
        assert_eq!(error(&twice, None), "two witnesses are called `remora.n621.de`");
        assert!(error(&[witness("https://a.example")], Some(2)).starts_with("`witness_cosignatures_min` is 2"));
    }
}
