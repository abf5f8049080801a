r"""Fleets in which memories are tried and admitted: members at their logs, verifiers and the commit worker, all real.

A fleet has facts that tasks ask for, asides that lie near them and answer nothing, and facts that no task asks for.
Tasks come one after the other, with what helped in them. Verifiers read the store as the commit worker has left it, and
their signed findings are journalled; what they agree on is nominated, and members vote at their own views, by the logs
alone. One verifier or more may lie, and one member: `ACTS` and `VOTES` say how. A memory that is admitted helps so
often that it gets general forms (`tests.simulation.generalising`). `faults` checks the rules.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from msgspec.structs import replace

from db.view import View
from memquorum import topics
from memquorum.core import sealing
from memquorum.core.experience.admission import ADMITTED
from memquorum.core.experience.texts import Texts
from memquorum.core.experience.trial import Judged, read
from memquorum.core.experience.weights import BY_GENERALISING, BY_ROLLBACK
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.rows import AdmissionRow, TaskRow, TrialRow, WeightRow
from memquorum.core.journal.trials import AGREED
from memquorum.core.orders.restore import REQUEST
from memquorum.core.policy import PPM
from memquorum.core.records import (
    ClockTicked,
    DecayCrossed,
    EpisodeAccepted,
    FeedbackAccepted,
    NominationProposed,
    OrderAccepted,
    OrderFound,
    Proposal,
    Standing,
    Task,
    TrialMade,
)
from memquorum.core.vote import asking
from memquorum.core.vote.columns import packed, places_of
from memquorum.core.vote.kinds import ADMIT, GENERALISE
from tests.builders import trials, votes
from tests.builders.genesis import make
from tests.builders.seats import AS_OF, CODEC, Fleet
from tests.builders.shard import NAMESPACE, accepted, memory_id, scored
from tests.builders.table import Keys
from tests.inmemory.store import InMemoryStore
from tests.inmemory.trials import InMemoryTrials
from tests.simulation.dice import Dice
from tests.simulation.generalising import Forms
from workers.commit.commit_shard import SOURCES, CommitShard, opened
from workers.replica.judge import Judge
from workers.verifier.verifier_turn import Made, Trying
from workers.verifier.worker import recorded

MEMBERS = 4
VERIFIERS = ("verifier-1", "verifier-2", "verifier-3")
ACTS = ("false", "denies", "silent", "mutated", "forged", "again", "early")
"""Acts of a lying verifier: it says that all was gained, or nothing; is silent; changes one sum; signs for another
verifier too; repeats an earlier finding; or names another decision.
"""
VOTES = ("all", "none", "random")
"""Votes of a lying member, in place of its own findings."""

_GENESIS = make(MEMBERS, **trials.entitled(verifiers=VERIFIERS))
_MATTERS = 5
_EPOCHS = 12
_ASKED, _AGAIN = 11, 12
"""The epochs of a request to roll back to a first weight, and of a lying nomination that puts it to the vote again, or
names a memory that was not admitted.
"""
_TASKS = 4
"""The number of tasks that ask for each matter; no task asks for the last matter."""


class Lying(Judge):
    """A member that votes against its findings."""

    act = ""

    def opinions(self, nomination: NominationProposed, *given: Any) -> bytes:
        """Votes on each proposal to admit, or to take in a general form."""
        places = places_of(nomination)
        if any(kind not in {ADMIT, GENERALISE} for kind, _ in places):
            return super().opinions(nomination, *given)
        yes = (self._yes(nomination.epoch, at) for at in range(len(nomination.proposals)))
        return packed([(PPM, PPM) if one else (0, 0) for one in yes], places)

    def _yes(self, epoch: int, at: int) -> bool:
        return self.act == "all" or (self.act == "random" and Dice(epoch).chance(500, "yes", at))


class Members(Fleet):
    """Members with keys to open what they read."""

    def __init__(self, folder: Path, vault: Keys, lying: Mapping[int, str]) -> None:
        super().__init__(folder, _GENESIS)
        self.logs[topics.SCORED] = []
        self._vault, self._lying = vault, lying

    @property
    def honest(self) -> dict[int, View]:
        """Returns the views of the members that do not lie."""
        return {member: view for member, view in self.views.items() if member not in self._lying}

    def judge(self, member: int, view: View) -> Judge:
        """Returns the judge that votes for a member."""
        kind = Lying if member in self._lying else Judge
        made = kind(CODEC, view, self._vault, self.genesis)  # type: ignore[arg-type]
        if isinstance(made, Lying):
            made.act = self._lying[member]
        return made


class Trials:
    """One simulated fleet.

    `lying`: the acts of verifiers, by name, and of members, by number. An admitted memory is given to further tasks,
    which fail.
    """

    def __init__(self, folder: Path, seed: int, lying: Mapping[str | int, str]) -> None:
        self.dice, self._vault, self._elsewhere = Dice(seed), Keys(), seed % 2 == 1
        self._acts = {who: act for who, act in lying.items() if isinstance(who, str)}
        self.members = Members(folder, self._vault, {m: act for m, act in lying.items() if isinstance(m, int)})
        for member in range(MEMBERS):
            self.members.sit(member)
            if (act := lying.get(member)) is not None:
                of = self.members.views[member].experience
                of.holds = lambda *_, yes=act == "all": yes  # type: ignore[method-assign]
        self._told, self._said = list[bytes](), list[bytes]()
        self.store = InMemoryStore()
        start = self.store.start(_GENESIS.cluster, _GENESIS.shards)[0]
        self._line, self._read = CommitShard(Rules(CODEC, _GENESIS), start), dict.fromkeys(SOURCES, 0)
        self._tryings = {who: Trying(CODEC, _GENESIS, [who], budget_ms=60_000, clock=lambda: 0.0) for who in VERIFIERS}
        self.helps, self.idle = set[str](), set[str]()
        self.asked: asking.OpenOrder | None = None
        facts = [memory_id(f"fact-{matter}") for matter in range(_MATTERS)]
        self.forms = Forms(self.store, _GENESIS, facts, forged=facts[-2], early=facts[-1])
        self._now = AS_OF

    def run(self) -> None:
        """Runs all epochs."""
        for epoch in range(1, _EPOCHS + 1):
            self._live(epoch)
            self._keep()
            for who, trying in self._tryings.items():
                self._tell(who, trying.turn(InMemoryTrials(self.store)).made, epoch)
            self._keep()
            self._vote(epoch)
            self._keep()

    # Agents ----------------------------------------------------------------------------------------------------------

    def _live(self, epoch: int) -> None:
        """Has agents publish each matter in the first epochs, and finish tasks in the later ones."""
        for matter in range(_MATTERS):
            port = 8_000 + matter
            if epoch == 1 + self.dice.roll(3, "said when", matter):
                fact = self._say(f"fact-{matter}", f"Gateway {matter} has to use port {port}.", matter)
                self.idle.add(self._say(f"aside-{matter}", f"Gateway {matter} was painted in spring.", matter))
                (self.idle if matter == _MATTERS - 1 else self.helps).add(fact)
            if matter < _MATTERS - 1 and epoch <= _TASKS:
                self._finish(f"task-{matter}-{epoch}", matter, f"Gateway {matter} has to use port {port}.")
            for made in self.forms.published(matter):
                more = {"summary": made.summary, "derives_from": made.derives_from, "agent": made.agent}
                self._say(made.event_id or "", made.content or "", matter, session=None, role=made.role, **more)
            if self.statuses.get(memory_id(f"fact-{matter}")) == ADMITTED:
                # A memory that is given to a failing task loses weight; trials of other memories must not notice it.
                self._finish(f"use-{matter}-{epoch}", matter, "", ended="failed", given=f"fact-{matter}")
            for form in self.forms.given(matter):
                self._finish(f"general-{matter}-{epoch}", matter, "", ended="failed", given=form)
        if epoch in (_ASKED, _AGAIN):
            self._ask(memory_id("fact-0" if epoch == _ASKED else "aside-0"), epoch)
        self._now += 1
        self._accept(ClockTicked(f"tick-{epoch}", self._now))

    def _ask(self, memory: str, epoch: int) -> None:
        """Requests the first weight of a memory back."""
        order = votes.rollback(_GENESIS, memory, 1, order_id=memory_id(f"order {epoch}"))
        data, offset = votes.signed(CODEC, _GENESIS, "operator", order), len(self.members.logs[topics.ACCEPTED])
        named = order.order_id, REQUEST.name, order.namespace, order.memory_ids
        self._accept(OrderAccepted(*named, data, self._now, topics.RESTORES, 0, epoch))
        if self.asked is None or self._elsewhere:
            self.asked = REQUEST, OrderFound(data, self._now, offset), order

    def _say(self, name: str, text: str, matter: int, **more: Any) -> str:
        memory, key = memory_id(name), bytes(sealing.KEY_BYTES - 8) + memory_id(name).encode()[:8]
        self._vault.keys[memory] = key
        record = accepted(
            name, self._now, sealed_content=sealing.seal_text(key, bytes(12), text, memory),
            commitment=sealing.commitment(key, text), **more,
        )  # fmt: skip
        numbers = np.zeros(2 * _MATTERS, np.float32)
        numbers[matter], numbers[_MATTERS + self.dice.roll(_MATTERS, name)] = 0.9, 0.4
        sealed = sealing.seal_vector(key, bytes([*range(12)]), numbers, memory)
        score = replace(scored(record, len(self.members.logs[topics.ACCEPTED])), sealed_embedding=sealed)
        self._accept(record)
        self.members.logs[topics.SCORED].append(CODEC.encode(score))
        return memory

    def _finish(
        self, name: str, matter: int, outputs: str, *, ended: str = "succeeded", given: str | None = None
    ) -> None:
        texts = Texts(f"Which port does gateway {matter} use?", outputs=outputs)
        handed = (memory_id(given or f"aside-{matter}"),)
        more = {"session": None, "role": None, "confidence_ppm": None, "type": "task"}
        task = self._say(
            name, texts.content, matter, derives_from=handed, task=Task(ended, "planner", bytes(32), 7), **more
        )
        if given is None:
            self._accept(FeedbackAccepted(f"feedback-{name}", task, NAMESPACE, "planner", (), handed, self._now))

    def _accept(self, record: EpisodeAccepted | FeedbackAccepted | OrderAccepted | ClockTicked) -> None:
        self.members.logs[topics.ACCEPTED].append(CODEC.encode(record))

    # The commit worker -----------------------------------------------------------------------------------------------

    def _keep(self) -> None:
        """Has the commit worker read everything and apply it."""
        logs = {**self.members.logs, topics.TRIALS: self._told}
        for topic in SOURCES:
            log = logs.get(topic, [])
            for offset in range(self._read[topic], len(log)):
                self._line.take(topic, offset, log[offset], None)
            self._read[topic] = len(log)
        while (batch := self._line.batch(50)) is not None:
            contents = {}
            for item in batch.items:
                if isinstance(item.record, EpisodeAccepted):
                    clear = opened(item, self._vault.keys[item.record.memory_id])
                    assert clear is not None
                    contents[item.record.memory_id] = clear
            wanted = {self._line.state: batch.rows_touched(CODEC, self._line.tombstones, self._line.since)}
            self.forms.keep(batch, contents)
            with self.store.transaction(wanted) as transaction:
                net = batch.apply(self._line.rules, transaction.rows[0], contents, {}, self._line.tombstones)
                transaction.write([net], contents, self._line.cursors(batch) | batch.cursors(0))
            assert batch.rejected is None, batch.rejected
            self._line.applied(batch, net)

    # Verifiers -------------------------------------------------------------------------------------------------------

    def _tell(self, who: str, found: Sequence[Made], epoch: int) -> None:
        """Publishes a verifier's findings, or its lies about them."""
        for at, one in enumerate(found):
            for signer, said in self._lie(who, recorded(one), epoch, at):
                self._told.append(votes.signed(CODEC, _GENESIS, f"service:{signer}", said))
                self._said.append(self._told[-1])

    def _lie(self, who: str, made: TrialMade, epoch: int, at: int) -> list[tuple[str, TrialMade]]:
        act = self._acts.get(who)
        match act:
            case "silent":
                return []
            case "false" | "denies":
                gained = made_of(made, 3 * PPM if act == "false" else 0)
                return [(who, gained)]
            case "mutated":
                return [(who, mutated(made, self.dice.roll(6, "which sum", epoch, at)))]
            case "forged":
                lie = made_of(made, 3 * PPM)
                return [(who, replace(lie, verifier=other)) for other in VERIFIERS if other != who] + [(who, lie)]
            case "again":
                return [(who, made), (who, made), (who, made_of(made, 0))]
            case "early":
                return [(who, moved(made, position)) for position in range(1, epoch)]
            case _:
                return [(who, made)]

    # The vote --------------------------------------------------------------------------------------------------------

    def _vote(self, epoch: int) -> None:
        """Nominates what verifiers agree on, or else an unknown memory; the members decide."""
        logs = self.members.logs
        rows: Sequence[AdmissionRow] = [one for one in self.store.rows[AdmissionRow].values() if one.status == AGREED]
        proposals = [trials.proposal(one.memory_id, _signed(self.store, one)) for one in sorted(rows, key=_by_id)[:16]]
        proposals += self.forms.proposals({one.memory_ids[0] for one in proposals})[: 16 - len(proposals)]
        idle = Proposal((memory_id("nobody"),), NAMESPACE, "forget", "decayed", 0, 0, 0)
        record = NominationProposed(
            _GENESIS.cluster, 0, 0, epoch, self._now, len(logs[topics.ACCEPTED]) - 1, "interval",
            tuple(proposals or [idle]),
        )  # fmt: skip
        if self.asked is not None:
            stands, tick = (
                Standing(epoch - 1, self._now, 0, 0),
                DecayCrossed(0, self._now, record.accepted_offset, 1, ()),
            )
            record = asking.build(CODEC, _GENESIS, stands, tick, self.asked)
        logs[topics.NOMINATIONS].append(votes.signed(CODEC, _GENESIS, "service:nomination", record))
        self.members.run()

    # Invariants ------------------------------------------------------------------------------------------------------

    @property
    def statuses(self) -> dict[str, str]:
        """Returns the status of every memory that was tried."""
        return {one.memory_id: one.status for one in self._tried()}

    def named(self, status: str) -> set[str]:
        """Returns the names of the memories with a status."""
        return {memory for memory, known in self.statuses.items() if known == status}

    @property
    def weights(self) -> set[tuple[str, int, int]]:
        """Returns the first weights in the journal of the tried memories, whatever the epoch of the vote."""
        return {(memory, version, weight_ppm) for memory, version, _, weight_ppm in self._first()}

    def _first(self) -> list[tuple[str, int, int, int]]:
        rows: Sequence[WeightRow] = list(self.store.rows[WeightRow].values())
        tried = (o for o in rows if o.version == 1 and o.cause != BY_GENERALISING)
        return sorted((o.memory_id, o.version, o.epoch, o.weight_ppm) for o in tried)

    def _tried(self) -> list[AdmissionRow]:
        rows: Sequence[AdmissionRow] = list(self.store.rows[AdmissionRow].values())
        return [one for one in rows if one.memory_id not in self.forms.ids]

    @property
    def lost(self) -> dict[str, int]:
        """Returns how much weight each memory of experience has lost, in millionths."""
        rows: Sequence[WeightRow] = list(self.store.rows[WeightRow].values())
        now: Sequence[AdmissionRow] = list(self.store.rows[AdmissionRow].values())
        first = {one.memory_id: one.weight_ppm for one in rows if one.version == 1}
        return {one.memory_id: first[one.memory_id] - (one.weight_ppm or 0) for one in now if one.version}

    @property
    def voted_down(self) -> int:
        """Counts the memories that members rejected though verifiers agreed that they help."""
        return sum(one.status != ADMITTED and one.after > 0 and one.epoch > 0 for one in self._tried())

    def differ(self) -> Counter[str]:
        """Counts how often each verifier's findings differ from those agreed on."""
        agreed = {(one.memory_id, one.position): one.digest for one in self.store.rows[AdmissionRow].values()}
        rows: Sequence[TrialRow] = list(self.store.rows[TrialRow].values())
        digests = ((one, agreed.get((one.memory_id, one.position))) for one in rows)
        return Counter(one.verifier for one, digest in digests if digest is not None and one.digest != digest)

    def faults(self) -> list[str]:
        """Returns the violated rules, whoever lied."""
        rows: Sequence[WeightRow] = list(self.store.rows[WeightRow].values())
        weights, honest = self._first(), self.members.honest
        back = [(one.memory_id, one.weight_ppm) for one in rows if one.cause == BY_ROLLBACK]
        views = {member: _weights(view) for member, view in self.members.views.items()}
        wrong = {
            "all members have decided all epochs": {seq for _, seq in self.members.standing().values()}
            == {_EPOCHS + 1},
            "members have the experience that the journal has": all(of == weights for of in views.values()),
            "what helps is admitted": self.named(ADMITTED) == self.helps,
            "each use counts once": self.lost == {name: 50_000 * count for name, count in _failed(self.store).items()},
            "what helps nobody is not": not self.named(ADMITTED) & self.idle,
            "one weight is rolled back, once": back == [(memory_id("fact-0"), PPM)],
        } | self.forms.held(self.helps, honest)
        return [rule for rule, holds in wrong.items() if not holds]

    def close(self) -> None:
        """Closes the members' files."""
        self.members.close()


