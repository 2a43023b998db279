//! What every setting is, has and comes from, for `materia config`. Secrets are masked.

use std::collections::BTreeMap;
use std::path::Path;

use schemars::schema_for;
use serde_json::Value;

use super::{Flags, Settings, SettingsError, figment, ranges};

/// A setting as `materia config` shows it.
#[derive(Debug)]
pub struct Explained {
    pub name: String,
    pub value: String,
    pub source: String,
    /// What it does, in which unit, and what it may be.
    pub about: String,
}

/// Every setting, and whether they can be used: what is wrong is found best by who sees the rest.
pub fn explain(data: &Path, flags: &Flags) -> (Vec<Explained>, Result<(), SettingsError>) {
    let figment = figment(data, flags);
    let (mut values, found) = match Settings::read(data, flags) {
        Ok(settings) => (members(&settings), Ok(())),
        Err(error) => (figment.extract().unwrap_or_default(), Err(error)),
    };
    let schema = schema_for!(Settings);
    let explained = members(&Settings::default()).into_iter().map(|(name, default)| {
        let value = values.remove(&name).unwrap_or(default);
        let source = figment.find_metadata(&name).map_or("default".to_owned(), |found| found.name.to_string());
        // What comes from a type of ours is called by the type's name.
        let source = match source {
            source if source.contains("Settings") => "default".to_owned(),
            source if source.contains("Flags") => "flag of the command line".to_owned(),
            source => source,
        };
        Explained { value: shown(&name, &value), about: about(schema.as_value(), &name), source, name }
    });
    (explained.collect(), found)
}

fn members(settings: &Settings) -> BTreeMap<String, Value> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(members)) => members.into_iter().collect(),
        Ok(_) | Err(_) => BTreeMap::new(),
    }
}

/// The words of the setting's documentation, and its limits.
fn about(schema: &Value, name: &str) -> String {
    let text = schema.pointer(&format!("/properties/{name}/description")).and_then(Value::as_str).unwrap_or_default();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match ranges::find(name) {
        Some((min, max)) => format!("{text} From {min} to {max}."),
        None => text,
    }
}

fn shown(name: &str, value: &Value) -> String {
    match (name, value) {
        (_, Value::Null) => "-".to_owned(),
        ("database_url" | "tasks_url" | "ids_url" | "eutils_url" | "trapi_url", Value::String(url)) => masked_url(url),
        ("api_keys", Value::Array(keys)) => format!("{} keys", keys.len()),
        ("oauth", Value::Array(issuers)) => {
            let named = issuers.iter().filter_map(|issuer| issuer.get("issuer")?.as_str());
            format!("[{}]", named.collect::<Vec<_>>().join(", "))
        }
        ("witness", Value::Array(witnesses)) => {
            let named = witnesses.iter().filter_map(|witness| witness.get("url")?.as_str());
            format!("[{}]", named.map(masked_url).collect::<Vec<_>>().join(", "))
        }
        // A secret of the wrong form is one all the same.
        ("database_url" | "tasks_url" | "ids_url" | "eutils_url" | "trapi_url", _)
        | ("tasks_key" | "ids_key" | "eutils_key" | "api_keys" | "oauth" | "witness", _) => "***".to_owned(),
        (_, Value::String(text)) => text.clone(),
        (_, other) => other.to_string(),
    }
}

/// The URL without user and password, and without the values of its query: any of them may be a password or a key.
fn masked_url(url: &str) -> String {
    let (place, query) = url.split_once('?').unwrap_or((url, ""));
    let place = match (place.split_once("://"), place.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, rest))) => format!("{scheme}://***@{rest}"),
        // The question mark may be one of a password's.
        (Some((scheme, _)), None) if query.contains('@') => return format!("{scheme}://***"),
        (_, _) => place.to_owned(),
    };
    let masked = |pair: &str| pair.split_once('=').map_or("***".to_owned(), |(name, _)| format!("{name}=***"));
    let query: Vec<String> = query.split('&').filter(|pair| !pair.is_empty()).map(masked).collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{place}{mark}{}", query.join("&"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_for_a_service_is_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("materia.toml"),
            "tasks_key = \"secret\"\nids_key = \"secret\"\neutils_key = \"secret\"\n",
        )
        .unwrap();
        let (shown, _) = explain(folder.path(), &Flags::default());
        assert!(shown.iter().any(|one| one.name == "tasks_key" && one.value == "***"));
        assert!(!format!("{shown:?}").contains("secret"));
    }

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("postgres://u:secret@db/x", "postgres://***@db/x"),
            (
                "postgres://db/x?user=u&password=secret&sslmode=require",
                "postgres://db/x?user=***&password=***&sslmode=***",
            ),
            // A password that was not escaped.
            ("postgres://u:sec?ret@db/x", "postgres://***"),
            ("https://trapi.example/query?key=secret", "https://trapi.example/query?key=***"),
            ("https://trapi.example/query?secret", "https://trapi.example/query?***"),
            ("http://127.0.0.1:8080", "http://127.0.0.1:8080"),
        ] {
            assert_eq!(masked_url(url), shown);
        }
    }

    #[test]
    fn a_flag_is_named_as_the_source_in_words() {
        let folder = tempfile::tempdir().unwrap();
        let flags = Flags { database_url: Some("postgres://db/x".to_owned()), ..Flags::default() };
        let (shown, _) = explain(folder.path(), &flags);
        let found = shown.into_iter().find(|one| one.name == "database_url").unwrap();
        assert_eq!(found.source, "flag of the command line");
    }

    #[test]
    fn every_setting_is_explained_with_its_limits() {
        let (shown, _) = explain(Path::new("nowhere"), &Flags::default());
        assert!(shown.len() > 40 && shown.iter().all(|one| one.about.len() > 8), "{shown:?}");
        let about = |name: &str| shown.iter().find(|one| one.name == name).unwrap().about.clone();
        assert_eq!(
            about("rate_per_second"),
            "Requests a principal may make per second over the network, on average; 0 for no limit. Not for `materia mcp`: \
             whoever starts it is on this machine, and it reads no further than it can answer. From 0 to 1000000."
        );
    }

    #[test]
    fn settings_that_cannot_be_used_are_listed_all_the_same_and_keys_among_them_are_not() {
        let folder = tempfile::tempdir().unwrap();
        let list = |text: &str| {
            std::fs::write(folder.path().join("materia.toml"), text).unwrap();
            explain(folder.path(), &Flags::default())
        };
        let (shown, found) = list("bogus = 1\nrate_burst = -7\ntasks_key = 987654\napi_keys = 987654\n");
        assert!(found.is_err());
        let value = |name: &str| shown.iter().find(|one| one.name == name).map(|one| one.value.as_str());
        assert_eq!((value("rate_burst"), value("tasks_key"), value("bogus")), (Some("-7"), Some("***"), None));
        assert!(!format!("{shown:?}").contains("987654"));
        let (shown, found) = list("this is no TOML");
        assert!(found.is_err() && shown.len() > 40);
    }
}
