//! For whom ids are kept: those that were reserved here, and those that callers of this house reserved elsewhere.
//!
//! What is noted of services elsewhere is no part of the record and has no events: the calls themselves are recorded, and
//! the notes only say whose the ids are.

use store::{Conn, StoreError, Tx};

use super::Counter;
use crate::artifacts::Place;

/// Who has reserved an id for themselves, and holds it still. What an approval reserves is its document's.
pub async fn find_holders(
    conn: &mut Conn,
    counter: &Counter<'_>,
    id: &str,
    now_us: i64,
) -> Result<Vec<String>, StoreError> {
    let rows = conn
        .fetch_all(
            "SELECT reserved_by FROM id_reservations WHERE organisation_id = $1 AND project_id = $2 \
             AND artifact_type = $3 AND NOT is_exempt AND (confirmed OR expires_at_us > $4) AND reserved_ids LIKE $5 \
             UNION ALL SELECT reserved_by FROM ids_elsewhere WHERE organisation_id = $1 AND project_id = $2 \
             AND artifact_id = $6 AND (confirmed OR expires_at_us > $4)",
            &[
                counter.organisation_id.into(),
                counter.project_id.into(),
                counter.prefix.into(),
                now_us.into(),
                // They are kept as a JSON array.
                format!("%\"{id}\"%").as_str().into(),
                id.into(),
            ],
        )
        .await?;
    rows.iter().map(|row| row.text(0)).collect()
}

/// What a service elsewhere did for a caller, as far as it says whose ids are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum IdsElsewhere {
    Reserved { project_id: String, ids: Vec<String>, reservation_id: String, expires_at_us: i64 },
    Confirmed { reservation_id: String },
    HandedOn { project_id: String, ids: Vec<String> },
}

/// Notes what a service elsewhere did for a caller of this house.
pub async fn note_elsewhere(
    tx: &mut Tx<'_>,
    organisation_id: &str,
    caller: &str,
    done: &IdsElsewhere,
    now_us: i64,
) -> Result<(), StoreError> {
    match done {
        IdsElsewhere::Reserved { project_id, ids, reservation_id, expires_at_us } => {
            tx.execute(
                "DELETE FROM ids_elsewhere WHERE organisation_id = $1 AND NOT confirmed AND expires_at_us <= $2",
                &[organisation_id.into(), now_us.into()],
            )
            .await?;
            for id in ids {
                tx.execute(
                    "INSERT INTO ids_elsewhere (organisation_id, project_id, artifact_id, reservation_id, reserved_by, \
                     expires_at_us, confirmed) VALUES ($1, $2, $3, $4, $5, $6, FALSE) \
                     ON CONFLICT (organisation_id, project_id, artifact_id, reservation_id) DO NOTHING",
                    &[
                        organisation_id.into(),
                        project_id.as_str().into(),
                        id.as_str().into(),
                        reservation_id.as_str().into(),
                        caller.into(),
                        (*expires_at_us).into(),
                    ],
                )
                .await?;
            }
        }
        IdsElsewhere::Confirmed { reservation_id } => {
            tx.execute(
                "UPDATE ids_elsewhere SET confirmed = TRUE WHERE organisation_id = $1 AND reservation_id = $2",
                &[organisation_id.into(), reservation_id.as_str().into()],
            )
            .await?;
        }
        IdsElsewhere::HandedOn { project_id, ids } => {
            for id in ids {
                tx.execute(
                    "INSERT INTO handed_on_ids (organisation_id, project_id, artifact_id, handed_on_by) \
                     VALUES ($1, $2, $3, $4) \
                     ON CONFLICT (organisation_id, project_id, artifact_id, handed_on_by) DO NOTHING",
                    &[organisation_id.into(), project_id.as_str().into(), id.as_str().into(), caller.into()],
                )
                .await?;
            }
        }
    }
    Ok(())
}

/// Who handed an id on with a task at a service elsewhere.
pub async fn find_handed_on(conn: &mut Conn, place: Place<'_>, id: &str) -> Result<Vec<String>, StoreError> {
    let rows = conn
        .fetch_all(
            "SELECT handed_on_by FROM handed_on_ids WHERE organisation_id = $1 AND project_id = $2 AND artifact_id = $3",
            &[place.organisation_id.into(), place.project_id.into(), id.into()],
        )
        .await?;
    rows.iter().map(|row| row.text(0)).collect()
}