def made_of(made: TrialMade, reward: int) -> TrialMade:
    """Returns the finding with each judge's gain replaced by so much."""
    return _with(made, lambda judged: tuple(replace(one, reward_without=0, reward_with=reward) for one in judged))


def mutated(made: TrialMade, which: int) -> TrialMade:
    """Returns the finding with one sum of one judge changed."""
    names = ("reward_without", "reward_with", "tokens_without", "tokens_with", "given_without", "given_with")

    def changed(judged: tuple[Judged, ...]) -> tuple[Judged, ...]:
        value = getattr(judged[0], names[which])
        return (replace(judged[0], **{names[which]: value + 1 if value == 0 else value - 1}), *judged[1:])

    return _with(made, changed)


def moved(made: TrialMade, position: int) -> TrialMade:
    """Returns the finding as of another decision."""
    return replace(made, statistics=replace(read(made.statistics), position=position).data)


def _with(made: TrialMade, changed: Callable[[tuple[Judged, ...]], tuple[Judged, ...]]) -> TrialMade:
    told = read(made.statistics)
    return replace(made, statistics=replace(told, judged=changed(told.judged)).data)


def _weights(view: View) -> list[tuple[str, int, int, int]]:
    return [
        (one.memory_id, one.version, one.epoch, one.weight_ppm)
        for one in view.experience.weights(NAMESPACE, epoch=_EPOCHS)
    ]


def _failed(store: InMemoryStore) -> dict[str, int]:
    """Counts the failed tasks that used each memory of experience since its admission, as far as they count."""
    rows: Sequence[AdmissionRow] = list(store.rows[AdmissionRow].values())
    tasks: Sequence[TaskRow] = list(store.rows[TaskRow].values())
    upto = store.states[0].weighed_to
    return {
        one.memory_id: sum(
            one.memory_id in task.retrieved and one.since <= task.accepted_offset < upto for task in tasks
        )
        for one in rows if one.version
    }  # fmt: skip


def _signed(store: InMemoryStore, admission: AdmissionRow) -> list[bytes]:
    told: Sequence[TrialRow] = list(store.rows[TrialRow].values())
    wanted = admission.memory_id, admission.position, admission.digest
    return [one.made for one in told if (one.memory_id, one.position, one.digest) == wanted][:2]


def _by_id(one: AdmissionRow) -> str:
    return one.memory_id
