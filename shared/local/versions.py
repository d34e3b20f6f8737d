"""A blob's row points at a version: the ordered pieces of files that are its content. A change makes a new version."""

import json
import secrets
import sqlite3
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from shared.blobs import Blob
from shared.errors import NotFound
from shared.local.times import moment, whole_seconds

SCHEMA = """
CREATE TABLE blobs (
    container INTEGER NOT NULL, name TEXT NOT NULL, etag TEXT NOT NULL, modified INTEGER NOT NULL,
    size INTEGER NOT NULL, type TEXT NOT NULL, cache TEXT, md5 BLOB, metadata TEXT NOT NULL, version TEXT NOT NULL,
    PRIMARY KEY (container, name)) WITHOUT ROWID;
CREATE TABLE pieces (
    version TEXT NOT NULL, start INTEGER NOT NULL, size INTEGER NOT NULL, file TEXT NOT NULL, block TEXT,
    PRIMARY KEY (version, start)) WITHOUT ROWID;
CREATE INDEX pieces_by_file ON pieces (file);
CREATE TABLE garbage (file TEXT PRIMARY KEY, since INTEGER NOT NULL) WITHOUT ROWID;
CREATE INDEX garbage_by_time ON garbage (since);
"""
COLUMNS = "name, etag, modified, size, type, cache, md5, metadata, version"


class Place(NamedTuple):
    """Where a blob is: its container's row and its name."""

    container: int
    name: str


class About(NamedTuple):
    """What a writer says of a blob besides its bytes; `metadata` as stored."""

    content_type: str
    cache_control: str | None
    metadata: str


class Stored(NamedTuple):
    """A blob's row."""

    name: str
    etag: str
    modified: int
    size: int
    content_type: str
    cache_control: str | None
    md5: bytes | None
    metadata: str
    version: str

    def blob(self, container: str) -> Blob:
        return Blob(
            container=container,
            name=self.name,
            size=self.size,
            etag=self.etag,
            last_modified=moment(self.modified),
            content_type=self.content_type,
            cache_control=self.cache_control,
            content_md5=self.md5,
            metadata=json.loads(self.metadata),
        )


class Piece(NamedTuple):
    """A whole file within a blob; `block` is the id it was staged under, None for a blob put whole."""

    file: str
    size: int
    block: str | None


class Stretch(NamedTuple):
    """A piece where it lies in the content."""

    start: int
    size: int
    file: str


def find(db: sqlite3.Connection, place: Place) -> Stored | None:
    row = db.execute(f"SELECT {COLUMNS} FROM blobs WHERE container = ? AND name = ?", place).fetchone()
    return None if row is None else Stored._make(row)


def need(db: sqlite3.Connection, place: Place) -> Stored:
    found = find(db, place)
    if found is None:
        raise NotFound(f"there is no blob {place.name!r}")
    return found


def within(db: sqlite3.Connection, container: int, limit: int) -> list[Place]:
    query = "SELECT container, name FROM blobs WHERE container = ? LIMIT ?"
    return [Place._make(row) for row in db.execute(query, (container, limit))]


def pieces(db: sqlite3.Connection, stored: Stored | None) -> list[Piece]:
    if stored is None:
        return []
    query = "SELECT file, size, block FROM pieces WHERE version = ? ORDER BY start"
    return [Piece._make(row) for row in db.execute(query, (stored.version,))]


def stretches(db: sqlite3.Connection, stored: Stored, start: int, end: int) -> list[Stretch]:
    """What overlaps [start, end), found without walking the pieces before."""
    query = (
        "SELECT start, size, file FROM pieces WHERE version = :version AND start < :end AND start >="
        " (SELECT max(start) FROM pieces WHERE version = :version AND start <= :start) ORDER BY start"
    )
    values = {"version": stored.version, "start": start, "end": end}
    return [Stretch._make(row) for row in db.execute(query, values)]


def replace(
    db: sqlite3.Connection, place: Place, content: Sequence[Piece], md5: bytes | None, about: About, now: int
) -> Stored:
    """Write the row and its new version; the pieces of the one before go."""
    _drop_pieces(db, place)
    version, size = secrets.token_hex(12), 0
    rows = []
    for piece in content:
        rows.append((version, size, piece.size, piece.file, piece.block))
        size += piece.size
    db.executemany("INSERT INTO pieces (version, start, size, file, block) VALUES (?, ?, ?, ?, ?)", rows)
    stored = Stored(
        place.name, new_etag(), whole_seconds(now), size, about.content_type, about.cache_control, md5, about.metadata,
        version,
    )
    statement = f"INSERT OR REPLACE INTO blobs (container, {COLUMNS}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
    db.execute(statement, (place.container, *stored))
    return stored


def set_metadata(db: sqlite3.Connection, place: Place, metadata: str, now: int) -> Stored:
    statement = "UPDATE blobs SET metadata = ?, etag = ?, modified = ? WHERE container = ? AND name = ?"
    db.execute(statement, (metadata, new_etag(), whole_seconds(now), *place))
    return need(db, place)


def delete(db: sqlite3.Connection, place: Place) -> None:
    _drop_pieces(db, place)
    db.execute("DELETE FROM blobs WHERE container = ? AND name = ?", place)


def discard(db: sqlite3.Connection, files: Iterable[str], now: int) -> None:
    """Files no row speaks of any more; readers who opened the blob before may still want them for a while."""
    db.executemany("INSERT OR IGNORE INTO garbage (file, since) VALUES (?, ?)", [(file, now) for file in files])


def new_etag() -> str:
    return f'"{secrets.token_hex(8)}"'


def _drop_pieces(db: sqlite3.Connection, place: Place) -> None:
    version = "(SELECT version FROM blobs WHERE container = ? AND name = ?)"
    db.execute(f"DELETE FROM pieces WHERE version = {version}", place)
