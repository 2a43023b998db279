//! BEIR: the documents of a retrieval collection, one JSON object a line (`_id`, `title`, `text`, `metadata`).

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use contract::evidence::record::{Document, Record};
use serde_json::{Map, Value, json};

use super::input::Input;
use super::lines::Lines;
use super::{ImportError, Item, Options, Parser, Progress, vocabulary};

/// Documents whose ids are remembered. More than these cost more memory than an import may take.
const IDS_MAX: usize = 2_000_000;

pub struct Beir {
    lines: Lines<Input>,
    source: String,
    lang: Option<String>,
    /// By the hash of an id: that of what the file says under it.
    known: HashMap<u64, u64>,
}

impl Beir {
    pub fn new(input: Input, options: Options) -> Beir {
        Beir { lines: Lines::new(input), source: options.source.id, lang: options.lang, known: HashMap::new() }
    }

    /// An id that stands twice with other words counts as it stood first, so that a file says the same whenever it is read; in
    /// the same words it is repeated.
    fn read_first(&mut self, text: &str) -> Result<Document, String> {
        let document = self.read(text)?;
        let (id, content) = (hash(&document.id), hash(&json!(document).to_string()));
        match self.known.get(&id) {
            Some(known) if *known != content => {
                return Err("its `_id` stands in the file twice, with other words; the first one counts".to_owned());
            }
            None if self.known.len() < IDS_MAX => {
                self.known.insert(id, content);
            }
            Some(_) | None => {}
        }
        Ok(document)
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
            Some(Ok(line)) => out.push_back(match self.read_first(&line.text) {
                Ok(document) => Item::of(Record::Document(document)),
                Err(reason) => Item::rejected(format!("line {}", line.number), reason),
            }),
        }
        Ok(Progress::More)
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}
