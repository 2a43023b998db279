//! What search needs from the data folder: the embedding model in use, and the dictionaries.

mod endpoint;

use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use contract::model::Embedder;
use evidence::search::lexicon::{Lexicon, files};
use evidence::search::searches::{Chosen, Searches};
use model::SentenceModel;
use model::shelf::{Choice, Shelf};

use endpoint::{Endpoint, EndpointError};

/// Below the data folder; may be deleted while no server runs.
pub const INDEX_FOLDER: &str = "search";
pub const LEXICA_FOLDER: &str = "lexica";

pub fn searches(folder: &Path) -> Searches {
    let (shelf, lexica) = (Shelf::new(folder), folder.join(LEXICA_FOLDER));
    Searches::new(folder.join(INDEX_FOLDER), move || embedder(&shelf), move || lexicon(&lexica))
}

/// A model that cannot be used is told of and done without: words still find.
fn embedder(shelf: &Shelf) -> Chosen {
    open_embedder(shelf).map_err(|problem| {
        let cause = problem.source().map(ToString::to_string);
        tracing::error!(error = %problem, cause = ?cause, "The embedding model cannot be used");
        // Other errors name paths, which nobody is told who only searches.
        let told = problem.downcast_ref::<EndpointError>().map(ToString::to_string);
        told.unwrap_or_else(|| "its files, or the choice of it, cannot be read as what they should be".to_owned())
    })
}

/// The model in use; `None` where none is.
pub fn open_embedder(shelf: &Shelf) -> Result<Option<Arc<dyn Embedder>>, Box<dyn Error + Send + Sync>> {
    Ok(match shelf.chosen()? {
        Choice::None => None,
        Choice::Folder { name, path, languages } => Some(Arc::new(SentenceModel::load(&path, &name, languages)?)),
        Choice::Endpoint { name, url, n_dimensions, languages, key_variable } => {
            Some(Arc::new(Endpoint::new(name, &url, n_dimensions, languages, key_variable.as_deref())?))
        }
    })
}

fn lexicon(folder: &Path) -> Lexicon {
    files::load(folder).unwrap_or_else(|error| {
        tracing::error!(error = %error, "The lexica cannot be read");
        Lexicon::default()
    })
}
