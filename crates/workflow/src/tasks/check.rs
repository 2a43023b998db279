//! What a task must be before it may enter the queue, as far as its own text shows. Whether its inputs exist is for
//! whoever keeps the documents: see [`super::find_inputs`].

use std::collections::BTreeSet;

use contract::workflow::tasks::{GeneratorInput, GivenInput, InputClass, NO_ARTIFACT_ID, TaskMetadata, TaskStatus};

use crate::address::Address;
use crate::catalogue::{Catalogue, DocumentType, Generator, InputRule};
use crate::ids::find_canonical;

/// Of an input whose status nobody told, and whose document is not here.
pub const STATUS_UNKNOWN: &str = "Unknown";

/// What is wrong with a task, in the words of the seed, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Wrong {
    pub message: String,
    pub field: String,
    pub expected: String,
    pub received: Option<String>,
}

/// A task whose form is right, with everything filled in that follows from its URIs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedTask {
    pub artifact_id: String,
    pub generator: String,
    pub description: Option<String>,
    pub correlation_id: Option<String>,
    pub inputs: Vec<GeneratorInput>,
    /// Names of those whose documents are not here, once somebody has looked.
    pub unseen_inputs: Vec<String>,
}

/// Checks every task of a batch by itself and against the others.
pub fn check_batch(tasks: &[TaskMetadata], catalogue: &Catalogue) -> Result<Vec<CheckedTask>, Wrong> {
    let checked = tasks.iter().enumerate().map(|(index, task)| {
        let at = format!("tasks/{index}");
        let generator = catalogue.find_generator(&task.generator).ok_or_else(|| Wrong {
            message: format!("Unknown generator '{}' for task {}", task.generator, task.artifact_id),
            field: format!("{at}/generator"),
            expected: "the name of a generator such as `hls-generator`".to_owned(),
            received: Some(task.generator.clone()),
        })?;
        check_task(&at, task, catalogue, generator)
    });
    let checked = checked.collect::<Result<Vec<CheckedTask>, Wrong>>()?;
    check_distinct(tasks)?;
    Ok(checked)
}

