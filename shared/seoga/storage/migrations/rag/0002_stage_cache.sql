-- The versions that a file's text and chunks were made with: a newer parser or chunker redoes what it must, once.
ALTER TABLE files ADD COLUMN made TEXT NOT NULL DEFAULT '';

-- What extraction gave for a content (zlib): read again by a new chunker, or for a second file of that content.
-- hint: the extension that it was read with; made: the version of extraction.
CREATE TABLE extractions (
  id   INTEGER PRIMARY KEY,
  hash TEXT NOT NULL,
  hint TEXT NOT NULL,
  made TEXT NOT NULL,
  data BLOB NOT NULL,
  UNIQUE (hash, hint)
);

CREATE TRIGGER content_replaced AFTER UPDATE OF hash ON files WHEN old.hash != new.hash BEGIN
  DELETE FROM extractions WHERE hash = old.hash
    AND NOT EXISTS (SELECT 1 FROM files WHERE hash = old.hash);
END;
CREATE TRIGGER content_removed AFTER DELETE ON files BEGIN
  DELETE FROM extractions WHERE hash = old.hash
    AND NOT EXISTS (SELECT 1 FROM files WHERE hash = old.hash);
END;
