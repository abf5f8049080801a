"""The tools: what each takes and gives follows from the description of the API, and which are shown from rights."""

from __future__ import annotations

import inspect

import jsonschema
import pytest
from msgspec import structs

from memquorum.client import AsyncMemory, Invalid
from memquorum.core.access import ERASE, FORGET, PUBLISH, READ, RIGHTS
from memquorum.core.api.endpoints import ENDPOINTS
from memquorum.core.api.fields import numbers, sentences
from memquorum.core.api.requests import ContextRequest, Filtered, RecallRequest, RetrieveRequest, SearchRequest
from memquorum.mcp.server import _told
from memquorum.mcp.tools import TOOLS, Tool

BY_NAME = {one.name: one for one in TOOLS}
EACH = pytest.mark.parametrize("tool", TOOLS, ids=lambda one: one.name)


def shown(*rights: str) -> set[str]:
    return {one.name for one in TOOLS if one.opened(frozenset(rights))}


def test_every_field_of_every_request_is_said_to_be_something() -> None:
    bodies = [one.body for one in ENDPOINTS if one.body is not None]
    for body in bodies:
        assert sentences(body).keys() == {field.name for field in structs.fields(body)}
        assert all(one[0].isupper() or one.startswith("episodic") for one in sentences(body).values())


@EACH
def test_its_schemas_are_schemas_of_objects_that_every_argument_is_described_in(tool: Tool) -> None:
    told = _told(tool)
    for schema in (told.input_schema, told.output_schema):
        assert schema is not None and schema["type"] == "object"
        jsonschema.Draft202012Validator.check_schema(schema)
    fields = told.input_schema["properties"]
    fields = fields | fields.get("filters", {}).get("properties", {})
    assert [name for name, one in fields.items() if len(one["description"]) < 10] == []
    assert told.description is not None and told.description.endswith(".")


@EACH
def test_its_schemas_have_no_truth_value_in_the_place_of_a_schema(tool: Tool) -> None:
    told = _told(tool)

    def booleans(schema: object, at: str) -> list[str]:
        if isinstance(schema, list):
            return [found for n, one in enumerate(schema) for found in booleans(one, f"{at}/{n}")]
        if not isinstance(schema, dict):
            return []
        here = [f"{at}/{name}" for name in ("items", "not") if isinstance(schema.get(name), bool)]
        return here + [found for name, one in schema.items() for found in booleans(one, f"{at}/{name}")]

    assert booleans(told.input_schema, "") + booleans(told.output_schema, "") == []


def test_how_many_items_an_array_has_is_told_still() -> None:
    told = _told(BY_NAME["retrieve_context"]).output_schema
    assert told is not None
    spans = told["$defs"]["Placed"]["properties"]["spans"]["items"]
    assert (spans["minItems"], spans["maxItems"], len(spans["prefixItems"])) == (2, 2, 2)


@EACH
def test_an_unknown_argument_is_refused_by_its_name(tool: Tool) -> None:
    with pytest.raises(Invalid, match="nonsense"):
        tool.takes.read({"nonsense": 1})


def test_a_key_that_may_only_read_is_shown_no_tool_that_writes() -> None:
    assert not any(BY_NAME[name].writes for name in shown(READ))
    assert shown(READ) >= {"search_memories", "get_memory", "explain_memory"}
    assert shown(PUBLISH) == {"add_memory", "end_session", "finish_task", "give_feedback", "get_event_status"}
    assert "update_memory" in shown(READ, PUBLISH) and "update_memory" not in shown(READ)
    asked = {"propose_forget", "restore_memory", "rollback_weight", "pin_memory", "unpin_memory", "get_order"}
    assert shown(FORGET) == asked | {"get_goals", "get_pins"}
    assert shown(ERASE) == {"erase_memories", "get_order"}
    assert shown(*RIGHTS) == set(BY_NAME) and shown() == set()


def test_the_hints_say_what_writes_and_what_destroys() -> None:
    hints = {one.name: _told(one).annotations for one in TOOLS}
    assert {name for name, one in hints.items() if one and one.read_only_hint} == {
        one.name for one in TOOLS if not one.writes
    }
    destroys = {name for name, one in hints.items() if one and one.destructive_hint}
    assert destroys == {"update_memory", "delete_memory", "propose_forget", "erase_memories"}


def test_filters_are_those_of_a_search_and_a_list_has_more() -> None:
    search = BY_NAME["search_memories"].takes.schema["properties"]
    own = {"namespace", "agent", "peek", "redact"}
    assert set(Filtered.__struct_fields__) - own == set(search["filters"]["properties"])
    listed = BY_NAME["get_memories"].takes.schema["properties"]["filters"]["properties"]
    assert set(listed) == set(search["filters"]["properties"]) | {"subjects"}
    read = BY_NAME["search_memories"].takes.read({"query": "q", "top_k": 3, "filters": {"agents": ["ada"]}})
    assert read == {"query": "q", "k": 3, "agents": ("ada",)}
    with pytest.raises(Invalid, match="no field of filters"):
        BY_NAME["search_memories"].takes.read({"query": "q", "filters": {"agent": "ada"}})


@pytest.mark.parametrize("name", ["search_memories", "recall_memories", "get_memories"])
def test_what_is_read_is_masked_by_an_argument_of_its_own(name: str) -> None:
    takes = BY_NAME[name].takes
    arguments = takes.schema["properties"]
    assert "redact" in arguments and "redact" not in arguments["filters"]["properties"]
    needed = {"query": "q"} if name == "search_memories" else {}
    assert takes.read({**needed, "redact": True})["redact"] is True


@pytest.mark.parametrize(
    ("tool", "arguments", "field"),
    [
        ("search_memories", {}, "query"),
        ("search_memories", {"query": 5}, "query"),
        ("add_memory", {}, "content"),
        ("update_memory", {"memory_id": "m"}, "content"),
        ("search_memories", {"query": "q", "filters": 7}, "filters"),
        ("propose_forget", {}, "memory_ids"),
        ("fetch", {"id": None}, "id"),
    ],
)
def test_what_cannot_be_an_argument_is_refused_where_it_stands(
    tool: str, arguments: dict[str, object], field: str
) -> None:
    with pytest.raises(Invalid) as refused:
        BY_NAME[tool].takes.read(arguments)
    assert refused.value.field == field


def test_the_service_s_names_are_told_as_the_tool_s() -> None:
    told = BY_NAME["search_memories"].takes.named(Invalid("out_of_range", "k", "must lie between 1 and 100"))
    assert str(told) == "top_k: must lie between 1 and 100"


def test_the_client_asks_for_the_defaults_of_the_service() -> None:
    """The client sends its own defaults: they are those that the description of the API promises."""
    bodies = {
        "search": SearchRequest,
        "retrieve": RetrieveRequest,
        "recall": RecallRequest,
        "context": ContextRequest,
    }
    for method, body in bodies.items():
        for name, one in inspect.signature(getattr(AsyncMemory, method)).parameters.items():
            bounds = numbers(body).get(name)
            assert bounds is None or one.default in (bounds.default, None), (method, name)


def test_a_tool_tells_the_bounds_of_a_number() -> None:
    hops = _told(BY_NAME["retrieve_context"]).input_schema["properties"]["hops"]
    assert (hops["minimum"], hops["maximum"], hops["default"]) == (1, 2, 1)
    assert hops["description"].endswith("(default: 1).")
