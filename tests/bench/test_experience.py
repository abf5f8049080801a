"""The rows of experience, on sets made up for them: figures that can be worked out by hand."""

from __future__ import annotations

import gzip
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from bench import __main__ as bench
from bench import kept
from bench.experience import (
    admitting,
    carrying,
    command,
    domains,
    finding,
    frame,
    nearness,
    page,
    resisting,
    runs,
    weighing,
)
from bench.experience.frame import FM2, HOTPOT, MUSIQUE, Material
from memquorum.core.experience.view import Held
from memquorum.core.policy import ExperiencePolicy
from memquorum.encoders.hashing import HashingEncoder


@pytest.fixture
def material(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Material:
    monkeypatch.setattr("bench.forgetting.vectors.OnnxEncoder", lambda **_: HashingEncoder())
    return Material(tmp_path, tmp_path)


def write(folder: Path, name: str, records: Sequence[dict[str, Any]]) -> None:
    (folder / name).mkdir(exist_ok=True)
    with gzip.open(folder / name / "set.jsonl.gz", "wt") as file:
        file.writelines(json.dumps(one) + "\n" for one in records)


def claim(text: str, gold: str, *others: str, label: str = "SUPPORTS") -> dict[str, Any]:
    given = [{"text": one} for one in (gold, *others)]
    return {"text": text, "label": label, "gold_evidence": [{"text": gold}], "retrieved_evidence": given}


DAM = "The great dam of Tarbela on the river Indus was finished in 1976 after eight years of building."
NOISE = "The great dam of Tarbela is seen from the air by visitors of the valley and photographed."
CLAIMS = [
    claim("The great dam of Tarbela on the river Indus was finished in the seventies.", DAM, NOISE),
    claim("The building of the great dam of Tarbela on the Indus was finished after eight years.", DAM),
    *(
        claim(f"The great dam of Tarbela on the river Indus has a wall of {at} metres.",
              f"The wall of the great dam of Tarbela on the river Indus measures {at} metres in section {at}.")
        for at in range(140, 145)
    ),
    claim("The great dam of Tarbela on the river Indus was finished in 1999.", DAM, label="REFUTES"),
]  # fmt: skip

PARAGRAPHS = [
    {"title": "Tarbela", "paragraph_text": "Tarbela lies on the Indus.", "is_supporting": True},
    {"title": "Indus", "paragraph_text": "The Indus ends at Karachi.", "is_supporting": True},
    {"title": "Rhine", "paragraph_text": "The Rhine ends at Rotterdam.", "is_supporting": False},
]
STEPS = [
    {"question": "On which river does Tarbela lie?", "answer": "Indus"},
    {"question": "Where does the #1 end?", "answer": "Karachi"},
]
ASKED = {"question": "Where does the river of Tarbela end?", "answer": "Karachi"}


def test_claims_that_share_evidence_are_on_two_sides(material: Material, tmp_path: Path) -> None:
    write(tmp_path, FM2, CLAIMS)
    split = material.fm2
    assert [one.id for one in split.contexts] == ["c0", "c2", "c3", "c4", "c5", "c6"]
    assert [one.text for one in split.asked] == [CLAIMS[1]["text"], CLAIMS[7]["text"]]
    assert {split.texts[at] for one in split.asked for at in one.evidence} == {DAM}
    row = admitting.fool_me_twice(material)
    assert row.value("candidates") == len(split.candidates) == 7
    assert row.value("of them evidence of what is asked") == 1
    assert row.value("+ SCEC: R@3") >= row.value("none: store all: R@3")
    assert NOISE not in {one.text for one in material.shown_fm2.held}


def test_groups_are_joined_over_several() -> None:
    assert frame._groups([["a"], ["b"], ["a", "c"], ["d"], ["c", "b"]]) == [(0, 1, 2, 4), (3,)]


def test_what_shares_evidence_is_drawn_together() -> None:
    gains = [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    assert frame.interval(gains, [1, 1, 1, 2, 2, 2])[1:] == (0, 1)
    assert 0 < frame.interval(gains)[1] < frame.interval(gains)[0] == 0.5


def test_a_liar_changes_no_verdict(material: Material, tmp_path: Path) -> None:
    write(tmp_path, FM2, CLAIMS)
    row = resisting.verifiers(material)
    assert row.value("rounds with a liar") > 0
    assert row.value("verdicts that change") == 0
    assert row.value("rounds in which the liar is shown") == 100


def test_a_question_is_parted_from_its_steps(material: Material, tmp_path: Path) -> None:
    write(tmp_path, MUSIQUE, [{**ASKED, "paragraphs": PARAGRAPHS, "question_decomposition": STEPS}])
    split = material.musique
    assert [(one.goal, one.outputs) for one in split.contexts] == [
        ("On which river does Tarbela lie?", "Indus"), ("Where does the Indus end?", "Karachi")
    ]  # fmt: skip
    assert {split.texts[at] for at in split.asked[0].evidence} == {
        "Tarbela: Tarbela lies on the Indus.", "Indus: The Indus ends at Karachi."
    }  # fmt: skip


def test_an_answer_counts_where_it_is_given(material: Material, tmp_path: Path) -> None:
    context = [["Tarbela", ["It lies on the Indus.", "It is old."]], ["Rhine", ["It ends at Rotterdam."]]]
    write(tmp_path, HOTPOT, [{"question": "Where does the Rhine end?", "answer": "Rotterdam", "context": context}])
    row = finding.hotpotqa(material)
    assert row.value("no memory: answer in context") == 0
    assert row.value("words and vectors: answer in context") == 1
    assert row.value("words and vectors: words given") <= 15


def test_a_second_step_follows_the_titles_that_the_first_hits_name() -> None:
    texts = ["The dam lies on the Indus (river).", "It ends at Karachi.", "The Rhine ends at Rotterdam.", "It is old."]
    pages = finding.Pages(["Tarbela Dam", "Indus (river)", "Rhine", "Tarbela Dam"])
    assert [one.strip() for one in pages.named("Tarbela Dam lies on the Indus.")] == ["tarbela dam", "indus"]
    scores = [0.9, 0.1, 0.5, 0.4], [3, 1, 2, 0]
    assert pages.followed("Where does it end?", texts, [0, 2, 3], scores, 1)[:2] == [0, 1]
    assert pages.followed("Where does it end?", texts, [2, 0, 3], scores, 1) == [2, 0, 3], "names nothing else"


def test_weights_that_are_alike_change_nothing(material: Material, tmp_path: Path) -> None:
    write(tmp_path, FM2, CLAIMS)
    write(tmp_path, MUSIQUE, [{**ASKED, "paragraphs": PARAGRAPHS, "question_decomposition": STEPS}])
    row = weighing.weighing(material)
    fresh = [row.value(f"Fool Me Twice R@3, w₀ = 1, {rule}: admitted") for rule in weighing._RULES]
    assert len(set(fresh)) == 1 and fresh[0] > 0
    assert sum("chosen without" in one.name for one in row.figures) == 2


def test_a_floor_cuts_what_is_farther_and_nothing_else(material: Material, tmp_path: Path) -> None:
    write(tmp_path, FM2, CLAIMS)
    write(tmp_path, MUSIQUE, [{**ASKED, "paragraphs": PARAGRAPHS, "question_decomposition": STEPS}])
    row = nearness.nearness(material)
    cut = [row.value(f"Fool Me Twice, {floor / 1e6:.2f}: needed that is cut") for floor in nearness._FLOORS]
    assert row.value("Fool Me Twice: needed and in experience") > 0 and cut == sorted(cut)
    assert row.value("Fool Me Twice, below half of the best: needed and not named") == 0
    assert {one.name for one in row.figures} >= {"MuSiQue, 0.25: left of the other set's"}


def test_what_a_tool_answered_says_what_was_asked(material: Material, tmp_path: Path) -> None:
    def run(trial: int) -> dict[str, Any]:
        call = {"id": "c1", "function": {"name": "get_user", "arguments": json.dumps({"user": "mia_li"})}}
        return {"task_id": 1, "trial": trial, "traj": [
            {"role": "user", "content": "I am mia_li, what is my card?"},
            {"role": "assistant", "content": None, "tool_calls": [call]},
            {"role": "tool", "tool_call_id": "c1", "content": json.dumps({"card": "visa_77", "note": "x" * 200})},
        ]}  # fmt: skip

    write(tmp_path, runs.TAU, [run(0), run(1)])
    assert list(runs._said(run(0)["traj"], named=True))[1][0] == "get user mia_li"
    assert list(runs._said(run(0)["traj"], named=False))[1][0] == ""
    row = runs.tau(material)
    assert row.value("calls asked") == 1
    assert row.value("store all, parts with their call, 250 tokens: facts found") == 1


def test_of_a_memory_and_its_general_form_a_read_is_given_one(material: Material) -> None:
    (own,) = material.held("m", ["Drain the line of crane 7 before the shift."])
    (form,) = admitting.generals(material, [own])
    assert admitting.general_of(form) == own.id and admitting.general_of(own) is None
    near = material.vectors.of([own.text])

    def given(*held: Held, policy: ExperiencePolicy = frame.POLICY, served: bool = True) -> list[str]:
        (found,) = admitting.ranked(held, near, 9, policy, served=served)
        return [one.id for one in found]

    assert given(own, form) == given(own, form, served=False) == [own.id]
    assert given(form) == [form.id]
    none = replace(frame.POLICY, given_ppm=2_000_000)
    assert given(own, form, policy=none) == []
    assert given(own, form, policy=none, served=False) == [own.id, form.id]
    far = replace(own, vector=frame.half(-near[0]))
    assert given(far, form) == [form.id], "its memory is too far away"


def test_how_one_job_is_done_is_asked_by_another(material: Material, tmp_path: Path) -> None:
    rule = "The agent must first obtain the user id."

    def run(task: int, tool: str, told: str, reward: float = 1.0) -> dict[str, Any]:
        said = [("system", f"# Policy\n\n- {rule}\n"), ("user", f"I am customer {task}."), ("assistant", told)]
        called = {"function": {"name": tool, "arguments": "{}"}}
        traj = [
            *({"role": role, "content": text} for role, text in said),
            {"role": "assistant", "tool_calls": [called]},
        ]
        return {"task_id": task, "trial": 0, "reward": reward, "traj": traj}

    cancels = "Please tell me the reason of the cancellation. Your flight was booked in May."
    write(tmp_path, runs.TAU, [
        run(0, "cancel_reservation", cancels), run(2, "book_reservation", "Please confirm the price of flight 7."),
        run(4, "book_reservation", "Please say that the run that failed is here.", 0.0),
    ])  # fmt: skip
    told = carrying.lessons(material)
    assert told.policy == (rule,)
    one, other = told.sides[carrying.CANCELS], told.sides[carrying.CHANGES]
    assert [task.outputs for task in one.tasks] == ["Please tell me the reason of the cancellation."]
    assert {held.text: held.sources for held in one.said} == {rule: (), one.tasks[0].outputs: ("r0-0",)}
    assert [task.outputs for task in other.tasks] == ["Please confirm the price of flight 7."]
    assert carrying.plain(other.tasks[0].outputs) == "Please confirm the price of flight ."


def test_what_a_tool_answered_is_parted() -> None:
    told = {"name": "Mia", "flights": [{"number": f"HAT{at}", "from": "JFK", "note": "x" * 60} for at in range(3)]}
    parts = list(runs._parts(json.dumps(told)))
    assert parts[0] == 'name: "Mia"'
    assert all("HAT" in part for part in parts[1:])
    assert list(runs._parts("one\n\ntwo")) == ["one", "two"]


def test_numbers_are_changed() -> None:
    assert resisting._swapped("In 1976, 8 years on.") == "In 1989, 12 years on."


@pytest.mark.usefixtures("material")
def test_a_set_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["experience", "--quick", "--data", str(tmp_path), "--cache", str(tmp_path)]) == 0
    assert capsys.readouterr().err.count("has no set") == len(command.ROWS)


def test_the_page_is_what_the_command_makes_of_the_results() -> None:
    assert page.PAGE.read_text(encoding="utf-8") == page.render(kept.read(page.RESULTS)), "run `make bench WHAT=pages`"


def test_experience_of_another_domain_reaches_nothing_and_takes_nothing(
    material: Material, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = ["The pump runs at 4 bar in hall 3.", "Ada keeps the key of the north gate."]
    own, strange = ([one] for one in material.held("m", texts))
    asked = [material.context("q", "Who keeps the key of the north gate?", "Ada", material.vectors.of(texts[1:])[0])]
    sides = {"talk": domains.Domain(strange, strange, asked), "facts": domains.Domain(own, own, [])}
    monkeypatch.setattr(domains, "_DOMAINS", {name: (lambda _, one=one: one) for name, one in sides.items()})
    row = domains.domains(material)
    assert row.value("talk → talk, specific") == 1 and row.value("facts → talk, specific") == 0
    assert row.value("facts beside talk's own → talk, less its own alone") == 0
