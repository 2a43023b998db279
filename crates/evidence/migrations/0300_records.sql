-- Sources, nodes, edges and documents as canonical JSON. A record that was withdrawn has no row.
CREATE TABLE evidence_records (
    organisation_id TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('source', 'node', 'edge', 'document')),
    id TEXT NOT NULL,
    sha256 {bytes} NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (organisation_id, kind, id)
);

-- Pages come in the same order on both engines.
{postgres}ALTER TABLE evidence_records ALTER COLUMN id TYPE TEXT COLLATE "C";

-- What each batch changed: a list of [kind, id, sha256], with null where the record was withdrawn. The number of the last
-- batch is the change number that everything derived from the record follows.
CREATE TABLE evidence_batches (
    organisation_id TEXT NOT NULL,
    batch_number BIGINT NOT NULL,
    manifest TEXT NOT NULL,
    PRIMARY KEY (organisation_id, batch_number)
);
