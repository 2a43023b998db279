//! The files of an import: opened as often as they are read, with a count of what was read, and their marks.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::Context as _;
use evidence::import::{Format, Options};

use super::resume::Mark;

/// Which records of a file are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pass {
    All,
    AllButEdges,
    Edges,
}

impl Pass {
    /// Where its count stands in a mark.
    pub fn index(self) -> usize {
        match self {
            Pass::All | Pass::AllButEdges => 0,
            Pass::Edges => 1,
        }
    }
}

pub struct Opened {
    path: PathBuf,
    size_bytes: u64,
    /// Absent for standard input, which cannot be read again.
    mark: Option<(PathBuf, Mark)>,
}

impl Opened {
    /// That it is there and can be read is looked at before anything is imported.
    pub fn new(path: &Path) -> anyhow::Result<Opened> {
        if path.as_os_str() == "-" {
            return Ok(Opened { path: path.to_owned(), size_bytes: 0, mark: None });
        }
        let read = || {
            let metadata = File::open(path)?.metadata()?;
            if metadata.is_dir() {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder, expected a file"));
            }
            Ok(metadata.len())
        };
        let size_bytes = read().with_context(|| format!("could not open {}", path.display()))?;
        Ok(Opened { path: path.to_owned(), size_bytes, mark: None })
    }

    pub fn is_standard_input(&self) -> bool {
        self.path.as_os_str() == "-"
    }

    pub fn name(&self) -> String {
        if self.is_standard_input() { "standard input".to_owned() } else { self.path.display().to_string() }
    }

    pub fn size_bytes(&self) -> u64 {
        self.size_bytes
    }

    pub fn read(&self) -> anyhow::Result<(Box<dyn Read + Send>, Arc<AtomicU64>)> {
        let n_read = Arc::new(AtomicU64::new(0));
        let inner: Box<dyn Read + Send> = if self.is_standard_input() {
            Box::new(io::stdin())
        } else {
            Box::new(File::open(&self.path).with_context(|| format!("could not open {}", self.path.display()))?)
        };
        Ok((Box::new(Counted { inner, n_read: Arc::clone(&n_read) }), n_read))
    }

    /// Looks whether this file was being imported before, in the same way.
    pub async fn find_mark(&mut self, folder: &Path, format: Format, options: &Options) -> anyhow::Result<()> {
        if self.is_standard_input() {
            return Ok(());
        }
        let (path, folder, options) = (self.path.clone(), folder.to_owned(), options.clone());
        let found = tokio::task::spawn_blocking(move || {
            let file = Mark::place(&folder, &path, format, &options)?;
            let mark = Mark::read(&file);
            Ok::<_, anyhow::Error>((file, mark))
        });
        self.mark = Some(found.await??);
        Ok(())
    }

    pub fn mark(&self) -> Option<&Mark> {
        self.mark.as_ref().map(|(_, mark)| mark)
    }

    /// Changes the mark and writes it; standard input has none.
    pub fn set_mark(&mut self, change: impl FnOnce(&mut Mark)) -> anyhow::Result<()> {
        if let Some((file, mark)) = &mut self.mark {
            change(mark);
            mark.write(file)?;
        }
        Ok(())
    }

    /// Begins from the start again.
    pub fn clear_mark(&mut self) {
        if let Some((_, mark)) = &mut self.mark {
            *mark = Mark::default();
        }
    }

    pub fn forget_mark(&self) -> anyhow::Result<()> {
        match &self.mark {
            Some((file, _)) => Mark::remove(file),
            None => Ok(()),
        }
    }
}

struct Counted {
    inner: Box<dyn Read + Send>,
    n_read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let n_read = self.inner.read(buffer)?;
        self.n_read.fetch_add(u64::try_from(n_read).unwrap_or(0), Ordering::Relaxed);
        Ok(n_read)
    }
}
