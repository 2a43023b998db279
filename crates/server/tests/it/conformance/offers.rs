//! The prompts and resources that the suite asks for, as operations.

use contract::actor::Role;
use contract::error::OpError;
use ops::prompts::{Argument, Prompt};
use ops::resources::{Body, Resource};
use ops::{Answer, Context, Entry, Family, Offers, Operation, Read, Services};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::tools::{PNG, field, form, text};

/// Messages of a prompt as MCP has them, as text; `front` lifts them out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Messages {
    pub text: String,
}

/// Contents of a resource as MCP has them; `front` lifts them out.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Contents {
    pub contents: Vec<Value>,
}

macro_rules! offer {
    ($type:ident { $($field:ident: $kind:ty = $key:literal),* }, $name:literal, $output:ident, |$this:ident, $ctx:ident| $body:expr) => {
        #[derive(Debug, Serialize, Deserialize, JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $type {
            $(#[serde(rename = $key)] pub $field: $kind,)*
        }

        impl Operation for $type {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = concat!("The suite's `", $name, "`.");
            const FAMILY: Family = Family::House;
            const ROLES: &'static [Role] = &Role::ALL;
            const IS_TOOL: bool = false;

            type Output = $output;
        }

        impl Read for $type {
            async fn run(&self, $ctx: &Context<'_>) -> Result<Answer<$output>, OpError> {
                let $this = self;
                Ok(Answer::of($body))
            }
        }
    };
}

fn messages(content: impl IntoIterator<Item = Value>) -> Messages {
    let messages: Vec<Value> =
        content.into_iter().map(|content| json!({ "role": "user", "content": content })).collect();
    Messages { text: json!(messages).to_string() }
}

offer!(SimplePrompt {}, "simple_prompt", Messages, |_this, _ctx| messages([text("A simple prompt for testing.")]));
offer!(
    PromptWithArguments { first: String = "arg1", second: String = "arg2" },
    "prompt_with_arguments",
    Messages,
    |this, _ctx| messages([text(format!("Prompt with arguments: {} and {}", this.first, this.second))])
);
offer!(PromptWithResource { uri: String = "resourceUri" }, "prompt_with_resource", Messages, |this, _ctx| messages([
    json!({ "type": "resource", "resource": { "uri": this.uri, "mimeType": "text/plain", "text": "Embedded." } }),
    text("Please process the embedded resource above."),
]));
offer!(PromptWithImage {}, "prompt_with_image", Messages, |_this, _ctx| messages([
    json!({ "type": "image", "data": PNG, "mimeType": "image/png" }),
    text("Please analyse the image above."),
]));
offer!(PromptThatAsks {}, "prompt_that_asks", Messages, |_this, ctx| {
    let question =
        form("user_context", "What context should the prompt use?", json!({ "context": { "type": "string" } }));
    let answers = ctx.ask(question)?;
    messages([text(field(&answers, "user_context", "context"))])
});

offer!(StaticText {}, "static_text", Contents, |_this, _ctx| Contents {
    contents: vec![json!({ "uri": "test://static-text", "mimeType": "text/plain", "text": "A static text." })]
});
offer!(StaticBinary {}, "static_binary", Contents, |_this, _ctx| Contents {
    contents: vec![json!({ "uri": "test://static-binary", "mimeType": "image/png", "blob": PNG })]
});
offer!(WatchedResource {}, "watched_resource", Contents, |_this, _ctx| Contents {
    contents: vec![json!({ "uri": "test://watched-resource", "mimeType": "text/plain", "text": "Watched." })]
});
offer!(TemplateData { id: String = "id" }, "template_data", Contents, |this, _ctx| {
    let data = json!({ "id": this.id, "templateTest": true, "data": format!("Data for ID: {}", this.id) });
    let uri = format!("test://template/{}/data", this.id);
    Contents { contents: vec![json!({ "uri": uri, "mimeType": "application/json", "text": data.to_string() })] }
});

const fn argument(name: &'static str) -> Argument {
    Argument { name, about: "An argument.", is_required: true, values: |_| vec!["test".to_owned()] }
}

fn prompt(name: &str, operation: &'static str, arguments: &'static [Argument]) -> Prompt {
    let about = "A prompt of the suite.".to_owned();
    Prompt { name: name.to_owned(), about, operation, fixed: Map::new(), arguments }
}

const TWO_ARGUMENTS: &[Argument] = &[argument("arg1"), argument("arg2")];
const AN_ADDRESS: &[Argument] = &[argument("resourceUri")];

fn prompts(_: &Services) -> Vec<Prompt> {
    vec![
        prompt("test_simple_prompt", "simple_prompt", &[]),
        prompt("test_prompt_with_arguments", "prompt_with_arguments", TWO_ARGUMENTS),
        prompt("test_prompt_with_embedded_resource", "prompt_with_resource", AN_ADDRESS),
        prompt("test_prompt_with_image", "prompt_with_image", &[]),
        prompt("test_input_required_result_prompt", "prompt_that_asks", &[]),
    ]
}

const fn resource(template: &'static str, mime_type: &'static str, operation: &'static str) -> Resource {
    Resource {
        template,
        name: operation,
        about: "A resource of the suite.",
        mime_type,
        operation,
        body: Body::Output,
        input: None,
        values: |_, _| Vec::new(),
        rests_on: |_, _| false,
    }
}

pub static OFFERS: Offers = Offers {
    prompts,
    resources: &[
        resource("test://static-text", "text/plain", "static_text"),
        resource("test://static-binary", "image/png", "static_binary"),
        resource("test://watched-resource", "text/plain", "watched_resource"),
        resource("test://template/{id}/data", "application/json", "template_data"),
    ],
    lists_documents: false,
};

pub fn entries() -> Vec<Entry> {
    vec![
        Entry::read::<SimplePrompt>(),
        Entry::read::<PromptWithArguments>(),
        Entry::read::<PromptWithResource>(),
        Entry::read::<PromptWithImage>(),
        Entry::read::<PromptThatAsks>(),
        Entry::read::<StaticText>(),
        Entry::read::<StaticBinary>(),
        Entry::read::<WatchedResource>(),
        Entry::read::<TemplateData>(),
    ]
}
