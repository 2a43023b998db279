//! Prompts: texts that read operations write. A prompt is rendered through the door like anything else.

use serde_json::{Map, Value};

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
    pub name: String,
    pub about: String,
    pub operation: &'static str,
    /// Input that the prompt's name stands for.
    pub fixed: Map<String, Value>,
    pub arguments: &'static [Argument],
}

const NUMBERING: &[Argument] = &[
    Argument {
        name: "artifact_type",
        about: "Document type such as backlog_story",
        is_required: true,
        values: numbered_types,
    },
    Argument { name: "count", about: "How many documents, 1 to 100", is_required: false, values: |_| Vec::new() },
];

const GENERATION: &[Argument] = &[
    Argument {
        name: "artifact_id",
        about: "Id of the document to write, where it has one",
        is_required: false,
        values: |_| Vec::new(),
    },
    Argument {
        name: "parent_id",
        about: "Id of the document it is made from",
        is_required: false,
        values: |_| Vec::new(),
    },
    Argument { name: "project_id", about: "Project of the documents", is_required: false, values: |_| Vec::new() },
];

/// How to number documents, then one prompt per generator.
pub fn all(services: &Services) -> Vec<Prompt> {
    let catalogue = services.catalogue.current();
    let numbering = Prompt {
        name: "number_documents".to_owned(),
        about: "How to number new documents of a type so that no two ever share an id.".to_owned(),
        operation: "guide_numbering",
        fixed: Map::new(),
        arguments: NUMBERING,
    };
    let generators = catalogue.generators().iter().map(|generator| Prompt {
        name: generator.name.clone(),
        about: format!("How to write a document of type {}.", generator.produces),
        operation: "guide_generation",
        fixed: Map::from_iter([("generator".to_owned(), Value::from(generator.name.clone()))]),
        arguments: GENERATION,
    });
    std::iter::once(numbering).chain(generators).collect()
}

fn numbered_types(services: &Services) -> Vec<String> {
    let catalogue = services.catalogue.current();
    catalogue.types().iter().filter(|kind| kind.prefix.is_some()).map(|kind| kind.name.clone()).collect()
}
