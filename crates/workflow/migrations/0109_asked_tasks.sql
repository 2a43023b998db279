-- Tasks that an approval asks of a service elsewhere, from before it asks until the document is approved or they are
-- taken back: a crash in between must not leave work for a document that nobody approved.
CREATE TABLE asked_tasks (
    organisation_id TEXT NOT NULL,
    project_id TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    -- Of the text that is approved.
    content_sha256 TEXT NOT NULL,
    -- Names the asking; what was taken back is asked for under another name.
    asking_id TEXT NOT NULL,
    acting TEXT NOT NULL,
    -- The documents that the tasks are for, as a JSON array.
    made_ids TEXT NOT NULL,
    is_taken_back BOOLEAN NOT NULL,
    asked_at_us BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, project_id, artifact_id, content_sha256)
);
