//! What is left of a call, by the kind of its record: in the log lines, in the events, in what is kept for repeated calls, in
//! jobs, and in the rows that it leaves itself.

use std::sync::{Arc, Mutex};

use contract::actor::Role;
use contract::canonical;
use contract::error::{Kind, OpError};
use contract::id::CorrelationId;
use ops::leaving::{Failed, Rows};
use ops::{Answer, ApplyError, Context, Entry, Family, JobMode, Operation, Read, Record, Write};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use store::subject_keys::{Found, Subject, SubjectKey, SubjectKeys, SubjectKind};
use store::{StoreError, Tx};

use crate::script::{Stage, actor, on_postgres, on_sqlite};

const ENTRIES: &[Entry] = &[
    Entry::read::<Check>(),
    Entry::read::<SeePatient>(),
    Entry::write::<AdmitPatient>(),
    Entry::write::<ErasePatient>(),
    Entry::write::<contract::job::StartJob>(),
];

const PATIENT: &str = "7f3c1a52-0d1f-4c55-9d8e-2f4a6b8c0d1e";
const SECRET: &str = "Somchai-HIV-positive";
const NUMBER: u32 = 42_424_242;

/// Durable, leaves rows also where it fails or is refused.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Check {
    text: String,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Checked {
    request_id: String,
    user_id: String,
}

impl Operation for Check {
    const NAME: &'static str = "check";
    const ABOUT: &'static str = "A trial.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &[Role::Admin];
    const RECORD: Record = Record::Durable;

    type Output = Checked;

    fn rows_of_failure(failed: &Failed<'_>) -> Option<Rows> {
        let word = if failed.was_valid { "failed" } else { "refused" };
        let (request, keys) =
            (request(failed.actor.organisation_id.as_str(), failed.request_id()), failed.subject_keys);
        Some(row(
            keys,
            request,
            failed.call_id.to_string(),
            format!("{word} {}", failed.error.code()),
            failed.started_us,
        ))
    }
}

impl Read for Check {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<Checked>, OpError> {
        let call_id = match self.text.as_str() {
            "fail" => return Err(OpError::new(Kind::Upstream, "as asked")),
            // The row is there already.
            "twice" => "twice".to_owned(),
            _ => ctx.told().call_id.to_string(),
        };
        let request = request(ctx.actor().organisation_id.as_str(), ctx.request_id());
        let row = row(ctx.subject_keys(), request, call_id, self.text.clone(), ctx.now_us());
        Ok(Answer::of(Checked { request_id: ctx.request_id(), user_id: ctx.user_id() }).leaving_rows(row))
    }
}

fn request(organisation_id: &str, id: String) -> Subject {
    Subject { organisation_id: organisation_id.to_owned(), kind: SubjectKind::Request, id }
}

fn row(keys: &SubjectKeys, subject: Subject, call_id: String, text: String, now_us: i64) -> Rows {
    let keys = keys.clone();
    Arc::new(move |tx| {
        let (keys, subject, call_id, text) = (keys.clone(), subject.clone(), call_id.clone(), text.clone());
        Box::pin(async move { insert(tx, &keys, &subject, &call_id, &text, now_us).await })
    })
}

async fn insert(
    tx: &mut Tx<'_>,
    keys: &SubjectKeys,
    subject: &Subject,
    call_id: &str,
    text: &str,
    now_us: i64,
) -> Result<(), StoreError> {
    let key = keys.find_or_make(tx, subject, now_us).await?.unwrap();
    let body = key.seal(call_id, text.as_bytes())?;
    let sql = "INSERT INTO trial_rows (call_id, body) VALUES ($1, $2)";
    tx.execute(sql, &[call_id.into(), store::Param::Bytes(&body)]).await.map(drop)
}

/// A read about a patient.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct SeePatient {
    #[schemars(regex(pattern = "^[0-9a-f-]{36}$"))]
    patient_id: String,
    note: String,
    number: u32,
    #[serde(default)]
    run_id: Option<CorrelationId>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Seen {
    note: String,
    number: u32,
}

