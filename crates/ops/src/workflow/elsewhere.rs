//! What approvals and stored documents ask of services elsewhere: each question under a key of its own, so that whoever
//! asks it again here, after a crash or at the same time, meets the same answer.

use std::sync::Arc;

use contract::canonical;
use contract::error::{Kind, OpError};
use contract::workflow::{ConfirmedReservation, ReservedIdRange};
use serde::de::DeserializeOwned;
use serde_json::{Value, json};

use crate::context::Context;
use crate::door::Via;
use crate::remote::{Remote, Service};

/// The document that ids are taken for: itself, or one that it is cut into.
#[derive(Debug, Clone, Copy)]
pub struct Owner<'a> {
    pub organisation_id: &'a str,
    pub project_id: &'a str,
    pub artifact_id: &'a str,
}

/// Asks for one certain number; none if the service gave it to somebody before. The key names the document and not its
/// text: a later version asks again for what an earlier one was given.
pub async fn reserve_number(
    ctx: &Context<'_>,
    ids: &dyn Remote,
    owner: Owner<'_>,
    artifact_type: &str,
    number: i64,
) -> Result<Option<ReservedIdRange>, OpError> {
    let input = json!({ "artifact_type": artifact_type, "count": 1, "number": number, "project_id": owner.project_id });
    let document = json!([owner.organisation_id, owner.project_id, owner.artifact_id]);
    let key = json!([document, "reserve_id_range", artifact_type, number]);
    match ask::<ReservedIdRange>(ctx, ids, "reserve_id_range", &key, input).await {
        Ok(answer) => Ok(Some(answer)),
        Err(error) if error.kind == Kind::Conflict => Ok(None),
        Err(error) => Err(error),
    }
}

/// Has the service take note of the number of a document that is stored here under an id of its own, so that nobody is
/// given it. Returns the reservation, for [`confirm`]; none where it gave the number before, or gives none of the type.
pub async fn make_known(
    ctx: &Context<'_>,
    ids: &dyn Remote,
    owner: Owner<'_>,
    artifact_type: &str,
    number: i64,
) -> Result<Option<String>, OpError> {
    let mut error = match reserve_number(ctx, ids, owner, artifact_type, number).await {
        Ok(answer) => return Ok(answer.map(|answer| answer.reservation_id)),
        Err(error) => error,
    };
    // A type that only this house has.
    if error.kind == Kind::Invalid && error.details.field.as_deref() == Some("artifact_type") {
        return Ok(None);
    }
    error.kind = match error.kind {
        // Another id, another time: whoever stores can do something about it.
        kind @ (Kind::Invalid | Kind::Busy | Kind::Timeout | Kind::Internal) => kind,
        Kind::Upstream | Kind::NotFound | Kind::Conflict | Kind::Refused | Kind::InputRequired => Kind::Upstream,
    };
    error.message = format!(
        "nothing was stored, as {} could not be made known to the service that gives out the ids: {}",
        owner.artifact_id, error.message
    );
    Err(error)
}

/// Keeps the ids for good, and says whether that is done. One that cannot be confirmed is not given out again either: it
/// only leaves no trace there.
pub async fn confirm(ctx: &Context<'_>, reservation_ids: &[String]) -> bool {
    let Some(ids) = ctx.find_remote(Service::Ids).map(Arc::as_ref) else { return true };
    let mut is_confirmed = true;
    for reservation_id in reservation_ids {
        let input = json!({ "reservation_id": reservation_id });
        // Whoever meets the same reservation confirms it again.
        let key = json!(["confirm_reservation", reservation_id]);
        let answer = ask::<ConfirmedReservation>(ctx, ids, "confirm_reservation", &key, input).await;
        if let Err(error) = answer {
            is_confirmed = false;
            tracing::error!(reservation_id, code = error.code(), "A reservation could not be confirmed");
        }
    }
    is_confirmed
}

/// Asks a service under a key that is this house's alone.
pub async fn ask<T: DeserializeOwned>(
    ctx: &Context<'_>,
    remote: &dyn Remote,
    operation: &'static str,
    key: &Value,
    input: Value,
) -> Result<T, OpError> {
    let mut call = ctx.journey().call(operation, input);
    // Another house that shares our key may ask about the same text.
    call.idempotency_key = canonical::hash(&json!([ctx.keyring().origin(), key])).map_err(OpError::internal)?;
    call.via = Via::Approval;
    serde_json::from_value(remote.call(call).await?).map_err(|error| {
        OpError::new(Kind::Upstream, "a service answered something else than it should").with_source(error)
    })
}
