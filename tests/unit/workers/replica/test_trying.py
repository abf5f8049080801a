"""A member's opinion of a proposal to admit, and its record of the members' decisions."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from db.view_rows import Admitted
from memquorum import topics
from memquorum.core import sealing
from memquorum.core.experience.checking import sampled
from memquorum.core.experience.context import Context
from memquorum.core.experience.draw import drawn
from memquorum.core.experience.reward import Reach
from memquorum.core.experience.texts import Texts
from memquorum.core.experience.trial import Case, Statistics, tried
from memquorum.core.experience.view import Experience, Held
from memquorum.core.policy import PPM
from memquorum.core.records import FeedbackAccepted, Proposal, Task
from tests.builders import trials
from tests.builders.experience import vector
from tests.builders.table import CODEC, GENESIS, ME, NOW, Table
from workers.replica import repeated_trials

POLICY = GENESIS.policy.experience
M, OTHER = str(uuid.UUID(int=1)), str(uuid.UUID(int=2))
JUDGES = [str(uuid.UUID(int=at)) for at in range(10, 15)]
FACT, ASIDE = "The gateway uses port 8443.", "The gateway stands in Lyon."
TEXTS = Texts("Which port does the gateway use?", outputs=FACT)
NEAR = (0.6, 0.8)
NUMBERS = {name: (0.6 + at / 100, 0.8) for at, name in enumerate(JUDGES)}


@pytest.fixture
def table(tmp_path: Path) -> Iterator[Table]:
    found = Table(tmp_path / "view.db")
    yield found
    found.view.close()


def finish(
    table: Table, name: str, outcome: str = "succeeded", commitment: bytes | None = None, *, texts: Texts = TEXTS,
    given: tuple[str, ...] = (),
) -> None:  # fmt: skip
    task = Task(outcome, "ann", bytes(32), 7)
    at = table.accept(name, text=texts.content, commitment=commitment, task=task, derives_from=given)
    table.score(name, at, NUMBERS[name])


def decided(table: Table, epoch: int = 1, *proposals: Proposal, **told: Any) -> None:
    """A tick, and a decision whose nomination speaks of it."""
    at = table.tick(epoch)
    table.turn()
    table.decide(epoch, *proposals, accepted_offset=at, **told)


def scene(table: Table, text: str = FACT, *, judges: Sequence[str] = JUDGES) -> None:
    """A memory, and tasks by which it was tried as of the first decision."""
    table.episode(M, NEAR, text=text)
    table.episode(OTHER, NEAR, text=ASIDE)
    for name in judges:
        finish(table, name)
    decided(table)


def honest_statistics(
    text: str = FACT, admitted: Sequence[Held] = (), position: int = 1, judges: Sequence[str] = JUDGES,
    sources: tuple[str, ...] = (),
) -> Statistics:  # fmt: skip
    """Returns an honest verifier's findings."""
    contexts = [
        Context(
            name, "space", "ann", TEXTS.goal, "", FACT, (), (), "succeeded", "ann", bytes(32), 7, "test",
            vector(*NUMBERS[name]), 0,
        )
        for name in judges
    ]  # fmt: skip
    candidate = Held(M, text, "test", vector(*NEAR), sources=sources)
    told = tried(Case(candidate, contexts, Experience("test", 2, admitted), position), Reach(), POLICY)
    assert told is not None
    return told


def proposal(table: Table, told: Statistics) -> Proposal:
    at = table.view.experience.stood(0, told.position)
    assert at is not None
    order = drawn(M, at.nomination, GENESIS.verifiers, 3)[:2]
    return trials.proposal(M, [trials.signed(CODEC, GENESIS, told, who, namespace="space") for who in order], "space")


def votes(table: Table, proposal: Proposal, epoch: int = 2) -> tuple[bool, tuple[int, ...]]:
    table.nominate(table.tick(), proposal, epoch=epoch)
    (opinion,) = table.turn() or []
    return opinion.yes, opinion.terms


NO_WORD = (False, (0, 0))


def test_a_member_is_for_what_verifiers_found_and_it_finds_again(table: Table) -> None:
    scene(table)
    yes, (held, gain) = votes(table, proposal(table, honest_statistics()))
    assert (yes, held) == (True, PPM) and gain > 900_000


DONE = Texts(TEXTS.goal, outputs="Done.")


