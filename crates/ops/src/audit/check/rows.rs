//! The audited tables, compared with what the events say of their rows.

use contract::event::Event;
use contract::evidence::starter::LoadStarterData;
use evidence::record::audited::{
    self as evidence_audited, Difference, Expected, FoundRecord, PaperIdDifference, PaperIds, Said, SaidDifference,
    StarterDifference, StarterRows,
};
use store::{Conn, StoreError, idempotency};
use workflow::audited::{self, AuditedRow, Found, FoundRow, Origin, Place};

use super::histories::MOVE;
use super::{Check, Trust};
use crate::audit::report::Whose;
use crate::operation::Operation as _;
use crate::record::REQUEST_STATE;
use crate::{kept_answers, keys};

const KEYS_PAGE: i64 = 1_000;

/// An answer that must still be kept.
pub(super) struct Promised {
    organisation_id: String,
    actor_id: String,
    operation: String,
    call_id: String,
}

/// Differences that may have a good reason.
#[derive(Default)]
struct Doubtful {
    n_not_taken_over: u64,
    n_said_before: u64,
    n_ids_not_taken_over: u64,
    n_ids_before: u64,
}

impl Doubtful {
    fn notes(&self) -> Vec<String> {
        let not_taken_over = format!(
            "{} statements of documents against papers are not in `evidence_retractions` as they are made: the records are \
             older than that table, or other hands deleted them; storing those documents again mends it",
            self.n_not_taken_over
        );
        let said_before = format!(
            "{} rows of `evidence_retractions` say what their documents do not say any more: an earlier content did, or other \
             hands added them",
            self.n_said_before
        );
        let ids_not_taken_over = format!(
            "{} ids of papers are not in `evidence_paper_ids`: the documents are older than that table, or other hands \
             deleted them; storing those documents again mends it",
            self.n_ids_not_taken_over
        );
        let ids_before = format!(
            "{} rows of `evidence_paper_ids` are of ids that their documents do not have any more: an earlier content did, or \
             other hands added them",
            self.n_ids_before
        );
        let all = [
            (self.n_not_taken_over, not_taken_over),
            (self.n_said_before, said_before),
            (self.n_ids_not_taken_over, ids_not_taken_over),
            (self.n_ids_before, ids_before),
        ];
        all.into_iter().filter(|(n, _)| *n > 0).map(|(_, note)| note).collect()
    }
}

