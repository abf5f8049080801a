"""Records that may be deleted: only those that the journal holds as a quorum has signed them, and none without a
decision there.
"""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import topics
from memquorum.core.audit.chain import Record
from memquorum.core.avro import Codec
from memquorum.core.records import Checkpoint, Commit, Decided, NominationProposed
from tests.builders import votes
from tests.builders.published import DECIDED, GENESIS, LAST, Published, lively, publish, word
from tests.builders.shard import Shard
from workers.upkeep import prune


@pytest.fixture(scope="module")
def public() -> Published:
    from memquorum.schema_files import load_codec

    return publish(lively(Shard(load_codec(), GENESIS)))


@pytest.fixture
def journal(public: Published) -> list[Decided]:
    return [public.detail(DECIDED), public.detail(LAST)]


def known(public: Published, *seqs: int, **changes: Any) -> dict[int, Checkpoint]:
    """Returns the checkpoints that a quorum has signed."""
    codec = public.rules.codec
    words = ((seq, codec.decode(codec.decode(word(public, 0, seq, **changes)).body)) for seq in seqs)
    return {seq: body for seq, body in words if isinstance(body, Checkpoint)}


def covered(public: Published, said: dict[int, Checkpoint], journal: list[Decided]) -> int | None:
    found = prune.covered(public.rules.codec, GENESIS, 0, said, journal)
    return None if found is None else found.seq


def test_it_is_the_last_that_the_journal_reaches(public: Published, journal: list[Decided]) -> None:
    assert covered(public, known(public, 1, 2), journal) == 2
    assert covered(public, known(public, 1, 2), [*journal[:1], *journal]) == 2  # published a second time
    assert covered(public, known(public, 1, 2), journal[:1]) == 1
    assert covered(public, known(public, 2), journal[:1]) is None
    assert covered(public, known(public, 1), []) is None


def test_a_journal_that_lacks_a_decision_gives_nothing_away(public: Published, journal: list[Decided]) -> None:
    with pytest.raises(prune.CannotPrune, match="lacks the decision of sequence 1"):
        covered(public, known(public, 2), journal[1:])


def test_a_journal_that_does_not_prove_a_decision_gives_nothing_away(public: Published, journal: list[Decided]) -> None:
    """A late member could not follow it."""
    first, second = journal
    for unproven in (replace(second, pre_prepare=b"nothing"), replace(second, commits=second.commits[:2])):
        with pytest.raises(prune.CannotPrune, match="does not prove sequence 2"):
            covered(public, known(public, 2), [first, unproven])


def test_other_decisions_than_a_quorum_signed_give_nothing_away(public: Published, journal: list[Decided]) -> None:
    with pytest.raises(prune.CannotPrune, match="up to sequence 1 the journal holds other decisions"):
        covered(public, known(public, 1, decisions=bytes(32)), journal)


def commit(codec: Codec, seq: int, *, shard: int = 0, signer: int = 1) -> bytes:
    return votes.signed(codec, GENESIS, f"member:{signer}", Commit(GENESIS.cluster, 0, shard, 0, seq, 1, b"d" * 32))


def nomination(codec: Codec, epoch: int) -> bytes:
    record = NominationProposed(GENESIS.cluster, 0, 0, epoch, 1, 1, "interval", (votes.proposal("m", "forget"),))
    return votes.signed(codec, GENESIS, "service:nomination", record)


def test_everything_stays_from_the_first_message_beyond_it(public: Published, codec: Codec) -> None:
    (said,) = known(public, 1).values()
    said = replace(said, epoch=5)

    def first(topic: str, *data: bytes) -> int | None:
        return prune.needed_from(codec, GENESIS, topic, said, [Record(at, d) for at, d in enumerate(data, 10)])

    old, new = commit(codec, 1), commit(codec, 2)
    assert first(topics.COMMITS, old, old) is None
    assert first(topics.COMMITS, old, new, old) == 11
    # Unsigned records keep nothing, and neither do those of another kind or shard.
    others = (commit(codec, 2, signer=2), b"nothing", nomination(codec, 9), commit(codec, 2, shard=1))
    assert first(topics.COMMITS, *others, new) == 14
    assert first(topics.NOMINATIONS, nomination(codec, 5), nomination(codec, 6)) == 11


def test_what_a_configuration_says_that_began_meanwhile_stays(public: Published, codec: Codec) -> None:
    (said,) = known(public, 1).values()
    later = votes.signed(codec, GENESIS, "member:1", Commit(GENESIS.cluster, 1, 0, 0, 2, 1, b"d" * 32))
    assert prune.needed_from(codec, GENESIS, topics.COMMITS, said, [Record(10, later)]) == 10
