"""Prints what may follow each of the operator's commands, as JSON: `python -m infra.command_words`, for completion."""

from __future__ import annotations

import json

from infra.admin_commands import parser
from memquorum.completion import table

if __name__ == "__main__":
    print(json.dumps(table(parser())))
