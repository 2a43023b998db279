//! Settings: a default for each, then what a flag chose for the folder, then `materia.toml`, then `MATERIA_*`, then flags;
//! the later one wins.

pub mod chosen;
pub mod explained;
mod forms;
mod log_format;
mod mistakes;
pub mod oauth;
mod ranges;
pub mod witness;

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use contract::actor::{Role, is_of_issuer, is_reserved};
use contract::id::{ActorId, OrganisationId, ProjectId};
use contract::strict::Limits;
use figment::Figment;
use figment::providers::{Env, Format, Serialized, Toml};
use ops::limits;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use log_format::LogFormat;

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
    #[error("`workflow_folder` is `{}`, which is no folder; mend the path or leave it out", _0.display())]
    WorkflowFolder(PathBuf),
    #[error("`log` is no filter: expected `error`, `warn`, `info`, `debug`, or a list such as `info,ops=debug`")]
    Log,
    #[error("`allowed_origins` holds `{0}`, expected origins such as `https://materia.example`, without a path")]
    Origin(String),
    #[error("`{}` is no file that can be read; mend it or take it away", _0.display())]
    NoFile(PathBuf),
    #[error("`actor_id` of [[api_keys]] is `{actor_id}`, which {whose}; give the key a name of its own")]
    KeyName { actor_id: ActorId, whose: String },
    #[error("no data folder: give --data, or set MATERIA_DATA or HOME")]
    NoDataFolder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Auth {
    /// Every request carries the start token or an API key.
    Token,
    /// Everybody who reaches the port is the owner. Loopback only.
    None,
}

/// A key that a program calls with. Only the hash is kept.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ApiKey {
    pub actor_id: ActorId,
    /// Hex SHA-256 of the key.
    pub sha256: String,
    pub roles: Vec<Role>,
    #[serde(default)]
    pub organisation_id: Option<OrganisationId>,
}

