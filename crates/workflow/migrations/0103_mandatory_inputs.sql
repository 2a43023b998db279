-- Asked for often, and too slow to find out for every task of a long queue.
ALTER TABLE tasks ADD COLUMN has_mandatory_input BOOLEAN NOT NULL DEFAULT FALSE;

UPDATE tasks SET has_mandatory_input = TRUE WHERE EXISTS (
    SELECT 1 FROM task_inputs i
    WHERE i.organisation_id = tasks.organisation_id AND i.task_id = tasks.task_id AND i.classification = 'mandatory'
);

CREATE INDEX tasks_without_mandatory ON tasks (organisation_id, project_id, task_number) WHERE NOT has_mandatory_input;
