"""What statements select, write and let through, by declaration: `queries` fills it in where a statement names it.

- `$row(TABLE)`: the columns of a table's rows, qualified by its name, as its class takes them (`Table.row`).
- `$columns(TABLE)`: their bare names, for COPY.
- `$remembered`, `$shown`: what a client sees of a living memory, and of any: of `memory m`, `content c` and
  `strength s`.
- `$filters`: what a memory `m` has to be, with `$gates`, what may be read, and `$filed`, by path and attributes.
- `$attributes`: of a memory `m`, what its attributes have to be.
- `$branch`: of a `content c`, that it is filed at a path or below.
- `$edges`: what a memory `own` is linked with and the gates let through, each as the kind, a blank, the id.
- `$sentences(VECTOR)`: as `z`, of a summary `m` the sentences that are nearest to the vector, and of a long text its
  passages: how far the nearest is (`apart`), which they are, the nearest first (`said`), and its vector.
"""

from __future__ import annotations

import re

from memquorum.core.api.answers import Remembered, Shown
from memquorum.core.journal.tables import TABLES, types

_MARKS = ("overtaken", "overtakes")
# Not those that are computed of the others, or come of `said`, of `conflicts` and of `$edges`.
REMEMBERED = tuple(name for name in Remembered.__struct_fields__ if name not in ("excerpt", *_MARKS))
SHOWN = tuple(name for name in Shown.__struct_fields__ if name not in ("due_at", "links", "superseded_by", *_MARKS))
SHARES = frozenset({"salience", "sensitivity", "confidence"})
"""What a client sees in [0, 1] and the store keeps in millionths."""

_ELSEWHERE = {
    "memory_id": "m.id::text", "text": "c.body", "occurred_at": "m.said",
    "first_at": "CASE WHEN m.created < m.said THEN m.created END", "salience": "s.salience_ppm",
    "sensitivity": "m.sensitivity_ppm", "confidence": "m.confidence_ppm",
    "general_of": "m.general_of::text",
    **{name: f"c.{name}" for name in ("key", "path", "attributes")},
    **{name: f"s.{name}" for name in ("last_access", "accesses", "reinforced", "replays", "fades")},
}  # fmt: skip
# A summary, or a general form, passes by one of what it was made of, or of what was merged into it.
_TOLD = """(m.made_by IS NOT NULL OR m.general_of IS NOT NULL) AND EXISTS (
    WITH RECURSIVE told (id) AS (
        SELECT m.id
        UNION SELECT p.parent FROM told d JOIN provenance p ON p.child = d.id AND p.namespace = m.namespace AND p.merged
    )
    SELECT FROM told d
    JOIN provenance p ON p.child = d.id AND p.namespace = m.namespace AND NOT p.merged
    JOIN memory o ON o.id = p.parent
    WHERE $whose
)"""
_GATES = {
    "sensitivity": "(%(sensitivity_max)s::integer IS NULL OR m.sensitivity_ppm <= %(sensitivity_max)s)",
    # What names `diffusion` alone is for anything (core/facets).
    "purpose": "(m.purposes IS NULL OR m.purposes = 'diffusion'"
    " OR %(purpose)s::text = ANY(string_to_array(m.purposes, ',')))",
    "jurisdiction": "(%(jurisdictions)s::text[] IS NULL OR string_to_array(m.jurisdictions, ',') <@ %(jurisdictions)s)",
}

# Of what is filed below a path there is a list, made once; by attributes each is looked at that has come so far.
_FILED = {
    "key": "(%(keys)s::text[] IS NULL OR m.id IN (SELECT f.memory_id FROM content f WHERE f.namespace = %(namespace)s"
    " AND f.key = ANY(%(keys)s)))",
    "path": "(%(path)s::text IS NULL OR m.id IN (SELECT f.memory_id FROM content f WHERE f.namespace = %(namespace)s"
    " AND (f.path = %(path)s OR f.path > %(path)s || '/' AND f.path < %(path)s || '0'"
    " OR f.path = %(older_path)s OR f.path > %(older_path)s || '/' AND f.path < %(older_path)s || '0')))",
    "attributes": "(%(where)s::jsonpath IS NULL OR EXISTS (SELECT FROM content f WHERE f.memory_id = m.id"
    " AND jsonb_path_match(coalesce(f.attributes, '{}'), %(where)s::jsonpath, %(values)s::jsonb, true)))",
}


def _whose(what: str) -> str:
    """A memory that is of one of those that are named, or a summary that has words of such a memory."""
    return (
        f"(%({what}s)s::text[] IS NULL OR m.{what} = ANY(%({what}s)s) OR "
        + _TOLD.replace("$whose", f"o.{what} = ANY(%({what}s)s)")
        + ")"
    )


# A general form is given where its lesson may be: not where use or another memory showed that it is wrong, nor where
# another one stands for it, which has a form of its own. One that was forgotten, or rests, was not wrong.
_FORMED = """NOT EXISTS (
    SELECT FROM memory f
    JOIN memory l ON l.id = f.general_of
    LEFT JOIN admission a ON a.memory_id = l.id
    WHERE f.id = $form AND (l.tier = 'superseded' OR a.status NOT IN ('admitted', 'left') OR EXISTS (
        SELECT FROM strength x JOIN admission k USING (memory_id)
        WHERE x.memory_id = a.merged_into AND k.status = 'admitted')))"""
