import os
from pathlib import Path

import pytest

from coding_agents_sidecar.adapter import Root
from coding_agents_sidecar.formats import places


def found(root: Path, depth: int = 64) -> list[str]:
    """Return the paths a walk yields, relative to the root."""
    return [
        f"!{os.path.relpath(one.path, root)}" if isinstance(one, places.Unlisted) else os.path.relpath(one, root)
        for one in places.walk(str(root), lambda name: name.endswith(".jsonl"), depth)
    ]


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    return path


def test_files_come_in_sorted_order_and_only_the_wanted(tmp_path: Path) -> None:
    for name in ("b/2.jsonl", "a/1.jsonl", "a/x.txt", "c.jsonl"):
        touch(tmp_path / name)
    assert sorted(found(tmp_path)) == ["a/1.jsonl", "b/2.jsonl", "c.jsonl"]
    assert found(tmp_path) == found(tmp_path)


def test_a_folder_link_directly_below_the_root_is_followed_once(tmp_path: Path) -> None:
    touch(tmp_path / "elsewhere" / "1.jsonl")
    root = tmp_path / "root"
    touch(root / "own" / "2.jsonl")
    (root / "linked").symlink_to(tmp_path / "elsewhere")
    (root / "again").symlink_to(tmp_path / "elsewhere")
    assert found(root) == ["again/1.jsonl", "own/2.jsonl"]


def test_deeper_links_that_leave_the_root_are_not_followed(tmp_path: Path) -> None:
    touch(tmp_path / "secret" / "1.jsonl")
    root = tmp_path / "root"
    touch(root / "a" / "2.jsonl")
    (root / "a" / "out").symlink_to(tmp_path / "secret")
    (root / "a" / "out.jsonl").symlink_to(tmp_path / "secret" / "1.jsonl")
    (root / "top.jsonl").symlink_to(tmp_path / "secret" / "1.jsonl")
    assert found(root) == ["a/2.jsonl"]


def test_a_loop_of_links_ends(tmp_path: Path) -> None:
    touch(tmp_path / "a" / "1.jsonl")
    (tmp_path / "a" / "up").symlink_to(tmp_path)
    (tmp_path / "self").symlink_to(tmp_path)
    assert found(tmp_path) == ["a/1.jsonl"]


def test_a_file_reached_by_two_names_is_one(tmp_path: Path) -> None:
    touch(tmp_path / "a" / "1.jsonl")
    os.link(tmp_path / "a" / "1.jsonl", tmp_path / "a" / "2.jsonl")
    assert found(tmp_path) == ["a/1.jsonl"]


def test_fifos_and_dangling_links_are_passed_over(tmp_path: Path) -> None:
    touch(tmp_path / "1.jsonl")
    os.mkfifo(tmp_path / "2.jsonl")
    (tmp_path / "3.jsonl").symlink_to(tmp_path / "nothing")
    assert found(tmp_path) == ["1.jsonl"]


def test_depth_counts_folders_below_the_root(tmp_path: Path) -> None:
    touch(tmp_path / "0.jsonl")
    touch(tmp_path / "a" / "1.jsonl")
    touch(tmp_path / "a" / "b" / "2.jsonl")
    assert found(tmp_path, 0) == ["0.jsonl"]
    assert sorted(found(tmp_path, 1)) == ["0.jsonl", "a/1.jsonl"]


def test_a_stamp_changes_with_content_time_and_inode(tmp_path: Path) -> None:
    path = touch(tmp_path / "a")
    stamps = [places.stamp(str(path), (str(path),))]
    path.write_text("xy")
    stamps.append(places.stamp(str(path), (str(path),)))
    os.utime(path, (1, 1))
    stamps.append(places.stamp(str(path), (str(path),)))
    touch(tmp_path / "b").write_text("xy")
    os.utime(tmp_path / "b", (1, 1))
    os.replace(tmp_path / "b", path)
    stamps.append(places.stamp(str(path), (str(path),)))
    assert len({stamp.value for stamp in stamps if stamp}) == 4


def test_the_appearance_of_a_side_file_is_a_change(tmp_path: Path) -> None:
    main, side = touch(tmp_path / "a"), tmp_path / "a.meta"
    before = places.stamp(str(main), (str(main), str(side)))
    touch(side)
    after = places.stamp(str(main), (str(main), str(side)))
    assert before is not None
    assert after is not None
    assert before.value != after.value
    assert (before.size, after.size) == (1, 1)


def test_a_source_without_its_main_file_has_no_stamp(tmp_path: Path) -> None:
    assert places.stamp(str(tmp_path / "gone"), (str(tmp_path / "gone"),)) is None


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, ["/home/dev/.local/share/x"]),
        ({"XDG_DATA_HOME": "/data"}, ["/data/x"]),
        ({"XDG_DATA_HOME": "relative"}, ["/home/dev/.local/share/x"]),
        ({"X_HOME": "/one, ~/two"}, ["/one/sessions", "/home/dev/two/sessions"]),
        ({"X_HOME": "  "}, ["/home/dev/.local/share/x"]),
    ],
)
def test_a_root_follows_its_variable_and_the_standard(environ: dict[str, str], expected: list[str]) -> None:
    roots = places.expand([Root("$XDG_DATA_HOME/x", env="X_HOME", below="sessions")], environ, Path("/home/dev"))
    assert [root.path for root in roots] == expected


def test_roots_that_are_one_folder_are_one_root(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    roots = places.expand([Root("~/real"), Root("~/link"), Root("~/other")], {}, tmp_path)
    assert [root.path for root in roots] == [str(tmp_path / "real"), str(tmp_path / "other")]
