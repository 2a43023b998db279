//! What documents there are: types, generators, markers, checklists and templates.
//!
//! They are data. Those that ship are compiled in from `data/workflow`; a team's folder of the same form overrides or
//! adds. Invariant: every name that one part uses of another is there, and every expression compiles.

mod built_in;
mod live;
mod rule;
mod types;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use contract::workflow::checklists::Checklist;
use serde::Deserialize;
use serde::de::DeserializeOwned;

pub use live::LiveCatalogue;
pub use rule::Rule;
pub use types::{Decomposition, DocumentType, Generator, InputRule, Marker, Numbering};

/// A file of a team's folder larger than this is refused.
const FILE_BYTES_MAX: u64 = 1024 * 1024;
/// Checklists or templates in a team's folder.
const FILES_MAX: usize = 500;

#[derive(Debug, thiserror::Error)]
pub enum CatalogueError {
    #[error("could not read `{path}`")]
    Read { path: PathBuf, source: std::io::Error },
    #[error("`{path}` is no ordinary file")]
    NoFile { path: PathBuf },
    #[error("`{path}` is larger than {FILE_BYTES_MAX} bytes")]
    TooLarge { path: PathBuf },
    #[error("`{path}` has more than {FILES_MAX} files")]
    TooManyFiles { path: PathBuf },
    #[error("`{path}` does not have the form of such a file")]
    Parse { path: PathBuf, source: serde_json::Error },
    #[error("{kind} `{name}`: {problem}")]
    Wrong { kind: &'static str, name: String, problem: String },
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TypesFile {
    artifact_types: Vec<DocumentType>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GeneratorsFile {
    generators: Vec<Generator>,
}

#[derive(Debug, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkersFile {
    markers: Vec<Marker>,
}

/// A checklist with its expressions compiled.
#[derive(Debug)]
pub struct CompiledChecklist {
    pub checklist: Checklist,
    pub rules: Vec<Rule>,
}

#[derive(Debug, Default)]
pub struct Catalogue {
    types: Vec<DocumentType>,
    generators: Vec<Generator>,
    markers: Vec<Marker>,
    checklists: BTreeMap<String, CompiledChecklist>,
    templates: BTreeMap<String, String>,
}

impl Catalogue {
    /// What ships with the program. Read once in the life of a process.
    pub fn built_in() -> Result<Arc<Catalogue>, CatalogueError> {
        static SHIPPED: OnceLock<Arc<Catalogue>> = OnceLock::new();
        if let Some(catalogue) = SHIPPED.get() {
            return Ok(Arc::clone(catalogue));
        }
        let mut catalogue = Catalogue::default();
        catalogue.add_built_in()?;
        catalogue.check()?;
        Ok(Arc::clone(SHIPPED.get_or_init(|| Arc::new(catalogue))))
    }

    /// What ships with the program, with a team's folder on top.
    pub fn read(folder: &Path) -> Result<Catalogue, CatalogueError> {
        let mut catalogue = Catalogue::default();
        catalogue.add_built_in()?;
        for (name, add) in [
            ("types.json", Catalogue::add_types as fn(&mut Catalogue, &Path, &str) -> Result<(), CatalogueError>),
            ("generators.json", Catalogue::add_generators),
            ("markers.json", Catalogue::add_markers),
        ] {
            let path = folder.join(name);
            if path.exists() {
                add(&mut catalogue, &path, &read_text(&path)?)?;
            }
        }
        for (stem, path) in files(&folder.join("checklists"), "json")? {
            catalogue.add_checklist(&stem, &path, &read_text(&path)?)?;
        }
        for (stem, path) in files(&folder.join("templates"), "md")? {
            catalogue.templates.insert(stem, read_text(&path)?);
        }
        catalogue.check()?;
        Ok(catalogue)
    }

    fn add_built_in(&mut self) -> Result<(), CatalogueError> {
        self.add_types(Path::new("data/workflow/types.json"), built_in::TYPES)?;
        self.add_generators(Path::new("data/workflow/generators.json"), built_in::GENERATORS)?;
        self.add_markers(Path::new("data/workflow/markers.json"), built_in::MARKERS)?;
        for (id, text) in built_in::CHECKLISTS {
            self.add_checklist(id, &Path::new("data/workflow/checklists").join(id), text)?;
        }
        let templates = built_in::TEMPLATES.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        self.templates.extend(templates);
        Ok(())
    }

    fn add_types(&mut self, path: &Path, text: &str) -> Result<(), CatalogueError> {
        let file: TypesFile = parse(path, text)?;
        put(&mut self.types, file.artifact_types, |kind| &kind.name);
        Ok(())
    }

    fn add_generators(&mut self, path: &Path, text: &str) -> Result<(), CatalogueError> {
        let file: GeneratorsFile = parse(path, text)?;
        put(&mut self.generators, file.generators, |generator| &generator.name);
        Ok(())
    }

    fn add_markers(&mut self, path: &Path, text: &str) -> Result<(), CatalogueError> {
        let file: MarkersFile = parse(path, text)?;
        put(&mut self.markers, file.markers, |marker| &marker.marker);
        Ok(())
    }

    fn add_checklist(&mut self, id: &str, path: &Path, text: &str) -> Result<(), CatalogueError> {
        let checklist: Checklist = parse(path, text)?;
        if checklist.criteria.is_empty() {
            let problem = "a checklist without criteria would pass everything".to_owned();
            return Err(CatalogueError::Wrong { kind: "checklist", name: id.to_owned(), problem });
        }
        let rules =
            checklist.criteria.iter().map(|criterion| Rule::compile(id, criterion)).collect::<Result<_, _>>()?;
        self.checklists.insert(id.to_owned(), CompiledChecklist { checklist, rules });
        Ok(())
    }

    /// By name (`backlog_story`) or prefix (`US`), whatever the case.
    pub fn find_type(&self, word: &str) -> Option<&DocumentType> {
        let is_prefix = |kind: &DocumentType| kind.prefix.as_deref().is_some_and(|it| it.eq_ignore_ascii_case(word));
        self.types.iter().find(|kind| kind.name.eq_ignore_ascii_case(word) || is_prefix(kind))
    }

    /// The type of an id such as `PRD-006`; prefix and zeros count exactly.
    pub fn type_of_id(&self, id: &str) -> Option<&DocumentType> {
        let (prefix, _) = crate::ids::parse_id(id)?;
        self.types.iter().find(|kind| kind.prefix.as_deref() == Some(prefix))
    }

    pub fn types(&self) -> &[DocumentType] {
        &self.types
    }

    pub fn generators(&self) -> &[Generator] {
        &self.generators
    }

    pub fn markers(&self) -> &[Marker] {
        &self.markers
    }

    /// By name (`hls-generator`) or alias.
    pub fn find_generator(&self, name: &str) -> Option<&Generator> {
        self.generators.iter().find(|it| it.name == name || it.aliases.iter().any(|alias| alias == name))
    }

    pub fn find_checklist(&self, id: &str) -> Option<&CompiledChecklist> {
        self.checklists.get(id)
    }

    pub fn checklist_ids(&self) -> impl Iterator<Item = &str> {
        self.checklists.keys().map(String::as_str)
    }

    /// By the name of its type.
    pub fn find_template(&self, name: &str) -> Option<&str> {
        self.templates.get(name).map(String::as_str)
    }

    /// The prefixes in the order of the file, for messages: `US, SPEC, …`.
    pub fn prefixes(&self) -> String {
        self.types.iter().filter_map(|kind| kind.prefix.as_deref()).collect::<Vec<_>>().join(", ")
    }

    fn check(&self) -> Result<(), CatalogueError> {
        let mut seen = BTreeSet::new();
        for kind in &self.types {
            kind.check()?;
            let words: BTreeSet<String> =
                kind.prefix.iter().chain([&kind.name]).map(|word| word.to_ascii_lowercase()).collect();
            if !words.into_iter().all(|word| seen.insert(word)) {
                return Err(kind.wrong("name and prefix must be unique"));
            }
            self.check_names(kind)?;
        }
        for generator in &self.generators {
            let wrong =
                |problem: String| CatalogueError::Wrong { kind: "generator", name: generator.name.clone(), problem };
            let types = generator.inputs.iter().map(|input| &input.artifact_type).chain([&generator.produces]);
            if let Some(unknown) = types.into_iter().find(|name| !self.has_type(name)) {
                return Err(wrong(format!("no document type `{unknown}`")));
            }
        }
        for marker in &self.markers {
            if let Some(unknown) = marker.allowed_in.iter().find(|name| !self.has_type(name)) {
                let problem = format!("no document type `{unknown}`");
                return Err(CatalogueError::Wrong { kind: "marker", name: marker.marker.clone(), problem });
            }
        }
        for (id, compiled) in &self.checklists {
            let wrong = |problem: String| CatalogueError::Wrong { kind: "checklist", name: id.clone(), problem };
            if !is_checklist_id(id) {
                return Err(wrong("expected an id such as `prd_validation_v1`".to_owned()));
            }
            if !self.has_type(&compiled.checklist.artifact_type) {
                return Err(wrong(format!("no document type `{}`", compiled.checklist.artifact_type)));
            }
            let mut ids = BTreeSet::new();
            if let Some(twice) = compiled.checklist.criteria.iter().find(|criterion| !ids.insert(&criterion.id)) {
                return Err(wrong(format!("criterion `{}` stands twice", twice.id)));
            }
        }
        Ok(())
    }

    /// What a type names must be there.
    fn check_names(&self, kind: &DocumentType) -> Result<(), CatalogueError> {
        let children = kind.decomposes_into.iter().map(|child| &child.artifact_type);
        if let Some(unknown) = kind.parent_types.iter().chain(children).find(|name| !self.has_type(name)) {
            return Err(kind.wrong(format!("no document type `{unknown}`")));
        }
        let numberless = kind.decomposes_into.iter().filter_map(|child| self.find_type(&child.artifact_type));
        if let Some(child) = numberless.into_iter().find(|child| child.prefix.is_none()) {
            return Err(kind.wrong(format!("it cannot be decomposed into `{}`, which has no ids", child.name)));
        }
        match self.checklists.get(&kind.checklist) {
            None => return Err(kind.wrong(format!("no checklist `{}`", kind.checklist))),
            Some(compiled) if compiled.checklist.artifact_type != kind.name => {
                return Err(kind.wrong(format!("checklist `{}` is for another type", kind.checklist)));
            }
            Some(_) => {}
        }
        match kind.generator.as_deref().map(|name| (name, self.find_generator(name))) {
            None => Ok(()),
            Some((_, Some(generator))) if generator.produces == kind.name => Ok(()),
            Some((name, Some(_))) => Err(kind.wrong(format!("generator `{name}` produces another type"))),
            Some((name, None)) => Err(kind.wrong(format!("no generator `{name}`"))),
        }
    }

    fn has_type(&self, name: &str) -> bool {
        self.types.iter().any(|kind| kind.name == name)
    }
}

/// `prd_validation_v1`: lower-case words, `_validation_v` and a number.
pub fn is_checklist_id(id: &str) -> bool {
    let Some((words, number)) = id.split_once("_validation_v") else { return false };
    let is_words = !words.is_empty() && words.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    is_words && (1..=4).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Puts each item in the place of the one of the same name, or at the end.
fn put<T>(items: &mut Vec<T>, added: Vec<T>, name: fn(&T) -> &String) {
    for item in added {
        match items.iter_mut().find(|known| name(known) == name(&item)) {
            Some(known) => *known = item,
            None => items.push(item),
        }
    }
}

fn parse<T: DeserializeOwned>(path: &Path, text: &str) -> Result<T, CatalogueError> {
    serde_json::from_str(text).map_err(|source| CatalogueError::Parse { path: path.to_owned(), source })
}

fn read_text(path: &Path) -> Result<String, CatalogueError> {
    let wrong = |source| CatalogueError::Read { path: path.to_owned(), source };
    let metadata = std::fs::metadata(path).map_err(wrong)?;
    // A pipe would be waited for, by everybody.
    if !metadata.is_file() {
        return Err(CatalogueError::NoFile { path: path.to_owned() });
    }
    if metadata.len() > FILE_BYTES_MAX {
        return Err(CatalogueError::TooLarge { path: path.to_owned() });
    }
    std::fs::read_to_string(path).map_err(wrong)
}

/// The files of one kind in a folder, by name without the ending, sorted. A folder that is not there has none.
fn files(folder: &Path, ending: &str) -> Result<Vec<(String, PathBuf)>, CatalogueError> {
    let wrong = |source| CatalogueError::Read { path: folder.to_owned(), source };
    let mut found = Vec::new();
    let entries = match std::fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(found),
        Err(error) => return Err(wrong(error)),
    };
    for entry in entries {
        let path = entry.map_err(wrong)?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
        if let (Some(stem), true) = (stem, path.extension().is_some_and(|it| it == ending)) {
            found.push((stem, path));
        }
        if found.len() > FILES_MAX {
            return Err(CatalogueError::TooManyFiles { path: folder.to_owned() });
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::workflow::checklists::ValidationType;

    #[test]
    fn the_ten_types_of_the_seed_come_first_in_its_order() {
        let prefixes = Catalogue::built_in().unwrap().prefixes();
        assert_eq!(prefixes, "US, SPEC, TASK, EPIC, PRD, HLS, VIS, INIT, SPIKE, ADR, FS, REV, CARE");
    }

    #[test]
    fn whatever_can_be_approved_can_be_withdrawn() {
        for kind in Catalogue::built_in().unwrap().types() {
            let withdrawn: Vec<&String> = kind.statuses.iter().filter(|status| kind.is_withdrawn(status)).collect();
            assert!(!withdrawn.is_empty() && !withdrawn.contains(&&kind.first_status().to_owned()), "{}", kind.name);
        }
    }

    #[test]
    fn a_type_is_found_by_name_by_prefix_and_by_id() {
        let catalogue = Catalogue::built_in().unwrap();
        for word in ["backlog_story", "US", "us"] {
            assert_eq!(catalogue.find_type(word).map(|kind| kind.name.as_str()), Some("backlog_story"));
        }
        assert!(catalogue.find_type("poem").is_none() && catalogue.find_type("").is_none());
        assert_eq!(catalogue.type_of_id("PRD-006").map(|kind| kind.name.as_str()), Some("prd"));
        for id in ["PRD-06", "prd-006", "PRD-AAA", "PRD006", "X-001", "PRD-0006", "PRD-1000000000", "PRD-00٣"] {
            assert!(catalogue.type_of_id(id).is_none(), "{id}");
        }
    }

    #[test]
    fn the_checklist_of_requirements_has_24_automated_and_2_agent_criteria() {
        let catalogue = Catalogue::built_in().unwrap();
        let criteria = &catalogue.find_checklist("prd_validation_v1").unwrap().checklist.criteria;
        let count = |kind| criteria.iter().filter(|criterion| criterion.validation_type == kind).count();
        assert_eq!((count(ValidationType::Automated), count(ValidationType::Agent), criteria.len()), (24, 2, 26));
    }

    #[test]
    fn every_type_has_a_template_with_the_sections_that_its_checklist_asks_for() {
        let catalogue = Catalogue::built_in().unwrap();
        for kind in catalogue.types() {
            let template = catalogue.find_template(&kind.name).unwrap_or_else(|| panic!("{}", kind.name));
            let document = crate::markdown::Document::parse(template);
            let criteria = &catalogue.find_checklist(&kind.checklist).unwrap().checklist.criteria;
            for section in criteria.iter().flat_map(|criterion| &criterion.required_sections) {
                assert!(document.find_section(section).is_some(), "{}: {section}", kind.name);
            }
            for label in kind.id_labels.iter().take(1).chain(kind.parent_labels.iter().take(1)) {
                assert!(document.field(label).is_some(), "{}: {label}", kind.name);
            }
        }
    }

    #[test]
    fn a_template_has_a_place_for_what_comes_next_as_its_type_is_cut() {
        let catalogue = Catalogue::built_in().unwrap();
        for name in ["product_vision", "initiative", "epic", "prd", "hls", "tech_spec"] {
            let kind = catalogue.find_type(name).unwrap();
            let found = crate::placeholders::find(&catalogue, catalogue.find_template(name).unwrap());
            // A spike is what a document finds out that it needs, not what it is planned into.
            for child in kind.decomposes_into.iter().filter(|child| child.artifact_type != "spike") {
                let prefix = catalogue.find_type(&child.artifact_type).unwrap().prefix.as_deref().unwrap();
                let n = found.iter().filter(|token| token.prefix == prefix).count();
                let fits = if child.numbering == Numbering::SameNumber { n == 1 } else { n >= 1 };
                assert!(fits, "{name} has {n} of {prefix}");
            }
        }
    }

    #[test]
    fn the_fifteen_markers_ship_and_two_of_them_block_approval() {
        let catalogue = Catalogue::built_in().unwrap();
        let blocking: Vec<&str> =
            catalogue.markers().iter().filter(|it| it.blocks_approval).map(|it| it.marker.as_str()).collect();
        assert_eq!((catalogue.markers().len(), blocking), (15, vec!["REQUIRES SPIKE", "REQUIRES ADR"]));
    }

    #[test]
    fn a_generator_is_found_by_its_name_and_its_alias() {
        let catalogue = Catalogue::built_in().unwrap();
        for name in ["hls-generator", "high-level-user-story"] {
            let generator = catalogue.find_generator(name).unwrap();
            let mandatory: Vec<&str> = generator.mandatory().map(|input| input.name.as_str()).collect();
            assert_eq!((generator.name.as_str(), mandatory), ("hls-generator", vec!["prd"]));
        }
    }

    fn team_folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    const LETTER: &str = r#"{"artifact_types": [{"name": "letter", "prefix": "LET", "folder": "letters", "about": "A letter.",
        "title": "Letter", "id_labels": ["Letter ID"], "statuses": ["Draft", "Approved"], "approved_statuses": ["Approved"],
        "checklist": "letter_validation_v1"}]}"#;
    const LETTER_LIST: &str = r#"{"artifact_type": "letter", "version": 1, "criteria": [{"id": "A", "category": "c",
        "description": "It is kind.", "validation_type": "agent"}]}"#;

    #[test]
    fn a_team_adds_a_type_and_overrides_a_template() {
        let folder = team_folder(&[
            ("types.json", LETTER),
            ("checklists/letter_validation_v1.json", LETTER_LIST),
            ("templates/prd.md", "# Ours"),
        ]);
        let catalogue = Catalogue::read(folder.path()).unwrap();
        assert_eq!(catalogue.type_of_id("LET-001").map(|kind| kind.folder.as_str()), Some("letters"));
        assert_eq!(catalogue.find_template("prd"), Some("# Ours"));
        assert!(catalogue.find_type("prd").is_some());
    }

    #[test]
    fn a_wrong_folder_is_refused_with_the_name_of_what_is_wrong() {
        let check = |files: &[(&str, &str)], expected: &str| {
            let error = Catalogue::read(team_folder(files).path()).unwrap_err();
            let message = error.to_string();
            assert!(message.contains(expected), "{message} does not contain {expected}");
        };
        check(&[("types.json", LETTER)], "document type `letter`: no checklist `letter_validation_v1`");
        let list = ("checklists/letter_validation_v1.json", LETTER_LIST);
        check(&[("types.json", &LETTER.replace("LET", "US")), list], "name and prefix must be unique");
        check(&[("types.json", &LETTER.replace("letters", "../x")), list], "the folder must be");
        check(&[("types.json", &LETTER.replace("letters", "projects")), list], "the folder must be");
        check(&[("types.json", "{")], "types.json` does not have the form");
        check(&[("types.json", &LETTER.replace("\"about\"", "\"abuot\"")), list], "types.json` does not have the form");
        let bad = r#"{"artifact_type": "letter", "version": 1, "criteria": [{"id": "A", "category": "c", "description": "d",
            "validation_type": "automated", "check_type": "id_format", "pattern": "("}]}"#;
        check(
            &[("types.json", LETTER), ("checklists/letter_validation_v1.json", bad)],
            "checklist `letter_validation_v1`",
        );
        let empty = r#"{"artifact_type": "letter", "version": 1, "criteria": []}"#;
        check(
            &[("types.json", LETTER), ("checklists/letter_validation_v1.json", empty)],
            "checklist `letter_validation_v1`: a checklist without criteria would pass everything",
        );
        check(&[("checklists/Letter.json", LETTER_LIST)], "checklist `Letter`: expected an id such as");
    }
}
