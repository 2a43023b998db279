//! PostgreSQL keeps no text of a definition. Both sides are told in plain lines: columns, keys, what is unique, checks.

use std::collections::{BTreeMap, BTreeSet};

use super::Difference;
use crate::conn::Conn;
use crate::dialect::Engine;
use crate::error::StoreError;
use crate::row::Row;

/// The lines of each table.
type Tables = BTreeMap<String, BTreeSet<String>>;

pub(super) async fn compare(conn: &mut Conn, expected: &mut Conn) -> Result<Vec<Difference>, StoreError> {
    let expected = expect(expected).await?;
    let found = read(conn).await?;
    let mut differences = Vec::new();
    for (table, lines) in &expected {
        let Some(now) = found.get(table) else {
            differences.push(Difference::new(table, "it is gone"));
            continue;
        };
        let lacks = lines.difference(now).map(|line| format!("it lacks {line}"));
        let added = now.difference(lines).map(|line| format!("it has {line}, which is not of the schema"));
        differences.extend(lacks.chain(added).map(|what| Difference::new(table, what)));
    }
    Ok(differences)
}

/// What the migrations made in memory, in the words of PostgreSQL.
async fn expect(memory: &mut Conn) -> Result<Tables, StoreError> {
    let mut tables = Tables::new();
    let sql = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'";
    for table in memory.fetch_all(sql, &[]).await? {
        let (name, text) = (table.text(0)?, table.text(1)?);
        let mut lines: BTreeSet<String> = checks(&text).map(|check| check_line(&check)).collect();
        lines.extend(expect_columns(memory, &name).await?);
        lines.extend(expect_unique(memory, &name).await?);
        tables.insert(name, lines);
    }
    Ok(tables)
}

async fn expect_columns(memory: &mut Conn, table: &str) -> Result<Vec<String>, StoreError> {
    let sql = "SELECT name, type, \"notnull\", COALESCE(dflt_value, ''), pk FROM pragma_table_info($1) ORDER BY pk";
    let (mut lines, mut key) = (Vec::new(), Vec::new());
    for row in memory.fetch_all(sql, &[table.into()]).await? {
        let (name, place) = (row.text(0)?, row.int(4)?);
        let default =
            Engine::Postgres.default_of(table, &name).map_or_else(|| row.text(3), |own| Ok(own.to_owned()))?;
        lines.push(column_line(&name, &row.text(1)?, row.int(2)? != 0 || place > 0, &default));
        if place > 0 {
            key.push(name);
        }
    }
    let key = Engine::Postgres.key_of(table).map_or_else(|| key.join(", "), str::to_owned);
    lines.push(key_line(&key));
    Ok(lines)
}

async fn expect_unique(memory: &mut Conn, table: &str) -> Result<Vec<String>, StoreError> {
    // The key of a table has a line of its own.
    let sql = "SELECT l.name, COALESCE((SELECT m.sql FROM sqlite_master m WHERE m.name = l.name), '') \
               FROM pragma_index_list($1) l WHERE l.\"unique\" = 1 AND l.origin <> 'pk'";
    let mut lines = Vec::new();
    for row in memory.fetch_all(sql, &[table.into()]).await? {
        let (index, text) = (row.text(0)?, row.text(1)?);
        let rows =
            memory.fetch_all("SELECT name FROM pragma_index_info($1) ORDER BY seqno", &[(&index).into()]).await?;
        let columns: Vec<String> = rows.iter().map(|row| row.text(0)).collect::<Result<_, _>>()?;
        let condition = text.split_once(" WHERE ").map_or("", |(_, condition)| condition);
        lines.push(unique_line(&columns.join(", "), condition));
    }
    Ok(lines)
}

const COLUMNS: &str = "SELECT c.relname::text, a.attname::text, format_type(a.atttypid, NULL)::text, a.attnotnull, \
    CASE WHEN a.attidentity <> '' THEN 'identity' WHEN a.attgenerated <> '' THEN 'generated' \
    ELSE COALESCE(pg_get_expr(d.adbin, d.adrelid), '') END, \
    COALESCE((SELECT o.collname::text FROM pg_collation o JOIN pg_type t ON t.oid = a.atttypid \
    WHERE o.oid = a.attcollation AND a.attcollation <> t.typcollation AND o.collname <> 'C'), '') FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
    JOIN pg_namespace n ON n.oid = c.relnamespace LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum \
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND NOT a.attisdropped";

