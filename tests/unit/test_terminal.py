"""No text of an agent reaches a terminal raw."""

from __future__ import annotations

import ast
import io
import json
import logging
import os
import pty
import re
import shlex
import subprocess
import sys
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.segment import Segment
from rich.style import Style
from rich.table import Table
from rich.text import Text

from infra.logs import JsonFormatter, PlainFormatter
from memquorum import terminal
from memquorum.core.showing.escaping import escaped
from tests import ROOT
from tests.builders.sources import MODULES, name
from tests.unit import evil

# The escape sequences of rich: colours, the cursor's line and its visibility.
_DRAWN = re.compile(r"\x1b\[[0-9;]*m|\r?\x1b\[[12]?[AK]|\x1b\[\?25[lh]|\r(?=\n|\x1b)")
_CATEGORIES = {"Cc", "Cf", "Cs", "Zl", "Zp"}
_JOINERS = "\u200c\u200d"


def _obeyed(text: str) -> set[str]:
    return {c for c in text if unicodedata.category(c) in _CATEGORIES and c not in _JOINERS + "\n\t"}


@given(st.text(st.characters()))
def test_nothing_is_left_that_a_terminal_obeys(text: str) -> None:
    shown = escaped(text)
    assert _obeyed(shown) == set()
    assert escaped(shown) == shown
    assert "\n" not in escaped(text, keep="")


@given(st.text(st.characters(exclude_categories=("Cc", "Cf", "Cn", "Cs", "Zl", "Zp"))))
def test_words_are_left_as_they_are(text: str) -> None:
    assert escaped(f"{text}\n\tमी\u200dक \u3000") == f"{text}\n\tमी\u200dक \u3000"


@given(st.text(st.characters()))
def test_json_stays_the_same_value(text: str) -> None:
    assert json.loads(escaped(json.dumps({"a": text}, ensure_ascii=False))) == {"a": text}


def test_a_table_is_cut_on_a_terminal_alone(capsys: pytest.CaptureFixture[str]) -> None:
    table = Table("letter", "reason", box=None, pad_edge=False)
    table.add_row(*(Text(cell, no_wrap=True) for cell in ("x" * 90, "forbidden_character")))
    console = terminal.console()
    console.print(table)
    console.print("words " * 40)
    rows = [row.rstrip() for row in capsys.readouterr().out.splitlines()]
    assert rows[1] == f"{'x' * 90}  forbidden_character"
    assert max(map(len, rows[2:])) <= console.width


def test_escapes_are_written_out() -> None:
    assert escaped("a\x1b[2J\x9b\u202eb\U000e0041\x7f\r") == r"a\u001b[2J\u009b\u202eb\udb40\udc41\u007f\u000d"


def test_lines_of_logs_hold_nothing_that_a_terminal_obeys() -> None:
    error = ValueError(evil.EVIL)
    told = ("says %s\nmore", (evil.EVIL,), (ValueError, error, None))
    record = logging.LogRecord("memquorum.x", logging.WARNING, "x.py", 1, *told)
    line, plain = JsonFormatter("a").format(record), PlainFormatter().format(record)
    assert _obeyed(line) == _obeyed(plain) == set()
    assert json.loads(line)["message"] == f"says {evil.EVIL}\nmore"
    assert plain.splitlines()[0].endswith(r"\u000amore")


def _on_a_terminal(environment: dict[str, str]) -> str:
    """Returns what the commands write to a terminal."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        [sys.executable, "-m", "tests.unit.evil"], cwd=ROOT, stdin=theirs, stdout=theirs, stderr=theirs,
        env=os.environ | {"TERM": "xterm-256color", "COLUMNS": "200"} | environment,
    ) as process:  # fmt: skip
        os.close(theirs)
        said = b""
        try:
            while data := os.read(ours, 65_536):
                said += data
        except OSError:  # nobody has the other end any more
            pass
        os.close(ours)
    text = said.decode()
    assert process.returncode == 0, text
    return text


def _by_command(text: str) -> dict[str, str]:
    _, *parts = re.split(r"^== '(.+)'\r?\n", text, flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


def test_no_command_lets_a_terminal_obey_an_agent() -> None:
    found = _by_command(_on_a_terminal({}))
    assert len(found) == 29
    for command, said in found.items():
        assert _obeyed(_DRAWN.sub("", said)) == set(), f"{command}: {said!r}"
        # It did come to be shown, and links are no part of it.
        assert r"\u001b]52;c;ZXZpbA==" in said.replace("\\\\", "\\"), f"{command}: {said!r}"
        assert "\x1b]8" not in said, command


def test_what_is_printed_is_escaped_on_the_way() -> None:
    raw = io.StringIO()
    guarded = terminal.Guarded(raw)
    print(evil.EVIL, "\x9b", file=guarded)  # type: ignore[call-overload]
    guarded.writelines(["\x1b", "\n"])
    assert _obeyed(raw.getvalue()) == set()
    assert raw.getvalue().endswith("\\u009b\n\\u001b\n")


class _Own:
    """Draws what it is given, as a renderer of its own may."""

    def __rich_console__(self, *_: object) -> Iterator[Segment]:
        yield Segment(evil.EVIL, Style(link="file:///etc"))


def test_a_renderer_of_its_own_draws_nothing_raw() -> None:
    drawn = io.StringIO()
    terminal._Console(file=drawn, force_terminal=True, color_system="truecolor", width=200).print(_Own())
    said = drawn.getvalue()
    assert r"\u001b]52" in said
    assert _obeyed(_DRAWN.sub("", said)) == set()
    assert "]8;" not in said


def test_into_a_pipe_texts_go_as_they_are() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.unit.evil"], cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, check=True
    )
    found = _by_command(done.stdout.decode())
    assert f"- {evil.EVIL}\n" in found["context q"]
    assert json.loads(found["search --json q"])["text"] == evil.EVIL


def _prints(tree: ast.AST) -> list[int]:
    """Lines that reach a terminal by another way than `memquorum.terminal`."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            console = called.rpartition(".")[2] in {"Console", "StreamHandler"} or called in {"os.write", "rich.print"}
            column = called == "TextColumn" and not any(k.arg == "markup" for k in node.keywords)
            markup = called.endswith(("from_markup", "from_ansi")) or any(
                k.arg == "markup" and ast.unparse(k.value) != "False" for k in node.keywords
            )
            if console or column or markup:
                found.append(node.lineno)
        elif isinstance(node, ast.Attribute) and ast.unparse(node) in {
            "sys.stdout.buffer", "sys.stderr.buffer", "sys.__stdout__", "sys.__stderr__", "rich.print",
        }:  # fmt: skip
            found.append(node.lineno)
    return found


