-- The vectors of a generation as int8 in a file beside the database, made of the table `vectors` (seoga.storage.matrixfile).
-- name: how its name ends; windows: how many of its records count. What lies behind those was never committed.
CREATE TABLE matrices (
  generation INTEGER PRIMARY KEY REFERENCES generations (id) ON DELETE CASCADE,
  name       TEXT NOT NULL,
  windows    INTEGER NOT NULL
);
-- Chunks whose vectors go into the file before their transaction ends.
CREATE TABLE matrix_new (
  generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  chunk_id   INTEGER NOT NULL,
  PRIMARY KEY (generation, chunk_id)
) WITHOUT ROWID;
-- Records that count no more: those of the chunk that stand before this one in the file.
CREATE TABLE matrix_gone (
  id         INTEGER PRIMARY KEY,
  generation INTEGER NOT NULL REFERENCES generations (id) ON DELETE CASCADE,
  chunk_id   INTEGER NOT NULL,
  before     INTEGER NOT NULL
);

CREATE INDEX matrix_gone_by_generation ON matrix_gone (generation);

CREATE TRIGGER vectors_added AFTER INSERT ON vectors
WHEN EXISTS (SELECT 1 FROM matrices WHERE generation = new.generation) BEGIN
  INSERT INTO matrix_new (generation, chunk_id) VALUES (new.generation, new.chunk_id);
END;
CREATE TRIGGER vectors_removed AFTER DELETE ON vectors BEGIN
  INSERT INTO matrix_gone (generation, chunk_id, before)
    SELECT generation, old.chunk_id, windows FROM matrices
    WHERE generation = old.generation AND NOT EXISTS
      (SELECT 1 FROM matrix_new WHERE generation = old.generation AND chunk_id = old.chunk_id);
  DELETE FROM matrix_new WHERE generation = old.generation AND chunk_id = old.chunk_id;
END;
-- The file holds the language too.
CREATE TRIGGER chunk_language_changed AFTER UPDATE OF lang ON chunks WHEN old.lang != new.lang BEGIN
  INSERT INTO matrix_gone (generation, chunk_id, before)
    SELECT m.generation, v.chunk_id, m.windows FROM vectors v JOIN matrices m ON m.generation = v.generation
    WHERE v.chunk_id = new.id;
  INSERT OR IGNORE INTO matrix_new (generation, chunk_id)
    SELECT m.generation, v.chunk_id FROM vectors v JOIN matrices m ON m.generation = v.generation
    WHERE v.chunk_id = new.id;
END;
CREATE TRIGGER file_language_changed AFTER UPDATE OF lang ON files WHEN old.lang != new.lang BEGIN
  INSERT INTO matrix_gone (generation, chunk_id, before)
    SELECT m.generation, v.chunk_id, m.windows FROM chunks c JOIN vectors v ON v.chunk_id = c.id
    JOIN matrices m ON m.generation = v.generation WHERE c.file_id = new.id;
  INSERT OR IGNORE INTO matrix_new (generation, chunk_id)
    SELECT m.generation, v.chunk_id FROM chunks c JOIN vectors v ON v.chunk_id = c.id
    JOIN matrices m ON m.generation = v.generation WHERE c.file_id = new.id;
END;
