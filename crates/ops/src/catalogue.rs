//! What is offered beside tools: addresses to read and prompts to use, each bound to a read operation.

use crate::prompts::{PROMPTS, Prompt};
use crate::resources::{RESOURCES, Resource};
use serde_json::Value;

pub struct Catalogue {
    pub prompts: &'static [Prompt],
    pub resources: &'static [Resource],
}

/// What the house offers.
pub const CATALOGUE: Catalogue = Catalogue { prompts: PROMPTS, resources: RESOURCES };

impl Catalogue {
    pub fn find_prompt(&self, name: &str) -> Option<&'static Prompt> {
        self.prompts.iter().find(|prompt| prompt.name == name)
    }

    /// Which resource an address belongs to, with the operation's input.
    pub fn find_resource(&self, uri: &str) -> Option<(&'static Resource, Value)> {
        self.resources.iter().find_map(|resource| Some((resource, resource.input(uri)?)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn an_address_becomes_the_input_of_its_operation() {
        let (resource, input) = CATALOGUE.find_resource("contract://operations/reserve_id_range").unwrap();
        assert_eq!((resource.operation, input), ("describe_operation", json!({"name": "reserve_id_range"})));
    }

    #[test]
    fn what_is_not_a_plain_name_is_no_address() {
        for uri in ["contract://operations/", "contract://operations/../x", "contract://operations/a%2fb", "x://y"] {
            assert!(CATALOGUE.find_resource(uri).is_none(), "{uri}");
        }
    }
}
