//! The folder of the browser UI has to be there when the server is compiled, built or not: a debug build reads from it
//! later, a release build takes it in and has to notice when it was built anew.

use std::path::Path;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let dist = Path::new("../../web/dist");
    // Where it cannot be made the server has no UI and says so.
    if std::fs::create_dir_all(dist).is_ok() && std::env::var("PROFILE").is_ok_and(|profile| profile == "release") {
        println!("cargo::rerun-if-changed={}", dist.display());
    }
}
