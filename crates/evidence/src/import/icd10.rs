//! ICD-10: WHO's classes in XML (ClaML, and the plainer `item` tree), the American modification as text of fixed
//! width, and the Thai modification as a table. Which one it is, the content tells.

mod classes;
mod table;
mod text;

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use contract::evidence::record::{Edge, Node, Record};
use serde_json::{Value, json};

use super::input::{self, Input};
use super::{ImportError, Item, Options, Parser, vocabulary};

pub fn open(input: Input, options: Options) -> Result<Box<dyn Parser>, ImportError> {
    let (start, input) = input::sniff(input)?;
    let source = options.source.id;
    if start.trim_ascii_start().first() == Some(&b'<') {
        return Ok(Box::new(classes::Classes::new(input, source)));
    }
    let line = start.split(|byte| *byte == b'\n').next().unwrap_or_default();
    if table::is_header(&String::from_utf8_lossy(line)) {
        return Ok(Box::new(table::Table::new(input, source)?));
    }
    Ok(Box::new(text::Text::new(input, source)))
}

/// `A000` and `A00.0` → `A00.0`; ranges (`A00-A09`) and chapters (`I`) stay.
fn dotted(code: &str) -> String {
    let code = code.trim();
    let is_category = code.chars().count() > 3
        && code.is_ascii()
        && !code.contains(['.', '-'])
        && code.as_bytes().get(1).is_some_and(u8::is_ascii_digit);
    match code.split_at_checked(3) {
        Some((category, rest)) if is_category => format!("{category}.{rest}"),
        Some(_) | None => code.to_owned(),
    }
}

/// Whether it looks like a code of a disease: a letter, a digit, then letters and digits.
fn is_code(text: &str) -> bool {
    let bare: Vec<u8> = text.bytes().filter(|byte| *byte != b'.').collect();
    (3..=8).contains(&bare.len())
        && bare.first().is_some_and(u8::is_ascii_uppercase)
        && bare.get(1).is_some_and(u8::is_ascii_digit)
        && bare.iter().all(u8::is_ascii_alphanumeric)
}

/// One class on its way into the record.
struct Class<'a> {
    prefix: &'static str,
    code: &'a str,
    name: &'a str,
    lang: &'static str,
    /// `chapter`, `block`, `category` …, where the source says it.
    kind: Option<&'a str>,
    parent: Option<String>,
    same_as: Vec<String>,
    attributes: BTreeMap<String, Value>,
}

/// Codes that were read, since an edge to a parent that the file does not hold would lead nowhere.
struct Codes {
    source: String,
    /// Each with a hash of its name and one of all that the file says of it.
    known: HashMap<String, [u64; 2]>,
}

/// All versions together have fewer.
const CODES_MAX: usize = 500_000;

impl Codes {
    fn new(source: String) -> Codes {
        Codes { source, known: HashMap::new() }
    }

    /// Adds the class, and that it belongs to its parent. A code that stands twice with other words counts as it stood first,
    /// so that a file says the same whenever it is read; in the same words it is repeated.
    fn push(&mut self, class: Class<'_>, out: &mut VecDeque<Item>) {
        let Class { prefix, code, name, lang, kind, parent, same_as, mut attributes } = class;
        let id = format!("{prefix}:{code}");
        attributes.insert("icd_code".to_owned(), json!(code));
        if let Some(kind) = kind {
            attributes.insert("icd_level".to_owned(), json!(kind));
        }
        let parent = parent.or_else(|| self.shorter(code)).map(|parent| format!("{prefix}:{parent}"));
        let node = Node {
            id: id.clone(),
            categories: vec!["indication".to_owned(), "disease_or_phenotypic_feature".to_owned()],
            names: vec![vocabulary::name_in(name, lang)],
            description: None,
            same_as,
            attributes,
            source: self.source.clone(),
        };
        let content = [hash(name), hash(&json!(node).to_string())];
        if let Some([first_name, _]) = self.known.get(code).filter(|known| **known != content) {
            let other = if *first_name == hash(name) { "the same words and other marks" } else { "other words" };
            let reason = format!("it stands in the file twice, with {other}; the first one counts");
            out.push_back(Item::rejected(format!("code `{code}`"), reason));
            return;
        }
        out.push_back(Item::of(Record::Node(node)));
        if let Some(parent) = parent {
            let edge = vocabulary::edge_id(&[&self.source, &id, "subclass_of", &parent], "");
            out.push_back(Item::of(Record::Edge(Edge {
                id: edge,
                subject: id,
                predicate: "subclass_of".to_owned(),
                object: parent,
                strength: None,
                evidence: Vec::new(),
                qualifiers: BTreeMap::new(),
                source: self.source.clone(),
            })));
        }
        if self.known.len() < CODES_MAX {
            self.known.insert(code.to_owned(), content);
        }
    }

    /// The longest known code that this one begins with.
    fn shorter(&self, code: &str) -> Option<String> {
        let lengths = (3..code.len()).rev();
        let mut prefixes = lengths.filter_map(|length| code.get(..length)).map(|prefix| prefix.trim_end_matches('.'));
        prefixes.find(|prefix| self.known.contains_key(*prefix)).map(str::to_owned)
    }
}

fn hash(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_get_their_dot() {
        for (code, expected) in [
            ("A000", "A00.0"),
            ("A00", "A00"),
            ("A00.0", "A00.0"),
            ("A00-A09", "A00-A09"),
            ("XVII", "XVII"),
            ("S72001A", "S72.001A"),
        ] {
            assert_eq!(dotted(code), expected);
        }
    }

    #[test]
    fn a_code_that_stands_twice_is_repeated_or_counts_as_it_stood_first() {
        let table = "code,description,ICD-10-WHO\nA00,Cholera,Y\nA000,Made up,Y\nA000,Made up,N\nA00.0,Made up,Y\n\
            A000,Otherwise,Y\n";
        let options = Options { source: super::super::Format::Icd10.source(), lang: None };
        let items = super::super::open(super::super::Format::Icd10, options, table.as_bytes()).unwrap();
        let told = items.map(|item| match item.unwrap() {
            Item::Record(record) => match *record {
                Record::Node(node) => format!("{} {}", node.id, node.attributes["ICD-10-WHO"]),
                other => super::super::fits::id(&other).split(' ').next().unwrap().to_owned(),
            },
            Item::Rejected(rejection) => format!("rejected {}: {}", rejection.at, rejection.reason),
        });
        assert_eq!(
            told.collect::<Vec<_>>(),
            [
                "ICD10TM:A00 \"Y\"",
                "ICD10TM:A00.0 \"Y\"",
                "edge",
                "rejected code `A00.0`: it stands in the file twice, with the same words and other marks; the first one counts",
                "ICD10TM:A00.0 \"Y\"",
                "edge",
                "rejected code `A00.0`: it stands in the file twice, with other words; the first one counts"
            ]
        );
    }
}
