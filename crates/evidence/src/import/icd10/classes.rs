//! WHO's XML: classes of ClaML, and trees of `item`.

use std::collections::{BTreeMap, VecDeque};

use super::super::input::Input;
use super::super::xml::{Element, Step, Xml};
use super::super::{ImportError, Item, Parser, Progress};
use super::{Class, Codes, dotted};

pub struct Classes {
    xml: Xml<Input>,
    codes: Codes,
    /// Open elements `item`, the innermost last; their number is limited by the reader.
    items: Vec<Open>,
    /// Whether each open element is an `item`.
    open: Vec<bool>,
}

#[derive(Default)]
struct Open {
    kind: Option<String>,
    code: Option<String>,
    name: Option<String>,
    is_told: bool,
}

impl Classes {
    pub fn new(input: Input, source: String) -> Classes {
        Classes { xml: Xml::new(input), codes: Codes::new(source), items: Vec::new(), open: Vec::new() }
    }

    fn class(&mut self, class: &Element, out: &mut VecDeque<Item>) {
        let Some(code) = class.attribute("code") else {
            out.push_back(Item::rejected("a class", "it has no `code`"));
            return;
        };
        let preferred = class.all("Rubric").find(|rubric| rubric.attribute("kind") == Some("preferred"));
        let Some(name) = preferred.and_then(|rubric| rubric.text_at(&["Label"])) else {
            out.push_back(Item::rejected(format!("class `{code}`"), "it has no preferred label"));
            return;
        };
        let parent = class.first("SuperClass").and_then(|parent| parent.attribute("code")).map(dotted);
        let class = Class {
            prefix: "ICD10",
            code: &dotted(code),
            name: &name,
            lang: "en",
            kind: class.attribute("kind"),
            parent,
            same_as: Vec::new(),
            attributes: BTreeMap::new(),
        };
        self.codes.push(class, out);
    }

    /// Tells of the innermost `item` once its name is complete: where a child begins, or at its end.
    fn tell(&mut self, out: &mut VecDeque<Item>) {
        let told = |item: &&Open| item.is_told;
        let parent = self.items.iter().rev().skip(1).find(told).and_then(|item| item.code.clone());
        let Some(item) = self.items.last_mut().filter(|item| !item.is_told) else { return };
        let (Some(code), Some(name)) = (&item.code, &item.name) else { return };
        item.is_told = true;
        let class = Class {
            prefix: "ICD10",
            code,
            name,
            lang: "en",
            kind: item.kind.as_deref(),
            parent,
            same_as: Vec::new(),
            attributes: BTreeMap::new(),
        };
        self.codes.push(class, out);
    }

    fn end(&mut self, out: &mut VecDeque<Item>) {
        if self.open.pop() != Some(true) {
            return;
        }
        self.tell(out);
        if let Some(item) = self.items.pop().filter(|item| !item.is_told) {
            let what = item.code.map_or_else(|| "an item".to_owned(), |code| format!("item `{code}`"));
            out.push_back(Item::rejected(what, "it lacks `name` or `description`"));
        }
    }
}

impl Parser for Classes {
    fn advance(&mut self, out: &mut VecDeque<Item>) -> Result<Progress, ImportError> {
        let element = match self.xml.step()? {
            Step::Start(element) => element,
            Step::End => {
                self.end(out);
                return Ok(Progress::More);
            }
            Step::Eof => return Ok(Progress::Ended),
            Step::Text(_) | Step::Undefined(_) => return Ok(Progress::More),
        };
        match element.name.as_str() {
            "Class" => match self.xml.whole(element)? {
                Ok(class) => self.class(&class, out),
                Err(reason) => out.push_back(Item::rejected("a class", reason)),
            },
            "item" => {
                self.tell(out);
                let kind = element.attribute("type").map(str::to_owned);
                self.items.push(Open { kind, ..Open::default() });
                self.open.push(true);
            }
            "name" | "description" if !self.items.is_empty() => {
                let is_code = element.name == "name";
                let text = self.xml.whole(element)?.ok().and_then(|element| element.text());
                if let Some(item) = self.items.last_mut() {
                    if is_code {
                        item.code = text.map(|code| dotted(&code));
                    } else {
                        item.name = text;
                    }
                }
            }
            _ => self.open.push(false),
        }
        Ok(Progress::More)
    }
}
