//! What a task must be before it may enter the queue. Pure: whether its inputs exist is for whoever keeps documents.

use std::collections::BTreeSet;

use contract::workflow::tasks::{GeneratorInput, GivenInput, InputClass, NO_ARTIFACT_ID, TaskMetadata, TaskStatus};

use crate::catalogue::Catalogue;

/// Where every resource begins.
pub const RESOURCES: &str = "mcp://resources/";
/// The folder of documents without ids.
pub const RESEARCH_FOLDER: &str = "research";

/// What is wrong with a task, in the words of the seed, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Wrong {
    pub message: String,
    pub field: String,
    pub expected: String,
    pub received: Option<String>,
}

/// What a generator needs and makes.
#[derive(Debug, Clone)]
pub struct Needs<'a> {
    /// Its name, whatever alias was used.
    pub generator: &'a str,
    /// Id prefix of the documents it makes.
    pub prefix: &'a str,
    pub inputs: Vec<Need<'a>>,
}

#[derive(Debug, Clone)]
pub struct Need<'a> {
    pub name: &'a str,
    pub classification: InputClass,
    /// Exactly one input of a group is given.
    pub group: Option<&'a str>,
}

/// A task whose form is right, with everything filled in that follows from its URIs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedTask {
    pub artifact_id: String,
    pub generator: String,
    pub description: Option<String>,
    pub correlation_id: Option<String>,
    pub inputs: Vec<GeneratorInput>,
}

/// Checks every task of a batch by itself and against the others.
pub fn check_batch<'n>(
    tasks: &[TaskMetadata],
    catalogue: &Catalogue,
    find_needs: impl Fn(&str) -> Option<Needs<'n>>,
) -> Result<Vec<CheckedTask>, Wrong> {
    let checked = tasks.iter().enumerate().map(|(index, task)| {
        let at = format!("tasks/{index}");
        let needs = find_needs(&task.generator).ok_or_else(|| Wrong {
            message: format!("Unknown generator '{}' for task {}", task.generator, task.artifact_id),
            field: format!("{at}/generator"),
            expected: "the name of a generator such as `hls-generator`".to_owned(),
            received: Some(task.generator.clone()),
        })?;
        check_task(&at, task, catalogue, &needs)
    });
    let checked = checked.collect::<Result<Vec<CheckedTask>, Wrong>>()?;
    check_distinct(tasks)?;
    Ok(checked)
}

fn check_task(at: &str, task: &TaskMetadata, catalogue: &Catalogue, needs: &Needs<'_>) -> Result<CheckedTask, Wrong> {
    let id = &task.artifact_id;
    let is_id = id.strip_prefix(needs.prefix).and_then(|rest| rest.strip_prefix('-')).is_some_and(is_number);
    if !is_id {
        return Err(Wrong {
            message: format!("Invalid artifact_id format: {id}"),
            field: format!("{at}/artifact_id"),
            expected: format!("{}- and three or more digits, as {} makes them", needs.prefix, needs.generator),
            received: Some(id.clone()),
        });
    }
    if task.status.is_some_and(|status| status != TaskStatus::Pending) {
        return Err(Wrong {
            message: format!("Status of new task {id} must be pending"),
            field: format!("{at}/status"),
            expected: "pending, or nothing".to_owned(),
            received: task.status.map(|status| status.to_string()),
        });
    }
    if task.inputs.is_empty() && !needs.inputs.is_empty() {
        return Err(Wrong {
            message: format!("Inputs missing for task {id}"),
            field: format!("{at}/inputs"),
            expected: "at least one input".to_owned(),
            received: None,
        });
    }
    check_needs(at, task, needs)?;
    let inputs = task.inputs.iter().enumerate();
    let inputs = inputs.map(|(index, input)| resolve(&format!("{at}/inputs/{index}"), input, catalogue));
    Ok(CheckedTask {
        artifact_id: id.clone(),
        generator: needs.generator.to_owned(),
        description: task.description.clone(),
        correlation_id: task.task_id.as_ref().map(ToString::to_string),
        inputs: inputs.collect::<Result<Vec<GeneratorInput>, Wrong>>()?,
    })
}

