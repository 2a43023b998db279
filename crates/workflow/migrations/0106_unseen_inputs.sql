-- Names of inputs whose documents nobody here has seen, as JSON. None of tasks before this are known.
ALTER TABLE tasks ADD COLUMN unseen_inputs TEXT;
