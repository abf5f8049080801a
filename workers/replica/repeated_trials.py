"""Checks proposals to admit for a member: verifies the signers, and repeats one of the trials.

It uses only records that the member read itself, sealed as they came, as far as they still exist and can be opened:
contexts and experience as of the decision that the statistics name. A member that lacks some of them abstains. Opened
records stay in memory within bounds, and their keys are requested each time: an erased one does not count.
"""

from __future__ import annotations

import hmac
import logging
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from msgspec.structs import replace

from db.view import View
from db.view_rows import Admitted, Finished, Known
from memquorum import topics
from memquorum.core import authorship, sealing
from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import Checked
from memquorum.core.contained import Failures
from memquorum.core.experience import texts
from memquorum.core.experience.admission import first_weight_ppm
from memquorum.core.experience.checking import NotBorneOut, borne_out, sampled, stands, tried_again
from memquorum.core.experience.context import SUCCEEDED, Context
from memquorum.core.experience.reward import Reach, Reward
from memquorum.core.experience.rounds import Round
from memquorum.core.experience.trial import Case, Statistics, score_ppm
from memquorum.core.experience.uses import told_ppm
from memquorum.core.experience.view import Experience, Held
from memquorum.core.identity.membership import Genesis
from memquorum.core.kept import Kept
from memquorum.core.records import NominationProposed, Proposal
from memquorum.core.vote.grounds import Trialled
from memquorum.core.vote.kinds import KINDS
from memquorum.ports import Vault

_LOG = logging.getLogger("memquorum.replica")

# The limits of opened tasks and memories in memory: characters of texts and bytes of vectors, and the overhead of each.
_OPENED_MOST = 32 * 1024 * 1024
_AROUND = 512


@dataclass(slots=True)
class _Asked:
    """A verified proposal with the data read for it: the task that the member draws, and the experience by id."""

    proposal: Proposal
    told: Statistics
    at: Round
    task: Finished
    weights: Mapping[str, Admitted]


@dataclass(slots=True)
class _Read:
    """The data read for a nomination: existing memories, the tasks each was derived from, keys, and the experience by
    namespace, epoch and encoder."""

    known: Mapping[str, Known]
    sources: Mapping[str, tuple[str, ...]]
    keys: Mapping[str, bytes]
    made: dict[tuple[str, int, str], Experience] = field(default_factory=dict)


