//! Following a resource: who subscribed to a job hears that it went on, in both protocol eras.

use std::time::Duration;

use contract::actor::Role;
use contract::error::OpError;
use contract::job::{AnswerJob, CancelJob, JobStatus, StartJob};
use ops::{Answer, Context, Entry, Family, JobMode, Operation, Read};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::attacks::lab::{Lab, RIVAL_TOKEN, TOKEN};

const WITHIN: Duration = Duration::from_secs(30);

const ENTRIES: &[Entry] = &[
    Entry::read::<Sleep>(),
    Entry::write::<StartJob>(),
    Entry::read::<JobStatus>(),
    Entry::write::<AnswerJob>(),
    Entry::write::<CancelJob>(),
];

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Sleep {
    seconds: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Slept {
    seconds: u64,
}

impl Operation for Sleep {
    const NAME: &'static str = "sleep";
    const ABOUT: &'static str = "A trial.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &Role::ALL;
    const DEADLINE: Option<Duration> = Some(Duration::from_secs(60));
    const JOB: JobMode = JobMode::Offered;

    type Output = Slept;
}

impl Read for Sleep {
    async fn run(&self, _ctx: &Context<'_>) -> Result<Answer<Slept>, OpError> {
        tokio::time::sleep(Duration::from_secs(self.seconds)).await;
        Ok(Answer::of(Slept { seconds: self.seconds }))
    }
}

async fn start(lab: &Lab, seconds: u64) -> String {
    let input = json!({"operation": "sleep", "input": {"seconds": seconds}});
    let started = lab.rest("start_job", &input).await.json();
    started["job_id"].as_str().unwrap_or_else(|| panic!("{started}")).to_owned()
}

async fn cancel(lab: &Lab, job_id: &str) {
    assert_eq!(lab.rest("cancel_job", &json!({"job_id": job_id})).await.status, 200);
}

/// Opens `subscriptions/listen` on a job.
async fn listen(lab: &Lab, token: &str, uri: &str) -> reqwest::Response {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let params = json!({"notifications": {"resourceSubscriptions": [uri, "no://where"]}, "_meta": meta});
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params});
    let http = reqwest::Client::builder().no_proxy().build().expect("a client without TLS always builds");
    let request = http.post(format!("http://{}/mcp", lab.http())).bearer_auth(token);
    let request = request.header("Accept", "application/json, text/event-stream");
    let request = request.header("MCP-Protocol-Version", "2026-07-28").header("Mcp-Method", "subscriptions/listen");
    request.json(&message).send().await.expect("the server answers")
}

