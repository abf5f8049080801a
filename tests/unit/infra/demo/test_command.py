"""The demo's refusals before it starts anything."""

import json

import pytest

from infra import admin_commands
from infra.settings import Settings


def main(arguments):
    parsed = admin_commands.parser("fleet", "demo").parse_args(["fleet", "demo", *arguments])
    return parsed.command(Settings(), parsed)


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "log.jsonl"
    path.write_text(json.dumps({"agent": "a", "content": "hello"}))
    return path


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--input", "absent.jsonl"], "absent.jsonl: no such file or folder"),
        (["--map", "who=speaker"], "unknown field 'who'"),
    ],
)
def test_a_log_that_cannot_be_read_is_one_line_and_status_1(capsys, arguments, complaint):
    assert main(arguments) == 1
    (line,) = capsys.readouterr().out.splitlines()
    assert complaint in line


def test_a_log_without_records_says_so(tmp_path, capsys):
    (tmp_path / "log.jsonl").write_text("[]")
    assert main(["--input", str(tmp_path / "log.jsonl")]) == 1
    assert "holds no record" in capsys.readouterr().out


def test_a_folder_that_is_not_the_demos_is_never_emptied(tmp_path, log, capsys):
    (tmp_path / "precious.txt").write_text("keep me")
    assert main(["--input", str(log), "--run-dir", str(tmp_path)]) == 1
    assert "Name another --run-dir" in " ".join(capsys.readouterr().out.split())
    assert (tmp_path / "precious.txt").read_text() == "keep me"


def test_help_and_wrong_usage(capsys):
    for arguments, status in ((["--help"], 0), (["--nonsense"], 2)):
        with pytest.raises(SystemExit) as left:
            main(arguments)
        assert left.value.code == status
    assert "--input PATH" in capsys.readouterr().out
