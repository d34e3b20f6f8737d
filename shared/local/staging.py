"""Staged blocks as rows by blob name and block id; the blob itself need not exist."""

import sqlite3
from typing import NamedTuple

from shared.errors import Invalid
from shared.limits import block_id_length
from shared.local.versions import Piece, Place

SCHEMA = """
CREATE TABLE staged (
    container INTEGER NOT NULL, name TEXT NOT NULL, block TEXT NOT NULL, file TEXT NOT NULL, size INTEGER NOT NULL,
    at INTEGER NOT NULL, PRIMARY KEY (container, name, block)) WITHOUT ROWID;
CREATE INDEX staged_by_file ON staged (file);
"""


class Uncommitted(NamedTuple):
    """A name with staged blocks and the time of the last one."""

    place: Place
    last: int


def check_id_length(db: sqlite3.Connection, place: Place, block_id: str) -> None:
    query = "SELECT block FROM staged WHERE container = ? AND name = ? LIMIT 1"
    other = db.execute(query, place).fetchone()
    if other and block_id_length(other[0]) != block_id_length(block_id):
        raise Invalid(f"the block ids of one blob all have the same length; {block_id!r} has another than {other[0]!r}")


def stage(db: sqlite3.Connection, place: Place, piece: Piece, now: int) -> str | None:
    """Returns the file of the block this one takes the place of."""
    query = "SELECT file FROM staged WHERE container = ? AND name = ? AND block = ?"
    old = db.execute(query, (*place, piece.block)).fetchone()
    db.execute(
        "INSERT OR REPLACE INTO staged (container, name, block, file, size, at) VALUES (?, ?, ?, ?, ?, ?)",
        (*place, piece.block, piece.file, piece.size, now),
    )
    return None if old is None else str(old[0])


def blocks(db: sqlite3.Connection, place: Place) -> list[Piece]:
    query = "SELECT file, size, block FROM staged WHERE container = ? AND name = ?"
    return [Piece._make(row) for row in db.execute(query, place)]


def drop(db: sqlite3.Connection, place: Place) -> None:
    db.execute("DELETE FROM staged WHERE container = ? AND name = ?", place)


def uncommitted(db: sqlite3.Connection, container: int) -> list[Uncommitted]:
    """Names without committed content, in order."""
    query = (
        "SELECT name, max(at) FROM staged s WHERE container = ? AND NOT EXISTS"
        " (SELECT 1 FROM blobs b WHERE b.container = s.container AND b.name = s.name) GROUP BY name ORDER BY name"
    )
    return [Uncommitted(Place(container, name), last) for name, last in db.execute(query, (container,))]


def rested_since(db: sqlite3.Connection, moment: int) -> list[Place]:
    """Names, committed or not, none of whose staged blocks is newer."""
    query = "SELECT container, name FROM staged GROUP BY container, name HAVING max(at) <= ?"
    return [Place._make(row) for row in db.execute(query, (moment,))]


def last(db: sqlite3.Connection, place: Place) -> int | None:
    """When its newest block was staged."""
    query = "SELECT max(at) FROM staged WHERE container = ? AND name = ?"
    return db.execute(query, place).fetchone()[0]  # type: ignore[no-any-return]


def within(db: sqlite3.Connection, container: int, limit: int) -> list[Place]:
    query = "SELECT DISTINCT container, name FROM staged WHERE container = ? LIMIT ?"
    return [Place._make(row) for row in db.execute(query, (container, limit))]
