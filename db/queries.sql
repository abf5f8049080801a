-- Every SQL statement that Python runs, by name. `-- :name x` starts a statement; the comment lines below it say what
-- it is for. Parameters are psycopg's: %(name)s. Migrations hold the DDL.

-- :name migration_table
-- The record of what was applied: made by the runner itself, so no migration holds it.
CREATE TABLE IF NOT EXISTS migration (
    name       text        PRIMARY KEY,
    checksum   text        NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)

-- :name migration_lock
-- One runner at a time on a database; let go with the session.
SELECT pg_advisory_lock(%(key)s)

-- :name migration_applied
-- What was applied, in order.
SELECT name, checksum FROM migration ORDER BY name

-- :name migration_told
-- Says what the newest one is, to logins that may not read the table.
COMMENT ON TABLE migration IS {newest}

-- :name migration_newest
-- The newest one, or null.
SELECT obj_description(to_regclass('public.migration'), 'pg_class')

-- :name record_schema_known
-- Adds a schema of records that SQL decodes.
INSERT INTO record_schema (mark, name, shape) VALUES (%(mark)s, %(name)s, %(shape)s) ON CONFLICT (mark) DO NOTHING

-- :name migration_insert
-- Notes a migration, in the transaction that applies it.
INSERT INTO migration (name, checksum) VALUES (%(name)s, %(checksum)s)

-- :name migration_self_grant
-- Whoever makes a role without being a superuser may otherwise give it away, and not hand it a table.
SET createrole_self_grant = 'set, inherit'

-- :name migration_rows
-- A statement from which row security would keep rows fails: it would otherwise change none, and say nothing.
SET row_security = off

-- :name database_create
-- {name} is filled in as an identifier: databases cannot be parameters.
CREATE DATABASE {name}

-- :name database_drop
-- A database made for a rebuild goes when it has been compared; whoever still reads from it is cut off.
DROP DATABASE IF EXISTS {name} WITH (FORCE)

-- :name database_mark
-- What it is, for whoever looks for what was kept.
COMMENT ON DATABASE {name} IS {comment}

-- :name database_comment
-- What a database says of itself; no row where there is none of that name.
SELECT shobj_description(oid, 'pg_database') FROM pg_database WHERE datname = %(name)s

-- :name databases_marked
-- The databases whose comment begins with this.
SELECT datname FROM pg_database WHERE starts_with(shobj_description(oid, 'pg_database'), %(comment)s) ORDER BY datname

-- :name database_left
-- Ends the other sessions of a database.
SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %(name)s AND pid <> pg_backend_pid()

-- :name login_there
-- Whether a role is there.
SELECT FROM pg_roles WHERE rolname = %(login)s

-- :name login_create
-- {…} are filled in as identifiers and literals here and below: roles cannot be parameters.
CREATE ROLE {login}

-- :name login_alter
-- It may log in with this password, and has no right of the roles that it may step down to.
ALTER ROLE {login} WITH LOGIN NOINHERIT PASSWORD {verifier}

-- :name login_beyond
-- Whether it has an attribute that no login of ours has.
SELECT FROM pg_roles
WHERE rolname = %(login)s AND (rolsuper OR rolcreatedb OR rolcreaterole OR rolreplication OR rolbypassrls)

-- :name login_lower
-- It has no attribute any more.
ALTER ROLE {login} WITH NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS

-- :name login_roles
-- What it may step down to.
SELECT r.rolname
FROM pg_auth_members m
JOIN pg_roles r ON r.oid = m.roleid
JOIN pg_roles l ON l.oid = m.member
WHERE l.rolname = %(login)s

-- :name login_grant
-- It may step down to a role, and has none of its rights before it does.
GRANT {role} TO {login} WITH INHERIT FALSE, SET TRUE, ADMIN FALSE

-- :name login_revoke
-- No more.
REVOKE {role} FROM {login}

-- :name database_close
-- Nobody connects but who is admitted, or makes temporary tables.
REVOKE ALL ON DATABASE {database} FROM PUBLIC

-- :name login_admit
-- It may connect.
GRANT CONNECT ON DATABASE {database} TO {login}

-- :name login_exclude
-- It may not, having no work there.
REVOKE ALL ON DATABASE {database} FROM {login}

-- :name vault_subjects
-- The wrapped keys of (namespace, subject) pairs.
SELECT k.namespace, k.subject, k.wrapped
FROM subject_key k
JOIN unnest(%(namespaces)s::text[], %(subjects)s::text[]) AS wanted (namespace, subject) USING (namespace, subject)

-- :name vault_subjects_insert
-- New subjects' keys; whoever comes second keeps the first one's. Ordered, so that two callers cannot deadlock.
INSERT INTO subject_key (namespace, subject, wrapped)
SELECT * FROM unnest(%(namespaces)s::text[], %(subjects)s::text[], %(wrapped)s::bytea[]) AS new (namespace, subject, wrapped)
ORDER BY namespace, subject
ON CONFLICT DO NOTHING

-- :name vault_subject_any
-- A subject's wrapped key, if there is one.
SELECT namespace, subject, wrapped FROM subject_key LIMIT 1

-- :name vault_subjects_lock
-- Nobody reads or makes a subject's key until the transaction ends.
LOCK TABLE subject_key IN ACCESS EXCLUSIVE MODE

-- :name vault_others
-- Programs of others that are connected to this database.
SELECT DISTINCT coalesce(nullif(application_name, ''), 'a client without a name')
FROM pg_stat_activity
WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'
ORDER BY 1

-- :name vault_subjects_all
-- All subjects' wrapped keys.
SELECT namespace, subject, wrapped FROM subject_key

-- :name vault_subjects_rewrap
-- Subjects' keys wrapped anew.
UPDATE subject_key k
SET wrapped = new.wrapped
FROM unnest(%(namespaces)s::text[], %(subjects)s::text[], %(wrapped)s::bytea[]) AS new (namespace, subject, wrapped)
WHERE (k.namespace, k.subject) = (new.namespace, new.subject)

-- :name vault_keys_insert
-- New memories' keys; a key that is there, destroyed or not, stays as it is.
INSERT INTO memory_key (memory_id, namespace, subject, wrapped, claim)
SELECT * FROM unnest(
    %(ids)s::uuid[], %(namespaces)s::text[], %(subjects)s::text[], %(wrapped)s::bytea[], %(claims)s::bytea[]
) AS new (memory_id, namespace, subject, wrapped, claim)
ORDER BY memory_id
ON CONFLICT DO NOTHING

-- :name vault_keys
-- The keys that are not destroyed, each with its subject's, both wrapped; and how far the journals were followed when
-- these were all. In one statement: between two of them a backup could be put back.
SELECT m.memory_id::text, m.namespace, m.subject, m.wrapped, s.wrapped, NULL::integer, NULL::bigint, m.claim
FROM memory_key m
JOIN subject_key s USING (namespace, subject)
WHERE m.memory_id = ANY(%(ids)s::uuid[]) AND m.wrapped IS NOT NULL
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, shard, seq, NULL FROM destruction

-- :name vault_destroyed
-- Destroyed keys of agents' memories in the order of their destruction, from a number on, or the last one alone; and how far
-- the journals were followed when these were all.
(SELECT destroyed, memory_id::text, NULL::integer, NULL::bigint
FROM memory_key
WHERE destroyed >= %(since)s::bigint
ORDER BY destroyed
LIMIT %(most)s)
UNION ALL
(SELECT destroyed, memory_id::text, NULL, NULL
FROM memory_key
WHERE %(since)s::bigint IS NULL AND destroyed IS NOT NULL
ORDER BY destroyed DESC
LIMIT 1)
UNION ALL
SELECT NULL, NULL, shard, seq FROM destruction

-- :name vault_any
-- The id of a memory that has a key.
SELECT memory_id::text FROM memory_key WHERE wrapped IS NOT NULL LIMIT 1

-- :name vault_owners
-- Whose ids are that have a key or had one: the subject of the key, and the claim, NULL where it was made without one.
SELECT memory_id::text, subject, claim FROM memory_key WHERE memory_id = ANY(%(ids)s::uuid[])

-- :name vault_keys_destroy
-- The row stays without the key, so that no late record makes it again.
UPDATE memory_key SET wrapped = NULL WHERE memory_id = ANY(%(ids)s::uuid[]) AND wrapped IS NOT NULL

-- :name vault_followed
-- Up to which journal sequence of each shard the keys are destroyed that it calls so.
SELECT shard, seq FROM destruction

-- :name vault_follow
-- They are destroyed up to another one; of those shards that are noted where they are thought to be, or there already.
INSERT INTO destruction (shard, seq)
SELECT new.shard, new.seq
FROM unnest(%(shards)s::integer[], %(since)s::bigint[], %(seqs)s::bigint[]) AS new (shard, since, seq)
LEFT JOIN destruction d USING (shard)
WHERE coalesce(d.seq, 0) IN (new.since, new.seq)
ON CONFLICT (shard) DO UPDATE SET seq = excluded.seq

-- :name vault_keys_destroy_older
-- The same, by age.
UPDATE memory_key SET wrapped = NULL
WHERE namespace = %(namespace)s AND wrapped IS NOT NULL AND made_at <= clock_timestamp() - %(age)s

-- :name vault_keys_destroy_of
-- The same, by whose they are.
UPDATE memory_key SET wrapped = NULL
WHERE namespace = %(namespace)s AND wrapped IS NOT NULL
    AND (subject = %(subject)s OR %(begins)s AND starts_with(subject, %(subject)s))

-- :name journal_destroyed
-- Entries after a sequence that may tell of destroyed keys.
SELECT seq, entry FROM journal
WHERE shard = %(shard)s AND seq > %(after)s AND effect IN ('destroyed', 'erased', 'dropped')
ORDER BY journal.seq LIMIT %(limit)s

-- :name shard_insert
-- A shard's row, with the hash that its journal begins at.
INSERT INTO shard (shard, hash) VALUES (%(shard)s, %(hash)s) ON CONFLICT DO NOTHING

-- :name shard_beginning
-- The hash that each shard's journal follows: of its first entry, or its own before there is one.
SELECT s.shard, coalesce(j.previous_hash, s.hash)
FROM shard s
LEFT JOIN journal j ON j.shard = s.shard AND j.seq = 1

-- :name shard_replaced
-- Up to which entry of each shard what was superseded is not kept for reads of the past.
SELECT shard, replaced_after FROM shard

-- :name shard_standing
-- Where every shard stands.
SELECT shard, seq, hash, as_of, interactions, last_epoch, last_epoch_at, decided_seq, alive, unattested, asked_at, contested_at,
    weighed_to, published_seq
FROM shard
ORDER BY shard

-- :name shard_lock
-- Holds the shards for the transaction, in one order for everyone, and tells where they stand.
SELECT shard, seq, hash, as_of, interactions, last_epoch, last_epoch_at, decided_seq, alive, unattested, asked_at,
    contested_at, weighed_to
FROM shard
WHERE shard = ANY(%(shards)s)
ORDER BY shard
FOR UPDATE

-- :name shard_update
-- Where the shard stands after a batch.
UPDATE shard
SET seq = %(seq)s, hash = %(hash)s, as_of = %(as_of)s, interactions = %(interactions)s, last_epoch = %(last_epoch)s,
    last_epoch_at = %(last_epoch_at)s, decided_seq = %(decided_seq)s, alive = %(alive)s,
    unattested = %(unattested)s, asked_at = %(asked_at)s, contested_at = %(contested_at)s,
    weighed_to = %(weighed_to)s
WHERE shard = %(shard)s

-- :name shard_published
-- How far the journal is known to be in its topic; never back.
UPDATE shard SET published_seq = %(seq)s WHERE shard = %(shard)s AND published_seq < %(seq)s

-- :name cursors
-- The next offset to read of every source.
SELECT shard, topic, next_offset FROM cursor

-- :name cursor_upsert
-- Moves in the transaction that applies the records before it; never back.
INSERT INTO cursor (shard, topic, next_offset) VALUES (%(shard)s, %(topic)s, %(next_offset)s)
ON CONFLICT (shard, topic) DO UPDATE SET next_offset = excluded.next_offset
WHERE cursor.next_offset < excluded.next_offset

-- :name decided_digests
-- The latest decisions of every shard: what a contradicting certificate is recognised by.
SELECT d.shard, d.seq, d.digest
FROM shard s
JOIN decision d ON d.shard = s.shard AND d.seq > s.decided_seq - %(depth)s

-- :name order_votes
-- What was decided of orders of another membership, in the order of the decisions; of all shards where none is named.
SELECT d.shard, o.memory_id::text, d.epoch, o.outcome = 'configured', d.pre_prepare, d.commits
FROM decision d JOIN outcome o USING (shard, epoch)
WHERE d.trigger = 'order' AND o.kind = 'configure' AND d.shard = coalesce(%(shard)s::integer, d.shard)
ORDER BY d.shard, d.seq

-- :name configurations
-- The decisions that changed the shards' configurations, from one of each shard's on, in their order.
SELECT d.shard, d.pre_prepare, d.commits
FROM unnest(%(shards)s::integer[], %(configs)s::integer[]) AS known (shard, config)
JOIN decision d ON d.shard = known.shard AND d.trigger = 'order' AND d.config >= known.config
JOIN outcome o ON o.shard = d.shard AND o.epoch = d.epoch AND o.kind = 'configure' AND o.outcome = 'configured'
ORDER BY d.shard, d.seq

-- :name memories
-- Memories by id.
SELECT $row(memory)
FROM memory
WHERE id = ANY(%(ids)s::uuid[])

-- :name filling
-- The memories that fill slots.
SELECT m.id::text
FROM unnest(%(namespaces)s::text[], %(slots)s::text[]) AS filled (namespace, slot)
JOIN memory m ON m.namespace = filled.namespace AND m.slot = filled.slot AND m.tier IN ('short-term', 'long-term')

-- :name grounds
-- What memories of a shard were made of; the summaries that were made of them; what they say otherwise than, what says
-- otherwise than they, and with which of both that was stated on purpose.
SELECT child::text, 'sources', array_agg(parent::text)
FROM provenance
WHERE shard = %(shard)s AND child = ANY(%(ids)s::uuid[]) AND NOT echo AND NOT merged
GROUP BY child
UNION ALL
SELECT p.parent::text, 'summaries', array_agg(p.child::text)
FROM memory m
JOIN provenance p ON p.namespace = m.namespace AND p.parent = m.id
WHERE m.id = ANY(%(ids)s::uuid[]) AND p.shard = %(shard)s AND p.agent = 'consolidator' AND NOT p.echo AND NOT p.merged
GROUP BY p.parent
UNION ALL
SELECT newer::text, 'older', array_agg(older::text)
FROM conflict
WHERE shard = %(shard)s AND newer = ANY(%(ids)s::uuid[]) AND NOT compared
GROUP BY newer
UNION ALL
SELECT older::text, 'newer', array_agg(newer::text)
FROM conflict
WHERE shard = %(shard)s AND older = ANY(%(ids)s::uuid[]) AND NOT compared
GROUP BY older
UNION ALL
SELECT own::text, 'stated', array_agg(other::text)
FROM (
    SELECT newer AS own, older AS other FROM conflict
    WHERE shard = %(shard)s AND newer = ANY(%(ids)s::uuid[]) AND stated
    UNION ALL
    SELECT older, newer FROM conflict WHERE shard = %(shard)s AND older = ANY(%(ids)s::uuid[]) AND stated
) s
GROUP BY own

-- :name admissions
-- Where memories stand on their way into experience.
SELECT $row(admission)
FROM admission
WHERE memory_id = ANY(%(ids)s::uuid[])

-- :name weights
-- All versions of the weights of memories.
SELECT $row(weight)
FROM weight
WHERE memory_id = ANY(%(ids)s::uuid[])
ORDER BY memory_id, version

-- :name trials
-- What verifiers found of (memory, position), as it came.
SELECT $row(trial)
FROM unnest(%(ids)s::uuid[], %(positions)s::bigint[]) AS wanted (memory_id, position)
JOIN trial USING (memory_id, position)
ORDER BY trial.seq

-- :name uses_tasks
-- Of namespaces where something was admitted, the tasks of a shard of which something stands between two places of the
-- accepted stream: they themselves, or what is said of them.
SELECT $row(task)
FROM task
WHERE memory_id IN (
    SELECT t.memory_id FROM task t
    WHERE t.shard = %(shard)s AND t.accepted_offset >= %(counted)s AND t.accepted_offset < %(before)s
    UNION
    SELECT f.task FROM feedback f
    WHERE f.shard = %(shard)s AND f.accepted_offset >= %(counted)s AND f.accepted_offset < %(before)s
) AND EXISTS (SELECT FROM admission a WHERE a.namespace = task.namespace AND a.version > 0)
ORDER BY task.seq

-- :name uses_feedback
-- All that is said of tasks, in the order of the journal.
SELECT $row(feedback)
FROM feedback
WHERE task = ANY(%(ids)s::uuid[])
ORDER BY seq, feedback.memory_id

-- :name nominated
-- The digests of what decisions were about, by their epochs.
SELECT epoch, nomination FROM decision WHERE shard = %(shard)s AND epoch = ANY(%(epochs)s::bigint[])

-- :name strengths
-- Strengths of those of the memories that are alive.
SELECT memory_id::text, shard, tier, salience_ppm, created, last_access, touched, accesses, reinforced, kept, rest, replays,
    doubts, rehearsed, fades
FROM strength
WHERE memory_id = ANY(%(ids)s::uuid[])

-- :name events
-- First outcomes of (namespace, event id).
SELECT e.namespace, e.event_id, e.shard, e.outcome, e.memory_id::text, e.seq, e.agent, e.subject, e.source, e.session,
    e.type, e.occurred
FROM event e
JOIN unnest(%(namespaces)s::text[], %(event_ids)s::text[]) AS wanted (namespace, event_id) USING (namespace, event_id)

-- :name became
-- What became of events, by namespace, event id and the episode's own memory id: `erased` where an order took the episode, whatever it
-- was before. Of a write of nothing its entry, which tells what it took away; and of feedback that does not count, which tells why.
SELECT e.namespace, e.event_id, e.shard, CASE WHEN x.memory_id IS NULL THEN e.outcome ELSE 'erased' END,
    e.memory_id::text, coalesce(x.seq, e.seq),
    CASE WHEN e.outcome IN ('cleared', 'contested', 'unfounded') AND x.memory_id IS NULL
        THEN (SELECT j.entry FROM journal j WHERE j.shard = e.shard AND j.seq = e.seq) END, e.agent
FROM event e
JOIN unnest(%(namespaces)s::text[], %(event_ids)s::text[], %(ids)s::uuid[]) AS wanted (namespace, event_id, id)
    USING (namespace, event_id)
LEFT JOIN erased x ON x.memory_id = wanted.id

-- :name first_text
-- The text of a memory that is there, or was replaced.
SELECT body FROM content WHERE memory_id = %(id)s::uuid
UNION ALL
SELECT body FROM replaced WHERE memory_id = %(id)s::uuid

-- :name memory_copy
-- New memories.
COPY memory ($columns(memory)) FROM STDIN (FORMAT BINARY)

-- :name content_copy
-- Content in the clear.
COPY content (memory_id, body, namespace) FROM STDIN (FORMAT BINARY)

-- :name labelled_content_copy
-- Content in the clear, of what has links to names or is filed under something, with these.
COPY content (memory_id, body, namespace, named, key, path, attributes) FROM STDIN (FORMAT BINARY)

-- :name embedding_copy
-- Vectors.
COPY embedding (memory_id, namespace, vector, encoder) FROM STDIN (FORMAT BINARY)

-- :name sentence_copy
-- Vectors of summaries' sentences, and of long texts' passages.
COPY sentence (memory_id, place, namespace, vector, encoder) FROM STDIN (FORMAT BINARY)

-- :name experience_copy
-- Finished tasks in the clear.
COPY experience (memory_id, namespace, body, vector, encoder, digest) FROM STDIN (FORMAT BINARY)

-- :name task_copy
-- Finished tasks: how they ended, says whom, and what they were given.
COPY task ($columns(task)) FROM STDIN (FORMAT BINARY)

-- :name feedback_copy
-- What is said to have helped in finished tasks, and what not.
COPY feedback ($columns(feedback)) FROM STDIN (FORMAT BINARY)

-- :name trial_copy
-- What verifiers found.
COPY trial ($columns(trial)) FROM STDIN (FORMAT BINARY)

-- :name admission_copy
-- Where memories stand that are tried for the first time.
COPY admission ($columns(admission)) FROM STDIN (FORMAT BINARY)

-- :name admission_update
-- Where those stand now that were tried, voted on, used or erased.
UPDATE admission a
SET seq = n.seq, status = n.status, position = n.position, digest = n.digest, score_ppm = n.score_ppm,
    version = n.version, weight_ppm = n.weight_ppm, epoch = n.epoch, after = n.after, rejections = n.rejections,
    rejected = n.rejected, judges = n.judges, gained_ppm = n.gained_ppm, refusals = n.refusals,
    since = n.since, gains = n.gains, losses = n.losses,
    merged_into = n.merged_into, merged_at = n.merged_at, general = n.general
FROM json_to_recordset(%(rows)s) AS n (
    memory_id uuid, seq bigint, status text, position bigint, digest text, score_ppm bigint, version integer,
    weight_ppm integer, epoch bigint, after bigint, rejections integer, rejected bigint, judges integer,
    gained_ppm bigint, refusals integer, since bigint, gains integer, losses integer, merged_into uuid, merged_at bigint, general uuid)
WHERE a.memory_id = n.memory_id

-- :name weight_copy
-- Versions of weights.
COPY weight ($columns(weight)) FROM STDIN (FORMAT BINARY)

-- :name strength_copy
-- Strengths of new memories.
COPY strength (memory_id, shard, tier, salience_ppm, created, last_access, touched, accesses, reinforced, kept, rest, replays,
    doubts, rehearsed, fades) FROM STDIN (FORMAT BINARY)

-- :name event_copy
-- First outcomes.
COPY event (namespace, event_id, shard, outcome, memory_id, seq, agent, subject, source, session, type, occurred)
    FROM STDIN (FORMAT BINARY)

-- :name event_update
-- The outcomes of events that had failed and were tried again.
UPDATE event e
SET outcome = n.outcome, memory_id = n.memory_id, seq = n.seq, agent = n.agent, subject = n.subject, source = n.source,
    session = n.session, type = n.type, occurred = n.occurred
FROM json_to_recordset(%(rows)s) AS n (
    namespace text, event_id text, shard integer, outcome text, memory_id uuid, seq bigint, agent text, subject text,
    source text, session text, type text, occurred bigint)
WHERE e.namespace = n.namespace AND e.event_id = n.event_id

-- :name used_copy
-- Memories that uses named.
COPY used (memory_id, shard, seq, namespace, applied) FROM STDIN (FORMAT BINARY)

-- :name journal_copy
-- Journal entries, in order.
COPY journal (shard, seq, as_of, effect, event_id, namespace, memory_id, source_topic, source_partition, source_offset,
    entry, previous_hash, hash) FROM STDIN (FORMAT BINARY)

-- :name decision_copy
-- Decisions with their certificates.
COPY decision ($columns(decision)) FROM STDIN (FORMAT BINARY)

-- :name outcome_copy
-- What they meant for each memory.
COPY outcome (shard, epoch, position, memory_id, kind, outcome, reason, yes, weight_ppm, needed_ppm, as_of, namespace, policy)
FROM STDIN (FORMAT BINARY)

-- :name ballot_copy
-- Who voted what.
COPY ballot (shard, epoch, position, member, yes, score_ppm, terms) FROM STDIN (FORMAT BINARY)

-- :name dropped_copy
-- Episodes that became no memory, until their keys are destroyed.
COPY dropped (memory_id, shard, namespace, destroy_at) FROM STDIN (FORMAT BINARY)

-- :name dropped_delete
-- Those whose keys are destroyed, or that are tried again.
DELETE FROM dropped d
USING json_to_recordset(%(rows)s) AS n (memory_id uuid)
WHERE d.memory_id = n.memory_id

-- :name provenance_copy
-- What episodes were made of, and which memories they repeated.
COPY provenance (shard, seq, namespace, child, parent, echo, follows, agent, merged) FROM STDIN (FORMAT BINARY)

-- :name quote_copy
-- The sentences of summaries.
COPY quote (shard, seq, namespace, summary, place, source, start, finish, section, said_at, sentence)
FROM STDIN (FORMAT BINARY)

-- :name patch_copy
-- The log of the roll-ups.
COPY patch ($columns(patch)) FROM STDIN (FORMAT BINARY)

-- :name rollup_log
-- The patches of a namespace's roll-ups, in the order of the journal; each with who said its sentence and about whom, whether
-- a gate keeps it back where a reader has some, the sentence where its memory is alive, and where it is not whether a summary is
-- that was made of it. Where memories are named as near, only of roll-ups that have a sentence of one of them, or of what it sums up.
SELECT p.seq, p.place, p.as_of, p.topic::text, p.op, p.memory::text, p.start, p.finish, p.name_start, p.name_finish, p.section,
    p.said_at, p.replaces::text, p.replaces_start, p.replaces_finish, m.agent, m.subject, %(gated)s::boolean AND ($gates) IS NOT TRUE,
    substr(c.body, p.start::integer + 1, (p.finish - p.start)::integer),
    c.body IS NULL AND EXISTS (
        SELECT FROM provenance v
        JOIN memory s ON s.id = v.child AND s.made_by IS NOT NULL AND s.tier IN ('short-term', 'long-term')
        WHERE v.namespace = p.namespace AND v.parent = p.memory
    ), m.said, m.said_offset
FROM patch p
JOIN memory m ON m.id = p.memory
LEFT JOIN content c ON c.memory_id = p.memory AND m.tier IN ('short-term', 'long-term')
WHERE p.namespace = %(namespace)s AND (%(near)s::uuid[] IS NULL OR p.topic IN (
    SELECT t.topic FROM patch t
    WHERE t.namespace = %(namespace)s AND (t.memory = ANY(%(near)s::uuid[])
        OR t.memory IN (SELECT q.source FROM quote q WHERE q.summary = ANY(%(near)s::uuid[])))))
ORDER BY p.seq, p.place
LIMIT %(limit)s

-- :name rollup_quotes
-- The verbatim summaries of a namespace that are alive, the latest first, each with its sentences' sources in their order, and
-- who said these and about whom; of all, or of those that quote some sources.
SELECT d.id::text, c.body, q.source::text, q.start, q.finish, q.section, q.said_at, s.agent, s.subject
FROM (
    SELECT m.id, m.created
    FROM memory m
    WHERE m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term') AND m.made_by ^@ 'extractive/'
      AND (NOT %(gated)s::boolean OR ($gates))
      AND (%(sources)s::uuid[] IS NULL OR m.id IN (SELECT o.summary FROM quote o WHERE o.source = ANY(%(sources)s::uuid[])))
    ORDER BY m.created DESC, m.id
    LIMIT %(limit)s
) d
JOIN content c ON c.memory_id = d.id
JOIN quote q ON q.summary = d.id
JOIN memory s ON s.id = q.source
ORDER BY d.created DESC, d.id, q.place

-- :name rollup_said
-- The latest episodes of a namespace that are alive and not too long.
SELECT m.id::text, c.body, m.created, m.agent, m.subject
FROM memory m
JOIN content c ON c.memory_id = m.id
WHERE m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term') AND m.made_by IS NULL
  AND m.general_of IS NULL AND m.characters <= %(characters)s
ORDER BY m.created DESC, m.id
LIMIT %(limit)s

-- :name conflict_copy
-- Memories that say otherwise than older ones.
COPY conflict ($columns(conflict)) FROM STDIN (FORMAT BINARY)

-- :name link_copy
-- What publishers say that memories are linked with.
COPY link ($columns(link)) FROM STDIN (FORMAT BINARY)

