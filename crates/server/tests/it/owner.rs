//! One data folder, many processes: whoever owns it may die, and the others go on.

use std::{
    path::Path,
    process::Stdio,
    sync::Barrier,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    house::{Access, House, HouseOptions, materia},
    ids::{self, OPERATION},
    stdio::StdioClient,
};

const N_STDIO_CLIENTS: usize = 3;
const N_CALLS: usize = 20;
const PROJECT: &str = "owner";
/// How soon after the owner's death the others must work again.
const TAKEOVER_MAX: Duration = Duration::from_secs(10);
const ANSWER_DEADLINE: Duration = Duration::from_secs(30);

#[test]
fn when_the_owner_of_a_data_folder_is_killed_the_others_go_on_and_nothing_is_lost() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let house = serve(&data);
    let mut clients: Vec<StdioClient> = (0..N_STDIO_CLIENTS).map(|_| StdioClient::start(&data)).collect();

    let mut issued = all_at_once(&data, &house, &mut clients);
    ids::tally(&issued).check();

    let (after_kill, slowest, n_failed) = kill_under_load(house, &mut clients);
    let highest_before = issued.iter().copied().max().unwrap_or(0);
    assert!(after_kill.iter().all(|id| *id > highest_before), "an id from before the kill was issued again");
    issued.extend(after_kill);
    issued.push(call(&data));

    // The folder has an owner already, a stdio client; the new server works through it, and without it when it dies.
    let house = serve(&data);
    issued.push(http_next(&house));
    for client in clients {
        client.kill();
        issued.push(http_next(&house));
        issued.push(call(&data));
    }

    let tally = ids::tally(&issued);
    println!(
        "proof: owner n={} duplicates={} gaps={} killed=4 failed_in_flight={n_failed} slowest_takeover_ms={} \
         engine=sqlite",
        tally.n,
        tally.n_duplicates,
        tally.n_gaps,
        slowest.as_millis(),
    );
    assert_eq!(tally.n_duplicates, 0);
    // Only a call whose owner died under it may have used up an id that nobody got.
    assert!(tally.n_gaps <= n_failed, "{} ids are lost", tally.n_gaps);
}

/// Every door of the folder in use at the same time.
fn all_at_once(data: &Path, house: &House, clients: &mut [StdioClient]) -> Vec<u64> {
    let start = Barrier::new(clients.len() + 2);
    thread::scope(|scope| {
        let over_stdio = clients.iter_mut().map(|client| {
            let start = &start;
            scope.spawn(move || {
                start.wait();
                (0..N_CALLS).map(|_| stdio_next(client).expect("a call succeeds")).collect::<Vec<u64>>()
            })
        });
        let mut doors: Vec<_> = over_stdio.collect();
        doors.push(scope.spawn(|| {
            start.wait();
            (0..N_CALLS).map(|_| http_next(house)).collect()
        }));
        doors.push(scope.spawn(|| {
            start.wait();
            vec![call(data)]
        }));
        doors.into_iter().flat_map(|door| door.join().expect("the door answers")).collect()
    })
}

/// Kills the house while the stdio clients call. Gives the ids they got, the longest time from the kill to a
/// client's next success, and how many calls failed.
fn kill_under_load(house: House, clients: &mut [StdioClient]) -> (Vec<u64>, Duration, u64) {
    let n_clients = clients.len();
    let under_load = Barrier::new(n_clients + 1);
    thread::scope(|scope| {
        let callers: Vec<_> = clients
            .iter_mut()
            .map(|client| {
                let under_load = &under_load;
                scope.spawn(move || {
                    let mut issued = vec![stdio_next(client).expect("a call succeeds")];
                    under_load.wait();
                    // The kill falls somewhere into these calls.
                    let begun = Instant::now();
                    let (mut slowest, mut n_failed) = (Duration::ZERO, 0);
                    let mut last_success = begun;
                    while issued.len() < N_CALLS || begun.elapsed() < Duration::from_millis(500) {
                        match stdio_next(client) {
                            Ok(id) => {
                                slowest = slowest.max(last_success.elapsed());
                                last_success = Instant::now();
                                issued.push(id);
                            }
                            Err(error) => {
                                n_failed += 1;
                                eprintln!("a call in flight failed: {error}");
                                assert!(last_success.elapsed() < TAKEOVER_MAX, "no takeover: {error}");
                            }
                        }
                    }
                    (issued, slowest, n_failed)
                })
            })
            .collect();
        under_load.wait();
        house.kill();
        let mut total = (Vec::new(), Duration::ZERO, 0);
        for caller in callers {
            let (issued, slowest, n_failed) = caller.join().expect("the client goes on");
            assert!(slowest < TAKEOVER_MAX, "a takeover took {slowest:?}");
            assert!(n_failed <= 1, "{n_failed} calls of one client failed; only the one in flight may");
            total.0.extend(issued);
            total.1 = total.1.max(slowest);
            total.2 += n_failed;
        }
        total
    })
}