macro_rules! about_patient {
    ($name:ident, $word:literal) => {
        impl Operation for $name {
            const NAME: &'static str = $word;
            const ABOUT: &'static str = "A trial.";
            const FAMILY: Family = Family::House;
            const ROLES: &'static [Role] = &[Role::Admin];
            const RECORD: Record = Record::Patient;
            const JOB: JobMode = JobMode::Offered;

            type Output = Seen;

            fn patient_id(&self) -> Option<String> {
                Some(self.patient_id.clone())
            }
        }
    };
}

about_patient!(SeePatient, "see_patient");
about_patient!(AdmitPatient, "admit_patient");

impl Read for SeePatient {
    async fn run(&self, _ctx: &Context<'_>) -> Result<Answer<Seen>, OpError> {
        match self.number {
            1 => Err(OpError::not_found(format!("nobody is called {}", self.note))),
            2 => Err(OpError::internal(std::io::Error::other(self.note.clone()))),
            3 => panic!("as asked"),
            number => Ok(Answer::of(Seen { note: self.note.clone(), number })),
        }
    }
}

/// A write about a patient, whose key it makes.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct AdmitPatient {
    #[schemars(regex(pattern = "^[0-9a-f-]{36}$"))]
    patient_id: String,
    note: String,
    number: u32,
}

impl Write for AdmitPatient {
    type Plan = (SubjectKeys, i64);

    async fn prepare(&self, ctx: &Context<'_>) -> Result<(SubjectKeys, i64), OpError> {
        Ok((ctx.subject_keys().clone(), ctx.now_us()))
    }

    async fn apply(&self, plan: &(SubjectKeys, i64), tx: &mut Tx<'_>) -> Result<Answer<Seen>, ApplyError> {
        let (keys, now_us) = plan;
        let patient = Subject::patient("here", &self.patient_id);
        insert(tx, keys, &patient, &self.patient_id, &self.note, *now_us).await?;
        let output = Seen { note: self.note.clone(), number: self.number };
        Ok(Answer::of(output).touching("patient", self.patient_id.clone()))
    }
}

/// Destroys the key of a patient.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ErasePatient {
    #[schemars(regex(pattern = "^[0-9a-f-]{36}$"))]
    patient_id: String,
    note: String,
    number: u32,
}

about_patient!(ErasePatient, "erase_patient");

impl Write for ErasePatient {
    type Plan = i64;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<i64, OpError> {
        Ok(ctx.now_us())
    }

    async fn apply(&self, now_us: &i64, tx: &mut Tx<'_>) -> Result<Answer<Seen>, ApplyError> {
        store::subject_keys::destroy(tx, &Subject::patient("here", &self.patient_id), *now_us).await?;
        let output = Seen { note: self.note.clone(), number: self.number };
        Ok(Answer::of(output).touching("patient", self.patient_id.clone()))
    }

    async fn settle(&self, _now_us: &i64, ctx: &Context<'_>) {
        ctx.note_destroyed(&Subject::patient("here", &self.patient_id));
    }
}

async fn stages() -> [Stage; 2] {
    let stages = [on_sqlite(ENTRIES).await, on_postgres(ENTRIES).await];
    for (stage, bytes) in stages.iter().zip(["BLOB", "BYTEA"]) {
        let sql = format!("CREATE TABLE trial_rows (call_id TEXT PRIMARY KEY, body {bytes} NOT NULL)");
        run_sql(stage, Box::leak(sql.into_boxed_str())).await;
    }
    stages
}

async fn run_sql(stage: &Stage, sql: &'static str) {
    let apply: store::Apply<()> = Box::new(move |tx| {
        Box::pin(async move {
            tx.execute(sql, &[]).await?;
            Ok(store::Applied { value: (), event: None, keep: store::Keep::Changes })
        })
    });
    let deadline = tokio::time::Instant::now() + std::time::Duration::from_secs(60);
    stage.store.write(None, deadline, apply).await.unwrap();
}

