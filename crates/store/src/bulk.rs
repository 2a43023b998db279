//! Inserting many rows with few statements.

use crate::conn::Conn;
use crate::error::StoreError;
use crate::param::Param;

/// How many rows one statement may insert, largest first. A handful of sizes, because each is a prepared statement of
/// its own on every connection: with all sizes up to 64 they would evict the rest of the program's statements.
const N_ROWS: [usize; 11] = [64, 32, 16, 8, 7, 6, 5, 4, 3, 2, 1];

/// `INSERT INTO … VALUES …` for any number of rows.
pub(crate) struct Bulk {
    statements: Vec<(usize, String)>,
}

impl Bulk {
    /// `into` is the table with its columns, `after` what follows the rows.
    pub(crate) fn new(into: &str, n_columns: usize, after: &str) -> Bulk {
        let statement = |n_rows: usize| {
            let rows: Vec<String> = (0..n_rows)
                .map(|row| {
                    let places: Vec<String> =
                        (1..=n_columns).map(|column| format!("${}", row * n_columns + column)).collect();
                    format!("({})", places.join(", "))
                })
                .collect();
            (n_rows, format!("INSERT INTO {into} VALUES {}{after}", rows.join(", ")))
        };
        Bulk { statements: N_ROWS.into_iter().map(statement).collect() }
    }

    pub(crate) async fn insert<R>(
        &'static self,
        conn: &mut Conn,
        rows: &[R],
        params: impl for<'r> Fn(&'r R, &mut Vec<Param<'r>>),
    ) -> Result<(), StoreError> {
        let mut rest = rows;
        for (n_rows, sql) in &self.statements {
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
