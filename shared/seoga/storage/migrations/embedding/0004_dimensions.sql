-- The size of a model's vectors where only the model knows it, by provider, address, name and digest.
CREATE TABLE dimensions (
  model     TEXT PRIMARY KEY,
  dimension INTEGER NOT NULL
) WITHOUT ROWID;
