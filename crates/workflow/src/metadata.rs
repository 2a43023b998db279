//! What a document says of itself: id, type, version, status, parent, title, and the research behind it.
//!
//! Any id or parent label is accepted on any type; values may carry quotes, emphasis, links and suffixes such as
//! `Draft (v3)`.

mod file_stem;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use contract::character;
use contract::workflow::artifacts::CONTENT_CHARS_MIN;

use crate::address::is_traversal;
use crate::catalogue::{Catalogue, DocumentType};
use crate::ids::find_canonical;
use crate::markdown::{Document, Field, as_read};
use crate::placeholders::{Kind, tokens};
use file_stem::find_file_stem;

pub const VERSION_MAX: u32 = 999;
/// The highest that a document may begin with here.
pub const FIRST_VERSION_MAX: u32 = 99;
const TITLE_CHARS: std::ops::RangeInclusive<usize> = 5..=200;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MetadataError {
    /// The words of seed 001; the details say which field.
    #[error("Missing required metadata field")]
    Missing { field: &'static str, expected: String },
    #[error("`{field}`: expected {expected}")]
    Wrong { field: &'static str, received: String, expected: String },
    #[error("Resource name contains path traversal")]
    Traversal { field: &'static str, received: String },
    #[error("`{field}`: expected one value; line {} says `{}` and line {} says `{}`", .first.0, .first.1, .second.0, .second.1)]
    Contradiction { field: &'static str, first: (usize, String), second: (usize, String) },
}

/// The document's key in its project: its id, or its file name where it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Extracted {
    pub key: String,
    pub has_id: bool,
    pub artifact_type: String,
    pub version: u32,
    pub status: String,
    pub parent_id: Option<String>,
    pub title: String,
}

/// Reads the metadata of a document that is to be stored.
pub fn extract(catalogue: &Catalogue, text: &str, file_name: Option<&str>) -> Result<Extracted, MetadataError> {
    let n_chars = text.chars().count();
    if n_chars < CONTENT_CHARS_MIN {
        return Err(MetadataError::Wrong {
            field: "artifact_content",
            received: format!("<{n_chars} characters>"),
            expected: format!("at least {CONTENT_CHARS_MIN} characters"),
        });
    }
    check_line_ends(text)?;
    let document = Document::parse(text);
    let (kind, key) = match find_id(catalogue, &document)? {
        Some(id) => (type_of(catalogue, &id)?, id),
        None => find_file_stem(catalogue, &document, file_name)?,
    };
    Ok(Extracted {
        has_id: kind.prefix.is_some(),
        artifact_type: kind.name.clone(),
        version: version(&document)?,
        status: find_status(kind, &document)?,
        parent_id: find_parent(catalogue, kind, &document)?,
        title: find_title(&document, kind)?,
        key,
    })
}

/// Refuses a carriage return that no newline follows: everything here reads one line where other programs show two, so
/// that a person approves another document than was checked. It is not mended, as every byte of a document is kept.
pub fn check_line_ends(text: &str) -> Result<(), MetadataError> {
    let mut bare = text.match_indices('\r').filter(|(at, _)| !text.get(*at..).is_some_and(|it| it.starts_with("\r\n")));
    let Some((first, _)) = bare.next() else { return Ok(()) };
    let n_bare = 1 + bare.count();
    let is_line_end = n_bare > text.matches('\n').count();
    let line = 1 + text.get(..first).unwrap_or_default().matches('\n').count();
    let problem = match is_line_end {
        true => {
            "this document's end with CR alone, so that all of it is one line: save it with other line ends".to_owned()
        }
        false => format!(
            "line {line} has a CR without LF, which other programs show as the end of a line: put LF or CR LF in its \
             place, or take it out"
        ),
    };
    Err(MetadataError::Wrong {
        field: "artifact_content",
        received: format!("<{n_bare} CR without LF, the first in line {line}>"),
        expected: format!("lines that end with LF or CR LF; {problem}"),
    })
}

fn wrong(field: &'static str, received: &str, expected: impl Into<String>) -> MetadataError {
    MetadataError::Wrong { field, received: shown(received), expected: expected.into() }
}

/// As much of a value as a message repeats.
fn shown(value: &str) -> String {
    value.chars().take(80).collect()
}

/// Who says two things says nothing: each later line must agree with the first.
fn check_agreement<'a, T: PartialEq>(
    field: &'static str,
    said: impl IntoIterator<Item = (Field<'a>, T)>,
) -> Result<Option<T>, MetadataError> {
    let mut said = said.into_iter();
    let Some((first, value)) = said.next() else { return Ok(None) };
    match said.find(|(_, other)| *other != value) {
        None => Ok(Some(value)),
        Some((second, _)) => Err(MetadataError::Contradiction {
            field,
            first: (first.line, shown(first.value)),
            second: (second.line, shown(second.value)),
        }),
    }
}

/// The id that a value begins with: `[PRD-006](x.md) (approved)` is `PRD-006`. What comes before an id may deny it.
pub fn leading_id<'a>(catalogue: &Catalogue, value: &'a str) -> Option<&'a str> {
    let value = value.trim_start_matches(|c: char| c.is_whitespace() || is_quote(c) || c == '[');
    let first = tokens(catalogue, value).into_iter().next()?;
    (first.start == 0 && first.kind() == Kind::Final).then_some(first.text)
}

fn type_of<'c>(catalogue: &'c Catalogue, id: &str) -> Result<&'c DocumentType, MetadataError> {
    let expected = || format!("an id such as `PRD-006`, of one of {}", catalogue.prefixes());
    catalogue.type_of_id(id).ok_or_else(|| wrong("artifact_id", id, expected()))
}