-- :name names_erased
-- Takes out of the links of memories, some or a namespace's, the names of subjects that an order erased after they occurred.
UPDATE content c
SET named = nullif(ARRAY(
    SELECT n.told
    FROM unnest(c.named) WITH ORDINALITY AS n (told, place)
    WHERE NOT EXISTS (
        SELECT FROM erasure e
        WHERE e.namespace = c.namespace AND e.selector = 'subject' AND e.accepted_at >= m.created
          AND e.value = substr(n.told, strpos(n.told, ' ') + 1))
    ORDER BY n.place
), '{}')
FROM memory m
WHERE m.id = c.memory_id AND c.named IS NOT NULL
  AND (c.memory_id = ANY(%(ids)s::uuid[]) OR c.namespace = ANY(%(namespaces)s::text[]))
  AND EXISTS (
    SELECT FROM erasure e
    JOIN unnest(c.named) AS n (told) ON e.value = substr(n.told, strpos(n.told, ' ') + 1)
    WHERE e.namespace = c.namespace AND e.selector = 'subject' AND e.accepted_at >= m.created)

-- :name beside
-- What reads ask of memories that they found, in one snapshot: where each was said last, its vector by an encoder, and
-- of all of them `supports` and `conflicts`; of a namespace the lists of its profiles.
WITH named AS MATERIALIZED (SELECT DISTINCT id FROM unnest(%(ids)s::uuid[]) AS id)
SELECT m.id::text, halfvec_send(e.vector), $beside(named)
FROM named n
JOIN memory m ON m.id = n.id
LEFT JOIN embedding e ON e.memory_id = m.id AND e.encoder = %(encoder)s

-- :name supports
-- Of memories that were found, which are summaries of which; what was merged into one it tells too. Not whether they are
-- alive: one of them may have been found just before the other came in its place.
$supports(%(ids)s::uuid[])

-- :name conflicts
-- Pairs of memories that contradict each other, of some memories: the newer one first; whether one agent or source said
-- both (of a summary, one that said what it was made of); when, in which tiers; whether the newer one says it on
-- purpose; which of the older one's statements it denies, and whether a model found that; who said the newer one;
-- whether the older one is a summary; and what both say. The older one is alive, and the newer one is or was forgotten.
-- A pair is left out of which a model found nothing overtaken, and that nobody contradicts on purpose; and one whose
-- newer memory was itself overtaken by one that says again what the older one says.
$conflicts(%(ids)s::uuid[])

-- :name entries
-- Where the last sayings of memories stand in the accepted stream: of two of one moment it tells the later one.
SELECT m.id::text, m.said_offset FROM memory m WHERE m.id = ANY(%(ids)s::uuid[])

-- :name vectors
-- The vectors of memories by one encoder, where they have one.
SELECT e.memory_id::text, halfvec_send(e.vector)
FROM embedding e
WHERE e.memory_id = ANY(%(ids)s::uuid[]) AND e.encoder = %(encoder)s

-- :name erased_copy
-- Episodes whose keys an order destroyed, and those that came after it.
COPY erased (memory_id, shard, seq, namespace, was, summary) FROM STDIN (FORMAT BINARY)

-- :name living_upsert
-- How many more memories of a namespace are alive, or fewer.
INSERT INTO living (shard, namespace, alive) VALUES (%(shard)s, %(namespace)s, %(alive)s)
ON CONFLICT (namespace) DO UPDATE SET alive = living.alive + excluded.alive

-- :name living_counted
-- How many memories of namespaces are alive, as far as they ever had any.
SELECT namespace, alive FROM living WHERE namespace = ANY(%(namespaces)s)

-- :name living_total
-- How many memories are alive in all, and in how many namespaces.
SELECT coalesce(sum(alive), 0)::bigint, count(*) FILTER (WHERE alive > 0) FROM living

-- :name applied
-- Up to where every shard has applied a topic.
SELECT shard, next_offset FROM cursor WHERE topic = %(topic)s

-- :name let_go_copy
-- What decisions took of namespaces.
COPY let_go (shard, namespace, epoch, as_of, forgotten, held_back) FROM STDIN (FORMAT BINARY)

-- :name disclosure_copy
-- What may be sent to whom.
COPY disclosure (shard, seq, namespace, memory_id, recipient, sent_at) FROM STDIN (FORMAT BINARY)

-- :name profile_copy
-- Profiles of subjects, as they were ordered.
COPY profile (shard, seq, namespace, subject, order_id, stores, private_until, retention, consents, listed, accepted_at)
FROM STDIN (FORMAT BINARY)

-- :name profile_stands
-- A profile is in force, in the place of the one before.
INSERT INTO profile_now AS p (namespace, subject, shard, seq, order_id, stores, private_until, retention, consents, entries, accepted_at)
VALUES (%(namespace)s, %(subject)s, %(shard)s, %(seq)s, %(order_id)s::uuid, %(stores)s, %(private_until)s, %(retention)s,
    %(consents)s, %(entries)s, %(accepted_at)s)
ON CONFLICT (namespace, subject) DO UPDATE SET (shard, seq, order_id, stores, private_until, retention, consents, entries, accepted_at)
    = (excluded.shard, excluded.seq, excluded.order_id, excluded.stores, excluded.private_until, excluded.retention,
        excluded.consents, excluded.entries, excluded.accepted_at)
WHERE p.seq < excluded.seq

-- :name profile_erased
-- An erasure of the subject, or of the namespace, takes what its profile had listed before.
UPDATE profile_now SET entries = '{}'
WHERE namespace = %(namespace)s AND (%(subject)s::text IS NULL OR subject = %(subject)s) AND seq < %(seq)s AND entries <> '{}'

-- :name profiles_version
-- A number that changes whenever a profile does.
SELECT count(*), coalesce(sum(seq), 0)::bigint, coalesce(sum(cardinality(entries)), 0)::bigint FROM profile_now

-- :name profiles_keeping_out
-- What subjects keep out: which, whether anything of them is stored, until when they are in private mode, what is never kept.
SELECT namespace, subject, stores, private_until, entries FROM profile_now
WHERE NOT stores OR private_until IS NOT NULL OR entries <> '{}'

-- :name profile_lists
-- What the subjects of a namespace want never kept.
SELECT subject, entries FROM profile_now WHERE namespace = %(namespace)s AND entries <> '{}'

-- :name profile_due
-- Memories that are older than the profile of their subject lets them be.
SELECT namespace, memory_id::text FROM profile_due(%(shard)s, %(at)s, %(most)s)

-- :name profile_shown
-- The profile of a subject that is in force.
SELECT order_id::text, stores, private_until, retention, consents, entries, accepted_at, shard, seq FROM profile_now
WHERE namespace = %(namespace)s AND subject = %(subject)s

-- :name session_answered
-- Those of a namespace's events that have an outcome.
SELECT event_id FROM event WHERE namespace = %(namespace)s AND event_id = ANY(%(ids)s)

-- :name session_disclosed
-- Of those memories the ones that are alive in short-term memory and may be sent to the recipient.
SELECT DISTINCT d.memory_id::text
FROM disclosure d
JOIN strength s ON s.memory_id = d.memory_id AND s.tier = 'short-term'
WHERE d.memory_id = ANY(%(ids)s::uuid[]) AND d.recipient = %(recipient)s

-- :name compare_own
-- A memory that an agent said and that is alive, as a model is asked about it.
SELECT m.namespace, m.id::text, c.body, m.agent, m.subject, m.said, m.slot, m.label, m.sensitivity_ppm, m.purposes,
    m.jurisdictions
FROM memory m
JOIN content c ON c.memory_id = m.id
JOIN embedding e ON e.memory_id = m.id
WHERE m.id = %(id)s::uuid AND m.shard = %(shard)s AND m.tier IN ('short-term', 'long-term') AND m.made_by IS NULL
  AND m.general_of IS NULL

-- :name compare_near
-- What agents said in its namespace before it, is alive, and lies near it by the same encoder, the nearest first.
SELECT m.id::text, c.body, m.agent, m.subject, m.said, m.slot, m.label, m.sensitivity_ppm, m.purposes, m.jurisdictions
FROM memory own
JOIN embedding v ON v.memory_id = own.id
JOIN embedding e ON e.namespace = v.namespace AND e.encoder = v.encoder AND e.memory_id <> v.memory_id
JOIN memory m ON m.id = e.memory_id
JOIN content c ON c.memory_id = m.id
WHERE own.id = %(id)s::uuid AND own.shard = %(shard)s AND m.tier IN ('short-term', 'long-term') AND m.made_by IS NULL
  AND m.general_of IS NULL AND (m.said, m.said_offset) < (own.said, own.said_offset)
  AND e.vector <=> v.vector <= 1 - %(least)s::float8
ORDER BY e.vector <=> v.vector, m.id
LIMIT %(limit)s

-- :name compare_answered
-- Those of the digests of orders, and of what they say, that a shard has answered.
SELECT digest FROM answered WHERE shard = %(shard)s AND digest = ANY(%(digests)s::bytea[])

-- :name compare_disclosed
-- Of those memories the ones that are alive and may be sent to the recipient.
SELECT DISTINCT d.memory_id::text
FROM disclosure d
JOIN strength s ON s.memory_id = d.memory_id
WHERE d.memory_id = ANY(%(ids)s::uuid[]) AND d.recipient = %(recipient)s

-- :name explain_disclosed
-- To whom the text of a memory was sent, and when first.
SELECT recipient, min(sent_at) FROM disclosure WHERE memory_id = %(id)s::uuid GROUP BY recipient ORDER BY 2, 1

-- :name explain_sources_disclosed
-- Of what a summary was made of, to whom its text was sent, and when first.
SELECT d.memory_id::text, d.recipient, min(d.sent_at)
FROM memory m
JOIN provenance p ON p.namespace = m.namespace AND p.child = m.id AND NOT p.merged
JOIN disclosure d ON d.memory_id = p.parent
WHERE m.id = %(id)s::uuid AND m.made_by IS NOT NULL
GROUP BY d.memory_id, d.recipient
ORDER BY d.memory_id, 3, 2

-- :name reward_copy
-- What agents were given.
COPY reward (shard, seq, namespace, agent, memory_id, kind, amount_ppm, as_of) FROM STDIN (FORMAT BINARY)

-- :name spent_copy
-- What draws have cost.
COPY spent (shard, seq, namespace, memory_id, spent_ppm) FROM STDIN (FORMAT BINARY)

-- :name rewarded
-- What some entries of a shard's journal gave.
SELECT shard, seq, namespace, agent, memory_id::text, kind, amount_ppm, as_of
FROM reward
WHERE shard = %(shard)s AND seq = ANY(%(seqs)s)
ORDER BY seq, memory_id, kind COLLATE "C"

-- :name rewards
-- What the agents of a namespace were given in all, or one of them.
SELECT agent, kind, count(*), sum(amount_ppm)::bigint
FROM reward
WHERE namespace = %(namespace)s AND (%(agent)s::text IS NULL OR agent = %(agent)s)
GROUP BY agent, kind
ORDER BY agent COLLATE "C", kind COLLATE "C"
LIMIT %(limit)s

-- :name losses
-- Where namespaces stand: how many memories are alive, and what was forgotten after a time, oldest first.
SELECT w.namespace, coalesce(l.alive, 0), coalesce(g.times, '{}'), coalesce(g.counts, '{}')
FROM unnest(%(namespaces)s::text[], %(since)s::bigint[]) AS w (namespace, since)
LEFT JOIN living l USING (namespace)
LEFT JOIN LATERAL (
    SELECT array_agg(as_of ORDER BY epoch) AS times, array_agg(forgotten ORDER BY epoch) AS counts
    FROM let_go
    WHERE let_go.namespace = w.namespace AND let_go.as_of > w.since AND let_go.forgotten > 0
) g ON true

-- :name protection_copy
-- Orders to protect that stand from here on.
COPY protection (memory_id, kind, shard, seq, namespace, order_id, signer, ordered_by, reference, accepted_at)
    FROM STDIN (FORMAT BINARY)

-- :name protection_update
-- Those whose place another has taken.
UPDATE protection p
SET shard = n.shard, seq = n.seq, namespace = n.namespace, order_id = n.order_id, signer = n.signer,
    ordered_by = n.ordered_by, reference = n.reference, accepted_at = n.accepted_at
FROM json_to_recordset(%(rows)s) AS n (
    memory_id uuid, kind text, shard integer, seq bigint, namespace text, order_id uuid, signer text, ordered_by text,
    reference text, accepted_at bigint)
WHERE p.memory_id = n.memory_id AND p.kind = n.kind

-- :name protection_delete
-- Those that stand no more.
DELETE FROM protection p
USING json_to_recordset(%(rows)s) AS n (memory_id uuid, kind text)
WHERE p.memory_id = n.memory_id AND p.kind = n.kind

-- :name needed
-- The memories that a goal needs, each with the order that says so.
SELECT memory_id::text, order_id::text
FROM protection
WHERE namespace = %(namespace)s AND kind = %(kind)s
ORDER BY memory_id

-- :name required
-- Memories, and those that are alive and that they require, over any number of steps, in no order.
WITH RECURSIVE required (id) AS (
    SELECT unnest(%(ids)s::uuid[])
    UNION
    SELECT m.id
    FROM required r
    JOIN link l ON l.namespace = %(namespace)s AND l.memory = r.id AND l.kind = 'requires'
    JOIN memory m ON m.id = l.target AND m.tier IN ('short-term', 'long-term')
)
SELECT id::text FROM required LIMIT %(limit)s

-- :name protections
-- The orders that protect memories.
SELECT memory_id::text, kind, shard, seq, namespace, order_id::text, signer, ordered_by, reference, accepted_at
FROM protection
WHERE memory_id = ANY(%(ids)s::uuid[])
ORDER BY memory_id, kind

-- :name guarded
-- How much is protected in namespaces: pins, and what goals need.
SELECT namespace, count(*) FILTER (WHERE kind = 'pin'), count(*) FILTER (WHERE kind ^@ 'goal:')
FROM protection
WHERE namespace = ANY(%(namespaces)s)
GROUP BY namespace

-- :name goals_due
-- Of each shard a goal that was last said to need anything so long ago or longer, with its first memories.
SELECT DISTINCT ON (s.shard) s.shard, p.namespace, p.kind, max(p.accepted_at),
    (array_agg(p.memory_id::text ORDER BY p.memory_id))[1:%(most)s]
FROM unnest(%(shards)s::integer[], %(after)s::bigint[]) AS w (shard, after_ms)
JOIN shard s ON s.shard = w.shard
JOIN protection p ON p.shard = s.shard AND p.kind ^@ 'goal:'
GROUP BY s.shard, w.after_ms, p.namespace, p.kind
HAVING max(p.accepted_at) <= s.as_of - w.after_ms
ORDER BY s.shard, p.namespace COLLATE "C", p.kind COLLATE "C"

-- :name answered_copy
-- Orders that were answered: each applies once.
COPY answered (shard, digest, seq, namespace, effect) FROM STDIN (FORMAT BINARY)

-- :name answered
-- Of orders, those that were answered.
SELECT shard, digest FROM answered
WHERE (shard, digest) IN (SELECT * FROM unnest(%(shards)s::integer[], %(digests)s::bytea[]))

-- :name withheld
-- Orders to erase that were not carried out, because something that they name was held.
SELECT j.entry
FROM answered a
JOIN journal j ON j.shard = a.shard AND j.seq = a.seq
WHERE a.effect = 'withheld'
ORDER BY a.namespace, a.shard, a.seq

-- :name held
-- What is held.
SELECT memory_id::text FROM protection WHERE kind = 'hold'

-- :name erasure_upsert
-- An order that was carried out. Its entries may come in two batches of a rebuild: their counts add up.
INSERT INTO erasure (shard, namespace, order_id, selector, value, signer, ordered_by, reference, ordered_at, ordered,
    accepted_at, accepted_offset, first_seq, last_seq, memories, episodes, residue_until, summaries, anew, epoch, head)
VALUES (%(shard)s, %(namespace)s, %(order_id)s, %(selector)s, %(value)s, %(signer)s, %(ordered_by)s, %(reference)s,
    %(ordered_at)s, %(ordered)s, %(accepted_at)s, %(accepted_offset)s, %(first_seq)s, %(last_seq)s, %(memories)s,
    %(episodes)s, %(residue_until)s, %(summaries)s, %(anew)s, %(epoch)s, %(head)s)
ON CONFLICT (shard, first_seq) DO UPDATE
SET memories = erasure.memories + excluded.memories, episodes = erasure.episodes + excluded.episodes,
    summaries = erasure.summaries + excluded.summaries, anew = erasure.anew + excluded.anew

-- :name erasure_attested
-- The members have decided that the order was genuine, and where it stands.
UPDATE erasure SET epoch = %(epoch)s WHERE shard = %(shard)s AND order_id = %(order_id)s::uuid

-- :name erasures_headless
-- Erasures without a signed head, as a rebuild leaves them, each with the place where its entries end.
SELECT j.seq, j.hash, j.as_of
FROM erasure e JOIN journal j ON j.shard = e.shard AND j.seq = e.last_seq
WHERE e.shard = %(shard)s AND e.head IS NULL
ORDER BY j.seq

-- :name erasure_signed
-- The journal's service has signed the place where the entries of an erasure end.
UPDATE erasure SET head = %(head)s WHERE shard = %(shard)s AND last_seq = %(seq)s AND head IS NULL

-- :name erasures_unattested
-- Orders that the members have not attested yet, each with the epochs in which they did not.
SELECT e.ordered, e.accepted_at, e.accepted_offset,
    ARRAY(SELECT o.epoch FROM outcome o
          WHERE o.memory_id = e.order_id AND o.shard = e.shard AND o.kind = 'erase' AND o.outcome = 'kept'
          ORDER BY o.epoch)
FROM erasure e
WHERE e.shard = %(shard)s AND e.epoch IS NULL
ORDER BY e.first_seq

-- :name tombstones
-- The orders that were carried out: what comes late and is named stays out.
SELECT shard, namespace, order_id::text, selector, value, accepted_at FROM erasure ORDER BY shard, first_seq

-- :name erased
-- Those of the memories that were erased, or kept out.
SELECT namespace, memory_id::text FROM erased WHERE memory_id = ANY(%(ids)s::uuid[])

-- :name erasure_naming
-- What of a namespace stays and has one of these names anywhere in its text or labels, or in the texts of a task; whether
-- as a word of its own, the caller looks. Oldest first.
SELECT m.id::text, m.agent, m.created, t.told
FROM (
    SELECT memory_id, concat_ws(E'\n', body, key, path, attributes::text, named::text) AS told
    FROM content WHERE namespace = %(namespace)s
    UNION ALL
    SELECT memory_id, concat_ws(E'\n', body, key, path, attributes::text) FROM replaced WHERE namespace = %(namespace)s
    UNION ALL
    SELECT memory_id, body FROM experience WHERE namespace = %(namespace)s
) t
JOIN memory m ON m.id = t.memory_id
WHERE NOT m.id = ANY(%(ids)s::uuid[]) AND EXISTS (
    SELECT FROM unnest(%(names)s::text[]) AS n (name)
    WHERE strpos(lower(t.told COLLATE "default"), lower(n.name COLLATE "default")) > 0
)
ORDER BY m.created, m.id
LIMIT %(most)s

-- :name erasure_roots
-- The events of episodes that say a name, or are of some types and occurred before a time; of all of the namespace where
-- nothing is given. Those that were kept out have no key, and accesses have no agent here. A summary goes with what it was
-- made of, and not by an age of its own.
SELECT event_id
FROM event
WHERE namespace = %(namespace)s AND agent IS NOT NULL AND outcome <> 'erased'
  AND (%(agent)s::text IS NULL OR agent = %(agent)s) AND (%(subject)s::text IS NULL OR subject = %(subject)s)
  AND (%(source)s::text IS NULL OR source = %(source)s)
  AND (%(before)s::bigint IS NULL OR (
      occurred < %(before)s AND type = ANY(%(types)s::text[]) AND agent <> %(summaries)s::text))

-- :name erasure_spared
-- What is held in a namespace, and all that it was made of: an order by age leaves it.
WITH RECURSIVE spared (id) AS (
    SELECT memory_id FROM protection WHERE kind = 'hold' AND namespace = %(namespace)s
    UNION
    SELECT p.parent
    FROM spared s JOIN provenance p ON p.child = s.id AND p.namespace = %(namespace)s AND p.follows
)
SELECT id::text FROM spared

-- :name retention_times
-- The times of shards.
SELECT shard, as_of FROM shard WHERE shard = ANY(%(shards)s::integer[])

-- :name retention_namespaces
-- All namespaces that ever held a memory.
SELECT namespace FROM living ORDER BY namespace COLLATE "C"

-- :name retention_old
-- Of namespaces of a shard and types each what occurred before a time and is there still, or something is that was made of
-- it, but for what is held and what that was made of: how many, of what is there at most so many, and when the oldest
-- occurred.
WITH RECURSIVE spared (id, namespace) AS (
    SELECT memory_id, namespace FROM protection WHERE kind = 'hold' AND shard = %(shard)s
    UNION
    SELECT p.parent, s.namespace
    FROM spared s JOIN provenance p ON p.child = s.id AND p.namespace = s.namespace AND p.follows
), made_of (id, namespace) AS (
    SELECT p.parent, p.namespace
    FROM provenance p JOIN memory m ON m.id = p.child AND m.tier <> 'gone'
    WHERE p.shard = %(shard)s AND p.follows
    UNION
    SELECT p.parent, t.namespace
    FROM made_of t JOIN provenance p ON p.child = t.id AND p.namespace = t.namespace AND p.follows
), asked (namespace, type, before) AS (
    SELECT * FROM unnest(%(namespaces)s::text[], %(types)s::text[], %(befores)s::bigint[])
), old (namespace, type, created) AS (
    SELECT a.namespace, a.type, o.created
    FROM asked a
    CROSS JOIN LATERAL (
        SELECT m.created
        FROM memory m
        WHERE m.namespace = a.namespace AND m.type = a.type AND m.created < a.before AND m.tier <> 'gone'
          AND m.made_by IS NULL AND m.general_of IS NULL AND NOT EXISTS (SELECT FROM spared s WHERE s.id = m.id)
        ORDER BY m.created
        LIMIT %(most)s
    ) o
    UNION ALL
    SELECT a.namespace, a.type, m.created
    FROM made_of t
    JOIN memory m ON m.id = t.id AND m.namespace = t.namespace AND m.tier = 'gone' AND m.made_by IS NULL AND m.general_of IS NULL
        AND m.created < (SELECT max(before) FROM asked)
    JOIN asked a ON a.namespace = m.namespace AND a.type = m.type AND m.created < a.before
    WHERE NOT EXISTS (SELECT FROM spared s WHERE s.id = m.id) AND NOT EXISTS (SELECT FROM erased x WHERE x.memory_id = m.id)
)
SELECT namespace, type, count(*), min(created)
FROM old
GROUP BY namespace, type
ORDER BY namespace COLLATE "C", type

-- :name erasure_held_back
-- Of what is spared, the memories that an order by age would take else.
SELECT m.id::text, m.agent, m.created,
    CASE WHEN EXISTS (SELECT FROM protection p WHERE p.memory_id = m.id AND p.kind = 'hold')
         THEN 'it is held' ELSE 'what was made of it is held' END
FROM memory m
WHERE m.id = ANY(%(ids)s::uuid[]) AND m.namespace = %(namespace)s AND m.tier <> 'gone'
  AND m.created < %(before)s AND m.type = ANY(%(types)s::text[]) AND m.made_by IS NULL AND m.general_of IS NULL
ORDER BY m.id

-- :name erasure_family
-- Those ids and all that goes where they go in the namespace: what was made of them, and their echoes. A path may be a
-- ring.
WITH RECURSIVE family (id, because) AS (
    SELECT root.id, NULL::uuid FROM unnest(%(ids)s::uuid[]) AS root (id)
    UNION
    SELECT p.child, p.parent
    FROM family f JOIN provenance p ON p.namespace = %(namespace)s AND p.parent = f.id AND p.follows
)
SELECT DISTINCT ON (id) id::text, because::text FROM family ORDER BY id, because NULLS FIRST

-- :name erasure_alike
-- The repetitions that connect what says the same as those ids, over any number of steps in either direction: who said
-- which memory again, and whether that was erased.
WITH RECURSIVE alike (id) AS (
    SELECT t.id FROM unnest(%(ids)s::uuid[]) AS t (id)
    UNION
    SELECT n.id
    FROM alike a
    CROSS JOIN LATERAL (
        SELECT p.child FROM provenance p WHERE p.namespace = %(namespace)s AND p.parent = a.id AND p.echo
        UNION ALL
        SELECT p.parent FROM provenance p WHERE p.child = a.id AND p.namespace = %(namespace)s AND p.echo
    ) n (id)
)
SELECT p.child::text, p.parent::text, p.agent, EXISTS (SELECT FROM erased x WHERE x.memory_id = p.child)
FROM alike a
JOIN provenance p ON p.namespace = %(namespace)s AND p.parent = a.id AND p.echo

-- :name erasure_summaries
-- Of those ids the summaries that are there, with all that they were made of and that no order has erased: each by its
-- row as far as it tells whether the summary is made anew; and the time of their shard.
SELECT s.id::text, p.parent::text, m.id::text, m.tier, m.sealed_until, m.made_by, m.renews::text, m.told_by::text, h.as_of
FROM memory s
JOIN shard h ON h.shard = s.shard
LEFT JOIN provenance p ON p.namespace = s.namespace AND p.child = s.id AND NOT p.merged
JOIN memory m ON m.id IN (s.id, p.parent)
WHERE s.id = ANY(%(ids)s::uuid[]) AND s.namespace = %(namespace)s AND s.made_by IS NOT NULL AND s.tier <> 'gone'
  AND NOT EXISTS (SELECT FROM erased x WHERE x.memory_id = m.id)

-- :name erasure_recipients
-- To whom the text of memories was sent, in the order of their names.
SELECT memory_id::text, array_agg(DISTINCT recipient COLLATE "C" ORDER BY recipient COLLATE "C")
FROM disclosure
WHERE memory_id = ANY(%(ids)s::uuid[]) AND namespace = %(namespace)s
GROUP BY memory_id

-- :name erasure_said
-- What memories are about, whose and from where, gone or not.
SELECT id::text, agent, subject, source, tier, created
FROM memory
WHERE id = ANY(%(ids)s::uuid[]) AND namespace = %(namespace)s

-- :name erasure_found
-- Of those ids what there are keys of still: memories that are not gone, episodes that were dropped, echoes of memories
-- that are not gone.
SELECT f.id::text,
    CASE WHEN m.id IS NOT NULL THEN m.tier WHEN d.memory_id IS NOT NULL THEN 'dropped' ELSE 'reinforced' END,
    m.commitment, m.agent, m.created
FROM unnest(%(ids)s::uuid[]) AS f (id)
LEFT JOIN memory m ON m.id = f.id
LEFT JOIN dropped d ON d.memory_id = f.id AND d.namespace = %(namespace)s
LEFT JOIN LATERAL (
    SELECT e.child
    FROM provenance e
    JOIN memory t ON t.id = e.parent AND t.tier <> 'gone'
    WHERE e.child = f.id AND e.echo AND e.namespace = %(namespace)s
      AND NOT EXISTS (SELECT FROM erased x WHERE x.memory_id = e.child)
    LIMIT 1
) echo ON m.id IS NULL
WHERE (m.tier <> 'gone' AND m.namespace = %(namespace)s) OR d.memory_id IS NOT NULL OR echo.child IS NOT NULL
ORDER BY f.id

-- :name report_places
-- Of those ids what there is or was in a namespace, each with when it was first said, how it stands now, and whether it was
-- made of another memory: memories, gone ones too, and episodes that became none, with the outcome of their event.
-- `whole`: the memory whose limits of use count for it.
SELECT f.id::text, coalesce(m.created, e.occurred, t.created, 0),
    CASE WHEN x.memory_id IS NOT NULL THEN 'erased'
         WHEN m.id IS NOT NULL THEN m.tier
         ELSE coalesce(e.outcome, CASE WHEN t.id IS NULL THEN 'dropped' ELSE 'reinforced' END) END,
    EXISTS (SELECT FROM provenance p
            WHERE p.namespace = %(namespace)s AND p.child = f.id AND p.follows AND NOT p.echo),
    coalesce(m.id, t.id)::text
