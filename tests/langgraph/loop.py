"""An agent's loop in a graph of LangGraph, with a scripted model and no network: it learns something, is corrected, is
asked, forgets small talk, and erases a person. Its memory is our store, on an installation whose clock is driven.

Runs in the environment of `make langgraph`; `tests/langgraph/__main__.py` starts it.
"""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import Callable, Iterator
from typing import Any, TypedDict

import pytest
from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore, GetOp, PutOp, SearchOp

from memquorum.client import Contested, Invalid, Memory
from memquorum.client.values import Episode
from memquorum.langgraph import AsyncMemquorumStore, MemquorumStore

BEGUN = 1_750_000_000_000


@pytest.fixture
def space() -> str:
    return f"loop-{uuid.uuid4().hex}"


@pytest.fixture
def store(space: str) -> Iterator[MemquorumStore]:
    def about(namespace: tuple[str, ...], _: str) -> Episode:
        return {"subject": namespace[-1]}

    with MemquorumStore(namespace=space, agent="host", index={"fields": ["text"]}, saying=about) as made:
        yield made


class Turn(TypedDict, total=False):
    said: str
    answer: str


def model(said: str, known: list[str]) -> dict[str, Any]:
    """The scripted model: what it does with what is said, and with what it knows of it."""
    script: dict[str, dict[str, Any]] = {
        "Ada eats no meat.": {"put": ("ada", "diet", said)},
        "No, Ada eats fish again.": {"put": ("ada", "diet", said)},
        "Bob is allergic to nuts.": {"put": ("bob", "allergy", said)},
        "Lovely day, isn't it?": {"put": ("bob", "talk", said)},
        "Forget all about Ada.": {"erase": "ada"},
    }
    return script.get(said, {"answer": known[0] if known else "I do not know."})


def agent(turn: Turn, *, store: BaseStore) -> Turn:
    known = [item.value["text"] for item in store.search(("guests",), query=turn["said"], limit=1)]
    does = model(turn["said"], known)
    if "put" in does:
        who, key, text = does["put"]
        store.put(("guests", who), key, {"text": text})
    if "erase" in does:
        assert isinstance(store, MemquorumStore)
        store.erase(subject=does["erase"], dry_run=False)
    return {"answer": does.get("answer", "Noted.")}


def test_an_agent_learns_is_corrected_is_asked_forgets_small_talk_and_erases_a_person(
    store: MemquorumStore, later: Callable[[float], None]
) -> None:
    graph = StateGraph(Turn)
    graph.add_node("agent", agent)
    graph.add_edge(START, "agent")
    graph.add_edge("agent", END)
    loop = graph.compile(store=store)

    def say(said: str) -> str:
        answer: str = loop.invoke({"said": said})["answer"]
        return answer

    for said in ("Ada eats no meat.", "Bob is allergic to nuts.", "Lovely day, isn't it?"):
        assert say(said) == "Noted."
    assert say("May Ada eat meat?") == "Ada eats no meat."
    say("No, Ada eats fish again.")
    assert say("What does Ada eat?") == "No, Ada eats fish again."
    assert [item.value["text"] for item in store.search(("guests", "ada"))] == ["No, Ada eats fish again."]

    # Requested memories stay; unread ones are forgotten by a vote.
    for _ in range(40):
        later(1)
        assert say("What does Ada eat?") == "No, Ada eats fish again."
        assert store.get(("guests", "bob"), "allergy") is not None
        if store.get(("guests", "bob"), "talk", refresh_ttl=False) is None:
            break
    assert store.get(("guests", "bob"), "talk", refresh_ttl=False) is None

    say("Forget all about Ada.")
    assert store.search(("guests", "ada")) == [] and store.get(("guests", "ada"), "diet") is None
    assert say("What does Ada eat?") == "Bob is allergic to nuts."
    assert store.list_namespaces() == [("guests", "bob")]
    later(1)
    assert store.search(("guests", "ada"), query="fish") == []


