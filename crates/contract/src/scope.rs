//! Scopes: what a token or a key is limited to. Words of our own for the house, SMART v2 for patient data.
//!
//! A scope that is not understood grants nothing: it does not parse, and whoever reads a list leaves it out.

use std::borrow::Cow;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

const RESOURCE_CHARS_MAX: usize = 64;
const FILTER_CHARS_MAX: usize = 256;
const SCOPE_CHARS_MAX: usize = 350;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a scope such as `id.reserve` or `patient/Observation.rs`")]
pub struct ScopeError;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Scope {
    House(HouseScope),
    Data(DataScope),
}

/// What may be done to the house's own things.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HouseScope {
    ArtifactWrite,
    ArtifactApprove,
    TaskWrite,
    EvidenceWrite,
    IdReserve,
    JobRun,
    AuditRead,
    KeyAdmin,
    HouseAdmin,
}

impl HouseScope {
    pub const ALL: [HouseScope; 9] = [
        HouseScope::ArtifactWrite,
        HouseScope::ArtifactApprove,
        HouseScope::TaskWrite,
        HouseScope::EvidenceWrite,
        HouseScope::IdReserve,
        HouseScope::JobRun,
        HouseScope::AuditRead,
        HouseScope::KeyAdmin,
        HouseScope::HouseAdmin,
    ];

    pub fn name(self) -> &'static str {
        match self {
            HouseScope::ArtifactWrite => "artifact.write",
            HouseScope::ArtifactApprove => "artifact.approve",
            HouseScope::TaskWrite => "task.write",
            HouseScope::EvidenceWrite => "evidence.write",
            HouseScope::IdReserve => "id.reserve",
            HouseScope::JobRun => "job.run",
            HouseScope::AuditRead => "audit.read",
            HouseScope::KeyAdmin => "key.admin",
            HouseScope::HouseAdmin => "house.admin",
        }
    }
}

/// `patient/Observation.rs?category=laboratory` of SMART App Launch 2.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataScope {
    pub context: DataContext,
    /// A FHIR resource type, or `*`.
    pub resource: String,
    access: Access,
    /// The search parameters after `?`. They narrow a grant, so a grant with a filter covers only itself.
    filter: Option<String>,
}

/// Whose data, from the narrowest to the widest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum DataContext {
    /// The one patient of the token.
    Patient,
    /// What the person who signed in may see.
    User,
    System,
}

impl DataContext {
    fn name(self) -> &'static str {
        match self {
            DataContext::Patient => "patient",
            DataContext::User => "user",
            DataContext::System => "system",
        }
    }
}

/// Create, read, update, delete, search: one bit each, in the order of the letters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Access(u8);

const LETTERS: [char; 5] = ['c', 'r', 'u', 'd', 's'];

impl Access {
    /// Letters in their order, each at most once; or a word of SMART v1.
    fn parse(text: &str) -> Option<Access> {
        let letters = match text {
            "read" => "rs",
            "write" => "cud",
            "*" => "cruds",
            letters => letters,
        };
        let mut bits = 0;
        let mut order = LETTERS.iter().enumerate();
        for letter in letters.chars() {
            let (place, _) = order.find(|(_, known)| **known == letter)?;
            bits |= 1 << place;
        }
        (bits != 0).then_some(Access(bits))
    }

    fn covers(self, required: Access) -> bool {
        self.0 & required.0 == required.0
    }
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let held = LETTERS.iter().enumerate().filter(|(place, _)| self.0 & (1 << place) != 0);
        f.write_str(&held.map(|(_, letter)| letter).collect::<String>())
    }
}

impl Scope {
    pub fn parse(text: &str) -> Result<Scope, ScopeError> {
        match HouseScope::ALL.into_iter().find(|scope| scope.name() == text) {
            Some(scope) => Ok(Scope::House(scope)),
            None => DataScope::parse(text).map(Scope::Data).ok_or(ScopeError),
        }
    }

    /// Whether somebody who was granted this may do what asks for `required`.
    pub fn covers(&self, required: &Scope) -> bool {
        match (self, required) {
            (Scope::House(granted), Scope::House(required)) => granted == required,
            (Scope::Data(granted), Scope::Data(required)) => granted.covers(required),
            (Scope::House(_), Scope::Data(_)) | (Scope::Data(_), Scope::House(_)) => false,
        }
    }

    /// Means the one patient of the token, and nothing where the token has none.
    pub fn is_of_one_patient(&self) -> bool {
        matches!(self, Scope::Data(DataScope { context: DataContext::Patient, .. }))
    }
}

