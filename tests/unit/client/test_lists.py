"""The commands that list what stands and who votes: a line for each, or its JSON, and where to go on."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from memquorum import cli
from memquorum.client import AsyncMemory, lists
from memquorum.core.api.answers import (
    ApiKeys,
    Conflict,
    Conflicts,
    DeadLetter,
    DeadLetters,
    Epoch,
    Epochs,
    Evidence,
    Fault,
    Goal,
    Goals,
    Holds,
    JournalChecked,
    KeyInShort,
    KeyMade,
    Member,
    Members,
    MemoryTrace,
    OpenBallot,
    OpenEpoch,
    OpenProposal,
    OpenStep,
    Ordered,
    Orders,
    Pins,
    Protector,
    Report,
    Reported,
    SessionInShort,
    Sessions,
    SignedHead,
    Since,
    Took,
    TraceSpan,
)

PIN = Protector("m1", "pin", "o1", "key 1", "ticket-7", 0, "service:erasure")
ERASED = Ordered(
    order_id="o2", kind="erase", namespace="n", status="erased", says={"selector": "subject", "value": "ada"},
    ordered_by="ada", reference=None, ordered_at=0, accepted_at=0, shard=0, journal_seq=1, took=Took(3, 4, 1, 9),
)  # fmt: skip
PINNED = replace(ERASED, kind="protect", status="in force", says={"action": "pin", "memory_id": "m1"}, took=None)
ASKED = replace(PINNED, kind="restore", status="asked", says={"action": "forget", "memory_ids": ["m1", "m2"]})
MEMBER = Member(2, "two", "review", False, 1.5, 0.9, "ab" * 32, Since(0), Since(1, 7, 0), Since(3, 9, 0))
KEY = KeyInShort("9fd12932bb0c", "ada", ("n", "t-*"), ("read",), (), True, 0, 86_400_000, None, "1f2e3d4c5b6a", None)
PAGES: dict[str, tuple[Any, list[str]]] = {
    "goals": (
        Goals("n", (Goal("sow", 101, ("m1",), 0, 86_400_000, ("ada", "bob")),), "c.9"),
        ["sow  needs 101 memories, said 1970-01-01 00:00:00 UTC by ada, bob, lapses 1970-01-02 00:00:00 UTC: m1, …"],
    ),
    "pins": (Pins("n", (PIN,), "c.9"), ["1970-01-01 00:00:00 UTC  m1  by key 1 (ticket-7); order o1"]),
    "holds": (
        Holds("n", (replace(PIN, reference=None),), "c.9"),
        ["1970-01-01 00:00:00 UTC  m1  by key 1; order o1"],
    ),
    "orders": (
        Orders("n", (ERASED, PINNED, ASKED), "c.9"),
        [
            "1970-01-01 00:00:00 UTC  erase subject 'ada': erased, 3 memories, by ada; order o2",
            "1970-01-01 00:00:00 UTC  pin m1: in force, by ada; order o2",
            "1970-01-01 00:00:00 UTC  forget m1, m2: asked, by ada; order o2",
        ],
    ),
    "epochs": (
        Epochs(0, (Epoch(0, 5, 0, "interval", 1, 9, {"kept": 2, "forgotten": 1}), Epoch(0, 4, 0, "order", 0, 8, {})),
               "n", "c.9"),
        [
            "1970-01-01 00:00:00 UTC  epoch 5 of shard 0, configuration 1, opened by interval: 1 forgotten, 2 kept",
            "1970-01-01 00:00:00 UTC  epoch 4 of shard 0, configuration 0, opened by order: no proposal",
        ],
    ),
    "members": (
        Members(0, 3, 3, 1, (MEMBER,), "c.9"),
        [
            "2  two, review: weighs 1.5, reliability 0.9, since configuration 0, key abababababababab… since "
            "configuration 1 (epoch 7, 1970-01-01 00:00:00 UTC); left with configuration 3 (epoch 9, 1970-01-01 "
            "00:00:00 UTC)"
        ],
    ),
}  # fmt: skip
EACH = pytest.mark.parametrize("what", PAGES)


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """The client's requests to the service, which answers with the pages above."""
    asked: list[tuple[str, dict[str, Any]]] = []

    async def answer(_: AsyncMemory, kind: type, method: str, path: str, **more: Any) -> Any:
        what = path.removesuffix("/list").removeprefix("/")
        asked.append((what, more["json"]))
        page = PAGES[what][0]
        assert (method, kind) == ("POST", type(page))
        return page

    monkeypatch.setattr(AsyncMemory, "_ask", answer)
    return asked


