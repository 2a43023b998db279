//! `create_key`: a key for a program, shown once.

use contract::actor::{Actor, Credential, RESERVED_IDS, Role, is_of_issuer, is_reserved};
use contract::error::OpError;
use contract::key::{CreateKey, CreatedKey, KEYS_MAX, KeyText};
use contract::scope::Scope;
use contract::time::rfc3339_ms;
use store::Tx;

use crate::context::Context;
use crate::family::Family;
use crate::keys::{self, KeyRecord};
use crate::operation::{Answer, ApplyError, Operation, Write, store_error};

const DAY_US: i64 = 24 * 60 * 60 * 1_000_000;

/// Made once, so that a repeated `apply` stores the same key.
pub struct Plan {
    key: KeyText,
    record: KeyRecord,
    seal: String,
}

impl Operation for CreateKey {
    const NAME: &'static str = "create_key";
    const ABOUT: &'static str = "Make an API key for a program, with roles, and with scopes and an expiry where wanted. The answer shows the \
         key once; only its hash is kept.";
    const FAMILY: Family = Family::House;
    const ROLES: &'static [Role] = &[Role::Admin];
    const SCOPE: Option<&'static str> = Some("key.admin");
    // A secret has no place in the context of a model.
    const IS_TOOL: bool = false;

    type Output = CreatedKey;
}

impl Write for CreateKey {
    const KEEPS_OUTPUT: bool = false;

    type Plan = Plan;

    async fn prepare(&self, ctx: &Context<'_>) -> Result<Plan, OpError> {
        if is_reserved(&self.actor_id) {
            let expected = format!("a name of its own: {} act without a key", RESERVED_IDS.join(", "));
            return Err(OpError::invalid("actor_id", expected));
        }
        let issuers = &ctx.settings().issuer_names;
        if let Some(issuer) = issuers.iter().find(|issuer| is_of_issuer(&self.actor_id, issuer)) {
            let expected = format!("a name of its own: `{issuer}.…` are people whom the issuer `{issuer}` signs in");
            return Err(OpError::invalid("actor_id", expected));
        }
        let scopes = self.scopes.clone().unwrap_or_default();
        check_within(ctx.actor(), &scopes)?;
        let created_at_us = ctx.now_us();
        let expires_at_us = self.expires_in_days.map(|days| created_at_us + i64::from(days) * DAY_US);
        check_before(own_expiry(ctx).await?, expires_at_us)?;
        let (key_id, key) = keys::fresh().ok_or_else(|| OpError::internal("no key could be made"))?;
        let record = KeyRecord {
            key_id,
            organisation_id: ctx.actor().organisation_id.clone(),
            sha256: keys::sha256(&key),
            actor_id: self.actor_id.clone(),
            roles: self.roles.clone(),
            scopes,
            created_at_us,
            expires_at_us,
            revoked_at_us: None,
            created_by: ctx.actor().id.clone(),
        };
        let seal = ctx.seals().seal(&record);
        Ok(Plan { key, record, seal })
    }

    async fn apply(&self, plan: &Plan, tx: &mut Tx<'_>) -> Result<Answer<CreatedKey>, ApplyError> {
        let Plan { key, record, seal } = plan;
        if keys::count(tx, &record.organisation_id).await? >= KEYS_MAX {
            return Err(OpError::conflict(format!("there are {KEYS_MAX} keys in force: revoke one first")).into());
        }
        keys::insert(tx, record, seal).await?;
        let output = CreatedKey {
            key_id: record.key_id.clone(),
            key: key.clone(),
            actor_id: record.actor_id.clone(),
            roles: record.roles.clone(),
            scopes: record.scopes.clone(),
            created_at: rfc3339_ms(record.created_at_us),
            expires_at: record.expires_at_us.map(rfc3339_ms),
        };
        Ok(Answer::of(output).leaving(keys::audited(record)))
    }
}

/// When the key expires by which the caller acts, if it is one and does.
async fn own_expiry(ctx: &Context<'_>) -> Result<Option<i64>, OpError> {
    let Credential::Key { key_id } = &ctx.actor().credential else { return Ok(None) };
    let mut reader = ctx.read().await?;
    let found = keys::find(&mut reader, key_id.as_str()).await.map_err(store_error)?;
    Ok(found.and_then(|own| own.record?.expires_at_us))
}

/// A key makes none that outlives it: otherwise none would ever expire.
fn check_before(own_us: Option<i64>, expires_at_us: Option<i64>) -> Result<(), OpError> {
    match own_us {
        Some(own_us) if expires_at_us.is_none_or(|at_us| at_us > own_us) => {
            let expected = format!("days until not later than {}, when your own key expires", rfc3339_ms(own_us));
            Err(OpError::invalid("expires_in_days", expected))
        }
        Some(_) | None => Ok(()),
    }
}

/// Whoever is limited to scopes hands on no more than they have; without this, `key.admin` would be every scope.
fn check_within(actor: &Actor, scopes: &[Scope]) -> Result<(), OpError> {
    if actor.scopes.is_none() {
        return Ok(());
    }
    if scopes.is_empty() {
        return Err(OpError::invalid("scopes", "at least one scope, since your own token or key is limited to some"));
    }
    match scopes.iter().find(|scope| !actor.may_use(scope)) {
        Some(scope) => Err(OpError::refused(format!("`{}` cannot hand on the scope `{scope}`", actor.id))),
        None => Ok(()),
    }
}
