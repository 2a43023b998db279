//! Request states and questions over MCP: a tampered, replayed, foreign or expired state is refused (case 14), and only
//! whoever was asked may answer.

use contract::actor::Role;
use contract::error::OpError;
use contract::question::{FormAnswer, Question, Questions};
use ops::{Answer, ApplyError, Clock, Context, Entry, Family, Operation, Write};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::{Tx, idempotency};

use super::lab::{Lab, RIVAL_TOKEN, TOKEN};
use super::record::count;

const ENTRIES: &[Entry] = &[Entry::write::<Approve>()];

/// A change that a person must agree to. Each leaves a row.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Approve {
    what: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Approved {
    n_approved: usize,
}

impl Operation for Approve {
    const NAME: &'static str = "approve";
    const ABOUT: &'static str = "A trial.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &Role::ALL;

    type Output = Approved;
}

impl Write for Approve {
    type Plan = ();

    async fn prepare(&self, ctx: &Context<'_>) -> Result<(), OpError> {
        let schema = json!({"type": "object", "properties": {"sure": {"type": "boolean"}}, "required": ["sure"]});
        let Value::Object(schema) = schema else { panic!("a schema is an object") };
        let question = Question::Form { message: "Are you sure?".to_owned(), schema };
        let answers = ctx.ask(Questions::from([("sure".to_owned(), question)]))?;
        match serde_json::from_value(answers["sure"].clone()) {
            Ok(FormAnswer::Accept { content }) if content["sure"] == true => Ok(()),
            _ => Err(OpError::conflict("nobody is sure")),
        }
    }

    async fn apply(&self, _plan: &(), tx: &mut Tx<'_>) -> Result<Answer<Approved>, ApplyError> {
        let n_rows = tx.fetch_all("SELECT 1 FROM idempotency_keys WHERE operation = 'approved'", &[]).await?.len();
        let stored = idempotency::Stored { in_hash: String::new(), output: String::new() };
        idempotency::insert(tx, "here", "somebody", "approved", &n_rows.to_string(), &stored, 0).await?;
        Ok(Answer::of(Approved { n_approved: n_rows + 1 }))
    }
}

/// `tools/call` of 2026-07-28 by somebody who can be asked.
async fn call(lab: &Lab, token: &str, what: &str, more: Value) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}
    });
    let mut params = json!({"name": "approve", "arguments": {"what": what}, "_meta": meta});
    params.as_object_mut().expect("an object").extend(more.as_object().cloned().unwrap_or_default());
    let message = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params});
    let request = lab
        .mcp_request_as(token, &message)
        .header("MCP-Protocol-Version", "2026-07-28")
        .header("Mcp-Method", "tools/call")
        .header("Mcp-Name", "approve");
    lab.send(request).await.json()
}

fn answered(state: &str) -> Value {
    json!({"requestState": state, "inputResponses": {"sure": {"action": "accept", "content": {"sure": true}}}})
}

async fn asked(lab: &Lab) -> String {
    let asked = call(lab, TOKEN, "x", json!({})).await;
    assert_eq!(asked["result"]["resultType"], "input_required", "{asked}");
    assert_eq!(asked["result"]["inputRequests"]["sure"]["method"], "elicitation/create", "{asked}");
    asked["result"]["requestState"].as_str().expect("a state").to_owned()
}

