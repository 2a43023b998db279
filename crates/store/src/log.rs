//! The log over the events: committed events get contiguous leaf indexes, and a Merkle tree grows over them.
//!
//! A call inserts its event and touches nothing else of this. One sequencer at a time follows, in the order of commits:
//! on SQLite the owner's writer, on PostgreSQL whoever holds an advisory lock, with the primary key as fence. Hashes of
//! complete subtrees are kept for every eighth level; those between are a few hundred hashes away.

mod checkpoints;

pub use checkpoints::{
    StoredCheckpoint, checkpoints_after, count_checkpoints, count_empty_checkpoints, find_checkpoint,
    is_older_than_identity, latest_checkpoint, newest_checkpoints, tables_with_others,
};

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use ledger::hash::Hash;
use ledger::tree::{Frontier, Node, Subtree};
use tokio::time::Instant;

use crate::batch::{Applied, Apply, Keep};
use crate::bulk::Bulk;
use crate::conn::Conn;
use crate::dialect::Engine;
use crate::error::{StoreError, WriteError};
use crate::open::Store;
use crate::param::Param;

/// Events that one transaction of the sequencer takes.
pub const SEQUENCE_EVENTS_MAX: i64 = 1_000;
/// Subtree hashes are kept at multiples of this level.
const KEPT_LEVELS: u32 = 8;
const WAIT_MAX: std::time::Duration = std::time::Duration::from_secs(30);

static LEAVES: LazyLock<Bulk> = LazyLock::new(|| Bulk::new("log_leaves (leaf_index, call_id, leaf_hash)", 3, ""));
static NODES: LazyLock<Bulk> = LazyLock::new(|| Bulk::new("log_nodes (level, node_index, hash)", 3, ""));

/// What one step of the sequencer did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequenced {
    /// So many events got their index; there may be more.
    Events(u64),
    /// Another process is the sequencer.
    Elsewhere,
}

/// The tree as it stands.
#[derive(Debug, Clone)]
pub struct LogState {
    pub frontier: Frontier,
    last_commit_key: i64,
    last_event_seq: i64,
}

/// A leaf with what it was made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Leaf {
    pub leaf_index: u64,
    pub call_id: String,
    pub leaf_hash: Hash,
    /// The exact bytes, absent if the event's row is gone.
    pub event: Option<StoredEvent>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredEvent {
    pub position: Position,
    pub organisation_id: String,
    pub recorded_at_us: i64,
    pub actor_id: String,
    pub operation: String,
    pub outcome: String,
    pub body: String,
}

impl Store {
    /// Gives committed events their place in the log.
    pub async fn sequence(&self) -> Result<Sequenced, StoreError> {
        match self.engine() {
            Engine::Sqlite => self.sequence_beside().await,
            Engine::Postgres => self.sequence_alone().await,
        }
    }

    /// Reads and hashes beside the one writer, which then only has to insert. Whoever holds the connection is the only one.
    async fn sequence_beside(&self) -> Result<Sequenced, StoreError> {
        let mut reader = self.sequencer_connection().await?;
        let Some(growth) = Growth::find(&mut reader).await? else { return Ok(Sequenced::Events(0)) };
        let n_events = growth.n_events();
        let growth = Arc::new(growth);
        let apply: Apply<()> = Box::new(move |tx| {
            let growth = Arc::clone(&growth);
            Box::pin(async move {
                growth.append(tx).await?;
                Ok(Applied { value: (), event: None, keep: Keep::Changes })
            })
        });
        let written = self.write(None, Instant::now() + WAIT_MAX, apply).await;
        written.map(|()| Sequenced::Events(n_events)).map_err(|error| match error {
            WriteError::Store(error) => error,
            WriteError::Expired | WriteError::QueueFull => StoreError::unavailable("the writer is too busy"),
            WriteError::Panicked => StoreError::other("sequencing panicked"),
        })
    }

    /// On a connection of its own: a serializable transaction that reads what all others write would make them fail.
    async fn sequence_alone(&self) -> Result<Sequenced, StoreError> {
        let mut conn = self.sequencer_connection().await?;
        let Some(key) = self.engine().sequencer_lock_key() else { return Ok(Sequenced::Elsewhere) };
        if !conn.try_lock(key).await? {
            return Ok(Sequenced::Elsewhere);
        }
        conn.begin_plain().await?;
        let appended = append_settled(&mut conn).await;
        let ended = match &appended {
            Ok(_) => conn.commit().await,
            Err(_) => conn.rollback().await,
        };
        let n_appended = appended?;
        ended?;
        conn.unlock(key).await?;
        Ok(Sequenced::Events(n_appended))
    }
}

