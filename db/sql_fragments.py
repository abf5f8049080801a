"""Fragments of SQL that statements name; `queries` puts them in.

- `$row(TABLE)`: the columns of a table's rows, qualified by its name, as its class takes them (`Table.row`).
- `$columns(TABLE)`: their bare names, for COPY.
- `$remembered`, `$shown`: what a client sees of a living memory, and of any: of `memory m`, `content c` and
  `strength s`.
- `$filters`: what a memory `m` has to be, with `$gates`, what may be read, and `$filed`, by path and attributes.
- `$replaced`: what a client sees of a memory `m` that another one took the place of, of `replaced r`; `$past`: what it
  has to be; `$newer`: of the newer one `w`, as `agent`, `since` and `newer`, what a client sees.
- `$ways`: as `beside`, what surrounds each `anchor`, of what `passed`.
- `$attributes`: of a memory `m`, what its attributes have to be.
- `$branch`: of a `content c`, that it is filed at a path or below.
- `$edges`: what a memory `own` is linked with and the gates let through, each as the kind, a blank, the id.
- `$sentences(VECTOR)`: as `z`, of a summary `m` the sentences that are nearest to the vector, and of a long text its
  passages: how far the nearest is (`apart`), which they are, the nearest first (`said`), and its vector.
- `$question`: as `asked`, the vectors of a query by encoder, and as `term`, its words.
- `$own`: true if one agent or source said both memories `n` and `o`.
- `$supports(IDS)`, `$conflicts(IDS)`: which of some memories are summaries of which, and what contradicts them.
- `$weighed`: of a memory `m`, what a budget weighs, from the tables of `$weighing`; `$account`: as `goal`, what goals
  need in a namespace, and as `account`, what its subjects have spent; `$near`: how near a memory is to those, and what
  its subject has spent.
- `$beside(TABLE)`: of a memory `m` where it was said last. In one of the rows, of all memories that a table of the
  statement names by `id`, also all `$supports` and `$conflicts`, those of them that roll-ups have, and the lists of the
  namespace's profiles (`db.told`).
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
"""The columns in [0, 1] for a client that the store keeps in millionths."""

_ELSEWHERE = {
    "memory_id": "m.id::text", "text": "c.body", "occurred_at": "m.said",
    "first_at": "CASE WHEN m.created < m.said THEN m.created END", "salience": "s.salience_ppm",
    "sensitivity": "m.sensitivity_ppm", "confidence": "m.confidence_ppm",
    "general_of": "m.general_of::text",
    **{name: f"c.{name}" for name in ("key", "path", "attributes")},
    **{name: f"s.{name}" for name in ("last_access", "accesses", "reinforced", "replays", "fades")},
}  # fmt: skip
# A superseded memory keeps no record of its uses.
_REPLACED = _ELSEWHERE | {
    "text": "r.body", "last_access": "m.said", "accesses": "0", "salience": "0",
    **{name: f"r.{name}" for name in ("key", "path", "attributes")},
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
    # A memory whose only purpose is `diffusion` may be read for any purpose (core/facets).
    "purpose": "(m.purposes IS NULL OR m.purposes = 'diffusion'"
    " OR %(purpose)s::text = ANY(string_to_array(m.purposes, ',')))",
    "jurisdiction": "(%(jurisdictions)s::text[] IS NULL OR string_to_array(m.jurisdictions, ',') <@ %(jurisdictions)s)",
}

# The memories filed below a path are listed once; for attributes each memory that passed the other filters is looked
# at.
_FILED = {
    "key": "(%(keys)s::text[] IS NULL OR m.id IN (SELECT f.memory_id FROM content f WHERE f.namespace = %(namespace)s"
    " AND f.key = ANY(%(keys)s)))",
    "path": "(%(path)s::text IS NULL OR m.id IN (SELECT f.memory_id FROM content f WHERE f.namespace = %(namespace)s"
    " AND (f.path = %(path)s OR f.path > %(path)s || '/' AND f.path < %(path)s || '0'"
    " OR f.path = %(older_path)s OR f.path > %(older_path)s || '/' AND f.path < %(older_path)s || '0')))",
    "attributes": "(%(where)s::jsonpath IS NULL OR EXISTS (SELECT FROM content f WHERE f.memory_id = m.id"
    " AND jsonb_path_match(coalesce(f.attributes, '{}'), %(where)s::jsonpath, %(values)s::jsonb, true)))",
}


def _readable(memory: str) -> str:
    """Holds where the reader may see a memory, and for a mere repetition."""
    return f"NOT EXISTS (SELECT FROM memory m WHERE m.id = {memory} AND ({' AND '.join(_GATES.values())}) IS NOT TRUE)"


def _whose(what: str) -> str:
    """A memory that is of one of those that are named, or a summary that has words of such a memory."""
    return (
        f"(%({what}s)s::text[] IS NULL OR m.{what} = ANY(%({what}s)s) OR "
        + _TOLD.replace("$whose", f"o.{what} = ANY(%({what}s)s)")
        + ")"
    )


# A general form is given where its lesson may be: not where use or another memory showed that it is wrong, nor where
# another one stands for it, which has a form of its own; the form itself may. One that was forgotten, or rests, was not
# wrong.
_FORMED = """NOT EXISTS (
    SELECT FROM memory f
    JOIN memory l ON l.id = f.general_of
    LEFT JOIN admission a ON a.memory_id = l.id
    WHERE f.id = $form AND (l.tier = 'superseded' OR a.status NOT IN ('admitted', 'left') OR EXISTS (
        SELECT FROM strength x JOIN admission k USING (memory_id)
        WHERE x.memory_id = a.merged_into AND x.memory_id <> f.id AND k.status = 'admitted')))"""
# Few memories are filed or admitted, so the search starts from them. A memory stands for another in experience while it
# is alive and its own use has not taken its weight below the floor; otherwise neither would be given. General forms are
# found there alone.
_ADMITTED = (
    "CASE WHEN NOT coalesce(%(experience)s::boolean, false) THEN m.general_of IS NULL"
    " ELSE EXISTS (SELECT FROM admission g WHERE g.memory_id = m.id"
    " AND g.status = 'admitted' AND NOT EXISTS (SELECT FROM strength x JOIN admission k USING (memory_id)"
    f" WHERE x.memory_id = g.merged_into AND k.status = 'admitted') AND {_FORMED.replace('$form', 'm.id')}) END"
)
# For a read of the past: the last time a memory was said, or the first where it was repeated after `as_of`.
_SAID = "CASE WHEN m.said <= coalesce(%(as_of)s::bigint, m.said) THEN m.said ELSE least(m.created, m.said) END"
_FILTERS = {
    "tier": "m.tier = ANY(%(tiers)s)",
    "agent": _whose("agent"),
    "subject": _whose("subject"),
    "session": _whose("session"),
    "type": "(%(types)s::text[] IS NULL OR m.type = ANY(%(types)s))",
    "time": f"(%(since)s::bigint IS NULL OR {_SAID} >= %(since)s)"
    " AND (%(until)s::bigint IS NULL OR least(m.created, m.said) < %(until)s)"
    " AND (%(as_of)s::bigint IS NULL OR least(m.created, m.said) <= %(as_of)s)",
    **_GATES,
    **_FILED,
    "experience": _ADMITTED,
}
# The memory that superseded this one, by the journal entry that changed this one last: the write of its slot, the write
# that named it, or the challenger of the vote.
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
# Pairs among the `free` memories that may be merged, about the same and from the same source: for at most `limit`
# memories in the order of their ids the nearest of each. Beside each that has a near neighbour: how many were looked
# at, and the last of these.
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
# The same of what was replaced, which no experience has; and which tier it was in nothing says.
_PAST = _FILTERS | {
    "tier": "m.tier = 'superseded'",
    "experience": "m.general_of IS NULL",
    **{name: one.replace("FROM content f", "FROM replaced f") for name, one in _FILED.items()},
}
# The agent of the memory `w` that replaced another, the time when it was said first, and its id for readers who may
# read it, unless it was erased or taken back.
_NEWER = f"""w.agent, least(w.created, w.said) AS since, CASE
        WHEN (w.tier IN ('short-term', 'long-term') OR EXISTS (SELECT FROM replaced x WHERE x.memory_id = w.id)
            OR EXISTS (SELECT FROM forgotten x WHERE x.id = w.id))
            AND {" AND ".join(_GATES.values()).replace("m.", "w.")}
        THEN w.id END AS newer"""
# The surroundings of each `anchor` among the rows of `passed`, as `beside`: the way to each, and the distance.
_WAYS = f"""source (anchor, id, links) AS (
    SELECT id, id, 0 FROM anchor
    UNION
    SELECT s.anchor, p.parent, s.links + (NOT p.echo)::integer
    FROM source s
    JOIN provenance p ON p.child = s.id AND p.namespace = %(namespace)s AND p.follows
    WHERE s.links + (NOT p.echo)::integer <= %(links)s AND {_readable("p.parent")}
), derived (anchor, id, links) AS (
    SELECT id, id, 0 FROM anchor
    UNION
    SELECT d.anchor, p.child, d.links + (NOT p.echo)::integer
    FROM derived d
    JOIN provenance p ON p.namespace = %(namespace)s AND p.parent = d.id AND p.follows
    WHERE d.links + (NOT p.echo)::integer <= %(links)s AND {_readable("p.child")}
), beside AS (
    SELECT id AS anchor, id, 'anchor' AS way, 0::bigint AS apart FROM anchor
    UNION ALL
    SELECT a.id, n.id, n.way, n.apart
    FROM anchor a
    CROSS JOIN LATERAL (
        (
            SELECT s.id, 'source' AS way, -min(s.links)::bigint AS apart
            FROM source s
            JOIN passed p USING (id)
            WHERE s.anchor = a.id AND s.links > 0
            GROUP BY s.id
            ORDER BY apart DESC, s.id
            LIMIT %(related)s
        ) UNION ALL (
            SELECT d.id, 'derived', min(d.links)::bigint AS apart
            FROM derived d
            JOIN passed p USING (id)
            WHERE d.anchor = a.id AND d.links > 0
            GROUP BY d.id
            ORDER BY apart, d.id
            LIMIT %(related)s
        )
    ) n
    UNION ALL
    SELECT a.id, n.id, 'session', n.apart
    FROM anchor a
    CROSS JOIN LATERAL (
        (
            SELECT f.id, row_number() OVER (ORDER BY f.created, f.id) AS apart
            FROM passed f
            WHERE f.session = a.session AND (f.created, f.id) > (a.created, a.id)
            ORDER BY f.created, f.id
            LIMIT %(steps)s
        ) UNION ALL (
            SELECT p.id, -row_number() OVER (ORDER BY p.created DESC, p.id DESC) AS apart
            FROM passed p
            WHERE p.session = a.session AND (p.created, p.id) < (a.created, a.id)
            ORDER BY p.created DESC, p.id DESC
            LIMIT %(steps)s
        )
    ) n
    UNION ALL
    SELECT a.id, n.id, 'time', n.apart
    FROM anchor a
    CROSS JOIN LATERAL (
        SELECT t.id, t.created - a.created AS apart
        FROM passed t
        WHERE t.session IS DISTINCT FROM a.session AND t.id <> a.id
          AND t.created BETWEEN a.created - %(within_ms)s::bigint AND a.created + %(within_ms)s::bigint
        ORDER BY abs(t.created - a.created), t.id
        LIMIT %(nearby)s
    ) n
    WHERE %(within_ms)s::bigint > 0
)"""
# The question: a vector by each encoder, and the words of the query, each as it is matched.
_QUESTION = r"""asked AS MATERIALIZED (
    SELECT a.encoder, a.vector::halfvec AS vector
    FROM unnest(%(encoders)s::text[], %(vectors)s::text[]) AS a (encoder, vector)
), term AS MATERIALIZED (
    SELECT w.number, ('''' || replace(replace(w.lexeme, '\', '\\'), '''', '''''') || '''')::tsquery AS word
    FROM (
        SELECT lexeme, row_number() OVER (ORDER BY positions[1], lexeme) AS number
        FROM unnest(to_tsvector('pg_catalog.english', %(query)s))
    ) AS w
    WHERE w.number <= %(words)s
)"""
# One agent or source said both; of a summary, one that said what it was made of.
_OWN = """n.agent = o.agent OR coalesce(n.source = o.source, false) OR (o.made_by IS NOT NULL AND EXISTS (
        SELECT FROM provenance p JOIN memory x ON x.id = p.parent
        WHERE p.child = o.id AND p.namespace = o.namespace AND NOT p.echo AND NOT p.merged AND x.agent = n.agent))"""
_SUPPORTS = """WITH RECURSIVE tells (summary, source) AS (
    SELECT q.summary, q.source FROM quote q WHERE q.source = ANY($ids)
    UNION
    SELECT p.child, p.parent FROM provenance p WHERE p.parent = ANY($ids) AND p.merged
    UNION
    SELECT p.child, t.source FROM tells t JOIN provenance p ON p.parent = t.summary AND p.merged
)
SELECT summary::text, source::text FROM tells WHERE summary = ANY($ids) AND summary <> source"""
_CONFLICTS = f"""SELECT c.newer::text, c.older::text,
    {_OWN},
    n.said, o.said, n.tier, o.tier, c.stated, c.statements, c.compared, n.agent, o.made_by IS NOT NULL,
    (SELECT t.body FROM content t WHERE t.memory_id = c.newer),
    (SELECT t.body FROM content t WHERE t.memory_id = c.older)
FROM (
    SELECT newer, older, min(seq) AS seq, bool_or(stated) AS stated, bool_or(compared) AS compared,
        coalesce(max(statements) FILTER (WHERE compared), max(statements)) AS statements
    FROM contradiction
    WHERE came = ANY($ids) OR found = ANY($ids)
    GROUP BY newer, older
) c
JOIN memory n ON n.id = c.newer
    AND (n.tier IN ('short-term', 'long-term') OR EXISTS (SELECT FROM forgotten f WHERE f.id = n.id))
JOIN memory o ON o.id = c.older AND o.tier IN ('short-term', 'long-term')
WHERE (c.stated OR c.statements IS DISTINCT FROM '{{}}') AND NOT EXISTS (
    SELECT FROM conflict a
    JOIN memory x ON x.id = a.newer AND (x.said, x.said_offset) > (n.said, n.said_offset)
        AND (x.tier IN ('short-term', 'long-term') OR EXISTS (SELECT FROM forgotten f WHERE f.id = x.id))
    WHERE a.older = c.newer AND c.older::text = ANY (a.again) AND x.agent = n.agent)
ORDER BY c.seq, c.older"""
_WEIGHED = """m.id::text, m.namespace, m.tier, m.created, coalesce(s.last_access, m.created),
    coalesce(s.salience_ppm, 0), m.early,
    coalesce(s.replays, 0), coalesce(s.fades, false), m.type,
    coalesce((octet_length(c.body) + 3) / 4, (m.characters + 3) / 4), coalesce(s.accesses + s.reinforced, 0),
    m.sensitivity_ppm,
    (SELECT count(*) FROM (
        SELECT p.child AS id FROM provenance p WHERE p.namespace = m.namespace AND p.parent = m.id AND NOT p.echo
            AND NOT EXISTS (SELECT FROM memory g WHERE g.id = p.child AND g.general_of IS NOT NULL)
        UNION SELECT k.newer FROM conflict k WHERE k.older = m.id
        UNION SELECT k.older FROM conflict k WHERE k.newer = m.id
        UNION SELECT k.memory FROM link k WHERE k.target = m.id
    ) l JOIN strength t ON t.memory_id = l.id)::integer,
    ARRAY(SELECT n.id::text FROM (
        SELECT p.parent AS id FROM provenance p WHERE p.child = m.id AND p.namespace = m.namespace AND NOT p.echo
            AND NOT p.merged AND m.general_of IS NULL -- a general form stays where its lesson goes
        UNION SELECT k.target FROM link k WHERE k.memory = m.id AND k.namespace = m.namespace AND k.kind = 'requires'
    ) n ORDER BY n.id),
    coalesce((s.rest ->> (%(kinds)s::jsonb ->> s.tier))::bigint, 0), h.last_epoch,
    ARRAY(SELECT p.kind FROM protection p WHERE p.memory_id = m.id ORDER BY p.kind),
    (SELECT j.entry FROM journal j WHERE j.memory_id = m.id AND j.effect IN ('stored', 'drafted')
        ORDER BY j.seq DESC LIMIT 1),
    m.deadline, m.subject"""
_WEIGHING = """memory m
JOIN shard h ON h.shard = m.shard
LEFT JOIN strength s ON s.memory_id = m.id
LEFT JOIN content c ON c.memory_id = m.id"""
_ACCOUNT = """goal AS MATERIALIZED (
    SELECT e.encoder, e.vector
    FROM (
        SELECT p.memory_id, max(p.accepted_at) AS at
        FROM protection p
        WHERE p.namespace = %(namespace)s AND p.kind ^@ 'goal:'
        GROUP BY p.memory_id
        ORDER BY at DESC, p.memory_id
        LIMIT %(goals)s
    ) needed
    JOIN embedding e ON e.memory_id = needed.memory_id
), account AS MATERIALIZED (
    SELECT p.subject, sum(a.spent_ppm)::bigint AS spent_ppm
    FROM spent a
    JOIN memory p ON p.id = a.memory_id AND p.namespace = a.namespace
    WHERE a.namespace = %(namespace)s
    GROUP BY p.subject
)"""
_NEAR = """coalesce((
        SELECT floor(greatest(0, max(1 - (g.vector <=> e.vector))) * 1000000)::integer FROM goal g
        WHERE g.encoder = e.encoder), 0),
    coalesce(a.spent_ppm, 0),
    CASE WHEN m.tier = 'draft' THEN coalesce((
        SELECT CASE WHEN count(*) = count(x.vector)
            THEN ceil(1000000 * avg(sqrt(2 * greatest(0, x.vector <=> middle.vector))))::integer END
        FROM provenance p
        LEFT JOIN embedding x ON x.memory_id = p.parent AND x.encoder = m.encoder
        CROSS JOIN (
            SELECT avg(y.vector) AS vector FROM embedding y
            WHERE y.encoder = m.encoder AND y.memory_id IN (SELECT q.source FROM quote q WHERE q.summary = m.id)
        ) middle
        WHERE p.child = m.id AND p.namespace = m.namespace AND NOT p.echo AND NOT p.merged), 2000000) ELSE 0 END"""
_OF_MEMORIES = {"supports": (_SUPPORTS, 2), "conflicts": (_CONFLICTS, 14)}
"""The questions about some memories, and the number of their columns."""


# Those of the memories `{found}` that a roll-up has a sentence of, their own or of what they sum up.
_ROLLED = """(SELECT json_agg(n.id) FROM {found} n
    WHERE EXISTS (SELECT FROM patch t WHERE t.memory = n.id)
       OR EXISTS (SELECT FROM quote q JOIN patch t ON t.memory = q.source WHERE q.summary = n.id))"""
_LISTS = """(SELECT json_agg(json_build_array(p.subject, p.entries)) FROM profile_now p
    WHERE p.namespace = %(namespace)s AND p.entries <> '{}')"""


def _beside(found: str) -> str:
    """Selects beside a memory what the statements of `_OF_MEMORIES` tell of all that were found, which of them roll-ups
    have, and what the subjects of the namespace want never kept, in the same snapshot."""
    told = []
    for statement, count in _OF_MEMORIES.values():
        names = ", ".join(f"c{at}" for at in range(count))
        asked = statement.replace("$ids", f"ARRAY(SELECT id FROM {found})")
        told.append(f"(SELECT json_agg(json_build_array({names})) FROM ({asked}) AS told ({names}))")
    told += [_ROLLED.format(found=found), _LISTS]
    return f"m.said_offset, CASE WHEN row_number() OVER () = 1 THEN json_build_array({', '.join(told)}) END"


_WHOLE = {
    "question": _QUESTION,
    "own": _OWN,
    "neighbours": _NEIGHBOURS,
    "edges": _EDGES,
    "untried": _UNTRIED,
    "weighed": _WEIGHED,
    "weighing": _WEIGHING,
    "account": _ACCOUNT,
    "near": _NEAR,
    "remembered": ", ".join(_ELSEWHERE.get(one, f"m.{one}") for one in REMEMBERED),
    "shown": ", ".join(_ELSEWHERE.get(one, f"m.{one}") for one in SHOWN),
    # The speaker of a summary: the agent that said all its sources, if it was one agent.
    "speaker": "CASE WHEN m.made_by IS NOT NULL THEN ("
    "SELECT min(x.agent) FROM provenance p JOIN memory x ON x.id = p.parent"
    " WHERE p.child = m.id AND p.namespace = m.namespace AND NOT p.echo AND NOT p.merged"
    " HAVING min(x.agent) = max(x.agent)) END",
    # True if a summary may take the place of a short-term memory: nobody asked to store it, nothing protects it, no
    # summary was made of it, and no living memory contradicts it.
    "summable": "NOT m.explicit AND m.made_by IS NULL"
    " AND NOT EXISTS (SELECT FROM protection p WHERE p.memory_id = m.id)"
    " AND NOT EXISTS (SELECT FROM provenance p"
    " JOIN memory d ON d.id = p.child AND d.made_by IS NOT NULL AND d.tier <> 'gone'"
    " WHERE p.namespace = m.namespace AND p.parent = m.id)"
    " AND NOT EXISTS (SELECT FROM conflict k JOIN strength o ON o.memory_id = k.older"
    " JOIN strength n ON n.memory_id = k.newer WHERE k.older = m.id OR k.newer = m.id)",
    "replaced": ", ".join(_REPLACED.get(one, f"m.{one}") for one in REMEMBERED),
    "past": " AND ".join(_PAST.values()),
    "newer": _NEWER,
    "ways": _WAYS,
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
    rf"\$(?:(row|columns|bound)\((%\(namespace\)s|\{{?\w+\}}?)\)|sentences\((?P<near>[^\s]+)\)|beside\((?P<found>\w+)\)|(?P<told>supports|conflicts)\((?P<ids>[^\s]+)\)|formed\((?P<form>[\w.]+)\)|({'|'.join(_WHOLE)})\b)"
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
    how, name, near, found, told, ids, form, whole = named.groups()
    if found:
        return _beside(found)
    if told:
        return _OF_MEMORIES[told][0].replace("$ids", ids)
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
