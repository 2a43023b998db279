//! Placeholders that no id can be given to: of a type that the document is not cut into, or a second one where it is cut
//! into one.

use super::{Token, find};
use crate::catalogue::{Catalogue, Decomposition, DocumentType, Numbering};

fn prefix<'c>(catalogue: &'c Catalogue, child: &Decomposition) -> Option<&'c str> {
    catalogue.find_type(&child.artifact_type)?.prefix.as_deref()
}

/// The first placeholder of a type that documents of this one are not cut into.
pub fn find_foreign<'a>(catalogue: &Catalogue, kind: &DocumentType, text: &'a str) -> Option<Token<'a>> {
    let is_child =
        |token: &Token<'_>| kind.decomposes_into.iter().any(|child| prefix(catalogue, child) == Some(token.prefix));
    find(catalogue, text).into_iter().find(|token| !is_child(token))
}

/// The first placeholder beside another one, of a type that there is one document of.
pub fn find_second<'a>(catalogue: &Catalogue, kind: &DocumentType, text: &'a str) -> Option<Token<'a>> {
    let found = find(catalogue, text);
    let alone = kind.decomposes_into.iter().filter(|child| child.numbering == Numbering::SameNumber);
    alone
        .filter_map(|child| prefix(catalogue, child))
        .find_map(|prefix| found.iter().filter(|token| token.prefix == prefix).nth(1).copied())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_placeholder_that_gets_no_id_is_named_with_its_line() {
        let catalogue = Catalogue::built_in().unwrap();
        let epic = catalogue.find_type("epic").unwrap();
        let named = |token: Option<Token<'_>>| token.map(|token| (token.text.to_owned(), token.line));
        assert_eq!(named(find_foreign(&catalogue, epic, "PRD-AAA\nUS-AAA")), Some(("US-AAA".to_owned(), 2)));
        assert_eq!(named(find_foreign(&catalogue, epic, "PRD-AAA PRD-BBB")), None);
        assert_eq!(named(find_second(&catalogue, epic, "PRD-AAA\nPRD-AAA\nPRD-BBB")), Some(("PRD-BBB".to_owned(), 3)));
        let prd = catalogue.find_type("prd").unwrap();
        assert_eq!(named(find_second(&catalogue, prd, "HLS-AAA HLS-BBB")), None);
    }
}
