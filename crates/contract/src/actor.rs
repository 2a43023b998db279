//! Who calls: an organisation, an id, a kind and the roles that decide what is allowed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{ActorId, OrganisationId};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActorKind {
    Human,
    Agent,
    Service,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    Viewer,
    Clinician,
    Author,
    Curator,
    Approver,
    Auditor,
    PrivacyOfficer,
    Admin,
    Agent,
}

impl Role {
    pub const ALL: [Role; 9] = [
        Role::Viewer,
        Role::Clinician,
        Role::Author,
        Role::Curator,
        Role::Approver,
        Role::Auditor,
        Role::PrivacyOfficer,
        Role::Admin,
        Role::Agent,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Role::Viewer => "viewer",
            Role::Clinician => "clinician",
            Role::Author => "author",
            Role::Curator => "curator",
            Role::Approver => "approver",
            Role::Auditor => "auditor",
            Role::PrivacyOfficer => "privacy_officer",
            Role::Admin => "admin",
            Role::Agent => "agent",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Actor {
    pub organisation_id: OrganisationId,
    pub id: ActorId,
    pub kind: ActorKind,
    pub roles: Vec<Role>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_role_is_its_json() {
        for role in Role::ALL {
            assert_eq!(serde_json::to_value(role).unwrap(), role.name());
        }
    }
}