def test_what_is_deleted_is_hidden_at_once_and_can_be_put_again(store: MemquorumStore) -> None:
    value = {"text": "The gate is open.", "by": "ada", "deep": [1, {"two": 2.5}]}
    store.put(("yard",), "gate", value)
    store.delete(("yard",), "gate")
    assert store.get(("yard",), "gate") is None and store.search(("yard",)) == [] and store.list_namespaces() == []
    store.put(("yard",), "gate", value)
    found = store.get(("yard",), "gate")
    assert found is not None and found.value == value


def test_what_is_not_its_own_to_delete_stays_and_is_told(store: MemquorumStore, space: str) -> None:
    with MemquorumStore(namespace=space, agent="other") as other:
        store.put(("yard",), "gate", {"text": "The gate is open."})
        with pytest.raises(Contested) as told:
            other.delete(("yard",), "gate")
        assert len(told.value.memory_ids) == 1 and other.get(("yard",), "gate") is not None
        store.delete(("yard",), "gate")
        assert other.get(("yard",), "gate") is None


def test_what_was_written_elsewhere_without_a_key_goes_by_its_id(store: MemquorumStore, space: str) -> None:
    with Memory(namespace=space, agent="host") as memory:
        said = memory.add("The gate is painted green.", path="yard", wait=True)
    (found,) = store.search(("yard",))
    assert found.key == said.memory_id
    store.delete(("shed",), said.memory_id)
    assert store.get(("yard",), said.memory_id) is not None, "it is filed elsewhere"
    store.delete(("yard",), said.memory_id)
    assert store.get(("yard",), said.memory_id) is None and store.search(("yard",)) == []


@pytest.mark.parametrize(
    "value",
    [
        {},
        {"text": ""},
        {"text": " blank ends "},
        {"text": "naïve \U0001f600 \0 text", "$": 1, "$hidden": True},
        {"n": 10**30, "f": 1e300, "z": -0.0, "e": 1e-7, "b": True, "x": None},
        {"text": "long " * 4_000, "kind": "note"},
        {"text": "x", "deep": {"a": [{"b": [[[]]]}]}, " odd name ": "y"},
        {"text": "many"} | {f"f{i}": [i] for i in range(60)},
    ],
    ids=range(8),
)
def test_a_value_comes_back_as_it_was_put(store: MemquorumStore, value: dict[str, Any]) -> None:
    for index in (None, False, ["text"], ["$"]):
        store.put(("v", "c ", "a/b%"), "k/1", value, index=index)
        found = store.get(("v", "c ", "a/b%"), "k/1")
        assert found is not None and (found.value, found.namespace, found.key) == (value, ("v", "c ", "a/b%"), "k/1")
        assert all(type(found.value[name]) is type(one) for name, one in value.items())
    assert len(store.search(("v",))) == 1


def test_what_has_no_room_is_refused_with_the_limit_and_nothing_of_its_batch_is_written(store: MemquorumStore) -> None:
    fine = PutOp(("a",), "fine", {"text": "x"})
    for op, told in (
        (PutOp(("a",), "k", {"text": "x" * 70_000}), "65536"),
        (PutOp(("a",), "k", {f"f{i}": i for i in range(40)}), "30 are the most"),
        (PutOp(("a",) * 17, "k", {"text": "x"}), "16 are the most"),
        (PutOp(("a",), "k" * 129, {"text": "x"}), "128 are the most"),
        (PutOp(("a",), "k", {"text": "x"}, ttl=5), "members vote"),
        (PutOp(("a",), "k", {"text": {1, 2}}), "no JSON"),
        (SearchOp(("a",), query="x", limit=200), "100"),
    ):
        with pytest.raises(Invalid, match=told):
            store.batch([fine, op])
    assert store.get(("a",), "fine") is None


def test_a_batch_answers_in_order_of_what_was_there_before_it(store: MemquorumStore) -> None:
    store.put(("a",), "k", {"text": "old"})
    got, put, again, found = store.batch([
        GetOp(("a",), "k"), PutOp(("a",), "k", {"text": "first"}), PutOp(("a",), "k", {"text": "last"}),
        SearchOp(("a",)),
    ])  # fmt: skip
    assert (got.value["text"], put, again, [item.value["text"] for item in found]) == ("old", None, None, ["old"])
    assert store.get(("a",), "k").value == {"text": "last"}


