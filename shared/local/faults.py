"""SQLite's and the system's failures become ours, once, at the embedded backend's edge."""

import errno
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from shared.errors import Busy, Full, MatineeError

_NO_SPACE = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# A quota or a file size limit is reported as a write error; a full tmpfs also when the shared memory file grows.
_NO_SPACE_CODES = {
    sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_FSYNC, sqlite3.SQLITE_IOERR_SHMSIZE,
    sqlite3.SQLITE_IOERR_TRUNCATE,
}
_LOCKED_CODES = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_BROKEN_CODES = {
    sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB,
}


@contextmanager
def translated() -> Iterator[None]:
    """What SQLite or the system raises inside leaves as Full or Busy; a mistake in our own statements stays itself."""
    try:
        yield
    except sqlite3.Error as error:
        named = _of_sqlite(error)
        if named is None:
            raise
        raise named from error
    except OSError as error:
        raise _of_system(error) from error


def _of_sqlite(error: sqlite3.Error) -> MatineeError | None:
    code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR)
    if code in _NO_SPACE_CODES:
        return Full("the disk is full; nothing was changed")
    if code & 0xFF in _LOCKED_CODES:
        return Busy("the storage is in use by others for too long; try again")
    if code & 0xFF in _BROKEN_CODES:
        return Busy(f"the storage does not answer: {error}")
    return None


def _of_system(error: OSError) -> MatineeError:
    if error.errno in _NO_SPACE:
        return Full("the disk is full; nothing was changed")
    return Busy(f"the storage does not answer: {error.strerror or error}")
