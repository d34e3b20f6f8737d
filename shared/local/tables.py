"""Tables as rows of one SQLite file; an entity's properties are one JSON value with their types."""

import base64
import json
import re
import secrets
import sqlite3
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shared.clock import Clock
from shared.errors import Conflict, Invalid, NotFound
from shared.local.database import Database
from shared.tables import (
    MAX_BATCH,
    MAX_ENTITY_BYTES,
    MAX_KEY_BYTES,
    MAX_PROPERTIES,
    Change,
    Entity,
    EntityPage,
    Value,
)

_SCHEMA = """
CREATE TABLE IF NOT EXISTS tables (name TEXT PRIMARY KEY COLLATE NOCASE) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS entities (
    tbl TEXT NOT NULL COLLATE NOCASE, partition TEXT NOT NULL, row TEXT NOT NULL,
    etag TEXT NOT NULL, timestamp TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (tbl, partition, row));
"""
_TABLE_NAME = re.compile("[A-Za-z][A-Za-z0-9]{2,62}")
_PROPERTY_NAME = re.compile("[A-Za-z_][A-Za-z0-9_]{0,254}")
_RESERVED = {"PartitionKey", "RowKey", "Timestamp"}
_COLUMNS = "partition, row, etag, timestamp, body"


class LocalTables:
    def __init__(self, path: Path, clock: Clock) -> None:
        self._clock = clock
        self._db = Database(path, _SCHEMA)

    def create_table(self, name: str) -> None:
        if not self._create(name):
            raise Conflict(f"the table {name!r} exists already")

    def ensure_table(self, name: str) -> None:
        _check_table(name)
        if not self._db.read(lambda db: _has_table(db, name)):
            self._create(name)

    def list_tables(self) -> list[str]:
        return self._db.read(lambda db: [row[0] for row in db.execute("SELECT name FROM tables ORDER BY name")])

    def delete_table(self, name: str) -> None:
        def work(db: sqlite3.Connection) -> None:
            if not db.execute("DELETE FROM tables WHERE name = ?", (name,)).rowcount:
                raise NotFound(f"there is no table {name!r}")
            db.execute("DELETE FROM entities WHERE tbl = ?", (name,))

        self._db.write(work)

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

    def get(self, table: str, partition: str, row: str) -> Entity:
        _check_key(partition, row)

        def work(db: sqlite3.Connection) -> Any:
            _need_table(db, table)
            query = f"SELECT {_COLUMNS} FROM entities WHERE tbl = ? AND partition = ? AND row = ?"
            return db.execute(query, (table, partition, row)).fetchone()

        found = self._db.read(work)
        if found is None:
            raise NotFound(f"there is no entity ({partition!r}, {row!r}) in table {table!r}")
        return _entity(found)

    def batch(self, table: str, partition: str, changes: Sequence[Change]) -> list[str | None]:
        if not 1 <= len(changes) <= MAX_BATCH:
            raise Invalid(f"a batch holds 1 to {MAX_BATCH} changes, not {len(changes)}")
        if len({change.row for change in changes}) != len(changes):
            raise Invalid("a batch may change each row once only")
        bodies = [_check_change(partition, change) for change in changes]
        stamp = self._clock.now().isoformat()

        def work(db: sqlite3.Connection) -> list[str | None]:
            _need_table(db, table)
            return [
                _apply(db, table, partition, change, body, stamp)
                for change, body in zip(changes, bodies, strict=True)
            ]

        return self._db.write(work, vital=True)

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

        def work(db: sqlite3.Connection) -> list[Any]:
            _need_table(db, table)
            return db.execute(statement, (*values, limit + 1)).fetchall()

        rows = self._db.read(work)
        more = len(rows) > limit
        return EntityPage(
            entities=tuple(_entity(row) for row in rows[:limit]),
            marker=_marker(rows[limit - 1][0], rows[limit - 1][1]) if more else None,
        )

    def _create(self, name: str) -> bool:
        _check_table(name)
        statement = "INSERT OR IGNORE INTO tables (name) VALUES (?)"
        return self._db.write(lambda db: db.execute(statement, (name,)).rowcount == 1)

    def _one(self, table: str, partition: str, change: Change) -> str | None:
        return self.batch(table, partition, [change])[0]


def _apply(
    db: sqlite3.Connection, table: str, partition: str, change: Change, body: str, stamp: str
) -> str | None:
    key = (table, partition, change.row)
    where = "tbl = ? AND partition = ? AND row = ?"
    present = db.execute(f"SELECT etag FROM entities WHERE {where}", key).fetchone()
    if change.kind == "insert" and present:
        raise Conflict(f"the entity ({partition!r}, {change.row!r}) exists already")
    if change.kind in ("update", "delete"):
        if present is None:
            raise NotFound(f"there is no entity ({partition!r}, {change.row!r}) in table {table!r}")
        if change.if_match not in ("*", present[0]):
            raise Conflict(f"the entity ({partition!r}, {change.row!r}) was changed by somebody else")
    if change.kind == "delete":
        db.execute(f"DELETE FROM entities WHERE {where}", key)
        return None
    etag = secrets.token_hex(8)
    db.execute(
        "INSERT OR REPLACE INTO entities (tbl, partition, row, etag, timestamp, body) VALUES (?, ?, ?, ?, ?, ?)",
        (*key, etag, stamp, body),
    )
    return etag


