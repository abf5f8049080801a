r"""A namespace of each shard with memories that are tried on tasks and admitted; then a lying nominator.

There are four facts that tasks ask for, two of which say the same, and an aside that answers nothing. Verifiers, who
tell the truth here, find what the tasks gain. Then one nomination follows the other (`STEPS`), each with true and false
proposals: to admit memories that verifiers found helpful, and unhelpful ones; to take in the general form of an
admitted memory, and a forged one with the consolidator's key; to unite memories that say the same, and others; to roll
a weight back on request, and on a request that was never published.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import psycopg

from db.schedule import PostgresSchedule
from db.trial_reads import PostgresTrials
from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.experience.abstract import abstracted
from memquorum.core.experience.admission import ADMITTED
from memquorum.core.experience.weights import BY_ROLLBACK
from memquorum.core.identity.membership import Genesis
from memquorum.core.ids import memory_id, shard_of
from memquorum.core.orders.restore import REQUEST
from memquorum.core.policy import PPM
from memquorum.core.records import (
    DecayCrossed,
    EpisodeRecorded,
    NominationProposed,
    OrderAccepted,
    OrderFound,
    Proposal,
    RestoreOrdered,
    Standing,
    TaskFinished,
)
from memquorum.core.tiers import SHORT_TERM
from memquorum.core.vote import asking
from memquorum.core.vote.kinds import ADMIT, GENERALISE, UNITE
from memquorum.core.vote.kinds.admit import TRIED
from memquorum.core.vote.kinds.generalise import GENERAL
from memquorum.core.vote.kinds.unite import TWINS
from memquorum.ports import Promoted
from tests.builders import votes
from tests.builders.genesis import seed_of
from tests.builders.trials import VERIFIERS
from workers.consolidator.generalising import general
from workers.verifier.verifier_turn import Trying
from workers.verifier.worker import Publisher

FACTS = ("fact", "again", "other", "third")
"""The second says what the first says."""
ASIDE = "aside"
ADMITS, GENERALISES, UNITES, UNASKED, ASKED = "admits", "generalises", "unites", "unasked", "asked"
STEPS = (ADMITS, GENERALISES, UNITES, UNASKED, ASKED)
FORMS = ("third", "other", ASIDE)
"""The published general forms: a true one, a false one, and one of a memory that is not in experience."""
_TEXTS = {
    "fact": "The gateway in hall 3 uses port 8443.",
    "again": "the gateway in hall 3 uses port 8443",
    "other": "The boiler in the cellar has to run at 60 degrees.",
    "third": "Deliveries on Monday have to arrive at ramp 7.",
    ASIDE: "The gateway in hall 3 has to be painted in spring.",
}
_TASKS = 4
_BUDGET_MS = 5_000

Said = EpisodeRecorded | TaskFinished
Appends = Callable[[Said | OrderAccepted], int]
"""Writes what comes in, behind all that is there, and a tick; answers its accepted offset."""


def space_of(shard: int, shards: int) -> str:
    """The namespace of a shard."""
    return next(name for name in map("school-{}".format, range(1000)) if shard_of(name, shards) == shard)


def school_records(space: str) -> list[Said]:
    """Returns the agents' episodes and finished tasks before the first nomination."""
    asked = {
        "fact": "Which port does the gateway in hall 3 use?",
        "other": "At how many degrees does the boiler in the cellar run?",
        "third": "At which ramp do deliveries on Monday arrive?",
    }
    said: list[Said] = [
        EpisodeRecorded(content=text, namespace=space, agent=f"agent-{at % 2}", event_id=name, reward=0.9)
        for at, (name, text) in enumerate(_TEXTS.items())
    ]
    return said + [
        TaskFinished("agent-2", f"{goal} Shift {at} asks.", "succeeded", namespace=space, event_id=f"{name}-task-{at}",
                     outputs=_TEXTS[name])
        for name, goal in asked.items() for at in range(_TASKS)
    ]  # fmt: skip


class Verifiers:
    """Those of the genesis file, in this process: what they find is published as their worker publishes it."""

    def __init__(self, bootstrap: str, genesis: Genesis, codec: Codec, memory_dsn: str) -> None:
        self._trying = Trying(codec, genesis, VERIFIERS, budget_ms=_BUDGET_MS)
        self._memory = PostgresTrials(memory_dsn)
        self._publisher = Publisher(
            bootstrap, codec, {name: (seed_of(f"service:{name}"), lambda: ()) for name in VERIFIERS}
        )

    def turn(self) -> None:
        """They try what is due."""
        self._publisher.publish(self._trying.turn(self._memory).made)
        self._publisher.flush(10)

    def close(self) -> None:
        self._publisher.close()
        self._memory.close()


