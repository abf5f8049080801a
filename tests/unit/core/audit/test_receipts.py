"""A receipt proves an erasure by its signatures alone, and claims only what it proves."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import cli, topics
from memquorum.client.verifying import receipt_lines
from memquorum.commands import USAGE
from memquorum.core.audit import receipts
from memquorum.core.audit.receipts import BadReceipt, Proof
from memquorum.core.consensus.certificate import BadCertificate, check_decision
from memquorum.core.identity.membership import load
from memquorum.core.journal import hash_chain
from memquorum.core.journal.rows import ShardState
from memquorum.core.policy import ErasePolicy, Policy
from memquorum.core.records import Erased, ErasedEpisode, JournalAppended, JournalEntry, JournalHead, OrderFound
from memquorum.schema_files import load_codec
from tests.builders.erasures import entitled
from tests.builders.genesis import make, make_bytes, public_key
from tests.builders.votes import GREENHOUSE, attesting, configuring, erasure, everybody, nobody, order, signed

CODEC, GENESIS = load_codec(), make()
MEMORY, OTHER = "0b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a11", "1b8f6f2e-64b2-5c3a-9d2f-0d5c0f6f1a11"
EPISODES = (ErasedEpisode(MEMORY, "long-term", b"c" * 32), ErasedEpisode(OTHER, "dropped"))
ORDER = erasure(GENESIS)
SIGNED = signed(CODEC, GENESIS, "operator", ORDER)
FOUND = OrderFound(SIGNED, 2_000_000, 41)
BEFORE = ShardState(shard=0, seq=6, hash=b"h" * 32, as_of=1_999_000)


def entries(*parts: tuple[ErasedEpisode, ...], **changes: Any) -> tuple[JournalAppended, ...]:
    """The journal's entries of the erasure."""
    state, made = BEFORE, list[JournalAppended]()
    for at, episodes in enumerate(parts):
        detail = Erased(SIGNED, FOUND.accepted_at, at, len(parts), 9_000_000, episodes)
        entry = JournalEntry(
            0, state.seq + 1, state.as_of, "erased", ORDER.order_id, topics.ACCEPTED, 0, FOUND.offset,
            CODEC.encode(replace(detail, **{k: v for k, v in changes.items() if hasattr(detail, k)})), GREENHOUSE,
        )  # fmt: skip
        entry = replace(entry, **{k: v for k, v in changes.items() if not hasattr(detail, k)})
        link = hash_chain.append(CODEC, state, entry) if entry.seq == state.seq + 1 else made[-1]
        state = hash_chain.advance(state, entry, link)
        made.append(link)
    return tuple(made)


def head(last: JournalAppended, seq: int) -> bytes:
    return signed(CODEC, GENESIS, "service:journal", JournalHead(GENESIS.cluster, 0, 0, seq, last.hash, 1_999_000))


def proof(**changes: Any) -> Proof:
    links_ = entries((EPISODES[0],), (EPISODES[1],))
    whole = Proof(links_, head(links_[-1], 8), attesting(CODEC, GENESIS, FOUND, ORDER))
    return replace(whole, **changes)


def written(receipt: dict[str, Any]) -> bytes:
    return json.dumps(receipt).encode()


def test_a_receipt_says_what_was_erased_by_whose_order_and_who_attests_it() -> None:
    receipt = receipts.make(CODEC, GENESIS, proof())
    found = receipts.verify(CODEC, GENESIS, written(receipt))
    assert (found.order, found.episodes, found.seqs, found.offset) == (ORDER, EPISODES, (7, 8), 41)
    assert receipt["order"]["signed_by"] == "operator"
    assert (receipt["erased"]["memories"], receipt["erased"]["episodes"]) == (1, 2)
    assert receipt["erased"]["each"][0] == {"memory_id": MEMORY, "was": "long-term", "commitment": (b"c" * 32).hex()}
    assert (receipt["erased"]["at"], receipt["residue_until"]) == (2_000_000, 9_000_000)
    assert receipt["attested"]["for"] == [0, 1, 2, 3] and receipt["cluster"] == GENESIS.cluster.hex()


def test_before_the_members_have_decided_it_says_so() -> None:
    receipt = receipts.make(CODEC, GENESIS, proof(decision=None))
    assert receipt["attested"] is None
    assert receipts.verify(CODEC, GENESIS, written(receipt)).checked is None


def test_an_erasure_of_nothing_has_a_receipt_that_says_zero() -> None:
    links_ = entries(())
    receipt = receipts.make(CODEC, GENESIS, proof(entries=links_, head=head(links_[-1], 7)))
    none = {"erased": 0, "anew": 0, "dropped": {}}
    told = {"at": 2_000_000, "memories": 0, "episodes": 0, "summaries": none, "recipients": [], "each": []}
    assert receipt["erased"] == told


