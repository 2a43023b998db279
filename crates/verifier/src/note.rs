//! Signed notes and verifier keys (C2SP signed-note, tlog-cosignature).

use std::fmt;

use base64::{Engine, prelude::BASE64_STANDARD};
use ed25519_dalek::{Signature, VerifyingKey};
use sha2::{Digest, Sha256};

use crate::verdict::Invalid;

const LINES_MAX: usize = 64;
const DASH: &str = "\u{2014} ";

/// What a key signs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    Log,
    Witness,
}

impl Role {
    fn type_byte(self) -> u8 {
        match self {
            Role::Log => 1,
            Role::Witness => 4,
        }
    }
}

/// A verifier key, `NAME+ID+BASE64`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    pub name: String,
    pub role: Role,
    pub point: VerifyingKey,
    id: [u8; 4],
}

impl Key {
    pub fn parse(text: &str, role: Role) -> Result<Key, String> {
        let malformed = || format!("`{text}` is not a key of the form NAME+ID+BASE64");
        let (name, rest) = text.split_once('+').filter(|(name, _)| is_name(name)).ok_or_else(malformed)?;
        let (id, base64) = rest.split_once('+').ok_or_else(malformed)?;
        let bytes = BASE64_STANDARD.decode(base64).map_err(|_| malformed())?;
        let (type_byte, point) = bytes.split_first().ok_or_else(malformed)?;
        if *type_byte != role.type_byte() {
            let expected = role.type_byte();
            return Err(format!("`{name}` is a key of type {type_byte}, expected type {expected} for a {role:?} key"));
        }
        let point: [u8; 32] = point.try_into().map_err(|_| malformed())?;
        let mut sha256 = Sha256::new();
        sha256.update(name);
        sha256.update(b"\n");
        sha256.update(&bytes);
        let [a, b, c, d, ..] = <[u8; 32]>::from(sha256.finalize());
        let key_id = [a, b, c, d];
        if hex(&key_id) != id.to_ascii_lowercase() {
            return Err(format!("the id of the key `{name}` is {}, not `{id}`: mistyped?", hex(&key_id)));
        }
        let point = VerifyingKey::from_bytes(&point).ok().filter(|point| !point.is_weak());
        let point = point.ok_or_else(|| format!("the key `{name}` is not a usable Ed25519 key"))?;
        Ok(Key { name: name.to_owned(), role, point, id: key_id })
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{} ({})", self.name, hex(&self.id))
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && !name.chars().any(|char| char == '+' || char.is_whitespace() || char < ' ')
}

struct Line {
    name: String,
    id: [u8; 4],
    signature: Vec<u8>,
}

pub struct Note {
    pub text: String,
    lines: Vec<Line>,
}

/// A signature that was checked. The time is a witness'.
pub struct Signed<'k> {
    pub key: &'k Key,
    pub time_s: Option<u64>,
}

impl Note {
    pub fn parse(note: &str) -> Result<Note, Invalid> {
        let malformed = |what: &str| Invalid::new("MALFORMED_NOTE", format!("the signed note {what}"));
        if note.chars().any(|char| char < ' ' && char != '\n') {
            return Err(malformed("has a control character"));
        }
        let end = note.rfind("\n\n").ok_or_else(|| malformed("has no empty line before its signatures"))?;
        let (text, lines) = note.split_at(end + 1);
        let lines = lines.strip_prefix('\n').and_then(|lines| lines.strip_suffix('\n'));
        let lines: Vec<&str> = lines.ok_or_else(|| malformed("does not end with a newline"))?.split('\n').collect();
        if lines.len() > LINES_MAX {
            return Err(malformed("has too many signatures"));
        }
        let lines: Option<Vec<Line>> = lines.into_iter().map(parse_line).collect();
        Ok(Note { text: text.to_owned(), lines: lines.ok_or_else(|| malformed("has a malformed signature line"))? })
    }

    /// The keys that signed, each once. A wrong signature by one of the keys is an error; other signatures are ignored.
    pub fn signed_by<'k>(&self, keys: &'k [Key]) -> Result<Vec<Signed<'k>>, Invalid> {
        let mut signed: Vec<Signed> = Vec::new();
        for line in &self.lines {
            let Some(key) = keys.iter().find(|key| key.name == line.name && key.id == line.id) else { continue };
            let time_s = check(key, &self.text, &line.signature)
                .ok_or_else(|| Invalid::new("WRONG_SIGNATURE", format!("the signature of {key} is wrong")))?;
            if signed.iter().all(|other| other.key != key) {
                signed.push(Signed { key, time_s });
            }
        }
        Ok(signed)
    }
}

fn parse_line(line: &str) -> Option<Line> {
    let (name, base64) = line.strip_prefix(DASH)?.split_once(' ')?;
    let bytes = BASE64_STANDARD.decode(base64).ok()?;
    let (id, signature) = bytes.split_first_chunk::<4>()?;
    let is_line = is_name(name) && !signature.is_empty();
    is_line.then(|| Line { name: name.to_owned(), id: *id, signature: signature.to_vec() })
}

/// None if the signature is wrong, else its time if it has one.
fn check(key: &Key, text: &str, signature: &[u8]) -> Option<Option<u64>> {
    let (message, signature, time_s) = match key.role {
        Role::Log => (text.to_owned(), signature, None),
        Role::Witness => {
            let (time, signature) = signature.split_first_chunk::<8>()?;
            let time_s = u64::try_from(i64::from_be_bytes(*time)).ok()?;
            (format!("cosignature/v1\ntime {time_s}\n{text}"), signature, Some(time_s))
        }
    };
    let signature = Signature::from_slice(signature).ok()?;
    key.point.verify_strict(message.as_bytes(), &signature).ok()?;
    Some(time_s)
}