/// Appends what is settled and not yet in the tree. Returns how many events that were.
async fn append_settled(conn: &mut Conn) -> Result<u64, StoreError> {
    let Some(growth) = Growth::find(conn).await? else { return Ok(0) };
    growth.append(conn).await?;
    Ok(growth.n_events())
}

/// The sequencer stands at the last event of the tree. Other hands that moved it on, or put another event into that place,
/// would keep events out of the log.
async fn check_place(conn: &mut Conn, state: &LogState) -> Result<(), StoreError> {
    let Some(last_index) = state.frontier.size().checked_sub(1) else { return Ok(()) };
    let sql = "SELECT 1 FROM events e JOIN log_leaves l ON l.call_id = e.call_id \
               WHERE e.commit_key = $1 AND e.event_seq = $2 AND l.leaf_index = $3";
    let place = [state.last_commit_key, state.last_event_seq, signed(last_index)].map(Param::Int);
    match conn.fetch_optional(sql, &place).await? {
        Some(_) => Ok(()),
        None => Err(StoreError::damaged("log_state", "it stands at an event that is not there or not the last one")),
    }
}

/// No event stands where the writer puts none: followed there, the sequencer would leave all others behind.
async fn check_ahead(conn: &mut Conn, state: &LogState) -> Result<(), StoreError> {
    let Some(ahead_max) = conn.engine().events_ahead_max() else { return Ok(()) };
    let sql = "SELECT 1 FROM events WHERE event_seq > $1 LIMIT 1";
    match conn.fetch_optional(sql, &[Param::Int(state.last_event_seq.saturating_add(ahead_max))]).await? {
        None => Ok(()),
        Some(_) => Err(StoreError::damaged("events", "other hands put an event far ahead of all others")),
    }
}

/// What is settled and not yet in the tree, and the tree with it.
struct Growth {
    size_before: u64,
    frontier: Frontier,
    leaves: Vec<(i64, String, Hash)>,
    nodes: Vec<Node>,
    last_commit_key: i64,
    last_event_seq: i64,
}

impl Growth {
    /// `None` where the tree has everything.
    async fn find(conn: &mut Conn) -> Result<Option<Growth>, StoreError> {
        let state = read_state(conn).await?;
        check_place(conn, &state).await?;
        check_ahead(conn, &state).await?;
        let size_before = state.frontier.size();
        let position =
            [Param::Int(state.last_commit_key), Param::Int(state.last_event_seq), Param::Int(SEQUENCE_EVENTS_MAX)];
        let rows = conn.fetch_all(conn.engine().settled_events_sql(), &position).await?;
        let Some(last) = rows.last() else { return Ok(None) };
        let (last_commit_key, last_event_seq) = (last.int(0)?, last.int(1)?);
        let mut frontier = state.frontier;
        let (mut leaves, mut nodes) = (Vec::with_capacity(rows.len()), Vec::new());
        for row in &rows {
            let hash = Hash::leaf(row.text(3)?.as_bytes());
            leaves.push((signed(frontier.size()), row.text(2)?, hash));
            let completed = frontier.append(hash).into_iter();
            nodes.extend(completed.filter(|node| is_kept_level(node.subtree.level)));
        }
        Ok(Some(Growth { size_before, frontier, leaves, nodes, last_commit_key, last_event_seq }))
    }

    fn n_events(&self) -> u64 {
        self.frontier.size() - self.size_before
    }

    /// Writes it. The tree must still be the one it was found for.
    async fn append(&self, conn: &mut Conn) -> Result<(), StoreError> {
        LEAVES
            .insert(conn, &self.leaves, |(index, call_id, hash), params| {
                params.extend([Param::Int(*index), Param::Text(call_id), Param::Bytes(hash.as_bytes())]);
            })
            .await?;
        NODES
            .insert(conn, &self.nodes, |node, params| {
                let (level, index) = (i64::from(node.subtree.level), signed(node.subtree.index));
                params.extend([Param::Int(level), Param::Int(index), Param::Bytes(node.hash.as_bytes())]);
            })
            .await?;
        let n_written = conn
            .execute(
                "INSERT INTO log_state (id, size, frontier, last_commit_key, last_event_seq) \
                 VALUES (1, $1, $2, $3, $4) \
                 ON CONFLICT (id) DO UPDATE SET size = excluded.size, frontier = excluded.frontier, \
                 last_commit_key = excluded.last_commit_key, last_event_seq = excluded.last_event_seq \
                 WHERE log_state.size = $5",
                &[
                    Param::Int(signed(self.frontier.size())),
                    Param::Bytes(&self.frontier.to_bytes()),
                    Param::Int(self.last_commit_key),
                    Param::Int(self.last_event_seq),
                    Param::Int(signed(self.size_before)),
                ],
            )
            .await?;
        if n_written != 1 {
            return Err(StoreError::other("another sequencer was faster"));
        }
        Ok(())
    }
}

