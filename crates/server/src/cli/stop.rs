//! The wish that a command ends: Ctrl-C, or whoever started it says so.

use tokio::signal::unix::{Signal, SignalKind, signal};

pub(super) struct StopWish {
    terminate: Signal,
    interrupt: Signal,
}

impl StopWish {
    /// From here on a signal no longer ends the process by itself.
    pub fn listen() -> std::io::Result<StopWish> {
        Ok(StopWish { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    pub async fn wait(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}
