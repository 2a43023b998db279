//! What a generator needs, found among the documents of a project: the document itself, its ancestors, their research,
//! and approved documents beside them.

use std::collections::{BTreeMap, BTreeSet};

use ::store::{Conn, StoreError};
use contract::workflow::tasks::{GeneratorInput, InputClass};

use crate::artifacts::{self, ArtifactRow, Place};
use crate::catalogue::{Catalogue, DocumentType, Generator, InputRule};
use crate::markdown::Document;
use crate::metadata;
use crate::placeholders::{Kind, tokens};

const GENERATIONS_MAX: usize = 16;

/// A document with its ancestors, the nearest first, and the research that each of them names.
pub struct Lineage {
    members: Vec<ArtifactRow>,
    /// Research type and file name, the nearest document's first; no file name where a document names none by its file.
    research: Vec<(String, Option<String>)>,
    /// The ids that the document itself names in its metadata.
    named: BTreeSet<String>,
}

/// A rule with the document that fills it.
#[derive(Debug)]
pub struct ResolvedInput {
    pub name: String,
    pub classification: InputClass,
    pub row: ArtifactRow,
}

#[derive(Debug, Default)]
pub struct Resolved {
    pub inputs: Vec<ResolvedInput>,
    /// Mandatory inputs that nothing fills.
    pub missing: Vec<String>,
    /// Mandatory inputs that several documents fill, with some of them. Nobody says which, and a guess would be stated
    /// as a fact.
    pub ambiguous: Vec<(String, Vec<String>)>,
    /// Recommended inputs that nothing fills, or several documents: tasks do without them.
    pub lacking: Vec<String>,
}

/// What fills a rule.
enum Found {
    /// A document, and how far away it is.
    One(usize, Box<ArtifactRow>),
    Several(Vec<String>),
    Nothing,
}

/// What fills the rules of an exclusive group.
#[derive(Default)]
struct Group {
    nearest: Option<(usize, ResolvedInput)>,
    several: Vec<String>,
}

impl ResolvedInput {
    /// As a task keeps it.
    pub fn described(self, default_project_id: &str) -> GeneratorInput {
        let address = self.row.address(default_project_id);
        GeneratorInput {
            name: self.name,
            classification: self.classification,
            // The seed calls all documents without an id by their folder: `research`.
            artifact_type: if self.row.has_id { self.row.artifact_type.clone() } else { self.row.folder.clone() },
            artifact_id: self.row.artifact_id().to_owned(),
            resource_path: address.path(),
            mcp_resource_uri: address.uri(),
            status: self.row.status,
        }
    }
}

impl Lineage {
    /// The lineage of a document whose content is at hand.
    pub async fn read(
        conn: &mut Conn,
        catalogue: &Catalogue,
        place: Place<'_>,
        row: ArtifactRow,
        content: String,
    ) -> Result<Lineage, StoreError> {
        let mut lineage = Lineage { members: Vec::new(), research: Vec::new(), named: BTreeSet::new() };
        let fields = Document::parse(&content).fields().to_vec();
        let ids = fields.iter().flat_map(|field| tokens(catalogue, field.value));
        lineage.named = ids.filter(|token| token.kind() == Kind::Final).map(|token| token.text.to_owned()).collect();
        let mut next = Some((row, content));
        while let (Some((row, content)), true) = (next.take(), lineage.members.len() < GENERATIONS_MAX) {
            let named = metadata::research(catalogue, &Document::parse(&content));
            lineage.research.extend(named.into_iter().map(|it| (it.artifact_type.to_owned(), it.key)));
            let parent_id = row.parent_id.clone();
            lineage.members.push(row);
            let Some(parent_id) = parent_id else { break };
            let approved = match catalogue.type_of_id(&parent_id) {
                Some(kind) => artifacts::find_approved(conn, place, kind, &parent_id).await?,
                None => None,
            };
            let parent = match approved {
                Some(parent) => Some(parent),
                None => artifacts::find(conn, place, &parent_id, None).await?,
            };
            if let Some(parent) = parent {
                let content = artifacts::read_content(conn, place.organisation_id, &parent.content_sha256).await?;
                next = Some((parent, content));
            }
        }
        Ok(lineage)
    }

