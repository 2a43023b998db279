//! `guide_generation`: the prompt of a generator, with everything the writer of a document needs.

use contract::actor::Role;
use contract::error::OpError;
use contract::workflow::artifacts::{GenerationGuide, GuideGeneration};
use contract::workflow::checklists::{Checklist, ValidationType};
use workflow::approval::Lineage;
use workflow::artifacts;
use workflow::catalogue::{Catalogue, DocumentType, Generator, Numbering};

use super::document::{Home, check_key};
use crate::context::{Context, Settings};
use crate::family::Family;
use crate::operation::{Answer, Operation, Read, store_error};

impl Operation for GuideGeneration {
    const NAME: &'static str = "guide_generation";
    const ABOUT: &'static str =
        "Explain how to write a document: template, required sections, checklist and the documents it is made from.";
    const FAMILY: Family = Family::Workflow;
    const ROLES: &'static [Role] = &Role::ALL;
    const IS_TOOL: bool = false;

    type Output = GenerationGuide;

    fn fill_defaults(&mut self, settings: &Settings) {
        self.project_id.get_or_insert_with(|| settings.default_project_id.clone());
    }
}

impl Read for GuideGeneration {
    async fn run(&self, ctx: &Context<'_>) -> Result<Answer<GenerationGuide>, OpError> {
        let catalogue = ctx.services().catalogue.current();
        let found = catalogue.find_generator(&self.generator);
        let found = found.and_then(|generator| Some((generator, catalogue.find_type(&generator.produces)?)));
        let (generator, kind) = found.ok_or_else(|| {
            let names: Vec<&str> = catalogue.generators().iter().map(|it| it.name.as_str()).collect();
            OpError::invalid("generator", format!("one of {}", names.join(", "))).received(self.generator.as_str())
        })?;
        let artifact_id = self.artifact_id.as_deref().map(|id| check_id(&catalogue, kind, id)).transpose()?;
        let mut text = begin(&catalogue, kind, artifact_id.as_deref());
        text.push_str(&inputs(self, ctx, &catalogue, generator).await?);
        if let Some(compiled) = catalogue.find_checklist(&kind.checklist) {
            text.push_str(&criteria(kind, &compiled.checklist));
        }
        if let Some(template) = catalogue.find_template(&kind.name) {
            write(&mut text, format_args!("\n## Template\n\n````markdown\n{template}````\n"));
        }
        Ok(Answer::of(GenerationGuide { text }))
    }
}

/// What a client fills in becomes part of a prompt: an id of this type, and nothing else.
fn check_id(catalogue: &Catalogue, kind: &DocumentType, id: &str) -> Result<String, OpError> {
    let id = check_key(id, "artifact_id", GuideGeneration::NAME)?;
    let is_of_kind = catalogue.type_of_id(&id).is_some_and(|found| found.name == kind.name);
    if kind.prefix.is_none() || is_of_kind {
        return Ok(id);
    }
    let expected = format!("an id of a {} such as `{}-006`", kind.name, kind.prefix.as_deref().unwrap_or_default());
    Err(OpError::invalid("artifact_id", expected).received(id))
}

fn write(text: &mut String, line: std::fmt::Arguments<'_>) {
    text.push_str(&line.to_string());
}

fn begin(catalogue: &Catalogue, kind: &DocumentType, artifact_id: Option<&str>) -> String {
    let mut text = format!("Write a document of type {} ({}): {}\n", kind.name, kind.title, kind.about);
    match (artifact_id, &kind.prefix) {
        (Some(id), _) => write(&mut text, format_args!("Its id is {id}.\n")),
        (None, Some(prefix)) => {
            write(
                &mut text,
                format_args!("Take its id from get_next_available_id ({prefix}-nnn); never make one up.\n"),
            );
        }
        (None, None) => text.push_str("It has no id; its file name is made from its title.\n"),
    }
    write(&mut text, format_args!("Its status is {}.", kind.first_status()));
    for child in &kind.decomposes_into {
        let name = &child.artifact_type;
        let prefix = catalogue.find_type(name).and_then(|kind| kind.prefix.as_deref()).unwrap_or_default();
        match child.numbering {
            Numbering::Reserved => write(
                &mut text,
                format_args!(
                    " Documents of type {name} that are to follow get placeholders ({prefix}-AAA, {prefix}-BBB, …)."
                ),
            ),
            Numbering::SameNumber => write(
                &mut text,
                format_args!(" The one document of type {name} that is to follow gets the placeholder {prefix}-AAA."),
            ),
        }
    }
    text.push_str(
        "\nFill in everything that stands in brackets. Call validate_artifact, mend what fails, judge the criteria that \
         are left to you, then call store_artifact. A person approves.\n",
    );
    text
}

fn criteria(kind: &DocumentType, checklist: &Checklist) -> String {
    let mut text = format!("\n## Checklist {}\n\nRequired sections: ", kind.checklist);
    let mut sections: Vec<&str> = Vec::new();
    for section in checklist.criteria.iter().flat_map(|criterion| &criterion.required_sections) {
        if !sections.contains(&section.as_str()) {
            sections.push(section);
        }
    }
    write(&mut text, format_args!("{}.\n\n", sections.join(", ")));
    for criterion in &checklist.criteria {
        let by = match criterion.validation_type {
            ValidationType::Automated => "checked by the server",
            ValidationType::Agent => "judged by you",
            ValidationType::Manual => "judged by a person",
        };
        write(&mut text, format_args!("- {} ({by}): {}\n", criterion.id, criterion.description));
    }
    text
}

/// What the document is made from: found below the parent where one is named, else as the generator asks for it.
async fn inputs(
    asked: &GuideGeneration,
    ctx: &Context<'_>,
    catalogue: &Catalogue,
    generator: &Generator,
) -> Result<String, OpError> {
    let mut text = "\n## Inputs\n\n".to_owned();
    let Some(parent_id) = &asked.parent_id else {
        for rule in &generator.inputs {
            write(&mut text, format_args!("- {} ({})\n", rule.name, rule.classification.name()));
        }
        if generator.inputs.is_empty() {
            text.push_str("None but what the person who asks tells you.\n");
        }
        return Ok(text);
    };
    let key = check_key(parent_id, "parent_id", GuideGeneration::NAME)?;
    let home = Home::of(ctx, asked.project_id.as_ref());
    let mut reader = ctx.read().await?;
    let row = artifacts::find(&mut reader, home.place(), &key, None).await.map_err(store_error)?;
    let row = row.ok_or_else(|| OpError::not_found(key.clone()))?;
    let content = artifacts::read_content(&mut reader, &row.organisation_id, &row.content_sha256).await;
    let content = content.map_err(store_error)?;
    let lineage = Lineage::read(&mut reader, catalogue, home.place(), row, content).await.map_err(store_error)?;
    let research = &ctx.settings().research;
    let resolved = lineage.resolve(&mut reader, catalogue, home.place(), generator, research).await;
    let resolved = resolved.map_err(store_error)?;
    for input in resolved.inputs {
        let input = input.described(&home.default_project_id);
        let (name, class, uri, status) =
            (&input.name, input.classification.name(), &input.mcp_resource_uri, &input.status);
        write(&mut text, format_args!("- {name} ({class}): {uri}, {status}\n"));
    }
    for name in resolved.missing {
        write(&mut text, format_args!("- {name} (mandatory): missing; it must be stored and approved first\n"));
    }
    for (name, keys) in resolved.ambiguous {
        let keys = keys.join(" and ");
        write(&mut text, format_args!("- {name} (mandatory): ambiguous, as {keys} fit; name one in the metadata\n"));
    }
    Ok(text)
}