@dataclass
class School:
    """The one of a shard."""

    genesis: Genesis
    codec: Codec
    shard: int
    memory_dsn: str
    schedule: PostgresSchedule
    appends: Appends
    verifiers: Verifiers
    asked: list[str] = field(default_factory=list)
    """The steps that were nominated."""
    forms: dict[str, str] = field(default_factory=dict)
    """The general forms, by the names of what they are said to be of."""

    def __post_init__(self) -> None:
        self.space = space_of(self.shard, self.genesis.shards)
        self.ids = {name: memory_id(self.space, name) for name in (*FACTS, ASIDE)}

    @property
    def over(self) -> bool:
        return len(self.asked) == len(STEPS)

    def nominated(self, as_of: int, offset: int) -> tuple[NominationProposed, list[bool]] | None:
        """The next nomination, and what an honest member says of each proposal; None until verifiers have told enough.
        All earlier ones must be applied. `offset`: of the last tick."""
        step = STEPS[len(self.asked)]
        if step == ADMITS and len(self.stands()) < len(self.ids):
            self.verifiers.turn()
            return None
        if step in (GENERALISES, UNITES, ASKED):
            offset = self._happens(step, as_of)
        status = self.schedule.status(self.shard)
        standing = Standing(status.last_epoch, status.last_epoch_at, 0, status.alive)
        admitted = {name for name, (state, _) in self.stands().items() if state == ADMITTED}
        if step in (UNASKED, ASKED):
            stands = OrderFound(self._signed(step), as_of, offset - 1)
            tick = DecayCrossed(self.shard, as_of, offset, status.seq, ())
            found = asking.build(self.codec, self.genesis, standing, tick, (REQUEST, stands, self._order(step)))
            says = [step == ASKED and "other" in admitted]
        else:
            proposals, says = self._proposed(step, admitted)
            found = NominationProposed(
                self.genesis.cluster, self.genesis.config, self.shard, status.last_epoch + 1, as_of, offset, "interval",
                tuple(proposals),
            )  # fmt: skip
        self.asked.append(step)
        return found, says

    def _happens(self, step: str, as_of: int) -> int:
        """Publishes what a step needs: general forms, a use, which moves a weight, or a request for its first version;
        returns the offset of the tick behind it.
        """
        if step == GENERALISES:
            return max(self.appends(one) for one in self._publishes()) + 1
        if step == UNITES:
            failed = TaskFinished(
                "agent-3", "Heat the cellar by hand.", "failed", namespace=self.space, event_id="failed",
                retrieved=(self.ids["other"],),
            )  # fmt: skip
            return self.appends(failed) + 1
        order = self._order(step)
        request = OrderAccepted(
            order.order_id, REQUEST.name, order.namespace, order.memory_ids, self._signed(step), as_of, topics.RESTORES,
            self.shard, 0,
        )  # fmt: skip
        return self.appends(request) + 1

    def _order(self, step: str) -> RestoreOrdered:
        name = memory_id(self.space, step)
        return votes.rollback(self.genesis, self.ids["other"], 1, order_id=name, namespace=self.space)

    def _signed(self, step: str) -> bytes:
        return votes.signed(self.codec, self.genesis, "operator", self._order(step))

    def _admits(self) -> tuple[list[Proposal], list[bool]]:
        """Proposes what verifiers agree on, whether or not it helps."""
        with psycopg.connect(self.memory_dsn) as connection:
            made = dict(connection.execute(_TOLD, {"ids": list(self.ids.values())}).fetchall())
        proposals = [
            Proposal((one,), self.space, ADMIT.name, TRIED, 0, 0, 0, tried=tuple(made[one]))
            for one in self.ids.values()
        ]
        return proposals, [name in FACTS for name in self.ids]

    def _publishes(self) -> Iterator[EpisodeRecorded]:
        """Publishes general forms with the consolidator's key."""
        with psycopg.connect(self.memory_dsn) as connection:
            commitments: dict[str, bytes] = dict(
                connection.execute(_COMMITMENTS, {"ids": list(self.ids.values())}).fetchall()
            )
        for name in FORMS:
            text = abstracted(_TEXTS[name]) or ""
            said = text.replace("has to", "must never") if name == "other" else text
            of_it = commitments[self.ids[name]], 600_000, name, "episodic"
            form = general(Promoted(0, self.ids[name], self.space, "", *of_it), said, bytes(32))
            self.forms[name] = memory_id(self.space, form.event_id or "")
            yield form

    def _proposed(self, step: str, admitted: set[str]) -> tuple[list[Proposal], list[bool]]:
        if step == ADMITS:
            return self._admits()
        if step == UNITES:
            return self._unites(admitted)
        proposals = [
            Proposal((self.forms[name], self.ids[name]), self.space, GENERALISE.name, GENERAL, 0, 0, 0)
            for name in FORMS
        ]
        return proposals, ["third" in admitted, False, False]

    def _unites(self, admitted: set[str]) -> tuple[list[Proposal], list[bool]]:
        """Proposes to unite memories that say the same, and memories that do not."""
        pairs = (("fact", "again"), ("other", "third"))
        proposals = [
            Proposal(tuple(self.ids[name] for name in pair), self.space, UNITE.name, TWINS, 0, 0, 0) for pair in pairs
        ]
        return proposals, [admitted >= {"fact", "again"}, False]

    def stands(self) -> dict[str, tuple[str, str | None]]:
        """Returns the status of each memory that was tried, and the memory that replaces it."""
        names = {one: name for name, one in self.ids.items()}
        with psycopg.connect(self.memory_dsn) as connection:
            rows = connection.execute(_STANDS, {"ids": [*names]}).fetchall()
        return {names[one]: (status, names.get(into)) for one, status, into in rows}

    def generalised(self) -> list[str]:
        """Returns the memories with general forms in experience."""
        names = {one: name for name, one in self.ids.items()}
        with psycopg.connect(self.memory_dsn) as connection:
            rows = connection.execute(_GENERALS, {"ids": [*names], "tier": SHORT_TERM}).fetchall()
        return sorted(names[one] for (one,) in rows)

    def weights(self) -> dict[str, list[tuple[str, int]]]:
        """The causes and weights of all versions, the first first."""
        names = {one: name for name, one in self.ids.items()}
        found: dict[str, list[tuple[str, int]]] = {}
        with psycopg.connect(self.memory_dsn) as connection:
            for one, cause, ppm in connection.execute(_WEIGHTS, {"ids": [*names]}):
                found.setdefault(names[one], []).append((cause, ppm))
        return found


