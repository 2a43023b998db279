//! Columns for people.

/// One line per row, each column as wide as its widest cell.
pub fn lines<const N: usize>(header: [&str; N], rows: impl IntoIterator<Item = [String; N]>) -> Vec<String> {
    // A line end in a cell would begin a row that nobody wrote.
    let in_one_line =
        |cell: String| if cell.contains(char::is_control) { cell.replace(char::is_control, " ") } else { cell };
    let rows = rows.into_iter().map(|row| row.map(in_one_line));
    let rows: Vec<[String; N]> = std::iter::once(header.map(str::to_owned)).chain(rows).collect();
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..N).map(|column| width(column).unwrap_or(0)).collect();
    rows.iter()
        .map(|row| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_stays_one_line_whatever_its_cells_say() {
        let rows = [["a\nSTATE  forged".to_owned(), "b\r\u{1b}[2J".to_owned()], ["c".to_owned(), "d".to_owned()]];
        let shown = lines(["ONE", "TWO"], rows);
        assert_eq!(shown, ["ONE              TWO", "a STATE  forged  b  [2J", "c                d"]);
    }
}
