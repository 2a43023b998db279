//! Importers: from the bytes of a public format to records, one at a time.
//!
//! Every parser streams and holds one unit of its format (a line, an article) or a window of them within fixed limits,
//! whatever the file says about itself. A unit that is wrong is rejected with its place and the reason, and the next one
//! is read; a stream that cannot be trusted to go on (truncated, nested without end, XML that defines entities) ends with
//! an error.

mod beir;
mod brought;
mod clean;
mod fence;
mod fits;
mod format;
mod hetionet;
mod icd10;
mod input;
mod jats;
mod json;
mod kgx;
mod lines;
mod medline;
mod members;
mod negation;
mod paper;
mod provider;
mod pubmed;
mod rows;
mod semmeddb;
mod trapi;
mod vocabulary;
mod xml;

use std::collections::VecDeque;
use std::io::{self, Read};

use contract::evidence::record::{Record, Source};

use crate::record::papers::marked_by_title;

pub use brought::Brought;
pub use format::Format;
pub(crate) use kgx::{DOUBTED, STRENGTH};
pub(crate) use negation::settle_negation;
pub(crate) use paper::{body, lang};
pub use provider::Provider;

/// The program's own rule behind a statement, which no file may name, and what it is called where one does.
const RULE: &str = "rule";
const RULE_OF_SOURCE: &str = "rule_of_source";

/// What the caller decides about an import.
#[derive(Debug, Clone)]
pub struct Options {
    /// Every record of the stream will name it.
    pub source: Source,
    /// Language of texts where the format does not say it.
    pub lang: Option<String>,
}

/// One thing that was read.
#[derive(Debug, Clone, PartialEq)]
pub enum Item {
    Record(Box<Record>),
    Rejected(Rejection),
}

/// What could not be kept: where it stood and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rejection {
    /// `line 12`, or the record's own id.
    pub at: String,
    pub reason: String,
}

impl Item {
    fn rejected(at: impl Into<String>, reason: impl Into<String>) -> Item {
        Item::Rejected(Rejection { at: at.into(), reason: reason.into() })
    }

    fn of(record: Record) -> Item {
        Item::Record(Box::new(record))
    }
}

/// Why a stream cannot be read on.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error("the file could not be read")]
    Read(#[source] io::Error),
    #[error("the file is empty")]
    Empty,
    #[error("the file is in UTF-16 or UTF-32, expected UTF-8; save it as UTF-8, or use `iconv -f UTF-16 -t UTF-8`")]
    Utf16,
    #[error("this is no {format} file: expected {expected}")]
    Unlike { format: Format, expected: String },
    #[error("the XML defines entities, which are refused: they can expand without limit or read other files")]
    EntityDefinitions,
    #[error("the XML is in the encoding `{0}`, expected UTF-8")]
    Encoding(String),
    #[error("the XML is nested deeper than {depth_max} elements at byte {at_byte}")]
    XmlDepth { depth_max: usize, at_byte: u64 },
    #[error("the XML has {what} at byte {at_byte}, expected at most {limit}")]
    XmlSize { what: &'static str, limit: usize, at_byte: u64 },
    #[error("the XML is not well-formed at byte {at_byte}")]
    Xml { at_byte: u64, source: quick_xml::Error },
    #[error("the file holds no XML")]
    NoElement,
    #[error("the XML ends inside `{0}`; the file is truncated")]
    XmlTruncated(String),
    #[error("the JSON is not well-formed at byte {at_byte}: expected {expected}")]
    Json { at_byte: u64, expected: &'static str },
    #[error("the JSON is nested deeper than {depth_max} levels at byte {at_byte}")]
    JsonDepth { depth_max: usize, at_byte: u64 },
    #[error("the JSON ends in the middle; the file is truncated")]
    JsonTruncated,
    #[error("the table cannot be read on after line {line}")]
    Table { line: u64, source: csv::Error },
}

/// Whether a parser may find more.
enum Progress {
    More,
    Ended,
}

/// One format being read.
trait Parser: Send {
    /// Reads one unit of the stream and adds what it holds, which may be nothing.
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError>;
}

/// The items of a stream, in its order. Ends after the first error.
pub struct Items {
    parser: Option<Box<dyn Parser>>,
    ready: VecDeque<Item>,
    n_without_rule: u64,
}

impl Iterator for Items {
    type Item = Result<Item, ImportError>;

    fn next(&mut self) -> Option<Result<Item, ImportError>> {
        loop {
            if let Some(item) = self.ready.pop_front() {
                let item = self.without_rule(item);
                return Some(Ok(checked(item)));
            }
            let parser = self.parser.as_mut()?;
            match parser.advance(&mut self.ready) {
                Ok(Progress::More) => {}
                Ok(Progress::Ended) => self.parser = None,
                Err(error) => {
                    self.parser = None;
                    // What stood before the fault was read and counts.
                    if self.ready.is_empty() {
                        return Some(Err(error));
                    }
                    self.parser = Some(Box::new(Failed(Some(error))));
                }
            }
        }
    }
}

impl Items {
    /// Statements that were taken without the rule by which somebody else grades them.
    pub fn n_without_rule(&self) -> u64 {
        self.n_without_rule
    }

    /// A statement stands by itself. The rule behind it is that of whoever exported it, and has no force here.
    fn without_rule(&mut self, mut item: Item) -> Item {
        if let Item::Record(record) = &mut item
            && let Record::Edge(edge) = record.as_mut()
            && let Some(rule) = edge.qualifiers.remove(RULE)
        {
            edge.qualifiers.entry(RULE_OF_SOURCE.to_owned()).or_insert(rule);
            self.n_without_rule += 1;
        }
        item
    }
}

/// Holds an error back until what was read before it is out.
struct Failed(Option<ImportError>);

impl Parser for Failed {
    fn advance(&mut self, _out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        self.0.take().map_or(Ok(Progress::Ended), Err)
    }
}

/// A record with its names cleaned; one that would be refused at the door is refused here, alone and with its id.
fn checked(item: Item) -> Item {
    match item {
        Item::Record(mut record) => {
            clean::clean(&mut record);
            if let Record::Document(document) = record.as_mut()
                && let Some(marked) = marked_by_title(document)
            {
                *document = marked;
            }
            match fits::check(&record) {
                Ok(()) => Item::Record(record),
                Err(reason) => Item::rejected(fits::id(&record), reason),
            }
        }
        Item::Rejected(rejection) => Item::Rejected(rejection),
    }
}

/// Reads a stream of a format, plain or compressed by gzip.
pub fn open(format: Format, options: Options, stream: impl Read + Send + 'static) -> Result<Items, ImportError> {
    let input = input::open(stream)?;
    let parser: Box<dyn Parser> = match format {
        Format::Pubmed => Box::new(pubmed::Pubmed::new(input, options)),
        Format::Medline => Box::new(medline::Medline::new(input, options)),
        Format::Jats => Box::new(jats::Jats::new(input, options)),
        Format::Kgx => kgx::open(input, options)?,
        Format::Trapi => Box::new(trapi::Trapi::new(input, options)),
        Format::Semmeddb => Box::new(semmeddb::Semmeddb::new(input, options)),
        Format::Hetionet => Box::new(hetionet::Hetionet::open(input, options)?),
        Format::Icd10 => icd10::open(input, options)?,
        Format::Beir => Box::new(beir::Beir::new(input, options)),
    };
    Ok(Items { parser: Some(parser), ready: VecDeque::new(), n_without_rule: 0 })
}
