-- What callers of this house reserved at an id service elsewhere: who may store a document under such an id.
CREATE TABLE ids_elsewhere (
    organisation_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    reservation_id TEXT NOT NULL,
    reserved_by TEXT NOT NULL,
    expires_at_us BIGINT NOT NULL,
    confirmed BOOLEAN NOT NULL,
    PRIMARY KEY (organisation_id, project_id, artifact_id, reservation_id)
);

CREATE INDEX ids_elsewhere_by_reservation ON ids_elsewhere (organisation_id, reservation_id);

-- Who had a task made for a document at a task service elsewhere: with it they hand on an id of theirs.
CREATE TABLE handed_on_ids (
    organisation_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    handed_on_by TEXT NOT NULL,
    PRIMARY KEY (organisation_id, project_id, artifact_id, handed_on_by)
);
