//! Settings: a default for each, then `materia.toml`, then `MATERIA_*`, then flags; the later one wins.

mod mistakes;
pub mod oauth;
mod ranges;
pub mod witness;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use contract::actor::Role;
use contract::id::{ActorId, OrganisationId, ProjectId};
use contract::strict::Limits;
use figment::Figment;
use figment::providers::{Env, Format, Serialized, Toml};
use ops::limits;
use serde::{Deserialize, Serialize};
use tracing_subscriber::EnvFilter;

#[derive(Debug, thiserror::Error)]
pub enum SettingsError {
    // In words of our own: those of the parser show the value, which may be a key.
    #[error("the settings are wrong: {0}")]
    Wrong(String),
    #[error("`auth = \"none\"` serves only loopback addresses, but `{setting}` is {address}")]
    OpenToTheWorld { setting: &'static str, address: SocketAddr },
    #[error("the settings of an authorization server are wrong")]
    Oauth(#[source] oauth::OauthSettingsError),
    #[error("the settings of a witness are wrong")]
    Witness(#[source] witness::WitnessSettingsError),
    // Without the URL itself: it may hold a password.
    #[error("`database_url` must begin with `postgres://` or `postgresql://`; leave it out for the embedded SQLite")]
    DatabaseUrl,
    #[error("`{setting}` is {found}, expected {min} to {max}")]
    OutOfRange { setting: &'static str, found: u64, min: u64, max: u64 },
    #[error("`log` is no filter: expected `error`, `warn`, `info`, `debug`, or a list such as `info,ops=debug`")]
    Log,
    #[error("no data folder: give --data, or set MATERIA_DATA or HOME")]
    NoDataFolder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Auth {
    /// Every request carries the start token or an API key.
    Token,
    /// Everybody who reaches the port is the owner. Loopback only.
    None,
}

/// A key that a program calls with. Only the hash is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    pub actor_id: ActorId,
    /// Hex SHA-256 of the key.
    pub sha256: String,
    pub roles: Vec<Role>,
    #[serde(default)]
    pub organisation_id: Option<OrganisationId>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Web UI, MCP, REST, metrics.
    pub listen: SocketAddr,
    /// Task Tracking service.
    pub tasks_listen: SocketAddr,
    /// ID Management service.
    pub ids_listen: SocketAddr,
    /// gRPC.
    pub grpc_listen: SocketAddr,
    /// `postgres://…`; the embedded SQLite when absent.
    pub database_url: Option<String>,
    pub auth: Auth,
    pub api_keys: Vec<ApiKey>,
    /// Authorization servers whose tokens are accepted.
    pub oauth: Vec<oauth::Issuer>,
    /// Names under which clients reach this server, beside loopback.
    pub allowed_hosts: Vec<String>,
    /// Web origins that may call, beside the server's own.
    pub allowed_origins: Vec<String>,
    pub organisation_id: OrganisationId,
    pub default_project_id: ProjectId,
    /// A team's own document types, generators, checklists and templates, on top of those that ship.
    pub workflow_folder: Option<PathBuf>,
    /// Where documents stand as files; `artifacts` in the data folder when absent.
    pub artifacts_base_dir: Option<PathBuf>,
    /// Who may approve what they stored themselves: `never`, `owner` (of this house) or `anybody`.
    pub self_approval: ops::SelfApproval,
    pub agents_may_approve: bool,
    /// Ask the person behind an MCP client, where it can ask, before a document is approved.
    pub confirm_approval: bool,
    /// Research type such as `business_research` → file name, for documents that name none themselves.
    pub research: BTreeMap<String, String>,
    /// The log's signing key; `ledger.key` in the data folder when absent. Servers on one database share it.
    pub ledger_key_file: Option<PathBuf>,
    /// Servers that cosign the log's checkpoints.
    pub witness: Vec<witness::Witness>,
    /// How many of them must have cosigned a checkpoint that counts; all of them when absent.
    pub witness_cosignatures_min: Option<usize>,
    /// Where backups are made; `backups` in the data folder when absent.
    pub backup_folder: Option<PathBuf>,
    pub call_deadline_ms: u64,
    pub reservation_expires_after_minutes: u64,
    pub reservations_per_minute_max: u32,
    /// Others may claim a claimed task after this; 0 for never.
    pub task_lease_minutes: u64,
    /// Another server's Task Tracking service, which then keeps the tasks; a key for it.
    pub tasks_url: Option<String>,
    pub tasks_key: Option<String>,
    /// Another server's ID Management service, which then gives out ids; a key for it.
    pub ids_url: Option<String>,
    pub ids_key: Option<String>,
    /// NCBI's E-utilities, which `pubmed_search` then asks: `https://eutils.ncbi.nlm.nih.gov/entrez/eutils`; a key for
    /// more requests a second, and the address at which NCBI may reach whoever runs this.
    pub eutils_url: Option<String>,
    pub eutils_key: Option<String>,
    pub eutils_email: Option<String>,
    /// Where a TRAPI server takes queries, which `kg_get_everything` and `kg_network_neighborhood` then ask.
    pub trapi_url: Option<String>,
    /// Keep the facts that come with the program, and bring them up to date when it is.
    pub starter_data: bool,
    pub body_bytes_max: usize,
    /// Requests a principal may make per second, on average; 0 for no limit.
    pub rate_per_second: u32,
    pub rate_burst: u32,
    /// Requests without a token that counts, from one address per second on average; 0 for no limit, as where a proxy that
    /// limits them itself stands before everybody.
    pub auth_failures_per_second: u32,
    pub auth_failures_burst: u32,
    /// Requests at work at once, in all and by one principal.
    pub calls_in_flight_max: usize,
    pub calls_per_principal_max: usize,
    pub connections_max: usize,
    pub header_timeout_ms: u64,
    pub body_timeout_ms: u64,
    /// How long a client may take nothing of an answer.
    pub write_timeout_ms: u64,
    /// Time that running requests get when the server stops.
    pub shutdown_grace_ms: u64,
    /// `error`, `warn`, `info`, `debug`, or a filter such as `info,ops=debug`.
    pub log: String,
    /// Calls that take longer get a line of their own in the log, with name, duration and call id; 0 for none.
    pub slow_call_ms: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        let loopback = |port| SocketAddr::from(([127, 0, 0, 1], port));
        #[expect(clippy::expect_used, reason = "the constants are ids, as the tests of `contract::id` show")]
        let (organisation_id, default_project_id) =
            (OrganisationId::parse("default").expect("an id"), ProjectId::parse("default").expect("an id"));
        Settings {
            listen: loopback(8787),
            tasks_listen: loopback(8080),
            ids_listen: loopback(8081),
            grpc_listen: loopback(50051),
            database_url: None,
            auth: Auth::Token,
            api_keys: Vec::new(),
            oauth: Vec::new(),
            allowed_hosts: Vec::new(),
            allowed_origins: Vec::new(),
            organisation_id,
            default_project_id,
            workflow_folder: None,
            artifacts_base_dir: None,
            self_approval: ops::SelfApproval::Owner,
            agents_may_approve: false,
            confirm_approval: false,
            research: BTreeMap::new(),
            ledger_key_file: None,
            witness: Vec::new(),
            witness_cosignatures_min: None,
            backup_folder: None,
            call_deadline_ms: u64::try_from(limits::CALL_DEADLINE.as_millis()).unwrap_or(u64::MAX),
            reservation_expires_after_minutes: limits::RESERVATION_EXPIRES_AFTER.as_secs() / 60,
            reservations_per_minute_max: limits::RESERVATIONS_PER_MINUTE_MAX,
            task_lease_minutes: limits::TASK_LEASE.as_secs() / 60,
            tasks_url: None,
            tasks_key: None,
            ids_url: None,
            ids_key: None,
            eutils_url: None,
            eutils_key: None,
            eutils_email: None,
            trapi_url: None,
            starter_data: true,
            body_bytes_max: Limits::DEFAULT.bytes_max,
            rate_per_second: 200,
            rate_burst: 400,
            auth_failures_per_second: 20,
            auth_failures_burst: 60,
            calls_in_flight_max: 512,
            calls_per_principal_max: 128,
            connections_max: 2_048,
            header_timeout_ms: 5_000,
            body_timeout_ms: 10_000,
            write_timeout_ms: 20_000,
            shutdown_grace_ms: 10_000,
            log: "info".to_owned(),
            slow_call_ms: 1_000,
        }
    }
}

/// What the command line sets. Absent means: leave it to the other sources.
#[derive(Debug, Default, Clone, Serialize)]
pub struct Flags {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub listen: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks_listen: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ids_listen: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub grpc_listen: Option<SocketAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub database_url: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub starter_data: Option<bool>,
}

impl Settings {
    /// Reads all sources for a data folder.
    pub fn read(data: &Path, flags: &Flags) -> Result<Settings, SettingsError> {
        let settings: Settings =
            figment(data, flags).extract().map_err(|error| SettingsError::Wrong(mistakes::told(error)))?;
        settings.check()?;
        Ok(settings)
    }

    fn check(&self) -> Result<(), SettingsError> {
        let is_postgres = |url: &String| url.starts_with("postgres://") || url.starts_with("postgresql://");
        if !self.database_url.as_ref().is_none_or(is_postgres) {
            return Err(SettingsError::DatabaseUrl);
        }
        ranges::check(self)?;
        EnvFilter::try_new(&self.log).map_err(|_| SettingsError::Log)?;
        oauth::check(&self.oauth).map_err(SettingsError::Oauth)?;
        witness::check(&self.witness, self.witness_cosignatures_min).map_err(SettingsError::Witness)?;
        let addresses = [
            ("listen", self.listen),
            ("tasks_listen", self.tasks_listen),
            ("ids_listen", self.ids_listen),
            ("grpc_listen", self.grpc_listen),
        ];
        let open = addresses.into_iter().find(|(_, address)| !address.ip().is_loopback());
        match (self.auth, open) {
            (Auth::None, Some((setting, address))) => Err(SettingsError::OpenToTheWorld { setting, address }),
            (Auth::None | Auth::Token, _) => Ok(()),
        }
    }

    /// File names without their ending, as documents are known by.
    fn research_keys(&self) -> BTreeMap<String, String> {
        let key = |name: &String| name.strip_suffix(".md").unwrap_or(name).to_owned();
        self.research.iter().map(|(kind, name)| (kind.clone(), key(name))).collect()
    }

    /// What the operations need of them.
    pub fn for_operations(&self) -> ops::Settings {
        ops::Settings {
            default_project_id: self.default_project_id.clone(),
            call_deadline: Duration::from_millis(self.call_deadline_ms),
            reservation_expires_after: Duration::from_secs(self.reservation_expires_after_minutes * 60),
            reservations_per_minute_max: self.reservations_per_minute_max,
            backup_folder: self.backup_folder.clone(),
            self_approval: self.self_approval,
            agents_may_approve: self.agents_may_approve,
            confirm_approval: self.confirm_approval,
            research: self.research_keys(),
            task_lease: Some(Duration::from_secs(self.task_lease_minutes.saturating_mul(60)))
                .filter(|lease| !lease.is_zero()),
        }
    }

    pub fn slow_call_after(&self) -> Option<Duration> {
        (self.slow_call_ms > 0).then(|| Duration::from_millis(self.slow_call_ms))
    }

    /// Each setting with its value and where it came from, for `materia config`. Secrets are masked.
    pub fn explain(data: &Path, flags: &Flags) -> Result<Vec<(String, String, String)>, SettingsError> {
        let settings = Settings::read(data, flags)?;
        let figment = figment(data, flags);
        let value = serde_json::to_value(&settings).unwrap_or_default();
        let Some(members) = value.as_object() else { return Ok(Vec::new()) };
        Ok(members
            .iter()
            .map(|(name, value)| {
                let source = figment.find_metadata(name).map_or("default".to_owned(), |found| found.name.to_string());
                // What comes from a type of ours is called by the type's name.
                let source = match source {
                    source if source.contains("Settings") => "default".to_owned(),
                    source if source.contains("Flags") => "flag of the command line".to_owned(),
                    source => source,
                };
                (name.clone(), shown(name, value), source)
            })
            .collect())
    }
}

fn shown(name: &str, value: &serde_json::Value) -> String {
    match (name, value) {
        ("database_url" | "tasks_url" | "ids_url" | "eutils_url" | "trapi_url", serde_json::Value::String(url)) => {
            masked_url(url)
        }
        ("tasks_key" | "ids_key" | "eutils_key", serde_json::Value::String(_)) => "***".to_owned(),
        ("api_keys", serde_json::Value::Array(keys)) => format!("{} keys", keys.len()),
        ("oauth", serde_json::Value::Array(issuers)) => {
            let named = issuers.iter().filter_map(|issuer| issuer.get("issuer")?.as_str());
            format!("[{}]", named.collect::<Vec<_>>().join(", "))
        }
        ("witness", serde_json::Value::Array(witnesses)) => {
            let named = witnesses.iter().filter_map(|witness| witness.get("url")?.as_str());
            format!("[{}]", named.map(masked_url).collect::<Vec<_>>().join(", "))
        }
        (_, serde_json::Value::String(text)) => text.clone(),
        (_, serde_json::Value::Null) => "-".to_owned(),
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

fn figment(data: &Path, flags: &Flags) -> Figment {
    Figment::from(Serialized::defaults(Settings::default()))
        .merge(Toml::file(data.join("materia.toml")))
        .merge(Env::prefixed("MATERIA_").ignore(&["data", "test_postgres", "test_tools", "prove", "bin"]))
        .merge(Serialized::globals(flags).profile("default"))
}

/// `--data`, else `MATERIA_DATA`, else the user's data folder.
pub fn data_folder(flag: Option<PathBuf>) -> Result<PathBuf, SettingsError> {
    let from = |variable: &str| std::env::var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from);
    flag.or_else(|| from("MATERIA_DATA"))
        .or_else(|| from("XDG_DATA_HOME").map(|folder| folder.join("materia")))
        .or_else(|| from("HOME").map(|folder| folder.join(".local/share/materia")))
        .ok_or(SettingsError::NoDataFolder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_open_door_needs_a_loopback_address() {
        let settings =
            Settings { auth: Auth::None, listen: SocketAddr::from(([0, 0, 0, 0], 1)), ..Settings::default() };
        let error = settings.check().unwrap_err();
        assert_eq!(error.to_string(), "`auth = \"none\"` serves only loopback addresses, but `listen` is 0.0.0.0:1");
    }

    #[test]
    fn a_number_out_of_its_range_and_a_filter_that_is_none_are_refused() {
        let error = |settings: Settings| settings.check().unwrap_err().to_string();
        assert_eq!(
            error(Settings { body_bytes_max: 0, ..Settings::default() }),
            "`body_bytes_max` is 0, expected 1024 to 1073741824"
        );
        assert_eq!(
            error(Settings { call_deadline_ms: u64::MAX, ..Settings::default() }),
            "`call_deadline_ms` is 18446744073709551615, expected 1 to 86400000"
        );
        assert!(
            error(Settings { log: "loud,,=x".to_owned(), ..Settings::default() }).starts_with("`log` is no filter")
        );
        assert!(Settings { rate_per_second: 0, slow_call_ms: 0, ..Settings::default() }.check().is_ok());
    }

    #[test]
    fn another_database_than_postgresql_is_refused_without_showing_the_password() {
        for url in ["mysql://me:secret@db/x", "me:secret@db/x", ""] {
            let settings = Settings { database_url: Some(url.to_owned()), ..Settings::default() };
            let error = settings.check().unwrap_err().to_string();
            assert!(error.contains("`postgres://`") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_file_changes_a_default_and_a_flag_changes_the_file() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("materia.toml"), "listen = \"127.0.0.1:1\"\nrate_burst = 7\n").unwrap();
        let flags = Flags { listen: Some(SocketAddr::from(([127, 0, 0, 1], 2))), ..Flags::default() };
        let settings = Settings::read(folder.path(), &flags).unwrap();
        assert_eq!((settings.listen.port(), settings.rate_burst), (2, 7));
    }

    #[test]
    fn an_unknown_setting_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("materia.toml"), "listne = \"127.0.0.1:1\"\n").unwrap();
        assert!(Settings::read(folder.path(), &Flags::default()).is_err());
    }

    #[test]
    fn a_key_for_a_service_is_never_shown() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(
            folder.path().join("materia.toml"),
            "tasks_key = \"secret\"\nids_key = \"secret\"\neutils_key = \"secret\"\n",
        )
        .unwrap();
        let shown = Settings::explain(folder.path(), &Flags::default()).unwrap();
        assert!(shown.iter().any(|(name, value, _)| name == "tasks_key" && value == "***"));
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
        let shown = Settings::explain(folder.path(), &flags).unwrap();
        let (_, _, source) = shown.into_iter().find(|(name, ..)| name == "database_url").unwrap();
        assert_eq!(source, "flag of the command line");
    }
}
