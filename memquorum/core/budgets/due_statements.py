"""Statements on the table `due`. A member and a nominator keep the keys of `sort_keys` sorted in it, each in a SQLite
file of its own. Its columns are ranking, line, step, value, created and memory_id, all of them its key.
"""

from __future__ import annotations

ENTERS = "INSERT OR IGNORE INTO due VALUES (?, ?, ?, ?, ?, ?)"
LEAVES = "DELETE FROM due WHERE memory_id IN (SELECT value FROM json_each(?))"
# From step to step by the key, so that no memory between them is read.
HEADS = """
WITH RECURSIVE s (step) AS (
    SELECT min(step) FROM due WHERE ranking = ?1 AND line = ?2
    UNION ALL
    SELECT (SELECT min(d.step) FROM due d WHERE d.ranking = ?1 AND d.line = ?2 AND d.step > s.step)
    FROM s WHERE s.step IS NOT NULL)
SELECT step, (SELECT min(d.value) FROM due d WHERE d.ranking = ?1 AND d.line = ?2 AND d.step = s.step)
FROM s WHERE step IS NOT NULL
"""
ENTRIES = """
SELECT value, created, memory_id FROM due WHERE ranking = ? AND line = ? AND step = ?
ORDER BY value, created, memory_id
"""
