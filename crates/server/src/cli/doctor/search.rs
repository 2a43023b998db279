//! What search can do in a data folder: the embedding model, and the dictionaries.

use std::path::{Path, PathBuf};

use evidence::search::lexicon::files::{self, PAIRS};
use model::shelf::{Choice, Shelf};

use super::Finding;
use crate::lexica::OFFERS;
use crate::search::{LEXICA_FOLDER, open_embedder};

pub(super) async fn look(data: &Path) -> Vec<Finding> {
    let (shelf, lexica) = (Shelf::new(data), data.join(LEXICA_FOLDER));
    // Both are read as the server reads them, which blocks.
    let looking = tokio::task::spawn_blocking(move || vec![model(&shelf), dictionaries(&lexica)]);
    looking
        .await
        .unwrap_or_else(|error| vec![Finding::wrong(format!("search could not be looked at: {error}"), "try again")])
}

fn model(shelf: &Shelf) -> Finding {
    match open_embedder(shelf) {
        Ok(Some(embedder)) => {
            let card = embedder.card();
            let (name, languages) = (&card.name, card.languages.join(", "));
            Finding::fine(match shelf.chosen() {
                Ok(Choice::Endpoint { url, .. }) => {
                    format!("search by meaning asks the model {name} ({languages}) at {url}, which was not tried")
                }
                _ => format!("search by meaning uses the model {name} ({languages})"),
            })
        }
        Ok(None) if shelf.is_chosen() => Finding::fine("no embedding model is in use, as was chosen"),
        Ok(None) => Finding::lacking(
            "no embedding model is installed: search goes by words and names alone",
            "`materia models pull` gets one; a running server takes it at its next start",
        ),
        Err(error) => Finding::wrong(
            format!("the embedding model cannot be used: {error}{}", cause(&*error)),
            "`materia models list` shows what there is; pull it again, use another, or `materia models use none`",
        ),
    }
}

fn dictionaries(lexica: &Path) -> Finding {
    if let Err(error) = files::load(lexica) {
        return Finding::wrong(
            format!("the dictionaries cannot be read: {error}{}", cause(&error)),
            "`materia lexicon pull` gets them anew",
        );
    }
    let path = |name: &str| -> PathBuf { lexica.join(name).join(PAIRS) };
    let (here, missing): (Vec<_>, Vec<_>) =
        OFFERS.iter().map(|offer| offer.name).partition(|name| path(name).is_file());
    let advice =
        "`materia lexicon pull` gets what is missing and shows its terms; a running server reads it at its next start";
    match (here.is_empty(), missing.is_empty()) {
        (_, true) => Finding::fine(format!("the Thai-English dictionaries {} are installed", here.join(", "))),
        (true, false) => Finding::lacking(
            "no Thai-English dictionary is installed: only names of the graph lead from one language to the other",
            advice,
        ),
        (false, false) => Finding::lacking(
            format!(
                "of the Thai-English dictionaries {} {} missing; {} installed",
                missing.join(", "),
                are(&missing),
                format_args!("{} {}", here.join(", "), are(&here))
            ),
            advice,
        ),
    }
}

fn are(names: &[&str]) -> &'static str {
    if names.len() == 1 { "is" } else { "are" }
}

fn cause(error: &dyn std::error::Error) -> String {
    error.source().map(|cause| format!(": {cause}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn told(data: &Path) -> Vec<(bool, String, bool)> {
        look(data).await.into_iter().map(|it| (it.is_fine, it.what, it.advice.is_some())).collect()
    }

    #[tokio::test]
    async fn what_is_missing_is_named_with_what_to_do_and_is_no_fault() {
        let folder = tempfile::tempdir().unwrap();
        let told = told(folder.path()).await;
        assert!(told.iter().all(|(is_fine, _, has_advice)| *is_fine && *has_advice), "{told:?}");
        assert!(told[0].1.starts_with("no embedding model"), "{told:?}");
        assert!(told[1].1.starts_with("no Thai-English dictionary"), "{told:?}");
    }

    #[tokio::test]
    async fn what_is_installed_is_named_and_what_cannot_be_used_is_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let lexitron = folder.path().join(LEXICA_FOLDER).join("lexitron");
        std::fs::create_dir_all(&lexitron).unwrap();
        std::fs::write(lexitron.join(PAIRS), "ขิง\tginger\n").unwrap();
        let models = folder.path().join("models");
        std::fs::create_dir_all(&models).unwrap();
        let absent = folder.path().join("absent");
        let choice = serde_json::json!({"kind": "folder", "name": "absent", "path": absent, "languages": ["en"]});
        std::fs::write(models.join("in_use.json"), choice.to_string()).unwrap();
        let told = told(folder.path()).await;
        assert!(!told[0].0 && told[0].1.starts_with("the embedding model cannot be used"), "{told:?}");
        assert_eq!(
            told[1].1,
            "of the Thai-English dictionaries transliteration, wordnet are missing; lexitron is installed"
        );
        std::fs::write(models.join("in_use.json"), r#"{"kind": "none"}"#).unwrap();
        assert_eq!(look(folder.path()).await[0].what, "no embedding model is in use, as was chosen");
    }
}
