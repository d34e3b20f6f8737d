"""Containers as rows. A deleted one keeps its row, nameless to readers, until its blobs are collected."""

import json
import sqlite3
from typing import Any

from shared.blobs import Access, Container
from shared.errors import Conflict, NotFound
from shared.local.times import SECOND, moment, whole_seconds
from shared.local.versions import new_etag

SCHEMA = """
CREATE TABLE containers (
    id INTEGER PRIMARY KEY, name TEXT NOT NULL, access TEXT NOT NULL, etag TEXT NOT NULL, modified INTEGER NOT NULL,
    metadata TEXT NOT NULL, deleted INTEGER);
CREATE UNIQUE INDEX containers_by_name ON containers (name) WHERE deleted IS NULL;
"""
_BEING_DELETED = 30 * SECOND
_COLUMNS = "name, access, etag, modified, metadata"


def find(db: sqlite3.Connection, name: str) -> int | None:
    row = db.execute("SELECT id FROM containers WHERE name = ? AND deleted IS NULL", (name,)).fetchone()
    return None if row is None else int(row[0])


def need(db: sqlite3.Connection, name: str) -> int:
    found = find(db, name)
    if found is None:
        raise NotFound(f"there is no container {name!r}")
    return found


def create(db: sqlite3.Connection, name: str, access: Access, metadata: str, now: int) -> None:
    if find(db, name) is not None:
        raise Conflict(f"the container {name!r} exists already")
    gone = db.execute("SELECT max(deleted) FROM containers WHERE name = ?", (name,)).fetchone()[0]
    if gone is not None and now < gone + _BEING_DELETED:
        raise Conflict(f"the container {name!r} is being deleted; try again in half a minute")
    values = (name, access, new_etag(), whole_seconds(now), metadata)
    db.execute(f"INSERT INTO containers ({_COLUMNS}) VALUES (?, ?, ?, ?, ?)", values)


def ensure(db: sqlite3.Connection, name: str, access: Access, now: int) -> None:
    if find(db, name) is None:
        create(db, name, access, "{}", now)


def show(db: sqlite3.Connection, name: str) -> Container:
    query = f"SELECT {_COLUMNS} FROM containers WHERE id = ?"
    return _container(db.execute(query, (need(db, name),)).fetchone())


def show_all(db: sqlite3.Connection, prefix: str) -> list[Container]:
    query = f"SELECT {_COLUMNS} FROM containers WHERE deleted IS NULL ORDER BY name"
    return [_container(row) for row in db.execute(query) if row[0].startswith(prefix)]


def set_access(db: sqlite3.Connection, name: str, access: Access, now: int) -> None:
    _change(db, name, "access", access, now)


def set_metadata(db: sqlite3.Connection, name: str, metadata: str, now: int) -> None:
    _change(db, name, "metadata", metadata, now)


def delete(db: sqlite3.Connection, name: str, now: int) -> None:
    db.execute("UPDATE containers SET deleted = ? WHERE id = ?", (now, need(db, name)))


def deleted(db: sqlite3.Connection) -> list[int]:
    return [row[0] for row in db.execute("SELECT id FROM containers WHERE deleted IS NOT NULL")]


def forget(db: sqlite3.Connection, container: int, now: int) -> None:
    """Drop the row of a deleted one that is empty; not earlier than its name is free again."""
    db.execute("DELETE FROM containers WHERE id = ? AND deleted <= ?", (container, now - _BEING_DELETED))


def _change(db: sqlite3.Connection, name: str, column: str, value: str, now: int) -> None:
    statement = f"UPDATE containers SET {column} = ?, etag = ?, modified = ? WHERE id = ?"
    db.execute(statement, (value, new_etag(), whole_seconds(now), need(db, name)))


def _container(row: Any) -> Container:
    name, access, etag, modified, metadata = row
    return Container(
        name=name, access=access, etag=etag, last_modified=moment(modified), metadata=json.loads(metadata)
    )
