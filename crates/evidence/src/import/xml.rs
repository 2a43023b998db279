//! XML within limits: one element at a time, its whole content in memory only where a parser asks for it.
//!
//! No document type is read, no entity is defined and none is expanded but XML's own five and characters by number.

use std::io::{self, BufRead};
use std::mem;

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};

use super::ImportError;
use super::fence::Fence;

const DEPTH_MAX: usize = 100;
const ATTRIBUTES_MAX: usize = 100;
const NAME_BYTES_MAX: usize = 200;
/// One tag, one run of text, one comment.
const TOKEN_BYTES_MAX: usize = 8 * 1024 * 1024;
/// One record with everything in it.
const RECORD_BYTES_MAX: usize = 16 * 1024 * 1024;
const RECORD_ELEMENTS_MAX: usize = 200_000;

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Element {
    /// Without a namespace prefix.
    pub name: String,
    attributes: Vec<(String, String)>,
    children: Vec<Child>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Child {
    Element(Element),
    Text(String),
}

impl Element {
    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    pub fn nodes(&self) -> &[Child] {
        &self.children
    }

    pub fn elements(&self) -> impl Iterator<Item = &Element> {
        self.children.iter().filter_map(|child| match child {
            Child::Element(element) => Some(element),
            Child::Text(_) => None,
        })
    }

    pub fn all(&self, name: &'static str) -> impl Iterator<Item = &Element> {
        self.elements().filter(move |element| element.name == name)
    }

    pub fn first(&self, name: &'static str) -> Option<&Element> {
        self.all(name).next()
    }

    /// The element at the end of a path of names, the first one of each.
    pub fn at(&self, path: &[&'static str]) -> Option<&Element> {
        path.iter().try_fold(self, |element, name| element.first(name))
    }

    /// All text inside with runs of blanks as one; `None` where there is none.
    pub fn text(&self) -> Option<String> {
        let mut raw = String::new();
        self.push_text(&mut raw);
        let text = raw.split_whitespace().collect::<Vec<_>>().join(" ");
        (!text.is_empty()).then_some(text)
    }

    pub fn text_at(&self, path: &[&'static str]) -> Option<String> {
        self.at(path)?.text()
    }

    /// Depth is limited by the reader, so the recursion is too.
    fn push_text(&self, out: &mut String) {
        for child in &self.children {
            match child {
                Child::Text(text) => out.push_str(text),
                Child::Element(element) => element.push_text(out),
            }
        }
    }

    fn push(&mut self, text: &str) {
        if let Some(Child::Text(last)) = self.children.last_mut() {
            last.push_str(text);
        } else {
            self.children.push(Child::Text(text.to_owned()));
        }
    }
}

/// One step through the document.
pub enum Step {
    /// The element's name and attributes; its content follows.
    Start(Element),
    Text(String),
    /// A reference to an entity that nobody defined.
    Undefined(String),
    End,
    Eof,
}

pub struct Xml<R> {
    reader: Reader<Fence<R>>,
    buffer: Vec<u8>,
    /// Names of the open elements.
    open: Vec<String>,
    /// An empty tag was read, whose end is still to be told.
    is_end_due: bool,
    is_any: bool,
}

impl<R: BufRead> Xml<R> {
    pub fn new(reader: R) -> Xml<R> {
        let reader = Reader::from_reader(Fence::new(reader, TOKEN_BYTES_MAX, "a tag or text of the XML"));
        Xml { reader, buffer: Vec::new(), open: Vec::new(), is_end_due: false, is_any: false }
    }

    pub fn step(&mut self) -> Result<Step, ImportError> {
        if mem::take(&mut self.is_end_due) {
            self.open.pop();
            return Ok(Step::End);
        }
        loop {
            self.buffer.clear();
            self.reader.get_mut().renew();
            let at_byte = self.reader.buffer_position();
            let event = match self.reader.read_event_into(&mut self.buffer) {
                Ok(event) => event,
                Err(quick_xml::Error::Io(error)) => return Err(ImportError::Read(io::Error::new(error.kind(), error))),
                Err(source) => return Err(ImportError::Xml { at_byte, source }),
            };
            match event {
                Event::Start(tag) => {
                    let element = start(&tag, at_byte)?;
                    self.is_any = true;
                    enter(&mut self.open, &element.name, at_byte)?;
                    return Ok(Step::Start(element));
                }
                Event::Empty(tag) => {
                    let element = start(&tag, at_byte)?;
                    self.is_any = true;
                    enter(&mut self.open, &element.name, at_byte)?;
                    self.is_end_due = true;
                    return Ok(Step::Start(element));
                }
                Event::End(_) => {
                    self.open.pop();
                    return Ok(Step::End);
                }
                Event::Text(text) => return Ok(Step::Text(text.xml10_content().into_owned())),
                Event::CData(text) => return Ok(Step::Text(text.xml10_content().into_owned())),
                Event::GeneralRef(reference) => {
                    return Ok(match reference.resolve_char_ref() {
                        Ok(Some(character)) => Step::Text(character.to_string()),
                        Ok(None) | Err(_) => match quick_xml::escape::resolve_predefined_entity(&reference) {
                            Some(text) => Step::Text(text.to_owned()),
                            None => Step::Undefined(reference.chars().take(40).collect()),
                        },
                    });
                }
                Event::DocType(text) => {
                    if text.to_ascii_uppercase().contains("<!ENTITY") {
                        return Err(ImportError::EntityDefinitions);
                    }
                }
                Event::Decl(declaration) => {
                    if let Some(Ok(encoding)) = declaration.encoding()
                        && !["utf-8", "utf8", "us-ascii", "ascii"].contains(&encoding.to_ascii_lowercase().as_str())
                    {
                        return Err(ImportError::Encoding(encoding.chars().take(40).collect()));
                    }
                }
                Event::Comment(_) | Event::PI(_) => {}
                Event::Eof => return self.eof(),
            }
        }
    }

    fn eof(&mut self) -> Result<Step, ImportError> {
        match self.open.last() {
            Some(name) => Err(ImportError::XmlTruncated(name.clone())),
            None if !self.is_any => Err(ImportError::NoElement),
            None => Ok(Step::Eof),
        }
    }

    /// The whole of an element that was just started, or why it is not kept. Reads to its end in both cases.
    pub fn whole(&mut self, element: Element) -> Result<Result<Element, String>, ImportError> {
        let mut fault = None;
        let (mut n_elements, mut n_bytes) = (1_usize, 0_usize);
        // The innermost element comes last.
        let mut open = vec![element];
        loop {
            match self.step()? {
                Step::Start(element) => {
                    n_elements += 1;
                    if n_elements > RECORD_ELEMENTS_MAX {
                        fault.get_or_insert_with(|| format!("more than {RECORD_ELEMENTS_MAX} elements"));
                    }
                    n_bytes += element.attributes.iter().map(|(key, value)| key.len() + value.len()).sum::<usize>();
                    open.push(if fault.is_none() { element } else { Element::default() });
                }
                Step::Text(text) => {
                    n_bytes += text.len();
                    if fault.is_none()
                        && let Some(parent) = open.last_mut()
                    {
                        parent.push(&text);
                    }
                }
                Step::Undefined(name) => {
                    fault.get_or_insert_with(|| format!("the entity `&{name};` is not defined"));
                }
                Step::End => {
                    let Some(ended) = open.pop() else { break };
                    let Some(parent) = open.last_mut() else {
                        return Ok(fault.map_or(Ok(ended), Err));
                    };
                    if fault.is_none() {
                        parent.children.push(Child::Element(ended));
                    }
                }
                Step::Eof => break,
            }
            if n_bytes > RECORD_BYTES_MAX && fault.is_none() {
                fault = Some(format!("more than {RECORD_BYTES_MAX} bytes"));
            }
            if fault.is_some() {
                // Nothing of it will be used.
                for element in &mut open {
                    element.children = Vec::new();
                }
            }
        }
        Ok(Err("it has no end".to_owned()))
    }

    /// Reads to the end of an element that was just started and keeps nothing.
    pub fn skip(&mut self) -> Result<(), ImportError> {
        let mut depth = 1_usize;
        while depth > 0 {
            match self.step()? {
                Step::Start(_) => depth += 1,
                Step::End => depth -= 1,
                Step::Text(_) | Step::Undefined(_) => {}
                Step::Eof => break,
            }
        }
        Ok(())
    }
}

fn enter(open: &mut Vec<String>, name: &str, at_byte: u64) -> Result<(), ImportError> {
    if open.len() >= DEPTH_MAX {
        return Err(ImportError::XmlDepth { depth_max: DEPTH_MAX, at_byte });
    }
    open.push(name.to_owned());
    Ok(())
}

fn start(tag: &BytesStart<'_>, at_byte: u64) -> Result<Element, ImportError> {
    let name = tag.local_name();
    let name: &str = name.as_ref();
    if tag.name().into_inner().len() > NAME_BYTES_MAX {
        return Err(ImportError::XmlSize { what: "a long name", limit: NAME_BYTES_MAX, at_byte });
    }
    let mut attributes = Vec::new();
    // Looking for repeated ones would take the square of their number.
    for attribute in tag.attributes().with_checks(false) {
        let attribute = attribute.map_err(|error| ImportError::Xml { at_byte, source: error.into() })?;
        if attributes.len() >= ATTRIBUTES_MAX {
            return Err(ImportError::XmlSize { what: "many attributes", limit: ATTRIBUTES_MAX, at_byte });
        }
        let value = match attribute.normalized_value(XmlVersion::Implicit1_0) {
            Ok(value) => value.into_owned(),
            // With a reference that nobody defined the words as they stand are better than none.
            Err(_) => attribute.value.to_string(),
        };
        attributes.push((attribute.key.into_inner().to_owned(), value));
    }
    Ok(Element { name: name.to_owned(), attributes, children: Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root(text: &str) -> Result<Result<Element, String>, ImportError> {
        let mut xml = Xml::new(text.as_bytes());
        loop {
            match xml.step()? {
                Step::Start(element) => {
                    let whole = xml.whole(element);
                    assert!(whole.is_err() || matches!(xml.step()?, Step::Eof), "something follows");
                    return whole;
                }
                Step::Eof => panic!("no element"),
                Step::Text(_) | Step::Undefined(_) | Step::End => {}
            }
        }
    }

    #[test]
    fn text_is_gathered_across_tags_references_and_cdata() {
        let element = root("<?xml version='1.0'?><a x='1 &lt; 2'>A <i>b</i>&#946;\n &amp; <![CDATA[<c>]]><d/></a>")
            .unwrap()
            .unwrap();
        assert_eq!(element.text().unwrap(), "A bβ & <c>");
        assert_eq!(element.attribute("x"), Some("1 < 2"));
        assert_eq!(element.elements().count(), 2);
    }

    #[test]
    fn names_lose_their_prefix() {
        assert_eq!(root("<m:a><m:b>x</m:b></m:a>").unwrap().unwrap().text_at(&["b"]).unwrap(), "x");
    }

    #[test]
    fn entity_definitions_are_refused_and_a_plain_document_type_is_not() {
        let bomb = "<!DOCTYPE a [<!ENTITY x 'y'><!ENTITY z '&x;&x;'>]><a>&z;</a>";
        assert!(matches!(root(bomb), Err(ImportError::EntityDefinitions)));
        assert!(root("<!DOCTYPE a PUBLIC 'p' 'http://d.example/a.dtd'><a/>").unwrap().is_ok());
    }

    #[test]
    fn an_undefined_entity_spoils_its_record_only() {
        assert_eq!(root("<a><b>&nbsp;</b></a>").unwrap().unwrap_err(), "the entity `&nbsp;` is not defined");
    }

    #[test]
    fn deep_nesting_many_attributes_and_long_names_end_the_stream() {
        let deep = "<a>".repeat(101);
        assert!(matches!(root(&deep), Err(ImportError::XmlDepth { .. })));
        let wide = format!("<a {}/>", (0..101).map(|n| format!("x{n}='1' ")).collect::<String>());
        assert!(matches!(root(&wide), Err(ImportError::XmlSize { .. })));
        let long = format!("<{}/>", "a".repeat(201));
        assert!(matches!(root(&long), Err(ImportError::XmlSize { .. })));
    }

    #[test]
    fn a_record_with_too_many_elements_is_not_kept() {
        let text = format!("<a>{}</a>", "<b/>".repeat(RECORD_ELEMENTS_MAX));
        assert!(root(&text).unwrap().unwrap_err().contains("elements"));
    }

    #[test]
    fn truncation_other_encodings_and_crossed_tags_are_told() {
        assert!(matches!(root("<a><b>x"), Err(ImportError::XmlTruncated(name)) if name == "b"));
        assert!(matches!(root("<?xml version='1.0' encoding='latin1'?><a/>"), Err(ImportError::Encoding(_))));
        assert!(matches!(root("<a><b></a></b>"), Err(ImportError::Xml { .. })));
        assert!(Xml::new(&b"only words"[..]).step().is_ok());
    }
}
