"""A store crosses a fork: parent and child both go on with it, whatever other threads were doing at that moment."""

import os
import sqlite3
import threading
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.contract.embedded.places import open_queues, open_tables

pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")


def in_a_child(work: Callable[[], object]) -> int:
    """Run `work` in a forked child; returns its exit code."""
    child = os.fork()
    if child == 0:
        code = 1
        try:
            work()
            code = 0
        finally:
            os._exit(code)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_parent_and_child_both_go_on(tmp_path: Path) -> None:
    queues = open_queues(tmp_path)
    queues.create("work")
    assert in_a_child(lambda: queues.send("work", "from the child")) == 0
    queues.send("work", "from the parent")
    assert sorted(message.body for message in queues.receive("work", count=32)) == ["from the child", "from the parent"]


def test_forks_in_the_middle_of_other_threads_writes_harm_nobody(tmp_path: Path) -> None:
    tables = open_tables(tmp_path)
    tables.create_table("table")
    over = threading.Event()
    written = [0, 0, 0]

    def write(number: int) -> None:
        while not over.is_set():
            tables.upsert("table", f"thread{number}", f"{written[number]:06}", {})
            written[number] += 1

    threads = [threading.Thread(target=write, args=(number,)) for number in range(len(written))]
    for thread in threads:
        thread.start()
    codes = [in_a_child(lambda n=n: tables.insert("table", "children", str(n), {})) for n in range(20)]  # type: ignore[misc]
    over.set()
    for thread in threads:
        thread.join()
    assert codes == [0] * 20
    assert len(tables.query("table", "children").entities) == 20
    assert [count_of(tables, number) for number in range(len(written))] == written
    with closing(sqlite3.connect(tmp_path / "tables.db")) as database:
        assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def count_of(tables: object, number: int) -> int:
    total, marker = 0, None
    while True:
        page = tables.query("table", f"thread{number}", marker=marker)  # type: ignore[attr-defined]
        total += len(page.entities)
        marker = page.marker
        if marker is None:
            return total
