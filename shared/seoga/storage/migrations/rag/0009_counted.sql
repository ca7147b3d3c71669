-- How many passages wait or failed is asked for by every look at an index: answered without a row.
DROP INDEX chunks_waiting;
CREATE INDEX chunks_waiting ON chunks (id, state) WHERE state = 'PendingEmbedding';
CREATE INDEX chunks_failed ON chunks (state) WHERE state = 'Failed';
