"""The retrieval service without Kafka and Postgres: two memories of two tenants, and their keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from msgspec import structs
from starlette.testclient import TestClient

from db import order_rows
from db.erasure_rows import Named, Naming, Staying
from db.found_rows import shown
from db.listed_reads import Counted, Needs
from memquorum import topics
from memquorum.core import access, ids
from memquorum.core.access import Keys, Sight, covers
from memquorum.core.accounts import chronicle, decisions, pages, reporting
from memquorum.core.accounts.forgetting import Used
from memquorum.core.accounts.pages import Finished
from memquorum.core.accounts.restoring import Resting, decided
from memquorum.core.accounts.rolling_back import Weighed
from memquorum.core.accounts.sessions import Made, Member, SessionShard
from memquorum.core.api.answers import (
    Admission,
    AgentInShort,
    Conflict,
    Epoch,
    Experienced,
    Feedback,
    FinishedTask,
    Hit,
    Judge,
    NamespaceInShort,
    Ordered,
    Protector,
    SessionInShort,
    TaskInShort,
    Took,
    Trial,
)
from memquorum.core.avro import Codec
from memquorum.core.caps import Losses
from memquorum.core.intake import EndIntent, EpisodeIntent
from memquorum.core.journal.rows import Guarded
from memquorum.core.orders.erase import ERASURE
from memquorum.core.orders.profile import PROFILE
from memquorum.core.orders.protect import ENDS, PROTECTION, kind_of
from memquorum.core.orders.reclassify import RECLASSIFICATION
from memquorum.core.orders.restore import REQUEST
from memquorum.core.policy import ExperiencePolicy
from memquorum.core.records import ErasedEpisode, FeedbackAccepted, IntakeRefused, Patch, ProtectionOrdered
from memquorum.core.records.episodes import Carried
from memquorum.core.retrieval.buffer import Trace
from memquorum.core.retrieval.conflicts import Contradiction
from memquorum.core.retrieval.entities import Holder
from memquorum.core.retrieval.listing import Branch, Listing, Slot
from memquorum.core.retrieval.query import ALL, Filters
from memquorum.core.retrieval.ranking import Candidate, Question, Ranking
from memquorum.core.retrieval.recall import Neighbour, Reach
from memquorum.core.retrieval.supports import Support
from memquorum.core.retrieval.walking import Edge
from memquorum.core.vote.kinds import KINDS
from memquorum.encoders.hashing import HashingEncoder
from memquorum.ports import Logged, SessionMemory
from memquorum.telemetry.bundle import Telemetry
from tests.builders import erasures, genesis
from workers.retrieval.app import LOOPBACK, around
from workers.retrieval.door import Door
from workers.retrieval.following import Feed
from workers.retrieval.service import Service
from workers.retrieval.uses import Uses

HERS, THEIRS = "5f0c8f0e-0000-5000-8000-000000000001", "5f0c8f0e-0000-5000-8000-000000000002"
SINCE = 1_750_000_000_000
OWNERS = {HERS: "greenhouse", THEIRS: "mill"}


ORDER, REQUESTED = "5f0c8f0e-0000-5000-8000-00000000000a", "5f0c8f0e-0000-5000-8000-00000000000b"
TOOK = Took(1, 2, 7, 8)
"""An erasure that was carried out, and a request that waits for the members."""


def answered(order_id: str, kind: str, status: str, **more: Any) -> Ordered:
    """Returns an order of the greenhouse as the store shows it, with changed fields."""
    told: dict[str, Any] = {"namespace": "greenhouse", "says": {}, "ordered_by": "ada", "reference": None} | more
    common = {"ordered_at": 5, "accepted_at": 6, "shard": 0, "journal_seq": 7}
    return Ordered(order_id=order_id, kind=kind, status=status, **common | told)


class Store:
    """Two memories of two namespaces, each shown where it is visible, and orders that were carried out."""

    def __init__(self) -> None:
        self.text = "t"
        self.requires: dict[str, tuple[str, ...]] = {}
        self.protected: list[tuple[Any, ...]] = []
        self.filters: list[Filters] = []
        self.listings: list[Listing] = []
        self.losses: dict[str, Losses] = {}
        self.orders = {
            ORDER: answered(ORDER, "erase", "erased", took=TOOK),
            REQUESTED: answered(REQUESTED, "restore", "asked", says={"action": "restore"}),
        }
        self.profiled: dict[tuple[str, str], dict[str, Any]] = {
            ("greenhouse", "ada"): {
                "order_id": ORDER, "stores": True, "private_until": None, "retention": ["episodic=30"],
                "consents": None, "never": ["the flat"], "accepted_at": 5, "shard": 0, "seq": 7,
            },
        }  # fmt: skip
        self.resting_rows: dict[str, Resting] = {}
        # Hers was admitted, and its use changed its weight twice.
        self.near: dict[str, list[tuple[str, float]]] = {}
        self.weights_of = {HERS: Weighed(HERS, "short-term", "admitted", 3, 850_000, (1, 2, 3))}
        self.rests = 11
        self.decided: dict[str, decisions.Found] = {}
        self.wanted: list[decisions.Wanted] = []
        self.pages: list[pages.Standing | pages.Given | pages.Decided] = []
        self.followed: list[tuple[pages.Entries, int]] = []
        # The latest first: a decision with votes on hers.
        self.lines = [chronicle.Line(9, SINCE, "decided", "", None, None, 7, {"forgotten": 1})]

    async def indexed(self, *_: str) -> bool:
        return False

    async def search(
        self, sight: Sight, namespace: str, *_: Any, filters: Filters = ALL, exact: bool = False, told: Any = None
    ) -> list[Hit]:
        self.filters.append(filters)
        assert covers(sight.namespaces, namespace)
        return [Hit(i, self.text, "short-term", "a", 0, 0, 0, 0.5, 0.9) for i in OWNERS if OWNERS[i] == namespace]

    async def candidates(
        self, sight: Sight, question: Question, _: Ranking, told: Any = None
    ) -> tuple[list[Candidate], int]:
        hits = await self.search(sight, question.namespace, "", np.zeros(1, np.float32), 1)
        return [
            Candidate(hit, name, vector, True, 1.0, ()) for hit in hits for name, vector in question.vectors.items()
        ], 5

    async def entries(self, _: Sight, __: list[str]) -> dict[str, int]:
        return {}

    async def vectors(self, _: Sight, __: str, ___: list[str]) -> dict[str, Any]:
        return {}

    async def withheld_near(self, *_: Any) -> dict[str, list[tuple[str, float]]]:
        return self.near

    async def supports(self, _: Sight, __: list[str]) -> list[Support]:
        return []

    async def conflicts(self, _: Sight, __: list[str]) -> list[Contradiction]:
        return []

    async def conflicts_then(self, _: Sight, __: list[str], ___: int) -> list[Contradiction]:
        return []

    async def passed(self, sight: Sight, question: Question) -> tuple[dict[str, int], dict[str, int]]:
        assert covers(sight.namespaces, question.namespace)
        return dict.fromkeys(question.vectors, 3), {"agent": 2}

    async def around(
        self, sight: Sight, namespace: str, memory_ids: list[str], _: Reach, filters: Filters
    ) -> list[Neighbour]:
        hits = await self.search(sight, namespace, "", np.zeros(1, np.float32), 1)
        found = [Candidate(hit, "e", np.ones(1, np.float32), False, None, ()) for hit in hits]
        return [Neighbour(one, memory_ids[0], "anchor", 0) for one in found if one.hit.memory_id in memory_ids]

    async def related(self, sight: Sight, namespace: str, *_: Any, **__: Any) -> list[Edge]:
        """Returns nothing: no memory has a relation."""
        assert covers(sight.namespaces, namespace)
        return []

    async def said(self, sight: Sight, namespace: str, _: list[str]) -> dict[str, Any]:
        """Returns nothing: no memory has a name."""
        assert covers(sight.namespaces, namespace)
        return {}

    async def holders(self, sight: Sight, namespace: str, *_: Any, **__: Any) -> list[Holder]:
        """Returns nothing: no memory has a name."""
        assert covers(sight.namespaces, namespace)
        return []

    async def traces(self, sight: Sight, namespace: str, _: str, __: str | None, ___: Filters) -> list[Trace]:
        hits = await self.search(sight, namespace, "", np.zeros(1, np.float32), 1)
        return [Trace(Candidate(hit, "e", np.ones(1, np.float32), False, None, ()), 1) for hit in hits]

    async def memories(self, sight: Sight, listing: Listing) -> list[dict[str, Any]]:
        """Lists three memories of the namespace; a page shows those behind its cursor."""
        assert covers(sight.namespaces, listing.namespace)
        self.listings.append(listing)
        own = [i for i, namespace in OWNERS.items() if namespace == listing.namespace]
        shown = await self.memory(sight, own[0]) if own else None
        links = {"derives_from": (), "contradicts": (), "goals": ("water",), "follows": None}
        rows = [{**shown, **links, "occurred_at": at} for at in (1, 2, 3)] if shown else []
        return [row for row in rows if listing.behind is None or row["occurred_at"] > listing.behind[0]][
            : listing.limit + 1
        ]

    async def decisions(self, sight: Sight, wanted: decisions.Wanted) -> decisions.Found:
        assert covers(sight.namespaces, wanted.namespace)
        self.wanted.append(wanted)
        return self.decided.get(wanted.namespace, decisions.Found())

    async def goals(self, sight: Sight, page: pages.Standing) -> list[Needs]:
        """Lists the goals in the namespace that protect a memory, each with its needs."""
        assert covers(sight.namespaces, page.namespace)
        self.pages.append(page)
        own = [one for one in self.protected if OWNERS[one[0]] == page.namespace and one[1].startswith("goal:")]
        kinds = sorted({one[1] for one in own if page.behind is None or one[1] > str(page.behind)})
        needs = [(kind, [one for one in own if one[1] == kind]) for kind in kinds[: page.limit + 1]]
        return [
            (kind, len(some), tuple(one[0] for one in some), max(one[5] for one in some), (some[0][3],))
            for kind, some in needs
        ]

    async def protections(self, sight: Sight, page: pages.Standing) -> list[tuple[Protector, int]]:
        """Lists the pins or the holds of the namespace, each at its place."""
        assert covers(sight.namespaces, page.namespace)
        self.pages.append(page)
        own = [one for one in self.protected if OWNERS[one[0]] == page.namespace and one[1] == page.kind]
        return [(Protector(*one), place) for place, one in reversed([*enumerate(own)]) if place < int(page.behind or 0)]

    async def orders_given(self, sight: Sight, _: Codec, page: pages.Given) -> list[tuple[Ordered, int]]:
        """Lists the orders of the namespace, each at its place."""
        assert covers(sight.namespaces, page.namespace)
        self.pages.append(page)
        own = [one for one in self.orders.values() if one.namespace == page.namespace]
        return [(one, place) for place, one in reversed([*enumerate(own)]) if place < page.behind][: page.limit + 1]

    async def epochs(self, sight: Sight, page: pages.Decided) -> list[Epoch]:
        """Lists three epochs of a shard, each with a vote in the namespace."""
        assert page.namespace is None or covers(sight.namespaces, page.namespace)
        self.pages.append(page)
        made = [Epoch(page.shard, number, 5, "interval", 0, 7, {"kept": 1}) for number in (3, 2, 1)]
        return [one for one in made if one.epoch < page.behind][: page.limit + 1]

    async def contradicted(self, sight: Sight, page: pages.Contradicted) -> list[Conflict]:
        """Lists one contradiction of the greenhouse."""
        assert covers(sight.namespaces, page.namespace)
        self.filters.append(page.gates)
        one = Conflict(HERS, THEIRS, HERS, True, False, False, "ann", "bob", SINCE, SINCE, "short-term", "short-term",
                       "Call +49 170 1234567.", "Call nobody.", 9)  # fmt: skip
        return [one] if page.namespace == "greenhouse" and page.behind is None else []

    async def sessions(self, sight: Sight, page: pages.Talked) -> list[tuple[SessionInShort, str]]:
        """Lists one session of the greenhouse."""
        assert covers(sight.namespaces, page.namespace)
        self.filters.append(page.gates)
        one = SessionInShort("shift-1", ("ann",), SINCE, SINCE, 1, 0, 0)
        return [(one, f"{SINCE}/7")] if page.namespace == "greenhouse" and page.behind is None else []

    async def journal(self, sight: Sight, page: pages.Entries, after: int = -1) -> list[chronicle.Line]:
        assert covers(sight.namespaces, page.namespace)
        self.followed.append((page, after))
        return [one for one in self.lines if after < one.seq < page.behind][: page.limit + 1]

    async def journal_latest(self, sight: Sight, namespace: str, _: int) -> int:
        assert covers(sight.namespaces, namespace)
        return self.lines[0].seq if self.lines else 0

    async def namespaces_seen(self, sight: Sight, page: pages.Tenants) -> list[NamespaceInShort]:
        seen = sorted(name for name in OWNERS.values() if covers(sight.namespaces, name) and name > page.behind)
        return [NamespaceInShort(name, 1) for name in seen][: page.limit + 1]

    async def namespace(self, sight: Sight, namespace: str, _: int) -> Counted:
        assert covers(sight.namespaces, namespace)
        return {"short-term": 1}, [AgentInShort("ann", 1, SINCE)], (SINCE, 7, SINCE - 1, SINCE - 1)

    async def configured_at(self, _: int) -> dict[int, tuple[int, int]]:
        """Returns no changes of configuration."""
        return {}

    async def slot(self, sight: Sight, slot: Slot) -> dict[str, Any] | None:
        """Returns the content of a namespace's slot; `gate` is empty."""
        assert covers(sight.namespaces, slot.namespace)
        self.filters.append(slot.filters)
        own = [i for i, namespace in OWNERS.items() if namespace == slot.namespace and slot.key != "gate"]
        return await self.memory(sight, own[0]) if own else None

    async def paths(self, sight: Sight, branch: Branch) -> list[str]:
        """Lists three paths of the greenhouse; a page shows those behind its cursor."""
        assert covers(sight.namespaces, branch.namespace)
        self.filters.append(branch.gates)
        own = ["plan", "users/ada", "users/bob"] if branch.namespace == "greenhouse" else []
        return [path for path in own if path > (branch.behind or "")][: branch.limit + 1]

    async def memory(self, sight: Sight, memory_id: str, gates: Filters | None = None) -> dict[str, Any] | None:
        self.filters += [] if gates is None else [gates]
        seen = memory_id in OWNERS and covers(sight.namespaces, OWNERS[memory_id])
        row = (
            memory_id,
            OWNERS.get(memory_id),
            self.text,
            "short-term",
            "a",
            "a",
            "e",
            1,
            2,
            None,
            None,
            3,
            0,
            0,
            600_000,
            0,
            True,
        )
        return (
            shown(
                (
                    *row,
                    *structs.astuple(Carried()),
                    None,
                    None,
                    None,
                    "episodic",
                    0,
                    None,
                    "",
                    None,
                    None,
                    None,
                    None,
                    [],
                )
            )
            if seen
            else None
        )

    async def profile(self, sight: Sight, namespace: str, subject: str) -> dict[str, Any] | None:
        """Returns the profile of Ada in the greenhouse."""
        assert covers(sight.namespaces, namespace)
        found = self.profiled.get((namespace, subject))
        return None if found is None else {**found}

    async def profile_lists(self, sight: Sight, namespace: str) -> list[tuple[str, list[str]]]:
        """Returns nothing: no subject has a list."""
        return []

    async def echoed(self, _: Sight, __: str) -> str | None:
        """Returns None: no memory repeats another."""
        return None

    async def facts(self, _: Sight, __: Codec, ___: str, gates: Filters | None = None, ____: object = None) -> None:
        self.filters += [] if gates is None else [gates]

    async def outcomes(self, _: Sight, __: list[tuple[str, str]]) -> dict[tuple[str, str], dict[str, Any]]:
        return {}

    async def rewards(self, sight: Sight, namespace: str, _: str | None, __: int) -> list[tuple[str, str, int, int]]:
        assert covers(sight.namespaces, namespace)
        return [("planner", "used", 2, 600_000)] if namespace == "greenhouse" else []

    async def tasks(self, sight: Sight, page: Finished) -> list[TaskInShort]:
        """Lists two tasks of the greenhouse; the later one failed."""
        assert covers(sight.namespaces, page.namespace)
        self.filters.append(page.gates)
        found = [_short(ORDER, "failed", 9), _short(THEIRS, "succeeded", 7)] if page.namespace == "greenhouse" else []
        wanted = [one for one in found if page.outcomes is None or one.outcome in page.outcomes]
        return [one for one in wanted if one.journal_seq < page.behind][: page.limit + 1]

    async def task(self, sight: Sight, task_id: str, gates: Filters) -> FinishedTask | None:
        """Returns the greenhouse's task with her memory."""
        self.filters.append(gates)
        if task_id != HERS or not covers(sight.namespaces, "greenhouse"):
            return None
        return FinishedTask(
            **structs.asdict(_short(HERS, "succeeded", 7)), namespace="greenhouse", inputs="Call +49 170 1234567.",
            outputs="open", tools=("valve: opened",), configuration="00" * 32, seed=0, encoder="hashing",
            digest="11" * 32, feedback=(Feedback(THEIRS, "ann", True, SINCE),),
        )  # fmt: skip

    async def diffused_one(self, *_: object) -> Admission | None:
        return None

    async def admission(
        self, sight: Sight, memory_id: str, gates: Filters, policy_of: Callable[[str], ExperiencePolicy], *,
        alike: int = 2,
    ) -> Admission | None:  # fmt: skip
        """Returns the admission of the greenhouse's memory, which was rejected."""
        self.filters.append(gates)
        if memory_id != HERS or not covers(sight.namespaces, "greenhouse"):
            return None
        judge = Judge(ORDER, 0.5, 0.5, 9.0, 12.0, 1.0, 2.0)
        found = Trial("verifier-1", 3, 0.0, True, (judge,), 8)
        return Admission(HERS, "greenhouse", "rejected", policy_of("greenhouse").eta_ppm / 1e6, 3, 0.0, trials=(found,))

    async def experiences(self, sight: Sight, page: pages.Experienced) -> list[Experienced]:
        """Lists two memories of the greenhouse's experience, theirs admitted and hers not; one decision
        changed both.
        """
        assert covers(sight.namespaces, page.namespace)
        self.filters.append(page.gates)
        if page.namespace != "greenhouse":
            return []
        admitted = Experienced(THEIRS, "admitted", "Call +49 170 1234567. " * 20, 0.9, 1.1, 2, 4, 0, 3, 9)
        both = [admitted, Experienced(HERS, "rejected", None, 0.0, None, 0, 0, 0, 0, 9)]
        both.sort(key=lambda one: one.memory_id, reverse=True)
        found = [one for one in both if page.behind is None or (one.journal_seq, one.memory_id) < page.behind]
        return [one for one in found if page.statuses is None or one.status in page.statuses][: page.limit + 1]

    async def counted(self, sight: Sight, page: pages.Experienced) -> dict[str, int]:
        assert covers(sight.namespaces, page.namespace)
        return {"admitted": 1, "rejected": 1} if page.namespace == "greenhouse" else {}

    async def session(
        self, sight: Sight, _: Codec, place: tuple[int, str, str]
    ) -> tuple[list[Member], list[Made], list[SessionMemory], SessionShard]:
        """Returns two memories of ann's session `shift`: a requested one, and one that a draft summary
        would replace.
        """
        assert covers(sight.namespaces, place[1])
        drafted = Member("ann", THEIRS, "short-term", SINCE, False, None, False, False, ORDER, "draft", None)
        wanted = Member("ann", HERS, "short-term", SINCE, True, None, False, False, None, None, None)
        shard = SessionShard(SINCE, 3, SINCE - 1_000)
        return ([wanted, drafted] if place[2] != "unknown" else []), [], [], shard

    async def rollup_log(
        self, sight: Sight, namespace: str, gates: Filters, near: Sequence[str] | None = None
    ) -> list[Logged]:
        """Lists three sentences of valve 3 in the greenhouse's roll-up; the last replaces the first and is
        sensitive.
        """
        assert covers(sight.namespaces, namespace)
        self.filters.append(gates)
        said = [(HERS, 0, "Valve 3 opens at 4 bar.", None), (HERS, 30, "Lena oiled valve 3.", None)]
        said.append((THEIRS, 0, "Valve 3 opens at 5 bar now.", HERS))
        log = [
            Logged(
                seq, 0, SINCE + seq * 1_000,
                Patch(ORDER, "add" if goes is None else "supersede", i, at, at + len(text),
                      at + text.casefold().index("valve"), at + text.index("3") + 1, "facts", seq,
                      goes, 0, 0 if goes is None else 23),
                "ada", "ada", text, withheld=gates.sensitivity_max is not None and seq == 1,
            )
            for seq, (i, at, text, goes) in enumerate(said, 1)
        ]  # fmt: skip
        return log if namespace == "greenhouse" else []

    async def taken(self, sight: Sight, namespace: str, selector: str, value: str) -> list[Named]:
        """Lists both memories where she or all are asked for: the second was made of the first."""
        assert covers(sight.namespaces, namespace)
        if namespace != "greenhouse" or (selector, value) not in (("subject", "ada"), ("namespace", "")):
            return []
        episodes = [ErasedEpisode(HERS, "short-term", b"c"), ErasedEpisode(THEIRS, "dropped")]
        return [Named(episodes[0], "a", 1, None), Named(episodes[1], None, None, HERS)]

    async def report(self, sight: Sight, _: Codec, asked: reporting.Asked, *__: Any) -> reporting.Found:
        """Returns an empty page."""
        assert covers(sight.namespaces, asked.namespace)
        return reporting.Found()

    async def staying(self, sight: Sight, namespace: str, selector: str, value: str, taken: list[str]) -> list[Staying]:
        """Lists another agent's memory that repeats what the erasure takes."""
        assert covers(sight.namespaces, namespace)
        return [Staying(ORDER, "bob", 2, "another agent said it: bob")] if HERS in taken else []

    async def mentions(self, sight: Sight, namespace: str, name: str, but: list[str]) -> list[Naming]:
        """Finds two memories that may name her; the second does not."""
        assert covers(sight.namespaces, namespace)
        told = (Naming(REQUESTED, "bob", 3, "Ada's phone rang."), Naming(ORDER, "bob", 4, "Adagio."))
        return [one for one in told if one.memory_id not in but]

    async def protectors(self, sight: Sight, memory_ids: list[str]) -> list[tuple[Any, ...]]:
        return [one for one in self.protected if one[0] in memory_ids and covers(sight.namespaces, OWNERS[one[0]])]

    async def guarded(self, sight: Sight, namespace: str) -> Guarded:
        """Returns all protections: they are of one namespace here."""
        assert covers(sight.namespaces, namespace)
        kinds = [one[1] for one in self.protected]
        return Guarded(kinds.count("pin"), sum(kind.startswith("goal:") for kind in kinds))

    async def quota(self, sight: Sight, namespace: str, since: int) -> Losses:
        assert covers(sight.namespaces, namespace)
        return self.losses.get(namespace, Losses(100))

    async def needed(self, sight: Sight, namespace: str, kind: str) -> dict[str, str]:
        """The memories that a goal needs."""
        return {one[0]: one[2] for one in self.protected if one[1] == kind and covers(sight.namespaces, namespace)}

    async def required(self, sight: Sight, namespace: str, memory_ids: Sequence[str], most: int) -> list[str]:
        """Returns the memories with those that `requires` names."""
        assert covers(sight.namespaces, namespace)
        found = dict.fromkeys(memory_ids)
        for one in memory_ids:
            found |= dict.fromkeys(self.requires.get(one, ()))
        return list(found)[: most + 1]

    def protect(self, order: ProtectionOrdered, signer: str = "operator") -> None:
        if order.action in ENDS:
            assert order.ends in [one[2] for one in self.protected if one[:2] == (order.memory_id, kind_of(order))]
        self.protected = [one for one in self.protected if one[:2] != (order.memory_id, kind_of(order))]
        if order.action not in ENDS:
            told = (order.memory_id, kind_of(order), order.order_id, order.ordered_by, order.reference, 6, signer)
            self.protected.append(told)

    async def resting(self, sight: Sight, namespace: str, memory_ids: tuple[str, ...]) -> list[Resting]:
        assert covers(sight.namespaces, namespace)
        mine = [self.resting_rows[i] for i in memory_ids if i in self.resting_rows]
        return [one for one in mine if OWNERS.get(one.memory_id, namespace) == namespace]

    async def weighed(self, sight: Sight, namespace: str, memory_id: str) -> Weighed | None:
        assert covers(sight.namespaces, namespace)
        return self.weights_of.get(memory_id) if OWNERS.get(memory_id) == namespace else None

    async def used(self, sight: Sight, _: Codec, namespace: str, memory_ids: tuple[str, ...]) -> list[Used]:
        assert covers(sight.namespaces, namespace)
        mine = [i for i in memory_ids if OWNERS.get(i) == namespace]
        return [Used(i, "short-term", 0, self.rests, 1_000, 8, 600_000) for i in mine]

    async def order(self, sight: Sight, _: Codec, order_id: str) -> Ordered | None:
        found = self.orders.get(order_id)
        return found if found and covers(sight.namespaces, found.namespace) else None

    async def ping(self) -> None:
        pass