fn check_refused(answer: &Value) {
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tampered_replayed_foreign_or_expired_state_is_refused_and_changes_nothing() {
    let clock = Clock::manual(1_770_231_600_000_000);
    let lab = Lab::open_at(ENTRIES, clock.clone()).await;
    let state = asked(&lab).await;

    let (head, tail) = state.split_at(state.len() / 2);
    let swapped = if tail.starts_with('A') { 'B' } else { 'A' };
    for tampered in [format!("{head}{swapped}{}", &tail[1..]), head.to_owned(), format!("{state}-TAMPERED")] {
        check_refused(&call(&lab, TOKEN, "x", answered(&tampered)).await);
    }
    check_refused(&call(&lab, RIVAL_TOKEN, "x", answered(&state)).await);
    check_refused(&call(&lab, TOKEN, "y", answered(&state)).await);

    let done = call(&lab, TOKEN, "x", answered(&state)).await;
    assert_eq!(done["result"]["structuredContent"]["n_approved"], 1, "{done}");
    check_refused(&call(&lab, TOKEN, "x", answered(&state)).await);

    let late = asked(&lab).await;
    clock.set_us(clock.now_us() + 15 * 60 * 1_000_000);
    check_refused(&call(&lab, TOKEN, "x", answered(&late)).await);

    // An answer without the state of the question is none.
    let unasked = json!({"inputResponses": {"sure": {"action": "accept", "content": {"sure": true}}}});
    let again = call(&lab, TOKEN, "x", unasked).await;
    assert_eq!(again["result"]["resultType"], "input_required", "{again}");
    let fresh = again["result"]["requestState"].as_str().expect("a state").to_owned();
    let done = call(&lab, TOKEN, "x", answered(&fresh)).await;
    assert_eq!(done["result"]["structuredContent"]["n_approved"], 2, "every refusal left things as they were: {done}");

    let events = lab.close().await;
    assert_eq!(count(&events, "approve", "invalid"), 7);
    assert_eq!(count(&events, "approve", "input_required"), 3);
    assert_eq!(count(&events, "approve", "ok"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_cannot_be_asked_is_told_so() {
    let lab = Lab::open(ENTRIES).await;
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {}
    });
    let refused = call(&lab, TOKEN, "x", json!({"_meta": meta})).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
    assert_eq!(refused["error"]["data"]["requiredCapabilities"], json!({"elicitation": {}}), "{refused}");
    let rest = lab.rest("approve", &json!({"what": "x"})).await;
    assert_eq!((rest.status, &rest.json()["error"]["code"]), (428, &json!("INPUT_REQUIRED")));
}

/// The next message of a stream of events.
async fn next(stream: &mut reqwest::Response) -> Value {
    let mut text = String::new();
    loop {
        let chunk = stream.chunk().await.expect("the stream goes on").expect("the stream has more");
        text.push_str(&String::from_utf8_lossy(&chunk));
        if let Some(data) = text.lines().find_map(|line| line.strip_prefix("data: ")) {
            return serde_json::from_str(data).expect("a message is JSON");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn only_whoever_was_asked_on_an_open_stream_may_answer() {
    let lab = Lab::open(ENTRIES).await;
    let http = reqwest::Client::builder().no_proxy().build().expect("a client without TLS always builds");
    let bare = |token: &str, message: &Value| {
        let request = http.post(format!("http://{}/mcp", lab.http())).bearer_auth(token);
        let request = request.header("Accept", "application/json, text/event-stream");
        request.header("MCP-Protocol-Version", "2025-11-25").json(message)
    };
    let initialize = |capabilities: Value| {
        let params = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities,
            "clientInfo": {"name": "x", "version": "1"}});
        bare(TOKEN, &json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})).send()
    };
    let params = json!({"name": "approve", "arguments": {"what": "x"}});
    let message = json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params});
    // Who did not say that they can be asked is refused at once.
    let silent = initialize(json!({})).await.expect("the server answers");
    assert_eq!(silent.headers().get("mcp-session-id"), None);
    let refused = bare(TOKEN, &message).send().await.expect("the server answers");
    let refused: Value = refused.json().await.expect("JSON");
    assert_eq!(refused["error"]["code"], -32021, "{refused}");

    let begun = initialize(json!({"elicitation": {}})).await.expect("the server answers");
    let session = begun.headers().get("mcp-session-id").expect("a session").clone();
    let post = |token: &str, message: &Value| bare(token, message).header("Mcp-Session-Id", session.clone()).send();
    let mut stream = post(TOKEN, &message).await.expect("the server answers");
    let question = next(&mut stream).await;
    assert_eq!(question["method"], "elicitation/create", "{question}");

    let result = json!({"action": "accept", "content": {"sure": true}});
    let answer = |id: &Value| json!({"jsonrpc": "2.0", "id": id, "result": result});
    // Neither somebody else with the id, nor anybody with a guess.
    assert_eq!(post(RIVAL_TOKEN, &answer(&question["id"])).await.expect("an answer").status(), 400);
    assert_eq!(post(TOKEN, &answer(&json!("0"))).await.expect("an answer").status(), 400);
    assert_eq!(post(TOKEN, &answer(&question["id"])).await.expect("an answer").status(), 202);
    let done = next(&mut stream).await;
    assert_eq!((&done["id"], &done["result"]["structuredContent"]["n_approved"]), (&json!(7), &json!(1)), "{done}");
    // An answer counts once.
    assert_eq!(post(TOKEN, &answer(&question["id"])).await.expect("an answer").status(), 400);
    lab.close().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn over_a_pipe_the_client_is_asked_in_between() {
    let lab = Lab::open(ENTRIES).await;
    let mut lines = lab.lines_of(json!({"elicitation": {}})).await;
    let params = json!({"name": "approve", "arguments": {"what": "x"}});
    lines.send(&json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})).await;
    let question = lines.next().await;
    assert_eq!(question["method"], "elicitation/create", "{question}");
    let no = json!({"jsonrpc": "2.0", "id": question["id"], "result": {"action": "decline"}});
    lines.send(&no).await;
    let refused = lines.next().await;
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    drop(lines);
    let events = lab.close().await;
    assert_eq!(count(&events, "approve", "conflict"), 1);
}
