-- What an order to erase may name of an episode, whether it became a memory or not: of an access nothing. An older store
-- knows it of memories alone: rebuild such a store, or an order misses what repeated a memory or was dropped.
ALTER TABLE memory ADD COLUMN source text; -- where the content comes from
ALTER TABLE event ADD COLUMN agent text, ADD COLUMN subject text, ADD COLUMN source text;
UPDATE event SET agent = m.agent, subject = m.subject FROM memory m WHERE m.id = event.memory_id AND event.outcome = 'stored';

-- What an episode was made of; and (echo) the memory that it repeated. `child`: its own memory id, whatever it became.
CREATE TABLE provenance (
    shard     integer NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence
    namespace text    NOT NULL,
    child     uuid    NOT NULL,
    parent    uuid    NOT NULL,
    echo      boolean NOT NULL,
    follows   boolean NOT NULL, -- goes where the parent goes; what says the same and is a memory of its own does not
    agent     text    NOT NULL, -- who said the child
    PRIMARY KEY (namespace, parent, child)
);
CREATE INDEX provenance_echo ON provenance (child) WHERE echo;

-- Episodes whose keys an order destroyed, by their own memory ids; `was` late: it came after the order that names it.
CREATE TABLE erased (
    memory_id uuid    PRIMARY KEY,
    shard     integer NOT NULL,
    seq       bigint  NOT NULL, -- journal sequence
    namespace text    NOT NULL,
    was       text    NOT NULL  -- short-term, long-term, sealed, reinforced, dropped, late
);
CREATE INDEX erased_seq ON erased (shard, seq);

-- The orders to erase that were carried out: what occurred until `accepted_at` and is named by one comes in no more.
CREATE TABLE erasure (
    shard           integer NOT NULL,
    namespace       text    NOT NULL,
    order_id        uuid    NOT NULL,
    selector        text    NOT NULL, -- memory, subject, agent, source, namespace
    value           text    NOT NULL,
    signer          text    NOT NULL,
    ordered_by      text    NOT NULL,
    reference       text,
    ordered_at      bigint  NOT NULL,
    ordered         bytea   NOT NULL, -- as it was signed
    accepted_at     bigint  NOT NULL,
    accepted_offset bigint  NOT NULL,
    first_seq       bigint  NOT NULL, -- journal sequences of its entries
    last_seq        bigint  NOT NULL,
    memories        bigint  NOT NULL, -- how many went, and how many episodes with them
    episodes        bigint  NOT NULL,
    residue_until   bigint  NOT NULL,
    epoch           bigint,           -- in which the members attested it
    head            bytea,            -- signed head of the journal at last_seq; a rebuild has none
    PRIMARY KEY (shard, first_seq)
);
CREATE INDEX erasure_order ON erasure (order_id);

ALTER TABLE provenance OWNER TO memquorum_owner;
ALTER TABLE erased OWNER TO memquorum_owner;
ALTER TABLE erasure OWNER TO memquorum_owner;

ALTER TABLE provenance ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE erased ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE erasure ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON provenance FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON erased FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON erasure FOR SELECT TO memquorum_reader, memquorum_accounts USING (true);
CREATE POLICY tenant ON provenance FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON erased FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);
CREATE POLICY tenant ON erasure FOR SELECT TO memquorum_tenant USING (
    namespace = ANY ((SELECT tenant_names())::text[]) OR namespace ^@ ANY ((SELECT tenant_beginnings())::text[])
);

-- Erasures of a shard that the members have not attested yet: what a tick is journalled with.
ALTER TABLE shard ADD COLUMN unattested bigint NOT NULL DEFAULT 0;
