-- Passages that got no context for their own sake (refused, answered without one, the model breaks down at them), by the
-- key of `contexts`: after a few tries they are not asked about any more. Deleting this costs those tries once more.
CREATE TABLE context_failures (
  key     TEXT PRIMARY KEY,
  tries   INTEGER NOT NULL,
  fault   TEXT NOT NULL,
  reason  TEXT NOT NULL,
  used_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX context_failures_by_use ON context_failures (used_at);