fn serve(data: &Path) -> House {
    House::start(&HouseOptions { data, access: Access::Anyone, database_url: None })
}

fn stdio_next(client: &mut StdioClient) -> Result<u64, String> {
    client.call(OPERATION, &ids::input(PROJECT), ANSWER_DEADLINE).map(|output| ids::number(&output))
}

fn http_next(house: &House) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let http = ids::http_client();
    runtime.block_on(ids::next(&http, house.http(), PROJECT, None)).expect("a call over HTTP succeeds")
}

/// `materia call`, as typed in a second terminal.
fn call(data: &Path) -> u64 {
    let mut command = materia();
    command.args(["call", OPERATION, &ids::input(PROJECT).to_string(), "--data"]).arg(data).stdin(Stdio::null());
    let output = command.output().expect("`materia` starts");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "`materia call` ended with {}: {errors}", output.status);
    ids::number(&serde_json::from_slice(&output.stdout).expect("`materia call` prints JSON"))
}

/// What a command of a guest said, and how long it took.
fn guest(data: &Path, arguments: &[&str]) -> (String, Duration) {
    let begun = Instant::now();
    let mut command = materia();
    command.args(arguments).arg("--data").arg(data).env("MATERIA_CALL_DEADLINE_MS", "500").stdin(Stdio::null());
    let output = command.output().expect("`materia` starts");
    let said = [output.stdout, output.stderr].concat();
    (String::from_utf8_lossy(&said).into_owned(), begun.elapsed())
}

#[test]
fn a_socket_that_somebody_deleted_or_replaced_is_made_again() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let _house = serve(&data);
    let socket = data.join("owner.sock");
    std::fs::remove_file(&socket).expect("there is a socket");
    assert_eq!(call(&data), 1);
    std::fs::remove_file(&socket).expect("there is one again");
    let _other = std::os::unix::net::UnixListener::bind(&socket).expect("the place is free");
    assert_eq!(call(&data), 2);
}

#[test]
fn a_guest_that_means_another_database_than_the_owner_is_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let _house = serve(&data);
    let (said, _) = guest(&data, &["audit", "verify", "--database-url", "postgres://me:secret@127.0.0.1:1/none"]);
    assert!(said.contains("the owner of this data folder uses another database"), "{said}");
    assert!(!said.contains("secret"), "{said}");
    let (said, _) = guest(&data, &["audit", "verify"]);
    assert!(said.contains("The log is whole."), "{said}");
}

#[test]
fn guests_of_an_owner_that_hangs_are_told_so_in_time() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let data = folder.path().join("data");
    let owner = serve(&data);
    let other = serve(&data);
    let pid = Pid::from_raw(i32::try_from(owner.pid()).expect("a process id")).expect("a process id");
    kill_process(pid, Signal::STOP).expect("the owner can be stopped");
    let named = format!("the owner of the data folder (process {}) does not answer", owner.pid());

    let (said, took) = guest(&data, &["call", OPERATION, &ids::input(PROJECT).to_string()]);
    assert!(said.contains("TIMEOUT") && said.contains(&named) && said.contains("may still happen"), "{said}");
    assert!(took < Duration::from_secs(8), "{took:?}");
    let (said, took) = guest(&data, &["doctor"]);
    assert!(said.contains(&named), "{said}");
    assert!(took < Duration::from_secs(12), "{took:?}");

    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime starts");
    let begun = Instant::now();
    let health = runtime.block_on(async {
        let answer = ids::http_client().get(format!("{}/health", other.http())).send().await.expect("health answers");
        answer.text().await.expect("the answer comes whole")
    });
    assert!(health.contains("degraded"), "{health}");
    assert!(begun.elapsed() < Duration::from_secs(2), "{:?}", begun.elapsed());

    kill_process(pid, Signal::CONT).expect("the owner goes on");
    call(&data);
}