# What is filed at all, or admitted, is little: it is found from there. What stands for another in experience does so
# while it is alive, and while its own use has not taken it below the floor: else neither were given. General forms are
# found there alone.
_ADMITTED = (
    "CASE WHEN NOT coalesce(%(experience)s::boolean, false) THEN m.general_of IS NULL"
    " ELSE EXISTS (SELECT FROM admission g WHERE g.memory_id = m.id"
    " AND g.status = 'admitted' AND NOT EXISTS (SELECT FROM strength x JOIN admission k USING (memory_id)"
    f" WHERE x.memory_id = g.merged_into AND k.status = 'admitted') AND {_FORMED.replace('$form', 'm.id')}) END"
)
_FILTERS = {
    "tier": "m.tier = ANY(%(tiers)s)",
    "agent": _whose("agent"),
    "subject": _whose("subject"),
    "session": _whose("session"),
    "type": "(%(types)s::text[] IS NULL OR m.type = ANY(%(types)s))",
    "time": "(%(since)s::bigint IS NULL OR m.said >= %(since)s)"
    " AND (%(until)s::bigint IS NULL OR least(m.created, m.said) < %(until)s)",
    **_GATES,
    **_FILED,
    "experience": _ADMITTED,
}
# The memory that took another's place, by the entry that changed that one last: the write of its slot, the write that
# named it, or the challenger of the vote.
_SUPERSEDED_BY = """SELECT 'supersededBy', j.memory_id
        FROM journal j
        WHERE own.tier = 'superseded' AND j.shard = own.shard AND j.seq = own.seq AND j.effect = 'stored'
          AND j.memory_id <> own.id
        UNION ALL
        SELECT 'supersededBy', w.id
        FROM outcome o
        JOIN decision d ON d.shard = o.shard AND d.epoch = o.epoch AND d.journal_seq = own.seq
        JOIN outcome x ON x.shard = o.shard AND x.epoch = o.epoch AND x.position = o.position
        JOIN memory w ON w.id = x.memory_id AND w.seq <> own.seq
        WHERE own.tier = 'superseded' AND o.memory_id = own.id AND o.shard = own.shard AND EXISTS (
            SELECT FROM conflict f
            WHERE f.namespace = own.namespace
              AND (f.older, f.newer) IN ((own.id, w.id), (w.id, own.id)))"""
