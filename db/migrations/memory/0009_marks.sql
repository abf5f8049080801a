-- The rules' rows have numbers of statements, too, so whose word a row holds stands in a column of its own (decision 161).
-- `again`: memories whose value the newer one says once more, after the older one had denied it.
ALTER TABLE conflict ADD COLUMN compared boolean NOT NULL DEFAULT false, ADD COLUMN again text[] NOT NULL DEFAULT '{}';
UPDATE conflict SET compared = true WHERE statements IS NOT NULL;

CREATE OR REPLACE VIEW contradiction WITH (security_invoker = true) AS
    SELECT c.shard, c.seq, c.namespace, c.newer AS came, c.older AS found, c.stated,
        CASE WHEN (f.said, f.said_offset) > (l.said, l.said_offset) THEN c.older ELSE c.newer END AS newer,
        CASE WHEN (f.said, f.said_offset) > (l.said, l.said_offset) THEN c.newer ELSE c.older END AS older,
        CASE WHEN (f.said, f.said_offset) > (l.said, l.said_offset) THEN NULL ELSE c.statements END AS statements,
        c.compared
    FROM conflict c
    JOIN memory l ON l.id = c.newer
    JOIN memory f ON f.id = c.older;

-- What a model said of a memory is nothing that who verifies is told.
CREATE OR REPLACE FUNCTION trial_corrects(of_memory uuid) RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = public, pg_temp AS $$
    SELECT EXISTS (SELECT FROM conflict c WHERE c.newer = of_memory AND NOT c.compared) OR EXISTS (
        SELECT FROM memory m
        JOIN memory o ON o.namespace = m.namespace AND o.slot = m.slot AND o.id <> m.id
        WHERE m.id = of_memory AND m.slot IS NOT NULL AND m.explicit AND o.explicit AND o.created <= m.created
          AND (SELECT min(j.seq) FROM journal j WHERE j.memory_id = o.id AND j.effect = 'stored')
              < (SELECT min(j.seq) FROM journal j WHERE j.memory_id = m.id AND j.effect = 'stored')
    )
$$;

-- Memories that were forgotten: what they denied of older ones stays marked. Not those that an order to erase names, or
-- names something of that they were made of: when it came their keys may have been gone, so `erased` has no row of them.
CREATE VIEW forgotten AS
    SELECT m.id
    FROM memory m
    WHERE m.tier IN ('sealed', 'gone') AND NOT EXISTS (
        WITH RECURSIVE made (id) AS (
            SELECT m.id
            UNION
            SELECT p.parent FROM made JOIN provenance p ON p.child = made.id AND p.follows
        )
        SELECT
        FROM made
        LEFT JOIN memory a ON a.id = made.id
        LEFT JOIN erasure e ON e.namespace = a.namespace AND e.accepted_at >= a.created AND CASE e.selector
            WHEN 'namespace' THEN true
            WHEN 'memory' THEN e.value = a.id::text
            WHEN 'agent' THEN e.value = a.agent
            WHEN 'subject' THEN e.value = a.subject
            WHEN 'source' THEN e.value = a.source
            -- As `orders.aged` writes it: types, and before when.
            WHEN 'age' THEN a.made_by IS NULL
                AND a.type = ANY (string_to_array(split_part(e.value, ' before ', 1), ','))
                AND to_char(to_timestamp(a.created / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
                    < split_part(e.value, ' before ', 2) COLLATE "C"
            ELSE false END
        WHERE e.order_id IS NOT NULL OR EXISTS (SELECT FROM erased x WHERE x.memory_id = made.id)
    );
ALTER VIEW forgotten OWNER TO memquorum_owner;
ALTER VIEW forgotten SET (security_invoker = true);
CREATE INDEX erasure_namespace ON erasure (namespace);
