"""Aider: where its chats are found, what names a run, and what growing and trimming a file does to the others."""

import json
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import Any

import pytest

from coding_agents_sidecar.adapters.aider import Aider
from coding_agents_sidecar.config import Settings
from coding_agents_sidecar.errors import ParseError
from coding_agents_sidecar.fold import Fold
from coding_agents_sidecar.formats import jsonl
from coding_agents_sidecar.formats.aider.runs import History
from coding_agents_sidecar.ops import ListQuery, Sidecar
from coding_agents_sidecar.testing import opens_below, path_hash
from coding_agents_sidecar.transcript import Transcript
from tests.rig.unprivileged import Unprivileged

CHAT = ".aider.chat.history.md"
OLD = 1777629600  # 2026-05-01T10:00:00Z

adapter = Aider()


class Bench:
    """A home folder with a folder of projects."""

    def __init__(self, base: Path) -> None:
        self.home = base / "home"
        self.code = self.home / "code"
        self.code.mkdir(parents=True)
        self.environ = {"CODING_AGENTS_SCAN_ROOTS": str(self.code), "TZ": "UTC"}
        self.state = base / "state"

    def write(self, name: str, words: str, age: float | None = None) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(words)
        moment = OLD + 40 * 86400 if age is None else time.time() - age
        os.utime(path, (moment, moment))
        return path

    def sources(self) -> Iterator[History]:
        for root in adapter.roots(self.environ, self.home):
            if os.path.isdir(root.path):
                for found in adapter.discover(root):
                    assert isinstance(found, History)
                    yield found

    def found(self) -> dict[str, str | None]:
        """Return the chats with the projects they are about, relative to home."""
        return {
            os.path.relpath(one.path, self.home): one.project and os.path.relpath(one.project, self.home)
            for one in self.sources()
        }

    def reindex(self) -> dict[str, Any]:
        with closing(self.sidecar()) as sidecar:
            return sidecar.reindex(runtimes=["aider"])

    def sidecar(self) -> Sidecar:
        return Sidecar(Settings(self.home, self.environ, self.state, ""))

    def rows(self) -> dict[str, dict[str, Any]]:
        with closing(self.sidecar()) as sidecar:
            return {row["title"]: row for row in sidecar.list(ListQuery(runtimes=("aider",), limit=None))}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def run(said: str, at: str = "2026-05-01 10:00:00", answer: str = "Yes.") -> str:
    return f"\n# aider chat started at {at}\n\n> Model: acme/large-2 with diff edit format  \n\n#### {said}  \n\n{answer}\n\n"


def transcript(source: History) -> list[list[tuple[str, Any]]]:
    """Return role and words of the messages of every run."""
    read = Transcript(adapter.name)
    read.run(adapter.events(source))
    shown = [session.finished(-1, raw=False)[0] for session in read.sessions.values()]
    return [[(one["role"], (one["tool_result"] or {}).get("output", one["content"])) for one in session] for session in shown]


def test_without_folders_to_look_into_only_the_home_folder_itself_is(bench: Bench) -> None:
    for folder in ("code/shop", ".", "elsewhere"):
        bench.write(f"{folder}/{CHAT}", run("Hello"))
    del bench.environ["CODING_AGENTS_SCAN_ROOTS"]
    assert bench.found() == {CHAT: "."}


def test_a_folder_that_is_no_longer_looked_into_takes_no_session_away(bench: Bench) -> None:
    bench.write(f"code/shop/{CHAT}", run("Hello"))
    kept = bench.write(CHAT, run("At home"))
    bench.reindex()
    del bench.environ["CODING_AGENTS_SCAN_ROOTS"]
    assert bench.reindex()["missing"] == 0
    kept.unlink()
    bench.reindex()
    assert {title: row["status"] for title, row in bench.rows().items()} == {"Hello": "completed", "At home": "missing"}


def test_a_chat_that_is_gone_below_a_folder_that_is_looked_into_is_missing(bench: Bench) -> None:
    path = bench.write(f"code/shop/{CHAT}", run("Hello") + run("Again", "2026-05-02 10:00:00"))
    bench.reindex()
    path.unlink()
    assert bench.reindex()["missing"] == 2