/// Not those that say `NOT NULL`, which columns tell, and those that are unique indexes.
const CONSTRAINTS: &str = "SELECT c.relname::text, k.contype::text, k.convalidated, \
    CASE WHEN k.contype = 'p' THEN (SELECT string_agg(a.attname::text, ', ' ORDER BY o.place) \
    FROM unnest(k.conkey) WITH ORDINALITY AS o (number, place) \
    JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = o.number) ELSE pg_get_constraintdef(k.oid, true) END \
    FROM pg_constraint k JOIN pg_class c ON c.oid = k.conrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE n.nspname = current_schema() AND k.contype NOT IN ('n', 'u')";

const UNIQUE: &str = "SELECT c.relname::text, (SELECT string_agg(pg_get_indexdef(i.indexrelid, k, true), ', ' ORDER BY k) \
    FROM generate_series(1, i.indnkeyatts::int) AS k), COALESCE(pg_get_expr(i.indpred, i.indrelid), ''), i.indisvalid AND i.indimmediate \
    FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE n.nspname = current_schema() AND i.indisunique AND NOT i.indisprimary";

/// An index over an expression runs it at every write, as a trigger would. None of ours has one.
const CODE: &str = "SELECT c.relname::text, x.relname::text FROM pg_index i JOIN pg_class c ON c.oid = i.indrelid \
    JOIN pg_class x ON x.oid = i.indexrelid JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE n.nspname = current_schema() AND (i.indexprs IS NOT NULL \
    OR pg_get_expr(i.indpred, i.indrelid) ~ '[[:alnum:]_\"][(]')";

/// PostgreSQL empties such a table after a crash.
const UNLOGGED: &str = "SELECT c.relname::text FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND c.relpersistence <> 'p'";

/// Rows of a child are rows of its parent as well.
const CHILDREN: &str = "SELECT p.relname::text, c.relname::text FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid \
    JOIN pg_class p ON p.oid = i.inhparent JOIN pg_namespace n ON n.oid = p.relnamespace \
    WHERE n.nspname = current_schema() AND p.relkind IN ('r', 'p')";

async fn read(conn: &mut Conn) -> Result<Tables, StoreError> {
    let mut tables = Tables::new();
    for (sql, line) in [
        (COLUMNS, read_column as fn(&Row) -> Result<String, StoreError>),
        (CONSTRAINTS, read_constraint),
        (UNIQUE, read_unique),
        (CODE, |row| Ok(format!("the index `{}`, which runs a function", row.text(1)?))),
        (UNLOGGED, |_| Ok("no place in the write-ahead log (UNLOGGED)".to_owned())),
        (CHILDREN, |row| Ok(format!("the child `{}`", row.text(1)?))),
    ] {
        for row in conn.fetch_all(sql, &[]).await? {
            tables.entry(row.text(0)?).or_default().insert(line(&row)?);
        }
    }
    Ok(tables)
}

fn read_column(row: &Row) -> Result<String, StoreError> {
    let line = column_line(&row.text(1)?, &row.text(2)?, row.bool(3)?, &row.text(4)?);
    let collation = row.text(5)?;
    // Texts that compare as equal without being the same would open one organisation to another.
    Ok(if collation.is_empty() { line } else { format!("{line}, collated by `{collation}`") })
}

fn read_constraint(row: &Row) -> Result<String, StoreError> {
    let (kind, definition) = (row.text(1)?, row.text(3)?);
    let line = match kind.as_str() {
        "p" => key_line(&definition),
        "c" => check_line(&definition),
        _ => format!("`{definition}`"),
    };
    Ok(if row.bool(2)? { line } else { format!("{line}, not validated") })
}

fn read_unique(row: &Row) -> Result<String, StoreError> {
    let line = unique_line(&row.text(1)?, &row.text(2)?);
    Ok(if row.bool(3)? { line } else { format!("{line}, not valid or deferred") })
}

