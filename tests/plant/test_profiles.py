"""The profile of a subject on a running installation: what it keeps out, what it hides, and what an erasure takes."""

from __future__ import annotations

import json
import time
from contextlib import closing

import httpx
import pytest

from infra import genesis
from memquorum import topics
from memquorum.client import Memory, NotFound, Refused
from memquorum.core.orders import profile as orders
from memquorum.core.records import OrderAccepted
from memquorum.schema_files import load_codec
from tests.support.commands import ran
from tests.support.sessions import DAY, HOUR, NOTES, Plant
from tests.support.waiting import PATIENCE_S
from workers.kafka.partition import Partition

SECRET = "Zephyrine Quillfeather"


def refusal(memory: Memory, content: str, **said: str) -> tuple[str, str | None, str]:
    """Returns why a text is refused."""
    with pytest.raises(Refused) as caught:
        memory.add(content, wait=True, timeout=PATIENCE_S, **said)
    return caught.value.reason, caught.value.field, caught.value.detail


def test_what_is_never_kept_is_refused_in_the_words_of_any_policy_and_masked_where_it_was_kept(fleet: Plant) -> None:
    with fleet.client("profiled") as memory:
        said = f"Ada's doctor is {SECRET}, on Mondays."
        kept = memory.add(said, subject="ada", wait=True).memory_id
        assert kept is not None
        assert memory.profile("ada").status == "none"
        now = memory.set_profile("ada", never=[SECRET, "mother"], timeout=20)
        assert (now.status, now.never) == ("in force", (SECRET, "mother"))
        listed = refusal(memory, f"Ada met {SECRET.upper()} again.", subject="ada")
        assert listed == refusal(memory, "Her MOTHER called.", subject="ada")
        assert SECRET not in listed[2] and listed[0] == "by_policy"
        assert memory.add("Bo met Zephyrine Quillfeather.", subject="bo", wait=True).outcome == "stored"
        masked = "Ada's doctor is [withheld], on Mondays."
        assert memory.get(kept).text == masked
        assert masked in [hit.text for hit in memory.search("who is the doctor?")]
        assert masked in [item.text for item in memory.retrieve("who is the doctor?", budget_tokens=200).items]
        assert masked in [one.text for one in memory.memories(subjects=["ada"]).memories]

        memory.set_profile("ada", stores=False, timeout=20)
        assert refusal(memory, "Ada likes tea.", subject="ada") == listed
        assert memory.get(kept).text == said
        memory.set_profile("ada", timeout=20)
        assert memory.add("Ada likes tea.", subject="ada", wait=True).outcome == "stored"


def test_the_list_is_in_no_topic_journal_or_log_and_goes_with_the_subject(fleet: Plant) -> None:
    with fleet.client("listed") as memory:
        memory.add("Cleo waters the palms.", subject="cleo", wait=True)
        now = memory.set_profile("cleo", never=[SECRET], timeout=20)
        refusal(memory, f"Cleo and {SECRET} met.", subject="cleo")
        codec, found = load_codec(), 0
        for topic in set(topics.ALL) - {topics.PROFILES, topics.EPISODES, topics.CLOCK}:
            for shard in range(genesis.read(fleet.line).shards):
                for data in values(fleet, topic, shard):
                    assert SECRET.encode() not in data and b"Quillfeather" not in data, topic
                    if topic == topics.ACCEPTED and isinstance(record := codec.decode(data), OrderAccepted):
                        found += record.event_id == now.order_id and record.sealed is not None
        assert found == 1
        logs = [log for log in fleet.line.run_dir.rglob("*.log") if "data" not in log.parts]
        assert logs and all(b"Quillfeather" not in log.read_bytes() for log in logs)
        assert "Quillfeather" not in httpx.get(f"{fleet.line.retrieval_url}/metrics").text
        assert not fleet.rows("SELECT FROM journal WHERE position(%(n)s::bytea in entry) > 0", n=b"Quillfeather")
        memory.erase(subject="cleo", dry_run=False)
        after = memory.profile("cleo")
        assert (after.never, after.status) == ((), "in force")
        assert not fleet.rows(
            "SELECT FROM profile_now WHERE array_to_string(entries, ' ') LIKE '%%Quillfeather%%'"
            " AND namespace = 'listed'"
        )
        assert now.order_id is not None and orders.key_id(now.order_id)


