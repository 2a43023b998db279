//! What a text may be: a filter of the log, an origin.

use tracing_subscriber::EnvFilter;
use tracing_subscriber::filter::LevelFilter;

use super::{Settings, SettingsError};

pub fn check(settings: &Settings) -> Result<(), SettingsError> {
    if !is_filter(&settings.log) {
        return Err(SettingsError::Log);
    }
    match settings.allowed_origins.iter().find(|origin| !is_origin(origin)) {
        Some(origin) => Err(SettingsError::Origin(origin.clone())),
        None => Ok(()),
    }
}

/// The library takes a word that is no level for the name of a part of the program, and then nothing else is told.
fn is_filter(text: &str) -> bool {
    let is_known = |directive: &str| directive.parse::<LevelFilter>().is_ok() || directive.contains(['=', '[']);
    EnvFilter::try_new(text).is_ok() && text.split(',').filter(|directive| !directive.is_empty()).all(is_known)
}

/// A scheme and a host, as browsers say them.
fn is_origin(text: &str) -> bool {
    let Ok(uri) = text.parse::<http::Uri>() else { return false };
    let is_web = matches!(uri.scheme_str(), Some("http" | "https"));
    is_web && uri.host().is_some_and(|host| !host.is_empty()) && text.matches('/').count() == 2 && !text.contains('@')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_names_levels() {
        for log in ["loud,,=x", "infoo", "loud", "info,opss", "ops=loud"] {
            let settings = Settings { log: log.to_owned(), ..Settings::default() };
            assert!(matches!(check(&settings), Err(SettingsError::Log)), "{log}");
        }
        for log in ["info", "WARN", "off", "info,ops=debug"] {
            assert!(check(&Settings { log: log.to_owned(), ..Settings::default() }).is_ok(), "{log}");
        }
    }

    #[test]
    fn an_origin_is_a_scheme_and_a_host() {
        let with = |origin: &str| Settings { allowed_origins: vec![origin.to_owned()], ..Settings::default() };
        for origin in ["evil", "https://", "https://a.example/", "ftp://a.example", "https://me@a.example", "null"] {
            let told = check(&with(origin)).unwrap_err().to_string();
            assert!(told.starts_with(&format!("`allowed_origins` holds `{origin}`, expected origins")), "{told}");
        }
        for origin in ["https://a.example", "http://127.0.0.1:9000", "http://[::1]:9000"] {
            assert!(check(&with(origin)).is_ok(), "{origin}");
        }
    }
}