fn is_number(text: &str) -> bool {
    text.len() >= 3 && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Mandatory inputs are there, and exactly one of each group.
fn check_needs(at: &str, task: &TaskMetadata, needs: &Needs<'_>) -> Result<(), Wrong> {
    let is_given = |need: &Need<'_>| task.inputs.iter().any(|input| input.name == need.name);
    for (index, input) in task.inputs.iter().enumerate() {
        let wrong = |message: String, member: &str, expected: &str| Wrong {
            message,
            field: format!("{at}/inputs/{index}/{member}"),
            expected: expected.to_owned(),
            received: None,
        };
        if task.inputs.iter().take(index).any(|other| other.name == input.name) {
            let message = format!("Input '{}' given twice for task {}", input.name, task.artifact_id);
            return Err(wrong(message, "name", "each input once"));
        }
        let need = needs.inputs.iter().find(|need| need.name == input.name);
        if let Some(need) = need.filter(|need| need.classification != input.classification) {
            let class = need.classification.name();
            let message = format!("Input '{}' of task {} must be {class}", input.name, task.artifact_id);
            return Err(wrong(message, "classification", class));
        }
    }
    for need in needs.inputs.iter().filter(|need| need.classification == InputClass::Mandatory) {
        let group: Vec<&Need<'_>> = match need.group {
            None => vec![need],
            Some(_) => needs.inputs.iter().filter(|other| other.group == need.group).collect(),
        };
        let names = |word: &str| group.iter().map(|need| format!("'{}'", need.name)).collect::<Vec<_>>().join(word);
        let message = match group.iter().filter(|need| is_given(need)).count() {
            1 => continue,
            0 => format!("Mandatory input {} missing for task {}", names(" or "), task.artifact_id),
            _ => format!("Only one of the inputs {} may be given for task {}", names(" and "), task.artifact_id),
        };
        let expected = format!("exactly one input named {}", names(" or "));
        return Err(Wrong { message, field: format!("{at}/inputs"), expected, received: None });
    }
    Ok(())
}

/// Fills in what follows from the URI.
fn resolve(at: &str, input: &GivenInput, catalogue: &Catalogue) -> Result<GeneratorInput, Wrong> {
    let given = match (&input.mcp_resource_uri, &input.resource_uri) {
        (Some(uri), Some(other)) if uri != other => return Err(wrong_uri(at, other)),
        (Some(uri), _) | (None, Some(uri)) => uri,
        (None, None) => return Err(wrong_uri(at, "")),
    };
    let Some(resource) = Resource::parse(given) else { return Err(wrong_uri(at, given)) };
    if let Some(path) = input.resource_path.as_deref().filter(|path| *path != resource.path) {
        return Err(Wrong {
            message: format!("Invalid resource_path: {path}"),
            field: format!("{at}/resource_path"),
            expected: format!("`{}`, as the URI has it, or nothing", resource.path),
            received: Some(path.to_owned()),
        });
    }
    let mut of_folder = catalogue.types().iter().filter(|kind| kind.folder == resource.folder);
    let artifact_type = match (of_folder.next(), of_folder.next()) {
        (Some(kind), None) => kind.name.as_str(),
        // Several types share the folder, or it is none of ours: its own name says as much as we know.
        (Some(_), Some(_)) | (None, _) => resource.folder,
    };
    let is_research = resource.folder == RESEARCH_FOLDER;
    let artifact_id = if is_research { NO_ARTIFACT_ID } else { resource.artifact_id().unwrap_or(NO_ARTIFACT_ID) };
    if let Some(id) = input.artifact_id.as_deref().filter(|id| *id != artifact_id) {
        return Err(Wrong {
            message: format!("Invalid artifact_id: {id}"),
            field: format!("{at}/artifact_id"),
            expected: format!("`{artifact_id}`, as the URI has it, or nothing"),
            received: Some(id.to_owned()),
        });
    }
    let status = if is_research { "Finalized" } else { "Approved" };
    Ok(GeneratorInput {
        name: input.name.clone(),
        classification: input.classification,
        artifact_type: input.artifact_type.clone().unwrap_or_else(|| artifact_type.to_owned()),
        artifact_id: artifact_id.to_owned(),
        resource_path: resource.path.to_owned(),
        mcp_resource_uri: given.clone(),
        status: input.status.clone().unwrap_or_else(|| status.to_owned()),
    })
}

