"""Reading many sources at once, in processes of their own, so that all cores work."""

import multiprocessing
import os
import threading
from collections.abc import Callable, Generator, Iterator
from multiprocessing.connection import wait as wait_for
from typing import TYPE_CHECKING

from . import registry, scan
from .config import Settings

if TYPE_CHECKING:
    from .indexer import Task

WORTH_BYTES = 4 << 20
"""Less than this is read sooner than a process is started."""

IN_FLIGHT = 8
"""Results a worker may be ahead: bounds memory."""

BROKEN = scan.Scan(code="INTERNAL_ERROR", message="reading this source ended its process", transient=True)


def run(
    tasks: list["Task"], resume: Callable[["Task"], scan.Resume | None], settings: Settings
) -> Iterator[tuple["Task", scan.Scan]]:
    """Yield each task with what reading it brought, in any order."""
    processes = min(os.cpu_count() or 1, len(tasks))
    if processes < 2 or sum(task.stamp.size for task in tasks) < WORTH_BYTES:
        for task in tasks:
            yield task, scan.scan(task.adapter, task.source, resume(task))
        return
    left = yield from in_pool(tasks, resume, settings, processes)
    # A source that kills its reader is found by reading the rest one at a time; the others lose nothing.
    for task in left:
        if (yield from in_pool([task], resume, settings, 1)):
            yield task, BROKEN


def in_pool(
    tasks: list["Task"], resume: Callable[["Task"], scan.Resume | None], settings: Settings, processes: int
) -> Generator[tuple["Task", scan.Scan], None, list["Task"]]:
    """Yield results from a pool; return the tasks that a dying worker left undone."""
    from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
    from concurrent.futures.process import BrokenProcessPool

    plugins = registry.wants_plugins(settings.environ)
    # Forking is quick, but unsafe where other threads run.
    context = multiprocessing.get_context("fork" if threading.active_count() == 1 else "forkserver")
    waiting = sorted(tasks, key=lambda task: task.stamp.size)
    running: dict[Future[scan.Scan], Task] = {}
    left: list[Task] = []
    with ProcessPoolExecutor(processes, context, end_with_parent) as pool:
        while (waiting and not left) or running:
            while waiting and not left and len(running) < processes * IN_FLIGHT:
                task = waiting.pop()
                try:
                    running[pool.submit(scan.scan_named, task.adapter.name, task.source, resume(task), plugins)] = task
                except BrokenProcessPool:
                    left.append(task)
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                task = running.pop(future)
                try:
                    yield task, future.result()
                except BrokenProcessPool:
                    left.append(task)
    return left + waiting


def end_with_parent() -> None:
    """Let a worker end when the pass that started it was killed."""
    parent = multiprocessing.parent_process()
    assert parent is not None

    def watch() -> None:
        wait_for([parent.sentinel])
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
