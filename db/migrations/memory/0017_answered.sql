-- Orders and requests that were answered, by the digest of their signed bytes: published again, they change nothing.
CREATE TABLE answered (
    shard     integer NOT NULL,
    digest    bytea   NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence of its first entry
    namespace text    NOT NULL,
    effect    text    NOT NULL, -- of that entry: erased, withheld, protected, requested, declined
    PRIMARY KEY (shard, digest)
);
CREATE INDEX answered_seq ON answered (shard, seq);
CREATE INDEX answered_withheld ON answered (namespace, shard, seq) WHERE effect = 'withheld';

ALTER TABLE answered OWNER TO memquorum_owner;

ALTER TABLE answered ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON answered FOR SELECT TO memquorum_reader USING (true);

-- A use that comes late, for a time after the vote's, asks for what rests sealed: once.
ALTER TABLE memory ADD COLUMN asks_after bigint;
