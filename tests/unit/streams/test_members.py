"""Orders in the nomination stage: voted on alone, in the configuration that they are for, and not for ever."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from memquorum.core.avro import Codec
from memquorum.core.consensus.certificate import check_decision, check_nomination
from memquorum.core.identity.membership import Genesis
from memquorum.core.orders.configuration import POLICY
from memquorum.core.policy import ForgetPolicy, LearnedPolicy, written
from memquorum.core.records import ConfigurationOrdered, NominationProposed, Signed, Standing
from memquorum.core.vote.nomination import rest_until
from streams.configuration_orders import Configurations, NextOrder, learned
from streams.nomination_stage import Nomination
from tests.builders.configured import Topic, vote
from tests.builders.genesis import public_key, seed_of
from tests.builders.shelf import GENESIS, TICK, Shelf, arrival
from tests.builders.votes import order, ordered, signed


def stage(codec: Codec, topic: Topic, shelf: Shelf) -> Nomination:
    return Nomination(codec, GENESIS, seed_of("service:nomination"), shelf, shelf, orders=topic)


def nominated(codec: Codec, topic: Topic, shelf: Shelf, *, last_epoch: int = 4) -> NominationProposed | None:
    """Returns the nomination that a new stage makes of a tick; nothing else is due."""
    tick = replace(TICK, crossed=(), standing=Standing(last_epoch, TICK.as_of, 0, 0))
    outputs = stage(codec, topic, shelf).process([arrival(codec, tick)])
    return codec.decode(codec.decode_as(Signed, outputs[0].value).body) if outputs else None


def weight(
    codec: Codec, genesis: Genesis = GENESIS, to: int = 1200, shard: int = 1
) -> tuple[ConfigurationOrdered, bytes]:
    wanted = order(genesis, "weight", shard, member=2, weight_milli=to)
    return wanted, signed(codec, genesis, "operator", wanted)


def test_an_order_is_nominated_at_the_next_tick_and_members_take_it(codec: Codec) -> None:
    wanted, data = weight(codec)
    record = nominated(codec, Topic([data]), Shelf())
    assert record is not None
    assert (record.epoch, record.trigger, record.order, record.config) == (5, "order", data, 0)
    assert record.proposals == (ordered(codec, wanted),)
    found = check_nomination(codec, GENESIS, signed(codec, GENESIS, "service:nomination", record))
    assert found.makes is not None and found.makes.members[2].weight_milli == 1200


def test_the_next_configuration_is_nominated_in_and_what_was_carried_out_is_over(codec: Codec) -> None:
    wanted, data = weight(codec)
    shelf = Shelf(votes=[vote(codec, GENESIS, wanted, 4, done=True)])
    assert nominated(codec, Topic([data]), shelf) is None
    one = check_decision(codec, GENESIS, shelf.votes[0].pre_prepare, shelf.votes[0].commits).configures
    assert one is not None
    _, more = weight(codec, one, 1300)
    record = nominated(codec, Topic([data, more]), shelf)
    assert record is not None and (record.config, record.order) == (1, more)


def rotation(codec: Codec, name: str = "nomination") -> tuple[ConfigurationOrdered, bytes]:
    wanted = order(GENESIS, "rotate-service", 1, name=name, public_key=public_key(f"service:{name}'"))
    return wanted, signed(codec, GENESIS, "operator", wanted)


def test_the_key_of_nominations_is_replaced_by_who_has_the_new_one(codec: Codec) -> None:
    (wanted, data), old, new = rotation(codec), seed_of("service:nomination"), seed_of("service:nomination'")
    tick = replace(TICK, crossed=(), standing=Standing(4, TICK.as_of, 0, 0))

    def outputs(shelf: Shelf, seed: bytes, *further: bytes, **change: int) -> list[bytes]:
        stage = Nomination(codec, GENESIS, seed, shelf, shelf, orders=Topic([data]), further=lambda: further)
        said = replace(tick, standing=replace(tick.standing, last_epoch=change.get("last_epoch", 4)))
        return [output.value for output in stage.process([arrival(codec, said)])]

    assert outputs(Shelf(), old) == []  # it says what it lacks, and goes on at the next tick
    for keys in ((old, new), (new,)):
        (nominated,) = outputs(Shelf(), *keys)
        found = check_nomination(codec, GENESIS, nominated)
        assert found.makes is not None and found.makes.key_of("service:nomination") == public_key("service:nomination'")
    # Once it is decided the new key signs everything.
    shelf = Shelf(votes=[vote(codec, GENESIS, wanted, 4, done=True)])
    one = check_decision(codec, GENESIS, shelf.votes[0].pre_prepare, shelf.votes[0].commits).configures
    assert one is not None
    more = order(one, "weight", 1, member=2, weight_milli=1200)
    data = signed(codec, one, "operator", more)
    assert outputs(shelf, old) == []
    (nominated,) = outputs(shelf, old, new)
    assert check_nomination(codec, one, nominated).record.config == 1


@pytest.mark.parametrize("epochs", [(4,), (4, 6), (4, 6, 9, 14)])
def test_what_members_refuse_rests(codec: Codec, epochs: tuple[int, ...]) -> None:
    wanted, data = weight(codec)
    shelf = Shelf(votes=[vote(codec, GENESIS, wanted, epoch, done=False) for epoch in epochs])
    due = rest_until(epochs[-1], len(epochs), GENESIS.policy)
    assert due > epochs[-1] + 1
    assert nominated(codec, Topic([data]), shelf, last_epoch=due - 2) is None
    assert nominated(codec, Topic([data]), shelf, last_epoch=due - 1) is not None


def test_what_was_refused_five_times_is_given_up(codec: Codec) -> None:
    wanted, data = weight(codec)
    shelf = Shelf(votes=[vote(codec, GENESIS, wanted, epoch, done=False) for epoch in range(1, 6)])
    assert nominated(codec, Topic([data]), shelf, last_epoch=9_999) is None


def test_what_is_no_order_for_the_shard_is_passed_over(codec: Codec) -> None:
    _, good = weight(codec)
    _, elsewhere = weight(codec, shard=0)
    _, broken = weight(codec, to=0)
    forged = signed(codec, GENESIS, "member:0", order(GENESIS, "weight", 1, member=2, weight_milli=1200))
    for bad in (b"", b"garbage", elsewhere, broken, forged):
        assert nominated(codec, Topic([bad]), Shelf()) is None
        record = nominated(codec, Topic([bad, good]), Shelf())
        assert record is not None and record.order == good


def test_the_configuration_is_what_was_decided_whatever_the_topic_holds_now(codec: Codec) -> None:
    """The topic of the orders was made anew, or emptied."""
    wanted, _ = weight(codec)
    shelf = Shelf(votes=[vote(codec, GENESIS, wanted, 4, done=True)])
    found = Configurations(codec, GENESIS, shelf)
    assert (found.after(1, 4).config, found.after(1, 4).members[2].weight_milli) == (1, 1200)
    assert NextOrder(codec, found, Topic()).of(1, 4) is None


def test_what_is_decided_later_is_seen_by_who_asks_for_what_is_so_now(codec: Codec) -> None:
    wanted, _ = weight(codec)
    shelf = Shelf()
    found = Configurations(codec, GENESIS, shelf)
    assert found.now(1) == GENESIS
    shelf.votes.append(vote(codec, GENESIS, wanted, 4, done=True))
    assert found.now(1).members[2].weight_milli == 1200


def test_what_was_learned_is_in_force_once_the_members_have_decided_so(codec: Codec) -> None:
    taught = LearnedPolicy(rank_ppm=1_000_000)
    wanted = order(GENESIS, POLICY, 1, policy=written(replace(GENESIS.policy, learned=taught)))
    shelf = Shelf()
    found = learned(codec, GENESIS, shelf, shelf)
    assert found is not None and found(1) == LearnedPolicy()
    decided = Shelf(votes=[vote(codec, GENESIS, wanted, 4, done=True)])
    found = learned(codec, GENESIS, decided, decided)
    assert found is not None and found(1) == taught
    assert learned(codec, replace(GENESIS, operator=None), shelf, shelf) is None


def test_where_there_can_be_no_orders_the_store_is_not_asked(codec: Codec) -> None:
    shelf, alone = Shelf(), replace(GENESIS, operator=None)
    assert Configurations(codec, alone, shelf).after(1, 4) == alone and shelf.asked == []
    found = Configurations(codec, GENESIS, shelf)
    for _ in range(3):
        assert found.after(1, 4) == GENESIS and NextOrder(codec, found, None).of(1, 4) is None
    assert shelf.asked == [("decided", 1)]


def test_an_order_of_another_policy_is_nominated_like_one_about_members(codec: Codec) -> None:
    wanted = order(GENESIS, POLICY, 1, policy=written(replace(GENESIS.policy, forget=ForgetPolicy(theta_ppm=1))))
    data = signed(codec, GENESIS, "operator", wanted)
    record = nominated(codec, Topic([data]), Shelf())
    assert record is not None
    assert (record.order, record.trigger, record.proposals[0].reason) == (data, "order", "policy")
