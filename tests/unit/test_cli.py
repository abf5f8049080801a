"""The command line: what it takes, what it says, and the status that it ends with."""

from __future__ import annotations

import io
import json
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import pytest
from msgspec import convert, structs, to_builtins

from memquorum import admin, cli
from memquorum.client import (
    Erasure,
    Forget,
    Held,
    Hit,
    Hits,
    Invalid,
    LeftOut,
    NotConfigured,
    NotFound,
    Receipt,
    operating,
    orders,
    settings,
)
from memquorum.commands import FAILED, NOT_FOUND, OK, USAGE
from memquorum.core.api.answers import (
    Admission,
    Answering,
    Around,
    Context,
    Ended,
    FinishedTask,
    Judge,
    Leaving,
    Listed,
    Needed,
    Ordered,
    Page,
    Paths,
    Pinned,
    Placed,
    Published,
    Recalled,
    Restore,
    Restoring,
    Retrieved,
    Rewarded,
    Rewards,
    Rollback,
    Rollup,
    Rollups,
    RollupSentence,
    RollupTopic,
    Session,
    SessionDraft,
    SessionPart,
    Shown,
    Staying,
    Step,
    Trial,
)
from memquorum.core.records import Link

HIT = Hit("5f0c8f0e-0000-5000-8000-000000000001", "[red]a\ntext[/red]", "long-term", "bob", 0, 0, 0, 0.5, 0.9)
# The fields of every memory that is given.
ITEM = {
    "memory_id": HIT.memory_id, "text": "t", "tier": "short-term", "agent": "bob", "session": "s", "role": None,
    "occurred_at": 0, "last_access": 0, "accesses": 0, "salience": 0.5, "type": "episodic", "sensitivity": 0.0,
    "purposes": None, "jurisdictions": (), "conflicts_with": (), "tokens": 1, "folded": (),
}  # fmt: skip
LEFT = {"duplicate": LeftOut(2, ("a", "b")), "agent": LeftOut(3, ())}
FOUND = Retrieved("n", (Answering(**ITEM, score=0.75, relevance=1, strength=1, cosine=1),), 1, 9, LEFT, 0, True)
AROUND = Recalled("n", ("a",), (Around(**ITEM, way="session", anchor="a", apart=1),), 1, 9, {}, 0)
PROMPT = Context("n", (Placed(**ITEM, why="buffer", place=1, score=None),), "Lately:\n- t\n", 1, 9, LEFT, 0)
SHOWN = Shown(
    HIT.memory_id, "n", "a\ntext", "short-term", "bob", "", "e", 0, 0, None, None, 0, 0, 0, 0.5, 0, True, None,
)  # fmt: skip


@dataclass
class Recorded:
    """Stands where the client would be: notes what it is asked."""

    episodes: list[dict[str, Any]] = field(default_factory=list)
    named: dict[str, Any] = field(default_factory=dict)
    namespace: str = "default"
    became: str = ""
    nowhere: tuple[Link, ...] = ()
    gone: bool = False

    def __call__(self, **named: Any) -> Self:
        self.named = named
        return self

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def add_all(self, episodes: list[Mapping[str, Any]]) -> list[Receipt]:
        if any(not e["content"] for e in episodes):
            raise Invalid("empty_value", "content", "blank")
        self.episodes += [dict(e) for e in episodes]
        return [Receipt("n", f"e{i}", f"m{i}") for i, _ in enumerate(episodes)]

    def clear(self, key: str | None, path: str | None, *, memory_id: str | None, **how: Any) -> Receipt:
        self.episodes.append({"key": key, "path": path, "memory_id": memory_id, **how})
        done = ("contested", ("m1",), ("m2",)) if how["wait"] else (None, (), ())
        return Receipt("n", "e", "m", done[0], hidden=done[1], stays=done[2])

    def outcome(self, receipt: Receipt, timeout: float) -> Receipt:
        became = self.became or f"stored in {timeout:g}"
        return Receipt(receipt.namespace, receipt.event_id, receipt.memory_id, became, self.nowhere)

    def search(self, query: str, k: int, *, peek: bool, **asked: Any) -> Hits:
        self.named = asked
        return Hits([HIT][:k] if peek else [])

    def begin_goal(self, goal: str, needs: list[str], timeout: float) -> Needed:
        return Needed("n", goal, "active", tuple(needs))

    def end_goal(self, goal: str, timeout: float) -> Needed:
        return Needed("n", goal, "ordered", ("m",))

    def retrieve(self, query: str, budget_tokens: int, **asked: Any) -> Retrieved:
        self.named = {"query": query, "budget_tokens": budget_tokens, **asked}
        return FOUND

    def recall(self, memory_id: str | None, **asked: Any) -> Recalled:
        self.named = {"memory_id": memory_id, **asked}
        return AROUND

    def context(self, query: str | None, budget_tokens: int, **asked: Any) -> Context:
        self.named |= {"query": query, "budget_tokens": budget_tokens, **asked}
        return PROMPT

    def erase(self, *, dry_run: bool = True, timeout: float = 10, **asked: Any) -> Erasure:
        """Finds nothing."""
        self.named = asked
        status = "nothing ordered" if dry_run else self.became or "erased"
        stays = (Staying("M", "bob", 0, "another agent said it: bob"),)
        return Erasure(
            "n", "subject", "ada", dry_run, status, 1, 2,
            order_id=None if dry_run else "o", why="a hold", staying=stays, staying_more=2,
        )  # fmt: skip

    def order(self, order_id: str, timeout: float) -> Ordered:
        return Ordered(
            order_id=order_id, kind="erase", namespace="n", status="withheld", says={"selector": "subject"},
            ordered_by="ada", reference="r", ordered_at=0, accepted_at=0, shard=1, journal_seq=7, why="a hold",
        )  # fmt: skip

    def get(self, memory_id: str, **gates: Any) -> Shown:
        self.named = gates
        return structs.replace(SHOWN, text=None, tier="forgotten") if self.gone else SHOWN

    def experience(self, memory_id: str, **gates: Any) -> Admission:
        judges = tuple(Judge(task, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0) for task in ("t1", "erased"))
        return Admission("M", "n", "rejected", 0.05, trials=(Trial("v-1", 3, 0.5, True, judges, 8),))

    def finished_task(self, task: str, **gates: Any) -> FinishedTask:
        if task == "erased":
            raise NotFound("no task")
        return FinishedTask(
            task, "anna", "open valve 3", "succeeded", None, 0, 1, (), (), (), (), "anna", "n",
            "", "", (), "", 0, "", "", (),
        )  # fmt: skip

    def end_session(self, session: str, *, everyone: bool, after: str | None, **came: Any) -> Ended:
        self.named |= {"ended": session, "everyone": everyone, "after": after} | came
        task = Published("n", "t1", "a task", "n/t1") if came else None
        return Ended("n", session, "e1", None if everyone else "anna", task)

    def session(self, session: str) -> Session:
        if session == "unknown":
            raise NotFound(f"no session {session}")
        waits = SessionPart("anna", 5, 0, (), (SessionDraft("sum", 4),), (), {"wanted": 1}, 0)
        open_yet = SessionPart("bert", 3, 0, (), (), (3,), {}, 0)
        return Session("n", session, (waits,) if session == "hers" else (waits, open_yet), 1, 4, 2_000, 100)

    def rewards(self, agent: str | None) -> Rewards:
        given = Rewarded("[red]bob", {"used": 2}, 0.6, 0.06)
        return Rewards("n", 0.1, () if agent == "nobody" else (given,), more=agent is None)

    def rollups(self, **asked: Any) -> Rollups:
        self.named = asked
        return Rollups("n", (RollupTopic("[red]pump 7", 3, 1, 0, 86_400_000),), {"bob": 3})

    def rollup(self, topic: str, **asked: Any) -> Rollup:
        self.named = asked
        if topic != "pump 7":
            raise NotFound(f"no roll-up {topic}")
        said = RollupSentence("Pump 7 runs.", "m1", 0, 12, "facts", 0, "bob", "bob", 0, "m1")
        return Rollup("n", "pump 7", (said,), 1)

    def explain(self, memory_id: str, **gates: Any) -> str:
        self.named = gates
        raise NotFound(f"no memory {memory_id}")


