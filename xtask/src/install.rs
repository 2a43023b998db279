//! What the tests need and cargo cannot bring: a PostgreSQL server, three MCP clients, the MCP conformance suite, and what
//! the browser UI is made of.
//!
//! Pinned in `tools/clients`, kept in `.tools`, installed once: a stamp holds the pinned list that the
//! folder was made from, and a changed list makes the folder anew.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result, bail};

use crate::{
    cargo::{root, run_quietly, tools},
    part::Part,
    web,
};

/// Debian's package of the server. The version does not matter to the tests.
const POSTGRESQL: &str = "postgresql";

/// Installs what a part of the suite needs. The folder of tools is returned.
pub fn install_for(part: &Part) -> Result<PathBuf> {
    let tools = tools();
    fs::create_dir_all(&tools).with_context(|| format!("could not make `{}`", tools.display()))?;
    // npm is independent of Debian; pip needs Debian's `venv`, which may be missing.
    std::thread::scope(|scope| {
        let npm = scope.spawn(|| {
            if part.has_rust() {
                install_npm(&tools)?;
            }
            if part.has_web() { web::install_packages() } else { Ok(()) }
        });
        let others = install_others(part, &tools);
        let npm = npm.join().unwrap_or_else(|_| bail!("the npm thread panicked"));
        npm.and(others)
    })?;
    Ok(tools)
}

/// What does not come by npm, one after the other: Debian installs one package at a time.
fn install_others(part: &Part, tools: &Path) -> Result<()> {
    if part.has_rust() {
        install_postgresql()?;
        install_strace()?;
        install_python(tools)?;
    }
    if part.has_web() { web::install_browser() } else { Ok(()) }
}

/// The folder with `initdb` and `postgres`; the server is installed if it is missing.
pub fn install_postgresql() -> Result<PathBuf> {
    if let Some(folder) = find_postgresql() {
        return Ok(folder);
    }
    install_debian(POSTGRESQL, "the tests run on PostgreSQL as well as on SQLite")?;
    find_postgresql().context("`postgresql` is installed, yet `/usr/lib/postgresql/*/bin/initdb` is not there")
}

/// The newest version under Debian's folder, else the folder on the `PATH`.
fn find_postgresql() -> Option<PathBuf> {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let newest = versions
        .filter_map(|entry| entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()))
        .filter(|version| has_server(&debian_folder(*version)))
        .max();
    let on_path = || {
        let path = std::env::var_os("PATH")?;
        std::env::split_paths(&path).find(|folder| has_server(folder))
    };
    newest.map(debian_folder).or_else(on_path)
}

fn debian_folder(version: u32) -> PathBuf {
    PathBuf::from(format!("/usr/lib/postgresql/{version}/bin"))
}

fn install_strace() -> Result<()> {
    match run_quietly(Command::new("strace").arg("-V")) {
        Ok(_) => Ok(()),
        Err(_) => install_debian("strace", "it injects faults into the server's system calls"),
    }
}

fn has_server(folder: &Path) -> bool {
    folder.join("initdb").is_file() && folder.join("postgres").is_file()
}

pub fn install_debian(package: &str, why: &str) -> Result<()> {
    if run_quietly(Command::new("id").arg("-u"))?.trim() != "0" {
        bail!("the Debian package `{package}` is missing ({why}); as root: apt-get install {package}");
    }
    println!("install: Debian package `{package}`: {why}");
    run_quietly(Command::new("apt-get").args(["update", "--quiet"]))?;
    let mut install = Command::new("apt-get");
    install.args(["install", "--yes", "--quiet", "--no-install-recommends", package]);
    run_quietly(install.env("DEBIAN_FRONTEND", "noninteractive"))?;
    Ok(())
}

fn install_npm(tools: &Path) -> Result<()> {
    let folder = tools.join("npm");
    install_pinned(&folder, "package-lock.json", || {
        println!(
            "install: npm packages into `{}`: the MCP Inspector and the TypeScript client list and call our tools, \
             the MCP conformance suite checks the protocol; Node 24 runs them",
            folder.display()
        );
        for file in ["package.json", "package-lock.json"] {
            fs::copy(pinned(file), folder.join(file)).with_context(|| format!("could not copy `{file}`"))?;
        }
        // No script of a package is needed, so none may run. `install` takes the versions and hashes from the lock file
        // as `ci` does, but `ci` also wants the optional packages of foreign platforms listed, which a registry may lack.
        let arguments = ["install", "--no-save", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
        run_quietly(Command::new("npm").args(arguments).current_dir(&folder))?;
        Ok(())
    })
}

fn install_python(tools: &Path) -> Result<()> {
    install_venv(&tools.join("venv"), "requirements.txt", "the FastMCP client lists and calls our tools")
}

/// The graph database that `bench graph` compares with. The Python that knows it is returned.
pub fn install_ladybug() -> Result<PathBuf> {
    let folder = tools().join("ladybug");
    install_venv(&folder, "ladybug.txt", "the graph database ladybug answers the same questions")?;
    Ok(folder.join("bin").join("python"))
}

fn install_venv(folder: &Path, list: &str, why: &str) -> Result<()> {
    install_pinned(folder, list, || {
        if run_quietly(Command::new("python3").args(["-c", "import ensurepip, venv"])).is_err() {
            install_debian("python3-venv", "Python packages live in a virtual environment")?;
        }
        println!("install: Python packages into `{}`: {why}", folder.display());
        run_quietly(Command::new("python3").args(["-m", "venv"]).arg(folder))?;
        let mut pip = Command::new(folder.join("bin").join("python"));
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--requirement"]);
        run_quietly(pip.arg(pinned(list)))?;
        Ok(())
    })
}

/// Makes `folder` by `install` unless its stamp equals the pinned list `file`. The stamp is written
/// last: an interrupted installation starts anew.
fn install_pinned(folder: &Path, file: &str, install: impl FnOnce() -> Result<()>) -> Result<()> {
    let list = pinned(file);
    let wanted = fs::read_to_string(&list).with_context(|| format!("could not read `{}`", list.display()))?;
    let stamp = folder.join("installed.stamp");
    if fs::read_to_string(&stamp).is_ok_and(|installed| installed == wanted) {
        println!("install: `{}` is as `{file}` says", folder.display());
        return Ok(());
    }
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("could not remove `{}`", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("could not make `{}`", folder.display()))?;
    install()?;
    fs::write(&stamp, wanted).with_context(|| format!("could not write `{}`", stamp.display()))
}

fn pinned(file: &str) -> PathBuf {
    root().join("tools").join("clients").join(file)
}
