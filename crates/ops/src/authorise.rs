//! May this actor call this operation? A role of the table, and the scope too where the actor is limited to scopes.

use contract::actor::Actor;
use contract::error::OpError;
use contract::scope::Scope;

use crate::table::Tool;

/// Member of the error's details that names the scope which was missing.
pub const SCOPE_DETAIL: &str = "scope";

/// The scope that the operation asks for and the actor does not have.
pub fn missing_scope<'t>(tool: &'t Tool, actor: &Actor) -> Option<&'t Scope> {
    tool.scope.as_ref().filter(|required| !actor.may_use(required))
}

/// A refusal in words, for whoever may not.
pub fn check(tool: &Tool, actor: &Actor) -> Result<(), OpError> {
    let name = tool.entry.name;
    if !tool.entry.roles.iter().any(|role| actor.roles.contains(role)) {
        return Err(OpError::refused(format!("`{}` may not call `{name}`", actor.id)));
    }
    let Some(scope) = missing_scope(tool, actor) else { return Ok(()) };
    let mut error = OpError::refused(format!("`{}` needs the scope `{scope}` to call `{name}`", actor.id));
    error.details.more.insert(SCOPE_DETAIL.to_owned(), scope.to_string().into());
    Err(error)
}