class Journal:
    """The outcomes of events: only those in `seen` have one. `waited`: which events, and how long."""

    listening = True

    def __init__(self, *seen: tuple[str, str]) -> None:
        self.seen, self.waited = seen, list[tuple[tuple[str, str], float]]()

    async def wait(self, sight: Sight, event: tuple[str, str], seconds: float) -> dict[str, Any] | None:
        assert covers(sight.namespaces, event[0])
        self.waited.append((event, seconds))
        return {"outcome": "stored"} if event in self.seen else None


def stored(file: Path, *wanted: tuple[int, tuple[str, ...], tuple[str, ...]], **more: Any) -> None:
    """The keys of a write: number, rights, namespaces."""
    made = [
        access.make(
            bytes([n] * 6), bytes([n] * 32), name="k", namespaces=spaces, rights=rights, now_ms=1, **more
        )[1]
        for n, rights, spaces in wanted
    ]  # fmt: skip
    file.write_bytes(access.dump(Keys(made)))


SEARCH = {"namespace": "greenhouse", "query": "q", "peek": True}


def filled(path: str) -> str:
    values = {
        "memory_id": HERS,
        "namespace": "greenhouse",
        "event_id:path": "e",
        "order_id": ORDER,
        "task_id": HERS,
        "topic:path": "valve 3",
        "subject:path": "ada",
        "session:path": "shift",
    }
    for name, value in values.items():
        path = path.replace(f"{{{name}}}", value)
    return path


