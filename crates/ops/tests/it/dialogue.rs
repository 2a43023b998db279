//! Operations that ask: answers count with the state of the reply that asked, for its caller and its call, once.

use contract::error::OpError;
use contract::question::QuestionKind;

use ops::operations::OPERATIONS;
use ops::{Answers, Call, Reply, dialogue};
use serde_json::{Value, json};
use testkit::documents::{EPIC_006, PRD_006};

use crate::artifacts::output;
use crate::consent::ENTRIES;
use crate::ledger::{run_sql, verify};
use crate::script::{Stage, actor, on_postgres, on_sqlite, on_sqlite_with, settings, shared, together};

fn accept(said: &str) -> Value {
    json!({"action": "accept", "content": {"said": said}})
}

fn answers<const N: usize>(state: Option<&str>, given: [(&str, Value); N]) -> Answers {
    let mut answers = Answers::default();
    answers.given = given.into_iter().map(|(key, answer)| (key.to_owned(), answer)).collect();
    answers.request_state = state.map(str::to_owned);
    answers
}

async fn call(stage: &Stage, name: &str, operation: &str, input: Value, answers: Answers) -> Reply {
    let call = Call { operation: operation.to_owned(), input, answers, ..Call::default() };
    stage.platform.call(&actor(name), call).await
}

async fn consent(stage: &Stage, name: &str, what: &str, answers: Answers) -> Reply {
    call(stage, name, "consent", json!({"what": what}), answers).await
}

/// The keys of the questions, and the state.
fn asked(reply: Reply) -> (Vec<String>, String) {
    let error = reply.result.unwrap_err();
    let questions = dialogue::questions(&error).unwrap_or_else(|| panic!("{error}"));
    let state = error.details.more[dialogue::STATE_DETAIL].as_str().unwrap().to_owned();
    (questions.into_keys().collect(), state)
}

fn text(reply: Reply) -> String {
    reply.result.unwrap().output["text"].as_str().unwrap().to_owned()
}

fn refused(reply: Reply) -> OpError {
    let error = reply.result.unwrap_err();
    assert!(dialogue::is_about_state(&error), "{error}");
    error
}

async fn n_changes(stage: &Stage) -> usize {
    let mut reader = stage.store.read().await.unwrap();
    reader.fetch_all("SELECT 1 FROM idempotency_keys WHERE operation = 'consented'", &[]).await.unwrap().len()
}

async fn on_both() -> [Stage; 2] {
    [on_sqlite(ENTRIES).await, on_postgres(ENTRIES).await]
}

#[tokio::test]
async fn a_consent_is_asked_for_given_once_and_recorded() {
    for stage in on_both().await {
        let (keys, state) = asked(consent(&stage, "owner", "x", Answers::default()).await);
        assert_eq!(keys, ["consent"]);
        let yes = answers(Some(&state), [("consent", accept("yes"))]);
        assert_eq!(text(consent(&stage, "owner", "x", yes.clone()).await), "x: yes");
        refused(consent(&stage, "owner", "x", yes).await);
        assert_eq!(n_changes(&stage).await, 1);
        assert_eq!(
            stage.events().await,
            ["event owner consent input_required", "event owner consent ok", "event owner consent invalid"]
        );
    }
}

#[tokio::test]
async fn a_state_is_worth_nothing_to_others_for_other_things_changed_or_late() {
    for stage in on_both().await {
        let (_, state) = asked(consent(&stage, "owner", "x", Answers::default()).await);
        let with = |state: &str| answers(Some(state), [("consent", accept("yes"))]);
        let (head, tail) = state.split_at(state.len() / 2);
        let swapped = if tail.starts_with('A') { 'B' } else { 'A' };
        let tampered = format!("{head}{swapped}{}", &tail[1..]);
        for state in [tampered.as_str(), head, "", "not a state", &format!("{state}AAAA"), &"A".repeat(100_000)] {
            refused(consent(&stage, "owner", "x", with(state)).await);
        }
        refused(consent(&stage, "second", "x", with(&state)).await);
        refused(consent(&stage, "rival", "x", with(&state)).await);
        refused(consent(&stage, "owner", "y", with(&state)).await);
        refused(call(&stage, "owner", "interview", json!({}), with(&state)).await);
        assert_eq!(n_changes(&stage).await, 0);
        let events = stage.events().await;
        assert_eq!(events.iter().filter(|event| event.ends_with(" invalid")).count(), 10, "{events:?}");
        // None of this has used it up.
        let (_, late) = asked(consent(&stage, "owner", "x", Answers::default()).await);
        let begun_us = stage.clock.now_us();
        stage.clock.set_us(begun_us + 14 * 60 * 1_000_000);
        assert_eq!(text(consent(&stage, "owner", "x", with(&state)).await), "x: yes");
        stage.clock.set_us(begun_us + 15 * 60 * 1_000_000);
        refused(consent(&stage, "owner", "x", with(&late)).await);
        assert_eq!(n_changes(&stage).await, 1);
    }
}