/// The events as they are stored at this moment: nothing is flushed first.
async fn stored_events(stage: &Stage) -> Vec<Value> {
    let mut reader = stage.store.read().await.unwrap();
    let rows = reader.fetch_all("SELECT body FROM events ORDER BY call_id", &[]).await.unwrap();
    rows.iter().map(|row| serde_json::from_str(&row.text(0).unwrap()).unwrap()).collect()
}

async fn rows(stage: &Stage) -> Vec<(String, Vec<u8>)> {
    let mut reader = stage.store.read().await.unwrap();
    let rows = reader.fetch_all("SELECT call_id, body FROM trial_rows ORDER BY call_id", &[]).await.unwrap();
    rows.iter().map(|row| (row.text(0).unwrap(), row.opt_bytes(1).unwrap().unwrap())).collect()
}

async fn find_key(stage: &Stage, subject: &Subject) -> Found {
    let mut reader = stage.store.read().await.unwrap();
    crate::script::subject_keys().find(&mut reader, subject).await.unwrap()
}

fn opened(found: Found) -> SubjectKey {
    match found {
        Found::Key(key) => *key,
        Found::Destroyed | Found::Nothing => panic!("there is no key"),
    }
}

/// Log lines at trace level, of this test alone.
#[derive(Clone, Default)]
struct Lines(Arc<Mutex<Vec<u8>>>);