FROM unnest(%(ids)s::uuid[], %(events)s::text[]) AS f (id, event_id)
LEFT JOIN memory m ON m.id = f.id AND m.namespace = %(namespace)s
LEFT JOIN event e ON e.namespace = %(namespace)s AND e.event_id = f.event_id
LEFT JOIN erased x ON x.memory_id = f.id AND x.namespace = %(namespace)s
LEFT JOIN dropped d ON d.memory_id = f.id AND d.namespace = %(namespace)s
LEFT JOIN LATERAL (
    SELECT o.id, o.created
    FROM provenance p
    JOIN memory o ON o.id = p.parent AND o.namespace = %(namespace)s
    WHERE p.namespace = %(namespace)s AND p.child = f.id AND p.echo
    ORDER BY p.seq DESC
    LIMIT 1
) t ON m.id IS NULL
WHERE m.id IS NOT NULL OR e.event_id IS NOT NULL OR x.memory_id IS NOT NULL OR d.memory_id IS NOT NULL OR t.id IS NOT NULL

-- :name report_events
-- The origins of events: whose they are, about whom, and from where.
SELECT event_id, agent, subject, source, session, type
FROM event
WHERE namespace = %(namespace)s AND event_id = ANY(%(events)s::text[])

-- :name report_replaced
-- The texts of memories that others took the place of.
SELECT memory_id::text, body FROM replaced WHERE memory_id = ANY(%(ids)s::uuid[]) AND namespace = %(namespace)s

-- :name report_into
-- What was made of memories and goes where they go, each with how it stands: summaries, tasks that were given them, and others.
SELECT p.parent::text, m.id::text, CASE WHEN x.memory_id IS NULL THEN m.tier ELSE 'erased' END
FROM provenance p
JOIN memory m ON m.id = p.child AND m.namespace = %(namespace)s
LEFT JOIN erased x ON x.memory_id = m.id
WHERE p.namespace = %(namespace)s AND p.parent = ANY(%(ids)s::uuid[]) AND p.follows AND NOT p.echo
ORDER BY m.created, m.id

-- :name report_orders
-- The latest orders to erase that were carried out and name what a report is about.
SELECT order_id::text
FROM erasure
WHERE namespace = %(namespace)s AND selector = %(selector)s AND value = ANY(%(values)s::text[])
ORDER BY first_seq DESC
LIMIT %(most)s

-- :name report_end
-- The last entry of a shard's journal.
SELECT seq FROM shard WHERE shard = %(shard)s

-- :name memory_update
-- Changes of tier, of the encoder or of what it may be used for, uses that ask for what is sealed, and when it was said last: all
-- of a batch at once.
UPDATE memory m
SET tier = n.tier, encoder = n.encoder, confidence_ppm = n.confidence_ppm, changed = n.changed,
    sealed_until = n.sealed_until, seq = n.seq, asks_after = n.asks_after, told_by = n.told_by, said = n.said,
    said_offset = n.said_offset, sensitivity_ppm = n.sensitivity_ppm, purposes = n.purposes, jurisdictions = n.jurisdictions
FROM json_to_recordset(%(rows)s) AS n (
    id uuid, tier text, encoder text, confidence_ppm integer, changed bigint, sealed_until bigint, seq bigint,
    asks_after bigint, told_by uuid, said bigint, said_offset bigint, sensitivity_ppm integer, purposes text,
    jurisdictions text)
WHERE m.id = n.id

-- :name strength_update
-- Accesses, reinforcements, promotions, votes that kept: all of a batch at once.
UPDATE strength s
SET tier = n.tier, salience_ppm = n.salience_ppm, last_access = n.last_access, touched = n.touched,
    accesses = n.accesses, reinforced = n.reinforced, kept = n.kept, rest = n.rest, replays = n.replays,
    doubts = n.doubts, rehearsed = n.rehearsed, fades = n.fades
FROM json_to_recordset(%(rows)s) AS n (
    memory_id uuid, tier text, salience_ppm integer, last_access bigint, touched bigint,
    accesses integer, reinforced integer, kept jsonb, rest jsonb, replays integer, doubts integer, rehearsed bigint,
    fades boolean)
WHERE s.memory_id = n.memory_id

-- :name content_delete
-- Sealed memories have no content in the store.
DELETE FROM content WHERE memory_id = ANY(%(ids)s::uuid[])

-- :name embedding_delete
-- Nor a vector.
DELETE FROM embedding WHERE memory_id = ANY(%(ids)s::uuid[])

-- :name sentence_delete
-- Vectors of the sentences of summaries, and of the passages of long texts, that are forgotten or encoded anew.
DELETE FROM sentence WHERE memory_id = ANY(%(ids)s::uuid[])

-- :name replaced_insert
-- What memories said that others took the place of, for reads of the past alone; before it leaves `content`.
INSERT INTO replaced (memory_id, namespace, newer, body, key, path, attributes, encoder, vector, passages)
SELECT c.memory_id, c.namespace, w.newer, c.body, c.key, c.path, c.attributes, e.encoder, e.vector,
    (SELECT array_agg(s.vector ORDER BY s.place) FROM sentence s WHERE s.memory_id = c.memory_id)
FROM unnest(%(ids)s::uuid[], %(newer)s::uuid[]) AS w (id, newer)
JOIN content c ON c.memory_id = w.id
JOIN embedding e ON e.memory_id = w.id

-- :name replaced_delete
-- What came back, or is gone.
DELETE FROM replaced WHERE memory_id = ANY(%(ids)s::uuid[])

-- :name replaced_emptied
-- What filled slots before a write of nothing emptied them: of its agent, or of all.
DELETE FROM replaced r
USING memory m, unnest(%(namespaces)s::text[], %(slots)s::text[], %(agents)s::text[], %(seqs)s::bigint[])
    AS w (namespace, slot, agent, seq)
WHERE m.id = r.memory_id AND m.namespace = w.namespace AND m.slot = w.slot AND m.seq <= w.seq
  AND (w.agent IS NULL OR m.agent = w.agent)

-- :name texts_held
-- The memories whose text is here, in service or for reads of the past; of some, or of all.
SELECT c.memory_id::text FROM content c WHERE %(ids)s::uuid[] IS NULL OR c.memory_id = ANY(%(ids)s::uuid[])
UNION
SELECT r.memory_id::text FROM replaced r WHERE %(ids)s::uuid[] IS NULL OR r.memory_id = ANY(%(ids)s::uuid[])

-- :name experience_delete
-- Finished tasks that were erased.
DELETE FROM experience WHERE memory_id = ANY(%(ids)s::uuid[])

-- :name strength_delete
-- Nor strength: it is alive that has one.
DELETE FROM strength s
USING json_to_recordset(%(rows)s) AS n (memory_id uuid)
WHERE s.memory_id = n.memory_id

-- :name journal_notify
-- Wakes whoever waits for the journal: '<shard>:<seq>'.
SELECT pg_notify('journal', %(payload)s)

-- :name journal_after
-- Journal entries after a sequence, in order: what the topic may still lack.
SELECT seq, event_id, as_of, entry, previous_hash, hash
FROM journal
WHERE shard = %(shard)s AND seq > %(after)s
ORDER BY seq
LIMIT %(limit)s

-- :name journal_about
-- What the journal says of memories' births, uses, rehearsals and encodings: all that a sealed one needs to come back.
SELECT memory_id::text, entry
FROM (
    SELECT memory_id, seq, entry
    FROM journal
    WHERE memory_id = ANY(%(ids)s::uuid[]) AND effect IN ('stored', 'drafted', 'reinforced', 'reencoded', 'rehearsed')
    UNION ALL
    SELECT u.memory_id, j.seq, j.entry
    FROM used u
    JOIN journal j ON j.shard = u.shard AND j.seq = u.seq
    WHERE u.memory_id = ANY(%(ids)s::uuid[])
) told
ORDER BY memory_id, seq

-- :name family_made
-- What was made of a memory, directly or not, with the memory itself: one more than the most, where there are so many.
WITH RECURSIVE made (id) AS (
    SELECT m.id FROM memory m WHERE m.id = %(id)s::uuid AND m.namespace = %(namespace)s
    UNION
    SELECT p.child FROM made o JOIN provenance p ON p.namespace = %(namespace)s AND p.parent = o.id AND p.follows
    JOIN memory m ON m.id = p.child AND m.namespace = %(namespace)s
)
SELECT id::text FROM made LIMIT %(most)s

-- :name family_sources
-- The memories that each of these was made of, in its namespace.
SELECT p.child::text, p.parent::text
FROM provenance p JOIN memory m ON m.id = p.parent AND m.namespace = %(namespace)s
WHERE p.namespace = %(namespace)s AND p.child = ANY(%(ids)s::uuid[]) AND p.follows
ORDER BY p.child, p.parent

-- :name family_stated
-- The entries by which each of these states what it may be used for, in order: its birth, and orders to reclassify it.
SELECT memory_id::text, entry
FROM journal
WHERE memory_id = ANY(%(ids)s::uuid[]) AND effect IN ('stored', 'drafted', 'finished', 'reclassified')
ORDER BY seq

-- :name restores_open
-- Requests to restore or to forget, and late uses that ask, which stand in the accepted stream before an offset, and on which no epoch
-- up to one has voted: the first of each namespace in their order, then the second of each, and so on. One that cannot be nominated yet waits for days;
-- so a namespace has a bounded part of the answer, and others are told whatever waits in it. That is the same whenever it is
-- asked. Those of before a time are over: so is the grace time of what they name.
SELECT waiting.entry
FROM (
    SELECT j.seq, j.entry, row_number() OVER (PARTITION BY j.namespace, j.effect ORDER BY j.seq) AS place
    FROM journal j
    WHERE j.shard = %(shard)s AND j.effect IN ('requested', 'asked') AND j.as_of >= %(since)s AND j.source_offset < %(before)s
      AND NOT EXISTS (
          SELECT FROM decision d
          WHERE d.shard = j.shard AND d.epoch <= %(through)s AND d.trigger = ANY (
              CASE j.effect
                  WHEN 'asked' THEN ARRAY['restore/access/' || j.source_offset]
                  ELSE ARRAY['restore/' || j.event_id, 'forget/' || j.event_id]
              END))
) waiting
WHERE waiting.place <= %(each)s
ORDER BY waiting.place, waiting.seq
LIMIT %(limit)s

-- :name order_shown
-- What became of an order of any kind: the first entry that answers it, what it erased, and the first decision on it with
-- what became of each memory that the reader sees; one row without a memory where nothing was decided yet. Which effects are
-- not about orders, the index says in the same words: or it would not be used.
SELECT j.entry, e.memories, e.episodes, e.last_seq, e.residue_until, e.epoch, e.summaries, e.anew,
    (SELECT coalesce(array_agg(DISTINCT s.recipient COLLATE "C" ORDER BY s.recipient COLLATE "C"), '{}')
     FROM erased x JOIN disclosure s ON s.memory_id = x.memory_id
     WHERE x.shard = e.shard AND x.seq BETWEEN e.first_seq AND e.last_seq),
    d.epoch, d.journal_seq, o.memory_id::text, o.outcome, o.reason, o.kind
FROM (
    SELECT shard, entry FROM journal
    WHERE event_id = %(id)s AND effect = ANY(%(effects)s::text[]) AND effect NOT IN ('stored', 'drafted', 'finished', 'reinforced', 'dropped', 'cleared', 'repeated', 'contradicted', 'assessed', 'unfounded', 'accessed', 'asked', 'ticked', 'decided',
    'destroyed', 'reencoded', 'rehearsed', 'tried', 'lapsed')
    ORDER BY shard, seq LIMIT 1
) j
LEFT JOIN erasure e ON e.shard = j.shard AND e.order_id = %(id)s::uuid
LEFT JOIN LATERAL (SELECT shard, epoch, journal_seq FROM decision
                   WHERE shard = j.shard AND trigger = ANY(%(triggers)s::text[]) ORDER BY epoch LIMIT 1) d ON true
LEFT JOIN outcome o ON o.shard = d.shard AND o.epoch = d.epoch
ORDER BY o.position

-- :name forget_asked
-- Memories as somebody sees them who wants them forgotten. `kinds`: by tier, the kind of proposal.
SELECT m.id::text, m.tier, s.last_access, coalesce((s.rest ->> (%(kinds)s::jsonb ->> s.tier))::bigint, 0), h.as_of,
    h.last_epoch + 1,
    (SELECT j.entry FROM journal j WHERE j.memory_id = m.id AND j.effect IN ('stored', 'drafted') ORDER BY j.seq DESC LIMIT 1)
FROM memory m
JOIN shard h ON h.shard = m.shard
LEFT JOIN strength s ON s.memory_id = m.id
WHERE m.id = ANY(%(ids)s::uuid[]) AND m.namespace = %(namespace)s

-- :name restore_asked
-- Memories as somebody sees them who wants them back.
SELECT m.id::text, m.tier, m.changed, m.sealed_until, s.as_of, EXISTS (SELECT FROM erased e WHERE e.memory_id = m.id)
FROM memory m
JOIN shard s ON s.shard = m.shard
WHERE m.id = ANY(%(ids)s::uuid[]) AND m.namespace = %(namespace)s

-- :name rollback_asked
-- A memory and its weight in experience as somebody sees them who wants that rolled back.
SELECT m.tier, a.status, a.version, a.weight_ppm,
    ARRAY(SELECT w.version FROM weight w WHERE w.memory_id = m.id ORDER BY w.version)
FROM memory m
LEFT JOIN admission a ON a.memory_id = m.id
WHERE m.id = %(id)s::uuid AND m.namespace = %(namespace)s

-- :name sealed_due
-- Sealed memories whose grace time is over and that nobody holds, longest sealed first. Asked shard by shard, so that the index ends at the
-- shard's time: joined in the other order, it costs what is sealed and not what is due.
SELECT s.shard, m.id::text
FROM shard s
CROSS JOIN LATERAL (
    SELECT id, sealed_until
    FROM memory
    WHERE memory.shard = s.shard AND tier IN ('sealed', 'draft') AND sealed_until <= s.as_of
      AND NOT EXISTS (SELECT FROM protection p WHERE p.memory_id = memory.id AND p.kind = 'hold')
    ORDER BY sealed_until, id
    LIMIT %(limit)s
) m
WHERE s.shard = ANY(%(shards)s)
ORDER BY m.sealed_until, m.id
LIMIT %(limit)s

-- :name dropped_due
-- Dropped episodes whose grace time is over, longest dropped first; asked shard by shard for the same reason.
SELECT s.shard, d.memory_id::text
FROM shard s
CROSS JOIN LATERAL (
    SELECT memory_id, destroy_at
    FROM dropped
    WHERE dropped.shard = s.shard AND destroy_at <= s.as_of
    ORDER BY destroy_at, memory_id
    LIMIT %(limit)s
) d
WHERE s.shard = ANY(%(shards)s)
ORDER BY d.destroy_at, d.memory_id
LIMIT %(limit)s

-- :name repetitions
-- The episodes that repeated memories, after a journal sequence of each, in the order of the memories: their content,
-- nearly the same, lies in the accepted topic under keys of their own.
SELECT e.memory_id::text, e.namespace, e.event_id, e.seq
FROM unnest(%(ids)s::uuid[], %(after)s::bigint[]) WITH ORDINALITY AS wanted (memory_id, after, position)
CROSS JOIN LATERAL (
    SELECT j.memory_id, j.namespace, j.event_id, j.seq
    FROM journal j
    WHERE j.memory_id = wanted.memory_id AND j.seq > wanted.after AND j.effect = 'reinforced'
    ORDER BY j.seq
    LIMIT %(limit)s
) e
ORDER BY wanted.position, e.seq
LIMIT %(limit)s

-- :name schedule_due
-- What nobody has used for so long that it crossed the decay threshold, does not rest and is not protected. Each tier is
-- asked for itself, so an epoch costs what is due, not what is stored, however many of another tier went unused for as
-- long. A task counts as used at its deadline. Namespaces that have no room for it are left out. `unused_since`: by tier;
-- `kinds`: by tier, the kind that it rests for.
SELECT due.memory_id::text, due.namespace, due.last_access, due.tier
FROM jsonb_each_text(%(unused_since)s::jsonb) AS asked (tier, since)
CROSS JOIN LATERAL (
    SELECT s.memory_id, m.namespace, s.last_access, s.tier
    FROM strength s
    JOIN memory m ON m.id = s.memory_id
    WHERE s.shard = %(shard)s AND s.tier = asked.tier AND s.last_access <= asked.since::bigint
      AND (m.deadline IS NULL OR m.deadline <= asked.since::bigint)
      AND NOT m.namespace = ANY(%(without)s::text[])
      AND coalesce((s.rest ->> (%(kinds)s::jsonb ->> s.tier))::bigint, 0)
          <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
      AND NOT EXISTS (SELECT FROM protection p WHERE p.memory_id = s.memory_id)
    ORDER BY s.last_access, s.memory_id
    LIMIT %(limit)s
) due
ORDER BY due.last_access, due.memory_id
LIMIT %(limit)s

-- :name schedule_grades
-- The grades of which a memory is in short-term memory and has a decay score: the index is asked for the next one each
-- time, so this costs what grades there are, not what is stored.
WITH RECURSIVE grade AS (
    (
        SELECT s.salience_ppm / 10000 AS hundredths, s.replays
        FROM strength s
        WHERE s.shard = %(shard)s AND s.tier = 'short-term' AND s.fades
        ORDER BY s.salience_ppm / 10000, s.replays
        LIMIT 1
    )
    UNION ALL
    SELECT following.hundredths, following.replays
    FROM grade
    CROSS JOIN LATERAL (
        SELECT s.salience_ppm / 10000 AS hundredths, s.replays
        FROM strength s
        WHERE s.shard = %(shard)s AND s.tier = 'short-term' AND s.fades
          AND (s.salience_ppm / 10000, s.replays) > (grade.hundredths, grade.replays)
        ORDER BY s.salience_ppm / 10000, s.replays
        LIMIT 1
    ) following
)
SELECT hundredths, replays FROM grade ORDER BY hundredths, replays

-- :name schedule_fading
-- Of grades, what nobody has used for so long, does not rest and is not protected; the lowest decay score first. Each
-- grade is asked for itself, and for so many as are likely to be needed, so it costs what is due. `asked`: see `Fading` of
-- memquorum/ports.py; `each`: the most of a grade.
SELECT due.memory_id::text, due.namespace, due.last_access, due.tier, asked.hundredths, asked.replays,
    -- The logarithm of the score, in millionths and times the milliseconds of an hour.
    asked.head * 3600000 - asked.rate * greatest(%(as_of)s::bigint - due.last_access, 0) AS score
FROM jsonb_to_recordset(%(asked)s::jsonb) AS asked (
    hundredths integer, replays integer, unused_since bigint, head numeric, rate numeric)
CROSS JOIN LATERAL (
    SELECT s.memory_id, m.namespace, s.last_access, s.tier
    FROM strength s
    JOIN memory m ON m.id = s.memory_id
    WHERE s.shard = %(shard)s AND s.tier = 'short-term' AND s.fades AND s.salience_ppm / 10000 = asked.hundredths
      AND s.replays = asked.replays AND s.last_access <= asked.unused_since
      AND (m.deadline IS NULL OR m.deadline <= asked.unused_since)
      AND NOT m.namespace = ANY(%(without)s::text[])
      AND coalesce((s.rest ->> (%(kinds)s::jsonb ->> s.tier))::bigint, 0)
          <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
      AND NOT EXISTS (SELECT FROM protection p WHERE p.memory_id = s.memory_id)
    ORDER BY s.last_access, s.memory_id
    LIMIT %(each)s
) due
ORDER BY score, due.last_access, due.memory_id

-- :name schedule_promotable
-- What is salient and old enough to be put to the vote: first what was read or said again, since nothing is promoted on its
-- own word.
WITH again AS (
    SELECT child AS id FROM provenance WHERE shard = %(shard)s AND echo
    UNION ALL
    SELECT parent FROM provenance WHERE shard = %(shard)s AND echo
)
SELECT s.memory_id::text, m.namespace, s.tier, s.created, s.last_access, s.salience_ppm, m.early, s.replays, s.fades
FROM strength s
JOIN memory m ON m.id = s.memory_id
WHERE s.shard = %(shard)s AND s.tier = 'short-term' AND s.salience_ppm >= %(salience_ppm)s AND m.made_by IS NULL
  AND m.general_of IS NULL
  AND s.created < %(created_before)s
  AND coalesce((s.rest ->> (%(kinds)s::jsonb ->> s.tier))::bigint, 0)
      <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
ORDER BY (s.accesses + s.reinforced > 0 OR s.memory_id IN (SELECT id FROM again)) DESC,
    m.early DESC, s.salience_ppm DESC, s.memory_id
LIMIT %(limit)s

-- :name schedule_doubted
-- What the last rehearsal found not to hold, does not rest and is not protected, the least salient first. `kinds`: by
-- tier, the kind that it rests for.
SELECT s.memory_id::text, m.namespace, s.tier, s.created, s.last_access, s.salience_ppm, m.early, s.replays, s.fades
FROM strength s
JOIN memory m ON m.id = s.memory_id
WHERE s.shard = %(shard)s AND s.doubts > 0
  AND coalesce((s.rest ->> (%(kinds)s::jsonb ->> s.tier))::bigint, 0)
      <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
  AND NOT EXISTS (SELECT FROM protection p WHERE p.memory_id = s.memory_id)
ORDER BY s.salience_ppm, s.memory_id
LIMIT %(limit)s

-- :name schedule_aged
-- Short-term memories that were made before the time of their type, do not rest and are not protected, the oldest first.
-- Each type is asked for itself, so this costs what is too old, not what is stored.
SELECT aged.*
FROM jsonb_each_text(%(before)s::jsonb) AS asked (type, until)
CROSS JOIN LATERAL (
    SELECT s.memory_id::text, m.namespace, s.tier, s.created, s.last_access, s.salience_ppm, m.early, s.replays, s.fades
    FROM memory m
    JOIN strength s ON s.memory_id = m.id
    WHERE m.shard = %(shard)s AND m.tier = 'short-term' AND m.type = asked.type AND m.created < asked.until::bigint
      AND coalesce((s.rest ->> (%(kinds)s::jsonb ->> s.tier))::bigint, 0)
          <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
      AND NOT EXISTS (SELECT FROM protection p WHERE p.memory_id = m.id)
    ORDER BY m.created, m.id
    LIMIT %(limit)s
) aged
ORDER BY aged.created, aged.memory_id
LIMIT %(limit)s

-- :name schedule_unused
-- Short-term memories that nobody has used since the time of their type, by the first rule that fits their namespace; they
-- do not rest and are not protected, longest unused first.
SELECT s.memory_id::text, m.namespace, s.tier, s.created, s.last_access, s.salience_ppm, m.early, s.replays, s.fades
FROM strength s
JOIN memory m ON m.id = s.memory_id
CROSS JOIN LATERAL (
    SELECT r.rule
    FROM jsonb_array_elements(%(rules)s::jsonb) WITH ORDINALITY AS r (rule, place)
    WHERE r.rule -> 'names' ? m.namespace
       OR EXISTS (SELECT FROM jsonb_array_elements_text(r.rule -> 'beginnings') AS b (text) WHERE m.namespace ^@ b.text)
    ORDER BY r.place
    LIMIT 1
) f
WHERE s.shard = %(shard)s AND s.tier = 'short-term' AND greatest(s.last_access, m.deadline) < (f.rule -> 'before' ->> m.type)::bigint
  AND m.type = ANY(ARRAY(
      SELECT DISTINCT jsonb_object_keys(r -> 'before') FROM jsonb_array_elements(%(rules)s::jsonb) AS r))
  AND coalesce((s.rest ->> (%(kinds)s::jsonb ->> s.tier))::bigint, 0)
      <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
  AND NOT EXISTS (SELECT FROM protection p WHERE p.memory_id = m.id)
ORDER BY s.last_access, s.memory_id
LIMIT %(limit)s

-- :name schedule_steps
-- The steps of tasks that are over since a time: what the task requires, and what is part of it. A task is the memory that
-- says that it is over, and what filled its slot before. What a memory requires that is no such task, or is part of a task
-- that is not over, is not among them; nor what was stored on purpose, rests or is protected.
WITH task AS MATERIALIZED (
    SELECT DISTINCT coalesce(x.id, t.id) AS id
    FROM memory t
    LEFT JOIN memory x ON x.namespace = t.namespace AND x.slot = t.slot
        AND (x.over OR x.tier NOT IN ('short-term', 'long-term'))
    WHERE t.shard = %(shard)s AND t.over AND t.tier IN ('short-term', 'long-term') AND t.said <= %(before)s
), step AS (
    SELECT k.target AS id FROM task t JOIN link k ON k.memory = t.id WHERE k.kind = 'requires'
    UNION SELECT k.memory FROM task t JOIN link k ON k.target = t.id WHERE k.kind = 'partOf'
)
SELECT s.memory_id::text, m.namespace, s.tier, s.created, s.last_access, s.salience_ppm, m.early, s.replays, s.fades
FROM step
JOIN strength s ON s.memory_id = step.id
JOIN memory m ON m.id = step.id
WHERE s.shard = %(shard)s AND s.tier = 'short-term' AND s.fades AND step.id NOT IN (SELECT id FROM task)
  AND coalesce((s.rest ->> (%(kinds)s::jsonb ->> s.tier))::bigint, 0)
      <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
  AND NOT EXISTS (SELECT FROM protection p WHERE p.memory_id = m.id)
  AND NOT EXISTS (
    SELECT FROM link k JOIN strength o ON o.memory_id = k.memory
    WHERE k.target = m.id AND k.kind = 'requires' AND k.memory NOT IN (SELECT id FROM task))
  AND NOT EXISTS (
    SELECT FROM link k JOIN strength o ON o.memory_id = k.target JOIN memory w ON w.id = k.target
    WHERE k.memory = m.id AND k.kind = 'partOf' AND w.type = 'task' AND k.target NOT IN (SELECT id FROM task))
ORDER BY s.created, s.memory_id
LIMIT %(limit)s

-- :name schedule_contested
-- What takes on purpose the place of what is alive and neither pinned nor needed, with that, the latest first: where
-- neither rests. `kinds`: by the tier of the older one, the kind that both rest for. `inferred`: also what only says
-- otherwise, as was inferred from the words.
SELECT n.memory_id::text, m.namespace, n.tier, n.created, n.last_access, n.salience_ppm, m.early, n.replays, n.fades,
    o.memory_id::text, w.namespace, o.tier, o.created, o.last_access, o.salience_ppm, w.early, o.replays, o.fades
FROM contradiction c
JOIN strength n ON n.memory_id = c.newer
JOIN memory m ON m.id = c.newer
JOIN strength o ON o.memory_id = c.older
JOIN memory w ON w.id = c.older
WHERE c.shard = %(shard)s AND (c.stated OR %(inferred)s) AND NOT c.compared -- a model opens no vote
  AND greatest(
      coalesce((n.rest ->> (%(kinds)s::jsonb ->> o.tier))::bigint, 0),
      coalesce((o.rest ->> (%(kinds)s::jsonb ->> o.tier))::bigint, 0)
  ) <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
  AND m.made_by IS NULL -- nobody says it
  AND w.made_by IS NULL AND w.general_of IS NULL -- with the sentence that is wrong all others of a summary would go
  AND NOT EXISTS (SELECT FROM protection p WHERE p.memory_id = c.older AND p.kind <> 'hold')
ORDER BY c.seq DESC, o.tier, c.older
LIMIT %(limit)s

-- :name schedule_tried
-- What verifiers agree in and no vote has had, in that order, each with the trials that tell it.
SELECT s.memory_id::text, m.namespace, s.tier, s.created, s.last_access, s.salience_ppm, m.early, s.replays, s.fades,
    ARRAY(
        SELECT t.made FROM trial t
        WHERE t.memory_id = a.memory_id AND t.position = a.position AND t.digest = a.digest
        ORDER BY t.seq
    )
