"""Prints a shell's script that completes commands and options."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys

from memquorum import admin, completion
from memquorum.client.command import command
from memquorum.commands import OK, option


@command(
    "completion",
    option("shell", choices=completion.SHELLS, metavar="SHELL", help="bash, zsh or fish"),
    example="memquorum completion bash",
)
def _completion(parsed: argparse.Namespace) -> int:
    """Prints the script by which a shell completes commands and options."""
    print(completion.script(parsed.shell, known()), end="")
    return OK


def known() -> completion.Table:
    """The commands of this program, with those of `memquorum admin` where the server's code is installed."""
    from memquorum import cli  # which declares this command

    found = completion.table(cli.parser())
    if admin.has_server():
        ask = [sys.executable, "-m", "infra.command_words"]
        done = subprocess.run(ask, env=admin.environment(), stdout=subprocess.PIPE, check=True)
        found |= {key: [tuple(one) for one in words] for key, words in json.loads(done.stdout).items()}
    former = tuple(f"memquorum {name} " for name in cli.FORMER)
    shown = {key: words for key, words in found.items() if not f"{key} ".startswith(former)}
    return shown | {"memquorum": [one for one in shown["memquorum"] if one[0] not in cli.FORMER]}
