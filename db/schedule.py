"""The Schedule port on Postgres: a B-tree, by tier, over last accesses (DESIGN 7)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import psycopg
from msgspec.structs import asdict
from psycopg.types.json import Json

from db.arrays import vector
from db.connection import READER, Link
from db.queries import QUERIES
from db.store import found_losses
from memquorum.core.caps import Losses
from memquorum.core.consolidation.twins import FAMILY_LEAST
from memquorum.core.merging import Marks
from memquorum.core.policy import PPM, EpochPolicy, Retention
from memquorum.core.records import JournalEntry, Stored
from memquorum.core.tiers import DRAFT, SHORT_TERM
from memquorum.core.vote.kinds import (
    CONTESTS,
    GENERALISES,
    GOES,
    KINDS,
    LETS_GO,
    MAKES_ROOM,
    MERGES,
    RAISES,
    SUMS_UP,
    UNITES,
)
from memquorum.ports import (
    GOALS_NEAREST,
    NEAREST,
    Candidate,
    DueMemory,
    ErasedSummary,
    Fading,
    Grade,
    IdleSession,
    Peer,
    Peers,
    ShardStatus,
    StoreUnavailable,
    Weighted,
)
from memquorum.schema_files import shared_codec

_EACH = 16
"""The least number of memories that are read of a grade."""
_FIRST = "00000000-0000-0000-0000-000000000000"


class PostgresSchedule:
    """Safe to share between threads. Every method raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str) -> None:
        """Connects at the first question."""
        self._link = Link(dsn, READER, StoreUnavailable)

    def close(self) -> None:
        """Lets the connection go."""
        self._link.close()

    def due(
        self,
        shard: int,
        unused_since: Mapping[str, int],
        limit: int,
        without: Collection[str] = (),
        *,
        room: bool = False,
    ) -> list[DueMemory]:
        """Memories alive that nobody used after their tier's time and that rest no longer; see the port."""
        parameters = {
            "shard": shard, "unused_since": Json(dict(unused_since)), "limit": limit, "without": list(without),
            "kinds": Json(GOES if room else LETS_GO),
        }  # fmt: skip
        with self._link.use() as connection:
            return [DueMemory(*row) for row in connection.execute(QUERIES["schedule_due"], parameters)]

    def grades(self, shard: int) -> list[Grade]:
        """The grades of which a short-term memory is alive whose decay score counts; see the port."""
        with self._link.use() as connection:
            return [Grade(*row) for row in connection.execute(QUERIES["schedule_grades"], {"shard": shard})]

    def fading(
        self,
        shard: int,
        asked: Sequence[Fading],
        as_of: int,
        limit: int,
        without: Collection[str] = (),
        *,
        room: bool = False,
    ) -> list[DueMemory]:
        """Returns memories of these grades that were unused for long enough and no longer rest; see the port."""
        told = [
            {**asdict(one.grade), "unused_since": one.unused_since, "head": one.head, "rate": one.rate} for one in asked
        ]
        parameters = {
            "shard": shard, "asked": Json(told), "as_of": as_of, "limit": limit, "without": list(without),
            "kinds": Json(GOES if room else LETS_GO),
        }  # fmt: skip
        each = min(limit, max(_EACH, 4 * limit // max(1, len(asked))))
        with self._link.use() as connection:
            while True:
                rows = connection.execute(QUERIES["schedule_fading"], parameters | {"each": each}).fetchall()
                found = rows if each >= limit else _sure(rows, each)
                more = max(Counter(row[4:6] for row in rows).values(), default=0) >= each
                if each >= limit or len(found) >= limit or not more:
                    return [DueMemory(*row[:4]) for row in found[:limit]]
                each = min(limit, 4 * each)

    def promotable(self, shard: int, salience_ppm: int, created_before: int, limit: int) -> list[Candidate]:
        """Short-term memories that are salient and old enough and rest no longer; see the port."""
        parameters = {
            "shard": shard, "salience_ppm": salience_ppm, "created_before": created_before, "limit": limit,
            "kinds": Json(RAISES),
        }  # fmt: skip
        return self._found("schedule_promotable", parameters)

    def doubted(self, shard: int, limit: int) -> list[Candidate]:
        """Returns memories that failed their last rehearsal; see the port."""
        parameters = {"shard": shard, "limit": limit, "kinds": Json(LETS_GO)}
        return self._found("schedule_doubted", parameters)

    def contested(self, shard: int, limit: int, *, inferred: bool = False) -> list[tuple[Candidate, Candidate]]:
        """Returns pairs of living memories in a stated conflict, or with `inferred` in any; see the port."""
        parameters = {"shard": shard, "limit": limit, "kinds": Json(CONTESTS), "inferred": inferred}
        return self._pairs("schedule_contested", parameters)

    def drafted(
        self, shard: int, limit: int, rests: EpochPolicy, *, unsaid: bool = False
    ) -> list[tuple[Candidate, Candidate]]:
        """Summaries that wait for their vote, with what they were made of; see the port."""
        parameters = {
            "shard": shard, "limit": limit, "kind": SUMS_UP[DRAFT],
            "rest": rests.rest_epochs, "rest_max": rests.rest_epochs_max, "unsaid": unsaid,
        }  # fmt: skip
        return self._pairs("schedule_drafted", parameters)

    def tried(self, shard: int, limit: int) -> list[tuple[Candidate, tuple[bytes, ...]]]:
        """Returns the candidates that enough verifiers agree in, with the trials they signed; see the port."""
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["schedule_tried"], {"shard": shard, "limit": limit}).fetchall()
        return [(Candidate(*row), tuple(made)) for *row, made in rows]

    def alike(self, shard: int, least_ppm: int, limit: int, after: str | None = None) -> Peers:
        """Summaries that lie near others, and those; see the port."""
        parameters = {
            "shard": shard, "least": least_ppm / PPM, "limit": limit, "after": after, "nearest": NEAREST,
            "kind": MERGES[SHORT_TERM],
        }  # fmt: skip
        return self._peers("schedule_alike", parameters)

    def twins(self, shard: int, least_ppm: int, limit: int, after: str | None = None) -> Peers:
        """Memories of experience that lie near others, and those; see the port."""
        parameters = {
            "shard": shard, "least": least_ppm / PPM, "limit": limit, "after": after, "nearest": NEAREST,
            "kind": UNITES[SHORT_TERM],
        }  # fmt: skip
        return self._peers("schedule_twins", parameters)

    def general(self, shard: int, limit: int) -> list[tuple[Candidate, Candidate]]:
        """General forms that wait for their vote, with what they were made of; see the port."""
        parameters = {"shard": shard, "limit": limit, "kind": GENERALISES[DRAFT]}
        return self._pairs("schedule_general", parameters)

    def families(self, shard: int, limit: int) -> list[tuple[Candidate, ...]]:
        """General forms with the lessons that they may stand for; see the port."""
        kind = UNITES[SHORT_TERM]
        parameters = {"shard": shard, "limit": limit, "kind": kind, "least": FAMILY_LEAST, "most": KINDS[kind].takes}
        found: dict[str, list[Candidate]] = {}
        for form, lesson in self._pairs("schedule_families", parameters):
            found.setdefault(form.memory_id, [form]).append(lesson)
        return [tuple(some) for some in found.values()]

    def _found(self, query: str, parameters: dict[str, Any]) -> list[Candidate]:
        with self._link.use() as connection:
            return [Candidate(*row) for row in connection.execute(QUERIES[query], parameters)]

    def _pairs(self, query: str, parameters: dict[str, Any]) -> list[tuple[Candidate, Candidate]]:
        with self._link.use() as connection:
            return [_pair(row) for row in connection.execute(QUERIES[query], parameters)]

    def _peers(self, query: str, parameters: dict[str, Any]) -> Peers:
        with self._link.use() as connection:
            rows = connection.execute(QUERIES[query], parameters).fetchall()
        (looked, last), *_ = ((row[0], row[1]) for row in rows)
        found = tuple(_peer(row[2:]) for row in rows if row[2] is not None)
        return Peers(found, last if looked == parameters["limit"] else None)

    def idle_sessions(
        self, shard: int, until: int, least: int, limit: int, after: IdleSession | None = None
    ) -> list[IdleSession]:
        """Sessions without activity since a time; see the port."""
        begin = asdict(after) if after else dict.fromkeys(IdleSession.__struct_fields__)
        parameters = {**begin, "shard": shard, "until": until, "least": least, "limit": limit}
        with self._link.use() as connection:
            return [IdleSession(*row) for row in connection.execute(QUERIES["schedule_idle_sessions"], parameters)]

    def erased_summaries(self, shard: int, memory_ids: Sequence[str]) -> list[ErasedSummary]:
        """Those of the memories that were summaries and are gone; see the port."""
        wanted = {"shard": shard, "ids": list(memory_ids)}
        with self._link.use() as connection:
            return [ErasedSummary(*row) for row in connection.execute(QUERIES["schedule_erased_summaries"], wanted)]

    def held(self, shard: int, patterns: Collection[str]) -> dict[str, int]:
        """Returns the number of tokens that namespaces hold; see the port."""
        with self._link.use() as connection:
            return found_held(connection, shard, patterns)

    def weighted(self, shard: int, namespace: str) -> list[Weighted]:
        """Returns the living memories of a namespace with the values that a budget weighs; see the port."""
        with self._link.use() as connection:
            return found_weighted(connection, shard, namespace)

    def weighted_some(self, shard: int, namespace: str, memory_ids: Collection[str]) -> list[Weighted]:
        """Returns the same of some memories; see the port."""
        if not memory_ids:
            return []
        with self._link.use() as connection:
            return found_weighted(connection, shard, namespace, memory_ids)

    def weights(self, shard: int, memory_ids: Collection[str]) -> list[Weighted]:
        """Returns the same of memories of any namespace, without goals and accounts; see the port."""
        parameters = {"shard": shard, "ids": list(memory_ids), "kinds": Json(MAKES_ROOM)}
        with self._link.use() as connection:
            return [_weighted((*row, 0, 0, 0)) for row in connection.execute(QUERIES["schedule_weights"], parameters)]

    def accounts(self, shard: int, namespace: str) -> dict[str, int]:
        """Returns what draws have cost the subjects of a namespace; see the port."""
        parameters = {"shard": shard, "namespace": namespace}
        with self._link.use() as connection:
            return dict(connection.execute(QUERIES["schedule_accounts"], parameters).fetchall())

    def spaces(self, shard: int, patterns: Collection[str]) -> list[str]:
        """Returns the namespaces that hold memories; see the port."""
        parameters = {"shard": shard, **_patterns(patterns)}
        with self._link.use() as connection:
            return [namespace for (namespace,) in connection.execute(QUERIES["schedule_spaces"], parameters)]

    def living(self, shard: int, namespace: str, behind: tuple[int, str] | None, limit: int) -> list[tuple[int, str]]:
        """Returns the living memories of a namespace behind one; see the port."""
        created, memory_id = behind or (-1, _FIRST)
        parameters = {
            "shard": shard, "namespace": namespace, "created": created, "behind": memory_id, "limit": limit,
        }  # fmt: skip
        with self._link.use() as connection:
            return connection.execute(QUERIES["schedule_living"], parameters).fetchall()

    def entries(self, shard: int, after: int, limit: int) -> list[JournalEntry]:
        """Returns the shard's journal entries after a sequence; see the port."""
        parameters, codec = {"shard": shard, "after": after, "limit": limit}, shared_codec()
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["schedule_entries"], parameters)
            return [codec.decode_as(JournalEntry, entry) for (entry,) in rows]

    def around(self, memory_ids: Collection[str]) -> set[str]:
        """Returns the memories that these were made of, contradict or are linked with; see the port."""
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["schedule_around"], {"ids": list(memory_ids)})
            return {memory_id for (memory_id,) in rows}

    def aged(self, shard: int, before: Mapping[str, int], limit: int) -> list[Candidate]:
        """Returns the memories that are older than their type may become; see the port."""
        parameters = {"shard": shard, "before": Json(dict(before)), "limit": limit, "kinds": Json(GOES)}
        return self._found("schedule_aged", parameters)

    def unused(self, shard: int, rules: Sequence[Retention], as_of: int, limit: int) -> list[Candidate]:
        """Returns the memories that nobody has used for as long as their namespace allows; see the port."""
        told = [
            {**_patterns([one.pattern]), "before": {type_: as_of - age for type_, age in one.ages.items()}}
            for one in rules
        ]
        parameters = {"shard": shard, "rules": Json(told), "limit": limit, "kinds": Json(GOES)}
        return self._found("schedule_unused", parameters)

    def steps(self, shard: int, before: int, limit: int) -> list[Candidate]:
        """Returns the steps of tasks that are over; see the port."""
        parameters = {"shard": shard, "before": before, "limit": limit, "kinds": Json(GOES)}
        return self._found("schedule_steps", parameters)

    def candidates(self, shard: int, memory_ids: Sequence[str], *, room: bool = False) -> list[Candidate]:
        """Those of the memories that are alive and rest no longer; see the port."""
        if not memory_ids:
            return []
        parameters = {"shard": shard, "ids": list(memory_ids), "kinds": Json(GOES if room else LETS_GO)}
        return self._found("schedule_candidates", parameters)

    def losses(self, namespaces: Iterable[str], since: int) -> dict[str, Losses]:
        """Returns the losses of the namespaces; see the port."""
        asked = [(namespace, since) for namespace in sorted(set(namespaces))]
        with self._link.use() as connection:
            return found_losses(connection, asked) if asked else {}

    def status(self, shard: int) -> ShardStatus:
        """Returns the status of the shard; zeros for one that the store does not know."""
        with self._link.use() as connection:
            row = connection.execute(QUERIES["schedule_status"], {"shard": shard}).fetchone()
        return ShardStatus(*row) if row else ShardStatus(shard, 0, 0, 0, 0, 0, 0)


