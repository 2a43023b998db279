//! What a flag chose for a data folder, and holds there until another flag does: a folder that was made without the starter
//! data must not get them from the next command that is run without the flag.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::Path;

use figment::value::{Dict, Map};
use figment::{Error, Metadata, Profile, Provider};

/// The file that says so by being there.
const NO_STARTER_DATA: &str = "no-starter-data";

/// What was chosen for a folder, as a source of settings.
pub struct Chosen {
    is_without_starter_data: bool,
}

impl Chosen {
    pub fn read(data: &Path) -> Chosen {
        Chosen { is_without_starter_data: data.join(NO_STARTER_DATA).exists() }
    }
}

impl Provider for Chosen {
    fn metadata(&self) -> Metadata {
        Metadata::named("--no-starter-data, which was given for this folder; --starter-data takes it back")
    }

    fn data(&self) -> Result<Map<Profile, Dict>, Error> {
        let chosen = self.is_without_starter_data.then(|| ("starter_data".to_owned(), false.into()));
        Ok(Profile::Default.collect(chosen.into_iter().collect()))
    }
}

/// Keeps what a flag says, if one does.
pub fn keep(data: &Path, starter_data: Option<bool>) -> io::Result<()> {
    let file = data.join(NO_STARTER_DATA);
    match starter_data {
        None => Ok(()),
        Some(true) => match std::fs::remove_file(file) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            Ok(()) | Err(_) => Ok(()),
        },
        Some(false) => {
            // As the owner makes it.
            DirBuilder::new().recursive(true).mode(0o700).create(data)?;
            File::create(file)?.sync_all()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::explained::explain;
    use crate::settings::{Flags, Settings};

    #[test]
    fn a_choice_holds_until_the_other_one_and_a_setting_overrules_it() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        let is_wanted = || Settings::read(&data, &Flags::default()).unwrap().starter_data;
        keep(&data, None).unwrap();
        assert!(is_wanted() && !data.exists());
        keep(&data, Some(false)).unwrap();
        keep(&data, None).unwrap();
        assert!(!is_wanted());
        let (shown, _) = explain(&data, &Flags::default());
        let shown = shown.into_iter().find(|one| one.name == "starter_data").unwrap();
        assert!(shown.value == "false" && shown.source.starts_with("--no-starter-data"), "{shown:?}");
        std::fs::write(data.join("materia.toml"), "starter_data = true\n").unwrap();
        assert!(is_wanted());
        std::fs::remove_file(data.join("materia.toml")).unwrap();
        keep(&data, Some(true)).unwrap();
        keep(&data, Some(true)).unwrap();
        assert!(is_wanted());
    }
}
