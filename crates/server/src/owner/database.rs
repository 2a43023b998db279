//! Which database somebody means, as a hash: told between processes, it gives away neither password nor host. And how it
//! stands.

use contract::canonical::digest;
use contract::error::OpError;
use serde::{Deserialize, Serialize};
use store::{StoreError, StoreErrorKind};

const DEFAULT_PORT: &str = "5432";

/// How the database of a house stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DatabaseStanding {
    Fine,
    /// It answers, and its disk takes nothing more.
    Full {
        reason: String,
    },
    Unreachable {
        reason: String,
    },
}

impl DatabaseStanding {
    pub fn of(answer: Result<(), OpError>) -> DatabaseStanding {
        let Err(error) = answer else { return DatabaseStanding::Fine };
        let cause = std::error::Error::source(&error).and_then(|cause| cause.downcast_ref::<StoreError>());
        let is_full = cause.is_some_and(|cause| *cause.kind() == StoreErrorKind::DiskFull);
        let reason = error.to_string();
        if is_full { DatabaseStanding::Full { reason } } else { DatabaseStanding::Unreachable { reason } }
    }

    /// The word of `/health`.
    pub fn word(&self) -> &'static str {
        match self {
            DatabaseStanding::Fine => "ok",
            DatabaseStanding::Full { .. } => "full",
            DatabaseStanding::Unreachable { .. } => "unreachable",
        }
    }

    /// What is wrong, if anything.
    pub fn problem(&self) -> Option<&str> {
        match self {
            DatabaseStanding::Fine => None,
            DatabaseStanding::Full { reason } | DatabaseStanding::Unreachable { reason } => Some(reason),
        }
    }
}

/// Equal for URLs that lead to the same database, whoever signs in and with which options.
pub fn identity(database_url: Option<&str>) -> String {
    let place = database_url.map_or("embedded".to_owned(), place);
    hex::encode(digest(place.as_bytes()))
}

/// Host, port and name of a database.
fn place(url: &str) -> String {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let (rest, query) = rest.split_once('?').unwrap_or((rest, ""));
    let (authority, name) = rest.split_once('/').unwrap_or((rest, ""));
    let (user, address) = authority.rsplit_once('@').unwrap_or(("", authority));
    // The colons of an IPv6 address stand within brackets.
    let (host, port) = match address.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => (host, port),
        Some(_) | None => (address, ""),
    };
    let option = |wanted: &str| {
        let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find_map(|(name, value)| (name == wanted).then_some(value))
    };
    let host = option("host").unwrap_or(host).to_ascii_lowercase();
    let host = if host.is_empty() || host == "localhost" { "127.0.0.1".to_owned() } else { host };
    let port = option("port").unwrap_or(port);
    let port = if port.is_empty() { DEFAULT_PORT } else { port };
    // Without a name PostgreSQL takes that of the user.
    let user = user.split(':').next().unwrap_or_default();
    let name = option("dbname").unwrap_or(name);
    let name = if name.is_empty() { user } else { name };
    format!("{host}:{port}/{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_of_one_database_are_equal_and_those_of_two_are_not() {
        let one = identity(Some("postgres://me:secret@db.example/records"));
        for same in [
            "postgresql://you@DB.example:5432/records?sslmode=require",
            "postgres:///records?host=db.example",
            "postgres://records@db.example",
        ] {
            assert_eq!(identity(Some(same)), one, "{same}");
        }
        for other in
            ["postgres://me@db.example/other", "postgres://me@db.example:5433/records", "postgres://[::1]/records"]
        {
            assert_ne!(identity(Some(other)), one, "{other}");
        }
        assert_ne!(identity(None), one);
    }
}