/// The tree as the sequencer left it.
pub async fn read_state(conn: &mut Conn) -> Result<LogState, StoreError> {
    let row = conn
        .fetch_optional("SELECT size, frontier, last_commit_key, last_event_seq FROM log_state WHERE id = 1", &[])
        .await?;
    let Some(row) = row else {
        // Transaction numbers and row numbers begin above zero.
        return Ok(LogState { frontier: Frontier::new(), last_commit_key: 0, last_event_seq: 0 });
    };
    let unreadable = || StoreError::damaged("log_state", "the kept right edge of the tree cannot be read");
    let frontier = row.bytes(1).ok().and_then(|bytes| Frontier::parse(&bytes).ok()).ok_or_else(unreadable)?;
    let number = |column: usize| {
        row.int(column).map_err(|_| StoreError::damaged("log_state", "a number of its row is not of its type"))
    };
    if signed(frontier.size()) != number(0)? {
        return Err(StoreError::damaged("log_state", "the kept right edge of the tree has another size than the log"));
    }
    Ok(LogState { frontier, last_commit_key: number(2)?, last_event_seq: number(3)? })
}

/// The place of an event in the order of commits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Position {
    commit_key: i64,
    event_seq: i64,
}

impl Position {
    /// Before every place that any hand could give an event.
    pub const FIRST: Position = Position { commit_key: i64::MIN, event_seq: i64::MIN };
}

/// The last place that an event can have which waits behind this one. Only other hands put one farther away.
pub fn farthest(conn: &Conn, from: Position) -> Position {
    match conn.engine().events_ahead_max() {
        Some(ahead_max) => Position { event_seq: from.event_seq.saturating_add(ahead_max), ..from },
        None => Position { commit_key: i64::MAX, event_seq: i64::MAX },
    }
}

/// Events before this place are settled: a sequencer at work takes them at its next step.
pub async fn settled_before(conn: &mut Conn) -> Result<Position, StoreError> {
    let Some(sql) = conn.engine().settled_before_sql() else {
        return Ok(Position { commit_key: i64::MAX, event_seq: i64::MAX });
    };
    let row = conn.fetch_optional(sql, &[]).await?;
    let commit_key = row.map(|row| row.int(0)).transpose()?.unwrap_or(i64::MIN);
    Ok(Position { commit_key, event_seq: i64::MIN })
}

/// Rows of the log's tables that no tree of a size has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Beyond {
    pub n_leaves: u64,
    pub n_nodes: u64,
}

/// Rows that the tree does not have, or not yet: the sequencer cannot go past one that stands where it has to write.
pub async fn count_beyond(conn: &mut Conn, size: u64) -> Result<Beyond, StoreError> {
    let size = [Param::Int(signed(size))];
    let mut count = async |sql: &'static str| -> Result<u64, StoreError> {
        let row = conn.fetch_optional(sql, &size).await?;
        Ok(row.map(|row| row.int(0)).transpose()?.unwrap_or(0).unsigned_abs())
    };
    let n_leaves = count("SELECT COUNT(*) FROM log_leaves WHERE leaf_index >= $1 OR leaf_index < 0").await?;
    // A `CASE` looks at one condition after the other, so that nothing is shifted by a level that no tree has.
    let n_nodes = count(
        "SELECT COUNT(*) FROM log_nodes WHERE CASE WHEN level < 1 OR level > 56 OR level % 8 <> 0 THEN 1 \
         WHEN node_index < 0 OR node_index >= ($1 >> CAST(level AS INTEGER)) THEN 1 ELSE 0 END = 1",
    )
    .await?;
    Ok(Beyond { n_leaves, n_nodes })
}

impl LogState {
    /// The last event that is in the tree.
    pub fn position(&self) -> Position {
        Position { commit_key: self.last_commit_key, event_seq: self.last_event_seq }
    }
}

