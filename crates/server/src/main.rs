//! The program `materia`.

use std::process::ExitCode;

/// A call makes a few hundred small values; with the allocator of the C library they were a third of its time.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[tokio::main]
async fn main() -> ExitCode {
    match server::cli::run().await {
        Ok(code) => code,
        Err(error) => {
            server::cli::say(format_args!("error: {error:#}"));
            ExitCode::from(2)
        }
    }
}