@pytest.fixture(autouse=True)
def client(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Recorded:
    recorded = Recorded()
    monkeypatch.setattr("memquorum.client.command.Memory", recorded)
    monkeypatch.setattr(settings, "_nearby", lambda: iter([tmp_path]))
    for name in ("BOOTSTRAP", "URL", "NAMESPACE", "AGENT", "RUN_DIR"):
        monkeypatch.delenv(f"MEMQUORUM_{name}", raising=False)
    return recorded


def test_texts_are_published_with_what_the_options_say(client: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["publish", "-n", "n", "-a", "bob", "--reward", "0.5", "--session", "s", "one", "two"]) == OK
    common = {"session": "s", "reward": 0.5}
    assert client.episodes == [{**common, "content": "one"}, {**common, "content": "two"}]
    assert (client.named["namespace"], client.named["agent"]) == ("n", "bob")
    told = capsys.readouterr()
    assert told.out.splitlines() == ["m0  published  event e0", "m1  published  event e1"]
    assert told.err == "2 published\n"


def test_a_slot_is_cleared_and_what_went_and_what_stays_is_told(
    client: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["clear", "diet", "--path", "users/ada", "--subject", "ada", "--wait", "--timeout", "7"]) == OK
    assert capsys.readouterr().out.splitlines() == [
        "contested  event e",
        "  m1 is served no more; `memquorum restore m1` asks for it back",
        "  m2 stays: `memquorum forget m2` has the members vote on it",
    ]
    assert cli.main(["clear", "--id", "m1"]) == OK
    assert capsys.readouterr().out == "published  event e\n"
    assert cli.main(["clear", "diet", "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["token"] == "n/e"
    asked = {"key": None, "path": None, "memory_id": None, "wait": False, "timeout": 30.0}
    assert client.episodes == [
        asked | {"key": "diet", "path": "users/ada", "wait": True, "timeout": 7.0, "subject": "ada"},
        asked | {"memory_id": "m1"},
        asked | {"key": "diet"},
    ]


def test_memories_named_by_an_option_leave_the_text_its_place(client: Recorded) -> None:
    named = ["--explicit", "--supersedes", "m1", "--supersedes", "m2", "--derives-from", "m3"]
    assert cli.main(["publish", *named, "Ovens are cold."]) == OK
    (episode,) = client.episodes
    assert episode["content"] == "Ovens are cold."
    assert (episode["supersedes"], episode["derives_from"]) == (["m1", "m2"], ["m3"])


def test_links_are_to_an_id_or_to_a_name(client: Recorded) -> None:
    said = ["--link", "requires=m1", "--link", "isA:pump", "--link", "friendOf:marta=7", "--link", "partOf=a:b"]
    assert cli.main(["publish", *said, "Pump 7 runs."]) == OK
    assert client.episodes[0]["links"] == [
        {"kind": "requires", "to": "m1"}, {"kind": "isA", "name": "pump"}, {"kind": "friendOf", "name": "marta=7"},
        {"kind": "partOf", "to": "a:b"},
    ]  # fmt: skip


def test_where_probably_nothing_answers_the_reads_say_so(
    client: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    said = "Probably nothing here answers this."
    for command in ("search", "retrieve", "context"):
        assert cli.main([command, "-a", "a", "--peek", "q"]) == OK
        told = capsys.readouterr()
        assert said not in told.out + told.err
    doubted = structs.replace(HIT, answerable=False)
    monkeypatch.setattr(client, "search", lambda *_, **__: Hits([doubted]))
    monkeypatch.setattr(client, "retrieve", lambda *_, **__: structs.replace(FOUND, answerable=False))
    monkeypatch.setattr(client, "context", lambda *_, **__: structs.replace(PROMPT, answerable=False))
    for command in ("search", "retrieve", "context"):
        assert cli.main([command, "-a", "a", "--peek", "q"]) == OK
        told = capsys.readouterr()
        assert said in (told.err if command == "context" else told.out)
        assert cli.main([command, "-a", "a", "--peek", "--json", "q"]) == OK
        told = capsys.readouterr()
        assert json.loads(told.out)["answerable"] is False and said not in told.out + told.err


def test_where_nothing_of_it_could_be_sent_the_input_was_wrong(client: Recorded) -> None:
    assert cli.main(["publish", ""]) == USAGE
    assert client.episodes == []


def test_an_erased_episode_that_is_published_again_is_said_to_stay_out(
    client: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    client.became = "erased"
    assert cli.main(["publish", "-a", "ann", "--wait", "said"]) == FAILED
    said = capsys.readouterr()
    assert "m0  erased  event e0" in said.out
    assert "event e0 stays out" in said.err


def test_an_event_id_that_had_another_text_before_is_told_to_keep_the_first(
    client: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    client.became = "reused"
    first = structs.replace(SHOWN, text="The key hangs in shed 2.")
    monkeypatch.setattr(client, "get", lambda memory_id: first, raising=False)
    said = ["publish", "-a", "ann", "--event-id", "e0", "--wait"]
    assert cli.main([*said, "The key hangs in shed 9."]) == FAILED
    told = capsys.readouterr()
    assert told.out == "m0  reused  event e0\n"
    assert "event e0 was used before for another text, which stays; this one is not stored" in told.err
    assert "publish it under another event id, or without one" in told.err
    assert 'event e0 has this text: "The key hangs in shed 2."' in told.err
    assert cli.main([*said, "--json", "The key hangs in shed 9."]) == FAILED
    assert json.loads(capsys.readouterr().out)["outcome"] == "reused"
    # A reader that may not see the text is told of it all the same.
    first = structs.replace(SHOWN, text=None)
    assert cli.main([*said, "Call 555-0100."]) == FAILED
    assert "has this text" not in capsys.readouterr().err
    client.became = "stored"
    assert cli.main([*said, "The key hangs in shed 2."]) == OK
    assert capsys.readouterr().out == "m0  stored  event e0\n"

    def refused(memory_id: str) -> None:
        raise NotFound(memory_id)

    monkeypatch.setattr(client, "get", refused, raising=False)
    assert cli.main([*said, "Call 555-0100."]) == OK


def test_an_erasure_says_what_would_go_or_what_happened_and_not_both(
    client: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ["erase", "--subject", "ada"]
    assert cli.main(asked) == OK
    told = capsys.readouterr().out
    assert "  M  by bob, 1970-01-01 00:00:00 UTC: another agent said it: bob\n  and 2 more\n" in told
    assert "would erase subject 'ada' in 'n': 1 memory, 2 episodes in all" in told and "  erased" not in told
    assert "finished tasks that only name somebody in their texts stay; a key with the right `read` is shown" in told
    assert cli.main([*asked, "--yes"]) == OK
    told = capsys.readouterr().out
    assert told.startswith("erased subject 'ada'") and "nothing" not in told and "would" not in told
    assert cli.main([*asked, "--yes", "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["status"] == "erased"


@pytest.mark.parametrize("dry_run", [True, False])
def test_an_erasure_that_found_nothing_says_so(dry_run: bool) -> None:
    first = next(iter(orders.lines(Erasure("n", "subject", "*", dry_run, "erased", 0, 0, order_id="o"))))
    assert first.startswith("nothing was found for subject '*' in 'n': 0 memories")


def test_an_erasure_of_what_is_held_ends_as_refused(
    client: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def held(*_: object, **__: object) -> Erasure:
        raise Held("held", None, "nothing of it is erased: a legal hold keeps m")

    monkeypatch.setattr(Recorded, "erase", held)
    assert cli.main(["erase", "--subject", "ada"]) == FAILED
    assert "a legal hold keeps m" in capsys.readouterr().err


@pytest.mark.parametrize("age", ["-2d", "-.5h", "-30m", "soon"])
def test_an_age_that_is_none_is_said_to_be_none(age: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(["erase", "--older-than", age])
    assert ended.value.code == USAGE
    assert f"'{age}' is no age: say minutes, hours or days, as in 30m, 12h or 90d" in capsys.readouterr().err


def test_a_withheld_erasure_is_said_to_be(client: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    client.became = "withheld"
    assert cli.main(["erase", "--subject", "ada", "--yes"]) == FAILED
    assert capsys.readouterr().out == "withheld, erasing subject 'ada' in 'n': a hold; order o\n"
    assert cli.main(["order", "o"]) == FAILED
    told = capsys.readouterr().out.splitlines()
    assert (told[0], told[-1]) == ("erase: withheld: a hold", "  journal of shard 1, entry 7")
    assert told[1].startswith("  erase in 'n', selector subject; by ada (r), ") and told[1].endswith("; order o")


def test_what_failed_is_said_and_what_to_do(client: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    client.became = "failed"
    assert cli.main(["publish", "-a", "ann", "--wait", "said"]) == 1
    said = capsys.readouterr()
    assert "m0  failed  event e0" in said.out
    assert "dlq replay --reason failed --go" in said.err.replace("\n", " ")


def test_a_link_that_leads_nowhere_is_said_and_loses_nothing(
    client: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    client.became, client.nowhere = "stored", (Link("requires", "m7"),)
    asked = ["publish", "--link", "requires=m7", "--wait", "said"]
    assert cli.main(asked) == OK
    said = capsys.readouterr()
    assert said.out == "m0  stored  event e0\n"
    assert said.err == "event e0 has a link to nothing: requires m7; no such memory was alive in 'n'\n"
    assert cli.main([*asked, "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["nowhere"] == [{"kind": "requires", "to": "m7"}]


def test_lines_are_published_in_order_and_bad_ones_named(
    client: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ['{"content": "a", "role": "tool"}', "", "[]", "{", '{"content": ""}', '{"role": "x"}', '{"content": "b"}']
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(rows)))
    assert cli.main(["publish", "--role", "user", "--wait", "--timeout", "7", "--json", "-"]) == FAILED
    assert client.episodes == [{"content": "a", "role": "tool"}, {"content": "b", "role": "user"}]
    told = capsys.readouterr()
    assert [json.loads(row)["outcome"] for row in told.out.splitlines()] == ["stored in 7"] * 2
    places = [row.split(":")[0] for row in told.err.splitlines()]
    assert places == ["line 3", "line 4", "line 5", "line 6", "2 published, 4 refused"]


def test_many_lines_go_in_batches(
    client: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("\n".join(json.dumps({"content": str(i)}) for i in range(1_201))))
    assert cli.main(["publish"]) == OK
    assert [e["content"] for e in client.episodes] == [str(i) for i in range(1_201)]
    assert "1201 published" in capsys.readouterr().err


def test_what_was_found_is_shown_on_one_line_each(client: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["search", "--peek", "q"]) == OK
    first, second = capsys.readouterr().out.splitlines()
    assert first == "    1.  [red]a text[/red]"
    assert second.split() == [HIT.memory_id, "long-term,", "bob,", "1970-01-01", "00:00:00"]
    assert cli.main(["search", "--peek", "--json", "q"]) == OK
    assert json.loads(capsys.readouterr().out)["text"] == HIT.text
    assert cli.main(["search", "--peek", "--numbers", "q"]) == OK
    assert capsys.readouterr().out.startswith(" 0.900  [red]a text[/red]\n")
    assert cli.main(["search", "q"]) == OK
    assert "nothing in 'default' yet" in capsys.readouterr().out


def test_what_a_retrieval_gives_and_leaves_out_is_shown(client: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["retrieve", "q", "--budget", "9", "--of", "ann", "--of", "bob", "--tier", "long-term", "--since", "5"]
    assert cli.main(command) == OK
    assert client.named == {
        "query": "q", "budget_tokens": 9, "k_max": 20, "hops": 1, "agents": ["ann", "bob"], "tiers": ["long-term"],
        "since": 5, "peek": False, "after": None, "diffusion": False,
    }  # fmt: skip
    first, _, count, left = capsys.readouterr().out.splitlines()
    assert first == "    1.  t"
    assert count == "1 memory, some 1 of 9 tokens"
    assert left == "left out: 2 say what others say, 3 are other agents'"
    assert cli.main([*command, "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["left_out"]["duplicate"] == {"count": 2, "memory_ids": ["a", "b"]}
    assert cli.main([*command, "--numbers"]) == OK
    assert capsys.readouterr().out.startswith(" 0.750  t\n")


@pytest.mark.parametrize(("through", "told"), [("question", "the question"), (HIT.memory_id, HIT.memory_id)])
def test_what_the_second_step_found_says_what_names_it(
    client: Recorded, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, through: str, told: str
) -> None:
    found = structs.replace(FOUND, items=(structs.replace(FOUND.items[0], through=through),))
    monkeypatch.setattr(
        Recorded, "retrieve", lambda self, query, budget, **asked: setattr(self, "named", asked) or found
    )
    assert cli.main(["retrieve", "q", "--hops", "2"]) == OK
    assert client.named["hops"] == 2
    assert capsys.readouterr().out.splitlines()[2].strip() == f"of what {told} names"


def test_a_recall_says_by_which_way(client: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["recall", HIT.memory_id, "--within", "1.5", "--peek"]) == OK
    assert client.named == {
        "memory_id": HIT.memory_id, "query": None, "goal": None, "entity": None, "steps": 5, "links": 2, "hops": 2,
        "within_ms": 1_500, "budget_tokens": 2_000,
        "peek": True, "after": None,
    }  # fmt: skip
    assert capsys.readouterr().out.splitlines()[0] == "session  t"
    assert cli.main(["recall", "--entity", "Grace Hopper"]) == OK
    assert client.named["entity"] == "Grace Hopper"
    assert cli.main(["recall", "--query", "q"]) == OK
    assert (client.named["memory_id"], client.named["query"]) == (None, "q")


def test_a_recall_says_which_relations_led_to_a_memory(
    client: Recorded, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = Step("requires", "a", "b"), Step("worksAt", "c", "b")
    linked = Around(**ITEM, way="link", anchor="a", apart=2, walk=steps, rank=0.5)
    monkeypatch.setattr(client, "recall", lambda *_, **__: Recalled("n", ("a",), (linked,), 1, 9, {}, 0))
    assert cli.main(["recall", "a"]) == OK
    told = capsys.readouterr().out.splitlines()
    assert told[0].strip() == "link  t" and "by requires, worksAt" in [one.strip() for one in told]


def test_a_context_is_printed_for_a_prompt(client: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["context", "q", "-a", "ann", "--session", "s1", "--budget", "9", "--share", "0.25", "-k", "3"]
    command += ["--hops", "2"]
    assert cli.main(command) == OK
    asked = {
        "query": "q",
        "budget_tokens": 9,
        "session": "s1",
        "buffer_share": 0.25,
        "quotas": None,
        "k_max": 3,
        "peek": False,
    }
    assert asked | {"agent": "ann", "hops": 2} == {name: client.named[name] for name in (*asked, "agent", "hops")}
    told = capsys.readouterr()
    assert told.out == PROMPT.text
    assert told.err.startswith("1 memory, some 1 of 9 tokens\nleft out: 2 say")
    assert cli.main(["context", "--peek", "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["items"][0]["text"] == "t"
    assert (client.named["query"], client.named["peek"]) == (None, True)


def test_a_goal_begins_with_what_it_needs_and_ends(client: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["goal", "sow", "--needs", "a", "b"]) == OK
    assert capsys.readouterr().out == "active: goal 'sow' needs 2 memories\n"
    assert cli.main(["goal", "sow", "--end", "--json"]) == 1
    assert json.loads(capsys.readouterr().out) == {
        "namespace": "n", "goal": "sow", "status": "ordered", "memory_ids": ["m"]
    }  # fmt: skip
    with pytest.raises(SystemExit):
        cli.main(["goal", "sow"])


def test_a_search_may_be_told_to_compare_all(client: Recorded) -> None:
    asked = []
    for said in ([], ["--exact"]):
        assert cli.main(["search", "q", *said]) == OK
        asked.append(client.named["exact"])
    assert asked == [False, True]


def test_what_is_out_of_a_summary_is_marked(
    client: Recorded, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    of_it = structs.replace(HIT, made_by="extractive/1", excerpt=True)
    for hit, marked in ((HIT, False), (of_it, True)):
        monkeypatch.setattr(client, "search", lambda *_, hit=hit, **__: Hits([hit]))
        assert cli.main(["search", "q"]) == OK
        assert (", out of a summary" in capsys.readouterr().out) == marked


def test_of_a_long_text_what_answers_is_shown_with_its_place(
    client: Recorded, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    long = structs.replace(HIT, text="Lunch is at noon. " * 50 + "Valve 3 sticks.", passage=(900, 915))
    monkeypatch.setattr(client, "search", lambda *_, **__: Hits([long]))
    assert cli.main(["search", "q"]) == OK
    told = capsys.readouterr().out
    assert "Valve 3 sticks." in told and "Lunch" not in told and ", best in characters 900–915" in told
    item = structs.replace(FOUND.items[0], excerpt=True, passage=(900, 915), spans=((0, 17), (900, 915)))
    found = structs.replace(FOUND, items=(item,))
    monkeypatch.setattr(client, "retrieve", lambda *_, **__: found)
    assert cli.main(["retrieve", "q"]) == OK
    assert ", characters 0–17, 900–915 of a long text" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["search", "q"], ["retrieve", "q"], ["recall", "m"]])
def test_what_is_read_may_be_bounded(client: Recorded, command: list[str]) -> None:
    only = ["--type", "task", "--type", "social", "--sensitivity-max", "0.3", "--purpose", "billing"]
    assert cli.main([*command, *only, "--jurisdiction", "DE", "--until", "9"]) == OK
    asked = {"types": ["task", "social"], "sensitivity_max": 0.3, "purpose": "billing", "jurisdictions": ["DE"]}
    assert asked | {"until": 9} == {name: client.named.get(name) for name in (*asked, "until")}


def test_an_account_is_asked_for_what_it_may_be_used_for(client: Recorded) -> None:
    only = ["--sensitivity-max", "0.3", "--purpose", "billing", "--jurisdiction", "DE", "--jurisdiction", "FR"]
    assert cli.main(["explain", "x", *only]) == NOT_FOUND
    asked = {"sensitivity_max": 0.3, "purpose": "billing", "jurisdictions": ["DE", "FR"]}
    assert client.named == asked | {"after": None}
    assert cli.main(["explain", "x"]) == NOT_FOUND
    assert client.named == {"after": None}


def test_an_episode_says_what_it_may_be_used_for(client: Recorded) -> None:
    said = ["--type", "task", "--sensitivity", "0.7", "--purpose", "billing", "--purpose", "support"]
    assert cli.main(["publish", *said, "--jurisdiction", "DE", "one"]) == OK
    assert client.episodes == [{
        "content": "one", "type": "task", "sensitivity": 0.7, "purposes": ["billing", "support"], "jurisdiction": "DE",
    }]  # fmt: skip


def test_what_agents_were_given_is_a_line_each(capsys: pytest.CaptureFixture[str]) -> None:
    given = "[red]bob  +0.60, weighted 0.10 · +0.60 = +0.060: used 2\n"
    assert cli.main(["rewards", "--agent", "bob"]) == OK
    assert capsys.readouterr().out == given
    assert cli.main(["rewards"]) == OK
    assert capsys.readouterr().out == given + "and more agents: name one with --agent\n"
    assert cli.main(["rewards", "--agent", "nobody"]) == OK
    assert capsys.readouterr().out == "nobody was given anything in 'n' yet\n"
    assert cli.main(["rewards", "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["agents"][0]["counts"] == {"used": 2}


def test_a_session_ends_for_all_and_what_comes_of_it_is_told(
    client: Recorded, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("MEMQUORUM_AGENT", raising=False)
    comes = (
        "anna: 5 memories in use\n  summary sum of 4 of them waits for the members' vote\n"
        "  1 not summed up: saved on purpose, and what is wanted stays as it is\n",
        "bert: 3 memories in use\n  a summary of 3 of them is about to be made\n",
        "Next: the members vote by 1 Jan 1970, 00:00 UTC at the latest.\n",
    )
    assert cli.main(["end-session", "hers"]) == OK
    assert (client.named["ended"], client.named["everyone"]) == ("hers", True)
    out = capsys.readouterr().out
    waits = "A summary of the session waits for the members' vote.\n"
    assert out == f"session hers of default is over for every agent\n{waits}{comes[0]}{comes[2]}"
    assert cli.main(["end-session", "both", "--wait", "0"]) == OK
    out = capsys.readouterr().out
    assert comes[1] in out and "tells whether the consolidator waits for a model" in out

    assert cli.main(["end-session", "-a", "anna", "both"]) == OK
    assert client.named["everyone"] is False
    out = capsys.readouterr().out
    assert out.startswith(f"session both of default is over for anna\n{waits}{comes[0]}")
    assert "It is not over for bert (3 memories): without --agent it ends for all." in out and comes[1] not in out
    assert cli.main(["session", "both"]) == OK
    assert capsys.readouterr().out == waits + "".join(comes)
    assert cli.main(["session", "both", "--numbers"]) == OK
    assert "  in numbers: epoch 4, at 1970-01-01 00:00:02 UTC at the latest" in capsys.readouterr().out
    came = ["--outcome", "failed", "--goal", "count", "--by", "eve", "--retrieved", "m1"]
    assert cli.main(["end-session", "-a", "anna", "hers", *came]) == OK
    assert {name: client.named[name] for name in ("outcome", "goal", "by", "retrieved")} == {
        "outcome": "failed", "goal": "count", "by": "eve", "retrieved": ["m1"],
    }  # fmt: skip
    assert "`memquorum experience show -n default a task`" in capsys.readouterr().out
    assert cli.main(["end-session", "hers", "--json", "--after", "n/e0"]) == OK
    assert client.named["after"] == "n/e0"
    assert json.loads(capsys.readouterr().out)["session"]["parts"][0]["agent"] == "anna"


def test_a_session_that_nobody_knows_is_not_over(client: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["end-session", "unknown", "--wait", "0"]) == FAILED
    told = capsys.readouterr()
    assert "is over" not in told.out and "no memory in default is of session unknown" in told.err
    assert cli.main(["end-session", "unknown", "--wait", "0", "--outcome", "succeeded", "--goal", "count"]) == OK
    told = capsys.readouterr()
    assert "is of session unknown: it is a task alone" in told.err and "it is a finished task" in told.out
    assert cli.main(["end-session", "-a", "carl", "hers", "--wait", "0"]) == FAILED
    assert "no memory of carl in default is of session hers, but of anna" in capsys.readouterr().err
    assert cli.main(["session", "unknown"]) == NOT_FOUND


@pytest.mark.parametrize("option", ["-a", "-n"])
def test_an_empty_name_is_no_name(client: Recorded, option: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        cli.main(["end-session", option, "", "hers"])
    assert stopped.value.code == USAGE
    assert "a name is not empty" in capsys.readouterr().err and not client.named


def test_what_is_said_of_a_thing_is_told_as_of_a_time(client: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["--as-of", "2026-03-01", "--persona", "bob", "--purpose", "care"]
    assert cli.main(["rollup", "list", *asked]) == OK
    told = {"as_of": 1_772_323_200_000, "persona": "bob", "purpose": "care"}
    assert client.named == told
    assert capsys.readouterr().out.splitlines()[0] == (
        "[red]pump 7  3 sentences, 1970-01-01 to 1970-01-02; 1 cannot be read any more"
    )
    assert cli.main(["rollup", "show", "-n", "n", "pump 7", *asked, "--history"]) == OK
    assert client.named == told | {"history": True}
    assert "  Pump 7 runs." in capsys.readouterr().out.splitlines()
    assert cli.main(["rollup", "show", "pump 7", "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["unreadable"] == 1
    assert cli.main(["rollup", "show", "pump 8"]) == NOT_FOUND


def test_statuses(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["explain", "x"]) == NOT_FOUND
    assert cli.main(["publish", "--event-id", "e", "one", "two"]) == USAGE
    assert cli.main(["verify", "--topics-only"]) == USAGE
    assert "--genesis FILE" in capsys.readouterr().err
    for wrong in ([], ["bogus"], ["search"], ["search", "q", "--bogus"], ["publish", "--reward", "x", "t"]):
        with pytest.raises(SystemExit) as caught:
            cli.main(wrong)
        assert caught.value.code == USAGE


@pytest.mark.parametrize(
    ("typed", "said", "help_of"),
    [
        (["search", "q", "--bogus"], "memquorum search: unrecognized arguments: --bogus", "memquorum search"),
        (["search"], "memquorum search: the following arguments are required: QUERY", "memquorum search"),
        (["publish", "--reward", "x", "t"], "memquorum publish: argument --reward: invalid float", "memquorum publish"),
        (["receipt", "x"], "memquorum receipt: no command 'x'", "memquorum receipt"),
        (["receipt", "gte"], "memquorum receipt: no command 'gte': did you mean 'get'?", "memquorum receipt"),
        (["serch", "x"], "memquorum: no command 'serch': did you mean 'search'?", "memquorum"),
        (["rebiuld"], "memquorum: no command 'rebiuld'", "memquorum"),
        ([], "memquorum: the following arguments are required: COMMAND", "memquorum"),
    ],
)
def test_a_wrong_use_is_told_first_and_then_whose_help_tells_more(
    typed: list[str], said: str, help_of: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        cli.main(typed)
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(said) and second == f"see `{help_of} --help`"
    assert ended.value.code == USAGE


def test_the_slots_of_a_namespace_are_listed_each_with_what_fills_it(
    client: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def filed(place: int, key: str | None, text: str, path: str | None = "users/ada") -> Listed:
        return convert(to_builtins(SHOWN) | {"memory_id": f"m{place}", "key": key, "path": path, "text": text}, Listed)

    pages = [
        Page("n", (filed(1, "diet", "No meat."), filed(2, None, "A note.")), next="c"),
        Page("n", (filed(3, "diet", "[red]No fish."), filed(4, "door", "Shut.", None))),
    ]
    asked = list[dict[str, Any]]()

    def memories(**given: Any) -> Page:
        asked.append(given)
        return pages[len(asked) - 1]

    monkeypatch.setattr(client, "memories", memories, raising=False)
    assert cli.main(["slots", "--path", "users"]) == OK
    assert [(one["cursor"], one["path"]) for one in asked] == [(None, "users"), ("c", "users")]
    assert capsys.readouterr().out.splitlines() == [
        "door  Shut.", "        m4  bob, 1970-01-01 00:00:00", "users/ada  diet  [red]No fish.",
        "        m3  bob, 1970-01-01 00:00:00",
    ]  # fmt: skip
    asked.clear()
    assert cli.main(["slots", "--json"]) == OK
    assert [json.loads(line)["memory_id"] for line in capsys.readouterr().out.splitlines()] == ["m4", "m3"]
    monkeypatch.setattr(client, "memories", lambda **_: Page("n", ()), raising=False)
    assert cli.main(["slots"]) == OK
    assert "no slot in 'n' is filled" in capsys.readouterr().out


def test_a_page_is_as_long_as_its_memories_and_gives_them_in_turn() -> None:
    shown = convert(to_builtins(SHOWN), Listed)
    assert (len(Page("n", (shown,))), list(Page("n", (shown,))), len(Page("n", ()))) == (1, [shown], 0)
    assert (len(Paths("n", ("a", "b"))), list(Paths("n", ("a", "b")))) == (2, ["a", "b"])


def test_what_is_passed_on_runs_where_it_was_typed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It imports the checkout's modules all the same, and writes files in the caller's folder."""
    real, ran = subprocess.run, list[str]()

    def run(command: list[str], *, env: dict[str, str], check: bool, cwd: Path | None = None) -> Any:
        told = "import os, infra; print(os.getcwd(), infra.__file__)"
        done = real([sys.executable, "-c", told], env=env, check=check, cwd=cwd, capture_output=True, text=True)
        ran.append(done.stdout)
        return done

    monkeypatch.setattr(operating.subprocess, "run", run)
    monkeypatch.chdir(tmp_path)
    assert cli.main(["whatif", "--budget", "500"]) == OK
    assert ran == [f"{tmp_path} {admin.CHECKOUT / 'infra' / '__init__.py'}\n"]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ("dlq replay", ["--reason", "--go"]),
        ("rebuild", ["--whole", "--until", "--keep"]),
        ("whatif", ["--policy", "--budget", "--against", "--from", "--chart"]),
    ],
)
def test_what_is_passed_on_helps_with_the_options_that_it_has(
    asked: str, told: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as caught:
        cli.main([*asked.split(), "--help"])
    said = capsys.readouterr().out
    assert caught.value.code == OK
    assert [one for one in told if one not in said] == []
    assert "Its name now is `memquorum admin " in said


@pytest.mark.parametrize("command", ["whatif", "rebuild", "dlq list", "dlq replay"])
def test_what_is_the_operators_has_no_option_that_does_nothing_there(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        cli.main([*command.split(), "--help"])
    said = capsys.readouterr().out
    assert "--kafka" in said and "--json" in said
    assert [one for one in ("--sign", "--url", "--agent", "MEMQUORUM_NAMESPACE") if one in said] == []


def test_what_is_about_a_namespace_is_passed_on_as_that(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[list[str]] = []

    def run(command: list[str], **_: Any) -> subprocess.CompletedProcess[str]:
        ran.append(command[4:])
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(operating.subprocess, "run", run)
    assert cli.main(["rebuild", "--namespace", "greenhouse", "--keep"]) == OK
    assert cli.main(["whatif", "-n", "greenhouse", "--budget", "5000", "--json"]) == OK
    assert ran == [
        ["audit", "rebuild", "--keep", "--namespace", "greenhouse"],
        ["policy", "whatif", "--json", "--budget", "5000", "--namespace", "greenhouse"],
    ]


@pytest.mark.parametrize("lines", ["", "\n \n"])
def test_nothing_to_publish_is_said(
    client: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lines: str
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(lines))
    assert cli.main(["publish"]) == USAGE
    assert "nothing to publish" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("said", "meant"),
    [
        ("1000", 1_000), ("1970-01-02", 86_400_000), ("1970-01-01T00:00:01.5Z", 1_500),
        ("1970-01-01T01:00:00+01:00", 0), ("1970-01-01 00:00:02", 2_000),
    ],
)  # fmt: skip
def test_a_moment_is_milliseconds_or_a_date(client: Recorded, said: str, meant: int) -> None:
    assert cli.main(["publish", "--occurred-at", said, "one"]) == OK
    assert client.episodes == [{"content": "one", "occurred_at": meant}]
    assert cli.main(["search", "q", "--peek", "--since", said, "--until", said]) == OK
    assert (client.named["since"], client.named["until"]) == (meant, meant)


def test_what_is_no_moment_says_what_would_be(capsys: pytest.CaptureFixture[str]) -> None:
    for wrong in ("yesterday", "0001-01-01T00:00:00+14:00x", ""):
        with pytest.raises(SystemExit):
            cli.main(["search", "q", "--since", wrong])
        assert "milliseconds since the epoch, or ISO 8601" in capsys.readouterr().err


def test_a_memory_is_shown_by_its_id(client: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["get", HIT.memory_id, "--purpose", "billing"]) == OK
    assert client.named == {"purpose": "billing", "after": None}
    text, whence = capsys.readouterr().out.splitlines()
    assert text == "a text"
    assert whence.split() == [HIT.memory_id, "short-term,", "bob,", "1970-01-01", "00:00:00"]
    assert cli.main(["get", HIT.memory_id, "--json"]) == OK
    assert json.loads(capsys.readouterr().out)["text"] == "a\ntext"
    client.gone = True
    assert cli.main(["get", HIT.memory_id]) == OK
    assert capsys.readouterr().out.splitlines()[0] == "no text: forgotten"


@pytest.mark.parametrize(
    ("gone", "told"),
    [
        (
            {"tier": "superseded", "superseded_by": "B"},
            ["no text: superseded by B", f"memquorum restore -n n {HIT.memory_id}", "memquorum get B"],
        ),
        ({"tier": "superseded"}, ["no text: superseded", f"memquorum restore -n n {HIT.memory_id}"]),
        ({"tier": "sealed", "sealed_until": 0}, ["no text: sealed", f"memquorum restore -n n {HIT.memory_id}"]),
        ({"tier": "gone"}, ["no text: gone"]),
    ],
)
def test_what_has_no_text_says_why_and_how_to_bring_it_back(
    client: Recorded,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    gone: dict[str, Any],
    told: list[str],
) -> None:
    monkeypatch.setattr(Recorded, "get", lambda *_, **__: structs.replace(SHOWN, text=None, **gone))
    assert cli.main(["get", HIT.memory_id]) == OK
    out = capsys.readouterr().out
    assert out.splitlines()[0] == told[0]
    assert re.findall(r"`(.+?)`", out) == told[1:]


def test_what_is_missing_is_named_as_an_option_too(monkeypatch: pytest.MonkeyPatch) -> None:
    place = settings.find()
    with pytest.raises(NotConfigured, match=r"MEMQUORUM_URL.*--url"):
        place.need_url()
    with pytest.raises(NotConfigured, match=r"MEMQUORUM_BOOTSTRAP.*--kafka"):
        place.need_kafka()
    with pytest.raises(NotConfigured, match=r"MEMQUORUM_AGENT.*--agent"):
        place.need_agent()


def test_it_is_a_module_too() -> None:
    ran = subprocess.run([sys.executable, "-m", "memquorum", "--version"], capture_output=True, text=True, check=True)
    assert ran.stdout.startswith("memquorum ")


@pytest.mark.parametrize(
    "command",
    [
        ["pin", "M"], ["unpin", "M"], ["goal", "sow", "--end"], ["goal", "sow", "--needs", "M"],
        ["restore", "M"], ["forget", "M"], ["erase", "--memory", "M"], ["experience", "rollback", "M", "--to", "1"],
    ],
)  # fmt: skip
def test_the_service_signs_orders_and_a_key_of_ones_own_is_refused(
    client: Recorded, capsys: pytest.CaptureFixture[str], tmp_path: Path, command: list[str]
) -> None:
    (tmp_path / "key").write_text("00" * 32, encoding="ascii")
    assert cli.main([*command, "--sign", str(tmp_path / "key")]) == USAGE
    assert "leave out --sign" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("action", "status", "order", "detail", "ended", "told"),
    [
        ("unpin", "nothing to unpin", None, "no pin stands of M", 0,
         "nothing to unpin M: protected by nothing\n  no pin stands of M\n"),
        ("pin", "pinned already", "O", "pinned by ada", 0,
         "pinned already M: protected by nothing; order O\n  pinned by ada\n"),
        ("unpin", "unpinned", "O", None, 0, "unpinned M: protected by nothing; order O\n"),
    ],
)  # fmt: skip
def test_what_a_pin_found_is_told(  # noqa: PLR0917
    client: Recorded,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    action: str,
    status: str,
    order: str | None,
    detail: str | None,
    ended: int,
    told: str,
) -> None:
    found = Pinned("n", "M", status, order, (), detail)
    monkeypatch.setattr(client, action, lambda _, reference, timeout: found, raising=False)
    assert cli.main([action, "M"]) == ended
    assert capsys.readouterr().out == told


@pytest.mark.parametrize(
    ("found", "ended", "told"),
    [
        (Rollback("n", "M", 1, "rolled back", "so it is", 4, 0.85, "O", 0, 7, 9), 0,
         "rolled back, in epoch 7 of shard 0: so it is\n  it weighs 0.85 now, version 4\n"),
        (Rollback("n", "M", 1, "kept", "members did not agree", 3, 0.5, "O", 0, 7, 9), 1,
         "kept, in epoch 7 of shard 0: members did not agree\n  it weighs 0.5 now, version 3\n"),
        (Rollback("n", "M", 1, "nothing to roll back", "it has no weight"), 1,
         "nothing to roll back: it has no weight\n"),
        (Rollback("n", "M", 1, "asked", "it is on its way", 3, 0.5, "O"), 1,
         "ordered as O, and not carried out yet: `memquorum order O` tells\n"),
    ],
)  # fmt: skip
def test_what_a_rollback_came_to_is_told(  # noqa: PLR0917
    client: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], found: Rollback, ended: int,
    told: str,
) -> None:  # fmt: skip
    asked: list[tuple[Any, ...]] = []

    def rollback(memory_id: str, to: int, reference: str | None, timeout: float) -> Rollback:
        asked.append((memory_id, to, reference, timeout))
        return found

    monkeypatch.setattr(client, "rollback", rollback, raising=False)
    assert cli.main(["experience", "rollback", "M", "--to", "1", "--because", "ticket-7"]) == ended
    assert capsys.readouterr().out == told
    assert asked == [("M", 1, "ticket-7", 10.0)]


def test_where_nothing_can_be_proposed_it_is_said() -> None:
    held = Leaving("M", "protected", "it is held", 0.5)
    for dry in (True, False):
        assert list(orders.forget_lines(Forget("n", "nothing asked", dry, (held,)))) == [
            "Nothing was asked: none of it can be put to the vote.",
            "  M  protected: it is held.",
        ]
    alive = Forget("n", "nothing asked", True, (held, structs.replace(held, status="alive", numbers="decay 0.50")))
    first, *_, last = orders.forget_lines(alive)
    assert first == "Nothing has changed: the members could vote on 1 of 2 memories."
    assert last == "To have the members vote on it, say the same with --yes."
    assert "    in numbers: decay 0.50" in orders.forget_lines(alive, numbers=True)
    voted = Forget("n", "decided", False, (structs.replace(held, status="forgotten"), held), epoch=4, shard=0)
    assert next(orders.forget_lines(voted)) == "The members have voted: 1 of 2 memories forgotten."
    assert "  in numbers: epoch 4 of shard 0" in orders.forget_lines(voted, numbers=True)


@pytest.mark.parametrize("given", [["M"], ["M", "--yes"]])
def test_a_memory_that_the_namespace_has_not_ends_with_4(
    client: Recorded, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], given: list[str]
) -> None:
    told = Leaving("M", "unknown", "this namespace has no such memory")
    found = Forget("n", "nothing asked", "--yes" not in given, (told,))
    monkeypatch.setattr(client, "forget", lambda *_, **__: found, raising=False)
    assert cli.main(["forget", *given]) == NOT_FOUND
    assert "M  not found: this namespace has no such memory." in capsys.readouterr().out
    monkeypatch.setattr(client, "restore", lambda *_, **__: Restore("n", "nothing to restore", ()), raising=False)
    assert cli.main(["restore", "M"]) == OK
    unknown = Restoring("M", "unknown", "this namespace has no such memory")
    lost = Restore("n", "nothing to restore", (unknown,))
    monkeypatch.setattr(client, "restore", lambda *_, **__: lost, raising=False)
    assert cli.main(["restore", "M"]) == NOT_FOUND


def test_what_says_otherwise_is_told_of_in_words(client: Recorded, capsys: pytest.CaptureFixture[str]) -> None:
    beside = structs.replace(HIT, conflicts_with=("other",))
    client.search = lambda *_, **__: Hits([beside])  # type: ignore[method-assign]
    assert cli.main(["search", "q"]) == OK
    assert "says otherwise than other; both are in use" in capsys.readouterr().out


def test_what_the_tasks_that_judge_were_to_do_is_told_to_who_may_read_it(
    client: Recorded, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["experience", "why", "M"]) == OK
    told = capsys.readouterr().out.splitlines()
    assert next(line for line in told if "task t1" in line).endswith('; asked: "open valve 3"')
    assert next(line for line in told if "task erased" in line).endswith("as many tokens")
