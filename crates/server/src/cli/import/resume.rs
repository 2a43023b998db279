//! How far the import of a file came, in a small file of the data folder, found by the hash of the content. It is gone
//! once the import is through: the next one reads everything again.

use std::fs::{self, File};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use evidence::import::{Format, Options};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::Totals;

#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The last call that kept something of it. The mark counts only where the record knows this call: it may have been
    /// made for another database.
    pub call_id: Option<Uuid>,
    /// Items that are done, by pass.
    pub n_done: [u64; 2],
    pub totals: Totals,
}

impl Mark {
    /// Where the mark of a file stands. Another format, source or language is another import.
    pub fn place(folder: &Path, file: &Path, format: Format, options: &Options) -> anyhow::Result<PathBuf> {
        let mut hash = Sha256::new();
        // A list, not plain joining, so that no two imports are written alike.
        let way = serde_json::json!([format.name(), options.source.id, options.lang]).to_string();
        hash.update(way.as_bytes());
        let mut opened = File::open(file).with_context(|| format!("could not open {}", file.display()))?;
        let mut buffer = vec![0; 1024 * 1024];
        loop {
            let n_read = opened.read(&mut buffer).with_context(|| format!("could not read {}", file.display()))?;
            if n_read == 0 {
                break;
            }
            hash.update(buffer.get(..n_read).unwrap_or_default());
        }
        Ok(folder.join(format!("{}.json", hex::encode(hash.finalize()))))
    }

    /// One that cannot be read is as good as none: records that were kept are repeated, and nothing is lost.
    pub fn read(file: &Path) -> Mark {
        let text = fs::read_to_string(file).unwrap_or_default();
        serde_json::from_str(&text).unwrap_or_default()
    }

    pub fn write(&self, file: &Path) -> anyhow::Result<()> {
        let fault = || format!("could not write {}", file.display());
        if let Some(folder) = file.parent() {
            fs::create_dir_all(folder).with_context(fault)?;
        }
        let draft = file.with_extension("draft");
        let mut opened = File::create(&draft).with_context(fault)?;
        opened.write_all(serde_json::to_string(self)?.as_bytes()).with_context(fault)?;
        fs::rename(&draft, file).with_context(fault)
    }

    pub fn remove(file: &Path) -> anyhow::Result<()> {
        match fs::remove_file(file) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed.with_context(|| format!("could not remove {}", file.display())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(source: &str) -> Options {
        let mut options = Options { source: Format::Kgx.source(), lang: None };
        source.clone_into(&mut options.source.id);
        options
    }

    #[test]
    fn a_mark_is_found_by_content_and_way() {
        let folder = testkit::temp_dir();
        let (a, b) = (folder.path().join("a"), folder.path().join("b"));
        fs::write(&a, "same").unwrap();
        fs::write(&b, "same").unwrap();
        let place = |file: &Path, format, source| Mark::place(folder.path(), file, format, &options(source)).unwrap();
        let first = place(&a, Format::Kgx, "x");
        assert_eq!(first, place(&b, Format::Kgx, "x"));
        assert_ne!(first, place(&a, Format::Kgx, "y"));
        assert_ne!(first, place(&a, Format::Trapi, "x"));
        fs::write(&b, "other").unwrap();
        assert_ne!(first, place(&b, Format::Kgx, "x"));
    }

    #[test]
    fn a_mark_that_is_damaged_or_absent_is_none() {
        let folder = testkit::temp_dir();
        let file = folder.path().join("deeper").join("m.json");
        assert_eq!(Mark::read(&file), Mark::default());
        let mark = Mark { call_id: Some(Uuid::now_v7()), n_done: [3, 1], totals: Totals::default() };
        mark.write(&file).unwrap();
        assert_eq!(Mark::read(&file), mark);
        fs::write(&file, "{").unwrap();
        assert_eq!(Mark::read(&file), Mark::default());
        Mark::remove(&file).unwrap();
        Mark::remove(&file).unwrap();
    }
}
