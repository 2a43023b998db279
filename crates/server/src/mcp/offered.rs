//! What is offered beside tools: resources, prompts, and the completion of their arguments.

use contract::error::OpError;
use contract::workflow::artifacts::ListedArtifacts;
use ops::limits::PAGE_ITEMS_MAX;
use ops::resources::{Body, Resource};
use ops::{Answers, Call};
use rmcp::RoleServer;
use rmcp::model::*;
use rmcp::service::RequestContext;
use serde_json::{Map, Value};

use super::asking;
use super::correlation;
use super::handler::Handler;
use super::results::{failed_read, meta, no_resource};

const COMPLETIONS_MAX: usize = 100;
/// Begins the cursors of that part of the resources which is documents.
const DOCUMENTS_CURSOR: &str = "documents:";

/// What came of a read: what it is about, or questions first.
enum Read {
    Output { output: Value, meta: MetaObject },
    Asks(InputRequiredResult),
}

/// One page of a list. A cursor is the number of items before the page.
pub(super) fn page<T>(
    items: Vec<T>,
    request: Option<PaginatedRequestParams>,
) -> Result<(Vec<T>, Option<String>), ErrorData> {
    let start = match request.and_then(|params| params.cursor) {
        None => 0,
        Some(cursor) => cursor
            .parse::<usize>()
            .ok()
            .filter(|start| *start < items.len())
            .ok_or_else(|| ErrorData::invalid_params("`cursor` is not one that this server gave out", None))?,
    };
    let end = start.saturating_add(PAGE_ITEMS_MAX);
    let next = (end < items.len()).then(|| end.to_string());
    Ok((items.into_iter().skip(start).take(PAGE_ITEMS_MAX).collect(), next))
}

