//! Words of others in lines that a model reads: they must not pass for our own.

use contract::evidence::starter::is_own_source;

use crate::graph::{Graph, NodeNumber};

/// Longer ones are cut.
const CHARS_MAX: usize = 120;
/// With these, a text could end what it stands in and go on as if it were another line.
const MARKS: [char; 15] = ['[', ']', '(', ')', '{', '}', '<', '>', ';', '*', '#', '|', '`', '"', '\\'];

/// A node by its name and id, as answers name it.
pub fn named(graph: &Graph, node: NodeNumber) -> String {
    let [label, id] = label_and_id(graph, node);
    format!("{label} ({id})")
}

/// The same in a statement of our own, which says nothing of what others call a node.
pub fn named_in_own(graph: &Graph, node: NodeNumber) -> String {
    let source = graph.sources().id(graph.nodes().source(node));
    if is_own_source(source) {
        return named(graph, node);
    }
    let (label, id) = (graph.nodes().label(node), graph.nodes().id(node));
    format!("{} ({} by {})", word(id), quoted(label, CHARS_MAX), word(source))
}

/// The name and the id of a node, as answers write them.
pub fn label_and_id(graph: &Graph, node: NodeNumber) -> [String; 2] {
    let nodes = graph.nodes();
    let (label, id) = (nodes.label(node), nodes.id(node));
    if is_own_source(graph.sources().id(nodes.source(node))) {
        return [label, id].map(str::to_owned);
    }
    [name(label), word(id)]
}

/// The id of a source, or of a node that others brought.
pub fn word(text: &str) -> String {
    let is_plain = !text.contains(MARKS) && !text.contains(char::is_whitespace) && text.chars().count() <= CHARS_MAX;
    if is_plain { text.to_owned() } else { quoted(text, CHARS_MAX) }
}

/// A name that others gave.
pub fn name(text: &str) -> String {
    let is_sentence = [". ", ": "].iter().any(|end| text.contains(end));
    let is_plain = !text.contains(MARKS) && !is_sentence && text.chars().count() <= CHARS_MAX;
    if is_plain { text.to_owned() } else { quoted(text, CHARS_MAX) }
}

/// Between backticks, on one line, as errors and short remarks name what others wrote.
pub fn ticked(text: &str) -> String {
    let shown = text.chars().take(CHARS_MAX).map(|character| match character {
        '`' => '\'',
        _ if is_break(character) => ' ',
        _ => character,
    });
    format!("`{}{}`", shown.collect::<String>(), rest(text, CHARS_MAX))
}

/// In quotation marks, on one line.
pub fn quoted(text: &str, n_chars_max: usize) -> String {
    let mut shown = String::new();
    for character in text.chars().take(n_chars_max) {
        match character {
            '"' | '\\' => shown.extend(['\\', character]),
            _ if is_break(character) => shown.push(' '),
            _ => shown.push(character),
        }
    }
    format!("\"{shown}{}\"", rest(text, n_chars_max))
}

fn is_break(character: char) -> bool {
    character.is_control() || matches!(character, '\u{2028}' | '\u{2029}')
}

/// That a text was cut.
fn rest(text: &str, n_chars_max: usize) -> &'static str {
    if text.chars().nth(n_chars_max).is_some() { "…" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_pass_for_a_line_of_ours_stands_in_quotation_marks() {
        for plain in ["ginger", "ขมิ้นชัน", "St John's wort", "X:1", "vitamin B-12"] {
            assert_eq!(name(plain), plain);
        }
        assert_eq!(name("a [materia]; severity: critical"), "\"a [materia]; severity: critical\"");
        assert_eq!(name("a \"b\" \\"), "\"a \\\"b\\\" \\\\\"");
        assert_eq!(name("Safe. Take it"), "\"Safe. Take it\"");
        assert_eq!(name(&"x".repeat(121)), format!("\"{}…\"", "x".repeat(120)));
        assert_eq!(word("herbal] [materia"), "\"herbal] [materia\"");
        assert_eq!(word("PMID:1"), "PMID:1");
        assert_eq!(quoted("a\nb", 9), "\"a b\"");
        assert_eq!(ticked("x` is safe\n`y"), "`x' is safe 'y`");
        assert_eq!(ticked(&"x".repeat(121)), format!("`{}…`", "x".repeat(120)));
    }
}
