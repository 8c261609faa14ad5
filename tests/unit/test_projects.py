import os
import time
from pathlib import Path

import pytest

from coding_agents_sidecar.formats import places, projects
from coding_agents_sidecar.formats.projects import Folder


def found(root: Path, depth: int = projects.DEPTH) -> list[str]:
    """Return the folders that a walk yields, relative to the root; those that could not be listed with a mark."""
    return [
        ("!" if isinstance(one, places.Unlisted) else "") + os.path.relpath(one.path, root)
        for one in projects.walk(str(root), depth)
    ]


def folder(path: Path) -> Folder:
    one = next(projects.walk(str(path), 0))
    assert isinstance(one, Folder)
    return one


def test_upper_folders_come_first_and_no_more_than_four_below_the_root(tmp_path: Path) -> None:
    (tmp_path / "a/b/c/d/e").mkdir(parents=True)
    (tmp_path / "z").mkdir()
    assert found(tmp_path) == [".", "a", "z", "a/b", "a/b/c", "a/b/c/d"]
    assert found(tmp_path, 0) == ["."]


@pytest.mark.parametrize("name", [".git", "node_modules", "vendor", ".venv", ".cache", ".mypy_cache", ".npm-Cache"])
def test_what_tools_have_installed_and_caches_are_passed_over(name: str, tmp_path: Path) -> None:
    (tmp_path / name / "project").mkdir(parents=True)
    assert found(tmp_path) == ["."]


@pytest.mark.parametrize("name", ["cache-plugin", ".dotfiles", "git"])
def test_a_project_may_be_called_almost_anything(name: str, tmp_path: Path) -> None:
    (tmp_path / name).mkdir()
    assert found(tmp_path) == [".", name]


def test_a_folder_link_directly_below_the_root_is_followed_once_and_no_other(tmp_path: Path) -> None:
    root, elsewhere = tmp_path / "root", tmp_path / "elsewhere"
    (root / "own").mkdir(parents=True)
    (elsewhere / "deep").mkdir(parents=True)
    (root / "again").symlink_to(elsewhere)
    (root / "linked").symlink_to(elsewhere)
    (root / "own" / "out").symlink_to(elsewhere)
    (elsewhere / "deep" / "up").symlink_to(root)
    assert found(root) == [".", "own", "again", "again/deep"]


def test_other_file_systems_are_passed_over(tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "system").symlink_to("/proc")
    assert os.stat("/proc").st_dev != tmp_path.stat().st_dev
    assert found(tmp_path) == [".", "own"]


def test_a_walk_that_is_given_up_says_so_of_the_whole_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in "abc":
        (tmp_path / name).mkdir()
    monkeypatch.setattr(projects, "MAX_FOLDERS", 3)
    assert found(tmp_path) == [".", "a", "b", "!."]
    monkeypatch.setattr(projects, "MAX_FOLDERS", 4)
    assert found(tmp_path) == [".", "a", "b", "c"]


def test_the_whole_disk_is_never_walked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projects, "MAX_FOLDERS", 500)
    began = time.monotonic()
    assert sum(1 for _ in projects.walk("/")) <= 501
    assert time.monotonic() - began < 5


def test_the_environment_names_folders_as_path_does(tmp_path: Path) -> None:
    environ = {"CODING_AGENTS_SCAN_ROOTS": f"~/code:/srv/sites/::relative:{tmp_path}/a b"}
    assert projects.named(environ, tmp_path) == [
        f"{tmp_path}/code",
        "/srv/sites",
        f"{tmp_path}/relative",
        f"{tmp_path}/a b",
    ]
    assert projects.named({}, tmp_path) == []


def test_a_name_leads_only_to_regular_files_in_the_tree(tmp_path: Path) -> None:
    root = tmp_path / "root"
    (root / "logs").mkdir(parents=True)
    for path in (root / "a.md", root / "logs" / "b.md", tmp_path / "secret.md"):
        path.write_text("x")
    (root / "inner.md").symlink_to(root / "a.md")
    (root / "outer.md").symlink_to(tmp_path / "secret.md")
    os.mkfifo(root / "pipe.md")
    here = folder(root)
    names = ["a.md", "logs/b.md", str(root / "a.md"), "inner.md", "gone.md", "logs", "pipe.md", "outer.md", "../secret.md"]
    names += [str(tmp_path / "secret.md"), "logs/\0"]
    assert {name: here.file(name) is not None for name in names} == {name: name in names[:4] for name in names}
