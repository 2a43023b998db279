//! Each name means one thing, unless `ambiguous.json` says that it rightly means several.

use std::collections::{BTreeMap, BTreeSet};

use unicode_normalization::UnicodeNormalization as _;

use super::Desk;
use super::things::all_names;
use crate::parse::Set;
use crate::places::Place;
use crate::rows::Names;

const NAME_CHARS_MAX: usize = 200;

/// As names are compared: without case, and with single spaces.
pub fn normal(name: &str) -> String {
    let words: Vec<&str> = name.split_whitespace().collect();
    words.join(" ").nfc().collect::<String>().to_lowercase()
}

struct Named<'a> {
    id: &'a str,
    names: &'a Names,
    others: Vec<&'a String>,
    /// Languages in which it must have a name.
    langs: &'static [&'static str],
    place: &'a Place,
}

pub fn check(set: &Set, desk: &mut Desk) {
    let mut owners: BTreeMap<String, BTreeMap<&str, &Place>> = BTreeMap::new();
    let named = all(set);
    for thing in &named {
        for lang in thing.langs {
            let names = match *lang {
                "th" => &thing.names.th,
                "la" => &thing.names.la,
                _ => &thing.names.en,
            };
            if names.is_empty() {
                desk.note(thing.place, format!("{} names/{lang}", thing.id), "none", "a name");
            }
        }
        for name in all_names(thing.names).chain(thing.others.iter().copied()) {
            if name.trim() != name || name.is_empty() || name.chars().count() > NAME_CHARS_MAX {
                desk.note(
                    thing.place,
                    format!("{} names", thing.id),
                    format!("`{name}`"),
                    "a name without outer spaces",
                );
            }
            owners.entry(normal(name)).or_default().insert(thing.id, thing.place);
        }
    }
    let stated: BTreeMap<String, BTreeSet<&str>> = set
        .ambiguous
        .iter()
        .map(|it| (normal(&it.row.name), it.row.ids.iter().map(String::as_str).collect()))
        .collect();
    for (name, ids) in &owners {
        let is_stated = stated.get(name).is_some_and(|stated| ids.keys().all(|id| stated.contains(id)));
        if ids.len() > 1 && !is_stated {
            let all = ids.keys().copied().collect::<Vec<_>>().join(", ");
            for (id, place) in ids.iter().skip(1) {
                let expected = "one meaning, or a row of ambiguous.json";
                desk.note(place, format!("{id} names"), format!("`{name}`, which means {all}"), expected);
            }
        }
    }
    for row in &set.ambiguous {
        let known = owners.get(&normal(&row.row.name));
        for id in &row.row.ids {
            if !known.is_some_and(|known| known.contains_key(id.as_str())) {
                let expected = "ids that have this name";
                desk.note(&row.place, format!("{} ids", row.row.name), format!("`{id}`"), expected);
            }
        }
    }
}

fn all(set: &Set) -> Vec<Named<'_>> {
    let mut named = Vec::new();
    for it in &set.conditions {
        let (id, names, place) = (&it.row.id, &it.row.names, &it.place);
        named.push(Named { id, names, others: Vec::new(), langs: &["th", "en"], place });
    }
    for it in &set.constituents {
        let (id, names, place) = (&it.row.id, &it.row.names, &it.place);
        named.push(Named { id, names, others: Vec::new(), langs: &["en"], place });
    }
    for it in &set.classes {
        let (id, names, place) = (&it.row.id, &it.row.names, &it.place);
        named.push(Named { id, names, others: Vec::new(), langs: &["en"], place });
    }
    for it in &set.drugs {
        let (id, names, place) = (&it.row.id, &it.row.names, &it.place);
        let others = it.row.brands.iter().chain(&it.row.misspellings).collect();
        named.push(Named { id, names, others, langs: &["en"], place });
    }
    for it in &set.other_substances {
        let (id, names, place) = (&it.row.id, &it.row.names, &it.place);
        named.push(Named { id, names, others: Vec::new(), langs: &["en"], place });
    }
    for it in &set.herbs {
        let (id, names, place) = (&it.row.id, &it.row.names, &it.place);
        named.push(Named { id, names, others: Vec::new(), langs: &["th", "en", "la"], place });
    }
    for it in &set.formulations {
        let (id, names, place) = (&it.row.id, &it.row.names, &it.place);
        named.push(Named { id, names, others: Vec::new(), langs: &["th"], place });
    }
    named
}