/// A caller that can show a form to a person.
fn asking(mut answers: Answers) -> Answers {
    answers.may_be_asked.insert(QuestionKind::Form);
    answers
}

#[tokio::test]
async fn an_approval_is_confirmed_by_a_person_for_the_very_text_they_saw() {
    let settings = ops::Settings { confirm_approval: true, ..settings() };
    let stage = on_sqlite_with(OPERATIONS, settings).await;
    let store = async |text: &str| {
        let reply = stage.call("owner", "store_artifact", json!({"artifact_content": text})).await;
        reply.result.unwrap();
    };
    let approve = async |answers: Answers| {
        call(&stage, "owner", "approve_artifact", json!({"artifact_id": "EPIC-006"}), asking(answers)).await
    };
    let answer = |approved: bool| json!({"action": "accept", "content": {"approve": approved}});
    store(EPIC_006).await;
    let (keys, state) = asked(approve(Answers::default()).await);
    let no = approve(answers(Some(&state), [(&keys[0], answer(false))])).await.result.unwrap_err();
    assert_eq!(no.message, "the person who was asked did not approve");

    // A version that came in between was not seen by whoever said yes.
    let (keys, state) = asked(approve(Answers::default()).await);
    store(&EPIC_006.replace("**Version:** 1", "**Version:** 2")).await;
    let (new_keys, state) = asked(approve(answers(Some(&state), [(&keys[0], answer(true))])).await);
    assert_ne!(keys, new_keys);
    let reply = approve(answers(Some(&state), [(&new_keys[0], answer(true))])).await;
    assert_eq!(reply.result.unwrap().output["new_status"], "Approved");
    let read = stage.call("owner", "read_artifact", json!({"artifact_id": "EPIC-006"})).await.result.unwrap().output;
    assert_eq!(read["artifact"]["approval"]["names_reviewed_hash"], true, "they were asked about the hash");
}

#[tokio::test]
async fn a_confirmed_approval_that_is_repeated_is_answered_as_the_first_one_was() {
    let stage = on_sqlite_with(OPERATIONS, ops::Settings { confirm_approval: true, ..settings() }).await;
    stage.store(EPIC_006).await;
    let approve = async |via: ops::Via, artifact_id: &str, answers: Answers| {
        let call = Call {
            operation: "approve_artifact".to_owned(),
            input: json!({ "artifact_id": artifact_id }),
            idempotency_key: Some(contract::id::IdempotencyKey::parse("once").unwrap()),
            answers: asking(answers),
            via,
            ..Call::default()
        };
        stage.platform.call(&actor("owner"), call).await
    };
    let (keys, state) = asked(approve(ops::Via::Mcp, "EPIC-006", Answers::default()).await);
    let yes = json!({"action": "accept", "content": {"approve": true}});
    let first = output(approve(ops::Via::Mcp, "EPIC-006", answers(Some(&state), [(&keys[0], yes)])).await);
    let unstamped = |mut output: Value| {
        output.as_object_mut().unwrap().remove("audit");
        output
    };
    let first = unstamped(first);
    assert_eq!(first["new_status"], "Approved");
    for via in [ops::Via::Mcp, ops::Via::Direct] {
        assert_eq!(unstamped(output(approve(via, "EPIC-006", Answers::default()).await)), first);
    }
    let other = approve(ops::Via::Direct, "EPIC-007", Answers::default()).await.result.unwrap_err();
    assert_eq!(other.message, "the idempotency key was used with another input");
    let again = stage.approve("EPIC-006").await.result.unwrap_err();
    assert_eq!(again.message, "Artifact EPIC-006 already approved");
    assert_eq!(verify(&stage).await["problems"], json!([]));
}

#[tokio::test]
async fn a_state_that_other_hands_made_new_shows_in_the_log() {
    let stage = on_sqlite_with(OPERATIONS, ops::Settings { confirm_approval: true, ..settings() }).await;
    stage.store(EPIC_006).await;
    let approve = async |answers: Answers| {
        call(&stage, "owner", "approve_artifact", json!({"artifact_id": "EPIC-006"}), asking(answers)).await
    };
    let answer = |approved: bool| json!({"action": "accept", "content": {"approve": approved}});
    let (keys, state) = asked(approve(Answers::default()).await);
    approve(answers(Some(&state), [(&keys[0], answer(false))])).await.result.unwrap_err();
    refused(approve(answers(Some(&state), [(&keys[0], answer(true))])).await);
    assert_eq!(verify(&stage).await["problems"], json!([]));
    run_sql(&stage, &["DELETE FROM used_request_states"]).await;
    approve(answers(Some(&state), [(&keys[0], answer(true))])).await.result.unwrap();
    let found = verify(&stage).await;
    let message = found["problems"][0]["message"].as_str().unwrap();
    assert!(message.contains("was used twice: other hands deleted it"), "{found}");
}

