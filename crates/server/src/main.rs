//! The program `materia`.

use std::process::ExitCode;

use mimalloc::MiMalloc;

/// Calls are made of many small values that one thread makes and another drops.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

#[tokio::main]
async fn main() -> ExitCode {
    match server::cli::run().await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(2)
        }
    }
}
