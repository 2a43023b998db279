-- Numbers that a counter passed over when somebody chose a higher one. Nobody was ever given them.
CREATE TABLE id_gaps (
    organisation_id TEXT NOT NULL,
    artifact_type TEXT NOT NULL,
    project_id TEXT NOT NULL,
    first_number BIGINT NOT NULL,
    last_number BIGINT NOT NULL,
    PRIMARY KEY (organisation_id, artifact_type, project_id, first_number),
    CHECK (first_number <= last_number)
);

-- Whether a document was ever queued is asked at each approval.
CREATE INDEX tasks_by_document ON tasks (organisation_id, project_id, artifact_id);
