-- A hash of what a chunk says (text, heading, header row, context, keywords): the same words need no second vector.
ALTER TABLE chunks ADD COLUMN words INTEGER;
CREATE INDEX chunks_by_words ON chunks (words);