_EDGES = f"""ARRAY(
    SELECT e.kind || ' ' || m.id
    FROM (
        SELECT 'derivesFrom' AS kind, v.parent AS other
        FROM provenance v WHERE v.child = own.id AND v.namespace = own.namespace
        UNION ALL
        SELECT DISTINCT 'contradicts', f.older FROM contradiction f
        WHERE (f.came = own.id OR f.found = own.id) AND f.newer = own.id AND f.namespace = own.namespace
        UNION ALL
        SELECT l.kind, l.target FROM link l WHERE l.memory = own.id AND l.namespace = own.namespace
        UNION ALL
        {_SUPERSEDED_BY}
    ) e
    JOIN memory m ON m.id = e.other
    WHERE m.tier = ANY(%(kept)s) AND {" AND ".join(_GATES.values())}
    ORDER BY e.kind COLLATE "C", m.id
)"""
# A memory that is alive and whose way into experience is open: where it was accepted, after which epoch it may be
# tried, its vector, the tasks that it was made of, how often it was rejected, as of which epoch last, whether
# it corrects another one, and the tasks that its session was.
_UNTRIED = """m.namespace, m.id::text, m.created, j.source_offset, coalesce(a.after, 0), e.encoder,
    halfvec_send(e.vector),
    ARRAY(
        SELECT p.parent::text FROM provenance p
        JOIN task t ON t.memory_id = p.parent AND t.namespace = m.namespace
        WHERE p.child = m.id AND p.namespace = m.namespace AND NOT p.merged
        ORDER BY p.parent
    ),
    coalesce(a.rejections, 0), coalesce(a.rejected, 0), trial_corrects(m.id), trial_sessions(m.id)
FROM memory m
JOIN embedding e ON e.memory_id = m.id
LEFT JOIN admission a ON a.memory_id = m.id
CROSS JOIN LATERAL (
    SELECT source_offset FROM journal
    WHERE memory_id = m.id AND effect IN ('stored', 'drafted')
    ORDER BY seq LIMIT 1
) j
WHERE m.tier IN ('short-term', 'long-term') AND coalesce(a.status, 'provisional') IN ('provisional', 'rejected')"""
# Of what is `free` to become one, about the same and from the same source: of so many by their ids the nearest of each.
# Beside each that lies near another, how many were looked at, and the last of these.
_NEIGHBOURS = """probe AS MATERIALIZED (
    SELECT * FROM free WHERE %(after)s::uuid IS NULL OR id > %(after)s::uuid ORDER BY id LIMIT %(limit)s
), near AS MATERIALIZED (
    SELECT p.id AS probe, n.id
    FROM probe p
    CROSS JOIN LATERAL (
        SELECT f.id, f.vector <=> p.vector AS distance
        FROM free f
        WHERE f.namespace = p.namespace AND f.encoder = p.encoder AND f.about IS NOT DISTINCT FROM p.about
          AND f.source IS NOT DISTINCT FROM p.source AND f.id <> p.id
          AND f.vector <=> p.vector <= 1 - %(least)s::float8
        ORDER BY distance, f.id
        LIMIT %(nearest)s
    ) n
), named AS (
    SELECT probe AS id FROM near
    UNION
    SELECT id FROM near
)
SELECT w.probes, w.last::text, x.*
FROM (SELECT count(*) AS probes, (array_agg(id ORDER BY id DESC))[1] AS last FROM probe) w
LEFT JOIN (
    SELECT m.id::text, m.namespace, s.tier, s.created, s.last_access, s.salience_ppm, m.early, s.replays, s.fades,
        f.weight_ppm, m.agent, c.body, halfvec_send(e.vector), m.subject, m.source, m.sensitivity_ppm, m.purposes,
        m.jurisdictions, m.slot, m.label
    FROM named
    JOIN free f ON f.id = named.id
    JOIN memory m ON m.id = named.id
    JOIN strength s ON s.memory_id = m.id
    JOIN content c ON c.memory_id = m.id
    JOIN embedding e ON e.memory_id = m.id
) x ON true
ORDER BY x.id"""
_WHOLE = {
    "neighbours": _NEIGHBOURS,
    "edges": _EDGES,
    "untried": _UNTRIED,
    "remembered": ", ".join(_ELSEWHERE.get(one, f"m.{one}") for one in REMEMBERED),
    "shown": ", ".join(_ELSEWHERE.get(one, f"m.{one}") for one in SHOWN),
    # Of a summary, who said all that it was made of, if one did.
    "speaker": "CASE WHEN m.made_by IS NOT NULL THEN ("
    "SELECT min(x.agent) FROM provenance p JOIN memory x ON x.id = p.parent"
    " WHERE p.child = m.id AND p.namespace = m.namespace AND NOT p.echo AND NOT p.merged"
    " HAVING min(x.agent) = max(x.agent)) END",
    "gates": " AND ".join(_GATES.values()),
    "filters": " AND ".join(_FILTERS.values()),
    "filed": " AND ".join(_FILED.values()),
    "attributes": _FILED["attributes"],
    # Bounds that an index keeps to, and in them whole segments alone.
    "branch": "(%(path)s::text IS NULL OR c.path >= %(path)s AND c.path < %(path)s || '0'"
    " AND (c.path = %(path)s OR c.path > %(path)s || '/')"
    " OR c.path >= %(older_path)s AND c.path < %(older_path)s || '0'"
    " AND (c.path = %(older_path)s OR c.path > %(older_path)s || '/'))",
    # A condition about nothing, as of a memory of no session, is not passed either.
    "left_out": " ".join(f"WHEN ({one}) IS NOT TRUE THEN '{reason}'" for reason, one in _FILTERS.items()),
}
_TABLES = {table.name: table for table in TABLES.values()}
_NAMED = re.compile(
    rf"\$(?:(row|columns|bound)\((%\(namespace\)s|\{{?\w+\}}?)\)|sentences\((?P<near>[^\s]+)\)|formed\((?P<form>[\w.]+)\)|({'|'.join(_WHOLE)})\b)"
)
# A sentence or passage that is further than the nearest by so much, as a cosine, answers something else; and three say
# enough.
_SENTENCES = """LEFT JOIN LATERAL (
    SELECT min(t.apart) AS apart, array_agg(t.place ORDER BY t.apart, t.place) AS said,
        (array_agg(t.vector ORDER BY t.apart, t.place))[1] AS vector
    FROM (
        SELECT y.place, y.vector, y.vector <=> $near AS apart, min(y.vector <=> $near) OVER () AS best
        FROM sentence y
        WHERE y.memory_id = m.id AND y.encoder = m.encoder
        ORDER BY apart, y.place
        LIMIT 3
    ) AS t
    WHERE t.apart <= t.best + 0.1
) AS z ON true"""


def filled(statement: str) -> str:
    """Fills in what a statement names."""
    return _NAMED.sub(_declared, statement)


def _declared(named: re.Match[str]) -> str:
    how, name, near, form, whole = named.groups()
    if form:
        return _FORMED.replace("$form", form)
    if near:
        return _SENTENCES.replace("$near", near)
    if whole:
        return _WHOLE[whole]
    if how == "bound":
        bound = "purposes IS NOT NULL AND purposes <> 'diffusion' OR general_of IS NOT NULL"
        return f"(SELECT id FROM memory WHERE namespace = {name} AND ({bound}))"
    table = _TABLES[name]
    if how == "columns":
        return ", ".join(table.columns)
    of = types(table.rows)
    return ", ".join(f"{name}.{one}" + ("::text" if of[one] == "uuid" else "") for one in table.columns)
