//! What search needs from the data folder: the embedding model in use, and the dictionaries.

mod endpoint;

use std::path::Path;
use std::sync::Arc;

use contract::model::Embedder;
use evidence::search::lexicon::{Lexicon, files};
use evidence::search::searches::Searches;
use model::SentenceModel;
use model::shelf::{Choice, Shelf};

use endpoint::Endpoint;

/// Below the data folder; may be deleted while no server runs.
pub const INDEX_FOLDER: &str = "search";
pub const LEXICA_FOLDER: &str = "lexica";

pub fn searches(folder: &Path) -> Searches {
    let (shelf, lexica) = (Shelf::new(folder), folder.join(LEXICA_FOLDER));
    Searches::new(folder.join(INDEX_FOLDER), move || embedder(&shelf), move || lexicon(&lexica))
}

/// A model that cannot be used is told of and done without: words still find.
fn embedder(shelf: &Shelf) -> Option<Arc<dyn Embedder>> {
    let problem: Box<dyn std::error::Error> = match shelf.chosen() {
        Ok(Choice::None) => return None,
        Ok(Choice::Folder { name, path, languages }) => match SentenceModel::load(&path, &name, languages) {
            Ok(model) => return Some(Arc::new(model)),
            Err(error) => error.into(),
        },
        Ok(Choice::Endpoint { name, url, n_dimensions, languages, key_variable }) => {
            match Endpoint::new(name, &url, n_dimensions, languages, key_variable.as_deref()) {
                Ok(endpoint) => return Some(Arc::new(endpoint)),
                Err(error) => error.into(),
            }
        }
        Err(error) => error.into(),
    };
    tracing::error!(error = %problem, cause = ?problem.source().map(ToString::to_string), "The embedding model cannot be used");
    None
}

fn lexicon(folder: &Path) -> Lexicon {
    files::load(folder).unwrap_or_else(|error| {
        tracing::error!(error = %error, "The lexica cannot be read");
        Lexicon::default()
    })
}