/// The value of the first id label of any type; else the id at the beginning of the first heading.
pub fn find_id(catalogue: &Catalogue, document: &Document<'_>) -> Result<Option<String>, MetadataError> {
    let is_id_label = |field: &Field<'_>| {
        let known = catalogue.types().iter().flat_map(|kind| &kind.id_labels);
        let general = ["ID", "Artifact ID", "Document ID"].into_iter();
        known.map(String::as_str).chain(general).any(|it| field.is_called(it))
    };
    let labelled = document.fields().iter().filter(|field| is_id_label(field) && !is_none(field.value));
    let mut said = Vec::new();
    for field in labelled.copied() {
        said.push((field, named_id(catalogue, "artifact_id", field, "PRD-006")?));
    }
    let has_label = !said.is_empty();
    if let Some(heading) = document.title() {
        let field = Field { label: "", value: heading.title, line: heading.line };
        let first = || tokens(catalogue, heading.title).into_iter().next();
        // Beside a label only an id that begins the heading counts: a title may speak of other documents.
        let id = match has_label {
            true => heading_id(catalogue, heading.title),
            false => first().filter(|token| token.kind() == Kind::Final).map(|token| token.text),
        };
        if let Some(id) = id {
            if goes_on_as_path(heading.title, id) {
                return Err(MetadataError::Traversal { field: "artifact_id", received: shown(heading.title) });
            }
            said.push((field, id.to_owned()));
        }
    }
    check_agreement("artifact_id", said)
}

/// The id that a heading begins with, the name of its type before it or not.
fn heading_id<'a>(catalogue: &Catalogue, heading: &'a str) -> Option<&'a str> {
    let mut after_names = catalogue.types().iter().filter_map(|kind| {
        let (start, rest) = heading.split_at_checked(kind.title.len())?;
        start.eq_ignore_ascii_case(&kind.title).then(|| rest.trim_start_matches([' ', ':', '–', '—']))
    });
    leading_id(catalogue, heading).or_else(|| after_names.find_map(|rest| leading_id(catalogue, rest)))
}

/// The id that a field begins with.
fn named_id(
    catalogue: &Catalogue,
    name: &'static str,
    field: Field<'_>,
    example: &str,
) -> Result<String, MetadataError> {
    match leading_id(catalogue, field.value) {
        Some(id) if goes_on_as_path(field.value, id) => {
            Err(MetadataError::Traversal { field: name, received: shown(field.value) })
        }
        Some(id) if names_another(catalogue, field.value, id) || goes_on(catalogue, field.value, id) => {
            Err(wrong(name, field.value, format!("one id in line {}", field.line)))
        }
        Some(id) => Ok(id.to_owned()),
        None if field.value.contains("..") => {
            Err(MetadataError::Traversal { field: name, received: shown(field.value) })
        }
        None => Err(wrong(name, field.value, expected_id(catalogue, field, example))),
    }
}

/// Whether an id is the beginning of a path that leads elsewhere: `PRD-006/../../x`. A link beside it is none.
fn goes_on_as_path(value: &str, id: &str) -> bool {
    let rest = value.split_once(id).map_or("", |(_, rest)| rest);
    let word = rest.split(char::is_whitespace).next().unwrap_or_default();
    rest.starts_with(['\\', '%'])
        || rest.starts_with("..")
        || (rest.starts_with('/') && is_traversal(&format!("x{word}")))
}