@EACH
def test_a_line_for_each_and_where_to_go_on(what: str, sent: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([what, "-n", "n", "--url", "http://127.0.0.1:1", "--limit", "3", "--cursor", "c.1"]) == 0
    shown = capsys.readouterr()
    assert shown.out.splitlines() == PAGES[what][1]
    assert shown.err == "there are more: --cursor c.9\n"
    assert sent == [(what, {"namespace": "n", "limit": 3, "cursor": "c.1"})]


@EACH
def test_as_data_each_is_a_line_of_json(what: str, sent: list[Any], capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main([what, "-n", "n", "--url", "http://127.0.0.1:1", "--json"]) == 0
    told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert len(told) == len(PAGES[what][1]) and sent == [(what, {"namespace": "n"})]


def test_what_is_chosen_is_asked_for(sent: list[Any]) -> None:
    where = ["-n", "n", "--url", "http://127.0.0.1:1"]
    assert cli.main(["pins", *where, "--by", "ada", "--reference", "r", "--since", "5", "--purpose", "p"]) == 0
    assert cli.main(["goals", *where, "--goal", "sow", "--memory", "m"]) == 0
    assert cli.main(["orders", *where, "--kind", "erase", "--effect", "withheld"]) == 0
    assert cli.main(["epochs", *where, "--shard", "2", "--kind", "forget"]) == 0
    assert cli.main(["members", *where, "--left", "--role", "review"]) == 0
    assert [said for _, said in sent] == [
        {"namespace": "n", "ordered_by": "ada", "reference": "r", "since": 5, "purpose": "p"},
        {"namespace": "n", "goals": ["sow"], "memory_id": "m"},
        {"namespace": "n", "kinds": ["erase"], "effects": ["withheld"]},
        {"shard": 2, "kinds": ["forget"]},
        {"namespace": "n", "seated": False, "roles": ["review"]},
    ]


def test_where_nothing_stands_it_says_so(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    async def nothing(*_: Any, **__: Any) -> Pins:
        return Pins("n", ())

    monkeypatch.setattr(AsyncMemory, "_ask", nothing)
    assert cli.main(["pins", "-n", "n", "--url", "http://127.0.0.1:1"]) == 0
    assert capsys.readouterr().out == "nothing is pinned in 'n'\n"
    assert lists._since(Since(0)) == "configuration 0"


def test_what_members_vote_on_now_is_told_in_lines_or_as_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ballots = OpenBallot(0, "one", 1_000_000, 0, (3,)), OpenBallot(1, "two", 1_000_000, None, ())
    told = [
        OpenEpoch(
            "n", 0, 7, 0, "interval", 0, members=4, quorum=3, ballots=ballots,
            steps=(OpenStep("pre-prepare", 2, 0, 0),),
            proposals=(OpenProposal(3, "n", ("m1",), "forget", "decayed", 1, 3, 1_000_000, 2_666_667),),
        ),
        OpenEpoch("n", 0),
    ]  # fmt: skip

    async def answer(_: AsyncMemory, kind: type, method: str, path: str, **__: Any) -> OpenEpoch:
        assert (kind, method, path) == (OpenEpoch, "GET", where[0])
        return told[0]

    first, where = told[0], ["/epochs/n/open"]
    monkeypatch.setattr(AsyncMemory, "_ask", answer)
    asked = ["epochs", "--open", "-n", "n", "--url", "http://127.0.0.1:1"]
    assert cli.main(asked) == 0
    assert capsys.readouterr().out.splitlines() == [
        "epoch 7 of shard 0 is open, by interval: 1 of 4 ballots",
        "  forget m1: 1 of 3 votes, weight 1.00 of 2.67",
        "  1970-01-01 00:00:00 UTC  one voted, for 1 proposal",
        "  1970-01-01 00:00:00 UTC  member 2 sent pre-prepare, view 0",
    ]
    assert cli.main([*asked, "--json"]) == 0 and json.loads(capsys.readouterr().out)["epoch"] == 7
    told.pop(0)
    assert cli.main(asked) == 0 and capsys.readouterr().out == "members vote on nothing in 'n' now\n"
    told[0], where[0] = replace(first, namespace=None), "/shards/0/open"
    assert cli.main([*asked, "--shard", "0"]) == 0
    assert "  n: forget m1: 1 of 3 votes, weight 1.00 of 2.67" in capsys.readouterr().out.splitlines()
    told[0] = OpenEpoch(None, 0)
    assert cli.main([*asked, "--shard", "0"]) == 0
    assert capsys.readouterr().out == "members vote on nothing in shard 0 now\n"


@pytest.mark.parametrize(
    ("command", "answer", "line"),
    [
        (
            "dead-letters",
            DeadLetters({"over_quota": 1}, (DeadLetter(0, "over_quota", "namespace", "too much", "t/0/7"),)),
            "1970-01-01 00:00:00 UTC  over_quota at namespace: too much (t/0/7)",
        ),
        (
            "evidence",
            Evidence((Fault(0, 2, "two ballots", (1, 3), 0, True, "both are signed"),), 0),
            "1970-01-01 00:00:00 UTC  member 2 of shard 0: two ballots, proven: both are signed; by 1, 3",
        ),
    ],
)
def test_what_went_wrong_is_listed_or_told_as_data(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: str, answer: Any, line: str
) -> None:
    nothing = {"dead-letters": DeadLetters({}, ()), "evidence": Evidence((), 0)}[command]
    answers = [answer, answer, nothing]

    async def told(_: AsyncMemory, kind: type, method: str, path: str, **__: Any) -> Any:
        assert (kind, method, path) == (type(answer), "GET", f"/{command}")
        return answers.pop(0)

    monkeypatch.setattr(AsyncMemory, "_ask", told)
    asked = [command, "--url", "http://127.0.0.1:1"]
    assert cli.main(asked) == 0 and capsys.readouterr().out == line + "\n"
    assert cli.main([*asked, "--json"]) == 0 and len(json.loads(capsys.readouterr().out)) == 2
    assert cli.main(asked) == 0 and capsys.readouterr().out.startswith("no")


def test_a_trace_is_asked_of_the_service_where_no_installation_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    memory = "11936ca0-73b1-5c8b-a836-cd85fc13cdfc"
    spans = [(TraceSpan("t", "commit", "commit", 1, 0.0, 1.25, 3.0, {"outcome": "stored"}),), ()]

    async def told(_: AsyncMemory, kind: type, method: str, path: str, **more: Any) -> MemoryTrace:
        assert (kind, method, path) == (MemoryTrace, "GET", f"/memories/{memory}/trace")
        assert more["params"] == {"namespace": "n"}
        return MemoryTrace(memory, spans[0])

    monkeypatch.setattr(AsyncMemory, "_ask", told)
    asked = ["trace", memory, "-n", "n", "--url", "http://127.0.0.1:1"]
    assert cli.main(asked) == 0
    line = "1970-01-01 00:00:00 UTC    commit (commit) 1.2 ms, after 3.0 ms in its topic, outcome stored\n"
    assert capsys.readouterr().out == line
    assert cli.main([*asked, "--json"]) == 0 and json.loads(capsys.readouterr().out)["depth"] == 1
    spans.pop(0)
    assert cli.main(asked) != 0 and "knows no step" in capsys.readouterr().err


def test_contradictions_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    said = "The old\ncode, " + "4 " * 90
    one = Conflict("m2", "m1", "m2", True, False, False, "ann", "bob", 0, 0, "sealed", "short-term", None, said, 9)

    async def told(_: AsyncMemory, kind: type, method: str, path: str, **more: Any) -> Conflicts:
        assert (kind, method, path) == (Conflicts, "POST", "/conflicts/list")
        assert more["json"] == {"namespace": "n", "purpose": "p"}
        return Conflicts("n", (one, replace(one, disputed=False, stated=True)))

    monkeypatch.setattr(AsyncMemory, "_ask", told)
    assert cli.main(["conflicts", "-n", "n", "--purpose", "p", "--url", "http://127.0.0.1:1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1970-01-01 00:00:00 UTC  m1 (bob) and m2 (ann, sealed): disputed, found by a rule",
        "    m1: The old code, " + "4 " * 42 + "…",
        "1970-01-01 00:00:00 UTC  m1 (bob) and m2 (ann, sealed): m2 holds, found on purpose",
        "    m1: The old code, " + "4 " * 42 + "…",
    ]


def test_sessions_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    one = SessionInShort("shift-1", ("ann", "bob"), 0, 0, 1, 1_000, 0)

    async def told(_: AsyncMemory, kind: type, method: str, path: str, **more: Any) -> Sessions:
        assert (kind, method, path) == (Sessions, "POST", "/sessions/list")
        assert more["json"] == {"namespace": "n", "agents": ["ann"]}
        return Sessions("n", (one, replace(one, session="shift-2", sealed=0)))

    monkeypatch.setattr(AsyncMemory, "_ask", told)
    assert cli.main(["sessions", "-n", "n", "--of", "ann", "--url", "http://127.0.0.1:1"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "1970-01-01 00:00:00 UTC  shift-1: 1 memory in use, 1,000 behind a summary, by ann, bob",
        "1970-01-01 00:00:00 UTC  shift-2: 1 memory in use, by ann, bob",
    ]


def test_a_report_is_written_page_by_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    one = Reported("m1", "dropped", 0, None, event_id="e", agent="ann", session="s1")
    first = Report("n", "subject", "ada", 0, 3, 1, (one,), next="c")
    pages = {None: first, "c": Report("n", "subject", "ada", 0, 3, 0, (replace(one, memory_id="m2", state="erased"),))}

    async def told(_: AsyncMemory, kind: type, method: str, path: str, **more: Any) -> Report:
        assert (kind, method, path) == (Report, "POST", "/memories/report")
        said = {name: value for name, value in more["json"].items() if value is not None}
        assert said.pop("cursor", None) == more["json"]["cursor"]
        assert said == {"namespace": "n", "subject": "ada", "purpose": "p", "redact": True}
        return pages[more["json"]["cursor"]]

    monkeypatch.setattr(AsyncMemory, "_ask", told)
    asked = ["report", "-n", "n", "--subject", "ada", "--purpose", "p", "--redact", "--url", "http://127.0.0.1:1"]
    assert cli.main([*asked, "-o", str(tmp_path / "ada.txt")]) == 0
    assert capsys.readouterr().err == "1 record is kept back: too sensitive, for other purposes, or under another law\n"
    assert (tmp_path / "ada.txt").read_text().splitlines() == [
        "All that concerns subject 'ada' in 'n', as of 1970-01-01 00:00:00 UTC: 3 records",
        "",
        "1970-01-01 00:00:00 UTC  m1  dropped",
        "  ann said it, session s1.",
        "",
        "1970-01-01 00:00:00 UTC  m2  erased",
        "  It was erased: nobody can read it any more.",
        "  ann said it, session s1.",
    ]
    assert cli.main([*asked, "--json"]) == 0
    assert [json.loads(line).get("next") for line in capsys.readouterr().out.splitlines()] == ["c", None]


def test_the_service_is_asked_whether_each_journal_is_whole(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    head = SignedHead(4, "ab", 0, 0, "service:journal", agrees=True)
    first = JournalChecked(0, 2, 1, 3, 5, "cd", head=replace(head, agrees=None), next="c")
    answers = {
        (0, None): first,
        (0, "c"): replace(first, first=4, last=5, head=head, next=None),
        (1, None): JournalChecked(1, 2, 1, 1, 1, "ef"),
    }

    async def told(_: AsyncMemory, kind: type, method: str, path: str, **more: Any) -> JournalChecked:
        assert (kind, method, path) == (JournalChecked, "POST", "/journal/verify")
        return answers[more["json"]["shard"], more["json"].get("cursor")]

    monkeypatch.setattr(AsyncMemory, "_ask", told)
    asked = ["verify", "--service", "--url", "http://127.0.0.1:1"]
    assert cli.main(asked) == 0
    of_each, by_service = capsys.readouterr().out.split("Checked by the service", 1)
    assert of_each.splitlines() == [
        "shard 0: 5 entries, each follows the one before; signed up to entry 4",
        "shard 1: 1 entry, each follows the one before; no signed end is known",
    ]
    assert "memquorum admin audit verify" in by_service
    answers[0, "c"] = replace(answers[0, "c"], head=replace(head, agrees=False))
    answers[1, None] = replace(answers[1, None], problem="it follows another one")
    assert cli.main(asked) == 1
    assert capsys.readouterr().out.splitlines()[:2] == [
        "shard 0: NOT WHOLE: service:journal signed another entry 4",
        "shard 1: NOT WHOLE behind entry 1: it follows another one",
    ]
    assert cli.main([*asked, "--json"]) == 1 and '"head": {"seq": 4' in capsys.readouterr().out


# API keys -------------------------------------------------------------------------------------------------------------

_LINE = "9fd12932bb0c  ada: read in n, t-*; made 1970-01-01 00:00:00 UTC by 1f2e3d4c5b6a, until 1970-01-02 00:00:00 UTC"


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """The client's requests about keys, which the service answers."""
    said: list[tuple[str, dict[str, Any]]] = []
    slotted = replace(KEY, slots=("ada/*",), made_by=None, expires_at=None, opens=False, revoked_at=0)
    answers = {
        "/keys/list": ApiKeys((KEY, slotted), "c.9"),
        "/keys": KeyMade("mq_9fd12932bb0c_secret", KEY),
        "/keys/revoke": slotted,
    }

    async def answer(_: AsyncMemory, kind: type, method: str, path: str, **more: Any) -> Any:
        said.append((path, more["json"]))
        assert (method, kind) == ("POST", type(answers[path]))
        return answers[path]

    monkeypatch.setattr(AsyncMemory, "_ask", answer)
    return said


@pytest.mark.parametrize("json_too", [False, True])
def test_keys_are_listed_made_and_revoked(asked: list[Any], capsys: pytest.CaptureFixture[str], json_too: bool) -> None:
    where = ["-n", "n", "--url", "http://127.0.0.1:1", *(["--json"] if json_too else [])]
    assert cli.main(["keys", "list", *where, "--limit", "2"]) == 0
    listed = capsys.readouterr()
    assert cli.main(["keys", "add", "ada", *where]) == 0
    made = capsys.readouterr()
    many = ["--for", "n", "--for", "t-*", "-r", "read", "-r", "publish", "--slot", "ada/*", "--days", "9"]
    assert cli.main(["keys", "add", "ada", *where, *many]) == 0
    capsys.readouterr()
    assert cli.main(["keys", "revoke", "mq_9fd12932bb0c_secret", *where]) == 0
    gone = capsys.readouterr().out
    assert asked == [
        ("/keys/list", {"limit": 2}),
        ("/keys", {"name": "ada", "namespaces": ["n"], "rights": ["read"], "slots": []}),
        ("/keys", {"name": "ada", "namespaces": ["n", "t-*"], "rights": ["read", "publish"], "slots": ["ada/*"],
                   "days": 9}),
        ("/keys/revoke", {"key_id": "9fd12932bb0c"}),
    ]  # fmt: skip
    if json_too:
        assert len([json.loads(line) for line in listed.out.splitlines()]) == 2
        assert json.loads(made.out)["key"] == "mq_9fd12932bb0c_secret" and json.loads(gone)["opens"] is False
        return
    first, second = listed.out.splitlines()
    assert first == _LINE and second.endswith(
        "n, t-*, slots ada/*; made 1970-01-01 00:00:00 UTC, revoked 1970-01-01 00:00:00 UTC"
    )
    assert made.out == "mq_9fd12932bb0c_secret\n" and made.err == f"{_LINE}. This is the key; it is not shown again:\n"
    assert gone == "9fd12932bb0c opens nothing any more\n"
