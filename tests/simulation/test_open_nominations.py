"""An epoch whose nominations and ballots were lost in any way: the next nomination that all read is decided."""

from __future__ import annotations

import pytest

from memquorum.core.consensus.buffers import NOMINATIONS_MAX
from memquorum.core.consensus.events import Message
from memquorum.schema_files import load_codec
from tests.builders.genesis import make
from tests.simulation.cluster import KINDS_OF_LOG, Cluster

CODEC, GENESIS = load_codec(), make(shards=1)


def rest(cluster: Cluster, most: int = 5_000) -> None:
    """Runs everything that follows without a timer."""
    for _ in range(most):
        steps = cluster.steps()
        if not steps:
            return
        steps[0]()
    raise AssertionError("no rest")


def decided(cluster: Cluster) -> list[int]:
    """Returns how many epochs each member has decided."""
    return [len(found) for found in cluster.decisions.values()]


@pytest.mark.parametrize("withheld", [1, NOMINATIONS_MAX + 2])
def test_members_that_were_shown_other_nominations_meet_on_the_next(withheld: int) -> None:
    cluster = Cluster(CODEC, GENESIS)
    for number in range(2 * withheld):
        cluster.nominate(1, tick=number)
    first, second = set(range(withheld)), set(range(withheld, 2 * withheld))
    cluster.hidden = {(m, Message.NOMINATION): first if m < 2 else second for m in range(4)}
    rest(cluster)
    assert decided(cluster) == [0, 0, 0, 0]
    cluster.hidden = {}  # nobody restarts, and nobody reads again what it was not shown
    cluster.nominate(1, tick=2 * withheld)
    rest(cluster)
    assert decided(cluster) == [1, 1, 1, 1]


def test_a_nomination_that_the_log_has_lost_and_ballots_on_it_that_are_signed() -> None:
    cluster = Cluster(CODEC, GENESIS)
    cluster.nominate(1)
    for member in (0, 1):
        node = cluster.nodes[member]
        cluster.deliver(node, Message.NOMINATION)
        cluster.answer(node)  # it is in the sign-state, and not in the log
    for node in cluster.nodes.values():
        cluster.crash(node)
        node.disk.lose_view()
    for kind in KINDS_OF_LOG:
        cluster.log[kind].clear()
    for node in cluster.nodes.values():
        cluster.start(node)
    cluster.nominate(1, tick=1)
    rest(cluster)
    assert decided(cluster) == [1, 1, 1, 1]


def test_ballots_on_a_nomination_that_one_member_never_reads_decide_for_it_too() -> None:
    cluster = Cluster(CODEC, GENESIS)
    cluster.nominate(1)
    cluster.hidden = {(3, Message.NOMINATION): {0}}
    cluster.settle()
    assert decided(cluster) == [1, 1, 1, 1]