def test_a_receipt_says_which_summaries_are_made_anew_and_why_others_are_not() -> None:
    fates = ("anew", "few", "few", "model")
    links_ = entries(tuple(ErasedEpisode(f"s{at}", "short-term", b"c" * 32, fate) for at, fate in enumerate(fates)))
    receipt = receipts.make(CODEC, GENESIS, proof(entries=links_, head=head(links_[-1], 7)))
    assert receipt["erased"]["summaries"] == {"erased": 4, "anew": 1, "dropped": {"few": 2, "model": 1}}
    assert [one["summary"] for one in receipt["erased"]["each"]] == list(fates)
    said = receipts.verify(CODEC, GENESIS, json.dumps(receipt).encode())
    assert any("2 of them a summary, dropped: of what it was" in line for line in receipt_lines(said, GENESIS))
    receipt["erased"]["each"][1]["summary"] = "anew"
    with pytest.raises(BadReceipt, match="erased"):
        receipts.verify(CODEC, GENESIS, json.dumps(receipt).encode())


def test_a_later_membership_attests_too() -> None:
    change = order(GENESIS, "weight", member=2, weight_milli=1200)
    configured = configuring(CODEC, GENESIS, change)
    one = check_decision(CODEC, GENESIS, *configured).configures
    assert one is not None
    decided = attesting(CODEC, one, FOUND, ORDER, epoch=2)
    receipt = receipts.make(CODEC, GENESIS, proof(decision=decided, configurations=(configured,)))
    assert receipt["attested"]["configuration"] == 1
    assert receipts.verify(CODEC, GENESIS, written(receipt)).checked is not None
    with pytest.raises(BadReceipt, match="decision"):
        receipts.make(CODEC, GENESIS, proof(decision=decided))


def test_a_head_is_signed_by_the_key_of_its_configuration() -> None:
    change = order(GENESIS, "rotate-service", name="journal", public_key=public_key("service:journal'"))
    configured = configuring(CODEC, GENESIS, change)
    one = check_decision(CODEC, GENESIS, *configured).configures
    assert one is not None
    links_ = entries((EPISODES[0],), (EPISODES[1],))
    said = JournalHead(GENESIS.cluster, 1, 0, 8, links_[-1].hash, 1_999_000)
    later = signed(CODEC, one, "service:journal", said)
    undecided = proof(decision=None, head=later, configurations=(configured,))
    receipt = receipts.make(CODEC, GENESIS, undecided)
    assert receipt["journal"]["configuration"] == 1
    assert receipts.verify(CODEC, GENESIS, written(receipt)).checked is None
    # Signed before the key was replaced, it holds for ever.
    decided = attesting(CODEC, one, FOUND, ORDER, epoch=2)
    receipts.make(CODEC, GENESIS, proof(decision=decided, configurations=(configured,)))
    for wrong in (
        replace(undecided, configurations=()),
        replace(undecided, head=signed(CODEC, GENESIS, "service:journal", said)),
        replace(undecided, head=signed(CODEC, one, "service:journal", replace(said, config=0))),
    ):
        with pytest.raises(BadReceipt, match="head"):
            receipts.make(CODEC, GENESIS, wrong)


SAYS: list[tuple[str, Callable[[dict[str, Any]], Any]]] = [
    ("order", lambda r: r["order"].update(value="somebody else")),
    ("erased", lambda r: r["erased"].update(memories=100)),
    ("erased", lambda r: r["erased"]["each"].pop()),
    ("residue_until", lambda r: r.update(residue_until=1)),
    ("journal", lambda r: r["journal"].update(last_seq=9)),
    ("attested", lambda r: r.update(attested=None)),
    ("attested", lambda r: r["attested"].update(ballots=[0])),
    ("cluster", lambda r: r.update(cluster="00" * 32)),
]


@pytest.mark.parametrize(("name", "change"), SAYS)
def test_what_a_receipt_says_beyond_its_proof_is_refused(name: str, change: Callable[[dict[str, Any]], Any]) -> None:
    receipt = receipts.make(CODEC, GENESIS, proof())
    change(receipt)
    with pytest.raises(BadReceipt, match=f"^{name}: "):
        receipts.verify(CODEC, GENESIS, written(receipt))


def test_no_byte_of_the_proof_can_be_altered() -> None:
    receipt = receipts.make(CODEC, GENESIS, proof())
    whole = receipt["proof"]
    parts = [
        *((link, name) for link in whole["entries"] for name in link),
        (whole, "head"),
        (whole["decision"], "pre_prepare"),
        *((whole["decision"]["commits"], at) for at in range(4)),
    ]
    for holder, name in parts:
        data = base64.b64decode(holder[name])
        for at in {0, len(data) // 2, len(data) - 1}:
            kept = holder[name]
            holder[name] = base64.b64encode(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :]).decode()
            with pytest.raises(BadReceipt):
                receipts.verify(CODEC, GENESIS, written(receipt))
            holder[name] = kept
    receipts.verify(CODEC, GENESIS, written(receipt))


