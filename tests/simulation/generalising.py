r"""The general forms of a simulated fleet's admitted memories: a consolidator publishes them and lies about some, and a
nominator lies about each once.

For one admitted fact the consolidator publishes a false text, and for one that is not in experience its true general
form. The nominator names every general form with another memory first. `faults` says what may follow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from db.standing import Clear
from db.view import View
from memquorum.core.audit.chain import Record, Source
from memquorum.core.audit.findings import Kind
from memquorum.core.audit.verify import verify_shard
from memquorum.core.experience.abstract import abstracted
from memquorum.core.experience.weights import BY_GENERALISING
from memquorum.core.identity.membership import Genesis
from memquorum.core.journal.effects import Rules
from memquorum.core.journal.recall import recall
from memquorum.core.journal.replay import Replay
from memquorum.core.journal.rows import AdmissionRow, Memory, WeightRow
from memquorum.core.policy import PPM
from memquorum.core.records import EpisodeRecorded, JournalEntry, Proposal
from memquorum.core.tiers import DRAFT
from memquorum.core.vote.kinds import GENERALISE
from memquorum.core.vote.kinds.generalise import GENERAL
from memquorum.ports import Promoted
from tests.builders.seats import CODEC
from tests.builders.shard import NAMESPACE, memory_id
from tests.inmemory.store import InMemoryStore
from tests.inmemory.trials import InMemoryGenerals
from workers.commit.commit_shard import Batch
from workers.consolidator.generalising import Generalising, general

IN_EXPERIENCE = "what helps again and again has its general form in experience, and nothing else has one"
SHARE = "a general form begins with its share of what its memory weighs"
KNOWN = "members know which general forms are in experience"
REBUILT = "an audit and a rebuild find the weights that the journal has"


_SEED = bytes(32)


class Forms:
    """Publishes and nominates general forms."""

    def __init__(
        self, store: InMemoryStore, genesis: Genesis, facts: Sequence[str], *, forged: str, early: str
    ) -> None:
        """`facts`: names that may replace a source's.

        `forged`: the fact with a false general form. `early`: the fact with a general form before it is in experience.
        """
        self._store, self._genesis, self._facts, self._forged, self._early = store, genesis, facts, forged, early
        self._made = Generalising(InMemoryGenerals(store), lambda _: genesis.policy.experience, _SEED)
        self._crossed, self._clear, self._lied = set[str](), dict[str, Clear](), False
        self._waits, self._names = list[EpisodeRecorded](), dict[str, str]()

    def published(self, matter: int) -> list[EpisodeRecorded]:
        """Returns the consolidator's new episodes about a fact."""
        self._waits += self._made.found(0)
        memory = self._store.memories.get(self._early)
        if memory is not None and not self._lied:
            self._lied, text = True, self._store.contents[self._early].text
            told = Promoted(
                memory.seq, memory.id, NAMESPACE, text, memory.commitment, 600_000, memory.subject, memory.type
            )
            self._waits.append(general(told, abstracted(text) or "", _SEED))
        found = [one for one in self._waits if one.derives_from == (self._facts[matter],)]
        self._waits = [one for one in self._waits if one not in found]
        self._names |= {memory_id(one.event_id or ""): one.event_id or "" for one in found}
        return [self._lie(one) if one.derives_from[0] == self._forged else one for one in found]

    def given(self, matter: int) -> list[str]:
        """Returns the names of a fact's general forms in experience."""
        taken = self.taken
        return [self._names[one.id] for one in self.all if one.id in taken and one.general_of == self._facts[matter]]

    @staticmethod
    def _lie(form: EpisodeRecorded) -> EpisodeRecorded:
        return replace(form, content=(form.content or "").replace("has to", "must never"))

    def proposals(self, taken: set[str]) -> list[Proposal]:
        """Returns proposals of the waiting general forms: each first with the next fact, then with its own.

        `taken`: other memories that the epoch names.
        """
        found, taken = list[Proposal](), set(taken)
        for form in sorted(self.all, key=lambda one: one.id):
            of = form.general_of or ""
            if form.tier != DRAFT:
                continue
            if form.id not in self._crossed:
                of = self._facts[(self._facts.index(of) + 1) % len(self._facts)]
            if not {form.id, of} & taken:
                taken |= {form.id, of}
                self._crossed.add(form.id)
                found.append(Proposal((form.id, of), NAMESPACE, GENERALISE.name, GENERAL, 0, 0, 0))
        return found

    # The commit worker -----------------------------------------------------------------------------------------------

    def keep(self, batch: Batch, contents: dict[str, Clear]) -> None:
        """Keeps the contents of a batch, and opens again those that its decision restores."""
        self._clear |= contents
        for one in batch.restores():
            past = recall(CODEC, [entry for entry in self._entries() if entry.memory_id == one])
            if past is not None:
                batch.recalled[one], contents[one] = past.restored, self._clear[one]

    def _entries(self) -> Iterator[JournalEntry]:
        return (CODEC.decode_as(JournalEntry, link.entry) for _, link in self._store.entries.get(0, []))

    # Invariants ------------------------------------------------------------------------------------------------------

    @property
    def all(self) -> list[Memory]:
        """Returns all general forms that were accepted."""
        return [one for one in self._store.memories.values() if one.general_of is not None]

    @property
    def ids(self) -> set[str]:
        """Returns their ids."""
        return {one.id for one in self.all}

    @property
    def taken(self) -> set[str]:
        """Returns those in experience."""
        return self.ids & {one.memory_id for one in self._store.rows[AdmissionRow].values()}

    def held(self, helps: set[str], views: Mapping[int, View]) -> dict[str, bool]:
        """Yields each rule, and whether it holds.

        `helps`: memories that help tasks; `views`: of members that do not lie.
        """
        alive = {one.id: one.general_of or "" for one in self.all if one.id in self._store.strengths}
        wanted = {one: abstracted(self._store.contents[one].text) for one in helps - {self._forged}}
        said = {of: self._store.contents[form].text for form, of in alive.items()}
        known = [{one for one in self.ids if view.experience.holds(NAMESPACE, one)} for view in views.values()]
        rows: Sequence[WeightRow] = list(self._store.rows[WeightRow].values())
        first = {one.memory_id: one for one in rows if one.cause == BY_GENERALISING}
        shares = {form: self._share(rows, alive[form], one.epoch) for form, one in first.items() if form in alive}
        return {
            IN_EXPERIENCE: said == wanted and self.taken == alive.keys(),
            SHARE: shares == {form: one.weight_ppm for form, one in first.items()},
            KNOWN: all(one == alive.keys() for one in known),
            REBUILT: self._rebuilt(),
        }

    def _share(self, rows: Sequence[WeightRow], of: str, epoch: int) -> int:
        """Returns the general form's share of the memory's weight after the decision."""
        found = [one for one in rows if one.memory_id == of and one.epoch <= epoch]
        if not found:
            return 0
        last = max(found, key=lambda one: one.version)
        return last.weight_ppm * self._genesis.policy.experience.general_ppm // PPM

    def _rebuilt(self) -> bool:
        data, rules = [CODEC.encode(link) for _, link in self._store.entries.get(0, [])], Rules(CODEC, self._genesis)
        replay = Replay(rules, 0)
        net = replay.take([replay.read(one) for one in data]).net
        kinds: Sequence[Any] = (AdmissionRow, WeightRow)
        same = all(set(net.of(kind)) == set(self._store.rows[kind].values()) for kind in kinds)
        entries = Source(iter([Record(at, one) for at, one in enumerate(data)]), len(data))
        report = verify_shard(rules, 0, entries=entries, heads=Source(iter([]), 0))
        return same and not [one for one in report.findings if one.kind == Kind.EFFECT_IMPOSSIBLE]
