//! Ids, codes, classes and what else each kind of row must hold to.

use std::collections::{BTreeMap, HashSet};

use super::Desk;
use super::index::{Index, Thing};
use crate::parse::{Located, Set};
use crate::places::Place;
use crate::rows::{Band, InstrumentFile, Lang, Monograph, Names, PaperRow};

const ID_CHARS_MAX: usize = 80;
const TEXT_CHARS_MAX: usize = 2_000;
const ITEMS_MAX: usize = 200;
/// Resources that patients are told with.
const RESOURCES: [&str; 6] =
    ["Patient", "Condition", "MedicationStatement", "QuestionnaireResponse", "Observation", "AllergyIntolerance"];

pub fn check(set: &Set, index: &Index<'_>, desk: &mut Desk) {
    check_ids(set, desk);
    check_files(set, desk);
    for source in &set.sources {
        let is_address = |uri: &String| uri.starts_with("https://") || uri.starts_with("http://");
        if !source.row.uri.as_ref().is_none_or(is_address) {
            desk.note(&source.place, format!("{} uri", source.row.id), "no address", "`https://…` or null");
        }
        for (member, text) in
            [("title", &source.row.title), ("publisher", &source.row.publisher), ("licence", &source.row.licence)]
        {
            check_text(desk, &source.place, &format!("{} {member}", source.row.id), text);
        }
    }
    for paper in &set.papers {
        check_paper_id(desk, &paper.place, &paper.row);
        check_day(desk, &paper.place, &paper.row.id, &paper.row.reviewed);
        check_text(desk, &paper.place, &format!("{} title", paper.row.id), &paper.row.title);
        let is_doi = |doi: &String| doi.starts_with("10.");
        if !paper.row.doi.as_ref().is_none_or(is_doi) {
            desk.note(&paper.place, format!("{} doi", paper.row.id), "another form", "`10.…` or null");
        }
    }
    check_conditions(set, desk);
    check_classes(set, index, desk);
    for drug in &set.drugs {
        refer(desk, index, &drug.place, &format!("{} classes", drug.row.id), &drug.row.classes, &[Thing::Class]);
        let at = format!("{} ingredients", drug.row.id);
        refer(desk, index, &drug.place, &at, &drug.row.ingredients, &[Thing::Drug]);
        if drug.row.ingredients.contains(&drug.row.id) {
            desk.note(&drug.place, at, "the drug itself", "what it is made of");
        }
        let is_code = |code: &String| code.strip_prefix("DB").is_some_and(|rest| rest.len() == 5 && digits(rest));
        if !drug.row.drugbank.as_ref().is_none_or(is_code) {
            desk.note(
                &drug.place,
                format!("{} drugbank", drug.row.id),
                "another form",
                "`DB` and five digits, or null",
            );
        }
    }
    for formulation in &set.formulations {
        let row = &formulation.row;
        let herbs: Vec<String> = row.herbs.iter().map(|it| it.id.clone()).collect();
        refer(desk, index, &formulation.place, &format!("{} herbs", row.id), &herbs, &[Thing::Herb]);
        if row.herbs.is_empty() && row.other_ingredients.is_empty() {
            desk.note(&formulation.place, format!("{} herbs", row.id), "none", "what it is made of");
        }
        check_monograph(desk, &formulation.place, &row.id, &row.monograph);
    }
    for herb in &set.herbs {
        check_monograph(desk, &herb.place, &herb.row.id, &herb.row.monograph);
        check_text(desk, &herb.place, &format!("{} family", herb.row.id), &herb.row.family);
    }
    set.instruments.iter().for_each(|it| check_instrument(desk, it));
    set.patients.iter().for_each(|it| check_patient(desk, it));
}

