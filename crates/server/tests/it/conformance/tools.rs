//! The tools that the suite calls, as operations.

use std::time::Duration;

use contract::actor::Role;
use contract::error::{Kind, OpError};
use contract::question::{Answered, FormAnswer, Question, QuestionKind, Questions};
use ops::{Answer, Context, Entry, Family, JobMode, Operation, Read};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

/// A transparent pixel.
pub const PNG: &str =
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==";
/// A sound without a sample.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA=";

/// Content blocks as MCP has them; `front` lifts them out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Content {
    pub content: Vec<Value>,
}

pub fn text(text: impl Into<String>) -> Value {
    json!({ "type": "text", "text": text.into() })
}

/// One tool: its type, its name, what it says of itself, how long it runs, and what it answers.
macro_rules! tool {
    ($type:ident { $($field:ident: $kind:ty),* }, $name:literal, $job:expr, |$this:ident, $ctx:ident| $body:expr) => {
        #[derive(Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $type {
            $(pub $field: $kind,)*
        }
        tool!(@operation $type, $name, $job);
        tool!(@read $type, $this, $ctx, $body);
    };
    (@operation $type:ident, $name:literal, $job:expr) => {
        impl Operation for $type {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = concat!("The suite's `", $name, "`.");
            const FAMILY: Family = Family::House;
            const ROLES: &'static [Role] = &Role::ALL;
            const DEADLINE: Option<Duration> = Some(Duration::from_secs(120));
            const JOB: JobMode = $job;

            type Output = Content;
        }
    };
    (@read $type:ident, $this:ident, $ctx:ident, $body:expr) => {
        impl Read for $type {
            async fn run(&self, $ctx: &Context<'_>) -> Result<Answer<Content>, OpError> {
                let $this = self;
                let content: Vec<Value> = $body;
                Ok(Answer::of(Content { content }))
            }
        }
    };
}

pub fn form(key: &str, message: &str, properties: Value) -> Questions {
    let required: Vec<&String> = properties.as_object().expect("properties").keys().collect();
    let schema = json!({ "type": "object", "properties": properties, "required": required });
    let Value::Object(schema) = schema else { panic!("a schema is an object") };
    Questions::from([(key.to_owned(), Question::Form { message: message.to_owned(), schema })])
}

fn sample(key: &str, prompt: &str) -> Questions {
    let question = Question::ModelText { prompt: prompt.to_owned(), n_tokens_max: 100 };
    Questions::from([(key.to_owned(), question)])
}

fn roots() -> Questions {
    Questions::from([("client_roots".to_owned(), Question::Roots {})])
}

fn name_form(key: &str) -> Questions {
    form(key, "What is your name?", json!({ "name": { "type": "string" } }))
}

/// A field of an accepted form, or what was done instead.
pub fn field(answers: &Answered, key: &str, field: &str) -> String {
    match serde_json::from_value(answers[key].clone()) {
        Ok(FormAnswer::Accept { content }) => content[field].as_str().map_or(content[field].to_string(), str::to_owned),
        Ok(other) => format!("{other:?}"),
        Err(error) => panic!("the door lets no other answer through: {error}"),
    }
}

fn failed(message: &str) -> Result<Vec<Value>, OpError> {
    Err(OpError::new(Kind::Conflict, message))
}

async fn wait(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}