def _sure(rows: Sequence[tuple[Any, ...]], each: int) -> Sequence[tuple[Any, ...]]:
    """Returns the rows of `schedule_fading` before which no other can stand: a grade of which `each` came may have more
    behind the last of them."""
    counts = Counter(row[4:6] for row in rows)
    left = Counter({grade: count for grade, count in counts.items() if count == each})
    for at, row in enumerate(rows, start=1):
        left[row[4:6]] -= 1
        if left[row[4:6]] == 0:
            return rows[:at]
    return rows


def found_held(connection: psycopg.Connection, shard: int, patterns: Collection[str]) -> dict[str, int]:
    """Returns the number of tokens, for each namespace that matches one of the patterns."""
    parameters = {"shard": shard, **_patterns(patterns)}
    return dict(connection.execute(QUERIES["schedule_held"], parameters).fetchall())


def found_weighted(
    connection: psycopg.Connection, shard: int, namespace: str, only: Collection[str] | None = None
) -> list[Weighted]:
    """Returns the living memories of a namespace with the values that a budget weighs. `only`: those of them."""
    parameters = {"shard": shard, "namespace": namespace, "goals": GOALS_NEAREST, "kinds": Json(MAKES_ROOM)}
    query = QUERIES["schedule_weighted" if only is None else "schedule_weighted_some"]
    return [_weighted(row) for row in connection.execute(query, parameters | {"ids": list(only or ())})]


