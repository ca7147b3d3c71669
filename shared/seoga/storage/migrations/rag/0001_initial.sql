-- One knowledge base. The indexer writes, everybody else reads. Times are UTC ISO strings unless named _ns.
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

-- Every file seen has a row, failing and empty ones too. scanned_ns: when the stored mtime was read (racy check).
CREATE TABLE files (
  id          INTEGER PRIMARY KEY AUTOINCREMENT,
  label       TEXT NOT NULL,
  path        TEXT NOT NULL,
  size        INTEGER NOT NULL,
  mtime_ns    INTEGER NOT NULL,
  scanned_ns  INTEGER NOT NULL,
  version     TEXT NOT NULL DEFAULT '',
  hash        TEXT NOT NULL DEFAULT '',
  url         TEXT NOT NULL DEFAULT '',
  state       TEXT NOT NULL,
  stage       TEXT NOT NULL DEFAULT '',
  reason      TEXT NOT NULL DEFAULT '',
  detail      TEXT NOT NULL DEFAULT '',
  format      TEXT NOT NULL DEFAULT '',
  title       TEXT NOT NULL DEFAULT '',
  lang        TEXT NOT NULL DEFAULT '',
  meta        TEXT NOT NULL DEFAULT '{}',
  chunk_count INTEGER NOT NULL DEFAULT 0,
  text_chars  INTEGER NOT NULL DEFAULT 0,
  indexed_at  TEXT NOT NULL DEFAULT '',
  UNIQUE (label, path)
);
CREATE INDEX files_by_hash ON files (hash);
CREATE INDEX files_by_state ON files (state);

-- The extracted text (zlib, UTF-8) that chunks are slices of; marks: JSON [[offset, place], ...] in code points.
CREATE TABLE texts (
  file_id INTEGER PRIMARY KEY REFERENCES files (id) ON DELETE CASCADE,
  text    BLOB NOT NULL,
  marks   BLOB NOT NULL
);

-- Ids are never used again, so that a stale hit cannot name another passage. heading_path: JSON list; place, meta: JSON.
CREATE TABLE chunks (
  id           INTEGER PRIMARY KEY AUTOINCREMENT,
  file_id      INTEGER NOT NULL REFERENCES files (id) ON DELETE CASCADE,
  ordinal      INTEGER NOT NULL,
  text         TEXT NOT NULL,
  start        INTEGER NOT NULL,
  "end"        INTEGER NOT NULL,
  heading_path TEXT NOT NULL DEFAULT '[]',
  header_row   TEXT NOT NULL DEFAULT '',
  place        TEXT NOT NULL DEFAULT '{}',
  kind         TEXT NOT NULL DEFAULT 'paragraph',
  lang         TEXT NOT NULL DEFAULT '',
  meta         TEXT NOT NULL DEFAULT '{}',
  context      TEXT NOT NULL DEFAULT '',
  keywords     TEXT NOT NULL DEFAULT '',
  state        TEXT NOT NULL,
  attempts     INTEGER NOT NULL DEFAULT 0,
  last_error   TEXT NOT NULL DEFAULT '',
  UNIQUE (file_id, ordinal)
);
CREATE INDEX chunks_waiting ON chunks (id) WHERE state = 'PendingEmbedding';

-- Our own tokens, separated by spaces (seoga.text): whatever is not white space belongs to the token. rowid = chunks.id.
CREATE VIRTUAL TABLE chunks_fts USING fts5 (
  title, heading, body, context, keywords,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* M* N* P* S* Z* C*' separators ' '"
);

-- Distinct terms with the number of chunks that hold them; the trigram index finds terms by a part of them.
CREATE TABLE terms (id INTEGER PRIMARY KEY, term TEXT NOT NULL UNIQUE, df INTEGER NOT NULL);
CREATE VIRTUAL TABLE terms_trigram USING fts5 (term, content = 'terms', content_rowid = 'id', tokenize = 'trigram');

-- One row per embedding identity; card: JSON of the ModelCard. status: building, live.
CREATE TABLE generations (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  key        TEXT NOT NULL,
  card       TEXT NOT NULL,
  status     TEXT NOT NULL,
  created_at TEXT NOT NULL
);

-- data: count x dimension float32, little endian, unit length; penalties: count x float32.
CREATE TABLE vectors (
  chunk_id   INTEGER NOT NULL REFERENCES chunks (id) ON DELETE CASCADE,
  generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  count      INTEGER NOT NULL,
  data       BLOB NOT NULL,
  penalties  BLOB NOT NULL,
  UNIQUE (generation, chunk_id)
);
CREATE INDEX vectors_by_chunk ON vectors (chunk_id);

CREATE TABLE runs (
  id         INTEGER PRIMARY KEY AUTOINCREMENT,
  started_at TEXT NOT NULL,
  ended_at   TEXT NOT NULL DEFAULT '',
  scope      TEXT NOT NULL DEFAULT 'full',
  force      INTEGER NOT NULL DEFAULT 0,
  status     TEXT NOT NULL DEFAULT 'running',
  counts     TEXT NOT NULL DEFAULT '{}',
  error      TEXT NOT NULL DEFAULT ''
);

-- A lease is held while expires_ns (UTC) is ahead; token grows with every owner and fences late writers.
CREATE TABLE leases (
  name         TEXT PRIMARY KEY,
  owner        TEXT NOT NULL,
  token        INTEGER NOT NULL,
  heartbeat_ns INTEGER NOT NULL,
  expires_ns   INTEGER NOT NULL
) WITHOUT ROWID;
