CREATE TABLE id_registry (
    organisation_id TEXT NOT NULL,
    artifact_type TEXT NOT NULL,
    project_id TEXT NOT NULL,
    last_assigned_id BIGINT NOT NULL,
    created_at_us BIGINT NOT NULL,
    updated_at_us BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, artifact_type, project_id)
);

CREATE TABLE id_reservations (
    organisation_id TEXT NOT NULL,
    reservation_id TEXT NOT NULL,
    artifact_type TEXT NOT NULL,
    project_id TEXT NOT NULL,
    reserved_by TEXT NOT NULL,
    reserved_ids TEXT NOT NULL,
    reserved_at_us BIGINT NOT NULL,
    expires_at_us BIGINT NOT NULL,
    confirmed BOOLEAN NOT NULL,
    PRIMARY KEY (organisation_id, reservation_id),
    CHECK (expires_at_us > reserved_at_us)
);

CREATE INDEX id_reservations_by_project ON id_reservations (organisation_id, project_id, reserved_at_us);

CREATE INDEX id_reservations_unconfirmed ON id_reservations (organisation_id, expires_at_us) WHERE NOT confirmed;