/// An event that is committed and has no place in the tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WaitingEvent {
    pub position: Position,
    pub call_id: String,
    pub organisation_id: String,
    pub recorded_at_us: i64,
    pub body: String,
}

/// Events without a place in the tree, wherever the sequencer believes to be: in order, after a position.
pub async fn read_waiting(conn: &mut Conn, after: Position) -> Result<Vec<WaitingEvent>, StoreError> {
    let rows = conn
        .fetch_all(
            "SELECT e.commit_key, e.event_seq, e.call_id, e.organisation_id, e.recorded_at_us, e.body \
             FROM events e LEFT JOIN log_leaves l ON l.call_id = e.call_id \
             WHERE l.call_id IS NULL AND (e.commit_key, e.event_seq) > ($1, $2) \
             ORDER BY e.commit_key, e.event_seq LIMIT $3",
            &[Param::Int(after.commit_key), Param::Int(after.event_seq), Param::Int(SEQUENCE_EVENTS_MAX)],
        )
        .await?;
    let waiting = rows.iter().map(|row| {
        Ok(WaitingEvent {
            position: Position { commit_key: row.int(0)?, event_seq: row.int(1)? },
            call_id: row.text(2)?,
            organisation_id: row.text(3)?,
            recorded_at_us: row.int(4)?,
            body: row.text(5)?,
        })
    });
    waiting.collect()
}

/// The place of the last event of a tree of this size. `None` where its row is gone.
pub async fn last_position(conn: &mut Conn, size: u64) -> Result<Option<Position>, StoreError> {
    let sql = "SELECT e.commit_key, e.event_seq FROM log_leaves l JOIN events e ON e.call_id = l.call_id \
               WHERE l.leaf_index = $1";
    let row = conn.fetch_optional(sql, &[Param::Int(signed(size).saturating_sub(1))]).await?;
    row.map(|row| Ok(Position { commit_key: row.int(0)?, event_seq: row.int(1)? })).transpose()
}

/// Events that are in the tree although the sequencer has not come to them yet: it will stop at the first of them.
pub async fn count_ahead(conn: &mut Conn, position: Position) -> Result<u64, StoreError> {
    let sql = "SELECT COUNT(*) FROM events e JOIN log_leaves l ON l.call_id = e.call_id \
               WHERE (e.commit_key, e.event_seq) > ($1, $2)";
    let row = conn.fetch_optional(sql, &[Param::Int(position.commit_key), Param::Int(position.event_seq)]).await?;
    Ok(row.map(|row| row.int(0)).transpose()?.unwrap_or(0).unsigned_abs())
}

/// The oldest event before a time that has no place in the tree, by its call and time. Only the newest events are looked
/// at, so that it costs the same in a long log.
pub async fn oldest_waiting(conn: &mut Conn, before_us: i64) -> Result<Option<(String, i64)>, StoreError> {
    let row = conn.fetch_optional(conn.engine().oldest_waiting_sql(), &[Param::Int(before_us)]).await?;
    row.map(|row| Ok((row.text(0)?, row.int(1)?))).transpose()
}

/// Events that are committed but not yet in the tree.
pub async fn count_waiting(conn: &mut Conn) -> Result<u64, StoreError> {
    let row =
        conn.fetch_optional("SELECT (SELECT COUNT(*) FROM events) - (SELECT COUNT(*) FROM log_leaves)", &[]).await?;
    Ok(row.map(|row| row.int(0)).transpose()?.unwrap_or(0).max(0).unsigned_abs())
}

/// The hash of any complete subtree, computed from the nearest kept level below.
pub async fn subtree_hash(conn: &mut Conn, subtree: Subtree) -> Result<Hash, StoreError> {
    let kept = subtree.level - subtree.level % KEPT_LEVELS;
    let height = subtree.level - kept;
    let first = subtree.index << height;
    let range = [Param::Int(i64::from(kept)), Param::Int(signed(first)), Param::Int(signed(first + (1 << height)))];
    let rows = if kept == 0 {
        let sql = "SELECT leaf_hash FROM log_leaves WHERE leaf_index >= $1 AND leaf_index < $2 ORDER BY leaf_index";
        conn.fetch_all(sql, &range[1..]).await?
    } else {
        let sql = "SELECT hash FROM log_nodes WHERE level = $1 AND node_index >= $2 AND node_index < $3 \
                   ORDER BY node_index";
        conn.fetch_all(sql, &range).await?
    };
    let table = if kept == 0 { "log_leaves" } else { "log_nodes" };
    let mut hashes = rows.iter().map(|row| parse_hash(table, &row.bytes(0)?)).collect::<Result<Vec<Hash>, _>>()?;
    if hashes.len() != 1 << height {
        return Err(StoreError::damaged(table, "it lacks hashes that it should hold"));
    }
    while hashes.len() > 1 {
        hashes = hashes.chunks_exact(2).filter_map(|pair| Some(Hash::node(pair.first()?, pair.get(1)?))).collect();
    }
    hashes.first().copied().ok_or_else(|| StoreError::other("an empty subtree has no hash"))
}