impl Check<'_> {
    /// Notes that the answer of a call is kept, while it must be.
    pub(super) fn note_promise(&mut self, recorded_at_us: i64, event: &Event) {
        let Some(kept_as) = event.kept_as.as_ref().filter(|_| recorded_at_us >= self.promised_since_us) else { return };
        let promised = Promised {
            organisation_id: event.organisation_id.to_string(),
            actor_id: event.actor.id.to_string(),
            operation: event.operation.clone(),
            call_id: event.call_id.clone(),
        };
        self.promised.insert(kept_as.clone(), promised);
    }

    /// Notes which batches of the evidence are those of the starter data, and the list of what they put.
    pub(super) fn note_starter_data(&mut self, organisation_id: &str, event: &Event) {
        if event.operation == LoadStarterData::NAME {
            let batches = event.objects.iter().filter(|object| object.kind == evidence_audited::BATCH);
            self.starter_batches.extend(batches.map(|batch| (organisation_id.to_owned(), batch.id.clone())));
            let list = event.objects.iter().find(|object| object.kind == evidence_audited::STARTER_LIST);
            if let Some(sha256) = list.and_then(|list| list.sha256.clone()) {
                self.starter_lists.insert(organisation_id.to_owned(), sha256);
            }
        }
    }

    /// A request state is used once: whoever could use it again deleted its row in `used_request_states`.
    pub(super) fn note_used_states(&mut self, organisation_id: &str, leaf_index: Option<u64>, event: &Event) {
        for state in event.objects.iter().filter(|object| object.kind == REQUEST_STATE) {
            if !self.used_states.insert((organisation_id.to_owned(), state.id.clone())) {
                let message = format!(
                    "the request state `{}` was used twice: other hands deleted it from `used_request_states`",
                    state.id
                );
                let whose = Whose::Organisation(organisation_id);
                self.report.add("object", whose, leaf_index, Some(&event.call_id), message);
            }
        }
    }

    /// Compares the audited tables with what the events say of them. Returns how many rows were looked at.
    pub(super) async fn objects(&mut self, conn: &mut Conn, trust: &Trust<'_>) -> Result<u64, StoreError> {
        self.histories(conn).await?;
        let mut n_checked = 0;
        let mut place = Some(Place::default());
        while let Some(now) = place {
            let (rows, next) = audited::read_page(conn, now).await?;
            for found in rows {
                n_checked += 1;
                self.object(found);
            }
            place = next;
        }
        n_checked += self.keys(conn, trust).await?;
        n_checked += self.kept_answers(conn).await?;
        n_checked += self.evidence(conn).await?;
        let (wrong, n_hashed) = audited::derived::check(conn).await?;
        n_checked += n_hashed;
        for wrong in wrong {
            if self.histories.is_named(&wrong.organisation_id, &wrong.what) {
                continue;
            }
            self.report.add("object", Whose::Organisation(&wrong.organisation_id), None, None, wrong.what);
        }
        let gone: Vec<_> = self.last.drain().filter(|(_, last)| last.sha256.is_some()).map(|(key, _)| key).collect();
        for (organisation_id, kind, id) in gone {
            let how = if self.is_set_aside {
                "was deleted by other hands or cannot be read"
            } else {
                "was deleted by other hands"
            };
            let message = format!("{kind} `{id}` {how}");
            self.report.add("object", Whose::Organisation(&organisation_id), None, None, message);
        }
        Ok(n_checked)
    }

    /// Compares API keys with their events and their seals.
    async fn keys(&mut self, conn: &mut Conn, trust: &Trust<'_>) -> Result<u64, StoreError> {
        let (mut n_checked, mut after) = (0, String::new());
        loop {
            let page = keys::read_page(conn, &after, KEYS_PAGE).await?;
            let Some(last) = page.last() else { return Ok(n_checked) };
            after = last.found().row.id;
            for stored in page {
                n_checked += 1;
                let found = stored.found();
                let (organisation_id, id) = (found.organisation_id.clone(), found.row.id.clone());
                let is_told = self.object(found);
                let Some((seals, revoked)) = trust.keys.filter(|_| is_told) else { continue };
                let wrong = match stored.sealed(seals) {
                    None => "has no seal of this house: other hands wrote its row, and it is refused; make another key",
                    Some(key) if key.revoked_at_us.is_none() && revoked.contains(&key.key_id) => {
                        "was revoked, but other hands put an older row in its place"
                    }
                    Some(_) => continue,
                };
                let message = format!("key `{id}` {wrong}");
                self.report.add("object", Whose::Organisation(&organisation_id), None, None, message);
            }
        }
    }

    /// Compares the answers that repeated calls would get with the events of the first ones.
    async fn kept_answers(&mut self, conn: &mut Conn) -> Result<u64, StoreError> {
        let mut n_checked = 0;
        let mut after = idempotency::Place::default();
        loop {
            let page = idempotency::read_page(conn, &after, KEYS_PAGE).await?;
            let Some((last, _)) = page.last() else { break };
            after = last.clone();
            for (place, kept) in &page {
                n_checked += 1;
                let place @ [organisation_id, actor_id, operation, _] = place.each_ref().map(String::as_str);
                self.promised.remove(&kept_answers::place_hash(place));
                if !kept_answers::is_told(conn, place, kept).await? {
                    let message = format!("a kept answer of `{operation}` to `{actor_id}` was changed by other hands");
                    self.report.add("object", Whose::Organisation(organisation_id), None, None, message);
                }
            }
        }
        for promised in std::mem::take(&mut self.promised).into_values() {
            let Promised { organisation_id, actor_id, operation, call_id } = promised;
            let message = format!("the kept answer of `{operation}` to `{actor_id}` is gone before its time");
            self.report.add("object", Whose::Organisation(&organisation_id), None, Some(&call_id), message);
        }
        Ok(n_checked)
    }

    /// Compares the records of the evidence with their batches, and the batches with the log.
    async fn evidence(&mut self, conn: &mut Conn) -> Result<u64, StoreError> {
        let mut n_checked = 0;
        let mut expected = Expected::default();
        let mut starter = StarterRows::read(conn).await?;
        for (organisation_id, sha256) in std::mem::take(&mut self.starter_lists) {
            if starter.list_sha256(&organisation_id) != sha256 {
                let message =
                    "rows of `evidence_starter_records` were deleted, added or changed by other hands".to_owned();
                self.report.add("object", Whose::Organisation(&organisation_id), None, None, message);
            }
        }
        let mut place = (String::new(), 0);
        loop {
            let batches = evidence_audited::batches_after(conn, &place.0, place.1).await?;
            let Some(last) = batches.last() else { break };
            place = (last.organisation_id.clone(), last.number);
            for batch in batches {
                n_checked += 1;
                expected.absorb(&batch);
                let is_of_starter_data =
                    self.starter_batches.contains(&(batch.organisation_id.clone(), batch.number.to_string()));
                starter.absorb(&batch, is_of_starter_data);
                let (id, sha256) = (batch.number.to_string(), Some(batch.sha256));
                let row = AuditedRow { kind: evidence_audited::BATCH, id, sha256, found: Found::Nothing };
                let origin = Origin::default();
                self.object(FoundRow { organisation_id: batch.organisation_id, row, origin });
            }
        }
        let mut said = Said::read(conn).await?;
        let mut doubtful = Doubtful::default();
        let mut place = evidence_audited::Place::default();
        loop {
            let records = evidence_audited::records_after(conn, &place).await?;
            let Some(last) = records.last() else { break };
            place = (last.organisation_id.clone(), last.kind.clone(), last.id.clone());
            let mut paper_ids = PaperIds::read(conn, &records).await?;
            for record in records {
                n_checked += 1;
                let (kind, id) = (&record.kind, &record.id);
                let differences = said.settle(&record, &expected);
                self.said(&record, differences, &mut doubtful);
                self.paper_ids(&record, paper_ids.settle(&record, &expected), &mut doubtful);
                let of_starter_data = starter.settle(&record).map(|difference| match difference {
                    StarterDifference::Missing => {
                        format!("{kind} `{id}` is of the starter data, but not in `evidence_starter_records` any more")
                    }
                    StarterDifference::Changed => {
                        format!("{kind} `{id}` was changed in `evidence_starter_records` by other hands")
                    }
                });
                let of_record = expected.settle(&record).map(|difference| match difference {
                    Difference::Changed => format!("{kind} `{id}` was changed by other hands"),
                    Difference::Added => format!("no event tells of {kind} `{id}`"),
                });
                for message in of_record.into_iter().chain(of_starter_data) {
                    self.report.add("object", Whose::Organisation(&record.organisation_id), None, None, message);
                }
            }
        }
        self.missing_evidence(conn, expected).await?;
        self.without_records(conn, said, starter).await?;
        self.notes.extend(doubtful.notes());
        Ok(n_checked)
    }

    /// Rows of the tables beside the records that are about none.
    async fn without_records(&mut self, conn: &mut Conn, said: Said, starter: StarterRows) -> Result<(), StoreError> {
        let against = said.rest().map(|(organisation_id, document_id, paper_id)| {
            let message = format!(
                "`evidence_retractions` speaks against `{paper_id}` for document `{document_id}`, which is not there"
            );
            (organisation_id, message)
        });
        let ids = evidence_audited::without_document(conn).await?.into_iter();
        let ids = ids.map(|(organisation_id, document_id, paper_id)| {
            let message = format!(
                "`evidence_paper_ids` says that document `{document_id}`, which is not there, is the paper `{paper_id}`"
            );
            (organisation_id, message)
        });
        let put = starter.unknown().map(|(organisation_id, kind, id)| {
            let message = format!(
                "`evidence_starter_records` tells of {kind} `{id}` what was never kept: other hands changed or added the row"
            );
            (organisation_id, message)
        });
        for (organisation_id, message) in against.chain(ids).chain(put) {
            self.report.add("object", Whose::Organisation(&organisation_id), None, None, message);
        }
        Ok(())
    }

    /// Names where `evidence_paper_ids` has other ids than a document.
    fn paper_ids(&mut self, record: &FoundRecord, differences: Vec<PaperIdDifference>, doubtful: &mut Doubtful) {
        let id = &record.id;
        for difference in differences {
            let message = match difference {
                PaperIdDifference::Missing(paper_id) => format!(
                    "that document `{id}` is the paper `{paper_id}` was deleted from `evidence_paper_ids` by other hands; \
                     storing the document again mends it"
                ),
                PaperIdDifference::Added(paper_id) => format!(
                    "`evidence_paper_ids` says that document `{id}` is the paper `{paper_id}`, which it does not say: other \
                     hands added the row"
                ),
                PaperIdDifference::NotTakenOver => {
                    doubtful.n_ids_not_taken_over += 1;
                    continue;
                }
                PaperIdDifference::HadBefore => {
                    doubtful.n_ids_before += 1;
                    continue;
                }
            };
            self.report.add("object", Whose::Organisation(&record.organisation_id), None, None, message);
        }
    }

    /// Names where `evidence_retractions` has other words than a document.
    fn said(&mut self, record: &FoundRecord, differences: Vec<SaidDifference>, doubtful: &mut Doubtful) {
        let id = &record.id;
        for difference in differences {
            let message = match difference {
                SaidDifference::Missing(paper_id) => format!(
                    "what document `{id}` says against `{paper_id}` was deleted from `evidence_retractions` by other hands; \
                     storing the document again mends it"
                ),
                SaidDifference::Changed(paper_id) => format!(
                    "what document `{id}` says against `{paper_id}` was changed in `evidence_retractions` by other hands; \
                     storing the document again mends it"
                ),
                SaidDifference::Added(paper_id) => format!(
                    "`evidence_retractions` speaks against `{paper_id}` for document `{id}`, which does not say so: other \
                     hands added the row"
                ),
                SaidDifference::NotTakenOver(_) => {
                    doubtful.n_not_taken_over += 1;
                    continue;
                }
                SaidDifference::SaidBefore(_) => {
                    doubtful.n_said_before += 1;
                    continue;
                }
            };
            self.report.add("object", Whose::Organisation(&record.organisation_id), None, None, message);
        }
    }

    /// Names the records that no row was found for; only the batches still know what they were called.
    async fn missing_evidence(&mut self, conn: &mut Conn, mut expected: Expected) -> Result<(), StoreError> {
        let mut place = (String::new(), 0);
        while !expected.is_settled() {
            let batches = evidence_audited::batches_after(conn, &place.0, place.1).await?;
            let Some(last) = batches.last() else { break };
            place = (last.organisation_id.clone(), last.number);
            for batch in &batches {
                for (kind, id) in expected.missing(batch) {
                    let message = format!("{kind} `{id}` was deleted by other hands");
                    self.report.add("object", Whose::Organisation(&batch.organisation_id), None, None, message);
                }
            }
        }
        Ok(())
    }

    /// Compares a row with its last event. Says whether they agree.
    fn object(&mut self, found: FoundRow) -> bool {
        let FoundRow { organisation_id, row, origin } = found;
        let key = (organisation_id, row.kind.to_owned(), row.id.clone());
        let message = match self.last.remove(&key) {
            Some(last) if last.sha256 == row.sha256 && last.agrees(&origin) => return true,
            Some(last) if row.kind == MOVE && self.histories.is_right_move(&key.0, &row.id) && last.agrees(&origin) => {
                return true;
            }
            Some(_) => format!("{} `{}` was changed by other hands", row.kind, row.id),
            None => format!("no event tells of {} `{}`", row.kind, row.id),
        };
        self.report.add("object", Whose::Organisation(&key.0), None, None, message);
        false
    }
}
