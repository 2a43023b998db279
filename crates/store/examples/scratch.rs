use std::time::{Duration, Instant};
use store::*;
fn counting(name: String, id: String) -> Apply<i64> {
    Box::new(move |tx| {
        let id = id.clone();
        let name = name.clone();
        Box::pin(async move {
            let row = tx.fetch_optional("SELECT value FROM counters WHERE name = $1", &[(&name).into()]).await?;
            let value = row.map(|row| row.int(0)).transpose()?.unwrap_or(0) + 1;
            tx.execute("INSERT INTO counters (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", &[(&name).into(), value.into()]).await?;
            Ok(Applied {
                value,
                event: Some(EventRow {
                    call_id: id.clone(),
                    organisation_id: "o".into(),
                    recorded_at_us: 1,
                    actor_id: "a".into(),
                    operation: "x".into(),
                    outcome: "ok".into(),
                    body: "{\"a\":1}".repeat(60),
                }),
                keep: Keep::Changes,
            })
        })
    })
}
#[tokio::main]
async fn main() {
    let args: Vec<String> = std::env::args().collect();
    let n: usize = args[1].parse().unwrap();
    let lanes: usize = args[2].parse().unwrap();
    let kind = args[3].clone();
    let secs: f64 = args.get(4).map_or(3.0, |s| s.parse().unwrap());
    let dir = testkit::temp_dir();
    let target = if kind == "pg" {
        Target::Postgres(testkit::postgres_url().await.url)
    } else if kind == "sqlite" {
        Target::Sqlite(dir.path().join("x.db"))
    } else {
        Target::Sqlite(kind.clone().into())
    };
    let store = Store::open(Options {
        target,
        migrations: vec![Migration {
            version: 100,
            name: "t",
            sql: "CREATE TABLE counters (name TEXT PRIMARY KEY, value BIGINT NOT NULL);",
        }],
        n_connections_max: 16,
        write_queue_max: 4096,
        batch_max: 256,
    })
    .await
    .unwrap();
    let start = Instant::now();
    let mut tasks = vec![];
    for t in 0..n {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            let mut lat = vec![];
            let mut errs = 0;
            let mut i = 0;
            while start.elapsed().as_secs_f64() < secs {
                let t0 = Instant::now();
                i += 1;
                let lane = if lanes == 0 { None } else { Some(format!("l{}", t % lanes)) };
                let name = if lanes == 0 { format!("c{t}") } else { format!("c{}", t % lanes) };
                match store
                    .write(
                        lane,
                        tokio::time::Instant::now() + Duration::from_secs(10),
                        counting(name, format!("{t}-{i}")),
                    )
                    .await
                {
                    Ok(_) => lat.push(t0.elapsed().as_micros() as u64),
                    Err(e) => {
                        errs += 1;
                        if errs == 1 {
                            eprintln!("{e:?}");
                        }
                        tokio::time::sleep(Duration::from_millis(50)).await;
                    }
                }
            }
            (lat, errs)
        }));
    }
    let mut lat = vec![];
    let mut errs = 0;
    for t in tasks {
        let (l, e) = t.await.unwrap();
        lat.extend(l);
        errs += e;
    }
    let el = start.elapsed().as_secs_f64();
    lat.sort();
    let s = store.stats();
    if lat.is_empty() {
        println!("no success, errors {errs}");
        return;
    }
    println!(
        "{kind} n={n} lanes={lanes}: {:.0} writes/s, p50 {} us p99 {} us max {} us, batch {:.1}, commits/s {:.0}, errors {errs}",
        lat.len() as f64 / el,
        lat[lat.len() / 2],
        lat[lat.len() * 99 / 100],
        lat[lat.len() - 1],
        s.n_applies as f64 / s.n_commits as f64,
        s.n_commits as f64 / el
    );
    store.close().await;
}
