//! The wish that a command ends: Ctrl-C, a closed terminal, or whoever started it says so.

use tokio::signal::unix::{Signal, SignalKind, signal};

pub(super) struct StopWish {
    terminate: Signal,
    interrupt: Signal,
    /// Absent where whoever started the command wants it to outlast the terminal (`nohup`).
    hang_up: Option<Signal>,
}

impl StopWish {
    /// From here on a signal no longer ends the process by itself.
    pub fn listen() -> std::io::Result<StopWish> {
        let hang_up = if ignores_hang_up() { None } else { Some(signal(SignalKind::hangup())?) };
        Ok(StopWish {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up,
        })
    }

    pub async fn wait(&mut self) {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = hang_up => {}
        }
    }
}

/// Whether this process was started to ignore SIGHUP, as Linux tells it. To listen would undo that.
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // The first bit is signal 1.
    ignored.is_some_and(|mask| mask & 1 == 1)
}
