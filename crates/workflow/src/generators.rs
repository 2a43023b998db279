//! Generators: what each makes and from what, read from `data/workflow/generators.json`.

use contract::workflow::tasks::InputClass;
use serde::Deserialize;

const BUILT_IN: &str = include_str!("../../../data/workflow/generators.json");

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    generators: Vec<Generator>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    pub name: String,
    #[serde(default)]
    pub aliases: Vec<String>,
    pub produces: String,
    pub inputs: Vec<InputRule>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct InputRule {
    pub name: String,
    pub classification: InputClass,
    pub artifact_type: String,
    #[serde(default)]
    pub exclusive_group: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Generators(Vec<Generator>);

impl Generators {
    pub fn built_in() -> Result<Generators, serde_json::Error> {
        Ok(Generators(serde_json::from_str::<File>(BUILT_IN)?.generators))
    }

    pub fn find(&self, name: &str) -> Option<&Generator> {
        self.0.iter().find(|it| it.name == name || it.aliases.iter().any(|alias| alias == name))
    }
}
