//! For whom a caller acts: a server calls another one with one key for all of its own callers, and each of them holds
//! the tasks that they took.
//!
//! The word of a caller only divides what is its own: whoever it acts for is named after it, so that nobody gets at the
//! claims of another key.

use contract::actor::{Actor, ActorKind, Role};
use serde::{Deserialize, Serialize};

const BYTES_MAX: usize = 400;
const TAKE_BACK: &str = ";take-back";

/// What [`Acting::parse`] takes.
pub const EXPECTED: &str =
    "an organisation and an actor such as `default/kagent`, and `;take-back` where they may take tasks from others";

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Acting {
    organisation_id: String,
    /// An id, or several where servers stand in a row.
    id: String,
    /// Whether they may take a task from somebody else, as far as the caller itself may.
    may_take_back: bool,
}

impl Acting {
    /// Whoever makes a call, as the next server is told.
    pub fn of(actor: &Actor, acting: Option<&Acting>) -> Acting {
        Acting {
            organisation_id: actor.organisation_id.to_string(),
            id: claimant(actor, acting),
            may_take_back: may_take_back(actor, acting),
        }
    }

    /// Reads what [`Acting`] writes.
    pub fn parse(text: &str) -> Option<Acting> {
        let (name, may_take_back) = text.strip_suffix(TAKE_BACK).map_or((text, false), |name| (name, true));
        let is_part = |part: &str| {
            part.starts_with(|c: char| c.is_ascii_alphanumeric())
                && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        };
        let (organisation_id, id) = name.split_once('/')?;
        let is_name = name.len() <= BYTES_MAX && name.split('/').all(is_part);
        is_name.then(|| Acting { organisation_id: organisation_id.to_owned(), id: id.to_owned(), may_take_back })
    }
}

impl std::fmt::Display for Acting {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rights = if self.may_take_back { TAKE_BACK } else { "" };
        write!(f, "{}/{}{rights}", self.organisation_id, self.id)
    }
}

/// Whose a claim is: the actor's, or `svc/kagent` where the actor `svc` acts for another one. No id has a slash.
pub fn claimant(actor: &Actor, acting: Option<&Acting>) -> String {
    match acting {
        None => actor.id.to_string(),
        Some(Acting { organisation_id, id, .. }) if organisation_id == actor.organisation_id.as_str() => {
            format!("{}/{id}", actor.id)
        }
        Some(Acting { organisation_id, id, .. }) => format!("{}/{organisation_id}/{id}", actor.id),
    }
}

/// A person who answers for the work may take a task from somebody else; an agent answers for its own tasks.
pub fn may_take_back(actor: &Actor, acting: Option<&Acting>) -> bool {
    actor.kind != ActorKind::Agent
        && actor.roles.iter().any(|role| matches!(role, Role::Approver | Role::Admin))
        && acting.is_none_or(|acting| acting.may_take_back)
}

#[cfg(test)]
mod tests {
    use super::*;
    use contract::id::{ActorId, OrganisationId};

    fn actor(organisation: &str, id: &str, kind: ActorKind, role: Role) -> Actor {
        Actor::new(OrganisationId::parse(organisation).unwrap(), ActorId::parse(id).unwrap(), kind, vec![role])
    }

    #[test]
    fn what_is_written_is_read() {
        let agent = Acting::of(&actor("default", "kagent", ActorKind::Agent, Role::Agent), None);
        let owner = Acting::of(&actor("clinic", "owner", ActorKind::Human, Role::Admin), Some(&agent));
        let boss = Acting::of(&actor("clinic", "boss", ActorKind::Human, Role::Approver), None);
        for (acting, text) in
            [(agent, "default/kagent"), (owner, "clinic/owner/default/kagent"), (boss, "clinic/boss;take-back")]
        {
            assert_eq!(acting.to_string(), text);
            assert_eq!(Acting::parse(text), Some(acting));
        }
        for text in
            ["", "kagent", "/kagent", "a/", "a/b c", "a/b;x", "a//b", "a/b\u{e4}", &format!("a/{}", "b".repeat(400))]
        {
            assert_eq!(Acting::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_claim_names_the_key_it_came_with_and_the_organisation_where_it_is_another() {
        let service = actor("default", "svc", ActorKind::Service, Role::Approver);
        let [ours, theirs] = ["default/kagent", "clinic/kagent"].map(Acting::parse);
        assert_eq!(claimant(&service, None), "svc");
        assert_eq!(claimant(&service, ours.as_ref()), "svc/kagent");
        assert_eq!(claimant(&service, theirs.as_ref()), "svc/clinic/kagent");
    }

    #[test]
    fn nobody_has_more_rights_than_the_key_that_calls_for_them() {
        let service = actor("default", "svc", ActorKind::Service, Role::Approver);
        let worker = actor("default", "worker", ActorKind::Service, Role::Agent);
        let [agent, boss] = ["default/kagent", "default/boss;take-back"].map(Acting::parse);
        assert!(may_take_back(&service, None) && may_take_back(&service, boss.as_ref()));
        assert!(!may_take_back(&service, agent.as_ref()) && !may_take_back(&worker, boss.as_ref()));
    }
}
