-- The time of a shard is zero until its first tick. What went before that was counted on the first of January 1970, before it
-- came, so that fewer than none were alive. An erasure has a time of its own, and nothing goes before it came.
CREATE OR REPLACE VIEW audit_footprint WITH (security_invoker = true) AS
WITH went AS (
    -- What a vote took out of service. Of a supersession, the later one stays.
    SELECT o.memory_id, o.as_of, o.epoch FROM outcome o WHERE o.outcome = 'forgotten'
    UNION ALL
    SELECT o.memory_id, o.as_of, o.epoch FROM outcome o JOIN memory m ON m.id = o.memory_id
    WHERE o.outcome IN ('consolidated', 'merged', 'superseded') AND m.tier NOT IN ('short-term', 'long-term')
      AND (o.outcome <> 'consolidated' OR m.made_by IS NULL)
), back AS (
    SELECT o.memory_id, o.as_of, o.epoch FROM outcome o WHERE o.outcome = 'restored'
), came AS (
    -- A summary and a general form come with the vote on them, all others as they are stored.
    SELECT m.id, coalesce(
        (SELECT min(o.as_of) FROM outcome o WHERE o.memory_id = m.id AND o.outcome IN ('consolidated', 'generalised')
            AND (m.made_by IS NOT NULL OR m.general_of IS NOT NULL)),
        (SELECT CASE WHEN j.as_of = 0 THEN m.created ELSE j.as_of END FROM journal j
            WHERE j.memory_id = m.id AND j.effect = 'stored' ORDER BY j.seq LIMIT 1)
    ) AS at FROM memory m
), moved AS (
    SELECT c.id, c.at, 1 AS way FROM came c
    UNION ALL
    SELECT m.id, greatest(c.at, coalesce(
        (SELECT max(w.as_of) FROM went w WHERE w.memory_id = m.id
            AND w.epoch > coalesce((SELECT max(b.epoch) FROM back b WHERE b.memory_id = m.id), 0)),
        (SELECT CASE WHEN j.as_of = 0 THEN e.accepted_at ELSE j.as_of END
            FROM erased x
            JOIN journal j ON j.shard = x.shard AND j.seq = x.seq
            LEFT JOIN erasure e ON e.shard = x.shard AND x.seq BETWEEN e.first_seq AND e.last_seq
            WHERE x.memory_id = m.id),
        m.changed
    )), -1 FROM memory m JOIN came c ON c.id = m.id WHERE m.tier IN ('sealed', 'superseded', 'gone')
    UNION ALL
    SELECT b.memory_id, b.as_of, 1 FROM back b
    UNION ALL
    SELECT b.memory_id, coalesce((SELECT max(w.as_of) FROM went w WHERE w.memory_id = b.memory_id AND w.epoch < b.epoch), b.as_of), -1
    FROM back b
), daily AS (
    SELECT m.namespace, date_trunc('day', to_timestamp(v.at / 1000.0), 'UTC') AS day, count(*) FILTER (WHERE v.way = 1) AS came,
           count(*) FILTER (WHERE v.way = -1) AS went, sum(v.way * m.characters) AS characters
    FROM moved v JOIN memory m ON m.id = v.id
    WHERE v.at IS NOT NULL AND v.id IN (SELECT id FROM came WHERE at IS NOT NULL) AND m.tier NOT IN ('draft', 'finished')
    GROUP BY 1, 2
)
SELECT namespace, day, came, went, sum(came - went) OVER so_far::bigint AS alive, sum(characters) OVER so_far::bigint AS characters
FROM daily
WINDOW so_far AS (PARTITION BY namespace ORDER BY day);