tool!(SimpleText {}, "test_simple_text", JobMode::Never, |_this, _ctx| vec![text(
    "This is a simple text response for testing."
)]);
tool!(ImageContent {}, "test_image_content", JobMode::Never, |_this, _ctx| vec![
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" })
]);
tool!(AudioContent {}, "test_audio_content", JobMode::Never, |_this, _ctx| vec![
    json!({ "type": "audio", "data": WAV, "mimeType": "audio/wav" })
]);
tool!(EmbeddedResource {}, "test_embedded_resource", JobMode::Never, |_this, _ctx| vec![json!({
    "type": "resource",
    "resource": { "uri": "test://embedded-resource", "mimeType": "text/plain", "text": "An embedded resource." }
})]);
tool!(MultipleContentTypes {}, "test_multiple_content_types", JobMode::Never, |_this, _ctx| vec![
    text("Multiple content types test:"),
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" }),
    json!({
        "type": "resource",
        "resource": { "uri": "test://mixed", "mimeType": "application/json", "text": "{\"test\":\"data\"}" }
    }),
]);
tool!(WithLogging {}, "test_tool_with_logging", JobMode::Never, |_this, _ctx| vec![text("logged")]);
tool!(LoggingTool {}, "test_logging_tool", JobMode::Never, |_this, _ctx| vec![text("logged")]);
tool!(TriggerToolChange {}, "test_trigger_tool_change", JobMode::Never, |_this, _ctx| vec![text("changed")]);
tool!(TriggerPromptChange {}, "test_trigger_prompt_change", JobMode::Never, |_this, _ctx| vec![text("changed")]);
tool!(Reconnection {}, "test_reconnection", JobMode::Never, |_this, _ctx| vec![text("still here")]);
tool!(ErrorHandling {}, "test_error_handling", JobMode::Never, |_this, _ctx| {
    failed("This tool intentionally returns an error for testing")?
});
tool!(WithProgress {}, "test_tool_with_progress", JobMode::Never, |_this, ctx| {
    for done in [0.0, 50.0, 100.0] {
        ctx.progress().report(done, Some(100.0), "a step");
        wait(50).await;
    }
    vec![text("done")]
});

