"""On a running installation verifiers agree on what helps, and members admit it; what does not is rejected with its
numbers, and a lying verifier is outvoted and shown. Equal memories in experience become one; a repeatedly helpful one
gets a general form.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from infra import genesis, supervisor
from memquorum import cli
from memquorum.client import Memory
from memquorum.core.accounts import admitting
from memquorum.core.experience import trial
from memquorum.core.policy import UNCAPPED
from memquorum.schema_files import load_codec
from tests.builders.tried import lie
from tests.support.clock import tick
from tests.support.sessions import HOUR, MINUTE, SHARDS, START, Plant, configured
from workers.verifier.verifier_turn import Made
from workers.verifier.worker import Publisher

LIAR = "verifier-1"
AWAY = ".away"
HELPS = "The gateway in hall 3 uses port 8443."
LESSON = "Before the night shift at Northgate, tell Marta Keller and Lena Ott by 12 March 2026 to drain crane 7."
GENERAL = "Before the night shift at [place], tell [name] and [name 2] by [date] to drain crane [number]."
# Near to what the tasks ask, and of no use to them.
IDLE = [f"Which port the gateway in hall 3 had in week {week} nobody knows." for week in (4, 5, 6, 7)]


@pytest.fixture(scope="module")
def held() -> dict[str, bytes]:
    """The seed of the verifier that the installation does not have."""
    return {}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory, held: dict[str, bytes]) -> Iterator[Plant]:
    """The whole fleet with a driven clock, at START, and with the keys of two of its three verifiers; it looks for what
    says the same at every epoch."""
    told = configured(tmp_path_factory.mktemp("line"), verifier_every_s=1)
    made = genesis.create(told, SHARDS, policy={"caps": UNCAPPED, "consolidate": {"merge_every_ms": MINUTE}})
    held[LIAR] = genesis.service_seed(told, made, LIAR)
    key = Path(told.keys_dir, f"service-{LIAR}.key")
    key.rename(key.with_suffix(AWAY))
    with supervisor.started(told) as running:
        tick(running, START)
        yield Plant(running)


def status(fleet: Plant, memory: str) -> str:
    found = fleet.rows("SELECT status FROM admission WHERE memory_id = %(m)s", m=memory)
    return str(found[0][0]) if found else "provisional"


def verifiers_by_digest(fleet: Plant, memory: str) -> dict[str, str]:
    """Returns the verifiers of a memory's findings, by digest."""
    return dict(fleet.rows("SELECT verifier, digest FROM trial WHERE memory_id = %(m)s", m=memory))


def speak_up(fleet: Plant, seed: bytes, memory: str) -> None:
    """The verifier that the installation has not tells of a memory what the others do not find."""
    codec, made = load_codec(), genesis.read(fleet.line)
    ((statistics, shard, namespace),) = fleet.rows(
        "SELECT statistics, shard, namespace FROM trial WHERE memory_id = %(m)s LIMIT 1", m=memory
    )
    one = lie(Made(shard, namespace, LIAR, trial.read(bytes(statistics)), made))
    with closing(Publisher(fleet.line.bootstrap, codec, {LIAR: (seed, tuple)})) as publisher:
        assert publisher.publish([one]) == 1 and publisher.flush(30)


def versions(fleet: Plant, memory: str) -> list[tuple[int, str]]:
    """The versions of a memory's weight, each with what made it."""
    return fleet.rows("SELECT version, cause FROM weight WHERE memory_id = %(m)s ORDER BY version", m=memory)