def silent(told: dict[str, int]) -> Statistics:
    """Returns an honest verifier's findings where tasks only say that they are done, and agents say so much of M."""
    contexts = [
        Context(
            name, "space", "ann", DONE.goal, "", DONE.outputs, (), (M, OTHER), "succeeded", "ann", bytes(32), 7, "test",
            vector(*NUMBERS[name]), 0,
        )
        for name in JUDGES
    ]  # fmt: skip
    candidate = Held(M, FACT, "test", vector(*NEAR))
    case = Case(candidate, contexts, Experience("test", 2, ()), 1, dict.fromkeys(JUDGES, told))
    found = tried(case, Reach(), POLICY)
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("told", "counted", "yes"),
    [({M: PPM}, {M: PPM}, True), ({M: PPM}, {}, False), ({}, {}, True), ({}, {M: -PPM}, False)],
)
def test_where_tasks_state_nothing_a_member_goes_by_what_agents_had_said_before_the_decision(
    table: Table, told: dict[str, int], counted: dict[str, int], yes: bool
) -> None:
    table.episode(M, NEAR, text=FACT)
    table.episode(OTHER, NEAR, text=ASIDE)
    for name in JUDGES:
        finish(table, name, texts=DONE, given=(M, OTHER))
        for memory, gain in counted.items():
            helped, others = ((memory,), ()) if gain > 0 else ((), (memory,))
            table.put(topics.ACCEPTED, FeedbackAccepted(name, name, "space", "ann", helped, others, 5))
    decided(table)
    for name in JUDGES:  # too late for what was decided
        table.put(topics.ACCEPTED, FeedbackAccepted(f"late-{name}", name, "space", "bob", (OTHER,), (M,), 5))
    assert votes(table, proposal(table, silent(told))) == (yes, (PPM * yes, 998_600 if told else 498_600))


def test_what_helps_nobody_is_not_admitted_though_it_was_tried_as_told(table: Table) -> None:
    scene(table, ASIDE)
    yes, (held, gain) = votes(table, proposal(table, honest_statistics(ASIDE)))
    assert (yes, held) == (False, PPM) and gain < POLICY.eta_ppm


def test_what_comes_out_otherwise_is_not_admitted(table: Table) -> None:
    scene(table, ASIDE)
    told = honest_statistics(ASIDE)
    lie = replace(told, judged=tuple(replace(one, reward_with=3 * PPM) for one in told.judged))
    yes, (held, gain) = votes(table, proposal(table, lie))
    assert (yes, held) == (False, 0) and gain > POLICY.eta_ppm


@pytest.mark.parametrize("missing", ["key of the memory", "key", "task", "the memory", "outcome", "commitment"])
def test_who_lacks_something_says_nothing(table: Table, missing: str) -> None:
    told = honest_statistics()
    name = sampled(told, ME).context
    if missing != "the memory":
        table.episode(M, NEAR, text=FACT)
    for one in JUDGES:
        if one != name:
            finish(table, one)
    if missing != "task":
        failed = {"outcome": "failed"} if missing == "outcome" else {}
        finish(table, name, **failed, commitment=b"other" if missing == "commitment" else None)
    decided(table)
    if missing.startswith("key"):
        del table.vault.keys[name if missing == "key" else M]
    assert votes(table, proposal(table, told)) == NO_WORD
    left = table.view.experience.tasks("space", before=100, memory_ids=[name])
    assert bool(left) == (missing not in {"key", "task"})


def test_who_has_not_read_every_judge_says_nothing(table: Table) -> None:
    told = honest_statistics()
    other = next(one for one in JUDGES if one != sampled(told, ME).context)
    scene(table, judges=[one for one in JUDGES if one != other])
    assert votes(table, proposal(table, told)) == NO_WORD


def test_who_has_not_read_as_far_as_the_decision_says_nothing(table: Table) -> None:
    table.episode(M, NEAR, text=FACT)
    table.episode(OTHER, NEAR, text=ASIDE)
    for name in JUDGES:
        finish(table, name)
    at = table.tick()
    table.turn()
    table.decide(1, accepted_offset=at + 50)
    assert votes(table, proposal(table, honest_statistics())) == NO_WORD


def test_what_was_tried_by_an_earlier_rule_is_not_admitted_and_nobody_is_accused(
    table: Table, caplog: pytest.LogCaptureFixture
) -> None:
    scene(table)
    caplog.set_level("INFO", "memquorum.replica")
    yes, _ = votes(table, proposal(table, replace(honest_statistics(), reward="reach/5")))
    assert not yes
    assert (
        "was tried by another rule than reach/7" in caplog.text
        and "another result than the verifiers" not in caplog.text
    )