async fn next(stream: &mut reqwest::Response, kept: &mut String) -> Value {
    loop {
        if let Some((event, rest)) = kept.split_once("\n\n") {
            let data = event.lines().find_map(|line| line.strip_prefix("data: ")).map(str::to_owned);
            *kept = rest.to_owned();
            match data {
                Some(data) => return serde_json::from_str(&data).expect("a message is JSON"),
                None => continue,
            }
        }
        let chunk = tokio::time::timeout(WITHIN, stream.chunk()).await.expect("a message in time");
        let chunk = chunk.expect("the stream goes on").expect("the stream has more");
        kept.push_str(&String::from_utf8_lossy(&chunk));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_hears_that_its_job_went_on() {
    let lab = Lab::open(ENTRIES).await;
    // Long enough for the listener to have had its first look.
    let job_id = start(&lab, 4).await;
    let uri = format!("job://jobs/{job_id}");
    let mut stream = listen(&lab, TOKEN, &uri).await;
    let mut kept = String::new();
    let acknowledged = next(&mut stream, &mut kept).await;
    assert_eq!(acknowledged["method"], "notifications/subscriptions/acknowledged", "{acknowledged}");
    assert_eq!(acknowledged["params"]["notifications"]["resourceSubscriptions"], json!([uri]), "{acknowledged}");
    loop {
        let updated = next(&mut stream, &mut kept).await;
        assert_eq!(updated["method"], "notifications/resources/updated", "{updated}");
        assert_eq!(updated["params"]["uri"], json!(uri), "{updated}");
        let status = lab.rest("job_status", &json!({"job_id": job_id})).await.json();
        if status["state"] != "working" {
            assert_eq!(status["ending"]["output"], json!({"seconds": 4}), "{status}");
            break;
        }
    }
    drop(stream);
    lab.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_listener_hears_of_facts_and_documents() {
    let lab = Lab::open(ops::operations::OPERATIONS).await;
    let herb = json!({"records": [
        {"record": "source", "id": "s", "title": "Made up", "licence": "CC0-1.0"},
        {"record": "node", "id": "H1", "categories": ["herb"], "names": [{"text": "ginger", "lang": "en"}], "source": "s"},
    ]});
    assert_eq!(lab.rest("put_records", &herb).await.json()["kept"], 2);
    let documents = "mcp://resources/artifacts/metadata?type=business_research";
    for (uri, operation, input) in [
        (
            "kg://herb/ginger",
            "put_records",
            json!({"records": [
                {"record": "node", "id": "C9", "categories": ["constituent"], "names": [{"text": "c", "lang": "en"}], "source": "s"},
                {"record": "edge", "id": "E1", "subject": "H1", "predicate": "contains", "object": "C9", "source": "s"},
            ]}),
        ),
        (
            documents,
            "store_artifact",
            json!({"artifact_content": format!(
                "# Herbs - Business Research\n\n## Metadata\n\n- **Version:** 1\n\n{}\n",
                "Ginger. ".repeat(20)
            )}),
        ),
    ] {
        let read = if uri == documents { "list_artifacts" } else { "read_herb" };
        let n_before = lab.n_calls(read, "ok").await;
        let (mut stream, mut kept) = (listen(&lab, TOKEN, uri).await, String::new());
        let acknowledged = next(&mut stream, &mut kept).await;
        assert_eq!(acknowledged["params"]["notifications"]["resourceSubscriptions"], json!([uri]), "{acknowledged}");
        // The first look is a call, after which every change is heard.
        lab.wait_for(read, "ok", n_before + 1).await;
        let changed = lab.rest(operation, &input).await;
        assert_eq!(changed.status, 200, "{changed:?}");
        let updated = next(&mut stream, &mut kept).await;
        assert_eq!(updated["params"]["uri"], json!(uri), "{updated}");
    }
    lab.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn who_may_not_read_a_job_may_not_follow_it() {
    let lab = Lab::open(ENTRIES).await;
    let job_id = start(&lab, 60).await;
    let mut stream = listen(&lab, RIVAL_TOKEN, &format!("job://jobs/{job_id}")).await;
    let mut kept = String::new();
    next(&mut stream, &mut kept).await;
    let refused = next(&mut stream, &mut kept).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    cancel(&lab, &job_id).await;
    lab.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_a_pipe_a_subscriber_of_the_older_revision_hears_it_too() {
    let lab = Lab::open(ENTRIES).await;
    let mut lines = lab.lines().await;
    // The pipe is the owner's, as REST is with the token: the same caller.
    let started = lines.call("start_job", json!({"operation": "sleep", "input": {"seconds": 60}})).await;
    let job_id = started["result"]["structuredContent"]["job_id"].as_str().expect("a job").to_owned();
    let uri = format!("job://jobs/{job_id}");
    lines.send(&json!({"jsonrpc": "2.0", "id": 2, "method": "resources/subscribe", "params": {"uri": uri}})).await;
    assert_eq!(lines.next().await["result"], json!({}));
    cancel(&lab, &job_id).await;
    let updated = lines.next().await;
    assert_eq!(
        (&updated["method"], &updated["params"]["uri"]),
        (&json!("notifications/resources/updated"), &json!(uri))
    );
    lines.send(&json!({"jsonrpc": "2.0", "id": 3, "method": "resources/unsubscribe", "params": {"uri": uri}})).await;
    assert_eq!(lines.next().await["result"], json!({}));
    drop(lines);
    lab.close().await;
}
