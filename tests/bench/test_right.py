"""Rows of worth and of the vote, on sets made up for it: figures that can be worked out by hand."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from bench import __main__ as bench
from bench.kept import Row
from bench.right import tokens, trees, votes
from bench.right.frame import Material
from bench.right.trees import NoTrees, Told
from memquorum.core.reading.content import content
from memquorum.core.worth import Counts, worth_ppm

SAYS = (
    "The battery lasts forty hours on the cheap chip.",
    "Rubber cases cost two euros apiece from the Taiwan factory.",
    "The scroll wheel needs the advanced circuit board.",
    "Marketing wants a yellow remote that answers to its owner's voice.",
)
IDLE = ("Okay.", "Yeah, right.", "Mm-hmm.", "Thanks.")


def namespace_texts(*texts: str, wanted: str = "", sought: tuple[tuple[int, ...], ...] = (), group: str = "g") -> Told:
    return Told(group, texts, np.array([one == "1" for one in wanted or "0" * len(texts)]), sought)


def test_a_budget_is_filled_by_the_order_with_what_still_fits() -> None:
    words = np.array([4, 3, 2, 1])
    assert tokens.fill(np.array([9.0, 8, 7, 6]), words, 0.5).tolist() == [True, False, False, True]
    assert tokens.fill(np.array([1.0, 1, 1, 1]), words, 0.7).tolist() == [True, True, False, False]
    assert not tokens.fill(np.array([1.0, 1, 1, 1]), words, 0).any()


def test_what_is_left_counts_things_sought_and_not_texts() -> None:
    some = [
        namespace_texts("a", "b", "c", "d", sought=((0, 1), (3,))),
        namespace_texts("a", "b", sought=((1,),)),
        namespace_texts("a"),
    ]
    orders = [np.array([2.0, 3, 1, 0]), np.array([1.0, 2]), np.array([1.0])]
    found = tokens.left(some, orders, 0.5)
    assert found == [1, 1, 0]
    assert tokens.together(some, found) == 2 / 3
    assert tokens.on_average(some, found) == (1 / 2 + 1) / 2


def test_the_three_forms_of_worth() -> None:
    said = namespace_texts("The pump leaks.", "The pump leaks again at dawn.")
    plain = tokens.plain(said)
    assert plain[0] == pytest.approx(len(content(said.texts[0]).stems) * np.log(2))
    once = [stem for stem in content(said.texts[1]).stems if stem not in content(said.texts[0]).stems]
    heard = len(content(said.texts[1]).stems) - len(once)
    assert plain[1] == pytest.approx(len(once) * np.log(3) + heard * np.log(3 / 2))
    assert tokens.plain(said, normalised=True) == pytest.approx(plain / np.log([2, 3]))
    counts, first = Counts(), content(said.texts[0])
    assert tokens.shipped(said)[0] == worth_ppm(first, counts.tell(first))


def test_a_row_of_budgets_says_how_far_from_chance_to_the_trees() -> None:
    row, some = Row("r", "r"), [namespace_texts(*SAYS, *IDLE, sought=((0,), (1,), (2,), (3,)))]
    perfect = [np.array([9.0] * len(SAYS) + [0.0] * len(IDLE)) * some[0].words]
    tokens.budgets(row, some, perfect, "facts", mean=tokens.together, goal=1.0)
    chance, best = row.value("facts left at 50 %, random"), row.value("facts left at 50 %, trees")
    assert 0 < chance < best
    expected = (row.value("facts left at 50 %") - chance) / (best - chance)
    assert row.value("of the way to trees at 50 %") == pytest.approx(expected, abs=1e-3)
    assert {goal.figure for goal in row.goals} == {f"of the way to trees at {one} %" for one in (50, 30, 20)}


def test_without_scikit_learn_or_with_one_group_it_says_so(tmp_path: Path) -> None:
    two = [namespace_texts(*SAYS, group="a"), namespace_texts(*SAYS, group="b")]
    with pytest.raises(NoTrees, match="make trees"):
        trees.scores(two, tmp_path / "python")
    (tmp_path / "python").touch()
    with pytest.raises(NoTrees, match="only one"):
        trees.scores(two[:1], tmp_path / "python")


def test_trees_see_no_label_and_no_later_text_but_where_they_say_so() -> None:
    one, other = namespace_texts(*SAYS, wanted="1111"), namespace_texts(*SAYS, wanted="0000")
    assert (trees.features(one) == trees.features(other)).all()
    longer = trees.features(namespace_texts(*SAYS, "The factory pays in euros."))[: len(SAYS)]
    changed = {at for at in range(longer.shape[1]) if (longer[:, at] != trees.features(one)[:, at]).any()}
    # Rarity in all that is said, the place as a share, and the length of the next text.
    assert changed == {8, 15, 18}


@pytest.mark.skipif(not trees.PYTHON.exists(), reason="there is no .tools/trees; `make trees`")
def test_trees_of_a_group_never_saw_its_labels() -> None:
    """Long texts are wanted in three groups and unwanted in the fourth: there all are judged wrongly."""
    texts = tuple(f"{SAYS[at % 4]} Number {at}." if at % 2 else IDLE[at % 4] for at in range(60))
    long = "01" * 30
    some = [namespace_texts(*texts, wanted=long, group=group) for group in "abc"]
    some.append(namespace_texts(*texts, wanted="10" * 30, group="d"))
    found = trees.scores(some)
    assert (found[3][1::2] > 0.9).all() and (found[3][::2] < 0.1).all()


def test_as_many_are_kept_whatever_is_equal_at_the_limit() -> None:
    kept = votes.highest(np.array([5, 3, 3, 1]), 2)
    assert kept.tolist() == [1, 0.5, 0.5, 0]
    assert votes.balanced(kept, np.array([True, True, False, False])) == (0.75 + 0.75) / 2


def test_a_gain_is_measured_on_the_same_meetings() -> None:
    wanted = [np.array([True, False])] * 3
    right, wrong = [np.array([True, False])] * 3, [np.array([False, True])] * 3
    assert votes.gain(right, right, wanted) == (0, 0)
    assert votes.gain(right, wrong, wanted) == (1, 1)


@pytest.fixture
def material(tmp_path: Path) -> Material:
    (tmp_path / "ami_keep").mkdir()
    lines = []
    for name, series in (("M1a", "M1"), ("M2a", "M2")):
        texts = [IDLE[at // 2 % 4] if at % 2 == 0 else f"{SAYS[at // 2 % 4]} {at}" for at in range(100)]
        acts = [
            {"spk": "ABCDE"[at % 5], "start": 10.0 * at, "end": 10.0 * at + 5, "text": text, "keep": at % 2,
             "supports": ["s1"] if at == 1 else []}
            for at, text in enumerate(texts)
        ]  # fmt: skip
        lines.append(
            {
                "meeting": name,
                "series": series,
                "acts": acts,
                "roles": {},
                "abstract": [{"id": "s1", "type": "actions"}],
            }
        )
        lines += [{"meeting": name, "i": at, "human": "keep" if at % 2 else "forget"} for at in range(4, 12)]
    with gzip.open(tmp_path / "ami_keep" / "others.jsonl.gz", "wt") as file:
        file.write("".join(json.dumps(line) + "\n" for line in lines))
    made = Material(tmp_path, tmp_path / "cache")
    made.__dict__["trees"] = [meeting.wanted.astype(np.float64) for meeting in made.meetings]
    return made


def test_the_rows_of_the_vote(material: Material) -> None:
    row = votes.whole(material)
    assert row.value("balanced accuracy") == 1 and row.value("kept") == 50
    assert row.value("balanced accuracy, trees at an equal share kept") >= 0.9
    assert row.value("over length, from") <= row.value("over length") <= row.value("over length, to")
    row = votes.items(material)
    assert row.value("area under the curve, trees") == 1 and row.value("area over trees") <= 0
    assert row.value("area over length, from") <= row.value("area over length, to")
    row = votes.correlation(material)
    assert -1 <= row.value("correlation of votes") <= row.value("correlation of votes, highest of a pair") <= 1
    row = tokens.meetings(material)
    assert row.value("decisions and actions left at 50 %") == 100


def test_without_trees_the_votes_are_measured_all_the_same(material: Material, monkeypatch: pytest.MonkeyPatch) -> None:
    def none(_: object) -> list[trees.Floats]:
        raise NoTrees("no trees here")

    del material.__dict__["trees"]
    monkeypatch.setattr(trees, "scores", none)
    for measure in (votes.whole, votes.items):
        row = measure(material)
        assert any("no trees here" in note for note in row.notes)
        assert not any("trees" in figure.name for figure in row.figures)
    with pytest.raises(NoTrees):
        tokens.meetings(material)


def test_a_set_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [*votes.ROWS, *tokens.ROWS]
    asked = [word for name in rows for word in ("--only", name)]
    assert bench.main(["right", *asked, "--data", str(tmp_path), "--cache", str(tmp_path)]) == 0
    said = capsys.readouterr().err
    assert [line.split()[0] for line in said.splitlines()] == rows
    assert said.count("has no set ami_keep") == 4 and said.count("has no set locomo") == 1