fn wrong_uri(at: &str, uri: &str) -> Wrong {
    Wrong {
        message: "Invalid resource_uri format".to_owned(),
        field: format!("{at}/mcp_resource_uri"),
        expected: "mcp://resources/artifacts/{folder}/{file}.md".to_owned(),
        received: Some(uri.to_owned()),
    }
}

/// The parts of a resource URI that points to a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Resource<'a> {
    /// Without the scheme: `artifacts/prds/PRD-006_v3.md`.
    pub path: &'a str,
    pub folder: &'a str,
    pub file: &'a str,
}

impl<'a> Resource<'a> {
    pub fn parse(uri: &'a str) -> Option<Resource<'a>> {
        let path = uri.strip_prefix(RESOURCES)?;
        // Plain names only: no empty, hidden or parent segment, nothing that could be decoded into one.
        let is_plain = |segment: &str| {
            segment.starts_with(|c: char| c.is_ascii_alphanumeric())
                && segment.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-'))
                && !segment.contains("..")
        };
        let (parents, file) = path.rsplit_once('/')?;
        let (root, folder) = parents.rsplit_once('/')?;
        let is_document = path.split('/').all(is_plain) && file.ends_with(".md") && root.ends_with("artifacts");
        is_document.then_some(Resource { path, folder, file })
    }

    /// `PRD-006` of `PRD-006_v3.md`.
    pub fn artifact_id(&self) -> Option<&'a str> {
        let (id, _) = self.file.split_once('_')?;
        let (prefix, number) = id.split_once('-')?;
        let is_id = !prefix.is_empty() && prefix.bytes().all(|byte| byte.is_ascii_uppercase()) && is_number(number);
        is_id.then_some(id)
    }
}