impl std::io::Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.lock().unwrap().write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Lines {
    fn follow() -> (Lines, tracing::subscriber::DefaultGuard) {
        let lines = Lines::default();
        let writer = lines.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_max_level(tracing::Level::TRACE)
            .with_ansi(false)
            .with_writer(move || writer.clone())
            .finish();
        (lines, tracing::subscriber::set_default(subscriber))
    }

    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

#[tokio::test]
async fn a_durable_read_is_stored_when_it_is_answered_with_the_rows_that_it_leaves() {
    for stage in stages().await {
        let reply = stage.call("owner", "check", json!({"text": "warfarin"})).await;
        let (call_id, output) = (reply.call_id.to_string(), reply.result.unwrap().output);
        let events = stored_events(&stage).await;
        assert_eq!((events[0]["call_id"].as_str(), events[0]["outcome"].as_str()), (Some(&*call_id), Some("ok")));
        assert_eq!(events[0]["in_hash"], canonical::hash(&json!({"text": "warfarin"})).unwrap());
        let rows = rows(&stage).await;
        assert_eq!(rows.len(), 1);
        let request = request("here", output["request_id"].as_str().unwrap().to_owned());
        let key = opened(find_key(&stage, &request).await);
        assert_eq!(key.open(&call_id, &rows[0].1).unwrap(), b"warfarin");
    }
}

#[tokio::test]
async fn a_call_that_is_refused_or_fails_leaves_rows_too() {
    for stage in stages().await {
        let calls =
            [("owner", json!({"text": 7})), ("viewer", json!({"text": "x"})), ("owner", json!({"text": "fail"}))];
        for (name, input) in calls {
            let reply = stage.call(name, "check", input).await;
            let request = request("here", ops::seed_ids::request_id(&Default::default(), reply.call_id));
            let error = reply.result.unwrap_err();
            let key = opened(find_key(&stage, &request).await);
            let rows = rows(&stage).await;
            let (_, body) = rows.iter().find(|(call_id, _)| *call_id == reply.call_id.to_string()).unwrap();
            let word = if error.kind == Kind::Upstream { "failed" } else { "refused" };
            let told = String::from_utf8(key.open(&reply.call_id.to_string(), body).unwrap()).unwrap();
            assert_eq!(told, format!("{word} {}", error.code()));
        }
        let outcomes: Vec<Value> = stored_events(&stage).await.iter().map(|event| event["outcome"].clone()).collect();
        assert_eq!(outcomes, ["invalid", "denied", "upstream"]);
    }
}

#[tokio::test]
async fn rows_that_cannot_be_stored_are_no_answer_and_hold_up_nobody() {
    for stage in stages().await {
        stage.call("owner", "check", json!({"text": "twice"})).await.result.unwrap();
        let error = stage.call("owner", "check", json!({"text": "twice"})).await.result.unwrap_err();
        assert!(matches!(error.kind, Kind::Busy | Kind::Internal), "{error:?}");
        assert_eq!(rows(&stage).await.len(), 1);
        stage.call("owner", "check", json!({"text": "next"})).await.result.unwrap();
        assert_eq!((rows(&stage).await.len(), stage.events().await.len()), (2, 3));
    }
}

#[tokio::test]
async fn the_ids_of_seed_004_are_the_callers_own_where_they_have_its_form() {
    let stage = &stages().await[0];
    let mut call = ops::Call { operation: "check".to_owned(), input: json!({"text": "x"}), ..ops::Call::default() };
    call.correlation.request_id = CorrelationId::parse("req_med123abc456").ok();
    call.correlation.user_id = CorrelationId::parse("anon_fusioncore77").ok();
    let output = stage.platform.call(&actor("owner"), call).await.result.unwrap().output;
    assert_eq!(output, json!({"request_id": "req_med123abc456", "user_id": "anon_fusioncore77"}));
    let made = stage.call("owner", "check", json!({"text": "y"})).await.result.unwrap().output;
    let again = stage.call("owner", "check", json!({"text": "y"})).await.result.unwrap().output;
    assert_ne!(made["request_id"], again["request_id"]);
    assert_eq!(made["user_id"], again["user_id"]);
    assert!(!made["user_id"].as_str().unwrap().contains("owner"));
}

#[tokio::test]
async fn of_a_call_about_a_patient_nothing_is_left_in_clear() {
    for stage in stages().await {
        let (lines, following) = Lines::follow();
        let input = |number: u32| json!({"patient_id": PATIENT, "note": SECRET, "number": number});
        // Good ones, before and after the patient has a key, bad ones of every kind, failures, and a repeat.
        stage.call("owner", "see_patient", input(NUMBER)).await.result.unwrap();
        let admitted = stage.call_with_key("owner", "admit_patient", input(NUMBER), "k1").await;
        assert_eq!(admitted.result.unwrap().output, json!({"note": SECRET, "number": NUMBER}));
        let repeated = stage.call_with_key("owner", "admit_patient", input(NUMBER), "k1").await.result.unwrap_err();
        assert!(
            repeated.message.contains(PATIENT) && repeated.message.starts_with("already carried out"),
            "{repeated}"
        );
        stage.call("owner", "see_patient", input(NUMBER)).await.result.unwrap();
        for wrong in [1, 2, 3] {
            stage.call("owner", "see_patient", input(wrong)).await.result.unwrap_err();
        }
        stage.call("owner", "see_patient", json!({"patient_id": SECRET, "note": NUMBER})).await.result.unwrap_err();
        let told = json!({"patient_id": PATIENT, "note": "x", "number": 4, "run_id": SECRET});
        stage.call("owner", "see_patient", told).await.result.unwrap();
        stage.call("viewer", "see_patient", input(NUMBER)).await.result.unwrap_err();
        let job = json!({"operation": "see_patient", "input": input(NUMBER)});
        assert_eq!(stage.call("owner", "start_job", job).await.result.unwrap_err().kind, Kind::Invalid);
        let events = stage.events().await;
        assert_eq!(events.len(), 11, "{events:?}");
        drop(following);
        let lines = lines.text();
        assert!(lines.contains("see_patient_invocation_completed") && lines.contains("see_patient_invocation_failed"));
        let number = NUMBER.to_string();
        for secret in [SECRET, number.as_str()] {
            assert!(!lines.contains(secret), "{secret} in a log line");
            assert!(!everything(&stage).await.contains(secret), "{secret} in the database");
        }
    }
}

/// All tables, as text. Bytes are shown as text as well.
async fn everything(stage: &Stage) -> String {
    stage.platform.flush().await;
    let folder = testkit::temp_dir();
    let mut reader = stage.store.read().await.unwrap();
    store::backup::write(&mut reader, folder.path(), |_| {}).await.unwrap();
    let mut all = String::new();
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        all.push_str(&std::fs::read_to_string(entry.unwrap().path()).unwrap());
    }
    assert!(all.contains("see_patient") && all.contains(PATIENT));
    all
}