def _conditions(
    table: str, partition: str | None, row_from: str | None, row_to: str | None, marker: str | None
) -> tuple[str, list[str]]:
    terms, values = ["tbl = ?"], [table]
    for term, value in (("partition = ?", partition), ("row >= ?", row_from), ("row < ?", row_to)):
        if value is not None:
            terms.append(term)
            values.append(value)
    if marker is not None:
        terms.append("(partition, row) > (?, ?)")
        values.extend(_read_marker(marker))
    return " AND ".join(terms), values


def _has_table(db: sqlite3.Connection, name: str) -> bool:
    return db.execute("SELECT 1 FROM tables WHERE name = ?", (name,)).fetchone() is not None


def _need_table(db: sqlite3.Connection, name: str) -> None:
    if not _has_table(db, name):
        raise NotFound(f"there is no table {name!r}")


def _check_table(name: str) -> None:
    if not _TABLE_NAME.fullmatch(name):
        raise Invalid(f"a table name is 3 to 63 letters and digits, a letter first, not {name!r}")


def _check_key(partition: str, row: str) -> None:
    for key in (partition, row):
        try:
            length = len(key.encode())
        except UnicodeEncodeError:
            raise Invalid(f"the key {key!r} is not valid Unicode") from None
        if length > MAX_KEY_BYTES:
            raise Invalid(f"a key is at most {MAX_KEY_BYTES} bytes, not {length}")


def _check_change(partition: str, change: Change) -> str:
    _check_key(partition, change.row)
    if change.kind == "delete":
        return ""
    properties = change.properties or {}
    if len(properties) > MAX_PROPERTIES:
        raise Invalid(f"an entity has at most {MAX_PROPERTIES} properties, not {len(properties)}")
    body = json.dumps({name: _typed(name, value) for name, value in properties.items()})
    if _size(properties) > MAX_ENTITY_BYTES:
        raise Invalid("an entity is at most 1 MiB")
    return body


def _size(properties: Mapping[str, Value]) -> int:
    return sum(
        2 * len(name) + (2 * len(value) if isinstance(value, str) else len(value) if isinstance(value, bytes) else 8)
        for name, value in properties.items()
    )


def _typed(name: str, value: Value) -> list[Any]:
    if not _PROPERTY_NAME.fullmatch(name) or name in _RESERVED:
        raise Invalid(f"{name!r} cannot name a property")
    if isinstance(value, bool):
        return ["bool", value]
    if isinstance(value, int):
        if not -(2**63) <= value < 2**63:
            raise Invalid(f"property {name!r} is not a signed 64-bit number")
        return ["int", value]
    if isinstance(value, float):
        return ["float", repr(value)]
    if isinstance(value, str):
        return ["str", _checked_text(name, value)]
    if isinstance(value, bytes):
        if len(value) > 64 * 1024:
            raise Invalid(f"property {name!r} holds more than 64 KiB")
        return ["bytes", base64.b64encode(value).decode()]
    if isinstance(value, datetime):
        return ["time", _utc(name, value).isoformat()]
    raise Invalid(f"property {name!r} is of a type tables cannot hold: {type(value).__name__}")


def _checked_text(name: str, value: str) -> str:
    try:
        units = len(value.encode("utf-16-le")) // 2
    except UnicodeEncodeError:
        raise Invalid(f"property {name!r} is not valid Unicode") from None
    if units > 32 * 1024:
        raise Invalid(f"property {name!r} holds more than 32 Ki UTF-16 units")
    return value


def _utc(name: str, value: datetime) -> datetime:
    if value.tzinfo is None:
        raise Invalid(f"property {name!r} is a time without a zone")
    return value.astimezone(UTC)


_READERS: dict[str, Any] = {
    "bool": bool,
    "int": int,
    "float": float,
    "str": str,
    "bytes": base64.b64decode,
    "time": datetime.fromisoformat,
}


def _entity(row: Sequence[str]) -> Entity:
    partition, key, etag, stamp, body = row
    properties = {name: _READERS[kind](value) for name, (kind, value) in json.loads(body).items()}
    return Entity(
        partition=partition, row=key, properties=properties, etag=etag, timestamp=datetime.fromisoformat(stamp)
    )


def _marker(partition: str, row: str) -> str:
    return base64.urlsafe_b64encode(json.dumps([partition, row]).encode()).decode()


def _read_marker(marker: str) -> tuple[str, str]:
    try:
        partition, row = json.loads(base64.urlsafe_b64decode(marker))
    except ValueError:
        raise Invalid("this is not a marker of this listing") from None
    return str(partition), str(row)
