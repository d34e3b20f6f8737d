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


@contextmanager
def translated() -> Iterator[None]:
    """What SQLite or the system raises inside leaves as Full or Busy; a mistake in our own statements stays itself."""
    try:
        yield
    except (sqlite3.OperationalError, sqlite3.DatabaseError) as error:
        if isinstance(error, sqlite3.ProgrammingError | sqlite3.IntegrityError | sqlite3.InterfaceError):
            raise
        raise _of_sqlite(error) from error
    except OSError as error:
        raise _of_system(error) from error


def _of_sqlite(error: sqlite3.Error) -> MatineeError:
    code = getattr(error, "sqlite_errorcode", 0)
    if code in _NO_SPACE_CODES:
        return Full("the disk is full; nothing was changed")
    if code & 0xFF in _LOCKED_CODES:
        return Busy("the storage is in use by others for too long; try again")
    return Busy(f"the storage does not answer: {error}")


def _of_system(error: OSError) -> MatineeError:
    if error.errno in _NO_SPACE:
        return Full("the disk is full; nothing was changed")
    return Busy(f"the storage does not answer: {error.strerror or error}")