/// Whether an id is the beginning of a longer name: `PRD-006/x`. Another id after a slash (`PRD-006/EPIC-006`) is none.
fn goes_on(catalogue: &Catalogue, value: &str, id: &str) -> bool {
    let after = value.split_once(id).and_then(|(_, rest)| rest.strip_prefix('/'));
    after.is_some_and(|after| !after.trim().is_empty() && leading_id(catalogue, after).is_none())
}

/// Whether a value goes on with another document of the same type. What stands in parentheses is a remark.
fn names_another(catalogue: &Catalogue, value: &str, id: &str) -> bool {
    let prefix = id.split('-').next();
    let said = value.split(" (").next().unwrap_or_default();
    let others = tokens(catalogue, said).into_iter().filter(|token| token.kind() == Kind::Final);
    others.into_iter().any(|token| Some(token.prefix) == prefix && token.text != id)
}

/// What a field should say that is to name a document.
fn expected_id(catalogue: &Catalogue, field: Field<'_>, example: &str) -> String {
    let first = tokens(catalogue, field.value).into_iter().next();
    match first.and_then(|token| find_canonical(token.text)) {
        Some(id) => format!("`{id}`, without the zeros it does not need, in line {}", field.line),
        None if has_long_number(catalogue, field.value) => {
            format!("an id of at most nine digits such as `{example}` in line {}", field.line)
        }
        None => format!("an id such as `{example}` in line {}", field.line),
    }
}

/// Whether a value would be an id but for the length of its number.
fn has_long_number(catalogue: &Catalogue, value: &str) -> bool {
    let mut words = value.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    words.any(|word| {
        word.split_once('-').is_some_and(|(prefix, digits)| {
            digits.len() > 9
                && digits.bytes().all(|byte| byte.is_ascii_digit())
                && catalogue.types().iter().any(|kind| kind.prefix.as_deref() == Some(prefix))
        })
    })
}

/// From the field `Version`, else from a suffix of the status, else 1.
pub fn version(document: &Document<'_>) -> Result<u32, MetadataError> {
    let mut said = Vec::new();
    for field in document.fields_of("Version").filter(|field| !is_none(field.value)) {
        said.push((field, parse_version(field.value, field.line)?));
    }
    if let Some(version) = check_agreement("Version", said)? {
        return Ok(version);
    }
    let suffix = document.field("Status").and_then(|field| Some((field.value.split_once(['(', '['])?.1, field.line)));
    match suffix.filter(|(after, _)| after.trim_start().starts_with(['v', 'V'])) {
        Some((after, line)) => parse_version(after.trim_start(), line),
        None => Ok(1),
    }
}

/// `2`, `v2`, `2.0`, `2 (draft)`. A version between two others is none.
fn parse_version(text: &str, line: usize) -> Result<u32, MetadataError> {
    let digits = text.trim_start_matches(|c: char| !c.is_ascii_digit());
    // `v`, `Version` or a word before the number change nothing; a sign does.
    let before = text.strip_suffix(digits).unwrap_or_default();
    let is_plain = before.chars().all(|c| c.is_alphabetic() || c.is_whitespace() || is_quote(c) || ".:#[".contains(c));
    let end = digits.find(|c: char| !c.is_ascii_digit()).unwrap_or(digits.len());
    let (digits, rest) = digits.split_at_checked(end).unwrap_or_default();
    let parts = rest.split(|c: char| c != '.' && !c.is_ascii_digit()).next().unwrap_or_default();
    let is_whole = parts.bytes().all(|byte| byte == b'.' || byte == b'0');
    match digits.parse() {
        Ok(version @ 1..=VERSION_MAX) if is_whole && is_plain => Ok(version),
        Ok(_) | Err(_) => Err(wrong("Version", text, format!("a whole number from 1 to {VERSION_MAX} in line {line}"))),
    }
}

/// The one status that a document names.
pub fn find_status(kind: &DocumentType, document: &Document<'_>) -> Result<String, MetadataError> {
    let mut fields = document.fields_of("Status").filter(|field| !bare(field.value).is_empty());
    let first = fields.next();
    if let (Some(first), Some(second)) = (first, fields.next()) {
        // Also where both say the same: an approval changes one of them.
        let said = |field: Field<'_>| (field.line, shown(field.value));
        return Err(MetadataError::Contradiction { field: "Status", first: said(first), second: said(second) });
    }
    let Some(field) = first else {
        // Research is stored when it is finished; what has an id says where it stands.
        return match kind.prefix {
            None => Ok(kind.approved_status().to_owned()),
            Some(_) => Err(MetadataError::Missing { field: "Status", expected: one_of(&kind.statuses) }),
        };
    };
    match status_of(kind, field.value) {
        Some(status) => Ok(status.to_owned()),
        None => Err(wrong("Status", field.value, format!("{} alone in line {}", one_of(&kind.statuses), field.line))),
    }
}

