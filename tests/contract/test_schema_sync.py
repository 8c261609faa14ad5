"""The schemas, the examples and the Python that follows them say the same."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_args

import pytest
from pydantic import ValidationError

from coding_agents_sidecar import ops
from coding_agents_sidecar.cli import sessions
from coding_agents_sidecar.errors import SidecarError
from coding_agents_sidecar.ledger import queries
from coding_agents_sidecar.model import Kind, Role, Status
from coding_agents_sidecar.service import wire

from . import schemas

ROW = schemas.load("index-row")
BOOKKEEPING = ["event_pending", "event_attempts", "indexed_at"]
LIMITS = ("minLength", "maxLength", "pattern", "minimum", "maximum")
Rules = dict[str, Any]


def rules(schema: Rules) -> Rules:
    """Return what a property's schema demands, however it is written."""
    found: Rules = {"types": set()}
    for part in schema.get("anyOf", [schema]):
        types = part.get("type", [])
        found["types"] |= {types} if isinstance(types, str) else set(types)
        found |= {name: part[name] for name in LIMITS if name in part}
        if "enum" in part:
            found["enum"] = set(part["enum"]) - {None}
    if "enum" in found:
        # The values themselves are the limit.
        found.pop("maxLength", None)
    return found


def test_there_is_an_example_of_each_sort_for_every_schema() -> None:
    for name in schemas.FILES:
        assert len(schemas.examples(name, valid=True)) >= 3, name
        assert len(schemas.examples(name, valid=False)) >= 10, name


@pytest.mark.parametrize("name", schemas.FILES)
def test_a_schema_is_a_schema(name: str) -> None:
    schemas.validator(name).check_schema(schemas.load(name))


def test_the_columns_are_those_of_the_schema_in_order() -> None:
    columns = list(ROW["properties"])
    assert ROW["required"] == columns
    assert list(wire.IndexRow.model_fields) == columns
    assert list(wire.PublishedRow.model_fields) == columns[:-3]
    assert list(queries.INDEXED) == columns[:-3]
    assert columns[-3:] == BOOKKEEPING


@pytest.mark.parametrize("column", ROW["properties"])
def test_a_column_has_the_types_limits_and_values_of_the_schema(column: str) -> None:
    assert rules(wire.IndexRow.model_json_schema()["properties"][column]) == rules(ROW["properties"][column])


def test_the_enums_of_a_column_fit_into_it() -> None:
    for column in ROW["properties"].values():
        assert all(len(value) <= column["maxLength"] for value in column.get("enum", ()) if value)


def test_a_row_on_the_wire_has_the_columns_that_are_not_its_writers() -> None:
    published = schemas.load("protocol")["$defs"]["publishedRow"]
    assert published["required"] == list(published["properties"]) == list(queries.INDEXED)


def test_a_session_begins_with_the_columns_of_a_list() -> None:
    session = schemas.load("session")
    assert list(session["properties"]) == [*queries.LISTED, "meta", "abandoned", "messages"]
    assert set(session["required"]) == set(session["properties"]) - {"abandoned"}


def test_words_are_the_same_in_the_code_and_in_the_schemas() -> None:
    row, session, protocol = ROW["properties"], schemas.load("session")["$defs"], schemas.load("protocol")["$defs"]
    assert set(get_args(Status)) == set(row["status"]["enum"])
    assert set(get_args(Kind)) == set(row["kind"]["enum"])
    assert set(get_args(Role)) == set(session["message"]["properties"]["role"]["enum"])
    assert list(wire.ARGUMENTS) == protocol["request"]["properties"]["op"]["enum"]
    assert set(sessions.TABLE) <= set(queries.LISTED)


def test_the_versions_are_those_of_hello() -> None:
    found = {name: schemas.load(name)["x-version"] for name in schemas.FILES}
    assert found == {"protocol": ops.PROTOCOL, "index-row": ops.TABLE, "session": ops.DOCUMENT}
    assert schemas.load("protocol")["$defs"]["request"]["properties"]["v"]["const"] == ops.PROTOCOL


@pytest.mark.parametrize("op", [op for op, model in wire.ARGUMENTS.items() if model.model_fields])
def test_the_arguments_of_an_operation_are_those_of_the_schema(op: str) -> None:
    arguments = schemas.load("protocol")["$defs"][op]
    model = wire.ARGUMENTS[op]
    assert list(model.model_fields) == list(arguments["properties"])
    assert {name for name, field in model.model_fields.items() if field.is_required()} == set(arguments.get("required", ()))


def parse_request(value: Any) -> None:
    wire.arguments(wire.request(value))


def accepted_by_python(name: str, path: Path) -> bool | None:
    """Tell whether the Python model takes an example; ``None`` where there is none, since only tests read such documents."""
    models: dict[str, Callable[[Any], Any]] = {"index-row": wire.IndexRow.model_validate, "protocol": parse_request}
    if name not in models or path.name.startswith("answer-"):
        return None
    try:
        models[name](json.loads(path.read_text()))
    except (ValidationError, SidecarError):
        return False
    return True


def cases(*, valid: bool) -> list[Any]:
    return [
        pytest.param(name, path, id=f"{name}/{path.stem}")
        for name in schemas.FILES
        for path in schemas.examples(name, valid=valid)
    ]


@pytest.mark.parametrize(("name", "path"), cases(valid=True))
def test_a_valid_example_is_accepted(name: str, path: Path) -> None:
    assert [error.message for error in schemas.validator(name).iter_errors(json.loads(path.read_text()))] == []
    assert accepted_by_python(name, path) in (True, None)


@pytest.mark.parametrize(("name", "path"), cases(valid=False))
def test_an_invalid_example_is_refused(name: str, path: Path) -> None:
    assert not schemas.validator(name).is_valid(json.loads(path.read_text()))
    assert accepted_by_python(name, path) in (False, None)
