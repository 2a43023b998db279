//! The files of a data folder, by their path in it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::{fs, io};

use rust_embed::RustEmbed;

/// Files of the data set are small, so that one can be reviewed at a sitting.
const FILE_BYTES_MAX: u64 = 2 * 1024 * 1024;
const FILES_MAX: usize = 5_000;
const DEPTH_MAX: usize = 4;

#[derive(RustEmbed)]
#[folder = "../../data"]
struct Embedded;

#[derive(Debug, thiserror::Error)]
pub enum FilesError {
    #[error("could not read `{}`", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error("`{}` has {size_bytes} bytes, expected at most {FILE_BYTES_MAX}", path.display())]
    TooLarge { path: PathBuf, size_bytes: u64 },
    #[error("`{}` has more than {FILES_MAX} files", .0.display())]
    TooMany(PathBuf),
    #[error("`{}` is deeper than {DEPTH_MAX} folders", .0.display())]
    TooDeep(PathBuf),
}

/// Path (with `/`) → content.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Files(BTreeMap<String, Vec<u8>>);

impl Files {
    /// Those that this program was built with.
    pub fn embedded() -> Files {
        let names = Embedded::iter().filter(|path| is_of_the_set(path));
        Files(names.filter_map(|path| Some((path.to_string(), Embedded::get(&path)?.data.into_owned()))).collect())
    }

    /// Those of a folder of the same form.
    pub fn read(folder: &Path) -> Result<Files, FilesError> {
        let mut files = Files::default();
        files.read_folder(folder, folder, DEPTH_MAX)?;
        Ok(files)
    }

    fn read_folder(&mut self, root: &Path, folder: &Path, depth_left: usize) -> Result<(), FilesError> {
        let failed = |path: &Path| {
            let path = path.to_path_buf();
            move |source| FilesError::Read { path, source }
        };
        for entry in fs::read_dir(folder).map_err(failed(folder))? {
            let path = entry.map_err(failed(folder))?.path();
            let metadata = fs::metadata(&path).map_err(failed(&path))?;
            let relative = path.strip_prefix(root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
            if metadata.is_dir() {
                let depth_left = depth_left.checked_sub(1).ok_or_else(|| FilesError::TooDeep(path.clone()))?;
                self.read_folder(root, &path, depth_left)?;
            } else if is_of_the_set(&relative) {
                if metadata.len() > FILE_BYTES_MAX {
                    return Err(FilesError::TooLarge { path, size_bytes: metadata.len() });
                }
                let content = fs::read(&path).map_err(failed(&path))?;
                self.insert(&relative, content);
                if self.0.len() > FILES_MAX {
                    return Err(FilesError::TooMany(root.to_path_buf()));
                }
            }
        }
        Ok(())
    }

    /// Puts a file in, in place of the one of the same path.
    pub fn insert(&mut self, path: &str, content: Vec<u8>) {
        self.0.insert(path.to_owned(), content);
    }

    pub fn get(&self, path: &str) -> Option<&[u8]> {
        self.0.get(path).map(Vec::as_slice)
    }

    /// In the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.0.iter().map(|(path, content)| (path.as_str(), content.as_slice()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Document types are the workflow's; schemas and words about the data are derived or for people.
fn is_of_the_set(path: &str) -> bool {
    !path.starts_with("workflow/") && !path.starts_with("schemas/") && path != "README.md"
}