FROM admission a
JOIN strength s ON s.memory_id = a.memory_id
JOIN memory m ON m.id = a.memory_id
WHERE a.shard = %(shard)s AND a.status = 'agreed'
ORDER BY a.seq
LIMIT %(limit)s

-- :name explain_merged
-- Of a memory, and of the summaries that quote it, which became one with which, and into what that was merged in turn;
-- by which entry of the journal, whether what went rests still, and where what stayed stands.
WITH RECURSIVE stands (id) AS (
    SELECT %(id)s::uuid
    UNION
    SELECT q.summary FROM quote q JOIN memory m ON m.id = q.summary AND m.tier <> 'draft' WHERE q.source = %(id)s::uuid
    UNION
    SELECT p.child FROM stands s JOIN provenance p ON p.parent = s.id AND p.merged
), merged AS (
    SELECT p.parent, p.child, p.seq FROM stands s JOIN provenance p ON p.parent = s.id AND p.merged
    UNION
    SELECT p.parent, p.child, p.seq FROM provenance p WHERE p.child = %(id)s::uuid AND p.merged
)
SELECT x.parent::text, x.child::text, x.seq, g.tier NOT IN ('short-term', 'long-term'), k.tier
FROM merged x
JOIN memory g ON g.id = x.parent
JOIN memory k ON k.id = x.child
ORDER BY x.seq, x.parent

-- :name schedule_alike
-- Summaries that lie near another, with those: of so many, by their ids, the nearest of each. Neither rests, is
-- protected, or says otherwise than what is alive. Beside each, how many were looked at, and the last of these.
WITH free AS MATERIALIZED (
    SELECT s.memory_id AS id, m.namespace, 0 AS weight_ppm, m.encoder, m.subject AS about, m.source, e.vector
    FROM memory m
    JOIN strength s ON s.memory_id = m.id
    JOIN embedding e ON e.memory_id = m.id
    WHERE m.shard = %(shard)s AND m.made_by IS NOT NULL AND m.tier = 'short-term'
      AND coalesce((s.rest ->> %(kind)s)::bigint, 0) <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
      AND NOT EXISTS (SELECT FROM protection p WHERE p.memory_id = m.id)
      AND NOT EXISTS (
        SELECT FROM conflict c
        JOIN strength o ON o.memory_id = c.older
        JOIN strength n ON n.memory_id = c.newer
        WHERE c.older = m.id OR c.newer = m.id)
), $neighbours

-- :name schedule_twins
-- Memories of experience that lie near another, with those, each with its weight: of so many, by their ids, the nearest of
-- each. Each is given as experience; none has another that stands for it there, rests, or says otherwise than what is
-- alive. `about`: its subject, where that is not who said it. Beside each, how many were looked at, and the last of these.
WITH free AS MATERIALIZED (
    SELECT s.memory_id AS id, a.weight_ppm, m.namespace, m.encoder, nullif(m.subject, m.agent) AS about,
        m.source, e.vector
    FROM admission a
    JOIN memory m ON m.id = a.memory_id
    JOIN strength s ON s.memory_id = a.memory_id
    JOIN embedding e ON e.memory_id = a.memory_id
    WHERE a.shard = %(shard)s AND a.status = 'admitted' AND m.general_of IS NULL
      AND NOT EXISTS (SELECT FROM strength x WHERE x.memory_id = a.merged_into)
      AND coalesce((s.rest ->> %(kind)s)::bigint, 0) <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
      AND NOT EXISTS (
        SELECT FROM conflict c
        JOIN strength o ON o.memory_id = c.older
        JOIN strength n ON n.memory_id = c.newer
        WHERE c.older = m.id OR c.newer = m.id)
), $neighbours

-- :name schedule_general
-- General forms that wait for their vote, the oldest first, each with the memory that it was made of: where that is alive,
-- is given as experience, with no other that stands for it there, and does not rest.
SELECT g.id::text, g.namespace, g.tier, g.created, g.created, 0, g.early, 0, false,
    m.id::text, m.namespace, s.tier, s.created, s.last_access, s.salience_ppm, m.early, s.replays, s.fades
FROM memory g
JOIN memory m ON m.id = g.general_of AND m.namespace = g.namespace
JOIN strength s ON s.memory_id = m.id
JOIN admission a ON a.memory_id = m.id AND a.status = 'admitted'
WHERE g.shard = %(shard)s AND g.tier = 'draft' AND g.sealed_until > (SELECT as_of FROM shard WHERE shard = %(shard)s)
  AND NOT EXISTS (SELECT FROM strength x WHERE x.memory_id = a.merged_into)
  AND coalesce((s.rest ->> %(kind)s)::bigint, 0) <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
ORDER BY g.seq, g.id
LIMIT %(limit)s

-- :name schedule_families
-- General forms that are given as experience, with the lessons whose forms have the same text, its own first: so many at
-- least are given there besides, about the same, from one source, bound alike, without a place in a file; none rests or
-- says otherwise than what is alive. The oldest of such forms stands for all.
WITH lesson AS MATERIALIZED (
    SELECT f.id AS form, f.seq, md5(c.body) AS said, m.id, m.namespace, nullif(m.subject, m.agent) AS about, m.source,
        m.sensitivity_ppm, m.purposes, m.jurisdictions
    FROM admission g
    JOIN memory f ON f.id = g.memory_id AND f.general_of IS NOT NULL
    JOIN strength fs ON fs.memory_id = f.id
    JOIN content c ON c.memory_id = f.id
    JOIN memory m ON m.id = f.general_of AND m.namespace = f.namespace AND m.slot IS NULL AND m.label IS NULL
    JOIN strength s ON s.memory_id = m.id
    JOIN admission a ON a.memory_id = m.id AND a.status = 'admitted'
    WHERE g.shard = %(shard)s AND g.status = 'admitted'
      AND NOT EXISTS (SELECT FROM strength x WHERE x.memory_id IN (a.merged_into, g.merged_into))
      AND greatest(coalesce((s.rest ->> %(kind)s)::bigint, 0), coalesce((fs.rest ->> %(kind)s)::bigint, 0))
          <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
      AND NOT EXISTS (
        SELECT FROM conflict x
        JOIN strength o ON o.memory_id = x.older
        JOIN strength n ON n.memory_id = x.newer
        WHERE x.older = m.id OR x.newer = m.id)
), placed AS (
    SELECT l.*, first_value(form) OVER same AS stands, row_number() OVER same AS place,
        count(*) OVER (PARTITION BY namespace, said, about, source, sensitivity_ppm, purposes, jurisdictions) AS members
    FROM lesson l
    WINDOW same AS (
        PARTITION BY namespace, said, about, source, sensitivity_ppm, purposes, jurisdictions ORDER BY seq, form)
), family AS (
    SELECT stands, min(seq) AS seq FROM placed WHERE members >= %(least)s GROUP BY stands ORDER BY 2, 1 LIMIT %(limit)s
)
SELECT g.id::text, g.namespace, fs.tier, fs.created, fs.last_access, fs.salience_ppm, g.early, fs.replays, fs.fades,
    m.id::text, m.namespace, s.tier, s.created, s.last_access, s.salience_ppm, m.early, s.replays, s.fades
FROM family y
JOIN placed p ON p.stands = y.stands AND p.place < %(most)s
JOIN memory g ON g.id = y.stands
JOIN strength fs ON fs.memory_id = g.id
JOIN memory m ON m.id = p.id
JOIN strength s ON s.memory_id = m.id
ORDER BY y.seq, y.stands, p.place

-- :name generals_wanted
-- Memories of a shard's experience of which there is to be a general form and was none, by the last entry that changed how
-- each stands, from behind one on: with what each says, its commitment and its salience.
SELECT a.seq, m.id::text, m.namespace, c.body, m.commitment, s.salience_ppm, m.subject, m.type
FROM admission a
JOIN memory m ON m.id = a.memory_id
JOIN strength s ON s.memory_id = m.id
JOIN content c ON c.memory_id = m.id
WHERE a.shard = %(shard)s AND (a.seq, a.memory_id) > (%(seq)s, %(behind)s::uuid) AND a.status = 'admitted'
  AND a.weight_ppm >= %(weight)s AND a.gains >= %(gains)s AND a.losses = 0
  AND m.general_of IS NULL AND NOT EXISTS (SELECT FROM memory g WHERE g.general_of = m.id)
  AND NOT EXISTS (SELECT FROM strength x WHERE x.memory_id = a.merged_into)
ORDER BY a.seq, a.memory_id
LIMIT %(limit)s

-- :name summaries_waiting
-- How many summaries wait for their vote.
SELECT count(*) FROM memory WHERE tier = 'draft' AND general_of IS NULL

-- :name schedule_drafted
-- Summaries that wait for their vote, the oldest first, each with one of the memories that it was made of: where all of
-- these are in short-term memory, none rests, is protected, or says otherwise than what is alive. What rests sealed because
-- of the erased summary in whose place one was made was used last when it, or that summary, was read; it has no row that
-- could rest, so such a summary rests itself once it was kept. `unsaid`: such alone, and of those what was in no vote.
SELECT d.id::text, d.namespace, d.tier, d.created, d.created, 0, d.early, 0, false,
    m.id::text, m.namespace, m.tier, m.created, coalesce(s.last_access, greatest(m.created, (
        SELECT max(j.as_of) FROM used u JOIN journal j ON j.shard = u.shard AND j.seq = u.seq
        WHERE u.memory_id IN (m.id, d.renews)))),
    coalesce(s.salience_ppm, 0), m.early, coalesce(s.replays, 0), coalesce(s.fades, false)
