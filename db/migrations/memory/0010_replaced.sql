-- What another memory took the place of on purpose (decision 162): reads of the past alone ask this table, and no other
-- statement. A row comes as the memory goes out of service, and goes where it comes back, is erased, or where a write of
-- nothing empties the slot that it filled.
CREATE TABLE replaced (
    memory_id  uuid    PRIMARY KEY REFERENCES memory,
    namespace  text    NOT NULL, -- the memory's, so that row security need not ask for it
    newer      uuid    NOT NULL, -- the memory that took its place
    body       text    NOT NULL,
    key        text,
    path       text COLLATE "C",
    attributes jsonb,
    words      tsvector GENERATED ALWAYS AS (to_tsvector('pg_catalog.english', body)) STORED,
    encoder    text    NOT NULL,
    vector     halfvec NOT NULL,
    passages   halfvec[] -- of a summary its sentences', of a long text its passages', in their order; NULL: none
);
CREATE INDEX replaced_namespace ON replaced (namespace, encoder);

-- A sample that the planner keeps of a column is a copy that outlives the row.
ALTER TABLE replaced ALTER COLUMN body SET STATISTICS 0, ALTER COLUMN words SET STATISTICS 0,
    ALTER COLUMN key SET STATISTICS 0, ALTER COLUMN path SET STATISTICS 0, ALTER COLUMN attributes SET STATISTICS 0,
    ALTER COLUMN vector SET STATISTICS 0, ALTER COLUMN passages SET STATISTICS 0;

ALTER TABLE replaced OWNER TO memquorum_keeper;
ALTER TABLE replaced ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON replaced FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY tenant ON replaced FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);

-- What was superseded before has no row: its content had left the store. Up to which entry that is so, whoever compares
-- stores has to know; a store that is made anew has all of them.
ALTER TABLE shard ADD COLUMN replaced_after bigint NOT NULL DEFAULT 0;
UPDATE shard SET replaced_after = seq;