impl DataScope {
    fn parse(text: &str) -> Option<DataScope> {
        let (text, filter) = match text.split_once('?') {
            Some((text, filter)) => (text, Some(filter)),
            None => (text, None),
        };
        let (context, rest) = text.split_once('/')?;
        let (resource, access) = rest.split_once('.')?;
        let context = [DataContext::Patient, DataContext::User, DataContext::System]
            .into_iter()
            .find(|known| known.name() == context)?;
        let is_type = resource.len() <= RESOURCE_CHARS_MAX
            && resource.starts_with(|c: char| c.is_ascii_uppercase())
            && resource.bytes().all(|byte| byte.is_ascii_alphabetic());
        let is_filter = |filter: &str| {
            (1..=FILTER_CHARS_MAX).contains(&filter.len()) && filter.bytes().all(|byte| byte.is_ascii_graphic())
        };
        if !(is_type || resource == "*") || !filter.is_none_or(is_filter) {
            return None;
        }
        let filter = filter.map(str::to_owned);
        Some(DataScope { context, resource: resource.to_owned(), access: Access::parse(access)?, filter })
    }

    fn covers(&self, required: &DataScope) -> bool {
        self.context >= required.context
            && (self.resource == "*" || self.resource == required.resource)
            && self.access.covers(required.access)
            && (self.filter.is_none() || self.filter == required.filter)
    }
}

impl fmt::Display for Scope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scope::House(scope) => f.write_str(scope.name()),
            Scope::Data(scope) => {
                write!(f, "{}/{}.{}", scope.context.name(), scope.resource, scope.access)?;
                scope.filter.as_ref().map_or(Ok(()), |filter| write!(f, "?{filter}"))
            }
        }
    }
}

impl TryFrom<String> for Scope {
    type Error = ScopeError;

    fn try_from(text: String) -> Result<Scope, ScopeError> {
        Scope::parse(&text)
    }
}

impl From<Scope> for String {
    fn from(scope: Scope) -> String {
        scope.to_string()
    }
}

impl JsonSchema for Scope {
    fn schema_name() -> Cow<'static, str> {
        "Scope".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "maxLength": SCOPE_CHARS_MAX })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scope(text: &str) -> Scope {
        Scope::parse(text).unwrap()
    }

    #[test]
    fn the_words_of_smart_v1_are_read_as_v2() {
        let check = |text: &str, expected: &str| assert_eq!(scope(text).to_string(), expected);
        check("patient/*.read", "patient/*.rs");
        check("user/Observation.write", "user/Observation.cud");
        check("system/*.*", "system/*.cruds");
        check("patient/Observation.rs?category=laboratory", "patient/Observation.rs?category=laboratory");
        check("id.reserve", "id.reserve");
    }

    #[test]
    fn what_is_not_understood_is_no_scope() {
        for text in [
            "",
            "openid",
            "id.reserve ",
            "ID.RESERVE",
            "patient/Observation",
            "patient/Observation.",
            "patient/Observation.sr",
            "patient/Observation.rr",
            "patient/Observation.rsx",
            "patient/observation.rs",
            "patient/../etc.rs",
            "patients/Observation.rs",
            "patient/Observation.rs?",
            "patient/Observation.rs?a b",
            "patient/.rs",
        ] {
            assert_eq!(Scope::parse(text), Err(ScopeError), "{text}");
        }
    }

    #[test]
    fn a_grant_covers_what_lies_within_it() {
        let check = |granted: &str, required: &str, expected: bool| {
            assert_eq!(scope(granted).covers(&scope(required)), expected, "{granted} covers {required}");
        };
        check("patient/Observation.rs", "patient/Observation.r", true);
        check("patient/Observation.r", "patient/Observation.rs", false);
        check("patient/*.cruds", "patient/Condition.u", true);
        check("patient/Observation.rs", "patient/*.rs", false);
        check("user/Observation.rs", "patient/Observation.rs", true);
        check("patient/Observation.rs", "user/Observation.rs", false);
        check("system/*.rs", "user/Patient.r", true);
        check("patient/Observation.rs?category=x", "patient/Observation.rs", false);
        check("patient/Observation.rs?category=x", "patient/Observation.rs?category=x", true);
        check("patient/*.cruds", "artifact.approve", false);
        check("artifact.write", "artifact.approve", false);
        check("artifact.approve", "artifact.approve", true);
    }

    proptest! {
        #[test]
        fn any_text_parses_or_not_and_what_parses_prints_as_itself(text in "(patient|user|x)/(\\*|[A-Z][a-z]{0,5}).[a-z*]{0,6}(\\?[a-z=]{0,4})?") {
            if let Ok(parsed) = Scope::parse(&text) {
                prop_assert_eq!(Scope::parse(&parsed.to_string()), Ok(parsed));
            }
        }
    }
}
