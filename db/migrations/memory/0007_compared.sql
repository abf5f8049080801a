-- What a model said of pairs of memories stands beside what the rules found, with the numbers of the older one's statements
-- that are overtaken (decision 155). NULL in a row of the rules. So a pair has a row of each.
ALTER TABLE conflict ADD COLUMN statements bigint[];
ALTER TABLE conflict DROP CONSTRAINT conflict_pkey, ADD PRIMARY KEY (namespace, older, newer, seq);

-- The numbers are those of the memory that was the older one then: once it was said again they say nothing.
CREATE OR REPLACE VIEW contradiction WITH (security_invoker = true) AS
    SELECT c.shard, c.seq, c.namespace, c.newer AS came, c.older AS found, c.stated,
        CASE WHEN (f.said, f.said_offset) > (l.said, l.said_offset) THEN c.older ELSE c.newer END AS newer,
        CASE WHEN (f.said, f.said_offset) > (l.said, l.said_offset) THEN c.newer ELSE c.older END AS older,
        CASE WHEN (f.said, f.said_offset) > (l.said, l.said_offset) THEN NULL ELSE c.statements END AS statements,
        c.statements IS NOT NULL AS compared
    FROM conflict c
    JOIN memory l ON l.id = c.newer
    JOIN memory f ON f.id = c.older;

-- What a model said of a memory is nothing that who verifies is told.
CREATE OR REPLACE FUNCTION trial_corrects(of_memory uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM conflict c WHERE c.newer = of_memory AND c.statements IS NULL) OR EXISTS (
        SELECT FROM memory m
        JOIN memory o ON o.namespace = m.namespace AND o.slot = m.slot AND o.id <> m.id
        WHERE m.id = of_memory AND m.slot IS NOT NULL AND m.explicit AND o.explicit AND o.created <= m.created
          AND (SELECT min(j.seq) FROM journal j WHERE j.memory_id = o.id AND j.effect = 'stored')
              < (SELECT min(j.seq) FROM journal j WHERE j.memory_id = m.id AND j.effect = 'stored')
    )
$$;
