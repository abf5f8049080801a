"""FiFA: its statistics beside published examples, its world, an agent's life worked out by hand, and a quick run."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest

from bench import kept, plot
from bench.fifa import command, directions, page, statistics, weighting
from bench.fifa.living import CAP, OTHER, Counted, Life
from bench.fifa.measures import measured
from bench.fifa.prepared import Prepared
from bench.fifa.runs import QUICK, Cells
from bench.fifa.wordings import SECRETS, texts
from bench.fifa.world import ASK, DUE, ERASE, OPEN, PRY, SAY, Stream, Turn, streams
from memquorum.core.policy import FORGETTING, Policy
from memquorum.encoders.hashing import HashingEncoder

VECTORS = dict(zip(texts(), HashingEncoder().encode(texts()), strict=True))
CARD, CONFIDED = SECRETS[0], SECRETS[-1]
_DAY = 86_400_000


def test_wilcoxon_is_that_of_hollander_and_wolfe() -> None:
    """Nine patients' depression, example 3.1 of Nonparametric Statistical Methods: V = 40, p = 0.01953 on one side."""
    first = [1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30]
    second = [0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29]
    assert statistics.wilcoxon(np.subtract(first, second)) == pytest.approx(2 * 0.01953, abs=1e-4)
    assert statistics.wilcoxon([0.0, 0.0]) == 1.0
    assert statistics.wilcoxon([1.0] * 20) == pytest.approx(2 / 2**20)
    # Three alike: of the eight ways to sign them, all on one side are two.
    assert statistics.wilcoxon([0.5, 0.5, 0.5]) == pytest.approx(0.25)


def test_the_other_statistics_are_those_of_their_books() -> None:
    assert statistics.holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert statistics.mcnemar(1, 9) == pytest.approx(2 * (1 + 10) / 1024)
    assert statistics.mcnemar(0, 0) == statistics.mcnemar(4, 4) == 1.0
    assert statistics.cliff([1, 2, 3], [0, 2]) == pytest.approx((3 + 1 - 1) / 6)
    assert statistics.cliff([1], [1]) == 0
    told = statistics.bootstrap([0.0, 1.0] * 50)
    # The normal interval of a proportion of one half in a hundred: ± 1.96 · 0.05.
    assert (told.mean, told.low, told.high) == pytest.approx((0.5, 0.402, 0.598), abs=0.02)


def test_sizes_of_effects_have_intervals() -> None:
    """Hedges' correction of ten pairs is 1 - 3/35."""
    apart = [1.0, 2.0, 3.0, 4.0, 5.0] * 2
    found = statistics.hedges(apart)
    assert found.mean == pytest.approx((1 - 3 / 35) * 3 / np.std(apart, ddof=1))
    assert 0 < found.low < found.mean < found.high
    assert statistics.hedges([2.0] * 9) == statistics.Interval(0.0, 0.0, 0.0)
    apart_by_two = statistics.cliff_interval([3, 4, 5], [0, 1, 2])
    assert (apart_by_two.mean, apart_by_two.low, apart_by_two.high) == (1, 1, 1)
    first, second = list(range(20)), list(range(1, 21))
    mixed = statistics.cliff_interval(first, second)
    assert mixed.low < mixed.mean < mixed.high and mixed.mean == pytest.approx(statistics.cliff(first, second))


def test_the_effect_of_a_factor_is_that_of_a_design_with_repeated_measures() -> None:
    """Four subjects under three conditions: sums of squares 18 between, 12 among the subjects, 4 left."""
    table = np.array([[1.0, 3, 5], [2, 4, 4], [4, 5, 6], [3, 4, 7]])
    between = 4 * float(((table.mean(axis=0) - table.mean()) ** 2).sum())
    rows = 3 * float(((table.mean(axis=1) - table.mean()) ** 2).sum())
    whole = float(((table - table.mean()) ** 2).sum())
    found = statistics.effect(table, draws=200)
    assert found.f == pytest.approx((between / 2) / ((whole - between - rows) / 6))
    assert found.eta2 == pytest.approx(between / whole) and found.p < 0.05
    assert statistics.effect(np.array([[1.0, 2], [2, 1]]), draws=50).p == 1.0


def test_a_seed_fixes_what_is_said_and_distractors_change_none_of_it() -> None:
    assert len(texts()) == len(set(texts())) <= 2_000
    calm, loud = streams(4, distractors=False), streams(4, distractors=True)
    assert calm == streams(4, distractors=False) != streams(5, distractors=False)
    assert set(Counter(one.archetype for one in calm).values()) == {3} and len(calm) == 15
    for quiet, noisy in zip(calm, loud, strict=True):
        own = [turn for turn in noisy.turns if turn.fact or turn.kind not in (SAY,)]
        assert own == list(quiet.turns)
        said = [turn for turn in noisy.turns if turn.kind in (SAY, OPEN)]
        by_the_way = [turn for turn in said if turn.kind == SAY and not turn.fact]
        assert len(by_the_way) == 3 * (len(said) - len(by_the_way))
        assert [turn.at for turn in noisy.turns] == sorted(turn.at for turn in noisy.turns)
        assert {turn.text for turn in noisy.turns} - {""} <= VECTORS.keys()


