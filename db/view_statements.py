"""The statements of a replica's view; what they are for, `db.view` says."""

from __future__ import annotations

FACTS = """
FROM json_each(?) w
CROSS JOIN place p ON p.memory_id = w.value
CROSS JOIN memory m ON m.at = p.at AND m.memory_id = p.memory_id
LEFT JOIN anew a ON a.memory_id = m.memory_id AND a.first = m.encoder
"""
KNOWN = f"""
SELECT m.memory_id, namespace, agent, created, last_access, touched, salience_ppm, reinforced,
       reward_ppm, confidence_ppm, uncertainty_ppm, commitment, sealed_content,
       coalesce(a.sealed_embedding, m.sealed_embedding), coalesce(a.encoder, m.encoder), sealed_signed,
       witnessed, reads, sealed_counts, alike, accepted_offset, role, said, said_offset, vouchers, subject, source,
       sensitivity_ppm, purposes, jurisdictions, m.slot, m.label, m.supersedes, m.summary, m.linked
{FACTS}"""
KNOWN_SEALED = KNOWN.replace("m.at = p.at", "m.at = abs(p.at)")
# Includes sealed memories: what was made of them is no less restricted than they are.
MARKS = """
SELECT m.memory_id, subject, source, sensitivity_ppm, purposes, jurisdictions, m.slot, m.label
FROM json_each(?1) w
CROSS JOIN place p ON p.memory_id = w.value
CROSS JOIN memory m ON m.memory_id = p.memory_id AND m.at = abs(p.at)
WHERE m.namespace = ?2
"""
# A task that is to be done until some time decays from that time on.
FADING = f"""
SELECT w.key, m.memory_id, m.namespace,
       max(m.last_access, coalesce((
           SELECT g.deadline FROM weight g WHERE g.namespace = m.namespace AND g.memory_id = m.memory_id), 0)),
       coalesce(a.sealed_embedding, m.sealed_embedding), coalesce(a.encoder, m.encoder), m.sealed_content,
       m.sealed_counts, m.alike
{FACTS}"""
EXPERIENCED = "INSERT OR IGNORE INTO recent VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
TRIM = """
DELETE FROM recent WHERE namespace = ?1 AND agent = ?2 AND accepted_offset <= (
    SELECT accepted_offset FROM recent WHERE namespace = ?1 AND agent = ?2
    ORDER BY accepted_offset DESC LIMIT 1 OFFSET ?3)
"""
# The ages are counted in the key alone, so that no row is read that is too old.
RECENT = """
SELECT r.memory_id, sealed_content, coalesce(a.sealed_embedding, r.sealed_embedding), coalesce(a.encoder, r.encoder),
       r.agent, sealed_signed, occurred_at, repeats
FROM (
    SELECT rowid, row_number() OVER (PARTITION BY agent ORDER BY accepted_offset DESC) AS age
    FROM recent WHERE namespace = ?1 AND accepted_offset <= ?2) late
JOIN recent r ON r.rowid = late.rowid
LEFT JOIN anew a ON a.memory_id = r.memory_id AND a.first = r.encoder
WHERE age <= ?3
ORDER BY accepted_offset, agent
"""
ANEW = """
INSERT INTO anew VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT DO UPDATE SET encoder = ?3, memory_seq = ?4, sealed_embedding = ?5
WHERE encoder = ?2 AND memory_seq < ?4
"""
TOUCH = """
UPDATE memory SET last_access = max(last_access, ?1), touched = ?2, reinforced = reinforced + (?3 IS NOT NULL),
       reads = reads + ?6, salience_ppm = max(salience_ppm, coalesce(?3, 0))
WHERE at = (SELECT at FROM place WHERE memory_id = ?4) AND memory_id = ?4 AND namespace = ?5
"""
# The same rule as the journal's (core/journal/repetitions): its own speaker says it again, later than before.
SAID_AGAIN = """
UPDATE memory SET said = ?3, said_offset = ?4
WHERE at = (SELECT at FROM place WHERE memory_id = ?1) AND memory_id = ?1 AND namespace = ?2
AND agent = ?5 AND (role IS NULL OR ?6 IS NULL OR role = ?6) AND (said, said_offset) < (?3, ?4)
"""
WITNESS = """
WITH both AS (
    SELECT m.at, agent FROM place p JOIN memory m ON m.at = p.at AND m.memory_id = p.memory_id
    WHERE p.memory_id IN (?1, ?2) AND namespace = ?3)
UPDATE memory SET witnessed = witnessed + 1
WHERE at IN (SELECT at FROM both) AND (SELECT count(DISTINCT agent) FROM both) = 2
"""
# Each of the two agents vouches for what the other said, once, as long as fewer than ?4 do.
VOUCH = """
WITH both AS (
    SELECT m.at, agent FROM place p JOIN memory m ON m.at = p.at AND m.memory_id = p.memory_id
    WHERE p.memory_id IN (?1, ?2) AND namespace = ?3)
UPDATE memory SET vouchers = vouchers || b.agent || char(10)
FROM both b
WHERE memory.at IN (SELECT at FROM both) AND b.at <> memory.at AND b.agent <> memory.agent
  AND instr(char(10) || vouchers, char(10) || b.agent || char(10)) = 0
  AND length(vouchers) - length(replace(vouchers, char(10), '')) < ?4
"""
# The same rule as the journal's: once in its time, not if it was rehearsed since it was read, and raised only if it was
# used since.
REHEARSE = """
UPDATE memory SET salience_ppm = min(1000000, salience_ppm * ?3 / 1000000), rehearsed = ?4
WHERE at = (SELECT at FROM place WHERE memory_id = ?1) AND memory_id = ?1 AND namespace = ?2
AND rehearsed <= ?6 AND (rehearsed = 0 OR ?4 - rehearsed >= ?5)
AND (?3 <= 1000000 OR (reads + reinforced > 0 AND last_access > rehearsed))
"""
# The latest use of a sealed memory that was read since.
LATE = """
INSERT INTO late
SELECT m.memory_id, ?3, ?4 FROM place p JOIN memory m ON m.at = -p.at AND m.memory_id = p.memory_id
WHERE p.memory_id = ?1 AND p.at < 0 AND m.namespace = ?2
ON CONFLICT DO UPDATE SET accepted_offset = max(accepted_offset, ?3), accessed_at = max(accessed_at, ?4)
"""
# The latest use after the vote to forget. A memory that the view knows to rest has only late uses; for one that was
# used at the time when it was forgotten, the view does not know whether it rests. One that was forgotten lately must
# have been used since.
USED_SINCE = """
SELECT 1 FROM place p JOIN memory m ON m.at = abs(p.at) AND m.memory_id = p.memory_id
LEFT JOIN late l ON l.memory_id = p.memory_id AND p.at < 0
WHERE p.memory_id = ?1 AND m.namespace = ?2 AND (p.at > 0 OR l.memory_id IS NOT NULL)
AND coalesce(l.accepted_offset, m.touched) >= ?3 AND coalesce(l.accessed_at, m.last_access) >= ?4
AND NOT EXISTS (
    SELECT 1 FROM forgotten f, json_each(f.memory_ids) w
    WHERE f.shard = ?5 AND w.value = ?1 AND f.accepted_offset >= min(m.touched, ?3))
AND NOT EXISTS (SELECT 1 FROM answered WHERE shard = ?5 AND digest = ?6)
"""
# Known, or sealed, in the namespace that ordered it: what is protected elsewhere is not for that order to say.
PROTECT = """
INSERT OR IGNORE INTO protected
SELECT m.memory_id, ?2, ?5, ?3, m.namespace, ?6, ?7
FROM place p JOIN memory m ON m.at = abs(p.at) AND m.memory_id = p.memory_id
WHERE p.memory_id = ?1 AND m.namespace = ?4
"""
# Goals of which nobody spoke since: of one that was spoken of, older needs stay.
LAPSE = """
DELETE FROM protected WHERE shard = ?1 AND used_at <= ?2 AND NOT EXISTS (
    SELECT 1 FROM protected p
    WHERE p.namespace = protected.namespace AND p.kind = protected.kind AND p.used_at > ?2)
"""
# The protected memories that count against a namespace's limit on pins, or on memories that goals need.
GUARDED = """
SELECT count(*) FROM (SELECT DISTINCT memory_id, kind FROM protected WHERE namespace = ?1 AND kind >= ?2 AND kind < ?3)
"""
# The journal knows which of two orders of one kind stands; a view may not, for it sees decisions made in between only
# later. So it keeps both, and an order that ends one ends both; as in the journal, an operator's protection is ended by
# an operator only.
UNPROTECT = """
DELETE FROM protected WHERE memory_id = ?1 AND kind = ?2 AND namespace = ?4 AND of_operator <= ?6
AND EXISTS (
    SELECT 1 FROM protected p
    WHERE p.memory_id = ?1 AND p.kind = ?2 AND p.namespace = ?4 AND p.of_operator <= ?6 AND p.order_id = ?5)
"""
# Decided two epochs ago and untouched since: the journal has applied the decision, and nothing voids it any more.
OVER = """
SELECT w.value, m.at, f.until, f.epoch
FROM forgotten f CROSS JOIN json_each(f.memory_ids) w
LEFT JOIN place p ON p.memory_id = w.value
LEFT JOIN memory m ON m.at = p.at AND m.memory_id = p.memory_id
WHERE f.shard = ?1 AND f.epoch <= ?2 AND coalesce(m.touched, 0) <= f.accepted_offset
"""
# Sealed: its place is turned below zero, so that no question finds it but this one, and can be turned back.
SEAL = "UPDATE place SET at = -at WHERE at > 0 AND memory_id IN (SELECT value FROM json_each(?))"
# Back, at another place: forgotten again, it does not rest until the time of before.
BACK = """
UPDATE memory SET at = (SELECT max(at) + 1 FROM memory), last_access = max(last_access, ?2), touched = ?3, rehearsed = 0
WHERE at = (SELECT abs(at) FROM place WHERE memory_id = ?1) AND memory_id = ?1
"""
PLACE_BACK = """
UPDATE place SET at = (SELECT max(at) FROM memory)
WHERE memory_id = ?1 AND EXISTS (
    SELECT 1 FROM memory m WHERE m.at = (SELECT max(at) FROM memory) AND m.memory_id = ?1)
"""
# A memory that was brought back need not make room before this epoch.
RESTS = "INSERT OR REPLACE INTO back VALUES (?, ?, ?)"
RESTED = "DELETE FROM back WHERE shard = ? AND until <= ?"
STILL_RESTS = "SELECT memory_id FROM back b JOIN shard s ON s.shard = b.shard AND b.until > s.epoch"
RESTING = """
SELECT w.key, m.memory_id, namespace, last_access,
       coalesce(a.sealed_embedding, m.sealed_embedding), coalesce(a.encoder, m.encoder), m.sealed_content,
       m.sealed_counts, m.alike
FROM json_each(?) w
CROSS JOIN place p ON p.memory_id = w.value
CROSS JOIN memory m ON m.at = abs(p.at) AND m.memory_id = p.memory_id
LEFT JOIN anew a ON a.memory_id = m.memory_id AND a.first = m.encoder
"""
# The memories whose grace time is over and that were not restored meanwhile.
ENDED = """
SELECT p.memory_id, m.at
FROM sealed s CROSS JOIN json_each(s.places) w
JOIN memory m ON m.at = w.value
JOIN place p ON p.memory_id = m.memory_id AND p.at = -m.at
WHERE s.shard = ?1 AND s.until <= ?2
"""
PURGE = "DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))"
REMEMBER = f"""
INSERT INTO memory SELECT NULL, {", ".join(f"?{n}" for n in range(1, 36))}, 0
WHERE NOT EXISTS (SELECT 1 FROM place WHERE memory_id = ?1)
"""
# A text of so many steps of worth was accepted (core/worth).
WEIGHED = "INSERT INTO worth VALUES (?, ?, ?, 1) ON CONFLICT DO UPDATE SET texts = texts + 1"
WORTHS = "SELECT alike, step, texts FROM worth WHERE namespace = ?"
# A memory as its namespace's budget counts it.
WEIGH = f"INSERT OR IGNORE INTO weight VALUES ({', '.join('?' * 15)})"
MOVED = "UPDATE weight SET tier = ? WHERE namespace = ? AND memory_id = ?"
TIER = "SELECT tier FROM weight WHERE namespace = ? AND memory_id = ?"
# A new value of a slot takes the place of the old one without a vote, as in the journal.
GIVES_WAY = """
UPDATE weight SET tier = 'superseded'
WHERE namespace = ?1 AND slot = ?2 AND (tier = 'short-term' OR (?7 AND tier = 'long-term')) AND memory_id <> ?3
AND EXISTS (
    SELECT 1 FROM place p JOIN memory m ON m.at = abs(p.at) AND m.memory_id = p.memory_id
    WHERE p.memory_id = weight.memory_id AND (m.agent = ?4 OR ?5) AND m.said <= ?6)
AND NOT EXISTS (SELECT 1 FROM protected p WHERE p.memory_id = weight.memory_id AND p.kind <> 'hold')
"""
# An agent may take back a memory that it alone has said, without a vote, as in the journal.
WITHDRAWN = """
UPDATE weight SET tier = 'superseded'
WHERE namespace = ?1 AND memory_id IN (SELECT value FROM json_each(?2)) AND tier = 'short-term'
AND EXISTS (
    SELECT 1 FROM place p JOIN memory m ON m.at = abs(p.at) AND m.memory_id = p.memory_id
    WHERE p.memory_id = weight.memory_id AND m.agent = ?3 AND m.said <= ?4 AND m.reinforced = 0)
AND NOT EXISTS (SELECT 1 FROM protected p WHERE p.memory_id = weight.memory_id AND p.kind <> 'hold')
"""
WEIGHTS = """
SELECT w.memory_id, w.tier, m.created, m.last_access, m.salience_ppm, w.type, w.tokens, m.reads + m.reinforced,
       m.sensitivity_ppm, w.worth_ppm, w.novelty_ppm, w.needs, w.linked, w.fades, w.deadline,
       m.touched
FROM weight w
CROSS JOIN place p ON p.memory_id = w.memory_id
CROSS JOIN memory m ON m.at = p.at AND m.memory_id = p.memory_id
WHERE w.namespace = ? AND w.tier IN ('short-term', 'long-term')
ORDER BY w.memory_id
"""
# Tasks that are over since a time, each with what filled its slot before, and what these require.
TASKS_OVER = """
SELECT x.memory_id, x.requires
FROM weight t
JOIN place p ON p.memory_id = t.memory_id
JOIN memory m ON m.at = p.at AND m.memory_id = p.memory_id
JOIN weight x ON x.namespace = t.namespace AND (
    x.memory_id = t.memory_id OR x.slot = t.slot AND (x.over OR x.tier NOT IN ('short-term', 'long-term')))
WHERE t.namespace = ?1 AND t.over AND t.tier IN ('short-term', 'long-term') AND m.said <= ?2
"""
PARTS = """
SELECT g.memory_id, g.part_of FROM json_each(?2) w JOIN weight g ON g.namespace = ?1 AND g.memory_id = w.value
"""
REQUIRING = """
SELECT t.parent, t.child FROM json_each(?2) w
JOIN tie t ON t.namespace = ?1 AND t.parent = w.value
JOIN weight g ON g.namespace = ?1 AND g.memory_id = t.child
WHERE instr(',' || g.requires || ',', ',' || t.parent || ',')
"""
OPEN_TASKS = """
SELECT g.memory_id FROM json_each(?2) w JOIN weight g ON g.namespace = ?1 AND g.memory_id = w.value
JOIN alive a ON a.memory_id = g.memory_id
WHERE g.type = 'task'
"""
WENT = "INSERT OR IGNORE INTO gone VALUES (?, ?, ?, ?)"
WENT_LONG_AGO = "DELETE FROM gone WHERE as_of <= ?"
GONE = "SELECT as_of, memories FROM gone WHERE namespace = ? ORDER BY as_of"
PROTECTIONS = "SELECT DISTINCT memory_id, kind FROM protected ORDER BY memory_id, kind"
FORGETTING_SHARDS = "SELECT DISTINCT shard FROM forgotten"
FORGOTTEN_OF = "SELECT accepted_offset, memory_ids FROM forgotten WHERE shard = ? ORDER BY accepted_offset"
FORGOTTEN = "SELECT accepted_offset, memory_ids FROM forgotten"
# A memory that is deleted permanently leaves its namespace's list too.
UNWEIGH = """
DELETE FROM weight WHERE (namespace, memory_id) IN (
    SELECT m.namespace, m.memory_id FROM memory m WHERE m.at IN (SELECT value FROM json_each(?)))
"""
# Only the id stays, some 40 bytes: a record of it that comes again must not bring the memory back.
KEEP_ID = "INSERT OR IGNORE INTO place VALUES (?, ?)"

