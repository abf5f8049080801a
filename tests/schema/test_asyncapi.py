"""The descriptions of our records for other people's tools are those of the code."""

from __future__ import annotations

from pathlib import Path

import jsonschema
import pytest

from tests import ROOT, asyncapi


@pytest.mark.parametrize("file", asyncapi.files(), ids=lambda file: file.name)
def test_what_is_generated_is_up_to_date(file: Path) -> None:
    assert file.read_text() == asyncapi.files()[file], "run `python -m tests.asyncapi`"


@pytest.mark.parametrize("name", asyncapi.JSON_RECORDS)
def test_a_schema_is_one_and_stands_alone(name: str) -> None:
    schema = asyncapi.json_schema(asyncapi.JSON_RECORDS[name])
    jsonschema.Draft202012Validator.check_schema(schema)
    assert set(schema["required"]) == set(schema["properties"]), "a field that is left out makes a table ragged"
    assert {one.stem for one in (ROOT / "schemas" / "json").iterdir()} == set(asyncapi.JSON_RECORDS)
