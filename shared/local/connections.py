"""A process's open connections to one SQLite file, borrowed by its threads; none is open while the process forks.

SQLite keeps its locks per process, so a connection that crossed a fork, or merely lay open beside one, could make the
child believe it holds a lock that is its parent's. Before a fork all work in hand ends and all connections close.
"""

import functools
import os
import sqlite3
import threading
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Connections:
    def __init__(self, path: Path) -> None:
        self._path = path
        self._idle: list[sqlite3.Connection] = []
        self._borrowed = 0
        self._paused = False
        self._changed = threading.Condition()
        weakref.finalize(self, _close, self._idle)
        _watch_forks()
        _open.add(self)

    @contextmanager
    def borrow(self) -> Iterator[sqlite3.Connection]:
        """A connection that nobody else uses meanwhile; kept open afterwards for the next borrower."""
        connection = self._take()
        try:
            connection = connection or self._connect()
            yield connection
        finally:
            self._give_back(connection)

    def pause(self) -> None:
        """Wait until nothing is borrowed, close all, and let nobody in until `resume`, called by the same thread."""
        self._changed.acquire()
        self._paused = True
        while self._borrowed:
            self._changed.wait()
        _close(self._idle)

    def resume(self) -> None:
        self._paused = False
        self._changed.notify_all()
        self._changed.release()

    def _take(self) -> sqlite3.Connection | None:
        with self._changed:
            while self._paused:
                self._changed.wait()
            self._borrowed += 1
            return self._idle.pop() if self._idle else None

    def _give_back(self, connection: sqlite3.Connection | None) -> None:
        with self._changed:
            self._borrowed -= 1
            if connection is not None:
                self._idle.append(connection)
            if not self._borrowed:
                self._changed.notify_all()

    def _connect(self) -> sqlite3.Connection:
        # Our writers wait for their turn before SQLite; it only waits for strangers, and a log read after a crash.
        connection = sqlite3.connect(self._path, timeout=0.5, isolation_level=None, check_same_thread=False)
        # A commit leaves the fsync to us, who do it outside the writers' turn; checkpoints keep theirs.
        connection.execute("PRAGMA synchronous=NORMAL")
        # A megabyte for each, as there may be one for each of many threads; the system's cache holds the rest.
        connection.execute("PRAGMA cache_size=-1000")
        return connection


_open: "weakref.WeakSet[Connections]" = weakref.WeakSet()
_stopped: list[Connections] = []


@functools.cache
def _watch_forks() -> None:
    os.register_at_fork(before=_pause_all, after_in_parent=_resume_all, after_in_child=_resume_all)


def _pause_all() -> None:
    for connections in list(_open):
        connections.pause()
        _stopped.append(connections)


def _resume_all() -> None:
    while _stopped:
        _stopped.pop().resume()


def _close(idle: list[sqlite3.Connection]) -> None:
    while idle:
        idle.pop().close()
