-- An entry whose knowledge base is busy goes behind the others and stays the same entry: `turn` orders, `id` names.
ALTER TABLE jobs ADD COLUMN turn INTEGER NOT NULL DEFAULT 0;
UPDATE jobs SET turn = id;

-- When each schedule was last due, so that of several processes one acts, and a missed time is made up for.
CREATE TABLE schedules (
  name    TEXT PRIMARY KEY,
  last_at TEXT NOT NULL
) WITHOUT ROWID;
