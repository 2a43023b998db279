//! The Thai modification: a table with a byte order mark, codes without dots, and flags that tell in which versions a
//! code stands. A blank flag says nothing.

use std::collections::{BTreeMap, VecDeque};

use serde_json::json;

use super::super::fence::Fence;
use super::super::input::Input;
use super::super::{Format, ImportError, Item, Parser, Progress, vocabulary};
use super::{Class, Codes, dotted, is_code};

const ROW_BYTES_MAX: usize = 1024 * 1024;
const CODE_COLUMNS: [&str; 2] = ["รหัสโรค", "code"];
const NAME_COLUMNS: [&str; 2] = ["รายละเอียด", "description"];
const WHO_COLUMN: &str = "ICD-10-WHO";
const FLAG_COLUMNS: [&str; 4] = ["เหตุผล", WHO_COLUMN, "ICD-10-TM", "ICD-10-TMD"];

pub fn is_header(line: &str) -> bool {
    let cells: Vec<&str> = line.split(',').map(|cell| cell.trim().trim_matches('"')).collect();
    CODE_COLUMNS.iter().any(|name| cells.contains(name)) && NAME_COLUMNS.iter().any(|name| cells.contains(name))
}

pub struct Table {
    rows: csv::Reader<Fence<Input>>,
    columns: Vec<String>,
    codes: Codes,
}

impl Table {
    pub fn new(input: Input, source: String) -> Result<Table, ImportError> {
        let fence = Fence::new(input, ROW_BYTES_MAX, "a row");
        let mut rows = csv::ReaderBuilder::new().flexible(true).from_reader(fence);
        let header = rows.headers().map_err(|source| ImportError::Table { line: 1, source })?;
        let columns: Vec<String> =
            header.iter().map(|cell| cell.trim_start_matches('\u{feff}').trim().to_owned()).collect();
        if !is_header(&columns.join(",")) {
            let expected = format!("the columns `{}` and `{}`", CODE_COLUMNS[0], NAME_COLUMNS[0]);
            return Err(ImportError::Unlike { format: Format::Icd10, expected });
        }
        Ok(Table { rows, columns, codes: Codes::new(source) })
    }
}

impl Parser for Table {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        self.rows.get_mut().renew();
        let line = self.rows.position().line();
        let mut row = csv::StringRecord::new();
        match self.rows.read_record(&mut row) {
            Ok(true) => {}
            Ok(false) => return Ok(Progress::Ended),
            Err(error) => {
                if let csv::ErrorKind::Utf8 { .. } = error.kind() {
                    out.push_back(Item::rejected(format!("line {line}"), "not UTF-8"));
                    return Ok(Progress::More);
                }
                return Err(ImportError::Table { line, source: error });
            }
        }
        let cell = |name: &str| {
            let index = self.columns.iter().position(|column| column == name)?;
            row.get(index).map(str::trim).filter(|cell| !cell.is_empty())
        };
        let line = row.position().map_or(line, csv::Position::line);
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
