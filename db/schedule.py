"""The Schedule port on Postgres: a B-tree, by tier, over last accesses (DESIGN 7)."""

from __future__ import annotations

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
from memquorum.core.merging import Marks
from memquorum.core.policy import PPM, EpochPolicy
from memquorum.core.records import JournalEntry, Stored
from memquorum.core.tiers import DRAFT, SHORT_TERM
from memquorum.core.vote.kinds import CONTESTS, GENERALISES, GOES, LETS_GO, MAKES_ROOM, MERGES, RAISES, SUMS_UP, UNITES
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
        with self._link.use() as connection:
            return [DueMemory(*row) for row in connection.execute(QUERIES["schedule_fading"], parameters)]

    def promotable(self, shard: int, salience_ppm: int, created_before: int, limit: int) -> list[Candidate]:
        """Short-term memories that are salient and old enough and rest no longer; see the port."""
        parameters = {
            "shard": shard, "salience_ppm": salience_ppm, "created_before": created_before, "limit": limit,
            "kinds": Json(RAISES),
        }  # fmt: skip
        with self._link.use() as connection:
            return [Candidate(*row) for row in connection.execute(QUERIES["schedule_promotable"], parameters)]

    def doubted(self, shard: int, limit: int) -> list[Candidate]:
        """Returns memories that failed their last rehearsal; see the port."""
        parameters = {"shard": shard, "limit": limit, "kinds": Json(LETS_GO)}
        with self._link.use() as connection:
            return [Candidate(*row) for row in connection.execute(QUERIES["schedule_doubted"], parameters)]

    def contested(self, shard: int, limit: int, *, inferred: bool = False) -> list[tuple[Candidate, Candidate]]:
        """Returns pairs of living memories in a stated conflict, or with `inferred` in any; see the port."""
        parameters = {"shard": shard, "limit": limit, "kinds": Json(CONTESTS), "inferred": inferred}
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["schedule_contested"], parameters).fetchall()
        return [_pair(row) for row in rows]

    def drafted(
        self, shard: int, limit: int, rests: EpochPolicy, *, unsaid: bool = False
    ) -> list[tuple[Candidate, Candidate]]:
        """Summaries that wait for their vote, with what they were made of; see the port."""
        parameters = {
            "shard": shard, "limit": limit, "kind": SUMS_UP[DRAFT],
            "rest": rests.rest_epochs, "rest_max": rests.rest_epochs_max, "unsaid": unsaid,
        }  # fmt: skip
        with self._link.use() as connection:
            rows = connection.execute(QUERIES["schedule_drafted"], parameters).fetchall()
        return [_pair(row) for row in rows]

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
        with self._link.use() as connection:
            return [_pair(row) for row in connection.execute(QUERIES["schedule_general"], parameters)]

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

    def aged(self, shard: int, before: Mapping[str, int], limit: int) -> list[Candidate]:
        """Returns the memories that are older than their type may become; see the port."""
        parameters = {"shard": shard, "before": Json(dict(before)), "limit": limit, "kinds": Json(GOES)}
        with self._link.use() as connection:
            return [Candidate(*row) for row in connection.execute(QUERIES["schedule_aged"], parameters)]

    def candidates(self, shard: int, memory_ids: Sequence[str], *, room: bool = False) -> list[Candidate]:
        """Those of the memories that are alive and rest no longer; see the port."""
        if not memory_ids:
            return []
        parameters = {"shard": shard, "ids": list(memory_ids), "kinds": Json(GOES if room else LETS_GO)}
        with self._link.use() as connection:
            return [Candidate(*row) for row in connection.execute(QUERIES["schedule_candidates"], parameters)]

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


def found_held(connection: psycopg.Connection, shard: int, patterns: Collection[str]) -> dict[str, int]:
    """Returns the number of tokens, for each namespace that matches one of the patterns."""
    parameters = {
        "shard": shard,
        "names": [one for one in patterns if not one.endswith("*")],
        "beginnings": [one[:-1] for one in patterns if one.endswith("*")],
    }
    return dict(connection.execute(QUERIES["schedule_held"], parameters).fetchall())


def found_weighted(connection: psycopg.Connection, shard: int, namespace: str) -> list[Weighted]:
    """Returns the living memories of a namespace with the values that a budget weighs."""
    parameters = {"shard": shard, "namespace": namespace, "goals": GOALS_NEAREST, "kinds": Json(MAKES_ROOM)}
    width, codec = len(Candidate.__struct_fields__), shared_codec()
    found = list[Weighted]()
    for row in connection.execute(QUERIES["schedule_weighted"], parameters):
        *told, needs, rests, protections, entry, subject, spent = row[width:]
        born = None if entry is None else codec.decode_as(Stored, codec.decode_as(JournalEntry, entry).detail)
        signals = (None, None) if born is None else (born.worth_ppm, born.novelty_ppm)
        values: list[Any] = [*told, tuple(needs), rests, tuple(protections), *signals, subject, spent]
        found.append(Weighted(Candidate(*row[:width]), *values))
    return found


def _pair(row: Sequence[Any]) -> tuple[Candidate, Candidate]:
    width = len(Candidate.__struct_fields__)
    return Candidate(*row[:width]), Candidate(*row[width:])


def _peer(row: Sequence[Any]) -> Peer:
    """Builds a `Peer` from a row."""
    width = len(Candidate.__struct_fields__)
    weight_ppm, agent, text, sent, *marks = row[width:]
    return Peer(Candidate(*row[:width]), text, vector(sent), Marks(*marks), weight_ppm, agent)
