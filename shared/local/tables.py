"""Tables as rows of one SQLite file; an entity's properties are one text that keeps their types."""

import base64
import binascii
import json
import re
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from shared.clock import Clock
from shared.errors import Conflict, Invalid, NotFound
from shared.limits import check_keys, check_table_name, encoded
from shared.local import properties as stored
from shared.local.database import Database
from shared.local.times import moment, stamp
from shared.tables import MAX_BATCH, Change, Entity, EntityPage, Value

_SCHEMA = """
CREATE TABLE tables (name TEXT PRIMARY KEY COLLATE NOCASE) WITHOUT ROWID;
CREATE TABLE entities (
    tbl TEXT NOT NULL COLLATE NOCASE, partition TEXT NOT NULL, row TEXT NOT NULL,
    etag TEXT NOT NULL, changed INTEGER NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (tbl, partition, row));
"""
_NAME = re.compile("[A-Za-z][A-Za-z0-9]{2,62}")
_COLUMNS = "partition, row, etag, changed, body"
_WHERE = "tbl = ? AND partition = ? AND row = ?"


class _Key(NamedTuple):
    table: str
    partition: str
    row: str

    def __str__(self) -> str:
        return f"the entity ({self.partition!r}, {self.row!r}) of table {self.table!r}"


class _Row(NamedTuple):
    partition: str
    row: str
    etag: str
    changed: int
    body: str

    def entity(self) -> Entity:
        return Entity(
            partition=self.partition, row=self.row, properties=stored.read(self.body), etag=self.etag,
            timestamp=moment(self.changed),
        )


class LocalTables:
    def __init__(self, path: Path, clock: Clock) -> None:
        self._clock = clock
        self._db = Database(path, _SCHEMA)

    def create_table(self, name: str) -> None:
        if not self._create(name):
            raise Conflict(f"the table {name!r} exists already")

    def ensure_table(self, name: str) -> None:
        check_table_name(name)
        if not self._db.read(lambda db: _exists(db, name)):
            self._create(name)

    def list_tables(self) -> list[str]:
        return self._db.read(lambda db: [row[0] for row in db.execute("SELECT name FROM tables ORDER BY name")])

    def delete_table(self, name: str) -> None:
        def work(db: sqlite3.Connection) -> None:
            _need(db, name)
            db.execute("DELETE FROM entities WHERE tbl = ?", (name,))
            db.execute("DELETE FROM tables WHERE name = ?", (name,))

        self._db.write(work, vital=True)

    def insert(self, table: str, partition: str, row: str, properties: Mapping[str, Value]) -> str:
        return self._one(table, partition, Change(kind="insert", row=row, properties=properties)) or ""

    def update(
        self, table: str, partition: str, row: str, properties: Mapping[str, Value], *, if_match: str
    ) -> str:
        change = Change(kind="update", row=row, properties=properties, if_match=if_match)
        return self._one(table, partition, change) or ""

    def upsert(self, table: str, partition: str, row: str, properties: Mapping[str, Value]) -> str:
        return self._one(table, partition, Change(kind="upsert", row=row, properties=properties)) or ""

    def delete(self, table: str, partition: str, row: str, *, if_match: str = "*") -> None:
        self._one(table, partition, Change(kind="delete", row=row, if_match=if_match))

    def batch(self, table: str, partition: str, changes: Sequence[Change]) -> list[str | None]:
        if not 1 <= len(changes) <= MAX_BATCH:
            raise Invalid(f"a batch holds 1 to {MAX_BATCH} changes, not {len(changes)}")
        if len({change.row for change in changes}) != len(changes):
            raise Invalid("a batch may change each row once only")
        for change in changes:
            check_keys(partition, change.row)
        bodies = ["" if change.kind == "delete" else stored.write(change.properties or {}) for change in changes]

        def work(db: sqlite3.Connection) -> list[str | None]:
            _need(db, table)
            now = stamp(self._clock.now())
            pairs = zip(changes, bodies, strict=True)
            return [_apply(db, _Key(table, partition, change.row), change, body, now) for change, body in pairs]

        return self._db.write(work, vital=True)

    def get(self, table: str, partition: str, row: str) -> Entity:
        check_keys(partition, row)
        key = _Key(table, partition, row)

        def work(db: sqlite3.Connection) -> _Row:
            _need(db, table)
            found = db.execute(f"SELECT {_COLUMNS} FROM entities WHERE {_WHERE}", key).fetchone()
            if found is None:
                raise NotFound(f"{key} is not there")
            return _Row._make(found)

        return self._db.read(work).entity()

    def query(
        self,
        table: str,
        partition: str | None,
        *,
        row_from: str | None = None,
        row_to: str | None = None,
        limit: int = 1000,
        marker: str | None = None,
    ) -> EntityPage:
        if not 1 <= limit <= 1000:
            raise Invalid(f"a page holds 1 to 1,000 entities, not {limit}")
        where, values = _conditions(table, partition, row_from, row_to, marker)
        statement = f"SELECT {_COLUMNS} FROM entities WHERE {where} ORDER BY partition, row LIMIT ?"

        def work(db: sqlite3.Connection) -> list[_Row]:
            _need(db, table)
            return [_Row._make(row) for row in db.execute(statement, (*values, limit + 1))]

        rows = self._db.read(work)
        return EntityPage(
            entities=tuple(row.entity() for row in rows[:limit]),
            marker=_write_marker(rows[limit - 1]) if len(rows) > limit else None,
        )

    def _create(self, name: str) -> bool:
        check_table_name(name)
        statement = "INSERT OR IGNORE INTO tables (name) VALUES (?)"
        return self._db.write(lambda db: db.execute(statement, (name,)).rowcount == 1)

    def _one(self, table: str, partition: str, change: Change) -> str | None:
        return self.batch(table, partition, [change])[0]


