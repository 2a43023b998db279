//! The owner lock against another process.

use std::io::{BufRead, BufReader};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use store::OwnerLock;

use crate::harness::until;

#[tokio::test]
async fn the_lock_is_exclusive_until_it_is_dropped() {
    let folder = testkit::temp_dir();
    let dir = folder.path().join("data");
    let lock = OwnerLock::try_acquire(&dir).unwrap().unwrap();
    assert!(OwnerLock::try_acquire(&dir).unwrap().is_none());
    let is_free = || {
        let status = Command::new("flock").arg("--nonblock").arg(dir.join("owner.lock")).arg("true").status();
        status.unwrap().success()
    };
    assert!(!is_free());
    drop(lock);
    // A process that another test is just starting may hold a copy of the file until it runs its program.
    until("the lock is free", async || is_free()).await;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&dir), mode(&dir.join("owner.lock"))), (0o700, 0o600));
}

#[tokio::test]
async fn the_lock_of_a_killed_process_is_free() {
    let folder = testkit::temp_dir();
    let mut other = Command::new("flock")
        .args(["--no-fork".as_ref(), folder.path().join("owner.lock").as_os_str()])
        .args(["sh", "-c", "echo locked; exec cat"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(other.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "locked\n");
    assert!(OwnerLock::try_acquire(folder.path()).unwrap().is_none());
    other.kill().unwrap();
    other.wait().unwrap();
    until("the lock is free", || async { OwnerLock::try_acquire(folder.path()).unwrap().is_some() }).await;
}
