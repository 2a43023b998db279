//! What a generator needs, found among the documents of a project: the document itself, its ancestors, their research,
//! and approved documents beside them.

use std::collections::BTreeMap;

use ::store::{Conn, StoreError};
use contract::workflow::tasks::{GeneratorInput, InputClass};

use crate::artifacts::{self, ArtifactRow, Place};
use crate::catalogue::{Catalogue, Generator, InputRule};
use crate::markdown::Document;
use crate::metadata;

const GENERATIONS_MAX: usize = 16;

/// A document with its ancestors, the nearest first, and the research that each of them names.
pub struct Lineage {
    members: Vec<ArtifactRow>,
    /// Research type and file name, the nearest document's first; no file name where a document names none by its file.
    research: Vec<(String, Option<String>)>,
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
        let mut lineage = Lineage { members: Vec::new(), research: Vec::new() };
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
        let mut groups: BTreeMap<&str, Option<(usize, ResolvedInput)>> = BTreeMap::new();
        for rule in &generator.inputs {
            let found = self.find(conn, catalogue, place, rule, research).await?;
            let found = found.map(|(distance, row)| {
                let input = ResolvedInput { name: rule.name.clone(), classification: rule.classification, row };
                (distance, input)
            });
            match (rule.exclusive_group.as_deref(), found) {
                (None, Some((_, input))) => resolved.inputs.push(input),
                (None, None) if rule.classification == InputClass::Mandatory => {
                    resolved.missing.push(rule.name.clone())
                }
                (None, None) => {}
                (Some(group), found) => {
                    let kept = groups.entry(group).or_default();
                    let is_nearer = match (&*kept, &found) {
                        (Some((kept, _)), Some((found, _))) => found < kept,
                        (None, _) => true,
                        (Some(_), None) => false,
                    };
                    if is_nearer {
                        *kept = found;
                    }
                }
            }
        }
        for (group, kept) in groups {
            match kept {
                Some((_, input)) => resolved.inputs.push(input),
                None => resolved.missing.push(group.to_owned()),
            }
        }
        Ok(resolved)
    }

    /// The document that fills a rule, and how far away it is.
    async fn find(
        &self,
        conn: &mut Conn,
        catalogue: &Catalogue,
        place: Place<'_>,
        rule: &InputRule,
        research: &BTreeMap<String, String>,
    ) -> Result<Option<(usize, ArtifactRow)>, StoreError> {
        let Some(kind) = catalogue.find_type(&rule.artifact_type) else { return Ok(None) };
        let is_usable = |row: &ArtifactRow| row.artifact_type == kind.name && kind.is_approved(&row.status);
        let member = self.members.iter().enumerate().find(|(_, row)| is_usable(row));
        if let Some((distance, row)) = member {
            return Ok(Some((distance, row.clone())));
        }
        let far = self.members.len();
        if kind.prefix.is_none() {
            let named = self.research.iter().find(|(named, _)| *named == rule.artifact_type);
            let key = match (named, research.get(&rule.artifact_type)) {
                // What was named, and no other document stands in for it.
                (Some((_, key)), _) => key.clone(),
                (None, Some(key)) => Some(key.clone()),
                (None, None) => only(artifacts::find_approved_keys(conn, place, kind, None).await?),
            };
            let Some(key) = key else { return Ok(None) };
            return Ok(artifacts::find_approved(conn, place, kind, &key).await?.map(|row| (far, row)));
        }
        for row in &self.members {
            let beside = artifacts::find_approved_keys(conn, place, kind, Some(&row.key)).await?;
            if let Some(key) = beside.first() {
                return Ok(artifacts::find_approved(conn, place, kind, key).await?.map(|row| (far, row)));
            }
        }
        Ok(None)
    }
}

/// The only one there is, where nobody says which.
fn only(mut keys: Vec<String>) -> Option<String> {
    if keys.len() == 1 { keys.pop() } else { None }
}
