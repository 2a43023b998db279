-- Keys of patients, requests, conversations and calls, each encrypted under the master key, which is not in the database.
-- A key that was destroyed leaves its row behind, so that no other one is made for the same subject.
CREATE TABLE subject_keys (
    organisation_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    subject_id TEXT NOT NULL,
    wrapped {bytes},
    created_at_us BIGINT NOT NULL,
    destroyed_at_us BIGINT,
    PRIMARY KEY (organisation_id, kind, subject_id)
);

CREATE INDEX subject_keys_by_destruction ON subject_keys (destroyed_at_us);