// Questions of the revisions with a handshake.
tool!(Sampling { prompt: String }, "test_sampling", JobMode::Never, |this, ctx| {
    let answers = ctx.ask(sample("sampled", &this.prompt))?;
    vec![text(format!("LLM response: {}", answers["sampled"]["content"]))]
});
tool!(Elicitation { message: String }, "test_elicitation", JobMode::Never, |this, ctx| {
    let properties = json!({
        "username": { "type": "string", "description": "User's response" },
        "email": { "type": "string", "description": "User's email address" }
    });
    let answers = ctx.ask(form("user", &this.message, properties))?;
    vec![text(format!("User response: {}", answers["user"]))]
});
tool!(ElicitationDefaults {}, "test_elicitation_sep1034_defaults", JobMode::Never, |_this, ctx| {
    let properties = json!({
        "name": { "type": "string", "default": "John Doe" },
        "age": { "type": "integer", "default": 30 },
        "score": { "type": "number", "default": 95.5 },
        "status": { "type": "string", "enum": ["active", "inactive", "pending"], "default": "active" },
        "verified": { "type": "boolean", "default": true }
    });
    let answers = ctx.ask(form("user", "Please check your data", properties))?;
    vec![text(format!("Elicitation completed: {}", answers["user"]))]
});
tool!(ElicitationEnums {}, "test_elicitation_sep1330_enums", JobMode::Never, |_this, ctx| {
    let titled = |prefix: &str| {
        json!([
            { "const": "value1", "title": format!("First {prefix}") },
            { "const": "value2", "title": format!("Second {prefix}") },
            { "const": "value3", "title": format!("Third {prefix}") }
        ])
    };
    let properties = json!({
        "untitledSingle": { "type": "string", "enum": ["option1", "option2", "option3"] },
        "titledSingle": { "type": "string", "oneOf": titled("Option") },
        "legacyEnum": {
            "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti": { "type": "array", "items": { "type": "string", "enum": ["option1", "option2", "option3"] } },
        "titledMulti": { "type": "array", "items": { "anyOf": titled("Choice") } }
    });
    let answers = ctx.ask(form("user", "Please choose", properties))?;
    vec![text(format!("Elicitation completed: {}", answers["user"]))]
});

// Questions as results.
tool!(MissingCapability {}, "test_missing_capability", JobMode::Never, |_this, ctx| {
    ctx.ask(sample("sampled", "anything"))?;
    vec![text("sampled")]
});
tool!(StreamingElicitation {}, "test_streaming_elicitation", JobMode::Never, |_this, ctx| {
    ctx.ask(name_form("user_name"))?;
    vec![text("elicited")]
});
tool!(AskForm {}, "test_input_required_result_elicitation", JobMode::Never, |_this, ctx| {
    let answers = ctx.ask_unless_given(name_form("user_name"))?;
    vec![text(format!("Hello, {}!", field(&answers, "user_name", "name")))]
});
tool!(AskSampling {}, "test_input_required_result_sampling", JobMode::Never, |_this, ctx| {
    let answers = ctx.ask(sample("capital_question", "What is the capital of France?"))?;
    vec![text(answers["capital_question"]["content"].to_string())]
});
tool!(AskRoots {}, "test_input_required_result_list_roots", JobMode::Never, |_this, ctx| {
    let answers = ctx.ask(roots())?;
    vec![text(answers["client_roots"]["roots"].to_string())]
});
tool!(AskWithState {}, "test_input_required_result_request_state", JobMode::Never, |_this, ctx| {
    ctx.ask(form("confirm", "Please confirm", json!({ "ok": { "type": "boolean" } })))?;
    vec![text("state-ok")]
});
tool!(AskTampered {}, "test_input_required_result_tampered_state", JobMode::Never, |_this, ctx| {
    ctx.ask(form("confirm", "Please confirm", json!({ "ok": { "type": "boolean" } })))?;
    vec![text("state-ok")]
});
tool!(AskSeveral {}, "test_input_required_result_multiple_inputs", JobMode::Never, |_this, ctx| {
    let all = [name_form("user_name"), sample("greeting", "Generate a greeting"), roots()];
    let answers = ctx.ask(all.into_iter().flatten().collect())?;
    vec![text(field(&answers, "user_name", "name"))]
});
tool!(AskTwice {}, "test_input_required_result_multi_round", JobMode::Never, |_this, ctx| {
    let first = ctx.ask(name_form("step1"))?;
    let color = form("step2", "What is your favourite colour?", json!({ "color": { "type": "string" } }));
    let second = ctx.ask(color)?;
    vec![text(format!("{} likes {}", field(&first, "step1", "name"), field(&second, "step2", "color")))]
});
tool!(AskWhatIsPossible {}, "test_input_required_result_capabilities", JobMode::Never, |_this, ctx| {
    let mut questions = Questions::new();
    if ctx.may_ask(QuestionKind::Form) {
        questions.extend(name_form("user_name"));
    }
    if ctx.may_ask(QuestionKind::ModelText) {
        questions.extend(sample("greeting", "Generate a greeting"));
    }
    ctx.ask(questions)?;
    vec![text("asked")]
});

// Tasks.
tool!(Greet { name: String }, "greet", JobMode::Never, |this, _ctx| vec![text(format!("Hello, {}!", this.name))]);
tool!(SlowCompute { seconds: u64, label: String }, "slow_compute", JobMode::Offered, |this, ctx| {
    ctx.progress().report(0.0, Some(1.0), "computing");
    wait(this.seconds * 1_000).await;
    vec![text(format!("{} took {} s", this.label, this.seconds))]
});
tool!(FailingJob {}, "failing_job", JobMode::Required, |_this, _ctx| {
    wait(200).await;
    failed("the job could not do its work")?
});
tool!(ProtocolErrorJob {}, "protocol_error_job", JobMode::Offered, |_this, _ctx| {
    // An operation that panics is our fault, not the caller's.
    vec![Answered::new()["what nobody gave"].clone()]
});
tool!(ConfirmDelete { filename: String }, "confirm_delete", JobMode::Offered, |this, ctx| {
    let answers = ctx.ask(form("confirm", "Delete it?", json!({ "confirm": { "type": "boolean" } })))?;
    vec![text(format!("{}: {}", this.filename, field(&answers, "confirm", "confirm")))]
});
tool!(MultiInput {}, "multi_input", JobMode::Offered, |_this, ctx| {
    let answers = ctx.ask(name_form("first").into_iter().chain(name_form("second")).collect())?;
    vec![text(format!("{} and {}", field(&answers, "first", "name"), field(&answers, "second", "name")))]
});

/// Asks before it becomes a job.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WithTask {}

impl Operation for WithTask {
    const NAME: &'static str = "test_tool_with_task";
    const ABOUT: &'static str = "The suite's `test_tool_with_task`.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &Role::ALL;
    const JOB: JobMode = JobMode::Offered;

    type Output = Content;

    fn ask_first(&self, ctx: &Context<'_>) -> Result<(), OpError> {
        ctx.ask(name_form("user_name")).map(drop)
    }
}
tool!(@read WithTask, _this, ctx, {
    let answers = ctx.ask(name_form("user_name"))?;
    vec![text(format!("Hello, {}!", field(&answers, "user_name", "name")))]
});

/// A parameter that travels in a header too.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CustomHeader {
    #[schemars(extend("x-mcp-header" = "Region"))]
    pub region: String,
}
tool!(@operation CustomHeader, "test_custom_header", JobMode::Never);
tool!(@read CustomHeader, this, _ctx, vec![text(this.region.clone())]);

