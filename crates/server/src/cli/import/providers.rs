//! Sources that a file names by itself, where the caller names none: one for each provider, with the terms that stand beside it.
//!
//! A file does not speak for a source that is here: one that came with the program, that a curator described, or that another
//! file named with other terms stays as it is, and what this file says is kept apart from it.

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

    /// What the source of the lines that name nobody may become, where the caller says nothing but its terms: they need not
    /// be those of lines that came before.
    pub fn unnamed(&self) -> Option<Vec<Source>> {
        let (format, licence) = (self.format?, self.licence.clone()?);
        Some(candidates(format, &Provider { id: format.source().id, licence: Some(licence) }, None))
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

/// `unsaid` are the terms of a provider beside which none stand.
fn candidates(format: Format, provider: &Provider, unsaid: Option<&String>) -> Vec<Source> {
    let Provider { id, licence } = provider;
    let licence = licence.clone().or_else(|| unsaid.cloned()).unwrap_or_else(|| format.source().licence);
    let terms: String = canonical::hash_text(&licence).chars().take(TERMS_CHARS).collect();
    let ids = [id.clone(), format!("{format}:{id}"), format!("{format}:{id}:{terms}")];
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
    ids.into_iter().filter(|id| !passes_for_own_source(id)).map(source).collect()
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
        let mine = Provider { id: "mine".to_owned(), licence: Some("CC0-1.0".to_owned()) };
        assert!(providers.settle(mine.clone(), Some("kgx:mine".to_owned())));
        assert_eq!((ids(&providers, "mine"), providers.source(&mine)), (None, Some("kgx:mine")));
        let unnamed = Provider { id: "kgx".to_owned(), licence: None };
        let found = providers.unsettled(&unnamed).unwrap_or_default();
        assert_eq!(found.first(), Some(&Format::Kgx.source()));
        assert_eq!(ids(&Providers::default(), "mine"), None);
        assert_eq!(ids(&Providers::named_by(Format::Hetionet, None), "mine"), None);
    }
}
