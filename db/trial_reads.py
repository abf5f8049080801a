"""The Trials port on Postgres: what verifiers try candidates on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from db.arrays import halves, uuids
from db.connection import VERIFIER
from db.looking import Looking, Moment
from db.queries import QUERIES
from memquorum.core.experience import texts
from memquorum.core.experience.bench import PlacedTask
from memquorum.core.experience.context import Context
from memquorum.core.experience.ports import Admitted, News, Standing, Untried, VerifierStatistics
from memquorum.core.experience.rounds import Round
from memquorum.core.experience.uses import UseFeedback
from memquorum.core.experience.view import Held

_AT_ONCE = 1_000


class Look(Moment):
    """The store as a verifier sees it, in one snapshot."""

    def shards(self) -> list[Standing]:
        """Returns the position of each shard; see the port."""
        return [Standing(*row) for row in self._ask("trial_shards")]

    def rounds(self, shard: int, after: int) -> list[Round]:
        """A shard's later decisions; see the port."""
        return [Round(*row) for row in self._ask("trial_rounds", shard=shard, after=after)]

    def namespaces(self, shard: int, least: int) -> list[str]:
        """Namespaces that have tasks enough; see the port."""
        return [name for (name,) in self._ask("trial_namespaces", shard=shard, least=least)]

    def standing(self, namespace: str) -> tuple[int, int]:
        """Returns the number of tasks, and the accepted offset of the last; see the port."""
        ((count, last),) = self._ask("trial_standing", namespace=namespace)
        return count, last

    def places(self, namespace: str) -> list[PlacedTask]:
        """A namespace's tasks by their vectors; see the port."""
        with self._connection.cursor(name="trial_places") as cursor:
            cursor.itersize = _AT_ONCE
            cursor.execute(QUERIES["trial_places"], {"namespace": namespace})
            return [PlacedTask(task, offset, encoder, halves(vector)) for task, offset, encoder, vector in cursor]

    def contexts(self, task_ids: Collection[str]) -> list[Context]:
        """Tasks whole; see the port."""
        return [_context(row) for row in self._ask("trial_contexts", ids=list(task_ids))]

    def feedback(self, task_ids: Collection[str]) -> Mapping[str, Mapping[str, Sequence[UseFeedback]]]:
        """Returns the agents' feedback on the memories that tasks were given; see the port."""
        found: dict[str, dict[str, list[UseFeedback]]] = {}
        for task, memory, *said in self._ask("trial_feedback", ids=list(task_ids)):
            found.setdefault(task, {}).setdefault(memory, []).append(UseFeedback(*said))
        return found

    def untried(
        self, namespace: str, after: tuple[int, str] | None, most: int, news: News | None = None,
        until: Sequence[int] | None = None,
    ) -> list[Untried]:  # fmt: skip
        """Memories whose way into experience is open; see the port."""
        created, memory = (None, None) if after is None else after
        since, named = (None, ()) if news is None else (news.since, sorted(news.named))
        wanted = {
            "namespace": namespace, "created": created, "after": memory, "limit": most, "since": since,
            "named": uuids(named), "until": None if until is None else list(until),
        }  # fmt: skip
        return [_untried(row) for _, *row in self._ask("trial_untried", **wanted)]

    def named(self, memory_ids: Collection[str]) -> list[tuple[str, Untried]]:
        """The same of memories that are named; see the port."""
        return [(namespace, _untried(row)) for namespace, *row in self._ask("trial_named", ids=list(memory_ids))]

    def texts(self, memory_ids: Collection[str]) -> dict[str, str]:
        """Texts by their memories; see the port."""
        return dict(self._ask("trial_texts", ids=list(memory_ids)))

    def told(self, memory_ids: Collection[str]) -> list[VerifierStatistics]:
        """What verifiers found; see the port."""
        return [VerifierStatistics(*row) for row in self._ask("trial_told", ids=list(memory_ids))]

    def differing(self, shard: int, since: int, most: int) -> list[str]:
        """Memories of which verifiers say different things; see the port."""
        return [one for (one,) in self._ask("trial_differing", shard=shard, since=since, limit=most)]

    def admitted(self, namespace: str) -> list[Admitted]:
        """Returns the memories that were admitted in a namespace; see the port."""
        return [
            Admitted(
                Held(memory, text, encoder, halves(vector), weight_ppm=weight, sources=tuple(sources)), epoch, united
            )
            for memory, text, encoder, vector, sources, epoch, weight, united in self._ask(
                "trial_admitted", namespace=namespace
            )
        ]

    def _ask(self, query: str, **wanted: Any) -> list[tuple[Any, ...]]:
        return self._connection.execute(QUERIES[query], wanted).fetchall()


class PostgresTrials(Looking[Look]):
    """This class answers one thread. Its method raises StoreUnavailable while the store cannot be reached."""

    def __init__(self, dsn: str, role: str = VERIFIER) -> None:
        """Connects at the first question, with the rights of a role."""
        super().__init__(dsn, role, Look)


def _untried(row: list[Any]) -> Untried:
    memory, created, offset, after, encoder, vector, sources, rejections, rejected, corrects, own = row
    return Untried(
        memory, created, offset, after, encoder, halves(vector), tuple(sources), rejections, rejected, corrects,
        tuple(own),
    )  # fmt: skip


def _context(row: tuple[Any, ...]) -> Context:
    task, namespace, agent, body, retrieved, outcome, said_by, configuration, seed, encoder, vector, created = row
    said = texts.read(body)
    return Context(
        task, namespace, agent, said.goal, said.inputs, said.outputs, said.tools, tuple(retrieved), outcome, said_by,
        configuration, seed, encoder, halves(vector), created,
    )  # fmt: skip