def test_only_what_was_told_is_asked_for_and_nothing_by_the_way_is() -> None:
    for stream in streams(1, distractors=True, agents=5):
        told, texts_told = set[str](), set[str]()
        for turn in stream.turns:
            if turn.kind == SAY and turn.fact:
                told.add(turn.fact)
                texts_told.add(turn.text)
            assert turn.kind not in (ASK, PRY, ERASE) or turn.fact in told
            assert turn.kind != DUE or {fact for fact, _ in turn.goal} <= told
        assert not texts_told & {turn.text for turn in stream.turns if turn.kind == SAY and not turn.fact}


def _said(at: int, text: str, fact: str = "", **more: int) -> Turn:
    return replace(Turn(at, SAY, 0, "s", text, fact), **more)  # type: ignore[arg-type]


def _lived(*turns: Turn, name: str = "fifo", budget: int = 10_000, votes: bool = False) -> Counted:
    stream = Stream("a0", "Social", tuple(replace(turn, at=turn.at * 10_000 + 1) for turn in turns))
    said = _texts(turns)
    vectors = dict(zip(said, HashingEncoder().encode(said), strict=True))
    return Life(Prepared(stream, vectors, Policy()), name, budget, votes=votes).live()


def _texts(turns: tuple[Turn, ...]) -> list[str]:
    return [turn.text for turn in turns if turn.text] + [question for turn in turns for _, question in turn.goal]


def test_an_answer_is_the_latest_that_is_there() -> None:
    old, new = _said(0, "The gate opens at seven.", "gate"), _said(1, "The gate opens at nine now.", "gate")
    asked = Turn(5, ASK, 0, "s", "When does the gate open?", "gate", social=True)
    right = _lived(old, new, asked)
    assert (right.asked, right.coherent, right.emitted, right.correct, right.lost) == (1, 1, 1, 1, 0)
    lost = _lived(old, new, *(_said(2 + at, f"Filler {at} about nothing.") for at in range(3)), asked, budget=20)
    assert (lost.lost, lost.emitted, lost.eligible, lost.over.total()) == (1, 0, 1, 0)
    # The last used memory stays: the old one was asked for, and the new one is gone.
    stale = _lived(old, replace(asked, at=1), replace(new, at=2), replace(old, at=3), replace(asked, at=4))
    assert (stale.coherent, stale.contradicted) == (1, 1)


def test_a_goal_is_reached_where_each_step_finds_what_it_needs() -> None:
    steps = (("key", "Where is the key?"), ("code", "Which code opens the door?"))
    opens, key = (
        Turn(0, OPEN, 0, "s", "Our goal is to open the door.", goal=steps),
        _said(1, "The key is in hall 3.", "key"),
    )
    code, due = _said(2, "The code that opens the door is 4821.", "code"), Turn(9, DUE, 0, "s", goal=steps)
    due = replace(due, text=opens.text)
    assert _lived(opens, key, code, due).goals == [(2, True)]
    talk = [_said(3 + at, f"Somebody said thing number {at}.") for at in range(4)]
    assert _lived(opens, key, code, *talk, due, budget=40).goals == [(2, False)]


def test_strangers_are_given_nothing_that_is_known_to_be_sensitive_and_what_is_erased_is_gone() -> None:
    secret = _said(0, CARD.statement.format("Ewa Nowak", CARD.values[0]), "card", sensitivity_ppm=900_000)
    pries = Turn(3, PRY, 0, "s", CARD.pry.format("Ewa Nowak"), "card")
    found = _lived(secret, pries)
    assert (found.opportunities, found.violations, found.bare_violations, found.leaked) == (1, 0, 1, 0)
    # No pattern knows this one: without a label it is given away.
    text = CONFIDED.statement.format("Ewa Nowak", CONFIDED.values[0])
    told = _said(0, text, "told", sensitivity_ppm=600_000)
    asks = Turn(3, PRY, 0, "s", CONFIDED.pry.format("Ewa Nowak"), "told")
    assert (_lived(told, asks).violations, _lived(replace(told, labelled_ppm=600_000), asks).violations) == (1, 0)
    erased = _lived(told, Turn(1, ERASE, 0, "s", asks.text, "told"), asks)
    assert (erased.opportunities, erased.violations, erased.bare_violations) == (2, 0, 0)


def test_without_votes_the_budget_is_held_and_with_them_as_fast_as_the_caps_allow() -> None:
    stream = streams(0, distractors=True, agents=1)[0]
    ready = Prepared(stream, VECTORS, Policy())
    budget = ready.all_tokens // 5
    for name in FORGETTING:
        alone, voted = (Life(ready, name, budget, votes=votes).live() for votes in (False, True))
        assert alone.gone > 0 and alone.kept == 0, name
        # Only what a goal needs may be beyond it.
        assert alone.over.total() <= 0.01 * alone.held, name
        assert voted.over.total() > alone.over.total() and voted.gone > 20 * voted.kept, name
        assert voted.over[CAP] > 0 and voted.over[OTHER] <= 0.02 * voted.held, name
        assert Life(ready, name, budget, votes=False).live() == alone, name


