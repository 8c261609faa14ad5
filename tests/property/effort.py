"""How hard property tests try."""

import os

EFFORT = float(os.environ.get("CODING_AGENTS_TEST_EFFORT", "1"))
"""Below 1 is the glance of bin/test --quick; above 1 tries more damage than every run can afford."""


def some(number: int) -> int:
    """Return how often to try what an ordinary run tries so often."""
    return max(1, round(number * EFFORT))