def _patterns(patterns: Collection[str]) -> dict[str, list[str]]:
    return {
        "names": [one for one in patterns if not one.endswith("*")],
        "beginnings": [one[:-1] for one in patterns if one.endswith("*")],
    }


def _weighted(row: Sequence[Any]) -> Weighted:
    """Builds a `Weighted` from a row."""
    width, codec = len(Candidate.__struct_fields__), shared_codec()
    type_, tokens, uses, sensitivity, links, needs, until, epoch, protections, entry, deadline, *told = row[width:]
    subject, goals, spent, distortion = told
    born = None if entry is None else codec.decode_as(Stored, codec.decode_as(JournalEntry, entry).detail)
    rests = until > epoch + 1
    return Weighted(
        Candidate(*row[:width]), type_, tokens, uses, sensitivity, goals, links, tuple(needs), rests,
        tuple(protections),
        worth_ppm=None if born is None else born.worth_ppm,
        novelty_ppm=None if born is None else born.novelty_ppm,
        subject=subject,
        spent_ppm=spent,
        until=until if rests else 0,
        distortion_ppm=distortion,
        deadline=deadline,
    )  # fmt: skip


def _pair(row: Sequence[Any]) -> tuple[Candidate, Candidate]:
    width = len(Candidate.__struct_fields__)
    return Candidate(*row[:width]), Candidate(*row[width:])


def _peer(row: Sequence[Any]) -> Peer:
    """Builds a `Peer` from a row."""
    width = len(Candidate.__struct_fields__)
    weight_ppm, agent, text, sent, *marks = row[width:]
    return Peer(Candidate(*row[:width]), text, vector(sent), Marks(*marks), weight_ppm, agent)