def test_what_is_installed_in_a_project_holds_no_chats(bench: Bench) -> None:
    for folder in ("shop", "shop/node_modules/x", "shop/.git", "shop/vendor/y", "a/b/c/d", "a/b/c/d/e"):
        bench.write(f"code/{folder}/{CHAT}", run("Hello"))
    assert bench.found() == {f"code/shop/{CHAT}": "code/shop", f"code/a/b/c/d/{CHAT}": "code/a/b/c/d"}


def test_settings_of_the_home_folder_name_the_chats_of_all_projects(bench: Bench) -> None:
    bench.write(".aider.conf.yml", "chat-history-file: .aider/talk.md\n")
    bench.write("code/shop/.aider/talk.md", run("Hello"))
    bench.write("code/blog/.aider/talk.md", run("Hello"))
    bench.write("code/blog/.env", "AIDER_CHAT_HISTORY_FILE=own.md\n")
    bench.write("code/blog/own.md", run("Own"))
    assert bench.found() == {
        "code/blog/own.md": "code/blog",
        "code/blog/.aider/talk.md": "code/blog",
        "code/shop/.aider/talk.md": "code/shop",
    }


@pytest.mark.parametrize("folder", ["notes", "code/shop", "."])
@pytest.mark.parametrize("how", ["settings", "variable"])
def test_an_absolute_name_leads_to_a_chat_about_any_project(bench: Bench, how: str, folder: str) -> None:
    path = bench.write(f"{folder}/all.md", run("Hello"))
    bench.write(f"{folder}/other.md", run("No chat"))
    bench.write(f"code/shop/{CHAT}", run("Own"))
    if how == "settings":
        bench.write(".aider.conf.yml", f"chat-history-file: {path}\n")
    else:
        bench.environ["AIDER_CHAT_HISTORY_FILE"] = str(path)
    assert bench.found() == {f"code/shop/{CHAT}": "code/shop", os.path.normpath(f"{folder}/all.md"): None}
    bench.reindex()
    assert bench.rows()["Hello"]["project_path"] is None


def test_a_setting_that_is_only_a_comment_names_nothing(bench: Bench) -> None:
    bench.write(
        "code/shop/.aider.conf.yml", "# chat-history-file: a.md\nchat-history-file:  # b.md\nother-chat-history-file: c.md\n"
    )
    for name in ("a.md", "b.md", "c.md", "#"):
        bench.write(f"code/shop/{name}", run("Hello"))
    assert bench.found() == {}


def test_a_link_that_leads_out_of_the_folder_is_not_read(bench: Bench) -> None:
    secret = bench.write("secret.md", run("Secret"))
    for name in (CHAT, ".aider.input.history"):
        (bench.code / name).symlink_to(secret)
    with opens_below(bench.home) as opened:
        bench.reindex()
    assert opened == []


def test_equal_headers_in_two_projects_are_two_sessions(bench: Bench) -> None:
    paths = [bench.write(f"code/{name}/{CHAT}", run("Hello")) for name in ("a", "b")]
    ids = [list(adapter.stamps(source) or ()) for source in bench.sources()]
    assert ids == [[f"{path_hash(path)}:2026-05-01T10:00:00:1"] for path in paths]


def test_a_name_stays_when_the_file_grows_and_when_it_is_trimmed(bench: Bench) -> None:
    runs = [
        run("One"),
        "\n# aider chat started at 2026-05-02 10:00:00\n\n",
        run("Two", "2026-05-02 10:00:00"),
        run("Three", "2026-05-03 10:00:00"),
    ]
    path = bench.write(f"code/shop/{CHAT}", "".join(runs[:3]))
    bench.reindex()
    early = {title: row["session_id"] for title, row in bench.rows().items()}
    bench.write(f"code/shop/{CHAT}", "".join(runs))
    bench.reindex()
    grown = {title: row["session_id"] for title, row in bench.rows().items()}
    assert grown == {**early, "Three": f"{path_hash(path)}:2026-05-03T10:00:00:1"}
    bench.write(f"code/shop/{CHAT}", "".join(runs[1:]))
    assert (bench.reindex()["missing"], bench.rows()["One"]["status"]) == (1, "missing")
    assert {title: row["session_id"] for title, row in bench.rows().items()} == grown


