//! The program `materia`.

use std::process::ExitCode;

/// A call makes a few hundred small values; with the allocator of the C library they were a third of its time.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() -> ExitCode {
    server::cli::main()
}
