//! Files to rows. A row that cannot be read is a problem and left out; the others are still read.

use serde::de::DeserializeOwned;
use serde_json::Value;
use unicode_normalization::is_nfc;

use crate::files::Files;
use crate::places::Place;
use crate::report::Problem;
use crate::rows::*;
use crate::version::VERSION_FILE;

const ROWS_MAX: usize = 20_000;

/// A row and where it stands.
#[derive(Debug, Clone, PartialEq)]
pub struct Located<T> {
    pub place: Place,
    pub row: T,
}

/// Everything that could be read.
#[derive(Debug, Clone, Default)]
pub struct Set {
    pub sources: Vec<Located<SourceRow>>,
    pub papers: Vec<Located<PaperRow>>,
    pub conditions: Vec<Located<ConditionRow>>,
    pub constituents: Vec<Located<ConstituentRow>>,
    pub classes: Vec<Located<ClassRow>>,
    pub drugs: Vec<Located<DrugRow>>,
    pub other_substances: Vec<Located<SubstanceRow>>,
    pub herbs: Vec<Located<HerbFile>>,
    pub formulations: Vec<Located<FormulationFile>>,
    pub interactions: Vec<Located<InteractionRow>>,
    pub rules: Option<Located<Rules>>,
    pub ambiguous: Vec<Located<AmbiguousName>>,
    pub instruments: Vec<Located<InstrumentFile>>,
    /// FHIR bundles as they are.
    pub patients: Vec<Located<Value>>,
    /// Those of `smoke.jsonl` and of `curated.jsonl`, told apart by their places.
    pub questions: Vec<Located<QuestionRow>>,
}

pub fn parse(files: &Files) -> (Set, Vec<Problem>) {
    let mut set = Set::default();
    let mut reader = Reader { problems: Vec::new() };
    for (path, bytes) in files.iter() {
        let Some(text) = reader.text(path, bytes) else { continue };
        let (folder, name) = path.split_once('/').unwrap_or(("", path));
        match (folder, name) {
            ("", VERSION_FILE) => {}
            ("", "sources.json") => set.sources = reader.list(path, text),
            ("", "papers.jsonl") => set.papers = reader.lines(path, text),
            ("", "conditions.jsonl") => set.conditions = reader.lines(path, text),
            ("", "constituents.jsonl") => set.constituents = reader.lines(path, text),
            ("", "classes.jsonl") => set.classes = reader.lines(path, text),
            ("", "rules.json") => set.rules = reader.one(path, text),
            ("", "ambiguous.json") => set.ambiguous = reader.list(path, text),
            ("", "other_substances.jsonl") => set.other_substances = reader.lines(path, text),
            ("drugs", name) if name.ends_with(".jsonl") => set.drugs.extend(reader.lines(path, text)),
            ("herbs", name) if name.ends_with(".json") => set.herbs.extend(reader.one(path, text)),
            ("formulations", name) if name.ends_with(".json") => set.formulations.extend(reader.one(path, text)),
            ("interactions", name) if name.ends_with(".jsonl") => set.interactions.extend(reader.lines(path, text)),
            ("instruments", name) if name.ends_with(".json") => set.instruments.extend(reader.one(path, text)),
            ("patients", name) if name.ends_with(".json") => set.patients.extend(reader.one(path, text)),
            ("evaluation", "smoke.jsonl" | "curated.jsonl") => set.questions.extend(reader.lines(path, text)),
            (_, _) => reader.note(&Place::file(path), "", "a file", "none of this name; `data/README.md` lists them"),
        }
    }
    (set, reader.problems)
}

/// The first line that names the row, which is where a reader looks.
fn line_of(text: &str, row: &Value) -> Option<usize> {
    let word = row.get("id").or_else(|| row.get("name"))?.to_string();
    text.lines().position(|line| line.contains(&word)).map(|line| line + 1)
}

struct Reader {
    problems: Vec<Problem>,
}

impl Reader {
    fn note(&mut self, place: &Place, at: &str, found: impl Into<String>, expected: &str) {
        self.problems.push(Problem::new(place, at, found, expected));
    }

    fn text<'a>(&mut self, path: &str, bytes: &'a [u8]) -> Option<&'a str> {
        let place = Place::file(path);
        let Ok(text) = std::str::from_utf8(bytes) else {
            self.note(&place, "", "other bytes", "UTF-8");
            return None;
        };
        if let Some(line) = text.lines().position(|line| !is_nfc(line)) {
            self.note(&Place::line(path, line + 1), "", "another normal form", "text in NFC");
        }
        if text.contains('\r') {
            self.note(&place, "", "a carriage return", "lines that end with LF");
        }
        Some(text)
    }

    fn row<T: DeserializeOwned>(&mut self, place: Place, text: &str) -> Option<Located<T>> {
        match serde_json::from_str(text) {
            Ok(row) => Some(Located { place, row }),
            Err(error) => {
                self.unreadable(&place, text, &error);
                None
            }
        }
    }

    /// Names the line of a file; in a file of lines, the line is known already.
    fn unreadable(&mut self, place: &Place, text: &str, error: &serde_json::Error) {
        let line = place.line.unwrap_or_else(|| error.line());
        let id = serde_json::from_str::<Value>(text).ok();
        let id = id.as_ref().and_then(|row| row.get("id")?.as_str()).unwrap_or_default();
        let told = error.to_string();
        let told = told.rsplit_once(" at line").map_or(told.as_str(), |(told, _)| told);
        self.note(&Place::line(&place.file, line), id, format!("`{told}`"), "a row as its schema says");
    }

    fn one<T: DeserializeOwned>(&mut self, path: &str, text: &str) -> Option<Located<T>> {
        self.row(Place::file(path), text)
    }

    fn list<T: DeserializeOwned>(&mut self, path: &str, text: &str) -> Vec<Located<T>> {
        let rows: Vec<Value> = match serde_json::from_str(text) {
            Ok(rows) => rows,
            Err(error) => {
                self.unreadable(&Place::file(path), text, &error);
                return Vec::new();
            }
        };
        let placed = rows.iter().take(ROWS_MAX).map(|row| (line_of(text, row), row.to_string()));
        let placed: Vec<(Option<usize>, String)> = placed.collect();
        let place = |line| Place { file: path.to_owned(), line };
        placed.into_iter().filter_map(|(line, row)| self.row(place(line), &row)).collect()
    }

    fn lines<T: DeserializeOwned>(&mut self, path: &str, text: &str) -> Vec<Located<T>> {
        let lines = (1..).zip(text.lines()).take(ROWS_MAX);
        lines.filter_map(|(line, text)| self.row(Place::line(path, line), text)).collect()
    }
}
