-- What the caps on forgetting count by: how many memories of a namespace are alive, and what decisions took of it.
CREATE TABLE living (
    shard     integer NOT NULL,
    namespace text    PRIMARY KEY,
    alive     bigint  NOT NULL
);

CREATE TABLE let_go (
    shard     integer NOT NULL,
    namespace text    NOT NULL,
    epoch     bigint  NOT NULL,
    as_of     bigint  NOT NULL, -- the shard's time when it was applied
    forgotten bigint  NOT NULL,
    held_back bigint  NOT NULL, -- what the votes let go and the cap kept
    PRIMARY KEY (namespace, epoch)
);

-- For the owner who may migrate: forced row security would show none of the rows.
ALTER TABLE memory NO FORCE ROW LEVEL SECURITY;
ALTER TABLE outcome NO FORCE ROW LEVEL SECURITY;
ALTER TABLE decision NO FORCE ROW LEVEL SECURITY;
ALTER TABLE journal NO FORCE ROW LEVEL SECURITY;
INSERT INTO living
SELECT shard, namespace, count(*) FROM memory WHERE tier IN ('short-term', 'long-term') GROUP BY shard, namespace;

INSERT INTO let_go
SELECT o.shard, m.namespace, o.epoch, min(j.as_of), count(*), 0
FROM outcome o
JOIN memory m ON m.id = o.memory_id
JOIN decision d ON d.shard = o.shard AND d.epoch = o.epoch
JOIN journal j ON j.shard = d.shard AND j.seq = d.journal_seq
WHERE o.outcome = 'forgotten'
GROUP BY o.shard, m.namespace, o.epoch;
ALTER TABLE memory FORCE ROW LEVEL SECURITY;
ALTER TABLE outcome FORCE ROW LEVEL SECURITY;
ALTER TABLE decision FORCE ROW LEVEL SECURITY;
ALTER TABLE journal FORCE ROW LEVEL SECURITY;

ALTER TABLE living OWNER TO memquorum_owner;
ALTER TABLE let_go OWNER TO memquorum_owner;

ALTER TABLE living ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
ALTER TABLE let_go ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
CREATE POLICY reader ON living FOR SELECT TO memquorum_reader USING (true);
CREATE POLICY reader ON let_go FOR SELECT TO memquorum_reader USING (true);
