//! Jobs: they go on without their caller, answer only to whoever started them, and outlive their runner.

use std::time::Duration;

use ops::Reply;
use ops::jobs::runner;
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::consent::ENTRIES;
use crate::script::{Stage, on_postgres, on_sqlite};

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
    for (operation, input) in
        [("consent", json!({"what": "x"})), ("nothing", json!({})), ("work", json!({})), ("work", json!({"how": 5}))]
    {
        let started = stage.call("owner", "start_job", json!({"operation": operation, "input": input})).await;
        assert_eq!(code(started), "INVALID_ARG", "{operation}");
    }
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
