CREATE TABLE log_identity (
    id BIGINT PRIMARY KEY,
    origin TEXT NOT NULL,
    verifier_key TEXT NOT NULL
);
