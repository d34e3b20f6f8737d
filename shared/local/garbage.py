"""What the collector does: forget rows nobody can reach, then remove files no row speaks of, in small transactions."""

import sqlite3
from collections.abc import Iterator

from shared.blobs import UNCOMMITTED_LIFE
from shared.local import containers, leases, staging, versions
from shared.local.database import Database
from shared.local.files import Files
from shared.local.times import SECOND, micros
from shared.local.versions import Place

SCHEMA = "CREATE TABLE searches (at INTEGER NOT NULL);"
"""When the whole tree was last searched for strays."""

_READERS_GRACE = 600 * SECOND
"""A file replaced or deleted stays this long for those who opened its blob before."""
_SEARCH_EVERY = 86400 * SECOND
_AT_ONCE = 500

_UNKNOWN = (
    "SELECT 1 FROM pieces WHERE file = :file UNION ALL SELECT 1 FROM staged WHERE file = :file"
    " UNION ALL SELECT 1 FROM garbage WHERE file = :file LIMIT 1"
)


def is_known(db: sqlite3.Connection, file: str) -> bool:
    return db.execute(_UNKNOWN, {"file": file}).fetchone() is not None


class Collector:
    def __init__(self, database: Database, files: Files) -> None:
        self._db = database
        self._files = files

    def collect(self, now: int) -> int:
        """Returns the bytes freed."""
        self._forget_rested(now)
        for container in self._db.read(containers.deleted):
            self._empty(container, now)
        return self._remove_discarded(now) + self._remove_strays(now)

    def _forget_rested(self, now: int) -> None:
        limit = now - micros(UNCOMMITTED_LIFE)
        for place in self._db.read(lambda db: staging.rested_since(db, limit)):
            self._db.write(lambda db, place=place: _drop_rested(db, place, limit, now), vital=True)  # type: ignore[misc]

    def _empty(self, container: int, now: int) -> None:
        while self._db.write(lambda db: _drop_some(db, container, now), vital=True):
            pass
        self._db.write(lambda db: containers.forget(db, container, now))

    def _remove_discarded(self, now: int) -> int:
        freed = 0
        while files := self._db.read(lambda db: _due(db, now - _READERS_GRACE)):
            freed += sum(self._files.remove(file) for file in files)
            self._db.write(lambda db, files=files: _removed(db, files), durable=False, vital=True)  # type: ignore[misc]
        return freed

    def _remove_strays(self, now: int) -> int:
        freed = sum(self._files.remove_unknown(file) for file in self._files.unfinished())
        if self._db.write(lambda db: _search_is_due(db, now), durable=False):
            freed += sum(self._files.remove_unknown(file) for file in self._strays())
        return freed

    def _strays(self) -> Iterator[str]:
        for folder in self._files.folders():
            known = self._db.read(lambda db, folder=folder: _known_in(db, folder))  # type: ignore[misc]
            yield from (file for file in self._files.finished(folder) if file not in known)


def _drop_rested(db: sqlite3.Connection, place: Place, limit: int, now: int) -> None:
    """Unless a block came since it was found."""
    last = staging.last(db, place)
    if last is not None and last <= limit:
        versions.discard(db, [block.file for block in staging.blocks(db, place)], now)
        staging.drop(db, place)


def _drop_some(db: sqlite3.Connection, container: int, now: int) -> bool:
    """Some of a deleted container's blobs and blocks; False when nothing is left."""
    places = versions.within(db, container, _AT_ONCE) or staging.within(db, container, _AT_ONCE)
    for place in places:
        content = versions.pieces(db, versions.find(db, place)) + staging.blocks(db, place)
        versions.delete(db, place)
        staging.drop(db, place)
        leases.end(db, place)
        versions.discard(db, [piece.file for piece in content], now)
    return bool(places)


def _due(db: sqlite3.Connection, limit: int) -> list[str]:
    return [row[0] for row in db.execute("SELECT file FROM garbage WHERE since <= ? LIMIT ?", (limit, _AT_ONCE))]


def _removed(db: sqlite3.Connection, files: list[str]) -> None:
    db.executemany("DELETE FROM garbage WHERE file = ?", [(file,) for file in files])


def _search_is_due(db: sqlite3.Connection, now: int) -> bool:
    last = db.execute("SELECT max(at) FROM searches").fetchone()[0]
    if last is not None and now < last + _SEARCH_EVERY:
        return False
    db.execute("DELETE FROM searches")
    db.execute("INSERT INTO searches (at) VALUES (?)", (now,))
    return True


def _known_in(db: sqlite3.Connection, folder: str) -> set[str]:
    span = (folder, folder + "g")  # ids are hexadecimal, so "g" is above them all
    tables = ("pieces", "staged", "garbage")
    queries = (f"SELECT file FROM {table} WHERE file >= ? AND file < ?" for table in tables)
    return {row[0] for query in queries for row in db.execute(query, span)}