def _short(task: str, outcome: str, seq: int) -> TaskInShort:
    goal = "Open valve 3 and call +49 170 1234567."
    return TaskInShort(task, "ann", goal, outcome, "ann", SINCE, seq, (THEIRS,), (), (THEIRS,), (), "ann")


class Served(Service):
    """The service over the store above; it keeps what it publishes."""

    published: list[tuple[EpisodeIntent, bytes]]
    granted: list[bytes | None]
    ended: list[tuple[EndIntent, bytes]]
    relayed: list[tuple[str, str, EpisodeIntent | FeedbackAccepted, bytes]]
    sent: list[tuple[str, str, bytes]]
    carries_out = True
    withholds = False

    async def publish(self, episode: EpisodeIntent, data: bytes, granted: bytes | None = None) -> str:
        self.published.append((episode, data))
        self.granted.append(granted)
        return f"{topics.EPISODES}/0/{len(self.published)}"

    async def relay(self, topic: str, kind: str, said: EpisodeIntent | FeedbackAccepted, data: bytes) -> str:
        self.relayed.append((topic, kind, said, data))
        return f"{topic}/0/{len(self.relayed)}"

    async def end_session(self, ended: EndIntent, data: bytes) -> None:
        self.ended.append((ended, data))

    async def send(  # noqa: PLR0917
        self, topic: str, kind: str, event_id: str, namespace: str, data: bytes, beside: Sequence[tuple[str, str]] = ()
    ) -> None:
        self.sent.append((topic, namespace, data))
        if topic == topics.RESTORES:
            self._restore(event_id, namespace, data)
            return
        store: Any = self.reads
        if topic == topics.PROTECTIONS:
            signed, wanted = PROTECTION.opened(self.codec, self.genesis, data)
            assert (wanted.order_id, wanted.namespace) == (event_id, namespace)
            if self.carries_out:
                store.protect(wanted, signed.signer)
            return
        if topic == topics.PROFILES:
            _, profile = PROFILE.opened(self.codec, self.genesis, data)
            assert (profile.order_id, profile.namespace) == (event_id, namespace)
            if self.carries_out:
                store.profiled[profile.namespace, profile.subject] |= {"order_id": event_id, "seq": 8}
            return
        if topic == topics.RECLASSIFICATIONS:
            _, limits = RECLASSIFICATION.opened(self.codec, self.genesis, data)
            assert (limits.order_id, limits.namespace) == (event_id, namespace)
            if self.carries_out:
                store.orders[event_id] = answered(event_id, "reclassify", "reclassified", namespace=namespace)
            return
        _, order = ERASURE.opened(self.codec, self.genesis, data)
        assert (order.order_id, order.namespace) == (event_id, namespace)
        if self.carries_out:
            told = (
                {"status": "withheld", "why": order_rows.WITHHELD}
                if self.withholds
                else {"status": "erased", "took": TOOK}
            )
            said = {"ordered_by": order.ordered_by, "reference": order.reference, "namespace": namespace}
            store.orders[event_id] = answered(event_id, "erase", **said, **told)

    def _restore(self, order_id: str, namespace: str, data: bytes) -> None:
        """Returns all the memories except the last as restored."""
        _, asked = REQUEST.opened(self.codec, self.genesis, data)
        assert (asked.order_id, asked.namespace) == (order_id, namespace)
        if self.carries_out:
            *back, last = asked.memory_ids
            good, action = KINDS[asked.action].outcome, asked.action
            if action != "restore":
                back = [*back, last]
            told = [decided(i, good, "quorum", action=action) for i in back]
            told += [decided(last, "kept", "too_few_votes")] if action == "restore" else []
            store: Any = self.reads
            store.orders[order_id] = answered(
                order_id, "restore", "decided", says={"action": action}, memories=tuple(told), epoch=7, journal_seq=9,
                namespace=namespace,
            )  # fmt: skip


