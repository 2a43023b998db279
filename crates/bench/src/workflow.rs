//! `bench workflow`: the workflow at the size of a working team, over HTTP, on both engines.

mod documents;
mod floor;
mod tasks;

use crate::process::Server;
use crate::{Plan, Verdict};

/// A database under test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Engine {
    Sqlite,
    Postgres,
}

impl Engine {
    const ALL: [Engine; 2] = [Engine::Sqlite, Engine::Postgres];

    fn name(self) -> &'static str {
        match self {
            Engine::Sqlite => "sqlite",
            Engine::Postgres => "postgres",
        }
    }

    /// A house on a fresh database.
    async fn serve(self) -> anyhow::Result<Server> {
        match self {
            Engine::Sqlite => Server::house(None),
            Engine::Postgres => Server::house(Some(&testkit::postgres_url().await.url)),
        }
    }
}

pub async fn run(plan: Plan) -> anyhow::Result<Verdict> {
    let mut verdict = Verdict::Met;
    for engine in Engine::ALL {
        let house = engine.serve().await?;
        documents::fill(house.address, engine).await?;
        let verdicts = [tasks::run(&house, engine, plan).await?, documents::run(house.address, engine, plan).await?];
        if verdicts.contains(&Verdict::Missed) {
            verdict = Verdict::Missed;
        }
    }
    Ok(verdict)
}
