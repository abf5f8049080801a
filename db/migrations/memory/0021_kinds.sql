-- A proposal may name several memories: a row for each.
ALTER TABLE outcome DROP CONSTRAINT outcome_pkey, ADD PRIMARY KEY (shard, epoch, position, memory_id);

CREATE OR REPLACE VIEW audit_votes AS
SELECT o.memory_id, m.namespace, o.kind, o.outcome, o.reason, b.member, b.yes, (b.score_ppm / 1e6)::float8 AS score,
       (b.terms[array_position(k.terms, 'decay')] / 1e6)::float8 AS decay,
       (b.terms[array_position(k.terms, 'relevance')] / 1e6)::float8 AS relevance,
       b.terms, to_timestamp(d.as_of / 1000.0) AS at, o.shard, o.epoch
FROM ballot b
JOIN outcome o USING (shard, epoch, position)
JOIN decision d USING (shard, epoch)
JOIN memory m ON m.id = o.memory_id
-- The names of every kind's terms, as core/vote/kinds has them.
LEFT JOIN (VALUES
    ('forget', ARRAY['decay', 'relevance', 'last_access']),
    ('promote', ARRAY['bfs', 'grounded', 'consistency', 'uncertainty']),
    ('configure', ARRAY['holds']),
    ('erase', ARRAY['holds']),
    ('restore', ARRAY['holds', 'decay', 'relevance', 'last_access'])
) AS k (kind, terms) ON k.kind = o.kind;
ALTER VIEW audit_votes SET (security_invoker = true);
