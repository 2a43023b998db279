//! Many rows with few statements.

use crate::conn::Conn;
use crate::dialect::Engine;
use crate::error::StoreError;
use crate::param::Param;
use crate::row::Row;

/// How many rows one statement may insert, largest first. A handful of sizes, because each is a prepared statement of
/// its own on every connection: with all sizes up to 64 they would evict the rest of the program's statements.
const N_ROWS: [usize; 12] = [256, 64, 32, 16, 8, 7, 6, 5, 4, 3, 2, 1];
/// The same for rows that are filled up with empty ones.
const N_ROWS_FILLED: [usize; 4] = [16, 32, 64, 256];

/// `INSERT INTO … VALUES …` for any number of rows. The first column is never null.
pub struct Bulk {
    n_columns: usize,
    by_engine: [(Engine, Vec<(usize, String)>); 2],
    /// Take up to so many rows; the rest of the places are null.
    filled: Vec<(usize, String)>,
}

impl Bulk {
    /// `into` is the table with its columns, `after` what follows the rows.
    pub fn new(into: &str, n_columns: usize, after: &str) -> Bulk {
        let rows = |engine: Engine, n_rows: usize| {
            let rows = (0..n_rows).map(|row| {
                let places = (1..=n_columns).map(|column| engine.place(row * n_columns + column));
                format!("({})", places.collect::<Vec<_>>().join(", "))
            });
            rows.collect::<Vec<_>>().join(", ")
        };
        let statement = |engine, n_rows| (n_rows, format!("INSERT INTO {into} VALUES {}{after}", rows(engine, n_rows)));
        let of = |engine| (engine, N_ROWS.into_iter().map(|n_rows| statement(engine, n_rows)).collect());
        let filled = N_ROWS_FILLED.map(|n_rows| {
            let rows = rows(Engine::Sqlite, n_rows);
            (n_rows, format!("INSERT INTO {into} SELECT * FROM (VALUES {rows}) WHERE column1 IS NOT NULL{after}"))
        });
        Bulk { n_columns, by_engine: Engine::ALL.map(of), filled: filled.into() }
    }

    pub async fn insert<R>(
        &'static self,
        conn: &mut Conn,
        rows: &[R],
        params: impl for<'r> Fn(&'r R, &mut Vec<Param<'r>>),
    ) -> Result<(), StoreError> {
        self.insert_counting(conn, rows, params).await.map(|_| ())
    }

    /// Answers how many rows were inserted.
    pub(crate) async fn insert_counting<R>(
        &'static self,
        conn: &mut Conn,
        rows: &[R],
        params: impl for<'r> Fn(&'r R, &mut Vec<Param<'r>>),
    ) -> Result<u64, StoreError> {
        let (mut rest, mut n_inserted) = (rows, 0);
        while !rest.is_empty() {
            let (n_rows, sql) = self.statement(conn.engine(), rest.len())?;
            let (now, after) = rest.split_at(n_rows.min(rest.len()));
            n_inserted += conn.execute(sql, &self.values(n_rows, now, &params)).await?;
            rest = after;
        }
        Ok(n_inserted)
    }

    /// All the rows as one statement, if there is one that takes so many.
    pub(crate) fn whole<'r, R>(
        &'static self,
        engine: Engine,
        rows: &'r [R],
        params: impl Fn(&'r R, &mut Vec<Param<'r>>),
    ) -> Option<(&'static str, Vec<Param<'r>>)> {
        let (n_rows, sql) = self.statement(engine, rows.len()).ok().filter(|(n_rows, _)| *n_rows >= rows.len())?;
        Some((sql, self.values(n_rows, rows, params)))
    }

    fn values<'r, R>(
        &self,
        n_rows: usize,
        rows: &'r [R],
        params: impl Fn(&'r R, &mut Vec<Param<'r>>),
    ) -> Vec<Param<'r>> {
        // One more, for what may follow the rows.
        let mut values = Vec::with_capacity(n_rows * self.n_columns + 1);
        for row in rows {
            params(row, &mut values);
        }
        values.resize(n_rows * self.n_columns, Param::Null);
        values
    }

    /// The statement to begin so many rows with, and how many it takes. On SQLite a statement costs two changes of thread,
    /// and empty rows next to nothing; PostgreSQL would have to be told the type of each empty place.
    fn statement(&'static self, engine: Engine, n_rows: usize) -> Result<(usize, &'static str), StoreError> {
        let exact = self.by_engine.iter().filter(|(of, _)| *of == engine).flat_map(|(_, statements)| statements);
        let exact = exact.map(|(takes, sql)| (*takes, sql.as_str())).find(|(takes, _)| *takes <= n_rows);
        let filled = self.filled.iter().map(|(takes, sql)| (*takes, sql.as_str())).find(|(takes, _)| *takes >= n_rows);
        let statement = match (exact, filled) {
            (Some((takes, _)), Some(filled)) if engine == Engine::Sqlite && takes < n_rows => Some(filled),
            (exact, _) => exact,
        };
        statement.ok_or_else(|| StoreError::other("no statement takes a row"))
    }
}

/// A statement over a list of texts (`… IN (…)`), for lists of any length.
pub struct InList {
    n_before: usize,
    statements: Vec<(usize, String)>,
}

/// How many texts one statement takes, smallest first; what is left over is filled up with the last text.
const N_TEXTS: [usize; 4] = [1, 8, 64, 256];

impl InList {
    /// The text before and after the list, and how many parameters come before it.
    pub fn new(before: &str, n_before: usize, after: &str) -> InList {
        let statement = |n_texts: usize| {
            let places: Vec<String> = (n_before + 1..=n_before + n_texts).map(|place| format!("${place}")).collect();
            (n_texts, format!("{before} ({}){after}", places.join(", ")))
        };
        InList { n_before, statements: N_TEXTS.into_iter().map(statement).collect() }
    }

    /// The statements with their parameters, as many as the texts need.
    fn filled<'p>(&'static self, before: &[Param<'p>], texts: &[&'p str]) -> Vec<(&'static str, Vec<Param<'p>>)> {
        debug_assert_eq!(before.len(), self.n_before);
        let largest = self.statements.last().map_or(1, |(n_texts, _)| *n_texts);
        let filled = texts.chunks(largest).filter_map(|chunk| {
            let (n_texts, sql) = self.statements.iter().find(|(n_texts, _)| *n_texts >= chunk.len())?;
            let last = chunk.last()?;
            let places = chunk.iter().chain(std::iter::repeat(last)).take(*n_texts);
            Some((sql.as_str(), before.iter().copied().chain(places.map(|text| Param::Text(text))).collect()))
        });
        filled.collect()
    }

    /// The rows of all texts. A text that is given twice in one statement is answered once.
    pub async fn fetch(
        &'static self,
        conn: &mut Conn,
        before: &[Param<'_>],
        texts: &[&str],
    ) -> Result<Vec<Row>, StoreError> {
        let mut rows = Vec::new();
        for (sql, params) in self.filled(before, texts) {
            rows.append(&mut conn.fetch_all(sql, &params).await?);
        }
        Ok(rows)
    }

    pub async fn execute(
        &'static self,
        conn: &mut Conn,
        before: &[Param<'_>],
        texts: &[&str],
    ) -> Result<(), StoreError> {
        for (sql, params) in self.filled(before, texts) {
            conn.execute(sql, &params).await?;
        }
        Ok(())
    }
}