/// The kept hash of a subtree, where its level is one that is kept; an absent or unreadable one as `None`.
pub async fn find_node(conn: &mut Conn, subtree: Subtree) -> Result<Option<Hash>, StoreError> {
    let sql = "SELECT hash FROM log_nodes WHERE level = $1 AND node_index = $2";
    let place = [Param::Int(i64::from(subtree.level)), Param::Int(signed(subtree.index))];
    let row = conn.fetch_optional(sql, &place).await?;
    Ok(row.map(|row| row.bytes(0)).transpose()?.and_then(|bytes| parse_hash("log_nodes", &bytes).ok()))
}

/// Whether the hashes of subtrees of this level are kept beside the leaves.
pub fn is_kept_level(level: u32) -> bool {
    level > 0 && level.is_multiple_of(KEPT_LEVELS)
}

/// The hashes that a proof asked for.
pub async fn subtree_hashes(conn: &mut Conn, wanted: &[Subtree]) -> Result<HashMap<Subtree, Hash>, StoreError> {
    let mut found = HashMap::new();
    for subtree in wanted {
        found.insert(*subtree, subtree_hash(conn, *subtree).await?);
    }
    Ok(found)
}

fn parse_hash(table: &'static str, bytes: &[u8]) -> Result<Hash, StoreError> {
    let bytes = bytes.try_into().map_err(|_| StoreError::damaged(table, "a kept hash has another length"))?;
    Ok(Hash::from_bytes(bytes))
}

/// Leaves from an index on, in order, each with its event.
pub async fn read_leaves(conn: &mut Conn, from_index: u64, n_max: u32) -> Result<Vec<Leaf>, StoreError> {
    let rows = conn
        .fetch_all(
            "SELECT l.leaf_index, l.call_id, l.leaf_hash, e.organisation_id, e.recorded_at_us, e.actor_id, \
             e.operation, e.outcome, e.body, e.commit_key, e.event_seq FROM log_leaves l LEFT JOIN events e ON e.call_id = l.call_id \
             WHERE l.leaf_index >= $1 ORDER BY l.leaf_index LIMIT $2",
            &[Param::Int(signed(from_index)), Param::Int(i64::from(n_max))],
        )
        .await?;
    rows.iter()
        .map(|row| {
            let event = match row.opt_text(8)? {
                None => None,
                Some(body) => Some(StoredEvent {
                    position: Position { commit_key: row.int(9)?, event_seq: row.int(10)? },
                    organisation_id: row.text(3)?,
                    recorded_at_us: row.int(4)?,
                    actor_id: row.text(5)?,
                    operation: row.text(6)?,
                    outcome: row.text(7)?,
                    body,
                }),
            };
            Ok(Leaf {
                leaf_index: row.int(0)?.unsigned_abs(),
                call_id: row.text(1)?,
                leaf_hash: parse_hash("log_leaves", &row.bytes(2)?)?,
                event,
            })
        })
        .collect()
}

/// Where an event stands in the log, and its exact bytes. `None` for an unknown call.
pub async fn find_event(
    conn: &mut Conn,
    organisation_id: &str,
    call_id: &str,
) -> Result<Option<(Option<u64>, String)>, StoreError> {
    let row = conn
        .fetch_optional(
            "SELECT l.leaf_index, e.body FROM events e LEFT JOIN log_leaves l ON l.call_id = e.call_id \
             WHERE e.organisation_id = $1 AND e.call_id = $2",
            &[Param::Text(organisation_id), Param::Text(call_id)],
        )
        .await?;
    row.map(|row| Ok((row.opt_int(0)?.map(i64::unsigned_abs), row.text(1)?))).transpose()
}

/// SQL has no unsigned integers; `ledger::tree::LEAVES_MAX` keeps every index within the signed ones.
fn signed(index: u64) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}