class Tries:
    """Repeats trials from one view, under the configuration in force."""

    def __init__(
        self,
        codec: Codec,
        view: View,
        vault: Vault,
        reward: Reward | None = None,
        failures: Failures | None = None,
    ) -> None:
        """`failures`: notes the rules that failed on a text: the member abstains on that candidate."""
        self._failures = failures or Failures()
        self._codec, self._view, self._vault, self._reward = codec, view, vault, reward or Reach()
        self._opened = Kept[str, Held | Context](_characters, _OPENED_MOST)

    def found(self, nomination: NominationProposed, where: Sequence[int], genesis: Genesis) -> dict[str, Trialled]:
        """Returns the results of repeated trials for proposals to admit, by their memories; without those it cannot
        judge.

        Raises VaultUnavailable. Call it within the view's batch: it removes erased tasks.
        """
        proposals = (nomination.proposals[at] for at in where)
        asked = [one for each in proposals if (one := self._ask(nomination.shard, each, genesis)) is not None]
        if not asked:
            return {}
        experience, found = self._view.experience, dict[str, Trialled]()
        names = {name for one in asked for name in (one.told.candidate, *one.weights)}
        names |= {each.kept for one in asked for each in one.weights.values() if each.kept is not None}
        known = self._view.known(experience.standing(names))
        keys = self._vault.open({*known, *(one.task.memory_id for one in asked)})
        if gone := [one.task.memory_id for one in asked if one.task.memory_id not in keys]:
            experience.erased(gone)
            self.forget(gone)
        read = _Read(known, experience.sources(known), keys)
        for one in asked:
            # Fails on vectors of another length, or of length zero, and where a rule fails.
            pair = one.told.candidate, one.task.memory_id
            trialled = self._failures.answer("trial", pair, None, self._try, one, read, genesis)
            if trialled is not None:
                found[one.told.candidate] = trialled
        return found

    def forget(self, memory_ids: Iterable[str]) -> None:
        """Closes memories and tasks."""
        for memory_id in memory_ids:
            self._opened.pop(memory_id, None)

    def close(self) -> None:
        """Closes everything."""
        self._opened.clear()

    def _ask(self, shard: int, proposal: Proposal, genesis: Genesis) -> _Asked | None:
        """Returns the trial to repeat; None if the proposal is not verified, or the member has not read all of its
        judges."""
        experience, space = self._view.experience, proposal.namespace
        try:
            told, at = borne_out(self._codec, genesis, shard, proposal, partial(experience.stood, shard))
        except NotBorneOut as error:
            _LOG.warning("shard %d: a proposal to admit is not verified: %s", shard, error)
            return None
        if told.position <= experience.refused(told.candidate):
            return None  # members have voted on that
        if (self._view.position(topics.ACCEPTED, shard) or 0) < at.accepted_offset:
            return None  # agents' feedback up to then may not be read yet
        judges = [one.context for one in told.judged]
        tasks = experience.tasks(space, before=at.accepted_offset, memory_ids=judges)
        if [one.outcome for one in tasks.values()] != [SUCCEEDED] * len(judges):
            return None
        weights = {one.memory_id: one for one in experience.weights(space, epoch=at.epoch)}
        return _Asked(proposal, told, at, tasks[sampled(told, self._view.member).context], weights)

    def _try(self, one: _Asked, read: _Read, genesis: Genesis) -> Trialled | None:
        name, policy = one.told.candidate, genesis.policy.experience
        row, key, made_of = read.known.get(name), read.keys.get(name), read.sources.get(name, ())
        if row is None or row.namespace != one.proposal.namespace or row.accepted >= one.at.accepted_offset:
            return None
        if any(judge.context in made_of for judge in one.told.judged):
            return None
        candidate = self._memories([row], read).get(name)
        context = self._context(one.task, read.keys.get(one.task.memory_id), genesis)
        if candidate is None or context is None or not self._written(row, candidate.text, key, genesis):
            return None
        told = told_ppm(self._view.experience.assessed(context.id), one.at.accepted_offset)
        case = Case(
            candidate, [context], self._experience(one, candidate, read), one.at.epoch, {context.id: told}
        )  # fmt: skip
        held = tried_again(case, one.told, self._view.member, self._reward, policy)
        if not held and one.told.reward != self._reward.name:
            _LOG.info("memory %s was tried by another rule than %s, and has to be tried again", name, self._reward.name)
        elif not held and stands(case, one.told):
            _LOG.warning("memory %s: repeating its trial gives another result than the verifiers'", name)
        elif not held:
            _LOG.info("memory %s cannot be tried again: memories of its trial are gone", name)
        return Trialled(held=held, score_ppm=score_ppm(one.told, policy))

    def _experience(self, one: _Asked, candidate: Held, read: _Read) -> Experience:
        """Returns the experience as of a decision, of memories that still exist."""
        name = one.proposal.namespace, one.at.epoch, candidate.encoder
        if name not in read.made:
            # A memory that another one represented by then is left out while that one is alive.
            names = (i for i, each in one.weights.items() if i in read.known and each.kept not in read.known)
            there = self._memories([read.known[each] for each in names], read)
            held = [_weighing(memory, one.weights[memory_id].weight_ppm) for memory_id, memory in there.items()]
            self._keep(held)
            read.made[name] = Experience(candidate.encoder, candidate.dimensions, held)
        return read.made[name]

    def _memories(self, rows: Sequence[Known], read: _Read) -> dict[str, Held]:
        """Opens memories, as far as possible."""
        found, closed = dict[str, Held](), list[tuple[Known, bytes]]()
        for row in rows:
            there, key = self._opened.get(row.memory_id), read.keys.get(row.memory_id)
            sources = read.sources.get(row.memory_id, ())
            if key is None:
                self.forget([row.memory_id])
            elif isinstance(there, Held) and (there.encoder, there.sources) == (row.encoder, sources):
                found[row.memory_id] = there
            else:
                closed.append((row, key))
        wanted = ((row.memory_id, key, row.sealed_embedding) for row, key in closed)
        vectors = sealing.open_vectors((name, key, data) for name, key, data in wanted if data is not None)
        opened = list[Held]()
        for row, key in closed:
            vector, text = vectors.get(row.memory_id), _text(row.memory_id, row.sealed_content, row.commitment, key)
            if vector is not None and text is not None:
                data, sources = vector.astype("<f2").tobytes(), read.sources.get(row.memory_id, ())
                opened.append(Held(row.memory_id, text, row.encoder, data, sources=sources))
        self._keep(opened)
        return found | {one.id: one for one in opened}

    def _context(self, task: Finished, key: bytes | None, genesis: Genesis) -> Context | None:
        """Opens a finished task; None if it cannot be opened, or is not signed by the agent that it names."""
        there = self._opened.get(task.memory_id)
        if key is None or isinstance(there, Context):
            return there if isinstance(there, Context) and key is not None else None
        text = _text(task.memory_id, task.sealed_content, task.commitment, key)
        vector = sealing.open_vectors([(task.memory_id, key, task.sealed_embedding)]).get(task.memory_id)
        if text is None or vector is None or not self._written(task, text, key, genesis, topic=topics.TASKS):
            return None
        said = texts.read(text)
        made = Context(
            task.memory_id, task.namespace, task.agent, said.goal, said.inputs, said.outputs, said.tools,
            task.retrieved, task.outcome, task.said_by, task.configuration, task.seed, task.encoder,
            vector.astype("<f2").tobytes(), task.occurred_at,
        )  # fmt: skip
        self._keep([made])
        return made

    def _written(
        self, row: Known | Finished, text: str, key: bytes | None, genesis: Genesis, *, topic: str = topics.EPISODES
    ) -> bool:
        """True if the named agent signed it, or need not."""
        if row.namespace not in genesis.signed or key is None:
            return key is not None
        wrong = authorship.fault(
            self._codec, genesis, memory_id=row.memory_id, namespace=row.namespace, agent=row.agent, text=text,
            sealed=row.sealed_signed, key=key, topic=topic,
        )  # fmt: skip
        if wrong is not None:
            _LOG.warning("memory %s of namespace %s is ignored: %s", row.memory_id, row.namespace, wrong)
        return wrong is None

    def _keep(self, opened: Iterable[Held | Context]) -> None:
        for one in opened:
            self._opened[one.id] = one


