//! Packages of the ordinary registries as a way to get large data: downloaded by the registry's own program, which knows
//! the machine's mirrors and proxies, and taken only if the bytes are the expected ones.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use sha2::{Digest as _, Sha256};

/// One file of a registry, pinned.
#[derive(Debug, Clone, Copy)]
pub struct Package {
    pub registry: Registry,
    pub name: &'static str,
    pub version: &'static str,
    pub sha256: &'static str,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registry {
    Pypi,
    Npm,
    Debian,
}

impl Registry {
    pub fn name(self) -> &'static str {
        match self {
            Registry::Pypi => "PyPI",
            Registry::Npm => "npm",
            Registry::Debian => "Debian",
        }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum PackageError {
    #[error("`{program}` cannot be started; it is needed to {purpose}")]
    Start { program: &'static str, purpose: &'static str, source: io::Error },
    #[error("`{program}` could not {purpose}; what it said stands above")]
    Failed { program: &'static str, purpose: &'static str },
    #[error("the registry gave no file for `{0}`")]
    Nothing(String),
    #[error("`{}` has the SHA-256 {received}, expected {expected}; it was not taken", path.display())]
    Checksum { path: PathBuf, received: String, expected: &'static str },
    #[error("could not use `{}`", path.display())]
    Files { path: PathBuf, source: io::Error },
}

impl Package {
    /// Downloads into `folder`, checks the bytes and unpacks them into a folder below it, which is answered. A file that
    /// was downloaded before is not downloaded again.
    pub fn fetch(&self, folder: &Path) -> Result<PathBuf, PackageError> {
        let download = folder.join(format!("{}-{}", self.name, self.version));
        fs::create_dir_all(&download).map_err(|source| PackageError::Files { path: download.clone(), source })?;
        let file = match find_file(&download)? {
            Some(file) if sha256(&file)? == self.sha256 => file,
            _ => {
                self.download(&download)?;
                find_file(&download)?.ok_or_else(|| PackageError::Nothing(self.name.to_owned()))?
            }
        };
        let received = sha256(&file)?;
        if received != self.sha256 {
            // What is not what was asked for does not stay.
            fs::remove_file(&file).map_err(|source| PackageError::Files { path: file.clone(), source })?;
            return Err(PackageError::Checksum { path: file, received, expected: self.sha256 });
        }
        let unpacked = download.join("unpacked");
        fs::create_dir_all(&unpacked).map_err(|source| PackageError::Files { path: unpacked.clone(), source })?;
        self.unpack(&file, &unpacked)?;
        Ok(unpacked)
    }

    fn download(&self, folder: &Path) -> Result<(), PackageError> {
        let purpose = "download the package";
        match self.registry {
            Registry::Pypi => {
                let mut pip = Command::new("python3");
                pip.args([
                    "-m",
                    "pip",
                    "download",
                    "--no-deps",
                    "--only-binary",
                    ":all:",
                    "--disable-pip-version-check",
                ]);
                pip.args(["--progress-bar", "on", "--dest"])
                    .arg(folder)
                    .arg(format!("{}=={}", self.name, self.version));
                run("python3", purpose, &mut pip)
            }
            Registry::Npm => {
                let mut npm = Command::new("npm");
                npm.args(["pack", "--ignore-scripts", &format!("{}@{}", self.name, self.version)]).current_dir(folder);
                run("npm", purpose, &mut npm)
            }
            Registry::Debian => {
                let mut apt = Command::new("apt-get");
                apt.args(["download", &format!("{}={}", self.name, self.version)]).current_dir(folder);
                run("apt-get", purpose, &mut apt)
            }
        }
    }

    fn unpack(&self, file: &Path, folder: &Path) -> Result<(), PackageError> {
        let purpose = "unpack the package";
        match self.registry {
            Registry::Pypi => {
                let mut unzip = Command::new("python3");
                run("python3", purpose, unzip.args(["-m", "zipfile", "-e"]).arg(file).arg(folder))
            }
            Registry::Npm => run("tar", purpose, Command::new("tar").arg("-xzf").arg(file).arg("-C").arg(folder)),
            Registry::Debian => run("dpkg-deb", purpose, Command::new("dpkg-deb").arg("-x").arg(file).arg(folder)),
        }
    }
}

/// The child's own words and its progress bar go to standard error.
fn run(program: &'static str, purpose: &'static str, command: &mut Command) -> Result<(), PackageError> {
    command.stdin(Stdio::null()).stdout(Stdio::from(io::stderr()));
    let status = command.status().map_err(|source| PackageError::Start { program, purpose, source })?;
    if status.success() { Ok(()) } else { Err(PackageError::Failed { program, purpose }) }
}

/// The only file in a folder; the first by name where there are several.
fn find_file(folder: &Path) -> Result<Option<PathBuf>, PackageError> {
    let entries = fs::read_dir(folder).map_err(|source| PackageError::Files { path: folder.to_owned(), source })?;
    Ok(entries.flatten().map(|entry| entry.path()).filter(|path| path.is_file()).min())
}

fn sha256(path: &Path) -> Result<String, PackageError> {
    let unusable = |source| PackageError::Files { path: path.to_owned(), source };
    let mut file = fs::File::open(path).map_err(unusable)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).map_err(unusable)? {
            0 => return Ok(hex::encode(hash.finalize())),
            n_read => hash.update(buffer.get(..n_read).unwrap_or_default()),
        }
    }
}
