//! Rows of tables whose cells are quoted where they need it, each on a line of its own. A quotation mark that is not closed in its
//! line spoils that row, and never swallows the ones below it.

use std::io::BufRead;

use csv::{ByteRecord, ReaderBuilder, Terminator};

use super::ImportError;
use super::lines::Lines;

const ROW_BYTES_MAX: usize = 1024 * 1024;
/// Stands below the row while it is read: what is open at its end takes this line in.
const BELOW: &[u8] = b"\n.";

/// A row, or why it is none.
pub struct Row {
    pub line: u64,
    pub cells: Result<ByteRecord, String>,
}

pub struct Rows<R> {
    lines: Lines<R>,
    table: ReaderBuilder,
}

impl<R: BufRead> Rows<R> {
    /// `escape` takes the meaning from a quotation mark after it, beside a second one.
    pub fn new(reader: R, escape: Option<u8>) -> Rows<R> {
        let mut table = ReaderBuilder::new();
        table.has_headers(false).flexible(true).escape(escape).terminator(Terminator::Any(b'\n'));
        Rows { lines: Lines::of(reader, ROW_BYTES_MAX), table }
    }

    /// The next row that is not blank; `None` at the end.
    pub fn read(&mut self) -> Result<Option<Row>, ImportError> {
        while let Some(line) = self.lines.read_bytes()? {
            match line {
                Ok((_, bytes)) if bytes.trim_ascii().is_empty() => {}
                Ok((line, bytes)) => {
                    let cells = cells(&mut self.table, bytes).map_err(|source| ImportError::Table { line, source })?;
                    return Ok(Some(Row { line, cells }));
                }
                Err(rejection) => {
                    let cells = Err(rejection.reason);
                    return Ok(Some(Row { line: self.lines.n_read(), cells }));
                }
            }
        }
        Ok(None)
    }
}

fn cells(table: &mut ReaderBuilder, line: &[u8]) -> Result<Result<ByteRecord, String>, csv::Error> {
    let mut cells = ByteRecord::new();
    let text = [line, BELOW].concat();
    table.buffer_capacity(text.len()).from_reader(text.as_slice()).read_byte_record(&mut cells)?;
    let holds = |mark: u8| cells.iter().any(|cell| cell.contains(&mark));
    Ok(match (holds(b'\n'), holds(b'\r')) {
        (true, _) => Err("a quotation mark is not closed in its line".to_owned()),
        (false, true) => Err("a cell holds a line break".to_owned()),
        (false, false) => Ok(cells),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, escape: Option<u8>, expected: &[(u64, Result<&[&str], &str>)]) {
        let mut rows = Rows::new(text.as_bytes(), escape);
        let mut found = Vec::new();
        while let Some(row) = rows.read().unwrap() {
            let cells = row.cells.map(|cells| {
                cells.iter().map(|cell| String::from_utf8(cell.to_vec()).unwrap()).collect::<Vec<String>>()
            });
            found.push((row.line, cells));
        }
        let expected = expected.iter().map(|(line, cells)| {
            let cells = cells.map(|cells| cells.iter().map(|cell| (*cell).to_owned()).collect::<Vec<String>>());
            (*line, cells.map_err(str::to_owned))
        });
        assert_eq!(found, expected.collect::<Vec<_>>(), "{text:?}");
    }

    #[test]
    fn a_row_is_a_line_and_a_quotation_mark_must_be_closed_in_it() {
        let open = Err("a quotation mark is not closed in its line");
        check(
            "\u{feff}a,b\r\n\n\"c, \"\"d\"\"\",\n\"e,f\n\"g\",h",
            None,
            &[(1, Ok(&["a", "b"])), (3, Ok(&["c, \"d\"", ""])), (4, open), (5, Ok(&["g", "h"]))],
        );
        check("\"a\\\"b\",c\n\"a\\\n\"", Some(b'\\'), &[(1, Ok(&["a\"b", "c"])), (2, open), (3, open)]);
        check("a\rb,c\nd", None, &[(1, Err("a cell holds a line break")), (2, Ok(&["d"]))]);
    }
}