def _apply(db: sqlite3.Connection, key: _Key, change: Change, body: str, now: int) -> str | None:
    """Returns the new ETag, None for a delete."""
    found = db.execute(f"SELECT etag FROM entities WHERE {_WHERE}", key).fetchone()
    _check_change(key, change, None if found is None else found[0])
    if change.kind == "delete":
        db.execute(f"DELETE FROM entities WHERE {_WHERE}", key)
        return None
    etag = secrets.token_hex(8)
    statement = f"INSERT OR REPLACE INTO entities (tbl, {_COLUMNS}) VALUES (?, ?, ?, ?, ?, ?)"
    db.execute(statement, (*key, etag, now, body))
    return etag


def _check_change(key: _Key, change: Change, etag: str | None) -> None:
    """`etag` is that of the entity as it is, None if it is not there."""
    if change.kind == "insert" and etag is not None:
        raise Conflict(f"{key} exists already")
    if change.kind in ("update", "delete"):
        if etag is None:
            raise NotFound(f"{key} is not there")
        if change.if_match not in ("*", etag):
            raise Conflict(f"{key} was changed by somebody else")


def _conditions(
    table: str, partition: str | None, row_from: str | None, row_to: str | None, marker: str | None
) -> tuple[str, list[str]]:
    terms, values = ["tbl = ?"], [table]
    for term, value in (("partition = ?", partition), ("row >= ?", row_from), ("row < ?", row_to)):
        if value is not None:
            encoded("a key", value)
            terms.append(term)
            values.append(value)
    if marker is not None:
        after = _read_marker(marker)
        # The index serves the plain comparison only where the partition is fixed, the pair only where it is not.
        terms.append("(partition, row) > (?, ?)" if partition is None else "row > ?")
        values.extend(after if partition is None else after[1:])
    return " AND ".join(terms), values


def _exists(db: sqlite3.Connection, name: str) -> bool:
    return db.execute("SELECT 1 FROM tables WHERE name = ?", (name,)).fetchone() is not None


def _need(db: sqlite3.Connection, name: str) -> None:
    if not _exists(db, name):
        raise NotFound(f"there is no table {name!r}")


def _write_marker(last: _Row) -> str:
    return base64.urlsafe_b64encode(json.dumps([last.partition, last.row]).encode()).decode()


def _read_marker(marker: str) -> tuple[str, str]:
    try:
        partition, row = json.loads(base64.urlsafe_b64decode(marker))
    except (binascii.Error, ValueError, TypeError):
        raise Invalid("this is not a marker of this listing") from None
    return str(partition), str(row)
