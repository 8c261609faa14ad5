"""One WordPress site for the tests: run WP-CLI in it, ask its database, read its log."""

import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, TypedDict

from . import packages, processes
from .folders import remove
from .stores import Store

Kind = Literal["mariadb", "sqlite"]
ROUTER = Path(__file__).with_name("router.php")


class _Place(TypedDict):
    env: dict[str, str]
    cwd: Path


class Site:
    """An installed site. ``home`` and the state folder are fresh and empty after each ``reset``.

    Args:
        folder: a new folder that holds all of it.
        network: make it a network of two sites, with the plugin active on all of them.
    """

    path: Path
    """WordPress's files."""
    home: Path
    """Home folder of WP-CLI and the sidecar: tests lay sessions there."""
    state: Path
    """Where the sidecar keeps its ledger."""
    programs: Path
    """Folder that holds ``wp``."""

    def __init__(self, folder: Path, kind: Kind, store: Store, *, network: bool = False) -> None:
        self.kind = kind
        self.db = store.db
        self.path = folder / "site"
        self.programs = folder / "bin"
        self._folder, self._store = folder, store
        self._port = processes.free_port()
        self.url = f"http://127.0.0.1:{self._port}"
        self._started: list[subprocess.Popen[str]] = []
        self._server: subprocess.Popen[bytes] | None = None
        self._fresh_folders()
        self._lay_programs()
        packages.shell("lay_wordpress", str(self.path))
        store.prepare(self.path)
        self._config = self.path / "wp-config.php"
        self._config.write_text(_CONFIG.format_map({**_NO_SERVER, **self.db}))
        (self.path / "wp-content/mu-plugins/rig-offline.php").write_text(_OFFLINE)
        self._lay_plugin()
        self.wp("core", "multisite-install" if network else "install", f"--url={self.url}", *packages.ACCOUNT)
        if network:
            self.wp("site", "create", "--slug=two")
        self.wp("plugin", "activate", packages.SLUG, *(["--network"] if network else []))
        self._template = {self._config: self._config.read_bytes()}
        self._entries = {folder: set(os.listdir(folder)) for folder in (self._plugin.parent, self.path / "wp-content/mu-plugins")}
        store.snapshot()

    def wp(
        self, *args: str, check: bool = True, env: Mapping[str, str] | None = None, input: str | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run WP-CLI and return what it printed.

        Args:
            check: fail the test when the exit status is not 0.
            env: variables beside the site's own.
        """
        command = ["wp", *args]
        done = subprocess.run(command, **self._place(env), input=input or "", capture_output=True, text=True, check=False)
        if check and done.returncode:
            raise AssertionError(f"wp {' '.join(args)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        return done

    def start_wp(self, *args: str, env: Mapping[str, str] | None = None) -> subprocess.Popen[str]:
        """Start WP-CLI and return the running process; it is ended with the test."""
        command = processes.bound("wp", *args)
        pipe = subprocess.PIPE
        process = subprocess.Popen(command, **self._place(env), stdin=pipe, stdout=pipe, stderr=pipe, text=True)
        self._started.append(process)
        return process

    def environment(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        """Return the environment of the site's user: the home folder, ``wp`` and ``coding-agents`` on the PATH."""
        search = [str(self.programs), str(Path(sys.executable).parent), os.environ.get("PATH", os.defpath)]
        return {
            "PATH": os.pathsep.join(search),
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "CODING_AGENTS_STATE_DIR": str(self.state),
            "WP_CLI_ALLOW_ROOT": "1",
            "WP_CLI_CACHE_DIR": str(self._folder / "wp-cli-cache"),
            "WP_CLI_CONFIG_PATH": str(self._folder / "wp-cli.yml"),
            "WP_CLI_DISABLE_AUTO_CHECK_UPDATE": "1",
            **(more or {}),
        }

    def sql(self, query: str) -> list[tuple[Any, ...]]:
        """Return the rows of a statement, in the language of the site's own database."""
        return self._store.sql(query)

    def debug_log(self) -> str:
        """Return what WordPress has logged since the test began."""
        log = self.path / "wp-content/debug.log"
        return log.read_text(errors="replace") if log.exists() else ""

    def mu_plugin(self, name: str, code: str) -> Path:
        """Add a must-use plugin for this test; the code is without the opening tag."""
        path = self.path / "wp-content/mu-plugins" / f"{name}.php"
        path.write_text(f"<?php\n{code}\n")
        return path

    def serve(self) -> str:
        """Answer web requests until the test ends; return the site's address."""
        if self._server is None:
            log = self._folder / "http.log"
            command = processes.bound("php", "-S", f"127.0.0.1:{self._port}", "-t", str(self.path), str(ROUTER))
            with log.open("wb") as output:
                self._server = subprocess.Popen(
                    command, **self._place(None), stdin=subprocess.DEVNULL, stdout=output, stderr=output
                )
            processes.wait_for(self._server, self._serves, log)
        return self.url

    def reset(self) -> None:
        """Go back to how the site was after its installation."""
        self.stop()
        self._store.restore()
        (self.path / "wp-content/debug.log").unlink(missing_ok=True)
        for path, content in self._template.items():
            path.write_bytes(content)
        for folder, entries in self._entries.items():
            for name in set(os.listdir(folder)) - entries:
                remove(folder / name)
        self._lay_plugin()
        for old in (self.home, self.state):
            remove(old)
        self._fresh_folders()

    def stop(self) -> None:
        """End what the test has started."""
        for process in self._started:
            processes.stop(process)
        self._started.clear()
        if self._server is not None:
            processes.stop(self._server)
            self._server = None

    def _place(self, env: Mapping[str, str] | None) -> _Place:
        return {"env": self.environment(env), "cwd": self.home}

    @property
    def _plugin(self) -> Path:
        return self.path / "wp-content/plugins" / packages.SLUG

    def _lay_plugin(self) -> None:
        """Put a copy of the plugin in its place: WordPress deletes plugins through links, too."""
        remove(self._plugin)
        shutil.copytree(packages.PLUGIN, self._plugin)

    def _fresh_folders(self) -> None:
        self.home = Path(tempfile.mkdtemp(prefix="home-", dir=self._folder))
        self.state = Path(tempfile.mkdtemp(prefix="state-", dir=self._folder))

    def _lay_programs(self) -> None:
        """Put ``wp`` on the PATH; compiled code is kept between commands, since a command is mostly start-up."""
        cache = self._folder / "opcache"
        cache.mkdir()
        options = f"-d opcache.enable_cli=1 -d opcache.file_cache={cache} -d opcache.file_cache_only=1"
        program = self.programs / "wp"
        program.parent.mkdir()
        program.write_text(f'#!/bin/sh\nexec php {options} {packages.packages() / "wp-cli.phar"} "$@"\n')
        program.chmod(0o755)
        (self._folder / "wp-cli.yml").write_text(f"path: {self.path}\n")

    def _serves(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/license.txt", timeout=5):
                return True
        except OSError:
            return False


_NO_SERVER = {"host": "", "port": "", "user": "", "password": "", "name": "wordpress"}
_CONFIG = """<?php
define( 'DB_NAME', '{name}' );
define( 'DB_USER', '{user}' );
define( 'DB_PASSWORD', '{password}' );
define( 'DB_HOST', '{host}:{port}' );
define( 'DB_CHARSET', 'utf8mb4' );
define( 'DB_COLLATE', '' );
$table_prefix = 'wp_';
define( 'WP_HTTP_BLOCK_EXTERNAL', true );
define( 'AUTOMATIC_UPDATER_DISABLED', true );
define( 'DISABLE_WP_CRON', true );
define( 'WP_DEBUG', true );
define( 'WP_DEBUG_LOG', true );
define( 'WP_DEBUG_DISPLAY', false );
/* That's all, stop editing! Happy publishing. */
defined( 'ABSPATH' ) || define( 'ABSPATH', __DIR__ . '/' );
require_once ABSPATH . 'wp-settings.php';
"""

_OFFLINE = """<?php
// There is no internet: no update checks, no avatars.
foreach ( array( 'update_core', 'update_plugins', 'update_themes' ) as $what ) {
	add_filter(
		"pre_site_transient_$what",
		function () {
			$none = array_fill_keys( array( 'response', 'translations', 'no_update', 'updates' ), array() );
			return (object) ( $none + array( 'last_checked' => time(), 'version_checked' => $GLOBALS['wp_version'] ) );
		}
	);
}
add_filter( 'pre_option_show_avatars', '__return_zero' );
"""
