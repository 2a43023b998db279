//! Where databases under test live.

use anyhow::Context as _;
use tempfile::TempDir;

/// A folder beside the build, which is on a disk; the system's temporary folder may be in memory, where a commit is
/// free. Removed when dropped.
pub fn folder() -> anyhow::Result<TempDir> {
    let program = std::env::current_exe().context("this program has no path")?;
    let beside = program.parent().context("this program has no folder")?;
    tempfile::tempdir_in(beside).with_context(|| format!("could not make a folder in `{}`", beside.display()))
}