FROM (
    SELECT id, namespace, tier, created, early, renews, seq
    FROM memory
    WHERE shard = %(shard)s AND tier = 'draft' AND sealed_until > (SELECT as_of FROM shard WHERE shard = %(shard)s)
      AND general_of IS NULL
      AND (NOT %(unsaid)s
        OR NOT EXISTS (SELECT FROM outcome o WHERE o.memory_id = memory.id)
          AND EXISTS (
            SELECT FROM provenance p JOIN memory x ON x.id = p.parent AND x.tier = 'sealed' AND x.told_by = memory.renews
            WHERE p.namespace = memory.namespace AND p.child = memory.id))
      AND (renews IS NULL OR coalesce((
        SELECT max(o.epoch) + least(%(rest)s * power(2, least(count(*), 63) - 1), %(rest_max)s)
        FROM outcome o WHERE o.memory_id = memory.id AND o.outcome = 'kept'), 0)
          <= (SELECT last_epoch FROM shard WHERE shard = %(shard)s))
      AND NOT EXISTS (
        SELECT FROM provenance p
        LEFT JOIN memory x ON x.id = p.parent AND x.tier = 'sealed' AND x.told_by = memory.renews
        LEFT JOIN strength t ON t.memory_id = p.parent
        WHERE p.namespace = memory.namespace AND p.child = memory.id
          AND CASE WHEN x.id IS NOT NULL THEN x.sealed_until <= (SELECT as_of FROM shard WHERE shard = %(shard)s)
          ELSE (t.tier IS DISTINCT FROM 'short-term'
            OR coalesce((t.rest ->> %(kind)s)::bigint, 0) > (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
            OR EXISTS (SELECT FROM protection q WHERE q.memory_id = p.parent)
            OR EXISTS (
                SELECT FROM conflict c
                JOIN strength o ON o.memory_id = c.older
                JOIN strength n ON n.memory_id = c.newer
                WHERE p.parent IN (c.older, c.newer))) END
      )
    ORDER BY seq, id
    LIMIT %(limit)s
) d
JOIN provenance p ON p.namespace = d.namespace AND p.child = d.id
JOIN memory m ON m.id = p.parent
LEFT JOIN strength s ON s.memory_id = m.id
ORDER BY d.seq, d.id, m.created, m.id

-- :name schedule_erased_summaries
-- Of those ids the summaries that are gone, each with the session that it was of, and when the latest of that was said
-- which no order has erased.
SELECT DISTINCT ON (s.id) s.id::text, m.namespace, m.agent, coalesce(m.session, ''), max(m.created) OVER (PARTITION BY s.id),
    s.renews::text
FROM memory s
JOIN provenance p ON p.namespace = s.namespace AND p.child = s.id
JOIN memory m ON m.id = p.parent AND m.made_by IS NULL
WHERE s.id = ANY(%(ids)s::uuid[]) AND s.shard = %(shard)s AND s.made_by IS NOT NULL AND s.tier = 'gone'
  AND NOT EXISTS (SELECT FROM erased x WHERE x.memory_id = m.id)
ORDER BY s.id, m.created, m.id

-- :name session_left
-- What an erased summary was made of and a summary may be made of anew, the oldest first: what rests sealed because of that
-- very summary, and what is alive, as `session_memories`. Of what is sealed the journal tells where its content lies.
SELECT m.id::text, coalesce(c.body, ''), m.created, m.agent, m.subject, m.commitment,
    coalesce(s.accesses + s.reinforced, (
        SELECT count(*) FROM journal j WHERE j.memory_id = m.id AND j.effect = 'reinforced')
        + (SELECT count(*) FROM used u WHERE u.memory_id = m.id)),
    m.sensitivity_ppm, m.purposes, m.jurisdictions,
    m.said,
    (SELECT j.entry FROM journal j WHERE j.memory_id = m.id AND j.effect = 'stored' ORDER BY j.seq DESC LIMIT 1),
    c.body IS NULL
FROM memory d
JOIN provenance p ON p.namespace = d.namespace AND p.child = d.id
JOIN memory m ON m.id = p.parent AND m.namespace = d.namespace AND m.made_by IS NULL
LEFT JOIN strength s ON s.memory_id = m.id
LEFT JOIN content c ON c.memory_id = m.id
WHERE d.id = %(summary)s::uuid AND d.shard = %(shard)s AND d.tier = 'gone' AND CASE
    WHEN m.tier = 'sealed'
    THEN m.told_by IN (d.id, d.renews) AND m.sealed_until > (SELECT as_of FROM shard WHERE shard = %(shard)s)
    ELSE m.tier = 'short-term' AND c.body IS NOT NULL AND NOT EXISTS (SELECT FROM protection q WHERE q.memory_id = m.id)
      AND NOT EXISTS (
        SELECT FROM conflict k
        JOIN strength o ON o.memory_id = k.older
        JOIN strength n ON n.memory_id = k.newer
        WHERE k.older = m.id OR k.newer = m.id)
    END
  AND NOT EXISTS (
    SELECT FROM provenance o JOIN memory t ON t.id = o.child AND t.made_by IS NOT NULL AND t.tier <> 'gone'
    WHERE o.namespace = m.namespace AND o.parent = m.id)
ORDER BY m.said, m.said_offset, m.id

-- :name session_memories
-- What is left of a session, of one agent or of every, in short-term memory that a summary may take the place of, the
-- oldest first.
SELECT m.id::text, c.body, m.created, m.agent, m.subject, m.commitment, s.accesses + s.reinforced,
    m.sensitivity_ppm, m.purposes, m.jurisdictions, m.said,
    (SELECT j.entry FROM journal j WHERE j.memory_id = m.id AND j.effect = 'stored' ORDER BY j.seq DESC LIMIT 1)
FROM memory m
JOIN strength s ON s.memory_id = m.id
JOIN content c ON c.memory_id = m.id
WHERE m.shard = %(shard)s AND m.namespace = %(namespace)s AND m.session = %(session)s
  AND (%(agent)s::text IS NULL OR m.agent = %(agent)s) AND m.tier = 'short-term' AND $summable
ORDER BY m.said, m.said_offset, m.id

-- :name session_outcomes
-- What some sessions came to, by the finished tasks that they were.
SELECT t.memory_id::text, t.outcome FROM task t WHERE t.memory_id = ANY(%(ids)s::uuid[])

-- :name session_unused
-- Episodic memories of a namespace, of any session or none, that a summary may take the place of, the longest unused first;
-- each behind its encoder and its vector.
SELECT m.encoder, halfvec_send(e.vector), m.id::text, c.body, m.created, m.agent, m.subject, m.commitment,
    s.accesses + s.reinforced, m.sensitivity_ppm, m.purposes, m.jurisdictions, m.said,
    (SELECT j.entry FROM journal j WHERE j.memory_id = m.id AND j.effect = 'stored' ORDER BY j.seq DESC LIMIT 1)
FROM memory m
JOIN strength s ON s.memory_id = m.id
JOIN content c ON c.memory_id = m.id
JOIN embedding e ON e.memory_id = m.id
WHERE m.namespace = %(namespace)s AND m.tier = 'short-term' AND m.shard = %(shard)s AND m.type = 'episodic'
  AND $summable
ORDER BY s.last_access, m.id
LIMIT %(limit)s

-- :name session_members
-- What was said in a session, the oldest first, each with why no summary may be made of it, and one that was made.
SELECT m.agent, m.id::text, m.tier, m.created, m.explicit, m.told_by::text,
    EXISTS (SELECT FROM protection p WHERE p.memory_id = m.id),
    EXISTS (
        SELECT FROM conflict k
        JOIN strength o ON o.memory_id = k.older
        JOIN strength n ON n.memory_id = k.newer
        WHERE k.older = m.id OR k.newer = m.id),
    d.id::text, d.tier, (SELECT max(o.epoch) FROM outcome o WHERE o.memory_id = d.id AND o.outcome = 'kept'),
    m.sealed_until, m.seq, (
        SELECT max(p.seq) FROM provenance p JOIN memory s ON s.id = p.child AND s.made_by IS NOT NULL
        WHERE p.namespace = m.namespace AND p.parent = m.id AND NOT p.merged),
    m.sensitivity_ppm, m.purposes, m.jurisdictions
FROM memory m
LEFT JOIN LATERAL (
    SELECT s.id, s.tier
    FROM provenance p
    JOIN memory s ON s.id = p.child AND s.made_by IS NOT NULL AND s.tier IN ('draft', 'short-term')
    WHERE p.namespace = m.namespace AND p.parent = m.id AND NOT p.merged
    ORDER BY s.tier = 'draft' DESC, s.seq DESC
    LIMIT 1
) d ON true
WHERE m.namespace = %(namespace)s AND m.session = %(session)s AND m.made_by IS NULL
ORDER BY m.created, m.id
LIMIT %(limit)s

-- :name session_summaries
-- The summaries that were made of what was said in a session, each with whose, with the one that says now what it said,
-- where they became one, and whether an order has erased it.
WITH RECURSIVE made (id, agent) AS (
    SELECT p.child, min(m.agent)
    FROM memory m
    JOIN provenance p ON p.namespace = m.namespace AND p.parent = m.id AND NOT p.merged
    WHERE m.namespace = %(namespace)s AND m.session = %(session)s AND m.made_by IS NULL
    GROUP BY p.child
), tells (id, agent, by) AS (
    SELECT id, agent, id FROM made
    UNION
    SELECT t.id, t.agent, p.child FROM tells t JOIN provenance p ON p.parent = t.by AND p.merged
)
SELECT DISTINCT ON (s.seq, s.id) s.id::text, t.agent, s.tier, s.renews::text, b.id::text, b.tier IN ('short-term', 'long-term'),
    EXISTS (SELECT FROM erased x WHERE x.memory_id IN (s.id, b.id))
FROM tells t
JOIN memory s ON s.id = t.id AND s.made_by IS NOT NULL
JOIN memory b ON b.id = t.by
ORDER BY s.seq, s.id, b.tier IN ('short-term', 'long-term') DESC, b.seq DESC
LIMIT %(limit)s

-- :name schedule_idle_sessions
-- Sessions without activity since a time, with what a summary may take the place of: as `session_memories`, less exactly. The
-- index holds nothing else, so what is in long-term memory, or was said in no session, is not read.
SELECT m.namespace, m.agent, m.session, max(m.created), count(*)
FROM memory m
WHERE m.shard = %(shard)s AND m.tier = 'short-term' AND m.session IS NOT NULL AND m.made_by IS NULL AND NOT m.explicit
  AND NOT EXISTS (SELECT FROM protection p WHERE p.memory_id = m.id)
  AND NOT EXISTS (
    SELECT FROM provenance p JOIN memory d ON d.id = p.child AND d.made_by IS NOT NULL
    WHERE p.namespace = m.namespace AND p.parent = m.id)
GROUP BY m.namespace, m.agent, m.session
HAVING count(*) >= %(least)s AND max(m.created) <= %(until)s
   AND (%(latest)s::bigint IS NULL
        OR (max(m.created), m.namespace COLLATE "C", m.agent COLLATE "C", m.session COLLATE "C")
           > (%(latest)s::bigint, %(namespace)s::text, %(agent)s::text, %(session)s::text))
ORDER BY max(m.created), m.namespace COLLATE "C", m.agent COLLATE "C", m.session COLLATE "C"
LIMIT %(limit)s

-- :name session_applied
-- Up to which offset a shard's accepted stream is applied.
SELECT next_offset FROM cursor WHERE topic = %(topic)s AND shard = %(shard)s

-- :name schedule_held
-- How many tokens the living memories of namespaces weigh. A token is four bytes (core/reading/tokens).
SELECT m.namespace, sum((octet_length(c.body) + 3) / 4)::bigint
FROM memory m
JOIN content c ON c.memory_id = m.id
WHERE m.shard = %(shard)s AND m.tier IN ('short-term', 'long-term')
  AND (m.namespace = ANY(%(names)s::text[]) OR m.namespace ^@ ANY(%(beginnings)s::text[]))
GROUP BY m.namespace
ORDER BY m.namespace

-- :name schedule_weighted
-- Everything that is alive in a namespace, and its summaries that wait for their vote, by id; each with the account of its
-- subject. Of a summary that waits, how far its sources lie from the middle of those that it quotes. `goals`: of so many
-- that goals need, the latest, the nearest counts; `kinds`: by tier, the kind that it rests for.
WITH $account
SELECT $weighed, $near
FROM $weighing
LEFT JOIN embedding e ON e.memory_id = m.id
LEFT JOIN account a ON a.subject = m.subject
WHERE m.shard = %(shard)s AND m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term', 'draft')
ORDER BY m.id

-- :name schedule_weighted_some
-- The same of some memories.
WITH $account
SELECT $weighed, $near
FROM $weighing
LEFT JOIN embedding e ON e.memory_id = m.id
LEFT JOIN account a ON a.subject = m.subject
WHERE m.id = ANY(%(ids)s::uuid[]) AND m.shard = %(shard)s AND m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term', 'draft')
ORDER BY m.id

-- :name schedule_weights
-- The same of some memories of a shard, without goals and accounts.
SELECT $weighed
FROM $weighing
WHERE m.id = ANY(%(ids)s::uuid[]) AND m.shard = %(shard)s AND m.tier IN ('short-term', 'long-term', 'draft')
ORDER BY m.id

-- :name schedule_accounts
-- What the subjects of a namespace have spent on draws.
SELECT p.subject, sum(a.spent_ppm)::bigint
FROM spent a
JOIN memory p ON p.id = a.memory_id AND p.namespace = a.namespace
WHERE a.namespace = %(namespace)s AND p.shard = %(shard)s
GROUP BY p.subject

-- :name schedule_spaces
-- The namespaces of a shard that match and hold memories.
SELECT namespace FROM living
WHERE shard = %(shard)s AND alive > 0
  AND (namespace = ANY(%(names)s::text[]) OR namespace ^@ ANY(%(beginnings)s::text[]))
ORDER BY namespace

-- :name schedule_living
-- What is alive in a namespace, in the order in which it was made, behind one.
SELECT m.created, m.id::text
FROM memory m
WHERE m.namespace = %(namespace)s AND (m.created, m.id) > (%(created)s, %(behind)s::uuid)
  AND m.shard = %(shard)s AND m.tier IN ('short-term', 'long-term')
ORDER BY m.created, m.id
LIMIT %(limit)s

-- :name schedule_entries
-- A shard's journal entries after one, in order.
SELECT entry FROM journal WHERE shard = %(shard)s AND seq > %(after)s ORDER BY seq LIMIT %(limit)s

-- :name schedule_around
-- The memories that memories were made of, contradict or are linked with: how many of these are alive counts in theirs.
SELECT p.parent::text FROM provenance p WHERE p.child = ANY(%(ids)s::uuid[])
UNION SELECT k.older::text FROM conflict k WHERE k.newer = ANY(%(ids)s::uuid[])
UNION SELECT k.newer::text FROM conflict k WHERE k.older = ANY(%(ids)s::uuid[])
UNION SELECT k.target::text FROM link k WHERE k.memory = ANY(%(ids)s::uuid[])

-- :name schedule_candidates
-- Those of the memories that are alive, do not rest and are not protected, in the order asked for.
SELECT s.memory_id::text, m.namespace, s.tier, s.created, s.last_access, s.salience_ppm, m.early, s.replays, s.fades
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS wanted (memory_id, position)
JOIN strength s USING (memory_id)
JOIN memory m ON m.id = s.memory_id
WHERE s.shard = %(shard)s
  AND coalesce((s.rest ->> (%(kinds)s::jsonb ->> s.tier))::bigint, 0)
      <= (SELECT last_epoch + 1 FROM shard WHERE shard = %(shard)s)
  AND NOT EXISTS (SELECT FROM protection p WHERE p.memory_id = s.memory_id)
ORDER BY wanted.position

-- :name schedule_status
-- Where a shard stands.
SELECT shard, seq, as_of, last_epoch, last_epoch_at, interactions, alive
FROM shard
WHERE shard = %(shard)s

-- :name trial_shards
-- The shards with their last epochs, and where the last trial of each stands in its journal.
SELECT s.shard, s.last_epoch, s.seq, coalesce((SELECT max(t.seq) FROM trial t WHERE t.shard = s.shard), 0)
FROM shard s
ORDER BY s.shard

-- :name trial_rounds
-- A shard's decisions after an epoch: by what was nominated verifiers are drawn.
SELECT epoch, nomination, accepted_offset
FROM decision
WHERE shard = %(shard)s AND epoch > %(after)s
ORDER BY epoch

-- :name trial_namespaces
-- A shard's namespaces with so many tasks that succeeded and were not erased.
SELECT t.namespace
FROM task t
JOIN experience x ON x.memory_id = t.memory_id
WHERE t.shard = %(shard)s AND t.outcome = 'succeeded'
GROUP BY t.namespace
HAVING count(*) >= %(least)s
ORDER BY t.namespace

-- :name trial_standing
-- How many of a namespace's tasks succeeded and stand, and where the last of them stands in the accepted stream.
SELECT count(*), coalesce(max(t.accepted_offset), -1)
FROM task t
JOIN experience x ON x.memory_id = t.memory_id
WHERE t.namespace = %(namespace)s AND t.outcome = 'succeeded'

-- :name trial_places
-- A namespace's tasks that succeeded, by their vectors.
SELECT t.memory_id::text, t.accepted_offset, x.encoder, halfvec_send(x.vector)
FROM task t
JOIN experience x ON x.memory_id = t.memory_id
WHERE t.namespace = %(namespace)s AND t.outcome = 'succeeded'
ORDER BY t.accepted_offset

-- :name trial_contexts
-- Finished tasks with all that a trial of one reads.
SELECT t.memory_id::text, t.namespace, m.agent, x.body, t.retrieved, t.outcome, t.said_by, t.configuration, t.seed, x.encoder,
    halfvec_send(x.vector), m.created
FROM task t
JOIN experience x ON x.memory_id = t.memory_id
JOIN memory m ON m.id = t.memory_id
WHERE t.memory_id = ANY(%(ids)s::uuid[])

-- :name trial_feedback
-- What agents say of the memories that tasks were given, in the order of the accepted stream.
SELECT task::text, memory_id::text, accepted_offset, agent, helped
FROM feedback
WHERE task = ANY(%(ids)s::uuid[])
ORDER BY seq, memory_id

-- :name trial_untried
-- A namespace's memories that are alive and neither admitted nor to be voted on, by (created, id) behind one: where each
-- was accepted, after which epoch it may be tried, its vector, the tasks that it was made of, when it was rejected,
-- whether it corrects another one, and the tasks that its session was.
-- `since`: those alone that are new or stand otherwise since a sequence of the journal, and those that are named; `until`:
-- by how often something was rejected, up to which epoch it was last, to be tried again.
SELECT $untried
  AND m.namespace = %(namespace)s
  AND (%(created)s::bigint IS NULL OR (m.created, m.id) > (%(created)s, %(after)s::uuid))
  AND (%(since)s::bigint IS NULL OR greatest(m.seq, a.seq) > %(since)s OR m.id = ANY(%(named)s::uuid[]))
  AND (%(until)s::bigint[] IS NULL OR a.status IS DISTINCT FROM 'rejected'
       OR a.rejected <= (%(until)s::bigint[])[a.rejections])
ORDER BY m.created, m.id
LIMIT %(limit)s

-- :name trial_named
-- The same of memories that are named.
SELECT $untried
  AND m.id = ANY(%(ids)s::uuid[])
ORDER BY m.created, m.id

-- :name trial_texts
-- What memories say.
SELECT memory_id::text, body FROM content WHERE memory_id = ANY(%(ids)s::uuid[])

-- :name trial_told
-- What verifiers found of memories, in the order of the journal.
SELECT memory_id::text, position, verifier, statistics
FROM trial
WHERE memory_id = ANY(%(ids)s::uuid[])
ORDER BY seq

-- :name trial_differing
-- A shard's memories that are not settled, of which several things were told as of one decision, and something lately.
SELECT a.memory_id::text
FROM admission a
WHERE a.shard = %(shard)s AND a.status = 'provisional' AND a.seq > %(since)s
  AND EXISTS (
      SELECT FROM trial t WHERE t.memory_id = a.memory_id AND t.position = a.position
      HAVING count(DISTINCT t.digest) > 1
  )
ORDER BY a.seq
LIMIT %(limit)s

-- :name trial_admitted
-- What was admitted in a namespace and is alive, with the epoch and the weight that it was admitted with, and from which
-- epoch on another one stands for it that is alive.
SELECT m.id::text, c.body, e.encoder, halfvec_send(e.vector),
    ARRAY(
        SELECT p.parent::text FROM provenance p
        JOIN task t ON t.memory_id = p.parent AND t.namespace = m.namespace
        WHERE p.child = m.id AND p.namespace = m.namespace AND NOT p.merged
        ORDER BY p.parent
    ),
    w.epoch, w.weight_ppm,
    (
        SELECT a.merged_at FROM admission a
        JOIN memory x ON x.id = a.merged_into AND x.tier IN ('short-term', 'long-term') AND x.general_of IS NULL
        WHERE a.memory_id = w.memory_id
    )
FROM weight w
JOIN memory m ON m.id = w.memory_id
JOIN content c ON c.memory_id = m.id
JOIN embedding e ON e.memory_id = m.id
WHERE w.namespace = %(namespace)s AND w.version = 1 AND m.general_of IS NULL
ORDER BY m.id

-- :name rehearsal_shards
-- The shards' times, and how far each has applied the accepted stream.
SELECT s.shard, s.as_of, coalesce(c.next_offset, 0)
FROM shard s
LEFT JOIN cursor c ON c.shard = s.shard AND c.topic = %(topic)s
ORDER BY s.shard

-- :name rehearsal_recent
-- The most salient of a shard's short-term memories that were not rehearsed after a time, of a namespace or of all.
SELECT s.memory_id::text, s.salience_ppm
FROM strength s
JOIN memory m ON m.id = s.memory_id
WHERE s.shard = %(shard)s AND s.tier = 'short-term' AND (s.rehearsed = 0 OR s.rehearsed <= %(before)s)
  AND m.general_of IS NULL AND (%(namespace)s::text IS NULL OR m.namespace = %(namespace)s)
ORDER BY s.salience_ppm DESC, s.memory_id
LIMIT %(limit)s

-- :name rehearsal_old
-- Those of a shard's long-term memories that nobody used for longest and that were not rehearsed after a time, of a
-- namespace or of all.
SELECT s.memory_id::text, s.salience_ppm
FROM strength s
JOIN memory m ON m.id = s.memory_id
WHERE s.shard = %(shard)s AND s.tier = 'long-term' AND (s.rehearsed = 0 OR s.rehearsed <= %(before)s)
  AND m.general_of IS NULL AND (%(namespace)s::text IS NULL OR m.namespace = %(namespace)s)
ORDER BY s.last_access, s.memory_id
LIMIT %(limit)s

-- :name rehearsal_seen
-- What a rehearsal looks at: whether a memory was used, a memory that is alive, says otherwise and is served before it,
-- and what is left of those of its namespace that it was made of: what is alive, what a summary says that is, or a
-- finished task. Of two that contradict each other the one that was said later is served first, unless the other is in
-- long-term memory and another agent and source said it, which no summary ever is. Who contradicts a sentence of a
-- summary says otherwise than the summary. Last, one that says so on purpose.
SELECT s.shard, s.memory_id::text, m.namespace, s.tier, s.salience_ppm, s.created, s.last_access,
    s.accesses + s.reinforced, s.replays, s.doubts, s.rehearsed, x.other,
    (
        SELECT count(*) FROM provenance p
        JOIN memory o ON o.id = p.parent AND o.namespace = m.namespace
        WHERE p.child = s.memory_id AND NOT p.echo AND NOT p.merged
    ),
    (
        SELECT count(*) FROM provenance p
        JOIN memory o ON o.id = p.parent AND o.namespace = m.namespace
        WHERE p.child = s.memory_id AND NOT p.echo AND NOT p.merged AND (
            o.tier = 'finished'
            OR EXISTS (SELECT FROM strength a WHERE a.memory_id = p.parent)
            OR EXISTS (
                SELECT FROM provenance q
                JOIN strength a ON a.memory_id = q.child
                JOIN memory z ON z.id = q.child AND z.general_of IS NULL
                WHERE q.namespace = m.namespace AND q.parent = p.parent AND q.agent = 'consolidator'
                  AND NOT q.echo AND NOT q.merged))
    ),
    EXISTS (SELECT FROM protection p WHERE p.memory_id = s.memory_id),
    m.seq, x.stated
FROM unnest(%(ids)s::uuid[]) WITH ORDINALITY AS wanted (memory_id, position)
JOIN strength s USING (memory_id)
JOIN memory m ON m.id = s.memory_id
CROSS JOIN LATERAL (
    SELECT min(o.memory_id::text COLLATE "C") AS other, min(o.memory_id::text COLLATE "C") FILTER (WHERE c.stated) AS stated
    FROM conflict c
    JOIN strength o ON o.memory_id = CASE c.newer WHEN s.memory_id THEN c.older ELSE c.newer END
    JOIN memory w ON w.id = o.memory_id
    CROSS JOIN LATERAL (SELECT CASE WHEN c.newer = s.memory_id
        THEN (w.said, w.said_offset) <= (m.said, m.said_offset)
        ELSE (m.said, m.said_offset) > (w.said, w.said_offset) END AS is) later
    WHERE (c.newer = s.memory_id OR c.older = s.memory_id) AND NOT c.compared
      AND later.is = (
          CASE WHEN later.is THEN o.tier ELSE s.tier END = 'long-term'
          AND NOT (w.agent = m.agent OR coalesce(w.source = m.source, false)))
) x
ORDER BY wanted.position

-- :name read_only
-- Whatever comes in this transaction changes nothing.
SET TRANSACTION READ ONLY

-- :name patience
-- How long each statement of this transaction may take, in milliseconds.
SELECT set_config('statement_timeout', %(ms)s, true)

-- :name preview_shards
-- Where every shard stands.
SELECT shard, as_of, last_epoch, last_epoch_at, interactions, alive, unattested FROM shard ORDER BY shard

-- :name preview_alive
-- What is alive in a shard, longest unused first; of a namespace, or of all; whether it rests, and is protected.
SELECT s.memory_id::text, m.namespace, s.tier, s.created, s.last_access, s.salience_ppm, m.early, s.replays, s.fades,
    coalesce((s.rest ->> (%(kinds)s::jsonb ->> s.tier))::bigint, 0) > %(epoch)s,
    EXISTS (SELECT FROM protection p WHERE p.memory_id = s.memory_id), m.type
FROM strength s
JOIN memory m ON m.id = s.memory_id
WHERE s.shard = %(shard)s AND m.namespace = coalesce(%(namespace)s::text, m.namespace)
ORDER BY s.last_access, s.memory_id

-- :name preview_vectors
-- Embeddings of memories, each with its encoder.
SELECT m.id::text, m.encoder, halfvec_send(e.vector)
FROM memory m
JOIN embedding e ON e.memory_id = m.id
WHERE m.id = ANY(%(ids)s::uuid[])

-- :name preview_worths
-- The journal's entries of a namespace's episodes, stored or not.
SELECT entry FROM journal WHERE namespace = %(namespace)s AND effect IN ('stored', 'reinforced', 'dropped')

-- :name preview_recent
-- The latest episodes of every agent of a namespace that are memories still, oldest first.
SELECT r.agent, r.id::text, r.encoder, halfvec_send(e.vector)
FROM (
    SELECT id, agent, encoder, created, row_number() OVER (PARTITION BY agent ORDER BY created DESC, id) AS age
    FROM memory
    WHERE namespace = %(namespace)s AND tier IN ('short-term', 'long-term')
) r
JOIN embedding e ON e.memory_id = r.id
WHERE r.age <= %(most)s
ORDER BY r.created, r.id

-- :name neighbourhood_seq
-- How far the shard's journal reaches.
SELECT seq FROM shard WHERE shard = %(shard)s

-- :name neighbourhood_all
-- Everything that is alive, but general forms: what they say is no news, and none the less new for it.
SELECT m.id::text, m.agent, e.vector, c.body, m.encoder, m.tier, m.subject, m.source, m.sensitivity_ppm, m.purposes,
    m.jurisdictions, m.slot, m.label, $speaker
FROM memory m
JOIN embedding e ON e.memory_id = m.id
JOIN content c ON c.memory_id = m.id
WHERE m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term') AND m.shard = %(shard)s
  AND m.general_of IS NULL
ORDER BY m.seq

-- :name neighbourhood_changed
-- How far the shard's journal reaches, and beside it the tiers of what came, went, was promoted or demoted after a
-- journal sequence. One row without a memory where nothing did.
SELECT s.seq, m.id::text, m.tier
FROM shard s
LEFT JOIN memory m ON m.shard = s.shard AND m.seq > %(after)s AND m.namespace = %(namespace)s
WHERE s.shard = %(shard)s
ORDER BY m.seq

-- :name neighbourhood_some
-- Those of the memories that are alive.
SELECT m.id::text, m.agent, e.vector, c.body, m.encoder, m.tier, m.subject, m.source, m.sensitivity_ppm, m.purposes,
    m.jurisdictions, m.slot, m.label, $speaker
FROM memory m
JOIN embedding e ON e.memory_id = m.id
JOIN content c ON c.memory_id = m.id
WHERE m.id = ANY(%(ids)s::uuid[]) AND m.tier IN ('short-term', 'long-term') AND m.general_of IS NULL
ORDER BY m.seq

-- :name count_events
-- First outcomes of all events: the demo's report holds them against the journal.
SELECT outcome, count(*) FROM event GROUP BY outcome

-- :name count_tiers
-- Memories by tier.
SELECT tier, count(*) FROM memory GROUP BY tier

-- :name count_outcomes
-- Proposals by how they ended; one may name several memories.
SELECT outcome, count(DISTINCT (shard, epoch, position)) FROM outcome GROUP BY outcome

-- :name example_forgotten
-- A forgotten memory to tell of: voted on once, with a vote against it if there is one, and of a sentence's length.
SELECT o.memory_id::text
FROM outcome o
JOIN memory m ON m.id = o.memory_id
WHERE o.outcome = 'forgotten'
ORDER BY (SELECT count(*) FROM outcome v WHERE v.memory_id = o.memory_id), o.yes, abs(m.characters - 80),
    o.shard, o.epoch, o.position
LIMIT 1

-- :name example_promoted
-- A promoted memory to tell of: alive, with a short history if there is one, and of these the most used.
SELECT o.memory_id::text
FROM outcome o
LEFT JOIN strength s USING (memory_id)
WHERE o.outcome = 'promoted'
ORDER BY s.memory_id IS NULL, (SELECT count(*) FROM outcome v WHERE v.memory_id = o.memory_id) > 2,
    s.reinforced + s.accesses DESC, o.yes, o.shard, o.epoch, o.position
LIMIT 1

-- :name example_subject
-- Somebody with a few memories alive, to show an erasure by.
SELECT namespace, subject
FROM memory
WHERE tier IN ('short-term', 'long-term')
GROUP BY namespace, subject
ORDER BY count(*) < 3, count(*), subject, namespace
LIMIT 1

-- :name explain_notes
-- What the journal says of one memory: its birth, its encodings, its latest rehearsals and uses.
(SELECT shard, seq, as_of, effect, event_id, namespace, hash, entry
 FROM journal
 WHERE memory_id = %(id)s::uuid AND effect IN ('stored', 'drafted', 'finished', 'dropped', 'cleared')
 ORDER BY seq DESC
 LIMIT 1)
UNION ALL
(SELECT shard, seq, as_of, effect, event_id, namespace, hash, entry
 FROM journal
 WHERE memory_id = %(id)s::uuid AND effect = 'reencoded'
 ORDER BY seq DESC
 LIMIT %(limit)s)
UNION ALL
(SELECT shard, seq, as_of, effect, event_id, namespace, hash, entry
 FROM journal
 WHERE memory_id = %(id)s::uuid AND effect = 'rehearsed'
 ORDER BY seq DESC
 LIMIT 3)
UNION ALL
(SELECT shard, seq, as_of, effect, event_id, namespace, hash, entry
 FROM journal
 WHERE memory_id = %(id)s::uuid AND effect = 'reinforced'
 ORDER BY seq DESC
 LIMIT %(limit)s)
UNION ALL
(SELECT j.shard, j.seq, j.as_of, j.effect, j.event_id, j.namespace, j.hash, j.entry
 FROM used u
 JOIN journal j ON j.shard = u.shard AND j.seq = u.seq
 WHERE u.memory_id = %(id)s::uuid AND u.applied
 ORDER BY j.seq DESC
 LIMIT %(limit)s)
ORDER BY seq

-- :name explain_filled_by
-- What took a memory's place in its slot, or cleared it: the entry that changed it last.
SELECT j.entry
FROM memory m
JOIN journal j ON j.shard = m.shard AND j.seq = m.seq
WHERE m.id = %(id)s::uuid AND m.tier = 'superseded' AND j.effect IN ('stored', 'cleared') AND j.memory_id <> m.id

-- :name explain_fillers
-- What filled a memory's slot as well, and what cleared slots of its namespace. Which of them took its place, the
-- entries say.
(SELECT j.entry
 FROM memory m
 JOIN memory other ON other.namespace = m.namespace AND other.slot = m.slot AND other.id <> m.id
 JOIN journal j ON j.memory_id = other.id AND j.effect = 'stored'
 WHERE m.id = %(id)s::uuid
 ORDER BY j.seq DESC
 LIMIT %(limit)s)
UNION ALL
(SELECT j.entry
 FROM memory m
 JOIN journal j ON j.namespace = m.namespace AND j.effect = 'cleared'
 WHERE m.id = %(id)s::uuid
 ORDER BY j.seq DESC
 LIMIT %(limit)s)

-- :name explain_content
-- The content of a memory, while it is there; the account says its length and the kinds of what it holds, and no more.
SELECT body FROM content WHERE memory_id = %(id)s::uuid

-- :name explain_links
-- What a memory is linked with that is kept and passes the gates, as `memories_listed` has it.
SELECT c.named, $edges, c.key, c.path, c.attributes
FROM memory own
LEFT JOIN content c ON c.memory_id = own.id
WHERE own.id = %(id)s::uuid

-- :name explain_noted_links
-- The memories that a memory is linked with, of whatever became of them: the kind and the memory.
SELECT l.kind, l.target::text FROM link l WHERE l.namespace = %(namespace)s AND l.memory = %(id)s::uuid

-- :name stored_links
-- The entry by which an event became a memory, and what that is linked with.
SELECT j.entry, ARRAY(
    SELECT l.kind || ' ' || l.target FROM link l WHERE l.namespace = j.namespace AND l.memory = j.memory_id)
FROM journal j
WHERE j.shard = %(shard)s AND j.seq = %(seq)s AND j.effect = 'stored'

-- :name explain_repetitions
-- How often a record came whose event was there already.
SELECT count(*) FROM journal WHERE memory_id = %(id)s::uuid AND effect = 'repeated'

-- :name explain_erasure
-- The order that took a memory.
SELECT o.order_id::text, o.selector, o.value, o.ordered_by, o.accepted_at, o.residue_until, e.seq, e.summary,
    o.reference, o.ordered
FROM erased e
JOIN erasure o ON o.shard = e.shard AND e.seq BETWEEN o.first_seq AND o.last_seq
WHERE e.memory_id = %(id)s::uuid

-- :name explain_anew
-- The summaries that were made in the place of an erased one; and the one that says what is to be kept of what rests sealed.
SELECT m.id::text, m.tier, m.renews IS NOT DISTINCT FROM %(id)s::uuid
FROM memory m
WHERE m.renews = %(id)s::uuid OR m.id = (SELECT told_by FROM memory WHERE id = %(id)s::uuid)
ORDER BY m.seq

-- :name explain_decisions
-- The votes on one memory, with their certificates.
SELECT o.shard, o.epoch, o.position, o.outcome, o.reason, d.journal_seq, d.pre_prepare, d.commits
FROM outcome o
JOIN decision d USING (shard, epoch)
WHERE o.memory_id = %(id)s::uuid
ORDER BY o.epoch

-- :name decisions_listed
-- What was decided about the memories of a namespace and passes, the latest first, from behind a place on: proposals, each
-- with all its memories as they stand. One of which some do not pass the gates is not shown; they are counted, since a
-- join would look at the whole namespace for a page.
WITH listed AS MATERIALIZED (
    SELECT DISTINCT ON (o.epoch, o.position) o.shard, o.epoch, o.position, o.kind, o.outcome, o.reason, o.as_of
    FROM outcome o
    WHERE o.namespace = %(namespace)s AND o.kind = ANY(%(kinds)s)
      AND (%(outcomes)s::text[] IS NULL OR o.outcome = ANY(%(outcomes)s))
      AND (%(policies)s::text[] IS NULL OR o.policy = ANY(%(policies)s))
      AND (%(since)s::bigint IS NULL OR o.as_of >= %(since)s)
      AND (%(until)s::bigint IS NULL OR o.as_of < %(until)s)
      AND (%(memory_id)s::uuid IS NULL OR o.memory_id = %(memory_id)s::uuid)
      AND (o.epoch, o.position) < (%(epoch)s, %(position)s)
      AND 0 = (
          SELECT count(*) FROM outcome x
          JOIN memory m ON m.id = x.memory_id
          WHERE x.shard = o.shard AND x.epoch = o.epoch AND x.position = o.position AND ($gates) IS NOT TRUE
      )
    ORDER BY o.epoch DESC, o.position DESC
    LIMIT %(limit)s
)
SELECT l.shard, l.epoch, l.position, l.kind, l.outcome, l.reason, l.as_of,
    ARRAY(
        SELECT o.memory_id::text FROM outcome o
        WHERE o.shard = l.shard AND o.epoch = l.epoch AND o.position = l.position AND o.namespace = %(namespace)s
        ORDER BY o.memory_id
    ),
    ARRAY(
        SELECT CASE WHEN e.memory_id IS NULL THEN m.tier ELSE 'erased' END
        FROM outcome o
        JOIN memory m ON m.id = o.memory_id
        LEFT JOIN erased e ON e.memory_id = o.memory_id
        WHERE o.shard = l.shard AND o.epoch = l.epoch AND o.position = l.position AND o.namespace = %(namespace)s
        ORDER BY o.memory_id
    )
FROM listed l
ORDER BY l.epoch DESC, l.position DESC

-- :name decisions_certified
-- Epochs with their certificates.
SELECT epoch, journal_seq, pre_prepare, commits FROM decision WHERE shard = %(shard)s AND epoch = ANY(%(epochs)s)

-- :name goals_listed
-- The goals of a namespace that are active, by name, from behind one on: each with the memories that pass.
SELECT p.kind, count(*), (array_agg(p.memory_id::text ORDER BY p.memory_id))[1:%(most)s], max(p.accepted_at),
    array_agg(DISTINCT p.ordered_by COLLATE "C" ORDER BY p.ordered_by COLLATE "C")
FROM protection p
JOIN memory m ON m.id = p.memory_id
WHERE p.namespace = %(namespace)s AND p.kind ^@ 'goal:' AND $gates
  AND (%(goals)s::text[] IS NULL OR p.kind = ANY(%(goals)s))
  AND (%(behind)s::text IS NULL OR p.kind COLLATE "C" > %(behind)s)
GROUP BY p.kind
HAVING (%(memory_id)s::uuid IS NULL OR bool_or(p.memory_id = %(memory_id)s::uuid))
   AND (%(since)s::bigint IS NULL OR max(p.accepted_at) >= %(since)s)
   AND (%(until)s::bigint IS NULL OR max(p.accepted_at) < %(until)s)
ORDER BY p.kind COLLATE "C"
LIMIT %(limit)s

-- :name protectors_listed
-- The pins, or the holds, of a namespace that stand and whose memories pass, the latest first, from behind one on.
SELECT p.memory_id::text, p.kind, p.order_id::text, p.ordered_by, p.reference, p.accepted_at, p.signer, p.seq
FROM protection p
JOIN memory m ON m.id = p.memory_id
WHERE p.namespace = %(namespace)s AND p.kind = %(kind)s AND p.seq < %(behind)s AND $gates
  AND (%(memory_id)s::uuid IS NULL OR p.memory_id = %(memory_id)s::uuid)
  AND (%(ordered_by)s::text IS NULL OR p.ordered_by = %(ordered_by)s)
  AND (%(reference)s::text IS NULL OR p.reference = %(reference)s)
  AND (%(since)s::bigint IS NULL OR p.accepted_at >= %(since)s)
  AND (%(until)s::bigint IS NULL OR p.accepted_at < %(until)s)
ORDER BY p.seq DESC
LIMIT %(limit)s

-- :name tasks_listed
-- The finished tasks of a namespace that pass, the latest first, from behind one on: of each which of the memories that it was
-- given never were any, and what is said to have helped and what not.
SELECT t.memory_id::text, m.agent, x.body::jsonb ->> 'goal', t.outcome, t.said_by, m.created, t.seq, t.retrieved,
    ARRAY(SELECT r.id FROM unnest(t.retrieved) WITH ORDINALITY AS r (id, place)
          WHERE NOT EXISTS (SELECT FROM memory k WHERE k.id = r.id::uuid AND k.namespace = t.namespace) ORDER BY r.place),
    ARRAY(SELECT DISTINCT f.memory_id::text FROM feedback f WHERE f.task = t.memory_id AND f.helped AND NOT EXISTS (
        SELECT FROM feedback l WHERE l.task = f.task AND l.memory_id = f.memory_id AND l.agent = f.agent AND l.seq > f.seq) ORDER BY 1),
    ARRAY(SELECT DISTINCT f.memory_id::text FROM feedback f WHERE f.task = t.memory_id AND NOT f.helped AND NOT EXISTS (
        SELECT FROM feedback l WHERE l.task = f.task AND l.memory_id = f.memory_id AND l.agent = f.agent AND l.seq > f.seq) ORDER BY 1),
    m.subject
FROM task t
JOIN memory m ON m.id = t.memory_id AND m.tier = 'finished'
JOIN experience x ON x.memory_id = t.memory_id
WHERE t.namespace = %(namespace)s AND t.seq < %(behind)s AND $gates
  AND (%(outcomes)s::text[] IS NULL OR t.outcome = ANY(%(outcomes)s))
  AND (%(agents)s::text[] IS NULL OR m.agent = ANY(%(agents)s))
  AND (%(subjects)s::text[] IS NULL OR m.subject = ANY(%(subjects)s))
  AND (%(memory_id)s::text IS NULL OR %(memory_id)s = ANY(t.retrieved))
  AND (%(since)s::bigint IS NULL OR m.created >= %(since)s)
  AND (%(until)s::bigint IS NULL OR m.created < %(until)s)
ORDER BY t.seq DESC
LIMIT %(limit)s

-- :name task_shown
-- A finished task, if it passes, whole.
SELECT t.memory_id::text, m.agent, x.body, t.outcome, t.said_by, m.created, t.seq, t.retrieved,
    ARRAY(SELECT r.id FROM unnest(t.retrieved) WITH ORDINALITY AS r (id, place)
          WHERE NOT EXISTS (SELECT FROM memory k WHERE k.id = r.id::uuid AND k.namespace = t.namespace) ORDER BY r.place),
    m.subject, t.namespace, t.configuration, t.seed, m.encoder, x.digest
FROM task t
JOIN memory m ON m.id = t.memory_id AND m.tier = 'finished'
JOIN experience x ON x.memory_id = t.memory_id
WHERE t.memory_id = %(id)s::uuid AND $gates

-- :name task_feedback
-- What each agent said last of each memory that a task was given, which is what counts, in the order of the journal.
SELECT f.memory_id::text, f.agent, f.helped, f.given_at
FROM feedback f
WHERE f.task = %(id)s::uuid AND NOT EXISTS (
        SELECT FROM feedback l WHERE l.task = f.task AND l.memory_id = f.memory_id AND l.agent = f.agent AND l.seq > f.seq)
ORDER BY f.seq, f.memory_id

-- :name experience_standing
-- How many memories stand how on their way into experience, or in it.
SELECT status, count(*) FROM admission GROUP BY status

-- :name experiences_listed
-- The memories of a namespace that were tried and pass, those that changed last first, from behind one on. What is not alive
-- and may come back rests. S of what is rejected is that over all tasks that were asked, as in `admission_shown`.
SELECT a.memory_id::text, s.status, c.body,
    CASE WHEN a.status = 'rejected' THEN floor(a.gained_ppm::numeric / a.judges)::bigint ELSE a.score_ppm END,
    a.weight_ppm, a.version, a.gains, a.losses, a.epoch, a.seq,
    (SELECT x.memory_id::text FROM strength x WHERE x.memory_id = a.merged_into)
FROM admission a
JOIN memory m ON m.id = a.memory_id
LEFT JOIN content c ON c.memory_id = m.id
CROSS JOIN LATERAL (
    SELECT CASE WHEN a.status <> 'left' AND m.tier NOT IN ('short-term', 'long-term') THEN 'resting' ELSE a.status END AS status
) s
WHERE a.namespace = %(namespace)s AND $gates
  AND (%(statuses)s::text[] IS NULL OR s.status = ANY(%(statuses)s))
  AND (%(seq)s::bigint IS NULL OR (a.seq, a.memory_id) < (%(seq)s, %(behind)s::uuid))
ORDER BY a.seq DESC, a.memory_id DESC
LIMIT %(limit)s

-- :name experiences_counted
-- How many memories of a namespace that were tried pass, by how they stand, as in the list: of so many that changed last,
-- or each first page would read all that was ever tried.
SELECT s.status, count(*)
FROM (
    SELECT memory_id, status FROM admission
    WHERE namespace = %(namespace)s
    ORDER BY seq DESC, memory_id DESC
    LIMIT %(most)s
) a
JOIN memory m ON m.id = a.memory_id
CROSS JOIN LATERAL (
    SELECT CASE WHEN a.status <> 'left' AND m.tier NOT IN ('short-term', 'long-term') THEN 'resting' ELSE a.status END AS status
) s
WHERE m.namespace = %(namespace)s AND $gates
GROUP BY s.status
ORDER BY s.status

-- :name admission_shown
-- Where a memory stands on its way into experience, if it passes, and what stands for it there: of one that nobody has
-- tried its namespace alone. What is rejected was judged by all tasks that were asked by then: S over these is told.
SELECT m.namespace, a.status, a.position, a.digest,
    CASE WHEN a.status = 'rejected' THEN floor(a.gained_ppm::numeric / a.judges)::bigint ELSE a.score_ppm END,
    a.version, a.weight_ppm, a.after, m.tier, coalesce(a.rejections, 0),
    (SELECT x.memory_id::text FROM strength x WHERE x.memory_id = a.merged_into),
    m.general_of::text,
    (SELECT g.id::text FROM memory g
     WHERE g.general_of = m.id AND g.namespace = m.namespace AND g.tier IN ('short-term', 'long-term', 'draft')
     ORDER BY g.seq LIMIT 1),
    h.as_of - u.last_access
FROM memory m
JOIN shard h ON h.shard = m.shard
LEFT JOIN strength u ON u.memory_id = m.id
LEFT JOIN admission a ON a.memory_id = m.id
WHERE m.id = %(id)s::uuid AND m.tier NOT IN ('finished', 'draft') AND $gates

-- :name admission_judges
-- How many finished tasks may judge a memory, as verifiers count them: those that succeeded, are near enough, and are
-- neither a source of it nor its own session. Of what was rejected those that came since, of what says otherwise than
-- another memory those that came after it. It compares it with every such task of the namespace.
SELECT count(*)
FROM memory m
JOIN embedding e ON e.memory_id = m.id
CROSS JOIN LATERAL trial_judges(m.id) j
JOIN task t ON t.namespace = m.namespace AND t.outcome = 'succeeded'
JOIN experience x ON x.memory_id = t.memory_id AND x.encoder = e.encoder
WHERE m.id = %(id)s::uuid AND m.namespace = %(namespace)s AND t.namespace = %(namespace)s
  AND 1 - (x.vector <=> e.vector) >= %(near)s::float8
  AND NOT EXISTS (SELECT FROM provenance p
      WHERE p.child = m.id AND p.parent = t.memory_id AND p.namespace = m.namespace AND NOT p.merged)
  AND t.accepted_offset >= j.since AND t.memory_id::text <> ALL(j.own)

-- :name admission_trials
-- What verifiers found of a memory, in the order of the journal.
SELECT verifier, position, digest, score_ppm, statistics, seq FROM trial WHERE memory_id = %(id)s::uuid ORDER BY seq

-- :name admission_votes
-- How members voted on admitting a memory, or a general form that it is or of which it is the memory.
SELECT epoch, outcome, reason, yes, weight_ppm, needed_ppm, kind
FROM outcome
WHERE memory_id = %(id)s::uuid AND kind = ANY(%(kinds)s)
ORDER BY epoch

-- :name admission_weights
-- The last versions of a memory's weight, in their order.
SELECT version, weight_ppm, epoch, cause, gains, losses, evidence, seq FROM (
    SELECT * FROM weight WHERE memory_id = %(id)s::uuid ORDER BY version DESC LIMIT 100
) w
ORDER BY version

-- :name orders_listed
-- The orders of a namespace that somebody gave and that were answered, the latest first, from behind one on: of each what
-- `order_shown` tells. An erasure is answered by many entries, of which the first counts. Which effects are of such orders,
-- the index says in the same words: or it would not be used.
SELECT j.seq, j.entry, e.memories, e.episodes, e.last_seq, e.residue_until, e.epoch, e.summaries, e.anew,
    (SELECT coalesce(array_agg(DISTINCT s.recipient COLLATE "C" ORDER BY s.recipient COLLATE "C"), '{}')
     FROM erased x JOIN disclosure s ON s.memory_id = x.memory_id
     WHERE x.shard = e.shard AND x.seq BETWEEN e.first_seq AND e.last_seq),
    d.epoch, d.journal_seq, o.memory_id::text, o.outcome, o.reason, o.kind
FROM (
    SELECT shard, seq, event_id, entry FROM journal j
    WHERE namespace = %(namespace)s AND effect IN ('erased', 'withheld', 'protected', 'profiled', 'reclassified', 'requested', 'declined')
      AND effect = ANY(%(effects)s::text[]) AND seq < %(behind)s
      AND (%(since)s::bigint IS NULL OR as_of >= %(since)s)
      AND (%(until)s::bigint IS NULL OR as_of < %(until)s)
      AND (effect <> 'erased' OR EXISTS (SELECT FROM erasure e WHERE e.shard = j.shard AND e.first_seq = j.seq))
    ORDER BY seq DESC LIMIT %(limit)s
) j
LEFT JOIN erasure e ON e.shard = j.shard AND e.first_seq = j.seq
LEFT JOIN LATERAL (SELECT shard, epoch, journal_seq FROM decision
                   WHERE shard = j.shard
                     AND trigger = ANY(ARRAY(SELECT t || '/' || j.event_id FROM unnest(%(triggers)s::text[]) AS t))
                   ORDER BY epoch LIMIT 1) d ON true
LEFT JOIN outcome o ON o.shard = d.shard AND o.epoch = d.epoch
ORDER BY j.seq DESC, o.position

-- :name epochs_of
-- The epochs in which something of a namespace was voted on that passes, the latest first, from behind one on: each with how
-- its own proposals ended. One that names a memory which does not pass the gates is not counted.
WITH listed AS MATERIALIZED (
    SELECT DISTINCT ON (o.epoch) o.shard, o.epoch
    FROM outcome o
    WHERE o.namespace = %(namespace)s AND o.epoch < %(behind)s
      AND (%(kinds)s::text[] IS NULL OR o.kind = ANY(%(kinds)s))
      AND (%(since)s::bigint IS NULL OR o.as_of >= %(since)s)
      AND (%(until)s::bigint IS NULL OR o.as_of < %(until)s)
      AND 0 = (
          SELECT count(*) FROM outcome x
          JOIN memory m ON m.id = x.memory_id
          WHERE x.shard = o.shard AND x.epoch = o.epoch AND x.position = o.position AND ($gates) IS NOT TRUE
      )
    ORDER BY o.epoch DESC
    LIMIT %(limit)s
)
SELECT d.shard, d.epoch, d.as_of, d.trigger, d.config, d.journal_seq, n.ended
FROM listed l
JOIN decision d USING (shard, epoch)
CROSS JOIN LATERAL (
    SELECT jsonb_object_agg(outcome, count) AS ended FROM (
        SELECT o.outcome, count(DISTINCT o.position) FROM outcome o
        WHERE o.namespace = %(namespace)s AND o.epoch = l.epoch
          AND (%(kinds)s::text[] IS NULL OR o.kind = ANY(%(kinds)s))
          AND 0 = (
              SELECT count(*) FROM outcome x
              JOIN memory m ON m.id = x.memory_id
              WHERE x.shard = o.shard AND x.epoch = o.epoch AND x.position = o.position AND ($gates) IS NOT TRUE
          )
        GROUP BY o.outcome
    ) c
) n
ORDER BY d.epoch DESC

-- :name conflicts_listed
-- The pairs of memories of a namespace that contradict each other and both pass the gates, the last found first, from behind
-- one on; as "conflicts" gives them, with what is left out there. A pair stands at the entry that noted it first, and pairs
-- are walked from there, so that a page reads what it shows.
SELECT c.seq, c.newer::text, c.older::text, $own, n.said, o.said, n.tier, o.tier, c.stated, c.compared, n.agent, o.agent,
    (SELECT t.body FROM content t WHERE t.memory_id = c.newer),
    (SELECT t.body FROM content t WHERE t.memory_id = c.older)
FROM conflict f
CROSS JOIN LATERAL (
    SELECT newer, older, min(seq) AS seq, bool_or(stated) AS stated, bool_or(compared) AS compared,
        coalesce(max(statements) FILTER (WHERE compared), max(statements)) AS statements
    FROM contradiction
    WHERE namespace = f.namespace AND found IN (f.older, f.newer) AND came IN (f.older, f.newer)
    GROUP BY newer, older
) c
JOIN memory n ON n.id = c.newer
    AND (n.tier IN ('short-term', 'long-term') OR EXISTS (SELECT FROM forgotten g WHERE g.id = n.id))
JOIN memory o ON o.id = c.older AND o.tier IN ('short-term', 'long-term')
WHERE f.namespace = %(namespace)s AND f.seq <= coalesce(%(before)s::bigint, 9223372036854775807)
  AND f.seq = (
      SELECT min(e.seq) FROM conflict e
      WHERE e.namespace = f.namespace AND e.older IN (f.older, f.newer) AND e.newer IN (f.older, f.newer))
  AND (c.stated OR c.statements IS DISTINCT FROM '{}') AND NOT EXISTS (
    SELECT FROM conflict a
    JOIN memory x ON x.id = a.newer AND (x.said, x.said_offset) > (n.said, n.said_offset)
        AND (x.tier IN ('short-term', 'long-term') OR EXISTS (SELECT FROM forgotten g WHERE g.id = x.id))
    WHERE a.older = c.newer AND c.older::text = ANY (a.again) AND x.agent = n.agent)
  AND 2 = (SELECT count(*) FROM memory m WHERE m.id IN (c.newer, c.older) AND ($gates))
  AND (%(since)s::bigint IS NULL OR n.said >= %(since)s)
  AND (%(until)s::bigint IS NULL OR n.said < %(until)s)
  AND (%(before)s::bigint IS NULL OR (c.seq, c.older) < (%(before)s, %(before_older)s::uuid))
ORDER BY f.seq DESC, c.older DESC
LIMIT %(limit)s

-- :name sessions_listed
-- The sessions of a namespace, the one in which something was said last first, from behind one on. Only memories that pass the
-- gates are looked at; what is gone counts no more. Each session stands at its last memory, and memories are walked from the
-- last one on: in a CASE, so that the planner expects some soon, and does not sort all of them first.
SELECT l.said, l.said_offset, l.session, t.agents, t.first_at, t.alive, t.sealed, t.resting
FROM memory l
CROSS JOIN LATERAL (
    SELECT (array_agg(DISTINCT m.agent))[:%(agents_most)s] AS agents, min(m.created) AS first_at,
        count(*) FILTER (WHERE m.tier IN ('short-term', 'long-term')) AS alive,
        count(*) FILTER (WHERE m.tier = 'sealed' AND m.told_by IS NOT NULL) AS sealed,
        count(*) FILTER (WHERE m.tier = 'superseded' OR m.tier = 'sealed' AND m.told_by IS NULL) AS resting,
        %(agents)s::text[] IS NULL OR bool_or(m.agent = ANY(%(agents)s)) AS spoke
    FROM memory m
    WHERE m.namespace = l.namespace AND m.session = l.session AND m.made_by IS NULL
      AND m.tier IN ('short-term', 'long-term', 'sealed', 'superseded') AND $gates
) t
WHERE l.namespace = %(namespace)s AND l.session IS NOT NULL AND l.made_by IS NULL AND t.spoke
  AND l.said <= coalesce(%(before)s::bigint, 9223372036854775807)
  AND (%(before)s::bigint IS NULL OR (l.said, l.said_offset) < (%(before)s, %(before_offset)s::bigint))
  AND (%(since)s::bigint IS NULL OR l.said >= %(since)s)
  AND (%(until)s::bigint IS NULL OR l.said < %(until)s)
  AND CASE WHEN l.id = (
      SELECT m.id FROM memory m
      WHERE m.namespace = l.namespace AND m.session = l.session AND m.made_by IS NULL
        AND m.tier IN ('short-term', 'long-term', 'sealed', 'superseded') AND $gates
      ORDER BY m.said DESC, m.said_offset DESC, m.id DESC
      LIMIT 1) THEN true ELSE false END
ORDER BY l.said DESC, l.said_offset DESC
LIMIT %(limit)s

-- :name kept_back
-- Those among memories that do not pass the gates.
SELECT m.id::text FROM memory m WHERE m.id = ANY(%(ids)s::uuid[]) AND ($gates) IS NOT TRUE

-- :name journal_listed
-- The journal's entries of a namespace, the latest first, from before a sequence on; and the decisions about its memories,
-- which as entries are nobody's, each with how its proposals ended.
SELECT * FROM (
    (
        SELECT j.seq, j.as_of, j.effect, j.event_id, j.memory_id::text, j.entry, NULL::bigint, NULL::jsonb
        FROM journal j
        WHERE j.shard = %(shard)s AND j.namespace = %(namespace)s AND j.seq < %(before)s AND j.seq > %(after)s
          AND (%(effects)s::text[] IS NULL OR j.effect = ANY(%(effects)s))
          AND (%(memory_id)s::uuid IS NULL OR j.seq = ANY(ARRAY(
              SELECT m.seq FROM journal m WHERE m.memory_id = %(memory_id)s::uuid
              UNION ALL
              SELECT u.seq FROM used u WHERE u.shard = %(shard)s AND u.memory_id = %(memory_id)s::uuid
          )))
          AND (%(since)s::bigint IS NULL OR j.as_of >= %(since)s)
          AND (%(until)s::bigint IS NULL OR j.as_of < %(until)s)
        ORDER BY j.seq DESC
        LIMIT %(limit)s
    )
    UNION ALL
    (
        SELECT d.journal_seq, d.as_of, 'decided', '', NULL, NULL, d.epoch, n.ended
        FROM decision d
        CROSS JOIN LATERAL (
            SELECT jsonb_object_agg(outcome, count) AS ended FROM (
                SELECT o.outcome, count(DISTINCT o.position) FROM outcome o
                WHERE o.shard = d.shard AND o.epoch = d.epoch AND o.namespace = %(namespace)s
                  AND (%(memory_id)s::uuid IS NULL OR o.memory_id = %(memory_id)s::uuid)
                GROUP BY o.outcome
            ) c
        ) n
        WHERE %(decisions)s AND d.shard = %(shard)s AND d.journal_seq < %(before)s AND d.journal_seq > %(after)s
          AND d.epoch = ANY(ARRAY(
              SELECT DISTINCT o.epoch FROM outcome o
              WHERE o.namespace = %(namespace)s AND (%(memory_id)s::uuid IS NULL OR o.memory_id = %(memory_id)s::uuid)
          ))
          AND (%(since)s::bigint IS NULL OR d.as_of >= %(since)s)
          AND (%(until)s::bigint IS NULL OR d.as_of < %(until)s)
          AND n.ended IS NOT NULL
        ORDER BY d.journal_seq DESC
        LIMIT %(limit)s
    )
) listed
ORDER BY seq DESC
LIMIT %(limit)s

-- :name journal_links
-- The journal's entries of a shard behind one, in order, as links of its chain, so many bytes of them and one entry more.
SELECT seq, entry, previous_hash, hash
FROM (
    SELECT *, sum(octet_length(entry)) OVER (ORDER BY seq) - octet_length(entry) AS before
    FROM (
        SELECT seq, entry, previous_hash, hash FROM journal
        WHERE shard = %(shard)s AND seq > %(after)s
        ORDER BY seq
        LIMIT %(limit)s
    ) p
) q
WHERE before <= %(bytes)s
ORDER BY seq

-- :name journal_ends
-- The last entry of a shard's journal.
SELECT max(seq) FROM journal WHERE shard = %(shard)s

-- :name journal_latest
-- The last entry that a namespace's page of the journal can show; 0 before there is one.
SELECT greatest(
    (SELECT coalesce(max(j.seq), 0) FROM journal j WHERE j.shard = %(shard)s AND j.namespace = %(namespace)s),
    (SELECT d.journal_seq FROM decision d
     WHERE d.shard = %(shard)s AND d.epoch = (SELECT max(o.epoch) FROM outcome o WHERE o.namespace = %(namespace)s))
)

-- :name namespaces_listed
-- The namespaces in sight that have memories, by name, from behind one on.
SELECT namespace, alive FROM living WHERE alive > 0 AND namespace > %(behind)s ORDER BY namespace LIMIT %(limit)s

-- :name namespace_tiers
-- The number of a namespace's memories in each tier.
SELECT tier, count(*) FROM memory WHERE namespace = %(namespace)s GROUP BY tier

-- :name namespace_agents
-- The agents with most living memories in a namespace: how many, and when the last one was said.
SELECT agent, count(*), max(said) FROM memory
WHERE namespace = %(namespace)s AND tier IN ('short-term', 'long-term')
GROUP BY agent
ORDER BY count(*) DESC, agent
LIMIT %(limit)s

-- :name shard_clock
-- The time of a shard; its last decided epoch with the time that it judged by, where the key sees a vote of it; and the
-- time of the last epoch that all memories wait for, from which the next one is counted.
SELECT s.as_of, s.last_epoch, d.as_of, s.last_epoch_at
FROM shard s LEFT JOIN decision d ON d.shard = s.shard AND d.epoch = s.last_epoch
WHERE s.shard = %(shard)s

-- :name epochs_in
-- All epochs of a shard, the latest first, from behind one on: each with how its proposals ended.
SELECT d.shard, d.epoch, d.as_of, d.trigger, d.config, d.journal_seq, coalesce(n.ended, '{}')
FROM decision d
LEFT JOIN LATERAL (
    SELECT jsonb_object_agg(outcome, count) AS ended FROM (
        SELECT outcome, count(DISTINCT position) FROM outcome x
        WHERE x.shard = d.shard AND x.epoch = d.epoch AND (%(kinds)s::text[] IS NULL OR x.kind = ANY(%(kinds)s))
        GROUP BY outcome
    ) c
) n ON true
WHERE d.shard = %(shard)s AND d.epoch < %(behind)s AND (%(kinds)s::text[] IS NULL OR n.ended IS NOT NULL)
  AND (%(since)s::bigint IS NULL OR d.as_of >= %(since)s)
  AND (%(until)s::bigint IS NULL OR d.as_of < %(until)s)
ORDER BY d.epoch DESC
LIMIT %(limit)s

-- :name configured_at
-- Which configurations a shard has had beside the first: in which epoch each was decided on, and as of which time.
SELECT d.config + 1, d.epoch, d.as_of
FROM decision d
JOIN outcome o ON o.shard = d.shard AND o.epoch = d.epoch AND o.kind = 'configure' AND o.outcome = 'configured'
WHERE d.shard = %(shard)s AND d.trigger = 'order'

-- :name shard_time
-- The time of a shard.
SELECT as_of FROM shard WHERE shard = %(shard)s

-- :name explain_requests
-- Requests to restore or to forget memories of a namespace that nobody has voted on, the latest first. Those of before a
-- time are over.
SELECT j.entry
FROM journal j
WHERE j.shard = %(shard)s AND j.namespace = %(namespace)s AND j.effect = 'requested' AND j.as_of >= %(since)s
  AND NOT EXISTS (
      SELECT FROM decision d
      WHERE d.shard = j.shard AND d.trigger IN ('restore/' || j.event_id, 'forget/' || j.event_id)
  )
ORDER BY j.seq DESC
LIMIT %(limit)s

-- :name explain_shard
-- The time and the epoch of a shard.
SELECT as_of, last_epoch, last_epoch_at FROM shard WHERE shard = %(shard)s

-- :name search
-- With the memories it tells what a read asks of them next (`$beside`), in the same snapshot.
-- The nearest memories of a namespace by exact cosine, in both tiers; vectors of another encoder cannot be compared. A
-- summary is as near as it is itself, or the nearest of its sentences; a long text likewise by its passages. What is for certain purposes is not given to who
-- names none.
WITH found AS MATERIALIZED (
    (
        SELECT e.memory_id AS id, e.vector <=> %(vector)s::halfvec AS distance
        FROM embedding e
        WHERE e.namespace = %(namespace)s AND e.encoder = %(encoder)s
          AND e.memory_id NOT IN $bound(%(namespace)s)
        ORDER BY distance, e.memory_id
        LIMIT %(k)s
    )
    UNION ALL
    (
        SELECT y.memory_id, min(y.vector <=> %(vector)s::halfvec) AS distance
        FROM sentence y
        WHERE y.namespace = %(namespace)s AND y.encoder = %(encoder)s
          AND y.memory_id NOT IN $bound(%(namespace)s)
        GROUP BY y.memory_id
        ORDER BY distance, y.memory_id
        LIMIT %(k)s
    )
), nearest AS MATERIALIZED (
    SELECT id, min(distance) AS distance FROM found GROUP BY id ORDER BY distance, id LIMIT %(k)s
)
SELECT $remembered, n.distance, CASE WHEN z.apart <= n.distance OR m.made_by IS NULL THEN z.said END,
    halfvec_send(e.vector), $beside(nearest)
FROM nearest n
JOIN memory m USING (id)
JOIN content c ON c.memory_id = m.id
JOIN strength s ON s.memory_id = m.id
JOIN embedding e ON e.memory_id = m.id AND e.encoder = %(encoder)s
$sentences(%(vector)s::halfvec)
ORDER BY n.distance, m.id

-- :name withheld_near
-- Memories that the gates keep from a reader and that are near what it is to be given, with their texts: at most `most`
-- of those nearest to the middle of what is given are compared, and of each given memory the `each` nearest are told.
WITH given AS MATERIALIZED (
    SELECT e.memory_id AS id, e.vector
    FROM embedding e
    WHERE e.namespace = %(namespace)s AND e.encoder = %(encoder)s AND e.memory_id = ANY(%(given)s::uuid[])
), withheld AS MATERIALIZED (
    SELECT e.vector, c.body
    FROM memory m
    JOIN strength s ON s.memory_id = m.id
    JOIN embedding e ON e.memory_id = m.id AND e.encoder = %(encoder)s
    JOIN content c ON c.memory_id = m.id
    WHERE m.namespace = %(namespace)s AND ($gates) IS NOT TRUE
    ORDER BY e.vector <=> (SELECT avg(vector) FROM given), m.id
    LIMIT %(most)s
)
SELECT g.id::text, w.body, w.distance
FROM given g
CROSS JOIN LATERAL (
    SELECT o.body, o.vector <=> g.vector AS distance FROM withheld o ORDER BY distance LIMIT %(each)s
) w
WHERE w.distance <= %(apart)s

-- :name search_filtered
-- The same, of the memories that pass the filters; see `candidates`.
WITH passed AS MATERIALIZED (
    SELECT m.id
    FROM memory m
    WHERE m.namespace = %(namespace)s AND m.encoder = %(encoder)s
      AND $filters
), found AS MATERIALIZED (
    (
        SELECT p.id, e.vector <=> %(vector)s::halfvec AS distance
        FROM passed p
        JOIN embedding e ON e.memory_id = p.id AND e.namespace = %(namespace)s
        ORDER BY distance, p.id
        LIMIT %(k)s
    )
    UNION ALL
    (
        SELECT p.id, z.distance
        FROM passed p
        CROSS JOIN LATERAL (
            SELECT min(y.vector <=> %(vector)s::halfvec) AS distance FROM sentence y
            WHERE y.memory_id = p.id AND y.encoder = %(encoder)s
        ) z
        WHERE z.distance IS NOT NULL
        ORDER BY z.distance, p.id
        LIMIT %(k)s
    )
), nearest AS MATERIALIZED (
    SELECT id, min(distance) AS distance FROM found GROUP BY id ORDER BY distance, id LIMIT %(k)s
)
SELECT $remembered, n.distance, CASE WHEN z.apart <= n.distance OR m.made_by IS NULL THEN z.said END
FROM nearest n
JOIN memory m USING (id)
JOIN content c ON c.memory_id = m.id
JOIN strength s ON s.memory_id = m.id
$sentences(%(vector)s::halfvec)
ORDER BY n.distance, m.id

-- :name search_crowd
-- The same in a namespace that has an index of its own, which finds nearly all of them (infra/decisions/0031). What the
-- index was made for stands in the text: {namespace}, {encoder} and {dimensions} are filled in as literals.
WITH found AS MATERIALIZED (
    (
        SELECT e.memory_id AS id, e.vector::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions}) AS distance
        FROM embedding e
        WHERE e.namespace = {namespace} AND e.encoder = {encoder}
          AND e.memory_id NOT IN $bound({namespace})
        ORDER BY distance
        LIMIT %(k)s
    )
    UNION ALL
    (
        SELECT y.memory_id, min(y.vector <=> %(vector)s::halfvec({dimensions})) AS distance
        FROM sentence y
        WHERE y.namespace = {namespace} AND y.encoder = {encoder}
          AND y.memory_id NOT IN $bound({namespace})
        GROUP BY y.memory_id
        ORDER BY distance, y.memory_id
        LIMIT %(k)s
    )
), nearest AS MATERIALIZED (
    SELECT id, min(distance) AS distance FROM found GROUP BY id ORDER BY distance, id LIMIT %(k)s
)
SELECT $remembered, n.distance, CASE WHEN z.apart <= n.distance OR m.made_by IS NULL THEN z.said END
FROM nearest n
JOIN memory m USING (id)
JOIN content c ON c.memory_id = m.id
JOIN strength s ON s.memory_id = m.id
$sentences(%(vector)s::halfvec({dimensions}))
ORDER BY n.distance, m.id

