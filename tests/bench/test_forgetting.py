"""The benchmark of forgetting: its measures on cases worked out by hand, the members' rule as an order, its page."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

from bench import __main__ as bench
from bench import plot
from bench.forgetting import command, footprint, measures, meetings, page, sweep, talks
from bench.forgetting.centred import NEAREST, Centred
from bench.forgetting.fleet import Fleet, Worths, genesis, turning
from bench.forgetting.rarity import rarities, words
from bench.forgetting.said import BY_THE_PAPER, RULES, UNCAPPED, Said
from bench.forgetting.whole import survivors
from memquorum.core import decay
from memquorum.core.policy import NO_CAPS, CapsPolicy, EpochPolicy, Policy, from_json, to_json
from memquorum.core.vote.kinds import FORGET
from memquorum.core.vote.tally import needed_ppm
from memquorum.encoders.hashing import HashingEncoder
from tests.builders.policies import by_the_paper

HOUR = 3_600_000


def flags(text: str) -> np.ndarray:
    return np.array([each == "1" for each in text])


def test_rates_of_a_small_case() -> None:
    kept, wanted = flags("11010000"), flags("10010100")
    assert measures.accuracy(kept, wanted) == 6 / 8
    assert measures.balanced(kept, wanted) == pytest.approx((2 / 3 + 4 / 5) / 2)
    assert measures.f1(kept, wanted) == pytest.approx(2 * 2 / (3 + 3))
    assert measures.f1(flags("000"), flags("100")) == 0
    counted = measures.count(kept, wanted)
    assert counted == {"right": 2, "kept": 3, "wanted": 3, "all": 8}
    summed = measures.ratios([counted])
    assert summed["f1"] == pytest.approx(measures.f1(kept, wanted))
    assert summed["balanced"] == pytest.approx(measures.balanced(kept, wanted))
    everything = measures.ratios([measures.count(flags("11111"), flags("10000"))])
    assert everything["balanced"] == 0.5


def test_an_area_is_the_share_of_pairs_in_order() -> None:
    values, wanted = np.array([3, 1, 2, 2]), flags("1010")
    # 3>1, 3>2, 2>1, 2=2: three and a half of four.
    assert measures.area(values, wanted) == 3.5 / 4
    assert measures.area(-values, wanted) == 0.5 / 4
    assert measures.area(np.zeros(4), wanted) == 0.5


def test_wilson_as_in_the_books() -> None:
    low, high = measures.wilson(176, 200)  # the paper's 88 %
    assert (round(low, 3), round(high, 3)) == (0.828, 0.918)
    assert measures.wilson(0, 10)[0] == pytest.approx(0)


def test_a_threshold_is_found_on_the_other_groups_alone() -> None:
    values, wanted = np.array([1, 5, 1, 5, 9, 2]), flags("010101")
    assert measures.threshold(np.array([1, 5, 1, 5]), flags("0101")) == 5
    # In c the order is the other way round: what a and b teach (5) is wrong there. Without a or b the best limit is 2.
    assert measures.kept_by_other_groups(values, wanted, ["a", "a", "b", "b", "c", "c"]).tolist() == [
        False, True, False, True, True, False
    ]  # fmt: skip


def test_the_most_within_a_budget() -> None:
    assert measures.most(np.array([5, 1, 5, 3]), 2).tolist() == [True, False, True, False]
    assert measures.most(np.array([5, 5, 5]), 1).tolist() == [False, False, True]
    assert not measures.most(np.array([1, 2]), 0).any()
    assert (measures.unhexed(measures.hexed(flags("1100000001")), 10) == flags("1100000001")).all()


def test_the_order_of_the_rule_is_the_rule() -> None:
    four = genesis(["a", "b", "c", "d"])
    scores = np.array([[100, 500, 100, 0], [200, 600, 100, 0], [300, 100, 900, 0], [400, 100, 900, 0]])
    turns = turning(four, scores)
    assert turns.tolist() == [300, 500, 900, 0]
    voices = np.array([member.voice for member in four.members])
    for theta in (0, 1, 100, 101, 300, 301, 500, 501, 600, 900, 901):
        yes = scores < theta
        enough = (yes.sum(axis=0) >= four.quorum) & ((yes * voices[:, None]).sum(axis=0) >= needed_ppm(four, FORGET))
        assert (turns >= theta).tolist() == (~enough).tolist()


def unit(*values: float) -> np.ndarray:
    found = np.zeros(8, np.float32)
    found[: len(values)] = values
    return found / np.linalg.norm(found)


def test_the_fleet_forgets_what_nobody_reads_and_nobody_needs() -> None:
    policy = by_the_paper(epoch=EpochPolicy(interactions=1), caps=NO_CAPS)
    fleet = Fleet(genesis(["a", "b", "c", "d"], policy), 8, gate=False, rule=NEAREST)
    for at in range(4):
        fleet.episode(f"like-{at}", "abcd"[at], "", unit(1, 0, 0.01 * at), HOUR)
    fleet.episode("alone", "a", "", unit(0, 1), HOUR)
    fleet.episode("read", "a", "", unit(0, 0, 0, 1), HOUR)
    assert fleet.tick(HOUR + 1_000) is None
    fleet.access(["read", "gone"], 2 * HOUR)
    epoch = fleet.tick(2 * HOUR)
    assert epoch is not None and epoch.proposed == 5  # "read" has not crossed
    assert epoch.forgotten == ("alone",)  # the others are near to what their own agents did
    assert fleet.alive["like-0"].kept == 1 and fleet.alive["like-0"].rest == 3
    assert fleet.tick(2 * HOUR + 1) is None  # they rest


def test_the_line_lets_small_talk_go_and_keeps_what_says_something_though_nobody_needs_either() -> None:
    policy = by_the_paper(epoch=EpochPolicy(interactions=1), caps=NO_CAPS)
    fleet = Fleet(genesis(["a"], policy), 8, gate=False)
    fleet.episode("talk", "a", "Okay, thanks.", unit(1), HOUR)
    fleet.episode("says", "a", "The harbour pump 7 leaks oil at the north valve since Tuesday.", unit(1), HOUR)
    fleet.access(["gone"], 2 * HOUR)
    epoch = fleet.tick(2 * HOUR)
    assert epoch is not None and epoch.proposed == 2 and epoch.forgotten == ("talk",)


def test_worths_are_those_of_what_was_said_before() -> None:
    worths = Worths()
    first, again = worths.hear("The pump leaks."), worths.hear("The pump leaks.")
    assert first > again > worths.hear("Okay.") == 0
    ranks = worths.ranks([first, again, 0])
    assert ranks[0] >= ranks[1] > ranks[2]


def test_the_fleet_keeps_to_the_caps() -> None:
    capped = by_the_paper(epoch=EpochPolicy(interactions=1), caps=CapsPolicy(floor=2))
    fleet = Fleet(genesis(["a"], capped), 8, gate=False, rule=NEAREST)
    for at in range(8):
        fleet.episode(str(at), "a", "", unit(*(float(at == n) for n in range(8))), HOUR)
    first, second = fleet.tick(2 * HOUR), fleet.tick(3 * HOUR)
    assert first is not None and first.forgotten == ("0", "1")  # a tenth of eight is less than the floor
    assert second is None  # a quarter of eight is gone
    third = fleet.tick(26 * HOUR)
    assert third is not None and third.forgotten == ("2", "3")


def test_what_repeats_lives_on_in_what_it_repeats() -> None:
    fleet = Fleet(genesis(["a"]), 8)
    assert fleet.episode("one", "a", "The valve is open.", unit(1), 1_000) == "one"
    assert fleet.episode("two", "a", "The valve is open.", unit(1), 2_000) == "one"
    assert fleet.episode("three", "a", "The pump is open.", unit(1, 0.5), 3_000) == "three"  # near, and another matter
    assert fleet.alive["one"].last_access == 2_000 and set(fleet.judged) == {"one", "two", "three"}


def test_the_rule_of_before_is_the_mean_of_the_three_nearest() -> None:
    context = NEAREST([("x", unit(1), False), ("y", unit(1, 1), True)])
    assert context.relevances(["z"], np.stack([unit(1)])).tolist() == [853553]
    assert context.relevances(["x"], np.stack([unit(1)])).tolist() == [707107]
    assert NEAREST([]).relevances(["z"], np.stack([unit(1)])).tolist() == [0]


def test_centred_relevance_does_not_fall_for_what_is_common() -> None:
    common = unit(1, 0, 0, 0, 0, 0, 0, 1)
    told = [(str(at), unit(1, *(float(at % 3 == n) for n in range(3))), False) for at in range(9)]
    late = told + [(f"yeah-{n}", common, True) for n in range(20)]
    asked = np.stack([common, unit(1, 1, 0.2)])
    before = NEAREST(late).relevances(["new", "other"], asked)
    after = Centred(late).relevances(["new", "other"], asked)
    assert before[0] > before[1]
    assert after[0] < 400_000 < after[1]
    assert Centred(late[:1]).relevances(["new"], asked[:1]).tolist() == [0]
    # Itself is not among what it is near to.
    assert Centred(told).relevances(["0"], told[0][1][None])[0] <= 1_000_000 * 8 // 9


def test_rare_words_weigh_more() -> None:
    said = [words("the valve"), words("the pump"), words("The, the!")]
    found = rarities(said)
    assert found[2] == 0 and found[0] == pytest.approx(np.log(3))


def _meeting(folder: Path) -> None:
    acts = [
        {"spk": "BA"[at % 2], "start": 10.0 * at, "end": 10.0 * at + 5, "text": f"word {at}", "keep": at % 2,
         "supports": ["s1"] if at < 2 else ["s2"] if at == 3 else []} for at in range(4)
    ]  # fmt: skip
    meeting = {
        "meeting": "M1a", "series": "M1", "acts": acts,
        "roles": {"A": {"role": "ID"}, "B": {"role": "PM"}},
        "abstract": [{"id": i, "type": t} for i, t in (("s1", "decisions"), ("s2", "abstract"), ("s3", "actions"))],
    }  # fmt: skip
    (folder / "ami_keep").mkdir()
    with gzip.open(folder / "ami_keep" / "ours.jsonl.gz", "wt") as file:
        file.write(json.dumps(meeting) + "\n")


def test_a_meeting_as_its_annotators_left_it(tmp_path: Path) -> None:
    _meeting(tmp_path)
    (meeting,) = meetings.read(tmp_path)
    assert meeting.speakers == ("B", "A")  # the project manager first
    assert meeting.wanted.tolist() == [False, True, False, True]
    assert meeting.sentences == ((0, 1),)  # one is no decision, and behind one there is no act
    assert survivors(meeting, flags("0111")) == {"left": 1, "sentences": 1}
    assert survivors(meeting, flags("0011")) == {"left": 0, "sentences": 1}


def test_a_single_vote_knows_only_what_was_said_by_then(tmp_path: Path) -> None:
    _meeting(tmp_path)
    (meeting,) = meetings.read(tmp_path)
    same = np.stack([unit(1, 0.6 * at) for at in range(4)])
    said = Said(meeting, same, Policy())
    due = said.due([0, 3], RULES["before"])
    assert due.relevances.shape == (4, 2) and (due.relevances[2:] == 0).all()  # two members have no speaker here
    assert due.turns.tolist() == said.turn(due, decay.span_ms(Policy())).tolist()
    due = said.due([0, 3], RULES["as it is"])
    assert (due.halves[0] == due.ranks).all()
    assert (due.halves[1][2:] == due.ranks).all()  # to whom nobody speaks, the rank stands for both halves
    assert said.lived["as it is"].own.shape == (4,)


def test_a_conversation_is_replayed_at_its_own_times() -> None:
    assert talks.when("1:56 pm on 8 May, 2023") == 1_683_554_160_000
    times = np.array([0, 30_000, 8 * HOUR, 8 * HOUR + 30_000], np.int64)
    talk = talks.Talk("c", ("a", "b c", "d", "e f g"), ("Ann", "Bob") * 2, (1, 1, 2, 2), times, flags("0100"), ((1,),))
    assert talk.ends == [1, 3]
    vectors = np.stack([unit(1), unit(0, 1), unit(0, 1, 0.1), unit(1, 0.1)])
    left = {name: talks.budget(talk, vectors, 0.5, *order).tolist() for name, order in talks.orders(talk).items()}
    assert left["oldest out (FIFO)"] == [False, False, True, True]
    assert left["shortest out"] == [False, True, False, True]
    # Turn 2 reads all of session 1, in the order of likeness and at the same time; so does turn 3.
    assert sum(left["longest unused out (LRU)"]) == 2
    alone, memories = talks.line(talk, vectors, UNCAPPED, RULES["as it is"])
    assert memories == 0 and not alone.any()


def test_a_script_is_the_same_for_the_same_seed_and_skewed() -> None:
    script, again = footprint.Script.of(3, 20), footprint.Script.of(3, 20)
    assert script.asked == again.asked and script.new == again.new
    assert all(10 <= count <= 20 for count in script.new)
    assert [len(asked) + count for asked, count in zip(script.asked, script.new, strict=True)] == [100] * 20
    assert script.made[-1] == 1_000 + sum(script.new) == len(script.weights)
    asked = np.concatenate([np.array(one) for one in script.asked])
    assert (asked < script.made[-1]).all()
    top = np.argsort(-script.weights)[:100]
    assert np.isin(asked, top).mean() > 0.5


def test_a_footprint_and_a_rival_as_small() -> None:
    script = footprint.Script.of(1, 3)
    random = np.random.default_rng(1)
    said = [(f"agent-{at % 4}", row) for at, row in enumerate(random.normal(size=(1_000 + sum(script.new), 8)))]
    course = footprint.run(script, [(a, "the pump", v.astype(np.float32)) for a, v in said], "as it is", 30)
    before = 1_000
    for alive, gone, new in zip(course.alive, course.forgotten, script.new, strict=True):
        assert alive == before + new - gone
        before = int(alive)
    assert 0 < course.forgotten[0] <= 256
    rival = footprint.rival(script, course.alive, lambda used: used)
    assert rival.alive.tolist() == course.alive.tolist() and rival.last.sum() == course.alive[-1]


def test_a_sweep_moves_one_constant_and_the_shipped_value_is_among_them() -> None:
    for constant, values in sweep.VALUES.items():
        assert any(value == pytest.approx(sweep.shipped(constant)) for value in values)
        for value in values:
            policy = sweep.moved(Policy(), constant, value)
            assert from_json(to_json(policy)) == policy
            assert (policy == Policy()) == (value == pytest.approx(sweep.shipped(constant)))


def test_a_higher_theta_forgets_more_and_a_higher_share_of_the_weight_less(tmp_path: Path) -> None:
    _meeting(tmp_path)
    (read,) = meetings.read(tmp_path)
    said = Said(read, HashingEncoder().encode([act.text for act in read.acts]), BY_THE_PAPER)
    kept = {
        (constant, value): sweep.kept_by(said, sweep.moved(BY_THE_PAPER, constant, value))
        for constant, values in sweep.VALUES.items()
        for value in values
    }
    for constant, falls in (("θ", True), ("α", False)):
        counts = [int(kept[constant, value].sum()) for value in sweep.VALUES[constant]]
        assert counts == sorted(counts, reverse=falls)
    # At the shipped values the vote is that of the page.
    shipped = said.opinions.turns >= BY_THE_PAPER.forget.theta_ppm
    assert all((kept[name, value] == shipped).all() for name in ("θ", "δ") for value in (sweep.shipped(name),))
    moved = list(sweep.salience([said]))
    assert {(one["weight"], one["by"]) for one in moved} == {(w, by) for w in sweep.WEIGHTS for by in (-0.1, 0.1)}
    assert all(0 < one["mean shift"] <= one["largest"] < 0.2 for one in moved)


def test_without_the_sets_it_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert bench.main(["forget", "--data", str(tmp_path), "--cache", str(tmp_path)]) == 0
    told = capsys.readouterr().err
    assert [line.split()[0] for line in told.splitlines()] == list(command.PARTS)
    assert "skipped" in told and "no set ami_keep" in told


def test_the_page_is_what_the_command_makes_of_the_results() -> None:
    made = page.render(page.latest(page.kept_runs(command.RESULTS)))
    assert plot.stale(page.PAGE.parent, made) == [], "run `make bench WHAT=pages`"


def test_the_latest_run_of_each_part_counts_and_no_text_is_kept(tmp_path: Path) -> None:
    about = {"cpu": "a <fast> one", "cores": 2, "ram_gib": 1, "kernel": "6", "python": "3", "packages": {"numpy": "2"}}
    run = {"commit": "c", "machine": about, "encoder": "e"}
    items = {
        "items": 2, "meetings": 1, "seconds": 3.0, "rows": [{"of": "M", "i": 4}], "areas": {"words": [0.5, 0.4, 0.6]},
    }  # fmt: skip
    for day, right in ((1, 0.25), (2, 0.75)):
        told = {"accuracy": right, "interval": [0.1, 0.9], "balanced": right, "kept": 0.5}
        part = items | {"systems": {"vote": told}}
        command.keep({"at": f"2000-01-0{day}T00:00:00Z", **run, "parts": {"items": part}}, tmp_path)
    parts = page.latest(page.kept_runs(tmp_path))
    assert parts["items"][1]["rows"] == [{"of": "M", "i": 4}]
    (content,) = page.render(parts).values()
    assert "| vote | 75.0% | 10.0% to 90.0% | 50% |" in content and "2000-01-02" in content
