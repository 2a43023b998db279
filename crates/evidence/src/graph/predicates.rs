//! Which predicates hold of both ends alike, and along which ones what is said of one end holds for the other. A source writes
//! a statement of the first kind once, from whichever end it likes, and every question must find it from the other one too.

use contract::evidence::checked::Checked;

use super::{Direction, Words};

/// The one list of them; nobody keeps another.
const BOTH_WAYS: [&str; 3] = ["contraindicated_with", "has_contraindication", "interacts_with"];

pub fn holds_both_ways(predicate: &str) -> bool {
    BOTH_WAYS.contains(&predicate)
}

/// Whether it says that something is not so: `not_` before a statement that sources make. Any other word that begins so is a
/// statement of its own, such as `not_recommended_in`, and must not be passed over as if it denied one.
pub fn denies(predicate: &str) -> bool {
    let Some(stated) = predicate.strip_prefix("not_") else { return false };
    let leads = HAS_MEMBER.iter().chain(&HAS_INGREDIENT).chain(&IS_INGREDIENT_OF).chain(&SAME);
    let mut known = leads.chain(&BOTH_WAYS).chain(&WARNS_BY_NOT).chain(STATED);
    // The importers alone write `not_` before an id of another vocabulary.
    stated.contains(':') || IN_CLASS.iter().any(|(known, _)| *known == stated) || known.any(|known| *known == stated)
}

/// Warnings that begin as a denial does. Nobody states the opposite of them.
pub const WARNS_BY_NOT: [&str; 24] = [
    "not_advisable_during",
    "not_advisable_for",
    "not_advisable_in",
    "not_advisable_with",
    "not_advised_during",
    "not_advised_for",
    "not_advised_in",
    "not_advised_with",
    "not_recommended_during",
    "not_recommended_for",
    "not_recommended_in",
    "not_recommended_with",
    "not_safe_during",
    "not_safe_for",
    "not_safe_in",
    "not_safe_with",
    "not_suitable_during",
    "not_suitable_for",
    "not_suitable_in",
    "not_suitable_with",
    "not_to_be_used_during",
    "not_to_be_used_for",
    "not_to_be_used_in",
    "not_to_be_used_with",
];

/// What else the formats that negate statements have words for: those of Biolink, SemMedDB and Hetionet, and what answers about
/// safety read.
const STATED: &[&str] = &[
    "active_in",
    "acts_upstream_of",
    "administered_to",
    "affected_by",
    "affects",
    "affects_response_to",
    "ameliorates_condition",
    "applied_to_treat",
    "associated_with",
    "augments",
    "binds",
    "biomarker_for",
    "catalyzes",
    "caused_by",
    "causes",
    "causes_adverse_event",
    "cautioned_in",
    "chemically_similar_to",
    "close_match",
    "coexists_with",
    "colocalizes_with",
    "compared_with",
    "complicates",
    "contraindicated_in",
    "contributes_to",
    "converts_to",
    "correlated_with",
    "covaries_with",
    "decreases_response_to",
    "derives_from",
    "develops_from",
    "diagnoses",
    "directly_physically_interacts_with",
    "disease_has_basis_in",
    "disease_has_location",
    "disrupts",
    "enabled_by",
    "enables",
    "exacerbates",
    "exacerbates_condition",
    "expressed_in",
    "expresses",
    "gene_associated_with_condition",
    "gene_product_of",
    "genetically_associated_with",
    "has_adverse_effect",
    "has_adverse_event",
    "has_gene_product",
    "has_indication",
    "has_input",
    "has_metabolite",
    "has_output",
    "has_participant",
    "has_phenotype",
    "has_side_effect",
    "has_target",
    "higher_than",
    "homologous_to",
    "in_clinical_trials_for",
    "in_taxon",
    "increases_response_to",
    "increases_risk_of",
    "inhibits",
    "located_in",
    "location_of",
    "lower_than",
    "manifestation_of",
    "method_of",
    "model_of",
    "negatively_correlated_with",
    "occurs_in",
    "orthologous_to",
    "overlaps",
    "palliates",
    "participates_in",
    "phenotype_of",
    "physically_interacts_with",
    "positively_correlated_with",
    "precedes",
    "predisposes",
    "predisposes_to_condition",
    "preventative_for_condition",
    "prevents",
    "process_of",
    "produced_by",
    "produces",
    "regulated_by",
    "regulates",
    "related_to",
    "resistance_associated_with",
    "sensitivity_associated_with",
    "similar_to",
    "stimulates",
    "studied_for",
    "studied_to_treat",
    "target_for",
    "toxic_to",
    "traditionally_used_for",
    "treated_by",
    "treats",
    "treats_or_applied_or_studied_to_treat",
    "uses",
    "worsens",
];