def roll_back(fleet: Plant, memory: Memory, helps: str) -> None:
    """Requests the first of two weights back, as an agent that may, and the members decide."""
    refused = memory.rollback(helps, to=2)
    assert (refused.status, refused.version, refused.order_id) == ("nothing to roll back", 2, None)
    asked = memory.rollback(helps, to=1, reference="ticket-7", timeout=0.0)
    assert asked.status == "asked" and asked.order_id is not None
    order_id = asked.order_id
    fleet.later(lambda: len(versions(fleet, helps)) == 3, "members do not decide on the rollback")
    assert versions(fleet, helps) == [(1, "admitted"), (2, "used"), (3, "rolled back")]
    told = memory.order(order_id)
    assert (told.status, [one.status for one in told.memories]) == ("decided", ["rolled back"])
    now = memory.experience(helps)
    assert (now.status, now.version, now.weight) == ("admitted", 3, now.weights[0].weight)


def test_what_helps_is_admitted_and_what_does_not_is_rejected_whatever_one_verifier_says(
    fleet: Plant, held: dict[str, bytes], capsys: pytest.CaptureFixture[str]
) -> None:
    with fleet.client("plant") as memory, fleet.client("plant", "ben") as other:

        def remember(text: str) -> str:
            receipt = memory.add(text, occurred_at=START, wait=True)
            assert receipt.outcome == "stored" and receipt.memory_id is not None, text
            memory.pin(receipt.memory_id)
            return receipt.memory_id

        helps, idle = remember(HELPS), [remember(text) for text in IDLE]
        for at in range(4):
            memory.finish_task(
                f"Which port does the gateway in hall 3 use? Shift {at} asks.", "succeeded", outputs=HELPS,
                said_by="reviewer", wait=True,
            )  # fmt: skip
        # Members vote on which of two that contradict is to stay: that is the decision as of which all is tried.
        memory.add("Valve 3 opens at 4 bar.", occurred_at=START, wait=True)
        other.add("Valve 3 opens at 6 bar.", occurred_at=START, wait=True)
        fleet.turn()
        everyone = [helps, *idle]
        fleet.until(lambda: all(verifiers_by_digest(fleet, one) for one in everyone), "not all was tried")
        # If the verifier that the installation lacks was drawn as one of two, only one has findings.
        waits = [one for one in everyone if len(verifiers_by_digest(fleet, one)) == 1]
        assert all(status(fleet, one) == "provisional" for one in waits)
        for one in waits:
            speak_up(fleet, held[LIAR], one)
        fleet.until(lambda: all(status(fleet, one) == "rejected" for one in idle), "what does not help is not rejected")
        fleet.until(lambda: status(fleet, helps) in ("agreed", "admitted"), "what helps is not agreed in")
        for one in waits:
            digests = verifiers_by_digest(fleet, one)
            honest = {digest for verifier, digest in digests.items() if verifier != LIAR}
            assert len(digests) == 3 and len(honest) == 1 and digests[LIAR] not in honest, "it is shown who lied"
        scores = dict(fleet.rows("SELECT memory_id::text, score_ppm FROM admission"))
        assert scores[helps] > 500_000 and all(scores[one] <= 0 for one in idle)
        assert "trials: the last look at candidates ended at " in fleet.infra("fleet", "status")
        # Members try it again by what they read themselves, and vote.
        fleet.kill("verifier")
        fleet.later(lambda: status(fleet, helps) == "admitted", "members do not admit what helps")
        assert fleet.rows("SELECT version, weight_ppm > 0 FROM weight WHERE memory_id = %(m)s", m=helps) == [(1, True)]
        votes = fleet.rows(
            "SELECT b.yes FROM ballot b JOIN outcome o USING (shard, epoch, position) "
            "WHERE o.memory_id = %(m)s AND o.kind = 'admit' AND o.outcome = 'admitted'", m=helps,
        )  # fmt: skip
        assert sum(yes for (yes,) in votes) >= 3, votes
        fleet.turn(HOUR)
        assert {one: status(fleet, one) for one in idle} == dict.fromkeys(idle, "rejected")
        # The result of its use moves its weight at the next decision.
        done = memory.finish_task(
            "Which port does hall 3 use?", "succeeded", outputs=HELPS, retrieved=[helps, *idle[:1]],
            said_by="reviewer", wait=True,
        )  # fmt: skip
        assert other.give_feedback(done.memory_id, helped=[helps], wait=True).outcome == "assessed"
        memory.add("Valve 5 opens at 4 bar.", occurred_at=START, wait=True)
        other.add("Valve 5 opens at 6 bar.", occurred_at=START, wait=True)
        fleet.later(lambda: len(memory.experience(helps).weights) == 2, "its use moves no weight")
        why = memory.experience(helps)
        first, used = why.weights
        assert (first.cause, used.cause, used.weight, used.version) == ("admitted", "used", 1.1, 2)
        assert [(one.task, one.gain) for one in used.tasks] == [(done.memory_id, 1.0)]
        assert used.helped == first.helped + 1
        assert (why.weight, why.version) == (1.1, 2)
        lines = "\n".join(admitting.lines(why))
        assert f"used; by then it helped in {used.helped} tasks" in lines and f"{done.memory_id} +1" in lines
        listed = memory.experiences(statuses=["admitted"])
        assert [(one.memory_id, one.weight, one.text) for one in listed.memories] == [(helps, 1.1, HELPS)]
        assert listed.counts == {"admitted": 1, "rejected": len(idle)}
        asked = ("--kafka", fleet.line.bootstrap, "--url", fleet.line.retrieval_url, "-n", "plant", "--limit", "1")
        assert cli.main(["experience", "weights", *asked, "--status", "admitted"]) == 0
        counts, text, stands = capsys.readouterr().out.splitlines()
        assert counts == f"plant: 1 admitted, {len(idle)} rejected" and text == HELPS
        assert f"{helps}  admitted; S = " in stands and "weight 1.1, version 2; helped in" in stands
        roll_back(fleet, memory, helps)


