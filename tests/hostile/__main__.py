"""`python -m tests.hostile`: malicious processes on a real Kafka and a real Postgres, one behaviour after the other."""

from __future__ import annotations

import argparse
import json
import math
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from db.migrate import migrate
from infra.embedded.brokers import Brokers
from infra.embedded.postgres import Postgres
from tests.faults.kept import keep
from tests.hostile import drive
from tests.hostile.fleet import RunPlace
from tests.hostile.judge import Met, bearable, limit_of
from tests.hostile.member import BEHAVIOURS
from tests.hostile.memories import MEMBERS
from tests.hostile.table import RESULTS

ALL = ("none", *BEHAVIOURS, "mixed", "stranger", "kills", drive.BEYOND, *drive.BROKERS)
# Runs beyond the tolerated faults have no limit except that they end.
_NO_LIMIT = (drive.BEYOND, *drive.BROKERS)
# These runs have so many times as many epochs as the others: a broker is away for seconds; and a turn of the primary
# and a checkpoint take 64 epochs of a shard.
_LONG = ("none", "silent", "two-proposals", "picks", "twins", "kills", drive.BEYOND)
_SHARES = dict.fromkeys(_LONG, 6) | {name: 6 // away for name, away in drive.BROKERS.items()}


def main() -> int:
    parser = argparse.ArgumentParser("tests.hostile", description=__doc__)
    parser.add_argument("--epochs", type=int, default=3_000, help="in all, over all behaviours and four shards")
    parser.add_argument("--each", type=int, help="so many on a shard for a short behaviour, in place of --epochs")
    parser.add_argument("--behaviour", action="append", choices=ALL, help="only this one; more than once for more")
    parser.add_argument("--members", type=int, default=MEMBERS, help=f"4 or more; {MEMBERS} unless told")
    parser.add_argument("--liars", type=int, help="how many lie at once; as many as may unless told")
    parser.add_argument("--keep", action="store_true", help=f"writes the outcome to {RESULTS}")
    parser.add_argument("--seed", type=int, default=1, help="of what is random")
    asked = parser.parse_args()
    most = bearable(asked.members)
    liars = most if asked.liars is None else asked.liars
    if not 1 <= liars <= most:
        parser.error(f"of {asked.members} members 1 to {most} may lie")
    chosen = list(dict.fromkeys(["none", *(asked.behaviour or ALL)]))
    shares = {name: _SHARES.get(name, 1) for name in chosen}
    each = asked.each or max(1, math.ceil(asked.epochs / sum(shares.values()) / 4))
    began, rows = time.strftime("%Y%m%d-%H%M%S"), list[dict[str, Any]]()
    truth: Met | None = None
    with (
        tempfile.TemporaryDirectory(prefix="hostile-") as name,
        Postgres(Path(name, "postgres"), throwaway=True) as postgres,
    ):
        for number, behaviour in enumerate(chosen):
            met = Met(behaviour, members=asked.members)
            lying = drive.liars_of(behaviour, liars)
            behave(met, lying, each * shares[behaviour], Path(name, behaviour), postgres, truth=truth, seed=asked.seed)
            truth = met if truth is None else truth
            rows.append(met.row())
            print(f"{number + 1}/{len(chosen)} {json.dumps(rows[-1])}", flush=True)
            if asked.keep:  # after each behaviour: a run that is ended early has shown something
                story = {"began": began, "arguments": sys.argv[1:], "seed": asked.seed, "rows": rows}
                keep(RESULTS / f"hostile-{began}.json", story)
    bad = sum(bool(row["problems"]) for row in rows)
    print(f"{sum(row['nominated'] for row in rows)} epochs, {bad} of {len(rows)} behaviours with problems")
    return 1 if bad else 0


def behave(
    met: Met, liars: drive.Liars, epochs: int, folder: Path, postgres: Postgres, *, truth: Met | None, seed: int
) -> None:
    """One behaviour on brokers and databases of its own."""
    names = [f"{kind}_{met.behaviour.replace('-', '_')}" for kind in ("memory", "vault")]
    postgres.create(*names)
    memory, vault = map(postgres.dsn, names)
    migrate(memory, "memory")
    migrate(vault, "vault")
    copies = 3 if met.behaviour in drive.BROKERS else 1
    lying = {member for member, _ in liars.values()}
    met.limit_s = math.inf if met.behaviour in _NO_LIMIT else limit_of(len(lying), met.members)
    with Brokers(folder / "kafka", copies) as brokers:
        drive.run(
            met, epochs, RunPlace(brokers.bootstrap, memory, vault, folder), truth, liars=liars,
            disturb=drive.disturbed(met.behaviour, brokers), seed=seed, copies=copies,
        )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