/// Each of them.
pub(super) fn both_ways() -> impl Iterator<Item = &'static str> {
    BOTH_WAYS.into_iter()
}

/// From a thing to the classes that it is in: what is said of the end holds for the start.
const IN_CLASS: [(&str, Class); 5] = [
    ("member_of", Class::Group),
    ("subclass_of", Class::Kind),
    ("is_a", Class::Kind),
    ("instance_of", Class::Kind),
    ("type_of", Class::Group),
];

/// What a class is to what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Class {
    /// The same sort of thing, only broader: a herb is a kind of herb.
    Kind,
    /// Things that are put together for what they do.
    Group,
}

/// From a class to what is in it.
pub const HAS_MEMBER: [&str; 3] = ["has_member", "has_subclass", "superclass_of"];

/// Each of those that lead to a class.
pub fn in_class() -> impl Iterator<Item = &'static str> {
    IN_CLASS.into_iter().map(|(predicate, _)| predicate)
}

/// From a kind of thing to the kind that it is one of.
pub fn is_kind_of() -> impl Iterator<Item = &'static str> {
    IN_CLASS.into_iter().filter(|(_, class)| *class == Class::Kind).map(|(predicate, _)| predicate)
}

/// From a thing to what is in it, for which the same is true; and from that to the thing.
pub const HAS_INGREDIENT: [&str; 10] = [
    "contains",
    "has_part",
    "has_ingredient",
    "has_active_ingredient",
    "has_component",
    "has_active_component",
    "has_constituent",
    "composed_of",
    "consists_of",
    "made_of",
];
pub const IS_INGREDIENT_OF: [&str; 8] = [
    "part_of",
    "ingredient_of",
    "component_of",
    "active_ingredient_of",
    "is_active_ingredient_of",
    "is_ingredient_of",
    "is_component_of",
    "constituent_of",
];

/// Between two nodes for one thing.
const SAME: [&str; 6] = ["same_as", "exact_match", "equivalent_to", "sameAs", "exactMatch", "skos:exactMatch"];

/// The numbers of those predicates in a graph. Every question asks for them, so the graph knows them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Leads {
    upward: Vec<(u32, Direction)>,
    members: Vec<(u32, Direction)>,
    same: Vec<u32>,
    has_denials: bool,
}

impl Leads {
    pub(super) fn of(predicates: &Words) -> Leads {
        let find = |predicate: &&str| predicates.find(predicate);
        let in_class = IN_CLASS.iter().map(|(predicate, _)| predicate);
        let members = in_class.clone().filter_map(find).map(|it| (it, Direction::In));
        let members = members.chain(HAS_MEMBER.iter().filter_map(find).map(|it| (it, Direction::Out))).collect();
        let along = in_class.chain(&HAS_INGREDIENT).filter_map(find).map(|it| (it, Direction::Out));
        let against = IS_INGREDIENT_OF.iter().chain(&HAS_MEMBER).filter_map(find).map(|it| (it, Direction::In));
        let has_denials = predicates.all().iter().any(|predicate| denies(predicate));
        let (upward, same) = (along.chain(against).collect(), SAME.iter().filter_map(find).collect());
        Leads { upward, members, same, has_denials }
    }

    /// Whether there are statements that something is not so.
    pub fn has_denials(&self) -> bool {
        self.has_denials
    }

    /// Those that lead from a thing to what it belongs to or is made of, and whether along the edge or against it.
    pub fn upward(&self) -> &[(u32, Direction)] {
        &self.upward
    }

    /// Those that lead from a class to what is in it, and whether along the edge or against it.
    pub fn members(&self) -> &[(u32, Direction)] {
        &self.members
    }

    /// Those that say that two nodes are one thing, which holds in both directions.
    pub fn same(&self) -> &[u32] {
        &self.same
    }

    pub fn contains(&self, predicate: u32) -> bool {
        self.checked(predicate, None).is_some()
    }

    /// How well it is checked that a statement leads on, by whether somebody verified it. `None` where it does not lead.
    pub fn checked(&self, predicate: u32, verified: Option<bool>) -> Option<Checked> {
        if self.same.contains(&predicate) {
            return Some(Checked::of_identity(verified == Some(true)));
        }
        let is_upward = self.upward.iter().any(|(upward, _)| *upward == predicate);
        is_upward.then(|| verified.into())
    }
}
