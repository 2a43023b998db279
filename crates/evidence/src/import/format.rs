//! The formats that can be imported, and what each knows about its source.

use std::fmt;

use contract::evidence::record::Source;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    Pubmed,
    Medline,
    Jats,
    Kgx,
    Trapi,
    Semmeddb,
    Hetionet,
    Icd10,
    Beir,
}

impl Format {
    pub const ALL: [Format; 9] = [
        Format::Pubmed,
        Format::Medline,
        Format::Jats,
        Format::Kgx,
        Format::Trapi,
        Format::Semmeddb,
        Format::Hetionet,
        Format::Icd10,
        Format::Beir,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Format::Pubmed => "pubmed",
            Format::Medline => "medline",
            Format::Jats => "jats",
            Format::Kgx => "kgx",
            Format::Trapi => "trapi",
            Format::Semmeddb => "semmeddb",
            Format::Hetionet => "hetionet",
            Format::Icd10 => "icd10",
            Format::Beir => "beir",
        }
    }

    pub fn find(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether its files are the papers themselves, which say more than our own summaries of them.
    pub fn is_of_papers(self) -> bool {
        matches!(self, Format::Pubmed | Format::Medline | Format::Jats)
    }

    /// The source that importers call by this id, whose words are the program's own.
    pub fn own_source(id: &str) -> Option<Source> {
        Format::ALL.into_iter().map(Format::source).find(|source| source.id == id)
    }

    /// Where files of this format come from unless the caller says otherwise. A format that many use says nothing of the
    /// terms of its files, and neither does this.
    pub fn source(self) -> Source {
        let (title, licence, uri, notice) = match self {
            Format::Pubmed | Format::Medline => (
                "PubMed",
                "NLM data terms; abstracts may be under copyright",
                Some("https://pubmed.ncbi.nlm.nih.gov/"),
                Some("Courtesy of the U.S. National Library of Medicine; may not be the most current data of NLM."),
            ),
            Format::Jats => ("Full texts in JATS", "as stated in each article", None, None),
            Format::Kgx => ("A graph in KGX", UNSTATED, None, None),
            Format::Trapi => ("A TRAPI message", UNSTATED, None, None),
            Format::Semmeddb => (
                "SemMedDB",
                "UMLS Metathesaurus licence",
                Some("https://lhncbc.nlm.nih.gov/ii/tools/SemRep_SemMedDB_SKR.html"),
                Some(
                    "Predications read by a program from citations of PubMed; courtesy of the U.S. National Library of Medicine.",
                ),
            ),
            Format::Hetionet => ("Hetionet", "CC0-1.0 with the terms of its sources", Some("https://het.io/"), None),
            Format::Icd10 => ("ICD-10", "WHO terms; national versions under their own", None, None),
            Format::Beir => ("A BEIR corpus", UNSTATED, None, None),
        };
        // Both formats hold the same records of the same source.
        let id = if self == Format::Medline { Format::Pubmed.name() } else { self.name() };
        Source {
            id: id.to_owned(),
            title: title.to_owned(),
            licence: licence.to_owned(),
            uri: uri.map(str::to_owned),
            notice: notice.map(str::to_owned),
            version: None,
        }
    }
}

const UNSTATED: &str = "not stated";

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_is_found_by_its_name_and_states_terms() {
        for format in Format::ALL {
            assert_eq!(Format::find(format.name()), Some(format));
            assert!(!format.source().licence.is_empty());
        }
        assert_eq!(Format::find("PubMed"), None);
        assert_eq!(Format::own_source("pubmed"), Some(Format::Medline.source()));
        assert_eq!((Format::own_source("medline"), Format::own_source("mine")), (None, None));
    }
}
