"""Fixtures for tests on real WordPress sites. A test that uses one of them is an ``integration`` test."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import docker
from .folders import remove
from .packages import SLUG
from .rig import Rig
from .site import Site
from .unprivileged import Unprivileged

SITES = {"site", "lite", "any_site", "multisite"}


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark tests on sites, and leave them the time that an installation takes."""
    if SITES & set(getattr(item, "fixturenames", ())):
        item.add_marker("integration")
    if item.get_closest_marker("integration") and not item.get_closest_marker("timeout"):
        item.add_marker(pytest.mark.timeout(120))


@pytest.fixture(scope="session")
def rig() -> Iterator[Rig]:
    """The shared server and sites."""
    rig = Rig()
    yield rig
    rig.close()


@pytest.fixture(scope="session")
def docker_compose_file() -> str:
    """Tell pytest-docker which stack to start."""
    return str(docker.COMPOSE_FILE)


@pytest.fixture(scope="session")
def mariadb_site(request: pytest.FixtureRequest) -> Iterator[Site | docker.DockerSite]:
    """The site on MariaDB: the compose stack where an engine answers, a local one elsewhere."""
    if not docker.wanted():
        yield request.getfixturevalue("rig").mariadb
        return
    home: Path = request.getfixturevalue("tmp_path_factory").mktemp("home")
    with pytest.MonkeyPatch.context() as patch:
        for name, value in docker.environment(home).items():
            patch.setenv(name, value)
        # Asked for only here: naming it in the signature would start it without an engine, too.
        services = request.getfixturevalue("docker_services")
        url = f"http://{request.getfixturevalue('docker_ip')}:{services.port_for('wordpress', 80)}"
        yield docker.DockerSite(request.getfixturevalue("docker_compose_project_name"), url, home)


@pytest.fixture
def site(mariadb_site: Site) -> Iterator[Site]:
    """A WordPress on MariaDB with the plugin active, an empty index, home folder and ledger."""
    yield from _lent(mariadb_site)


@pytest.fixture
def lite(rig: Rig) -> Iterator[Site]:
    """As ``site``, on the SQLite drop-in."""
    yield from _lent(rig.sqlite)


@pytest.fixture
def multisite(rig: Rig) -> Iterator[Site]:
    """As ``site``, a network of two sites with the plugin active on all of them."""
    yield from _lent(rig.network)


@pytest.fixture(params=["mariadb", "sqlite"])
def any_site(request: pytest.FixtureRequest) -> Site:
    """Both kinds of site, one after the other."""
    site: Site = request.getfixturevalue("site" if request.param == "mariadb" else "lite")
    return site


@pytest.fixture(scope="session")
def unprivileged() -> Iterator[Unprivileged]:
    """The account behind ``other_uid``."""
    folder = Path(tempfile.mkdtemp(prefix="coding-agents-account-"))
    folder.chmod(0o755)
    yield Unprivileged(folder)
    remove(folder)


@pytest.fixture
def other_uid(unprivileged: Unprivileged) -> Unprivileged:
    """Another account than root to run commands under, with an empty home folder."""
    unprivileged.reset()
    return unprivileged


def _lent(site: Site) -> Iterator[Site]:
    site.reset()
    yield site
    site.stop()
    ours = [line for line in site.debug_log().splitlines() if "PHP " in line and f"/plugins/{SLUG}/" in line]
    assert ours == [], "the plugin made PHP complain"
