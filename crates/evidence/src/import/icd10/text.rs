//! The American modification: `A000    Cholera due to …`, or the order file, where a number comes first and a flag, a
//! short and a long name follow the code.

use std::collections::{BTreeMap, VecDeque};

use serde_json::json;

use super::super::input::Input;
use super::super::lines::Lines;
use super::super::{ImportError, Item, Parser, Progress};
use super::{Class, Codes, dotted, is_code};

/// Where the long name begins in the order file.
const LONG_NAME_AT: usize = 77;

pub struct Text {
    lines: Lines<Input>,
    codes: Codes,
}

impl Text {
    pub fn new(input: Input, source: String) -> Text {
        Text { lines: Lines::new(input), codes: Codes::new(source) }
    }
}

impl Parser for Text {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        let line = match self.lines.read()? {
            None => return Ok(Progress::Ended),
            Some(Err(rejection)) => {
                out.push_back(Item::Rejected(rejection));
                return Ok(Progress::More);
            }
            Some(Ok(line)) if line.text.trim().is_empty() => return Ok(Progress::More),
            Some(Ok(line)) => line,
        };
        let Some(Row { code, name, is_billable }) = row(&line.text) else {
            let reason = "expected a code and a name, such as `A000    Cholera`";
            out.push_back(Item::rejected(format!("line {}", line.number), reason));
            return Ok(Progress::More);
        };
        let flags = is_billable.map(|flag| ("is_billable".to_owned(), json!(flag)));
        let class = Class {
            prefix: "ICD10CM",
            code: &dotted(code),
            name,
            lang: "en",
            kind: None,
            parent: None,
            same_as: Vec::new(),
            attributes: BTreeMap::from_iter(flags),
        };
        self.codes.push(class, out);
        Ok(Progress::More)
    }
}

struct Row<'a> {
    code: &'a str,
    name: &'a str,
    is_billable: Option<bool>,
}

fn row(line: &str) -> Option<Row<'_>> {
    let (first, rest) = line.split_once(char::is_whitespace)?;
    if first.len() == 5 && first.bytes().all(|byte| byte.is_ascii_digit()) {
        let (code, rest) = rest.trim_start().split_once(char::is_whitespace)?;
        let flag = rest.trim_start().chars().next()?;
        let name = line.get(LONG_NAME_AT..)?.trim();
        let is_billable = Some(flag == '1').filter(|_| matches!(flag, '0' | '1'))?;
        return (is_code(code) && !name.is_empty()).then_some(Row { code, name, is_billable: Some(is_billable) });
    }
    let name = rest.trim();
    (is_code(first) && !name.is_empty()).then_some(Row { code: first, name, is_billable: None })
}
