-- Questions for LLMs that go to a provider's batch API, what is under way there, and what answers cost (told once, to the
-- run that takes them). Deleting these loses batches that are paid for.

-- prompt: JSON [system, document, passage], zlib; batch: the mark of the one it went with, '' while it waits.
CREATE TABLE batch_requests (
  key       TEXT PRIMARY KEY,
  endpoint  TEXT NOT NULL,
  prompt    BLOB NOT NULL,
  batch     TEXT NOT NULL DEFAULT '',
  queued_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX batch_requests_by_batch ON batch_requests (endpoint, batch);

-- id: the provider's, '' from before the request until its answer.
CREATE TABLE batches (
  mark     TEXT PRIMARY KEY,
  endpoint TEXT NOT NULL,
  id       TEXT NOT NULL DEFAULT '',
  total    INTEGER NOT NULL,
  sent_at  REAL NOT NULL
) WITHOUT ROWID;

CREATE TABLE batch_answers (
  key        TEXT PRIMARY KEY,
  tokens_in  INTEGER NOT NULL,
  tokens_out INTEGER NOT NULL,
  cost       REAL NOT NULL
) WITHOUT ROWID;
