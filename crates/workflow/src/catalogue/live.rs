//! The catalogue as everybody uses it: read once, looked at again when its files change, read anew after five minutes
//! in any case. A change that cannot be used leaves the last good state in force.

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use super::{Catalogue, CatalogueError};

/// Seed 001: checklists are cached for five minutes.
const KEPT_FOR: Duration = Duration::from_secs(5 * 60);
/// How often the files are looked at; looking costs a few system calls.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// Path, size and time of change of each file.
type Fingerprint = Vec<(PathBuf, u64, Option<SystemTime>)>;

struct State {
    catalogue: Arc<Catalogue>,
    fingerprint: Fingerprint,
    read_at: Instant,
    looked_at: Instant,
}

struct Source {
    /// Without one, what ships is all there is, and it never changes.
    folder: Option<PathBuf>,
    state: RwLock<State>,
}

/// Cheap to clone.
#[derive(Clone)]
pub struct LiveCatalogue(Arc<Source>);

impl std::fmt::Debug for LiveCatalogue {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LiveCatalogue").field("folder", &self.0.folder).finish_non_exhaustive()
    }
}

impl LiveCatalogue {
    pub fn open(folder: Option<PathBuf>) -> Result<LiveCatalogue, CatalogueError> {
        let (fingerprint, catalogue) = match &folder {
            Some(folder) => (fingerprint(folder), Arc::new(Catalogue::read(folder)?)),
            None => (Fingerprint::new(), Catalogue::built_in()?),
        };
        let now = Instant::now();
        let state = State { catalogue, fingerprint, read_at: now, looked_at: now };
        Ok(LiveCatalogue(Arc::new(Source { folder, state: RwLock::new(state) })))
    }

    pub fn current(&self) -> Arc<Catalogue> {
        self.at(Instant::now())
    }

    fn at(&self, now: Instant) -> Arc<Catalogue> {
        let Some(folder) = &self.0.folder else { return self.kept() };
        {
            let state = self.0.state.read().unwrap_or_else(PoisonError::into_inner);
            if now.duration_since(state.looked_at) < LOOK_EVERY {
                return Arc::clone(&state.catalogue);
            }
        }
        let mut state = self.0.state.write().unwrap_or_else(PoisonError::into_inner);
        if now.duration_since(state.looked_at) < LOOK_EVERY {
            return Arc::clone(&state.catalogue);
        }
        state.looked_at = now;
        let found = fingerprint(folder);
        if found != state.fingerprint || now.duration_since(state.read_at) >= KEPT_FOR {
            state.read_at = now;
            state.fingerprint = found;
            match Catalogue::read(folder) {
                Ok(catalogue) => state.catalogue = Arc::new(catalogue),
                Err(error) => {
                    let cause = std::error::Error::source(&error).map(ToString::to_string);
                    tracing::error!(error = %error, cause, "The workflow folder cannot be used; the last good state holds");
                }
            }
        }
        Arc::clone(&state.catalogue)
    }

    fn kept(&self) -> Arc<Catalogue> {
        Arc::clone(&self.0.state.read().unwrap_or_else(PoisonError::into_inner).catalogue)
    }
}

fn fingerprint(folder: &Path) -> Fingerprint {
    let mut found = Fingerprint::new();
    for place in [folder.to_owned(), folder.join("checklists"), folder.join("templates")] {
        let Ok(entries) = std::fs::read_dir(place) else { continue };
        for entry in entries.flatten() {
            if let Ok(metadata) = entry.metadata() {
                found.push((entry.path(), metadata.len(), metadata.modified().ok()));
            }
        }
    }
    found.sort();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(folder: &Path, text: &str) {
        std::fs::create_dir_all(folder.join("templates")).unwrap();
        std::fs::write(folder.join("templates/prd.md"), text).unwrap();
    }

    #[test]
    fn a_changed_file_is_seen_within_a_second() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "# One");
        let live = LiveCatalogue::open(Some(folder.path().to_owned())).unwrap();
        let opened = Instant::now();
        write(folder.path(), "# Two, longer");
        assert_eq!(live.at(opened).find_template("prd"), Some("# One"));
        assert_eq!(live.at(opened + LOOK_EVERY).find_template("prd"), Some("# Two, longer"));
    }

    #[test]
    fn a_change_that_cannot_be_used_leaves_the_last_good_state_in_force() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "# One");
        let live = LiveCatalogue::open(Some(folder.path().to_owned())).unwrap();
        std::fs::write(folder.path().join("types.json"), "{").unwrap();
        let later = live.at(Instant::now() + KEPT_FOR);
        assert_eq!(later.find_template("prd"), Some("# One"));
        assert!(LiveCatalogue::open(Some(folder.path().to_owned())).is_err());
    }

    #[test]
    fn after_five_minutes_it_is_read_anew_even_where_nothing_seems_changed() {
        let folder = tempfile::tempdir().unwrap();
        write(folder.path(), "# One");
        let live = LiveCatalogue::open(Some(folder.path().to_owned())).unwrap();
        let before = live.current();
        assert!(Arc::ptr_eq(&before, &live.at(Instant::now() + LOOK_EVERY)));
        assert!(!Arc::ptr_eq(&before, &live.at(Instant::now() + KEPT_FOR)));
    }
}
