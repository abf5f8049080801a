"""Later uses teach which signals predict them, on made-up journals."""

from __future__ import annotations

import random

import pytest
from msgspec.structs import replace

from memquorum.core import learning, policy
from memquorum.core.learning import SIGNALS, Example, Gathered, NotEnough
from memquorum.core.policy import PPM, LearnedPolicy, Policy
from memquorum.core.records import Stored
from tests.builders.used import used

DAY = 24 * 3600 * 1000
STORED = Stored(
    agent="ann", subject="ann", occurred_at=0, commitment=b"c", characters=100, outcome="stored", salience_ppm=1,
    early=False, accepted_offset=0, scored_offset=0, encoder="e", novelty_ppm=PPM, rank_ppm=PPM // 2,
)  # fmt: skip


def signals_of(**changes: object) -> dict[str, int]:
    said = replace(STORED, **changes)
    found = learning.signals(said, said.characters, said.novelty_ppm, said.rank_ppm)
    return {name.removesuffix("_ppm"): value for name, value in zip(SIGNALS, found, strict=True) if value}


def test_an_episodes_signals() -> None:
    plain = {"rank": PPM // 2, "novelty": PPM, "length": 416_138}
    assert signals_of() == plain
    assert signals_of(reward_ppm=0, type="task", role="user") == plain | {"rewarded": PPM, "task": PPM, "person": PPM}
    assert signals_of(confidence_ppm=7, novelty_ppm=None, role="tool") == {
        "rank": PPM // 2, "confidence": 7, "sure": PPM, "tool": PPM, "length": 416_138
    }  # fmt: skip
    assert signals_of(characters=2**16 - 1)["length"] == PPM


def journal(count: int, useful: str, seed: int = 5) -> list[tuple[str, str | None, int, object]]:
    """A memory an hour; what the signal `useful` says of it, tells whether it is read a day later, most times."""
    chance, entries = random.Random(seed), list[tuple[str, str | None, int, object]]()
    for at in range(count):
        rank, reward, length = chance.randrange(PPM), chance.randrange(PPM), chance.randrange(1, 1_000)
        said = replace(STORED, rank_ppm=rank, reward_ppm=reward, characters=length)
        entries.append(("stored", f"m{at}", at * 3_600_000, said))
        value = {"reward": reward, "rank": rank, "nothing": chance.randrange(PPM)}[useful]
        if chance.randrange(PPM) < value:
            again = replace(STORED, outcome="reinforced", reinforces=f"m{at}")
            said_again = ("reinforced", f"x{at}", at * 3_600_000 + DAY, again)
            read = ("accessed", None, at * 3_600_000 + DAY, used(f"m{at}"))
            entries.append(read if at % 2 else said_again)
    return sorted(entries, key=lambda one: one[2])


def gathered(entries: list[tuple[str, str | None, int, object]], within_ms: int = 2 * DAY) -> list[Example]:
    found = Gathered(within_ms)
    for entry in entries:
        found.take(*entry)
    return found.examples()


def test_a_memory_is_used_when_it_is_read_or_said_again_in_time() -> None:
    again = replace(STORED, outcome="reinforced", reinforces="c")
    entries = [
        ("stored", "a", 0, STORED), ("stored", "b", 0, STORED), ("stored", "c", 0, STORED), ("stored", "d", 0, STORED),
        ("accessed", None, DAY, used("a", "unknown")), ("reinforced", "x", DAY, again),
        ("accessed", None, DAY + 1, used("b")), ("stored", "late", DAY, STORED), ("dropped", "e", 0, STORED),
        ("ticked", None, 2 * DAY - 1, None),
    ]  # fmt: skip
    found = gathered(entries, DAY)
    assert [one.used for one in found] == [True, False, True, False], "of the late one nobody knows yet"


def test_what_told_of_use_is_found_and_beats_worth_and_length() -> None:
    report = learning.learn(gathered(journal(1_500, "reward")), 2 * DAY)
    weights = {name: getattr(report.learned, name) for name in SIGNALS}
    assert max(weights, key=lambda name: weights[name]) == "reward_ppm"
    assert report.better
    learned, worth, length = report.measured
    assert [one.name for one in report.measured] == ["learned", "worth alone", "length alone"]
    assert learned.auc[0] > 0.75 and learned.auc[1] < learned.auc[0] < learned.auc[2]
    assert worth.auc[1] < 0.5 < worth.auc[2] or abs(worth.auc[0] - 0.5) < 0.08
    assert length.ahead is not None and length.ahead[1] > 0.1


def test_where_worth_alone_says_it_nothing_is_better() -> None:
    report = learning.learn(gathered(journal(1_500, "rank")), 2 * DAY)
    assert not report.better and report.measured[1].auc[0] > 0.75


def test_what_comes_by_chance_teaches_nothing() -> None:
    report = learning.learn(gathered(journal(1_500, "nothing")), 2 * DAY)
    assert not report.better and report.measured[0].auc[1] < 0.55


def test_no_memory_is_learned_from_that_could_be_used_in_the_later_part() -> None:
    examples = gathered(journal(1_500, "reward"))
    report = learning.learn(examples, 2 * DAY)
    assert (report.earlier[0], report.later[0]) == (1_476 * 70 // 100 - 47, 1_476 - 1_476 * 70 // 100)
    assert learning.learn(examples[::-1], 2 * DAY) == report


def test_too_little_is_said_to_be_too_little() -> None:
    with pytest.raises(NotEnough, match="no memory is old enough"):
        learning.learn([], DAY)
    with pytest.raises(NotEnough, match="of the 16 memories of the earlier part 0 were used"):
        learning.learn(gathered(journal(90, "reward"), DAY // 24), 2 * DAY)


def test_the_area_under_the_curve_counts_pairs_and_ties_by_half() -> None:
    chance = random.Random(3)
    values, used = [chance.randrange(6) for _ in range(60)], [chance.random() < 0.4 for _ in range(60)]
    pairs = [
        (a > b) + (a == b) / 2
        for a, up in zip(values, used, strict=True) if up
        for b, down in zip(values, used, strict=True) if not down
    ]  # fmt: skip
    np = learning.np
    area, low, high = learning._interval(*learning._parts(np.array(values, float), np.array(used)))
    assert area == pytest.approx(sum(pairs) / len(pairs)) and low < area < high


def test_a_score_is_a_half_in_the_middle_and_follows_its_coefficients() -> None:
    examples = gathered(journal(1_500, "reward"))
    learned = learning.learn(examples, 2 * DAY).learned
    scores = sorted(learning.score_ppm(learned, one.signals) for one in examples)
    assert abs(scores[len(scores) // 2] - PPM // 2) < 30_000
    assert 0 <= scores[0] < 300_000 and 700_000 < scores[-1] <= PPM
    assert learning.score_ppm(LearnedPolicy(rank_ppm=100 * PPM), (PPM,) * len(SIGNALS)) == PPM


def test_the_file_is_a_part_of_a_policy_and_its_digest_names_it() -> None:
    learned = LearnedPolicy(middle_ppm=7, reward_ppm=-1_500_000)
    made = policy.from_json(learning.json.loads(learning.text(learned)))
    assert made == Policy(learned=learned)
    assert learning.digest(learned) == learning.hashlib.sha256(learning.text(learned).encode()).hexdigest()
    assert learning.digest(learned) != learning.digest(LearnedPolicy())
    assert learning.in_force(learned) and not learning.in_force(Policy().learned)
