-- An approved document is moved to other statuses. SQLite cannot change the check of a table, so the table is made anew.
CREATE TABLE artifact_revisions_kept AS SELECT * FROM artifact_revisions;

DROP TABLE artifact_revisions;

CREATE TABLE artifact_revisions (
    organisation_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    artifact_key TEXT NOT NULL,
    version BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    status TEXT NOT NULL,
    cause TEXT NOT NULL CHECK (cause IN ('stored', 'approved', 'moved')),
    content_sha256 TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at_us BIGINT NOT NULL,
    meaning TEXT,
    PRIMARY KEY (organisation_id, project_id, artifact_key, version, revision)
);

INSERT INTO artifact_revisions (organisation_id, project_id, artifact_key, version, revision, status, cause,
    content_sha256, size_bytes, changed_by, changed_at_us, meaning)
SELECT organisation_id, project_id, artifact_key, version, revision, status, cause,
    content_sha256, size_bytes, changed_by, changed_at_us, meaning
FROM artifact_revisions_kept;

DROP TABLE artifact_revisions_kept;
