//! Thai-English dictionaries that can be pulled from package registries.
//!
//! They are other people's work under their own terms: whoever pulls them is shown those, and they stay in the data folder.

use std::fs;
use std::path::{Path, PathBuf};

use evidence::search::lexicon::convert::{self, ConvertError};
use model::package::{Package, PackageError, Registry};

pub struct Offer {
    /// Lexica are read in the order of their names: the earlier one's translations come first.
    pub name: &'static str,
    pub about: &'static str,
    pub licence: &'static str,
    pub notice: &'static str,
    pub packages: &'static [Package],
    form: Form,
}

#[derive(Debug, Clone, Copy)]
enum Form {
    Lexitron,
    Transliteration,
    WordNet,
}

const PYTHAINLP: Package = Package {
    registry: Registry::Pypi,
    name: "pythainlp",
    version: "5.4.0",
    sha256: "9239753df877202da1a50dd2842d9569eff764034f31f20222b3df4def5df193",
};
const WORDNET: Package = Package {
    registry: Registry::Debian,
    name: "wordnet-base",
    version: "1:3.0-37",
    sha256: "61060d960f9ada8fa120872312eccd3ecebfbab8c4579e4f5a74e1cf67620752",
};
const THAIDICT: Package = Package {
    registry: Registry::Npm,
    name: "thaidict",
    version: "0.0.2",
    sha256: "3ea870d3abca9006a66c0fcc5b62eab4c946be456f7190736f550c4b595ac5be",
};

pub const OFFERS: &[Offer] = &[
    Offer {
        name: "lexitron",
        about: "LEXiTRON 2.0, general Thai-English dictionary",
        licence: "NECTEC terms: redistribution with notice and acknowledgement",
        notice: "LEXiTRON was made by the National Electronics and Computer Technology Center of Thailand (NECTEC). It is taken \
            from the npm package `thaidict`. NECTEC's terms ask for this acknowledgement wherever it is used or passed on.",
        packages: &[THAIDICT],
        form: Form::Lexitron,
    },
    Offer {
        name: "transliteration",
        about: "Thai spellings of English words, by PyThaiNLP",
        licence: "CC BY 4.0 or freer (see the package's corpus_license.md)",
        notice: "Thai-English transliteration list of the PyThaiNLP project, from the PyPI package `pythainlp`.",
        packages: &[PYTHAINLP],
        form: Form::Transliteration,
    },
    Offer {
        name: "wordnet",
        about: "Thai WordNet with the English words of WordNet 3.0, and Thai stop words",
        licence: "Thai WordNet: NICT 2011; WordNet 3.0: Princeton University 2006; both free with notice",
        notice: "Thai WordNet, Copyright 2011 NICT, from the PyPI package `pythainlp`. WordNet 3.0 Copyright 2006 by Princeton \
            University, from the Debian package `wordnet-base`; both are provided \"as is\" and without warranty. Thai stop \
            words by the PyThaiNLP project (CC0-1.0).",
        packages: &[PYTHAINLP, WORDNET],
        form: Form::WordNet,
    },
];

#[derive(Debug, thiserror::Error)]
pub enum PullError {
    #[error("the package could not be had")]
    Package(#[source] PackageError),
    #[error("the dictionary is not as expected")]
    Convert(#[source] ConvertError),
    #[error("could not use `{}`", path.display())]
    Files { path: PathBuf, source: std::io::Error },
    #[error("the work broke off")]
    Broken(#[source] tokio::task::JoinError),
}

/// Gets one dictionary into its folder below `lexica`, with its licence beside it, and answers its number of pairs.
pub async fn pull(offer: &'static Offer, lexica: &Path) -> Result<usize, PullError> {
    let downloads = lexica.join("downloads");
    let fetching = tokio::task::spawn_blocking(move || {
        offer.packages.iter().map(|package| package.fetch(&downloads)).collect::<Result<Vec<PathBuf>, _>>()
    });
    let packages = fetching.await.map_err(PullError::Broken)?.map_err(PullError::Package)?;
    let (pairs, stop_words) = read(offer, &packages).await.map_err(PullError::Convert)?;
    let folder = lexica.join(offer.name);
    let n_pairs = convert::write(&folder, &pairs, &stop_words).map_err(PullError::Convert)?;
    let licence = format!("{}\n\n{}\n\n{}\n", offer.about, offer.licence, offer.notice);
    let path = folder.join("LICENCE");
    fs::write(&path, licence).map_err(|source| PullError::Files { path, source })?;
    Ok(n_pairs)
}

/// Removes what was downloaded on the way.
pub fn tidy(lexica: &Path) -> Result<(), PullError> {
    let path = lexica.join("downloads");
    if !path.is_dir() {
        return Ok(());
    }
    fs::remove_dir_all(&path).map_err(|source| PullError::Files { path, source })
}

type Read = (Vec<(String, String)>, Vec<String>);

async fn read(offer: &Offer, packages: &[PathBuf]) -> Result<Read, ConvertError> {
    let mut folders = packages.iter();
    let first = folders.next().cloned().unwrap_or_default();
    let corpus = first.join("pythainlp").join("corpus");
    match offer.form {
        Form::Transliteration => {
            Ok((convert::transliterations(&corpus.join("th_en_transliteration_v1.4.tsv"))?, Vec::new()))
        }
        Form::WordNet => {
            let english = folders.next().cloned().unwrap_or_default().join("usr").join("share").join("wordnet");
            let pairs = convert::wordnets(&corpus.join("wordnet_th.db"), &english).await?;
            Ok((pairs, convert::word_list(&corpus.join("stopwords_th.txt"))?))
        }
        Form::Lexitron => {
            Ok((convert::lexitron(&first.join("package").join("data").join("thai2eng.json"))?, Vec::new()))
        }
    }
}
