-- Documents that state something of their own life (status, what replaced them) are few: searches read them by this.
CREATE INDEX files_stating ON files (id) WHERE json_extract(meta, '$."seoga.lifecycle"') IS NOT NULL;
