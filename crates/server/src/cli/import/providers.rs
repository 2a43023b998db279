//! Sources that a file names by itself, where the caller names none: one for each provider, with the terms that stand beside it.
//!
//! A file does not speak for a source that is here: one that came with the program, that a curator described, or that another
//! file named with other terms stays as it is, and what this file says is kept apart from it.
//!
//! The id of a format's own source means what the format itself says of terms, in whatever order files come: terms that the
//! caller says without naming a source make a source of their own.

use std::collections::HashMap;

use contract::canonical;
use contract::evidence::record::Source;
use evidence::import::{Format, Provider};
use evidence::record::passes_for_own_source;

/// Every one costs a call; the records of those beyond are of the source of the format.
const PROVIDERS_MAX: usize = 1_000;
/// Those that are told one by one; the others are counted.
const APART_SHOWN_MAX: usize = 5;
/// Of the hash of the terms, in an id.
const TERMS_CHARS: usize = 8;

/// The sources of the providers that were met, if the caller leaves it to the file to name them.
#[derive(Default)]
pub struct Providers {
    format: Option<Format>,
    /// The terms of those beside which none stand, where the caller says them.
    licence: Option<String>,
    sources: HashMap<Provider, Option<String>>,
    /// Those whose source is called otherwise than they are.
    n_apart: usize,
}

impl Providers {
    /// Only graphs name their providers in every line.
    pub fn named_by(format: Format, licence: Option<String>) -> Providers {
        let is_graph = matches!(format, Format::Kgx | Format::Trapi);
        Providers { format: is_graph.then_some(format), licence, ..Providers::default() }
    }

    /// What is to be settled for a provider: the sources that it may become, the best first. Nothing where that is known.
    pub fn unsettled(&self, provider: &Provider) -> Option<Vec<Source>> {
        let format = self.format?;
        let is_new = !self.sources.contains_key(provider) && self.sources.len() < PROVIDERS_MAX;
        is_new.then(|| candidates(format, provider, self.licence.as_ref()))
    }

    /// Answers whether it is to be told that the source is another one.
    pub fn settle(&mut self, provider: Provider, source_id: Option<String>) -> bool {
        let is_apart = source_id.as_ref().is_some_and(|id| *id != provider.id);
        self.n_apart += usize::from(is_apart);
        self.sources.insert(provider, source_id);
        is_apart && self.n_apart <= APART_SHOWN_MAX
    }

    /// Of those that are kept apart, the ones that were not told.
    pub fn n_untold(&self) -> usize {
        self.n_apart.saturating_sub(APART_SHOWN_MAX)
    }

    /// The source of its records, unless that is the one of the format.
    pub fn source(&self, provider: &Provider) -> Option<&str> {
        self.sources.get(provider)?.as_deref()
    }
}

/// The source of what names none, where the caller names none either.
pub fn unnamed(format: Format, title: Option<&String>, licence: Option<&String>) -> Source {
    let own = format.source();
    let mut source = own.clone();
    title.into_iter().for_each(|title| source.title.clone_from(title));
    licence.into_iter().for_each(|licence| source.licence.clone_from(licence));
    if source != own {
        source.id = format!("{}:{}", own.id, mark(&format!("{}\n{}", source.licence, source.title)));
    }
    source
}

/// A part of an id that tells terms apart.
fn mark(terms: &str) -> String {
    canonical::hash_text(terms).chars().take(TERMS_CHARS).collect()
}

/// `unsaid` are the terms of a provider beside which none stand.
fn candidates(format: Format, provider: &Provider, unsaid: Option<&String>) -> Vec<Source> {
    let Provider { id, licence } = provider;
    let licence = licence.clone().or_else(|| unsaid.cloned()).unwrap_or_else(|| format.source().licence);
    let ids = [id.clone(), format!("{format}:{id}"), format!("{format}:{id}:{}", mark(&licence))];
    let of_format = format.source();
    let source = |id: String| {
        // What was exported without a source of its own comes back so.
        let is_of_format = id == of_format.id;
        let title = format!("{}, as a file names it", provider.id);
        Source {
            title: if is_of_format { of_format.title.clone() } else { title },
            id,
            licence: licence.clone(),
            uri: None,
            notice: None,
            version: None,
        }
    };
    let is_free = |source: &Source| Format::own_source(&source.id).is_none_or(|own| own == *source);
    ids.into_iter().filter(|id| !passes_for_own_source(id)).map(source).filter(is_free).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_provider_becomes_a_source_of_the_program_and_each_is_settled_once() {
        let mut providers = Providers::named_by(Format::Kgx, None);
        let ids = |providers: &Providers, id: &str| {
            let provider = Provider { id: id.to_owned(), licence: Some("CC0-1.0".to_owned()) };
            let found = providers.unsettled(&provider);
            found.map(|sources| sources.into_iter().take(2).map(|it| it.id).collect::<Vec<_>>())
        };
        assert_eq!(ids(&providers, "mine"), Some(vec!["mine".to_owned(), "kgx:mine".to_owned()]));
        let own = ids(&providers, "materia").unwrap_or_default();
        assert_eq!(own.first().map(String::as_str), Some("kgx:materia"));
        for (id, expected) in [("pubmed", "kgx:pubmed"), ("kgx", "kgx:kgx")] {
            let found = ids(&providers, id).unwrap_or_default();
            assert_eq!(found.first().map(String::as_str), Some(expected), "an importer states other terms for it");
        }
        let mine = Provider { id: "mine".to_owned(), licence: Some("CC0-1.0".to_owned()) };
        assert!(providers.settle(mine.clone(), Some("kgx:mine".to_owned())));
        assert_eq!((ids(&providers, "mine"), providers.source(&mine)), (None, Some("kgx:mine")));
        let unnamed = Provider { id: "kgx".to_owned(), licence: None };
        let found = providers.unsettled(&unnamed).unwrap_or_default();
        assert_eq!(found.first(), Some(&Format::Kgx.source()));
        assert_eq!(ids(&Providers::default(), "mine"), None);
        assert_eq!(ids(&Providers::named_by(Format::Hetionet, None), "mine"), None);
    }

    #[test]
    fn the_id_of_a_format_means_the_terms_of_the_format() {
        let of = |title: Option<&str>, licence: Option<&str>| {
            let (title, licence) = (title.map(str::to_owned), licence.map(str::to_owned));
            unnamed(Format::Medline, title.as_ref(), licence.as_ref())
        };
        let own = Format::Medline.source();
        assert_eq!(of(None, None), own);
        assert_eq!(of(None, Some(&own.licence)), own);
        let others =
            [of(None, Some("MIT")), of(None, Some("CC0-1.0")), of(Some("Mine"), Some("MIT")), of(Some("Mine"), None)];
        let ids: std::collections::BTreeSet<&str> = others.iter().map(|source| source.id.as_str()).collect();
        assert_eq!(ids.len(), others.len());
        assert!(ids.iter().all(|id| id.starts_with("pubmed:")), "{ids:?}");
        assert_eq!(of(None, Some("MIT")).licence, "MIT");
    }
}