/// A schema with words that clients must not lose.
#[derive(Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SchemaTool(Map<String, Value>);

impl JsonSchema for SchemaTool {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SchemaTool".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let address = json!({
            "$anchor": "addressDef",
            "type": "object",
            "properties": { "street": { "type": "string" }, "city": { "type": "string" } }
        });
        let schema = json!({
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": { "address": address },
            "properties": {
                "name": { "type": "string" },
                "address": { "$ref": "#/$defs/address" },
                "contactMethod": { "type": "string", "enum": ["phone", "email"] },
                "phone": { "type": "string" },
                "email": { "type": "string" }
            },
            "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
            "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
            "then": { "required": ["phone"] },
            "else": { "required": ["email"] },
            "additionalProperties": false
        });
        Schema::try_from(schema).expect("a schema is an object")
    }
}
tool!(@operation SchemaTool, "json_schema_2020_12_tool", JobMode::Never);
tool!(@read SchemaTool, _this, _ctx, vec![text("fits")]);

pub fn entries() -> Vec<Entry> {
    vec![
        Entry::read::<SimpleText>(),
        Entry::read::<ImageContent>(),
        Entry::read::<AudioContent>(),
        Entry::read::<EmbeddedResource>(),
        Entry::read::<MultipleContentTypes>(),
        Entry::read::<WithLogging>(),
        Entry::read::<LoggingTool>(),
        Entry::read::<TriggerToolChange>(),
        Entry::read::<TriggerPromptChange>(),
        Entry::read::<Reconnection>(),
        Entry::read::<ErrorHandling>(),
        Entry::read::<WithProgress>(),
        Entry::read::<Sampling>(),
        Entry::read::<Elicitation>(),
        Entry::read::<ElicitationDefaults>(),
        Entry::read::<ElicitationEnums>(),
        Entry::read::<MissingCapability>(),
        Entry::read::<StreamingElicitation>(),
        Entry::read::<AskForm>(),
        Entry::read::<AskSampling>(),
        Entry::read::<AskRoots>(),
        Entry::read::<AskWithState>(),
        Entry::read::<AskTampered>(),
        Entry::read::<AskSeveral>(),
        Entry::read::<AskTwice>(),
        Entry::read::<AskWhatIsPossible>(),
        Entry::read::<Greet>(),
        Entry::read::<SlowCompute>(),
        Entry::read::<FailingJob>(),
        Entry::read::<ProtocolErrorJob>(),
        Entry::read::<ConfirmDelete>(),
        Entry::read::<MultiInput>(),
        Entry::read::<WithTask>(),
        Entry::read::<CustomHeader>(),
        Entry::read::<SchemaTool>(),
    ]
}