fn check_distinct(tasks: &[TaskMetadata]) -> Result<(), Wrong> {
    let mut seen = BTreeSet::new();
    let repeated: BTreeSet<&str> =
        tasks.iter().map(|task| task.artifact_id.as_str()).filter(|id| !seen.insert(*id)).collect();
    if repeated.is_empty() {
        return Ok(());
    }
    let repeated: Vec<&str> = repeated.into_iter().collect();
    Err(Wrong {
        message: format!("Duplicate artifact_id in batch: {}", repeated.join(", ")),
        field: "tasks".to_owned(),
        expected: "each artifact_id once".to_owned(),
        received: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn needs(name: &str) -> Option<Needs<'static>> {
        let need = |name, classification, group| Need { name, classification, group };
        let research = |name| need(name, InputClass::Recommended, None);
        match name {
            "hls-generator" | "hls" => Some(Needs {
                generator: "hls-generator",
                prefix: "HLS",
                inputs: vec![
                    need("prd", InputClass::Mandatory, None),
                    research("business_research"),
                    research("implementation_research"),
                ],
            }),
            "epic-generator" => Some(Needs {
                generator: "epic-generator",
                prefix: "EPIC",
                inputs: vec![
                    need("product_vision", InputClass::Mandatory, Some("parent")),
                    need("initiative", InputClass::Mandatory, Some("parent")),
                ],
            }),
            _ => None,
        }
    }

    fn input(name: &str, class: &str, uri: &str) -> Value {
        json!({"name": name, "classification": class, "mcp_resource_uri": uri})
    }

    fn prd() -> Value {
        input("prd", "mandatory", "mcp://resources/artifacts/prds/PRD-006_v3.md")
    }

    fn task(artifact_id: &str, generator: &str, inputs: &[Value]) -> TaskMetadata {
        serde_json::from_value(json!({"artifact_id": artifact_id, "generator": generator, "inputs": inputs})).unwrap()
    }

    fn run(tasks: &[TaskMetadata]) -> Result<Vec<CheckedTask>, Wrong> {
        check_batch(tasks, &Catalogue::built_in().unwrap(), needs)
    }

    #[track_caller]
    fn refuse(tasks: &[TaskMetadata], field: &str, message: &str) {
        let wrong = run(tasks).unwrap_err();
        assert_eq!((wrong.field.as_str(), wrong.message.as_str()), (field, message));
    }

    #[test]
    fn what_is_left_out_follows_from_the_uri() {
        let research =
            input("business_research", "recommended", "mcp://resources/artifacts/research/X_business_research.md");
        let checked = run(&[task("HLS-012", "hls", &[prd(), research])]).unwrap().remove(0);
        assert_eq!(checked.generator, "hls-generator");
        assert_eq!(
            serde_json::to_value(&checked.inputs).unwrap(),
            json!([
                {"name": "prd", "classification": "mandatory", "artifact_type": "prd", "artifact_id": "PRD-006",
                 "resource_path": "artifacts/prds/PRD-006_v3.md",
                 "mcp_resource_uri": "mcp://resources/artifacts/prds/PRD-006_v3.md", "status": "Approved"},
                {"name": "business_research", "classification": "recommended", "artifact_type": "research",
                 "artifact_id": "N/A", "resource_path": "artifacts/research/X_business_research.md",
                 "mcp_resource_uri": "mcp://resources/artifacts/research/X_business_research.md",
                 "status": "Finalized"},
            ])
        );
    }

    #[test]
    fn the_words_of_the_seed_name_what_is_missing() {
        let business =
            input("business_research", "recommended", "mcp://resources/artifacts/research/X_business_research.md");
        let missing = "Mandatory input 'prd' missing for task HLS-012";
        refuse(&[task("HLS-012", "hls-generator", &[business])], "tasks/0/inputs", missing);
        refuse(&[task("HLS-012", "hls-generator", &[])], "tasks/0/inputs", "Inputs missing for task HLS-012");
        let twice = [task("HLS-012", "hls", &[prd()]), task("HLS-012", "hls", &[prd()])];
        refuse(&twice, "tasks", "Duplicate artifact_id in batch: HLS-012");
        for uri in [
            "file:///artifacts/prds/PRD-006_v3.md",
            "mcp://resources/artifacts/../prds/PRD-006_v3.md",
            "mcp://resources/artifacts/prds/%2e%2e.md",
            "mcp://resources/artifacts/prds/",
            "mcp://resources/artifacts/prds/PRD-006_v3.md/",
            "mcp://resources/templates/prd.md",
            "",
        ] {
            let bad = input("prd", "mandatory", uri);
            let field = "tasks/0/inputs/0/mcp_resource_uri";
            refuse(&[task("HLS-012", "hls", &[bad])], field, "Invalid resource_uri format");
        }
    }

    #[test]
    fn an_id_fits_its_generator() {
        for id in ["PRD-012", "HLS-12", "HLS-AAA", "hls-012", "HLS-012x", "HLS"] {
            let message = format!("Invalid artifact_id format: {id}");
            refuse(&[task(id, "hls-generator", &[prd()])], "tasks/0/artifact_id", &message);
        }
        let unknown = "Unknown generator 'poem-generator' for task HLS-012";
        refuse(&[task("HLS-012", "poem-generator", &[prd()])], "tasks/0/generator", unknown);
    }

    #[test]
    fn of_a_group_exactly_one_is_given() {
        let vision = input("product_vision", "mandatory", "mcp://resources/artifacts/product_visions/VIS-001_v1.md");
        let initiative = input("initiative", "mandatory", "mcp://resources/artifacts/initiatives/INIT-001_v1.md");
        assert!(run(&[task("EPIC-001", "epic-generator", &[vision.clone()])]).is_ok());
        let both = "Only one of the inputs 'product_vision' and 'initiative' may be given for task EPIC-001";
        refuse(&[task("EPIC-001", "epic-generator", &[vision, initiative])], "tasks/0/inputs", both);
        let none = "Mandatory input 'product_vision' or 'initiative' missing for task EPIC-001";
        refuse(&[task("EPIC-001", "epic-generator", &[prd()])], "tasks/0/inputs", none);
    }
}
