"""The file of targets: what it says, what is refused, and how long a target is waited for."""

from __future__ import annotations

from ipaddress import ip_network
from pathlib import Path

import pytest

from workers.events.targets import TargetsError, pause_s, read

SECRET = "whsec_" + "A" * 40
HEAD = f'[audit]\nurl = "https://hooks.example.org/x"\nsecrets = ["{SECRET}"]\n'


def test_a_target_says_all_of_itself() -> None:
    text = HEAD + (
        'types = ["erased"]\nnamespaces = ["plant", "team-*"]\naddresses = ["10.1.0.0/16"]\nca = "ca.crt"\n'
        'attempts = 3\nbegin = "start"\n[chat]\nurl = "http://10.0.0.7:8080/"\n'
        f'secrets = ["{SECRET}", "{SECRET}"]\naddresses = ["10.0.0.7"]\n'
    )
    audit, chat = read(text, Path("/run"))
    assert (audit.name, audit.types, audit.namespaces) == ("audit", ("erased",), ("plant", "team-*"))
    assert (audit.addresses, audit.ca, audit.attempts) == ((ip_network("10.1.0.0/16"),), Path("/run/ca.crt"), 3)
    assert (audit.secure, audit.from_now) == (True, False)
    assert (chat.name, len(chat.keys), chat.secure, chat.from_now, chat.types) == ("chat", 2, False, True, ())


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[audit", "no TOML"),
        ("audit = 1", r"\[audit\]: "),
        (HEAD.replace("audit", '"Audit 1"'), "a name has small letters"),
        (HEAD.replace(SECRET, "whsec_short"), "whsec_ and base64"),
        (HEAD.replace(f'"{SECRET}"', ""), "secrets: name one"),
        (HEAD.replace("https", "http"), "https"),
        (HEAD.replace("https", "ftp"), "https://HOST"),
        (HEAD.replace("hooks.", "u:p@hooks."), "no user"),
        (HEAD.replace("org/x", "org:99999/x"), "cannot be read"),
        (HEAD.replace("org/x", "org/x#y"), "no fragment"),
        (HEAD + 'types = ["stord"]', "no stord; known are"),
        (HEAD + 'namespaces = ["a b"]', "namespaces"),
        (HEAD + 'addresses = ["10.0.0.1/8"]', "addresses"),
        (HEAD + "attempts = 0", "attempts"),
        (HEAD + 'begin = "later"', "begin"),
        (HEAD + 'colour = "red"', "colour"),
    ],
)
def test_a_wrong_file_is_refused_without_its_secrets(text: str, told: str) -> None:
    with pytest.raises(TargetsError, match=told) as refused:
        read(text, Path("/run"))
    assert "example" not in str(refused.value) and "AAAA" not in str(refused.value)


def test_pauses_double_up_to_ten_minutes_and_are_drawn_from_their_whole_length() -> None:
    assert [pause_s(attempt, 1.0) for attempt in (1, 2, 3, 10, 11, 99)] == [1, 2, 4, 512, 600, 600]
    assert [pause_s(5, draw) for draw in (0.0, 0.25, 0.5)] == [0, 4, 8]
