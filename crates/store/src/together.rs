//! Several statements in one round trip.
//!
//! PostgreSQL runs them as one statement with data-modifying parts: each sees the state before all of them, and they have
//! no order. So they must change different rows, and none may read what another one writes. SQLite runs them one after the
//! other, without coming back from its thread in between.

use crate::param::Param;

/// A statement with its parameters.
#[derive(Debug, Clone)]
pub struct Statement<'p> {
    pub sql: &'static str,
    pub params: Vec<Param<'p>>,
}

/// One statement that does what all of them do. How many rows it changed is told by the last one.
pub(crate) fn joined<'p>(statements: &[Statement<'p>]) -> (String, Vec<Param<'p>>) {
    let (mut sql, mut params) = (String::new(), Vec::new());
    for (index, statement) in statements.iter().enumerate() {
        let text = shifted(statement.sql, params.len());
        sql = match (index, index + 1 == statements.len()) {
            (0, true) => text,
            (_, true) => format!("{sql} {text}"),
            (0, false) => format!("WITH step_0 AS ({text})"),
            (_, false) => format!("{sql}, step_{index} AS ({text})"),
        };
        params.extend_from_slice(&statement.params);
    }
    (sql, params)
}

/// The statements one after the other, as one text.
pub(crate) fn in_a_row<'p>(statements: &[Statement<'p>]) -> (String, Vec<Param<'p>>) {
    let (mut texts, mut params) = (Vec::with_capacity(statements.len()), Vec::new());
    for statement in statements {
        texts.push(shifted(statement.sql, params.len()));
        params.extend_from_slice(&statement.params);
    }
    (texts.join("; "), params)
}

/// The text with every place `$1` moved on. Our statements have no other dollar signs.
fn shifted(sql: &str, by: usize) -> String {
    let mut parts = sql.split('$');
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len());
        let (digits, rest) = part.split_at_checked(end).unwrap_or((part, ""));
        let place = digits.parse::<usize>().map_or_else(|_| digits.to_owned(), |place| (place + by).to_string());
        text.push('$');
        text.push_str(&place);
        text.push_str(rest);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_move_on_past_the_parameters_of_those_before() {
        let check = |statements: &[(&'static str, usize)], expected: [&str; 2]| {
            let statements = statements.iter().map(|(sql, n)| Statement { sql, params: vec![Param::Int(1); *n] });
            let (together, params) = joined(&statements.clone().collect::<Vec<_>>());
            let (row, params_of_row) = in_a_row(&statements.clone().collect::<Vec<_>>());
            assert_eq!([together.as_str(), row.as_str()], expected);
            let n_params: usize = statements.map(|it| it.params.len()).sum();
            assert_eq!([params.len(), params_of_row.len()], [n_params; 2]);
        };
        check(&[("INSERT a $1, $2", 2)], ["INSERT a $1, $2"; 2]);
        check(
            &[("INSERT a $1, $2, $1", 2), ("INSERT b", 0), ("UPDATE c $10 $2", 10)],
            [
                "WITH step_0 AS (INSERT a $1, $2, $1), step_1 AS (INSERT b) UPDATE c $12 $4",
                "INSERT a $1, $2, $1; INSERT b; UPDATE c $12 $4",
            ],
        );
    }
}
