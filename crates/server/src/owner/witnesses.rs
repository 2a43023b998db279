//! The owner's side of the witnesses: shows them each checkpoint, keeps their cosignatures, and knows how each of them
//! stands to the log.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use futures::future::join_all;
use http::{Method, Request, StatusCode};
use http_body_util::Full;
use ledger::key::WitnessVerifier;
use ledger::witness::{AddCheckpoint, parse_known_size};
use ops::{Notary, Platform, WitnessError};
use serde::{Deserialize, Serialize};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::outbound::{Limits, Outbound, OutboundError};
use crate::settings::witness::{Witness, WitnessSettingsError};

const LIMITS: Limits = Limits { timeout: Duration::from_secs(5), bytes_max: 64 * 1024 };
/// A start, and an end, do not wait longer for a witness that is away.
const WITHIN: Duration = Duration::from_secs(2);
const LOOK_EVERY: Duration = Duration::from_millis(500);
const AGAIN_AFTER_MAX: Duration = Duration::from_secs(60);
/// The witness may cosign for other servers on the same database between two tries.
const TRIES_MAX: usize = 4;

#[derive(Debug, thiserror::Error)]
pub enum WitnessesError {
    #[error("a witness cannot be used")]
    Settings(#[source] WitnessSettingsError),
    #[error("the witness `{name}` cannot be asked")]
    Outbound { name: String, source: OutboundError },
}

/// How a witness stands to the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "standing", rename_all = "snake_case")]
pub enum Standing {
    /// Not asked yet, or nothing was signed yet.
    Unknown,
    /// It vouches for so many leaves.
    Cosigned {
        size: u64,
    },
    Unreachable {
        reason: String,
    },
    /// It does not know this log or its key, or answers something else.
    Refused {
        reason: String,
    },
    /// It cosigned more than this log holds: the database is older than it was.
    Ahead {
        known_size: u64,
        found_size: u64,
    },
    /// It cosigned another history.
    Forked {
        size: u64,
    },
}

impl Standing {
    /// Whether it knows of another history than the one in the database.
    pub fn is_contradiction(&self) -> bool {
        match self {
            Standing::Ahead { .. } | Standing::Forked { .. } => true,
            Standing::Unknown | Standing::Cosigned { .. } | Standing::Unreachable { .. } | Standing::Refused { .. } => {
                false
            }
        }
    }

    pub fn word(&self) -> &'static str {
        match self {
            Standing::Unknown => "unknown",
            Standing::Cosigned { .. } => "ok",
            Standing::Unreachable { .. } => "unreachable",
            Standing::Refused { .. } => "refused",
            Standing::Ahead { .. } => "ahead",
            Standing::Forked { .. } => "forked",
        }
    }
}

impl std::fmt::Display for Standing {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Standing::Unknown => write!(formatter, "has not been asked yet"),
            Standing::Cosigned { size } => write!(formatter, "vouches for the first {size} events"),
            Standing::Unreachable { reason } => write!(formatter, "cannot be reached: {reason}"),
            Standing::Refused { reason } => write!(formatter, "does not cosign: {reason}"),
            Standing::Ahead { known_size, found_size } => {
                write!(formatter, "cosigned {known_size} events, but the log has {found_size}: it was rolled back")
            }
            Standing::Forked { size } => {
                write!(formatter, "cosigned another history than the one that now has {size} events")
            }
        }
    }
}

/// A witness with its standing, as health and doctor show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WitnessStanding {
    pub name: String,
    #[serde(flatten)]
    pub standing: Standing,
}

pub struct Witnesses {
    each: Vec<Each>,
}

struct Each {
    name: String,
    key: WitnessVerifier,
    outbound: Outbound,
    standing: Mutex<Standing>,
    plan: Mutex<Plan>,
}

/// When to ask again, and from where.
struct Plan {
    old_size: u64,
    next: Instant,
    n_failures: u32,
}

impl Witnesses {
    pub fn new(settings: &[Witness]) -> Result<Witnesses, WitnessesError> {
        let each = settings.iter().map(|witness| {
            let name = witness.name();
            let outbound = Outbound::new(&witness.address(), LIMITS)
                .map_err(|source| WitnessesError::Outbound { name: name.clone(), source })?;
            let key = witness.verifier().map_err(WitnessesError::Settings)?;
            let plan = Mutex::new(Plan { old_size: 0, next: Instant::now(), n_failures: 0 });
            Ok(Each { name, key, outbound, standing: Mutex::new(Standing::Unknown), plan })
        });
        Ok(Witnesses { each: each.collect::<Result<_, _>>()? })
    }