def settle(codec: Codec, view: View, checked: Checked, genesis: Genesis) -> None:
    """Notes the effects of a decision on experience as the journal does: memories admitted, with their first weights,
    memories to be tried again, memories united, and general forms added. It skips those that members had voted on
    before, and sealed memories.

    A new member may read decisions in the journal long before their memories. So effects on unread memories are noted
    as well; readers of the experience check which memories are alive.
    """
    noted = _Noted(codec, view, checked, genesis)
    for proposal, outcome in zip(checked.nomination.proposals, checked.outcomes, strict=True):
        KINDS[proposal.kind].settle(proposal, outcome.decided, noted)


class _Noted:
    """Notes in a member's view what the votes of a decision change in experience."""

    def __init__(self, codec: Codec, view: View, checked: Checked, genesis: Genesis) -> None:
        self._codec, self._experience, self._genesis = codec, view.experience, genesis
        self._shard, self._epoch = checked.nomination.shard, checked.body.epoch

    def admit(self, named: Proposal, passed: bool) -> None:
        experience, (name,) = self._experience, named.memory_ids
        if experience.gone(named.memory_ids):
            return
        try:
            stood = partial(experience.stood, self._shard)
            told, at = borne_out(self._codec, self._genesis, self._shard, named, stood)
        except NotBorneOut:
            return
        if at.epoch <= experience.refused(name):
            return
        if passed:
            weight = first_weight_ppm(told, self._genesis.policy.experience)
            experience.weigh([Admitted(named.namespace, name, 1, self._epoch, weight)])
        else:
            experience.refuse(name, self._epoch)

    def unite(self, named: Proposal) -> None:
        first, *others = named.memory_ids
        if self._admitted(named, named.memory_ids):
            self._experience.unite(first, others, self._epoch)

    def generalise(self, named: Proposal) -> None:
        first, *others = named.memory_ids
        if self._admitted(named, others):
            self._experience.generalise(named.namespace, first)

    def reweigh(self, named: Proposal) -> None:
        """Notes nothing: members do not know the versions of weights."""

    def _admitted(self, named: Proposal, memory_ids: Sequence[str]) -> bool:
        """True if these memories were admitted, and none of those named is gone."""
        return self._experience.admitted(named.namespace, memory_ids) and not self._experience.gone(named.memory_ids)


def _weighing(memory: Held, weight_ppm: int) -> Held:
    """A memory of experience with a weight; the same object if it has that weight already, as its size stays
    counted."""
    return memory if memory.weight_ppm == weight_ppm else replace(memory, weight_ppm=weight_ppm)


def _characters(one: Held | Context) -> int:
    """The memory that an opened record takes, in bytes."""
    if isinstance(one, Held):
        return _AROUND + len(one.text) + len(one.vector)
    said = sum(map(len, one.tools)) + len(one.goal) + len(one.inputs) + len(one.outputs)
    return _AROUND + said + len(one.vector)


def _text(memory_id: str, sealed: bytes, commitment: bytes, key: bytes) -> str | None:
    """Opens a content; None if it cannot be opened, or is not the accepted one."""
    try:
        text = sealing.open_text(key, sealed, memory_id)
    except ValueError:
        return None
    return text if hmac.compare_digest(sealing.commitment(key, text), commitment) else None
