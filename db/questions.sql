-- Questions of an audit, each with its statement: `memquorum admin audit ask` lists and runs them as the reader, and
-- docs/operate/audit-questions.md shows them. The line below a name is the question; more lines say what the answer means.
-- No statement has parameters, so that each can be copied into psql or a dashboard. Now is the time of the latest shard.

-- :name erasures
-- Who erased what, and when?
SELECT namespace, accepted, ordered_by, reference, signer, selector, value, memories, episodes, receipt, order_id
FROM audit_erasures
ORDER BY accepted, order_id

-- :name erased
-- Which memories did an erasure take?
SELECT namespace, order_id, memory_id, was, at, ordered_by
FROM audit_erased
ORDER BY at, memory_id

-- :name receipts
-- Which erasures have a receipt, and which still wait for one?
-- A receipt is whole once the members attested the order. Files may hold remains until `residue_until`.
SELECT namespace, order_id, receipt, attested, residue_until, residue_until > to_timestamp((SELECT max(as_of) FROM shard) / 1000.0) AS residue
FROM audit_erasures
ORDER BY accepted, order_id

-- :name destructions
-- Which keys are still to be destroyed, and when?
-- A sealed memory can be restored until then. A hold keeps the key longer.
SELECT namespace, memory_id, tier, due, held
FROM audit_destructions
ORDER BY due, memory_id

-- :name votes
-- By whose votes did something go?
-- A row for each memory that a vote took out of service; `members_for` and `members_against` by their ids.
SELECT v.namespace, v.memory_id, v.kind, v.outcome, v.at, array_agg(v.member ORDER BY v.member) FILTER (WHERE v.yes) AS members_for,
       coalesce(array_agg(v.member ORDER BY v.member) FILTER (WHERE NOT v.yes), '{}') AS members_against
FROM audit_votes v
JOIN memory m ON m.id = v.memory_id
-- What took another one's place was voted on with it, and stays.
WHERE v.outcome = 'forgotten'
   OR v.outcome IN ('superseded', 'consolidated', 'merged') AND m.tier NOT IN ('short-term', 'long-term')
GROUP BY v.namespace, v.memory_id, v.kind, v.outcome, v.at
ORDER BY v.at, v.kind, v.memory_id

-- :name defended
-- Which memories did one member alone want to keep?
-- All others were for letting it go; `outcome` says how it ended.
SELECT namespace, memory_id, kind, min(member) FILTER (WHERE NOT yes) AS member, outcome, at
FROM audit_votes
WHERE kind IN ('forget', 'evict', 'demote')
GROUP BY namespace, memory_id, kind, outcome, at, shard, epoch
HAVING count(*) FILTER (WHERE NOT yes) = 1 AND count(*) > 1
ORDER BY at, memory_id

-- :name dissent
-- Which members dissent most?
-- `dissent` is the share of a member's opinions that the outcome did not follow.
SELECT namespace, shard, member, ballots, alone, round(1 - with_the_outcome::numeric / ballots, 4)::float8 AS dissent
FROM audit_members
ORDER BY dissent DESC, alone DESC, namespace, member

-- :name agreement
-- How far did the members agree, week by week?
-- `agreement` is the mean share of the larger side: 1 where all said the same.
SELECT namespace, date_trunc('week', at, 'UTC') AS week, sum(proposals)::bigint AS proposals, sum(unanimous)::bigint AS unanimous,
       round((sum(agreement * proposals) / sum(proposals))::numeric, 4)::float8 AS agreement
FROM audit_agreement
GROUP BY namespace, week
ORDER BY namespace, week

-- :name footprint
-- How large was the memory, day by day?
SELECT namespace, day, came, went, alive, characters
FROM audit_footprint
ORDER BY namespace, day

-- :name processing
-- Which personal data is processed for what, under whose law, and who received it?
-- For records of processing activities (GDPR, Article 30): memories that are there or can still be restored.
SELECT m.namespace, m.type, coalesce(m.purposes, 'any') AS purposes, m.jurisdictions, count(DISTINCT m.id) AS memories,
       count(DISTINCT m.subject) AS subjects, count(DISTINCT m.agent) AS agents,
       count(DISTINCT m.id) FILTER (WHERE m.sensitivity_ppm >= 500000) AS sensitive, to_timestamp(min(m.created) / 1000.0) AS oldest,
       array_remove(array_agg(DISTINCT d.recipient), NULL) AS recipients
FROM memory m
LEFT JOIN disclosure d ON d.memory_id = m.id
WHERE m.tier IN ('short-term', 'long-term', 'sealed', 'superseded', 'finished')
GROUP BY m.namespace, m.type, m.purposes, m.jurisdictions
ORDER BY m.namespace, m.type, purposes, m.jurisdictions

