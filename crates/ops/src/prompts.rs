//! Prompts: texts that read operations write. A prompt is rendered through the door like anything else.

use crate::context::Services;

pub struct Argument {
    pub name: &'static str,
    pub about: &'static str,
    pub is_required: bool,
    /// Values worth offering while somebody types.
    pub values: fn(&Services) -> Vec<String>,
}

/// Bound to a read operation whose output has a `text`.
pub struct Prompt {
    pub name: &'static str,
    pub about: &'static str,
    pub operation: &'static str,
    pub arguments: &'static [Argument],
}

pub const PROMPTS: &[Prompt] = &[Prompt {
    name: "number_documents",
    about: "How to number new documents of a type so that no two ever share an id.",
    operation: "guide_numbering",
    arguments: &[
        Argument {
            name: "artifact_type",
            about: "Document type such as backlog_story",
            is_required: true,
            values: |services| numbered_types(services),
        },
        Argument { name: "count", about: "How many documents, 1 to 100", is_required: false, values: |_| Vec::new() },
    ],
}];

fn numbered_types(services: &Services) -> Vec<String> {
    let catalogue = services.catalogue.current();
    catalogue.types().iter().filter(|kind| kind.prefix.is_some()).map(|kind| kind.name.clone()).collect()
}
