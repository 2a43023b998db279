-- Vectors of texts, computed once for each text and model. Derived: they can be deleted and are made anew.
CREATE TABLE evidence_embeddings (
    organisation_id TEXT NOT NULL,
    model_sha256 TEXT NOT NULL,
    content_sha256 TEXT NOT NULL,
    windows {bytes} NOT NULL,
    PRIMARY KEY (organisation_id, model_sha256, content_sha256)
);
