//! What the commands over documents print for people.

use contract::workflow::artifacts::{
    ApprovedArtifact, ArtifactContent, ArtifactDiff, ArtifactMetadata, ArtifactRevision, ArtifactRevisions,
    CriterionResult, ListedArtifacts, MovedArtifact, RevisionCause, StoredArtifact, ValidationResult,
};
use contract::workflow::tasks::NO_ARTIFACT_ID;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::Command;
use crate::cli::table;

/// The output for people.
pub(super) fn shown(command: &Command, output: Value) -> anyhow::Result<Vec<String>> {
    Ok(match command {
        Command::Validate { .. } => validation(&read::<ValidationResult>(output)?),
        Command::Store { .. } => {
            let stored: StoredArtifact = read(output)?;
            let key = match stored.artifact_id.as_str() {
                // Other commands know it by its file name.
                NO_ARTIFACT_ID => file_stem(&stored.storage_path),
                id => id,
            };
            vec![format!("stored {key} at {}", stored.storage_path), stored.resource_uri]
        }
        Command::Approve { .. } => approval(&read::<ApprovedArtifact>(output)?),
        Command::Status { .. } => vec![movement(&read::<MovedArtifact>(output)?)],
        Command::List { .. } => {
            let listed: ListedArtifacts = read(output)?;
            let mut lines = list(&listed.artifacts);
            if let Some(cursor) = listed.next_cursor {
                lines.extend([String::new(), format!("More: --cursor {cursor}")]);
            }
            lines
        }
        Command::Show { .. } => vec![read::<ArtifactContent>(output)?.content],
        Command::History { .. } => history(&read::<ArtifactRevisions>(output)?.revisions),
        Command::Diff { .. } => {
            let found: ArtifactDiff = read(output)?;
            if found.diff.is_empty() {
                vec!["No difference.".to_owned()]
            } else {
                vec![found.diff.trim_end_matches('\n').to_owned()]
            }
        }
    })
}

pub(super) fn read<T: DeserializeOwned>(output: Value) -> anyhow::Result<T> {
    Ok(serde_json::from_value(output)?)
}