/// What can be set. `materia config` prints what is said here of each.
#[derive(Debug, Clone, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Address of the web UI, MCP, REST and metrics.
    pub listen: SocketAddr,
    /// Address of the Task Tracking service.
    pub tasks_listen: SocketAddr,
    /// Address of the ID Management service.
    pub ids_listen: SocketAddr,
    /// Address of gRPC.
    pub grpc_listen: SocketAddr,
    /// `postgres://…`; the embedded SQLite when absent.
    pub database_url: Option<String>,
    /// `token`: every request carries the start token or an API key. `none`: everybody who reaches the port is the owner;
    /// loopback addresses only.
    pub auth: Auth,
    /// Keys of programs, each by its hash: `[[api_keys]]` with `actor_id`, `sha256`, `roles`, `organisation_id`.
    pub api_keys: Vec<ApiKey>,
    /// Authorization servers whose tokens are accepted: `[[oauth]]` with `issuer`, `audience`, `jwks_url` and more.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub oauth: Vec<oauth::Issuer>,
    /// Names under which clients reach this server, beside loopback.
    pub allowed_hosts: Vec<String>,
    /// Web origins that may call, beside the server's own.
    pub allowed_origins: Vec<String>,
    /// Whose record the owner of the data folder works in.
    pub organisation_id: OrganisationId,
    /// The project of calls that name none.
    pub default_project_id: ProjectId,
    /// A team's own document types, generators, checklists and templates, on top of those that ship; a folder that is there.
    pub workflow_folder: Option<PathBuf>,
    /// Where documents stand as files; `artifacts` in the data folder when absent.
    pub artifacts_base_dir: Option<PathBuf>,
    /// Who may approve what they stored themselves: `never`, `owner` (of this house) or `anybody`.
    #[schemars(with = "String")]
    pub self_approval: ops::SelfApproval,
    /// Whether agents may approve documents.
    pub agents_may_approve: bool,
    /// Whether whoever approves must name the SHA-256 of what they reviewed (`content_sha256`).
    pub approval_needs_hash: bool,
    /// Ask the person behind an MCP client, where it can ask, before a document is approved.
    pub confirm_approval: bool,
    /// Research type such as `business_research` → file name, for documents that name none themselves.
    pub research: BTreeMap<String, String>,
    /// The log's signing key; `ledger.key` in the data folder when absent. Servers on one database share it.
    pub ledger_key_file: Option<PathBuf>,
    /// Servers that cosign the log's checkpoints: `[[witness]]` with `url`, `key`, `name`.
    #[schemars(with = "Vec<serde_json::Value>")]
    pub witness: Vec<witness::Witness>,
    /// How many of them must have cosigned a checkpoint that counts; all of them when absent.
    pub witness_cosignatures_min: Option<usize>,
    /// Where backups are made; `backups` in the data folder when absent.
    pub backup_folder: Option<PathBuf>,
    /// Milliseconds that a call may take, where its operation sets no time of its own.
    pub call_deadline_ms: u64,
    /// Minutes for which reserved ids are kept for whoever reserved them.
    pub reservation_expires_after_minutes: u64,
    /// Reservations that may be made in one project in a minute.
    pub reservations_per_minute_max: u32,
    /// Others may claim a claimed task after so many minutes; 0 for never.
    pub task_lease_minutes: u64,
    /// Another server's Task Tracking service, which then keeps the tasks.
    pub tasks_url: Option<String>,
    /// A key for it.
    pub tasks_key: Option<String>,
    /// Another server's ID Management service, which then gives out ids.
    pub ids_url: Option<String>,
    /// A key for it.
    pub ids_key: Option<String>,
    /// Whose tasks and ids `tasks_url` and `ids_url` keep; `organisation_id` when absent. Those of every other organisation
    /// stay here: over there all of them would be one.
    pub services_organisation_id: Option<OrganisationId>,
    /// NCBI's E-utilities, which `pubmed_search` then asks: `https://eutils.ncbi.nlm.nih.gov/entrez/eutils`.
    pub eutils_url: Option<String>,
    /// A key for more requests a second there.
    pub eutils_key: Option<String>,
    /// The address at which NCBI may reach whoever runs this.
    pub eutils_email: Option<String>,
    /// Where a TRAPI server takes queries, which `kg_get_everything` and `kg_network_neighborhood` then ask.
    pub trapi_url: Option<String>,
    /// Keep the facts that come with the program, and bring them up to date when it is.
    pub starter_data: bool,
    /// Bytes of a request's body.
    pub body_bytes_max: usize,
    /// Requests a principal may make per second over the network, on average; 0 for no limit. Not for `materia mcp`: whoever
    /// starts it is on this machine, and it reads no further than it can answer.
    pub rate_per_second: u32,
    /// Requests a principal may make at once after a rest, where there is a rate. Not for `materia mcp` either.
    pub rate_burst: u32,
    /// Requests without a token that counts, from one address per second on average; 0 for no limit, as where a proxy that
    /// limits them itself stands before everybody.
    pub auth_failures_per_second: u32,
    /// Such requests that one address may make at once after a rest, where there is a limit.
    pub auth_failures_burst: u32,
    /// Requests at work at once.
    pub calls_in_flight_max: usize,
    /// Requests of one principal at work at once.
    pub calls_per_principal_max: usize,
    /// Open connections of one port; fewer where the process may not open as many files.
    pub connections_max: usize,
    /// Open connections of one port from one address; three quarters of `connections_max` when absent. As many as
    /// `connections_max` where a proxy stands before everybody.
    pub connections_per_address_max: Option<usize>,
    /// Streams of one principal that are open at once: subscriptions, and calls that report progress or ask.
    pub streams_per_principal_max: usize,
    /// Streams that are open at once; a quarter of `connections_max` when absent.
    pub streams_max: Option<usize>,
    /// Milliseconds after which a subscription ends; its client subscribes again.
    pub stream_lifetime_ms: u64,
    /// Milliseconds that a client may take to send the head of a request.
    pub header_timeout_ms: u64,
    /// Milliseconds that a client may take to send the body of a request.
    pub body_timeout_ms: u64,
    /// Milliseconds for which a client may take nothing of an answer.
    pub write_timeout_ms: u64,
    /// Milliseconds that running requests get when the server stops; 0 for none.
    pub shutdown_grace_ms: u64,
    /// `error`, `warn`, `info`, `debug`, or a filter such as `info,ops=debug`. In `text`, `info` leaves out what is told of every
    /// call; `info,ops=info` has it.
    pub log: String,
    /// `text` for people, `json` for programs; `auto`: `text` at a terminal, else `json`.
    #[schemars(with = "String")]
    pub log_format: LogFormat,
    /// Calls that take longer, in milliseconds, get a line of their own in the log, with name, duration and call id; 0 for
    /// none.
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
            approval_needs_hash: false,
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
            services_organisation_id: None,
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
            connections_per_address_max: None,
            streams_per_principal_max: 32,
            streams_max: None,
            stream_lifetime_ms: 600_000,
            header_timeout_ms: 5_000,
            body_timeout_ms: 10_000,
            write_timeout_ms: 20_000,
            shutdown_grace_ms: 10_000,
            log: "info".to_owned(),
            log_format: LogFormat::Auto,
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
    #[serde(skip_serializing_if = "Option::is_none")]
    pub log_format: Option<LogFormat>,
}

