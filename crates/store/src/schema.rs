//! Whether the schema is the one that the migrations make. Rows are compared with the log; a constraint that other hands
//! dropped or added lets rows in, or takes some away, without changing any.
//!
//! What is expected comes from the migrations themselves, applied to an empty database in memory: nothing has to be kept
//! beside them, and a database that was upgraded step by step has the same. Indexes that only make reading faster, and
//! tables that are not ours, are nobody's concern.

mod postgres;

use std::collections::BTreeMap;

use crate::conn::Conn;
use crate::dialect::{self, Engine};
use crate::error::StoreError;
use crate::migrations::{self, Migration};

/// How a table differs from what the migrations make of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    pub table: String,
    pub what: String,
}

impl Difference {
    fn new(table: &str, what: impl Into<String>) -> Difference {
        Difference { table: table.to_owned(), what: what.into() }
    }
}

/// In the order of tables. The migrations are those of the domain crates; the store adds its own.
pub async fn differences(conn: &mut Conn, migrations: &[Migration]) -> Result<Vec<Difference>, StoreError> {
    let memory = dialect::sqlite_memory();
    let mut expected = memory.acquire().await?;
    migrations::make(&mut expected, migrations).await?;
    let found = match conn.engine() {
        Engine::Sqlite => compare_texts(conn, &mut expected).await,
        Engine::Postgres => postgres::compare(conn, &mut expected).await,
    };
    drop(expected);
    memory.close().await;
    found
}

/// Tables and unique indexes by name, each with its table and its definition.
type Texts = BTreeMap<String, (String, String)>;

/// SQLite keeps the text of every definition.
async fn read_texts(conn: &mut Conn) -> Result<Texts, StoreError> {
    let sql = "SELECT name, tbl_name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite\\_%' ESCAPE '\\' \
               AND (type = 'table' OR (type = 'index' AND sql LIKE 'CREATE UNIQUE %'))";
    let rows = conn.fetch_all(sql, &[]).await?;
    let words = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    rows.iter().map(|row| Ok((row.text(0)?, (row.text(1)?, words(row.text(2)?))))).collect()
}

async fn compare_texts(conn: &mut Conn, expected: &mut Conn) -> Result<Vec<Difference>, StoreError> {
    let expected = read_texts(expected).await?;
    let mut found = read_texts(conn).await?;
    let mut differences = Vec::new();
    for (name, (table, text)) in &expected {
        let is_table = name == table;
        let what = match found.remove(name) {
            Some((_, now)) if now == *text => continue,
            Some(_) if is_table => "its definition was changed".to_owned(),
            None if is_table => "it is gone".to_owned(),
            Some(_) => format!("its unique index `{name}` was changed"),
            None => format!("its unique index `{name}` is gone"),
        };
        differences.push(Difference::new(table, what));
    }
    let added = found.iter().filter(|(name, (table, _))| *name != table && expected.contains_key(table));
    differences.extend(added.map(|(name, (table, _))| {
        Difference::new(table, format!("it has the unique index `{name}`, which is not of the schema"))
    }));
    differences.sort_by(|a, b| a.table.cmp(&b.table));
    Ok(differences)
}
