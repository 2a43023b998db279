//! Many rows with few statements.

use crate::conn::Conn;
use crate::dialect::Engine;
use crate::error::StoreError;
use crate::param::Param;
use crate::row::Row;

/// How many rows one statement may insert, largest first. A handful of sizes, because each is a prepared statement of
/// its own on every connection: with all sizes up to 64 they would evict the rest of the program's statements.
const N_ROWS: [usize; 12] = [256, 64, 32, 16, 8, 7, 6, 5, 4, 3, 2, 1];

/// `INSERT INTO … VALUES …` for any number of rows.
pub struct Bulk {
    by_engine: [(Engine, Vec<(usize, String)>); 2],
}

impl Bulk {
    /// `into` is the table with its columns, `after` what follows the rows.
    pub fn new(into: &str, n_columns: usize, after: &str) -> Bulk {
        let statement = |engine: Engine, n_rows: usize| {
            let rows = (0..n_rows).map(|row| {
                let places = (1..=n_columns).map(|column| engine.place(row * n_columns + column));
                format!("({})", places.collect::<Vec<_>>().join(", "))
            });
            (n_rows, format!("INSERT INTO {into} VALUES {}{after}", rows.collect::<Vec<_>>().join(", ")))
        };
        let of = |engine| (engine, N_ROWS.into_iter().map(|n_rows| statement(engine, n_rows)).collect());
        Bulk { by_engine: Engine::ALL.map(of) }
    }

    pub async fn insert<R>(
        &'static self,
        conn: &mut Conn,
        rows: &[R],
        params: impl for<'r> Fn(&'r R, &mut Vec<Param<'r>>),
    ) -> Result<(), StoreError> {
        let engine = conn.engine();
        let statements = self.by_engine.iter().filter(|(of, _)| *of == engine).flat_map(|(_, statements)| statements);
        let mut rest = rows;
        for (n_rows, sql) in statements {
            while let Some((now, after)) = rest.split_at_checked(*n_rows) {
                let mut values = Vec::new();
                for row in now {
                    params(row, &mut values);
                }
                conn.execute(sql, &values).await?;
                rest = after;
            }
        }
        Ok(())
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
