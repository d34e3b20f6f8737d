"""Many processes at once: nobody is told that the database is locked, no message is lost or held twice."""

import multiprocessing
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest

from shared.errors import Busy
from shared.local import turn
from shared.local.queues import LocalQueues
from tests.contract.embedded.hammer import LEASE, send_and_write, take_renew_delete
from tests.contract.embedded.places import open_queues, open_tables

TAKERS, SENDERS, EACH = 8, 4, 100


def test_a_storm_of_takers_and_writers_loses_nothing_and_locks_nobody_out(tmp_path: Path) -> None:
    queues, tables = open_queues(tmp_path), open_tables(tmp_path)
    queues.create("work")
    tables.create_table("videos")
    spawn = multiprocessing.get_context("spawn")
    seen = spawn.Queue()
    senders = [spawn.Process(target=send_and_write, args=(tmp_path, n, EACH, seen)) for n in range(SENDERS)]
    takers = [spawn.Process(target=take_renew_delete, args=(tmp_path, seen)) for _ in range(TAKERS)]
    for process in senders + takers:
        process.start()
    with held_open_and_vacuumed(tmp_path / "queues.db"):
        sent = [seen.get(timeout=60) for _ in senders]
        while queues.depth("work").messages:
            time.sleep(0.05)
    queues.send("work", "stop")
    taken = [seen.get(timeout=60) for _ in takers]
    for process in senders + takers:
        process.join(timeout=30)
    assert [process.exitcode for process in senders + takers] == [0] * (SENDERS + TAKERS)
    assert all_of(taken) == all_of(sent)
    assert max(worst for _, _, worst in taken) < LEASE.total_seconds() / 3


def all_of(seen: list[tuple[str, list[str], float]]) -> list[str]:
    return sorted(body for _, bodies, _ in seen for body in bodies)


class held_open_and_vacuumed:  # noqa: N801 - reads as what is done to the file inside the with
    """One long read transaction, and a stranger who tries to rebuild the file again and again."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._meddle)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()

    def _meddle(self) -> None:
        stranger = sqlite3.connect(self._path, timeout=0)
        with closing(sqlite3.connect(self._path)) as reader, closing(stranger):
            reader.execute("BEGIN")
            reader.execute("SELECT count(*) FROM messages").fetchone()
            while not self._over.wait(0.2):
                try:
                    stranger.execute("VACUUM")
                except sqlite3.OperationalError:
                    continue


def test_an_idle_poll_waits_for_no_writer(tmp_path: Path) -> None:
    queues = open_queues(tmp_path)
    queues.create("work")
    with closing(sqlite3.connect(tmp_path / "queues.db", isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        assert queues.receive("work") == []
        assert time.monotonic() - began < 1


def test_a_writer_that_never_ends_makes_others_busy_not_wait_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    queues = open_queues(tmp_path)
    queues.create("work")
    monkeypatch.setattr(turn, "PATIENCE", 0.2)
    with turn.Turn(tmp_path / "queues.db.lock").taken(), pytest.raises(Busy):
        queues.send("work", "x")
    queues.send("work", "y")
    assert [message.body for message in queues.receive("work", count=32)] == ["y"]


def busy_after(queues: LocalQueues) -> float:
    """Seconds until a write is refused."""
    began = time.monotonic()
    with pytest.raises(Busy):
        queues.send("work", "x")
    return time.monotonic() - began


def test_threads_that_wait_in_line_wait_no_longer_than_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    queues = open_queues(tmp_path)
    queues.create("work")
    monkeypatch.setattr(turn, "PATIENCE", 0.5)
    with turn.Turn(tmp_path / "queues.db.lock").taken(), ThreadPoolExecutor(6) as many:
        waits = list(many.map(busy_after, [queues] * 6))
    assert max(waits) < 2 * 0.5


def test_a_stranger_in_the_middle_of_a_write_makes_others_busy_within_three_seconds(tmp_path: Path) -> None:
    queues = open_queues(tmp_path)
    queues.create("work")
    with closing(sqlite3.connect(tmp_path / "queues.db", isolation_level=None)) as stranger, ThreadPoolExecutor(6) as many:
        stranger.execute("BEGIN IMMEDIATE")
        waits = list(many.map(busy_after, [queues] * 6))
    assert max(waits) < 3


def test_threads_of_one_process_share_a_store(tmp_path: Path) -> None:
    queues = open_queues(tmp_path)
    queues.create("work")

    def send_some() -> None:
        for _ in range(25):
            queues.send("work", "x")

    threads = [threading.Thread(target=send_some) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert queues.depth("work").messages == 200
