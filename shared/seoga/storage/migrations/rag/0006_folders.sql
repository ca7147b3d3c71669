-- Folders of a source that a scan found as the index has them. digest: of the listing and of all rules that it was looked
-- at with; files: how many of them lie in the folder itself. path: "" or ending in "/".
CREATE TABLE folders (
  label  TEXT NOT NULL,
  path   TEXT NOT NULL,
  digest BLOB NOT NULL,
  files  INTEGER NOT NULL,
  PRIMARY KEY (label, path)
) WITHOUT ROWID;

-- What is said of a folder goes with the first change of a row in it. rtrim leaves of a path what stands up to its last "/".
CREATE TRIGGER folder_gained AFTER INSERT ON files BEGIN
  DELETE FROM folders WHERE label = new.label AND path = rtrim(new.path, replace(new.path, '/', ''));
END;
CREATE TRIGGER folder_lost AFTER DELETE ON files BEGIN
  DELETE FROM folders WHERE label = old.label AND path = rtrim(old.path, replace(old.path, '/', ''));
END;
CREATE TRIGGER folder_changed
AFTER UPDATE OF label, path, size, mtime_ns, scanned_ns, version, hash, reason, format, made, chunk_count, indexed_at ON files
WHEN (old.label, old.path, old.size, old.mtime_ns, old.scanned_ns, old.version)
    IS NOT (new.label, new.path, new.size, new.mtime_ns, new.scanned_ns, new.version)
  OR (old.hash, old.reason, old.format, old.made, old.chunk_count, old.indexed_at)
    IS NOT (new.hash, new.reason, new.format, new.made, new.chunk_count, new.indexed_at)
BEGIN
  DELETE FROM folders WHERE label = old.label AND path = rtrim(old.path, replace(old.path, '/', ''));
  DELETE FROM folders WHERE label = new.label AND path = rtrim(new.path, replace(new.path, '/', ''));
END;
