-- One record of a use names all memories that one answer gave (decision 160): a row for each of them, but for those that it
-- asks back. The journal's entry of a use, and its event, name no memory themselves.
CREATE TABLE used (
    memory_id uuid    NOT NULL,
    shard     integer NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence
    namespace text    NOT NULL,
    applied   boolean NOT NULL, -- whether the memory was alive
    PRIMARY KEY (memory_id, shard, seq)
);
ALTER TABLE used OWNER TO memquorum_owner;
ALTER TABLE used ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON used FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY tenant ON used FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);

ALTER TABLE event ALTER COLUMN memory_id DROP NOT NULL;
