CREATE TABLE log_leaves (
    leaf_index BIGINT PRIMARY KEY,
    call_id TEXT NOT NULL UNIQUE,
    leaf_hash {bytes} NOT NULL
);

CREATE TABLE log_nodes (
    level BIGINT NOT NULL,
    node_index BIGINT NOT NULL,
    hash {bytes} NOT NULL,
    PRIMARY KEY (level, node_index)
);

CREATE TABLE log_state (
    id BIGINT PRIMARY KEY,
    size BIGINT NOT NULL,
    frontier {bytes} NOT NULL,
    last_commit_key BIGINT NOT NULL,
    last_event_seq BIGINT NOT NULL
);

CREATE TABLE log_checkpoints (
    tree_size BIGINT PRIMARY KEY,
    note TEXT NOT NULL,
    created_at_us BIGINT NOT NULL
);

CREATE INDEX events_by_actor ON events (organisation_id, actor_id, recorded_at_us);