fn check_task(
    at: &str,
    task: &TaskMetadata,
    catalogue: &Catalogue,
    generator: &Generator,
) -> Result<CheckedTask, Wrong> {
    let id = &task.artifact_id;
    if catalogue.type_of_id(id).is_none_or(|kind| kind.name != generator.produces) {
        let prefix = catalogue.find_type(&generator.produces).and_then(|kind| kind.prefix.as_deref());
        return Err(Wrong {
            message: format!("Invalid artifact_id format: {id}"),
            field: format!("{at}/artifact_id"),
            expected: match prefix {
                Some(prefix) if find_canonical(id).is_some_and(|it| it.starts_with(&format!("{prefix}-"))) => {
                    format!("`{}`, without the zeros it does not need", find_canonical(id).unwrap_or_default())
                }
                Some(prefix) => format!("{prefix}- and three or more digits, as {} makes them", generator.name),
                None => format!("another generator, as what {} makes has no ids", generator.name),
            },
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
    if task.inputs.is_empty() && !generator.inputs.is_empty() {
        return Err(Wrong {
            message: format!("Inputs missing for task {id}"),
            field: format!("{at}/inputs"),
            expected: "at least one input".to_owned(),
            received: None,
        });
    }
    check_mandatory(at, task, generator)?;
    let inputs = task.inputs.iter().enumerate();
    let inputs = inputs.map(|(index, input)| {
        let at = format!("{at}/inputs/{index}");
        let rule = generator.inputs.iter().find(|rule| rule.name == input.name);
        check_rule(&at, task, index, generator, rule)?;
        resolve(&at, input, rule, catalogue)
    });
    Ok(CheckedTask {
        artifact_id: id.clone(),
        generator: generator.name.clone(),
        description: task.description.clone(),
        correlation_id: task.task_id.as_ref().map(ToString::to_string),
        inputs: inputs.collect::<Result<Vec<GeneratorInput>, Wrong>>()?,
        unseen_inputs: Vec::new(),
    })
}

/// Mandatory inputs are there, and exactly one of each group.
fn check_mandatory(at: &str, task: &TaskMetadata, generator: &Generator) -> Result<(), Wrong> {
    for rule in generator.mandatory() {
        let group: Vec<&str> = match &rule.exclusive_group {
            None => vec![&rule.name],
            Some(_) => {
                let members = generator.inputs.iter().filter(|other| other.exclusive_group == rule.exclusive_group);
                members.map(|member| member.name.as_str()).collect()
            }
        };
        let names = |word: &str| group.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(word);
        let is_given = |name: &&&str| task.inputs.iter().any(|input| input.name == **name);
        let message = match group.iter().filter(is_given).count() {
            1 => continue,
            0 => format!("Mandatory input {} missing for task {}", names(" or "), task.artifact_id),
            _ => format!("Only one of the inputs {} may be given for task {}", names(" and "), task.artifact_id),
        };
        let expected = format!("exactly one input named {}", names(" or "));
        return Err(Wrong { message, field: format!("{at}/inputs"), expected, received: None });
    }
    Ok(())
}

/// An input is given once, and is what its generator calls it.
fn check_rule(
    at: &str,
    task: &TaskMetadata,
    index: usize,
    generator: &Generator,
    rule: Option<&InputRule>,
) -> Result<(), Wrong> {
    let Some(input) = task.inputs.get(index) else { return Ok(()) };
    let wrong = |message: String, member: &str, expected: &str| {
        Err(Wrong { message, field: format!("{at}/{member}"), expected: expected.to_owned(), received: None })
    };
    if task.inputs.iter().take(index).any(|other| other.name == input.name) {
        let message = format!("Input '{}' given twice for task {}", input.name, task.artifact_id);
        return wrong(message, "name", "each input once");
    }
    if rule.is_none() && input.classification == InputClass::Mandatory {
        let message = format!("Input '{}' is unknown to {} of task {}", input.name, generator.name, task.artifact_id);
        let names: Vec<&str> = generator.inputs.iter().map(|rule| rule.name.as_str()).collect();
        return wrong(message, "name", &format!("one of {}; others may be conditional", names.join(", ")));
    }
    match rule.map(|rule| rule.classification).filter(|class| *class != input.classification) {
        Some(class) => {
            let message = format!("Input '{}' of task {} must be {}", input.name, task.artifact_id, class.name());
            wrong(message, "classification", class.name())
        }
        None => Ok(()),
    }
}

/// Fills in what follows from the URI.
fn resolve(
    at: &str,
    input: &GivenInput,
    rule: Option<&InputRule>,
    catalogue: &Catalogue,
) -> Result<GeneratorInput, Wrong> {
    let uri = match (&input.mcp_resource_uri, &input.resource_uri) {
        (Some(uri), Some(other)) if uri != other => return Err(wrong_uri(at, other)),
        (Some(uri), _) | (None, Some(uri)) => uri,
        (None, None) => return Err(wrong_uri(at, "")),
    };
    let address = Address::parse_uri(uri).map_err(|_| wrong_uri(at, uri))?;
    let agrees = |field: &str, given: Option<&str>, found: &str| match given.filter(|given| *given != found) {
        Some(given) => Err(Wrong {
            message: format!("Invalid {field}: {given}"),
            field: format!("{at}/{field}"),
            expected: format!("`{found}`, as the URI has it, or nothing"),
            received: Some(given.to_owned()),
        }),
        None => Ok(()),
    };
    let path = address.path();
    agrees("resource_path", input.resource_path.as_deref(), &path)?;
    let in_folder: Vec<&DocumentType> = catalogue.types().iter().filter(|kind| kind.folder == address.folder).collect();
    if let Some(wanted) = rule.map(|rule| rule.artifact_type.as_str())
        && !in_folder.iter().any(|kind| kind.name == wanted)
    {
        return Err(Wrong {
            message: format!("Input '{}' must be of type {wanted}", input.name),
            field: format!("{at}/mcp_resource_uri"),
            expected: format!("the address of a document of type {wanted}"),
            received: Some(uri.clone()),
        });
    }
    // The seed calls all documents without an id by their folder: `research`.
    let with_id = in_folder.iter().find(|kind| kind.prefix.is_some());
    let artifact_type = with_id.map_or(address.folder.as_str(), |kind| kind.name.as_str());
    // Who means one of them may call it by its own name.
    let is_own_name = |given: &&str| in_folder.iter().any(|kind| kind.name == **given);
    let given_type = input.artifact_type.as_deref();
    agrees("artifact_type", given_type.filter(|given| !is_own_name(given)), artifact_type)?;
    let id = address.file_name.split('_').next().filter(|id| catalogue.type_of_id(id).is_some());
    let artifact_id = id.filter(|_| with_id.is_some()).unwrap_or(NO_ARTIFACT_ID);
    agrees("artifact_id", input.artifact_id.as_deref(), artifact_id)?;
    if let Some(status) = input.status.as_deref()
        && input.classification == InputClass::Mandatory
        && !in_folder.iter().any(|kind| kind.is_approved(status))
    {
        let (message, expected) = match with_id {
            Some(_) => (format!("Input artifact {artifact_id} not approved"), "an approved document"),
            None => (format!("Input research {} not finalized", address.file_name), "a finalized document"),
        };
        let (field, received) = (format!("{at}/status"), Some(status.to_owned()));
        return Err(Wrong { message, field, expected: expected.to_owned(), received });
    }
    Ok(GeneratorInput {
        name: input.name.clone(),
        classification: input.classification,
        artifact_type: input.artifact_type.clone().unwrap_or_else(|| artifact_type.to_owned()),
        artifact_id: artifact_id.to_owned(),
        resource_path: path,
        mcp_resource_uri: uri.clone(),
        // An approval follows from no URI: whoever has the document says whether it has one.
        status: input.status.clone().unwrap_or_else(|| STATUS_UNKNOWN.to_owned()),
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
        check_batch(tasks, &Catalogue::built_in().unwrap())
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
                 "mcp_resource_uri": "mcp://resources/artifacts/prds/PRD-006_v3.md", "status": "Unknown"},
                {"name": "business_research", "classification": "recommended", "artifact_type": "research",
                 "artifact_id": "N/A", "resource_path": "artifacts/research/X_business_research.md",
                 "mcp_resource_uri": "mcp://resources/artifacts/research/X_business_research.md",
                 "status": "Unknown"},
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
        for id in ["PRD-012", "HLS-12", "HLS-0012", "HLS-AAA", "hls-012", "HLS-012x", "HLS"] {
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
        assert!(run(&[task("EPIC-001", "epic-generator", std::slice::from_ref(&vision))]).is_ok());
        let both = "Only one of the inputs 'product_vision' and 'initiative' may be given for task EPIC-001";
        refuse(&[task("EPIC-001", "epic-generator", &[vision, initiative])], "tasks/0/inputs", both);
        let none = "Mandatory input 'product_vision' or 'initiative' missing for task EPIC-001";
        refuse(&[task("EPIC-001", "epic-generator", &[prd()])], "tasks/0/inputs", none);
    }

    #[test]
    fn an_input_is_what_its_generator_calls_it() {
        let uri = "tasks/0/inputs/0/mcp_resource_uri";
        let epic = input("prd", "mandatory", "mcp://resources/artifacts/epics/EPIC-006_v1.md");
        refuse(&[task("HLS-012", "hls", &[epic])], uri, "Input 'prd' must be of type prd");
        let class = input("prd", "recommended", "mcp://resources/artifacts/prds/PRD-006_v3.md");
        let field = "tasks/0/inputs/0/classification";
        refuse(&[task("HLS-012", "hls", &[class])], field, "Input 'prd' of task HLS-012 must be mandatory");
        let twice = "Input 'prd' given twice for task HLS-012";
        refuse(&[task("HLS-012", "hls", &[prd(), prd()])], "tasks/0/inputs/1/name", twice);
        let mut other = prd();
        other["artifact_id"] = json!("PRD-007");
        refuse(&[task("HLS-012", "hls", &[other])], "tasks/0/inputs/0/artifact_id", "Invalid artifact_id: PRD-007");
        let (mut epic, mut draft) = (prd(), prd());
        epic["artifact_type"] = json!("epic");
        refuse(&[task("HLS-012", "hls", &[epic])], "tasks/0/inputs/0/artifact_type", "Invalid artifact_type: epic");
        draft["status"] = json!("Draft");
        let message = "Input artifact PRD-006 not approved";
        refuse(&[task("HLS-012", "hls", &[draft])], "tasks/0/inputs/0/status", message);
        let poem = input("poem", "mandatory", "mcp://resources/artifacts/research/X_business_research.md");
        let message = "Input 'poem' is unknown to hls-generator of task HLS-012";
        refuse(&[task("HLS-012", "hls", &[prd(), poem])], "tasks/0/inputs/1/name", message);
        let mut research =
            input("business_research", "recommended", "mcp://resources/artifacts/research/X_business_research.md");
        for name in ["research", "business_research"] {
            research["artifact_type"] = json!(name);
            assert!(run(&[task("HLS-012", "hls", &[prd(), research.clone()])]).is_ok(), "{name}");
        }
        let more = input("glossary", "conditional", "mcp://resources/artifacts/research/X_business_research.md");
        assert!(run(&[task("HLS-012", "hls", &[prd(), more])]).is_ok(), "more than is asked for is welcome");
    }
}
