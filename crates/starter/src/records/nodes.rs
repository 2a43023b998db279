//! Herbs, formulations, constituents, conditions, drugs and classes as nodes.

use std::collections::BTreeMap;

use contract::evidence::record::{Name, Node};
use contract::evidence::starter::OWN_SOURCE;
use serde_json::{Value, json};

use super::{first_source, provenance};
use crate::parse::Set;
use crate::rows::{Bilingual, ConditionKind, ConditionRow, Names, Stated};

pub fn all(set: &Set) -> Vec<Node> {
    let mut nodes = Vec::new();
    nodes.extend(set.conditions.iter().map(|it| condition(&it.row)));
    nodes.extend(set.constituents.iter().map(|it| {
        let row = &it.row;
        let class = row.class.iter().map(|class| ("class".to_owned(), json!(class)));
        Node { attributes: class.collect(), ..plain(&row.id, &["constituent", "chemical_entity"], &row.names) }
    }));
    nodes.extend(set.classes.iter().map(|it| plain(&it.row.id, &["drug_class"], &it.row.names)));
    nodes.extend(set.drugs.iter().map(|it| {
        let row = &it.row;
        let mut node = stated(&row.id, &["drug"], &row.names, row);
        node.names.extend(row.brands.iter().map(|text| Name { text: text.clone(), lang: "en".to_owned() }));
        // Found by them, never shown for it.
        node.names.extend(row.misspellings.iter().map(|text| Name { text: text.clone(), lang: "und".to_owned() }));
        node.same_as = row.drugbank.iter().map(|code| format!("DRUGBANK:{code}")).collect();
        if !row.brands.is_empty() {
            node.attributes.insert("brands".to_owned(), json!(row.brands));
        }
        node
    }));
    nodes.extend(
        set.other_substances.iter().map(|it| stated(&it.row.id, &[it.row.kind.name()], &it.row.names, &it.row)),
    );
    nodes.extend(set.herbs.iter().map(|it| {
        let row = &it.row;
        let mut node = stated(&row.id, &["herb"], &row.names, row);
        node.attributes.insert("family".to_owned(), json!(row.family));
        node.attributes.insert("parts".to_owned(), both(&row.parts));
        node
    }));
    nodes.extend(set.formulations.iter().map(|it| {
        let row = &it.row;
        let mut node = stated(&row.id, &["formulation"], &row.names, row);
        if !row.other_ingredients.is_empty() {
            node.attributes.insert("other_ingredients".to_owned(), both(&row.other_ingredients));
        }
        node
    }));
    nodes
}

fn both(texts: &[Bilingual]) -> Value {
    texts.iter().map(|text| format!("{} ({})", text.en, text.th)).collect()
}

fn condition(row: &ConditionRow) -> Node {
    let categories: &[&str] = match row.kind {
        ConditionKind::Disease => &["indication", "disease"],
        ConditionKind::Symptom => &["indication", "symptom"],
        ConditionKind::State => &["condition", "state"],
        ConditionKind::Age => &["condition", "age"],
        ConditionKind::Allergy => &["condition", "allergy"],
        ConditionKind::UsageLimit => &["condition", "usage_limit"],
    };
    let icd = row.icd10.iter().map(|code| format!("ICD10:{code}"));
    let ttm = row.ttm_codes.iter().map(|code| format!("ICD10TM:{code}"));
    Node { same_as: icd.chain(ttm).collect(), ..plain(&row.id, categories, &row.names) }
}

fn plain(id: &str, categories: &[&str], names: &Names) -> Node {
    let in_lang = |lang: &'static str, names: &[String]| {
        names.iter().map(move |text| Name { text: text.clone(), lang: lang.to_owned() }).collect::<Vec<_>>()
    };
    Node {
        id: id.to_owned(),
        categories: categories.iter().map(|category| (*category).to_owned()).collect(),
        names: [in_lang("th", &names.th), in_lang("en", &names.en), in_lang("la", &names.la)].concat(),
        description: None,
        same_as: Vec::new(),
        attributes: BTreeMap::new(),
        source: OWN_SOURCE.to_owned(),
    }
}

fn stated(id: &str, categories: &[&str], names: &Names, row: &impl Stated) -> Node {
    let origin = row.origin();
    Node { attributes: provenance(origin), source: first_source(origin), ..plain(id, categories, names) }
}
