-- What an audit asks, as views: who decided what, who ordered it, what it took, and what is still to come. Each tells ids,
-- numbers, times and what orders say, and no content. Those that read the certificates of decisions are the reader's alone.

-- Promotions and demotions that votes decided.
CREATE VIEW audit_promotions WITH (security_invoker = true) AS
SELECT o.memory_id, o.namespace, m.agent, o.kind, o.outcome, o.reason, to_timestamp(d.as_of / 1000.0) AS at,
       o.yes AS ballots_for, (o.weight_ppm / 1e6)::float8 AS weight, (o.needed_ppm / 1e6)::float8 AS needed,
       (m.confidence_ppm / 1e6)::float8 AS confidence, m.tier, o.shard, o.epoch
FROM outcome o
JOIN decision d USING (shard, epoch)
JOIN memory m ON m.id = o.memory_id
WHERE o.outcome IN ('promoted', 'demoted');

-- Memories whose place another one took: by a vote, or at once where an agent filled its own slot anew, or cleared it. Of a
-- cleared slot nothing took the place.
CREATE VIEW audit_supersessions WITH (security_invoker = true) AS
SELECT c.older, c.newer, c.namespace, 'vote' AS way, to_timestamp(d.as_of / 1000.0) AS at, m.tier, c.shard, n.epoch,
       NULL::bigint AS seq
FROM outcome n
JOIN outcome o ON o.shard = n.shard AND o.epoch = n.epoch AND o.position = n.position AND o.memory_id <> n.memory_id
JOIN decision d ON d.shard = n.shard AND d.epoch = n.epoch
JOIN (SELECT DISTINCT shard, namespace, newer, older FROM contradiction) c
    ON c.newer = n.memory_id AND c.older = o.memory_id
JOIN memory m ON m.id = c.older
WHERE n.outcome = 'superseded'
UNION ALL
SELECT g.older::uuid, CASE j.effect WHEN 'stored' THEN j.memory_id END, j.namespace, 'slot', to_timestamp(j.as_of / 1000.0),
       m.tier, j.shard, NULL, j.seq
