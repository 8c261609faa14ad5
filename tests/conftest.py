"""What every test shares. The sites' fixtures lie in tests/rig."""

import shutil
import signal
import tempfile

import pytest

pytest_plugins = ["tests.rig.fixtures"]
FOLDER = pytest.StashKey[str]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Let a kill end the run as Ctrl-C does, even in the background, and give it a folder: none of it stays."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    if not config.option.basetemp:
        config.stash[FOLDER] = config.option.basetemp = tempfile.mkdtemp(prefix="coding-agents-tests-")


def pytest_unconfigure(config: pytest.Config) -> None:
    """Remove the folder."""
    if FOLDER in config.stash:
        shutil.rmtree(config.stash[FOLDER], ignore_errors=True)
