//! Whom the caller trusts, and whether a checkpoint is theirs.

use crate::{
    checkpoint::Checkpoint,
    note::{Key, Note, Role},
    verdict::Invalid,
};

#[derive(Debug)]
pub struct Trust {
    logs: Vec<Key>,
    witnesses: Vec<Key>,
    n_cosignatures_min: usize,
}

/// A checkpoint whose signatures were checked.
#[derive(Debug, PartialEq, Eq)]
pub struct Trusted {
    pub checkpoint: Checkpoint,
    pub signed_by: Vec<String>,
    pub cosigned_by: Vec<Cosignature>,
}

#[derive(Debug, PartialEq, Eq)]
pub struct Cosignature {
    pub name: String,
    pub time_s: u64,
}

impl Trust {
    /// Without a threshold all witnesses must have cosigned. The error is a sentence about the arguments.
    pub fn new(logs: &[String], witnesses: &[String], threshold: Option<usize>) -> Result<Trust, String> {
        // A file of keys has one a line.
        let parse = |keys: &[String], role| {
            let lines = keys.iter().flat_map(|keys| keys.split('\n').filter(|key| !key.is_empty() || *keys == *key));
            lines.map(|key| Key::parse(key, role)).collect::<Result<Vec<_>, _>>()
        };
        let (logs, witnesses) = (parse(logs, Role::Log)?, parse(witnesses, Role::Witness)?);
        let n_cosignatures_min = threshold.unwrap_or(witnesses.len());
        if n_cosignatures_min > witnesses.len() {
            return Err(format!("{n_cosignatures_min} cosignatures are asked of {} witnesses", witnesses.len()));
        }
        let keys: Vec<&Key> = logs.iter().chain(&witnesses).collect();
        let twice =
            keys.iter().enumerate().find(|(at, key)| keys.iter().skip(at + 1).any(|other| other.point == key.point));
        match twice {
            Some((_, key)) => Err(format!("the key of {key} is given twice")),
            None => Ok(Trust { logs, witnesses, n_cosignatures_min }),
        }
    }

    /// Checks the signatures of log and witnesses.
    pub fn check(&self, note: &str) -> Result<Trusted, Invalid> {
        self.check_with(note, self.n_cosignatures_min)
    }

    /// Checks the signatures, but does not ask for witnesses: for a checkpoint kept from earlier.
    pub fn check_log_only(&self, note: &str) -> Result<Trusted, Invalid> {
        self.check_with(note, 0)
    }

    fn check_with(&self, note: &str, n_cosignatures_min: usize) -> Result<Trusted, Invalid> {
        let note = Note::parse(note)?;
        let checkpoint = Checkpoint::parse(&note.text)?;
        let signed = note.signed_by(&self.logs)?;
        let signed_by: Vec<String> =
            signed.iter().filter(|by| by.key.name == checkpoint.origin).map(|by| by.key.to_string()).collect();
        if signed_by.is_empty() {
            let message = format!("the checkpoint of `{}` is not signed by a key given with --key", checkpoint.origin);
            return Err(Invalid::new("NOT_SIGNED", message));
        }
        let cosigned = note.signed_by(&self.witnesses)?;
        let cosigned_by: Vec<Cosignature> = cosigned
            .iter()
            .filter_map(|by| Some(Cosignature { name: by.key.name.clone(), time_s: by.time_s? }))
            .collect();
        if cosigned_by.len() < n_cosignatures_min {
            let found = cosigned_by.len();
            let message = format!("{found} of the given witnesses cosigned, expected at least {n_cosignatures_min}");
            return Err(Invalid::new("TOO_FEW_COSIGNATURES", message));
        }
        Ok(Trusted { checkpoint, signed_by, cosigned_by })
    }
}
