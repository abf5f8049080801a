"""The page of the long simulation agrees with the kept run."""

from __future__ import annotations

from tests.simulation import page


def test_the_pages_are_what_the_command_makes_of_the_longest_run() -> None:
    run = page.longest()
    assert page.PAGE.read_text(encoding="utf-8") == page.page(run, page.kept_runs()), (
        "run `python -m tests.simulation.page`"
    )
    told = page.PROSE.read_text(encoding="utf-8").partition(page.BEGIN)[2].partition(page.END)[0]
    assert told.strip() == page.prose(run, page.last())


def test_a_run_that_was_ended_and_one_that_failed_say_so() -> None:
    run = page.longest()
    cut = {**run, "ended": "by SIGTERM", "rounds": 7, "command": {**run["command"], "rounds": 1_000_000, "first": 5}}
    assert "decided 7 rounds of the 1,000,000 asked for" in page.sentence(cut)
    assert "It was ended by a signal, SIGTERM." in page.sentence(cut)
    assert "--rounds 1000000 --first 5" in page.command(cut)
    failed = {**run, "failed": [{"seed": 3, "rule": "agreement", "text": "two"}]}
    assert "Broken by seed 3 ('agreement')" in page.sentence(failed)
    assert "No rule was broken" not in page.sentence(failed)


def test_every_kept_run_is_told_with_what_it_broke() -> None:
    runs = page.kept_runs()
    told = page.table(runs)
    assert len(told) == 2 + len(runs)
    for run, line in zip(runs, told[2:], strict=True):
        assert run["machine"]["commit"][:12] in line and f"{run['rounds']:,}" in line
        assert all(f"seed {one['seed']} " in line for one in run["failed"])


def test_sittings_of_one_run_are_added_up_and_say_so() -> None:
    run = {key: value for key, value in page.longest().items() if key != "sittings"}
    first = {**run, "seeds": 10, "rounds": 30, "ended": "by SIGTERM", "command": {**run["command"], "first": 0}}
    second = {**first, "ended": "done", "command": {**first["command"], "first": 10}, "highest_view": 99}
    (both,) = page.joined([first, second])
    assert (both["seeds"], both["rounds"], both["highest_view"]) == (20, 60, 99)
    assert both["rules"] == {rule: 2 * count for rule, count in run["rules"].items()}
    told = page.sentence(both)
    assert "decided 60 rounds" in told and "It ended when all were done." in told
    assert "two sittings: after 30 rounds it went on with" in told and "--first 10" in told
    assert "The newest" not in page.prose(both, second)
    elsewhere = {**second, "machine": {**second["machine"], "commit": "0"}}
    gap = {**second, "command": {**second["command"], "first": 11}}
    for other in (elsewhere, gap):
        assert page.joined([first, other]) == [first, other]
