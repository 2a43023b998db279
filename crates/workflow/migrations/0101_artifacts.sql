-- The bytes of documents, each once.
CREATE TABLE artifact_contents (
    organisation_id TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    content TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, content_sha256)
);

-- Each version of each document as it is now. The key is the id, or the file name of a document without one.
CREATE TABLE artifacts (
    organisation_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    artifact_key TEXT NOT NULL,
    version BIGINT NOT NULL,
    artifact_type TEXT NOT NULL,
    has_id BOOLEAN NOT NULL,
    folder TEXT NOT NULL,
    file_name TEXT NOT NULL,
    title TEXT NOT NULL,
    status TEXT NOT NULL,
    parent_id TEXT,
    content_sha256 TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    n_revisions BIGINT NOT NULL,
    created_by TEXT NOT NULL,
    created_at_us BIGINT NOT NULL,
    updated_at_us BIGINT NOT NULL,
    approved_by TEXT,
    approved_at_us BIGINT,
    approval_meaning TEXT,
    reviewed_sha256 TEXT,
    PRIMARY KEY (organisation_id, project_id, artifact_key, version),
    UNIQUE (organisation_id, project_id, folder, file_name)
);

CREATE INDEX artifacts_by_type ON artifacts (organisation_id, project_id, artifact_type, artifact_key, version);

CREATE INDEX artifacts_by_parent ON artifacts (organisation_id, project_id, parent_id, artifact_type);

CREATE INDEX artifacts_by_status ON artifacts (organisation_id, project_id, status, artifact_type);

-- Every state that a version was in.
CREATE TABLE artifact_revisions (
    organisation_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    artifact_key TEXT NOT NULL,
    version BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    status TEXT NOT NULL,
    cause TEXT NOT NULL CHECK (cause IN ('stored', 'approved')),
    content_sha256 TEXT NOT NULL,
    size_bytes BIGINT NOT NULL,
    changed_by TEXT NOT NULL,
    changed_at_us BIGINT NOT NULL,
    meaning TEXT,
    PRIMARY KEY (organisation_id, project_id, artifact_key, version, revision)
);

-- Files that are still to be written: the newest state of these documents is not yet on disk for certain.
CREATE TABLE artifact_outbox (
    organisation_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    artifact_key TEXT NOT NULL,
    version BIGINT NOT NULL,
    revision BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, project_id, artifact_key, version)
);
