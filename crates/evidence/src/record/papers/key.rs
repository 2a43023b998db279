//! The ids of a paper in one spelling each.

/// Where browsers find papers, before the id.
const ADDRESSES: [(&str, &str); 8] = [
    ("doi.org/", "doi"),
    ("dx.doi.org/", "doi"),
    ("www.doi.org/", "doi"),
    ("pubmed.ncbi.nlm.nih.gov/", "pmid"),
    ("www.ncbi.nlm.nih.gov/pubmed/", "pmid"),
    ("pmc.ncbi.nlm.nih.gov/articles/", "pmc"),
    ("www.ncbi.nlm.nih.gov/pmc/articles/", "pmc"),
    ("europepmc.org/article/med/", "pmid"),
];

/// The kind of ids that only name a document of the record.
pub const OWN: &str = "own";

/// The paper that a reference or the id of a document names, such as `pmid:1`; `None` where it names no paper.
pub fn key(reference: &str) -> Option<String> {
    let reference = reference.trim().trim_end_matches('.');
    let lower = reference.to_ascii_lowercase();
    if let Some((_, address)) = lower.split_once("://") {
        let (begin, kind) = ADDRESSES.into_iter().find(|(begin, _)| address.starts_with(begin))?;
        let id = address.get(begin.len()..)?;
        let id = if kind == "doi" { id } else { id.split(['/', '?', '#']).next()? };
        return of(kind, id);
    }
    match lower.split_once(|mark: char| mark == ':' || mark.is_whitespace()) {
        Some(("pmid" | "pubmed", id)) => of("pmid", id),
        Some(("pmcid" | "pmc", id)) => of("pmc", id),
        Some(("doi", id)) => of("doi", id),
        Some(_) => None,
        None if lower.starts_with("pmc") => of("pmc", &lower),
        None if lower.starts_with("10.") => of("doi", &lower),
        None => None,
    }
}

/// The same of an id whose kind is known: `pmid`, `pmc` or `doi`.
pub fn of(kind: &str, id: &str) -> Option<String> {
    let id = id.trim();
    if id.contains(':') && !id.starts_with("10.") {
        // Some write the kind, or a whole address, before it.
        return key(id).filter(|key| key.starts_with(kind));
    }
    match kind {
        "pmid" => digits(id).map(|number| format!("pmid:{number}")),
        "pmc" => {
            let id = id.to_ascii_lowercase();
            let number = id.strip_prefix("pmc").unwrap_or(&id);
            // Some sources add the version of the manuscript.
            digits(number.split('.').next()?).map(|number| format!("pmc:PMC{number}"))
        }
        "doi" => {
            let id = id.to_lowercase();
            let is_one = id.starts_with("10.") && id.contains('/') && !id.contains(char::is_whitespace);
            is_one.then(|| format!("doi:{id}"))
        }
        _ => None,
    }
}

fn digits(text: &str) -> Option<&str> {
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    Some(text.trim_start_matches('0')).filter(|number| is_number && !number.is_empty())
}

/// The paper that a reference names, or else the document that has it for its id.
pub fn of_reference(reference: &str) -> String {
    key(reference).unwrap_or_else(|| format!("{OWN}:{}", reference.trim()))
}

/// The id of the document that is named by this id of a paper.
pub fn document_id(key: &str) -> Option<String> {
    let (kind, id) = key.split_once(':')?;
    match kind {
        "pmid" => Some(format!("PMID:{id}")),
        "pmc" => Some(format!("PMCID:{id}")),
        "doi" => Some(format!("DOI:{id}")),
        OWN => Some(id.to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_of_an_id_is_one() {
        for (reference, expected) in [
            ("PMID:0024", Some("pmid:24")),
            ("pmid: 24", Some("pmid:24")),
            ("PMID 24", Some("pmid:24")),
            ("PMID:24.", Some("pmid:24")),
            ("doi 10.1/A.b", Some("doi:10.1/a.b")),
            ("https://pubmed.ncbi.nlm.nih.gov/24/", Some("pmid:24")),
            ("http://www.ncbi.nlm.nih.gov/pubmed/24?x=1", Some("pmid:24")),
            ("PMC5", Some("pmc:PMC5")),
            ("PMCID:PMC5", Some("pmc:PMC5")),
            ("PMC:5.1", Some("pmc:PMC5")),
            ("https://pmc.ncbi.nlm.nih.gov/articles/PMC5/", Some("pmc:PMC5")),
            ("DOI:10.1/A.b", Some("doi:10.1/a.b")),
            ("https://doi.org/10.1/A.b", Some("doi:10.1/a.b")),
            ("10.1/a.b", Some("doi:10.1/a.b")),
            ("https://example.org/10.1/a", None),
            ("PMID:x", None),
            ("PMID:0", None),
            ("a book, page 7", None),
        ] {
            assert_eq!(key(reference).as_deref(), expected, "{reference}");
        }
    }
}
