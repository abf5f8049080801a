"""Ten days of a namespace in which everything happened once that an audit asks about, with known answers."""

from __future__ import annotations

from msgspec.structs import replace

from memquorum import topics
from memquorum.core.avro import Codec
from memquorum.core.commit import applying
from memquorum.core.consensus.certificate import check_decision
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.orders.disclose import SIGNER
from memquorum.core.policy import CapsPolicy, EpochPolicy
from memquorum.core.records import ErasedEpisode, OrderFound, Proposal, Restored, Weighed
from tests.builders import disclosures, erasures, genesis, protections, votes
from tests.builders.policies import by_the_paper
from tests.builders.shard import NAMESPACE, Shard, memory_id

DAY = 24 * 3600 * 1000
START = 1_772_409_600_000
"""2026-03-02, a Monday."""
_KEYS = erasures.entitled(signed=())
GENESIS = genesis.make(
    policy=by_the_paper(caps=CapsPolicy(floor=3), epoch=EpochPolicy(rest_epochs=1, rest_epochs_max=4)),
    **(_KEYS | {"agent_keys": _KEYS["agent_keys"] | {CONSOLIDATOR: genesis.public_key(SIGNER)}}),
)
BESIDE = "n0"
"""Another namespace of the shard."""
ERASED_ADA, ERASED_OPEN, WITHHELD = (memory_id(name, "orders") for name in ("ada", "open", "withheld"))
ASKED_BACK, ASKED_OPEN = (memory_id(name, "orders") for name in ("back", "still open"))
NAMES = (
    "gone", "defended", "promoted", "kept", "evicted", "spared", "said before", "said since", "of ada", "ada too",
    "faint", "old", "new", "blue", "green", "said first", "said second", "summary",
    *(f"capped {name}" for name in "abcde"),
)  # fmt: skip
"""The event ids of the namespace's episodes."""
PSI = (500_000, 250_000, 0, 125_000, 750_000, 1_000_000, 0)


def weighed(held: int, score: int, net_ppm: int) -> Weighed:
    return Weighed("worth", 1, 100, held, 40, "episodic", 0, PSI, net_ppm, score, "least worth its tokens")


def history(codec: Codec) -> Shard:
    """Builds the shard; a test names its memories by their event ids (`memory_id`)."""
    shard = Shard(codec, GENESIS)
    shard.tick(START)
    _first_day(shard)
    _first_votes(shard)
    _orders(shard, codec)
    shard.tick(START + 10 * DAY)
    return shard


def _first_day(shard: Shard) -> None:
    at = START + 1000
    for name in ("gone", "defended", "promoted", "kept", "evicted", "spared", "said before"):
        shard.episode(name, at)
    for name in ("of ada", "ada too"):
        shard.episode(name, at, subject="ada", agent="reviewer")
    for name in "abcde":
        shard.episode(f"capped {name}", at)
    shard.episode("elsewhere", at, namespace=BESIDE)
    shard.episode("faint", at, outcome="below_threshold")
    shard.episode("said since", at + 1, contradicts=(memory_id("said before"),))
    shard.episode("old", at, explicit=True)
    shard.episode("new", at + 1, explicit=True, supersedes=(memory_id("old"),))
    for name in ("blue", "green"):
        shard.episode(name, at, explicit=True, slot="tank")
    for name in ("said first", "said second"):
        shard.episode(name, at)
    shard.access((memory_id("promoted"), memory_id("kept")), at + 5)
    shard.access(memory_id("promoted"), at + 6)