-- :name crowds
-- The indexes that crowds have, whole ones alone.
SELECT c.relname
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid IN (to_regclass('embedding'), to_regclass('content')) AND i.indisvalid AND c.relname ~ '^(near|words)_'

-- :name crowd_sizes
-- How many memories of a namespace each encoder has encoded that are for any purpose, and how many that are not.
SELECT e.encoder, count(*) - count(bound.id), count(bound.id) FILTER (WHERE m.general_of IS NULL)
FROM embedding e
LEFT JOIN $bound(%(namespace)s) AS bound ON bound.id = e.memory_id
LEFT JOIN memory m ON m.id = bound.id
WHERE e.namespace = %(namespace)s
GROUP BY e.encoder

-- :name query_words
-- The words of a query as full text takes them, the first that mean something.
SELECT lexeme FROM unnest(to_tsvector('pg_catalog.english', %(query)s)) ORDER BY positions[1], lexeme LIMIT %(words)s

-- :name word_holders
-- How many memories of a namespace have each of the words; the words as a tsquery has them.
SELECT word, holders FROM word_holders(%(namespace)s, %(asked)s::text[])

-- :name candidates_crowd
-- What may answer a query, as `candidates`, in a namespace that has indexes of its own, where all pass; {…} as above.
WITH asked AS MATERIALIZED (
    SELECT %(vector)s::halfvec({dimensions}) AS vector
), near AS MATERIALIZED (
    SELECT e.memory_id AS id, e.vector::halfvec({dimensions}) <=> %(vector)s::halfvec({dimensions}) AS distance
    FROM embedding e
    WHERE e.namespace = {namespace} AND e.encoder = {encoder}
      AND e.memory_id NOT IN $bound({namespace})
    ORDER BY distance
    LIMIT %(depth)s
), told AS MATERIALIZED (
    SELECT y.memory_id AS id
    FROM sentence y
    WHERE y.namespace = {namespace} AND y.encoder = {encoder}
      AND y.memory_id NOT IN $bound({namespace})
    GROUP BY y.memory_id
    ORDER BY min(y.vector <=> %(vector)s::halfvec({dimensions})), y.memory_id
    LIMIT %(depth)s
), said AS MATERIALIZED (
    SELECT id, score
    FROM words_best({namespace}, %(sources)s, %(asked)s::text[], %(weights)s::float8[], %(looked)s, %(depth)s)
    WHERE id NOT IN $bound({namespace})
), candidate AS MATERIALIZED (
    SELECT id, bool_or(near) AS near, max(score) AS score
    FROM (
        SELECT id, true AS near, NULL::numeric AS score FROM near
        UNION ALL SELECT id, true, NULL FROM told
        UNION ALL SELECT id, false, score FROM said
    ) AS found
    GROUP BY id
)
SELECT $remembered, least(e.vector <=> a.vector, z.apart), CASE WHEN z.apart <= e.vector <=> a.vector OR m.made_by IS NULL THEN z.said END,
    m.encoder, halfvec_send(CASE WHEN z.apart <= e.vector <=> a.vector THEN z.vector ELSE e.vector END),
    k.near, k.score::float8,
    ARRAY(
        SELECT l.id::text
        FROM memory l
        WHERE l.namespace = m.namespace AND l.session = m.session AND (l.created, l.id) > (m.created, m.id)
          AND l.tier IN ('short-term', 'long-term')
        ORDER BY l.created, l.id
        LIMIT %(reach)s
    ), h.as_of
FROM candidate k
JOIN memory m USING (id)
JOIN content c ON c.memory_id = m.id
JOIN strength s ON s.memory_id = m.id
JOIN embedding e ON e.memory_id = m.id AND e.encoder = {encoder}
CROSS JOIN asked a
JOIN shard h ON h.shard = m.shard
$sentences(a.vector)

