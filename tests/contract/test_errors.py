"""Codes and exit statuses are spelled once, in schema/errors.json; everything else repeats them exactly."""

import json
import re
from pathlib import Path

import pytest

from coding_agents_sidecar import errors

from . import schemas

CODES = json.loads((schemas.FOLDER / "errors.json").read_text())["codes"]
PLUGIN_ONLY = {"SIDECAR_UNAVAILABLE"}
CLASSES = {cls.code: cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, errors.SidecarError)}


def test_every_code_has_a_class_and_every_class_a_code() -> None:
    assert set(CLASSES) == set(CODES) - PLUGIN_ONLY


@pytest.mark.parametrize("code", sorted(CLASSES))
def test_a_class_has_the_exit_status_of_its_code(code: str) -> None:
    assert CLASSES[code].exit_code == CODES[code]["exit"]


def test_the_tree_in_the_module_is_the_tree() -> None:
    lines = [line.split() for line in (errors.__doc__ or "").splitlines() if line.startswith(("├", "└"))]
    drawn = {name: (code, int(status)) for _, name, code, status in lines}
    assert drawn == {cls.__name__: (code, cls.exit_code) for code, cls in CLASSES.items()}


def test_a_code_says_whether_to_try_again_and_what_it_means() -> None:
    for code, entry in CODES.items():
        assert set(entry) == {"exit", "retry", "meaning"}, code
        assert isinstance(entry["retry"], bool)
        assert entry["meaning"].endswith(".")


def test_the_wire_knows_the_same_codes() -> None:
    definitions = schemas.load("protocol")["$defs"]
    assert set(definitions["error"]["properties"]["code"]["enum"]) == set(CLASSES)
    assert set(definitions["report"]["properties"]["failed"]["items"]["properties"]["code"]["enum"]) == set(CLASSES)


def test_no_other_code_is_written_anywhere() -> None:
    source = Path(errors.__file__).parent
    words = {word for path in source.rglob("*.py") for word in re.findall(r"[\"']([A-Z]+(?:_[A-Z]+)+)[\"']", path.read_text())}
    suffixes = ("_NOT_FOUND", "_UNAVAILABLE", "_MISMATCH", "_ARGUMENT", "_SESSION", "_ERROR")
    assert {word for word in words if word.endswith(suffixes)} <= set(CODES)
