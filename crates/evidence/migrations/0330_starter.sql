-- What the starter data put into the record, as it was put. A record that is no longer like this, or no longer there, was
-- changed or withdrawn by somebody else and is theirs.
CREATE TABLE evidence_starter_records (
    organisation_id TEXT NOT NULL,
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    sha256 {bytes} NOT NULL,
    PRIMARY KEY (organisation_id, kind, id)
);