_STANDS = "SELECT memory_id::text, status, merged_into::text FROM admission WHERE memory_id = ANY(%(ids)s::uuid[])"
_COMMITMENTS = "SELECT id::text, commitment FROM memory WHERE id = ANY(%(ids)s::uuid[])"
_GENERALS = "SELECT general_of::text FROM memory WHERE general_of = ANY(%(ids)s::uuid[]) AND tier = %(tier)s"
_WEIGHTS = (
    "SELECT memory_id::text, cause, weight_ppm FROM weight WHERE memory_id = ANY(%(ids)s::uuid[]) ORDER BY 1, version"
)
_TOLD = (
    "SELECT a.memory_id::text, array_agg(t.made ORDER BY t.seq) FROM admission a JOIN trial t USING (memory_id) "
    "WHERE t.position = a.position AND t.digest = a.digest AND memory_id = ANY(%(ids)s::uuid[]) GROUP BY 1"
)


def wrong(school: School, *, delayed: bool) -> list[str]:
    """Returns what experience holds against the rules; and, unless a primary that left ballots out has `delayed`
    something, what is missing.
    """
    stands, weights = school.stands(), school.weights()
    admitted = {name for name, (status, _) in stands.items() if status == ADMITTED}
    united = {(into, name) for name, (_, into) in stands.items() if into is not None}
    back = [(name, ppm) for name, all_ in weights.items() for cause, ppm in all_ if cause == BY_ROLLBACK]
    told: list[tuple[str, Sequence[object], Sequence[object]]] = [
        ("in experience", sorted(admitted), sorted(FACTS)),
        ("general forms", school.generalised(), ["third"]),
        ("united", sorted(united), [("fact", "again")]),
        ("rolled back", back, [("other", PPM)]),
    ]
    return [
        f"shard {school.shard}: {what}: {found}, and it should be {expected}"
        for what, found, expected in told
        if Counter(found) - Counter(expected) or (found != expected and not delayed)
    ]