def test_what_was_accepted_behind_the_decision_is_no_judge(table: Table) -> None:
    scene(table, judges=JUDGES[:4])
    finish(table, JUDGES[4])
    assert votes(table, proposal(table, honest_statistics())) == NO_WORD


def test_what_was_made_of_a_judge_is_not_judged_by_it(table: Table) -> None:
    for name in JUDGES:
        finish(table, name)
    table.score(M, table.accept(M, text=FACT, derives_from=(JUDGES[0],)), NEAR)
    decided(table)
    assert votes(table, proposal(table, honest_statistics())) == NO_WORD
    own = honest_statistics(judges=JUDGES[1:], sources=(JUDGES[0],))
    assert votes(table, proposal(table, own), epoch=2)[0] is True


def test_it_counts_what_was_admitted_as_of_the_decision_at_its_weight_then(table: Table) -> None:
    scene(table)
    weights = [Admitted("space", OTHER, 1, 1, 300_000), Admitted("space", OTHER, 2, 2, 900_000)]
    table.view.experience.weigh(weights)
    held = Held(OTHER, ASIDE, "test", vector(*NEAR), 300_000)
    assert votes(table, proposal(table, honest_statistics(admitted=[held])))[0] is True
    for weight in (299_999, 900_000):
        assert votes(table, proposal(table, honest_statistics(admitted=[replace(held, weight_ppm=weight)])))[1][0] == 0
    assert votes(table, proposal(table, honest_statistics()))[1][0] == 0


def test_what_was_admitted_and_is_gone_counts_no_more(table: Table) -> None:
    scene(table)
    table.view.experience.weigh([Admitted("space", OTHER, 1, 1, 300_000)])
    held = Held(OTHER, ASIDE, "test", vector(*NEAR), 300_000)
    assert votes(table, proposal(table, honest_statistics(admitted=[held])))[0] is True
    del table.vault.keys[OTHER]
    assert votes(table, proposal(table, honest_statistics(admitted=[held])))[1][0] == 0
    assert votes(table, proposal(table, honest_statistics()))[0] is True


def test_signatures_of_who_was_not_drawn_or_one_alone_prove_nothing(table: Table) -> None:
    scene(table)
    told = honest_statistics()
    right = proposal(table, told)
    assert votes(table, replace(right, tried=right.tried[:1])) == NO_WORD
    assert votes(table, replace(right, tried=right.tried[:1] * 2)) == NO_WORD
    assert votes(table, replace(right, tried=())) == NO_WORD
    assert votes(table, right)[0] is True


def test_without_the_vault_it_waits(table: Table) -> None:
    scene(table)
    asked = proposal(table, honest_statistics())
    table.vault.down = True
    table.nominate(table.tick(), asked, epoch=2)
    assert table.turn() is None
    table.vault.down = False
    (opinion,) = table.turn(1) or []
    assert opinion.yes


# Members' decisions --------------------------------------------------------------------------------------------------


def test_what_members_admit_weighs_what_it_gains_from_that_epoch_on(table: Table) -> None:
    scene(table)
    told = honest_statistics()
    decided(table, 2, proposal(table, told), vote=lambda *_: (PPM, 990_000))
    assert table.view.experience.weights("space", epoch=1) == []
    (one,) = table.view.experience.weights("space", epoch=2)
    assert (one.memory_id, one.version, one.epoch) == (M, 1, 2) and one.weight_ppm > 900_000


def test_what_members_do_not_admit_is_to_be_tried_anew(table: Table) -> None:
    scene(table)
    asked = proposal(table, honest_statistics())
    decided(table, 2, asked, vote=lambda *_: (0, 0))
    assert table.view.experience.weights("space", epoch=9) == [] and table.view.experience.refused(M) == 2
    assert votes(table, asked, epoch=3) == NO_WORD
    decided(table, 3, asked, vote=lambda *_: (PPM, 990_000))
    assert table.view.experience.weights("space", epoch=9) == []
    anew = proposal(table, honest_statistics(position=3))
    assert votes(table, anew, epoch=4)[0] is True


def test_what_is_decided_of_what_nobody_agreed_in_changes_nothing(table: Table) -> None:
    scene(table)
    bare = replace(proposal(table, honest_statistics()), tried=())
    decided(table, 2, bare, vote=lambda *_: (0, 0))
    assert table.view.experience.refused(M) == 0
    decided(table, 3, bare, vote=lambda *_: (PPM, 990_000))
    assert table.view.experience.weights("space", epoch=9) == []