-- :name recipients
-- What was sent to a model on another host?
SELECT namespace, recipient, memory_id, to_timestamp(sent_at / 1000.0) AS sent
FROM disclosure
ORDER BY sent, recipient, memory_id

-- :name promoted
-- What was promoted last week?
SELECT namespace, memory_id, agent, at, ballots_for, weight, needed, confidence
FROM audit_promotions
WHERE outcome = 'promoted' AND at > to_timestamp((SELECT max(as_of) FROM shard) / 1000.0) - interval '7 days'
ORDER BY at, memory_id

-- :name forgotten
-- How much was forgotten, day by day, and by which majority?
SELECT namespace, date_trunc('day', forgotten, 'UTC') AS day, agent, count(*) AS memories, min(ballots_for) AS fewest_votes,
       min(weight)::float8 AS least_weight
FROM audit_forgotten
GROUP BY namespace, day, agent
ORDER BY namespace, day, agent

-- :name capped
-- What did the caps keep, against the votes?
SELECT o.namespace, o.memory_id, o.kind, to_timestamp(o.as_of / 1000.0) AS at, o.yes AS ballots_for, o.shard, o.epoch
FROM outcome o
WHERE o.reason = 'cap'
ORDER BY at, o.memory_id

-- :name superseded
-- Which memory took the place of which?
SELECT namespace, older, newer, way, at, tier
FROM audit_supersessions
ORDER BY at, older

-- :name overtaken
-- Which memories are marked as overtaken and still in service?
SELECT namespace, older, newer, stated, compared, at
FROM audit_marks
WHERE older_tier IN ('short-term', 'long-term')
ORDER BY at, older

-- :name summaries
-- Which summaries were made, of how many memories, and what did the vote say?
SELECT namespace, memory_id, made_by, sources, sentences, resting, outcome, ballots_for, decided
FROM audit_consolidations
ORDER BY made, memory_id

-- :name orders
-- Which orders are open?
-- A request waits for its vote, or an erasure for the members' attestation.
SELECT namespace, order_id, kind, action, ordered_by, reference, answered, state
FROM audit_orders
WHERE open
ORDER BY answered, order_id

-- :name withheld
-- Which erasures did a hold prevent?
-- They are not carried out by the release either: they have to be ordered again.
SELECT namespace, order_id, ordered_by, reference, answered
FROM audit_orders
WHERE state = 'withheld'
ORDER BY answered, order_id

-- :name protected
-- What is protected, by whom, and since when?
SELECT namespace, memory_id, kind, ordered_by, reference, to_timestamp(accepted_at / 1000.0) AS since
FROM protection
ORDER BY since, memory_id, kind

-- :name restored
-- What was restored, and who had asked for it?
SELECT namespace, memory_id, request, ordered_by, asked, decided, tier
FROM audit_restores
WHERE outcome = 'restored'
ORDER BY decided, memory_id

-- :name uses
-- Who used what, and how often?
SELECT namespace, agent, memory_id, count(*) AS uses, max(at) AS last
FROM audit_uses
WHERE applied
GROUP BY namespace, agent, memory_id
ORDER BY uses DESC, namespace, agent, memory_id

-- :name duration
-- How long did it take from a nomination to the decision?
-- By the shard's clock, which moves with its ticks.
SELECT d.shard, split_part(d.trigger, '/', 1) AS opened_by, count(*) AS epochs,
       round(avg(j.as_of - d.as_of) / 1000.0, 3)::float8 AS mean_s, (max(j.as_of - d.as_of) / 1000.0)::float8 AS longest_s
FROM decision d
JOIN journal j ON j.shard = d.shard AND j.seq = d.journal_seq
GROUP BY d.shard, opened_by
ORDER BY d.shard, opened_by

-- :name budgets
-- Which budget is exhausted?
-- As the last proposal of each policy found it: tokens that the namespace may hold, and held.
SELECT DISTINCT ON (namespace, policy) namespace, policy, budget, held, at
FROM audit_budgets
WHERE held > budget
ORDER BY namespace, policy, at DESC

-- :name scores
-- By which score and features did a budget choose what to propose?
SELECT namespace, memory_id, policy, tokens, score, features, outcome, at
FROM audit_budgets
ORDER BY at, score, memory_id

-- :name triggers
-- What did each breach of a budget cost, and what did it free?
-- Tokens before and after, the distortion of summaries as it was predicted and as the members measured it, and the ε of draws.
SELECT namespace, at, policy, budget, held, freed, after, forgotten, score_least, score_most, summaries, predicted, realised, charged, account
FROM audit_triggers
ORDER BY at, namespace, epoch