/// The status of the ladder that a value begins with: `Draft (v3)` is `Draft`. Who names two (`Draft → Approved`) names
/// none; what stands in parentheses is a remark.
pub fn status_of<'k>(kind: &'k DocumentType, value: &str) -> Option<&'k str> {
    let value = bare(value);
    let status = leading_status(kind, value)?;
    let rest = value.get(status.len()..)?.split(['(', '[']).next()?;
    let mut ends = rest.char_indices().filter(|(_, c)| !c.is_alphanumeric()).map(|(at, c)| at + c.len_utf8());
    let names_another = ends.any(|at| rest.get(at..).is_some_and(|rest| leading_status(kind, rest).is_some()));
    (!names_another).then_some(status)
}

fn leading_status<'k>(kind: &'k DocumentType, value: &str) -> Option<&'k str> {
    let fits = |status: &&String| {
        value.get(..status.len()).is_some_and(|start| start.eq_ignore_ascii_case(status))
            && !value.get(status.len()..).is_some_and(|rest| rest.starts_with(char::is_alphanumeric))
    };
    // The longest first: one status may begin another.
    kind.statuses.iter().filter(fits).max_by_key(|status| status.len()).map(String::as_str)
}

fn one_of(words: &[String]) -> String {
    format!("one of {}", words.join(", "))
}

/// The field that names the parent: the type's own labels in their order, else the first that begins with `Parent`.
pub fn parent_field<'a>(kind: &DocumentType, document: &Document<'a>) -> Option<Field<'a>> {
    let given = |field: &Field<'a>| !is_none(field.value);
    let own = kind.parent_labels.iter().find_map(|label| document.field(label).filter(given));
    own.or_else(|| document.fields().iter().find(|field| is_parent_field(field)).copied())
}

fn is_parent_field(field: &Field<'_>) -> bool {
    let label = as_read(field.label);
    label.get(..6).is_some_and(|start| start.eq_ignore_ascii_case("parent")) && !is_none(field.value)
}

/// The id of the parent, where the document names one and no other beside it.
pub fn find_parent(
    catalogue: &Catalogue,
    kind: &DocumentType,
    document: &Document<'_>,
) -> Result<Option<String>, MetadataError> {
    let Some(field) = parent_field(kind, document) else { return Ok(None) };
    let parent_id = named_id(catalogue, "parent_id", field, "EPIC-006")?;
    // A document may name its grandparent too; two of one type contradict each other.
    let prefix = |id: &str| id.split('-').next().map(str::to_owned);
    let others = document.fields().iter().copied().filter(is_parent_field);
    let others = others.filter_map(|field| Some((field, leading_id(catalogue, field.value)?.to_owned())));
    let same_type = others.filter(|(_, id)| prefix(id) == prefix(&parent_id));
    check_agreement("parent_id", [(field, parent_id.clone())].into_iter().chain(same_type))
}

/// The parents that the labels of the type name, each with its line: the nearest one, which [`find_parent`] finds, first.
pub fn own_parents(catalogue: &Catalogue, kind: &DocumentType, document: &Document<'_>) -> Vec<(String, usize)> {
    let others = kind.parent_labels.iter().flat_map(|label| document.fields_of(label));
    let mut found: Vec<(String, usize)> = Vec::new();
    for field in parent_field(kind, document).into_iter().chain(others) {
        let id = leading_id(catalogue, field.value).filter(|id| found.iter().all(|(known, _)| known != id));
        found.extend(id.map(|id| (id.to_owned(), field.line)));
    }
    found
}

/// Every document that the metadata name as a parent: a story may name the requirements and the epic above them.
pub fn find_parents(catalogue: &Catalogue, document: &Document<'_>) -> BTreeSet<String> {
    let fields = document.fields().iter().filter(|field| is_parent_field(field));
    fields.filter_map(|field| leading_id(catalogue, field.value)).map(str::to_owned).collect()
}

