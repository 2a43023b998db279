CREATE TABLE jobs (
    organisation_id TEXT NOT NULL,
    job_id TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    actor TEXT NOT NULL,
    operation TEXT NOT NULL,
    input TEXT NOT NULL,
    answers TEXT NOT NULL,
    questions TEXT NOT NULL,
    state TEXT NOT NULL,
    progress TEXT,
    ending TEXT,
    n_starts BIGINT NOT NULL,
    runner_id TEXT NOT NULL,
    lease_until_us BIGINT NOT NULL,
    created_at_us BIGINT NOT NULL,
    updated_at_us BIGINT NOT NULL,
    expires_at_us BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, job_id)
);

CREATE INDEX jobs_by_turn ON jobs (state, lease_until_us, created_at_us);

CREATE INDEX jobs_by_actor ON jobs (organisation_id, actor_id, state);

CREATE INDEX jobs_by_expiry ON jobs (expires_at_us);
