"""A model's operations on its directory: the slots that are written, their contents, and the errors."""

from __future__ import annotations

import asyncio

import pytest

from memquorum.anthropic.files import Files
from memquorum.anthropic.naming import Refused
from tests.builders.entries import Kept


@pytest.fixture
def slots() -> Kept:
    return Kept()


@pytest.fixture
def files(slots: Kept) -> Files:
    return Files(slots.entries(), "users/ada")


async def test_a_file_is_a_slot_below_the_path(slots: Kept, files: Files) -> None:
    await files.create("/memories/notes/a%b.md", "Ada eats no meat.\n")
    (said,) = slots.written
    assert (said["explicit"], said["path"], said["key"]) == (True, "users/ada/notes", "a%25b.md")
    assert said["content"] == "Ada eats no meat.\n" and "subject" not in said
    assert (await files.view("/memories")).splitlines()[-1] == "18B\t/memories/notes/a%b.md"


async def test_what_is_changed_or_renamed_is_made_of_what_it_was(slots: Kept, files: Files) -> None:
    said = {"subject": "rosa", "attributes": {"by": "survey"}, "key": "diet", "path": "users/ada"}
    await slots.write([{"content": "Rosa eats no meat.", **said}])
    await files.str_replace("/memories/diet", "no meat", "fish")
    await files.insert("/memories/diet", 1, "On Fridays.")
    await files.rename("/memories/diet", "/memories/old/diet")
    changed = [one for one in slots.written[1:] if "derives_from" in one]
    assert [one["derives_from"] for one in changed] == [["id1"], ["id2"], ["id3"]]
    assert all(one["subject"] == "rosa" and one["attributes"]["by"] == "survey" for one in changed)
    assert len({one["attributes"]["$"]["is"] for one in changed}) == 2  # what is renamed says the same
    assert list(slots.slots) == [("users/ada/old", "diet")]


async def test_what_is_said_of_a_file_goes_before_what_it_was(slots: Kept) -> None:
    files = Files(slots.entries(), "m", lambda path: {"subject": path.split("/")[2], "sensitivity": 0.5})
    await files.create("/memories/ada/diet", "x")
    await files.rename("/memories/ada/diet", "/memories/bob/diet")
    created, moved, gone = slots.written
    assert (created["subject"], moved["subject"], gone["subject"]) == ("ada", "bob", "ada")
    assert moved["sensitivity"] == 0.5


async def test_a_file_is_no_directory_and_a_directory_no_file(files: Files) -> None:
    await files.create("/memories/a/b", "x")
    for work, told in (
        (files.create("/memories/a", "x"), "already exists"),
        (files.create("/memories", "x"), "already exists"),
        (files.create("/memories/a/b/c/d", "x"), "/memories/a/b is a file, not a directory"),
        (files.rename("/memories/a/b", "/memories/a/b/c"), "into itself"),
        (files.rename("/memories/a", "/memories/a/c"), "into itself"),
        (files.str_replace("/memories/a", "x", "y"), "not a file"),
        (files.insert("/memories", 0, "y"), "not a file"),
        (files.view("/memories/b"), "does not exist"),
        (files.delete("/memories/b"), "does not exist"),
        (files.rename("/memories/b", "/memories/c"), "does not exist"),
    ):
        with pytest.raises(Refused, match=told):
            await work


async def test_a_view_of_a_file_counts_as_used_and_its_name_in_a_directory_does_not(slots: Kept, files: Files) -> None:
    await files.create("/memories/a", "one\ntwo\nthree")
    await files.view("/memories")
    assert slots.used == []
    assert (await files.view("/memories/a", [2, -1])).splitlines()[1:] == ["     2\ttwo", "     3\tthree"]
    assert slots.used == ["id1"]


@pytest.mark.parametrize("kind", ["another agent's", "pinned"])
async def test_a_rename_that_is_refused_changes_nothing(slots: Kept, files: Files, kind: str) -> None:
    await files.create("/memories/a/mine", "x")
    by = {"agent": "b"} if kind != "pinned" else {}
    await slots.write([{"content": "theirs", "attributes": {}, "path": "users/ada/a", "key": "z", **by}])
    slots.pinned |= {"id2"} if kind == "pinned" else set()
    before = {slot: one.text for slot, one in slots.slots.items()}
    for old, new in (("/memories/a/z", "/memories/y"), ("/memories/a", "/memories/b")):
        with pytest.raises(Refused, match=r"^/memories/a/z cannot be moved or deleted: another agent wrote it"):
            await files.rename(old, new)
        assert {slot: one.text for slot, one in slots.slots.items()} == before
    copies = [one for one in slots.written if one.get("content") == "theirs"]
    assert len(copies) == (1 if kind != "pinned" else 3), "what is another's is asked for before it is copied"
    with pytest.raises(Refused, match=r"^/memories/a/z cannot"):
        await files.delete("/memories/a")
    assert list(slots.slots) == [("users/ada/a", "z")]


async def test_changes_at_once_are_made_one_after_the_other(files: Files) -> None:
    await files.create("/memories/log", "")
    await asyncio.gather(*(files.insert("/memories/log", 0, str(at)) for at in range(8)))
    shown = await files.view("/memories/log")
    assert sorted(line[-1:] for line in shown.splitlines()[1:-1]) == [str(at) for at in range(8)]
    again = await asyncio.gather(*(files.create("/memories/new", str(at)) for at in range(3)), return_exceptions=True)
    assert sum(isinstance(one, Refused) for one in again) == 2


async def test_a_directory_goes_with_all_that_is_in_it_and_nothing_beside_it(slots: Kept, files: Files) -> None:
    for name in ("a/x", "a/b/y", "ab", "c"):
        await files.create(f"/memories/{name}", name)
    await files.delete("/memories/a")
    assert sorted(slots.slots) == [("users/ada", "ab"), ("users/ada", "c")]
    await files.clear()
    assert slots.slots == {}