def test_a_new_run_changes_no_row_but_its_own(bench: Bench) -> None:
    early = "".join(run(f"Run {number}", f"2026-05-0{number} 10:00:00") for number in range(1, 9))
    bench.write(f"code/shop/{CHAT}", early)
    bench.reindex()
    before = bench.rows()
    now = datetime.fromtimestamp(time.time() - 5).strftime("%Y-%m-%d %H:%M:%S")
    del bench.environ["TZ"]  # the clock of this process, whatever its zone
    bench.write(f"code/shop/{CHAT}", early + run("New", now), age=1)
    report = bench.reindex()
    assert (report["indexed"], report["updated"], report["unchanged"]) == (1, 0, 8)
    after = bench.rows()
    assert after.pop("New")["status"] == "active"
    assert after == before


def test_only_the_changed_run_of_many_is_read(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    early = "".join(run(f"Run {number}", f"2026-05-0{number} 10:00:00", "x" * 2000) for number in range(1, 9))
    bench.write(f"code/shop/{CHAT}", early)
    bench.reindex()
    bench.write(f"code/shop/{CHAT}", early + run("New", "2026-06-01 10:00:00"))
    lines, starts = jsonl.lines, list[int]()

    def watched(path: str, start: int, block: int) -> Iterator[tuple[bytes | None, int, bool]]:
        starts.append(start)
        yield from lines(path, start, block)

    monkeypatch.setattr(jsonl, "lines", watched)
    bench.reindex()
    assert starts == [0, len(early) + 1]  # once through the file for its headers, then the new run alone


def test_a_file_that_is_written_while_it_is_read_is_looked_at_again(bench: Bench) -> None:
    path = bench.write(f"code/shop/{CHAT}", run("One") + run("Two"))
    (source,) = bench.sources()
    events = adapter.events(source)
    start = next(events)
    path.write_text(run("Other") + run("Two"))
    with pytest.raises(ParseError) as caught:
        Fold(adapter.name).run(chain([start], events))
    assert caught.value.transient


def test_a_file_that_grows_by_any_steps_ends_as_if_read_once(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    fixture = Path(__file__).parent.parent / "fixtures/aider/endings/home/code/ends" / CHAT
    data = fixture.read_text()[:-1]
    monkeypatch.setattr(time, "time", lambda: OLD + 10**8)
    bench.write(f"code/shop/{CHAT}", data)
    bench.reindex()
    whole = bench.rows()
    shutil.rmtree(bench.state)
    for end in [*range(1, len(data), 37), len(data)]:
        bench.write(f"code/shop/{CHAT}", data[:end])
        bench.reindex()
    assert {title: row for title, row in bench.rows().items() if row["status"] != "missing"} == whole


@pytest.mark.parametrize("tail", ["#", "####", "#### ", ">", "# aider chat st", "# aider chat started at 2026-05-02 10:0"])
def test_a_mark_cut_at_the_end_is_no_answer(bench: Bench, tail: str) -> None:
    bench.write(f"code/shop/{CHAT}", run("One").removesuffix("Yes.\n\n") + tail)
    (source,) = bench.sources()
    assert transcript(source)[0][1:2] == [("user", "One")]
    assert "assistant" not in dict(transcript(source)[0])


def test_an_answer_cut_at_the_end_is_kept(bench: Bench) -> None:
    bench.write(f"code/shop/{CHAT}", run("One").removesuffix("Yes.\n\n") + "It ends i")
    (source,) = bench.sources()
    assert transcript(source)[0][-1] == ("assistant", "It ends i")


def test_lines_of_a_kind_are_one_message_until_an_empty_line_or_another_mark(bench: Bench) -> None:
    words = (
        "#### One\n####   and one\n####\n#### more\n\n#### Two\n> Noted\n>\n> twice\n\n> Apart\nOf\n\n\ncourse  \n#### Three\n"
    )
    bench.write(f"code/shop/{CHAT}", "# aider chat started at 2026-05-01 10:00:00\n" + words)
    (source,) = bench.sources()
    assert transcript(source) == [
        [
            ("user", "One\n  and one\n\nmore"),
            ("user", "Two"),
            ("tool", "Noted\n\ntwice"),
            ("tool", "Apart"),
            ("assistant", "Of\n\n\ncourse"),
            ("user", "Three"),
        ]
    ]


def test_fences_do_not_count_and_what_only_looks_like_a_mark_is_an_answer(bench: Bench) -> None:
    words = "```\n##### no\n>>> no\n####no\n#### yes\n```\nDone"
    bench.write(f"code/shop/{CHAT}", "# aider chat started at 2026-05-01 10:00:00\n" + words)
    (source,) = bench.sources()
    assert transcript(source) == [[("assistant", "```\n##### no\n>>> no\n####no"), ("user", "yes"), ("assistant", "```\nDone")]]


def test_a_count_that_was_rounded_and_what_caches_held_are_told_beside_the_tokens(bench: Bench) -> None:
    note = (
        "Yes.\n\n> Tokens: 5.4k sent, 1.2k cache write, 300 cache hit, 999 received.\n> Cost: $0.0021 message, $1,000.10 session."
    )
    exact = "Yes.\n\n> Tokens: 12,566 sent, 84 received."
    bench.write(f"code/shop/{CHAT}", run("Rounded", answer=note) + run("Exact", answer=exact))
    bench.reindex()
    heads = {}
    with closing(bench.sidecar()) as sidecar:
        for title, row in bench.rows().items():
            heads[title], _ = sidecar.read("aider", row["session_id"], "", False)
    told = ("approximate_tokens", "cache_write", "cache_hit", "edit_format")
    assert [heads["Rounded"]["meta"][name] for name in told] == [True, 1200, 300, "diff"]
    assert heads["Rounded"]["cost_usd"] == 1000.1
    assert (heads["Rounded"]["input_tokens"], heads["Exact"]["input_tokens"]) == (5400, 12566)
    assert "approximate_tokens" not in heads["Exact"]["meta"]


def test_an_exchange_without_an_answer_has_no_say_in_the_model(bench: Bench) -> None:
    later = "\n> Main model: acme/other with diff edit format\n\n#### Stop\n\n> Tokens: 10 sent, 0 received.\n> ^C KeyboardInterrupt\n"
    bench.write(f"code/shop/{CHAT}", run("One") + later)
    (source,) = bench.sources()
    (reading,) = Fold(adapter.name).run(adapter.events(source)).readings()
    assert (reading.model, reading.ending) == ("acme/large-2", "aborted")
    assert [(model, amounts[0]) for (_, model), amounts in reading.usage.items()] == [("acme/other", 10)]


@pytest.mark.timeout(60)  # the account first gets its copy of the program
def test_a_project_that_cannot_be_listed_is_reported_and_not_missing(bench: Bench, other_uid: Unprivileged) -> None:
    bench.write(f"code/shop/{CHAT}", run("Hello"))
    other_uid.lay(bench.home)
    code = other_uid.home / "code"

    def reindex() -> dict[str, Any]:
        done = other_uid.run("coding-agents", "sessions", "reindex", "--format=json", env={"CODING_AGENTS_SCAN_ROOTS": str(code)})
        report: dict[str, Any] = json.loads(done.stdout)
        return report

    assert reindex()["indexed"] == 1
    (code / "shop").chmod(0)
    report = reindex()
    assert report["missing"] == 0
    assert [failure["source"] for failure in report["failed"]] == [str(code / "shop")]


def test_what_was_said_before_the_first_header_is_a_session_only_with_a_prompt(bench: Bench) -> None:
    bench.write(f"code/a/{CHAT}", "Hello\n> there\n" + run("One"))
    bench.write(f"code/b/{CHAT}", "#### Early\n" + run("Two"))
    bench.reindex()
    rows = bench.rows()
    assert rows.keys() == {"One", "Early", "Two"}
    assert rows["Early"]["started_at"] == rows["Two"]["started_at"] == OLD