-- :name crowd_large
-- Namespaces of so many memories by one encoder, with the dimensions of its vectors.
SELECT namespace, encoder, count(*), max(vector_dims(vector))
FROM embedding
GROUP BY namespace, encoder
HAVING count(*) >= %(least)s
ORDER BY namespace, encoder

-- :name crowd_indexes
-- The indexes that were made for crowds, whether each is whole, and how many bytes it takes.
SELECT c.relname, i.indisvalid, pg_relation_size(c.oid)
FROM pg_index i
JOIN pg_class c ON c.oid = i.indexrelid
WHERE i.indrelid IN (to_regclass('embedding'), to_regclass('content')) AND c.relname ~ '^(near|words)_'
ORDER BY c.relname

-- :name crowd_memory
-- What one build of an index may take, in this session; more processes than one would share more memory than a container
-- gives them by default.
SELECT set_config('maintenance_work_mem', %(size)s, false), set_config('max_parallel_maintenance_workers', '0', false)

-- :name crowd_near
-- The index of a namespace's vectors. {…} are filled in: the name as an identifier, the rest as literals.
CREATE INDEX CONCURRENTLY {index} ON embedding USING hnsw ((vector::halfvec({dimensions})) halfvec_cosine_ops)
WHERE namespace = {namespace} AND encoder = {encoder}

-- :name crowd_near_unsampled
-- Statistics of the index's own column would keep a sample of vectors that outlives what is erased.
ALTER INDEX {index} ALTER COLUMN 1 SET STATISTICS 0

-- :name crowd_words
-- The index of a namespace's words. Without a list of what waits to be put in, which each question would go through.
CREATE INDEX CONCURRENTLY {index} ON content USING gin (words) WITH (fastupdate = off) WHERE namespace = {namespace}

-- :name crowd_drop
-- An index whose namespace is small again, or that was not finished.
DROP INDEX CONCURRENTLY IF EXISTS {index}

-- :name search_cached
-- Of memories that a cache names, of those that changed since the journal sequence that it knows, and of summaries and long texts, whose
-- sentences and passages it does not have, the nearest; and in the same snapshot, in each row, how many of the named are there and how many changed, up to one more than a bound. What
-- is gone is in no row. One row without a memory where there is none. What `search` asks of a row is asked here too.
WITH changed AS MATERIALIZED (
    SELECT m.id
    FROM memory m
    WHERE m.shard = %(shard)s AND m.seq > %(after)s AND m.namespace = %(namespace)s
    ORDER BY m.seq
    LIMIT %(most)s + 1
), asked AS MATERIALIZED (
    SELECT a.id, a.named, least(
        e.vector <=> %(vector)s::halfvec,
        (SELECT min(y.vector <=> %(vector)s::halfvec) FROM sentence y WHERE y.memory_id = a.id AND y.encoder = %(encoder)s)
    ) AS distance
    FROM (
        SELECT id, true AS named FROM unnest(%(ids)s::uuid[]) AS id
        UNION ALL
        SELECT o.id, false
        FROM (
            SELECT c.id FROM changed c
            UNION
            SELECT y.memory_id FROM sentence y WHERE y.namespace = %(namespace)s AND y.encoder = %(encoder)s
        ) AS o
        WHERE o.id <> ALL (%(ids)s::uuid[])
    ) AS a
    JOIN embedding e ON e.memory_id = a.id
    WHERE e.namespace = %(namespace)s AND e.encoder = %(encoder)s
      AND e.memory_id NOT IN $bound(%(namespace)s)
), counted AS (
    SELECT (SELECT count(*) FROM asked WHERE named) AS there, (SELECT count(*) FROM changed) AS changed
), nearest AS (
    SELECT id, distance FROM asked ORDER BY distance, id LIMIT %(k)s
)
SELECT $remembered, n.distance, CASE WHEN z.apart <= n.distance OR m.made_by IS NULL THEN z.said END,
    halfvec_send(e.vector), t.there, t.changed, $beside(nearest)
FROM counted t
LEFT JOIN (
    nearest n
    JOIN memory m USING (id)
    JOIN content c ON c.memory_id = m.id
    JOIN strength s ON s.memory_id = m.id
    JOIN embedding e ON e.memory_id = m.id AND e.encoder = %(encoder)s
) ON true
$sentences(%(vector)s::halfvec)
ORDER BY n.distance, m.id

-- :name answer_again
-- The memories of an answer that was kept, as they are now; and in one of the rows, in the same snapshot, how the
-- memories stand that it was chosen from, in their order. No row where something but a use was journaled in the
-- namespace since: uses and rehearsals change only how memories stand. A decision's entry names no namespace; what it
-- changed has its sequence. None either where a subject of the namespace has a list of what is never kept: that is masked.
WITH standing AS (
    SELECT array_agg(s.last_access ORDER BY w.place) AS last_access, array_agg(s.salience_ppm ORDER BY w.place) AS salience
    FROM unnest(%(watched)s::uuid[]) WITH ORDINALITY AS w (id, place)
    LEFT JOIN strength s ON s.memory_id = w.id
)
SELECT $remembered, h.as_of,
    CASE WHEN row_number() OVER () = 1 THEN (SELECT t.last_access FROM standing t) END,
    CASE WHEN row_number() OVER () = 1 THEN (SELECT t.salience FROM standing t) END
FROM memory m
JOIN content c ON c.memory_id = m.id
JOIN strength s ON s.memory_id = m.id
JOIN shard h ON h.shard = m.shard
WHERE m.id = ANY(%(ids)s::uuid[]) AND m.namespace = %(namespace)s AND $gates
  AND NOT EXISTS (SELECT FROM profile_now p WHERE p.namespace = %(namespace)s AND p.entries <> '{}')
  AND NOT EXISTS (
    SELECT FROM journal j
    WHERE j.namespace = %(namespace)s AND j.seq > %(after)s AND j.effect NOT IN ('accessed', 'asked', 'rehearsed'))
  AND NOT EXISTS (
    SELECT FROM memory x WHERE x.shard = %(shard)s AND x.seq > %(after)s AND x.namespace = %(namespace)s)

-- :name cache_fill
-- The most used memories of a namespace, of those that are for any purpose, and beside each how far the shard's journal reaches in the same snapshot. One row
-- without a memory where there is none. A rehearsal that found a memory to hold counts as a use of it.
SELECT s.seq, m.id::text, m.vector, m.uses
FROM shard s
LEFT JOIN (
    SELECT e.memory_id AS id, halfvec_send(e.vector) AS vector, t.accesses + t.replays AS uses
    FROM embedding e
    JOIN strength t USING (memory_id)
    WHERE e.namespace = %(namespace)s AND e.encoder = %(encoder)s
      AND e.memory_id NOT IN $bound(%(namespace)s)
    ORDER BY t.accesses + t.replays DESC, t.last_access DESC, e.memory_id
    LIMIT %(most)s
) AS m ON true
WHERE s.shard = %(shard)s

-- :name cache_changed
-- What changed in namespaces of a shard since a journal sequence, and beside each how far the journal reaches; a memory
-- that is not there any more, or is for certain purposes, has no vector. Beside each, too, the namespaces in which an
-- order to erase was carried out since. What of long-term memory was rehearsed since is there too, so that it is warm.
-- One row without a memory where nothing changed.
SELECT s.seq,
    ARRAY(
        SELECT DISTINCT e.namespace FROM erasure e
        WHERE e.shard = %(shard)s AND e.last_seq > %(after)s AND e.namespace = ANY(%(namespaces)s)),
    m.id::text, m.namespace, halfvec_send(e.vector), t.accesses + t.replays
FROM shard s
LEFT JOIN (
    (
        SELECT id, namespace, purposes, general_of
        FROM memory
        WHERE shard = %(shard)s AND seq > %(after)s AND namespace = ANY(%(namespaces)s)
        ORDER BY memory.seq
        LIMIT %(most)s
    )
    UNION
    (
        SELECT w.id, w.namespace, w.purposes, w.general_of
        FROM journal j
        JOIN memory w ON w.id = j.memory_id
        WHERE j.shard = %(shard)s AND j.seq > %(after)s AND j.effect = 'rehearsed' AND w.tier = 'long-term'
          AND w.namespace = ANY(%(namespaces)s)
        LIMIT %(most)s
    )
) AS m ON true
LEFT JOIN embedding e ON e.memory_id = m.id AND e.encoder = %(encoder)s
    AND coalesce(m.purposes, 'diffusion') = 'diffusion' AND m.general_of IS NULL
LEFT JOIN strength t ON t.memory_id = e.memory_id
WHERE s.shard = %(shard)s

-- :name cache_some
-- Those of the memories that are there and for any purpose.
SELECT e.memory_id::text, halfvec_send(e.vector), t.accesses + t.replays
FROM embedding e
JOIN strength t USING (memory_id)
WHERE e.memory_id = ANY(%(ids)s::uuid[]) AND e.namespace = %(namespace)s AND e.encoder = %(encoder)s
  AND e.memory_id NOT IN $bound(%(namespace)s)

-- :name cache_busiest
-- The namespaces whose memories were used most, the busiest first.
SELECT m.namespace
FROM strength t
JOIN memory m ON m.id = t.memory_id
WHERE t.accesses > 0
GROUP BY m.namespace
ORDER BY sum(t.accesses) DESC, m.namespace
LIMIT %(most)s

-- :name candidates
-- What may answer a query, of the memories that pass the filters: those nearest by each encoder's vector, and those whose
-- words say most. A word is worth more the fewer have it (as in BM25, without its length term: what is long here says
-- more), and a little more where it comes again; `ts_rank` of one word is 0.61 for once, and 1 at most. The numbers are
-- rounded, so that equal ones are equal in any order of summing. Filters that are NULL let everything pass, but `purpose`: what
-- is for certain purposes, or for none, is given to who names one of them alone.
WITH $question, passed AS MATERIALIZED (
    SELECT m.id, m.encoder
    FROM memory m
    WHERE m.namespace = %(namespace)s AND m.encoder = ANY(%(encoders)s)
      AND $filters
), near AS (
    SELECT n.id
    FROM asked a
    CROSS JOIN LATERAL (
        (
            SELECT p.id, e.vector <=> a.vector AS distance
            FROM passed p
            JOIN embedding e ON e.memory_id = p.id AND e.namespace = %(namespace)s
            WHERE p.encoder = a.encoder
            ORDER BY distance, p.id
            LIMIT %(depth)s
        )
        UNION ALL
        (
            SELECT p.id, z.distance
            FROM passed p
            CROSS JOIN LATERAL (
                SELECT min(y.vector <=> a.vector) AS distance FROM sentence y
                WHERE y.memory_id = p.id AND y.encoder = a.encoder
            ) z
            WHERE z.distance IS NOT NULL
            ORDER BY z.distance, p.id
            LIMIT %(depth)s
        )
    ) n
), matched AS (
    SELECT p.id, ts_rank('{1,1,1,1}', c.words, t.word) AS weight, count(*) OVER (PARTITION BY t.number)::float8 AS holders
    FROM passed p
    JOIN content c ON c.memory_id = p.id AND c.namespace = %(namespace)s
    JOIN term t ON c.words @@ t.word
), said AS (
    SELECT id, round(sum(weight * ln(1::float8 + ((SELECT count(*)::float8 FROM passed) - holders + 0.5::float8) / (holders + 0.5::float8)))::numeric, 6) AS score
    FROM matched
    GROUP BY id
    ORDER BY score DESC, id
    LIMIT %(depth)s
), candidate AS MATERIALIZED (
    SELECT id, bool_or(near) AS near, max(score) AS score
    FROM (SELECT id, true AS near, NULL::numeric AS score FROM near UNION ALL SELECT id, false, score FROM said) AS found
    GROUP BY id
)
SELECT $remembered, least(e.vector <=> a.vector, z.apart), CASE WHEN z.apart <= e.vector <=> a.vector OR m.made_by IS NULL THEN z.said END,
    m.encoder, halfvec_send(CASE WHEN z.apart <= e.vector <=> a.vector THEN z.vector ELSE e.vector END),
    k.near, k.score::float8,
    ARRAY(
        SELECT l.id::text
        FROM memory l
        WHERE l.namespace = m.namespace AND l.session = m.session AND (l.created, l.id) > (m.created, m.id)
          AND l.tier IN ('short-term', 'long-term')
        ORDER BY l.created, l.id
        LIMIT %(reach)s
    ), h.as_of
FROM candidate k
JOIN memory m USING (id)
JOIN content c ON c.memory_id = m.id
JOIN strength s ON s.memory_id = m.id
JOIN embedding e ON e.memory_id = m.id
JOIN asked a ON a.encoder = m.encoder
JOIN shard h ON h.shard = m.shard
$sentences(a.vector)

-- :name weights_in_force
-- What memories weigh in experience, and how long nobody has used them, of those that are given there: no other that is
-- given itself stands for them.
SELECT a.memory_id::text, a.weight_ppm, h.as_of - s.last_access
FROM admission a
JOIN strength s ON s.memory_id = a.memory_id
JOIN shard h ON h.shard = a.shard
WHERE a.memory_id = ANY(%(ids)s::uuid[]) AND a.status = 'admitted'
  AND NOT EXISTS (
    SELECT FROM strength x JOIN admission k USING (memory_id)
    WHERE x.memory_id = a.merged_into AND k.status = 'admitted')
  AND $formed(a.memory_id)

-- :name diffused
-- General forms of other namespaces that may be given in this one, nearest first, of those that pass what may be asked of
-- one: a namespace is told its own agents, sessions, subjects, paths and keys alone.
SELECT m.id::text, m.general_of::text, m.tier, m.created, m.type, m.sensitivity_ppm, m.purposes, m.jurisdictions,
    m.body, halfvec_send(m.vector), m.weight_ppm, m.distance
FROM diffused(%(namespace)s, %(encoder)s, %(vector)s::halfvec, %(near)s, %(most)s) m
WHERE m.tier = ANY(%(tiers)s)
  AND (%(types)s::text[] IS NULL OR m.type = ANY(%(types)s))
  AND (%(since)s::bigint IS NULL OR m.created >= %(since)s)
  AND (%(until)s::bigint IS NULL OR m.created < %(until)s)
  AND $gates
ORDER BY m.distance, m.id

-- :name diffused_one
-- One of them, if it passes: its tier, and what it weighs at home.
SELECT m.tier, m.weight_ppm FROM diffused_one(%(namespace)s, %(id)s) m WHERE $gates

-- :name diffused_tasks
-- The tasks of a namespace that were given one of some memories, of many the last.
SELECT $row(task)
FROM task
WHERE task.namespace = %(namespace)s AND task.retrieved && %(ids)s::text[]
ORDER BY task.accepted_offset DESC
LIMIT %(most)s

-- :name replaced_candidates
-- As `candidates`, of what newer memories took the place of: with `as_of`, of what none had taken the place of by then.
-- Its words are worth what they are among all of the namespace's. Of what is about as near as others the latest come
-- first. Behind what `candidates` has: which memory took its place and who said that, where the reader may see it and
-- it was not erased or taken back; and when it was said first.
WITH $question, passed AS MATERIALIZED (
    SELECT m.id, m.said, r.words, $newer,
        least(r.vector <=> a.vector, n.distance) AS distance, n.places, n.distance <= r.vector <=> a.vector AS below,
        CASE WHEN n.distance <= r.vector <=> a.vector THEN n.vector ELSE r.vector END AS vector
    FROM replaced r
    JOIN asked a ON a.encoder = r.encoder
    JOIN memory m ON m.id = r.memory_id
    JOIN memory w ON w.id = r.newer
    LEFT JOIN LATERAL (
        SELECT min(t.apart) AS distance, (array_agg(t.vector ORDER BY t.apart, t.place))[1] AS vector,
            array_agg(t.place ORDER BY t.apart, t.place) FILTER (WHERE t.apart <= t.best + 0.1) AS places
        FROM (
            SELECT y.vector, y.number::integer - 1 AS place, y.vector <=> a.vector AS apart,
                min(y.vector <=> a.vector) OVER () AS best
            FROM unnest(r.passages) WITH ORDINALITY AS y (vector, number)
            ORDER BY apart, place
            LIMIT 3
        ) AS t
    ) AS n ON true
    WHERE r.namespace = %(namespace)s AND $past
      AND (%(as_of)s::bigint IS NULL OR least(w.created, w.said) > %(as_of)s)
), near AS (
    SELECT id FROM passed ORDER BY round(distance::numeric, 2), said DESC, id LIMIT %(depth)s
), beside AS (
    SELECT f.words FROM content f WHERE f.namespace = %(namespace)s AND EXISTS (SELECT FROM passed)
), matched AS (
    SELECT c.id, ts_rank('{1,1,1,1}', c.words, t.word) AS weight, count(*) OVER (PARTITION BY t.number)::float8 AS holders
    FROM (SELECT p.id, p.words FROM passed p UNION ALL SELECT NULL, b.words FROM beside b) AS c
    JOIN term t ON c.words @@ t.word
), counted AS (
    SELECT ((SELECT count(*) FROM passed) + (SELECT count(*) FROM beside))::float8 AS every
), said AS (
    SELECT id, round(sum(weight * ln(1::float8 + ((SELECT every FROM counted) - holders + 0.5::float8) / (holders + 0.5::float8)))::numeric, 6) AS score
    FROM matched
    WHERE id IS NOT NULL
    GROUP BY id
    ORDER BY score DESC, id
    LIMIT %(depth)s
), candidate AS (
    SELECT id, bool_or(near) AS near, max(score) AS score
    FROM (SELECT id, true AS near, NULL::numeric AS score FROM near UNION ALL SELECT id, false, score FROM said) AS found
    GROUP BY id
)
SELECT $replaced, p.distance, CASE WHEN p.below OR m.made_by IS NULL THEN p.places END, r.encoder, halfvec_send(p.vector),
    k.near, k.score::float8, ARRAY[]::text[], h.as_of,
    p.newer::text, CASE WHEN p.newer IS NOT NULL THEN p.agent END, p.since
FROM candidate k
JOIN passed p USING (id)
JOIN memory m USING (id)
JOIN replaced r ON r.memory_id = m.id
JOIN shard h ON h.shard = m.shard

-- :name conflicts_then
-- As `conflicts`, of memories that were in service at a time: they had been said by then, and no newer one had taken
-- their place. Which of two is the newer one goes by what had been said of each by then.
WITH pair AS (
    SELECT f.newer, f.older FROM conflict f WHERE f.newer = ANY(%(ids)s::uuid[]) OR f.older = ANY(%(ids)s::uuid[])
), past AS (
    SELECT m.id, m.namespace, m.agent, m.source, m.made_by, coalesce(c.body, r.body) AS body,
        CASE WHEN m.tier = 'superseded' THEN 'short-term' ELSE m.tier END AS tier,
        CASE WHEN m.said <= %(as_of)s THEN m.said ELSE least(m.created, m.said) END AS at
    FROM memory m
    LEFT JOIN content c ON c.memory_id = m.id
    LEFT JOIN replaced r ON r.memory_id = m.id
    LEFT JOIN memory w ON w.id = r.newer
    WHERE m.id IN (
        SELECT unnest(ARRAY[p.newer, p.older]) FROM pair p
        UNION SELECT a.newer FROM conflict a JOIN pair p ON a.older IN (p.newer, p.older)
    ) AND least(m.created, m.said) <= %(as_of)s
      AND (m.tier IN ('short-term', 'long-term') OR least(w.created, w.said) > %(as_of)s
        OR EXISTS (SELECT FROM forgotten f WHERE f.id = m.id))
), known AS (
    SELECT CASE WHEN o.at > n.at THEN f.older ELSE f.newer END AS newer,
        CASE WHEN o.at > n.at THEN f.newer ELSE f.older END AS older,
        min(f.seq) AS seq, bool_or(f.stated) AS stated, bool_or(f.compared) AS compared,
        coalesce(max(f.statements) FILTER (WHERE f.compared AND o.at <= n.at), max(f.statements) FILTER (WHERE o.at <= n.at)) AS statements
    FROM pair p
    JOIN conflict f USING (newer, older)
    JOIN past n ON n.id = f.newer
    JOIN past o ON o.id = f.older
    GROUP BY 1, 2
)
SELECT c.newer::text, c.older::text,
    $own,
    n.at, o.at, n.tier, o.tier, c.stated, c.statements, c.compared, n.agent, o.made_by IS NOT NULL, n.body, o.body
FROM known c
JOIN past n ON n.id = c.newer
JOIN past o ON o.id = c.older AND o.tier IN ('short-term', 'long-term')
WHERE (c.stated OR c.statements IS DISTINCT FROM '{}') AND NOT EXISTS (
    SELECT FROM conflict a
    JOIN past x ON x.id = a.newer AND x.at > n.at
    WHERE a.older = c.newer AND c.older::text = ANY (a.again) AND x.agent = n.agent)
ORDER BY c.seq, c.older

-- :name passed
-- How many memories pass the same filters, by encoder, and how many do not, by the first that they do not pass.
SELECT encoder, reason, count(*)
FROM (
    SELECT m.encoder, CASE $left_out WHEN NOT m.encoder = ANY(%(encoders)s) THEN 'encoder' END AS reason
    FROM memory m
    WHERE m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term')
      AND (%(experience)s::boolean OR m.general_of IS NULL)
) AS judged
GROUP BY encoder, reason

-- :name around
-- What surrounds memories, with the memories themselves: so many before and after each in its session; what they were made
-- of and what was made of them, so many links away, through what only repeated a memory too; and what else of the
-- namespace occurred so near to it, nearest first. `apart`: steps in the session, links, or milliseconds. Filters are
-- those of `candidates`; a memory that is named passes those of sensitivity, purpose and jurisdiction alone.
WITH RECURSIVE anchor AS MATERIALIZED (
    SELECT m.id, m.session, m.created
    FROM memory m
    WHERE m.id = ANY(%(ids)s::uuid[]) AND m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term')
      AND $gates AND (%(as_of)s::bigint IS NULL OR least(m.created, m.said) <= %(as_of)s)
), passed AS NOT MATERIALIZED (
    SELECT m.id, m.session, m.created
    FROM memory m
    WHERE m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term')
      AND $filters
), $ways
SELECT $remembered, 0::float8, NULL::integer[], m.encoder, halfvec_send(e.vector), b.anchor::text,
    b.way, b.apart
FROM beside b
JOIN memory m USING (id)
JOIN content c ON c.memory_id = m.id
JOIN strength s ON s.memory_id = m.id
JOIN embedding e ON e.memory_id = m.id

-- :name around_then
-- As `around`, for a read of the past: also of what was replaced, as `replaced_candidates` finds it; behind it stands what
-- took its place.
WITH RECURSIVE gone AS MATERIALIZED (
    SELECT m.id, m.session, m.created, $newer
    FROM replaced r
    JOIN memory m ON m.id = r.memory_id
    JOIN memory w ON w.id = r.newer
    WHERE r.namespace = %(namespace)s AND $past
      AND (%(as_of)s::bigint IS NULL OR least(w.created, w.said) > %(as_of)s)
), anchor AS MATERIALIZED (
    SELECT m.id, m.session, m.created
    FROM memory m
    WHERE m.id = ANY(%(ids)s::uuid[]) AND m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term')
      AND $gates AND (%(as_of)s::bigint IS NULL OR least(m.created, m.said) <= %(as_of)s)
    UNION ALL
    SELECT id, session, created FROM gone WHERE id = ANY(%(ids)s::uuid[])
), passed AS NOT MATERIALIZED (
    SELECT m.id, m.session, m.created
    FROM memory m
    WHERE m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term')
      AND $filters
    UNION ALL
    SELECT id, session, created FROM gone
), $ways
SELECT $remembered, 0::float8, NULL::integer[], m.encoder, halfvec_send(e.vector), b.anchor::text,
    b.way, b.apart, NULL, NULL, NULL::bigint
FROM beside b
JOIN memory m USING (id)
JOIN content c ON c.memory_id = m.id
JOIN strength s ON s.memory_id = m.id
JOIN embedding e ON e.memory_id = m.id
UNION ALL
SELECT $replaced, 0::float8, NULL::integer[], r.encoder, halfvec_send(r.vector), b.anchor::text,
    b.way, b.apart, g.newer::text, CASE WHEN g.newer IS NOT NULL THEN g.agent END, g.since
FROM beside b
JOIN gone g USING (id)
JOIN memory m USING (id)
JOIN replaced r ON r.memory_id = m.id

-- :name walked
-- The relations of memories to others that pass all filters, each way, with what a walk needs to judge these: the kind,
-- whether it begins at the memory, and the other's type and vector; the latest of each kind. `first`: of the anchors of
-- a recall, whose neighbours in the session and in time are known.
WITH near AS MATERIALIZED (
    SELECT m.id, m.session, m.created
    FROM memory m
    WHERE m.id = ANY(%(ids)s::uuid[]) AND m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term')
      AND $gates AND (%(as_of)s::bigint IS NULL OR least(m.created, m.said) <= %(as_of)s)
), passed AS NOT MATERIALIZED (
    SELECT m.id, m.session, m.created
    FROM memory m
    WHERE m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term')
      AND $filters
), related AS MATERIALIZED (
    SELECT a.id AS near, l.kind, true AS forth, l.target AS other
    FROM near a JOIN link l ON l.namespace = %(namespace)s AND l.memory = a.id
    UNION ALL
    SELECT a.id, l.kind, false, l.memory
    FROM near a JOIN link l ON l.target = a.id AND l.namespace = %(namespace)s
    UNION ALL
    SELECT a.id, 'derivesFrom', true, p.parent
    FROM near a JOIN provenance p ON p.child = a.id AND p.namespace = %(namespace)s AND NOT p.echo
    UNION ALL
    SELECT a.id, 'derivesFrom', false, p.child
    FROM near a JOIN provenance p ON p.namespace = %(namespace)s AND p.parent = a.id AND NOT p.echo
    UNION ALL
    SELECT a.id, 'attachesToGoal', true, o.memory_id
    FROM near a
    JOIN protection g ON g.memory_id = a.id AND g.kind ^@ 'goal:'
    JOIN protection o ON o.namespace = %(namespace)s AND o.kind = g.kind AND o.memory_id <> a.id
), edge AS (
    SELECT near, kind, forth, other
    FROM (
        SELECT r.near, r.kind, r.forth, r.other,
            row_number() OVER (PARTITION BY r.near, r.kind, r.forth ORDER BY p.created DESC, p.id) AS place
        FROM related r JOIN passed p ON p.id = r.other
    ) AS ordered
    WHERE place <= %(each)s
    UNION ALL
    SELECT a.id, n.kind, n.forth, n.id
    FROM near a
    CROSS JOIN LATERAL (
        (
            SELECT 'temporalNext' AS kind, true AS forth, f.id
            FROM passed f
            WHERE f.session = a.session AND (f.created, f.id) > (a.created, a.id)
            ORDER BY f.created, f.id
            LIMIT 1
        ) UNION ALL (
            SELECT 'temporalNext', false, p.id
            FROM passed p
            WHERE p.session = a.session AND (p.created, p.id) < (a.created, a.id)
            ORDER BY p.created DESC, p.id DESC
            LIMIT 1
        ) UNION ALL (
            SELECT 'sameTime', true, t.id
            FROM passed t
            WHERE t.session IS DISTINCT FROM a.session AND t.id <> a.id AND %(within_ms)s::bigint > 0
              AND t.created BETWEEN a.created - %(within_ms)s::bigint AND a.created + %(within_ms)s::bigint
            ORDER BY abs(t.created - a.created), t.id
            LIMIT 1
        )
    ) n
    WHERE NOT %(first)s::boolean
)
SELECT e.near::text, e.kind, e.forth, e.other::text, m.type, m.encoder, halfvec_send(v.vector)
FROM edge e
JOIN memory m ON m.id = e.other
JOIN embedding v ON v.memory_id = m.id