impl Settings {
    /// Reads all sources for a data folder.
    pub fn read(data: &Path, flags: &Flags) -> Result<Settings, SettingsError> {
        // Whatever is no file would be passed over, and with it what somebody decided.
        let file = data.join(SETTINGS_FILE);
        if file.symlink_metadata().is_ok() && !file.is_file() {
            return Err(SettingsError::NoFile(file));
        }
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
        // Nothing in it would be missed, so a mistyped path would take a team's types away without a word.
        if let Some(folder) = self.workflow_folder.as_ref().filter(|folder| !folder.is_dir()) {
            return Err(SettingsError::WorkflowFolder(folder.clone()));
        }
        forms::check(self)?;
        oauth::check(&self.oauth).map_err(SettingsError::Oauth)?;
        self.check_key_names()?;
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

    /// As `create_key` does: the acts of a key must not look like somebody else's.
    fn check_key_names(&self) -> Result<(), SettingsError> {
        for ApiKey { actor_id, .. } in &self.api_keys {
            let issuer = self.oauth.iter().map(oauth::Issuer::name).find(|issuer| is_of_issuer(actor_id, issuer));
            let whose = match issuer {
                _ if is_reserved(actor_id) => "acts without a key".to_owned(),
                Some(issuer) => format!("is one of the people whom the issuer `{issuer}` signs in"),
                None => continue,
            };
            return Err(SettingsError::KeyName { actor_id: actor_id.clone(), whose });
        }
        Ok(())
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
            approval_needs_hash: self.approval_needs_hash,
            confirm_approval: self.confirm_approval,
            research: self.research_keys(),
            task_lease: Some(Duration::from_secs(self.task_lease_minutes.saturating_mul(60)))
                .filter(|lease| !lease.is_zero()),
            issuer_names: self.oauth.iter().map(oauth::Issuer::name).collect(),
        }
    }

    /// Whose the services of another server are.
    pub fn services_organisation_id(&self) -> &OrganisationId {
        self.services_organisation_id.as_ref().unwrap_or(&self.organisation_id)
    }

    /// How many connections one address may have open at once.
    pub fn connections_per_address_max(&self) -> usize {
        self.connections_per_address_max.unwrap_or(self.connections_max / 4 * 3).max(1)
    }

    /// How many streams may be open at once.
    pub fn streams_max(&self) -> usize {
        self.streams_max.unwrap_or(self.connections_max / 4).max(1)
    }

    pub fn slow_call_after(&self) -> Option<Duration> {
        (self.slow_call_ms > 0).then(|| Duration::from_millis(self.slow_call_ms))
    }
}

const SETTINGS_FILE: &str = "materia.toml";

fn figment(data: &Path, flags: &Flags) -> Figment {
    Figment::from(Serialized::defaults(Settings::default()))
        .merge(chosen::Chosen::read(data))
        .merge(Toml::file(data.join(SETTINGS_FILE)))
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
    fn another_database_than_postgresql_is_refused_without_showing_the_password() {
        for url in ["mysql://me:secret@db/x", "me:secret@db/x", ""] {
            let settings = Settings { database_url: Some(url.to_owned()), ..Settings::default() };
            let error = settings.check().unwrap_err().to_string();
            assert!(error.contains("`postgres://`") && !error.contains("secret"), "{error}");
        }
    }

    #[test]
    fn a_key_in_the_name_of_somebody_else_is_refused() {
        let issuer: oauth::Issuer = serde_json::from_value(serde_json::json!({
            "issuer": "https://login.example", "audience": "https://materia.example/mcp",
            "jwks_url": "https://login.example/keys",
        }))
        .unwrap();
        let check = |actor_id: &str| {
            let actor_id = ActorId::parse(actor_id).unwrap();
            let key = ApiKey { actor_id, sha256: "0".repeat(64), roles: vec![Role::Agent], organisation_id: None };
            let settings = Settings { api_keys: vec![key], oauth: vec![issuer.clone()], ..Settings::default() };
            settings.check().map_err(|error| error.to_string())
        };
        for (actor_id, whose) in [("owner", "acts without a key"), ("Login-Example.alice", "`login-example` signs in")]
        {
            let error = check(actor_id).unwrap_err();
            assert!(error.contains(whose) && error.contains(actor_id), "{error}");
        }
        assert_eq!(check("kagent"), Ok(()));
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
    fn a_workflow_folder_that_is_not_there_is_refused_by_name() {
        let wrong = |folder: &str| Settings { workflow_folder: Some(folder.into()), ..Settings::default() };
        let error = wrong("/nope").check().unwrap_err().to_string();
        assert_eq!(error, "`workflow_folder` is `/nope`, which is no folder; mend the path or leave it out");
        assert!(wrong("/dev/null").check().is_err());
        assert!(wrong("/tmp").check().is_ok());
    }

    #[test]
    fn a_file_of_settings_that_is_none_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let read = || Settings::read(folder.path(), &Flags::default());
        assert!(read().is_ok());
        let file = folder.path().join("materia.toml");
        std::os::unix::fs::symlink("nowhere", &file).unwrap();
        assert!(read().unwrap_err().to_string().ends_with("is no file that can be read; mend it or take it away"));
        std::fs::remove_file(&file).unwrap();
        std::fs::create_dir(&file).unwrap();
        assert!(read().is_err());
    }

    #[test]
    fn an_unknown_setting_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("materia.toml"), "listne = \"127.0.0.1:1\"\n").unwrap();
        assert!(Settings::read(folder.path(), &Flags::default()).is_err());
    }
}
