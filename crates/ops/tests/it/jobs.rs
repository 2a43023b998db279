//! Jobs: they go on without their caller, answer only to whoever started them, and outlive their runner.

use std::time::Duration;

use ops::jobs::runner;
use ops::operations::OPERATIONS;
use ops::{LogStanding, Reply};
use serde_json::{Value, json};
use store::jobs::{self, JobRow};
use store::{Applied, Apply, Keep};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::consent::ENTRIES;
use crate::ledger::tamper;
use crate::script::{START_US, Stage, actor, on_postgres, on_sqlite};

async fn on_both() -> [Stage; 2] {
    [on_sqlite(ENTRIES).await, on_postgres(ENTRIES).await]
}

fn run(stage: &Stage) -> (JoinHandle<()>, CancellationToken) {
    let stop = CancellationToken::new();
    (tokio::spawn(runner::run(stage.platform.clone(), stop.clone())), stop)
}

fn output(reply: Reply) -> Value {
    reply.result.unwrap().output
}

async fn start(stage: &Stage, operation: &str, input: Value) -> String {
    let started = output(stage.call("owner", "start_job", json!({"operation": operation, "input": input})).await);
    assert_eq!(started["state"], "working");
    started["job_id"].as_str().unwrap().to_owned()
}

/// The job once it is no longer in `state`.
async fn once_not(stage: &Stage, job_id: &str, state: &str) -> Value {
    for _ in 0..400 {
        let job = output(stage.call("owner", "job_status", json!({"job_id": job_id})).await);
        if job["state"] != state {
            return job;
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("the job is still {state}");
}

fn code(reply: Reply) -> &'static str {
    reply.result.unwrap_err().code()
}

#[tokio::test]
async fn a_job_runs_to_its_end_and_every_step_is_an_event() {
    for stage in on_both().await {
        let (_runner, stop) = run(&stage);
        let job_id = start(&stage, "work", json!({"how": "well"})).await;
        let job = once_not(&stage, &job_id, "working").await;
        assert_eq!((&job["state"], &job["ending"]["output"]), (&json!("ended"), &json!({"text": "well"})));
        stop.cancel();
        let bodies = stage.bodies().await;
        let of = |operation: &str| bodies.iter().find(|body| body["operation"] == operation).unwrap();
        assert_eq!(of("start_job")["objects"][0]["id"], json!(job_id));
        assert_eq!(of("work")["correlation"]["run_id"], json!(job_id));
        assert_eq!(of("work")["call_id"], job["ending"]["call_id"]);
        assert_eq!(of("run_job")["objects"][0]["id"], json!(job_id));
    }
}

#[tokio::test]
async fn a_job_that_fails_or_panics_ends_with_its_error() {
    let stage = on_sqlite(ENTRIES).await;
    let (_runner, _stop) = run(&stage);
    for (how, kind) in [("fail", "conflict"), ("panic", "internal")] {
        let job_id = start(&stage, "work", json!({"how": how})).await;
        let job = once_not(&stage, &job_id, "working").await;
        assert_eq!((&job["state"], &job["ending"]["error"]["kind"]), (&json!("ended"), &json!(kind)));
    }
}

#[tokio::test]
async fn what_is_no_job_or_not_allowed_is_refused_at_the_start() {
    let stage = on_sqlite(ENTRIES).await;
    let refused = [
        ("consent", json!({"what": "x"})),
        ("secret", json!({})),
        ("nothing", json!({})),
        ("work", json!({})),
        ("work", json!({"how": 5})),
    ];
    for (operation, input) in refused {
        let started = stage.call("owner", "start_job", json!({"operation": operation, "input": input})).await;
        assert_eq!(code(started), "INVALID_ARG", "{operation}");
    }
}

/// The endings of all jobs, once they have one.
async fn endings(stage: &Stage) -> Vec<Value> {
    for _ in 0..400 {
        let mut reader = stage.store.read().await.unwrap();
        let rows = reader.fetch_all("SELECT ending FROM jobs ORDER BY job_id", &[]).await.unwrap();
        let endings: Vec<_> = rows.iter().filter_map(|row| row.opt_text(0).unwrap()).collect();
        if endings.len() == rows.len() {
            return endings.iter().map(|ending| serde_json::from_str(ending).unwrap()).collect();
        }
        drop(reader);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    panic!("a job has not ended");
}

async fn check_nothing_ran(stage: &Stage, operation: &str) {
    let (_runner, stop) = run(stage);
    for ending in endings(stage).await {
        assert_eq!((&ending["error"]["kind"], &ending["output"]), (&json!("conflict"), &Value::Null));
        assert!(ending["error"]["message"].as_str().unwrap().contains("no seal of this house"), "{ending}");
    }
    stop.cancel();
    stage.platform.flush().await;
    let bodies = stage.bodies().await;
    let of = |name: &str| bodies.iter().filter(|body| body["operation"] == name).count();
    assert_eq!((of(operation), of("run_job")), (0, 0), "{bodies:?}");
    assert!(bodies.iter().any(|body| body["operation"] == "note_doubt" && body["code"] == "JOB_CHANGED"), "{bodies:?}");
    assert!(matches!(stage.platform.log_standing(), LogStanding::Doubted { .. }));
}

#[tokio::test]
async fn a_job_that_other_hands_wrote_is_not_run_and_is_told() {
    for stage in [on_sqlite(OPERATIONS).await, on_postgres(OPERATIONS).await] {
        let text = str::to_owned;
        let row = JobRow {
            organisation_id: text("here"),
            job_id: text("by-hand"),
            actor_id: text("owner"),
            actor: serde_json::to_string(&actor("owner")).unwrap(),
            operation: text("create_key"),
            input: json!({"actor_id": "me", "roles": ["admin"]}).to_string(),
            answers: text(r#"{"given": {}}"#),
            questions: text("{}"),
            state: text("working"),
            progress: None,
            ending: None,
            n_starts: 0,
            created_at_us: START_US,
            updated_at_us: START_US,
            expires_at_us: START_US + 1_000_000_000,
            seal: Some("00".repeat(32)),
        };
        let apply: Apply<()> = Box::new(move |tx| {
            let row = row.clone();
            Box::pin(async move {
                jobs::insert(tx, &row).await?;
                Ok(Applied { value: (), event: None, keep: Keep::Changes })
            })
        });
        stage.store.write(None, tokio::time::Instant::now() + Duration::from_secs(20), apply).await.unwrap();
        check_nothing_ran(&stage, "create_key").await;
    }
}

#[tokio::test]
async fn a_job_that_other_hands_changed_is_not_run_and_is_told() {
    let changes = [
        r#"UPDATE jobs SET actor = REPLACE(actor, '"kind"', ' "kind"')"#,
        r#"UPDATE jobs SET input = '{"how": "other"}'"#,
        "UPDATE jobs SET seal = NULL",
    ];
    for change in changes {
        for stage in on_both().await {
            start(&stage, "work", json!({"how": "well"})).await;
            tamper(&stage, change).await;
            check_nothing_ran(&stage, "work").await;
        }
    }
}

#[tokio::test]
async fn an_answer_does_not_vouch_for_a_job_that_other_hands_changed() {
    let stage = on_sqlite(ENTRIES).await;
    let (runner, stop) = run(&stage);
    let job_id = start(&stage, "interview", json!({})).await;
    assert_eq!(once_not(&stage, &job_id, "working").await["state"], "input_required");
    stop.cancel();
    runner.await.unwrap();
    tamper(&stage, r#"UPDATE jobs SET operation = 'work', input = '{"how": "well"}'"#).await;
    let answered = json!({"job_id": job_id, "answers": {"first": {"action": "decline"}}});
    assert_eq!(output(stage.call("owner", "answer_job", answered).await)["state"], "working");
    let (_runner, _stop) = run(&stage);
    let job = once_not(&stage, &job_id, "working").await;
    assert!(job["ending"]["error"]["message"].as_str().unwrap().contains("no seal of this house"), "{job}");
}

#[tokio::test]
async fn somebody_elses_job_is_not_found() {
    for stage in on_both().await {
        let job_id = start(&stage, "work", json!({"how": "well"})).await;
        for name in ["second", "rival"] {
            for operation in ["job_status", "cancel_job"] {
                assert_eq!(code(stage.call(name, operation, json!({"job_id": job_id})).await), "NOT_FOUND");
            }
            let answer = json!({"job_id": job_id, "answers": {}});
            assert_eq!(code(stage.call(name, "answer_job", answer).await), "NOT_FOUND");
        }
        let job = output(stage.call("owner", "job_status", json!({"job_id": job_id})).await);
        assert_eq!(job["state"], "working");
    }
}

#[tokio::test]
async fn a_cancelled_job_stops_and_stays_cancelled() {
    for stage in on_both().await {
        let (_runner, stop) = run(&stage);
        let job_id = start(&stage, "work", json!({"how": "hang"})).await;
        while stage.platform.store_stats().n_applies < 2 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let cancelled = output(stage.call("owner", "cancel_job", json!({"job_id": job_id})).await);
        assert_eq!(cancelled["state"], "cancelled");
        let events = stage.events_when(4).await;
        assert!(events.iter().any(|event| event == "event owner work cancelled"), "{events:?}");
        let again = output(stage.call("owner", "cancel_job", json!({"job_id": job_id})).await);
        assert_eq!(again["state"], "cancelled");
        stop.cancel();
    }
}

#[tokio::test]
async fn a_job_asks_waits_for_every_answer_and_goes_on() {
    for stage in on_both().await {
        let (_runner, stop) = run(&stage);
        let job_id = start(&stage, "interview", json!({})).await;
        for (key, said) in [("first", "a"), ("second", "b")] {
            let job = once_not(&stage, &job_id, "working").await;
            let keys: Vec<&str> = job["questions"].as_object().unwrap().keys().map(String::as_str).collect();
            assert_eq!((&job["state"], keys), (&json!("input_required"), vec![key]));
            let unasked = json!({"job_id": job_id, "answers": {"other": 1}});
            assert_eq!(output(stage.call("owner", "answer_job", unasked).await)["state"], "input_required");
            let answer = json!({"action": "accept", "content": {"said": said}});
            let answered = json!({"job_id": job_id, "answers": {key: answer}});
            assert_eq!(output(stage.call("owner", "answer_job", answered).await)["state"], "working");
        }
        let job = once_not(&stage, &job_id, "working").await;
        assert_eq!(job["ending"]["output"]["text"], "a, b");
        stop.cancel();
    }
}

#[tokio::test]
async fn a_job_whose_runner_died_is_run_by_another_and_given_up_after_several() {
    for stage in on_both().await {
        let job_id = start(&stage, "work", json!({"how": "hang"})).await;
        for n_started in 1..=3 {
            let (runner, _stop) = run(&stage);
            stage.events_when(1).await;
            while n_starts(&stage).await < n_started {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
            // Dead without a word: the lease is all that is left.
            runner.abort();
            assert!(runner.await.unwrap_err().is_cancelled());
            stage.clock.set_us(stage.clock.now_us() + 16_000_000);
        }
        let (_runner, stop) = run(&stage);
        let job = once_not(&stage, &job_id, "working").await;
        assert_eq!(job["ending"]["error"]["kind"], "internal");
        stop.cancel();
    }
}

async fn n_starts(stage: &Stage) -> i64 {
    let mut reader = stage.store.read().await.unwrap();
    reader.fetch_optional("SELECT n_starts FROM jobs", &[]).await.unwrap().unwrap().int(0).unwrap()
}

#[tokio::test]
async fn a_runner_that_stops_leaves_its_job_to_the_next() {
    let stage = on_sqlite(ENTRIES).await;
    start(&stage, "work", json!({"how": "hang"})).await;
    let (first, stop) = run(&stage);
    while n_starts(&stage).await < 1 {
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    stop.cancel();
    first.await.unwrap();
    let (_second, _stop) = run(&stage);
    for _ in 0..200 {
        if n_starts(&stage).await == 2 {
            return;
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    panic!("nobody took the job over");
}

#[tokio::test]
async fn who_asks_for_a_job_that_is_none_is_told_which_there_are() {
    let stage = on_sqlite(ENTRIES).await;
    let input = json!({"operation": "no_job", "input": {}});
    let error = stage.call("owner", "start_job", input).await.result.unwrap_err();
    assert!(error.message.starts_with("`operation`: expected an operation that runs as a job: "), "{error}");
    assert!(error.message.contains("interview"), "{error}");
}
