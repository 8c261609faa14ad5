"""The contract of adapters over every runtime and every fixture."""

from pathlib import Path

import pytest

from coding_agents_sidecar import registry
from coding_agents_sidecar.testing import contract, describes_itself

FIXTURES = Path(__file__).resolve().parent.parent / "fixtures"
RUNTIMES = sorted(registry.load(plugins=False).registered)

for runtime in RUNTIMES:
    globals()[f"test_{runtime.replace('-', '_')}"] = contract(runtime, FIXTURES)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_an_adapter_describes_itself(runtime: str) -> None:
    describes_itself(runtime)


def test_every_runtime_has_fixtures_and_every_fixture_a_runtime() -> None:
    assert sorted(path.name for path in FIXTURES.iterdir()) == RUNTIMES


@pytest.mark.parametrize("case", sorted(FIXTURES.glob("*/*")), ids=lambda case: f"{case.parent.name}-{case.name}")
def test_a_fixture_says_what_is_odd_about_it(case: Path) -> None:
    assert sorted(path.name for path in case.iterdir()) == ["NOTE.md", "expected.json", "home"]
    assert (case / "NOTE.md").read_text(encoding="utf-8").strip()