#[tokio::test]
async fn hashes_are_the_patients_and_nobody_can_make_them_once_the_key_is_gone() {
    for stage in stages().await {
        let input = json!({"patient_id": PATIENT, "note": SECRET, "number": 7});
        let seen = json!({"patient_id": PATIENT, "note": SECRET, "number": 7, "run_id": null});
        let before = stage.call("owner", "see_patient", input.clone()).await.audit;
        stage.call("owner", "admit_patient", input.clone()).await.result.unwrap();
        let after = stage.call("owner", "see_patient", input.clone()).await;
        let (patient, organisation) = (Subject::patient("here", PATIENT), Subject::organisation("here"));
        let key = opened(find_key(&stage, &patient).await);
        let organisations = opened(find_key(&stage, &organisation).await);
        let text = canonical::text(&seen).unwrap();
        assert_eq!((before.in_hash, after.audit.in_hash.clone()), (organisations.hash(&text), key.hash(&text)));
        let output = canonical::text(&after.result.unwrap().output).unwrap();
        assert_eq!(after.audit.out_hash, key.hash(&output));
        let events = stored_events(&stage).await;
        let keys: Vec<&str> = events.iter().map(|event| event["hash_key"].as_str().unwrap()).collect();
        let patients = format!("patient/{PATIENT}");
        assert_eq!(keys, ["organisation/here", &patients, &patients]);

        let row = rows(&stage).await.into_iter().find(|(id, _)| id == PATIENT).unwrap().1;
        assert_eq!(key.open(PATIENT, &row).unwrap(), SECRET.as_bytes());
        erase(&stage).await;
        assert!(matches!(find_key(&stage, &patient).await, Found::Destroyed));
        assert!(!everything(&stage).await.contains(SECRET));
        // What is said of them from here on is hashed with the key of the organisation.
        let gone = stage.call("owner", "see_patient", input.clone()).await.audit;
        assert_eq!(gone.in_hash, organisations.hash(&text));
    }
}

async fn erase(stage: &Stage) {
    let input = json!({"patient_id": PATIENT, "note": "", "number": 0});
    stage.call("owner", "erase_patient", input).await.result.unwrap();
}

#[tokio::test]
async fn a_key_that_was_destroyed_does_not_come_back_with_an_older_database() {
    for stage in stages().await {
        let input = json!({"patient_id": PATIENT, "note": SECRET, "number": 7});
        stage.call("owner", "admit_patient", input).await.result.unwrap();
        let patient = Subject::patient("here", PATIENT);
        run_sql(&stage, "CREATE TABLE older AS SELECT * FROM subject_keys").await;
        erase(&stage).await;
        assert_eq!(stage.platform.keep_destroyed().await.unwrap(), 0);
        let back = "UPDATE subject_keys SET wrapped = (SELECT older.wrapped FROM older WHERE older.subject_id = subject_keys.subject_id)";
        let whole = "UPDATE subject_keys SET destroyed_at_us = NULL WHERE wrapped IS NOT NULL";
        for sql in [[back, whole], [back, back]] {
            for sql in sql {
                run_sql(&stage, sql).await;
            }
            opened(find_key(&stage, &patient).await);
            assert_eq!(stage.platform.keep_destroyed().await.unwrap(), 1);
            assert!(matches!(find_key(&stage, &patient).await, Found::Destroyed));
            assert_eq!(stage.platform.keep_destroyed().await.unwrap(), 0);
        }
        // What somebody takes out of the database was not erased: a good backup brings it back.
        let other = Subject::organisation("here");
        run_sql(&stage, "UPDATE subject_keys SET wrapped = NULL, destroyed_at_us = 7 WHERE kind = 'organisation'")
            .await;
        assert_eq!(stage.platform.keep_destroyed().await.unwrap(), 0);
        run_sql(&stage, back).await;
        run_sql(&stage, whole).await;
        assert_eq!(stage.platform.keep_destroyed().await.unwrap(), 1, "the patient's");
        opened(find_key(&stage, &other).await);
    }
}