    pub fn standings(&self) -> Vec<WitnessStanding> {
        let shown = |each: &Each| WitnessStanding { name: each.name.clone(), standing: lock(&each.standing).clone() };
        self.each.iter().map(shown).collect()
    }

    /// Shows the newest checkpoint to every witness: at a start, when they may know of more than the database.
    pub async fn ask_all(&self, notary: &Notary) {
        join_all(self.each.iter().map(|each| each.ask_within(notary))).await;
    }

    /// Asks every witness how much it has cosigned, where nothing is signed that could be shown to it: a log that is shorter
    /// is noted. Answers whether any of them knows the log.
    pub async fn ask_sizes(&self, notary: &Notary, found_size: u64) -> bool {
        let asked = self.each.iter().map(|each| async move {
            // Who is away does not hold up the start, and is asked again when there is something to show.
            let answered = tokio::time::timeout(WITHIN, each.known_size(notary)).await.ok().flatten();
            if let Some(known_size) = answered
                && known_size > found_size
            {
                each.note(notary, Standing::Ahead { known_size, found_size });
            }
            answered.is_some()
        });
        join_all(asked).await.into_iter().any(|is_known| is_known)
    }

    /// Shows the last checkpoint of a process to those who have not cosigned it and were there lately.
    pub async fn ask_once_more(&self, notary: &Notary) {
        let asked = self.each.iter().map(|each| async {
            let was_away = matches!(*lock(&each.standing), Standing::Unreachable { .. });
            if !was_away && each.has_news(notary).await {
                each.ask_within(notary).await;
            }
        });
        join_all(asked).await;
    }

    /// The first witness that knows of another history.
    pub fn contradiction(&self) -> Option<WitnessStanding> {
        self.standings().into_iter().find(|found| found.standing.is_contradiction())
    }
}

/// Shows checkpoints as they come until told to stop. One at a time: their answers go into the same row.
pub async fn run(witnesses: Arc<Witnesses>, platform: Platform, accepted: PathBuf, stop: CancellationToken) {
    if witnesses.each.is_empty() {
        return;
    }
    let notary = Notary::new(platform);
    loop {
        for each in &witnesses.each {
            if each.is_due(&notary).await {
                each.ask(&notary).await;
            }
        }
        // The operator's word that a rollback was meant holds until every witness agrees again.
        let agrees = |each: &Each| matches!(*lock(&each.standing), Standing::Cosigned { .. });
        if accepted.exists() && witnesses.each.iter().all(agrees) {
            super::notary::forget_acceptance(&accepted);
            notary.watch().accept_loss(false);
        }
        tokio::select! {
            () = tokio::time::sleep(LOOK_EVERY) => {}
            () = stop.cancelled() => return,
        }
    }
}

impl Each {
    /// Whether it is time, and there is something to show: a checkpoint that it has not cosigned, or the one that it was
    /// last seen to be away for, or to object to.
    async fn is_due(&self, notary: &Notary) -> bool {
        if Instant::now() < lock(&self.plan).next {
            return false;
        }
        let is_settled = matches!(*lock(&self.standing), Standing::Unknown | Standing::Cosigned { .. });
        !is_settled || self.has_news(notary).await
    }

    async fn has_news(&self, notary: &Notary) -> bool {
        match notary.latest().await {
            Ok(Some(latest)) => !Notary::is_cosigned_by(&latest, &self.key),
            Ok(None) | Err(_) => false,
        }
    }

    async fn ask_within(&self, notary: &Notary) {
        if tokio::time::timeout(WITHIN, self.ask(notary)).await.is_err() {
            let reason = format!("no answer within {} s", WITHIN.as_secs());
            self.note(notary, Standing::Unreachable { reason });
        }
    }

    /// How much it has cosigned, if anything.
    async fn known_size(&self, notary: &Notary) -> Option<u64> {
        let request = notary.request_of_nothing().ok()?;
        let answer = self.post(&request).await.ok()?;
        parse_known_size(&answer.body).filter(|_| answer.status == StatusCode::CONFLICT)
    }

    async fn ask(&self, notary: &Notary) {
        let standing = match self.show(notary).await {
            Ok(standing) => standing,
            Err(error) => Standing::Refused { reason: chain(&error) },
        };
        self.note(notary, standing);
    }

