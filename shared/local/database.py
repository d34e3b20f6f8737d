"""One SQLite file used by many processes: readers see a snapshot, writers take turns, an answer means it is on disk."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar

from shared.errors import Full
from shared.local.ballast import Ballast
from shared.local.connections import Connections
from shared.local.faults import translated
from shared.local.turn import Turn

Result = TypeVar("Result")
Work = Callable[[sqlite3.Connection], Result]

_VERSION = 1
_LOOK_AFTER_BALLAST_EVERY = 200
_sync_data = getattr(os, "fdatasync", os.fsync)  # macOS has only the latter


class Database:
    """Waits are bounded: whatever cannot be done raises Busy or Full, and then nothing of it stays."""

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._log = path.with_name(path.name + "-wal")
        self._connections = Connections(path)
        self._turn = Turn(path.with_name(path.name + ".lock"))
        self._ballast = Ballast(path.with_name(path.name + ".ballast"))
        self._writes = 0
        with translated():
            path.parent.mkdir(parents=True, exist_ok=True)
            self._prepare(schema)

    def read(self, work: Work[Result]) -> Result:
        """Run `work` on one snapshot, the newest; it waits for no writer and holds none up."""
        with translated(), self._connections.borrow() as connection:
            connection.execute("BEGIN")
            try:
                return work(connection)
            finally:
                _roll_back(connection)

    def write(self, work: Work[Result], *, durable: bool = True, vital: bool = False) -> Result:
        """Run `work` in one transaction. It may run twice, so it must have no effect outside.

        Unless `durable`, a power cut (not a crash) may take it back. What is `vital` gets through on a full disk by
        means of the ballast: records of work already done, and what frees space.
        """
        self._look_after_ballast()
        try:
            return self._transact(work, durable)
        except Full:
            if not vital:
                raise
            self._make_room()
            return self._transact(work, durable)

    def _transact(self, work: Work[Result], durable: bool) -> Result:
        with translated(), self._connections.borrow() as connection:
            with self._turn.taken():
                result = _committed(connection, work)
            if durable:
                self._sync()
            return result

    def _make_room(self) -> None:
        """Give up the ballast, and begin the log again at its start, which takes no more space than it has."""
        self._ballast.drop()
        with suppress(Full), translated(), self._connections.borrow() as connection, self._turn.taken():
            connection.execute("PRAGMA wal_checkpoint(RESTART)").fetchall()

    def _sync(self) -> None:
        """Outside the turn, so that one trip to the disk serves every commit of those who ask at the same time."""
        try:
            log = os.open(self._log, os.O_RDONLY | os.O_CLOEXEC)
        except FileNotFoundError:  # the last to close folded it into the database, and synced that
            return
        try:
            _sync_data(log)
        finally:
            os.close(log)

    def _prepare(self, schema: str) -> None:
        if not self._is_prepared():
            # In a turn even to look: whoever turns the write-ahead log on must be alone, readers included.
            with self._connections.borrow() as connection, self._turn.taken():
                if _version(connection) < _VERSION:
                    connection.execute("PRAGMA journal_mode=WAL")
                    connection.executescript(f"BEGIN IMMEDIATE; {schema} PRAGMA user_version={_VERSION}; COMMIT;")
        self._ballast.keep()

    def _is_prepared(self) -> bool:
        """Without a turn where the log is on already: a process can start while a frozen one has the turn."""
        if not _has_log(self._path):
            return False
        with self._connections.borrow() as connection:
            return _version(connection) >= _VERSION

    def _look_after_ballast(self) -> None:
        self._writes += 1
        if self._writes % _LOOK_AFTER_BALLAST_EVERY == 0:
            self._ballast.keep()


def _committed(connection: sqlite3.Connection, work: Work[Result]) -> Result:
    # A deferred BEGIN that writes later fails at once when another wrote in between, however long the time-out.
    connection.execute("BEGIN IMMEDIATE")
    try:
        result = work(connection)
        connection.execute("COMMIT")
    except BaseException:
        _roll_back(connection)
        raise
    return result


def _roll_back(connection: sqlite3.Connection) -> None:
    if connection.in_transaction:  # some failures make SQLite do it by itself
        connection.execute("ROLLBACK")


def _has_log(path: Path) -> bool:
    """Whether the file says that it is written through a log: bytes 18 and 19 (sqlite.org/fileformat.html, 1.3)."""
    with suppress(FileNotFoundError), path.open("rb") as file:
        return file.read(20)[18:] == b"\2\2"
    return False


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
