CREATE TABLE events (
    event_seq {event_seq},
    commit_key {commit_key},
    call_id TEXT NOT NULL UNIQUE,
    organisation_id TEXT NOT NULL,
    recorded_at_us BIGINT NOT NULL,
    actor_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    outcome TEXT NOT NULL,
    body TEXT NOT NULL{events_key}
);

CREATE INDEX events_by_time ON events (organisation_id, recorded_at_us);

CREATE TABLE idempotency_keys (
    organisation_id TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    operation TEXT NOT NULL,
    idempotency_key TEXT NOT NULL,
    in_hash TEXT NOT NULL,
    output TEXT NOT NULL,
    recorded_at_us BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, actor_id, operation, idempotency_key)
);

CREATE INDEX idempotency_keys_by_time ON idempotency_keys (recorded_at_us);
