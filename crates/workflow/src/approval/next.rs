//! Which documents come next: what the placeholders of a document stand for.

use std::collections::BTreeSet;

use ::store::StoreError;

use super::ApprovalError;
use super::candidate::Candidate;
use crate::catalogue::{Catalogue, Decomposition, Numbering};
use crate::placeholders::{self, Defined, Kind, Token, Twice};

/// The documents of one type that come next.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Next {
    pub artifact_type: String,
    pub prefix: String,
    pub numbering: Numbering,
    /// In the order of their first appearance.
    pub placeholders: Vec<String>,
    /// Final ids of the type that the text names already: a placeholder that became one of them would be two things.
    pub named: BTreeSet<String>,
    /// Those of them that the text gives to documents of its own making.
    pub defined: Vec<Defined>,
    /// The number of the document itself.
    pub number: i64,
}

pub fn find(catalogue: &Catalogue, candidate: &Candidate<'_>) -> Result<Vec<Next>, ApprovalError> {
    let text = &candidate.content;
    let children = &candidate.kind.decomposes_into;
    if let Some(token) = placeholders::find_template_tokens(catalogue, text).first() {
        return Err(ApprovalError::TemplateToken {
            token: token.text.to_owned(),
            line: token.line,
            example: format!("{}-AAA", token.prefix),
        });
    }
    if let Some((token, line)) = placeholders::find_hidden(catalogue, text) {
        return Err(ApprovalError::HiddenPlaceholder { token, line });
    }
    if let Some((token, line)) = placeholders::find_unnumbered(catalogue, candidate.kind, text) {
        return Err(ApprovalError::Unnumbered { token, line });
    }
    if let Some(Twice { token, first_line, second_line }) = placeholders::find_twice(catalogue, candidate.kind, text) {
        return Err(ApprovalError::OneForTwo { token, first_line, second_line });
    }
    if let Some(token) = placeholders::find_foreign(catalogue, candidate.kind, text) {
        return Err(ApprovalError::ForeignPlaceholder {
            token: token.text.to_owned(),
            line: token.line,
            artifact_type: candidate.kind.name.clone(),
        });
    }
    if let Some(second) = placeholders::find_second(catalogue, candidate.kind, text) {
        return Err(ApprovalError::SecondOfOne {
            token: second.text.to_owned(),
            line: second.line,
            artifact_type: candidate.kind.name.clone(),
        });
    }
    if let Some(token) = placeholders::find_unshown(catalogue, text) {
        return Err(ApprovalError::Unshown { token: token.text.to_owned(), line: token.line });
    }
    if let Some(Defined { id, line }) = placeholders::find_odd(catalogue, candidate.kind, text) {
        return Err(ApprovalError::OddId { id, line });
    }
    let found = placeholders::find(catalogue, text);
    let number = crate::ids::parse_id(&candidate.row.key).map_or(0, |(_, number)| number);
    let mut next = Vec::new();
    for child in children {
        let prefix = prefix(catalogue, child).ok_or(StoreError::other("a sub-document has no ids"))?;
        let own: Vec<&Token<'_>> = found.iter().filter(|token| token.prefix == prefix).collect();
        let all = placeholders::tokens(catalogue, text);
        let named = all.iter().filter(|token| token.prefix == prefix && token.kind() == Kind::Final);
        let named: BTreeSet<String> = named.map(|token| token.text.to_owned()).collect();
        let defined = match child.numbering {
            Numbering::Reserved => placeholders::find_defined(catalogue, candidate.kind, prefix, text),
            // There is one, and its number says whose it is.
            Numbering::SameNumber => Vec::new(),
        };
        let is_there = match child.numbering {
            Numbering::Reserved => !own.is_empty() || !defined.is_empty(),
            Numbering::SameNumber => !own.is_empty() || named.contains(&crate::ids::format_id(prefix, number)),
        };
        if is_there {
            next.push(Next {
                artifact_type: child.artifact_type.clone(),
                prefix: prefix.to_owned(),
                numbering: child.numbering,
                placeholders: own.iter().map(|token| token.text.to_owned()).collect(),
                named,
                defined,
                number,
            });
        }
    }
    Ok(next)
}

fn prefix<'c>(catalogue: &'c Catalogue, child: &Decomposition) -> Option<&'c str> {
    catalogue.find_type(&child.artifact_type)?.prefix.as_deref()
}
