"""The demo's output: the same on a terminal and in a file, and explicit about figures that do not add up."""

import io
from pathlib import Path

import pytest
from rich.console import Console

from infra import settings
from infra.demo import demo_report
from infra.demo.cluster import Survey, policy
from infra.demo.driver import Refused
from infra.demo.entry_counts import Epoch, Ledger, Moment
from infra.demo.inputs import Tally
from infra.demo.screen import Screen, duration, moment
from infra.demo.sums import Check, Sum
from memquorum.core.policy import from_json
from memquorum.core.records import Result
from memquorum.schema_files import load_codec

TIERS = {"short-term": 5, "long-term": 2, "superseded": 1, "sealed": 0, "gone": 3}


def plain() -> tuple[Console, io.StringIO]:
    out = io.StringIO()
    return Console(file=out, width=120, highlight=False, color_system=None), out


def some() -> Ledger:
    ledger = Ledger(load_codec())
    ledger.epochs[0, 1] = Epoch(0, 1, 7, "interval", 2, 1000, 1250, (Result(("A",), "forget", "forgotten", "quorum"),))
    ledger.epochs[0, 2] = Epoch(0, 2, 9, "pressure", 1, 1300)
    ledger.moments = [Moment(86_400_000 * i, 10 * i, TIERS, 100 * i, 200 * i) for i in range(1, 30)]
    return ledger


def test_sums_say_whether_they_add_up():
    console, out = plain()
    log = Sum(("episodes to publish", 8), (("messages", 10), ("without text, skipped", -3), ("further parts", 1)))
    demo_report.show_sums(console, [log, Sum(("proposals nominated", 3), (("forgotten", 1), ("kept", 1)))])
    first, second = out.getvalue().splitlines()
    assert first.strip() == "8 episodes to publish = 10 messages - 3 without text, skipped + 1 further parts   adds up"
    assert second.strip() == "3 proposals nominated = 1 forgotten + 1 kept   DOES NOT ADD UP"


def test_checks_show_what_was_found_as_it_is():
    console, out = plain()
    demo_report.show_checks(
        console, [Check("journal", True, "equal"), Check("tiers", False, "expected [1], found [/2]")]
    )
    assert [line.split() for line in out.getvalue().splitlines()] == [
        ["ok", "journal:", "equal"],
        ["FAIL", "tiers:", "expected", "[1],", "found", "[/2]"],
    ]


def test_time_is_sampled_with_its_ends_and_drawn_where_bars_can_be_written():
    console, out = plain()
    demo_report.show_time(console, some())
    text = out.getvalue()
    assert "1970-01-02 00:00" in text and "1970-01-30 00:00" in text
    assert len([line for line in text.splitlines() if "1970-" in line]) == 10
    assert "50 %" in text and "superseded" in text
    assert set(demo_report.bars([0, 1, 8], console)) <= set("▁▂▃▄▅▆▇█")
    ascii_only = Console(file=io.TextIOWrapper(io.BytesIO(), encoding="ascii"))
    assert demo_report.bars([0, 4, 7], ascii_only) == "047"
    assert demo_report.bars([0, 0], ascii_only) == "00"


def test_epochs_latency_and_what_is_still_open():
    console, out = plain()
    demo_report.show_epochs(console, some())
    assert "2 epochs (1 by interval, 1 by pressure), 1 decided" in out.getvalue()
    assert "p50 250 ms, p99 250 ms" in out.getvalue()
    assert some().fingerprint() in out.getvalue()


def test_the_log_the_policy_and_the_refusals():
    console, out = plain()
    found = Survey(records=3, episodes=3, first=0, last=7_200_000)
    found.agents.update(dict.fromkeys("abcde", 1))
    demo_report.show_log(console, Path("x.jsonl"), Tally(messages=5, empty=["a", "b"], split=[("c", 2)]), found)
    demo_report.show_policy(console, from_json(policy(found)))
    demo_report.show_refused(console, [Refused("episode", "e1", "out_of_range", "confidence", "must lie in [0, 1]")])
    text = out.getvalue()
    assert "5 messages, 2 without text, skipped, 1 over 64 KiB, split" in text
    assert "and 1 more" in text
    assert "theta_ppm 300,000" in text and "grace_ms 0" in text
    assert "interval 5 min" in text
    assert "1 x out of range: e1: confidence: must lie in [0, 1]" in text


def test_phases_without_a_terminal_are_plain_lines():
    console, out = plain()
    with Screen(console).phases() as say:
        for step in ("Kafka", "processes: waiting for a, b", "processes: waiting for b"):
            say(step)
    lines = [line.split() for line in out.getvalue().splitlines()]
    assert [line[:2] for line in lines] == [["done", "Kafka"], ["done", "processes"]]
    assert "\x1b" not in out.getvalue()


def test_progress_without_a_terminal_is_a_line_now_and_then(monkeypatch):
    monkeypatch.setattr("infra.demo.screen._PLAIN_EVERY_S", 0.0)
    console, out = plain()
    with Screen(console).publishing(1000) as show:
        show(500, 86_400_000, some())
    assert " ".join(out.getvalue().split()) == "500 of 1,000 published · 1970-01-02 00:00 · epoch 1 · 1 forgotten"


@pytest.mark.parametrize(
    ("seconds", "text"), [(45, "45 s"), (3480, "58 min"), (41_760, "11.6 h"), (1_000_000, "11.6 d"), (0.4, "0 s")]
)
def test_durations(seconds, text):
    assert duration(seconds) == text


def test_moments():
    assert moment(0) == "before the log"
    assert moment(1_736_150_400_000) == "2025-01-06 08:00"


@pytest.mark.parametrize(("kept", "said"), [(False, "make demo KEEP=1"), (True, "export MEMQUORUM_RUN_DIR=/x")])
def test_what_to_try_next(kept, said):
    console, out = plain()
    demo_report.show_next(console, settings.load({}, Path("/x")) if kept else None, "garden")
    assert said in out.getvalue()
    assert ("http://127.0.0.1:0/console/#/decisions?ns=garden" in out.getvalue()) == kept
    assert ("-n garden" in out.getvalue()) == kept
