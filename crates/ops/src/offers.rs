//! What is offered beside tools: addresses to read and prompts to use, each bound to a read operation.

use serde_json::Value;

use crate::context::Services;
use crate::prompts::{self, Prompt};
use crate::resources::{RESOURCES, Resource};

pub struct Offers {
    pub prompts: fn(&Services) -> Vec<Prompt>,
    /// The order counts: the first family that an address fits reads it.
    pub resources: &'static [Resource],
    /// Whether documents are listed among the resources.
    pub lists_documents: bool,
}

/// What the house offers.
pub const OFFERS: Offers = Offers { prompts: prompts::all, resources: RESOURCES, lists_documents: true };

impl Offers {
    /// By name; a generator also by its alias.
    pub fn find_prompt(&self, services: &Services, name: &str) -> Option<Prompt> {
        let catalogue = services.catalogue.current();
        let name = catalogue.find_generator(name).map_or(name, |generator| generator.name.as_str());
        (self.prompts)(services).into_iter().find(|prompt| prompt.name == name)
    }

    /// Which resource an address belongs to, with the operation's input.
    pub fn find_resource(&self, uri: &str) -> Option<(&'static Resource, Value)> {
        self.resources.iter().find_map(|resource| Some((resource, resource.input(uri)?)))
    }
}
