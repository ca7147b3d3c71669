-- The keyword index writes its terms from a hash table: at 1 MiB (the default) one batch of files already made several
-- segments, which were merged again and again while it grew. Batches now make one each, and 16 of them are merged at once.
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('hashsize', 16777216);
INSERT INTO chunks_fts (chunks_fts, rank) VALUES ('automerge', 16);