impl Handler {
    fn served_resources(&self) -> impl Iterator<Item = &'static Resource> {
        self.offers.resources.iter().filter(|resource| self.serves(resource.operation))
    }

    /// What is always there, then the documents of the default project.
    pub(super) async fn resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.as_ref().and_then(|params| params.cursor.as_deref());
        if let Some(cursor) = cursor.and_then(|cursor| cursor.strip_prefix(DOCUMENTS_CURSOR)) {
            return self.list_documents(cursor, context).await;
        }
        let (table, services) = (self.house.table(), self.house.services());
        let values = |resource: &Resource| {
            if resource.is_fixed() { vec![String::new()] } else { (resource.values)(table, services) }
        };
        let listed = self
            .served_resources()
            .flat_map(|resource| values(resource).into_iter().map(move |value| (resource, value)))
            .map(|(resource, value)| {
                let name = if resource.is_fixed() { resource.name.to_owned() } else { value.clone() };
                rmcp::model::Resource::new(resource.uri(&value), name)
                    .with_description(resource.about)
                    .with_mime_type(resource.mime_type)
            })
            .collect();
        let (listed, next_cursor) = page(listed, request)?;
        let mut result = ListResourcesResult::with_all_items(listed);
        // After what is always there come the documents of the default project.
        let has_documents = self.offers.lists_documents && table.find_in("list_artifacts", self.family).is_some();
        let documents = || has_documents.then(|| DOCUMENTS_CURSOR.to_owned());
        result.next_cursor = next_cursor.or_else(documents);
        Ok(result)
    }

    /// The forms of resources' addresses.
    pub(super) fn templates(
        &self,
        request: Option<PaginatedRequestParams>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let templates = self
            .served_resources()
            .filter(|resource| !resource.is_fixed())
            .map(|resource| {
                ResourceTemplate::new(resource.template, resource.name)
                    .with_description(resource.about)
                    .with_mime_type(resource.mime_type)
            })
            .collect();
        let (templates, next_cursor) = page(templates, request)?;
        let mut result = ListResourceTemplatesResult::with_all_items(templates);
        result.next_cursor = next_cursor;
        Ok(result)
    }

    /// What stands at an address.
    pub(super) async fn resource(
        &self,
        request: ReadResourceRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some((resource, input)) = self.find_resource(&request.uri) else {
            self.house.refusals().note_of(&self.actor, "NO_RESOURCE");
            return Err(no_resource(&request.uri));
        };
        let answers = asking::answers(request.input_responses, request.request_state, context);
        let (output, meta) = match self.read(resource.operation, input, answers, context).await? {
            Read::Output { output, meta } => (output, meta),
            Read::Asks(asked) => return Ok(ReadResourceResponse::InputRequired(asked)),
        };
        let text = match resource.body {
            Body::Output => output.to_string(),
            Body::Member(name) => output.get(name).and_then(Value::as_str).unwrap_or_default().to_owned(),
        };
        let contents = ResourceContents::text(text, request.uri).with_mime_type(resource.mime_type).with_meta(meta);
        Ok(ReadResourceResponse::Complete(ReadResourceResult::new(vec![contents])))
    }

    /// Every prompt, with its arguments.
    pub(super) fn prompts(&self, request: Option<PaginatedRequestParams>) -> Result<ListPromptsResult, ErrorData> {
        let listed = (self.offers.prompts)(self.house.services())
            .into_iter()
            .filter(|prompt| self.serves(prompt.operation))
            .map(|prompt| {
                let arguments = prompt.arguments.iter().map(|argument| {
                    PromptArgument::new(argument.name)
                        .with_description(argument.about)
                        .with_required(argument.is_required)
                });
                Prompt::new(prompt.name, Some(prompt.about), Some(arguments.collect()))
            })
            .collect();
        let (listed, next_cursor) = page(listed, request)?;
        let mut result = ListPromptsResult::with_all_items(listed);
        result.next_cursor = next_cursor;
        Ok(result)
    }

    /// A prompt, filled in.
    pub(super) async fn prompt(
        &self,
        request: GetPromptRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        let Some(prompt) = self.find_prompt(&request.name) else {
            self.house.refusals().note_of(&self.actor, "NO_PROMPT");
            return Err(ErrorData::invalid_params("no prompt of this name; prompts/list names them", None));
        };
        let mut input: Map<String, Value> = request.arguments.unwrap_or_default().into_iter().collect();
        input.extend(prompt.fixed);
        let answers = asking::answers(request.input_responses, request.request_state, context);
        let (output, meta) = match self.read(prompt.operation, Value::Object(input), answers, context).await? {
            Read::Output { output, meta } => (output, meta),
            Read::Asks(asked) => return Ok(GetPromptResponse::InputRequired(asked)),
        };
        let text = output.get("text").and_then(Value::as_str).unwrap_or_default();
        let mut result = GetPromptResult::new(vec![PromptMessage::new_text(Role::User, text)]);
        result.description = Some(prompt.about);
        result.meta = Some(meta);
        Ok(GetPromptResponse::Complete(result))
    }

    /// What an argument that is being typed may become.
    pub(super) fn completions(&self, request: &CompleteRequestParams) -> Result<CompleteResult, ErrorData> {
        let argument = &request.argument;
        let values = match &request.r#ref {
            Reference::Prompt(reference) => {
                let prompt = self
                    .find_prompt(&reference.name)
                    .ok_or_else(|| ErrorData::invalid_params("no prompt of this name", None))?;
                let found = prompt.arguments.iter().find(|known| known.name == argument.name);
                found.map(|known| (known.values)(self.house.services())).unwrap_or_default()
            }
            Reference::Resource(reference) => {
                let known = self.served_resources().find(|resource| resource.template == reference.uri);
                let resource =
                    known.ok_or_else(|| ErrorData::invalid_params("no resource template of this form", None))?;
                if resource.variable() == argument.name {
                    (resource.values)(self.house.table(), self.house.services())
                } else {
                    Vec::new()
                }
            }
            _ => return Err(ErrorData::invalid_params("nothing to complete in a reference of this kind", None)),
        };
        let typed = argument.value.to_lowercase();
        let mut matching: Vec<String> =
            values.into_iter().filter(|value| value.to_lowercase().starts_with(&typed)).collect();
        let total = u32::try_from(matching.len()).ok();
        matching.truncate(COMPLETIONS_MAX);
        let mut completion = CompletionInfo::new(matching).map_err(|error| ErrorData::internal_error(error, None))?;
        completion.total = total;
        Ok(CompleteResult::new(completion))
    }

    /// The documents of the default project as resources, after what is always there.
    async fn list_documents(
        &self,
        cursor: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let mut input = Map::new();
        if !cursor.is_empty() {
            input.insert("cursor".to_owned(), Value::from(cursor));
        }
        let output = match self.read("list_artifacts", Value::Object(input), Answers::default(), context).await? {
            Read::Output { output, .. } => output,
            Read::Asks(_) => Value::Null,
        };
        let found: ListedArtifacts = serde_json::from_value(output)
            .map_err(|_| ErrorData::internal_error("the list of documents cannot be read", None))?;
        let listed = found.artifacts.into_iter().map(|document| {
            rmcp::model::Resource::new(document.resource_uri, document.id)
                .with_title(document.title)
                .with_description(format!(
                    "{}, version {}, {}",
                    document.artifact_type, document.version, document.status
                ))
                .with_mime_type("text/markdown")
        });
        let mut result = ListResourcesResult::with_all_items(listed.collect());
        result.next_cursor = found.next_cursor.map(|cursor| format!("{DOCUMENTS_CURSOR}{cursor}"));
        Ok(result)
    }

    /// A read operation on behalf of a resource or a prompt.
    async fn read(
        &self,
        operation: &str,
        input: Value,
        answers: Answers,
        context: &RequestContext<RoleServer>,
    ) -> Result<Read, ErrorData> {
        let mut call = Call { operation: operation.to_owned(), input, answers: answers.clone(), ..Call::default() };
        correlation::take(context, &mut call.correlation);
        let mut reply = self.house.call(&self.actor, call).await;
        match std::mem::replace(&mut reply.result, Err(OpError::timeout(String::new()))) {
            Ok(success) => Ok(Read::Output { output: success.output, meta: meta(&reply) }),
            Err(error) => match asking::input_required(&error, &answers) {
                Some(asked) => asked.map(Read::Asks),
                None => Err(failed_read(&reply, &error)),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_comes_in_pages_and_an_invented_cursor_is_refused() {
        let items: Vec<usize> = (0..120).collect();
        let ask = |cursor: &str| {
            let mut params = PaginatedRequestParams::default();
            params.cursor = Some(cursor.to_owned());
            page(items.clone(), Some(params))
        };
        let (first, next) = page(items.clone(), None).unwrap();
        assert_eq!((first.len(), next.as_deref()), (50, Some("50")));
        let (last, next) = ask("100").unwrap();
        assert_eq!((last.len(), next), (20, None));
        assert!(ask("120").is_err());
        assert!(ask("-1").is_err());
    }
}