/// `herbs_business_research` of `artifacts/research/herbs_business_research_v1.md`.
fn file_stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.strip_suffix(".md").unwrap_or(name);
    match stem.rsplit_once("_v") {
        Some((stem, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => stem,
        Some(_) | None => stem,
    }
}

fn validation(found: &ValidationResult) -> Vec<String> {
    let verdict = |result: &CriterionResult| match (result.passed, result.requires_agent_review) {
        (Some(true), _) => "ok",
        (Some(false), _) => "FAILED",
        (None, Some(_)) => "yours",
        (None, None) => "person",
    };
    let rows = found.results.iter().map(|result| {
        let details = result.details.clone().unwrap_or_else(|| "-".to_owned());
        [result.id.clone(), verdict(result).to_owned(), result.category.clone(), details]
    });
    let mut lines = table::lines(["CRITERION", "RESULT", "CATEGORY", "DETAILS"], rows);
    let verdict = if found.passed { "passed" } else { "FAILED" };
    lines.extend([
        String::new(),
        format!(
            "{verdict}: {} automated criteria, {} left to you",
            found.automated_pass_rate, found.agent_review_required
        ),
    ]);
    lines
}

fn approval(approved: &ApprovedArtifact) -> Vec<String> {
    let mut lines = vec![format!(
        "{} is {} (was {}): {}",
        approved.artifact_id, approved.new_status, approved.old_status, approved.artifact_path
    )];
    let made = approved.sub_artifacts_detected.iter().zip(&approved.task_ids).map(|(id, task_id)| {
        let placeholder = approved.id_mapping.iter().find(|(_, given)| *given == id);
        [
            placeholder.map_or_else(|| "-".to_owned(), |(placeholder, _)| placeholder.clone()),
            id.clone(),
            task_id.clone(),
        ]
    });
    // A placeholder may stand for a document that is there or queued already.
    let known = approved.id_mapping.iter().filter(|(_, id)| !approved.sub_artifacts_detected.contains(id));
    let known = known.map(|(placeholder, id)| [placeholder.clone(), id.clone(), "- (there already)".to_owned()]);
    let rows: Vec<[String; 3]> = made.chain(known).collect();
    if !rows.is_empty() {
        lines.push(String::new());
        lines.extend(table::lines(["PLACEHOLDER", "DOCUMENT", "TASK"], rows));
    }
    lines
}

fn movement(moved: &MovedArtifact) -> String {
    let MovedArtifact { artifact_id, version, previous_status, status, artifact_path, .. } = moved;
    let before = if previous_status == status { "already".to_owned() } else { format!("was {previous_status}") };
    format!("{artifact_id} v{version} is {status} ({before}): {artifact_path}")
}

fn list(documents: &[ArtifactMetadata]) -> Vec<String> {
    if documents.is_empty() {
        return vec!["No documents.".to_owned()];
    }
    let rows = documents.iter().map(|document| {
        [
            document.id.clone(),
            document.version.to_string(),
            document.status.clone(),
            document.artifact_type.clone(),
            document.parent_id.clone().unwrap_or_else(|| "-".to_owned()),
            document.updated_at.clone(),
            document.title.clone(),
        ]
    });
    table::lines(["DOCUMENT", "VERSION", "STATUS", "TYPE", "PARENT", "CHANGED", "TITLE"], rows)
}

fn history(revisions: &[ArtifactRevision]) -> Vec<String> {
    let rows = revisions.iter().map(|revision| {
        let cause = match revision.cause {
            RevisionCause::Stored => "stored",
            RevisionCause::Approved => "approved",
            RevisionCause::Moved => "moved",
        };
        [
            format!("{}.{}", revision.version, revision.revision),
            cause.to_owned(),
            revision.status.clone(),
            revision.changed_by.clone(),
            revision.changed_at.clone(),
            revision.content_sha256.clone(),
            match revision.names_reviewed_hash {
                Some(true) => "named".to_owned(),
                Some(false) => "not named".to_owned(),
                None => "-".to_owned(),
            },
            revision.meaning.clone().unwrap_or_else(|| "-".to_owned()),
        ]
    });
    table::lines(["STATE", "CAUSE", "STATUS", "BY", "AT", "SHA-256", "REVIEWED HASH", "MEANING"], rows)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_approval_shows_every_placeholder_with_its_document() {
        let approved = |given: Value| {
            let mut output = json!({
                "success": true, "artifact_id": "EPIC-006", "old_status": "Draft", "new_status": "Approved",
                "artifact_path": "artifacts/epics/EPIC-006_v1.md", "placeholder_ids_replaced": 1
            });
            output.as_object_mut().unwrap().extend(given.as_object().unwrap().clone());
            approval(&serde_json::from_value(output).unwrap()).split_off(1)
        };
        let made = json!({"sub_artifacts_detected": ["PRD-006"], "tasks_created": 1, "task_ids": ["TASK-001"],
            "id_mapping": {"PRD-AAA": "PRD-006"}});
        assert_eq!(approved(made), ["", "PLACEHOLDER  DOCUMENT  TASK", "PRD-AAA      PRD-006   TASK-001"]);
        let known = json!({"sub_artifacts_detected": [], "tasks_created": 0, "task_ids": [],
            "id_mapping": {"PRD-AAA": "PRD-006"}});
        assert_eq!(approved(known), ["", "PLACEHOLDER  DOCUMENT  TASK", "PRD-AAA      PRD-006   - (there already)"]);
    }

    #[test]
    fn a_document_without_an_id_goes_by_its_file_name() {
        for path in
            ["artifacts/research/x_business_research.md", "artifacts/projects/p/research/x_business_research_v2.md"]
        {
            assert_eq!(file_stem(path), "x_business_research");
        }
    }

    #[test]
    fn a_validation_is_a_table_and_a_verdict() {
        let found = serde_json::from_value(json!({
            "passed": false, "automated_pass_rate": "1/2", "agent_review_required": 1,
            "results": [
                {"id": "CQ-01", "category": "content_quality", "passed": true, "validation_type": "automated",
                 "details": "Found 8/8 required sections"},
                {"id": "CC-03", "category": "consistency", "passed": false, "validation_type": "automated",
                 "details": "line 4: `[Goal]` is not filled in"},
                {"id": "CQ-12", "category": "content_quality", "passed": null, "validation_type": "agent",
                 "requires_agent_review": true}
            ]
        }));
        assert_eq!(
            validation(&found.unwrap()),
            [
                "CRITERION  RESULT  CATEGORY         DETAILS",
                "CQ-01      ok      content_quality  Found 8/8 required sections",
                "CC-03      FAILED  consistency      line 4: `[Goal]` is not filled in",
                "CQ-12      yours   content_quality  -",
                "",
                "FAILED: 1/2 automated criteria, 1 left to you",
            ]
        );
    }
}
