//! The Thai modification: a table with a byte order mark, codes without dots, and flags that tell in which versions a
//! code stands. A blank flag says nothing.

use std::collections::{BTreeMap, VecDeque};

use serde_json::json;

use super::super::input::Input;
use super::super::rows::{Row, Rows};
use super::super::{Format, ImportError, Item, Parser, Progress, vocabulary};
use super::{Class, Codes, dotted, is_code};

const CODE_COLUMNS: [&str; 2] = ["รหัสโรค", "code"];
const NAME_COLUMNS: [&str; 2] = ["รายละเอียด", "description"];
const WHO_COLUMN: &str = "ICD-10-WHO";
const FLAG_COLUMNS: [&str; 4] = ["เหตุผล", WHO_COLUMN, "ICD-10-TM", "ICD-10-TMD"];

pub fn is_header(line: &str) -> bool {
    let cells: Vec<&str> = line.split(',').map(|cell| cell.trim().trim_matches('"')).collect();
    CODE_COLUMNS.iter().any(|name| cells.contains(name)) && NAME_COLUMNS.iter().any(|name| cells.contains(name))
}

pub struct Table {
    rows: Rows<Input>,
    columns: Vec<String>,
    codes: Codes,
}

impl Table {
    pub fn new(input: Input, source: String) -> Result<Table, ImportError> {
        let mut rows = Rows::new(input, None);
        let columns = rows.read()?.and_then(|header| texts(header).ok()).unwrap_or_default();
        if !is_header(&columns.join(",")) {
            let expected = format!("the columns `{}` and `{}`", CODE_COLUMNS[0], NAME_COLUMNS[0]);
            return Err(ImportError::Unlike { format: Format::Icd10, expected });
        }
        Ok(Table { rows, columns, codes: Codes::new(source) })
    }
}

impl Parser for Table {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        let Some(row) = self.rows.read()? else { return Ok(Progress::Ended) };
        let line = row.line;
        let expected = self.columns.len();
        let row = texts(row).and_then(|cells| match cells.len() {
            n if n == expected => Ok(cells),
            n => Err(format!("{n} cells, expected {expected}")),
        });
        let row = match row {
            Ok(row) => row,
            Err(reason) => {
                out.push_back(Item::rejected(format!("line {line}"), reason));
                return Ok(Progress::More);
            }
        };
        let cell = |name: &str| {
            let index = self.columns.iter().position(|column| column == name)?;
            row.get(index).map(String::as_str).filter(|cell| !cell.is_empty())
        };
        let code = CODE_COLUMNS.into_iter().find_map(cell);
        let name = NAME_COLUMNS.into_iter().find_map(cell);
        let (Some(code), Some(name)) = (code.filter(|code| is_code(code)), name) else {
            out.push_back(Item::rejected(format!("line {line}"), "it lacks a code or a name"));
            return Ok(Progress::More);
        };
        let code = dotted(code);
        let flags = FLAG_COLUMNS.into_iter().filter_map(|column| Some((column, cell(column)?)));
        let attributes = flags.map(|(column, flag)| (column.to_owned(), json!(flag))).collect::<BTreeMap<_, _>>();
        let is_of_who = cell(WHO_COLUMN) == Some("Y");
        // Hospitals write the Thai codes without their dot.
        let bare = code.replace('.', "");
        let same_as = is_of_who.then(|| format!("ICD10:{code}")).into_iter();
        let same_as = same_as.chain((bare != code).then(|| format!("ICD10TM:{bare}"))).collect();
        let lang = if vocabulary::is_thai(name) { "th" } else { "en" };
        let name = name.to_owned();
        let class =
            Class { prefix: "ICD10TM", code: &code, name: &name, lang, kind: None, parent: None, same_as, attributes };
        self.codes.push(class, out);
        Ok(Progress::More)
    }
}

fn texts(row: Row) -> Result<Vec<String>, String> {
    let text = |cell: &[u8]| std::str::from_utf8(cell).map(|text| text.trim().to_owned());
    row.cells?.iter().map(text).collect::<Result<_, _>>().map_err(|_| "not UTF-8".to_owned())
}
