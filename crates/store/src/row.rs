//! Values that come out of a statement.

use sqlx::Row as _;
use sqlx::postgres::PgRow;
use sqlx::sqlite::SqliteRow;

use crate::error::StoreError;

/// A row of either engine. Columns are counted from 0; a null is an error where no `opt_` is in the name.
#[derive(Debug)]
pub struct Row(DriverRow);

#[derive(Debug)]
enum DriverRow {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    pub(crate) fn sqlite(row: SqliteRow) -> Row {
        Row(DriverRow::Sqlite(row))
    }

    pub(crate) fn postgres(row: PgRow) -> Row {
        Row(DriverRow::Postgres(row))
    }

    pub fn int(&self, column: usize) -> Result<i64, StoreError> {
        self.opt_int(column)?.ok_or(StoreError::other(UNEXPECTED_NULL))
    }

    pub fn text(&self, column: usize) -> Result<String, StoreError> {
        self.opt_text(column)?.ok_or(StoreError::other(UNEXPECTED_NULL))
    }

    pub fn bytes(&self, column: usize) -> Result<Vec<u8>, StoreError> {
        self.opt_bytes(column)?.ok_or(StoreError::other(UNEXPECTED_NULL))
    }

    pub fn bool(&self, column: usize) -> Result<bool, StoreError> {
        self.opt_bool(column)?.ok_or(StoreError::other(UNEXPECTED_NULL))
    }

    pub fn opt_bool(&self, column: usize) -> Result<Option<bool>, StoreError> {
        let value = match &self.0 {
            DriverRow::Sqlite(row) => row.try_get::<Option<bool>, _>(column),
            DriverRow::Postgres(row) => row.try_get::<Option<bool>, _>(column),
        };
        value.map_err(StoreError::from_driver)
    }

    pub fn opt_int(&self, column: usize) -> Result<Option<i64>, StoreError> {
        let value = match &self.0 {
            DriverRow::Sqlite(row) => row.try_get::<Option<i64>, _>(column),
            // An `INTEGER` literal or column has 32 bits on PostgreSQL.
            DriverRow::Postgres(row) => row.try_get::<Option<i64>, _>(column).or_else(|error| {
                row.try_get::<Option<i32>, _>(column).map(|value| value.map(i64::from)).map_err(|_| error)
            }),
        };
        value.map_err(StoreError::from_driver)
    }

    pub fn opt_text(&self, column: usize) -> Result<Option<String>, StoreError> {
        let value = match &self.0 {
            DriverRow::Sqlite(row) => row.try_get::<Option<String>, _>(column),
            DriverRow::Postgres(row) => row.try_get::<Option<String>, _>(column),
        };
        value.map_err(StoreError::from_driver)
    }

    pub fn opt_bytes(&self, column: usize) -> Result<Option<Vec<u8>>, StoreError> {
        let value = match &self.0 {
            DriverRow::Sqlite(row) => row.try_get::<Option<Vec<u8>>, _>(column),
            DriverRow::Postgres(row) => row.try_get::<Option<Vec<u8>>, _>(column),
        };
        value.map_err(StoreError::from_driver)
    }
}

const UNEXPECTED_NULL: &str = "a column is null, expected a value";
