//! The names of documents without an id.

use super::{MetadataError, shown, wrong};
use crate::catalogue::{Catalogue, DocumentType};
use crate::markdown::Document;

const FILE_STEM_CHARS_MAX: usize = 120;

/// The type and file name of a document without an id: from the name that was given, else from its first heading.
pub(super) fn find_file_stem<'c>(
    catalogue: &'c Catalogue,
    document: &Document<'_>,
    file_name: Option<&str>,
) -> Result<(&'c DocumentType, String), MetadataError> {
    let idless = || catalogue.types().iter().filter_map(|kind| Some((kind, kind.file_suffix.as_deref()?)));
    let missing =
        || MetadataError::Missing { field: "artifact_id", expected: "a line such as `**PRD ID:** PRD-006`".into() };
    let suffixes = || idless().map(|(_, suffix)| format!("_{suffix}")).collect::<Vec<_>>().join(", ");
    if let Some(name) = file_name {
        if name.contains(['/', '\\', '%', '\0']) || name.contains("..") {
            return Err(MetadataError::Traversal { field: "file_name", received: shown(name) });
        }
        let stem = name.strip_suffix(".md").unwrap_or(name);
        let is_plain = stem.starts_with(|c: char| c.is_ascii_alphanumeric())
            && stem.len() <= FILE_STEM_CHARS_MAX
            && stem.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        let kind = idless().find(|(_, suffix)| stem.len() > suffix.len() + 1 && stem.ends_with(&format!("_{suffix}")));
        return match kind {
            Some((kind, _)) if is_plain => Ok((kind, stem.to_owned())),
            Some(_) | None => {
                let expected = format!(
                    "Latin letters (a to z, A to Z), digits, `_` and `-`, at most {FILE_STEM_CHARS_MAX} characters, \
                     ending in one of {}",
                    suffixes()
                );
                Err(wrong("file_name", name, expected))
            }
        };
    }
    let title = document.title().map(|heading| heading.title).ok_or_else(missing)?;
    let lower = title.to_lowercase();
    let Some((kind, suffix)) = idless().find(|(kind, _)| lower.contains(&kind.title.to_lowercase())) else {
        // A title in another writing tells neither the type nor a file name.
        return Err(match title.contains(|c: char| c.is_ascii_alphabetic()) {
            true => missing(),
            false => wrong(
                "file_name",
                title,
                format!(
                    "a file name in Latin letters that ends in one of {}, since none can be made from this title; \
                     or, for a document with an id, a line such as `**PRD ID:** PRD-006`",
                    suffixes()
                ),
            ),
        });
    };
    let product = match document.field("Product") {
        Some(field) => field.value.to_owned(),
        // The heading is `Product Business Research`, in either order and with any dash between.
        None => without(title, &kind.title),
    };
    let words: Vec<&str> =
        product.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let stem = format!("{}_{suffix}", words.join("_"));
    if words.is_empty() {
        let expected = "a file name, since the title has no letters from a to z and no digits to make one of";
        return Err(wrong("file_name", title, expected));
    }
    if stem.len() > FILE_STEM_CHARS_MAX {
        let expected = format!("a file name, since the title makes one of more than {FILE_STEM_CHARS_MAX} characters");
        return Err(wrong("file_name", title, expected));
    }
    Ok((kind, stem))
}

/// `text` without the first occurrence of `part`, whatever the case.
fn without(text: &str, part: &str) -> String {
    let starts = text.char_indices().map(|(index, _)| index);
    let found = starts
        .into_iter()
        .find(|start| text.get(*start..*start + part.len()).is_some_and(|slice| slice.eq_ignore_ascii_case(part)));
    match found.and_then(|start| Some((text.get(..start)?, text.get(start + part.len()..)?))) {
        Some((before, after)) => format!("{before} {after}"),
        None => text.to_owned(),
    }
}
