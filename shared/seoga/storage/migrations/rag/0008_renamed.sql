-- Files whose name or title changed: who keeps names in memory reads what is new here. New files have ids above all others,
-- and of a removed one there is no row to be found. Who was away for longer than what is kept reads all names.
CREATE TABLE renamed (id INTEGER PRIMARY KEY AUTOINCREMENT, file_id INTEGER NOT NULL);

CREATE TRIGGER file_renamed AFTER UPDATE OF label, path, title ON files
WHEN (old.label, old.path, old.title) IS NOT (new.label, new.path, new.title) BEGIN
  INSERT INTO renamed (file_id) VALUES (new.id);
  DELETE FROM renamed WHERE id <= (SELECT max(id) FROM renamed) - 100000;
END;
