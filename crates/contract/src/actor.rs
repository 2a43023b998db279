//! Who calls: an organisation, an id, a kind, and the roles and scopes that decide what is allowed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{ActorId, FhirId, KeyId, OrganisationId};
use crate::scope::Scope;

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

/// The house itself, at what it does without being asked.
pub const HOUSEKEEPER: &str = "housekeeper";

/// Who acts without a key: the owner, the program itself and its housekeeper, and whoever was not recognised. A key in one
/// of these names would make its holder's acts look like theirs.
pub const RESERVED_IDS: [&str; 4] = ["owner", "materia", HOUSEKEEPER, "anonymous"];

/// Is this one of [`RESERVED_IDS`], or would a reader take it for one?
pub fn is_reserved(id: &ActorId) -> bool {
    RESERVED_IDS.iter().any(|reserved| id.as_str().eq_ignore_ascii_case(reserved))
}

/// Whether a reader would take the actor for one of the issuer's people, who are `{issuer}.{sub}`. A key in their name would
/// hold what is theirs.
pub fn is_of_issuer(id: &ActorId, issuer: &str) -> bool {
    let name = id.as_str().get(..issuer.len()).unwrap_or_default();
    name.eq_ignore_ascii_case(issuer) && id.as_str().get(issuer.len()..).is_some_and(|rest| rest.starts_with('.'))
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Actor {
    pub organisation_id: OrganisationId,
    pub id: ActorId,
    pub kind: ActorKind,
    pub roles: Vec<Role>,
    /// What its token or key is limited to. `None` leaves the decision to the roles; an empty list grants nothing that
    /// asks for a scope.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scopes: Option<Vec<Scope>>,
    /// The one patient whose data a `patient/` scope means.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patient_id: Option<FhirId>,
    #[serde(default)]
    pub credential: Credential,
}

/// By what the actor was recognised.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Credential {
    /// The house's own: the start token, the command line, a key of the settings.
    #[default]
    House,
    Key {
        key_id: KeyId,
    },
    /// A token of an authorization server.
    Token {
        issuer: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        client_id: Option<String>,
    },
}

impl Actor {
    /// Somebody whom the house itself knows and whom roles alone limit.
    pub fn new(organisation_id: OrganisationId, id: ActorId, kind: ActorKind, roles: Vec<Role>) -> Actor {
        Actor { organisation_id, id, kind, roles, scopes: None, patient_id: None, credential: Credential::House }
    }

    pub fn may_use(&self, required: &Scope) -> bool {
        self.scopes.as_ref().is_none_or(|granted| granted.iter().any(|scope| scope.covers(required)))
    }
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