LINKS = entries((EPISODES[0],), (EPISODES[1],))


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"entries": ()}, "the list is empty"),
        ({"entries": LINKS[1:]}, "not part 0 of 1"),
        ({"entries": LINKS[:1]}, "not part 0 of 1"),
        ({"entries": (LINKS[0], entries((), (EPISODES[1],))[1])}, "does not follow"),
        ({"head": head(LINKS[0], 8)}, "head: it is not of the last"),
        ({"head": head(LINKS[1], 9)}, "head: it is not of the last"),
        ({"head": signed(CODEC, GENESIS, "operator", ORDER)}, "head: "),
        ({"decision": attesting(CODEC, GENESIS, FOUND, ORDER, nobody)}, "did not attest"),
        ({"decision": attesting(CODEC, GENESIS, replace(FOUND, offset=40), ORDER)}, "another place"),
        ({"decision": attesting(CODEC, GENESIS, replace(FOUND, accepted_at=2), ORDER)}, "another order, or another"),
        (
            {"decision": configuring(CODEC, GENESIS, order(GENESIS, "weight", member=2, weight_milli=1200))},
            "not about an erasure",
        ),
    ],
)
def test_a_proof_with_a_part_that_is_missing_or_another_is_refused(changes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(BadReceipt, match=complaint):
        receipts.make(CODEC, GENESIS, proof(**changes))


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"\xff", b'{"format": "memquorum/receipt/1"}', b"[" * 100_000])
def test_what_is_no_receipt_is_refused(data: bytes) -> None:
    with pytest.raises(BadReceipt):
        receipts.verify(CODEC, GENESIS, data)


def test_who_is_not_entitled_is_attested_by_nobody() -> None:
    forged = replace(FOUND, order=signed(CODEC, GENESIS, "member:1", ORDER))
    with pytest.raises(BadCertificate, match="nomination: "):
        check_decision(CODEC, GENESIS, *attesting(CODEC, GENESIS, forged, ORDER))
    late = attesting(CODEC, GENESIS, FOUND, ORDER, accepted_offset=FOUND.offset)
    with pytest.raises(BadCertificate, match="not before the nomination's"):
        check_decision(CODEC, GENESIS, *late)
    assert everybody(0, None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("value", "rule", "wrong"),
    [
        ("task before 1970-01-01T00:06:40.000Z", 0, None),
        ("task before 1970-01-01T00:30:00.000Z", 0, "no rule of configuration 0"),
        ("episodic before 1970-01-01T00:06:40.000Z", 0, "no rule of configuration 0"),
        ("task before 1970-01-01T00:06:40.000Z", 1, "no rule of configuration 1"),
    ],
)
def test_an_order_of_a_rule_is_held_against_that_rule(value: str, rule: int, wrong: str | None) -> None:
    ruled = make(policy=Policy(erase=ErasePolicy("*=task:20m")), **entitled(signed=()))
    said = erasure(ruled, "age", value, ordered_at=2_000_000, rule=rule)
    data = signed(CODEC, ruled, "service:erasure", said)
    detail = CODEC.encode(Erased(data, 2_000_000, 0, 1, 9_000_000, EPISODES))
    entry = JournalEntry(0, 7, BEFORE.as_of, "erased", said.order_id, topics.ACCEPTED, 0, 41, detail, GREENHOUSE)
    link = hash_chain.append(CODEC, BEFORE, entry)
    top = signed(CODEC, ruled, "service:journal", JournalHead(ruled.cluster, 0, 0, 7, link.hash, 1_999_000))
    whole = Proof((link,), top, attesting(CODEC, ruled, OrderFound(data, 2_000_000, 41), said))
    if wrong is None:
        assert receipts.make(CODEC, ruled, whole)["order"]["rule"] == 0
        return
    with pytest.raises(BadReceipt, match=wrong):
        receipts.check(CODEC, ruled, whole)


def test_with_the_genesis_file_of_another_cluster_a_receipt_is_neither_sound_nor_forged(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elsewhere, file, theirs = make_bytes(n=7), tmp_path / "receipt.json", tmp_path / "genesis.json"
    file.write_bytes(written(receipts.make(CODEC, GENESIS, proof())))
    theirs.write_bytes(elsewhere)
    ours, other = (one.cluster.hex()[:8] for one in (GENESIS, load(elsewhere)))
    assert cli.main(["receipt", "verify", str(file), "--genesis", str(theirs)]) == USAGE
    said = f"the receipt is of cluster {ours}…, this genesis file is of {other}…: give --genesis of that cluster"
    assert capsys.readouterr() == ("", f"memquorum: {file}: {said}\n")