#[tokio::test]
async fn where_nobody_can_be_asked_nothing_is_approved_by_a_model() {
    let stage = on_sqlite_with(OPERATIONS, ops::Settings { confirm_approval: true, ..settings() }).await;
    let approve = async |via: ops::Via, answers: Answers| {
        let input = json!({"artifact_id": "PRD-006"});
        let call = Call { operation: "approve_artifact".to_owned(), input, answers, via, ..Call::default() };
        stage.platform.call(&actor("owner"), call).await
    };
    stage.store(PRD_006).await;
    // Nobody is asked about what cannot be approved.
    let error = approve(ops::Via::Mcp, asking(Answers::default())).await.result.unwrap_err();
    assert_eq!(error.message, "Parent EPIC-006 must be approved first");
    stage.store(EPIC_006).await;
    output(stage.approve("EPIC-006").await);
    let error = approve(ops::Via::Mcp, Answers::default()).await.result.unwrap_err();
    assert_eq!(error.code(), "DENIED");
    assert!(error.message.starts_with("a person must confirm this approval"), "{}", error.message);
    let reply = approve(ops::Via::Direct, Answers::default()).await;
    assert_eq!(reply.result.unwrap().output["new_status"], "Approved");
}

#[tokio::test]
async fn of_many_who_use_one_state_at_once_one_succeeds() {
    for stage in on_both().await {
        let (_, state) = asked(consent(&stage, "owner", "x", Answers::default()).await);
        let stage = shared(stage);
        let replies = together(16, |_| {
            let (stage, yes) = (stage.clone(), answers(Some(&state), [("consent", accept("yes"))]));
            async move { consent(&stage, "owner", "x", yes).await.result.map(drop) }
        })
        .await;
        assert_eq!(replies.iter().filter(|reply| reply.is_ok()).count(), 1, "{replies:?}");
        assert_eq!(n_changes(&stage).await, 1);
    }
}

#[tokio::test]
async fn a_consent_that_nobody_was_asked_for_does_not_count() {
    for stage in on_both().await {
        let unasked = answers(None, [("consent", accept("yes"))]);
        asked(consent(&stage, "owner", "x", unasked).await);
        assert_eq!(n_changes(&stage).await, 0);
    }
}

#[tokio::test]
async fn an_answer_that_does_not_fit_is_asked_for_once_more_and_a_no_is_an_answer() {
    let stage = on_sqlite(ENTRIES).await;
    for wrong in [
        json!(5),
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {}}),
        json!({"action": "accept", "content": {"said": 5}}),
        json!(null),
    ] {
        let (_, state) = asked(consent(&stage, "owner", "x", Answers::default()).await);
        let wrongly = |state: &str| answers(Some(state), [("consent", wrong.clone())]);
        let (keys, next) = asked(consent(&stage, "owner", "x", wrongly(&state)).await);
        assert_eq!(keys, ["consent"]);
        refused(consent(&stage, "owner", "x", answers(Some(&state), [])).await);
        let error = consent(&stage, "owner", "x", wrongly(&next)).await.result.unwrap_err();
        assert_eq!(
            (error.code(), error.message.as_str()),
            ("DENIED", "`consent` was answered twice, and not as it was asked")
        );
        // Who was asked once more may still answer.
        let (_, state) = asked(consent(&stage, "owner", "x", Answers::default()).await);
        let (_, state) = asked(consent(&stage, "owner", "x", wrongly(&state)).await);
        let no = answers(Some(&state), [("consent", json!({"action": "decline"}))]);
        assert_eq!(text(consent(&stage, "owner", "x", no).await), "x: declined");
    }
}

#[tokio::test]
async fn earlier_answers_travel_in_the_state_and_each_round_has_its_own() {
    for stage in on_both().await {
        let interview = |answers: Answers| call(&stage, "owner", "interview", json!({}), answers);
        let (keys, first) = asked(interview(Answers::default()).await);
        assert_eq!(keys, ["first"]);
        // The second answer comes before its question and does not count.
        let both = answers(Some(&first), [("first", accept("a")), ("second", accept("z"))]);
        let (keys, second) = asked(interview(both.clone()).await);
        assert_eq!(keys, ["second"]);
        refused(interview(both).await);
        assert_eq!(text(interview(answers(Some(&second), [("second", accept("b"))])).await), "a, b");
        refused(interview(answers(Some(&second), [("second", accept("b"))])).await);
        // What may be given unasked is taken unasked.
        let (keys, _) = asked(interview(answers(None, [("first", accept("a"))])).await);
        assert_eq!(keys, ["second"]);
    }
}

#[tokio::test]
async fn answers_do_not_reach_the_record() {
    let stage = on_sqlite(ENTRIES).await;
    let (_, state) = asked(consent(&stage, "owner", "x", Answers::default()).await);
    text(consent(&stage, "owner", "x", answers(Some(&state), [("consent", accept("a secret word"))])).await);
    let bodies = stage.bodies().await;
    assert!(bodies.iter().all(|body| !body.to_string().contains("secret") && !body.to_string().contains(&state)));
}
