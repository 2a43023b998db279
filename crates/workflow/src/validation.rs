//! `validate_artifact`: a document against its checklist. Pure: what the project holds is given, time is linear in the
//! text, and each failure says which line to mend.

mod blocking;
mod citations;
mod formats;
mod markers;
mod parts;
mod references;
mod report;
mod sections;
mod unfilled;

use std::collections::BTreeMap;

use contract::envelope::True;
use contract::workflow::artifacts::{CriterionResult, ValidationResult};
use contract::workflow::checklists::ValidationType;

use crate::catalogue::{Catalogue, CompiledChecklist, DocumentType, Rule};
use crate::markdown::Document;
use crate::metadata;

pub use blocking::n_blocking;
pub use references::mentioned;
use report::Verdict;

/// A document of the project, as far as references need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Known {
    /// Empty where it is still to be written.
    pub artifact_type: String,
    /// Of its versions, the latest first; none where it is still to be written.
    pub statuses: Vec<String>,
    /// That of its latest version.
    pub parent_id: Option<String>,
}

impl Known {
    /// The newest status that somebody decided on, else the latest: a later draft decides nothing.
    fn status(&self, kind: Option<&DocumentType>) -> &str {
        let decided = kind.and_then(|kind| self.statuses.iter().find(|status| kind.is_decided(status)));
        decided.or(self.statuses.first()).map_or("still to be written", String::as_str)
    }

    fn is_approved(&self, kind: &DocumentType) -> bool {
        kind.is_approved(self.status(Some(kind)))
    }
}

/// What is validated, read once.
pub struct Subject<'a> {
    catalogue: &'a Catalogue,
    kind: &'a DocumentType,
    artifact_id: &'a str,
    text: &'a str,
    document: Document<'a>,
    /// Documents of the project that the text mentions, by id or file name.
    known: &'a BTreeMap<String, Known>,
    version: u32,
    is_first_status: bool,
    /// The document that has given the id to one of its own, which this is not.
    given_by: Option<&'a str>,
}

impl<'a> Subject<'a> {
    pub fn read(
        catalogue: &'a Catalogue,
        kind: &'a DocumentType,
        artifact_id: &'a str,
        text: &'a str,
        known: &'a BTreeMap<String, Known>,
    ) -> Subject<'a> {
        let document = Document::parse(text);
        let status = document.field("Status").and_then(|field| metadata::status_of(kind, field.value));
        Subject {
            // A document that does not say is taken for a new one; other criteria miss what it should say.
            version: metadata::version(&document).unwrap_or(1),
            is_first_status: status.is_none_or(|status| status == kind.first_status()),
            catalogue,
            kind,
            artifact_id,
            text,
            document,
            known,
            given_by: None,
        }
    }

    /// As something else than what the id was given for.
    pub fn given_by(self, owner: Option<&'a str>) -> Subject<'a> {
        Subject { given_by: owner, ..self }
    }

    /// The form of seed 001.
    pub fn validate(&self, checklist: &CompiledChecklist) -> ValidationResult {
        let results: Vec<CriterionResult> = checklist.rules.iter().map(|rule| self.judge(rule)).collect();
        let automated = || results.iter().filter_map(|result| result.passed);
        let (n_passed, n_automated) = (automated().filter(|passed| *passed).count(), automated().count());
        let n_agent = results.iter().filter(|result| result.requires_agent_review.is_some()).count();
        ValidationResult {
            passed: n_passed == n_automated,
            automated_pass_rate: format!("{n_passed}/{n_automated}"),
            agent_review_required: u32::try_from(n_agent).unwrap_or(u32::MAX),
            results,
        }
    }

    fn judge(&self, rule: &Rule) -> CriterionResult {
        let criterion = &rule.criterion;
        let verdict = match criterion.validation_type {
            ValidationType::Automated => Some(self.check(rule)),
            ValidationType::Agent | ValidationType::Manual => None,
        };
        let is_agents = criterion.validation_type == ValidationType::Agent;
        CriterionResult {
            id: criterion.id.clone(),
            category: criterion.category.clone(),
            passed: verdict.as_ref().map(|verdict| verdict.passed),
            validation_type: criterion.validation_type,
            details: verdict.map(|verdict| verdict.details),
            requires_agent_review: is_agents.then_some(True),
        }
    }

    fn check(&self, rule: &Rule) -> Verdict {
        match rule.criterion.check_type.as_deref() {
            Some("template_sections") => sections::check(self, rule),
            Some("id_format") => formats::check(self, rule),
            Some("no_placeholders") => unfilled::check(self),
            Some("references_valid") => references::check(self, rule),
            Some("marker_validation") => markers::check(self, rule),
            Some(unknown) => Verdict::fail(format!("this server does not know the check `{unknown}`")),
            None => Verdict::fail("the criterion is automated and names no check".to_owned()),
        }
    }
}