FROM (
    SELECT j.* FROM journal j JOIN memory n ON n.id = j.memory_id AND n.slot IS NOT NULL WHERE j.effect = 'stored'
    UNION ALL
    SELECT * FROM journal WHERE effect = 'cleared'
) j
CROSS JOIN LATERAL jsonb_array_elements_text(record_json(j.entry) #> '{detail,superseded}') AS g (older)
JOIN memory m ON m.id = g.older::uuid;

-- What marks a memory as overtaken: a newer one contradicts it. It stays in service behind that one.
CREATE VIEW audit_marks WITH (security_invoker = true) AS
SELECT c.older, c.newer, c.namespace, c.stated, c.compared, c.statements, to_timestamp(j.as_of / 1000.0) AS at,
       o.tier AS older_tier, n.tier AS newer_tier, c.shard, c.seq
FROM contradiction c
JOIN journal j ON j.shard = c.shard AND j.seq = c.seq
JOIN memory o ON o.id = c.older
JOIN memory n ON n.id = c.newer;

-- Requests to bring memories back, and late uses that ask for that, each with what became of each memory.
CREATE VIEW audit_restores WITH (security_invoker = true) AS
SELECT r.memory_id, r.namespace, r.request, r.ordered_by, r.reference, to_timestamp(r.as_of / 1000.0) AS asked, r.effect,
       to_timestamp(d.as_of / 1000.0) AS decided,
       CASE WHEN d.epoch IS NOT NULL THEN coalesce(o.outcome, 'voided') WHEN r.effect = 'declined' THEN 'declined' END AS outcome,
       o.reason, m.tier, r.shard, r.seq, d.epoch
FROM (
    SELECT j.shard, j.seq, j.namespace, j.as_of, j.effect, j.event_id AS request, j.event_id AS named,
           x.body ->> 'ordered_by' AS ordered_by, x.body ->> 'reference' AS reference, i.id::uuid AS memory_id
    FROM journal j
    CROSS JOIN LATERAL (SELECT record_json(j.entry) #> '{detail,order,body}' AS body) x
    CROSS JOIN LATERAL jsonb_array_elements_text(x.body -> 'memory_ids') AS i (id)
    WHERE j.effect IN ('requested', 'declined') AND x.body ->> 'action' = 'restore'
    UNION ALL
    SELECT j.shard, j.seq, j.namespace, j.as_of, j.effect, j.event_id, 'access/' || j.source_offset, x.detail ->> 'agent',
           NULL, (i.used ->> 'memory_id')::uuid
    FROM journal j
    CROSS JOIN LATERAL (SELECT record_json(j.entry) -> 'detail' AS detail) x
    CROSS JOIN LATERAL jsonb_array_elements(x.detail -> 'used') AS i (used)
    WHERE j.effect = 'asked' AND i.used ->> 'outcome' = 'asks'
) r
LEFT JOIN decision d ON d.shard = r.shard AND d.trigger = 'restore/' || r.named
LEFT JOIN outcome o ON o.shard = d.shard AND o.epoch = d.epoch AND o.memory_id = r.memory_id
LEFT JOIN memory m ON m.id = r.memory_id;

-- Erasures that were carried out, each with where its receipt stands: `whole` once the members attested it, `unattested`
-- before; a store that was rebuilt has `none`, since the signed head of the journal lies beside the chain.
CREATE VIEW audit_erasures WITH (security_invoker = true) AS
SELECT e.order_id, e.namespace, e.selector, e.value, e.signer, e.ordered_by, e.reference,
       to_timestamp(e.ordered_at / 1000.0) AS ordered, to_timestamp(e.accepted_at / 1000.0) AS accepted, e.memories, e.episodes,
       e.summaries, e.anew, to_timestamp(e.residue_until / 1000.0) AS residue_until,
       CASE WHEN e.head IS NULL THEN 'none' WHEN e.epoch IS NULL THEN 'unattested' ELSE 'whole' END AS receipt,
       to_timestamp(d.as_of / 1000.0) AS attested, e.shard, e.first_seq, e.last_seq, e.epoch
FROM erasure e
LEFT JOIN decision d ON d.shard = e.shard AND d.epoch = e.epoch;

-- What each erasure took. Of what came after the order, no order is named.
CREATE VIEW audit_erased WITH (security_invoker = true) AS
SELECT x.memory_id, x.namespace, x.was, x.summary, e.order_id, e.ordered_by, to_timestamp(j.as_of / 1000.0) AS at, x.shard, x.seq
FROM erased x
JOIN journal j ON j.shard = x.shard AND j.seq = x.seq
LEFT JOIN erasure e ON e.shard = x.shard AND x.seq BETWEEN e.first_seq AND e.last_seq;

-- Keys whose end is fixed: when each is destroyed, unless a hold stands or the memory comes back before.
CREATE VIEW audit_destructions WITH (security_invoker = true) AS
SELECT k.memory_id, k.namespace, k.tier, to_timestamp(k.destroy_at / 1000.0) AS due,
       EXISTS (SELECT FROM protection p WHERE p.memory_id = k.memory_id AND p.kind = 'hold') AS held, k.shard
FROM (
    SELECT id AS memory_id, namespace, tier, sealed_until AS destroy_at, shard FROM memory WHERE tier IN ('sealed', 'draft')
    UNION ALL
    SELECT memory_id, namespace, 'dropped', destroy_at, shard FROM dropped
) k
WHERE k.destroy_at IS NOT NULL;

-- Summaries, with how many memories they were made of, and the last vote on each.
CREATE VIEW audit_consolidations WITH (security_invoker = true) AS
SELECT m.id AS memory_id, m.namespace, m.made_by, to_timestamp(m.created / 1000.0) AS made,
       (SELECT count(*) FROM provenance p WHERE p.child = m.id AND NOT p.merged) AS sources,
       (SELECT count(*) FROM quote q WHERE q.summary = m.id) AS sentences,
       (SELECT count(*) FROM memory t WHERE t.told_by = m.id) AS resting, m.renews, v.outcome, v.reason,
       v.yes AS ballots_for, to_timestamp(v.as_of / 1000.0) AS decided, m.tier, m.shard, v.epoch
FROM memory m
LEFT JOIN LATERAL (
    SELECT o.outcome, o.reason, o.yes, o.as_of, o.epoch FROM outcome o
    WHERE o.memory_id = m.id AND o.kind = 'consolidate'
    ORDER BY o.epoch DESC LIMIT 1
) v ON true
WHERE m.made_by IS NOT NULL;

-- Orders that people and agents gave, each with where it stands. `open`: something is still to follow.
CREATE VIEW audit_orders WITH (security_invoker = true) AS
SELECT g.order_id, g.namespace, g.kind, g.action, g.signer, g.ordered_by, g.reference, to_timestamp(g.ordered_at / 1000.0) AS ordered,
       to_timestamp(g.as_of / 1000.0) AS answered, s.state, s.state IN ('waits for its vote', 'unattested') AS open,
       to_timestamp(d.as_of / 1000.0) AS decided, g.shard, g.seq, d.epoch
FROM (
    SELECT j.shard, j.seq, j.namespace, j.event_id AS order_id, j.as_of, j.effect, x.told #>> '{detail,order,signer}' AS signer,
           CASE j.effect WHEN 'protected' THEN 'protect' WHEN 'erased' THEN 'erase' WHEN 'withheld' THEN 'erase'
               ELSE 'restore' END AS kind,
           coalesce(x.told #>> '{detail,order,body,action}', 'erase') AS action,
           x.told #>> '{detail,order,body,ordered_by}' AS ordered_by, x.told #>> '{detail,order,body,reference}' AS reference,
           (x.told #>> '{detail,order,body,ordered_at}')::bigint AS ordered_at,
           (x.told #>> '{detail,applied}')::boolean AS applied
    FROM journal j
    CROSS JOIN LATERAL (SELECT record_json(j.entry) AS told) x
    WHERE j.effect IN ('erased', 'withheld', 'protected', 'requested', 'declined')
      AND (j.effect <> 'erased' OR EXISTS (SELECT FROM erasure e WHERE e.shard = j.shard AND e.first_seq = j.seq))
) g
LEFT JOIN LATERAL (
    SELECT v.epoch, v.as_of FROM decision v
    WHERE v.shard = g.shard AND g.effect = 'requested' AND v.trigger = g.action || '/' || g.order_id
    UNION ALL
    SELECT v.epoch, v.as_of FROM erasure e JOIN decision v USING (shard, epoch)
    WHERE e.shard = g.shard AND g.effect = 'erased' AND e.first_seq = g.seq
    ORDER BY epoch LIMIT 1
) d ON true
CROSS JOIN LATERAL (
    SELECT CASE g.effect
        WHEN 'requested' THEN CASE WHEN d.epoch IS NULL THEN 'waits for its vote' ELSE 'decided' END
        WHEN 'erased' THEN CASE WHEN d.epoch IS NULL THEN 'unattested' ELSE 'attested' END
        WHEN 'protected' THEN CASE WHEN g.applied THEN 'in force' ELSE 'changed nothing' END
        ELSE g.effect
    END AS state
) s;

-- Uses of memories. `applied`: false where the memory was alive no more.
CREATE VIEW audit_uses WITH (security_invoker = true) AS
SELECT u.memory_id, u.namespace, record_json(j.entry) #>> '{detail,agent}' AS agent, u.applied,
       to_timestamp(j.as_of / 1000.0) AS at, u.shard, u.seq
FROM used u
JOIN journal j USING (shard, seq);

-- What each member said of a namespace's memories: how often it voted, for the proposal, as it ended, and as nobody else.
CREATE VIEW audit_members WITH (security_invoker = true) AS
SELECT v.namespace, v.shard, v.member, count(*) AS ballots, count(*) FILTER (WHERE v.yes) AS ballots_for,
       count(*) FILTER (WHERE v.yes = v.passed) AS with_the_outcome, count(*) FILTER (WHERE v.alone) AS alone,
       to_timestamp(min(v.as_of) / 1000.0) AS first, to_timestamp(max(v.as_of) / 1000.0) AS last
FROM (
    SELECT DISTINCT o.namespace, b.shard, b.epoch, b.position, b.member, b.yes, o.as_of, o.outcome NOT IN ('kept', 'voided') AS passed,
           CASE WHEN b.yes THEN o.yes = 1 ELSE (
               SELECT count(*) FROM ballot x
               WHERE x.shard = b.shard AND x.epoch = b.epoch AND x.position = b.position AND NOT x.yes
           ) = 1 END AS alone
    FROM ballot b
    JOIN outcome o USING (shard, epoch, position)
    WHERE o.namespace IS NOT NULL
) v
GROUP BY v.namespace, v.shard, v.member;

-- How far the members agreed, by epoch and kind: proposals, how many of them unanimous, and the mean share of the larger side.
CREATE VIEW audit_agreement WITH (security_invoker = true) AS
SELECT p.namespace, p.kind, to_timestamp(p.as_of / 1000.0) AS at, count(*) AS proposals,
       count(*) FILTER (WHERE p.ballots_for IN (0, p.ballots)) AS unanimous,
       avg(greatest(p.ballots_for, p.ballots - p.ballots_for)::float8 / p.ballots) AS agreement, p.shard, p.epoch
FROM (
    SELECT o.namespace, o.kind, o.as_of, o.shard, o.epoch, o.position, count(DISTINCT b.member) AS ballots,
           count(DISTINCT b.member) FILTER (WHERE b.yes) AS ballots_for
    FROM outcome o
    JOIN ballot b USING (shard, epoch, position)
    WHERE o.namespace IS NOT NULL
    GROUP BY o.namespace, o.kind, o.as_of, o.shard, o.epoch, o.position
) p
GROUP BY p.namespace, p.kind, p.as_of, p.shard, p.epoch;

-- How many memories came and went on each day, how many were alive at its end, and how many characters they had. What a slot
-- gave up and a vote brought back counts as never gone.
CREATE VIEW audit_footprint WITH (security_invoker = true) AS
WITH went AS (
    -- What a vote took out of service. Of a supersession, the later one stays.
    SELECT o.memory_id, o.as_of, o.epoch FROM outcome o WHERE o.outcome = 'forgotten'
    UNION ALL
    SELECT o.memory_id, o.as_of, o.epoch FROM outcome o JOIN memory m ON m.id = o.memory_id
    WHERE o.outcome IN ('consolidated', 'merged', 'superseded') AND m.tier NOT IN ('short-term', 'long-term')
      AND (o.outcome <> 'consolidated' OR m.made_by IS NULL)
), back AS (
    SELECT o.memory_id, o.as_of, o.epoch FROM outcome o WHERE o.outcome = 'restored'
), moved AS (
    -- A summary and a general form come with the vote on them, all others as they are stored.
    SELECT m.id, coalesce(
        (SELECT min(o.as_of) FROM outcome o WHERE o.memory_id = m.id AND o.outcome IN ('consolidated', 'generalised')
            AND (m.made_by IS NOT NULL OR m.general_of IS NOT NULL)),
        (SELECT CASE WHEN j.as_of = 0 THEN m.created ELSE j.as_of END FROM journal j
            WHERE j.memory_id = m.id AND j.effect = 'stored' ORDER BY j.seq LIMIT 1)
    ) AS at, 1 AS way FROM memory m
    UNION ALL
    SELECT m.id, coalesce(
        (SELECT max(w.as_of) FROM went w WHERE w.memory_id = m.id
            AND w.epoch > coalesce((SELECT max(b.epoch) FROM back b WHERE b.memory_id = m.id), 0)),
        (SELECT j.as_of FROM erased x JOIN journal j ON j.shard = x.shard AND j.seq = x.seq WHERE x.memory_id = m.id),
        m.changed
    ), -1 FROM memory m WHERE m.tier IN ('sealed', 'superseded', 'gone')
    UNION ALL
    SELECT b.memory_id, b.as_of, 1 FROM back b
    UNION ALL
    SELECT b.memory_id, coalesce((SELECT max(w.as_of) FROM went w WHERE w.memory_id = b.memory_id AND w.epoch < b.epoch), b.as_of), -1
    FROM back b
), came AS (
    SELECT id FROM moved WHERE way = 1 AND at IS NOT NULL
), daily AS (
    SELECT m.namespace, date_trunc('day', to_timestamp(v.at / 1000.0), 'UTC') AS day, count(*) FILTER (WHERE v.way = 1) AS came,
           count(*) FILTER (WHERE v.way = -1) AS went, sum(v.way * m.characters) AS characters
    FROM moved v JOIN memory m ON m.id = v.id
    WHERE v.at IS NOT NULL AND v.id IN (SELECT id FROM came) AND m.tier NOT IN ('draft', 'finished')
    GROUP BY 1, 2
)
SELECT namespace, day, came, went, sum(came - went) OVER so_far::bigint AS alive, sum(characters) OVER so_far::bigint AS characters
FROM daily
WINDOW so_far AS (PARTITION BY namespace ORDER BY day);

-- What budgets proposed, with the score and the features by which; no features where near-ties were drawn by lot. A certificate
-- speaks of all memories of its epoch: this is the reader's alone.
CREATE VIEW audit_budgets WITH (security_invoker = true) AS
SELECT o.memory_id, o.namespace, o.policy, (w.told ->> 'version')::bigint AS version, (w.told ->> 'budget')::bigint AS budget,
       (w.told ->> 'held')::bigint AS held, (w.told ->> 'tokens')::bigint AS tokens, w.told ->> 'type' AS type,
       CASE WHEN (w.told ->> 'net_ppm')::bigint < 0 THEN (w.told ->> 'net_ppm')::float8 / 1e6
            ELSE (w.told ->> 'score')::float8 / 1e9 END AS score,
       (SELECT jsonb_object_agg(f.name, (w.told -> 'features' ->> (f.place - 1)::integer)::float8 / 1e6)
        -- ψ, in the order of FEATURES in core/policy.
        FROM unnest(ARRAY['recency', 'accesses', 'goals', 'centrality', 'worth', 'novelty', 'urgency']) WITH ORDINALITY AS f (name, place)
        WHERE jsonb_array_length(w.told -> 'features') > 0) AS features,
       w.told ->> 'why' AS why, o.outcome, o.reason, to_timestamp(d.as_of / 1000.0) AS at, o.shard, o.epoch
FROM (SELECT DISTINCT shard, epoch FROM outcome WHERE policy IS NOT NULL) e
JOIN decision d USING (shard, epoch)
CROSS JOIN LATERAL (
    -- Step by step, so that the ballots beside the nomination stay undecoded.
    SELECT record_json(decode(record_json(decode(record_json(decode(record_json(d.pre_prepare, false) ->> 'body', 'hex'), false)
        ->> 'nomination', 'hex'), false) ->> 'body', 'hex'), false) -> 'proposals' AS proposals
) n
JOIN outcome o ON o.shard = d.shard AND o.epoch = d.epoch AND o.policy IS NOT NULL
CROSS JOIN LATERAL (SELECT n.proposals -> o.position -> 'weighed' AS told) w;

DO $$
DECLARE
    name text;
BEGIN
    FOREACH name IN ARRAY ARRAY['promotions', 'supersessions', 'marks', 'restores', 'erasures', 'erased', 'destructions', 'consolidations',
        'orders', 'uses', 'members', 'agreement', 'footprint', 'budgets'] LOOP
        EXECUTE format('ALTER VIEW %I OWNER TO memquorum_owner', 'audit_' || name);
    END LOOP;
END
$$;