def values(fleet: Plant, topic: str, shard: int) -> list[bytes]:
    """Returns the values and headers of a topic's partition."""
    with closing(Partition(fleet.line.bootstrap, topic, shard)) as partition:
        return [record.data for record in partition.records(0.2)]


def test_private_mode_hides_what_is_there_and_what_was_made_of_it_until_it_ends(fleet: Plant) -> None:
    with fleet.client("private") as memory:
        own = memory.add("Dora keeps bees on the roof.", subject="dora", wait=True).memory_id
        made = memory.add("Somebody keeps bees.", subject="hobbies", derives_from=[own], wait=True).memory_id
        other = memory.add("The roof was painted green.", subject="house", wait=True).memory_id
        assert own and made and other

        def seen() -> set[str]:
            found = {hit.memory_id for hit in memory.search("bees on the roof", k=10)}
            return found | {one.memory_id for one in memory.memories().memories}

        assert seen() == {own, made, other}
        memory.set_profile("dora", private_until=round(time.time() * 1000) + HOUR, timeout=20)
        assert seen() == {other}
        for one in (own, made):
            with pytest.raises(NotFound):
                memory.get(one)
            with pytest.raises(NotFound):
                memory.explain(one)
        assert refusal(memory, "Dora sold honey.", subject="dora")[0] == "by_policy"
        assert "bees" not in memory.context("bees", budget_tokens=300).text
        memory.set_profile("dora", private_until=round(time.time() * 1000) + 1_500, timeout=20)
        fleet.until(lambda: seen() == {own, made, other}, "private mode has not ended")


def test_consent_is_granted_for_a_purpose_with_an_end_and_withdrawn(fleet: Plant) -> None:
    with fleet.client("consenting") as memory:
        own = memory.add("Ella takes the tram to work.", subject="ella", wait=True).memory_id
        assert own is not None

        def found(purpose: str | None) -> bool:
            named = {} if purpose is None else {"purpose": purpose}
            return own in {hit.memory_id for hit in memory.search("tram", **named)}

        assert found(None) and found("care")
        ends = round(time.time() * 1000) + HOUR
        memory.set_profile("ella", consents={"care": ends, "research": ends - 2 * HOUR}, timeout=20)
        assert (found(None), found("care"), found("research"), found("ads")) == (False, True, False, False)
        assert memory.get(own, purpose="care").text
        with pytest.raises(NotFound):
            memory.get(own)
        memory.set_profile("ella", consents={}, timeout=20)
        assert not found("care")
        memory.set_profile("ella", timeout=20)
        assert found(None)


def test_the_command_shows_and_changes_what_it_names(fleet: Plant) -> None:
    def told(*arguments: str) -> dict[str, object]:
        done = ran(
            "memquorum", "profile", "fay", "-n", "by-hand", *arguments, "--json", "--url", fleet.line.retrieval_url
        )
        assert done.returncode == 0, done.stdout + done.stderr
        found: dict[str, object] = json.loads(done.stdout)
        return found

    assert told()["status"] == "none"
    assert told("--never", "the flat", "--erase-after", "episodic=30")["never"] == ["the flat"]
    changed = told("--store-nothing", "--consent", "care")
    assert (changed["stores"], changed["never"], changed["consents"]) == (False, ["the flat"], {"care": 0})
    assert changed["retention"] == {"episodic": 30}
    assert told("--withdraw", "care", "--store")["consents"] == {}


def test_what_is_older_than_a_profile_allows_is_erased_and_what_is_held_or_of_others_stays(fleet: Plant) -> None:
    with fleet.client("outlived") as memory:
        old = fleet.live(memory, notes=NOTES[:1], subject="gil")
        task = fleet.live(memory, notes=NOTES[1:2], subject="gil", type="task")
        other = fleet.live(memory, notes=NOTES[2:3], subject="hal")
        memory.set_profile("gil", retention={"episodic": 3}, consents={}, timeout=20)
        fleet.turn(4 * DAY)
        there = "SELECT id::text FROM memory WHERE namespace = 'outlived' AND tier <> 'gone'"
        fleet.later(lambda: {one for (one,) in fleet.rows(there)} == {*task, *other}, "nothing was erased")
        (row,) = fleet.rows("SELECT ordered_by, value FROM erasure WHERE namespace = 'outlived'")
        assert row == ("profile of the subject", *old)
