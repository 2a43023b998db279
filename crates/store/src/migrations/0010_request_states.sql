CREATE TABLE used_request_states (
    organisation_id TEXT NOT NULL,
    state_id TEXT NOT NULL,
    expires_at_us BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, state_id)
);

CREATE INDEX used_request_states_by_time ON used_request_states (expires_at_us);
