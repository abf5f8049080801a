"""The statements of a replica's view about what its namespaces hold, and in which order it goes; see
`db.view_holdings`."""

from __future__ import annotations

CHANGED = "SELECT memory_id FROM changed LIMIT ?"
SETTLED = "DELETE FROM changed WHERE memory_id IN (SELECT value FROM json_each(?))"
CHANGES = "INSERT OR IGNORE INTO changed SELECT value FROM json_each(?)"
# The memories whose rest is over at this epoch.
RESTED = "INSERT OR IGNORE INTO changed SELECT memory_id FROM back WHERE shard = ? AND until <= ?"
# A memory that is alive has a place above zero.
LIVING = """
SELECT m.memory_id, m.namespace, g.type, g.tokens, m.accepted_offset, g.needs, g.linked, m.touched
FROM json_each(?) w
CROSS JOIN place p ON p.memory_id = w.value
CROSS JOIN memory m ON m.at = p.at AND m.memory_id = p.memory_id
CROSS JOIN weight g ON g.namespace = m.namespace AND g.memory_id = m.memory_id
WHERE g.tier IN ('short-term', 'long-term')
"""
COUNTED = """
SELECT a.memory_id, a.namespace, a.type, a.tokens, a.needs, a.linked, a.keyed, a.counted
FROM json_each(?) w CROSS JOIN alive a ON a.memory_id = w.value
"""
COMES = "INSERT INTO alive VALUES (?, ?, ?, ?, ?, ?, ?, NULL, 0)"
GOES = "DELETE FROM alive WHERE memory_id = ?"
COUNTS = "UPDATE alive SET counted = ? WHERE memory_id = ?"
HOLDS = """
INSERT INTO held VALUES (?, ?, ?, ?)
ON CONFLICT DO UPDATE SET memories = memories + excluded.memories, tokens = tokens + excluded.tokens
"""
TIES = "INSERT OR IGNORE INTO tie VALUES (?, ?, ?, ?)"
UNTIES = "DELETE FROM tie WHERE namespace = ? AND parent = ? AND child = ?"
SUPPORTERS = """
SELECT t.child FROM tie t JOIN alive a ON a.memory_id = t.child
WHERE t.namespace = ? AND t.parent = ? AND t.needs AND a.counted
"""
# As `view_statements.WEIGHTS`, of some memories that count: with the number of living memories that lead to each,
# whether it rests, the orders that protect it, and whether another has to go before it.
WEIGHTS_OF = """
SELECT m.memory_id, m.namespace, g.tier, m.created, m.last_access, m.salience_ppm, g.fades, g.type, g.tokens,
       m.reads + m.reinforced, m.sensitivity_ppm,
       (SELECT count(*) FROM tie t WHERE t.namespace = g.namespace AND t.parent = g.memory_id), g.needs,
       EXISTS (SELECT 1 FROM back b JOIN shard s ON s.shard = b.shard AND b.until > s.epoch
               WHERE b.memory_id = g.memory_id),
       (SELECT json_group_array(DISTINCT kind) FROM protected r WHERE r.memory_id = g.memory_id),
       g.worth_ppm, g.novelty_ppm, g.deadline,
       EXISTS (SELECT 1 FROM tie t JOIN alive c ON c.memory_id = t.child
               WHERE t.namespace = g.namespace AND t.parent = g.memory_id AND t.needs AND c.counted)
FROM json_each(?) w
CROSS JOIN alive a ON a.memory_id = w.value AND a.counted
CROSS JOIN place p ON p.memory_id = a.memory_id
CROSS JOIN memory m ON m.at = p.at AND m.memory_id = p.memory_id
CROSS JOIN weight g ON g.namespace = m.namespace AND g.memory_id = m.memory_id
"""
DATED = """
SELECT g.memory_id FROM weight g JOIN alive a ON a.memory_id = g.memory_id
WHERE g.namespace = ? AND g.deadline IS NOT NULL AND a.counted
"""
UNSURE = "SELECT memory_id FROM alive WHERE namespace = ? AND keyed IS NULL LIMIT ?"
UNSURE_ANYWHERE = "SELECT memory_id FROM alive WHERE keyed IS NULL LIMIT ?"
UNSURE_NAMESPACES = "SELECT DISTINCT namespace FROM alive WHERE keyed IS NULL"
KEYED = "UPDATE alive SET keyed = ?1 WHERE memory_id IN (SELECT value FROM json_each(?2)) AND keyed IS NOT ?1"
TURNED = """
INSERT OR IGNORE INTO changed
SELECT memory_id FROM alive WHERE memory_id IN (SELECT value FROM json_each(?2)) AND keyed IS NOT ?1
"""
DESTROYED = "SELECT number, memory_id FROM destroyed"
DESTROYS = "INSERT OR REPLACE INTO destroyed VALUES (0, ?, ?)"
HELD = "SELECT type, memories, tokens FROM held WHERE namespace = ?"
HOLDERS = "SELECT namespace, sum(memories) FROM held GROUP BY namespace"
LATER = "SELECT count(*) FROM alive WHERE namespace = ? AND accepted_offset > ? AND counted"
# Backwards: a memory that comes meanwhile is ranked as it comes.
BEFORE = """
SELECT accepted_offset, memory_id FROM alive
WHERE namespace = ? AND (accepted_offset, memory_id) < (?, ?)
ORDER BY accepted_offset DESC, memory_id DESC LIMIT ?
"""
NEXT_HOLDER = "SELECT min(namespace) FROM held WHERE namespace > ?"
RANKINGS = "SELECT ranking, namespace, shard, shards, keys, before FROM ranking"
RANKS = "INSERT INTO ranking VALUES (NULL, ?, ?, ?, ?, ?) RETURNING ranking"
FILLED = "UPDATE ranking SET before = ? WHERE ranking = ?"
RANKED_OTHERWISE = "UPDATE ranking SET namespace = NULL, shard = NULL WHERE ranking = ?"
UNRANKS = "DELETE FROM ranking WHERE ranking = ?"
DUES_OF = """
DELETE FROM due WHERE (ranking, line, step, value, created, memory_id) IN (
    SELECT ranking, line, step, value, created, memory_id FROM due WHERE ranking = ? LIMIT ?)
"""
LONG_AGO = "DELETE FROM due WHERE ranking = ? AND line = ? AND step = ? AND value <= ?"
TIME = "SELECT as_of FROM shard WHERE shard = ?"
BEYOND = "SELECT 1 FROM due WHERE ranking = ? AND line = ? LIMIT 1"
NEXT_VALUE = "SELECT min(value) FROM due WHERE ranking = ? AND line = ? AND step = ? AND value > ?"
RUN = """
SELECT memory_id FROM due WHERE ranking = ? AND line = ? AND step = ? AND value = ? ORDER BY created, memory_id
"""
