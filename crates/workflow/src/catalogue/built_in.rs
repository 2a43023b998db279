//! The files of `data/workflow`, compiled in.

pub const TYPES: &str = include_str!("../../../../data/workflow/types.json");
pub const GENERATORS: &str = include_str!("../../../../data/workflow/generators.json");
pub const MARKERS: &str = include_str!("../../../../data/workflow/markers.json");

macro_rules! checklists {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../data/workflow/checklists/", $name, ".json")))),*]
    };
}

macro_rules! templates {
    ($($name:literal),* $(,)?) => {
        &[$(($name, include_str!(concat!("../../../../data/workflow/templates/", $name, ".md")))),*]
    };
}

pub const CHECKLISTS: &[(&str, &str)] = checklists![
    "adr_validation_v1",
    "backlog_story_validation_v1",
    "business_research_validation_v1",
    "care_plan_validation_v1",
    "coding_standards_validation_v1",
    "epic_validation_v1",
    "evidence_review_validation_v1",
    "funcspec_validation_v1",
    "hls_validation_v1",
    "implementation_research_validation_v1",
    "implementation_task_validation_v1",
    "initiative_validation_v1",
    "prd_validation_v1",
    "product_vision_validation_v1",
    "spike_validation_v1",
    "tech_spec_validation_v1",
];

pub const TEMPLATES: &[(&str, &str)] = templates![
    "adr",
    "backlog_story",
    "business_research",
    "care_plan",
    "coding_standards",
    "epic",
    "evidence_review",
    "funcspec",
    "hls",
    "implementation_research",
    "initiative",
    "prd",
    "product_vision",
    "spike",
    "task",
    "tech_spec",
];