def put_back(fleet: Plant) -> None:
    """The installation has the key of its third verifier again, which another process finds."""
    key = Path(fleet.line.keys_dir, f"service-{LIAR}.key")
    if key.with_suffix(AWAY).exists():
        key.with_suffix(AWAY).rename(key)
        fleet.kill("verifier")


def test_what_says_the_same_becomes_one_in_experience_and_is_back_where_that_is_erased(fleet: Plant) -> None:
    put_back(fleet)
    with fleet.client("yard") as memory, fleet.client("yard", "ben") as other:
        ids = list[str]()
        # In the ordinary way: each says it by itself, and neither says of whom.
        for who, said in ((memory, HELPS), (other, "the gateway in hall 3 uses port 8443")):
            receipt = who.add(said, occurred_at=START, wait=True)
            assert receipt.outcome == "stored" and receipt.memory_id is not None
            ids.append(receipt.memory_id)
        for at in range(4):
            memory.finish_task(
                f"Which port does the gateway in hall 3 use? Shift {at} asks.", "succeeded", outputs=HELPS,
                said_by="reviewer", wait=True,
            )  # fmt: skip
        fleet.turn()

        def stand() -> dict[str, tuple[str, str | None]]:
            told = "SELECT memory_id::text, status, merged_into::text FROM admission"
            return {name: (status, into) for name, status, into in fleet.rows(told) if name in ids}

        fleet.until(lambda: {one for one, _ in stand().values()} == {"agreed"} and len(stand()) == 2, "not agreed in")
        fleet.later(lambda: [one for one, _ in stand().values()] == ["admitted"] * 2, "members do not admit both")
        fleet.later(lambda: any(into for _, into in stand().values()), "members do not let them become one")
        (stub,) = (name for name, (_, into) in stand().items() if into is not None)
        (kept,) = (name for name in ids if name != stub)

        def given() -> list[str]:
            found = memory.retrieve("Which port does the gateway in hall 3 use?", experience=True)
            return [one.memory_id for one in found.items]

        fleet.until(lambda: given() == [kept], "experience does not give the one alone")
        (found,) = (one for one in memory.search("Which port does the gateway use?") if one.memory_id in ids)
        assert {found.memory_id, *found.folded} == set(ids), "both are served, as one hit"
        why = memory.experience(stub)
        assert (why.status, why.merged_into) == ("admitted", kept)
        assert f"memory {kept} stands for it in experience: they say the same" in "\n".join(admitting.lines(why))
        assert [one.cause for one in memory.experience(kept).weights] == ["admitted", "merged"]
        votes = fleet.rows(
            "SELECT b.yes FROM ballot b JOIN outcome o USING (shard, epoch, position) "
            "WHERE o.memory_id = %(m)s AND o.kind = 'unite' AND o.outcome = 'united'", m=stub,
        )  # fmt: skip
        assert sum(yes for (yes,) in votes) >= 3, votes
        memory.erase(memory_id=kept, dry_run=False)
        fleet.later(lambda: given() == [stub], "it is not back")
        assert memory.experience(stub).merged_into is None


