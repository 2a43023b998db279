//! Values that go into a statement.

use sqlx::postgres::{PgArguments, PgTypeInfo, types::Oid};
use sqlx::sqlite::SqliteArguments;
use sqlx::{Arguments, Postgres};

/// A value for `$1`, `$2`, …
#[derive(Debug, Clone, Copy)]
pub enum Param<'a> {
    /// PostgreSQL infers its type from the place of use; where it cannot (`$1 IS NULL`), say which null it is.
    Null,
    NullInt,
    NullText,
    Int(i64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Bool(bool),
    /// JSON text for a `{json}` column. Read it back with `CAST(column AS TEXT)`.
    Json(&'a str),
}

pub(crate) fn sqlite_arguments(params: &[Param<'_>]) -> Result<SqliteArguments, sqlx::Error> {
    let mut arguments = SqliteArguments::default();
    for param in params {
        let added = match *param {
            Param::Null | Param::NullInt => Arguments::add(&mut arguments, None::<i64>),
            Param::NullText => Arguments::add(&mut arguments, None::<&str>),
            Param::Int(value) => Arguments::add(&mut arguments, value),
            Param::Text(value) | Param::Json(value) => Arguments::add(&mut arguments, value),
            Param::Bytes(value) => Arguments::add(&mut arguments, value),
            Param::Bool(value) => Arguments::add(&mut arguments, value),
        };
        added.map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

pub(crate) fn postgres_arguments(params: &[Param<'_>]) -> Result<PgArguments, sqlx::Error> {
    let mut arguments = PgArguments::default();
    for param in params {
        let added = match *param {
            Param::Null => Arguments::add(&mut arguments, UntypedNull),
            Param::NullInt => Arguments::add(&mut arguments, None::<i64>),
            Param::NullText => Arguments::add(&mut arguments, None::<&str>),
            Param::Int(value) => Arguments::add(&mut arguments, value),
            Param::Text(value) => Arguments::add(&mut arguments, value),
            Param::Bytes(value) => Arguments::add(&mut arguments, value),
            Param::Bool(value) => Arguments::add(&mut arguments, value),
            Param::Json(value) => Arguments::add(&mut arguments, Jsonb(value)),
        };
        added.map_err(sqlx::Error::Encode)?;
    }
    Ok(arguments)
}

/// A null whose type the server infers: object id 0 means "unspecified" in a Parse message.
struct UntypedNull;

impl sqlx::Type<Postgres> for UntypedNull {
    fn type_info() -> PgTypeInfo {
        PgTypeInfo::with_oid(Oid(0))
    }
}

impl sqlx::Encode<'_, Postgres> for UntypedNull {
    fn encode_by_ref(
        &self,
        _buffer: &mut sqlx::postgres::PgArgumentBuffer,
    ) -> Result<sqlx::encode::IsNull, sqlx::error::BoxDynError> {
        Ok(sqlx::encode::IsNull::Yes)
    }
}

/// Text as a value of type `jsonb`.
struct Jsonb<'a>(&'a str);

impl sqlx::Type<Postgres> for Jsonb<'_> {
    fn type_info() -> PgTypeInfo {
        // The object id of `jsonb`, the same in every PostgreSQL.
        PgTypeInfo::with_oid(Oid(3802))
    }
}

impl sqlx::Encode<'_, Postgres> for Jsonb<'_> {
    fn encode_by_ref(
        &self,
        buffer: &mut sqlx::postgres::PgArgumentBuffer,
    ) -> Result<sqlx::encode::IsNull, sqlx::error::BoxDynError> {
        // The binary form of `jsonb` is a version and then the text.
        buffer.push(1);
        buffer.extend_from_slice(self.0.as_bytes());
        Ok(sqlx::encode::IsNull::No)
    }
}

impl<'a> From<&'a str> for Param<'a> {
    fn from(value: &'a str) -> Param<'a> {
        Param::Text(value)
    }
}

impl<'a> From<&'a String> for Param<'a> {
    fn from(value: &'a String) -> Param<'a> {
        Param::Text(value)
    }
}

impl<'a> From<&'a [u8]> for Param<'a> {
    fn from(value: &'a [u8]) -> Param<'a> {
        Param::Bytes(value)
    }
}

impl From<i64> for Param<'_> {
    fn from(value: i64) -> Self {
        Param::Int(value)
    }
}

impl From<bool> for Param<'_> {
    fn from(value: bool) -> Self {
        Param::Bool(value)
    }
}

impl<'a> From<Option<&'a str>> for Param<'a> {
    fn from(value: Option<&'a str>) -> Param<'a> {
        value.map_or(Param::NullText, Param::Text)
    }
}

impl From<Option<i64>> for Param<'_> {
    fn from(value: Option<i64>) -> Self {
        value.map_or(Param::NullInt, Param::Int)
    }
}