-- :name names_said
-- The texts of memories, and their links to names.
SELECT c.memory_id::text, c.body, c.named
FROM content c
WHERE c.memory_id = ANY(%(ids)s::uuid[]) AND c.namespace = %(namespace)s

-- :name names_shared
-- The latest memories that have each of some names, of those that pass all filters, with what a walk needs to judge these.
-- A name that more than `most` of them have is left out.
WITH passed AS NOT MATERIALIZED (
    SELECT m.id, m.created
    FROM memory m
    WHERE m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term')
      AND $filters
), held AS (
    SELECT h.place, h.id, count(*) OVER (PARTITION BY h.place) AS holders,
        row_number() OVER (PARTITION BY h.place ORDER BY p.created DESC, p.id) AS nth
    FROM name_holders(%(namespace)s, %(words)s::text[], %(written)s::text[], %(any_case)s::boolean[], %(looked)s) h
    JOIN passed p USING (id)
)
SELECT h.place, h.id::text, m.type, m.encoder, halfvec_send(v.vector)
FROM held h
JOIN memory m USING (id)
JOIN embedding v ON v.memory_id = m.id
WHERE h.holders <= coalesce(%(most)s::bigint, h.holders) AND h.nth <= %(each)s
ORDER BY h.place, h.nth

-- :name traces
-- The episodic buffer of an agent: what became of its newest episodes, of one session or of all, in the order of
-- acceptance, 1 for the newest. In the place of what is not alive stands the summary that was made of it, or what that
-- was merged into. A place whose memory nothing stands for any more, or may not be read, is empty: it is in no row. With `as_of`,
-- the newest that had occurred by then.
WITH RECURSIVE trace AS MATERIALIZED (
    SELECT t.memory_id, t.event_id, row_number() OVER (ORDER BY t.seq DESC) AS place
    FROM (
        SELECT e.memory_id, e.event_id, e.seq
        FROM event e
        WHERE e.namespace = %(namespace)s AND e.agent = %(agent)s AND e.outcome IN ('stored', 'reinforced')
          AND (%(session)s::text IS NULL OR e.session = %(session)s)
          AND (%(as_of)s::bigint IS NULL OR e.occurred <= %(as_of)s)
        ORDER BY e.seq DESC
        LIMIT %(places)s
    ) t
), stands (source, id) AS (
    SELECT DISTINCT x.id, x.id
    FROM trace t
    JOIN memory x ON x.id = t.memory_id AND x.namespace = %(namespace)s
    UNION
    SELECT y.source, d.id
    FROM stands y
    CROSS JOIN LATERAL (
        SELECT z.id
        FROM memory x
        JOIN provenance p ON p.namespace = %(namespace)s AND p.parent = x.id AND NOT p.echo
        JOIN memory z ON z.id = p.child AND z.made_by IS NOT NULL AND z.tier <> 'draft'
        WHERE x.id = y.id AND x.tier NOT IN ('short-term', 'long-term')
        OFFSET 0 -- each by its index: how many the recursion finds nobody knows
    ) d
)
SELECT $remembered, 0::float8, NULL::integer[], m.encoder, halfvec_send(e.vector), t.event_id,
    t.place
FROM trace t
JOIN stands y ON y.source = t.memory_id
JOIN memory m ON m.id = y.id AND m.namespace = %(namespace)s AND m.tier IN ('short-term', 'long-term')
      AND $gates AND $filed AND (%(as_of)s::bigint IS NULL OR least(m.created, m.said) <= %(as_of)s)
JOIN content c ON c.memory_id = m.id
JOIN strength s ON s.memory_id = m.id
JOIN embedding e ON e.memory_id = m.id

-- :name encoded
-- How many of a namespace's memories each encoder has encoded.
SELECT encoder, count(*) FROM memory
WHERE namespace = %(namespace)s AND tier IN ('short-term', 'long-term')
GROUP BY encoder

-- :name reencode_count
-- How many memories another encoder has encoded: by the index, from one pair of namespace and encoder to the next, or each
-- start would read all memories.
WITH RECURSIVE pair AS (
    (SELECT namespace, encoder FROM embedding ORDER BY namespace, encoder LIMIT 1)
    UNION ALL
    SELECT behind.namespace, behind.encoder
    FROM pair
    CROSS JOIN LATERAL (
        SELECT e.namespace, e.encoder FROM embedding e
        WHERE (e.namespace, e.encoder) > (pair.namespace, pair.encoder)
        ORDER BY e.namespace, e.encoder
        LIMIT 1
    ) behind
)
SELECT count(*)
FROM pair
JOIN embedding e ON e.namespace = pair.namespace AND e.encoder = pair.encoder
WHERE pair.encoder <> %(encoder)s

-- :name reencode_next
-- Memories that another encoder has encoded, by id.
SELECT m.id::text, m.shard, m.namespace, m.encoder, m.seq, c.body, m.made_by IS NOT NULL
FROM memory m
JOIN content c ON c.memory_id = m.id
WHERE m.encoder <> %(encoder)s AND m.id > %(after)s::uuid
ORDER BY m.id
LIMIT %(limit)s

-- :name reencode_waiting
-- Of the memories, those that are alive and that another encoder has encoded, still: how many are as they were, and how
-- many there are.
SELECT count(*) FILTER (WHERE m.seq = w.seq), count(*)
FROM unnest(%(ids)s::uuid[], %(seqs)s::bigint[]) AS w (id, seq)
JOIN memory m ON m.id = w.id
JOIN content c ON c.memory_id = m.id
WHERE m.encoder <> %(encoder)s

-- :name echoed
-- The memory that an episode repeated, by the memory id that was told of the episode; not if an order took the episode.
SELECT p.parent::text
FROM provenance p
WHERE p.child = %(id)s::uuid AND p.echo AND NOT EXISTS (SELECT FROM erased x WHERE x.memory_id = p.child)
ORDER BY p.seq DESC
LIMIT 1

-- :name memory_shown
-- One memory as a client sees it; content and strength only while it is alive. With what it is linked with, as
-- `memories_listed`.
SELECT $shown, c.named, $edges
FROM memory own
JOIN memory m ON m.id = own.id
LEFT JOIN content c ON c.memory_id = m.id
LEFT JOIN strength s ON s.memory_id = m.id
WHERE own.id = %(id)s::uuid

-- :name slot_shown
-- The latest memory that fills a slot, as a client sees it, if the gates let it through; an earlier one is none in its place.
SELECT $shown, c.named, $edges
FROM (
    SELECT x.*
    FROM content f
    JOIN memory x ON x.id = f.memory_id
    WHERE f.namespace = %(namespace)s AND f.key = ANY(%(slot_keys)s)
      AND (f.path = ANY(%(slot_paths)s::text[]) OR %(slot_paths)s::text[] IS NULL AND f.path IS NULL)
      AND x.tier IN ('short-term', 'long-term')
    ORDER BY x.said DESC, x.said_offset DESC
    LIMIT 1
) own
JOIN memory m ON m.id = own.id
JOIN content c ON c.memory_id = m.id
JOIN strength s ON s.memory_id = m.id
WHERE $gates

-- :name paths_listed
-- The paths that something is filed at that is alive and passes the gates, from behind one on. From each path it is one
-- step by the index to the next, however much is filed at it.
WITH RECURSIVE step (path) AS (
    (
        SELECT c.path
        FROM content c
        WHERE c.namespace = %(namespace)s AND c.path IS NOT NULL AND $branch
          AND (%(behind)s::text IS NULL OR c.path > %(behind)s)
        ORDER BY c.path
        LIMIT 1
    )
    UNION ALL
    SELECT (
        SELECT c.path
        FROM content c
        WHERE c.namespace = %(namespace)s AND c.path IS NOT NULL AND $branch AND c.path > t.path
        ORDER BY c.path
        LIMIT 1
    )
    FROM step t
    WHERE t.path IS NOT NULL
)
SELECT t.path
FROM step t
WHERE t.path IS NOT NULL AND EXISTS (
    SELECT
    FROM content c
    JOIN memory m ON m.id = c.memory_id
    WHERE c.namespace = %(namespace)s AND c.path = t.path AND m.tier IN ('short-term', 'long-term') AND $gates
      AND $attributes
)
LIMIT %(limit)s

-- :name memories_listed
-- The memories that pass, in the order in which they were said last, from behind one on (of its moment all, where that one
-- was said again since), each with what it is linked with that is kept and passes the gates; what was said before it and is
-- alive; and whose goals need it.
WITH passed AS MATERIALIZED (
    SELECT m.id
    FROM memory m
    WHERE m.namespace = %(namespace)s AND $filters
      AND (%(behind)s::bigint IS NULL OR (m.said, m.said_offset) > (%(behind)s, coalesce(
          (SELECT b.said_offset FROM memory b WHERE b.id = %(behind_id)s::uuid AND b.said = %(behind)s), -1)))
    ORDER BY m.said, m.said_offset
    LIMIT %(limit)s
), told AS (
    SELECT own.id, $edges AS edges,
        ARRAY(
            SELECT substr(g.kind, 6) FROM protection g WHERE g.memory_id = own.id AND g.kind ^@ 'goal:' ORDER BY g.kind
        ) AS goals,
        (
            SELECT m.id::text
            FROM memory m
            WHERE m.namespace = %(namespace)s AND m.agent = own.agent AND m.session = own.session
              AND (m.created, m.id) < (own.created, own.id) AND m.tier IN ('short-term', 'long-term') AND $gates
            ORDER BY m.created DESC, m.id DESC
            LIMIT 1
        ) AS follows
    FROM passed p
    JOIN memory own USING (id)
)
SELECT $shown, c.named, t.edges, t.goals, t.follows
FROM told t
JOIN memory m USING (id)
LEFT JOIN content c ON c.memory_id = m.id
LEFT JOIN strength s ON s.memory_id = m.id
ORDER BY m.said, m.said_offset

-- :name sight
-- Whose rows this transaction may see, where the role is the tenants': names and beginnings, with commas between them; and the
-- purpose that it reads for, which profiles of subjects may consent to.
SELECT set_config('memquorum.namespaces', %(namespaces)s, true), set_config('memquorum.purpose', %(purpose)s, true)

-- :name sight_planned
-- The same, and the next statement is run by the plan that the connection has for it, whatever its parameters.
SELECT set_config('memquorum.namespaces', %(namespaces)s, true), set_config('memquorum.purpose', %(purpose)s, true),
    set_config('plan_cache_mode', 'force_generic_plan', true)

-- :name as_tenant
-- For the rest of the transaction, rows are seen as a tenant sees them.
SET LOCAL ROLE memquorum_tenant

-- :name as_accounts
-- For the rest of the transaction, all rows are seen again, of the tables that tell nobody's content.
SET LOCAL ROLE memquorum_accounts

-- :name as_reader
-- For the rest of the transaction, all rows are seen.
SET LOCAL ROLE memquorum_reader

-- :name as_keeper
-- For the rest of the session: what it keeps in order, it may not read.
SET ROLE memquorum_keeper

-- :name journal_listen
-- Hears of every batch that is applied.
LISTEN journal

-- :name ping
-- Whether the database answers.
SELECT 1

-- :name audit_held
-- Those of the memories whose content is still there.
SELECT memory_id::text FROM content WHERE memory_id = ANY(%(ids)s::uuid[])
UNION ALL
SELECT memory_id::text FROM replaced WHERE memory_id = ANY(%(ids)s::uuid[])
UNION ALL
SELECT memory_id::text FROM experience WHERE memory_id = ANY(%(ids)s::uuid[])

-- :name content_held
-- Whether the store has the content of a memory.
SELECT EXISTS (SELECT FROM content WHERE memory_id = %(id)s::uuid)

-- :name audit_shard
-- Where a shard stands, and the next record of the accepted stream, as an audit compares them.
SELECT s.shard, s.seq, s.hash, s.as_of, s.interactions, s.last_epoch, s.last_epoch_at, s.decided_seq,
    s.alive, s.unattested, s.asked_at, s.contested_at, s.weighed_to, s.replaced_after, c.next_offset AS accepted
FROM shard s
LEFT JOIN cursor c ON c.shard = s.shard AND c.topic = %(accepted)s
WHERE s.shard = %(shard)s

-- :name audit_journal
-- A shard's journal in order.
SELECT shard, seq, as_of, effect, event_id, namespace, memory_id::text, source_topic, source_partition, source_offset,
    entry, previous_hash, hash
FROM journal
WHERE shard = %(shard)s
ORDER BY seq

-- :name audit_event
-- First outcomes of events, in the order of the journal.
SELECT namespace, event_id, shard, outcome, memory_id::text, seq, agent, subject, source, session, type, occurred
FROM event
WHERE shard = %(shard)s
ORDER BY seq, namespace, event_id

-- :name audit_used
-- Memories that uses named, in the order of the journal.
SELECT memory_id::text, shard, seq, namespace, applied
FROM used
WHERE shard = %(shard)s
ORDER BY seq, used.memory_id

-- :name audit_decision
-- Decisions in order.
SELECT $row(decision)
FROM decision
WHERE shard = %(shard)s
ORDER BY epoch

-- :name audit_outcome
-- What they meant for each memory.
SELECT shard, epoch, position, memory_id::text, kind, outcome, reason, yes, weight_ppm, needed_ppm, as_of, namespace, policy
FROM outcome
WHERE shard = %(shard)s
ORDER BY epoch, position, outcome.memory_id

-- :name audit_ballot
-- Who voted what.
SELECT shard, epoch, position, member, yes, score_ppm, terms
FROM ballot
WHERE shard = %(shard)s
ORDER BY epoch, position, member

-- :name audit_memory
-- Memories by id, which for UUIDs is the order of their text.
SELECT $row(memory)
FROM memory
WHERE shard = %(shard)s
ORDER BY memory.id

-- :name audit_strength
-- Strengths by memory.
SELECT memory_id::text, shard, tier, salience_ppm, created, last_access, touched, accesses, reinforced, kept, rest, replays,
    doubts, rehearsed, fades
FROM strength
WHERE shard = %(shard)s
ORDER BY strength.memory_id

-- :name audit_content
-- Which memories have content, how long it is and whose. Content of no memory at all is shown with shard 0.
SELECT c.memory_id::text, char_length(c.body) AS characters, c.namespace
FROM content c
LEFT JOIN memory m ON m.id = c.memory_id
WHERE coalesce(m.shard, 0) = %(shard)s
ORDER BY c.memory_id

-- :name audit_embedding
-- Which memories have a vector, and by which encoder.
SELECT e.memory_id::text, e.namespace, e.encoder
FROM embedding e
LEFT JOIN memory m ON m.id = e.memory_id
WHERE coalesce(m.shard, 0) = %(shard)s
ORDER BY e.memory_id

-- :name audit_sentence
-- Which summaries have vectors of their sentences, and long texts of their passages, and by which encoder.
SELECT s.memory_id::text, s.namespace, s.encoder
FROM sentence s
LEFT JOIN memory m ON m.id = s.memory_id
WHERE coalesce(m.shard, 0) = %(shard)s
GROUP BY s.memory_id, s.namespace, s.encoder
ORDER BY s.memory_id

-- :name audit_replaced
-- Which memories are kept for reads of the past alone, how long each is and what took its place; of what was replaced
-- after an entry. Of none at all is shown with shard 0.
SELECT r.memory_id::text, char_length(r.body) AS characters, r.namespace, r.newer::text, r.encoder,
    sha256(convert_to(ROW(r.body, r.key, r.path, r.attributes, r.vector, r.passages)::text, 'UTF8')) AS digest
FROM replaced r
LEFT JOIN memory m ON m.id = r.memory_id
WHERE coalesce(m.shard, 0) = %(shard)s AND coalesce(m.seq, 0) > %(replaced_after)s
ORDER BY r.memory_id

-- :name audit_experience
-- Which finished tasks have their texts and their vector, by which encoder, and the digest of all that a trial of one reads.
SELECT e.memory_id::text, e.namespace, char_length(e.body) AS characters, e.encoder, e.digest
FROM experience e
LEFT JOIN memory m ON m.id = e.memory_id
WHERE coalesce(m.shard, 0) = %(shard)s
ORDER BY e.memory_id

-- :name audit_task
-- Finished tasks, in the order of the journal.
SELECT $row(task)
FROM task
WHERE shard = %(shard)s
ORDER BY seq

-- :name audit_feedback
-- What is said to have helped in them, in the order of the journal.
SELECT $row(feedback)
FROM feedback
WHERE shard = %(shard)s
ORDER BY seq, feedback.memory_id

-- :name audit_trial
-- What verifiers found, in the order of the journal.
SELECT $row(trial)
FROM trial
WHERE shard = %(shard)s
ORDER BY seq

-- :name audit_admission
-- Where memories stand on their way into experience.
SELECT $row(admission)
FROM admission
WHERE shard = %(shard)s
ORDER BY admission.memory_id

-- :name audit_weight
-- The versions of weights, in the order of the journal.
SELECT $row(weight)
FROM weight
WHERE shard = %(shard)s
ORDER BY seq, weight.memory_id, weight.version

-- :name audit_dropped
-- Dropped episodes whose keys are still there.
SELECT memory_id::text, shard, namespace, destroy_at
FROM dropped
WHERE shard = %(shard)s
ORDER BY dropped.memory_id

-- :name audit_provenance
-- What episodes were made of, in the order of the journal.
SELECT shard, seq, namespace, child::text, parent::text, echo, follows, agent, merged
FROM provenance
WHERE shard = %(shard)s
ORDER BY seq, parent

-- :name audit_conflict
-- Memories that say otherwise than older ones, in the order of the journal.
SELECT shard, seq, namespace, newer::text, older::text, stated, statements, compared, again
FROM conflict
WHERE shard = %(shard)s
ORDER BY seq, older

-- :name audit_link
-- What memories are linked with, in the order of the journal.
SELECT shard, seq, namespace, memory::text, kind, target::text
FROM link
WHERE shard = %(shard)s
ORDER BY seq, kind COLLATE "C", target

-- :name audit_quote
-- The sentences of summaries, in the order of the journal.
SELECT shard, seq, namespace, summary::text, place, source::text, start, finish, section, said_at, sentence
FROM quote
WHERE shard = %(shard)s
ORDER BY seq, place

-- :name audit_patch
-- The log of the roll-ups, in the order of the journal.
SELECT $row(patch)
FROM patch
WHERE shard = %(shard)s
ORDER BY seq, place

-- :name audit_erased
-- Erased episodes, in the order of the journal.
SELECT memory_id::text, shard, seq, namespace, was, summary
FROM erased
WHERE shard = %(shard)s
ORDER BY seq, erased.memory_id

-- :name audit_erasure
-- Orders that were carried out.
SELECT shard, namespace, order_id::text, selector, value, signer, ordered_by, reference, ordered_at, ordered, accepted_at,
    accepted_offset, first_seq, last_seq, memories, episodes, residue_until, summaries, anew, epoch, head
FROM erasure
WHERE shard = %(shard)s
ORDER BY first_seq

-- :name audit_living
-- How many memories of each namespace are alive; those where none is left out.
SELECT shard, namespace, alive
FROM living
WHERE shard = %(shard)s AND alive <> 0
ORDER BY namespace COLLATE "C"

-- :name audit_let_go
-- What decisions took of namespaces.
SELECT shard, namespace, epoch, as_of, forgotten, held_back
FROM let_go
WHERE shard = %(shard)s
ORDER BY epoch, namespace COLLATE "C"

-- :name audit_disclosure
-- What was sent to whom, in the order of the journal.
SELECT shard, seq, namespace, memory_id::text, recipient, sent_at
FROM disclosure
WHERE shard = %(shard)s
ORDER BY seq, disclosure.memory_id

-- :name audit_profile
-- Profiles of subjects, in the order of the journal.
SELECT shard, seq, namespace, subject, order_id::text, stores, private_until, retention, consents, listed, accepted_at
FROM profile
WHERE shard = %(shard)s
ORDER BY seq

-- :name audit_reward
-- What agents were given, in the order of the journal.
SELECT shard, seq, namespace, agent, memory_id::text, kind, amount_ppm, as_of
FROM reward
WHERE shard = %(shard)s
ORDER BY seq, reward.memory_id, kind COLLATE "C"

-- :name audit_spent
-- What draws have cost, in the order of the journal.
SELECT shard, seq, namespace, memory_id::text, spent_ppm
FROM spent
WHERE shard = %(shard)s
ORDER BY seq, spent.memory_id

-- :name audit_protection
-- Orders to protect that stand.
SELECT memory_id::text, kind, shard, seq, namespace, order_id::text, signer, ordered_by, reference, accepted_at
FROM protection
WHERE shard = %(shard)s
ORDER BY protection.memory_id, kind COLLATE "C"

-- :name audit_answered
-- Orders that were answered, in the order of the journal.
SELECT shard, digest, seq, namespace, effect
FROM answered
WHERE shard = %(shard)s
ORDER BY seq

-- :name audit_bodies
-- Contents beside the commitments that they must have.
SELECT m.shard, m.id::text, m.commitment, c.body
FROM content c
JOIN memory m ON m.id = c.memory_id
UNION ALL
SELECT m.shard, m.id::text, m.commitment, r.body
FROM replaced r
JOIN memory m ON m.id = r.memory_id
UNION ALL
SELECT m.shard, m.id::text, m.commitment, x.body
FROM experience x
JOIN memory m ON m.id = x.memory_id
ORDER BY 1, 2

-- :name audit_contexts
-- Finished tasks with all that a trial of one reads, and the digest that is kept of that.
SELECT x.digest, x.body, halfvec_send(x.vector), $row(task), $row(memory)
FROM experience x
JOIN task ON task.memory_id = x.memory_id
JOIN memory ON memory.id = x.memory_id
ORDER BY memory.shard, memory.id

-- :name audit_strays
-- Rows of shards that the cluster does not have, one of each table.
(SELECT 'shard' AS "table", shard FROM shard WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'journal', shard FROM journal WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'event', shard FROM event WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'used', shard FROM used WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'decision', shard FROM decision WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'outcome', shard FROM outcome WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'ballot', shard FROM ballot WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'memory', shard FROM memory WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'strength', shard FROM strength WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'dropped', shard FROM dropped WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'provenance', shard FROM provenance WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'task', shard FROM task WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'feedback', shard FROM feedback WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'trial', shard FROM trial WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'admission', shard FROM admission WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'weight', shard FROM weight WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'link', shard FROM link WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'patch', shard FROM patch WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'erased', shard FROM erased WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'living', shard FROM living WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'protection', shard FROM protection WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'answered', shard FROM answered WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'disclosure', shard FROM disclosure WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'profile', shard FROM profile WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'reward', shard FROM reward WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'spent', shard FROM spent WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'let_go', shard FROM let_go WHERE NOT shard = ANY(%(shards)s) LIMIT 1)
UNION ALL (SELECT 'erasure', shard FROM erasure WHERE NOT shard = ANY(%(shards)s) LIMIT 1)

-- :name kept_memories
-- Everything that the state digest is taken over, in its order; a namespace, or all. Content with what it is filed under.
SELECT $row(memory),
    $row(strength),
    CASE WHEN num_nulls(c.key, c.path, c.attributes) = 3 THEN c.body
        ELSE c.body || E'\n' || jsonb_build_array(c.key, c.path, c.attributes) END,
    halfvec_send(e.vector)
FROM memory
LEFT JOIN strength ON strength.memory_id = memory.id
LEFT JOIN content c ON c.memory_id = memory.id
LEFT JOIN embedding e ON e.memory_id = memory.id
WHERE %(namespace)s::text IS NULL OR memory.namespace = %(namespace)s
ORDER BY memory.shard, memory.id

-- :name rows_named
-- The columns of what {rows} yields, and no row.
SELECT r.* FROM ({rows}) AS r LIMIT 0

-- :name rows_summed
-- How many rows {rows} yields, and the sums of their fingerprints, which are the same in whatever order they come: 128 bits
-- of the SHA-256 of each row as text, as two whole numbers.
SELECT count(*), coalesce(sum(('x' || encode(substr(f.hash, 1, 8), 'hex'))::bit(64)::bigint), 0),
    coalesce(sum(('x' || encode(substr(f.hash, 9, 8), 'hex'))::bit(64)::bigint), 0)
FROM (SELECT sha256(convert_to(ROW({columns})::text, 'UTF8')) AS hash FROM ({rows}) AS r WHERE {which}) AS f

-- :name rows_of_any_namespace
-- All of them: for `rows_summed`.
%(namespace)s::text IS NULL OR true

-- :name rows_of_a_namespace
-- A namespace's, or all: for `rows_summed`.
%(namespace)s::text IS NULL OR r.namespace = %(namespace)s

-- :name namespace_is_known
-- Whether a database holds anything of a namespace.
SELECT EXISTS (SELECT FROM event WHERE namespace = %(namespace)s)
    OR EXISTS (SELECT FROM memory WHERE namespace = %(namespace)s)
    OR EXISTS (SELECT FROM answered WHERE namespace = %(namespace)s)
    OR EXISTS (SELECT FROM erasure WHERE namespace = %(namespace)s)
    OR EXISTS (SELECT FROM protection WHERE namespace = %(namespace)s)

-- :name store_is_empty
-- Whether nothing was ever applied: only such a database may be rebuilt into.
SELECT NOT (
    EXISTS (SELECT FROM journal) OR EXISTS (SELECT FROM memory) OR EXISTS (SELECT FROM event)
    OR EXISTS (SELECT FROM shard WHERE seq > 0)
)

-- :name alive_without_content
-- Memories that are alive, and finished tasks, whose content is not there: it could not be opened any more when they were rebuilt.
SELECT s.memory_id::text
FROM strength s
LEFT JOIN content c USING (memory_id)
WHERE c.memory_id IS NULL
UNION ALL
SELECT m.id::text
FROM memory m
LEFT JOIN experience x ON x.memory_id = m.id
WHERE m.tier = 'finished' AND x.memory_id IS NULL
ORDER BY 1

-- :name sweep_table
-- Writes a table and its indexes into new files: deleted rows are not copied. {table} is filled in as an identifier. No
-- statistics, which would be samples of what the table holds.
VACUUM (FULL) {table}

-- :name sweep_size
-- Of a table with its indexes and what lies beside it, in bytes.
SELECT pg_total_relation_size(to_regclass(%(table)s))

-- :name sweep_may_drop_log
-- Whether the role may. A server of others keeps that to itself.
SELECT has_function_privilege('pg_switch_wal()', 'EXECUTE') AND has_function_privilege('pg_ls_waldir()', 'EXECUTE')
    AND pg_has_role('pg_checkpoint', 'USAGE')

-- :name sweep_log
-- Begins another file of the write-ahead log.
SELECT pg_switch_wal()

-- :name sweep_checkpoint
-- From here on what lies before in the log is not needed.
CHECKPOINT

-- :name sweep_log_size
-- Of all files of the write-ahead log, in bytes.
SELECT sum(size) FROM pg_ls_waldir()

-- :name sweep_recycles
-- Whether old files of the log are kept to be written again.
SELECT current_setting('wal_recycle')::boolean

-- :name receipt_erasure
-- Where an erasure stands: its shard, its entries of the journal, the signed head behind them, and the epoch in which the
-- members attested it.
SELECT namespace, shard, first_seq, last_seq, head, epoch FROM erasure WHERE order_id = %(id)s::uuid
ORDER BY accepted_at, shard
LIMIT 1

-- :name receipt_entries
-- The entries with their places in the chain.
SELECT entry, previous_hash, hash FROM journal
WHERE shard = %(shard)s AND seq BETWEEN %(first)s AND %(last)s
ORDER BY seq

-- :name receipt_decision
-- A decision with its certificate.
SELECT seq, pre_prepare, commits FROM decision WHERE shard = %(shard)s AND epoch = %(epoch)s

-- :name receipt_configurations
-- The decisions that changed a shard's configuration before a sequence, or all, in their order.
SELECT d.pre_prepare, d.commits
FROM decision d JOIN outcome o USING (shard, epoch)
WHERE d.shard = %(shard)s AND d.trigger = 'order' AND o.kind = 'configure' AND o.outcome = 'configured'
    AND (%(before)s::bigint IS NULL OR d.seq < %(before)s)
ORDER BY d.seq