# The guard itself, and the log's own handler, which writes to a standard error that the guard stands before.
_OWN = {"memquorum/terminal.py": 1, "infra/logs.py": 1}


def test_a_command_that_orders_goes_on_where_nobody_reads_what_it_shows(tmp_path: Path) -> None:
    """More than fits into the pipe is shown before the order is given."""
    ordered = tmp_path / "ordered"
    program = (
        "import sys; from pathlib import Path; from memquorum import terminal\n"
        "sys.stdout = terminal.ToTheEnd(sys.stdout)\n"
        "for _ in range(50_000): print('would erase', flush=True)\n"
        f"Path({str(ordered)!r}).touch()\n"
    )
    found = subprocess.run(
        ["bash", "-c", f"{sys.executable} -c {shlex.quote(program)} | head -1; exit ${{PIPESTATUS[0]}}"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        cwd=ROOT,
    )
    assert (found.stdout, found.returncode, found.stderr) == ("would erase\n", 0, "") and ordered.exists()


@pytest.mark.parametrize("path", MODULES, ids=name)
def test_nothing_is_printed_but_through_the_guard(path: Path) -> None:
    assert len(_prints(ast.parse(path.read_text()))) <= _OWN.get(name(path), 0)


@pytest.mark.parametrize("source", [
    "Console()", "rich.console.Console(stderr=True)", "os.write(1, b'')", "sys.stdout.buffer.write(b'')",
    "print(1, file=sys.__stderr__)", "Text.from_markup(a)", "shown.print(a, markup=True)", "TextColumn('{a}')",
    "from rich.console import Console\nclass A:\n  x = Console()",
])  # fmt: skip
def test_another_way_is_seen(source: str) -> None:
    assert _prints(ast.parse(source))


@pytest.mark.parametrize("path", ["memquorum/cli.py", "infra/admin_commands.py"])
def test_every_command_begins_with_the_guard(path: str) -> None:
    (main,) = [n for n in ast.parse((ROOT / path).read_text()).body if getattr(n, "name", "") == "main"]
    assert isinstance(main, ast.FunctionDef)
    assert ast.unparse(main.body[1]) == "terminal.guard()"


def _into_nothing(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs Python with a standard output that nobody reads any more, as behind `| head`."""
    reads, writes = os.pipe()
    os.close(reads)
    try:
        return subprocess.run(
            [sys.executable, *arguments], stdout=writes, stderr=subprocess.PIPE, text=True, cwd=ROOT, check=False
        )
    finally:
        os.close(writes)


_HEARD = (
    "import sys; from memquorum import terminal\ndef told():\n    {}\n    return 3\n"
    "sys.exit(terminal.until_pipe_closes(told))"
)


@pytest.mark.parametrize(
    "arguments",
    [
        ("-m", "memquorum", "--help"),
        ("-m", "memquorum", "decisions", "--help"),
        ("-m", "infra", "--help"),
        ("-m", "infra", "admin", "policy", "whatif", "--help"),
        ("-c", _HEARD.format("print('a', flush=True)")),
        ("-c", _HEARD.format("print('a')")),
        ("-c", _HEARD.format("terminal.console().print('a' * 100_000)")),
    ],
)
def test_who_has_seen_enough_of_an_output_ends_it_in_peace(arguments: tuple[str, ...]) -> None:
    done = _into_nothing(*arguments)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_command_whose_output_nobody_reads_to_its_end_ends_in_peace() -> None:
    done = _into_nothing("-c", _HEARD.format("print('a' * 100_000)"))
    assert (done.returncode, done.stderr) == (0, "")


def test_another_broken_pipe_than_that_of_the_output_is_not_taken_for_it() -> None:
    def fails() -> int:
        raise BrokenPipeError("a server went away")

    with pytest.raises(BrokenPipeError, match="a server"):
        terminal.until_pipe_closes(fails)


@pytest.mark.parametrize("path", ["memquorum/cli.py", "infra/admin_commands.py"])
def test_every_program_runs_its_command_by_heard(path: str) -> None:
    assert "terminal.until_pipe_closes(" in (ROOT / path).read_text(encoding="utf-8")


def test_a_process_that_has_ended_its_work_waits_for_no_thread() -> None:
    program = """
import threading, time
from memquorum.terminal import leave
threading.Thread(target=time.sleep, args=(600,)).start()
print("said", end="")
leave(3)
"""
    ended = subprocess.run([sys.executable, "-c", program], check=False, cwd=ROOT, capture_output=True, timeout=60)
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, b"said", b"")
