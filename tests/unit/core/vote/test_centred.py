"""The centred share: what is common is near to nothing, and the share spans 0 to 1 whatever the encoder."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from memquorum.core.policy import PPM
from memquorum.core.vote.grounds import MemberContext
from tests import examples

NOWHERE = np.array([123_456], np.int64)


def unit(*values: float) -> NDArray[np.float32]:
    found = np.zeros(8, np.float32)
    found[: len(values)] = values
    return (found / max(1e-9, float(np.linalg.norm(found)))).astype(np.float32)


TOLD = [(str(at), unit(1, *(float(at % 3 == n) for n in range(3))), None) for at in range(9)]
COMMON = unit(1, 0, 0, 0, 0, 0, 0, 1)


def shares(context: MemberContext, *vectors: NDArray[np.float32]) -> list[int]:
    ids = [f"asked-{at}" for at in range(len(vectors))]
    return context.shares(ids, np.stack(vectors), np.full(len(vectors), NOWHERE[0])).tolist()


def test_small_talk_is_not_near_however_often_it_is_repeated() -> None:
    late = TOLD + [(f"yeah-{n}", COMMON, None) for n in range(20)]
    context = MemberContext.of("n", late, repeats=[f"yeah-{n}" for n in range(20)])
    common, matter = shares(context, COMMON, unit(1, 1, 0.2))
    assert common < 400_000 < matter
    repeated = MemberContext.of("n", late)  # as if each were said anew
    assert shares(repeated, COMMON)[0] > common


@pytest.mark.parametrize("episodes", [[], TOLD[:1], [*TOLD[:1], ("yeah", COMMON, None)]])
def test_without_two_episodes_to_compare_with_the_rank_stands_for_it(episodes: list[object]) -> None:
    context = MemberContext.of("n", episodes, repeats=["yeah"])  # type: ignore[arg-type]
    assert shares(context, unit(1)) == [123_456]


def test_a_memory_among_the_episodes_is_not_near_to_itself() -> None:
    context = MemberContext.of("n", TOLD)
    itself, other = (context.shares([name], TOLD[0][1][None], NOWHERE)[0] for name in ("0", "another"))
    assert itself < other


def test_episodes_that_are_all_the_same_make_nobody_near() -> None:
    context = MemberContext.of("n", [(str(n), COMMON, None) for n in range(5)])
    assert shares(context, COMMON, unit(1), np.zeros(8, np.float32)) == [0, 0, 0]


@settings(max_examples=examples(50), deadline=None)
@given(st.integers(2, 64), st.integers(1, 20), st.integers(0, 9))
def test_shares_lie_between_nought_and_one_and_do_not_depend_on_who_else_is_asked(
    n: int, asked: int, seed: int
) -> None:
    random = np.random.default_rng(seed)
    late = random.standard_normal((n, 8)).astype(np.float16).astype(np.float32)
    context = MemberContext.of("n", [(str(at), vector, None) for at, vector in enumerate(late)])
    memories = random.standard_normal((asked, 8)).astype(np.float16).astype(np.float32)
    ids = [str(n - 1 + at) for at in range(asked)]
    ranks = np.zeros(asked, np.int64)
    together = context.shares(ids, memories, ranks).tolist()
    assert together == [context.shares([i], one[None], ranks[:1])[0] for i, one in zip(ids, memories, strict=True)]
    assert all(0 <= one <= PPM for one in together)