GENESIS = genesis.make(**erasures.entitled(signed=()))


def make(codec: Codec, door: Door, seed: bytes | None = genesis.seed_of("service:erasure")) -> Served:
    telemetry = Telemetry().stage("retrieval")
    made = Served(
        "", "", GENESIS, codec,
        encoder=HashingEncoder(), before=None, door=door, shown=telemetry, erasure_seed=seed,
    )  # fmt: skip
    made.reads, made.outcomes = Store(), Journal()  # type: ignore[assignment]
    # It ends when all is told that is there.
    made.feed = Feed(made.reads, lasts_s=0)
    made.uses, made.published, made.sent = Uses(codec, telemetry.sent), [], []
    made.granted, made.ended, made.relayed = [], [], []
    return made


def client_of(service: Service) -> TestClient:
    return TestClient(around(service, LOOPBACK, service.meters), base_url="http://127.0.0.1")


def bearer(number: int, right: str = "read") -> dict[str, str]:
    told, _ = access.make(
        bytes([number] * 6), bytes([number] * 32), name="k", namespaces=["*"], rights=[right], now_ms=1
    )
    return {"Authorization": f"Bearer {told}"}


def refusing(service: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Makes the service learn at once that what it publishes is over a quota."""

    async def publish(episode: EpisodeIntent, data: bytes, granted: bytes | None = None) -> str:
        letter = IntakeRefused(
            topics.EPISODES, 0, 7, "over_quota", "20 episodes a minute: publish it later", SINCE, "k", b"", "namespace",
            event=ids.event_digest(episode.namespace, episode.event_id),
            publisher=ids.event_digest(episode.namespace, episode.event_id, episode.agent),
        )  # fmt: skip
        service.refusals.take(letter)
        return f"{topics.EPISODES}/0/7"

    monkeypatch.setattr(service, "publish", publish)
