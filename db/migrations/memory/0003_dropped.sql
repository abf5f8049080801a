-- Episodes that became no memory. Their content lies sealed in the accepted topic; the row stands until the grace time is
-- over and the commit worker has destroyed the key. What an older store dropped is not here: rebuild such a store.
CREATE TABLE dropped (
    memory_id  uuid    PRIMARY KEY,
    shard      integer NOT NULL,
    namespace  text    NOT NULL,
    destroy_at bigint  NOT NULL -- when the key is destroyed
);
CREATE INDEX dropped_due ON dropped (shard, destroy_at, memory_id);

ALTER TABLE dropped OWNER TO memquorum_owner;