AHEAD = 20
"""More records than the accepted streams of these tests have before a decision speaks of them."""


def read_at_last(table: Table, *texts: tuple[str, str]) -> None:
    """The accepted stream comes after the decisions: memories by id and text, and the tasks that judged one."""
    for name, text in texts:
        table.episode(name, NEAR, text=text)
    for name in JUDGES:
        finish(table, name)
    while table.tick() < AHEAD:
        pass
    table.turn()


def test_who_reads_decisions_before_the_stream_knows_what_they_admitted(table: Table) -> None:
    table.decide(1, accepted_offset=AHEAD)
    asked = proposal(table, honest_statistics())
    table.decide(2, asked, accepted_offset=AHEAD, vote=lambda *_: (PPM, 990_000))
    assert not table.view.experience.holds("space", M), "nobody knows yet that it is there"
    read_at_last(table, (M, FACT), (OTHER, ASIDE))
    assert table.view.experience.holds("space", M) and table.view.experience.held("space", [M]) == {M}
    assert [one.memory_id for one in table.view.experience.weights("space", epoch=2)] == [M]


def test_who_reads_decisions_before_the_stream_knows_what_they_did_not_admit(table: Table) -> None:
    table.decide(1, accepted_offset=AHEAD)
    asked = proposal(table, honest_statistics())
    table.decide(2, asked, accepted_offset=AHEAD, vote=lambda *_: (0, 0))
    read_at_last(table, (M, FACT), (OTHER, ASIDE))
    assert table.view.experience.refused(M) == 2
    assert votes(table, asked, epoch=3) == NO_WORD


@pytest.mark.parametrize("grace", ["sealed", "over"])
def test_what_rests_sealed_by_then_is_not_admitted_as_in_the_journal(table: Table, grace: str) -> None:
    scene(table)
    asked = proposal(table, honest_statistics())
    forget(table, 2, M)
    for epoch in (3, 4, 5):
        decided(table, epoch)
    if grace == "over":
        table.tick(NOW + 2 * GENESIS.policy.forget.grace_ms)
        decided(table, 6)
    decided(table, 7, asked, vote=lambda *_: (PPM, 990_000))
    assert table.view.experience.weights("space", epoch=9) == []


