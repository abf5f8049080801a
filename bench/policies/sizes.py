"""Rows of size: what a member's own order costs in a large namespace, and a what-if on a long history."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from random import Random

from bench.kept import Row
from bench.policies import histories
from bench.right.frame import Material
from memquorum.core.budgets.ledger import Ledger
from memquorum.core.budgets.limits import budget_of
from memquorum.core.budgets.weighing import item
from memquorum.core.policy import FORGETTING, Budget, BudgetPolicy, Policy
from tests.builders.genesis import make
from tests.builders.voters import SPACE, Voter

_SIZES = (10_000, 100_000)
_QUICK_SIZES = (500, 1_000)
_ASKED = 512
_NOW = 1_790_000_000_000
_SPAN_MS = 20 * 24 * 3600 * 1000
_RECORDS = (100_000, 1_000_000)
_QUICK_RECORDS = (4_000, 8_000)
_MINUTES = 10


def own_order(material: Material) -> Row:
    """A member judges what an epoch proposes for a budget, in a view of so many memories."""
    row = Row("own-order", f"the cost for a member to judge {_ASKED} memories for a budget, by their number")
    sizes = _QUICK_SIZES if material.quick else _SIZES
    spent = {size: _judged(size) for size in sizes}
    for name in FORGETTING:
        for size in sizes:
            first, others = spent[size][name]
            row.figure(f"{name}, of {size:,}: what goes first", first, "s")
            row.figure(f"{name}, of {size:,}: others", others, "s")
        each = [max(spent[size][name]) / size for size in sizes]
        row.figure(f"{name}, a memory that is there: most ÷ least", max(each) / min(each), "times")
    row.figure(
        "the slowest, a memory that goes", 1e3 * max(first for first, _ in spent[sizes[-1]].values()) / _ASKED, "ms"
    )
    worst = max(figure.value for figure in row.figures if figure.name.endswith("most ÷ least"))
    row.figure("all, a memory that is there: most ÷ least", worst, "times")
    row.at_most("all, a memory that is there: most ÷ least", 2)
    row.note(
        "by the processor's time, with the reading of the view, in a ranking that is there; keys are in memory here. "
        "Half of the held tokens is too much. Others: as many memories, anywhere in the order, which is followed for "
        "them to the excess and the margin"
    )
    return row


def _judged(size: int) -> dict[str, tuple[float, float]]:
    """Measures each policy's seconds for the memories that are forgotten first, and for others."""
    lot, policy = Random(size), Policy()
    voter = Voter(make(shards=1, agents={"ann": 1, "bob": 2}, policy=policy), _NOW)
    held = 0
    with voter.view.batch():
        for at in range(size):
            tokens = lot.randrange(5, 80)
            held += tokens
            sensitivity = lot.choice((0, 0, 0, 500_000))
            age = _SPAN_MS - _SPAN_MS * at // size
            voter.episode(f"m{at:07}", lot.randrange(200), age, tokens=tokens, sensitivity_ppm=sensitivity)
    others = [f"m{at:07}" for at in range(0, size, max(1, size // _ASKED))][:_ASKED]
    found = {}
    for name in FORGETTING:
        policy = Policy(budget=BudgetPolicy(tokens=f"{SPACE}={held // 2}/{name}"))
        budget = budget_of(policy.budget, SPACE)
        assert budget is not None
        voter.votes(others[0], policy=policy)  # begins the ranking
        found[name] = _spent(voter, _first(voter, budget, policy), policy), _spent(voter, others, policy)
    voter.view.close()
    return found


def _first(voter: Voter, budget: Budget, policy: Policy) -> list[str]:
    ledger = Ledger(budget.policy, policy.budget)
    for one in voter.alive().values():
        ledger.put(item(one))
    return [one.memory_id for one in ledger.plan(budget.tokens, _NOW, most=_ASKED).goes]


def _spent(voter: Voter, asked: list[str], policy: Policy) -> float:
    began = time.process_time()
    assert voter.votes(*asked, policy=policy)
    return time.process_time() - began


def whatif(material: Material) -> Row:
    """A what-if on histories of two lengths, each in a process of its own."""
    row = Row("whatif", "the cost of a what-if, by the records of the journal and the query log")
    most = dict[int, float]()
    sizes = _QUICK_RECORDS if material.quick else _RECORDS
    for records in sizes:
        with tempfile.TemporaryDirectory() as folder:
            histories.write(Path(folder), records)
            began = time.perf_counter()
            command = [sys.executable, "-m", histories.__name__, folder]
            told = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
        most[records] = told["most MB"]
        name = f"{records:,} records"
        row.figure(f"{name}: minutes of the processor", (told["reading"] + told["replaying"]) / 60, "min")
        row.figure(f"{name}: of that to read", told["reading"] / 60, "min")
        row.figure(f"{name}: minutes", (time.perf_counter() - began) / 60, "min")
        row.figure(f"{name}: most memory held", told["most MB"], "MB")
        row.figure(f"{name}: memories", told["memories"], "")
        row.figure(f"{name}: of them with a key", told["keyed"], "")
        row.figure(f"{name}: reads by queries asked again", told["again"], "")
    few, many = sizes
    row.figure("memory, a record more", (most[many] - most[few]) * 2**20 / (many - few), "bytes")
    row.at_most(f"{many:,} records: minutes", _MINUTES)
    row.note(
        f"{', '.join(histories.POLICIES)}, {histories.BUDGET:,} tokens for each of "
        f"{histories.SHARDS * histories.SPACES} namespaces, with caps; records are in files, from which they are "
        "decoded as from topics; memories that have a key have an embedding beside. Namespaces are replayed in as many "
        "processes as there are processors; memory is that of all of them"
    )
    return row


ROWS = {"own-order": own_order, "whatif": whatif}
