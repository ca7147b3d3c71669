-- A checksum of a row of vectors with its keys (seoga.storage.vectors.seal): it tells whether the row or the file of vectors is
-- right where they differ. NULL: written before there were any.
ALTER TABLE vectors ADD COLUMN seal INTEGER;