fn digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Each id means one thing, over all kinds.
fn check_ids(set: &Set, desk: &mut Desk) {
    let mut seen: BTreeMap<(&str, &str), &Place> = BTreeMap::new();
    let mut take = |desk: &mut Desk, space: &'static str, id, place| {
        if let Some(other) = seen.insert((space, id), place) {
            desk.note(place, id, format!("the id again, after {other}"), "an id of its own");
        }
    };
    let sources = set.sources.iter().map(|it| ("source", it.row.id.as_str(), &it.place));
    let papers = set.papers.iter().map(|it| ("paper", it.row.id.as_str(), &it.place));
    let conditions = set.conditions.iter().map(|it| ("thing", it.row.id.as_str(), &it.place));
    let constituents = set.constituents.iter().map(|it| ("thing", it.row.id.as_str(), &it.place));
    let classes = set.classes.iter().map(|it| ("thing", it.row.id.as_str(), &it.place));
    let drugs = set.drugs.iter().map(|it| ("thing", it.row.id.as_str(), &it.place));
    let substances = set.other_substances.iter().map(|it| ("thing", it.row.id.as_str(), &it.place));
    let herbs = set.herbs.iter().map(|it| ("thing", it.row.id.as_str(), &it.place));
    let formulations = set.formulations.iter().map(|it| ("thing", it.row.id.as_str(), &it.place));
    let interactions = set.interactions.iter().map(|it| ("interaction", it.row.id.as_str(), &it.place));
    let instruments = set.instruments.iter().map(|it| ("thing", it.row.id.as_str(), &it.place));
    let questions = set.questions.iter().map(|it| ("question", it.row.id.as_str(), &it.place));
    let all = sources.chain(papers).chain(conditions).chain(constituents).chain(classes).chain(drugs);
    let all =
        all.chain(substances).chain(herbs).chain(formulations).chain(interactions).chain(instruments).chain(questions);
    for (space, id, place) in all {
        take(desk, space, id, place);
        if space != "paper" && !is_id(id) {
            desk.note(place, id, "another form of id", "snake_case of ASCII letters and digits");
        }
    }
}

fn is_id(id: &str) -> bool {
    let is_fit = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    !id.is_empty()
        && id.len() <= ID_CHARS_MAX * 2
        && id.bytes().all(is_fit)
        && !id.starts_with('_')
        && !id.ends_with('_')
}

/// One thing a file, named as the thing is.
fn check_files(set: &Set, desk: &mut Desk) {
    let herbs = set.herbs.iter().map(|it| ("herbs", &it.row.id, &it.place));
    let formulations = set.formulations.iter().map(|it| ("formulations", &it.row.id, &it.place));
    let instruments = set.instruments.iter().map(|it| ("instruments", &it.row.id, &it.place));
    for (folder, id, place) in herbs.chain(formulations).chain(instruments) {
        if place.file != format!("{folder}/{id}.json") {
            desk.note(place, id.as_str(), "a file of another name", format!("`{folder}/{id}.json`"));
        }
    }
}

fn check_paper_id(desk: &mut Desk, place: &Place, row: &PaperRow) {
    let is_fit = match row.pmid() {
        Some(pmid) => digits(pmid) && pmid.len() <= 8 && !pmid.starts_with('0'),
        None => row.doi.as_ref().is_some_and(|doi| doi.starts_with("10.") && row.id == format!("DOI:{doi}")),
    };
    if !is_fit {
        desk.note(place, &row.id, "another form of id", "`PMID:` and up to eight digits, or `DOI:` and its `doi`");
    }
}

pub fn check_day(desk: &mut Desk, place: &Place, at: &str, day: &str) {
    let parts: Vec<&str> = day.split('-').collect();
    let number = |at: usize| parts.get(at).filter(|part| digits(part)).and_then(|part| part.parse::<u32>().ok());
    let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
    let is_day = lengths == [4, 2, 2]
        && number(0).is_some()
        && number(1).is_some_and(|month| (1..=12).contains(&month))
        && number(2).is_some_and(|day| (1..=31).contains(&day));
    if !is_day {
        desk.note(place, format!("{at} reviewed"), format!("`{day}`"), "a day as `YYYY-MM-DD`");
    }
}

