"""The commit worker as a process of its own, which a test kills.

Arguments: bootstrap address, memory's DSN, vault's DSN.
"""

from __future__ import annotations

import logging
import sys

from db.vault import PostgresVault
from memquorum.core.identity.membership import CONSOLIDATOR
from memquorum.core.orders.patch import SIGNER
from memquorum.core.policy import NO_CAPS, BudgetPolicy, ForgetPolicy
from memquorum.schema_files import load_codec
from tests.builders import genesis, trials
from tests.builders.policies import by_the_paper
from workers.commit import worker as commit
from workers.kafka.loop import Stop

GENESIS = genesis.make(
    policy=by_the_paper(forget=ForgetPolicy(grace_ms=0), caps=NO_CAPS, budget=BudgetPolicy(epsilon_ppm=1)),
    agent_keys={CONSOLIDATOR: genesis.public_key(SIGNER)},
    **trials.entitled(),
)
SEED = genesis.seed_of("service:journal")
MASTER = bytes(range(32))


def main() -> None:
    logging.basicConfig(level=logging.INFO)
    bootstrap, memory_dsn, vault_dsn = sys.argv[1:]
    commit.run(
        bootstrap,
        GENESIS,
        load_codec(),
        memory_dsn=memory_dsn,
        vault=PostgresVault(vault_dsn, MASTER),
        journal_seed=SEED,
        stop=Stop().on_signals(),
    )


if __name__ == "__main__":
    main()
