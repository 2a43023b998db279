CREATE TABLE api_keys (
    key_id TEXT PRIMARY KEY,
    organisation_id TEXT NOT NULL,
    sha256 TEXT NOT NULL,
    actor_id TEXT NOT NULL,
    roles TEXT NOT NULL,
    scopes TEXT NOT NULL,
    created_at_us BIGINT NOT NULL,
    expires_at_us BIGINT,
    revoked_at_us BIGINT,
    created_by TEXT NOT NULL
);

CREATE INDEX api_keys_by_organisation ON api_keys (organisation_id, created_at_us);
