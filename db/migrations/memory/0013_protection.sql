-- Orders to protect a memory that stand. What protected once and does no more is in the journal.
CREATE TABLE protection (
    memory_id   uuid    NOT NULL,
    kind        text    NOT NULL CHECK (kind IN ('pin', 'hold')),
    shard       integer NOT NULL,
    seq         bigint  NOT NULL, -- journal sequence
    namespace   text    NOT NULL,
    order_id    uuid    NOT NULL,
    signer      text    NOT NULL,
    ordered_by  text    NOT NULL,
    reference   text,
    accepted_at bigint  NOT NULL,
    PRIMARY KEY (memory_id, kind)
);
CREATE INDEX protection_shard ON protection (shard, seq);

ALTER TABLE protection OWNER TO memquorum_owner;

ALTER TABLE protection ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON protection FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY tenant ON protection FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