pub fn check_text(desk: &mut Desk, place: &Place, at: &str, text: &str) {
    if text.trim() != text || text.is_empty() {
        desk.note(place, at, "nothing, or outer spaces", "words");
    } else if text.chars().count() > TEXT_CHARS_MAX {
        desk.note(place, at, format!("more than {TEXT_CHARS_MAX} characters"), "something shorter");
    }
}

fn check_conditions(set: &Set, desk: &mut Desk) {
    for condition in &set.conditions {
        let row = &condition.row;
        let is_icd = |code: &String| {
            let (head, rest) = code.split_once('.').map_or((code.as_str(), None), |(head, rest)| (head, Some(rest)));
            let rest_of_head = head.strip_prefix(|c: char| c.is_ascii_uppercase());
            let is_head = rest_of_head.is_some_and(|rest| rest.len() == 2 && digits(rest));
            is_head && rest.is_none_or(|rest| rest.len() == 1 && digits(rest))
        };
        if let Some(code) = row.icd10.iter().find(|code| !is_icd(code)) {
            desk.note(
                &condition.place,
                format!("{} icd10", row.id),
                format!("`{code}`"),
                "a code such as `R11` or `J02.0`",
            );
        }
        let is_ttm = |code: &String| {
            let block = code.get(1..3).and_then(|block| block.parse::<u32>().ok());
            code.strip_prefix('U').is_some_and(digits) && block.is_some_and(|block| (50..=77).contains(&block))
        };
        if let Some(code) = row.ttm_codes.iter().find(|code| !is_ttm(code)) {
            let at = format!("{} ttm_codes", row.id);
            desk.note(&condition.place, at, format!("`{code}`"), "a code of U50 to U77 without its dot");
        }
    }
}

/// Every class that is named is there, and none is broader than itself.
fn check_classes(set: &Set, index: &Index<'_>, desk: &mut Desk) {
    for class in &set.classes {
        let id = class.row.id.as_str();
        refer(desk, index, &class.place, &format!("{id} broader"), &class.row.broader, &[Thing::Class]);
        let mut ahead: Vec<&str> = class.row.broader.iter().map(String::as_str).collect();
        let mut seen = HashSet::new();
        while let Some(broader) = ahead.pop() {
            if broader == id {
                desk.note(&class.place, format!("{id} broader"), "a cycle back to itself", "classes that are broader");
                break;
            }
            if seen.insert(broader) {
                ahead.extend(index.broader.get(broader).copied().unwrap_or_default().iter().map(String::as_str));
            }
        }
    }
}

/// Ids that name things of these kinds, each once.
pub fn refer(desk: &mut Desk, index: &Index<'_>, place: &Place, at: &str, ids: &[String], kinds: &[Thing]) {
    let names = kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    let mut seen = HashSet::new();
    for id in ids {
        match index.find(id) {
            Some(kind) if kinds.contains(&kind) => {}
            Some(kind) => desk.note(place, at, format!("`{id}`, a {}", kind.name()), format!("one of: {names}")),
            None => desk.note(place, at, format!("`{id}`, which is not there"), format!("one of: {names}")),
        }
        if !seen.insert(id) {
            desk.note(place, at, format!("`{id}` twice"), "each once");
        }
    }
}

fn check_monograph(desk: &mut Desk, place: &Place, id: &str, monograph: &Monograph) {
    for (lang, sections) in [(Lang::En, &monograph.en), (Lang::Th, &monograph.th)] {
        for (section, text) in sections.all() {
            check_text(desk, place, &format!("{id} monograph/{}/{section}", lang.name()), text);
        }
    }
}

pub fn all_names(names: &Names) -> impl Iterator<Item = &String> {
    names.th.iter().chain(&names.en).chain(&names.la)
}