@pytest.fixture(params=[0, repeated_trials._OPENED_MOST])
def room(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """The bytes of opened texts that a member keeps, set before there is one."""
    most: int = request.param
    monkeypatch.setattr(repeated_trials, "_OPENED_MOST", most)
    return most


def test_what_is_opened_stays_open_within_bounds(room: int, table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    scene(table)
    asked, opened, real = proposal(table, honest_statistics()), list[str](), sealing.open_text
    assert votes(table, asked)[0] is True

    def noted(key: bytes, sealed: bytes, name: str) -> str:
        opened.append(name)
        return real(key, sealed, name)

    monkeypatch.setattr(sealing, "open_text", noted)
    assert votes(table, asked)[0] is True
    assert any(name in JUDGES for name in opened) == (room == 0)


# United memories ---------------------------------------------------------------------------------------------------

TWIN = str(uuid.UUID(int=3))
UNITED: tuple[int, int] = (PPM, 990_000)


def together(*names: str) -> Proposal:
    return Proposal(names, "space", "unite", "twins", 0, 0, 0)


def twins(table: Table, text: str = ASIDE, epoch: int = 1) -> None:
    """Two memories of experience that say the same, and a third one."""
    table.episode(TWIN, NEAR, text=text)
    scene(table)
    table.view.experience.weigh([Admitted("space", one, 1, epoch, 300_000) for one in (OTHER, TWIN)])


def beside(*names: str) -> Statistics:
    """Returns an honest verifier's findings about the third memory beside these."""
    return honest_statistics(admitted=[Held(one, ASIDE, "test", vector(*NEAR), 300_000) for one in names], position=2)


def test_a_member_is_for_one_in_place_of_those_that_it_knows_in_experience(table: Table) -> None:
    twins(table)
    assert votes(table, together(OTHER, TWIN)) == (True, (PPM, PPM))


@pytest.mark.parametrize("missing", ["it was not admitted", "it says otherwise", "key", "another stands for it"])
def test_a_member_is_against_what_is_not_in_experience_or_says_otherwise(table: Table, missing: str) -> None:
    twins(table, text=FACT if missing == "it says otherwise" else ASIDE)
    if missing == "key":
        del table.vault.keys[TWIN]
    if missing == "another stands for it":
        table.view.experience.weigh([Admitted("space", M, 1, 1, 300_000)])
        table.view.experience.unite(M, [TWIN], 1)
    names = (OTHER, M) if missing == "it was not admitted" else (OTHER, TWIN)
    assert votes(table, together(*names))[0] is False


def test_what_another_stands_for_is_not_beside_a_candidate_as_of_then(table: Table) -> None:
    twins(table)
    decided(table, 2, together(OTHER, TWIN), vote=lambda *_: UNITED)
    assert table.view.experience.held("space", [OTHER, TWIN, M]) == {OTHER}
    before = replace(beside(OTHER, TWIN), position=1)
    assert votes(table, proposal(table, before), epoch=3)[1][0] == PPM, "as of before, both are"
    assert votes(table, proposal(table, beside(OTHER)), epoch=3)[1][0] == PPM
    assert votes(table, proposal(table, beside(OTHER, TWIN)), epoch=3)[1][0] == 0


def test_where_what_stayed_is_gone_what_it_stood_for_is_beside_a_candidate_again(table: Table) -> None:
    twins(table)
    decided(table, 2, together(OTHER, TWIN), vote=lambda *_: UNITED)
    gone = Proposal((OTHER,), "space", "forget", "decayed", 0, 0, 0)
    decided(table, 3, gone, vote=lambda *_: (0, 0, 0, 0))
    assert table.view.experience.held("space", [OTHER, TWIN]) == {TWIN}
    assert votes(table, proposal(table, beside(TWIN)), epoch=4)[1][0] == PPM
    assert votes(table, proposal(table, beside(OTHER)), epoch=4)[1][0] == 0


def test_who_reads_decisions_before_the_stream_knows_what_became_one(table: Table) -> None:
    table.view.experience.weigh([Admitted("space", one, 1, 1, 300_000) for one in (OTHER, TWIN)])
    table.decide(1, together(OTHER, TWIN), accepted_offset=AHEAD, vote=lambda *_: UNITED)
    read_at_last(table, (TWIN, ASIDE), (M, FACT), (OTHER, ASIDE))
    assert table.view.experience.held("space", [OTHER, TWIN]) == {OTHER}
    assert votes(table, proposal(table, replace(beside(OTHER), position=1)), epoch=2)[1][0] == PPM


@pytest.mark.parametrize("case", ["kept", "not admitted"])
def test_what_the_journal_voids_or_members_keep_apart_stays_apart(table: Table, case: str) -> None:
    twins(table)
    names = {"kept": (OTHER, TWIN), "not admitted": (M, OTHER)}[case]
    decided(table, 2, together(*names), vote=lambda *_: (0, 0) if case == "kept" else UNITED)
    assert table.view.experience.held("space", [OTHER, TWIN]) == {OTHER, TWIN}


def forget(table: Table, epoch: int, name: str) -> None:
    decided(table, epoch, Proposal((name,), "space", "forget", "decayed", 0, 0, 0), vote=lambda *_: (0, 0, 0, 0))


@pytest.mark.parametrize("gone", [OTHER, TWIN])
def test_where_one_left_before_the_decision_the_other_is_alone(table: Table, gone: str) -> None:
    twins(table)
    forget(table, 2, gone)
    decided(table, 3, together(OTHER, TWIN), vote=lambda *_: UNITED)
    assert table.view.experience.held("space", [OTHER, TWIN]) == {OTHER, TWIN} - {gone}


@pytest.mark.parametrize("gone", [OTHER, TWIN])
def test_what_rests_sealed_by_then_becomes_one_with_nothing_and_is_itself_where_it_is_restored(
    table: Table, gone: str
) -> None:
    twins(table)
    forget(table, 2, gone)
    for epoch in (3, 4, 5):
        decided(table, epoch)
    decided(table, 6, together(OTHER, TWIN), vote=lambda *_: UNITED)
    with table.view.batch():
        table.view.decided(
            0, seq=6, epoch=7, commits=(), decisions=b"", forgotten=(), restored=[gone], restored_at=NOW,
            accepted_offset=table.tick(), read=0,
        )  # fmt: skip
    assert table.view.experience.held("space", [OTHER, TWIN]) == {OTHER, TWIN}


def test_what_stands_for_others_has_none_that_stands_for_it(table: Table) -> None:
    twins(table)
    experience = table.view.experience
    experience.unite(OTHER, [TWIN], 1)
    experience.unite(TWIN, [OTHER], 2)
    assert experience.held("space", [OTHER, TWIN]) == {TWIN}
