//! What the evidence is made of: sources, nodes, edges and documents. Importers make records, `put_records` keeps them,
//! graph and search are built from them.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Where records come from, and under which terms they may be used. Every other record names one.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Short and stable, such as `pubmed` or `hetionet`.
    #[schemars(length(min = 1, max = 100))]
    pub id: String,
    #[schemars(length(min = 1, max = 500))]
    pub title: String,
    /// SPDX identifier where there is one, else the terms in a few words.
    #[schemars(length(min = 1, max = 200))]
    pub licence: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2_000))]
    pub uri: Option<String>,
    /// Words that the licence wants shown with every use.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2_000))]
    pub notice: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 100))]
    pub version: Option<String>,
}

/// A thing: herb, constituent, indication, formulation, drug, gene, disease, or any category of Biolink.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Node {
    /// A CURIE such as `NCBIGene:1017`, or an id of one's own such as `H1`.
    #[schemars(length(min = 1, max = 200))]
    pub id: String,
    /// In snake case and without a prefix: `herb`, `chemical_entity`, `gene`. The first is the node's type.
    #[schemars(length(min = 1, max = 40))]
    pub categories: Vec<String>,
    /// The first name in a language is the one shown.
    #[schemars(length(min = 1, max = 500))]
    pub names: Vec<Name>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 10_000))]
    pub description: Option<String>,
    /// Other ids of the same thing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 500))]
    pub same_as: Vec<String>,
    /// Whatever else the source says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Value>,
    /// The [`Source`] by its id.
    #[schemars(length(min = 1, max = 100))]
    pub source: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Name {
    #[schemars(length(min = 1, max = 500))]
    pub text: String,
    /// `th`, `en`, `la` for scientific names, or `und` where the source does not say.
    #[schemars(length(min = 2, max = 10))]
    pub lang: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub enum Strength {
    Low,
    Moderate,
    High,
}

/// A statement: subject, predicate, object, and why anybody should believe it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Edge {
    /// The source's own id, or one made of what the edge says: the same statement of the same source is one edge.
    #[schemars(length(min = 1, max = 200))]
    pub id: String,
    #[schemars(length(min = 1, max = 200))]
    pub subject: String,
    /// In snake case and without a prefix; Biolink's where one exists: `treats`, `contraindicated_in`.
    #[schemars(length(min = 1, max = 100))]
    pub predicate: String,
    #[schemars(length(min = 1, max = 200))]
    pub object: String,
    /// Absent where the source does not say how strong; that is not the same as weak.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub strength: Option<Strength>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1_000))]
    pub evidence: Vec<Evidence>,
    /// Narrowings such as `subject_aspect`, and whatever else the source says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub qualifiers: BTreeMap<String, Value>,
    #[schemars(length(min = 1, max = 100))]
    pub source: String,
}

/// Where a statement was read. At least one of both is there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// A document (`PMID:24790635`), or an address.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 2_000))]
    pub reference: Option<String>,
    /// What it says there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 10_000))]
    pub text: Option<String>,
}

/// Something to read and to cite: a paper, a monograph, a passage of a longer text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Document {
    /// `PMID:24790635` for papers of PubMed.
    #[schemars(length(min = 1, max = 200))]
    pub id: String,
    /// `paper`, `monograph`, `chunk` …
    #[schemars(length(min = 1, max = 40))]
    pub kind: String,
    #[schemars(length(max = 5_000))]
    pub title: String,
    /// The abstract of a paper, the words of a passage. Empty where there are none.
    #[schemars(length(max = 1_000_000))]
    pub text: String,
    /// `th`, `en`, …, or `und`.
    #[schemars(length(min = 2, max = 10))]
    pub lang: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 10_000))]
    pub authors: Vec<Author>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 1_000))]
    pub journal: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub year: Option<i32>,
    /// Other ids: `doi`, `pmc`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub ids: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100))]
    pub links: Vec<String>,
    /// Present once the paper was retracted, or doubted by its publisher; it stays, also once the paper is withdrawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retraction: Option<Retraction>,
    /// Whatever else the source says: MeSH headings, grants, titles in other languages.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub attributes: BTreeMap<String, Value>,
    #[schemars(length(min = 1, max = 100))]
    pub source: String,
}

