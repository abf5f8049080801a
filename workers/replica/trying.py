"""What a member makes of a proposal to admit: who signed it, and one context of it that the member tries again.

All of it is what the member read itself, sealed as it came, as far as it still stands and can be opened: contexts and
experience as of the decision that the statistics name. Who lacks something cannot tell. What is opened stays open in
memory within bounds, and is asked for its key each time: what was erased since counts for nothing.
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

# Opened tasks and memories kept in memory: so many characters of texts and bytes of vectors, and what is around each.
_OPENED_MOST = 32 * 1024 * 1024
_AROUND = 512


@dataclass(slots=True)
class _Asked:
    """A proposal that is borne out, and what was read for it: the task that the member draws, and by id what experience
    had."""

    proposal: Proposal
    told: Statistics
    at: Round
    task: Finished
    weights: Mapping[str, Admitted]


@dataclass(slots=True)
class _Read:
    """What was read for a nomination: memories that stand, of which tasks each was made, keys, and the experiences, by
    namespace, epoch and encoder."""

    known: Mapping[str, Known]
    sources: Mapping[str, tuple[str, ...]]
    keys: Mapping[str, bytes]
    made: dict[tuple[str, int, str], Experience] = field(default_factory=dict)


class Tries:
    """Tries again from one view, under whatever configuration is in force."""

    def __init__(
        self,
        codec: Codec,
        view: View,
        vault: Vault,
        reward: Reward | None = None,
        failures: Failures | None = None,
    ) -> None:
        """`failures`: takes the rules that failed on a text: of that candidate the member cannot tell."""
        self._failures = failures or Failures()
        self._codec, self._view, self._vault, self._reward = codec, view, vault, reward or Reach()
        self._opened = Kept[str, Held | Context](_characters, _OPENED_MOST)

    def found(self, nomination: NominationProposed, where: Sequence[int], genesis: Genesis) -> dict[str, Trialled]:
        """What the member makes of proposals to admit, by their memories; of what it cannot tell there is nothing.

        Raises VaultUnavailable. Call it within the view's batch: tasks that were erased are let go of.
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
            # Vectors of another length, or without a direction, and whatever a rule fails on.
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
        """What there is to be tried again; None where a proposal is not borne out, or the member has not read all of
        its judges."""
        experience, space = self._view.experience, proposal.namespace
        try:
            told, at = borne_out(self._codec, genesis, shard, proposal, partial(experience.stood, shard))
        except NotBorneOut as error:
            _LOG.warning("shard %d: a proposal to admit is not borne out: %s", shard, error)
            return None
        if told.position <= experience.refused(told.candidate):
            return None  # members have voted on that
        if (self._view.position(topics.ACCEPTED, shard) or 0) < at.accepted_offset:
            return None  # what agents had said by then may not be read yet
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
            _LOG.info("memory %s was tried by another rule than %s, and is to be tried anew", name, self._reward.name)
        elif not held and stands(case, one.told):
            _LOG.warning("memory %s: what was tried of it comes out otherwise than verifiers tell", name)
        elif not held:
            _LOG.info("memory %s cannot be tried again: something went of what it was tried beside", name)
        return Trialled(held=held, score_ppm=score_ppm(one.told, policy))

    def _experience(self, one: _Asked, candidate: Held, read: _Read) -> Experience:
        """What experience held as of a decision, of what still stands."""
        name = one.proposal.namespace, one.at.epoch, candidate.encoder
        if name not in read.made:
            # What another one stood for by then is not there, while that is alive.
            names = (i for i, each in one.weights.items() if i in read.known and each.kept not in read.known)
            there = self._memories([read.known[each] for each in names], read)
            held = [_weighing(memory, one.weights[memory_id].weight_ppm) for memory_id, memory in there.items()]
            self._keep(held)
            read.made[name] = Experience(candidate.encoder, candidate.dimensions, held)
        return read.made[name]

    def _memories(self, rows: Sequence[Known], read: _Read) -> dict[str, Held]:
        """Memories in the clear, of those that can be opened."""
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
        """A finished task in the clear; None where it cannot be opened, or is not the agent's that it names."""
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
        """Whether the agent that is named signed it, where it has to."""
        if row.namespace not in genesis.signed or key is None:
            return key is not None
        wrong = authorship.fault(
            self._codec, genesis, memory_id=row.memory_id, namespace=row.namespace, agent=row.agent, text=text,
            sealed=row.sealed_signed, key=key, topic=topic,
        )  # fmt: skip
        if wrong is not None:
            _LOG.warning("memory %s of namespace %s counts for nothing: %s", row.memory_id, row.namespace, wrong)
        return wrong is None

    def _keep(self, opened: Iterable[Held | Context]) -> None:
        for one in opened:
            self._opened[one.id] = one


def settle(codec: Codec, view: View, checked: Checked, genesis: Genesis) -> None:
    """Notes what a decision admitted, with its first weight, what is to be tried anew, what became one, and which
    general forms came in, as the journal does, which finds nothing to do where members had voted on the same before, or
    where a memory rests sealed.

    Decisions may be read long before what they are about, from the journal by a member that comes anew. So what was
    not read yet is noted as well: whoever asks what is in experience asks then what of it is alive.
    """
    experience, nomination, epoch = view.experience, checked.nomination, checked.body.epoch
    for proposal, outcome in zip(nomination.proposals, checked.outcomes, strict=True):
        kind, names = KINDS[proposal.kind], proposal.memory_ids
        if not (kind.unites or kind.admits or kind.generalises) or experience.gone(names):
            continue
        if kind.generalises:
            if outcome.decided and experience.admitted(proposal.namespace, names[1:]):
                experience.generalise(proposal.namespace, names[0])
            continue
        if kind.unites:
            if outcome.decided and experience.admitted(proposal.namespace, names):
                experience.unite(names[0], names[1:], epoch)
            continue
        (name,), stood = names, partial(experience.stood, nomination.shard)
        try:
            told, at = borne_out(codec, genesis, nomination.shard, proposal, stood)
        except NotBorneOut:
            continue
        if at.epoch <= experience.refused(name):
            continue
        if outcome.decided:
            weight = first_weight_ppm(told, genesis.policy.experience)
            experience.weigh([Admitted(proposal.namespace, name, 1, epoch, weight)])
        else:
            experience.refuse(name, epoch)


def _weighing(memory: Held, weight_ppm: int) -> Held:
    """A memory of experience at a weight: itself where it has it, since what was counted of it stays counted."""
    return memory if memory.weight_ppm == weight_ppm else replace(memory, weight_ppm=weight_ppm)


def _characters(one: Held | Context) -> int:
    """Answers about how much memory something takes that was opened, in bytes."""
    if isinstance(one, Held):
        return _AROUND + len(one.text) + len(one.vector)
    said = sum(map(len, one.tools)) + len(one.goal) + len(one.inputs) + len(one.outputs)
    return _AROUND + said + len(one.vector)


def _text(memory_id: str, sealed: bytes, commitment: bytes, key: bytes) -> str | None:
    """A content in the clear; None where it cannot be opened, or is not the one that was accepted."""
    try:
        text = sealing.open_text(key, sealed, memory_id)
    except ValueError:
        return None
    return text if hmac.compare_digest(sealing.commitment(key, text), commitment) else None
