"""The schemas and their examples."""

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator
from referencing import Registry, Resource

FOLDER = Path(__file__).parents[2] / "schema"
FILES = {path.name.removesuffix(".schema.json"): path for path in sorted(FOLDER.glob("*.schema.json"))}


def load(name: str) -> Any:
    """Return a schema by the first part of its file's name."""
    return json.loads(FILES[name].read_text())


def validator(name: str) -> Draft202012Validator:
    """Return a validator that knows the other schemas too."""
    known = [Resource.from_contents(load(one)) for one in FILES]
    registry: Registry[Any] = Registry().with_resources([(one.id() or "", one) for one in known])
    return Draft202012Validator(load(name), registry=registry)


def examples(name: str, *, valid: bool) -> list[Path]:
    """Return the examples of a schema; their names say what they show."""
    return sorted((FOLDER / "examples" / name / ("valid" if valid else "invalid")).glob("*.json"))
