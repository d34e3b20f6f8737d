"""One SQLite file used by many processes: whoever writes takes a turn, and what is committed is on disk."""

import errno
import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, TypeVar

from shared.errors import Busy, Full, MatineeError

Result = TypeVar("Result")

_TURN_SECONDS = 8.0
_BALLAST_BYTES = 4 * 1024 * 1024
_FULL = {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_SHMSIZE}
_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}


class Database:
    """Connections by thread, safe across fork; `write` transactions one after the other over all processes.

    SQLite's own busy handler lets a caller starve for seconds under load, so a file lock around each write
    transaction gives the turns. On a full disk even deletes fail; a ballast file is given up for those that say they
    are `vital`, so that finished work can still be recorded, and is made again once there is room.
    """

    def __init__(self, path: Path, schema: str) -> None:
        self._path = path
        self._ballast = path.with_name(path.name + ".ballast")
        self._inherited: list[Any] = []
        self._start()
        with translated():
            path.parent.mkdir(parents=True, exist_ok=True)
        self._prepare(schema)

    def read(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        """Run `work` outside any write transaction: it sees the newest commit and waits for nobody."""
        with translated():
            return work(self._connection())

    def write(self, work: Callable[[sqlite3.Connection], Result], *, vital: bool = False) -> Result:
        """Run `work` in one immediate transaction; on any exception nothing of it stays."""
        try:
            return self._transact(work)
        except Full:
            if not (vital and self._drop_ballast()):
                raise
            return self._transact(work)

    def _transact(self, work: Callable[[sqlite3.Connection], Result]) -> Result:
        with translated(), self._turn():
            connection = self._connection()
            connection.execute("BEGIN IMMEDIATE")
            try:
                result = work(connection)
                connection.execute("COMMIT")
            except BaseException:
                with suppress(sqlite3.Error):
                    connection.execute("ROLLBACK")
                raise
            return result

    def _start(self) -> None:
        self._pid = os.getpid()
        self._threads = threading.local()
        self._thread_turn = threading.Lock()
        self._lock_file: IO[bytes] | None = None

    def _connection(self) -> sqlite3.Connection:
        if self._pid != os.getpid():
            # Closing a connection that a parent also holds could harm the parent's locks, so it is only put aside.
            self._inherited.append((self._threads, self._lock_file))
            self._start()
        if not hasattr(self._threads, "connection"):
            self._threads.connection = self._connect()
        connection: sqlite3.Connection = self._threads.connection
        return connection

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self._path, timeout=5.0, isolation_level=None, check_same_thread=False)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA cache_size=-4000")
        return connection

    def _prepare(self, schema: str) -> None:
        with translated(), self._turn():
            connection = self._connection()
            connection.execute("PRAGMA journal_mode=WAL")
            connection.executescript(f"BEGIN IMMEDIATE; {schema} COMMIT;")
            self._make_ballast()

    @contextmanager
    def _turn(self) -> Iterator[None]:
        self._connection()
        until = time.monotonic() + _TURN_SECONDS
        if not self._thread_turn.acquire(timeout=_TURN_SECONDS):
            raise Busy(f"{self._path.name} is being written by others for too long; try again")
        try:
            file = self._locked_file(until)
            try:
                yield
            finally:
                fcntl.flock(file, fcntl.LOCK_UN)
        finally:
            self._thread_turn.release()

    def _locked_file(self, until: float) -> IO[bytes]:
        # A holder may be frozen, so the wait must end; a blocking flock would not.
        if self._lock_file is None:
            self._lock_file = self._path.with_name(self._path.name + ".lock").open("ab")
        pause = 0.0002
        while True:
            try:
                fcntl.flock(self._lock_file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > until:
                    raise Busy(f"{self._path.name} is being written by others for too long; try again") from None
                time.sleep(pause)
                pause = min(pause * 1.5, 0.002)
            else:
                return self._lock_file

    def _make_ballast(self) -> None:
        if self._ballast.exists():
            return
        with suppress(OSError), self._ballast.open("xb") as file:
            file.write(bytes(_BALLAST_BYTES))
            os.fsync(file.fileno())

    def _drop_ballast(self) -> bool:
        try:
            self._ballast.unlink()
        except OSError:
            return False
        return True


@contextmanager
def translated() -> Iterator[None]:
    """SQLite's and the system's failures become ours."""
    try:
        yield
    except MatineeError:
        raise
    except sqlite3.Error as error:
        code = getattr(error, "sqlite_errorcode", 0)
        if code in _FULL:
            raise Full("the disk is full; nothing was changed") from error
        if code & 0xFF in _BUSY:
            raise Busy("the database is in use; try again") from error
        raise
    except OSError as error:
        raise named(error) from error


def named(error: OSError) -> MatineeError | OSError:
    """The named failure for an operating system error that has one, or the error itself."""
    if error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG):
        return Full("the disk is full; nothing was changed")
    if error.errno in (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM):
        return Busy(f"the system is short of a resource ({error.strerror}); try again")
    return error
