"""The console's JavaScript has no error of types, and asks and reads what the API's description says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memquorum.core.api.endpoints import ENDPOINTS
from tests import ROOT
from tests.console import typed
from workers.retrieval import openapi

CONSOLE = ROOT / "memquorum" / "console"
TOOLS = ROOT / ".tools" / "console"
COMPILER = TOOLS / "npm" / "node_modules" / "typescript" / "bin" / "tsc"
# Template literals of htm are not looked into as markup, but what stands in them is.
OPTIONS = {
    "allowJs": True, "checkJs": True, "noEmit": True, "strict": True, "noImplicitAny": False, "target": "es2023",
    "module": "es2022", "moduleResolution": "bundler", "lib": ["es2024", "dom", "dom.iterable", "dom.asynciterable"],
    "types": [], "skipLibCheck": True,
}  # fmt: skip


def checked(folder: Path, text: str = "") -> list[str]:
    """Returns the errors of the compiler in a copy of the console, with `text` as one more of its pages. Skips the test
    where there is no compiler."""
    if not (TOOLS / ".ready").exists() or not COMPILER.exists():
        pytest.skip("the TypeScript compiler is not installed: run `make console`")
    shutil.copytree(CONSOLE, folder, dirs_exist_ok=True)
    for file in Path(__file__).with_name("vendored").iterdir():
        shutil.copy(file, folder / "vendor")
    (folder / "api.d.ts").write_text(typed.declared(openapi.describe(ENDPOINTS)), encoding="utf-8")
    (folder / "pages" / "more.js").write_text(text, encoding="utf-8")
    told = {"compilerOptions": OPTIONS, "files": ["api.d.ts", "app.js", *map(str, folder.glob("[lp]*/*.js"))]}
    (folder / "tsconfig.json").write_text(json.dumps(told), encoding="utf-8")
    done = subprocess.run(
        [TOOLS / "bin" / "node", COMPILER, "--project", "tsconfig.json", "--pretty", "false"],
        cwd=folder, text=True, capture_output=True, check=False, timeout=120, env={**os.environ, "HOME": str(folder)},
    )  # fmt: skip
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_the_console_has_no_error_of_types(tmp_path: Path) -> None:
    assert checked(tmp_path) == []


def test_what_the_api_does_not_say_is_an_error(tmp_path: Path) -> None:
    errors = checked(
        tmp_path,
        'import {get, post} from "../lib/api.js";\n'
        'export const right = (await get("namespaces/plant")).tiers;\n'
        "export const misread = (await get(`namespaces/${right}`)).tires;\n"
        'export const misasked = await post("memories/list", {namespace: "plant", limits: 3});\n'
        'export const misplaced = (await get("namespace/plant")).tiers;\n',
    )
    assert [one.partition(",")[0] for one in errors] == [f"pages/more.js({line}" for line in (3, 4, 5)], errors
