"""Which runtimes there are: every module in ``adapters/``, then packages that announce themselves by entry point.

[project.entry-points."coding_agents_sidecar.adapters"]
zed = "sessions_zed:Zed"
"""

import importlib
import inspect
import logging
import pkgutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

from . import adapters
from .adapter import Adapter
from .errors import AgentNotFound

GROUP = "coding_agents_sidecar.adapters"
SWITCH = "CODING_AGENTS_PLUGINS"
"""Set to ``none`` to leave plugins out."""

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Registered:
    """An adapter and where it comes from: ``built-in``, or package and version."""

    adapter: Adapter
    provider: str


class Registry:
    """The adapters by canonical name and alias."""

    def __init__(self, registered: Iterable[Registered]) -> None:
        self.registered: dict[str, Registered] = {}
        self.names: dict[str, str] = {}
        for one in registered:
            self.add(one)

    def add(self, one: Registered) -> None:
        """Add an adapter; one whose name or alias is taken is logged and left out."""
        adapter = one.adapter
        taken = {adapter.name, *adapter.aliases} & self.names.keys()
        if taken:
            log.warning("adapter refused", extra={"provider": one.provider, "taken": sorted(taken)})
            return
        self.registered[adapter.name] = one
        self.names.update(dict.fromkeys((adapter.name, *adapter.aliases), adapter.name))

    def canonical(self, name: str) -> str:
        """Return the canonical name for a name or alias.

        Raises:
            AgentNotFound: nothing is called that.
        """
        try:
            return self.names[name]
        except KeyError:
            raise AgentNotFound(f"no runtime is called {name!r}; there are {', '.join(self.registered)}") from None

    def get(self, name: str) -> Adapter:
        """Return the adapter for a name or alias.

        Raises:
            AgentNotFound: nothing is called that.
        """
        return self.registered[self.canonical(name)].adapter


def built_in() -> list[Registered]:
    """Return an adapter for every class with a name of its own in ``adapters/``, sorted by name."""
    found = []
    for module in pkgutil.iter_modules(adapters.__path__):
        loaded = importlib.import_module(f"{adapters.__name__}.{module.name}")
        for _, cls in inspect.getmembers(loaded, inspect.isclass):
            if issubclass(cls, Adapter) and cls.__module__ == loaded.__name__ and "name" in vars(cls):
                found.append(Registered(cls(), "built-in"))
    return sorted(found, key=lambda one: one.adapter.name)


def plugged_in() -> list[Registered]:
    """Return the adapters of installed packages; a broken one is logged and left out."""
    from importlib.metadata import entry_points

    found = []
    for point in entry_points(group=GROUP):
        provider = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        try:
            adapter = point.load()()
            if not isinstance(adapter, Adapter):
                raise TypeError(f"{point.value} is no Adapter")
        except Exception:
            log.exception("adapter plugin is broken", extra={"provider": provider})
            continue
        found.append(Registered(adapter, provider))
    return found


@cache
def load(plugins: bool = True) -> Registry:
    """Return the registry of this process."""
    return Registry([*built_in(), *(plugged_in() if plugins else ())])


def from_environ(environ: Mapping[str, str]) -> Registry:
    """Return the registry that the environment asks for."""
    return load(plugins=wants_plugins(environ))


def wants_plugins(environ: Mapping[str, str]) -> bool:
    """Return whether the environment leaves plugins in."""
    return environ.get(SWITCH, "").lower() != "none"
