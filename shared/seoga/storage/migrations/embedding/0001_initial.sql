-- What the embedding service learns and keeps: everything here can be deleted. Times are UTC ISO strings.

-- Batch sizes by model (provider, address, name) and upper bound of the length in tokens; mean_ms: a text, in full batches.
CREATE TABLE embedding_profiles (
  model      TEXT NOT NULL,
  bucket     INTEGER NOT NULL,
  size       INTEGER NOT NULL,
  mean_ms    REAL NOT NULL,
  samples    INTEGER NOT NULL,
  ceiling    INTEGER NOT NULL,
  before_ms  REAL NOT NULL,
  updated_at TEXT NOT NULL,
  PRIMARY KEY (model, bucket)
) WITHOUT ROWID;

-- Answers of LLMs by (chunk, prompt, model); used_at decides what goes first when there are too many.
CREATE TABLE contexts (
  key      TEXT PRIMARY KEY,
  context  TEXT NOT NULL,
  keywords TEXT NOT NULL,
  used_at  TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX contexts_by_use ON contexts (used_at);