/// A person, or a group that signs together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Author {
    /// The family name, or the name of the group.
    #[schemars(length(min = 1, max = 500))]
    pub last: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 200))]
    pub fore: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 50))]
    pub initials: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Retraction {
    pub kind: RetractionKind,
    /// `partial`: the rest stands. `republished`: the notice names another version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub extent: Option<RetractionExtent>,
    /// The notice: a PMID or a citation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(max = 2_000))]
    pub notice: Option<String>,
    /// The source whose record says so; absent where it is the document's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub source: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum RetractionKind {
    Retracted,
    ExpressionOfConcern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum RetractionExtent {
    Partial,
    Republished,
}

impl Retraction {
    /// How much it takes from the paper; of two statements the graver one counts.
    pub fn gravity(&self) -> u8 {
        match (self.kind, self.extent) {
            (RetractionKind::ExpressionOfConcern, _) => 1,
            (RetractionKind::Retracted, Some(RetractionExtent::Partial)) => 2,
            (RetractionKind::Retracted, Some(RetractionExtent::Republished) | None) => 3,
        }
    }

    /// In words, for a line of text.
    pub fn words(&self) -> &'static str {
        match (self.kind, self.extent) {
            (RetractionKind::ExpressionOfConcern, _) => "expression of concern",
            (RetractionKind::Retracted, Some(RetractionExtent::Partial)) => "retracted in part",
            (RetractionKind::Retracted, Some(RetractionExtent::Republished)) => "retracted and republished",
            (RetractionKind::Retracted, None) => "retracted",
        }
    }
}

// Without descriptions of its own: it stands several times in catalogues that have little room.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RetractedReference {
    pub reference: String,
    // In the words of `Retraction::words`.
    pub status: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    // Whose record says so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
}

// Another node for the same thing, and who says so. Without descriptions, as above.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SameAs<'a> {
    pub id: Cow<'a, str>,
    pub source: Cow<'a, str>,
    pub verified: bool,
}

/// One line of an import.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "record", rename_all = "snake_case")]
pub enum Record {
    Source(Source),
    Node(Node),
    Edge(Edge),
    Document(Document),
    /// The source withdrew it.
    Deletion(Deletion),
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Deletion {
    pub kind: RecordKind,
    #[schemars(length(min = 1, max = 200))]
    pub id: String,
    /// Whose record it is: the source that withdraws it. Needed unless `replace_other_sources` is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(length(min = 1, max = 100))]
    pub source: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
pub enum RecordKind {
    Source,
    Node,
    Edge,
    Document,
}

impl RecordKind {
    pub const ALL: [RecordKind; 4] = [RecordKind::Source, RecordKind::Node, RecordKind::Edge, RecordKind::Document];

    pub fn name(self) -> &'static str {
        match self {
            RecordKind::Source => "source",
            RecordKind::Node => "node",
            RecordKind::Edge => "edge",
            RecordKind::Document => "document",
        }
    }

    pub fn find(name: &str) -> Option<RecordKind> {
        RecordKind::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

impl Document {
    /// What is said against it, with the source that says so.
    pub fn doubt(&self) -> Option<Retraction> {
        let retraction = self.retraction.clone()?;
        let source = retraction.source.clone().unwrap_or_else(|| self.source.clone());
        Some(Retraction { source: Some(source), ..retraction })
    }

    /// Whether its source took it back, so that only what is known against papers is left of it.
    pub fn is_withdrawn(&self) -> bool {
        self.attributes.get("withdrawn") == Some(&Value::Bool(true))
    }
}

impl Strength {
    pub fn name(self) -> &'static str {
        match self {
            Strength::Low => "low",
            Strength::Moderate => "moderate",
            Strength::High => "high",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_kinds_and_strengths_are_their_json() {
        for kind in RecordKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(RecordKind::find(kind.name()), Some(kind));
        }
        for strength in [Strength::Low, Strength::Moderate, Strength::High] {
            assert_eq!(serde_json::to_value(strength).unwrap(), strength.name());
        }
    }
}
