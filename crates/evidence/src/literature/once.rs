//! Papers that a search found, each once: the record may hold one as PubMed tells of it and as a full text.

use std::collections::{BTreeSet, HashMap};

use contract::evidence::pubmed::SortBy;
use contract::evidence::record::Document;

use super::sort;
use crate::record::papers::Paper;

#[derive(Debug, Default)]
pub struct FoundPapers {
    /// With their scores.
    documents: Vec<(u64, Document)>,
    /// The numbers of papers, by their ids.
    numbers: HashMap<String, usize>,
    n_numbers: usize,
    n_papers: usize,
}

impl FoundPapers {
    /// A paper scores as the best of its documents, and is shown as PubMed's where that is among them.
    pub fn add(&mut self, score: u64, document: Document) {
        let own = keys(&document);
        let known: BTreeSet<usize> = own.iter().filter_map(|key| self.numbers.get(key)).copied().collect();
        let number = known.first().copied().unwrap_or(self.n_numbers);
        if known.is_empty() {
            self.n_numbers += 1;
        }
        // What passed for several papers is one by this document.
        if known.len() > 1 {
            self.numbers.values_mut().filter(|it| known.contains(it)).for_each(|it| *it = number);
        }
        self.n_papers = (self.n_papers + 1).saturating_sub(known.len());
        self.numbers.extend(own.into_iter().map(|key| (key, number)));
        if known.is_empty() {
            self.documents.push((score, document));
            return;
        }
        let numbers = &self.numbers;
        let is_same =
            |(_, it): &mut (u64, Document)| keys(it).first().and_then(|key| numbers.get(key)) == Some(&number);
        let same: Vec<(u64, Document)> = self.documents.extract_if(.., is_same).collect();
        let score = same.iter().map(|(score, _)| *score).fold(score, u64::max);
        let documents = same.into_iter().map(|(_, document)| document).chain([document]);
        let shown = documents.min_by_key(|it| (!it.id.starts_with("PMID:"), it.kind != "paper", it.id.clone()));
        self.documents.extend(shown.map(|shown| (score, shown)));
    }

    /// Puts them in order and forgets those beyond the limit, which are still counted.
    pub fn cut(&mut self, by: SortBy, n_max: usize) {
        sort(&mut self.documents, by);
        self.documents.truncate(n_max);
    }

    pub fn n_papers(&self) -> usize {
        self.n_papers
    }

    pub fn into_documents(self) -> Vec<Document> {
        self.documents.into_iter().map(|(_, document)| document).collect()
    }
}

/// The ids of the paper in one spelling each, that of the document among them.
fn keys(document: &Document) -> Vec<String> {
    Paper::of(document).keys.into_values().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn found(documents: &[(u64, &str, Value)]) -> (usize, Vec<String>) {
        let mut found = FoundPapers::default();
        for (score, id, ids) in documents {
            let document = json!({"id": id, "kind": "paper", "title": "T", "text": "", "lang": "en", "ids": ids,
                "source": "s"});
            found.add(*score, serde_json::from_value(document).unwrap());
            found.cut(SortBy::Relevance, 2);
        }
        (found.n_papers(), found.into_documents().into_iter().map(|it| it.id).collect())
    }

    #[test]
    fn documents_of_one_paper_are_one_and_shown_as_pubmed_has_it() {
        let (doi, pmc) = (json!({"doi": "10.1/A"}), json!({"pmc": "PMC5", "pmid": "7"}));
        let pubmed = json!({"pmid": "7", "doi": "10.1/a"});
        let all = [(1, "DOI:10.1/A", doi), (9, "PMCID:PMC5", pmc), (3, "PMID:7", pubmed), (5, "PMID:8", json!({}))];
        assert_eq!(found(&all[..2]), (2, vec!["PMCID:PMC5".to_owned(), "DOI:10.1/A".to_owned()]));
        assert_eq!(found(&all), (2, vec!["PMID:7".to_owned(), "PMID:8".to_owned()]));
        let none = [(1, "X:1", json!({})), (1, "X:2", json!({})), (1, "X:3", json!({}))];
        assert_eq!(found(&none), (3, vec!["X:1".to_owned(), "X:2".to_owned()]));
    }
}
