//! Families group operations that are served together and answer in the same dialect.

use contract::dialect::Dialect;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// About the house itself; listed with every family.
    House,
    Workflow,
    /// The graph, its documents, and the search over them.
    Evidence,
    /// For auditors.
    Audit,
}

impl Family {
    /// Families with an endpoint of their own (`/mcp/{name}`).
    pub const SERVED: [Family; 3] = [Family::Workflow, Family::Evidence, Family::Audit];

    pub fn name(self) -> &'static str {
        match self {
            Family::House => "house",
            Family::Workflow => "workflow",
            Family::Evidence => "evidence",
            Family::Audit => "audit",
        }
    }

    pub fn dialect(self) -> Dialect {
        match self {
            Family::House | Family::Audit => Dialect::Common,
            Family::Workflow => Dialect::Workflow,
            Family::Evidence => Dialect::Evidence,
        }
    }

    pub fn find(name: &str) -> Option<Family> {
        Family::SERVED.into_iter().find(|family| family.name() == name)
    }
}
