//! Runs the suite's requirements of one revision and tells which checks failed.

use std::fmt::Write as _;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use contract::job::{AnswerJob, CancelJob, JobStatus, StartJob};
use ops::{Clock, Entry};
use serde_json::Value;
use server::owner::{House, HouseOptions, StarterData};
use server::serve::Server;
use server::settings::{Auth, Settings};
use tokio::sync::broadcast;

use super::front::Front;
use super::{offers, tools};
use crate::clients::{node, package};

const SUITE_SECONDS_MAX: &str = "300";
/// List changes that a listener may be behind.
const CHANGES_MAX: usize = 16;

#[test]
fn the_requirements_of_2026_07_28_hold() {
    check("2026-07-28", None);
}

#[test]
fn the_requirements_of_2025_11_25_hold() {
    check("2025-11-25", None);
}

#[test]
fn the_requirements_of_2026_07_28_hold_on_postgresql() {
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let database = runtime.block_on(testkit::postgres_url());
    check("2026-07-28", Some(&database.url));
}

fn entries() -> &'static [Entry] {
    let jobs = [
        Entry::write::<StartJob>(),
        Entry::read::<JobStatus>(),
        Entry::write::<AnswerJob>(),
        Entry::write::<CancelJob>(),
    ];
    Vec::leak(tools::entries().into_iter().chain(offers::entries()).chain(jobs).collect())
}

async fn serve(folder: &Path, database_url: Option<&str>) -> Server {
    let anywhere = SocketAddr::from(([127, 0, 0, 1], 0));
    let settings = Settings {
        listen: anywhere,
        tasks_listen: anywhere,
        ids_listen: anywhere,
        grpc_listen: anywhere,
        auth: Auth::None,
        rate_per_second: 1_000_000,
        rate_burst: 1_000_000,
        starter_data: false,
        ..Settings::default()
    };
    let options = HouseOptions {
        files: workflow::projection::Root::new(folder.join("artifacts"), "here".to_owned()),
        folder: folder.to_path_buf(),
        organisation_id: settings.organisation_id.clone(),
        starter_data: StarterData::Load,
        database_url: database_url.map(str::to_owned),
        entries: entries(),
        settings: settings.for_operations(),
        services: server::assemble::services(folder, &settings).expect("the types that ship can be read"),
        clock: Clock::system(),
        ledger_key_file: None,
        witnesses: Vec::new(),
        witness_cosignatures_min: None,
        slow_call_after: None,
    };
    let house = House::enter(options).await.expect("a new folder can be used");
    let changes = broadcast::Sender::new(CHANGES_MAX);
    let front = move |mut handler: server::mcp::handler::Handler| {
        handler.offers = &offers::OFFERS;
        Front { handler, changes: changes.clone() }
    };
    Server::start_behind(Arc::clone(&house), &settings, "unused", front).await.expect("a free port can be had")
}

fn check(revision: &str, database_url: Option<&str>) {
    let folder = testkit::temp_dir();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
    let server = runtime.block_on(serve(&folder.path().join("data"), database_url));
    let results = folder.path().join("results");
    let url = format!("http://{}/mcp", server.http);
    let mut suite = Command::new("timeout");
    suite.args(["--kill-after=5", SUITE_SECONDS_MAX]).arg(node());
    suite.arg(package("@modelcontextprotocol/conformance/dist/index.js"));
    suite.args(["server", "--url", &url, "--requirements", revision, "-o"]).arg(&results);
    let output = suite.output().expect("`timeout` starts");
    let told = String::from_utf8_lossy(&output.stdout);
    let results = Results::read(&results);
    let n_passed = results.n_passed;
    assert!(results.failures.is_empty(), "{revision}: {n_passed} checks passed, these did not:\n{}", results.failures);
    assert!(results.warnings.is_empty(), "{revision}: {:?}", results.warnings);
    assert!(output.status.success(), "the suite ended with {}:\n{told}", output.status);
    assert!(n_passed > 50, "only {n_passed} checks ran:\n{told}");
    println!("proof: mcp_conformance revision={revision} passed={n_passed} failed=0");
    runtime.block_on(server.stop()).expect("all is recorded");
}

/// What the suite found, over all scenarios.
#[derive(Default)]
struct Results {
    n_passed: usize,
    /// A line for each check.
    failures: String,
    /// Ids of checks, in order.
    warnings: Vec<String>,
}

impl Results {
    /// Reads the file that the suite writes for each scenario.
    fn read(folder: &Path) -> Results {
        let mut results = Results::default();
        for scenario in std::fs::read_dir(folder).expect("the suite writes its results").flatten() {
            let Ok(text) = std::fs::read_to_string(scenario.path().join("checks.json")) else { continue };
            let checks: Vec<Value> = serde_json::from_str(&text).expect("checks are JSON");
            for check in checks {
                results.take(&scenario.file_name().to_string_lossy(), &check);
            }
        }
        results.warnings.sort_unstable();
        results
    }

    fn take(&mut self, scenario: &str, check: &Value) {
        let id = check["id"].as_str().unwrap_or_default();
        match check["status"].as_str().unwrap_or_default() {
            "SUCCESS" => self.n_passed += 1,
            "WARNING" => self.warnings.push(id.to_owned()),
            "SKIPPED" | "INFO" => {}
            status => {
                let error = &check["errorMessage"];
                writeln!(self.failures, "  {scenario} {id} {status}: {error}").expect("a string takes all");
            }
        }
    }
}
