//! How many files this process may have open. Every connection is one, and so are the record and the index: who takes them
//! all with connections must not keep the record from being written.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Kept for the record, the index, what is asked of other servers, and whoever shares the data folder.
const FILES_KEPT: u64 = 256;
/// With fewer nobody could work at all.
const CONNECTIONS_MIN: u64 = 8;

/// Raises the limit as far as this process may, and says how high it is; `None` where there is none.
fn raise() -> Option<u64> {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    match setrlimit(Resource::Nofile, raised) {
        Ok(()) => limit.maximum,
        Err(_) => limit.current,
    }
}

/// So many connections as each of `n_ports` may have open: those wanted, or as many as there are files for.
pub fn connections_max(wanted: usize, n_ports: usize) -> usize {
    let n_files = raise();
    let found = within(n_files, wanted, n_ports);
    if found < wanted {
        tracing::warn!(
            connections_max = wanted,
            used = found,
            files = n_files,
            "There may be fewer connections than the setting says, as this process may open too few files: \
             raise its limit (`ulimit -n`, or `LimitNOFILE` of systemd)"
        );
    }
    found
}

fn within(n_files: Option<u64>, wanted: usize, n_ports: usize) -> usize {
    let Some(n_files) = n_files else { return wanted };
    let n_ports = u64::try_from(n_ports).unwrap_or(u64::MAX).max(1);
    let n_each = (n_files.saturating_sub(FILES_KEPT) / n_ports).max(CONNECTIONS_MIN);
    wanted.min(usize::try_from(n_each).unwrap_or(usize::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_files_for_the_record() {
        assert_eq!(within(Some(65_536), 2_048, 4), 2_048);
        assert_eq!(within(Some(1_024), 2_048, 4), 192);
        assert_eq!(within(Some(1_024), 100, 4), 100);
        assert_eq!(within(Some(64), 2_048, 4), 8);
        assert_eq!(within(None, 2_048, 4), 2_048);
    }
}
