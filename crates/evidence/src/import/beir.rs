//! BEIR: the documents of a retrieval collection, one JSON object a line (`_id`, `title`, `text`, `metadata`).

use std::collections::{BTreeMap, VecDeque};

use contract::evidence::record::{Document, Record};
use serde_json::{Map, Value};

use super::input::Input;
use super::lines::Lines;
use super::{ImportError, Item, Options, Parser, Progress, vocabulary};

pub struct Beir {
    lines: Lines<Input>,
    source: String,
    lang: Option<String>,
}

impl Beir {
    pub fn new(input: Input, options: Options) -> Beir {
        Beir { lines: Lines::new(input), source: options.source.id, lang: options.lang }
    }

    fn read(&self, text: &str) -> Result<Document, String> {
        let mut members: Map<String, Value> =
            serde_json::from_str(text).map_err(|error| format!("not valid JSON: {error}"))?;
        let mut text = |key: &str| match members.remove(key) {
            Some(Value::String(text)) => Ok(Some(text)),
            Some(Value::Number(number)) => Ok(Some(number.to_string())),
            None | Some(Value::Null) => Ok(None),
            Some(_) => Err(format!("`{key}` is no text")),
        };
        let id = text("_id")?.filter(|id| !id.is_empty()).ok_or("it has no `_id`")?;
        let title = text("title")?.unwrap_or_default();
        let text = text("text")?.ok_or("it has no `text`")?;
        // The collections of BEIR are English; those made after its pattern may be Thai.
        let spoken = if vocabulary::is_thai(&text) || vocabulary::is_thai(&title) { "th" } else { "en" };
        let attributes: BTreeMap<String, Value> = match members.remove("metadata") {
            Some(Value::Object(found)) => vocabulary::tame_members(found),
            Some(_) | None => BTreeMap::new(),
        };
        Ok(Document {
            // Collections number their documents alike.
            id: format!("{}:{id}", self.source),
            kind: "document".to_owned(),
            title,
            text,
            lang: self.lang.clone().unwrap_or_else(|| spoken.to_owned()),
            authors: Vec::new(),
            journal: None,
            year: None,
            ids: BTreeMap::new(),
            links: Vec::new(),
            retraction: None,
            attributes,
            source: self.source.clone(),
        })
    }
}

impl Parser for Beir {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        match self.lines.read()? {
            None => return Ok(Progress::Ended),
            Some(Err(rejection)) => out.push_back(Item::Rejected(rejection)),
            Some(Ok(line)) if line.text.trim().is_empty() => {}
            Some(Ok(line)) => out.push_back(match self.read(&line.text) {
                Ok(document) => Item::of(Record::Document(document)),
                Err(reason) => Item::rejected(format!("line {}", line.number), reason),
            }),
        }
        Ok(Progress::More)
    }
}