def test_items_under_different_keys_do_not_contradict_each_other(
    store: MemquorumStore, later: Callable[[float], None]
) -> None:
    codes = {"front": 4821, "back": 9930, "shed": 1111}
    for who, code in codes.items():
        store.put(("doors", who), "code", {"text": f"The door code is {code}."})
    later(0.01)
    found = {item.namespace[1]: item.value["text"] for item in store.search(("doors",))}
    assert found == {who: f"The door code is {code}." for who, code in codes.items()}


def test_filters_are_asked_of_the_service_and_the_rest_is_compared(store: MemquorumStore) -> None:
    for at in range(4):
        store.put(("f",), str(at), {"text": f"note {at}", "n": at, "tags": ["a", str(at)], "in": {"x": at}})

    def keys(**filter: Any) -> list[str]:
        return sorted(item.key for item in store.search(("f",), filter=filter))

    assert keys(n=2) == keys(n={"$eq": 2}) == keys(tags=["a", "2"]) == keys(**{"in": {"x": 2}}) == ["2"]
    assert keys(n={"$gte": 1, "$lt": 3}) == keys(n={"$in": [1, 2]}) == ["1", "2"]
    assert keys(n={"$ne": 0}, tags={"$ne": ["a", "3"]}) == ["1", "2"]
    assert [item.key for item in store.search(("f",), query="note", filter={"tags": ["a", "1"]})] == ["1"]
    with pytest.raises(Invalid, match="operator"):
        keys(n={"$like": 1})


def test_what_was_written_elsewhere_is_found_here_and_the_other_way_round(space: str, store: MemquorumStore) -> None:
    with Memory(namespace=space, agent="other") as memory:
        plain = memory.add("The boiler was serviced in May.", wait=True)
        said = {"key": "drink", "path": "users/rosa", "attributes": {"kind": "taste"}}
        memory.add("Rosa prefers tea.", explicit=True, wait=True, **said)
        assert store.get((), plain.memory_id).value == {"text": "The boiler was serviced in May."}
        assert store.get(("users", "rosa"), "drink").value == {"text": "Rosa prefers tea.", "kind": "taste"}
        found = store.search((), query="boiler service", limit=1)
        assert [(item.namespace, item.key) for item in found] == [((), plain.memory_id)]
        store.put(("users", "rosa"), "food", {"text": "Rosa eats everything."})
        assert store.get(("users", "rosa"), "food") is not None
        assert memory.slot("food", "users/rosa").text == "Rosa eats everything."
        assert memory.paths().paths == ("users/rosa",)


def test_another_namespace_finds_nothing(space: str, store: MemquorumStore) -> None:
    store.put(("users", "ada"), "diet", {"text": "Ada eats no meat.", "kind": "food"})
    item = store.get(("users", "ada"), "diet")
    with Memory(namespace=space) as memory:
        memory_id = memory.slot("diet", "users/ada").memory_id
    assert item is not None
    with MemquorumStore(namespace=f"{space}-other", agent="host") as other:
        assert other.get(("users", "ada"), "diet") is None and other.get(("users", "ada"), memory_id) is None
        assert other.search((), filter={"kind": "food"}) == other.search((), query="What does Ada eat?") == []
        assert other.list_namespaces() == other.list_namespaces(prefix=("users",)) == []


async def test_many_at_once_lose_nothing(space: str) -> None:
    async with AsyncMemquorumStore(namespace=space, agent="host") as store:
        await asyncio.gather(*(store.aput(("n", str(at % 7)), str(at), {"at": at}) for at in range(200)))
        found = await asyncio.gather(*(store.aget(("n", str(at % 7)), str(at)) for at in range(200)))
        assert [item and item.value for item in found] == [{"at": at} for at in range(200)]
        assert len(await store.alist_namespaces(prefix=("n",))) == 7