/// The field `Title`; else the first heading without the id and the name of the type.
pub fn find_title(document: &Document<'_>, kind: &DocumentType) -> Result<String, MetadataError> {
    let (title, line) = match document.field("Title").filter(|field| !bare(field.value).is_empty()) {
        Some(field) => (bare(field.value).to_owned(), field.line),
        None => {
            let missing = || MetadataError::Missing { field: "title", expected: "a first heading".into() };
            let heading = document.title().ok_or_else(missing)?;
            (heading_title(heading.title, kind), heading.line)
        }
    };
    let title: String = title.chars().filter(|c| !is_invisible(*c)).collect();
    if TITLE_CHARS.contains(&title.chars().count()) {
        return Ok(title);
    }
    Err(wrong("title", &title, format!("{} to {} characters in line {line}", TITLE_CHARS.start(), TITLE_CHARS.end())))
}

fn heading_title(heading: &str, kind: &DocumentType) -> String {
    let separators = |c: char| c.is_whitespace() || [':', '-', '–', '—', '|'].contains(&c);
    let mut rest = heading.trim();
    for _ in 0..2 {
        let id =
            kind.prefix.as_deref().and_then(|prefix| rest.strip_prefix(prefix)).and_then(|rest| rest.strip_prefix('-'));
        let after_id = id.map(|rest| rest.trim_start_matches(|c: char| c.is_ascii_alphanumeric()));
        let short = kind.prefix.as_deref().and_then(|prefix| rest.strip_prefix(prefix));
        let names = [Some(kind.title.as_str()), kind.prefix.as_deref()];
        let after_name = names.into_iter().flatten().find_map(|name| {
            rest.get(..name.len()).filter(|start| start.eq_ignore_ascii_case(name)).and(rest.get(name.len()..))
        });
        let next = after_id.or_else(|| short.or(after_name).filter(|next| next.starts_with([':', ' ', '–', '—'])));
        match next.map(|next| next.trim_start_matches(separators)) {
            Some(next) if !next.is_empty() => rest = next,
            Some(_) | None => break,
        }
    }
    bare(rest).to_owned()
}

/// A value without quotes, emphasis and code marks around it.
fn bare(value: &str) -> &str {
    value.trim_matches(|c: char| c.is_whitespace() || is_quote(c))
}

fn is_quote(c: char) -> bool {
    ['"', '“', '”', '\'', '*', '_', '`'].contains(&c)
}

/// Nothing, in one of the ways people write it.
fn is_none(value: &str) -> bool {
    let value = bare(value).to_ascii_lowercase();
    ["", "none", "n/a", "na", "-", "–", "—", "tbd", "null"].contains(&value.as_str())
}

/// Control characters, and those that nobody sees.
pub fn is_invisible(c: char) -> bool {
    c.is_control() || character::is_invisible(c)
}

/// A research document that the metadata names (`Informed By Business Research`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Research<'c> {
    pub artifact_type: &'c str,
    /// Its file name without the ending; `None` where the value names no such file.
    pub key: Option<String>,
    pub line: usize,
}

pub fn research<'c>(catalogue: &'c Catalogue, document: &Document<'_>) -> Vec<Research<'c>> {
    let mut found = Vec::new();
    for field in document.fields().iter().filter(|field| !is_none(field.value)) {
        let label = as_read(field.label).to_lowercase();
        if !label.starts_with("informed by") {
            continue;
        }
        for kind in catalogue.types().iter().filter(|kind| label.contains(&kind.title.to_lowercase())) {
            let Some(suffix) = kind.file_suffix.as_deref() else { continue };
            let pieces = field.value.split(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c)));
            let stems = pieces.map(|piece| piece.trim_end_matches('.')).map(|it| it.strip_suffix(".md").unwrap_or(it));
            let key = stems.into_iter().find(|stem| stem.ends_with(suffix)).map(str::to_owned);
            found.push(Research { artifact_type: &kind.name, key, line: field.line });
        }
    }
    found
}

/// The same text with another status in its metadata. What follows the status (`(v3)`) stays.
pub fn with_status(kind: &DocumentType, text: &str, status: &str) -> String {
    let document = Document::parse(text);
    let Some(field) = document.field("Status") else { return text.to_owned() };
    let Some(old) = status_of(kind, field.value) else { return text.to_owned() };
    // The value is a slice of the text, so the distance between their beginnings is where it stands.
    let start = field.value.as_ptr().addr() - text.as_ptr().addr();
    let within = field.value.to_ascii_lowercase().find(&old.to_ascii_lowercase()).unwrap_or(0);
    match (text.get(..start + within), text.get(start + within + old.len()..)) {
        (Some(before), Some(after)) => format!("{before}{status}{after}"),
        (_, _) => text.to_owned(),
    }
}