    /// Fills what can be filled. Of an exclusive group the nearest document counts.
    pub async fn resolve(
        &self,
        conn: &mut Conn,
        catalogue: &Catalogue,
        place: Place<'_>,
        generator: &Generator,
        research: &BTreeMap<String, String>,
    ) -> Result<Resolved, StoreError> {
        let mut resolved = Resolved::default();
        let mut groups: BTreeMap<&str, Group> = BTreeMap::new();
        for rule in &generator.inputs {
            let found = self.find(conn, catalogue, place, rule, research).await?;
            let is_mandatory = rule.classification == InputClass::Mandatory;
            let is_recommended = rule.classification == InputClass::Recommended;
            let filled =
                |row: ArtifactRow| ResolvedInput { name: rule.name.clone(), classification: rule.classification, row };
            match (rule.exclusive_group.as_deref(), found) {
                (None, Found::One(_, row)) => resolved.inputs.push(filled(*row)),
                (None, Found::Several(keys)) if is_mandatory => resolved.ambiguous.push((rule.name.clone(), keys)),
                (None, Found::Nothing) if is_mandatory => resolved.missing.push(rule.name.clone()),
                (None, Found::Several(_) | Found::Nothing) if is_recommended => {
                    resolved.lacking.push(rule.name.clone())
                }
                // A conditional one.
                (None, Found::Several(_) | Found::Nothing) => {}
                (Some(group), Found::One(distance, row)) => {
                    let kept = &mut groups.entry(group).or_default().nearest;
                    if kept.as_ref().is_none_or(|(kept, _)| distance < *kept) {
                        *kept = Some((distance, filled(*row)));
                    }
                }
                (Some(group), Found::Several(keys)) => groups.entry(group).or_default().several.extend(keys),
                (Some(group), Found::Nothing) => drop(groups.entry(group).or_default()),
            }
        }
        for (group, Group { nearest, several }) in groups {
            match nearest {
                Some((_, input)) => resolved.inputs.push(input),
                None if several.is_empty() => resolved.missing.push(group.to_owned()),
                None => resolved.ambiguous.push((group.to_owned(), several)),
            }
        }
        Ok(resolved)
    }

    async fn find(
        &self,
        conn: &mut Conn,
        catalogue: &Catalogue,
        place: Place<'_>,
        rule: &InputRule,
        research: &BTreeMap<String, String>,
    ) -> Result<Found, StoreError> {
        let Some(kind) = catalogue.find_type(&rule.artifact_type) else { return Ok(Found::Nothing) };
        let is_usable = |row: &ArtifactRow| row.artifact_type == kind.name && kind.is_approved(&row.status);
        let member = self.members.iter().enumerate().find(|(_, row)| is_usable(row));
        if let Some((distance, row)) = member {
            return Ok(Found::One(distance, Box::new(row.clone())));
        }
        if kind.prefix.is_none() {
            let named = self.research.iter().find(|(named, _)| *named == rule.artifact_type);
            let keys = match (named, research.get(&rule.artifact_type)) {
                // What was named, and no other document stands in for it.
                (Some((_, key)), _) => key.iter().cloned().collect(),
                (None, Some(key)) => vec![key.clone()],
                (None, None) => artifacts::find_approved_keys(conn, place, kind, None).await?,
            };
            return self.only(conn, place, kind, keys).await;
        }
        let of_type = |id: &&String| catalogue.type_of_id(id).is_some_and(|it| it.name == kind.name);
        let named: Vec<String> = self.named.iter().filter(of_type).cloned().collect();
        if let (true, found @ Found::One(..)) = (named.len() == 1, self.only(conn, place, kind, named).await?) {
            return Ok(found);
        }
        for row in &self.members {
            let beside = artifacts::find_approved_keys(conn, place, kind, Some(&row.key)).await?;
            if !beside.is_empty() {
                return self.only(conn, place, kind, beside).await;
            }
        }
        Ok(Found::Nothing)
    }

    /// The only one there is, where nobody says which.
    async fn only(
        &self,
        conn: &mut Conn,
        place: Place<'_>,
        kind: &DocumentType,
        keys: Vec<String>,
    ) -> Result<Found, StoreError> {
        let [key] = keys.as_slice() else {
            return Ok(if keys.is_empty() { Found::Nothing } else { Found::Several(keys) });
        };
        let found = artifacts::find_approved(conn, place, kind, key).await?;
        Ok(found.map_or(Found::Nothing, |row| Found::One(self.members.len(), Box::new(row))))
    }
}
