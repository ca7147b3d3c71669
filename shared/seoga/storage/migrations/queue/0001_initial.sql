-- The durable queue: any service inserts, the holder of the lease "worker" takes. Times are UTC ISO strings.
CREATE TABLE jobs (
  id               INTEGER PRIMARY KEY AUTOINCREMENT,
  kb_id            TEXT NOT NULL,
  scope            TEXT NOT NULL DEFAULT 'full',
  force            INTEGER NOT NULL DEFAULT 0,
  deferred         INTEGER NOT NULL DEFAULT 0,
  status           TEXT NOT NULL DEFAULT 'queued',
  cancel_requested INTEGER NOT NULL DEFAULT 0,
  created_at       TEXT NOT NULL,
  started_at       TEXT NOT NULL DEFAULT '',
  ended_at         TEXT NOT NULL DEFAULT '',
  result           TEXT NOT NULL DEFAULT '{}',
  last_error       TEXT NOT NULL DEFAULT ''
);
CREATE UNIQUE INDEX one_waiting_job ON jobs (kb_id) WHERE status = 'queued';
CREATE INDEX jobs_by_status ON jobs (status, id);

CREATE TABLE leases (
  name         TEXT PRIMARY KEY,
  owner        TEXT NOT NULL,
  token        INTEGER NOT NULL,
  heartbeat_ns INTEGER NOT NULL,
  expires_ns   INTEGER NOT NULL
) WITHOUT ROWID;
