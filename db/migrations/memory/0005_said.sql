-- When a memory was said last, and by which record of the accepted stream: its time in reads (decision 136). What was
-- repeated before this was recorded keeps the time at which it was first said, as a rebuild of its journal has it.
ALTER TABLE memory ADD COLUMN said bigint NOT NULL DEFAULT 0, ADD COLUMN said_offset bigint NOT NULL DEFAULT 0;
UPDATE memory m
SET said = m.created, said_offset = coalesce((
    SELECT j.source_offset FROM journal j
    WHERE j.memory_id = m.id AND j.effect IN ('stored', 'drafted', 'finished')
    ORDER BY j.seq
    LIMIT 1
), 0);

-- Page by page, in the order of that time.
CREATE INDEX memory_said ON memory (namespace, said, said_offset);

-- Which of two memories that contradict each other is the newer one, as reads order them: by when each was said last, then
-- by arrival. `conflict` says only which of them came in later: `came`, and `found`, which it found there.
CREATE VIEW contradiction AS
    SELECT c.shard, c.seq, c.namespace, c.newer AS came, c.older AS found, c.stated,
        CASE WHEN (f.said, f.said_offset) > (l.said, l.said_offset) THEN c.older ELSE c.newer END AS newer,
        CASE WHEN (f.said, f.said_offset) > (l.said, l.said_offset) THEN c.newer ELSE c.older END AS older
    FROM conflict c
    JOIN memory l ON l.id = c.newer
    JOIN memory f ON f.id = c.older;

ALTER VIEW contradiction OWNER TO memquorum_owner;
ALTER VIEW contradiction SET (security_invoker = true);