def _first_votes(shard: Shard) -> None:
    shard.tick(START + 7 * DAY)
    shard.access(memory_id("gone"), START + 2000, event_id="before the vote")
    shard.decide(
        [
            votes.proposal(memory_id("gone"), "forget"),
            votes.proposal(memory_id("defended"), "forget"),
            votes.proposal(memory_id("promoted"), "promote"),
            votes.proposal(memory_id("kept"), "promote"),
            votes.proposal(memory_id("elsewhere", BESIDE), "promote", namespace=BESIDE),
        ],
        lambda member, proposal: (
            proposal.memory_ids[0] != memory_id("kept")
            and (member != 0 or proposal.memory_ids[0] != memory_id("defended"))
        ),
    )
    together = Proposal((memory_id("new"), memory_id("old")), NAMESPACE, "supersede", "test", 0, 0, 0)
    shard.decide([together])
    shard.tick(START + 8 * DAY)
    evicted = replace(votes.proposal(memory_id("evicted"), "evict"), weighed=weighed(140, 2_000_000, 80_000))
    spared = replace(votes.proposal(memory_id("spared"), "evict"), weighed=weighed(140, -60_000, -60_000))
    shard.decide([evicted, spared], lambda _, proposal: proposal is evicted)
    sources = [memory_id("said first"), memory_id("said second")]
    shard.summary("summary", sources, START + 8 * DAY, distortion_ppm=350_000)
    shard.consolidate(memory_id("summary"), sources)
    shard.tick(START + 9 * DAY + 1)
    shard.decide([votes.proposal(memory_id(f"capped {name}"), "forget") for name in "abcde"])


def _orders(shard: Shard, codec: Codec) -> None:
    back = votes.restore(GENESIS, memory_id("gone"), order_id=ASKED_BACK, ordered_at=START + 9 * DAY)
    shard.ask(back, START + 9 * DAY + 5)
    shard.restore(back, Restored(memory_id("gone"), 600_000, 0, 0, 0, 0))
    still = votes.restore(GENESIS, memory_id("evicted"), order_id=ASKED_OPEN, ordered_at=START + 9 * DAY)
    shard.ask(still, START + 9 * DAY + 6)
    _erase(shard, codec, "subject", "ada", ERASED_ADA, ("of ada", "ada too"), attested=True)
    _erase(shard, codec, "memory", memory_id("spared"), ERASED_OPEN, ("spared",), attested=False)
    said = {"cluster": GENESIS.cluster, "ordered_at": START + 9 * DAY}
    shard.protect(protections.accepted(codec, "hold", memory_id("capped a"), 1, **said))
    shard.protect(protections.accepted(codec, "pin", memory_id("promoted"), 2, **said))
    withheld = erasures.ordered(GENESIS, "memory", memory_id("capped a"), order_id=WITHHELD)
    record = erasures.accepted(withheld, erasures.signed(codec, GENESIS, withheld), START + 9 * DAY + 20)
    shard.withhold(record, memory_id("capped a"))
    shard.protect(disclosures.accepted(codec, GENESIS, memory_id("promoted"), memory_id("kept")))


def _erase(  # noqa: PLR0917
    shard: Shard, codec: Codec, selector: str, value: str, order_id: str, taken: tuple[str, ...], *, attested: bool
) -> None:  # fmt: skip
    at = START + 9 * DAY + 10
    order = erasures.ordered(GENESIS, selector, value, order_id=order_id, ordered_at=START + 9 * DAY)
    record = erasures.accepted(order, erasures.signed(codec, GENESIS, order), at)
    shard.erase(
        record, [ErasedEpisode(memory_id(name), "short-term", b"c" * 32) for name in sorted(taken, key=memory_id)]
    )
    if not attested:
        return
    found, state = OrderFound(record.order, at, shard.offset), shard.rows.state
    pre_prepare, commits = votes.attesting(
        codec, GENESIS, found, order, epoch=state.last_epoch + 1, seq=state.decided_seq + 1, as_of=state.as_of,
        accepted_offset=shard.offset + 1,
    )  # fmt: skip
    checked = check_decision(codec, GENESIS, pre_prepare, commits)
    place = applying.RecordPosition(topics.PRE_PREPARES, 0, 0)
    shard._absorb(applying.apply_decision(shard.rules, shard.rows, place, checked, commits))