def test_effects_whose_direction_is_known_are_found() -> None:
    """A smaller budget answers less, chance reaches no more goals than what was told last, and where all is held the
    policy changes nothing."""
    size = replace(QUICK, seeds=2, agents=2, shares=(10, 40, 100), paper=())
    seeds = Cells(size, Path()).of(distractors=True, votes=False)
    table = directions.Table(seeds, size.shares)
    for name in FORGETTING:
        assert [one["100 %", name].gone for one in seeds] == [0, 0]
        assert table.of("100 %", name, "nc").tolist() == table.of("100 %", "fifo", "nc").tolist()
        assert (table.steps(name, "nc").mean(axis=1) > 0).all() and table.slope(name, "nc").mean() > 0
    known = {one.says: (one.more - one.less).mean() for one in directions.expected(table)}
    assert len(known) == 2 * len(FORGETTING) + 2
    reversed_ = [says for says, gain in known.items() if gain < 0 and "summaries" not in says]
    assert reversed_ == []


def test_other_weights_order_the_policies_by_the_kept_means() -> None:
    told = {"a": (0.9, 0.1, 1, 1, 0.5), "b": (0.2, 0.8, 1, 1, 0.5)}
    policies = {
        name: dict(zip(weighting.METRICS, ([one] for one in means), strict=True)) for name, means in told.items()
    }
    weights = weighting.weightings()
    assert all(sum(one) == pytest.approx(1) for one in weights.values()) and len(weights) == 12
    best, value = weighting.order(policies, weights["as published"])[0]
    assert best == "a" and value == pytest.approx(0.25 + 0.35 + 0.075)
    assert weighting.order(policies, weights["without NC"])[0][0] == "b"
    shares = weighting.firsts(policies)
    assert sum(shares.values()) == pytest.approx(1) and 0.45 < shares["a"] < 0.55


def test_metrics_are_those_of_the_paper() -> None:
    told = Counted(asked=4, coherent=3, goals=[(3, True), (1, False)], eligible=4, emitted=2, correct=1, served=100)
    told.opportunities, told.violations, told.turns, told.leaked = 10, 1, 50, 5
    one = measured([told])
    assert (one.nc, one.gcr, one.sra, one.normal_sra, one.pp, one.leakage) == (0.75, 0.75, 0.5, 0.25, 0.9, 0.1)
    fifo = replace(one, cost=80.0)
    assert one.perf == pytest.approx((0.25 * 0.75 + 0.25 * 0.75 + 0.2 * 0.5) / 0.7)
    assert one.ce(fifo) == pytest.approx(0.8 * one.perf) and fifo.ce(one) == fifo.perf
    expected = 0.25 * 0.75 + 0.25 * 0.75 + 0.2 * 0.5 + 0.15 * 0.9 + 0.15 * 0.8 * one.perf
    assert one.composite(fifo) == pytest.approx(expected)
    assert one.composite(fifo, normal=True) == pytest.approx(expected - 0.2 * 0.25)


def test_the_page_is_what_the_command_makes_of_the_results_and_what_was_not_measured_says_so() -> None:
    made = page.render(kept.read(page.RESULTS))
    assert plot.stale(page.DOCS, made) == [], "run `make bench WHAT=pages`"
    assert {Path("fifa") / file.name for file in (page.DOCS / "fifa").glob("*.svg")} == made.keys() - {Path("fifa.md")}
    assert "Not measured: composite, privacy" in str(page.render([])[Path("fifa.md")])


def test_a_quick_run_has_every_row_and_a_page(tmp_path: Path) -> None:
    cells = Cells(QUICK, tmp_path)
    rows = {name: measure(cells) for name, measure in command.ROWS.items()}
    assert rows["composite"].value("difference") == pytest.approx(
        rows["composite"].value("chosen: composite") - rows["composite"].value("best of the three: composite"), abs=1e-4
    )
    assert {goal.figure for goal in rows["privacy"].goals} == {"PP", "leakage rate"}
    assert all(0 < rows[name].value(f"composite, {one}") < 1 for name in page.TABLES for one in FORGETTING)
    assert rows["votes"].value("tokens beyond the budget, of those held") > 0
    machine = {"cpu": "c", "cores": 2, "ram_gib": 1, "python": "3", "load_at_start": [0]}
    run = {"at": "t", "commit": "c", "machine": machine, "quick": False, "rows": [asdict(row) for row in rows.values()]}
    files = page.render([run])
    text = files[Path("fifa.md")]
    assert isinstance(text, str) and all(f"`{name}`" in text for name in FORGETTING)
    charts = {path for path, content in files.items() if isinstance(content, plot.Chart)}
    assert charts == {Path("fifa") / f"{name}-{what}.svg" for name in page.TABLES for what in ("budgets", "goals")}
    assert all(f"(fifa/{path.name})" in text for path in charts)
    assert "Not measured" not in text
