//! Names, titles and labels in one line, as people read them.

use std::collections::HashSet;

use contract::evidence::record::{Author, Document, Name, Node, Record};
use serde_json::Value;

use super::paper::BODY;
use crate::record::{disguised, is_seen, is_tag, turns};

/// The record with its names and labels cleaned; a name of which nothing can be seen is dropped.
pub fn clean(record: &mut Record) {
    match record {
        Record::Source(source) => source.title = line(&source.title),
        Record::Node(node) => clean_node(node),
        Record::Edge(edge) => edge.predicate = line(&edge.predicate),
        Record::Document(document) => clean_document(document),
        Record::Deletion(_) => {}
    }
}

fn clean_node(node: &mut Node) {
    node.categories.iter_mut().for_each(|category| *category = line(category));
    node.categories.retain(|category| is_seen(category));
    if node.categories.is_empty() {
        node.categories.push("named_thing".to_owned());
    }
    let mut known = HashSet::new();
    node.names.retain_mut(|name| {
        name.text = line(&name.text);
        is_seen(&name.text) && known.insert((name.text.clone(), name.lang.clone()))
    });
    // A name with a letter that passes for another would be refused, and the node with it.
    if node.names.iter().any(|name| disguised(&name.text).is_none()) {
        node.names.retain(|name| disguised(&name.text).is_none());
    }
    node.description.iter_mut().for_each(untag);
    // Every node has a name; one without is called by its id.
    if node.names.is_empty() {
        node.names.push(Name { text: node.id.clone(), lang: "und".to_owned() });
    }
}

fn clean_document(document: &mut Document) {
    untag(&mut document.text);
    if let Some(Value::String(body)) = document.attributes.get_mut(BODY) {
        untag(body);
    }
    document.title = seen(&document.title).unwrap_or_default();
    document.journal = document.journal.as_deref().and_then(seen);
    let part = |part: &Option<String>| part.as_deref().and_then(seen);
    let author = |author: &Author| {
        Some(Author { last: seen(&author.last)?, fore: part(&author.fore), initials: part(&author.initials) })
    };
    document.authors = document.authors.iter().filter_map(author).collect();
}

fn seen(text: &str) -> Option<String> {
    Some(line(text)).filter(|text| is_seen(text))
}

/// Without NUL, tag letters and what turns the direction of writing; other control characters and breaks, with the blanks around them, are one blank.
fn line(text: &str) -> String {
    let text: String = text.chars().filter(|it| !turns(*it) && !is_tag(*it)).collect();
    let is_break = |character: char| character.is_control() || matches!(character, '\u{2028}' | '\u{2029}');
    if !text.contains(is_break) {
        return text.trim().to_owned();
    }
    let text = text.replace('\0', "");
    text.split(is_break).map(str::trim).filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Without letters that nobody sees and a model reads.
fn untag(text: &mut String) {
    if text.contains(is_tag) {
        text.retain(|it| !is_tag(it));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn check(record: Value, expected: Value) {
        let mut record: Record = serde_json::from_value(record).unwrap();
        clean(&mut record);
        assert_eq!(serde_json::to_value(record).unwrap(), expected);
    }

    #[test]
    fn names_are_one_line_and_what_cannot_be_seen_is_dropped() {
        let name = |text: &str| json!({ "text": text, "lang": "en" });
        let node = |categories: Value, names: Value| json!({"record": "node", "id": "X:1", "categories": categories, "names": names, "source": "s"});
        check(
            node(
                json!(["dr\u{0}ug\u{7}"]),
                json!([
                    name("gin\u{0}ger \r\n root"),
                    name("\u{200b}\u{feff}"),
                    name("ginger\u{1}root"),
                    name("a\u{200d}b"),
                    name("\u{3164}\u{2800}"),
                    name("gіnger"),
                    name("root\u{e0041}")
                ]),
            ),
            node(json!(["drug"]), json!([name("ginger root"), name("a\u{200d}b"), name("root")])),
        );
        check(
            node(json!(["drug"]), json!([name("\u{0}\u{200b}")])),
            node(json!(["drug"]), json!([{ "text": "X:1", "lang": "und" }])),
        );
    }

    #[test]
    fn letters_that_nobody_sees_are_no_text() {
        let document = |title: &str, text: &str| json!({"record": "document", "id": "X:1", "kind": "paper", "title": title, "text": text, "lang": "en", "source": "s"});
        check(document("Gin\u{e0041}ger", "Safe.\u{e0069}\u{e0067}\nTea."), document("Ginger", "Safe.\nTea."));
    }

    #[test]
    fn titles_journals_and_authors_are_one_line() {
        let document = |title: &str, journal: Option<&str>, authors: Value| {
            let mut members = json!({"record": "document", "id": "X:1", "kind": "paper", "title": title, "text": "a\nb",
                "lang": "en", "authors": authors, "source": "s"});
            members.as_object_mut().unwrap().extend(journal.map(|journal| ("journal".to_owned(), json!(journal))));
            members
        };
        check(
            document(
                "A\u{2028}title\t of\u{0} two",
                Some("\u{2060}"),
                json!([{"last": "Al\npha", "initials": "\u{1}"}, {"last": "\u{200b}"}]),
            ),
            document("A title of two", None, json!([{ "last": "Al pha" }])),
        );
    }
}
