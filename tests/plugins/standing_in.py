"""A plugin of pytest for the tests of a framework, in which ours stand in for what is its own (`-p standing_in`,
`tests/upstream.py`). Their package is called `tests` too, so nothing of ours can be imported by that name there.

It leaves out the tests that `tests/excluded.toml` names, each with its reason. A conftest of ours says by `taking` what
is replaced in which files.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

Hook = Callable[[Path, Any], Any]


def taking(replace: Callable[[ModuleType], None], *files: str) -> Hook:
    """The hook that takes files of tests, all where none are named, and replaces in each what `replace` says."""

    class Module(pytest.Module):
        def _getobj(self) -> ModuleType:
            module: ModuleType = super()._getobj()
            replace(module)
            return module

    def pytest_pycollect_makemodule(module_path: Path, parent: Any) -> Any:
        taken = module_path.name in files if files else module_path.name.startswith("test_")
        return Module.from_parent(parent, path=module_path) if taken else None

    return pytest_pycollect_makemodule


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out the tests that are excluded by name, which have to be there.

    Where PEER is set, none: then another store than ours is tested.
    """
    file = config.rootpath / "tests" / "excluded.toml"
    excluded: dict[str, str] = tomllib.loads(file.read_text()) if file.exists() else {}
    names = {item.name.split("[")[0] for item in items}
    if strange := excluded.keys() - names:
        raise pytest.UsageError(f"excluded.toml names what is no test: {', '.join(sorted(strange))}")
    for item in items:
        reason = excluded.get(item.name.split("[")[0])
        if reason is not None and not os.environ.get("PEER"):
            item.add_marker(pytest.mark.skip(reason=reason))
