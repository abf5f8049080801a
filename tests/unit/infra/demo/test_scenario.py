"""The scenario is what the demo promises: enough of it, in our schema, with repetitions, rereadings and refusals."""

from collections import Counter

import pytest

from infra.demo import cluster
from infra.demo.demo_command import SCENARIO
from infra.demo.inputs import Tally, read
from infra.genesis import SEATS
from memquorum.core.ids import memory_id
from memquorum.core.policy import from_json
from memquorum.core.records import AccessRecorded, EpisodeRecorded


@pytest.fixture(scope="module")
def log():
    tally = Tally()
    records = list(read(SCENARIO, {}, "unused", tally))
    assert tally.adds_up()
    return records


def test_it_is_large_enough_and_by_four_agents_with_different_roles(log):
    episodes = [r for r in log if isinstance(r, EpisodeRecorded)]
    assert len(episodes) >= 400
    assert {(r.agent, r.role) for r in episodes} == {
        ("mira", "perception"), ("otto", "planning"), ("juno", "execution"), ("sol", "review"),
    }  # fmt: skip
    assert 6 <= len({r.session for r in episodes}) <= 8
    assert {r.namespace for r in log} == {"glasshouse"}


def test_it_repeats_itself_rereads_and_is_refused_in_parts(log):
    episodes = [r for r in log if isinstance(r, EpisodeRecorded)]
    assert max(Counter(r.event_id for r in episodes).values()) == 2
    assert len({r.content for r in episodes}) < len({r.event_id for r in episodes})
    assert any(not r.content for r in episodes) and any((r.confidence or 0) > 1 for r in episodes)
    assert {r.reward is None for r in episodes} == {r.confidence is None for r in episodes} == {True, False}


def test_every_access_reads_an_earlier_episode(log):
    seen: set[str] = set()
    for record in log:
        if isinstance(record, AccessRecorded):
            assert set(record.memory_ids) <= seen
        else:
            seen.add(memory_id(record.namespace, record.event_id))


def test_its_policy_is_sound_and_every_role_has_the_member_of_its_name(log):
    found = cluster.survey(log)
    policy = from_json(cluster.policy(found))
    assert policy.forget.grace_ms == 0
    assert max(policy.decay.scales_s) * 1000 < found.span_ms
    assert {agent: SEATS[member].role for agent, member in cluster.members(found).items()} == found.roles


def test_other_agents_are_dealt_out_the_busiest_first():
    log = [EpisodeRecorded(agent, "x", occurred_at=1) for agent in "aaaaabbbbcccdde"]
    assert cluster.members(cluster.survey(log)) == {"a": 0, "b": 1, "c": 2, "d": 3, "e": 3}
