//! What hits must be, as a question says it: which kinds, sources, years.

use std::ops::Bound;

use tantivy::Term;
use tantivy::query::{AllQuery, BooleanQuery, Occur, Query, RangeQuery, TermSetQuery};
use tantivy::schema::Field;

use super::index::{SearchError, Snapshot};
use crate::paths::{KNOWN_SHOWN_MAX, closest};
use crate::rest;

/// Conditions that every hit fulfils. An empty list is no condition.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    pub kinds: Vec<String>,
    pub sources: Vec<String>,
    pub categories: Vec<String>,
    pub langs: Vec<String>,
    pub year_from: Option<i32>,
    pub year_to: Option<i32>,
    pub without_retracted: bool,
}

/// A word of a filter that nothing has. What was meant would not be found, and that would look as if there were nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the record has no {what} `{word}`")]
pub struct Unknown {
    pub field: &'static str,
    pub what: &'static str,
    pub word: String,
    /// Words that it has, the likeliest first.
    pub known: Vec<String>,
}

impl Unknown {
    /// What could have been meant, to go on with after the message.
    pub fn advice(&self) -> String {
        let known =
            if self.known.is_empty() { "none yet".to_owned() } else { rest::first(&self.known, KNOWN_SHOWN_MAX) };
        format!("; it has {known}")
    }
}

impl Filter {
    /// Words that nothing has.
    pub fn unknown(&self, snapshot: &Snapshot) -> Result<Vec<Unknown>, SearchError> {
        let fields = *snapshot.fields();
        let lists = [
            ("filters/type", "type", fields.kind, &self.kinds),
            ("filters/source", "source", fields.source, &self.sources),
            ("filters/category", "category", fields.category, &self.categories),
        ];
        let mut unknown = Vec::new();
        for (path, what, field, words) in lists {
            let holds = |word: &str| Ok(snapshot.n_with(&Term::from_field_text(field, word))? > 0);
            for word in words {
                if holds(word)? {
                    continue;
                }
                let known = snapshot.terms(field)?.into_iter().collect();
                unknown.push(Unknown { field: path, what, word: word.clone(), known: closest(known, word) });
            }
        }
        Ok(unknown)
    }

    /// As the index is asked; `None` where there is no condition.
    pub fn condition(&self, snapshot: &Snapshot) -> Option<Box<dyn Query>> {
        if *self == Filter::default() {
            return None;
        }
        let fields = *snapshot.fields();
        let any = |field: Field, values: &[String]| -> Box<dyn Query> {
            Box::new(TermSetQuery::new(values.iter().map(|value| Term::from_field_text(field, value))))
        };
        let mut must: Vec<(Occur, Box<dyn Query>)> = vec![(Occur::Must, Box::new(AllQuery))];
        let lists = [
            (fields.kind, &self.kinds),
            (fields.source, &self.sources),
            (fields.category, &self.categories),
            (fields.lang, &self.langs),
        ];
        for (field, values) in lists.into_iter().filter(|(_, values)| !values.is_empty()) {
            must.push((Occur::Must, any(field, values)));
        }
        if self.year_from.is_some() || self.year_to.is_some() {
            let term = |year: i32| Term::from_field_i64(fields.year, i64::from(year));
            let bound = |year: Option<i32>| year.map_or(Bound::Unbounded, |year| Bound::Included(term(year)));
            must.push((Occur::Must, Box::new(RangeQuery::new(bound(self.year_from), bound(self.year_to)))));
        }
        if self.without_retracted {
            must.push((Occur::Must, any(fields.retraction, &["none".to_owned()])));
        }
        Some(Box::new(BooleanQuery::new(must)))
    }
}
