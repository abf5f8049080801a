-- What is older than its type may become is asked for by its type, the oldest first, and nothing that is younger is read.
CREATE INDEX memory_aged ON memory (shard, type, created, id) WHERE tier = 'short-term';
