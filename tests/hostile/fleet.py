"""The processes of a run: the members, some of whom may lie, and the commit worker on Postgres."""

from __future__ import annotations

import logging
import multiprocessing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

from db.vault import PostgresVault
from memquorum.core.identity.membership import CONSOLIDATOR, load
from memquorum.core.policy import BudgetPolicy, CapsPolicy, ForgetPolicy, PromotePolicy
from memquorum.schema_files import load_codec
from tests.builders import trials
from tests.builders.genesis import make_bytes, public_key, seed_of
from tests.builders.policies import by_the_paper
from tests.hostile import cellar, member, memories
from workers.commit import worker as commit
from workers.kafka import loop

GRACE_MS = 60_000
# The runs look at the decisions of the votes: nothing is held back except in the small namespaces that have a budget.
# And each member promotes what it knows, also without the support of another episode, which has a score of 0.40. All
# have read the same of the namespaces with a budget.
POLICY = by_the_paper(
    forget=ForgetPolicy(grace_ms=GRACE_MS),
    promote=PromotePolicy(salience_ppm=0, yes_ppm=350_000, validity_ppm=350_000),
    caps=CapsPolicy(day_share=Fraction(1), floor=cellar.CAP),
    budget=BudgetPolicy(tokens=f"{cellar.SPACES}={cellar.BUDGET_TOKENS}", margin_ppm=0),
)
MASTER = bytes(range(32))
COMMIT, TWIN = "commit", "twin"

Lies = Sequence[Sequence[str]]
HONEST: Lies = ((), (), (), ())
"""By shard."""


def genesis_of(members: int) -> bytes:
    """The genesis file of so many."""
    keys = {CONSOLIDATOR: public_key(f"agent:{CONSOLIDATOR}")}
    return make_bytes(members, agents=memories.agents(members), agent_keys=keys, policy=POLICY, **trials.entitled())


@dataclass(frozen=True, slots=True)
class RunPlace:
    """The place of a run: a Kafka with fresh topics, two migrated databases, a folder."""

    bootstrap: str
    memory_dsn: str
    vault_dsn: str
    folder: Path

    def vault(self) -> PostgresVault:
        """Connects at its first use; each process wants its own."""
        return PostgresVault(self.vault_dsn, MASTER)


class Fleet:
    """The processes by name: members by their number, a liar's second one `twin-…`, and `commit`."""

    def __init__(self, place: RunPlace, members: int, liars: Mapping[str, tuple[int, Lies]], grace_ms: int) -> None:
        """`liars`: process name → member, and its behaviours by shard."""
        self._members, self._genesis = members, genesis_of(members)
        self._context = multiprocessing.get_context("forkserver")
        self._context.set_forkserver_preload([__name__])
        self._place, self._liars, self._grace_ms = place, liars, grace_ms
        self._processes: dict[str, Any] = {}
        self._events: list[Any] = []

    def start(self, patience_s: float = 60) -> list[str]:
        """Starts all; the names of those that do not work after so long."""
        names = [*self._liars, *(str(m) for m in range(self._members) if str(m) not in self._liars), COMMIT]
        waits = {name: self.begin(name) for name in names}
        return [name for name, ready in waits.items() if not ready.wait(patience_s)]

    def begin(self, name: str) -> Any:
        """Starts one; answers the event that says that it works."""
        ready = self._context.Event()
        self._events.append(ready)  # a process that starts can find it only while somebody holds it
        if name == COMMIT:
            target = partial(_commit_process, self._place, self._genesis, ready)
        else:
            number, lies = self._liars.get(name) or (int(name), HONEST)
            folder = self._place.folder / (name if name.startswith(TWIN) else "")
            target = partial(
                member.process, self._place.bootstrap, self._genesis, number, self._place.vault(),
                run_dir=folder, lies=lies, grace_ms=self._grace_ms, ready=ready,
            )  # fmt: skip
        started = self._context.Process(target=target)
        started.start()
        self._processes[name] = started
        return ready

    def kill(self, name: str) -> None:
        """kill -9."""
        self._processes[name].kill()
        self._processes[name].join()

    def ended(self) -> list[str]:
        """Returns the processes that have ended."""
        return [name for name, one in self._processes.items() if not one.is_alive()]

    def stop(self) -> None:
        for one in self._processes.values():
            one.terminate()
        for one in self._processes.values():
            one.join(5)
            if one.is_alive():
                one.kill()
                one.join()


def _commit_process(place: RunPlace, genesis: bytes, ready: Any) -> None:
    member.log_to(place.folder / "commit.log")
    try:
        commit.run(
            place.bootstrap, load(genesis), load_codec(), memory_dsn=place.memory_dsn, vault=place.vault(),
            journal_seed=seed_of("service:journal"), stop=loop.Stop().on_signals(), ready=ready.set,
        )  # fmt: skip
    except BaseException:
        logging.exception("the commit worker ends")
        raise
