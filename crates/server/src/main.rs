//! The program `materia`.

use std::process::ExitCode;

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
