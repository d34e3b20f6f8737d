"""Leases as rows by blob; one that ran out stays its holder's to renew until somebody else takes it or writes."""

import sqlite3
import uuid

from shared.errors import Conflict, Invalid, Lost
from shared.local.times import SECOND
from shared.local.versions import Place

SCHEMA = """
CREATE TABLE leases (
    container INTEGER NOT NULL, name TEXT NOT NULL, lease TEXT NOT NULL, seconds INTEGER NOT NULL,
    until INTEGER NOT NULL, PRIMARY KEY (container, name)) WITHOUT ROWID;
"""
_ENDLESS = -1
_FOREVER = 2**62


def check_seconds(seconds: int) -> None:
    if seconds != _ENDLESS and not 15 <= seconds <= 60:
        raise Invalid(f"a lease lasts 15 to 60 s, or -1 for no end, not {seconds}")


def new_id() -> str:
    return str(uuid.uuid4())


def check(db: sqlite3.Connection, place: Place, lease: str | None, now: int) -> None:
    """Conflict unless a writer with this lease (or none) may write."""
    holder = _holder(db, place, now)
    if holder is not None and lease is None:
        raise Conflict(f"another holds a lease on {place.name!r}")
    if holder != lease:
        raise Conflict(f"the lease given does not hold {place.name!r}")


def written(db: sqlite3.Connection, place: Place, now: int) -> None:
    """A write ends a lease that had run out."""
    db.execute("DELETE FROM leases WHERE container = ? AND name = ? AND until <= ?", (*place, now))


def acquire(db: sqlite3.Connection, place: Place, lease: str, seconds: int, now: int) -> None:
    if _holder(db, place, now) not in (None, lease):
        raise Conflict(f"another holds a lease on {place.name!r}")
    until = _FOREVER if seconds == _ENDLESS else now + seconds * SECOND
    db.execute(
        "INSERT OR REPLACE INTO leases (container, name, lease, seconds, until) VALUES (?, ?, ?, ?, ?)",
        (*place, lease, seconds, until),
    )


def renew(db: sqlite3.Connection, place: Place, lease: str, now: int) -> None:
    held = db.execute("SELECT lease, seconds FROM leases WHERE container = ? AND name = ?", place).fetchone()
    if held is None or held[0] != lease:
        raise _lost(place)
    acquire(db, place, lease, held[1], now)


def release(db: sqlite3.Connection, place: Place, lease: str) -> None:
    statement = "DELETE FROM leases WHERE container = ? AND name = ? AND lease = ?"
    if not db.execute(statement, (*place, lease)).rowcount:
        raise _lost(place)


def end(db: sqlite3.Connection, place: Place) -> None:
    db.execute("DELETE FROM leases WHERE container = ? AND name = ?", place)


def _holder(db: sqlite3.Connection, place: Place, now: int) -> str | None:
    query = "SELECT lease FROM leases WHERE container = ? AND name = ? AND until > ?"
    row = db.execute(query, (*place, now)).fetchone()
    return None if row is None else str(row[0])


def _lost(place: Place) -> Lost:
    return Lost(f"the lease on {place.name!r} is not ours any more")
