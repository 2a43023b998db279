//! Resources: addresses of what read operations answer. A resource is read through the door like anything else.

use serde_json::{Map, Value};

use crate::table::Table;

/// A family of addresses, bound to a read operation whose input is the address's variable.
pub struct Resource {
    /// With one variable in braces, such as `contract://operations/{name}`, or with none: one fixed address.
    pub template: &'static str,
    pub name: &'static str,
    pub about: &'static str,
    pub mime_type: &'static str,
    pub operation: &'static str,
    /// Values of the variable that are worth listing and completing.
    pub values: fn(&Table) -> Vec<String>,
}

pub const RESOURCES: &[Resource] = &[
    Resource {
        template: "contract://operations/{name}",
        name: "operation contract",
        about: "Input and output schema of one operation, its family and who may call it.",
        mime_type: "application/json",
        operation: "describe_operation",
        values: |table| table.all().iter().map(|tool| tool.entry.name.to_owned()).collect(),
    },
    Resource {
        template: "job://jobs/{job_id}",
        name: "job",
        about: "How far one of your jobs is, what it asks, and how it ended.",
        mime_type: "application/json",
        operation: "job_status",
        values: |_| Vec::new(),
    },
];

impl Resource {
    /// The text around the variable, and the variable's name.
    fn parts(&self) -> (&str, &str, &str) {
        let (before, rest) = self.template.split_once('{').unwrap_or((self.template, ""));
        let (variable, after) = rest.split_once('}').unwrap_or((rest, ""));
        (before, variable, after)
    }

    /// Whether this is one address and not a family of them.
    pub fn is_fixed(&self) -> bool {
        self.variable().is_empty()
    }

    pub fn variable(&self) -> &str {
        self.parts().1
    }

    pub fn uri(&self, value: &str) -> String {
        let (before, _, after) = self.parts();
        format!("{before}{value}{after}")
    }

    /// The operation's input for an address, if the address is one of this family.
    pub fn input(&self, uri: &str) -> Option<Value> {
        let (before, variable, after) = self.parts();
        if self.is_fixed() {
            return (uri == self.template).then(|| Value::Object(Map::new()));
        }
        let value = uri.strip_prefix(before)?.strip_suffix(after)?;
        let is_plain = !value.is_empty() && value.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b));
        is_plain.then(|| Value::Object(Map::from_iter([(variable.to_owned(), Value::from(value))])))
    }
}