    async fn show(&self, notary: &Notary) -> Result<Standing, WitnessError> {
        let mut old_size = lock(&self.plan).old_size;
        for _ in 0..TRIES_MAX {
            let Some(request) = notary.request_from(old_size).await? else {
                let latest = notary.latest().await.map_err(WitnessError::Notary)?;
                let found_size = latest.map_or(0, |latest| latest.tree_size);
                return Ok(match old_size {
                    0 => Standing::Unknown,
                    known_size => Standing::Ahead { known_size, found_size },
                });
            };
            let size = request.checkpoint().unverified().size();
            let answer = match self.post(&request).await {
                Ok(answer) => answer,
                Err(error) => return Ok(Standing::Unreachable { reason: chain(&error) }),
            };
            match answer.status {
                StatusCode::OK => {
                    notary.keep_cosignature(&request, &answer.body, &self.key).await?;
                    lock(&self.plan).old_size = size;
                    return Ok(Standing::Cosigned { size });
                }
                StatusCode::CONFLICT => match parse_known_size(&answer.body) {
                    Some(known_size) if known_size != old_size => old_size = known_size,
                    Some(_) | None => {
                        return Ok(Standing::Refused { reason: "it answered 409 without another size".to_owned() });
                    }
                },
                StatusCode::UNPROCESSABLE_ENTITY => return Ok(Standing::Forked { size }),
                // Its words are not repeated: they are anybody's.
                status if status.is_server_error() => {
                    return Ok(Standing::Unreachable { reason: format!("it answered {status}") });
                }
                StatusCode::NOT_FOUND => {
                    let reason = "it does not know this log; `materia witness trust` makes it".to_owned();
                    return Ok(Standing::Refused { reason });
                }
                StatusCode::FORBIDDEN => {
                    let reason = "it does not know this log's key; `materia witness trust` adds it".to_owned();
                    return Ok(Standing::Refused { reason });
                }
                status => return Ok(Standing::Refused { reason: format!("it answered {status}") }),
            }
        }
        Ok(Standing::Unreachable { reason: "its size changes with every try".to_owned() })
    }

    async fn post(&self, request: &AddCheckpoint) -> Result<crate::outbound::Answer, OutboundError> {
        let mut message = Request::new(Full::new(Bytes::from(request.to_string())));
        *message.method_mut() = Method::POST;
        self.outbound.send(message).await
    }

    fn note(&self, notary: &Notary, standing: Standing) {
        let name = self.name.clone();
        match &standing {
            Standing::Ahead { .. } | Standing::Forked { .. } => {
                notary.watch().note_witness(&name, Some(standing.to_string()));
            }
            Standing::Unknown | Standing::Cosigned { .. } => notary.watch().note_witness(&name, None),
            // Who does not answer takes nothing back.
            Standing::Unreachable { .. } | Standing::Refused { .. } => {}
        }
        metrics::counter!("materia_witness_answers_total", "witness" => name.clone(), "answer" => standing.word())
            .increment(1);
        let contradicts = if standing.is_contradiction() { 1.0 } else { 0.0 };
        metrics::gauge!("materia_witness_contradicts", "witness" => name.clone()).set(contradicts);
        if let Standing::Cosigned { size } = standing {
            #[expect(clippy::cast_precision_loss, reason = "a gauge does not need the last digit")]
            metrics::gauge!("materia_witness_cosigned_size", "witness" => name.clone()).set(size as f64);
        }
        let mut plan = lock(&self.plan);
        plan.n_failures = match standing {
            Standing::Cosigned { .. } | Standing::Unknown => 0,
            Standing::Unreachable { .. }
            | Standing::Refused { .. }
            | Standing::Ahead { .. }
            | Standing::Forked { .. } => plan.n_failures.saturating_add(1),
        };
        plan.next = Instant::now() + again_after(plan.n_failures);
        drop(plan);
        let before = std::mem::replace(&mut *lock(&self.standing), standing.clone());
        if before.word() == standing.word() {
            return;
        }
        if standing.is_contradiction() {
            tracing::error!(witness = name, standing = standing.word(), "The witness {standing}");
        } else if matches!(standing, Standing::Cosigned { .. } | Standing::Unknown) {
            tracing::info!(witness = name, standing = standing.word(), "The witness {standing}");
        } else {
            tracing::warn!(witness = name, standing = standing.word(), "The witness {standing}");
        }
    }
}

/// A second after a success; twice as long after each failure, and not for all servers at the same moment.
fn again_after(n_failures: u32) -> Duration {
    let wait = Duration::from_secs(1).saturating_mul(1 << n_failures.min(6)).min(AGAIN_AFTER_MAX);
    let part = uuid::Uuid::new_v4().as_u128() % 256;
    wait + wait.mul_f64(f64::from(u8::try_from(part).unwrap_or(0)) / 1_024.0)
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn chain(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}