def test_what_helps_again_and_again_has_a_general_form_which_goes_where_the_lesson_is_erased(fleet: Plant) -> None:
    put_back(fleet)
    with fleet.client("dock") as memory:
        receipt = memory.add(LESSON, occurred_at=START, wait=True)
        assert receipt.outcome == "stored" and receipt.memory_id is not None
        lesson = receipt.memory_id
        for at in range(4):
            memory.finish_task(
                f"Who is told at Northgate to drain crane 7 before the night shift? Week {at} asks.", "succeeded",
                outputs=LESSON, said_by="reviewer", wait=True,
            )  # fmt: skip
        fleet.turn()
        fleet.later(lambda: status(fleet, lesson) == "admitted", "members do not admit what helps")
        made = "SELECT id::text, tier FROM memory WHERE general_of = %(m)s"
        fleet.until(lambda: fleet.rows(made, m=lesson), "nobody publishes a general form")
        ((form, tier),) = fleet.rows(made, m=lesson)
        assert tier == "draft", "nobody has voted yet"
        fleet.later(lambda: fleet.rows(made, m=lesson) == [(form, "short-term")], "members do not take it in")
        why = memory.experience(form)
        assert (why.general_of, why.status, why.weight, why.version) == (lesson, "admitted", 0.5, 1)
        assert [(one.cause, one.weight) for one in why.weights] == [("general", 0.5)]
        assert memory.experience(lesson).general == form and versions(fleet, lesson) == [(1, "admitted")]
        votes = fleet.rows(
            "SELECT b.yes FROM ballot b JOIN outcome o USING (shard, epoch, position) "
            "WHERE o.memory_id = %(m)s AND o.kind = 'generalise' AND o.outcome = 'generalised'", m=form,
        )  # fmt: skip
        assert sum(yes for (yes,) in votes) >= 3, votes

        def found(question: str, *, experience: bool = True) -> list[str]:
            return [hit.text for hit in memory.search(question, experience=experience)]

        # The names of the lesson keep it away from a question about others.
        elsewhere = "At which place and on which date does a shift begin?"
        fleet.until(lambda: found(elsewhere) == [GENERAL], "experience does not find it")
        assert found("Who is told to drain crane 7?") == [LESSON], "where that is near, it is enough"
        assert found(elsewhere, experience=False) == [LESSON], "it is nobody's memory of anything"
        memory.erase(memory_id=lesson, dry_run=False)
        fleet.later(lambda: not found(elsewhere), "it outlives what it was made of")
        left = "SELECT count(*) FROM content WHERE memory_id IN (%(l)s, %(f)s)"
        assert fleet.rows(left, l=lesson, f=form) == [(0,)]


def test_whatever_verifiers_and_members_did_is_sound_and_a_rebuild_finds_the_same(fleet: Plant) -> None:
    fleet.turn(HOUR)
    fleet.infra("audit", "verify")
    assert fleet.infra("audit", "rebuild").splitlines()[-1] == "equal"