fn column_line(name: &str, of_type: &str, is_not_null: bool, default: &str) -> String {
    let kind = match of_type.to_ascii_uppercase().as_str() {
        "BIGINT" | "INTEGER" => "number",
        "TEXT" | "JSONB" => "text",
        "BLOB" | "BYTEA" => "bytes",
        "BOOLEAN" => "yes or no",
        other => return format!("the column `{name}` of type {other}"),
    };
    let null = if is_not_null { "never null" } else { "or null" };
    let default = words(default).join(" ");
    let default = if default.is_empty() { default } else { format!(", by default `{default}`") };
    format!("the column `{name}` ({kind}, {null}{default})")
}

fn key_line(columns: &str) -> String {
    format!("the primary key ({columns})")
}

fn unique_line(columns: &str, condition: &str) -> String {
    let condition = words(condition).join(" ");
    let condition = if condition.is_empty() { condition } else { format!(" where {condition}") };
    format!("what makes ({columns}) unique{condition}")
}

fn check_line(text: &str) -> String {
    format!("the check `{}`", words(text).join(" "))
}

/// The conditions behind `CHECK` in the text of a table.
fn checks(table: &str) -> impl Iterator<Item = String> + '_ {
    table.match_indices("CHECK (").map(|(at, _)| {
        let mut depth = 0_i32;
        let text = table.get(at..).unwrap_or_default();
        let end = text.char_indices().find(|(_, letter)| {
            depth += match letter {
                '(' => 1,
                ')' => -1,
                _ => return false,
            };
            depth == 0
        });
        text.get(..end.map_or(text.len(), |(at, _)| at)).unwrap_or_default().to_owned()
    })
}

/// What a condition is about: names, values and comparisons. The engines write the same one with other brackets and casts,
/// and a list as `IN (…)` or as `= ANY (ARRAY[…])`.
fn words(text: &str) -> Vec<String> {
    const PADDING: [&str; 6] = ["check", "in", "any", "array", "=", "::"];
    let mut words: Vec<String> = Vec::new();
    let mut letters = text.chars().peekable();
    let mut is_cast = false;
    while let Some(letter) = letters.next() {
        let mut word = String::from(letter);
        if letter == '\'' {
            // Two quotes in a row are one within the text; as two texts they compare the same.
            word.extend(letters.by_ref().take_while(|letter| *letter != '\''));
            words.push(format!("{word}'"));
            continue;
        }
        let is_name = |letter: &char| letter.is_alphanumeric() || *letter == '_';
        let is_sign = |letter: &char| "<>=!:".contains(*letter);
        let same: &dyn Fn(&char) -> bool = match letter {
            letter if is_name(&letter) => &is_name,
            letter if is_sign(&letter) => &is_sign,
            _ => continue,
        };
        while let Some(next) = letters.next_if(same) {
            word.push(next);
        }
        word.make_ascii_lowercase();
        let is_type = std::mem::replace(&mut is_cast, word == "::");
        if !is_type && !PADDING.contains(&word.as_str()) {
            words.push(word);
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_condition_has_the_same_words_on_both_engines() {
        let check = |ours: &str, theirs: &str| assert_eq!(words(ours), words(theirs));
        check("kind IN ('a', 'b c')", "CHECK ((kind = ANY (ARRAY['a'::text, 'b c'::text])))");
        check("status <> 'completed'", "(status <> 'completed'::text)");
        check("NOT confirmed", "(NOT confirmed)");
        check("(pg_current_xact_id()::text::bigint)", "((pg_current_xact_id())::text)::bigint");
        assert_ne!(words("first <= last"), words("last <= first"));
    }

    #[test]
    fn the_checks_of_a_table_are_found_in_its_text() {
        let text = "CREATE TABLE a (b TEXT CHECK (b IN ('x', 'y')), c BIGINT, CHECK (c > 0))";
        let found: Vec<String> = checks(text).map(|check| check_line(&check)).collect();
        assert_eq!(found, ["the check `b 'x' 'y'`", "the check `c > 0`"]);
    }
}
