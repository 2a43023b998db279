-- One sequence for all projects of an organisation.
CREATE TABLE task_counters (
    organisation_id TEXT PRIMARY KEY,
    last_task_number BIGINT NOT NULL
);

CREATE TABLE tasks (
    organisation_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    task_number BIGINT NOT NULL,
    project_id TEXT NOT NULL,
    artifact_id TEXT NOT NULL,
    generator TEXT NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'completed')),
    description TEXT NOT NULL,
    inputs_json {json} NOT NULL,
    correlation_id TEXT,
    created_by TEXT NOT NULL,
    created_at_us BIGINT NOT NULL,
    updated_at_us BIGINT NOT NULL,
    started_at_us BIGINT,
    completed_at_us BIGINT,
    completion_notes TEXT,
    claimed_by TEXT,
    lease_expires_at_us BIGINT,
    PRIMARY KEY (organisation_id, task_id),
    UNIQUE (organisation_id, task_number)
);

CREATE INDEX tasks_by_project ON tasks (organisation_id, project_id, task_number);

CREATE INDEX tasks_by_status ON tasks (organisation_id, project_id, status, task_number);

-- A document is in the queue once.
CREATE UNIQUE INDEX tasks_by_artifact ON tasks (organisation_id, project_id, artifact_id) WHERE status <> 'completed';

CREATE INDEX tasks_by_lease ON tasks (organisation_id, project_id, lease_expires_at_us) WHERE lease_expires_at_us IS NOT NULL;

{postgres}CREATE INDEX tasks_by_inputs ON tasks USING GIN (inputs_json jsonb_path_ops);

-- What one SQL text asks of the inputs on both engines. Inputs never change.
CREATE TABLE task_inputs (
    organisation_id TEXT NOT NULL,
    task_id TEXT NOT NULL,
    position BIGINT NOT NULL,
    artifact_id TEXT NOT NULL,
    classification TEXT NOT NULL,
    PRIMARY KEY (organisation_id, task_id, position)
);

CREATE INDEX task_inputs_by_artifact ON task_inputs (organisation_id, artifact_id, task_id);