# The first record of a task stands; another record with its id keeps it out.
FINISH = f"""
INSERT INTO task SELECT {", ".join(f"?{n}" for n in range(1, 16))}
WHERE NOT EXISTS (SELECT 1 FROM place p WHERE p.memory_id = ?1)
"""
TASKS = """
SELECT t.* FROM json_each(?1) w CROSS JOIN task t ON t.memory_id = w.value
WHERE t.namespace = ?2 AND t.accepted_offset < ?3
"""
# A record counts once by its event.
SAY = "INSERT OR IGNORE INTO said SELECT ?1 WHERE ?1 NOT IN (SELECT memory_id FROM place)"
GIVEN_TO = "SELECT retrieved FROM task WHERE memory_id = ? AND namespace = ?"
ASSESS = "INSERT INTO feedback VALUES (?, ?, ?, ?, ?)"
ASSESSED = "SELECT memory_id, accepted_offset, agent, helped FROM feedback WHERE task = ? ORDER BY accepted_offset"
TASKS_BEFORE = "SELECT count(*) FROM task WHERE namespace = ? AND accepted_offset < ?"
STOOD = "INSERT OR IGNORE INTO stood VALUES (?, ?, ?, ?)"
STOOD_LONG_AGO = "DELETE FROM stood WHERE shard = ? AND epoch <= ?"
STANDING = "SELECT nomination, accepted_offset FROM stood WHERE shard = ? AND epoch = ?"
WEIGHS = "INSERT OR IGNORE INTO admitted VALUES (?, ?, ?, ?, ?)"
REFUSE = "INSERT OR REPLACE INTO refused VALUES (?, ?)"
REFUSED = "SELECT epoch FROM refused WHERE memory_id = ?"
# The memories alive as far as was read: one that was used after the vote to forget began is alive, since that vote did
# not count.
STANDS = """
WITH gone AS MATERIALIZED (
    SELECT x.value AS memory_id, max(f.accepted_offset) AS at FROM forgotten f, json_each(f.memory_ids) x GROUP BY 1)
SELECT m.memory_id FROM json_each(?) w
CROSS JOIN place p ON p.memory_id = w.value
CROSS JOIN memory m ON m.at = p.at AND m.memory_id = p.memory_id
CROSS JOIN weight g ON g.namespace = m.namespace AND g.memory_id = m.memory_id
LEFT JOIN gone ON gone.memory_id = m.memory_id
WHERE g.tier IN ('short-term', 'long-term') AND m.touched > coalesce(gone.at, -1)
"""
NEEDS = """
SELECT p.memory_id, g.needs FROM json_each(?) w
CROSS JOIN place p ON p.memory_id = w.value
CROSS JOIN memory m ON m.at = p.at AND m.memory_id = p.memory_id
CROSS JOIN weight g ON g.namespace = m.namespace AND g.memory_id = m.memory_id
WHERE g.needs <> ''
"""
ARE_TASKS = "SELECT t.memory_id FROM json_each(?) w CROSS JOIN task t ON t.memory_id = w.value"
# The last version of each as of an epoch.
ADMITTED = """
SELECT a.*, u.kept FROM admitted a
JOIN (
    SELECT memory_id, max(version) AS version FROM admitted WHERE namespace = ?1 AND epoch <= ?2 GROUP BY memory_id
) last USING (memory_id, version)
LEFT JOIN united u ON u.memory_id = a.memory_id AND u.epoch <= ?2
WHERE a.namespace = ?1 ORDER BY a.memory_id
"""
UNITE = "INSERT OR REPLACE INTO united VALUES (?, ?, ?)"
STAYS = "DELETE FROM united WHERE memory_id = ?"
# Those of some memories that were admitted, with what stands for each.
STOOD_FOR = """
SELECT w.value, u.kept FROM json_each(?2) w
LEFT JOIN united u ON u.memory_id = w.value
WHERE EXISTS (SELECT 1 FROM admitted a WHERE a.namespace = ?1 AND a.memory_id = w.value)
"""
# A sealed memory has a negative place; of a deleted one the id alone stays.
ONE_GONE = """
SELECT 1 FROM json_each(?) w CROSS JOIN place p ON p.memory_id = w.value WHERE p.at IS NULL OR p.at < 0
"""
WAS_ADMITTED = """
SELECT 1 FROM admitted WHERE namespace = ?1 AND memory_id = ?2
UNION ALL SELECT 1 FROM general WHERE namespace = ?1 AND memory_id = ?2
"""
GENERALISE = "INSERT OR IGNORE INTO general VALUES (?, ?)"

# An order is voted on once; where it was sent twice, only its first place is known. Only what really stands where the
# decision says was answered:
# who nominates may have named the place of another one.
ORDER = """
SELECT o.digest, o.accepted_at FROM ordered o
WHERE o.shard = ?1 AND o.accepted_offset = ?2
    AND NOT EXISTS (
        SELECT 1 FROM answered a JOIN ordered b USING (shard, digest, accepted_offset, accepted_at)
        WHERE shard = ?1 AND digest = o.digest)
"""