fn check_instrument(desk: &mut Desk, instrument: &Located<InstrumentFile>) {
    let (place, row) = (&instrument.place, &instrument.row);
    let items = usize::try_from(row.items).unwrap_or(usize::MAX);
    let ranges = row.item_ranges.clone().unwrap_or_else(|| vec![row.item_range; items.min(ITEMS_MAX)]);
    let sums = ranges
        .iter()
        .fold([0_i32, 0], |sums, range| [sums[0].saturating_add(range[0]), sums[1].saturating_add(range[1])]);
    if ranges.len() != items {
        desk.note(place, format!("{} items", row.id), format!("{} ranges", ranges.len()), format!("{items}"));
    }
    if sums != row.score_range {
        desk.note(place, format!("{} score_range", row.id), format!("{:?}", row.score_range), format!("{sums:?}"));
    }
    check_bands(desk, place, &row.id, &row.bands, row.score_range);
    for bands in row.bands_by_sex.iter().flat_map(|by_sex| by_sex.values()) {
        check_bands(desk, place, &row.id, bands, row.score_range);
    }
    let mut named = row.reversed_items.iter().chain(row.red_flags.iter().map(|flag| &flag.item));
    if let Some(item) = named.find(|item| !(1..=row.items).contains(*item)) {
        desk.note(place, row.id.as_str(), format!("item {item}"), format!("1 to {}", row.items));
    }
    for (member, n) in
        [("item_texts", row.item_texts.as_ref().map(Vec::len)), ("loinc/items", row.loinc.items.as_ref().map(Vec::len))]
    {
        if let Some(n) = n.filter(|n| *n != items) {
            desk.note(place, format!("{} {member}", row.id), format!("{n}"), format!("{items}"));
        }
    }
}

/// They cover the whole range of scores, in order and without gaps.
fn check_bands(desk: &mut Desk, place: &Place, id: &str, bands: &[Band], [min, max]: [i32; 2]) {
    let mut next = min;
    for band in bands {
        if band.min != next || band.max < band.min {
            let found = format!("{} to {}", band.min, band.max);
            desk.note(place, format!("{id} bands/{}", band.id), found, format!("from {next} on"));
        }
        next = band.max.saturating_add(1);
    }
    if next != max.saturating_add(1) {
        let found = format!("an end at {}", next.saturating_sub(1));
        desk.note(place, format!("{id} bands"), found, format!("an end at {max}"));
    }
}

fn check_patient(desk: &mut Desk, patient: &Located<serde_json::Value>) {
    let (place, bundle) = (&patient.place, &patient.row);
    let kind =
        |resource: &serde_json::Value| resource.get("resourceType").and_then(|it| it.as_str()).map(str::to_owned);
    if kind(bundle).as_deref() != Some("Bundle") {
        return desk.note(place, "", "another resource", "a FHIR R4 Bundle");
    }
    let entries = bundle.get("entry").and_then(|it| it.as_array()).map(Vec::as_slice).unwrap_or_default();
    let kinds: Vec<String> = entries.iter().filter_map(|entry| kind(entry.get("resource")?)).collect();
    if kinds.len() != entries.len() || kinds.iter().filter(|kind| *kind == "Patient").count() != 1 {
        desk.note(place, "entry", format!("{kinds:?}"), "resources, and one Patient among them");
    }
    if let Some(other) = kinds.iter().find(|kind| !RESOURCES.contains(&kind.as_str())) {
        desk.note(place, "entry", format!("`{other}`"), RESOURCES.join(", "));
    }
    let is_marked =
        |resource: &serde_json::Value| resource.get("meta").is_some_and(|meta| meta.to_string().contains("HTEST"));
    let unmarked = entries.iter().filter_map(|entry| entry.get("resource")).position(|resource| !is_marked(resource));
    if let Some(at) = unmarked.filter(|_| !is_marked(bundle)) {
        desk.note(
            place,
            format!("entry/{at} meta"),
            "no mark",
            "the security label HTEST: nobody may be taken for real",
        );
    }
}
