-- What a breach of a budget did in an epoch, by namespace (MaRS 4.1): budget, tokens before and after, what went, the predicted and
-- the realised distortion of summaries made for want of room, and the accounts of draws. All of it follows from the journal and
-- the certificates: this is the reader's alone, as audit_budgets is. Of characters outside ASCII a summary frees more than is told.
CREATE VIEW audit_triggers WITH (security_invoker = true) AS
WITH evicted AS (
    SELECT shard, epoch, namespace, min(policy) AS policy, min(version) AS version, min(budget) AS budget, min(held) AS held,
           count(*) AS proposed, count(*) FILTER (WHERE outcome = 'forgotten') AS forgotten,
           coalesce(sum(tokens) FILTER (WHERE outcome = 'forgotten'), 0)::bigint AS freed,
           jsonb_build_object(
               'episodic', count(*) FILTER (WHERE outcome = 'forgotten' AND type = 'episodic'),
               'semantic', count(*) FILTER (WHERE outcome = 'forgotten' AND type = 'semantic'),
               'social', count(*) FILTER (WHERE outcome = 'forgotten' AND type = 'social'),
               'task', count(*) FILTER (WHERE outcome = 'forgotten' AND type = 'task')) AS types,
           min(score) AS score_least, max(score) AS score_most
    FROM audit_budgets
    GROUP BY shard, epoch, namespace
), drafted AS (
    SELECT o.shard, o.epoch, o.namespace, o.position, o.outcome, o.memory_id, m.characters,
           (SELECT (record_json(j.entry) #>> '{detail,summary,distortion_ppm}')::bigint FROM journal j
               WHERE j.memory_id = m.id AND j.effect = 'drafted' ORDER BY j.seq DESC LIMIT 1) AS predicted_ppm
    FROM outcome o
    JOIN memory m ON m.id = o.memory_id AND m.made_by IS NOT NULL
    WHERE o.kind = 'consolidate'
), summed AS (
    SELECT s.shard, s.epoch, s.namespace, count(*) FILTER (WHERE s.outcome = 'consolidated') AS summaries,
           coalesce(sum(greatest(0, t.characters - s.characters)) FILTER (WHERE s.outcome = 'consolidated'), 0) / 4 AS freed,
           (avg(s.predicted_ppm) / 1e6)::float8 AS predicted, (avg(b.apart_ppm) / 1e6)::float8 AS realised
    FROM drafted s
    CROSS JOIN LATERAL (SELECT coalesce(sum(p.characters), 0) AS characters FROM memory p WHERE p.told_by = s.memory_id) t
    CROSS JOIN LATERAL (
        -- The median of the members that had read all of it: f of them may lie. Those that had not state 0 everywhere.
        SELECT percentile_disc(0.5) WITHIN GROUP (ORDER BY b.terms[4]) AS apart_ppm FROM ballot b
        WHERE b.shard = s.shard AND b.epoch = s.epoch AND b.position = s.position AND (b.terms[2] > 0 OR b.terms[3] > 0)
    ) b
    WHERE s.predicted_ppm IS NOT NULL
    GROUP BY s.shard, s.epoch, s.namespace
)
SELECT namespace, to_timestamp(d.as_of / 1000.0) AS at, d.trigger, e.policy, e.version, e.budget, e.held,
       (e.held - coalesce(e.freed, 0) - coalesce(s.freed, 0))::bigint AS after,
       (coalesce(e.freed, 0) + coalesce(s.freed, 0))::bigint AS freed, coalesce(e.proposed, 0) AS proposed,
       coalesce(e.forgotten, 0) AS forgotten, e.types, e.score_least, e.score_most, coalesce(s.summaries, 0) AS summaries,
       s.predicted, s.realised,
       coalesce((SELECT sum(c.spent_ppm) / 1e6 FROM spent c
           WHERE c.shard = d.shard AND c.seq = d.journal_seq AND c.namespace = coalesce(e.namespace, s.namespace)), 0)::float8 AS charged,
       coalesce((SELECT max(a.spent_ppm) / 1e6 FROM (
           SELECT sum(c.spent_ppm) AS spent_ppm FROM spent c JOIN memory m ON m.id = c.memory_id
           WHERE c.shard = d.shard AND c.seq <= d.journal_seq AND c.namespace = coalesce(e.namespace, s.namespace) GROUP BY m.subject) a), 0)::float8 AS account,
       shard, epoch
FROM evicted e
FULL JOIN summed s USING (shard, epoch, namespace)
JOIN decision d USING (shard, epoch);
ALTER VIEW audit_triggers OWNER TO memquorum_owner;

DO $$
DECLARE
    it record;
BEGIN
    COMMENT ON VIEW audit_triggers IS 'The effect of a breach of a budget in an epoch: tokens before and after, and its cost. Only memquorum_reader may ask it.';
    FOR it IN VALUES
        ('namespace', 'Namespace.'), ('at', 'When, by the shard''s clock.'), ('trigger', 'What opened the epoch.'),
        ('policy', 'Policy that chose; NULL where only summaries were voted on.'), ('version', 'Version of the coefficients.'),
        ('budget', 'Tokens that the namespace may hold.'), ('held', 'Tokens that it held before.'),
        ('after', 'Tokens that it holds after the vote, with nothing that came meanwhile.'),
        ('freed', 'Tokens that went; those of summaries by a quarter of a token a character.'),
        ('proposed', 'How many memories the budget proposed to forget.'), ('forgotten', 'How many of these went.'),
        ('types', 'How many of each type went.'), ('score_least', 'Least score of those proposed, per 1,000 tokens.'),
        ('score_most', 'Greatest score of those proposed.'), ('summaries', 'How many summaries made for want of room passed.'),
        ('predicted', 'Mean distortion of all that were voted on, as the consolidator predicted it.'),
        ('realised', 'Mean distortion of these, of each the median of what the members measured.'),
        ('charged', 'ε that subjects paid for draws in this epoch, together.'),
        ('account', 'ε that the subject which spent most had spent after it.'),
        ('shard', 'Shard of the namespace.'), ('epoch', 'Epoch of the shard.')
    LOOP
        EXECUTE format('COMMENT ON COLUMN audit_triggers.%I IS %L', it.column1, it.column2);
    END LOOP;
END
$$;
