"""Four real cores on one log, under random schedules.

Hypothesis picks what happens next from everything that can: deliveries in any order between the logs, repetitions,
records that the broker hides from one reader, crashes between any two effects, timers, and liars' messages. Cluster
checks agreement, certificates and the sign-state at every effect; here the world is then healed and must go on.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memquorum.core.consensus import events as t
from memquorum.core.consensus.certificate import proposal_digest
from memquorum.core.consensus.events import Message
from memquorum.core.records import Commit, Prepare, PrePrepare
from memquorum.schema_files import load_codec
from tests.builders.genesis import make
from tests.simulation.cluster import KINDS_OF_LOG, WINDOW, Cluster, Node, Step

CODEC = load_codec()
GENESIS = make(shards=1)
EPOCHS = 4


def last_decided(cluster: Cluster) -> int:
    return max((seq for found in cluster.decisions.values() for seq in found), default=0)


def everybody_decided(cluster: Cluster, epochs: int = EPOCHS) -> bool:
    return all(sorted(found) == list(range(1, epochs + 1)) for found in cluster.decisions.values())


# Faults ---------------------------------------------------------------------------------------------------------------


def faults(cluster: Cluster, node: Node) -> list[Step]:
    """Returns the faults of the broker and of the machine that can hit a node now."""
    if node.core is None:
        return [lambda: cluster.start(node)]
    found: list[Step] = [lambda: cluster.crash(node)]
    for kind in KINDS_OF_LOG:
        length, position = len(cluster.log[kind]), node.positions[kind]
        if position > 0:  # repeated, from any earlier offset
            found.append(lambda k=kind, p=position: cluster.deliver(node, k, (p * 7 + 3) % p))  # type: ignore[misc]
        if position < length:  # never, or only after a later one
            found.append(lambda k=kind, p=position: hide(cluster, node, k, p))  # type: ignore[misc]
            found.append(lambda k=kind, p=length - 1: cluster.deliver(node, k, p))  # type: ignore[misc]
    return found


def hide(cluster: Cluster, node: Node, kind: Message, position: int) -> None:
    cluster.hidden.setdefault((node.me, kind), set()).add(position)


def drive(cluster: Cluster, choices: list[int], lies: Callable[[Cluster], list[Step]] = lambda _: []) -> None:
    """Takes one step for each choice: mostly a step of an honest world, now and then a fault or a lie."""
    for choice in choices:
        if cluster.decided and last_decided(cluster) + 1 <= EPOCHS and choice % 13 == 0:
            nominate_next(cluster)
        nodes = list(cluster.nodes.values())
        bad = [*faults(cluster, nodes[choice % len(nodes)]), *cluster.timer_steps(), *lies(cluster)]
        steps = cluster.steps()
        if (choice % 5 == 0 and bad) or not steps:
            steps = bad
        if steps:
            steps[(choice // 5) % len(steps)]()


def nominate_next(cluster: Cluster) -> None:
    epoch = last_decided(cluster) + 1
    if epoch not in [epoch_of(cluster, n) for n in cluster.log[Message.NOMINATION]]:
        cluster.nominate(epoch)


def finish(cluster: Cluster) -> None:
    """Heals the world: without the faults every honest node must decide every epoch."""
    cluster.heal()
    while last_decided(cluster) < EPOCHS:
        before = last_decided(cluster)
        # A nomination must not be lost: it is made only once.
        if before + 1 not in [epoch_of(cluster, n) for n in cluster.log[Message.NOMINATION]]:
            cluster.nominate(before + 1)
        cluster.settle()
        assert last_decided(cluster) > before, "no progress after the faults have ended"
    cluster.settle()
    assert everybody_decided(cluster)
    assert not [n.halted for n in cluster.nodes.values() if n.halted]


# Liars ----------------------------------------------------------------------------------------------------------------


def equivocating_voter(cluster: Cluster) -> list[Step]:
    """Has member 3 cast both opinions, and vote for a digest that nobody proposed."""
    if not cluster.log[Message.NOMINATION]:
        return []
    nominated = cluster.log[Message.NOMINATION][-1]
    seq = last_decided(cluster) + 1
    found: list[Step] = [
        lambda yes=yes: cluster.append(Message.BALLOT, cluster.ballot(3, nominated, yes))  # type: ignore[misc]
        for yes in (True, False)
    ]
    for kind, record in ((Message.PREPARE, Prepare), (Message.COMMIT, Commit)):
        for digest in (b"x" * 32, b"y" * 32):
            said = record(cluster.genesis.cluster, 0, 0, 0, seq, 3, digest)
            found.append(lambda k=kind, s=said: cluster.append(k, cluster.signed("member:3", s)))  # type: ignore[misc]
    return found


def equivocating_primary(cluster: Cluster) -> list[Step]:
    """Has member 0, primary of view 0, write a second pre-prepare with another choice of ballots, and vote for both."""
    found: list[Step] = []
    seq = last_decided(cluster) + 1
    nominations = [n for n in cluster.log[Message.NOMINATION] if epoch_of(cluster, n) == seq]
    if not nominations:
        return []
    nominated = nominations[0]
    ballots = {}
    for data in cluster.log[Message.BALLOT]:
        cast = cluster.codec.decode(cluster.codec.decode(data).body)
        if cast.epoch == seq:
            ballots.setdefault(cast.member, data)
    ballots[0] = cluster.ballot(0, nominated, True)
    for chosen in itertools.combinations(sorted(ballots), 3):
        body = PrePrepare(cluster.genesis.cluster, 0, 0, 0, seq, 0, seq, nominated, tuple(ballots[m] for m in chosen))
        found.append(lambda b=body: cluster.append(Message.PRE_PREPARE, cluster.signed("member:0", b)))  # type: ignore[misc]
        for kind, record in ((Message.PREPARE, Prepare), (Message.COMMIT, Commit)):
            said = record(cluster.genesis.cluster, 0, 0, 0, seq, 0, proposal_digest(body))
            found.append(lambda k=kind, s=said: cluster.append(k, cluster.signed("member:0", s)))  # type: ignore[misc]
    return found


def epoch_of(cluster: Cluster, nominated: bytes) -> int:
    return int(cluster.codec.decode(cluster.codec.decode(nominated).body).epoch)


# The runs -------------------------------------------------------------------------------------------------------------

schedules = st.lists(st.integers(0, 9999), min_size=50, max_size=250)


@settings(max_examples=30, deadline=None)
@given(schedules)
def test_four_honest_replicas_agree_and_go_on(choices: list[int]) -> None:
    cluster = Cluster(CODEC, GENESIS)
    cluster.nominate(1)
    drive(cluster, choices)
    finish(cluster)


@settings(max_examples=20, deadline=None)
@given(schedules, st.sampled_from([1, 2, 3]))
def test_one_silent_replica_costs_nothing_but_the_grace(choices: list[int], silent: int) -> None:
    cluster = Cluster(CODEC, GENESIS, frozenset({silent}))
    cluster.nominate(1)
    drive(cluster, choices)
    finish(cluster)


@settings(max_examples=20, deadline=None)
@given(schedules)
def test_a_voter_with_two_opinions_changes_nothing(choices: list[int]) -> None:
    cluster = Cluster(CODEC, GENESIS, frozenset({3}))
    cluster.nominate(1)
    drive(cluster, choices, equivocating_voter)
    finish(cluster)
    for node in cluster.nodes.values():
        assert {n.member for n in node.noted if n.note in (t.Note.CONFLICT, t.Note.INVALID)} <= {3}


@settings(max_examples=20, deadline=None)
@given(schedules)
def test_a_lying_primary_cannot_split_the_others(choices: list[int]) -> None:
    """A liar may stop its shard until there is a view change; it never gets two decisions for a slot."""
    cluster = Cluster(CODEC, GENESIS, frozenset({0}))
    cluster.nominate(1)
    drive(cluster, choices, equivocating_primary)
    cluster.heal()
    for node in cluster.nodes.values():
        assert node.halted is None
        assert {n.member for n in node.noted if n.note in (t.Note.CONFLICT, t.Note.INVALID)} <= {0}


@settings(max_examples=8, deadline=None)
@given(st.lists(st.integers(0, 9999), max_size=200), st.sets(st.integers(0, 3), min_size=1))
def test_lost_views_are_rebuilt_from_the_log_and_nothing_is_said_twice(choices: list[int], lost: set[int]) -> None:
    """Far more was decided than the window holds; the members' earlier messages are settled in their sign-states."""
    cluster = Cluster(CODEC, GENESIS)
    decided = 4 * WINDOW + 2
    for epoch in range(1, decided + 1):
        cluster.nominate(epoch)
        cluster.settle()
    for member in lost:
        cluster.crash(cluster.nodes[member])
        cluster.nodes[member].disk.lose_view()
        cluster.start(cluster.nodes[member])
    cluster.nominate(decided + 1)
    for choice in choices:
        if steps := cluster.steps():
            steps[choice % len(steps)]()
    cluster.settle()
    assert everybody_decided(cluster, decided + 1)
    assert not [n.halted for n in cluster.nodes.values() if n.halted]


@pytest.mark.parametrize("seed", range(20))
def test_fixed_seeds(seed: int) -> None:
    """The same with plain random numbers: a seed that failed once stays here permanently."""
    dice = random.Random(seed)
    cluster = Cluster(CODEC, GENESIS, frozenset({3}) if seed % 2 else frozenset())
    cluster.nominate(1)
    drive(cluster, [dice.randrange(10_000) for _ in range(400)], equivocating_voter if seed % 2 else lambda _: [])
    finish(cluster)
